"""Derivatives of a model by differences of plain calls: for models whose kernels would take long to compile. Estimates."""

from typing import Any

import numpy as np

from infimum.fitting.model import plain_call
from infimum.fitting.problem import FitProblem

_STEP, _SMALL_SHARE = 2.0**-11, 1e-3  # of a parameter's size, or of a part of its bounds if it is near 0
_ORDER = ((1, 8.0), (2, -1.0))        # steps to both sides and their weights, in twelfths: off by the fourth power of a step


def values_and_slopes(problem: FitProblem, x: Any, shape: tuple[int, ...], p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The responses of the model at x for the free parameters p, an array of that shape, and a row of derivatives for each; NaN
    where the model is not defined."""
    parameters = problem.parameters

    def at(point: np.ndarray) -> np.ndarray:
        found = plain_call(problem.model, x, parameters.all_values(point).tolist())
        return np.full(shape, np.nan) if found is None else np.broadcast_to(found, shape)

    def slope(k: int, centre: float, step: float) -> np.ndarray:
        total = np.zeros(shape)
        for times, weight in _ORDER:
            ahead, behind = p.copy(), p.copy()
            ahead[k], behind[k] = centre + times * step, centre - times * step
            total += weight * (at(ahead) - at(behind))
        return (total / (12 * step)).ravel()
    slopes = np.empty((int(np.prod(shape)), len(p)))
    for k, (low, high) in enumerate(zip(parameters.lo, parameters.hi, strict=True)):
        step = _STEP * max(abs(p[k]), _SMALL_SHARE * (high - low)) or _STEP
        slopes[:, k] = slope(k, p[k], step)
        if not np.isfinite(slopes[:, k]).all():  # beyond a bound, it may be: then next to it
            slopes[:, k] = slope(k, min(max(p[k], low + 2 * step), high - 2 * step), step)
    return at(p).copy(), slopes
