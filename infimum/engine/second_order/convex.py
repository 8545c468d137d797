"""Is a whole interval matrix positive definite? Scaled Gerschgorin: see docs/proof.md."""

import numpy as np

from infimum.engine.second_order.outward import Interval, exactly, matrix_product, size, transposed, up


def positive_definite(matrix: Interval, factor: np.ndarray) -> np.ndarray:
    """True where every symmetric matrix A in the interval matrix (n, n, N) certainly is: with any T, here that of
    `inverse_factor` for a matrix inside, the diagonal of T A Tᵀ exceeds the sums of the other entries of its rows."""
    n = len(factor)
    scaled = matrix_product(matrix_product(exactly(factor), matrix), transposed(exactly(factor)))
    proved, sizes = np.ones(factor.shape[2], bool), size(scaled)
    for i in range(n):
        others = np.zeros(factor.shape[2])
        for j in range(n):
            others = others if i == j else up(others + sizes[i, j])
        proved &= scaled[0][i, i] > others
    return proved


def midpoint(matrix: Interval) -> np.ndarray:
    """A matrix inside, symmetric if both ends are."""
    return 0.5 * matrix[0] + 0.5 * matrix[1]


