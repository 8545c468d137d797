"""Dives: variables are fixed one after the other, and constraints propagated after each, many lanes at once. Estimates.

Whole numbers come first. A lane whose box becomes empty takes its last decision back once and excludes it; if that is empty too,
the lane begins anew. Lanes differ in which variable they fix next (the most decided one, the one with the fewest values left,
any) and at which value (near a guide, at the end where f is lower, anywhere), so that they come to different assignments. The
other variables are then cut in halves: this leads towards points that obey the constraints, and shows which assignments allow
none.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from infimum.bounds.propagation import Box, propagated_lanes
from infimum.evaluation.evaluator import Evaluator
from infimum.points.random_numbers import uniform
from infimum.search.policy.points import DIVES as POLICY

_STREAM = 12  # fixed: the stream of random numbers


class Completed(NamedTuple):
    """Boxes (n, N) in which every whole number has one value left, the most promising ones first; lower bounds of f there, and
    points (n, N) within them to start from."""

    lo: np.ndarray
    hi: np.ndarray
    lower: np.ndarray
    start: np.ndarray


class _Assignment:
    """A box, a lower bound of f on it, and a point; `reached`: were the other variables narrowed as well?"""

    def __init__(self, lo: np.ndarray, hi: np.ndarray, lower: float, guide: np.ndarray):
        self.lo, self.hi, self.lower, self.reached = lo.copy(), hi.copy(), lower, False
        self.start = np.where(np.isfinite(guide), np.minimum(np.maximum(guide, lo), hi), middle(lo, hi))

    @property
    def rank(self) -> tuple[bool, float]:
        return not self.reached, self.lower


def middle(lo: np.ndarray, hi: np.ndarray) -> np.ndarray:
    """Of boxes; where they are infinite, what is nearest to 0."""
    with np.errstate(all="ignore"):
        return np.where(np.isfinite(lo) & np.isfinite(hi), lo / 2 + hi / 2, np.minimum(np.maximum(0.0, lo), hi))


class Dives:
    """Dives between bounds `root` (n); `narrowing`, of equal functions that may be written otherwise, narrows boxes; `number`
    tells the random numbers of one call from those of others."""

    def __init__(self, evaluator: Evaluator, narrowing: Evaluator, root: Box, seed: int, number: int):
        self.narrowing, self.root, self.seed, self.number = narrowing, root, seed, number
        self.integers = np.array(evaluator.system.integers, dtype=np.intp)
        lo, hi = (np.minimum(np.maximum(end, -POLICY.widest), POLICY.widest) for end in root)
        slope = evaluator.estimate_jacobian((lo / 2 + hi / 2)[:, None])[1][0, self.integers, 0]
        self.rises = ~(slope < 0)  # does f rise with each of them, about?
        self.evaluations = 1
        self.completed: dict[bytes, _Assignment] = {}

    def run(self, lo: np.ndarray, hi: np.ndarray, guide: np.ndarray, upper: float = np.inf) -> Iterator[None]:
        """Dives from boxes (n, N), each with a guide (n, N) that is NaN where nothing is known, to where f may be at most the
        upper bound."""
        lanes = _Lanes(self, lo, hi, guide)
        decisions = len(self.integers) + POLICY.halvings * (len(lo) - len(self.integers)) + 1
        for step in range(POLICY.most_rounds_factor * decisions):
            found = propagated_lanes(self.narrowing, lanes.lo, lanes.hi, self.root, upper, POLICY.propagation_rounds)
            self.evaluations += POLICY.propagation_rounds * lanes.count
            lanes.advance(*found, step)
            if not lanes.count or sum(one.reached for one in self.completed.values()) >= POLICY.most_completed:
                break
            yield

    def key(self, lo: np.ndarray, lane: int) -> bytes:
        """Of an assignment; of a lane where there are no whole numbers."""
        return (lo[self.integers] + 0.0).tobytes() if len(self.integers) else lane.to_bytes(8, "little")

    @property
    def ends(self) -> Completed:
        """The different assignments that were come to."""
        some = sorted(self.completed.values(), key=lambda one: one.rank)
        if not some:
            none = np.empty((len(self.root[0]), 0))
            return Completed(none, none, np.empty(0), none)
        return Completed(*(np.stack([getattr(one, name) for one in some], axis=-1) for name in Completed._fields))


class _Lanes:
    """What each lane, a column, has left; what it had before its last decision, and what that was."""

    def __init__(self, dives: Dives, lo: np.ndarray, hi: np.ndarray, guide: np.ndarray):
        self.dives, whole = dives, dives.integers
        self.first = lo.copy(), hi.copy()
        for end, rounded in zip(self.first, (np.ceil, np.floor), strict=True):
            end[whole] = rounded(end[whole])
        self.lo, self.hi, self.guide = self.first[0].copy(), self.first[1].copy(), guide
        self.before = self.lo.copy(), self.hi.copy()
        self.count = lo.shape[1]
        self.is_whole = np.zeros(len(lo), bool)
        self.is_whole[whole] = True
        with np.errstate(all="ignore"):
            unit = np.minimum(dives.root[1] - dives.root[0], POLICY.widest)
        self.narrow = np.where(self.is_whole, 0.5, unit * 0.5**POLICY.halvings)[:, None]  # widths below it count as fixed
        self.variable = np.full(self.count, -1)                      # that was decided last; -1: nothing to take back
        self.chosen = np.zeros(self.count), np.zeros(self.count)     # what was left of it
        self.kind, self.restarts = np.arange(self.count), np.zeros(self.count, np.intp)
        self.assigned = np.zeros(self.count, bool)                   # are all whole numbers fixed?

    def advance(self, lo: np.ndarray, hi: np.ndarray, lost: np.ndarray, lower: np.ndarray, step: int) -> None:
        """Takes over what propagation has left, takes decisions back where that is nothing, and makes the next ones."""
        whole = self.dives.integers
        lost = lost | (lo[whole] > hi[whole]).any(axis=0)
        was_fixed = (self.hi[whole] - self.lo[whole] < 1).all(axis=0)
        self.lo, self.hi = np.where(lost, self.lo, lo), np.where(lost, self.hi, hi)
        is_fixed = (self.hi[whole] - self.lo[whole] < 1).all(axis=0)
        waits = ~lost & is_fixed & ~was_fixed & ~self.assigned  # propagation has yet to see what it has fixed itself
        self._assign(~lost & was_fixed & ~self.assigned, lower)
        done = ~lost & self.assigned & (self.hi - self.lo <= self.narrow).all(axis=0)
        for k in np.flatnonzero(done):
            one = self.dives.completed[self.dives.key(self.lo[:, k], int(self.kind[k]))]
            if not one.reached:
                one.reached, one.start = True, middle(self.lo[:, k], self.hi[:, k])
        back = lost & (self.variable >= 0)
        again = lost & ~back
        self._take_back(np.flatnonzero(back))
        for mine, first in zip((self.lo, self.hi), self.first, strict=True):
            mine[:, again] = first[:, again]
        self.restarts[again] += 1
        self.assigned[again] = not len(whole)
        self._decide(np.flatnonzero((~lost & ~done & ~waits) | again), step)
        self.variable[again] = -1
        self._keep(~done & (self.restarts <= POLICY.restarts))

    def _assign(self, new: np.ndarray, lower: np.ndarray) -> None:
        """Lanes in which all whole numbers are fixed now; those of the same assignment go on once."""
        completed = self.dives.completed
        for k in np.flatnonzero(new):
            key = self.dives.key(self.lo[:, k], int(self.kind[k]))
            if key in completed:
                self.restarts[k] = POLICY.restarts + 1
            else:
                completed[key] = _Assignment(self.lo[:, k], self.hi[:, k], float(lower[k]), self.guide[:, k])
        self.assigned |= new
        self.variable[new] = -1

    def _take_back(self, lanes: np.ndarray) -> None:
        """Excludes what was chosen of the last variable, and what lies on the smaller side of it."""
        j = self.variable[lanes]
        for mine, was in zip((self.lo, self.hi), self.before, strict=True):
            mine[:, lanes] = was[:, lanes]
        low, high = (end[lanes] for end in self.chosen)
        unit = np.where(self.is_whole[j], 1.0, 0.0)
        above = self.hi[j, lanes] - high >= low - self.lo[j, lanes]
        self.lo[j, lanes] = np.where(above, high + unit, self.lo[j, lanes])
        self.hi[j, lanes] = np.where(above, self.hi[j, lanes], low - unit)
        self.variable[lanes] = -1

    def _decide(self, lanes: np.ndarray, step: int) -> None:
        """Fixes one whole number of each of these lanes, or halves the widest of the other variables."""
        if not len(lanes):
            return
        for was, mine in zip(self.before, (self.lo, self.hi), strict=True):
            was[:, lanes] = mine[:, lanes]
        number = self.dives.number * POLICY.most_steps + step
        draws = np.asarray(uniform(self.dives.seed, _STREAM, number, range(len(self.kind)), 2 * len(self.lo)))
        chance, place = draws[:len(self.lo), lanes], draws[len(self.lo):, lanes]
        assigned = self.assigned[lanes]
        for these, decision in ((~assigned, self._fixed), (assigned, self._halved)):
            some = np.flatnonzero(these)
            if len(some):
                j, low, high = decision(lanes[some], chance[:, some], place[:, some])
                self.lo[j, lanes[some]], self.hi[j, lanes[some]] = low, high
                self.variable[lanes[some]] = j
                for end, value in zip(self.chosen, (low, high), strict=True):
                    end[lanes[some]] = value

    def _fixed(self, lanes: np.ndarray, chance: np.ndarray, place: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """A whole number, and its value twice."""
        whole, kind = self.dives.integers, (self.kind + self.restarts)[lanes]
        lo, hi, guide = (part[np.ix_(whole, lanes)] for part in (self.lo, self.hi, self.guide))
        chance, place = chance[whole], place[whole]
        with np.errstate(all="ignore"):
            width = np.minimum(hi - lo, POLICY.widest)
            guided = np.isfinite(guide)
            near = np.where(guided, np.minimum(np.maximum(np.rint(guide), lo), hi), np.nan)
            doubt = np.where(guided, np.abs(guide - near), 1.0)
            by_doubt, by_width = doubt + POLICY.chance_share * chance, width * (1 + chance)
            score = np.where(kind % 3 == 0, by_doubt, np.where(kind % 3 == 1, by_width, chance))
            score = np.where(hi - lo < 1, np.inf, score)
            first, each = np.argmin(score, axis=0), np.arange(len(lanes))
            lo, hi, near, place = (part[first, each] for part in (lo, hi, near, place))
            low, high = np.maximum(lo, np.minimum(hi, 0.0) - POLICY.widest), np.minimum(hi, np.maximum(lo, 0.0) + POLICY.widest)
            anywhere = np.minimum(low + np.floor(place * (high - low + 1)), high)
            lower, higher = np.where(self.dives.rises[first], (low, high), (high, low))  # the ends of the lower and higher values
            end = np.where((kind // 3) % 3 == 0, lower, np.where((kind // 3) % 3 == 1, anywhere, higher))
            value = np.where(np.isfinite(near) & (kind % POLICY.unguided_period != POLICY.unguided_period - 1), near, end)
        return whole[first], value, value

    def _halved(self, lanes: np.ndarray, chance: np.ndarray, place: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """One of the other variables, and a half of what is left of it: where the guide is, or either."""
        lo, hi, guide = (part[:, lanes] for part in (self.lo, self.hi, self.guide))
        with np.errstate(all="ignore"):
            score = np.minimum(hi - lo, POLICY.widest) / self.narrow * (1 + chance)
            j, each = np.argmax(np.where(hi - lo > self.narrow, score, -1.0), axis=0), np.arange(len(lanes))
            lo, hi, guide, place = (part[j, each] for part in (lo, hi, guide, place))
            low, high = np.maximum(lo, np.minimum(hi, 0.0) - POLICY.widest), np.minimum(hi, np.maximum(lo, 0.0) + POLICY.widest)
            cut = low / 2 + high / 2
            above = np.where(np.isfinite(guide), guide > cut, place > 0.5)
        return j, np.where(above, cut, low), np.where(above, high, cut)

    def _keep(self, these: np.ndarray) -> None:
        self.lo, self.hi, self.guide = self.lo[:, these], self.hi[:, these], self.guide[:, these]
        self.first, self.before = (tuple(end[:, these] for end in both) for both in (self.first, self.before))
        self.chosen = tuple(end[these] for end in self.chosen)
        self.variable, self.assigned = self.variable[these], self.assigned[these]
        self.kind, self.restarts = self.kind[these], self.restarts[these]
        self.count = self.lo.shape[1]
