"""The compact list of the complete search: many millions of regions, taken lowest first.

The regions that an iteration leaves lie together, so that its number, and all that follows from it, is kept once for them. A
region itself is then the number of its subregion and its lower end. They stay in the memory where the kernel runs.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from infimum.search.policy.search import REGION_STORE as POLICY

BYTES = np.dtype(np.int32).itemsize + np.dtype(np.float64).itemsize  # a region here; a GPU keeps numbers in 8 bytes


class Chunk:
    """The regions left of one iteration (-1: the whole box), rows of `arrays`. `wide` says which are wider than asked for, or one
    truth for all; no lower end is above `highest`. What is taken away keeps its place, with NaN for its lower end.
    """

    __slots__ = ("arrays", "iteration", "subregion", "lower", "wide", "highest", "count", "least", "least_wide")

    def __init__(self, arrays: Any, iteration: int, subregion: Any, lower: Any, wide: "np.ndarray | bool", highest: float):
        self.arrays, self.iteration, self.wide, self.highest = arrays, iteration, wide, highest
        self.subregion, self.lower, self.count = subregion, lower, lower.shape[1]  # none of them taken yet
        self._look()

    def _look(self) -> None:
        """Finds the lowest, and the lowest of the wide ones: (lower end, place), infinite if there is none."""
        self.least = self.arrays.least(self.lower)[0]
        if isinstance(self.wide, bool):
            self.least_wide = self.least if self.wide else (np.inf, -1)
        else:
            self.least_wide = self.arrays.least(np.where(self.wide, self.lower, np.nan))[0]

    def at(self, at: int) -> tuple[int, float]:
        """The subregion at this place, and its lower end."""
        return int(_whole(self._fetch(self.subregion[:, at:at + 1]))[0, 0]), float(self._fetch(self.lower[:, at:at + 1])[0, 0])

    def take(self, at: int) -> None:
        """Takes a region out."""
        self.arrays.put(self.lower, at, self.arrays.send(np.full((1, 1), np.nan)))
        self.count -= 1
        self._look()

    def lowest(self, count: int, below: float, wide: bool) -> list[tuple[float, int, int]]:
        """Up to the given number of the lowest regions of those below: lower end, place, subregion."""
        lower = self._fetch(self.lower)
        index, _ = self.arrays.here.lowest(np.where(self.wide, lower, np.nan) if wide else lower, count, below)
        subregions = _whole(self._fetch(self.subregion))[0, index]
        return list(zip(lower[0, index].tolist(), index.tolist(), subregions.tolist(), strict=True))

    def _fetch(self, array: Any) -> np.ndarray:
        return self.arrays.fetch(array)

    def kept(self, upper: float) -> "Chunk | None":
        """What is not certainly above."""
        index, _ = self.arrays.lowest(self.lower, self.lower.shape[1] + 1, math.nextafter(upper, math.inf))
        if not len(index):
            return None
        subregion, lower = (self.arrays.gather(a, index) for a in (self.subregion, self.lower))
        wide = self.wide if isinstance(self.wide, bool) else self.wide[index]
        return Chunk(self.arrays, self.iteration, subregion, lower, wide, min(upper, self.highest))

    def here(self) -> "Chunk":
        """The same in this machine's memory, with small numbers."""
        numbers = _whole(self._fetch(self.subregion)).astype(np.int32)
        found = Chunk(self.arrays.here, self.iteration, numbers, self._fetch(self.lower), self.wide, self.highest)
        found.count = self.count
        return found


def _whole(numbers: np.ndarray) -> np.ndarray:
    """Whole numbers, which may be given as the bits of doubles."""
    return numbers if numbers.dtype.kind == "i" else numbers.view(np.int64)


class RegionPlace(NamedTuple):
    """Where a region is in the list."""

    chunk: Chunk
    at: int


class RegionList:
    """Regions in the order they were stored; of equal lower ends the first counts. `arrays` are those of the kernel."""

    def __init__(self, arrays: Any):
        self.arrays, self.chunks = arrays, []
        self.enough = POLICY.least_filtered  # regions; with more of them it is worth looking at each for what lies above

    def __len__(self) -> int:
        return sum(chunk.count for chunk in self.chunks)

    @classmethod
    def of(cls, arrays: Any, iterations: np.ndarray, subregions: np.ndarray, lower: np.ndarray, wide: np.ndarray) -> "RegionList":
        """The list whose `everything` this is."""
        found = cls(arrays)
        for here in np.split(np.arange(len(lower)), np.flatnonzero(np.diff(iterations)) + 1):
            if len(here):
                found.add(int(iterations[here[0]]), subregions[None, here], lower[None, here], wide[here])
        return found

    def takes_more(self, limit: float, upper: float) -> bool:
        """Do the regions take more memory? Those above do not count: how many of them are still here depends on the past."""
        if BYTES * len(self) > limit:
            self._filter(upper)
        return BYTES * len(self) > limit

    def add(self, iteration: int, subregion: Any, lower: Any, wide: "np.ndarray | bool", highest: float = np.inf) -> None:
        """Stores regions, none of them above `highest`, behind the others: rows of NumPy or of the kernel's memory."""
        if lower.shape[1]:
            near = isinstance(lower, np.ndarray)
            chunk = Chunk(self.arrays.here if near else self.arrays, iteration, subregion, lower, wide, highest)
            self.chunks.append(chunk.here() if near else chunk)

    def move_to_host(self) -> bool:
        """Brings all regions to this machine's memory; False if they are here already."""
        far = any(chunk.arrays is not chunk.arrays.here for chunk in self.chunks)
        self.chunks = [chunk.here() for chunk in self.chunks] if far else self.chunks
        return far

    def least(self) -> float:
        """The smallest lower end; infinite if there is no region."""
        return min((chunk.least[0] for chunk in self.chunks), default=np.inf)

    def all_narrow(self, upper: float) -> bool:
        """Is there no wide region but above?"""
        return all(chunk.least_wide[0] == np.inf or chunk.least_wide[0] > upper for chunk in self.chunks)

    def first(self, wide: bool = False) -> tuple[int, int]:
        """Where the region with the smallest lower end is, of the wide ones if so asked: the number of its chunk, its place."""
        asked = [chunk.least_wide if wide else chunk.least for chunk in self.chunks]
        k = min(range(len(asked)), key=lambda i: asked[i][0])  # the first of equals
        return k, asked[k][1]

    def at(self, k: int, place: int) -> tuple[int, int, float]:
        """(iteration, subregion, lower end) of a region."""
        return self.chunks[k].iteration, *self.chunks[k].at(place)

    def take_at(self, k: int, place: int) -> None:
        """Removes a region."""
        self.chunks[k].take(place)
        if self.chunks[k].count == 0:
            del self.chunks[k]

    def take(self, wide: bool = False) -> tuple[int, int, float]:
        """Removes the region with the smallest lower end, of the wide ones if so asked: (iteration, subregion, lower end)."""
        where = self.first(wide)
        found = self.at(*where)
        self.take_at(*where)
        return found

    def lowest(self, count: int, below: float, wide: bool = False) -> list[tuple[int, int, float, RegionPlace]]:
        """Up to the given number of regions that `take` would give one after the other, and where they are, of those below."""
        found = []
        for k, chunk in enumerate(self.chunks):
            if (chunk.least_wide if wide else chunk.least)[0] < below:
                found += ((lower, k, at, subregion) for lower, at, subregion in chunk.lowest(count, below, wide))
        return [(self.chunks[k].iteration, subregion, lower, RegionPlace(self.chunks[k], at))
                for lower, k, at, subregion in sorted(found)[:count]]

    def remove(self, place: RegionPlace) -> None:
        """Takes that region out."""
        place.chunk.take(place.at)
        if place.chunk.count == 0:
            self.chunks = [chunk for chunk in self.chunks if chunk is not place.chunk]

    def prune(self, upper: float) -> None:
        """Drops regions that lie certainly above: chunks of nothing else, and each single one when many more have come."""
        self.chunks = [chunk for chunk in self.chunks if not chunk.least[0] > upper]
        if len(self) > self.enough:
            self._filter(upper)
            self.enough = max(POLICY.least_filtered, 2 * len(self))

    def _filter(self, upper: float) -> None:
        kept = [chunk.kept(upper) if chunk.highest > upper else chunk for chunk in self.chunks]
        self.chunks = [chunk for chunk in kept if chunk is not None]

    def everything(self, upper: float) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """(iterations, subregions, lower ends, which are wide) of all regions but those above, here."""
        chunks = [kept.here() for chunk in self.chunks if (kept := chunk.kept(upper)) is not None]
        rows = [(np.full(c.count, c.iteration), c.subregion[0], c.lower[0], np.broadcast_to(c.wide, c.count)) for c in chunks]
        if not rows:
            return np.empty(0, int), np.empty(0, np.int32), np.empty(0), np.empty(0, bool)
        return tuple(np.concatenate(column) for column in zip(*rows, strict=True))
