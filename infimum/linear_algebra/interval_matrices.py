"""Interval matrices as pairs of arrays (lo, hi), the last axis a lane for each box: sums and products rounded outward.

A rounded sum or product of doubles is off by less than the distance to its neighbours, so that they enclose it. Sums are taken in
a fixed order, element by element: no library's product, whose order of additions is a machine's own. NaN says nothing: whoever
decides anything compares, and NaN fails.
"""

import numpy as np

Interval = tuple[np.ndarray, np.ndarray]


def exactly(a: np.ndarray) -> Interval:
    """Doubles as intervals."""
    return a, a


def down(a: np.ndarray) -> np.ndarray:
    return np.nextafter(a, -np.inf)


def up(a: np.ndarray) -> np.ndarray:
    return np.nextafter(a, np.inf)


def plus(a: Interval, b: Interval) -> Interval:
    return down(a[0] + b[0]), up(a[1] + b[1])


def minus(a: Interval, b: Interval) -> Interval:
    return down(a[0] - b[1]), up(a[1] - b[0])


def times(a: Interval, b: Interval) -> Interval:
    """NaN where 0 meets an infinity."""
    products = [x * y for x in a for y in b]
    low, high = products[0], products[0]
    for p in products[1:]:
        low, high = np.minimum(low, p), np.maximum(high, p)  # these hand NaN on
    return down(low), up(high)


def size(a: Interval) -> np.ndarray:
    """The largest absolute value."""
    return np.maximum(np.abs(a[0]), np.abs(a[1]))


def matrix_product(a: Interval, b: Interval) -> Interval:
    """(n, m, N) by (m, k, N)."""
    total = None
    for j in range(a[0].shape[1]):
        term = times(*((lo[:, j, None], hi[:, j, None]) if k == 0 else (lo[None, j], hi[None, j])
                       for k, (lo, hi) in enumerate((a, b))))
        total = term if total is None else plus(total, term)
    return total


def transposed(a: Interval) -> Interval:
    return a[0].swapaxes(0, 1), a[1].swapaxes(0, 1)
