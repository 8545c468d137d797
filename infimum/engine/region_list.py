"""The compact list of the complete search: many millions of regions, taken lowest first.

The regions that an iteration leaves lie together, so that its number, and all that follows from it, is kept once for them. A
region itself is then the number of its subregion and its lower end.
"""

import numpy as np

BYTES = np.dtype(np.int32).itemsize + np.dtype(np.float64).itemsize  # a region

_LEAST_FILTERED = 1 << 22


class Chunk:
    """The regions left of one iteration (-1: the whole box). `wide` says which are wider than asked for, or one truth for all.

    What is taken away keeps its place, with an infinite lower end, which no region has.
    """

    __slots__ = ("iteration", "subregion", "lower", "wide", "count", "highest", "least", "least_wide")

    def __init__(self, iteration: int, subregion: np.ndarray, lower: np.ndarray, wide: "np.ndarray | bool"):
        self.iteration, self.subregion, self.lower, self.wide = iteration, subregion, lower, wide
        self.count, self.highest = len(lower), float(lower.max())
        self._look()

    def _look(self) -> None:
        """Finds the lowest, and the lowest of the wide ones: (lower end, place), infinite if there is none."""
        self.least = self._lowest(self.lower)
        if isinstance(self.wide, bool):
            self.least_wide = self.least if self.wide else (np.inf, -1)
        else:
            self.least_wide = self._lowest(np.where(self.wide, self.lower, np.inf))

    @staticmethod
    def _lowest(lower: np.ndarray) -> tuple[float, int]:
        at = int(np.argmin(lower))
        return float(lower[at]), at

    def take(self, at: int) -> tuple[int, float]:
        """Takes a region out: its subregion and its lower end."""
        found = int(self.subregion[at]), float(self.lower[at])
        self.lower[at] = np.inf
        self.count -= 1
        self._look()
        return found

    def kept(self, upper: float) -> "Chunk | None":
        """What is not certainly above."""
        here = np.flatnonzero(~(self.lower > upper) & (self.lower < np.inf))
        wide = self.wide if isinstance(self.wide, bool) else self.wide[here]
        return Chunk(self.iteration, self.subregion[here], self.lower[here], wide) if len(here) else None


class RegionList:
    """Regions in the order they were stored; of equal lower ends the first counts."""

    def __init__(self) -> None:
        self.chunks: list[Chunk] = []
        self.enough = _LEAST_FILTERED  # regions; with more of them it is worth looking at each for what lies above

    def __len__(self) -> int:
        return sum(chunk.count for chunk in self.chunks)

    @classmethod
    def of(cls, iterations: np.ndarray, subregions: np.ndarray, lower: np.ndarray, wide: np.ndarray) -> "RegionList":
        """The list whose `everything` this is."""
        found = cls()
        for here in np.split(np.arange(len(lower)), np.flatnonzero(np.diff(iterations)) + 1):
            if len(here):
                found.add(int(iterations[here[0]]), subregions[here], lower[here], wide[here])
        return found

    def takes_more(self, limit: float, upper: float) -> bool:
        """Do the regions take more memory? Those above do not count: how many of them are still here depends on the past."""
        if BYTES * len(self) > limit:
            self._filter(upper)
        return BYTES * len(self) > limit

    def add(self, iteration: int, subregion: np.ndarray, lower: np.ndarray, wide: "np.ndarray | bool") -> None:
        """Stores regions behind the others."""
        if len(lower):
            self.chunks.append(Chunk(iteration, subregion.astype(np.int32), lower, wide))

    def least(self) -> float:
        """The smallest lower end; infinite if there is no region."""
        return min((chunk.least[0] for chunk in self.chunks), default=np.inf)

    def all_narrow(self, upper: float) -> bool:
        """Is there no wide region but above?"""
        return all(chunk.least_wide[0] == np.inf or chunk.least_wide[0] > upper for chunk in self.chunks)

    def take(self, wide: bool = False) -> tuple[int, int, float]:
        """Removes the region with the smallest lower end, of the wide ones if so asked: (iteration, subregion, lower end)."""
        asked = [chunk.least_wide if wide else chunk.least for chunk in self.chunks]
        k = min(range(len(asked)), key=lambda i: asked[i][0])  # the first of equals
        chunk = self.chunks[k]
        found = chunk.iteration, *chunk.take(asked[k][1])
        if chunk.count == 0:
            del self.chunks[k]
        return found

    def prune(self, upper: float) -> None:
        """Drops regions that lie certainly above: chunks of nothing else, and each single one when many more have come."""
        self.chunks = [chunk for chunk in self.chunks if not chunk.least[0] > upper]
        if len(self) > self.enough:
            self._filter(upper)
            self.enough = max(_LEAST_FILTERED, 2 * len(self))

    def _filter(self, upper: float) -> None:
        kept = [chunk.kept(upper) if chunk.highest > upper else chunk for chunk in self.chunks]
        self.chunks = [chunk for chunk in kept if chunk is not None]

    def everything(self, upper: float) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """(iterations, subregions, lower ends, which are wide) of all regions but those above."""
        chunks = [kept for chunk in self.chunks if (kept := chunk.kept(upper)) is not None]
        rows = [(np.full(c.count, c.iteration), c.subregion, c.lower, np.broadcast_to(c.wide, c.count)) for c in chunks]
        if not rows:
            return np.empty(0, int), np.empty(0, np.int32), np.empty(0), np.empty(0, bool)
        return tuple(np.concatenate(column) for column in zip(*rows, strict=True))
