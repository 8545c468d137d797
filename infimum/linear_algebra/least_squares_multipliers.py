"""Multipliers of constraints, enclosed for all points of a box at once, the last axis a lane for each box. See
docs/proofs/stationary_points.md."""

import numpy as np

from infimum.linear_algebra.interval_matrices import Interval, down, exactly, matrix_product, minus, size, transposed, up
from infimum.linear_algebra.lane_algebra import gram, inverse, inverse_factor, total

_FEW, _TINY = 2.0**-20, 2.0**-300


def left_inverse(slopes: np.ndarray) -> np.ndarray:
    """About (J Jᵀ)⁻¹ J, of shape (m, n, N) as J is, for its rows that are not 0; NaN where these are dependent."""
    each, none = np.arange(len(slopes)), ~(slopes != 0).any(axis=1)
    square = gram(np.ascontiguousarray(slopes.swapaxes(0, 1)), np.ones(slopes.shape[1:]))
    square[each, each] += np.where(none, 1.0, 0.0)
    return total((inverse(inverse_factor(square))[:, :, None] * slopes).swapaxes(0, 1)) if len(slopes) else slopes


def multipliers(left: np.ndarray, slopes: Interval, gradient: Interval, centre: np.ndarray,
                counts: np.ndarray) -> tuple[Interval, np.ndarray]:
    """An enclosure (m, N) of all w with ∂f/∂x_i + Σ w_k ∂g_k/∂x_i = 0 for all i, at any point of a box, and where it holds: there
    the gradients of the constraints are independent.

    `slopes` encloses the derivatives of the constraints (m, n, N), and `gradient` (n, N) those of f + Σ c_k g_k for numbers c
    near the multipliers; `left` is any matrix, near an inverse from the left. Constraints that do not count, by the mask (m, N),
    have slopes of 0 and the multiplier 0.
    """
    m, lanes = centre.shape
    if not m:
        return exactly(centre), np.ones(lanes, bool)
    off = size(minus(matrix_product(exactly(left), transposed(slopes)), exactly(np.eye(m)[..., None] * counts)))
    change = size(matrix_product(exactly(left), tuple(g[:, None] for g in gradient)))[:, 0]
    # |w - c| <= change + off |w - c|, and off sends the vector `scale` to less than a share of it
    scale = change + (_FEW * change.max(axis=0) + _TINY)
    share = up(applied(off, scale) / scale).max(axis=0)
    most = up(up(change / scale).max(axis=0) / down(1.0 - share))
    reach = up(change + applied(off, up(scale * most)))
    low, high = (np.where(counts, end, 0.0) for end in (down(centre - reach), up(centre + reach)))
    return (low, high), (share < 1.0) & (reach < np.inf).all(axis=0)


def applied(matrix: np.ndarray, vector: np.ndarray) -> np.ndarray:
    """The product of a matrix (k, l, N) and vectors (l, N) that are not negative, rounded up."""
    found = np.zeros((matrix.shape[0], vector.shape[1]))
    for j in range(matrix.shape[1]):
        found = up(found + up(matrix[:, j] * vector[j]))
    return found
