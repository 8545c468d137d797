"""What a Lagrangian function needs beside multipliers to be convex around a local solution. Estimates."""

from typing import NamedTuple

import numpy as np

from infimum.evaluation.evaluator import Evaluator
from infimum.linear_algebra.lane_algebra import inverse_factor, total
from infimum.search.policy.bounds import LAGRANGIAN as POLICY


class Convexity(NamedTuple):
    """Of multipliers w at a local solution x: those to use, which are others for a logarithm of f; a penalty r of the
    equations, numbers s that are not negative, and a matrix T for which T (H + S) Tᵀ is about the unit matrix, for the second
    derivatives H of f + w·g + r|h|² at x and S with 2 s on its diagonal; its first derivatives there, and H + S. s is 0 where
    H is positive definite for some r, as far as doubles can tell, and otherwise no larger than need be; T is None where there are
    no such numbers."""

    w: np.ndarray
    r: float
    s: np.ndarray
    factor: np.ndarray | None
    slope: np.ndarray
    matrix: np.ndarray


def convexity(evaluator: Evaluator, x: np.ndarray, w: np.ndarray, logarithmic: bool = False) -> Convexity:
    """That; `logarithmic` of p instead of f = q exp(-p)."""
    n = len(x)
    h = POLICY.difference_step * np.maximum(1.0, np.abs(x))
    points = np.concatenate([x[:, None], x[:, None] + np.diag(h), x[:, None] - np.diag(h)], axis=1)
    (values, jacobian), weights = evaluator.estimate_jacobian(points), np.append(1.0, w)
    used = np.flatnonzero(weights)
    slopes = total(jacobian[used, :, 1:] * weights[used, None, None])  # a kernel of the sum would have to be compiled first
    matrix = (slopes[:, :n] - slopes[:, n:]) / (2.0 * h)
    matrix, across = 0.5 * (matrix + matrix.T), np.zeros((n, n))
    at_x = jacobian[:, :, 0]
    if logarithmic:
        slope = at_x[0] / -values[0, 0]
        matrix, w = matrix / -values[0, 0] + slope[:, None] * slope[None], w / -values[0, 0]
    else:
        slope = at_x[0]
    slope = total(np.concatenate([slope[None], w[:, None] * at_x[1:]]))
    for row in at_x[1:][evaluator.system.equal]:
        across += 2.0 * row[:, None] * row[None]
    if not (np.isfinite(matrix).all() and np.isfinite(across).all()):
        return Convexity(w, 0.0, np.zeros(n), None, slope, matrix)
    unit, size = np.abs(across).max(), np.abs(matrix).max()
    penalties = np.array(POLICY.penalties if unit > 0 else [0.0]) * (size / unit if unit > 0 else 1.0)
    for shift in (0.0, *(part * size for part in POLICY.shifts)):  # all penalties at once, just enough and more than that
        penalty, more = np.repeat(penalties, 2), np.tile([1.0, POLICY.safety_factor], len(penalties))
        shifted = matrix[..., None] + more * penalty * across[..., None] + more * shift * np.eye(n)[..., None]
        factor = inverse_factor(shifted)
        good = np.isfinite(factor).all(axis=(0, 1)).reshape(-1, 2).all(axis=1)
        if good.any():
            k = 2 * int(np.argmax(good)) + 1
            return Convexity(w, float(POLICY.safety_factor * penalty[k]), np.full(n, 0.5 * POLICY.safety_factor * shift),
                             factor[..., k].copy(), slope,
                             shifted[..., k].copy())
    return Convexity(w, 0.0, np.zeros(n), None, slope, matrix)
