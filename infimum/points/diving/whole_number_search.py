"""Points with whole numbers: dives, walks, and neighbourhoods of the best point; what they come to is offered. Estimates.

A dive fixes all whole numbers (`dives.py`). Where there are no others its ends are points, from which walks go on
(`whole_number_walks.py`); else the other variables are solved for, from the most promising ends. A neighbourhood is a dive
with a part of the whole numbers at their values in the best point, and below it.
"""

from collections.abc import Callable, Iterator

import numpy as np

from infimum.evaluation.evaluator import Evaluator
from infimum.points.constrained_search import ConstrainedSearch
from infimum.points.diving.dives import Completed, Dives
from infimum.points.diving.whole_number_walks import WholeNumberWalks
from infimum.points.random_numbers import uniform
from infimum.search.feasible_incumbent import FeasibleIncumbent
from infimum.search.policy.points import DIVES as POLICY

_STREAM = 15  # fixed: the stream of random numbers

Offer = Callable[[np.ndarray], bool]


class WholeNumberSearch:
    """Looks by `search` for the other variables, offers points (n, N) to the incumbent by `offer`, until that is `enough`."""

    def __init__(self, evaluator: Evaluator, search: ConstrainedSearch, incumbent: FeasibleIncumbent, offer: Offer,
                 enough: Callable[[], bool] = bool):
        self.evaluator, self.search, self.incumbent, self.offer, self.enough = evaluator, search, incumbent, offer, enough
        self.integers = np.array(evaluator.system.integers, dtype=np.intp)
        self.all_whole = len(self.integers) == evaluator.n

    @property
    def is_first(self) -> bool:
        """Does it look before the search does? Where there are many whole numbers that search takes long."""
        return self.all_whole or len(self.integers) > POLICY.few_whole_numbers

    def first(self) -> Iterator[None]:
        """Dives from the whole box, and neighbourhoods of what they come to while that gains."""
        lo, hi = (np.repeat(end[:, None], POLICY.lanes, axis=1) for end in self.search.begin)
        yield from self._dive(lo, hi, np.full(lo.shape, np.nan), 0)
        misses, most = 0, POLICY.neighbourhood_misses - (not self.all_whole)
        for k in range(POLICY.first_neighbourhoods):
            before = self.incumbent.upper
            yield from self._neighbourhoods(1 + k, None)
            misses = 0 if self.incumbent.upper < before else misses + 1
            if misses > most:
                return

    def again(self, number: int, lo: np.ndarray, hi: np.ndarray, guides: np.ndarray | None) -> Iterator[None]:
        """Dives in boxes (n, N), which begin at their guides (n, N) if there are any; around the best point, if one is known,
        while that gains. `number` tells one call from others."""
        if not lo.shape[1]:
            return
        number = (number + 1) * (POLICY.first_neighbourhoods + 2)
        if self.incumbent.x is not None:
            for k in range(POLICY.first_neighbourhoods):
                before = self.incumbent.upper
                yield from self._neighbourhoods(number + k, guides)
                if not self.incumbent.upper < before or self.enough():
                    break
            return
        lanes = np.arange(POLICY.lanes) % lo.shape[1]
        guide = np.full((len(lo), len(lanes)), np.nan) if guides is None else guides[:, lanes % guides.shape[1]]
        whole = np.repeat(self.search.begin[0][:, None], len(lanes), 1), np.repeat(self.search.begin[1][:, None], len(lanes), 1)
        narrow = np.arange(len(lanes)) % 2 == 0  # every other one dives in the whole box
        yield from self._dive(np.where(narrow, lo[:, lanes], whole[0]), np.where(narrow, hi[:, lanes], whole[1]), guide, number)

    def _neighbourhoods(self, number: int, guides: np.ndarray | None) -> Iterator[None]:
        """Dives below the best point, with a part of the whole numbers as they are there; of the guides, where there are any,
        rather those that agree."""
        best = self.incumbent.x
        if best is None:
            return
        count, whole = POLICY.lanes, self.integers
        lo, hi = (np.repeat(end[:, None], count, axis=1) for end in self.search.begin)
        parts = np.array(POLICY.kept_shares)[np.arange(count) % len(POLICY.kept_shares)]
        chance = np.asarray(uniform(self.search.seed, _STREAM, number, range(count), len(whole)))
        guide = np.full((len(best), count), np.nan)
        if guides is not None:
            guide = guides[:, np.arange(count) % guides.shape[1]]
            agrees = np.abs(guide[whole] - best[whole, None]) < POLICY.agreement
            chance = np.where(agrees, chance / 2, chance)
        kept = (chance < parts) & (best[whole, None] >= lo[whole]) & (best[whole, None] <= hi[whole])
        lo[whole], hi[whole] = np.where(kept, best[whole, None], lo[whole]), np.where(kept, best[whole, None], hi[whole])
        upper = self.incumbent.upper
        yield from self._dive(lo, hi, guide, number, upper - POLICY.least_gain * max(1.0, abs(upper)))

    def _dive(self, lo: np.ndarray, hi: np.ndarray, guide: np.ndarray, number: int, upper: float = np.inf) -> Iterator[None]:
        dives = Dives(self.evaluator, self.search.narrowing, self.search.begin, self.search.seed, number)
        yield from dives.run(lo, hi, guide, upper)
        self.search.evaluations += dives.evaluations
        ends = dives.ends
        if not len(ends.lower):
            return
        self.offer(ends.start)
        if self.all_whole:
            yield from self._walk(ends.start, number)
        else:
            yield from self._solve(ends, upper)

    def _walk(self, points: np.ndarray, number: int) -> Iterator[None]:
        later = number > POLICY.first_neighbourhoods
        walks = WholeNumberWalks(self.evaluator, self.search.begin, points[:, :POLICY.walkers], (self.search.seed, number), later)
        yield from walks.run()
        self.search.evaluations += walks.evaluations
        self.offer(walks.best)

    def _solve(self, ends: Completed, upper: float) -> Iterator[None]:
        """For the other variables, in the boxes with the lowest bounds that may hold a better point."""
        some = np.flatnonzero(ends.lower < upper)[:POLICY.solved]
        if len(some):
            yield from self.search.with_whole_numbers(ends.start[:, some], ends.lo[:, some], ends.hi[:, some])
            self.offer(np.stack(self.search.candidates(), axis=1))
