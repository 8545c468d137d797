"""The inner problem of a nested one: for an outer point y that is held, the minimum over z, enclosed with proof.

A function that can be traced in y too is traced and compiled once: y, and what was simulated for it, are then variables whose
bounds are one point, so that an inner problem costs its proof and nothing else. One that needs y as numbers is traced again for
each y. Whether a function that was traced in y means the same for numbers is asked each time, by plain calls.

Proof: docs/proofs/trials.md.
"""

import math
import pickle
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from infimum.api.objective import Objective, evaluator_of, with_constraints
from infimum.blackbox.outcome import InnerOutcome
from infimum.blackbox.trial_functions import title
from infimum.engines.registry import presolve_steps, prover
from infimum.errors import AgreementError, InfimumError, OptionError, TrialError
from infimum.evaluation.evaluator import Evaluator
from infimum.points.plain_call_search import by_plain_calls
from infimum.presolve.maximisation import negated
from infimum.presolve.presolve_stack import Formulation, PresolvedRun, PresolveStack
from infimum.presolve.system_forms import ConstraintReport
from infimum.problem.constraint import Constraint
from infimum.problem.problem import Problem
from infimum.problem.settings import Goal, Limits, Machine, Method
from infimum.problem.system import System
from infimum.problem.text import counted
from infimum.problem.variable_bounds import OuterBox
from infimum.problem.violation import violation
from infimum.result import Result, Verdict
from infimum.search.driver import drive
from infimum.support import clock, environment
from infimum.support.lazy import dataclass
from infimum.trace.agreement import Agreement, SampleBox
from infimum.trace.vector_arguments import of_vector

_VIOLATED, _MOST = Goal(1e-9, 0.01, None), 1 << 13  # tolerance and boxes for the least violation
_FORMS = "a function of (y, z) that returns a comparison, or infimum.Constraint(g, lb, ub) or a dict {'type': 'ineq', " \
         "'fun': g} with a function g of (y, z)"


@dataclass(frozen=True, slots=True)
class Proving:
    """How inner problems are proved: to which tolerances, within which limits, and where."""

    method: Method
    limits: Limits
    machine: Machine
    check: bool = True  # are plain calls compared with what was traced?

    def prove(self, evaluator: Evaluator, lo: np.ndarray, hi: np.ndarray, outer: OuterBox | None) -> Result:
        """The minimum within the bounds, of which some may be points."""
        problem, constrained = Problem(None, lo, hi, outer=outer), evaluator.system is not None
        presolve = PresolveStack(Formulation(problem, evaluator))
        inner = presolve.push(ConstraintReport(), *presolve_steps(self.method, evaluator.system))
        search = prover("auto", None, not constrained, inner.evaluator.system is not None)(*inner, self.method, self.limits)
        own, rest = math.inf if self.limits.time_limit is None else self.limits.time_limit, max(clock.left(), 1e-3)
        limit = min(own, rest)
        try:
            found = drive(PresolvedRun(search, presolve), time_limit=None if math.isinf(limit) else limit, progress=False)
        except clock.RunTimeOver:
            raise
        except clock.OutOfTime as early:  # before anything was enclosed
            why = f"the time limit of {limit:g} s was reached while {early} the function"
            found = by_plain_calls(problem, None, None, why, 0.0, self.method.seed, "auto")
        if found.verdict not in (Verdict.PROVED, Verdict.INFEASIBLE):
            clock.stop_if_over()  # the time of the whole run, if it is that which is over
            if rest < own and found.message.startswith("the time limit"):
                raise clock.RunTimeOver  # or so nearly that nothing more was begun: then it is no outcome of the trial either
        return found


class Solved(NamedTuple):
    """An inner problem, as of a minimum. violation: of its constraints at z, at most 0 if they are met; the least there is if
    they cannot be."""

    value: float
    violation: float
    inner: InnerOutcome


class InnerProblem:
    """Minimise or maximise fun(y, z), or fun(y, z, s) with s = simulate(y), over z; `constraints` have the same arguments."""

    def __init__(self, objective: Objective, simulate: Callable[..., Any] | None, constraints: Any, problem: Problem,
                 integers: tuple[int, ...], proving: Proving, held: bool = True):
        self.objective, self.simulate, self.constraints = objective, simulate, _listed(constraints)
        self.lo, self.hi, self.outer, self.integers, self.proving = problem.lo, problem.hi, problem.outer, integers, proving
        self.held = held                            # may y be traced? Not where it holds values of any kind
        self.why: str | None = None                 # why it cannot be
        self._compiled: dict[tuple, Evaluator] = {}  # traced in y, by the shapes of y and of what is simulated

    def __getstate__(self) -> dict[str, Any]:
        """Kernels stay in their process. A function that cannot be sent to another is named."""
        named = [(self.simulate, "simulate,"), *((one, f"inner constraint {k}") for k, one in enumerate(self.constraints))]
        for one, what in named:
            try:
                pickle.dumps(one)
            except Exception as error:
                raise pickle.PicklingError(f"{title(parts_of(one)[0], what)}: {error}") from error
        return self.__dict__ | {"_compiled": {}}

    @property
    def constrained(self) -> bool:
        return bool(self.constraints)

    @environment.ours
    def solve(self, y: Any) -> Solved:
        """The enclosure of the minimum at y, or by how much its constraints must be violated; raises where there is neither."""
        given = () if self.simulate is None else (_numbers(environment.call(self.simulate, _copy(y))),)
        if self.held:
            solved = self._held(y, given)
            if solved is not None:
                return solved
        compiled = self._traced(len(self.lo), lambda z: (_copy(y), z, *map(np.copy, given)), self.integers)
        try:
            return self._solved(compiled, np.empty(0))
        except AgreementError as error:
            raise TrialError(str(error)) from error

    def _held(self, y: np.ndarray, given: tuple[np.ndarray, ...]) -> Solved | None:
        """With y as variables whose bounds are points; None where that is not the same function, or cannot be traced."""
        shapes = tuple(np.shape(part) for part in (y, *given))
        if shapes not in self._compiled:
            try:
                self._compiled[shapes] = self.compiled(shapes)
            except InfimumError as error:
                self.held, self.why = False, str(error)
                return None
        try:
            return self._solved(self._compiled[shapes], np.concatenate([np.ravel(part) for part in (y, *given)]))
        except AgreementError:
            return None

    def compiled(self, shapes: tuple[tuple[int, ...], ...]) -> Evaluator:
        """The function of y, what is simulated, and z, of one vector; raises where it cannot be traced."""
        ends = np.cumsum([math.prod(shape) for shape in shapes]).tolist()
        n = ends[-1] + len(self.lo)

        def parts(x: Any) -> tuple:
            y, *given = (x[end - math.prod(shape):end].reshape(shape) for end, shape in zip(ends, shapes, strict=True))
            return y, x[ends[-1]:], *given
        return self._traced(n, parts, tuple(ends[-1] + i for i in self.integers))

    def _traced(self, n: int, parts: Callable[[Any], tuple], integers: tuple[int, ...]) -> Evaluator:
        """The function and the constraints, each made one of a vector, of which `parts` makes their arguments."""
        proving, (fun, purpose) = self.proving, self.objective
        named = "y and z" if self.simulate is None else "y, z, and s, which `simulate` returned"
        objective = Objective(of_vector(fun, parts, named), purpose)
        own = evaluator_of(objective, n, (), proving.machine, proving.limits.memory_limit)
        constraints = [_constraint_of_vector(one, parts, named) for one in self.constraints]
        compiled = with_constraints(own, constraints, integers, None, 0.0).evaluator
        return negated(compiled) if objective.maximises else compiled

    def _solved(self, evaluator: Evaluator, held: np.ndarray) -> Solved:
        """The inner problem with the first variables held; raises AgreementError where the functions were traced as others."""
        lo, hi, count = np.append(held, self.lo), np.append(held, self.hi), len(held)
        agreement = Agreement(evaluator.functions if self.proving.check else ())
        agreement.over(SampleBox(lo, hi, evaluator.system.integers if evaluator.system is not None else ()),
                       self.proving.method.seed)
        outer = self.outer and OuterBox(*(np.append(held, end) for end in self.outer))
        found, least = self.proving.prove(evaluator, lo, hi, outer), 0.0
        evaluations = found.nfev
        system = evaluator.system
        constrained = system is not None and system.m > 0  # those that hold everywhere are left out
        if found.verdict is Verdict.INFEASIBLE and constrained:
            method, limits = replace(self.proving.method, goal=_VIOLATED), self.proving.limits
            limits = replace(limits, max_boxes=min(_MOST, limits.max_boxes or _MOST))
            roughly = replace(self.proving, method=method, limits=limits)
            far = roughly.prove(_violation_of(evaluator), lo, hi, outer)
            found, least = replace(far, verdict=Verdict.INFEASIBLE, lower=-math.inf), far.upper
            evaluations += far.nfev
            if far.x is not None and not least > 0:
                raise TrialError("the function is defined nowhere within the bounds where the inner constraints are met")
        if found.x is None or not math.isfinite(found.upper):
            raise TrialError(f"nothing is known of the inner problem: {found.message}")
        if constrained and found.verdict is not Verdict.INFEASIBLE:
            least = min(0.0, _beyond(evaluator, found.x))
        inner = InnerOutcome(tuple(found.x[count:].tolist()), found.lower, found.verdict.name, evaluations)
        agreement.at(found.x)
        return Solved(found.upper, least, inner)


@lru_cache(maxsize=4)
def _violation_of(evaluator: Evaluator) -> Evaluator:
    """The greatest violation of the constraints in place of the function."""
    own, f = evaluator.system, violation(evaluator.system)
    system = System(f, (), np.empty(0), np.empty(0), own.integers) if own.integers else None
    return evaluator.rewritten(f, system)


def _beyond(evaluator: Evaluator, x: np.ndarray) -> float:
    """How far the constraint that comes nearest is beyond its end, rounded up."""
    rows, system = evaluator.rows(x, x), evaluator.system
    beyond = np.append(rows.hi[1:] - system.upper, system.lower - rows.lo[1:])
    return float(np.nextafter(beyond.max(), np.inf))


def _copy(y: Any) -> Any:
    return y.copy()  # an array, or with choices a list


def _numbers(simulated: Any) -> np.ndarray:
    """What was simulated, as doubles."""
    if simulated is None:
        raise TrialError("simulate returned None: is a `return` missing at its end, or in a branch?")
    try:
        found = np.asarray(simulated)
        if found.dtype.kind == "O":  # NumPy would make a NaN of None
            found = np.array([v + 0.0 for v in found.flat]).reshape(found.shape)
        found = found.astype(np.float64, casting="same_kind")
    except (TypeError, ValueError):
        raise TrialError(f"simulate returned {type(simulated).__name__}: return a number or an array of numbers") from None
    if not np.isfinite(found).all():
        raise TrialError(f"simulate returned a number that is not finite, among {counted(found.size, 'number')}")
    return found


def parts_of(one: Any) -> tuple[Callable[..., Any], tuple[Any, Any] | None]:
    """The function of a constraint, and its ends; of a comparison there are none."""
    if isinstance(one, Mapping):
        return one["fun"], (0.0, 0.0 if str(one.get("type")).lower() == "eq" else np.inf)
    return (one.fun, (one.lb, one.ub)) if hasattr(one, "lb") else (one, None)


def _listed(given: Any) -> list:
    """The constraints in a list, each of a form that there is."""
    single = isinstance(given, (Mapping, str)) or callable(given) or hasattr(given, "lb") or not isinstance(given, Iterable)
    listed = [] if given is None else [given] if single else list(given)
    for number, one in enumerate(listed):
        if not callable(one.get("fun") if isinstance(one, Mapping) else getattr(one, "fun", one)):
            raise OptionError(f"inner constraint {number} is of type {type(one).__name__}; give {_FORMS}")
    return listed


def _constraint_of_vector(one: Any, parts: Callable[[Any], tuple], named: str) -> Any:
    """A constraint whose function is one of a vector."""
    if isinstance(one, Mapping):
        given = one.get("args", ())
        given = tuple(given) if isinstance(given, (tuple, list)) else (given,)
        return {**one, "fun": of_vector(one["fun"], lambda x: (*parts(x), *given), f"{named}, and its `args`"), "args": ()}
    if hasattr(one, "fun"):
        return Constraint(of_vector(one.fun, parts, named), one.lb, one.ub)
    return of_vector(one, parts, named)
