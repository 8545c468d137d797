"""Characteristics of intervals: which of them to divide next.

Each interval has a number R, after Strongin; the greatest is divided. Where both ends have the same index it is
    D + (z2 - z1)**2 / (r**2 m**2 D) - 2 (z2 + z1 - 2 z*) / (r m),
and where they do not, 2 D - 4 (z - z*) / (r m) of the end of higher index; D is the length in the Hölder metric, m the estimate
of the constant, z* the target. Ends that failed, or that are outside, have no value: with two of them an interval is ranked as if
the worst value seen were at both, so that such regions are covered, thinly. A local ranking divides R by how far both values are
from the target: by little for intervals near the best trials.

R of all changes when a constant or a target does. They are then computed again at once, and only when the ranking is asked;
otherwise only what was divided is. A second array has the greatest of each block, so that no search goes through all.
"""

import math

import numpy as np

from infimum.engines.index.curve_intervals import Intervals
from infimum.search.policy.index import CURVE as POLICY

_BLOCK = POLICY.ranks_a_block
_STEEPER = 1.5  # fixed: the base of the local ranking's constant, as published


class Ranking:
    """The order of intervals for one r, global, or local with a sharpness; intervals in `barred` are left out."""

    def __init__(self, intervals: Intervals, r: float, sharpness: float | None = None):
        self.intervals, self.r, self.sharpness = intervals, r, sharpness
        self.barred: set[int] = set()
        self._floor = 0.0 if sharpness is None else _STEEPER ** -sharpness
        self._version: tuple | None = None
        self._ranks, self._best = np.empty(0), np.empty(0)

    def changed(self, slots: tuple[int, ...]) -> None:
        """Intervals have other ends than before."""
        if self._state() != self._version:
            return      # all of them will be computed
        if self.intervals.count > len(self._ranks):
            self._version = None
            return
        for slot in slots:
            self._set(slot, -math.inf if slot in self.barred else self._one(slot))

    def bar(self, slot: int) -> None:
        """Leaves an interval out until it has other ends."""
        self.barred.add(slot)
        if slot < len(self._ranks):
            self._set(slot, -math.inf)

    def greatest(self) -> int | None:
        """The interval of the greatest characteristic, the first of equals; None if none can be divided."""
        if self._state() != self._version:
            self._all()
        block = int(self._best.argmax())
        slot = block * _BLOCK + int(self._ranks[block * _BLOCK:(block + 1) * _BLOCK].argmax())
        return slot if self._ranks[slot] > -math.inf else None

    def characteristics(self) -> np.ndarray:
        """R of all intervals; -inf where no cell is left between the ends."""
        its, highest = self.intervals, self.intervals.trials.highest
        width, left, right = its.width, its.left, its.right
        if highest < 0:
            return np.where(its.open, 2 * width, -math.inf)
        index = np.maximum(its.left_index, its.right_index)
        unknown, equal = index < 0, (its.left_index == its.right_index) & (index >= 0)
        level = np.where(unknown, highest, index)
        scale, target = (self.r * its.constants)[level], its.targets[level]
        left_above = np.where(its.left_index > its.right_index, left, right)
        z = np.where(unknown, its.trials.worst, left_above)
        ranks = np.where(equal, _between(width, left, right, scale, target), _one_sided(width, z, scale, target))
        if self.sharpness is not None:
            ranks = ranks / (np.sqrt((z - target) * (np.where(equal, left, z) - target)) * self.r / scale + self._floor)
        return np.where(its.open, ranks, -math.inf)

    def _one(self, slot: int) -> float:
        """R of one interval: as above, an interval at a time."""
        its, highest = self.intervals, self.intervals.trials.highest
        width, left_index, right_index, left, right, is_open = its.row(slot)
        if not is_open:
            return -math.inf
        if highest < 0:
            return 2 * width
        index = max(left_index, right_index)
        level = index if index >= 0 else highest
        scale, target = self.r * its.constant(level), its.target(level)
        if left_index == right_index >= 0:
            z, other, rank = left, right, _between(width, left, right, scale, target)
        else:
            z = other = its.trials.worst if index < 0 else left if left_index > right_index else right
            rank = _one_sided(width, z, scale, target)
        if self.sharpness is not None:
            rank = rank / (math.sqrt((z - target) * (other - target)) * self.r / scale + self._floor)
        return rank

    def _state(self) -> tuple:
        return self.intervals.version, self.intervals.trials.highest, self.intervals.trials.best

    def _all(self) -> None:
        count = self.intervals.count
        blocks = -(-(count + (count >> 2)) // _BLOCK) + 1
        self._ranks = np.full(blocks * _BLOCK, -math.inf)
        self._ranks[:count] = self.characteristics()
        if self.barred:
            self._ranks[list(self.barred)] = -math.inf
        self._best = self._ranks.reshape(-1, _BLOCK).max(axis=1)
        self._version = self._state()

    def _set(self, slot: int, rank: float) -> None:
        """One interval's R; its block is gone through only if its greatest becomes less."""
        ranks, block = self._ranks, slot // _BLOCK
        best, before = self._best.item(block), ranks.item(slot)
        ranks[slot] = rank
        if rank >= best:
            self._best[block] = rank
        elif not before < best:
            self._best[block] = ranks[block * _BLOCK:(block + 1) * _BLOCK].max()


def _between(width, left, right, scale, target):
    """R of an interval, or of many, whose ends have the same index."""
    return width + ((right - left) / scale) ** 2 / width - 2 * (right + left - 2 * target) / scale


def _one_sided(width, z, scale, target):
    """R of an interval, or of many, of which one end counts."""
    return 2 * width - 4 * (z - target) / scale
