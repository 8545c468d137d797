"""Is a whole interval matrix positive definite? Scaled Gerschgorin: see docs/proofs/isolation.md."""

import numpy as np

from infimum.linear_algebra.interval_matrices import Interval, down, exactly, matrix_product, size, transposed, up


def positive_definite(matrix: Interval, factor: np.ndarray) -> np.ndarray:
    """True where every symmetric matrix A in the interval matrix (n, n, N) certainly is: T A Tᵀ is dominated by its diagonal for
    some T, here that of `inverse_factor` for a matrix inside."""
    return dominance(scaled(matrix, factor)) > 0


def scaled(matrix: Interval, factor: np.ndarray) -> Interval:
    """T A Tᵀ for all matrices A inside."""
    return matrix_product(matrix_product(exactly(factor), matrix), transposed(exactly(factor)))


def dominance(matrix: Interval) -> np.ndarray:
    """By how much the diagonal exceeds, in every row of the interval matrix (n, n, N), the sum of the sizes of the other entries,
    rounded down: no symmetric matrix inside has an eigenvalue below. NaN where that cannot be told."""
    n, _, lanes = matrix[0].shape
    least, sizes = np.full(lanes, np.inf), size(matrix)
    for i in range(n):
        others = np.zeros(lanes)
        for j in range(n):
            others = others if i == j else up(others + sizes[i, j])
        least = np.minimum(least, down(matrix[0][i, i] - others))
    return least


def midpoint(matrix: Interval) -> np.ndarray:
    """A matrix inside, symmetric if both ends are."""
    return 0.5 * matrix[0] + 0.5 * matrix[1]
