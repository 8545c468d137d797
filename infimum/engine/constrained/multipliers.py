"""What a Lagrangian function needs beside multipliers to be convex around a local solution. Estimates."""

import numpy as np

from infimum.engine.points.lanes import total
from infimum.engine.second_order.inverse import inverse_factor
from infimum.evaluate import Evaluator

_STEP = 2.0**-17                                      # of differences, relative
_PENALTIES = (0.0, *(4.0**k for k in range(-2, 12)))  # of the equations, relative
_MORE = 4.0                                           # times what is just enough


def convexity(evaluator: Evaluator, x: np.ndarray, w: np.ndarray) -> tuple[float, np.ndarray | None]:
    """A penalty r of the equations, and a matrix T for which T H Tᵀ is about the unit matrix, for the second derivatives H of
    f + w·g + r|h|² at x. T is None where H is positive definite for no r."""
    n = len(x)
    h = _STEP * np.maximum(1.0, np.abs(x))
    points = np.concatenate([x[:, None], x[:, None] + np.diag(h), x[:, None] - np.diag(h)], axis=1)
    jacobian, weights = evaluator.estimate_jacobian(points)[1], np.append(1.0, w)
    used = np.flatnonzero(weights)
    slopes = total(jacobian[used, :, 1:] * weights[used, None, None])  # a kernel of the sum would have to be compiled first
    matrix = (slopes[:, :n] - slopes[:, n:]) / (2.0 * h)
    matrix, across = 0.5 * (matrix + matrix.T), np.zeros((n, n))
    for row in jacobian[1:, :, 0][evaluator.system.equal]:
        across += 2.0 * row[:, None] * row[None]
    if not (np.isfinite(matrix).all() and np.isfinite(across).all()):
        return 0.0, None
    unit = np.abs(across).max()
    for penalty in _PENALTIES if unit > 0 else _PENALTIES[:1]:
        r = penalty * np.abs(matrix).max() / unit if unit > 0 else 0.0
        if np.isfinite(inverse_factor((matrix + r * across)[..., None])).all():
            r *= _MORE
            return float(r), inverse_factor((matrix + r * across)[..., None])[..., 0]
    return 0.0, None
