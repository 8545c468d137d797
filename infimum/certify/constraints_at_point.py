"""What the constraints are at a point, or in the box that holds a feasible one: values, which of them are active, multipliers."""

from typing import NamedTuple

import numpy as np

from infimum.certify import sparse_equation_solutions
from infimum.certify.equation_solutions import is_large
from infimum.evaluation.evaluator import Evaluator
from infimum.linear_algebra.lane_algebra import gram, total
from infimum.problem.system import System
from infimum.search.policy.bounds import EQUATION_SOLUTIONS as POLICY


class ConstraintsAtPoint(NamedTuple):
    """`lo` and `hi` enclose the values of the constraints on the box, [-inf, inf] where one is not certainly defined; `active`
    tells which of them lie at an end, to about six digits. With the multipliers, ∇f + Σ y ∇c is about 0 but in variables at
    their bounds: y >= 0 at an upper end, y <= 0 at a lower one, about 0 where a constraint is not active. `violation` is the
    most by which any point of the box may break a constraint, an upper bound; `worst` is which one."""

    lo: np.ndarray
    hi: np.ndarray
    active: np.ndarray
    multipliers: np.ndarray
    violation: float
    worst: int | None


def at_point(evaluator: Evaluator, bounds: tuple[np.ndarray, np.ndarray], box: tuple[np.ndarray, np.ndarray],
             multipliers: np.ndarray | None = None) -> ConstraintsAtPoint:
    """Of a box around a point; a point is a box without width. Multipliers that a search has found are better than those that
    the first derivatives alone tell."""
    lo, hi = box
    rows, x = evaluator.rows(lo, hi), np.minimum(np.maximum(lo + (hi - lo) / 2, lo), hi)
    low, high = (np.where(rows.defined, end, inf)[1:] for end, inf in ((rows.lo, -np.inf), (rows.hi, np.inf)))
    if is_large(evaluator.system, evaluator.n):
        sides = _sides(evaluator.system, low / 2 + high / 2, np.zeros((evaluator.system.m, 1)), x)
        multipliers = sparse_equation_solutions.multipliers(evaluator, bounds, x) if multipliers is None else multipliers
    else:
        values, jacobian = evaluator.estimate_jacobian(x)
        sides = _sides(evaluator.system, values[1:], jacobian[1:], x)
        multipliers = _multipliers(evaluator, bounds, x, jacobian, sides) if multipliers is None else multipliers
    broken = _violated(evaluator.system, low, high)
    worst = int(np.argmax(broken)) if len(broken) else None
    return ConstraintsAtPoint(low, high, sides != 0, multipliers, float(broken[worst]) if len(broken) else 0.0, worst)


def _violated(system: System, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """By how much constraints with values from low to high may be broken, rounded up."""
    with np.errstate(all="ignore"):
        above, below = high - system.upper, system.lower - low
    beyond = np.maximum(np.where(high > system.upper, above, 0.0), np.where(low < system.lower, below, 0.0))
    return np.where(beyond > 0, np.nextafter(beyond, np.inf), 0.0)


def _sides(system: System, values: np.ndarray, jacobian: np.ndarray, x: np.ndarray) -> np.ndarray:
    """1 where a constraint lies at its upper end, -1 at its lower one, 2 for an equation, and 0 elsewhere."""
    with np.errstate(all="ignore"):
        near = POLICY.active_distance * np.maximum(np.abs(values), total(np.abs(jacobian * x).T))
        upper, lower = values >= system.upper - near, values <= system.lower + near
        nearer = np.abs(values - system.upper) <= np.abs(values - system.lower)
    return np.where(system.equal, 2, np.where(upper & (nearer | ~lower), 1, np.where(lower, -1, 0)))


def _multipliers(evaluator: Evaluator, bounds: tuple[np.ndarray, np.ndarray], x: np.ndarray, jacobian: np.ndarray,
                 sides: np.ndarray) -> np.ndarray:
    """Least squares among the active constraints; those whose multiplier has the wrong sign are left out, the worst first."""
    system, (lo, hi) = evaluator.system, bounds
    unit = np.maximum(1.0, np.abs(x))
    near = POLICY.active_distance * unit
    free = (x > lo + near) & (x < hi - near)
    free[list(system.integers)] = False
    slopes, active = np.where(free, jacobian * unit, 0.0), np.flatnonzero(sides)
    found = np.zeros(system.m)
    while len(active) and np.isfinite(slopes).all():
        rows = slopes[1 + active]
        scale = np.abs(rows).max(axis=1)
        scale = np.where(scale > 0, scale, 1.0)
        rows = rows / scale[:, None]
        matrix, each = gram(rows.T[..., None], np.ones((len(x), 1))), np.arange(len(active))
        matrix[each, each] += POLICY.regularisation
        right = -total((rows * slopes[0]).T)[:, None]
        y, good, _ = evaluator.host_arrays.solve_symmetric(matrix, right, len(active))
        if not good[0]:
            break
        wrong = np.where(sides[active] == 2, 0.0, np.maximum(-sides[active] * y[:, 0], 0.0))
        if not wrong.any():
            found[active] = y[:, 0] / scale
            break
        active = np.delete(active, int(np.argmax(wrong)))
    return found
