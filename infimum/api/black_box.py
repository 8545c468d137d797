"""`minimize(..., engine="index")`: functions and commands that are never traced, by trials alone.

Proof: docs/proofs/trials.md.
"""

import hashlib
import json
import math
import os
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from infimum.api.objective import Objective, Posed, is_empty
from infimum.blackbox.callables import PythonFunctions
from infimum.blackbox.command import Command
from infimum.blackbox.journal import Journal, warm_start
from infimum.blackbox.journal_reading import maximises as of_maximum
from infimum.blackbox.journal_reading import read_journal, read_path, torn_header
from infimum.blackbox.outcome import Outcome
from infimum.blackbox.problem_comparison import has_identities
from infimum.blackbox.recorded_trials import Recorded
from infimum.blackbox.trial_workers import BlackBox
from infimum.blackbox.variables import Variables, lasting
from infimum.engines.index.black_box_search import BlackBoxSearch
from infimum.engines.index.index_run import BlackBoxRun, LocalTrials
from infimum.errors import JournalError, OptionError
from infimum.parallel.worker_start import start_workers
from infimum.presolve.maximisation import Maximisation
from infimum.presolve.presolve_stack import PresolvedRun
from infimum.problem.problem import Problem, View
from infimum.problem.settings import Limits, Method, RunObservers, Trials
from infimum.result import Result
from infimum.search.driver import drive
from infimum.support.output_files import warn

TRIALS_A_VARIABLE = 1000   # the budget where none is given, nor a time limit
# arguments of `minimize` that engine="index" does not have: their default, and what to do
_OTHERS = {
    "start_boxes": (None, "give bounds"), "max_boxes": (None, "use max_trials="), "checkpoint": (None, "use journal="),
    "xtol": (None, "use options={'accuracy': 1e-3}, a part of the bounds' widths"),
    "feasibility": (0.0, "there are no equations"),
    "atol": (1e-6, "there is no gap; use options={'target': …}"), "rtol": (1e-6, "there is no gap; use options={'target': …}"),
    "threads": (None, "use workers="), "device": ("auto", "trials run where the function does"),
}


def refuse_others(objective: Objective, of_engines: dict[str, Any]) -> None:
    """Raises for what engine="index" cannot do, and for arguments that only other engines have."""
    for name, (default, cure) in _OTHERS.items():
        if of_engines[name] != default:
            raise OptionError(f"engine 'index' has no {name}=: {cure}")
    if objective.purpose == "feasible":
        raise OptionError("engine 'index' proves nothing; feasible needs another engine")


def by_trials(objective: Objective, posed: Posed, method: Method, limits: Limits, trials: Trials,
              watching: RunObservers) -> Result:
    """`minimize` with engine="index"."""
    variables = Variables.read(posed.bounds, posed.integrality, posed.n)
    box = black_box_of(objective, variables, posed.args, posed.constraints)
    return searched(box, partial(problem_of, box, posed.args), posed.x0, method, limits, trials, watching)


def searched(box: BlackBox, problem: Callable[[], dict[str, Any]], x0: Any, method: Method, limits: Limits, trials: Trials,
             watching: RunObservers) -> Result:
    """What the trials of a black box find. `problem()`: what the journal says of it."""
    variables, maximises, options, time_limit = box.variables, box.maximise, method.options, limits.time_limit
    most = trials.max_trials if trials.max_trials is not None else \
        math.inf if time_limit is not None else TRIALS_A_VARIABLE * len(variables)
    starts = start_points(x0, variables)
    others = trials_of(options.warm_start, variables, box.constraints, maximises)
    settings = {**options.of_journal(), "warm_start": digest_of(others), "x0": [list(x) for x in starts],
                "batch": trials.batch, "asynchronous": options.asynchronous}
    kept = None if trials.journal is None else open_journal(trials.journal, problem(), settings)
    try:
        batch = trials.batch if kept is None or options.asynchronous else kept.settings["batch"]
        here = trials.workers == 1 and trials.timeout is None and not isinstance(box, Command)
        with (LocalTrials(box) if here else start_workers(box, trials.workers, trials.timeout)) as crew:
            search = BlackBoxSearch(variables, box.constraints, options, starts, others)
            target = None if options.target is None else -options.target if maximises else options.target
            run = BlackBoxRun(search, Recorded(crew, kept), options, replace(trials, max_trials=most, batch=batch), target,
                              method.seed)
            run = PresolvedRun(run, Maximisation()) if maximises else run
            return drive(run, time_limit=time_limit, callback=watching.callback, progress=watching.progress,
                         watch=watching.watch, view=View(None, variables.lo, variables.hi))
    finally:
        if kept is not None:
            kept.close()


def black_box_of(objective: Objective, variables: Variables, args: Any, constraints: Any) -> BlackBox:
    """What is tried: a function, or a command line."""
    fun = objective.fun
    if isinstance(fun, (str, list, tuple)):
        if not is_empty(args):
            raise OptionError("a command has no args: write them into its line")
        return Command(fun, variables, 0 if is_empty(constraints) else constraints, objective.maximises)
    if hasattr(fun, "estimate") and not callable(fun):
        raise OptionError("engine 'index' calls the function itself: give that in place of the Evaluator")
    return PythonFunctions(fun, variables, constraints, args, objective.maximises)


def problem_of(box: BlackBox, args: Any) -> dict[str, Any]:
    """What a journal says of the problem; of args, as they are printed."""
    listed = list(args) if isinstance(args, (tuple, list)) else [] if args is None else [args]
    shown = [lasting(arg) for arg in listed]
    return {**box.describe(), **({"args": shown} if shown else {})}


def start_points(x0: Any, variables: Variables) -> list[tuple[float, ...]]:
    """The points of x0, as trials meet them: whole numbers are rounded, and of choices it is the number of the value."""
    if x0 is None:
        return []
    if variables.choices and isinstance(x0, (list, tuple)):
        several = len(x0) and all(isinstance(x, (list, tuple, np.ndarray)) and len(x) == len(variables) for x in x0)
        x0 = [variables.numbered(x) for x in x0] if several else variables.numbered(x0)
    read = Problem.read(len, list(zip(variables.lo, variables.hi, strict=True)), x0=x0)
    return [tuple(variables.nearest(x).tolist()) for x in read.x0.T]


def trials_of(journal: Any, variables: Variables, constraints: int, maximises: bool) -> list[tuple[tuple[float, ...], Outcome]]:
    """The trials of another journal that are of use here, for a warm start."""
    if journal is None:
        return []
    theirs = of_maximum(read_journal(journal).problem)
    if theirs != maximises:
        raise JournalError(f"no warm start from {os.fspath(journal)}: it is of a {'maximum' if theirs else 'minimum'}")
    return [(trial.x, trial.outcome) for trial in warm_start(journal, variables, constraints)]


def digest_of(trials: list[tuple[tuple[float, ...], Outcome]]) -> str | None:
    """What tells these trials from others; None without any."""
    return hashlib.sha256(repr(trials).encode()).hexdigest()[:16] if trials else None


def open_journal(journal: Any, problem: dict[str, Any], settings: dict[str, Any], own: dict[str, Any] | None = None) -> Journal:
    """A new journal, or the one there is, of the same problem and the same search. `own`: what only a new one is told."""
    path = read_path(journal)
    if not os.path.exists(path) or os.path.isfile(path) and _begins_anew(path):
        return Journal.create(path, problem, settings | (own or {}), getattr(journal, "started", None))
    found = Journal.resume(path, problem)
    try:
        _check_settings(found, settings, problem)
    except BaseException:
        found.close()
        raise
    return found


def _check_settings(found: Journal, settings: dict[str, Any], problem: dict[str, Any]) -> None:
    """Raises if a journal was written by another search, and warns if it says less than it should."""
    for name, value in json.loads(json.dumps(settings)).items():
        if name != "batch" and found.settings.get(name) != value:
            raise JournalError(f"the journal {found.path} was begun with {name} = {found.settings.get(name)!r}, and here it is "
                               f"{value!r}: give what it was begun with, or another file")
    if "batch" in settings and "batch" not in found.settings:
        raise JournalError(f"the journal {found.path} is damaged: line 1 does not say how many trials a round has")
    if not has_identities(found.problem) or found.form == 1 and "command" in problem:
        what = "its program" if "command" in problem else "the values that its functions are bound to"
        warn(f"the journal {found.path} was written by infimum 0.2, which did not note {what}: make sure that nothing has "
             "changed since. The journal is continued as it is")


def _begins_anew(path: str) -> bool:
    """Does a file hold nothing but what a run leaves that was killed before its first line was whole?"""
    try:
        with open(path, "rb") as file:
            return torn_header(file.read(4096))
    except OSError:  # Journal says why
        return False
