"""Pool and splitter: the regions that may still hold a minimiser, and how one is cut."""

import itertools

import numpy as np

_FRONT = 1 << 15  # regions within easy reach


class Regions:
    """Boxes in columns: `lo`, `hi` (n, N), a lower bound of f on each, the variable to cut next, and the status of f there."""

    __slots__ = ("lo", "hi", "lower", "axis", "level")

    def __init__(self, lo: np.ndarray, hi: np.ndarray, lower: np.ndarray, axis: np.ndarray, level: np.ndarray):
        self.lo, self.hi, self.lower, self.axis, self.level = lo, hi, lower, axis, level

    @classmethod
    def none(cls, n: int) -> "Regions":
        return cls(np.empty((n, 0)), np.empty((n, 0)), np.empty(0), np.empty(0, np.int32), np.empty(0, np.int8))

    def __len__(self) -> int:
        return len(self.lower)

    def at(self, index: np.ndarray) -> "Regions":
        """The regions with these numbers, in this order."""
        return Regions(*(np.take(a, index, axis=-1) for a in self._arrays()))

    def with_(self, other: "Regions") -> "Regions":
        """Both, one after the other."""
        return Regions(*(np.concatenate(pair, axis=-1) for pair in zip(self._arrays(), other._arrays(), strict=True)))

    def _arrays(self) -> tuple[np.ndarray, ...]:
        return self.lo, self.hi, self.lower, self.axis, self.level

    @property
    def bytes(self) -> int:
        return sum(a.nbytes for a in self._arrays())

    def arrays(self, name: str) -> dict[str, np.ndarray]:
        """The arrays under their names, for a checkpoint."""
        return {f"{name}.{slot}": getattr(self, slot) for slot in self.__slots__}

    @classmethod
    def from_arrays(cls, name: str, arrays: dict[str, np.ndarray]) -> "Regions":
        return cls(*(arrays[f"{name}.{slot}"] for slot in cls.__slots__))


class Pool:
    """Takes thousands of regions at a time, lowest first, and gives nothing up but what is certainly above the upper bound.

    The lowest regions are at hand (`front`), the others wait in heaps that are looked through only when the front runs short.
    What is taken depends on the regions alone: among equal lower bounds those that came first are taken first.
    """

    def __init__(self, n: int):
        self.n, self.front, self.heaps, self.border = n, Regions.none(n), [], np.inf

    def __len__(self) -> int:
        return len(self.front) + sum(len(heap) for heap in self.heaps)

    @property
    def bytes(self) -> int:
        return self.front.bytes + sum(heap.bytes for heap in self.heaps)

    def add(self, regions: Regions) -> None:
        """Puts regions in."""
        near = regions.lower <= self.border
        if near.all():
            self.front = self.front.with_(regions)
        else:
            self.front = self.front.with_(regions.at(np.flatnonzero(near)))
            self.heaps.append(regions.at(np.flatnonzero(~near)))
        if len(self.front) > 4 * _FRONT:
            self._rebuild()

    def take(self, count: int, below: float) -> Regions:
        """Removes and returns up to `count` of the lowest regions, of those with a lower bound below `below`."""
        if self.heaps and (len(self.front) < count or not (self.front.lower < below).any()):
            self._rebuild()
        lowest = first_lowest(self.front.lower, count)
        taken = lowest[self.front.lower[lowest] < below]
        kept = np.ones(len(self.front), bool)
        kept[taken] = False
        regions = self.front.at(taken)
        self.front = self.front.at(np.flatnonzero(kept))
        return regions

    def prune(self, upper: float) -> None:
        """Drops the regions that lie certainly above."""
        self.front = _pruned(self.front, upper)
        self.heaps = [kept for heap in self.heaps if len(kept := _pruned(heap, upper))]

    def least(self) -> float:
        """The smallest lower bound, infinite if there is no region."""
        return float(min([r.lower.min() for r in (self.front, *self.heaps) if len(r)], default=np.inf))

    def everything(self) -> Regions:
        """All regions, in one."""
        for heap in self.heaps:
            self.front = self.front.with_(heap)
        self.heaps, self.border = [], np.inf
        return self.front

    def arrays(self) -> dict[str, np.ndarray]:
        """Everything, as it is, for a checkpoint."""
        found = {"pool.border": np.array([self.border, len(self.heaps)]), **self.front.arrays("front")}
        for k, heap in enumerate(self.heaps):
            found |= heap.arrays(f"heap{k}")
        return found

    def restore(self, arrays: dict[str, np.ndarray]) -> None:
        """The pool of a checkpoint."""
        self.border, heaps = float(arrays["pool.border"][0]), int(arrays["pool.border"][1])
        self.front = Regions.from_arrays("front", arrays)
        self.heaps = [Regions.from_arrays(f"heap{k}", arrays) for k in range(heaps)]

    def _rebuild(self) -> None:
        """Makes a front of the lowest regions and one heap of the others."""
        all_of_them = self.everything()
        if len(all_of_them) <= 2 * _FRONT:
            return
        self.border = float(np.partition(all_of_them.lower, _FRONT)[_FRONT])
        near = all_of_them.lower <= self.border
        self.front, self.heaps = all_of_them.at(np.flatnonzero(near)), [all_of_them.at(np.flatnonzero(~near))]


def widths(lo: np.ndarray, hi: np.ndarray) -> np.ndarray:
    """hi - lo, rounded up; infinite where that is no double."""
    with np.errstate(over="ignore"):
        return np.where(hi > lo, np.nextafter(hi - lo, np.inf), 0.0)


def can_be_cut(lo: np.ndarray, hi: np.ndarray) -> np.ndarray:
    """Where a double lies strictly inside."""
    middle = cut(lo, hi, 1, 2)
    return (middle > lo) & (middle < hi)


def _pruned(regions: Regions, upper: float) -> Regions:
    above = regions.lower > upper
    return regions.at(np.flatnonzero(~above)) if above.any() else regions


def first_lowest(lower: np.ndarray, count: int) -> np.ndarray:
    """The numbers of the `count` lowest entries, in ascending order of their numbers; of equal ones the first."""
    if count >= len(lower):
        return np.arange(len(lower))
    border = np.partition(lower, count - 1)[count - 1]
    below, equal = np.flatnonzero(lower < border), np.flatnonzero(lower == border)
    return np.sort(np.concatenate([below, equal[:count - len(below)]]))


def cut(lo: np.ndarray, hi: np.ndarray, k: int, pieces: int) -> np.ndarray:
    """The end between piece k - 1 and piece k of `pieces`: one double for both neighbours; the ends for k = 0 and k = pieces.

    An unbounded interval is cut in two: the line at 0, a half-line at 0, or at 1, or at twice its end.
    """
    if k == 0 or k == pieces:
        return lo if k == 0 else hi
    with np.errstate(invalid="ignore", over="ignore"):
        inside = lo + (hi - lo) * (k / pieces)
        inside = np.where(np.isfinite(hi - lo), inside, lo * (1 - k / pieces) + hi * (k / pieces))
        right = np.where(lo < 0, 0.0, np.where(lo < 0.5, 1.0, np.minimum(2 * lo, np.finfo(float).max)))
        left = np.where(hi > 0, 0.0, np.where(hi > -0.5, -1.0, np.maximum(2 * hi, -np.finfo(float).max)))
    outside = np.where(np.isinf(lo), np.where(np.isinf(hi), 0.0, left), right)
    point = np.where(np.isinf(lo) | np.isinf(hi), outside, inside)
    return np.minimum(np.maximum(point, lo), hi)


def split(regions: Regions, pieces: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(lo, hi, number of the parent) of the pieces of each region, cut along its axis; unbounded intervals are cut in two."""
    count, columns = len(regions), np.arange(len(regions))
    parent = np.tile(columns, pieces)
    lo, hi = np.take(regions.lo, parent, axis=1), np.take(regions.hi, parent, axis=1)
    low, high = regions.lo[regions.axis, columns], regions.hi[regions.axis, columns]
    bounded = np.isfinite(low) & np.isfinite(high)
    ends = [np.where(bounded, cut(low, high, k, pieces), cut(low, high, min(k, 2), 2)) for k in range(pieces + 1)]
    for k in range(pieces):
        rows = slice(k * count, (k + 1) * count)
        lo[regions.axis, np.arange(rows.start, rows.stop)] = ends[k]
        hi[regions.axis, np.arange(rows.start, rows.stop)] = ends[k + 1]
    real = np.array([after > before for before, after in itertools.pairwise(ends)])
    real[0] |= low == high
    if not real.all():  # a piece without width is a point of its neighbour
        kept = np.flatnonzero(real.ravel())
        lo, hi, parent = np.take(lo, kept, axis=1), np.take(hi, kept, axis=1), parent[kept]
    return lo, hi, parent


def choose_axis(regions: Regions, wanted: np.ndarray) -> np.ndarray:
    """The variable to cut: the wanted one, or, if no double lies strictly inside it, the widest that has one; -1 if none has."""
    n, count = regions.lo.shape
    columns = np.arange(count)
    axis = np.clip(wanted, 0, n - 1)
    good = (wanted >= 0) & can_be_cut(regions.lo[axis, columns], regions.hi[axis, columns])
    bad = np.flatnonzero(~good)
    if len(bad):
        lo, hi = np.take(regions.lo, bad, axis=1), np.take(regions.hi, bad, axis=1)
        width = np.where(can_be_cut(lo, hi), widths(lo, hi), -1.0)
        widest = np.argmax(width, axis=0)
        axis[bad] = np.where(width[widest, np.arange(len(bad))] > 0, widest, -1)
    return axis
