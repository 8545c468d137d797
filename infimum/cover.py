"""Cover: the regions that a proof has left, one by one."""

from collections.abc import Iterator

import numpy as np

from infimum import environment
from infimum.errors import NotKeptError

KEPT = 1 << 27  # numbers, a gigabyte: regions that take more are counted only
_AT_A_TIME = 1 << 20


def widths(lo: np.ndarray, hi: np.ndarray) -> np.ndarray:
    """hi - lo, rounded up; infinite where that is no double."""
    with np.errstate(over="ignore", invalid="ignore"):
        width = hi - lo
        part = width - hi  # of the error of the difference, which is a double: Knuth's TwoSum
        exact_or_more = (hi - (width - part)) - (lo + part) <= 0
        return np.where(hi > lo, np.where(exact_or_more, width, np.nextafter(width, np.inf)), 0.0)


class Cover:
    """Regions that together contain every global minimiser. `len()` is their number; iterating gives (lo, hi) pairs.

    The arrays are read-only. Of regions that would take more than a gigabyte, only the number is kept: `kept` is then False, and
    the arrays raise NotKeptError.

    >>> cover = Cover(np.array([[0.0, 1.0]]), np.array([[1.0, 1.5]]), np.array([-1.0, -2.0]))
    >>> len(cover), cover.lo.tolist(), cover.lower.tolist(), cover.width
    (2, [[0.0], [1.0]], [-1.0, -2.0], 1.0)
    """

    __slots__ = ("_count", "_arrays")

    def __init__(self, lo: np.ndarray, hi: np.ndarray, lower: np.ndarray):
        """Boxes in columns (n, N), as the engines have them. Nothing is copied."""
        self._count = len(lower)
        self._arrays = None
        if lo.size + hi.size + lower.size <= KEPT:
            self._arrays = tuple(_read_only(array) for array in (lo.T, hi.T, lower))

    def __len__(self) -> int:
        return self._count

    @property
    def kept(self) -> bool:
        """True if the regions are there one by one, and not only their number."""
        return self._arrays is not None

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
        """A proved lower bound of the function on each region, of shape (count,)."""
        return self._array(2)

    def _array(self, k: int) -> np.ndarray:
        if self._arrays is None:
            raise NotKeptError(f"{self._count:,} regions take more than {8 * KEPT / 2**30:g} GiB and were not kept one by one; "
                               "`boxes` holds them all. A limit that stops the run earlier, such as max_boxes, leaves fewer")
        return self._arrays[k]

    @property
    @environment.ours
    def width(self) -> float:
        """The widest side of any region, rounded up."""
        widest, step = 0.0, max(1, _AT_A_TIME // max(1, self._count))
        for k in range(0, self.lo.shape[1], step):  # some variables at a time
            part = widths(self.lo.T[k:k + step], self.hi.T[k:k + step])
            widest = max(widest, float(part.max(initial=0.0)))
        return widest

    def __iter__(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        return zip(self.lo, self.hi, strict=True)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Cover):
            return NotImplemented
        if not (self.kept and other.kept):
            return (len(self), self.kept) == (len(other), other.kept)
        return all(np.array_equal(mine, its) for mine, its in zip(self._arrays, other._arrays, strict=True))

    __hash__ = None

    def __repr__(self) -> str:
        return f"Cover({self._count:,} regions{'' if self.kept else ', not kept'})"


def _read_only(array: np.ndarray) -> np.ndarray:
    view = array.view()
    view.flags.writeable = False
    return view
