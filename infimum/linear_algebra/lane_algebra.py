"""Small dense algebra in many lanes at once: arrays whose last axis is a lane. Estimates, with the same bits on every machine:
sums are taken in the order of the axis, elimination is our own, and no library's product or logarithm is used."""

import numpy as np

_TERMS = 12                  # of the series of a logarithm: (1/3)**(2 * 12 + 1) is less than a rounding
_ELEMENTS_AT_ONCE = 1 << 14  # elements of all products of rows that are made before they are added
_FACTORS = 512               # mantissas whose product is far from what doubles cannot hold
_SMALL_ELEMENTS = 1 << 8     # elements: larger arrays are added one by one, since a running sum is no vector operation
_LOG_2 = 0.6931471805599453


def total(a: np.ndarray) -> np.ndarray:
    """The sum along the first axis, from its first element on.

    >>> total(np.array([[1.0, 2.0], [3.0, 4.0]]))
    array([4., 6.])
    """
    if not len(a) or a[0].size <= _SMALL_ELEMENTS:
        return np.add.accumulate(a, axis=0)[-1] if len(a) else np.zeros(a.shape[1:])
    found = a[0].copy()
    for row in a[1:]:
        found += row
    return found


def gram(rows: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Σ w r rᵀ (n, n, N) of rows r (m, n, N) with weights (m, N)."""
    n, lanes = rows.shape[1:]
    if rows.size * n <= _ELEMENTS_AT_ONCE:
        return total((weights[:, None] * rows)[:, :, None] * rows[:, None])
    first = lanes < n
    found = np.zeros((lanes, n, n) if first else (n, n, lanes))
    for row, weight in zip(rows, weights, strict=True):
        if weight.any():
            scaled = weight * row
            found += scaled.T[:, :, None] * row.T[:, None].copy() if first else scaled[:, None] * row
    return np.moveaxis(found, 0, -1).copy() if first else found


def applied(rows: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """The products (m, N) of rows (m, n, N) and vectors (n, N)."""
    return total((rows * vectors).swapaxes(0, 1))


def log_of_product(factors: np.ndarray) -> np.ndarray:
    """Σ log of the factors along the first axis, NaN where one is not positive.

    >>> log_of_product(np.array([[1.0], [8.0]])) / _LOG_2
    array([3.])
    """
    if len(factors) > _FACTORS:
        return log_of_product(factors[:_FACTORS]) + log_of_product(factors[_FACTORS:])
    mantissa, exponent = np.frexp(np.where(factors > 0, factors, np.nan))
    mantissa, more = np.frexp(np.multiply.accumulate(mantissa)[-1] if len(factors) else np.ones(factors.shape[1:]))
    exponent, small = total(exponent) + more, mantissa < 0.75
    mantissa, exponent = np.where(small, 2 * mantissa, mantissa), exponent - small
    ratio = (mantissa - 1) / (mantissa + 1)
    square, series = ratio * ratio, np.zeros_like(ratio)
    for k in reversed(range(_TERMS)):
        series = series * square + 1 / (2 * k + 1)
    return exponent * _LOG_2 + 2 * ratio * series


def inverted(matrix: np.ndarray) -> np.ndarray | None:
    """About the inverse, by elimination with pivots; None where there is none.

    >>> inverted(np.array([[0.0, 2.0], [1.0, 0.0]])).tolist()
    [[0.0, 1.0], [0.5, 0.0]]
    """
    n = len(matrix)
    a = np.concatenate([matrix, np.eye(n)], axis=1)
    with np.errstate(all="ignore"):
        for k in range(n):
            pivot = k + int(np.argmax(np.abs(a[k:, k])))
            a[[k, pivot]] = a[[pivot, k]]
            a[k] /= a[k, k]
            others = np.arange(n) != k
            a[others] -= a[others, k, None] * a[k]
    return a[:, n:] if np.isfinite(a).all() else None


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
