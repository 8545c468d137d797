"""Variables that have no choice are no variables: the inner form has the free ones alone, and results have all of them again.

Proof: docs/proofs/exact_bounds.md.
"""

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from infimum.evaluation.evaluator import Evaluator
from infimum.expr.node import var
from infimum.expr.rewriting_switches import step
from infimum.presolve.presolve_stack import Formulation, PresolveStep
from infimum.problem.cover import Cover
from infimum.problem.fixed_values import FixedValues, held_variables
from infimum.problem.problem import Problem
from infimum.problem.system import System
from infimum.problem.text import counted
from infimum.problem.unions import Unions
from infimum.result import Result
from infimum.search.policy.search import FIXED_VARIABLES as POLICY
from infimum.support.lazy import LazyModule

if TYPE_CHECKING:
    from infimum.expr import fixing as variable_fixing
    from infimum.presolve import constant_parts, inner_answers
    from infimum.problem import minimisers
else:
    constant_parts = LazyModule("presolve.constant_parts")
    inner_answers = LazyModule("presolve.inner_answers")
    variable_fixing = LazyModule("expr.fixing")
    minimisers = LazyModule("problem.minimisers")


class Embedding(NamedTuple):
    """The free variables, by their numbers, among all variables, the others having fixed values."""

    fixed: FixedValues
    free: np.ndarray

    def whole(self, points: np.ndarray, side: int = -1) -> np.ndarray:
        """Points (k, ...) with all variables (n, ...); with a `side`, those are the lower ends (0) or the upper ends (1) of
        boxes."""
        found = np.empty((len(self.fixed.shown), *points.shape[1:]))
        found.T[...] = self.fixed.shown if side < 0 else self.fixed[1 + side]
        found[self.free] = points[:len(self.free)]
        return found

    def box(self, lo: np.ndarray, hi: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Boxes with all variables."""
        return self.whole(lo, 0), self.whole(hi, 1)

    @property
    def is_exact(self) -> bool:
        """Are all fixed values doubles?"""
        return self.fixed.low is self.fixed.high


class Reduced(NamedTuple):
    """A function of the free variables. `mixed`: arrays that hold fixed and free variables had to be put together for it."""

    evaluator: Evaluator
    embedding: Embedding
    mixed: bool

    @classmethod
    def of(cls, whole: Evaluator, embedding: Embedding) -> "Reduced":
        """The function and its constraints. Where no variable is free, it is a function of one variable that it does not read."""
        own, (fixed, free) = whole.system, embedding
        fixing = variable_fixing.VariableFixing(var("x", (whole.n,)), fixed.lower, fixed.upper, free)
        roots = fixing([whole.f, *(() if own is None else own.bodies)])
        mixed, (f, *bodies) = fixing.mixes(roots), constant_parts.with_constants(roots)
        system = None
        if own is not None:
            integers = tuple(int(i) for i in np.flatnonzero(np.isin(free, own.integers)))
            system = System(f, tuple(bodies), own.lower, own.upper, integers, own.labels) if bodies or integers else None
        fun = None if whole.fun is None else lambda y: whole.fun(embedding.whole(y))
        return cls(Evaluator(f, max(1, len(free)), whole.backend, fun, system, numbers=free), embedding, mixed)


class FixedVariables(PresolveStep):
    """The inner form has no narrow variables, in which searches would find no double to cut at. If it `reduces`, it has no
    variables that are fixed at doubles either, unless there are too few of them."""

    def __init__(self, reduces: bool = True):
        self.reduces = reduces

    def apply(self, given: Formulation) -> Formulation | None:
        problem, held = given.problem, held_variables(given.problem)
        found = _without_held(*given, held) if self.reduces and len(held) else None
        if found is None and problem.narrow.any():
            found = Reduced.of(given.evaluator, Embedding(FixedValues.of(problem), np.flatnonzero(~problem.narrow)))
        if found is None:
            return None
        self.embedding = found.embedding
        self.said = f"{counted(len(problem.lo) - len(found.embedding.free), 'variable')} with equal bounds left out"
        return Formulation(_reduced_problem(problem, found.embedding.free), found.evaluator)

    def point(self, x: np.ndarray) -> np.ndarray:
        return self.embedding.whole(x)

    def postsolve(self, result: Result) -> Result:
        whole, box, unknown = self.embedding.whole, self.embedding.box, self.embedding.fixed.unknown
        feasible = result.feasible
        if isinstance(feasible, tuple):
            feasible = box(*feasible)
        elif feasible is not None:
            feasible = whole(feasible) if self.embedding.is_exact else box(feasible, feasible)
        return replace(
            result, x=None if result.x is None else whole(result.x), feasible=feasible, regions=self._regions(result),
            boxes=None if result.boxes is None else [box(*one) for one in result.boxes],
            minima=[replace(m, x=whole(m.x)) for m in result.minima], attained=None if unknown else result.attained,
            message="; ".join([result.message, *self._notes()]), **inner_answers.passed_on(result, self._minimisers))

    def _notes(self) -> list[str]:
        """What is to be said of variables that have no double, or one, between bounds that are none."""
        fixed, free = self.embedding
        return [f"x[{i}] is a number between {float(fixed.low[i])!r} and {float(fixed.high[i])!r}, as its bounds are: all is "
                "said of each number there" for i in np.flatnonzero(fixed.low < fixed.high) if i not in free]

    def _regions(self, result: Result) -> Cover | None:
        """The regions; where only their number is kept, that is the same."""
        cover, (fixed, free) = result.regions, self.embedding
        if cover is None or (cover.unions is None and not cover.kept):
            return cover
        if cover.unions is None:
            return Cover(*self.embedding.box(cover.lo.T, cover.hi.T), cover.lower)
        ends = [[pair] for pair in zip(fixed.low.tolist(), fixed.high.tolist(), strict=True)]
        for k, i in enumerate(free):
            ends[i] = cover.unions[k]
        return Cover.product(Unions.of(ends), result.lower)

    def _minimisers(self, found: "minimisers.Minimisers") -> "minimisers.Minimisers":
        unknown = self.embedding.fixed.unknown
        if unknown:
            why = f"x[{unknown[0]}] is not known exactly, only between two neighbouring doubles"
            return minimisers.Minimisers((), max(1, len(found) + found.rest), why)
        boxes = [(m, *self.embedding.box(m.lo, m.hi)) for m in found]
        return minimisers.Minimisers([replace(m, lo=lo, hi=hi) for m, lo, hi in boxes], found.rest, found.why)


@step("fixed variables", lambda problem, evaluator, held: None)
def _without_held(problem: Problem, evaluator: Evaluator, held: np.ndarray) -> Reduced | None:
    """Without narrow variables and those that are fixed at doubles; None if no variable would be left, or if arrays of both kinds
    would have to be put together while few are fixed."""
    n = len(problem.lo)
    free, few = np.setdiff1d(np.flatnonzero(~problem.narrow), held, assume_unique=True), POLICY.fixed_share * len(held) < n
    if not len(free) or (few and n > POLICY.many_variables):
        return None
    found = Reduced.of(evaluator, Embedding(FixedValues.of(problem), free))
    return None if few and found.mixed else found


def _reduced_problem(problem: Problem, free: np.ndarray) -> Problem:
    """The bounds, points and start boxes of the free variables."""
    if not len(free):
        return Problem(problem.fun, np.zeros(1), np.zeros(1))
    lo, hi, start, outer = problem.lo[free], problem.hi[free], problem.start, problem.outer and problem.outer.at(free)
    return replace(problem, lo=lo, hi=hi, x0=None if problem.x0 is None else problem.x0[free],
                   start=None if start is None else start.of_variables(free), outer=outer and outer.unless(lo, hi), ends={})
