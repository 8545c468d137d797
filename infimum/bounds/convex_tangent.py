"""A lower bound over the whole box where the function and its constraints are convex by their formulas, in the variables or in
their logarithms (geometric programs): the tangent of the Lagrangian function at a local solution. See
docs/proofs/lagrangian.md."""

import numpy as np

from infimum.evaluation.evaluator import Evaluator
from infimum.linear_algebra.interval_matrices import down, exactly, minus, plus, times, up
from infimum.structure.curvature import CONCAVE, CONVEX, curvatures

_LOG_2 = 0.6931471805599453, 0.6931471805599454  # fixed: the doubles around it
_ROOT_HALF = 0.7071  # fixed: where the mantissa is doubled


def tangent_bound(evaluator: Evaluator, lo: np.ndarray, hi: np.ndarray, x: np.ndarray, multipliers: np.ndarray) -> float:
    """f is certainly not below this at the feasible points of the box [lo, hi]; -inf where nothing is known.

    `multipliers` (m) and the point x may be any; the bound is good if they belong to a solution.
    """
    x, best = np.minimum(np.maximum(x, lo), hi), -np.inf
    for in_logarithms in (False, True):
        w = _usable(evaluator, lo, hi, multipliers, in_logarithms)
        if w is not None:
            with np.errstate(all="ignore"):
                best = max(best, _bound(evaluator, lo, hi, x, w, in_logarithms))
    return best


def _usable(evaluator: Evaluator, lo: np.ndarray, hi: np.ndarray, w: np.ndarray, in_logarithms: bool) -> np.ndarray | None:
    """The multipliers with which each constraint is convex and has an end, 0 for the others; None if f is not convex."""
    if in_logarithms and not (lo > 0).all():
        return None
    system = evaluator.system
    found = curvatures((system.f, *system.bodies), lo, hi, in_logarithms)
    if found is None or not found[0].item() & CONVEX:
        return None
    defined = evaluator.rows(lo, hi).defined
    if not defined[0]:
        return None
    curve = np.concatenate([np.zeros(0, int), *found[1:]])
    convex = np.where(w > 0, curve & CONVEX, np.where(w < 0, curve & CONCAVE, 0)) > 0
    return np.where(convex & defined[1:] & np.isfinite(w) & np.isfinite(np.where(w > 0, system.upper, system.lower)), w, 0.0)


def _bound(evaluator: Evaluator, lo: np.ndarray, hi: np.ndarray, x: np.ndarray, w: np.ndarray, in_logarithms: bool) -> float:
    """Of L = f + Σ w (g - e): its value at x, and the least that is added by a slope anywhere in the box."""
    system, at = evaluator.system, evaluator.jacobian(x, x)
    used = np.flatnonzero(w)
    if not at.value.lipschitz[np.concatenate([[0], 1 + used])].all():
        return -np.inf
    total, slope = (at.value.lo[0], at.value.hi[0]), (at.lo[0], at.hi[0])
    for k in used:
        weight, end = exactly(w[k]), exactly(system.upper[k] if w[k] > 0 else system.lower[k])
        total = plus(total, times(weight, minus((at.value.lo[1 + k], at.value.hi[1 + k]), end)))
        slope = plus(slope, times(weight, (at.lo[1 + k], at.hi[1 + k])))
    if in_logarithms:
        slope = times(slope, exactly(x))
        away = -_log_above(x, lo), _log_above(hi, x)
    else:
        away = minus((lo, hi), exactly(x))
    low = float(total[0])
    for change in times(slope, away)[0]:
        low = float(down(low + change))
    return low if low > -np.inf else -np.inf  # NaN says nothing


def _log_above(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Not below log(a / b) of positive numbers, nor above it by 1/2, and 0 where they are equal: log m <= m - 1.

    >>> _log_above(np.array([1.0, 8.0, 0.1]), np.array([1.0, 1.0, 1.0])) - np.log([1.0, 8.0, 0.1]) < 0.5
    array([ True,  True,  True])
    """
    m, k = np.frexp(np.where(a == b, 1.0, up(a / b)))
    small = m < _ROOT_HALF
    m, k = np.where(small, 2 * m, m), np.where(small, k - 1.0, k)
    return np.where(k == 0, m - 1, up(up(np.maximum(k * _LOG_2[0], k * _LOG_2[1])) + (m - 1)))  # m - 1 is exact
