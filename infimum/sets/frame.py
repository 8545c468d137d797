"""Frames: linear coordinates u with x = centre + matrix u, in which a long and narrow set becomes round.

The matrix is upper triangular with a positive diagonal, and of doubles, which are meant exactly: a box in u is a parallelepiped
in x. Its bounds are rounded outward.
"""


import numpy as np

from infimum.evaluation.evaluator import Evaluator
from infimum.linear_algebra.interval_matrices import Interval, down, exactly, minus, plus, times, up
from infimum.linear_algebra.lane_algebra import inverse_factor
from infimum.support.lazy import dataclass


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """The coordinates u: x = centre + matrix u."""

    centre: np.ndarray
    matrix: np.ndarray

    @classmethod
    def plain(cls, n: int) -> "Frame":
        """The n variables themselves."""
        return cls(np.zeros(n), np.eye(n))

    @classmethod
    def principal(cls, evaluator: Evaluator, x: np.ndarray) -> "Frame | None":
        """One in which the second derivatives at x are about the unit matrix; None if they are not positive definite, as far as
        doubles can tell."""
        here = evaluator.hessian(x, x)
        factor = inverse_factor((0.5 * here.lo + 0.5 * here.hi)[..., None])[..., 0]
        if not here.value.smooth or not np.isfinite(factor).all():
            return None
        return cls(x, np.ascontiguousarray(factor.T))

    @property
    def is_plain(self) -> bool:
        return not self.centre.any() and bool((self.matrix == np.eye(len(self.centre))).all())

    def place(self, lo: np.ndarray, hi: np.ndarray) -> Interval:
        """Where the boxes (n, N) of u lie in x: the boxes around them."""
        if self.is_plain:
            return lo, hi
        total = tuple(np.repeat(self.centre[:, None], lo.shape[1], axis=1) for _ in range(2))
        for j in range(len(self.centre)):
            rows = np.flatnonzero(self.matrix[:, j])
            term = times(exactly(self.matrix[rows, j, None]), (lo[None, j], hi[None, j]))
            sums = plus(tuple(end[rows] for end in total), term)
            for end, part in zip(total, sums, strict=True):
                end[rows] = part
        return total

    def attained(self, lo: np.ndarray, hi: np.ndarray, axis: int) -> Interval:
        """For each box of u, a number not below the least value of variable `axis` in it, and one not above the largest: those at
        corners."""
        rising = (self.matrix[axis] > 0)[:, None]
        least, largest = np.where(rising, lo, hi), np.where(rising, hi, lo)
        return self.place(least, least)[1][axis], self.place(largest, largest)[0][axis]

    def coordinates(self, lo: np.ndarray, hi: np.ndarray) -> Interval:
        """Boxes of u that hold the coordinates of all points of the boxes (n, N) of x: solved from the last variable upwards."""
        if self.is_plain:
            return lo, hi
        n, rest = len(self.centre), minus((lo, hi), exactly(self.centre[:, None]))
        found = np.empty_like(rest[0]), np.empty_like(rest[1])
        for i in range(n - 1, -1, -1):
            total = rest[0][i], rest[1][i]
            for j in range(i + 1, n):
                total = minus(total, times(exactly(self.matrix[i, j]), (found[0][j], found[1][j])))
            found[0][i], found[1][i] = down(total[0] / self.matrix[i, i]), up(total[1] / self.matrix[i, i])
        return found

    def scale(self) -> Interval:
        """The volume of a box in x for one in u: the determinant."""
        total = exactly(np.float64(1.0))
        for part in np.diagonal(self.matrix):
            total = times(total, exactly(part))
        return exactly(np.float64(1.0)) if self.is_plain else total


def volumes(lo: np.ndarray, hi: np.ndarray) -> Interval:
    """Of boxes (n, N), enclosed."""
    total = np.ones(lo.shape[1]), np.ones(lo.shape[1])
    for low, high in zip(lo, hi, strict=True):
        width = high - low
        total = np.maximum(down(total[0] * np.maximum(down(width), 0.0)), 0.0), up(total[1] * up(width))
    return total
