"""Where all there is to minimise is a variable that one constraint defines (`structure/defined_variable.py`), the inner form
minimises what defines it. In points, regions and boxes of the outer form the variable is filled in.

The inner form keeps the variable as one that is fixed and that nothing reads, so that all others have their numbers.

Proof: docs/proofs/constraints.md.
"""

from dataclasses import replace

import numpy as np

from infimum.certify.uniqueness_question import UniquenessQuestion
from infimum.expr.node import var
from infimum.expr.rewriting_switches import step
from infimum.presolve.presolve_stack import Formulation, PresolveStep
from infimum.problem.cover import Cover
from infimum.problem.settings import Goal
from infimum.problem.unions import Unions
from infimum.result import Result
from infimum.structure.defined_variable import definition

_FIXED = 1.0  # fixed: the value of the variable in the inner form; positive, so that logarithms of all variables may be taken

Box = tuple[np.ndarray, np.ndarray]


class DefinedObjective(PresolveStep):
    """Where narrow regions are asked for by `goal`, nothing is done: the variable has to become narrow as well."""

    def __init__(self, goal: Goal):
        self.goal = goal

    @step("defined variable", lambda self, given: None)
    def apply(self, given: Formulation) -> Formulation | None:
        problem, evaluator = given
        if evaluator.system is None or self.goal.xtol is not None or problem.start is not None:
            return None
        found = definition(evaluator.system, var("x", (evaluator.n,)))
        if found is None:
            return None
        k, (lo, hi) = found.number, (end.copy() for end in (problem.lo, problem.hi))
        bounds, region = (float(lo[k]), float(hi[k])), [float(end[k]) for end in problem.region]
        lo[k] = hi[k] = _FIXED
        outer = problem.outer and problem.outer.but(k, *(_FIXED,) * 4)
        value = evaluator.rewritten(found.value)
        if np.isfinite(bounds).any():
            known = value.value(*((lo, hi) if outer is None else (outer.lo, outer.hi)))
            implied = bool(known.lo >= bounds[0]), bool(known.hi <= bounds[1])
        else:
            implied = True, True
        if not (found.least or implied[0]) or not (found.most or implied[1]):
            return None
        if any(not holds and end != beyond for holds, end, beyond in zip(implied, bounds, region, strict=True)):
            return None  # no constraint has such an end
        ends = (np.inf * sign if holds else end for sign, holds, end in zip((-1, 1), implied, bounds, strict=True))
        system, x0 = found.within(*ends), problem.x0 if problem.x0 is None else problem.x0.copy()
        if x0 is not None:
            x0[k] = _FIXED
        self.given, self.found, self.value = given, found, value
        self.said = "the minimised variable replaced by the function that a constraint makes it"
        return Formulation(replace(problem, lo=lo, hi=hi, x0=x0, outer=outer), evaluator.rewritten(found.system.f, system))

    def point(self, x: np.ndarray) -> np.ndarray:
        """With the variable about where it belongs."""
        k = self.found.number
        lo, hi = (end[k] for end in self._filled(x, x))
        x = x.copy()
        with np.errstate(all="ignore"):
            x[k] = np.minimum(np.maximum(np.nan_to_num(lo / 2 + hi / 2), lo), hi)
        return x

    def postsolve(self, result: Result) -> Result:
        """With the variable filled in."""
        (problem, evaluator), x, upper, feasible = self.given, result.x, result.upper, None
        if x is not None:
            box = self._feasible(result)
            x, upper = np.minimum(np.maximum(self.point(x), box[0]), box[1]), max(upper, float(evaluator.value(*box).hi))
            feasible = None if not np.isfinite(upper) else x if np.array_equal(*box) else box
        return replace(
            result, x=x, fun=upper, upper=upper, feasible=feasible, regions=self._regions(result),
            boxes=None if result.boxes is None else [self._filled(lo, hi) for lo, hi in result.boxes],
            minima=[replace(minimum, x=self.point(minimum.x)) for minimum in result.minima],
            question=UniquenessQuestion(evaluator, problem.lo, problem.hi, outer=problem.outer))

    def _filled(self, lo: np.ndarray, hi: np.ndarray) -> Box:
        """Boxes (n, N) or (n,) around all feasible points, and among them all minimisers, that have the other variables there."""
        k, problem, found = self.found.number, self.given.problem, self.value.value(lo, hi)
        low, high = np.maximum(found.lo, problem.lo[k]), np.minimum(found.hi, problem.hi[k])
        none = low > high  # there is no such point
        lo, hi = lo.copy(), hi.copy()
        lo[k], hi[k] = np.where(none, problem.lo[k], low), np.where(none, problem.hi[k], high)
        return lo, hi

    def _feasible(self, result: Result) -> Box:
        """The box of the feasible point with the variable, which is not worse there than the verified value. Where it may be
        worse than what defines it, a point takes that end, so that it is feasible."""
        known, k, worse = result.feasible, self.found.number, self.found.worse
        box = known if isinstance(known, tuple) else (result.x, result.x)
        lo, hi = self._filled(*box)
        if self.found.factor == 1.0:
            hi[k] = min(hi[k], result.upper)
        elif self.found.factor == -1.0:
            lo[k] = max(lo[k], -result.upper)
        if worse and np.array_equal(*box):
            lo[k] = hi[k] = hi[k] if worse > 0 else lo[k]
        return lo, hi

    def _regions(self, result: Result) -> Cover | None:
        """The regions with the variable filled in; in a product, which takes one interval of each variable, by one for all."""
        cover, k = result.regions, self.found.number
        if cover is None or (cover.unions is None and not cover.kept):
            return cover
        if cover.unions is None:
            return Cover(*self._filled(cover.lo.T, cover.hi.T), cover.lower)
        lo, hi, starts = cover.unions.lo.copy(), cover.unions.hi.copy(), cover.unions.starts
        lo[starts[k]], hi[starts[k]] = (end[k] for end in self._filled(*cover.unions.hull))  # the variable's only interval
        return Cover.product(Unions(lo, hi, starts), result.lower)
