"""Minima: where descents ended, gathered by value and place, and what that tells about basins nobody has seen.

The confidence is the Bayesian estimate of Boender and Rinnooy Kan (1987): if L descents from independent, uniformly distributed
starts have ended in W different minima, and if before that every number of minima and all sizes of their basins were equally
likely, then the probability that there is no further minimum is

    (L-1-1)/(L-1+1) * (L-1-2)/(L-1+2) * … * (L-1-W)/(L-1+W)        for L > W + 1, else 0.

It assumes that a descent ends in the minimum of the basin it starts in and that a minimum of tiny basin is as likely beforehand
as any other. Only descents from uniform starts count here, never those that the swarm or a search has moved. It is an estimate,
not a proof: a needle in a plain is not seen by any sample.
"""

import math

import numpy as np

from infimum.evaluation.evaluator import Evaluator
from infimum.points.descent_kernel import LaneState
from infimum.points.descents import DescentEnds
from infimum.result import End, Minimum
from infimum.search.policy.points import LOCAL_MINIMA as POLICY

_END = {LaneState.CONVERGED: End.CONVERGED, LaneState.KINK: End.KINK}


def probability_all_seen(descents: int, minima: int) -> float:
    """The estimate above.

    >>> probability_all_seen(100, 1), probability_all_seen(4, 3)
    (0.98, 0.0)
    """
    if descents <= minima + 1:
        return 0.0
    return math.prod((descents - 1 - i) / (descents - 1 + i) for i in range(1, minima + 1))


class LocalMinima:
    """The ends of all lanes so far."""

    def __init__(self, lo: np.ndarray, hi: np.ndarray):
        width = hi - lo
        self.scale = np.where(width > 0, width, 1.0)[:, None]
        self.n, self.spread, self.place = len(lo), 1.0, POLICY.same_place
        self.x, self.value, self.state = np.empty((self.n, 0)), np.empty(0), np.empty(0, int)
        self.independent = np.empty(0, bool)
        self._counted = 0, 0, 0.0  # lanes, minima and trust, when last counted

    def add(self, ends: DescentEnds, independent: bool) -> None:
        """Lanes that ended, DEAD ones aside; `independent` if their starts were uniform."""
        alive = np.flatnonzero((ends.state != LaneState.DEAD) & np.isfinite(ends.value))
        self.x = np.concatenate([self.x, np.take(ends.x, alive, axis=1)], axis=1)
        self.value = np.concatenate([self.value, ends.value[alive]])
        self.state = np.concatenate([self.state, ends.state[alive]])
        self.independent = np.concatenate([self.independent, np.full(len(alive), independent)])
        if len(self.value) > 2 * POLICY.most_ends:
            self._forget()

    def _forget(self) -> None:
        """Keeps all independent ends and the lowest of the others."""
        keep = np.zeros(len(self.value), bool)
        keep[np.argsort(self.value, kind="stable")[:POLICY.most_ends]] = True
        keep = np.flatnonzero(keep | self.independent)
        self.x, self.value = np.take(self.x, keep, axis=1), self.value[keep]
        self.state, self.independent = self.state[keep], self.independent[keep]

    def groups(self) -> list[np.ndarray]:
        """Numbers of the ends that are one minimum, the lowest minimum first."""
        order, found = np.argsort(self.value, kind="stable"), []
        value, free = self.value[order], np.ones(len(order), bool)
        reach = POLICY.same_value_at_kink if (self.state == LaneState.KINK).any() else POLICY.same_value
        with np.errstate(over="ignore"):
            beyond = np.searchsorted(value, value + reach * (self.spread + np.abs(value)), "right")  # none from there on is near
        for k in range(len(order)):
            if free[k]:
                window = k + np.flatnonzero(free[k:beyond[k]])
                near = window if len(window) == 1 else window[self._one_with(order[k], order[window])]
                free[near] = False
                found.append(order[near])
                if len(found) == POLICY.most_ends:
                    break
        return found

    def _one_with(self, k: int, others: np.ndarray) -> np.ndarray:
        """Which of the others are the same minimum as end k."""
        with np.errstate(over="ignore"):
            return self._same(k, others)

    def _same(self, k: int, others: np.ndarray) -> np.ndarray:
        kinked = (self.state[others] == LaneState.KINK) | (self.state[k] == LaneState.KINK)
        reach = np.where(kinked, POLICY.same_value_at_kink, POLICY.same_value) * (self.spread + abs(self.value[k]))
        close = np.abs(self.value[others] - self.value[k]) <= reach
        near = np.flatnonzero(close)
        close[near] = np.abs((np.take(self.x, others[near], axis=1) - self.x[:, k:k + 1]) / self.scale).max(axis=0) <= self.place
        return close

    def _recounted(self) -> tuple[int, int, float]:
        """Counted anew when a quarter more lanes have ended: it takes longer than many a wave."""
        if len(self.value) > 1.25 * self._counted[0]:
            groups = self.groups()
            self._counted = len(self.value), len(groups), self.trust(groups)[0]
        return self._counted

    def seen(self) -> int:
        """How many minima were found, as last counted: for the eyes of a reader."""
        return self._recounted()[1]

    def trusted(self) -> float:
        """The probability that all minima are seen, as last counted."""
        return self._recounted()[2]

    def lowest(self) -> int:
        """How many lanes ended in the lowest minimum."""
        return int(self._one_with(int(np.argmin(self.value)), np.arange(len(self.value))).sum()) if len(self.value) else 0

    def found(self, groups: list[np.ndarray], evaluator: Evaluator) -> list[Minimum]:
        """The minima. One is a KINK if f is not smooth at its point, or if most of its lanes say so."""
        total, points = max(1, len(self.value)), np.take(self.x, [g[0] for g in groups], axis=1)
        level = evaluator.value(points, points) if groups else None
        return [Minimum(float(self.value[g[0]]), points[:, i].copy(), len(g), len(g) / total,
                        End.KINK if level.defined[i] and not level.smooth[i] else self._end(g)) for i, g in enumerate(groups)]

    def _end(self, group: np.ndarray) -> End:
        if len(group) == 1:
            return _END.get(int(self.state[group[0]]), End.UNFINISHED)
        states = self.state[group]
        counts = {end: int((states == state).sum()) for state, end in _END.items()}
        best = max(counts, key=counts.get)
        return best if counts[best] else End.UNFINISHED

    def trust(self, groups: list[np.ndarray]) -> tuple[float, int, int, int]:
        """(the probability that all minima are seen, independent descents, minima they found, minima found once)."""
        counts = np.array([self.independent[g].sum() for g in groups])
        descents, minima = int(self.independent.sum()), int((counts > 0).sum())
        all_told_apart = int(counts.sum()) == descents  # where they are not, there are more minima than these
        trust = probability_all_seen(descents, minima) if all_told_apart else 0.0
        return trust, descents, minima, int((counts == 1).sum())
