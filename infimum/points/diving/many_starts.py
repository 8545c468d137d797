"""Many starts at once for problems with several local minima: drawn ones, some of them moved towards the constraints first,
places around the best point, this point with some values exchanged, and ends of dives. Estimates.

An interior point method begun where constraints are broken by much often ends at no point that obeys them; moved there first by
Levenberg and Marquardt's method, which costs little, most lanes come to a local minimum.
"""

from collections.abc import Callable, Iterator

import numpy as np

from infimum.evaluation.evaluator import Evaluator
from infimum.points.constrained_search import ConstrainedSearch
from infimum.points.diving.dives import Dives
from infimum.points.random_numbers import uniform
from infimum.points.restoration import Restoration
from infimum.search.feasible_incumbent import FeasibleIncumbent
from infimum.search.policy.points import MANY_STARTS as POLICY

_STREAM = 17  # fixed: the stream of random numbers


class ManyStarts:
    """Rounds of starts for `search`, whose numbers tell their random numbers apart."""

    def __init__(self, evaluator: Evaluator, search: ConstrainedSearch):
        self.evaluator, self.search = evaluator, search
        self.lanes = min(POLICY.lanes, search.most_starts)
        self.rounds, self.misses = 0, 0  # rounds, and how many of the last ones found nothing better

    def values(self) -> dict[str, int]:
        """What later rounds depend on, for a checkpoint."""
        return {"start_rounds": self.rounds, "start_misses": self.misses}

    def restore(self, values: dict[str, int]) -> None:
        """As a checkpoint has them."""
        self.rounds, self.misses = values["start_rounds"], values["start_misses"]

    def is_due(self, boxes: int) -> bool:
        """After this number of regions? By counts: after rounds in vain more and more seldom."""
        return boxes >= POLICY.regions_ratio * self.cost * POLICY.miss_growth**self.misses

    def look(self, incumbent: FeasibleIncumbent, offer: Callable[[], None]) -> Iterator[None]:
        """A round, from which is offered what it has found."""
        before, self.rounds, self.misses = incumbent.upper, self.rounds + 1, self.misses + 1
        yield from self.round(self.rounds, incumbent.x, before)
        offer()
        if incumbent.upper < before - POLICY.least_gain * max(1.0, abs(before)) or before == np.inf > incumbent.upper:
            self.misses = 0

    @property
    def cost(self) -> int:
        """About the evaluations of a round."""
        return self.lanes * POLICY.steps * (self.search.n + 1)

    def round(self, number: int, best: np.ndarray | None, upper: float) -> Iterator[None]:
        """Looks from many starts; `best` is the best point, with this value of f, if there is one."""
        search = self.search
        count = max(1, self.lanes // 4)
        draws = np.asarray(uniform(search.seed, _STREAM, number, range(3 * count), search.n))
        drawn = search.spread(draws[:, :2 * count])
        moved = [drawn[:, count:]]
        if best is not None:
            moved += [self._around(best, draws[:, 2 * count:]), self._exchanged(best, draws[:, 2 * count:])]
        restored = yield from self._restored(np.concatenate(moved, axis=1))
        dives = Dives(self.evaluator, self.search.narrowing, search.begin, search.seed, number)
        lo, hi = (np.repeat(end[:, None], count, axis=1) for end in search.begin)
        yield from dives.run(lo, hi, np.full(lo.shape, np.nan), upper)
        search.evaluations += dives.evaluations
        yield from search.from_many(np.concatenate([restored, drawn[:, :count], dives.ends.start], axis=1))

    def _around(self, best: np.ndarray, draws: np.ndarray) -> np.ndarray:
        """Near the best point, and not so near."""
        lo, hi = (end[:, None] for end in self.search.begin)
        x = best[:, None]
        reach = np.array(POLICY.reaches)[np.arange(draws.shape[1]) % len(POLICY.reaches)]
        with np.errstate(all="ignore"):
            unit = np.minimum(hi - lo, np.maximum(1.0, np.abs(x)) * POLICY.widest)
        return np.minimum(np.maximum(x + reach * unit * (2 * draws - 1), lo), hi)

    def _exchanged(self, best: np.ndarray, draws: np.ndarray) -> np.ndarray:
        """The best point with the values of two variables exchanged, or of two pairs of variables: what lies between, in a search
        that goes downhill, is often a wall."""
        lo, hi = (end[:, None] for end in self.search.begin)
        points = np.repeat(best[:, None], draws.shape[1], axis=1)
        for k, order in enumerate(np.argsort(draws, axis=0, kind="stable").T):
            for pair in (order[:2], order[2:4])[:1 + k % 2]:
                points[pair, k] = points[pair[::-1], k]
        return np.minimum(np.maximum(points, lo), hi)

    def _restored(self, starts: np.ndarray) -> Iterator[None]:
        lo, hi = (np.repeat(end[:, None], starts.shape[1], axis=1) for end in (self.search.lo, self.search.hi))
        restored = Restoration(self.evaluator, lo, hi, starts)
        yield from restored.steps(POLICY.restoration_steps)
        self.search.evaluations += restored.evaluations
        return restored.x
