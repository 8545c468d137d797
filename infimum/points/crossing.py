"""Crossing: starts made of the lowest minima found so far.

Where a function has very many basins, its minima are not spread at random: many differ by the same steps, in single variables or
along directions of the function's own. So descents begin at a + (b - c), a step from one minimum that leads between two others,
which finds such steps in any direction, and at points that take each variable from one of two minima, which puts together what
is good in each of them. What they end in takes part in the next crossing.
"""

import numpy as np

from infimum.points.random_numbers import uniform
from infimum.search.policy.points import LOCAL_MINIMA as POLICY

_STREAM = 6  # fixed: the stream of random numbers


class Crossing:
    """The lowest minima, up to `most`, the lowest first."""

    def __init__(self, lo: np.ndarray, hi: np.ndarray, seed: int, most: int):
        self.lo, self.hi, self.seed, self.most = lo[:, None], hi[:, None], seed, most
        self.near = POLICY.near_widths * (hi[0] - lo[0])
        self.x, self.value, self.turn = np.empty((len(lo), 0)), np.empty(0), 0

    def __len__(self) -> int:
        return len(self.value)

    def add(self, x: np.ndarray, value: np.ndarray) -> bool:
        """Takes ends (n, N) of descents; True if one is lower than all before."""
        finite = np.flatnonzero(np.isfinite(value))
        before = self.value[0] if len(self) else np.inf
        x = np.concatenate([self.x, np.take(x, finite, axis=1)], axis=1)
        value = np.concatenate([self.value, value[finite]])
        order = self._apart(x[0], value)
        order = order[np.argsort(value[order], kind="stable")][:self.most]
        self.x, self.value = np.take(x, order, axis=1), value[order]
        return bool(len(self) and before - self.value[0] > POLICY.same_value_in_crossing * abs(self.value[0]))

    def _apart(self, first: np.ndarray, value: np.ndarray) -> np.ndarray:
        """One of those that are nearly equal in value and in the first variable."""
        with np.errstate(over="ignore"):
            order = np.argsort(value, kind="stable")
            level = np.zeros(len(order), int)
            level[order[1:]] = np.cumsum(np.diff(value[order]) > POLICY.same_value_in_crossing * np.abs(value[order[1:]]))
            order = np.lexsort((first, level))
            apart = (np.diff(level[order]) > 0) | (np.diff(first[order]) > self.near)
        return order[np.concatenate([[True], apart])] if len(order) else order

    def starts(self, count: int) -> np.ndarray:
        """So many new starts (n, count), others each time: every second one by a difference, the others variable by variable."""
        draw = uniform(self.seed, _STREAM, self.turn, range(count), 3 + len(self.x))
        self.turn += 1
        a, b, c = (np.take(self.x, (row * len(self)).astype(int), axis=1) for row in (draw[0] ** 2, draw[1], draw[2]))
        with np.errstate(over="ignore"):
            moved = a + (b - c)
        mixed = np.where(draw[3:] < 0.5, a, b)
        made = np.where(np.arange(count) % 2 == 0, moved, mixed)
        return np.minimum(np.maximum(made, self.lo), self.hi)
