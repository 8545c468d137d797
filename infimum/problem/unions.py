"""Unions: for every variable a union of intervals, and with them the product of these unions, which is very many boxes.

Proof: docs/proofs/unions.md.
"""

import math
from collections.abc import Sequence

import numpy as np

from infimum.support import environment

_COUNTLESS, _LOG2 = 10**15, 0.30102999566398  # numbers of boxes beyond that are not written out; the logarithm of 2, rounded down


def widths(lo: np.ndarray, hi: np.ndarray) -> np.ndarray:
    """hi - lo, rounded up; infinite where that is no double."""
    with np.errstate(over="ignore", invalid="ignore"):
        width = hi - lo
        part = width - hi  # of the error of the difference, which is a double: Knuth's TwoSum
        exact_or_more = (hi - (width - part)) - (lo + part) <= 0
        return np.where(hi > lo, np.where(exact_or_more, width, np.nextafter(width, np.inf)), 0.0)


def shares(lo: np.ndarray, hi: np.ndarray) -> np.ndarray:
    """What lengths are multiplied with to be compared as parts of these sides; 1 where a side has no such number."""
    whole = widths(lo, hi)
    with np.errstate(all="ignore"):
        found = 1.0 / whole
    return np.where((found > 0) & np.isfinite(found), found, 1.0)


def number_of(boxes: int) -> str:
    """A number of boxes; the order of magnitude where it is beyond counting.

    >>> number_of(2**20), number_of(2**1000)
    ('1,048,576', 'more than 10**301')
    """
    if boxes < _COUNTLESS:
        return f"{boxes:,}"
    digits = math.floor((boxes.bit_length() - 1) * _LOG2)
    return f"more than 10**{digits}"


@environment.all_ours
class Unions:
    """A product of unions of closed intervals, one union for each variable.

    `lo` and `hi` hold the ends of all intervals, variable by variable; those of variable i are numbers starts[i] to
    starts[i + 1] - 1, in ascending order. They may touch, but not overlap. A box of the product takes one of each variable.

    >>> unions = Unions.of([[(-2, -1), (1, 2)], [(0, 1), (1, 3)]])
    >>> unions.count, unions.merged().count, (-1.5, 2.0) in unions, (0.0, 2.0) in unions
    (4, 2, True, False)
    >>> unions.box(1)
    (array([-2.,  1.]), array([-1.,  3.]))
    """

    __slots__ = ("lo", "hi", "starts")

    def __init__(self, lo: np.ndarray, hi: np.ndarray, starts: np.ndarray):
        self.lo, self.hi, self.starts = lo, hi, starts

    @classmethod
    def of(cls, intervals: Sequence) -> "Unions":
        """From a sequence of (lo, hi) pairs for each variable, in ascending order."""
        ends = [np.asarray(pairs, dtype=np.float64).reshape(-1, 2) for pairs in intervals]
        flat = np.concatenate(ends) if ends else np.empty((0, 2))
        return cls(flat[:, 0].copy(), flat[:, 1].copy(), np.cumsum([0, *map(len, ends)]))

    @classmethod
    def of_box(cls, lo: np.ndarray, hi: np.ndarray) -> "Unions":
        """One interval for each variable."""
        return cls(lo.copy(), hi.copy(), np.arange(len(lo) + 1))

    def __len__(self) -> int:
        """The number of variables."""
        return len(self.starts) - 1

    def __getitem__(self, i: int) -> np.ndarray:
        """The intervals of variable i, an array of shape (intervals, 2)."""
        part = slice(self.starts[i], self.starts[i + 1])
        return np.stack([self.lo[part], self.hi[part]], axis=1)

    @property
    def counts(self) -> np.ndarray:
        """The number of intervals of each variable."""
        return np.diff(self.starts)

    @property
    def variables(self) -> np.ndarray:
        """The variable of each interval."""
        return np.repeat(np.arange(len(self)), self.counts)

    @property
    def count(self) -> int:
        """The number of boxes of the product, however large."""
        sizes, times = np.unique(self.counts, return_counts=True)
        return math.prod(size**often for size, often in zip(sizes.tolist(), times.tolist(), strict=True))

    @property
    @environment.ours
    def width(self) -> float:
        """The widest of all intervals, rounded up."""
        return float(widths(self.lo, self.hi).max(initial=0.0))

    @property
    def hull(self) -> tuple[np.ndarray, np.ndarray]:
        """The smallest box that holds the product: (lo, hi). No union may be empty."""
        return self.lo[self.starts[:-1]], self.hi[self.starts[1:] - 1]

    def keep(self, mask: np.ndarray) -> "Unions":
        """Those intervals alone where the mask holds."""
        return Unions(self.lo[mask], self.hi[mask], np.concatenate([[0], np.cumsum(mask)])[self.starts])

    def halved(self, mask: np.ndarray) -> "Unions":
        """Intervals where the mask holds are cut into two, unless no double lies inside; unbounded ones at a finite place."""
        with np.errstate(over="ignore", invalid="ignore"):
            from_lo, from_hi = (self.lo + np.maximum(1.0, np.abs(self.lo)), self.hi - np.maximum(1.0, np.abs(self.hi)))
            middle = np.where(np.isfinite(self.hi), np.where(np.isfinite(self.lo), self.lo * 0.5 + self.hi * 0.5, from_hi),
                              np.where(np.isfinite(self.lo), from_lo, 0.0))
        cut = mask & (self.lo < middle) & (middle < self.hi)
        source = np.repeat(np.arange(len(cut)), 1 + cut)
        second = np.append(False, source[1:] == source[:-1])
        first = np.append(second[1:], False)
        return Unions(np.where(second, middle[source], self.lo[source]), np.where(first, middle[source], self.hi[source]),
                      np.concatenate([[0], np.cumsum(1 + cut)])[self.starts])

    def merged(self) -> "Unions":
        """The same sets, with intervals that touch as one."""
        first = np.ones(len(self.lo), bool)
        first[1:] = self.lo[1:] > self.hi[:-1]
        first[self.starts[:-1][self.counts > 0]] = True
        last = np.append(first[1:], True)[:len(first)]
        return Unions(self.lo[first], self.hi[last], np.concatenate([[0], np.cumsum(first)])[self.starts])

    def box(self, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Box number k of the product, the last variable's intervals first."""
        at, counts = self.starts[:-1].copy(), self.counts.tolist()
        for i in reversed(range(len(counts))):
            if k == 0:
                break
            k, here = divmod(k, counts[i])
            at[i] += here
        return self.lo[at], self.hi[at]

    def boxes(self) -> tuple[np.ndarray, np.ndarray]:
        """The ends of all boxes, two arrays of shape (n, count), in the order of `box`."""
        count, inner = self.count, self.count
        lo, hi = np.empty((2, len(self), count))
        for i, m in enumerate(self.counts.tolist()):
            inner //= m
            at = self.starts[i] + np.arange(count) // inner % m
            lo[i], hi[i] = self.lo[at], self.hi[at]
        return lo, hi

    def __contains__(self, x: object) -> bool:
        x = np.asarray(x, dtype=np.float64)
        if x.shape != (len(self),):
            raise ValueError(f"a point of {len(self)} variables is an array of shape ({len(self)},), not {x.shape}")
        holds = (self.lo <= x[self.variables]) & (x[self.variables] <= self.hi)
        return len(np.unique(self.variables[holds])) == len(self)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Unions):
            return NotImplemented
        return all(np.array_equal(getattr(self, name), getattr(other, name)) for name in self.__slots__)

    __hash__ = None

    def __repr__(self) -> str:
        return f"Unions({len(self):,} variables, {len(self.lo):,} intervals)"
