"""minimize, maximize and feasible, and resume, which continues a run from its checkpoint."""

import inspect
from collections.abc import Callable
from dataclasses import fields, replace
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from infimum.api.keyword_errors import by_place, refuse, refuse_trials
from infimum.api.objective import Objective, Posed, nothing
from infimum.api.prepared_run import NewRun, Question, StoredRun, run, stored_problem
from infimum.engines.registry import PROVERS, options_of
from infimum.errors import CheckpointError, OptionError
from infimum.evaluation.evaluator import Evaluator
from infimum.points.random_numbers import read_seed
from infimum.points.swarm_options import SwarmOptions
from infimum.problem.integrality import read_integrality
from infimum.problem.problem import Problem
from infimum.problem.settings import (
    Goal,
    Limits,
    Machine,
    Method,
    Parallel,
    RunObservers,
    Trials,
    check_tolerances,
    read_portions,
    read_workers,
)
from infimum.problem.text import counted
from infimum.problem.variable_bounds import read_bounds
from infimum.result import Result
from infimum.search.callbacks import read_callback
from infimum.search.checkpoint import check_writable, load, read_path
from infimum.search.driver import watch_of
from infimum.support import environment
from infimum.support.given_numbers import check_number, whole
from infimum.support.lazy import LazyModule

if TYPE_CHECKING:
    from infimum.search import checkpoint_content
else:
    checkpoint_content = LazyModule("search.checkpoint_content")

ENGINES = (*PROVERS, "swarm", "index")
_IN_BOXES = ("auto", "newton", "complete", "subdomain")  # start in any number of boxes; with constraints, all but newton


@environment.ours
@by_place("minimize(f, bounds, x0=x0, args=args), with (low, high) pairs as bounds")
def minimize(fun: Callable | Evaluator, bounds: Any, *, args: Any = (), n: int | None = None, x0: Any = None,
             start_boxes: Any = None, engine: str = "auto", options: dict[str, Any] | None = None, device: str = "auto",
             atol: float = 1e-6, rtol: float = 1e-6, xtol: float | None = None, time_limit: float | None = None,
             max_boxes: int | None = None, memory_limit: float | None = 8e9, batch: int | None = None,
             progress: bool | None = None, callback: Callable | None = None, checkpoint: str | PathLike | None = None,
             seed: int | None = 0, threads: int | None = None, constraints: Any = (), integrality: Any = None,
             feasibility: float = 0.0, max_trials: int | None = None, workers: int | str | None = None,
             timeout: float | None = None, journal: str | PathLike | None = None, portions: int | None = None,
             check: bool = True, solutions: int = 1, **unknown: Any) -> Result:
    """Find and prove the global minimum of `fun`, an ordinary NumPy function of a vector, over the box `bounds`.

    `bounds` are (low, high) pairs, a scipy.optimize.Bounds, or one pair with `n=`; ends may be infinite. `args` are passed on to
    `fun`, which may also be an Evaluator from `infimum.compile`. `x0` is a point to start from, or several. `start_boxes` is a
    list of boxes inside the bounds, each a list of pairs: search and proof are then about their union, and nothing else.

    `constraints` are one or a list of: functions that return a comparison (`lambda x: x[0] + x[1] >= 12`, also `<=`, `==`, arrays
    and lists of these), `infimum.Constraint(fun, lb, ub)`, SciPy's constraints and dicts. `integrality` has 1 for each variable
    that is a whole number and 0 for each other. `feasibility=0.0` is exact; a larger one relaxes each equation by this amount to
    both sides, and the result says so. With `solutions=k`, `result.solutions` are the k best points, each the best of those whose
    whole numbers differ from all before it. See docs/constraints.md.

    `engine="auto"` proves. It ends when `upper - lower <= max(atol, rtol * |upper|)` and, if `xtol` is given, no region that may
    hold a minimiser is wider than `xtol` (see `result.regions`; in `result.boxes`, regions that touch are merged). `time_limit`
    (seconds), `max_boxes`, `memory_limit` (bytes), the callback and Ctrl-C stop it earlier; the result is then the enclosure
    reached so far. `engine="newton"` is an interval Newton loop, `engine="complete"` the complete search of Zhang, Shan and
    Cagan, `engine="subdomain"` encloses regions on temporary partitions of them: three for comparison. `engine="swarm"`
    searches with many descents at once and returns the verdict CANDIDATE: `result.upper` is verified, but nothing is proved
    about lower values. `engine="index"` never traces `fun`, which may be any function or a command line: it makes trials,
    `max_trials` of them at most (1,000 a variable without a time limit), `workers` at once in processes of their own, each for at
    most `timeout` seconds, and keeps them in the file `journal`, from which the same call continues, after the best point in it
    was evaluated again (not with `check=False`, for noisy functions). Plain functions in `constraints`
    are then numbers that are <= 0 where x is allowed; see docs/black_boxes.md.

    `options` is a dictionary with the fields of `SwarmOptions`; for "newton" of `NewtonOptions`, "complete" `CompleteOptions`,
    "subdomain" `SubdomainOptions`, "index" `IndexOptions`.
    `device` is "cpu", "cuda" ("cuda:1", … with several GPUs), or "auto": the CPU at first, and a GPU, if there is one, for long
    runs. `batch` is the number of boxes that branch and bound encloses per step; the default suits the device. The same seed and
    batch give the same bits on every device and for any number of threads. `threads` is the number of CPU threads; the default
    is INFIMUM_THREADS, or one for each core that this process may use. `seed=None` draws a seed, which is stored in the result.

    `workers` are processes, or "ray" or the address of a Ray cluster, to which a proof deals its regions in rounds. `portions` is
    the number of portions in a round (64). The bits depend on `batch` and `portions`, and neither on the number of workers nor on
    when one of them is lost; see docs/many_machines.md.

    `progress=True` shows a line of progress at once, False never; by default it appears on terminals and in notebooks after a
    second. `callback(snapshot)` is called after each step and stops the run by returning True or raising StopIteration; SciPy's
    forms `callback(xk)`, `callback(intermediate_result)`, `callback(xk, convergence)` and `callback(x, f, context)` work too.
    `checkpoint` names a file in which the state of a proof is saved every few seconds; `infimum.resume` continues from it.

    `fun` and the constraints are called with plain numbers too, at a few points of the box and at the point that is returned: if
    they return anything else than what was traced, an AgreementError says so. `check=False` leaves this out.

    The first Ctrl-C ends the run and returns the enclosure reached; a second one within two seconds raises KeyboardInterrupt.

    >>> import numpy as np
    >>> r = minimize(lambda x: 100 * (x[1] - x[0]**2)**2 + (1 - x[0])**2, [(-5, 10), (-5, 10)])
    >>> r.verdict.name, r.lower >= -1e-6, r.upper < 1e-6, np.round(r.x, 6).tolist()
    ('PROVED', True, True, [1.0, 1.0])
    """
    objective = fun if isinstance(fun, Objective) else Objective(fun)
    refuse(unknown, minimize)
    if engine not in ENGINES:
        raise OptionError(f"there is no engine {engine!r}; there are {', '.join(map(repr, ENGINES))}")
    if whole("solutions", solutions) > 1:
        _check_solutions(engine, integrality, checkpoint)
    if engine != "index":
        refuse_trials(engine, {"max_trials": max_trials, "timeout": timeout, "journal": journal})
    parallel, goal = Parallel.read(engine, workers, portions), Goal.read(atol, rtol, xtol)
    check_number("feasibility", feasibility, optional=False)
    limits = Limits.read(time_limit, max_boxes, memory_limit)
    check_number("batch", batch, optional=True, positive=True)
    seed = read_seed(seed)
    _check_whose(options, engine)
    if engine == "index":
        from infimum.api.black_box import by_trials, refuse_others

        refuse_others(objective, {"start_boxes": start_boxes, "max_boxes": max_boxes, "checkpoint": checkpoint, "xtol": xtol,
                                  "atol": atol, "rtol": rtol, "feasibility": feasibility, "threads": threads, "device": device})
        trials = Trials.read(max_trials, workers, timeout, journal, batch, check)
        watching = RunObservers(watch_of(time_limit), read_callback(callback), progress)
        method = Method(engine, _read_options(options, engine), goal, seed)
        return by_trials(objective, Posed(bounds, n, args, constraints, integrality, x0), method, limits, trials, watching)
    machine = Machine.read(device, threads, batch)
    watching = RunObservers(watch_of(time_limit), read_callback(callback), progress)
    method = Method(engine, _read_options(options, engine, time_limit is not None), goal, seed)
    problem = Problem.read(objective.fun, bounds, n, x0, start_boxes)
    _check_start(problem, engine)
    integers, none, problem = read_integrality(integrality, problem)
    _check_particles(getattr(method.options, "particles", None), len(problem.lo), limits.memory_limit)
    path = None if checkpoint is None else _checkpoint_path(checkpoint, engine)
    question = Question(objective, args, problem, constraints, integers, none, float(feasibility), check)
    result = run(NewRun(question, method, machine, path), limits, machine, parallel, watching)
    if solutions == 1:
        return result
    from infimum.api.solution_pool import with_solutions  # seldom needed

    def again(boxes: list) -> Result | None:
        left = None if time_limit is None else time_limit - watching.watch.seconds
        if left is not None and left <= 0:
            return None
        _, none, problem = read_integrality(integrality, Problem.read(objective.fun, bounds, n, None, boxes))
        return run(NewRun(replace(question, problem=problem, none=none), method, machine, None), replace(limits, time_limit=left),
                   machine, parallel, RunObservers(watch_of(left), watching.callback, progress))
    boxes = start_boxes if start_boxes is not None else [read_bounds(bounds, n).pairs()]
    return with_solutions(result, solutions, boxes, integers, again)


@environment.ours
@by_place("maximize(f, bounds, x0=x0, args=args), with (low, high) pairs as bounds")
def maximize(fun: Callable | Evaluator, bounds: Any, **settings: Any) -> Result:
    """Find and prove the global maximum of `fun` over the box `bounds`. The arguments are those of `minimize`.

    All of the result is about `fun` itself: its supremum lies between `lower`, the value at `x`, and `upper`, which is proved.

    >>> r = maximize(lambda x: x[0] * (3 - x[0]), [(0, 10)])
    >>> r.verdict.name, r.fun == r.lower <= 2.25 <= r.upper, r.x.tolist()
    ('PROVED', True, [1.5])
    """
    refuse({name: value for name, value in settings.items() if name not in _KNOWN}, maximize, minimize)
    return minimize(Objective(fun, "maximise"), bounds, **settings)


@environment.ours
@by_place("feasible(bounds, constraints): there is no function to minimise")
def feasible(bounds: Any, constraints: Any, **settings: Any) -> Result:
    """Find a point within the bounds that is proved to meet all constraints, or prove that there is none.

    With the verdict PROVED, `result.feasible` is such a point or, where there are equations, a pair (lo, hi): a box that is
    proved to hold one. With INFEASIBLE it is proved that no point meets all constraints. Further arguments are those of
    `minimize`.

    >>> feasible([(0, 4), (0, 4)], lambda x: x[0] + x[1] >= 9).verdict.name
    'INFEASIBLE'
    """
    refuse({name: value for name, value in settings.items() if name not in _KNOWN}, feasible, minimize)
    if callable(bounds):
        raise OptionError("feasible takes no function to minimise: write feasible(bounds, constraints)")
    return minimize(Objective(nothing, "feasible"), bounds, constraints=constraints, **settings)


_KNOWN = tuple(p.name for p in inspect.signature(minimize).parameters.values() if p.kind is not p.VAR_KEYWORD)


@environment.ours
def resume(checkpoint: str | PathLike, fun: Callable | Evaluator | None = None, *, args: Any = (), atol: float | None = None,
           rtol: float | None = None, xtol: float | None = None, memory_limit: float | None = None,
           time_limit: float | None = None, max_boxes: int | None = None, progress: bool | None = None,
           callback: Callable | None = None, device: str = "auto", threads: int | None = None, constraints: Any = (),
           workers: int | str | None = None, portions: int | None = None, check: bool = True, **unknown: Any) -> Result:
    """Continue the run whose state is in the file `checkpoint`; `fun`, `args` and `constraints` must be those of that run (`fun`
    is None for a run of `feasible`).

    Bounds, integrality, feasibility, engine and options come from the file; `time_limit`, `max_boxes`, `device`, `threads`,
    `workers` and `check` are those given here. A run that had workers continues in the same rounds, and with the same bits, with
    any number of them or none; `portions`, for one that had none, is as in `minimize`.
    `atol`, `rtol`, `xtol` and `memory_limit` come from the file too unless you give new ones, larger or smaller (`inf` for none),
    which are then saved in the file. So you can continue a run that stopped at its memory limit, or narrow a finished proof
    further. With unchanged settings the result has the same bits as a run that was never interrupted, except for the times and
    the history.
    """
    refuse(unknown, resume)
    path = read_path(checkpoint)
    given = Limits.read(time_limit, max_boxes, memory_limit)
    watching = RunObservers(watch_of(time_limit), read_callback(callback), progress)
    check_tolerances(atol, rtol, xtol, optional=True)
    parallel = Parallel(None if workers is None else read_workers(workers), read_portions(portions))
    from infimum.blackbox.journal_resume import resume_hint  # no other call reads a journal

    if (how := resume_hint(path)) is not None:
        raise CheckpointError(how.message(how.call))
    whole = load(path)
    with checkpoint_content.content_of(path):
        asked = _asked_anew(checkpoint_content.settings_of(whole), (atol, rtol, xtol), given.memory_limit)
        method = Method(asked["engine"], _settings_of(asked), Goal(*asked["goal"]), asked["seed"])
    if parallel.portions is not None and asked.get("portions") not in (None, parallel.portions):
        raise OptionError(f"this run deals its regions in {asked['portions']} portions, which it keeps: leave out portions=")
    if fun is None and asked.get("purpose") != "feasible":
        raise OptionError(f"the function of the run is missing: resume({path!r}, fun)")
    objective = Objective(nothing if asked.get("purpose") == "feasible" else fun, asked.get("purpose", "minimise"))
    with checkpoint_content.content_of(path):
        problem = stored_problem(objective.fun, whole.arrays, asked.get("ends", ()))
        chosen = np.isin(np.arange(len(problem.lo)), asked.get("integers", ()))
        integers, none, problem = read_integrality(chosen, problem)
    question = Question(objective, args, problem, constraints, integers, none, asked.get("feasibility", 0.0), check)
    limits = Limits(time_limit, max_boxes, asked["memory_limit"])
    with checkpoint_content.contradicts(path):
        return run(StoredRun(question, method, path, whole, asked), limits, Machine(device, threads), parallel, watching)


def _settings_of(asked: dict[str, Any]) -> Any:
    """The options of a checkpoint, checked as those of a user are."""
    if asked["engine"] not in PROVERS:
        raise ValueError(f"there is no engine {asked['engine'][:40]!r}")
    return options_of(asked["engine"]).read({k: tuple(v) if isinstance(v, list) else v for k, v in asked["options"].items()})


def _asked_anew(asked: dict[str, Any], goal: tuple[float | None, ...], memory_limit: float | None) -> dict[str, Any]:
    """The settings of a checkpoint, replaced where new ones are given."""
    atol, rtol, xtol = (old if new is None else float(new) for old, new in zip(asked["goal"], goal, strict=True))
    limit = asked["memory_limit"] if memory_limit is None else memory_limit
    return asked | {"goal": [atol, rtol, None if xtol == np.inf else xtol], "memory_limit": limit}


def _read_options(options: Any, engine: str, limited: bool = False) -> Any:
    """The options of the engine, checked. `limited`: is there a time limit?"""
    if engine == "index":
        from infimum.engines.index.index_options import IndexOptions  # seldom needed

        return IndexOptions.read(options)
    return options_of(engine).read(options) if engine in PROVERS else SwarmOptions.read(options, limited)


def _check_start(problem: Problem, engine: str) -> None:
    if problem.several is not None and engine not in _IN_BOXES:
        raise OptionError(f"engine {engine!r} takes one box, and there are {len(problem.start):,} start_boxes; engine 'auto' "
                          "takes any number")


def _check_solutions(engine: str, integrality: Any, checkpoint: Any) -> None:
    """Raises where there is no list of best points."""
    if engine != "auto":
        raise OptionError(f"solutions= is for engine 'auto', not for engine {engine!r}")
    if not np.any(integrality):
        raise OptionError("solutions= lists points that differ in whole numbers, and there are none here: give integrality=; "
                          "result.boxes contain all minimisers")
    if checkpoint is not None:
        raise OptionError("solutions= makes several runs, and a checkpoint holds one: leave out checkpoint=")


def _checkpoint_path(checkpoint: str | PathLike, engine: str) -> str:
    if engine not in PROVERS:
        raise OptionError(f"engine {engine!r} proves nothing and keeps no checkpoint")
    path = read_path(checkpoint)
    check_writable(path)
    return path


def _check_whose(options: Any, engine: str) -> None:
    """An option of another engine is an error that names that engine."""
    if not isinstance(options, dict) or not options:
        return
    from infimum.engines.index.index_options import IndexOptions  # seldom needed

    names = {name: [f.name for f in fields(options_of(name))] for name in PROVERS}
    names["index"] = [f.name for f in fields(IndexOptions)]
    mine = names.get(engine, names["auto"])
    for option in options:
        owner = next((name for name, known in names.items() if option in known), None)
        if owner is not None and option not in mine:
            raise OptionError(f"{option!r} is an option of engine {owner!r}, and the engine here is {engine!r}")


def _check_particles(particles: int | None, n: int, memory_limit: float | None) -> None:
    if particles is None or memory_limit is None:
        return
    from infimum.points.particle_flight import bytes_of

    if bytes_of(particles, n) > memory_limit:
        raise OptionError(f"{counted(particles, 'particle')} of {counted(n, 'variable')} would take about "
                          f"{bytes_of(particles, n):.2g} bytes, more than memory_limit = {memory_limit:,.0f}: give fewer "
                          "particles, or a larger memory_limit")
