"""`infimum MODEL.nl -AMPL [NAME=VALUE ...]`: the program as a solver for AMPL, Pyomo, JuMP and whoever else writes .nl files."""

import os
import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter
from typing import Any

from infimum.ampl.files import ENDINGS, path_of
from infimum.ampl.model import Model
from infimum.ampl.model_run import failed, interrupted, solve
from infimum.ampl.reader import read_unchecked
from infimum.ampl.solution import Solution, write_solution
from infimum.cli.ampl_log import Log
from infimum.cli.ampl_words import FLAG, VARIABLE, Call
from infimum.cli.command import CommandError
from infimum.cli.exit_codes import OK
from infimum.cli.printing import show
from infimum.errors import InfimumError, ModelFileError
from infimum.result import Result
from infimum.search.interrupts import Interrupts

HELP = f"""as a solver of AMPL models:
  infimum MODEL.nl {FLAG} [NAME=VALUE ...]   reads MODEL.nl, text or binary, and writes MODEL.sol
  infimum MODEL.nl [NAME=VALUE ...] [--json] prints the result
  NAME is one of the settings of `infimum minimize`, as in time_limit=60 (other solvers' names, such as
  timelimit or mipgap, are known too), or option (option=particles=100), objno (1: the first objective,
  0: none), outlev (0: no lines about the run with {FLAG}) or wantsol (1: write MODEL.sol without {FLAG});
  they are also read from the environment variable {VARIABLE}."""


def is_meant(argv: Sequence[str]) -> bool:
    """Does the command line call the program as a solver?"""
    return FLAG in argv[1:] or bool(argv and argv[0].endswith(ENDINGS))


def run(argv: Sequence[str]) -> int:
    """Solves the model; returns the exit code. Called by AMPL, the program says in the .sol file what became of it."""
    began = perf_counter()
    call = Call.read(argv[1:], os.environ)
    if call.help:
        print(HELP)
        return OK
    with _terminable():
        model = read_unchecked(argv[0])
        if call.objective > max(len(model.objectives), 1):
            raise CommandError(f"there is no objective {call.objective} (objno={call.objective}): the model has "
                               f"{len(model.objectives)}")
        path, log = path_of(argv[0]), Log(call.log and not call.json)
        result, solution = _solved(path, model, call, began, log)
    log.line(solution.message)
    if call.writes:
        _write(path, model, solution, result)
    if call.by_ampl and (result is None or not call.json):
        return OK
    code = show(result, call.json, str(path))
    return OK if call.by_ampl else code


def _solved(path: Path, model: Model, call: Call, began: float, log: Log) -> tuple[Result | None, Solution]:
    """What was found, as the caller learns it; a result is missing where the model cannot be solved as it is."""
    shown = {"callback": log, "progress": False} if call.by_ampl else {}
    try:
        log.banner(path, model, call.objective)
        return solve(model, call.objective, call.settings | shown, perf_counter() - began)
    except KeyboardInterrupt:
        if not call.writes:
            raise
        return interrupted(model, call.objective, log.last)
    except InfimumError as error:
        if not call.by_ampl:
            raise
        return None, failed(error, call.objective)


def _write(path: Path, model: Model, solution: Solution, result: Result | None) -> None:
    """Writes the .sol file. Where that fails, the result is printed: it is not lost."""
    try:
        write_solution(path.with_suffix(".sol"), model.header, solution)
    except ModelFileError:
        if result is not None:
            print(result)
        raise


@contextmanager
def _terminable() -> Iterator[None]:
    """SIGTERM ends a run as Ctrl-C does: batch systems send it before they kill."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, _terminate)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _terminate(*_: Any) -> None:
    if not Interrupts.stop():
        raise KeyboardInterrupt
