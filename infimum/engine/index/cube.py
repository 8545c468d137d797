"""The variables of a black box as the unit cube that the method searches: one axis for each that has more than one value."""

import math
from collections.abc import Iterator, Sequence

import numpy as np

from infimum.trials.variables import Variables

FINEST = 20        # the order of the curve where there are continuous variables
Point = tuple[float, ...]


class Cube:
    """A coordinate between 0 and 1 is a number between the bounds, or chooses one of the whole numbers, each by an equal part."""

    def __init__(self, variables: Variables):
        self.variables, lo, hi = variables, variables.lo, variables.hi
        self.axes = [i for i in range(len(lo)) if lo[i] < hi[i]] or [0]
        self.whole = np.array([i in variables.integers for i in self.axes])
        self.continuous = np.array([k for k, i in enumerate(self.axes) if lo[i] < hi[i] and not self.whole[k]], dtype=int)
        self.counts = np.array([hi[i] - lo[i] + 1 if whole else 1.0 for i, whole in zip(self.axes, self.whole, strict=True)])
        self.n = len(self.axes)
        self._rows = [(i, float(lo[i]), float(hi[i]), bool(whole), float(count))     # Python's: an overflow is no warning
                      for i, whole, count in zip(self.axes, self.whole, self.counts, strict=True)]

    @property
    def points(self) -> float:
        """How many points there are; inf with a continuous variable."""
        return math.inf if len(self.continuous) else math.prod(int(count) for count in self.counts)

    @property
    def order(self) -> int:
        """Of the curve: no finer than whole numbers need."""
        return FINEST if len(self.continuous) else min(max(math.ceil(math.log2(self.counts.max())), 1), FINEST)

    def point(self, unit: Sequence[float]) -> Point:
        """What is tried at a place of the cube."""
        found = self.variables.lo.tolist()
        for u, (i, low, high, whole, count) in zip(unit, self._rows, strict=True):
            step = min(math.floor(u * count), count - 1) if whole else (high - low) * u
            x = low + step if math.isfinite(step) else low * (1 - u) + high * u
            found[i] = min(max(x, low), high)
        return tuple(found)

    def unit(self, point: Sequence[float]) -> np.ndarray:
        """The place of a point: of whole numbers, the middle of their part."""
        lo, hi = self.variables.lo[self.axes], self.variables.hi[self.axes]
        x = np.asarray(point, dtype=float)[self.axes]
        share = np.where(hi > lo, (x / 2 - lo / 2) / np.maximum(hi / 2 - lo / 2, 5e-324), 0.5)
        return np.clip(np.where(self.whole, (x - lo + 0.5) / self.counts, share), 0.0, 1.0)

    def same_whole_numbers(self, units: np.ndarray, unit: np.ndarray) -> np.ndarray:
        """Which places choose the same whole numbers as one of them."""
        w = self.whole
        return (np.floor(units[:, w] * self.counts[w]) == np.floor(unit[w] * self.counts[w])).all(axis=1)

    def scattered(self) -> Iterator[Point]:
        """Points without end, or each point once where they are finite: for where the method has none to give."""
        if len(self.continuous):
            steps, k = np.sqrt(np.arange(self.n) * 2.0 + 2.5) % 1, 0
            while True:
                k += 1
                yield self.point((k * steps % 1).tolist())
        for number in range(int(self.points)):
            at = []
            for count in self.counts:
                number, rest = divmod(number, int(count))
                at.append((rest + 0.5) / count)
            yield self.point(at)
