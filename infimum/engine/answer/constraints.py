"""What a result says of its constraints: the proved point or box, values there, what is active, multipliers."""

from dataclasses import replace
from typing import Any

import numpy as np

from infimum.constraint_table import ConstraintValue, ConstraintValues
from infimum.errors import InternalError
from infimum.evaluate import Evaluator
from infimum.expr.system import System
from infimum.maximised import opposite
from infimum.problem import Interval, Problem
from infimum.result import Result, Verdict

_AT_AN_END = 1e-6, 1e-2  # values nearer to an end than the relative gap, but within these limits, count as active
_DEPENDENT = 1e-10       # what is left of a gradient that others combine to


def about_constraints(result: Result, problem: Problem, evaluator: Evaluator, feasibility: float) -> Result:
    """The result of a problem with constraints, which says what is proved about them; `feasibility` is by how much equations
    were relaxed."""
    if result.feasible is not None:
        _check(result, problem, evaluator)
    return replace(result, feasibility=feasibility, question=None, attained=None, message=_message(result, problem, evaluator),
                   inquiry=None if result.feasible is None else Inquiry(evaluator, problem.lo, problem.hi))


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
        everywhere = bool(evaluator.value(problem.lo, problem.hi).defined)
        return "no point within the bounds meets all constraints" + ("" if everywhere else ", and has a value of the function")
    if result.x is None:
        return f"{result.message}; no feasible point was found"
    return result.message


class Inquiry:
    """Values of the constraints, computed when somebody wants to know. A pickle holds nothing, since compiled kernels stay in
    their process."""

    def __init__(self, evaluator: Evaluator, lo: np.ndarray, hi: np.ndarray):
        self.evaluator, self.lo, self.hi = evaluator, lo, hi

    def __call__(self, result: Any) -> ConstraintValues | None:
        """The answer for a Result; None where no feasible point is known."""
        system: System = self.evaluator.system
        if result.feasible is None or not system.m:
            return None
        in_box = isinstance(result.feasible, tuple)
        lo, hi = result.feasible if in_box else (result.feasible, result.feasible)
        proved = self.evaluator.rows(lo, hi)
        value_lo, value_hi = np.maximum(proved.lo[1:], system.lower), np.minimum(proved.hi[1:], system.upper)
        at_x = self.evaluator.rows(result.x, result.x) if in_box else proved
        near = min(max(_AT_AN_END[0], result.gap / max(1.0, abs(result.fun))), _AT_AN_END[1])
        active = _near(value_lo, system.lower, near) | _near(value_hi, system.upper, near) | system.equal
        weights = self._multipliers(result.x, active, system.integers)
        sign = opposite if result.maximised else float
        labels = system.labels or ((k, None, f"constraint {k}") for k in range(system.m))
        rows = [ConstraintValue(f"{text}{'' if element is None else f'[{element}]'}", number, element,
                                Interval(float(value_lo[k]), float(value_hi[k]), True), float(system.lower[k]),
                                float(system.upper[k]), bool(active[k]),
                                sign(float(weights[k])) if np.isfinite(weights[k]) else None)
                for k, (number, element, text) in enumerate(labels)]
        return ConstraintValues(rows, _violation(at_x.lo[1:], at_x.hi[1:], at_x.defined[1:], system) if in_box else 0.0)

    def _multipliers(self, x: np.ndarray, active: np.ndarray, integers: tuple[int, ...]) -> np.ndarray:
        """Estimates: the gradient of f, in the variables that can move, as a combination of those of the active constraints."""
        weights = np.where(active, np.nan, 0.0)
        free = (x > self.lo) & (x < self.hi)
        free[list(integers)] = False
        at = np.flatnonzero(active)
        if len(at) and len(at) <= free.sum():
            _, slopes = self.evaluator.estimate_jacobian(x)
            weights[at] = _combination(slopes[1 + at][:, free], slopes[0][free])
        return weights

    def __reduce__(self) -> tuple:
        return _forgotten, ()

    def __deepcopy__(self, memo: dict) -> "Inquiry":
        return self


def _forgotten() -> None:
    return None


def _near(value: np.ndarray, end: np.ndarray, within: float) -> np.ndarray:
    with np.errstate(invalid="ignore"):
        return np.isfinite(end) & (np.abs(value - end) <= within * np.maximum(1.0, np.abs(end)))


def _violation(lo: np.ndarray, hi: np.ndarray, defined: np.ndarray, system: System) -> float:
    """The largest distance of a value in [lo, hi] from its ends, rounded up; inf where one is undefined."""
    if not defined.all():
        return np.inf
    worst = float(np.maximum(system.lower - lo, hi - system.upper).max(initial=0.0))
    return float(np.nextafter(worst, np.inf)) if worst > 0 else 0.0


def _combination(rows: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Weights of the rows with which they come nearest to the target, by Gram and Schmidt; NaN where rows depend on others."""
    basis, factors, found = [], np.eye(len(rows)), np.full(len(rows), np.nan)
    rest = target.copy()
    shares = np.zeros(len(rows))
    for k, row in enumerate(rows):
        left = row.copy()
        for j, q in enumerate(basis):
            factors[j, k] = (q * left).sum()
            left = left - factors[j, k] * q
        length = np.sqrt((left * left).sum())
        if not length > _DEPENDENT * np.sqrt((row * row).sum()):
            return found
        factors[k, k] = length
        basis.append(left / length)
        shares[k] = (basis[k] * rest).sum()
        rest = rest - shares[k] * basis[k]
    for k in reversed(range(len(rows))):
        found[k] = (shares[k] - (factors[k, k + 1:] * found[k + 1:]).sum()) / factors[k, k]
    return found
