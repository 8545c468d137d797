"""Factors of inverses in plain doubles: estimates, with which proofs are then made. By elimination of our own, so that its bits
are the same on every machine."""

import numpy as np


def inverse_factor(matrices: np.ndarray) -> np.ndarray:
    """For each symmetric matrix A, of shape (n, n, N), a matrix T for which T A Tᵀ is about the unit matrix; NaN where A is not
    positive definite, as far as doubles can tell. Symmetric elimination needs no pivots there.

    >>> inverse_factor(np.array([[[4.0], [2.0]], [[2.0], [5.0]]]))[..., 0].tolist()
    [[0.5, 0.0], [-0.25, 0.5]]
    """
    n, _, lanes = matrices.shape
    a, t = matrices.copy(), np.repeat(np.eye(n)[..., None], lanes, axis=2)
    with np.errstate(all="ignore"):
        for k in range(n):
            pivot = np.where(a[k, k] > 0, a[k, k], np.nan)
            factors = a[k + 1:, k] / pivot
            a[k + 1:] -= factors[:, None] * a[k]
            t[k + 1:] -= factors[:, None] * t[k]
            t[k] /= np.sqrt(pivot)
    return t


def inverse(factor: np.ndarray) -> np.ndarray:
    """Tᵀ T, about the inverse of the matrix that T was made for."""
    total = factor[0][:, None] * factor[0][None]
    for row in factor[1:]:
        total = total + row[:, None] * row[None]
    return total
