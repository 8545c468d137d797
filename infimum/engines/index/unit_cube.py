"""The variables of a black box as the unit cube that the method searches: one axis for each that has more than one value."""

import math
import struct
from collections.abc import Iterator, Sequence

import numpy as np

from infimum.blackbox.variables import Variables
from infimum.search.policy.index import CURVE as POLICY

Point = tuple[float, ...]


class UnitCube:
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
        # how many points there are at most: a continuous variable has as many values as there are doubles between its bounds
        self._sizes = [int(count) if whole else _rank(high) - _rank(low) + 1 for _, low, high, whole, count in self._rows]
        self.points = math.prod(self._sizes)

    @property
    def order(self) -> int:
        """Of the curve: no finer than whole numbers need."""
        if len(self.continuous):
            return POLICY.finest_order
        return min(max(math.ceil(math.log2(self.counts.max())), 1), POLICY.finest_order)

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
        """Points all over the cube, without end: for where the method has none to give."""
        steps, k = np.sqrt(np.arange(self.n) * 2.0 + 2.5) % 1, 0
        while True:
            k += 1
            yield self.point((k * steps % 1).tolist())

    def every(self) -> Iterator[Point]:
        """Each point at least once, one after the other."""
        for number in range(self.points):
            found = self.variables.lo.tolist()
            for (i, low, high, whole, _), size in zip(self._rows, self._sizes, strict=True):
                number, rest = divmod(number, size)
                found[i] = min(low + rest, high) if whole else _double(_rank(low) + rest)
            yield tuple(found)


def _rank(x: float) -> int:
    """The number of a double in the order of all doubles; 0 for zero.

    >>> _rank(5e-324), _rank(-0.0), _rank(1 + 2**-52) - _rank(1.0), _double(_rank(-0.1))
    (1, 0, 1, -0.1)
    """
    bits, = struct.unpack("<q", struct.pack("<d", abs(x)))
    return bits if x > 0 else -bits


def _double(rank: int) -> float:
    value, = struct.unpack("<d", struct.pack("<q", abs(rank)))
    return value if rank > 0 else -value if rank else 0.0
