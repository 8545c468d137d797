"""A question that is read and checked, and what runs it: for a run that begins, and for one that continues from a checkpoint."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from infimum.api.objective import (
    Comparison,
    Compiled,
    Objective,
    answer,
    evaluator_of,
    is_empty,
    naming_the_index,
    with_constraints,
)
from infimum.certify.advice import RunSettings
from infimum.engines.registry import check_portions, presolve_steps, prover
from infimum.errors import CheckpointError, InfimumError, OptionError
from infimum.evaluation.evaluator import Evaluator
from infimum.points.swarm_options import SwarmOptions
from infimum.presolve.fixed_variables import FixedVariables
from infimum.presolve.presolve_stack import Formulation, PresolvedRun, PresolveStack
from infimum.presolve.system_forms import ConstraintReport, KnownExponents
from infimum.problem.problem import Problem, View
from infimum.problem.settings import Limits, Machine, Method, Parallel, RunObservers
from infimum.problem.start_boxes import StartBoxes
from infimum.problem.variable_bounds import OuterBox
from infimum.result import Result
from infimum.search.checkpoint import State, memory_suffices, save_first
from infimum.search.driver import CheckpointWriter, drive
from infimum.search.interrupts import Interrupts
from infimum.search.progress import ProgressDisplay
from infimum.support import environment
from infimum.support.clock import OutOfTime, RunTimeOver, Watch, answering, stoppable
from infimum.support.lazy import LazyModule, dataclass

if TYPE_CHECKING:
    from infimum.presolve import maximisation
    from infimum.problem import stored_ends
    from infimum.search import checkpoint_content, limit_messages
    from infimum.search.rounds import StepRounds
else:
    maximisation = LazyModule("presolve.maximisation")
    stored_ends = LazyModule("problem.stored_ends")
    checkpoint_content, limit_messages = LazyModule("search.checkpoint_content"), LazyModule("search.limit_messages")


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked: the function with its arguments, the bounds, the constraints, and the variables that are whole numbers.

    `none` is one of these whose bounds hold no whole number. Equations are relaxed by `feasibility`. With `check`, plain calls of
    the functions are compared with what was traced."""

    objective: Objective
    args: Any
    problem: Problem
    constraints: Any
    integers: tuple[int, ...]
    none: int | None
    feasibility: float
    check: bool

    def compiled(self, machine: Machine, memory_limit: float | None) -> Compiled:
        """The function and its constraints, traced."""
        evaluator = evaluator_of(self.objective, len(self.problem.lo), self.args, machine, memory_limit)
        return with_constraints(evaluator, self.constraints, self.integers, self.none, self.feasibility)


class NewRun:
    """A run that begins. `path` names the file of its checkpoint, if there is one."""

    reduces = derives_bounds = whole_rows = True

    def __init__(self, question: Question, method: Method, machine: Machine, path: str | None):
        self.question, self.method, self.path = question, method, path
        self.batch, self.may_move_to_gpu = machine.batch, machine.batch is None

    @property
    def is_constrained(self) -> bool:
        """Are there constraints, as far as that is known before anything is traced?"""
        question = self.question
        return bool(question.integers) or not is_empty(question.constraints) or \
            getattr(question.objective.fun, "system", None) is not None

    def tracing(self) -> AbstractContextManager[None]:
        """The block in which the functions are traced, and compared with what was traced."""
        question = self.question
        return naming_the_index(question.objective, question.problem, question.constraints)

    def prepared(self, watch: Watch) -> AbstractContextManager[Any]:
        """The block of the run: its time also limits what comes before the first step."""
        return nullcontext()

    def check(self, given: Evaluator) -> None:
        """Raises if these are not the functions of the run: any are."""

    def dealt(self, parallel: Parallel) -> Parallel:
        """Who takes part."""
        return parallel

    def begun(self, make: Callable[[int | None], Any], lanes: int | None) -> Any:
        """The engine, with `lanes` as its number of boxes in a step."""
        return make(lanes)

    def writer(self, search: Any, given: Evaluator, rounds: "StepRounds | None",
               memory_limit: float | None) -> CheckpointWriter | None:
        """What writes the checkpoint, which now holds the settings."""
        if self.path is None:
            return None
        question, method, goal = self.question, self.method, self.method.goal
        asked = {"engine": method.engine, "options": asdict(method.options), "goal": [goal.atol, goal.rtol, goal.xtol],
                 "seed": method.seed, "memory_limit": memory_limit, "batch": getattr(search, "batch", None),
                 "may_move_to_gpu": self.may_move_to_gpu, "key": given.f.key, "purpose": question.objective.purpose,
                 "integers": question.integers, "reduces": True, "derives_bounds": True, "whole_rows": True,
                 "feasibility": question.feasibility,
                 "system": None if given.system is None else given.system.key,
                 "portions": None if rounds is None else rounds.portions, **_ends_to_store(question.problem, question.integers)}
        writer = _checkpoint_writer(self.path, asked, question.problem)
        writer.begin()
        return writer


class StoredRun:
    """A run that continues from the checkpoint `path`, which holds `whole`. `asked` are its settings, with those that the user
    gave anew."""

    def __init__(self, question: Question, method: Method, path: str, whole: State, asked: dict[str, Any]):
        self.question, self.method, self.path, self.whole, self.asked = question, method, path, whole, asked
        self.state = None if whole.values["state"] is None else State(whole.values["state"], whole.arrays)
        self.reduces, self.derives_bounds, self.whole_rows = (asked.get(name, False) for name in (
            "reduces", "derives_bounds", "whole_rows"))
        self.may_move_to_gpu = asked.get("may_move_to_gpu", False)
        self.batch = asked["batch"] if self.state is None else self.state.values.get("batch", asked["batch"])

    @property
    def is_constrained(self) -> bool:
        """Are there constraints?"""
        return self.asked.get("system") is not None

    def tracing(self) -> AbstractContextManager[None]:
        """The block in which the functions are traced, and compared with what was traced."""
        return nullcontext()

    @contextmanager
    def prepared(self, watch: Watch) -> Iterator[None]:
        """The block of the run: the file is read and the function traced however long that takes, or what is proved were lost.
        The steps of the search have the time that is left. Where memory does not suffice, what is proved stays in the file."""
        with memory_suffices(self.path), nullcontext() if self.state is None else answering(watch):
            yield

    def check(self, given: Evaluator) -> None:
        """Raises if these are not the functions of the run."""
        if given.f.key != self.asked["key"]:
            raise CheckpointError(f"the checkpoint {self.path} is of another function: give the function and args it was made "
                                  "with")
        if self.asked.get("system") != (None if given.system is None else given.system.key):
            raise CheckpointError(f"the checkpoint {self.path} is of other constraints: give those it was made with, "
                                  "resume(..., constraints=...)")

    def dealt(self, parallel: Parallel) -> Parallel:
        """Who takes part: a run that had workers continues in the same rounds, in this process if need be."""
        portions = self.asked.get("portions") or parallel.portions
        return Parallel(parallel.workers or (None if portions is None else 1), portions)

    def begun(self, make: Callable[[int | None], Any], lanes: int | None) -> Any:
        """The engine, in the state of the checkpoint."""
        with checkpoint_content.content_of(self.path):
            search = make(self.asked["batch"])
            if self.state is not None:
                checkpoint_content.restore(search, self.state)
        return search

    def writer(self, search: Any, given: Evaluator, rounds: "StepRounds | None", memory_limit: float | None) -> CheckpointWriter:
        """What writes the checkpoint, in which changed settings are saved now."""
        anew = self.asked if rounds is None else self.asked | {"portions": rounds.portions}
        if anew != self.whole.values["settings"]:
            save_first(self.path, State(self.whole.values | {"settings": anew}, self.whole.arrays))
        return _checkpoint_writer(self.path, anew, self.question.problem)


def run(start: NewRun | StoredRun, limits: Limits, machine: Machine, parallel: Parallel, watching: RunObservers) -> Result:
    """What is found; if neither time nor memory suffice to trace and compile the function, what plain calls of it find: with
    constraints nothing, since no point would be proved to meet them."""
    with Interrupts() as interrupts:
        before = interrupts.heard  # by a longer run, one of whose last searches this is: a step of it is worth its preparation
        watching.watch.asked_to_stop = lambda: interrupts.heard and not before
        return _run(start, limits, machine, parallel, watching)


def _run(start: NewRun | StoredRun, limits: Limits, machine: Machine, parallel: Parallel, watching: RunObservers) -> Result:
    question, watch, shown = start.question, watching.watch, ProgressDisplay(watching.progress)
    watch.show = shown.wait
    try:
        with watch, start.prepared(watch), environment.collector_patient():
            return _about(question.problem, _solved(start, limits, machine, parallel, watching))
    except OutOfTime as early:
        shown.clear()
        asked, time_limit = limits.time_limit is None or watch.asked_to_stop(), limits.time_limit
        why, left = ("interrupted", 0.0) if asked else (limit_messages.time_reached(time_limit), time_limit - watch.seconds)
        doing = "preparing the search" if isinstance(early, RunTimeOver) else f"{early} the function"
        return _by_plain_calls(start, watch, f"{why} while {doing}", left, early.best)
    except MemoryError as short:
        if isinstance(short, InfimumError):  # of a GPU: it says what helps
            raise
        return _by_plain_calls(start, watch, limit_messages.memory_full_early())
    finally:
        shown.clear()


def _by_plain_calls(start: NewRun | StoredRun, watch: Watch, why: str, seconds: float | None = None,
                    best: tuple | None = None) -> Result:
    """What plain calls find where a search could not begin, for want of memory unless `seconds` are left. `best`: a point and an
    estimate of its value, if known."""
    from infimum.points.plain_call_search import MORE_MEMORY, by_plain_calls

    question, constrained = start.question, start.is_constrained
    problem, objective = question.problem, question.objective
    plain = None if constrained else objective.plain(question.args)
    if best is not None and objective.maximises:
        best = best[0], maximisation.opposite(best[1])
    result = by_plain_calls(problem, plain, None if constrained else best, why + "; no feasible point was found" * constrained,
                            seconds or 0.0, start.method.seed, start.method.engine)
    result = replace(result, obstacle=MORE_MEMORY) if seconds is None else result
    result = maximisation.Maximisation().postsolve(result) if objective.maximises else result
    return _about(problem, replace(result, seconds=watch.seconds, purpose=objective.purpose))


def _solved(start: NewRun | StoredRun, limits: Limits, machine: Machine, parallel: Parallel, watching: RunObservers) -> Result:
    """What a search or a proof finds, put in terms of the question."""
    question, method = start.question, start.method
    objective = question.objective
    with start.tracing():
        compiled = question.compiled(machine, limits.memory_limit)
    presolve = PresolveStack(Formulation(question.problem, compiled.evaluator))
    if objective.maximises:
        presolve.push(maximisation.Maximisation())
    given = presolve.formulation.evaluator
    start.check(given)
    with start.tracing():
        compared = Comparison(given, question.problem, question.integers, method.seed, limits.time_limit, question.check)
    report = ConstraintReport(compiled.relaxed, any_point=objective.purpose == "feasible")
    with stoppable():  # nothing is found yet
        solved = presolve.push(KnownExponents(), FixedVariables(start.reduces), report)
        _check_system(solved, method.engine)
        inner = presolve.push(*presolve_steps(method, solved.evaluator.system, start.derives_bounds, start.whole_rows))
    may_move = start.may_move_to_gpu and solved.evaluator.system is None
    with _rounds(start, inner, machine, start.dealt(parallel), limits.memory_limit) as (rounds, lanes):
        with stoppable():
            search = start.begun(lambda batch: _search(inner, method, limits, batch, may_move, rounds), lanes)
        writer = start.writer(search, given, rounds, limits.memory_limit)
        found = drive(PresolvedRun(search, presolve), time_limit=limits.time_limit, callback=watching.callback,
                      progress=watching.progress, writer=writer, watch=watching.watch,
                      view=View(compiled.evaluator.estimate, *question.problem.region))
        asked = RunSettings(method.engine, parallel.workers, getattr(method.options, "lp", None))
        with answering(watching.watch), start.tracing():
            return compared.with_calls(answer(found, compiled, solved, search, asked))


def _search(inner: Formulation, method: Method, limits: Limits, batch: int | None, may_move_to_gpu: bool,
            rounds: "StepRounds | None") -> Any:
    """The engine."""
    if method.engine == "swarm":
        return _swarm(*inner, method, limits)
    kind = prover(method.engine, batch, may_move_to_gpu, inner.evaluator.system is not None, rounds)
    return kind(*inner, method, limits)


def _swarm(problem: Problem, evaluator: Evaluator, method: Method, limits: Limits) -> Any:
    _check_no_proof(method.options)
    if evaluator.system is None:
        from infimum.points.swarm import Swarm as Kind
    else:
        from infimum.points.constrained_swarm import ConstrainedSwarm as Kind
    return Kind(problem, evaluator, method.options, method.seed, limited=limits.time_limit is not None)


@contextmanager
def _rounds(start: NewRun | StoredRun, inner: Formulation, machine: Machine, parallel: Parallel,
            memory_limit: float | None) -> Iterator[tuple["StepRounds | None", int | None]]:
    """The rounds in which workers take part, if there are any, and the batch."""
    if parallel.workers is None:
        yield None, start.batch
        return
    check_portions(start.method.options)
    from infimum.parallel.proofs.portion_runner import started_rounds  # seldom needed

    with started_rounds(parallel, *inner, start.method, replace(machine, batch=start.batch), memory_limit) as started:
        yield started


def _about(problem: Problem, result: Result) -> Result:
    """The result, which says so where it is not about all of the bounds."""
    if problem.start is None:
        return result
    scope = f"all this is about {problem.start.named()}, not about the rest of the bounds"
    return replace(result, message=f"{result.message}; {scope}")


def _check_system(solved: Formulation, engine: str) -> None:
    """What is not there for problems with constraints."""
    if solved.evaluator.system is not None and solved.problem.several is not None and engine == "newton":
        raise OptionError("engine 'newton' takes one box where there are constraints; engine 'auto' takes any number")


def _check_no_proof(options: SwarmOptions) -> None:
    if options.lp is True:
        raise OptionError("option 'lp' bounds f from below, and engine 'swarm' proves no such bound: use engine 'auto'")


# ---- the problem in a checkpoint
def _checkpoint_writer(checkpoint: str, asked: dict[str, Any], problem: Problem) -> CheckpointWriter:
    x0 = {} if problem.x0 is None else {"x0": problem.x0}
    boxes = {"": problem} if problem.start is None else {"": problem, "start.": problem.start}
    arrays = {f"{whose}{name}": end for whose, box in boxes.items() for name, end in (("lo", box.lo), ("hi", box.hi))}
    outer = {f"{whose}outer.{name}": end for whose, box in boxes.items() if box.outer is not None
             for name, end in box.outer._asdict().items()}
    return CheckpointWriter(checkpoint, State(asked, {**arrays, **outer, **x0}))


def stored_problem(fun: Any, arrays: dict[str, np.ndarray], ends: Sequence[Any]) -> Problem:
    """The problem of a checkpoint. Before release 0.3, ends were doubles."""
    def read(whose: str) -> tuple[Any, ...]:
        lo, hi, *outer = (arrays.get(f"settings.{whose}{name}")
                          for name in ("lo", "hi", *(f"outer.{n}" for n in OuterBox._fields)))
        return lo, hi, None if outer[0] is None else OuterBox(*outer)
    (lo, hi, outer), start = read(""), read("start.")
    return Problem(fun, lo, hi, arrays.get("settings.x0"), None if start[0] is None else StartBoxes(*start), outer,
                   {(i, side): stored_ends.stored_end(number) for i, side, number in ends})


def _ends_to_store(problem: Problem, integers: tuple[int, ...]) -> dict[str, Any]:
    """Ends that are no doubles, of the variables for which not only the doubles around them are needed."""
    wanted = {*np.flatnonzero(problem.narrow).tolist(), *integers}
    found = [[i, side, stored] for (i, side), end in sorted(problem.ends.items())
             if i in wanted and (stored := stored_ends.end_to_store(end)) is not None]
    return {"ends": found} if found else {}
