"""Walks from one whole-number point to the next: the best of the neighbouring points that obey the constraints, though it be
higher than the one before, and never back to where a variable was changed of late (F. Glover, tabu search). Estimates.

For problems all of whose variables are whole numbers. Many lanes, and all their neighbours, are evaluated in one call.
"""

from collections.abc import Iterator

import numpy as np

from infimum.evaluation.evaluator import Evaluator
from infimum.expr.node import topological
from infimum.kernel.schedule import straight_cost
from infimum.points.random_numbers import uniform
from infimum.search.policy.points import WALKS as POLICY

_STREAM = 13  # fixed: the stream of random numbers


class WholeNumberWalks:
    """From points x (n, N), which obey the constraints, within bounds (n); `best` (n, N) are the lowest points of the lanes.
    `draws`: the seed, and a number that tells the random numbers of one call from those of others."""

    def __init__(self, evaluator: Evaluator, bounds: tuple[np.ndarray, np.ndarray], x: np.ndarray, draws: tuple[int, int],
                 later: bool = False):
        self.evaluator, self.bounds, (self.seed, self.number) = evaluator, bounds, draws
        self.x, self.best = x, x.copy()
        self.n, self.evaluations = len(x), 0
        self.value = self.lowest = self._values(x)
        self.free = np.zeros(x.shape, np.intp)  # the step from which on each variable may be changed again
        cost = POLICY.evaluation_operations + straight_cost(list(topological(list(evaluator.system.rows))))
        operations, self.patience = ((POLICY.later_operations, POLICY.later_patience) if later else
                                     (POLICY.first_operations, POLICY.first_patience))
        self.most = int(operations / cost)  # evaluations

    def run(self) -> Iterator[None]:
        """Walks until the evaluations are used up that are affordable, or no lane has found anything better for long."""
        since = 0
        for step in range(POLICY.most_steps):
            if self.evaluations >= self.most or since > self.patience or not self.x.shape[1]:
                return
            before = self.lowest.min()
            self._step(step)
            since = 0 if self.lowest.min() < before else since + 1
            yield

    def _values(self, x: np.ndarray) -> np.ndarray:
        """f where all constraints certainly hold, else infinite."""
        self.evaluations += x.shape[1]
        rows, system = self.evaluator.rows(x, x), self.evaluator.system
        holds = (rows.defined & ~rows.empty).all(axis=0)
        holds &= ((rows.lo[1:] >= system.lower[:, None]) & (rows.hi[1:] <= system.upper[:, None])).all(axis=0)
        return np.where(holds, rows.hi[0], np.inf)

    def _step(self, step: int) -> None:
        count, (lo, hi) = self.x.shape[1], self.bounds
        changes = self._changes(step)
        places = self.x[:, :, None] + changes[:, None, :]
        inside = ((places >= lo[:, None, None]) & (places <= hi[:, None, None])).all(axis=0)
        values = np.full(inside.shape, np.inf)
        values[inside] = self._values(places[:, inside])
        held = ((self.free > step)[:, :, None] & (changes != 0)[:, None, :]).any(axis=0)
        allowed = np.where(held & ~(values < self.lowest[:, None]), np.inf, values)
        chosen = np.argmin(allowed, axis=1)
        each = np.arange(count)
        moves = allowed[each, chosen] < np.inf
        self.x = np.where(moves, places[:, each, chosen], self.x)
        self.value = np.where(moves, allowed[each, chosen], self.value)
        tenure = np.floor(np.asarray(uniform(self.seed, _STREAM, self._draw(step), range(count), 1))[0] * POLICY.tenure_spread)
        until = step + 1 + POLICY.tenure + tenure.astype(np.intp)
        self.free = np.where(moves & (changes[:, chosen] != 0), until, self.free)
        self.free[:, ~moves] = 0  # there was nowhere to go but back
        better = self.value < self.lowest
        self.best, self.lowest = np.where(better, self.x, self.best), np.where(better, self.value, self.lowest)

    def _draw(self, step: int) -> int:
        return self.number * POLICY.most_steps + step

    def _changes(self, step: int) -> np.ndarray:
        """What is added to a point: a unit of one variable, or of two with opposite or equal signs, some of which are drawn."""
        n = self.n
        single = np.concatenate([np.eye(n), -np.eye(n)], axis=1)
        if n == 1:
            return single
        draws = np.asarray(uniform(self.seed, _STREAM + 1, self._draw(step), range(POLICY.pairs), 3))
        one = np.minimum(np.floor(draws[0] * n), n - 1).astype(np.intp)
        other = (one + 1 + np.minimum(np.floor(draws[1] * (n - 1)), n - 2).astype(np.intp)) % n
        pairs, each = np.zeros((n, POLICY.pairs)), np.arange(POLICY.pairs)
        pairs[one, each] = 1.0
        pairs[other, each] = np.where(draws[2] < POLICY.opposite_share, -1.0, 1.0)
        sign = np.where(each % 2 == 0, 1.0, -1.0)
        return np.concatenate([single, pairs * sign], axis=1)
