"""Pool: the regions that may still hold a minimiser."""

from collections.abc import Callable
from typing import Any

import numpy as np

from infimum.kernel.region_cut import rows_of
from infimum.problem.problem import Problem
from infimum.search.policy.search import REGION_STORE as POLICY
from infimum.search.region_heap import RegionHeap


class Regions:
    """Boxes in columns: `lo`, `hi` (n, N), a lower bound of f on each, the variable to cut next, and the status of f there."""

    __slots__ = ("lo", "hi", "lower", "axis", "level")

    def __init__(self, lo: np.ndarray, hi: np.ndarray, lower: np.ndarray, axis: np.ndarray, level: np.ndarray):
        self.lo, self.hi, self.lower, self.axis, self.level = lo, hi, lower, axis, level

    @classmethod
    def none(cls, n: int) -> "Regions":
        return cls(np.empty((n, 0)), np.empty((n, 0)), np.empty(0), np.empty(0, np.int32), np.empty(0, np.int8))

    @classmethod
    def unsearched(cls, problem: Problem) -> "Regions":
        """All of a problem, of which nothing is known."""
        several = problem.several
        lo, hi = (problem.lo[:, None], problem.hi[:, None]) if several is None else (several.lo, several.hi)
        count = lo.shape[1]
        return cls(lo.copy(), hi.copy(), np.full(count, -np.inf), np.zeros(count, np.int32), np.zeros(count, np.int8))

    def __len__(self) -> int:
        return len(self.lower)

    def at(self, index: np.ndarray) -> "Regions":
        """The regions with these numbers, in this order."""
        return Regions(*(np.take(a, index, axis=-1) for a in self._arrays()))

    def with_(self, other: "Regions") -> "Regions":
        """Both, one after the other."""
        if not len(other):
            return self
        return Regions(*(np.concatenate(pair, axis=-1) for pair in zip(self._arrays(), other._arrays(), strict=True)))

    def _arrays(self) -> tuple[np.ndarray, ...]:
        return self.lo, self.hi, self.lower, self.axis, self.level

    def columns(self) -> np.ndarray:
        """As columns of one array: see `kernel/region_cut.py`. An unknown lower bound is minus infinity."""
        lower = np.where(np.isnan(self.lower), -np.inf, self.lower)
        return np.concatenate([self.lo, self.hi, lower[None], self.axis[None], self.level[None]], dtype=np.float64)

    @classmethod
    def from_columns(cls, columns: np.ndarray) -> "Regions":
        n = (len(columns) - 3) // 2
        lower, axis, level = columns[2 * n:]
        return cls(columns[:n], columns[n:2 * n], lower, axis.astype(np.int32), level.astype(np.int8))

    def arrays(self, name: str) -> dict[str, np.ndarray]:
        """The arrays under their names, for a checkpoint."""
        return {f"{name}.{slot}": getattr(self, slot) for slot in self.__slots__}

    @classmethod
    def from_arrays(cls, name: str, arrays: dict[str, np.ndarray]) -> "Regions":
        return cls(*(arrays[f"{name}.{slot}"] for slot in cls.__slots__))


class RegionPool:
    """Takes thousands of regions at a time, lowest first, and gives nothing up but what is certainly above the upper bound.

    The lowest regions are at hand (`front`), the others are `waiting` and looked through only when the front runs short; none
    that waits has a lower bound that one at hand has, so that among equal ones those that came first are taken first. Both lie in
    the memory of `arrays`, and what is taken does not depend on where that is. Where that memory is full, those that wait go to
    this machine's; where there is none either, an exception leaves all regions in place.
    """

    def __init__(self, n: int, arrays: Any, front: int = 1 << 15):
        self.n, self.arrays, self.size = n, arrays, front
        self.front, self.waiting, self.border = RegionHeap(arrays, n), RegionHeap(arrays, n), np.inf
        self.full = 4 * front  # a larger front is divided

    def __len__(self) -> int:
        return len(self.front) + len(self.waiting)

    @property
    def bytes(self) -> int:
        return 8 * rows_of(self.n) * len(self)

    def reserve(self, count: int) -> None:
        """Makes room for the given number of further regions, wherever they belong."""
        self._fit(lambda: self.front.reserve(count))
        self._fit(lambda: self.waiting.reserve(count if self.border < np.inf else 0))

    def _fit(self, need: Callable[[], Any]) -> None:
        """Does what needs memory; where it is full, those that wait make place, and it is tried again."""
        try:
            need()
            return
        except MemoryError:
            if self.waiting.arrays is self.arrays.here:
                raise
        waiting = RegionHeap(self.arrays.here, self.n)  # not within the exception, which holds what the attempt has taken
        waiting.replace(self.waiting.everything())
        self.waiting = waiting
        need()

    def add(self, source: Any, near: Any = None, far: Any = None) -> None:
        """Puts regions in, columns of an array: those at `near` are not above the border, those at `far` are."""
        self.front.add(source, near)
        if far is not None:
            self._wait(source, far)

    def _wait(self, source: Any, index: Any) -> None:
        """Puts regions to those that wait."""
        if self.waiting.arrays is self.arrays:
            self.waiting.add(source, index)
            return
        parts = [index[k:k + self.size] for k in range(0, len(index), self.size)]
        for part in [self.arrays.fetch(self.arrays.gather(source, part)) for part in parts]:
            self.waiting.add(part)

    def balance(self) -> None:
        """Divides a front that has grown large."""
        if len(self.front) > max(self.full, self.size):
            self._fit(self._divide)

    def _divide(self) -> None:
        near, far, border = self.front.divided(self.size)
        self.waiting.reserve(len(far))
        lowest = self.arrays.gather(self.front.data, near)
        self._wait(self.front.data, far)
        self.front.clear()
        self.front.add(lowest)
        self._divided(border)

    def _divided(self, border: float) -> None:
        self.border = border if len(self.waiting) else np.inf
        self.full = max(4 * self.size, 2 * len(self.front))

    def take(self, count: int, below: float, room: int = 0) -> Any:
        """Removes and returns up to `count` of the lowest regions, of those with a lower bound below `below`: see `lowest`."""
        heap, index, taken = self.lowest(count, below, room)
        heap.remove(index)
        return taken

    def lowest(self, count: int, below: float, room: int = 0) -> tuple[RegionHeap, Any, Any]:
        """Where up to `count` of the lowest regions lie, of those with a lower bound below `below`, which they are, and a copy.

        Before that it makes sure of room for the given number of others, and for what is done with them meanwhile.
        """
        self.bring(count, below)
        self.reserve(room)
        if self.arrays is not self.arrays.here:
            self._fit(lambda: self.arrays.empty(self.front.rows, POLICY.work_factor * room))
        return self.front, *self.front.lowest(count, below)

    def bring(self, count: int, below: float) -> None:
        """Has the given number of lowest regions at hand, if there are as many, or those below `below`."""
        if len(self.waiting) and (len(self.front) < count or not self.front.least() < below):
            self._fit(lambda: self._refill(count))

    def _refill(self, count: int) -> None:
        """Brings the lowest of those that wait to the front."""
        index, border = self.waiting.find(max(count, self.size), ties=True)
        self.front.reserve(len(index))
        if self.waiting.arrays is self.arrays:
            self.front.add(self.waiting.data, index)
        else:
            self.front.add(self.arrays.send(self.waiting.arrays.gather(self.waiting.data, index)))
        self.waiting.remove(index)
        self._divided(border)

    def prune(self, upper: float) -> None:
        """Drops the regions that lie certainly above."""
        self.front.prune(upper)
        self.waiting.prune(upper)

    def replace(self, regions: Regions) -> None:
        """These regions instead of those that were there."""
        self.front.clear()
        self.waiting.clear()
        if len(regions):
            self.front.replace(regions.columns())
        self._divided(np.inf)

    def least(self) -> float:
        """The smallest lower bound, infinite if there is no region."""
        return self.front.least() if len(self.front) else self.waiting.least()

    def everything(self) -> Regions:
        """All regions, here."""
        return Regions.from_columns(np.concatenate([self.front.everything(), self.waiting.everything()], axis=1))

    def state(self) -> dict[str, np.ndarray]:
        """Everything, as it is, for a checkpoint."""
        return {"pool": np.array([self.border, self.full]), "pool.front": self.front.everything(),
                "pool.waiting": self.waiting.everything()}

    def restore(self, arrays: dict[str, np.ndarray]) -> None:
        """The pool of a checkpoint."""
        self.border, self.full = float(arrays["pool"][0]), int(arrays["pool"][1])
        self.front.replace(arrays["pool.front"])
        self._fit(lambda: self.waiting.replace(arrays["pool.waiting"]))


def can_be_cut(lo: np.ndarray, hi: np.ndarray) -> np.ndarray:
    """Where a double lies strictly inside: there the cut of `kernel/region_cut.py` does too."""
    with np.errstate(over="ignore"):
        return np.nextafter(lo, np.inf) < hi
