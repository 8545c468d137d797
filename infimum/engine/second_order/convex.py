"""Is a whole interval matrix positive definite? Scaled Gerschgorin: see docs/proof.md."""

import numpy as np

from infimum.engine.second_order.outward import Interval, exactly, matrix_product, size, transposed, up


def positive_definite(matrix: Interval, factor: np.ndarray) -> np.ndarray:
    """True where every symmetric matrix A in the interval matrix (n, n, N) certainly is: T A Tᵀ is dominated by its diagonal for
    some T, here that of `inverse_factor` for a matrix inside."""
    return diagonally_dominant(matrix_product(matrix_product(exactly(factor), matrix), transposed(exactly(factor))))


def diagonally_dominant(matrix: Interval) -> np.ndarray:
    """True where in every row of the interval matrix (n, n, N) the diagonal exceeds the sum of the sizes of the other entries."""
    n, _, lanes = matrix[0].shape
    proved, sizes = np.ones(lanes, bool), size(matrix)
    for i in range(n):
        others = np.zeros(lanes)
        for j in range(n):
            others = others if i == j else up(others + sizes[i, j])
        proved &= matrix[0][i, i] > others
    return proved


def midpoint(matrix: Interval) -> np.ndarray:
    """A matrix inside, symmetric if both ends are."""
    return 0.5 * matrix[0] + 0.5 * matrix[1]


