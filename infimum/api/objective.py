"""What is asked of a function, and under which constraints: from the user's arguments to an Evaluator, and back again."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from infimum.backend.devices import backend_of, place_of
from infimum.certify.advice import RunSettings, advice
from infimum.certify.constraint_values import NOWHERE_FEASIBLE
from infimum.errors import InfimumError, OptionError, TraceError
from infimum.evaluation.compile import compile
from infimum.evaluation.evaluator import Evaluator
from infimum.expr.node import is_const
from infimum.presolve.presolve_stack import Formulation
from infimum.problem.problem import Problem
from infimum.problem.settings import LEAST, Machine
from infimum.problem.text import counted
from infimum.result import Result, Verdict
from infimum.search.region_search import lanes_of
from infimum.trace.agreement import Agreement, SampleBox
from infimum.trace.constraint_reading import ConstraintBody, Constraints, impossible, read_constraints
from infimum.trace.trace import arguments

_ARRAYS = 12  # the doubles a variable that a box may take on a GPU
_NOTES = 3    # notes about constraints in a message


class Objective(NamedTuple):
    """What is asked of a function: to "minimise" it, to "maximise" it, or only "feasible" points, whatever it is."""

    fun: Any
    purpose: str = "minimise"

    @property
    def maximises(self) -> bool:
        return self.purpose == "maximise"

    def plain(self, args: Any) -> Callable[[np.ndarray], Any] | None:
        """The function to minimise at plain numbers; None where it is not at hand."""
        own = self.fun.fun if isinstance(self.fun, Evaluator) else lambda x: self.fun(x, *arguments(args))
        return own if own is None or not self.maximises else lambda x: -own(x)


class Posed(NamedTuple):
    """A problem as a user poses it, beside its function; nothing of it is read yet."""

    bounds: Any
    n: int | None
    args: Any
    constraints: Any
    integrality: Any
    x0: Any


@contextmanager
def naming_the_index(objective: Objective, problem: Problem, constraints: Any) -> Iterator[None]:
    """What cannot be traced can still be tried, and the error says how."""
    try:
        yield
    except TraceError as error:
        own = str(getattr(objective.fun, "__module__", "")).startswith("infimum.")  # a fit's, which has no such engine
        if error.may_be_tried and objective.purpose != "feasible" and not own:
            error.args = (" ".join([str(error), *_how_to_try(problem, constraints)]), *error.args[1:])
        raise


def _how_to_try(problem: Problem, constraints: Any) -> Iterator[str]:
    """Sentences on trials in place of a proof: what does that, and what else of the problem has to be changed for it."""
    from infimum.blackbox.trial_functions import read_constraints as read_for_trials  # for this message alone

    yield 'A problem that cannot be written so can be solved by trials alone, without a proof: engine="index".'
    if problem.start is not None:
        yield "Trials take bounds in place of start_boxes."
    if not np.isfinite(problem.region).all():
        yield "Trials need finite bounds of all variables."
    try:
        read = read_for_trials(constraints, len(problem.lo))
    except (InfimumError, TypeError, ValueError) as error:
        yield f"For trials, change {error}."
        return
    if any(function.ends is None for function in read):
        yield "For trials, a constraint that is a function returns a number that is <= 0 where x is allowed, not a comparison."


def nothing(x: Any) -> float:
    """The objective where only feasible points are sought."""
    return 0.0


nothing.is_ours = True


def evaluator_of(objective: Objective, n: int, args: Any, machine: Machine, memory_limit: float | None) -> Evaluator:
    """The function on its device; an error if that is not there, or if its memory is to hold less than a batch."""
    fun, device, threads = objective.fun, machine.device, machine.threads
    named = getattr(fun.backend, "devices", (fun.backend.name,)) if isinstance(fun, Evaluator) else ()
    if named and device not in ("auto", *named):
        raise OptionError(f"device {device!r} belongs to a function; this Evaluator was compiled for {named[0]!r}")
    if isinstance(fun, Evaluator) and threads is not None:
        raise OptionError("threads belong to a function; give them to infimum.compile, which made this Evaluator")
    backend = fun.backend if isinstance(fun, Evaluator) else backend_of(device, memory_limit, threads)
    boxes = lanes_of(LEAST if machine.batch is None else machine.batch, n)
    needed = 8 * boxes * _ARRAYS * n
    if str(device).startswith("cuda") and memory_limit is not None and memory_limit < needed:
        cure = "a larger memory_limit" if boxes == LEAST else "a smaller batch, or a larger memory_limit"
        raise OptionError(f"memory_limit = {memory_limit:,.0f} bytes is too small for the GPU: a step of {boxes:,} boxes of "
                          f"{counted(n, 'variable')} takes {needed:,}; give {cure}")
    if not isinstance(fun, Evaluator):
        return compile(fun, n, args, backend=backend, check=False)
    if fun.n != n:
        raise OptionError(f"the Evaluator has {counted(fun.n, 'variable')}, the bounds have {n:,}")
    if args is not None and not (isinstance(args, (tuple, list)) and not args):
        raise OptionError("args belong to a function; this Evaluator was compiled with its own")
    fun.restore_lines()
    return fun


class Compiled(NamedTuple):
    """A function with its constraints. `relaxed`: by how much its equations are relaxed; `notes`: for the user; `infeasible`: the
    message of an INFEASIBLE result, where a variable or a constraint can be named as the reason."""

    evaluator: Evaluator
    relaxed: float = 0.0
    notes: Sequence[str] = ()
    infeasible: str | None = None


def with_constraints(evaluator: Evaluator, constraints: Any, integers: tuple[int, ...], none: int | None,
                     feasibility: float) -> Compiled:
    """The evaluator with its constraints. `none` is a variable whose bounds hold no whole number."""
    own = evaluator.system
    if own is None and not integers and is_empty(constraints):
        return Compiled(evaluator)
    if own is not None and not is_empty(constraints):
        raise OptionError("constraints belong to a function; this Evaluator was compiled with its own")
    read = read_constraints(constraints, evaluator.n) if own is None else Constraints.of(own)
    relaxed = feasibility if read.has_equations else 0.0
    infeasible = _infeasible(read.bodies) if none is None else f"variable {none} has no whole number within its bounds"
    if none is not None:
        read.bodies.append(impossible(f"x[{none}] is a whole number"))
    system = read.system(evaluator.f, integers, relaxed)
    functions = (*evaluator.functions, *read.functions)
    if system is not None or read.functions:
        evaluator = Evaluator(evaluator.f, evaluator.n, evaluator.backend, evaluator.fun, system, functions)
    return Compiled(evaluator, relaxed, read.notes, infeasible)


def _infeasible(bodies: Sequence[ConstraintBody]) -> str | None:
    """What is said of the first inequality that is a number, or False, and does not hold. Equations may be relaxed."""
    for body in bodies:
        if is_const(body.expr):
            never = ((body.expr.hi < body.lower) | (body.expr.lo > body.upper)) & (body.lower != body.upper)
            for k in np.flatnonzero(never)[:1]:
                return f"{NOWHERE_FEASIBLE}: {body.labels[k].text} does not depend on x, and does not hold"
    return None


def is_empty(constraints: Any) -> bool:
    return constraints is None or (isinstance(constraints, (list, tuple)) and not constraints)


def answer(result: Result, compiled: Compiled, solved: Formulation, run: Any, asked: RunSettings) -> Result:
    """The result with what belongs to the call: advice, the device, and notes about constraints. `solved` is the form of the
    problem that all engines are given."""
    notes = compiled.notes
    message = compiled.infeasible if compiled.infeasible and result.verdict is Verdict.INFEASIBLE else result.message
    told = notes if len(notes) <= _NOTES else [*notes[:_NOTES], f"and so do {len(notes) - _NOTES:,} more"]
    return replace(result, advice=advice(result, *solved, asked), device=place_of(solved.evaluator.backend),
                   batch=getattr(run, "batch", None), message="; ".join([message, *told]))


class Comparison:
    """The user's functions, compared with what was traced: over the box at once, and at the point of the result."""

    def __init__(self, evaluator: Evaluator, problem: Problem, integers: tuple[int, ...], seed: int, time_limit: float | None,
                 check: bool):
        self.agreement = Agreement(evaluator.functions if check else ())
        self.calls = 0 if evaluator.functions and not check else None
        self.agreement.over(SampleBox.of(problem, integers), seed, np.inf if time_limit is None else time_limit)

    def with_calls(self, result: Result) -> Result:
        """The result, compared too, with the number of calls that agreed."""
        if result.x is not None:
            self.agreement.at(result.x)
        return replace(result, plain_calls=self.agreement.calls if self.agreement.functions else self.calls)
