"""About the furthest points of {f <= t} in one variable, by local search from points inside. Only verified points count."""

import numpy as np

from infimum.evaluation.evaluator import Evaluator
from infimum.linear_algebra.lane_algebra import inverse, inverse_factor
from infimum.search.policy.sets import SUBLEVEL_SETS as POLICY

# fixed: parts of the way to a point that may lie beyond the edge, as fine as doubles are
_BACK = np.append(1.0 - 2.0 ** -np.arange(52.0, 0.0, -1.0), 1.0)


def verified(evaluator: Evaluator, points: np.ndarray, threshold: float) -> np.ndarray:
    """At which of the points (n, N) f is certainly defined, and at most the threshold."""
    value = evaluator.value(points, points)
    return value.defined & (value.hi <= threshold)


def farthest_point(evaluator: Evaluator, bounds: tuple[np.ndarray, np.ndarray], x: np.ndarray, axis: int, sign: float,
                   threshold: float) -> np.ndarray:
    """A point near one with f = threshold at which sign times the variable is largest within the bounds, found from x.

    Each step goes to the furthest point of the ellipsoid that the derivatives at x tell. A variable in which that leaves the
    bounds is held there from then on.
    """
    (lo, hi), free = bounds, bounds[0] < bounds[1]
    for _ in range(POLICY.extreme_steps):
        step = _step(evaluator, x, np.flatnonzero(free), axis, sign, threshold) if free[axis] else None
        if step is None:
            break
        place = x + step
        free = free & (place >= lo) & (place <= hi)
        place = np.minimum(np.maximum(place, lo), hi)
        moved = np.abs(place - x) > POLICY.extreme_converged * np.abs(place)
        x = place
        if not moved.any():
            break
    return x


def _step(evaluator: Evaluator, x: np.ndarray, free: np.ndarray, axis: int, sign: float, threshold: float) -> np.ndarray | None:
    here = evaluator.hessian(x, x)
    matrix = (0.5 * here.lo + 0.5 * here.hi)[np.ix_(free, free)]
    slope = (0.5 * here.gradient.lo + 0.5 * here.gradient.hi)[free]
    damped = [matrix + part * np.diag(np.abs(np.diagonal(matrix))) for part in POLICY.extreme_damping]
    factors = inverse_factor(np.stack(damped, axis=-1))
    good = np.flatnonzero(np.isfinite(factors).all(axis=(0, 1)))
    if not len(good) or not here.value.smooth:
        return None
    about, k = inverse(factors[..., good[:1]])[..., 0], int(np.flatnonzero(free == axis)[0])
    newton = -_product(about, slope)
    room = 2.0 * (threshold - float(here.value.hi)) - float(_product(newton[None], slope)[0])
    step = np.zeros(len(x))
    step[free] = newton + (sign * np.sqrt(room / about[k, k]) * about[:, k] if room > 0 else 0.0)
    return step if np.isfinite(step).all() else None


def _product(matrix: np.ndarray, vector: np.ndarray) -> np.ndarray:
    """In a fixed order of additions."""
    total = np.zeros(len(matrix))
    for column, factor in zip(matrix.T, vector, strict=True):
        total = total + column * factor
    return total


def attained_point(evaluator: Evaluator, inside: np.ndarray, edge: np.ndarray, axis: int, sign: float,
                   threshold: float) -> np.ndarray | None:
    """The furthest verified point on the way from a point inside to one at the edge, or None."""
    points = inside[:, None] + (edge - inside)[:, None] * _BACK
    points = np.minimum(np.maximum(points, np.minimum(inside, edge)[:, None]), np.maximum(inside, edge)[:, None])
    good = np.flatnonzero(verified(evaluator, points, threshold))
    return points[:, good[np.argmax(sign * points[axis, good])]].copy() if len(good) else None
