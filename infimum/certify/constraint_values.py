"""What a result says of its constraints: the proved point or box, values there, what is active, multipliers."""

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from infimum.errors import InternalError
from infimum.evaluation.evaluator import Evaluator
from infimum.problem.constraint import ConstraintValue, ConstraintValues
from infimum.problem.problem import Interval, Problem
from infimum.problem.system import Label, System
from infimum.result import Answering, Result, Verdict
from infimum.support.given_numbers import round_down, round_up
from infimum.support.lazy import LazyModule

if TYPE_CHECKING:
    from infimum.certify import constraints_at_point as points
else:
    points = LazyModule("certify.constraints_at_point")

NOWHERE_FEASIBLE = "no point within the bounds meets all constraints"


def about_constraints(result: Result, problem: Problem, evaluator: Evaluator, feasibility: float) -> Result:
    """The result of a problem with constraints, which says what is proved about them; `feasibility` is by how much equations
    were relaxed."""
    if result.feasible is not None:
        _check(result, problem, evaluator)
    asked = result.question if result.feasible is not None and result.purpose != "feasible" else None
    return replace(result, feasibility=feasibility, question=asked, attained=None, message=_message(result, problem, evaluator),
                   inquiry=None if result.feasible is None else ConstraintInquiry(evaluator, problem.lo, problem.hi))


def _check(result: Result, problem: Problem, evaluator: Evaluator) -> None:
    """Whatever the engine has proved: a feasible point lies within the bounds, and enclosures there meet all constraints."""
    system = evaluator.system
    lo, hi = result.feasible if isinstance(result.feasible, tuple) else (result.feasible,) * 2
    rows, whole = evaluator.rows(lo, hi), list(system.integers)
    outside = (lo < problem.lo).any() or (hi > problem.hi).any() or (lo[whole] != hi[whole]).any() \
        or (lo[whole] != np.rint(lo[whole])).any()
    if outside or (rows.hi[1:] < system.lower).any() or (rows.lo[1:] > system.upper).any() or rows.empty.any():
        raise InternalError("a point that was taken for feasible violates a constraint, or lies outside the bounds")


def _message(result: Result, problem: Problem, evaluator: Evaluator) -> str:
    if result.verdict is Verdict.INFEASIBLE:
        everywhere = bool(evaluator.value(*problem.region).defined)
        return NOWHERE_FEASIBLE + ("" if everywhere else ", and has a value of the function")
    if result.x is None:
        return f"{result.message}; no feasible point was found"
    return result.message


class ConstraintInquiry(Answering):
    """Values of the constraints, computed when somebody wants to know. A pickle holds nothing, since compiled kernels stay in
    their process."""

    def __init__(self, evaluator: Evaluator, lo: np.ndarray, hi: np.ndarray):
        self.evaluator, self.lo, self.hi = evaluator, lo, hi

    def __call__(self, result: Any) -> ConstraintValues | None:
        """The answer for a Result; None where no feasible point is known."""
        system: System = self.evaluator.system
        if result.feasible is None or not system.m:
            return None
        in_box, bounds = isinstance(result.feasible, tuple), (self.lo, self.hi)
        found = points.at_point(self.evaluator, bounds, result.feasible if in_box else (result.feasible,) * 2)
        lo, hi = np.maximum(found.lo, system.lower), np.minimum(found.hi, system.upper)  # so it is at the feasible point
        changes = 0.0 - found.multipliers
        labels = system.labels or (Label(k, None, f"constraint {k}") for k in range(system.m))
        rows = [ConstraintValue(f"{text}{'' if element is None else f'[{element}]'}", number, element,
                                _shifted(float(lo[k]), float(hi[k]), moved), float(system.lower[k]) + moved[0],
                                float(system.upper[k]) + moved[0], bool(found.active[k]), float(changes[k]))
                for k, (number, element, text, moved) in enumerate(labels)]
        rows = _joined(rows) if any(label.moved != (0.0, 0.0) for label in system.labels) else rows
        return ConstraintValues(rows, points.at_point(self.evaluator, bounds, (result.x, result.x)).violation if in_box else 0.0)


def _joined(rows: list[ConstraintValue]) -> list[ConstraintValue]:
    """With one row for each constraint: one with two ends that are no doubles is two inequalities."""
    found: list[ConstraintValue] = []
    places: dict[tuple, int] = {}
    for row in rows:
        k = places.get(place := (row.number, row.element, row.name))
        if k is not None and {found[k].lower, found[k].upper, row.lower, row.upper} >= {-np.inf, np.inf}:
            other = found[k]
            value = Interval(max(row.value.lo, other.value.lo), min(row.value.hi, other.value.hi))
            found[k] = replace(row, value=value, lower=max(row.lower, other.lower), upper=min(row.upper, other.upper),
                               active=row.active or other.active, multiplier=row.multiplier + other.multiplier)
        else:
            places[place] = len(found)
            found.append(row)
    return found


def _shifted(lo: float, hi: float, moved: tuple[float, float]) -> Interval:
    """The values lo to hi plus the number between the two."""
    if moved == (0.0, 0.0):
        return Interval(lo, hi)
    ends = ((lo, moved[0], round_down), (hi, moved[1], round_up))
    return Interval(*(a if np.isinf(a) else rounded(Fraction(a) + Fraction(b)) for a, b, rounded in ends))
