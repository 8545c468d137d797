"""Where all there is to minimise is a variable that one constraint defines (`structure/defined_variable.py`), an engine minimises
what it is defined by. Seen from outside the variable is there: in points, regions and boxes it is filled in.

The engine keeps the variable as one that is fixed and that nothing reads, so that all others have their numbers.
"""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from infimum.certify.uniqueness_question import UniquenessQuestion
from infimum.evaluation.evaluator import Evaluator
from infimum.expr.node import var
from infimum.expr.rewriting_switches import step
from infimum.problem.cover import Cover
from infimum.problem.problem import Problem
from infimum.problem.settings import Goal
from infimum.problem.unions import Unions
from infimum.result import Progress, Result
from infimum.structure.complete_squares import completed
from infimum.structure.defined_variable import definition

_FIXED = 1.0  # positive, so that logarithms of all variables may be taken


@dataclass(frozen=True, eq=False)
class Substitution:
    """The problem in the other variables, and what the variable `number` is in these."""

    whole: Problem
    its: Evaluator
    problem: Problem
    evaluator: Evaluator
    number: int
    factor: float  # of the variable in f
    value: Evaluator
    worse: int  # 1 if the variable may be larger than that, -1 if it may be smaller

    def fill(self, lo: np.ndarray, hi: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Boxes (n, N) or (n,) around all feasible points, and among them all minimisers, that have the other variables there."""
        k, found = self.number, self.value.value(lo, hi)
        low, high = np.maximum(found.lo, self.whole.lo[k]), np.minimum(found.hi, self.whole.hi[k])
        none = low > high  # there is no such point
        lo, hi = lo.copy(), hi.copy()
        lo[k], hi[k] = np.where(none, self.whole.lo[k], low), np.where(none, self.whole.hi[k], high)
        return lo, hi

    def fill_point(self, x: np.ndarray) -> np.ndarray:
        """With the variable about where it belongs."""
        lo, hi = (end[self.number] for end in self.fill(x, x))
        x = x.copy()
        with np.errstate(all="ignore"):
            x[self.number] = np.minimum(np.maximum(np.nan_to_num(lo / 2 + hi / 2), lo), hi)
        return x


@step("defined variable", lambda problem, evaluator, goal: None)
def substitution(problem: Problem, evaluator: Evaluator, goal: Goal) -> Substitution | None:
    """None where nothing is to be substituted. Where narrow regions are asked for, the variable has to become narrow as well."""
    if goal.xtol is not None or problem.start is not None:
        return None
    n, found = evaluator.n, definition(evaluator.system, var("x", (evaluator.n,)))
    if found is None:
        return None
    k, (lo, hi) = found.number, (end.copy() for end in (problem.lo, problem.hi))
    bounds, region = (float(lo[k]), float(hi[k])), [float(end[k]) for end in problem.region]
    lo[k] = hi[k] = _FIXED
    outer = problem.outer and problem.outer.but(k, *(_FIXED,) * 4)
    value = Evaluator(found.value, n, evaluator.backend)
    if np.isfinite(bounds).any():
        known = value.value(*((lo, hi) if outer is None else (outer.lo, outer.hi)))
        implied = bool(known.lo >= bounds[0]), bool(known.hi <= bounds[1])
    else:
        implied = True, True
    if not (found.least or implied[0]) or not (found.most or implied[1]):
        return None
    if any(not holds and end != beyond for holds, end, beyond in zip(implied, bounds, region, strict=True)):
        return None  # no constraint has such an end
    system = found.within(*(np.inf * sign if holds else end for sign, holds, end in zip((-1, 1), implied, bounds, strict=True)))
    x0 = problem.x0 if problem.x0 is None else problem.x0.copy()
    if x0 is not None:
        x0[k] = _FIXED
    return Substitution(problem, evaluator, replace(problem, lo=lo, hi=hi, x0=x0, system=system, outer=outer),
                        Evaluator(found.system.f, n, evaluator.backend, None, system), k,
                        found.factor, value, found.worse)


def with_completed_squares(problem: Problem, evaluator: Evaluator) -> tuple[Problem, Evaluator]:
    """The problem in a form that has better bounds where variables are unbounded."""
    endless = np.flatnonzero(np.isinf(problem.lo) | np.isinf(problem.hi))
    if evaluator.system is None or not len(endless):
        return problem, evaluator
    system = completed(evaluator.system, var("x", (evaluator.n,)), set(endless.tolist()))
    return replace(problem, system=system), Evaluator(system.f, evaluator.n, evaluator.backend, evaluator.fun, system)


class _Known(NamedTuple):
    """What is asked of an incumbent after the run."""

    box: tuple[np.ndarray, np.ndarray] | None


class Substituted:
    """The engine; its points and results have all variables."""

    def __init__(self, found: Substitution, engine: Any):
        self.found, self.engine = found, engine

    def __getattr__(self, name: str) -> Any:
        return getattr(self.engine, name)

    @property
    def x(self) -> np.ndarray:
        return self.found.fill_point(self.engine.x)

    @property
    def incumbent(self) -> _Known:
        """The box with the variable, which at the feasible point is not worse than the verified value. Where it may be worse than
        what defines it, a point takes that end, so that it is feasible."""
        known, found = self.engine.incumbent, self.found
        box = getattr(known, "box", None)
        box = box if box is not None or known.x is None else (known.x, known.x)
        if box is None:
            return _Known(None)
        k, (lo, hi) = found.number, found.fill(*box)
        if found.factor == 1.0:
            hi[k] = min(hi[k], known.upper)
        elif found.factor == -1.0:
            lo[k] = max(lo[k], -known.upper)
        if found.worse and np.array_equal(*box):
            lo[k] = hi[k] = hi[k] if found.worse > 0 else lo[k]
        return _Known((lo, hi))

    def finish(self, stopped: str | None, seconds: float, history: list[Progress]) -> Result:
        """With the variable filled in."""
        result, found, box = self.engine.finish(stopped, seconds, history), self.found, self.incumbent.box
        whole, x, upper = found.whole, result.x, result.upper
        if x is not None:
            x, upper = np.minimum(np.maximum(found.fill_point(x), box[0]), box[1]), max(upper, float(found.its.value(*box).hi))
        return replace(
            result, x=x, fun=upper, upper=upper, regions=_cover(result.regions, found, result.lower),
            boxes=None if result.boxes is None else [found.fill(lo, hi) for lo, hi in result.boxes],
            minima=[replace(minimum, x=found.fill_point(minimum.x)) for minimum in result.minima],
            question=UniquenessQuestion(found.its, whole.lo, whole.hi, outer=whole.outer))


def _cover(cover: Cover | None, found: Substitution, lower: float) -> Cover | None:
    """The regions with the variable filled in; in a product, which takes one interval of each variable, by one for all."""
    if cover is None or (cover.unions is None and not cover.kept):
        return cover
    if cover.unions is None:
        return Cover(*found.fill(cover.lo.T, cover.hi.T), cover.lower)
    lo, hi, starts = cover.unions.lo.copy(), cover.unions.hi.copy(), cover.unions.starts
    at = starts[found.number]  # the only interval of that variable
    lo[at], hi[at] = (end[found.number] for end in found.fill(*cover.unions.hull))
    return Cover.product(Unions(lo, hi, starts), lower)
