"""minimize, maximize and feasible, and resume, which continues a run from its checkpoint."""

import inspect
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, fields, replace
from os import PathLike
from typing import Any

import numpy as np

from infimum.api.keyword_errors import by_place, refuse, refuse_trials
from infimum.api.maximisation import Maximising
from infimum.api.negated_results import maximised, opposite
from infimum.api.objective import (
    Comparison,
    Objective,
    answer,
    evaluator_of,
    is_empty,
    naming_the_index,
    nothing,
    view_of,
    with_constraints,
)
from infimum.blackbox.trial_workers import read_portions, read_workers
from infimum.certify.advice import Asked
from infimum.engines.registry import PROVERS, check_dealt, prover
from infimum.errors import CheckpointError, OptionError
from infimum.evaluation.evaluator import Evaluator
from infimum.points.random_numbers import read_seed
from infimum.points.swarm_options import SwarmOptions
from infimum.problem.fixed_variables import Reduced, Restoring, end_to_store, stored_end, without_fixed
from infimum.problem.goal import Goal
from infimum.problem.integrality import read_integrality
from infimum.problem.problem import Problem
from infimum.problem.start_boxes import StartBoxes
from infimum.problem.text import counted
from infimum.problem.variable_bounds import Outer
from infimum.result import Result
from infimum.search.branch_and_bound import LEAST
from infimum.search.callbacks import read_callback
from infimum.search.checkpoint import State, check_writable, load, read_path, save_first
from infimum.search.checkpoint_content import content_of, contradicts, restore, settings_of
from infimum.search.driver import CheckpointWriter, drive, watch_of
from infimum.search.progress import ProgressDisplay
from infimum.support import environment
from infimum.support.clock import OutOfTime, Watch, answering
from infimum.support.number_checks import check_number


def _swarm(problem: Problem, evaluator: Evaluator, *asked: Any, **settings: Any) -> Any:
    if evaluator.system is None:
        from infimum.points.swarm import Swarm

        return Swarm(problem, evaluator, *asked, **settings)
    from infimum.points.constrained_swarm import ConstrainedSwarm

    return ConstrainedSwarm(problem, evaluator, *asked, **settings)


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
             check: bool = True, **unknown: Any) -> Result:
    """Find and prove the global minimum of `fun`, an ordinary NumPy function of a vector, over the box `bounds`.

    `bounds` are (low, high) pairs, a scipy.optimize.Bounds, or one pair with `n=`; ends may be infinite. `args` are passed on to
    `fun`, which may also be an Evaluator from `infimum.compile`. `x0` is a point to start from, or several. `start_boxes` is a
    list of boxes inside the bounds, each a list of pairs: search and proof are then about their union, and nothing else.

    `constraints` are one or a list of: functions that return a comparison (`lambda x: x[0] + x[1] >= 12`, also `<=`, `==`, arrays
    and lists of these), `infimum.Constraint(fun, lb, ub)`, SciPy's constraints and dicts. `integrality` has 1 for each variable
    that is a whole number and 0 for each other. `feasibility=0.0` is exact; a larger one relaxes each equation by that much to
    both sides, and the result says so. See docs/constraints.md.

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

    `workers` are processes, or "ray" or the address of a Ray cluster, to which a proof deals its regions in rounds of so many
    `portions` (64). The bits depend on `batch` and `portions`, and neither on the number of workers nor on when one of them is
    lost; see docs/many_machines.md.

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
    if engine != "index":
        refuse_trials(engine, {"max_trials": max_trials, "timeout": timeout, "journal": journal})
    workers, portions = _read_workers(engine, workers, portions)
    for name, value in (("atol", atol), ("rtol", rtol), ("xtol", xtol), ("feasibility", feasibility)):
        check_number(name, value, optional=name == "xtol")
    for name, value in (("max_boxes", max_boxes), ("memory_limit", memory_limit), ("batch", batch)):
        check_number(name, value, optional=True, positive=True)
    check_number("time_limit", time_limit, optional=True, positive=True)
    seed = read_seed(seed)
    _check_whose(options, engine)
    if engine == "index":
        from infimum.api.black_box import by_trials

        others = {"start_boxes": start_boxes, "max_boxes": max_boxes, "checkpoint": checkpoint, "xtol": xtol, "atol": atol,
                  "rtol": rtol, "feasibility": feasibility, "threads": threads, "device": device}
        return by_trials(objective, bounds, n, args, constraints, integrality, x0, options, time_limit, max_trials, workers,
                         timeout, journal, batch, callback, progress, seed, others, check)
    _check_batch(batch)
    watch = watch_of(time_limit)
    callback = read_callback(callback)
    atol, rtol, xtol, memory_limit = (None if v is None else float(v) for v in (atol, rtol, xtol, memory_limit))
    settings = PROVERS[engine][1].read(options) if engine in PROVERS else SwarmOptions.read(options, time_limit is not None)
    problem = Problem.read(objective.fun, bounds, n, x0, start_boxes)
    _check_start(problem, engine)
    integers, none, problem = read_integrality(integrality, problem)
    _check_particles(getattr(settings, "particles", None), len(problem.lo), memory_limit)
    if checkpoint is not None:
        checkpoint = _checkpoint_path(checkpoint, engine)

    def run() -> Result:
        with naming_the_index(objective):
            evaluator = evaluator_of(objective, len(problem.lo), args, device, threads, memory_limit,
                                     LEAST if batch is None else int(batch))
            given, relaxed, notes = with_constraints(evaluator, constraints, integers, none, float(feasibility))
        compared = Comparison(given, problem, integers, seed, time_limit, check)
        question, evaluator = without_fixed(problem, given)
        _check_system(question, engine)
        shared = {"time_limit": time_limit, "callback": callback, "progress": progress, "watch": watch,
                  "view": view_of(given, problem, objective)}
        if engine == "swarm":
            _check_no_proof(settings)
            search = _swarm(question, evaluator, settings, seed, limited=time_limit is not None)
            found = drive(_seen(search, objective, evaluator), **shared)
            with answering(watch):
                return compared.with_calls(answer(objective, question, evaluator, found, search, relaxed, notes))
        goal, told = Goal(atol, rtol, xtol), Asked(engine, workers, getattr(settings, "lp", False))
        with _rounds(workers, portions, question, evaluator, engine, settings, goal, seed, memory_limit, batch, device,
                     threads) as (rounds, lanes):
            kind = prover(engine, lanes, batch is None, evaluator.system is not None, rounds)
            search = kind(question, evaluator, settings, goal, seed, max_boxes, memory_limit)
            writer = None
            if checkpoint is not None:
                asked = {"engine": engine, "options": asdict(settings), "goal": [atol, rtol, xtol], "seed": seed,
                         "memory_limit": memory_limit, "batch": getattr(search, "batch", None), "may_move_to_gpu": batch is None,
                         "key": given.f.key, "purpose": objective.purpose, "integers": integers, "reduces": True,
                         "feasibility": float(feasibility), "system": None if given.system is None else given.system.key,
                         "portions": None if rounds is None else rounds.portions, **_ends_to_store(problem, integers)}
                writer = _checkpoint_writer(checkpoint, asked, problem)
                writer.begin()
            found = drive(_seen(search, objective, evaluator), writer=writer, **shared)
            with answering(watch):
                return compared.with_calls(answer(objective, question, evaluator, found, search, relaxed, notes, told))
    return _in_time(run, watch, problem, objective, args, time_limit, seed, engine, progress,
                    bool(integers) or not is_empty(constraints) or getattr(fun, "system", None) is not None)


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
    checkpoint = read_path(checkpoint)
    check_number("time_limit", time_limit, optional=True, positive=True)
    watch = watch_of(time_limit)
    callback = read_callback(callback)
    for name, value in (("atol", atol), ("rtol", rtol), ("xtol", xtol)):
        check_number(name, value, optional=True)
    for name, value in (("max_boxes", max_boxes), ("memory_limit", memory_limit)):
        check_number(name, value, optional=True, positive=True)
    workers, portions = None if workers is None else read_workers(workers), read_portions(portions)
    from infimum.blackbox.journal_resume import going_on  # no other call reads a journal

    if (how := going_on(checkpoint)) is not None:
        raise CheckpointError(how.said(how.call))
    whole = load(checkpoint)
    with content_of(checkpoint):
        asked = _asked_anew(settings_of(whole), (atol, rtol, xtol), memory_limit)
        engine, settings = asked["engine"], _settings_of(asked)
    if portions is not None and asked.get("portions") not in (None, portions):
        raise OptionError(f"this run deals its regions in {asked['portions']} portions, which it keeps: leave out portions=")
    if fun is None and asked.get("purpose") != "feasible":
        raise OptionError(f"the function of the run is missing: resume({checkpoint!r}, fun)")
    objective = Objective(nothing if asked.get("purpose") == "feasible" else fun, asked.get("purpose", "minimise"))
    with content_of(checkpoint):
        problem = _stored_problem(objective.fun, whole.arrays, asked.get("ends", ()))
        chosen = np.isin(np.arange(len(problem.lo)), asked.get("integers", ()))
        integers, none, problem = read_integrality(chosen, problem)

    def run() -> Result:
        evaluator = evaluator_of(objective, len(problem.lo), args, device, threads, asked["memory_limit"])
        given, relaxed, notes = with_constraints(evaluator, constraints, integers, none, asked.get("feasibility", 0.0))
        if given.f.key != asked["key"]:
            raise CheckpointError(f"the checkpoint {checkpoint} is of another function: give the function and args it was made "
                                  "with")
        if asked.get("system") != (None if given.system is None else given.system.key):
            raise CheckpointError(f"the checkpoint {checkpoint} is of other constraints: give those it was made with, "
                                  "resume(..., constraints=...)")
        compared = Comparison(given, problem, integers, asked["seed"], time_limit, check)
        question, evaluator = without_fixed(problem, given, asked.get("reduces", False))
        goal, told = Goal(*asked["goal"]), Asked(engine, workers, getattr(settings, "lp", False))
        state = None if whole.values["state"] is None else State(whole.values["state"], whole.arrays)
        batch = asked["batch"] if state is None else state.values.get("batch", asked["batch"])
        dealt = asked.get("portions") or portions
        with _rounds(workers or (None if dealt is None else 1), dealt, question, evaluator, engine, settings, goal, asked["seed"],
                     asked["memory_limit"], batch, device, threads) as (rounds, _):
            kind = prover(engine, asked["batch"], asked.get("may_move_to_gpu", False), evaluator.system is not None, rounds)
            with content_of(checkpoint):
                search = kind(question, evaluator, settings, goal, asked["seed"], max_boxes, asked["memory_limit"])
                if state is not None:
                    restore(search, state)
            anew = asked if rounds is None else asked | {"portions": rounds.portions}
            if anew != whole.values["settings"]:
                save_first(checkpoint, State(whole.values | {"settings": anew}, whole.arrays))
            found = drive(_seen(search, objective, evaluator), time_limit=time_limit, callback=callback, progress=progress,
                          watch=watch, writer=_checkpoint_writer(checkpoint, anew, problem),
                          view=view_of(given, problem, objective))
            with answering(watch):
                return compared.with_calls(answer(objective, question, evaluator, found, search, relaxed, notes, told))
    with contradicts(checkpoint):
        return _in_time(run, watch, problem, objective, args, time_limit, asked["seed"], asked["engine"], progress,
                        asked.get("system") is not None)


def _in_time(run: Callable[[], Result], watch: Watch, problem: Problem, objective: Objective, args: Any, time_limit: float | None,
             seed: int, engine: str, progress: bool | None, constrained: bool) -> Result:
    """What `run` finds; if the time does not suffice to trace and compile the function, what plain calls of it find: with
    constraints nothing, since no point would be proved to meet them."""
    shown = ProgressDisplay(progress)
    watch.show = shown.wait
    try:
        with watch:
            return _about(problem, run())
    except OutOfTime as early:
        shown.clear()
        plain = None if constrained else objective.plain(args)
        best = early.best if early.best is None or not objective.maximises else (early.best[0], opposite(early.best[1]))
        asked = time_limit is None or watch.asked_to_stop()
        why, left = ("interrupted", 0.0) if asked else (f"the time limit of {time_limit:g} s was reached",
                                                        time_limit - watch.seconds)
        why = f"{why} while {early} the function" + ("; no feasible point was found" if constrained else "")
        from infimum.points.plain_call_search import by_plain_calls

        result = by_plain_calls(problem, plain, None if constrained else best, why, left, seed, engine)
        result = replace(maximised(result) if objective.maximises else result, seconds=watch.seconds, purpose=objective.purpose)
        return _about(problem, result)
    finally:
        shown.clear()


def _about(problem: Problem, result: Result) -> Result:
    """The result, which says so where it is not about all of the bounds."""
    if problem.start is None:
        return result
    scope = f"all this is about {problem.start.named()}, not about the rest of the bounds"
    return replace(result, message=f"{result.message}; {scope}")


def _settings_of(asked: dict[str, Any]) -> Any:
    """The options of a checkpoint, checked as those of a user are."""
    if asked["engine"] not in PROVERS:
        raise ValueError(f"there is no engine {asked['engine'][:40]!r}")
    return PROVERS[asked["engine"]][1].read({k: tuple(v) if isinstance(v, list) else v for k, v in asked["options"].items()})


def _asked_anew(asked: dict[str, Any], goal: tuple[float | None, ...], memory_limit: float | None) -> dict[str, Any]:
    """The settings of a checkpoint, replaced where new ones are given."""
    atol, rtol, xtol = (old if new is None else float(new) for old, new in zip(asked["goal"], goal, strict=True))
    limit = asked["memory_limit"] if memory_limit is None else float(memory_limit)
    return asked | {"goal": [atol, rtol, None if xtol == np.inf else xtol], "memory_limit": limit}


def _read_workers(engine: str, workers: Any, portions: Any) -> tuple[int | str | None, int | None]:
    """How many workers, or where, and into how many portions regions are dealt to them, checked."""
    portions = read_portions(portions)
    if portions is not None and (workers is None or engine not in PROVERS):
        raise OptionError("portions= is for proofs with workers=, to whom regions are dealt in so many portions")
    if workers is not None and engine == "swarm":
        raise OptionError("workers= is for proofs and for engine='index'; engine 'swarm' uses threads=")
    return workers if workers is None or engine == "index" else read_workers(workers), portions


@contextmanager
def _rounds(workers: int | str | None, portions: int | None, question: Problem, evaluator: Evaluator, engine: str, settings: Any,
            goal: Goal, seed: int, memory_limit: float | None, batch: int | None, device: str, threads: int | None) \
        -> Iterator[tuple[Any, int | None]]:
    """The rounds in which workers take part, if there are any, and the batch."""
    if workers is None:
        yield None, batch
        return
    check_dealt(settings)
    from infimum.parallel.proofs.portion_dealer import dealt  # seldom needed

    with dealt(workers, portions, question, evaluator, engine=engine, options=settings, goal=goal, seed=seed,
               memory_limit=memory_limit, batch=batch, device=device, threads=threads) as started:
        yield started


def _seen(search: Any, objective: Objective, evaluator: Evaluator) -> Any:
    seen = Maximising(search) if objective.maximises else search
    return Restoring(seen, evaluator) if isinstance(evaluator, Reduced) else seen


def _check_system(problem: Problem, engine: str) -> None:
    """What is not there for problems with constraints."""
    if problem.system is not None and problem.several is not None and engine == "newton":
        raise OptionError("engine 'newton' takes one box where there are constraints; engine 'auto' takes any number")


def _checkpoint_writer(checkpoint: str, asked: dict[str, Any], problem: Problem) -> CheckpointWriter:
    x0 = {} if problem.x0 is None else {"x0": problem.x0}
    boxes = {"": problem} if problem.start is None else {"": problem, "start.": problem.start}
    arrays = {f"{whose}{name}": end for whose, box in boxes.items() for name, end in (("lo", box.lo), ("hi", box.hi))}
    outer = {f"{whose}outer.{name}": end for whose, box in boxes.items() if box.outer is not None
             for name, end in box.outer._asdict().items()}
    return CheckpointWriter(checkpoint, State(asked, {**arrays, **outer, **x0}))


def _stored_problem(fun: Any, arrays: dict[str, np.ndarray], ends: Sequence[Any]) -> Problem:
    """The problem of a checkpoint. Before release 0.3, ends were doubles."""
    def read(whose: str) -> tuple[Any, ...]:
        lo, hi, *outer = (arrays.get(f"settings.{whose}{name}") for name in ("lo", "hi", *(f"outer.{n}" for n in Outer._fields)))
        return lo, hi, None if outer[0] is None else Outer(*outer)
    (lo, hi, outer), start = read(""), read("start.")
    return Problem(fun, lo, hi, arrays.get("settings.x0"), None if start[0] is None else StartBoxes(*start), None, outer,
                   {(i, side): stored_end(number) for i, side, number in ends})


def _ends_to_store(problem: Problem, integers: tuple[int, ...]) -> dict[str, Any]:
    """Ends that are no doubles, of the variables for which not only the doubles around them are needed."""
    wanted = {*np.flatnonzero(problem.narrow).tolist(), *integers}
    found = [[i, side, stored] for (i, side), end in sorted(problem.ends.items())
             if i in wanted and (stored := end_to_store(end)) is not None]
    return {"ends": found} if found else {}


def _check_start(problem: Problem, engine: str) -> None:
    if problem.several is not None and engine not in _IN_BOXES:
        raise OptionError(f"engine {engine!r} takes one box, and there are {len(problem.start):,} start_boxes; engine 'auto' "
                          "takes any number")


def _checkpoint_path(checkpoint: str | PathLike, engine: str) -> str:
    if engine not in PROVERS:
        raise OptionError(f"engine {engine!r} proves nothing and keeps no checkpoint")
    path = read_path(checkpoint)
    check_writable(path)
    return path


def _check_batch(batch: Any) -> None:
    whole = isinstance(batch, (int, np.integer)) and not isinstance(batch, bool)
    if batch is not None and not (whole and batch >= LEAST):
        raise OptionError(f"batch must be a whole number of {LEAST} or more, or None, not {batch!r}")


def _check_no_proof(options: SwarmOptions) -> None:
    if options.lp:
        raise OptionError("option 'lp' bounds f from below, and engine 'swarm' proves no such bound: use engine 'auto'")


def _check_whose(options: Any, engine: str) -> None:
    """An option of another engine is an error that names that engine."""
    if not isinstance(options, dict) or not options:
        return
    from infimum.engines.index.index_options import IndexOptions  # seldom needed

    names = {name: [f.name for f in fields(settings)] for name, (_, settings) in PROVERS.items()}
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
