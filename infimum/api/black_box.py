"""`minimize(..., engine="index")`: functions and commands that are never traced, by trials alone."""

import hashlib
import json
import math
import os
from collections.abc import Callable
from functools import partial
from os import PathLike
from typing import Any

import numpy as np

from infimum.api.maximisation import Maximising
from infimum.api.objective import Objective, is_empty
from infimum.blackbox.callables import PythonFunctions
from infimum.blackbox.command import Command
from infimum.blackbox.journal import Journal, warm_start
from infimum.blackbox.journal_reading import maximises as of_maximum
from infimum.blackbox.journal_reading import read_journal, read_path, torn_header
from infimum.blackbox.outcome import Outcome
from infimum.blackbox.problem_comparison import has_identities
from infimum.blackbox.recorded_trials import Recorded
from infimum.blackbox.trial_workers import BlackBox, read_timeout, read_workers
from infimum.blackbox.variables import Variables, lasting
from infimum.engines.index.black_box_search import BlackBoxSearch
from infimum.engines.index.index_options import IndexOptions
from infimum.engines.index.index_run import BlackBoxRun, Here
from infimum.errors import JournalError, OptionError
from infimum.parallel.worker_start import start_workers
from infimum.plotting import View
from infimum.problem.problem import Problem
from infimum.result import Result
from infimum.search.callbacks import read_callback
from infimum.search.driver import drive, watch_of
from infimum.support.clock import Watch
from infimum.support.output_files import warn

TRIALS_A_VARIABLE = 1000   # the budget where none is given, nor a time limit
_ON_A_CLUSTER = 16         # trials of a round there, so that results do not depend on its size
# arguments of `minimize` that engine="index" does not have: their default, and what to do
_OTHERS = {
    "start_boxes": (None, "give bounds"), "max_boxes": (None, "use max_trials="), "checkpoint": (None, "use journal="),
    "xtol": (None, "use options={'accuracy': 1e-3}, a part of the bounds' widths"),
    "feasibility": (0.0, "there are no equations"),
    "atol": (1e-6, "there is no gap; use options={'target': …}"), "rtol": (1e-6, "there is no gap; use options={'target': …}"),
    "threads": (None, "use workers="), "device": ("auto", "trials run where the function does"),
}


def by_trials(objective: Objective, bounds: Any, n: int | None, args: Any, constraints: Any, integrality: Any, x0: Any,
              options: Any, time_limit: float | None, max_trials: int | None, workers: Any, timeout: float | None,
              journal: str | PathLike | None, batch: int | None, callback: Any, progress: bool | None, seed: int,
              of_engines: dict[str, Any], check: bool = True) -> Result:
    """`minimize` with engine="index". `of_engines`: arguments that only other engines have. `check`: evaluate the best point of
    a journal again before the run continues."""
    for name, (default, cure) in _OTHERS.items():
        if of_engines[name] != default:
            raise OptionError(f"engine 'index' has no {name}=: {cure}")
    if objective.purpose == "feasible":
        raise OptionError("engine 'index' proves nothing; feasible needs another engine")
    watch, variables = watch_of(time_limit), Variables.read(bounds, integrality, n)
    box = black_box_of(objective, variables, args, constraints)
    return searched(box, variables, partial(problem_of, box, args), objective.maximises, watch, x0, options, time_limit,
                    max_trials, workers, timeout, journal, batch, callback, progress, seed, check)


def searched(box: BlackBox, variables: Variables, problem: Callable[[], dict[str, Any]], maximises: bool, watch: Watch, x0: Any,
             options: Any, time_limit: float | None, max_trials: int | None, workers: Any, timeout: float | None,
             journal: str | PathLike | None, batch: int | None, callback: Any, progress: bool | None, seed: int,
             check: bool = True) -> Result:
    """What the trials of a black box find. `problem()`: what the journal says of it."""
    callback, asked = read_callback(callback), IndexOptions.read(options)
    count, seconds = read_workers(1 if workers is None else workers), read_timeout(timeout)
    batch = (_ON_A_CLUSTER if isinstance(count, str) else count) if batch is None else whole("batch", batch)
    most = whole("max_trials", max_trials) if max_trials is not None else \
        math.inf if time_limit is not None else TRIALS_A_VARIABLE * len(variables)
    starts = start_points(x0, variables)
    others = trials_of(asked.warm_start, variables, box.constraints, maximises)
    settings = {**asked.of_journal(), "warm_start": digest_of(others), "x0": [list(x) for x in starts],
                "batch": batch, "asynchronous": asked.asynchronous}
    kept = None if journal is None else open_journal(journal, problem(), settings)
    try:
        if kept is not None and not asked.asynchronous:
            batch = kept.settings["batch"]
        here = count == 1 and seconds is None and not isinstance(box, Command)
        with (Here(box) if here else start_workers(box, count, seconds)) as crew:
            search = BlackBoxSearch(variables, box.constraints, asked, starts, others)
            sign = -1.0 if maximises else 1.0
            target = None if asked.target is None else sign * asked.target
            run = BlackBoxRun(search, Recorded(crew, kept), asked, most, batch, target, seed, check)
            return drive(Maximising(run) if maximises else run, time_limit=time_limit, callback=callback,
                         progress=progress, watch=watch, view=View(None, variables.lo, variables.hi))
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


def whole(name: str, value: Any) -> int:
    """A positive whole number, checked."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1:
        raise OptionError(f"{name} must be a positive whole number, not {value!r}")
    return int(value)
