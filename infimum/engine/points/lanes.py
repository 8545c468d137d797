"""Small dense algebra in many lanes at once: arrays whose last axis is a lane. Estimates, with the same bits on every machine:
sums are taken in the order of the axis, and no library's product or logarithm is used."""

import numpy as np

_TERMS = 12              # of the series of a logarithm: (1/3)**(2 * 12 + 1) is less than a rounding
_LOG_2 = 0.6931471805599453


def total(a: np.ndarray) -> np.ndarray:
    """The sum along the first axis, from its first element on.

    >>> total(np.array([[1.0, 2.0], [3.0, 4.0]]))
    array([4., 6.])
    """
    return np.add.accumulate(a, axis=0)[-1] if len(a) else np.zeros(a.shape[1:])


def gram(rows: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Σ w r rᵀ (n, n, N) of rows r (m, n, N) with weights (m, N)."""
    n, lanes = rows.shape[1:]
    found = np.zeros((n, n, lanes))
    for row, weight in zip(rows, weights, strict=True):
        if weight.any():
            found += (weight * row)[:, None] * row
    return found


def applied(rows: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """The products (m, N) of rows (m, n, N) and vectors (n, N)."""
    return total((rows * vectors).swapaxes(0, 1))


def log_of_product(factors: np.ndarray) -> np.ndarray:
    """Σ log of the factors along the first axis, NaN where one is not positive.

    >>> log_of_product(np.array([[1.0], [8.0]])) / _LOG_2
    array([3.])
    """
    mantissa, exponent = np.frexp(np.where(factors > 0, factors, np.nan))
    small = mantissa < 0.75
    mantissa, exponent = np.where(small, 2 * mantissa, mantissa), exponent - small
    ratio = (mantissa - 1) / (mantissa + 1)
    square, series = ratio * ratio, np.zeros_like(ratio)
    for k in reversed(range(_TERMS)):
        series = series * square + 1 / (2 * k + 1)
    return total(exponent * _LOG_2 + 2 * ratio * series)


def solve(matrix: np.ndarray, right: np.ndarray, positive: int) -> tuple[np.ndarray, np.ndarray]:
    """Solutions (k, N) of symmetric systems (k, k, N) by elimination in the given order, and where its first `positive` pivots
    are positive and the others negative: with a positive definite leading block it needs no interchanges.

    >>> x, good = solve(np.array([[[2.0], [1.0]], [[1.0], [-1.0]]]), np.array([[3.0], [0.0]]), 1)
    >>> x[:, 0].tolist(), good.tolist()
    ([1.0, 1.0], [True])
    """
    a, k = np.concatenate([matrix, right[:, None]], axis=1), len(right)
    good = np.ones(right.shape[1], bool)
    with np.errstate(all="ignore"):
        for i in range(k):
            pivot = a[i, i]
            good &= pivot > 0 if i < positive else pivot < 0
            if i + 1 < k:
                a[i + 1:, i + 1:] -= (a[i, i + 1:k] / pivot)[:, None] * a[i, None, i + 1:]
        x = a[:, k].copy()
        for i in reversed(range(k)):
            x[i] /= a[i, i]
            x[:i] -= a[:i, i] * x[i]
    return x, good & np.isfinite(x).all(axis=0)
