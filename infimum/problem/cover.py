"""Cover: the regions that a proof has left, one by one, or as a product of unions of intervals."""

import operator
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

from infimum.errors import NotKeptError
from infimum.problem.unions import Unions, number_of, widths
from infimum.support import environment

MOST_KEPT_NUMBERS = 1 << 27  # numbers, a gigabyte: regions that take more are counted only
_NUMBERS_AT_ONCE = 1 << 20


class Cover:
    """Regions that together contain every global minimiser. `len()` is their number; iterating gives (lo, hi) pairs, and so does
    an index; `x in cover` says if one of them holds the point x.

    The arrays are read-only. Of regions that would take more than a gigabyte, only the number is kept: `kept` is then False, and
    the arrays raise NotKeptError.

    Where the variables are independent of each other, there may be 2**n regions or more, one for each choice of an interval for
    every variable: `unions` then holds these intervals. `count` is the number of regions even where it is too large for `len()`.

    >>> cover = Cover(np.array([[0.0, 1.0]]), np.array([[1.0, 1.5]]), np.array([-1.0, -2.0]))
    >>> len(cover), cover.lo.tolist(), cover.lower.tolist(), cover.width
    (2, [[0.0], [1.0]], [-1.0, -2.0], 1.0)
    >>> cover = Cover.product(Unions.of([[(-2, -1), (1, 2)]] * 100), lower=-3.0)
    >>> cover.count == 2**100, cover.kept, cover.width, np.full(100, 1.5) in cover, cover.unions[99].tolist()
    (True, False, 1.0, True, [[-2.0, -1.0], [1.0, 2.0]])
    """

    __slots__ = ("_count", "_arrays", "_unions", "_lower", "_from_above")

    def __init__(self, lo: np.ndarray, hi: np.ndarray, lower: np.ndarray):
        """Boxes in columns (n, N), as the engines have them. Nothing is copied."""
        self._count, self._arrays, self._unions, self._lower = len(lower), None, None, None
        self._from_above = False
        if lo.size + hi.size + lower.size <= MOST_KEPT_NUMBERS:
            self._arrays = tuple(_read_only(array) for array in (lo.T, hi.T, lower))

    @classmethod
    def product(cls, unions: Unions, lower: float) -> "Cover":
        """All boxes of a product of unions. The function is nowhere on them below `lower`."""
        cover = cls.__new__(cls)
        cover._count, cover._arrays, cover._unions, cover._lower = unions.count, None, unions, lower
        cover._from_above = False
        return cover

    @classmethod
    def counted(cls, count: int) -> "Cover":
        """Regions of which only the number is kept, because they would take too much."""
        cover = cls.__new__(cls)
        cover._count, cover._arrays, cover._unions, cover._lower, cover._from_above = count, None, None, None, False
        return cover

    def opposite(self) -> "Cover":
        """The same regions for the function with the other sign, which is bounded from above there."""
        cover = Cover.__new__(Cover)
        cover._count, cover._arrays, cover._unions, cover._lower = self._count, self._arrays, self._unions, self._lower
        cover._from_above = not self._from_above
        return cover

    def __len__(self) -> int:
        if self._count > sys.maxsize:
            raise OverflowError("the number of regions is too large for len(): use `count`")
        return self._count

    def __bool__(self) -> bool:
        return self._count > 0

    @property
    def count(self) -> int:
        """The number of regions, however large."""
        return self._count

    @property
    def unions(self) -> Unions | None:
        """The intervals of each variable, where the regions are a product: `unions[i]` are those of variable i. Else None."""
        return self._unions

    @property
    def kept(self) -> bool:
        """True if the arrays are there, and not only the number of regions (and `unions`)."""
        return self._arrays is not None or (self._unions is not None
                                            and self._count * (2 * len(self._unions) + 1) <= MOST_KEPT_NUMBERS)

    @property
    def lo(self) -> np.ndarray:
        """The lower ends, an array of shape (count, n) with one row per region."""
        return self._array(0)

    @property
    def hi(self) -> np.ndarray:
        """The upper ends, likewise."""
        return self._array(1)

    @property
    def lower(self) -> np.ndarray:
        """A proved lower bound of the function on each region, of shape (count,); -inf for a maximum."""
        return np.full_like(self._array(2), -np.inf) if self._from_above else self._array(2)

    @property
    @environment.ours
    def upper(self) -> np.ndarray:
        """For a maximum, a proved upper bound of the function on each region, of shape (count,); inf otherwise."""
        return 0.0 - self._array(2) if self._from_above else np.full_like(self._array(2), np.inf)

    def _array(self, k: int) -> np.ndarray:
        if not self.kept:
            cure = "`boxes` holds them all. A limit that stops the run earlier, such as max_boxes, leaves fewer" \
                if self._unions is None else "`unions` holds the intervals of each variable that they are made of"
            raise NotKeptError(f"{number_of(self._count)} regions take more than {8 * MOST_KEPT_NUMBERS / 2**30:g} GiB "
                               f"and were not kept one by one; {cure}")
        if self._arrays is None:
            lo, hi = self._unions.boxes()
            self._arrays = tuple(_read_only(array) for array in (lo.T, hi.T, np.full(self._count, self._lower)))
        return self._arrays[k]

    @property
    @environment.ours
    def width(self) -> float:
        """The widest side of any region, rounded up."""
        if self._unions is not None:
            return self._unions.width
        widest, step = 0.0, max(1, _NUMBERS_AT_ONCE // max(1, self._count))
        for k in range(0, self.lo.shape[1], step):  # some variables at a time
            part = widths(self.lo.T[k:k + step], self.hi.T[k:k + step])
            widest = max(widest, float(part.max(initial=0.0)))
        return widest

    def __iter__(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        if self._unions is None:
            return zip(self.lo, self.hi, strict=True)
        return map(self._unions.box, range(self._count))

    def __getitem__(self, k: int) -> tuple[np.ndarray, np.ndarray]:
        k = operator.index(k)
        if not -self._count <= k < self._count:
            raise IndexError(f"the index is out of range: there are {number_of(self._count)} regions")
        return (self.lo[k], self.hi[k]) if self._unions is None else self._unions.box(k % self._count)

    def __contains__(self, x: Any) -> bool:
        if self._unions is not None:
            return x in self._unions
        return bool(((self.lo <= x) & (self.hi >= x)).all(axis=1).any())

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Cover):
            return NotImplemented
        if self._from_above != other._from_above:
            return False
        if self._unions is not None or other._unions is not None:
            return self._unions == other._unions and self._lower == other._lower
        if not (self.kept and other.kept):
            return (self._count, self.kept) == (other._count, other.kept)
        return all(np.array_equal(mine, its) for mine, its in zip(self._arrays, other._arrays, strict=True))

    __hash__ = None

    def __repr__(self) -> str:
        if self._unions is not None:
            return f"Cover.product({self._unions!r})"
        return f"Cover({self._count:,} regions{'' if self.kept else ', not kept'})"


def _read_only(array: np.ndarray) -> np.ndarray:
    view = array.view()
    view.flags.writeable = False
    return view
