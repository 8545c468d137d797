"""Sums of many numbers into few places, rounded outward: where in a sum of small terms each of their derivatives belongs.

NumPy's `bincount` adds one number after the other, in their order, on every machine. With m numbers in a place, the rounded sum
is off by at most (m - 1) u / (1 - (m - 1) u) times the sum of their sizes, u = 2**-53; with fewer than 2**40 numbers, twice
(m - 1) u times the rounded sum of the sizes is more. What is infinite or NaN stays so, and proves nothing.
"""

import numpy as np

from infimum.linear_algebra.interval_matrices import Interval, down, up

_TWICE_U = 2.0**-52


class SumTargets:
    """Where numbers go: `at` are arrays of places from 0 to size - 1, in the order in which the numbers come."""

    def __init__(self, at: list[np.ndarray], size: int):
        self.at, self.size = _flat(at, np.int64), size
        self.several = np.maximum(np.bincount(self.at, minlength=size) - 1.0, 0.0)
        self.alone = self.several == 0

    def estimate(self, numbers: list[np.ndarray]) -> np.ndarray:
        """The sum in each place, rounded to nearest."""
        return np.bincount(self.at, _flat(numbers), self.size)

    def total(self, numbers: list[Interval]) -> Interval:
        """Enclosures of the sums in each place."""
        ends = [[part[k] for part in numbers] for k in (0, 1)]
        lo, hi = map(self.estimate, ends)
        if self.alone.all():
            return lo, hi
        below, above = (up(_TWICE_U * self.several * self.estimate([np.abs(part) for part in end])) for end in ends)
        return np.where(self.alone, lo, down(lo - below)), np.where(self.alone, hi, up(hi + above))


def _flat(arrays: list[np.ndarray], kind: type = np.float64) -> np.ndarray:
    return np.concatenate([np.empty(0, kind), *(array.reshape(-1) for array in arrays)])


def total(numbers: Interval) -> tuple[float, float]:
    """The enclosure of a single sum.

    >>> total((np.array([1.0, 2.0**-60]), np.array([1.0, 2.0**-60])))[0] < 1.0
    True
    """
    lo, hi = SumTargets([np.zeros(len(numbers[0]), np.int64)], 1).total([numbers])
    return float(lo[0]), float(hi[0])
