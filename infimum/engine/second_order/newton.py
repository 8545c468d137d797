"""Newton's method within the bounds, from a point near a minimiser to its last digits. Estimates, which prove nothing."""

import numpy as np

from infimum.engine.second_order.inverse import inverse, inverse_factor
from infimum.evaluate import Evaluator

_DESCENTS, _LAST = 20, 6
_DAMPING = (0.0, 2.0**-20, 2.0**-10, 2.0**-4, 1.0, 16.0)  # of the largest element on the diagonal


def polished(evaluator: Evaluator, lo: np.ndarray, hi: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Damped steps while they lower the value; then plain ones while they become shorter: near a minimiser values no longer tell
    points apart."""
    best, length = np.inf, np.inf
    for _ in range(_DESCENTS):
        places = _steps(evaluator, lo, hi, x, _DAMPING)
        value = evaluator.value(*[np.concatenate([x[:, None], places], axis=1)] * 2)
        values = np.where(value.defined, value.hi, np.inf)
        k = int(np.argmin(values[1:]))
        best = min(best, float(values[0]))
        if not values[1 + k] < best:
            break
        x, best = places[:, k].copy(), float(values[1 + k])
    for _ in range(_LAST):
        place = _steps(evaluator, lo, hi, x, _DAMPING[:1])[:, 0]
        step = float(np.abs(place - x).max())
        if not step < length:
            break
        x, length = place, step
    return x


def _steps(evaluator: Evaluator, lo: np.ndarray, hi: np.ndarray, x: np.ndarray, damping: tuple[float, ...]) -> np.ndarray:
    """A step for each damping, in the variables that are not held at a bound; none where it cannot be computed."""
    found = evaluator.hessian(x, x)
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
