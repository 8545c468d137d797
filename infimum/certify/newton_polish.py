"""Newton's method within the bounds, from a point near a minimiser to its last digits. Estimates, which prove nothing."""

import numpy as np

from infimum.evaluation.evaluator import Evaluator, Hessian
from infimum.linear_algebra.lane_algebra import inverse, inverse_factor
from infimum.search.policy.bounds import ISOLATION as POLICY


def polished(evaluator: Evaluator, lo: np.ndarray, hi: np.ndarray, x: np.ndarray) -> tuple[np.ndarray, Hessian]:
    """A point and the Hessian there. Steps while they lower the value; then plain ones while they become shorter: near a
    minimiser values no longer tell points apart."""
    found, best, length = evaluator.hessian(x, x), float(_values(evaluator, x[:, None])[0]), np.inf
    for _ in range(POLICY.descent_steps):
        place, value = _lower(evaluator, lo, hi, x, found, best)
        if not value < best:
            break
        x, best, found = place, value, evaluator.hessian(place, place)
    for _ in range(POLICY.newton_steps):
        place = _steps(found, lo, hi, x, POLICY.damping[:1])[:, 0]
        step = float(np.abs(place - x).max())
        if not 0 < step < length:
            break
        x, length, found = place, step, evaluator.hessian(place, place)
    return x, found


def _lower(evaluator: Evaluator, lo: np.ndarray, hi: np.ndarray, x: np.ndarray, found: Hessian,
           best: float) -> tuple[np.ndarray, float]:
    """A step and its value: the plain one if it leads lower, else the best of the damped ones, of which few are needed."""
    for damping in (POLICY.damping[:1], POLICY.damping[1:]):
        places = _steps(found, lo, hi, x, damping)
        values = _values(evaluator, places)
        k = int(np.argmin(values))
        if values[k] < best:
            break
    return places[:, k].copy(), float(values[k])


def _values(evaluator: Evaluator, places: np.ndarray) -> np.ndarray:
    value = evaluator.value(places, places)
    return np.where(value.defined, value.hi, np.inf)


def _steps(found: Hessian, lo: np.ndarray, hi: np.ndarray, x: np.ndarray, damping: tuple[float, ...]) -> np.ndarray:
    """A step for each damping, in the variables that are not held at a bound; none where it cannot be computed."""
    slope = 0.5 * found.gradient.lo + 0.5 * found.gradient.hi
    held = ((x <= lo) & (slope > 0)) | ((x >= hi) & (slope < 0)) | (lo == hi)
    free, places = np.flatnonzero(~held), np.repeat(x[:, None], len(damping), axis=1)
    if len(free):
        matrix = (0.5 * found.lo + 0.5 * found.hi)[np.ix_(free, free)]
        scale = float(np.abs(np.diagonal(matrix)).max())
        lanes = matrix[..., None] + np.eye(len(free))[..., None] * scale * np.array(damping)
        newton, total = inverse(inverse_factor(lanes)), np.zeros((len(free), len(damping)))
        for j in range(len(free)):
            total = total + newton[:, j] * slope[free[j]]
        places[free] -= np.where(np.isfinite(total), total, 0.0)
    return np.minimum(np.maximum(places, lo[:, None]), hi[:, None])
