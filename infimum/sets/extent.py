"""How far a set {f <= t} reaches in one variable: between a verified point of it, and what is proved to be beyond all of them.

Let s be the supremum of x_k on the set, within the bounds, and x a point where it is approached. Unless s is the upper bound of
x_k, f is nowhere below t at the points near x with the same x_k: from one of these, x_k could be raised a little. So where f is
Lipschitz around a region, x is a minimiser of f in all variables but x_k, and what first and second derivatives say of minimisers
holds in these (docs/proofs/sublevel_sets.md). Regions that reach the bound of x_k are asked about values alone.
"""

from collections.abc import Callable, Iterator

import numpy as np

from infimum.evaluation.enclosures import LIPSCHITZ
from infimum.evaluation.evaluator import Evaluator
from infimum.kernel.region_cut import rows
from infimum.search.policy.sets import SUBLEVEL_SETS as POLICY
from infimum.search.region_pool import can_be_cut
from infimum.sets.covering import Covering, CoveringTests
from infimum.sets.extreme_points import attained_point, farthest_point, verified


class Extent:
    """One end of one variable, `axis`: the upper one where `sign` is 1, the lower one where it is -1.

    `point` is a verified point of the set, the furthest known; `edge` one with f at most the threshold of the covering, which may
    be higher: nothing before it can be excluded. `reach` is sign times a number that no point of the set exceeds.
    """

    def __init__(self, evaluator: Evaluator, bounds: tuple[np.ndarray, np.ndarray], covering: Covering, point: np.ndarray,
                 end: tuple[int, float], threshold: float, is_whole: bool = True):
        """`covering` holds the part of the set that is asked about, `point` is one of it, at which f is at most the threshold.
        `end`: axis and sign. `is_whole`: all points of the set near that part belong to it."""
        axis, sign = end
        self.evaluator, self.bounds, self.covering, self.threshold = evaluator, bounds, covering, threshold
        self.is_whole = is_whole
        self.point, self.edge, self.axis, self.sign = point, point, axis, sign
        self._look_from(point)
        self._sample(np.arange(len(covering)))

    @property
    def best(self) -> float:
        return self.sign * float(self.point[self.axis])

    @property
    def _far(self) -> np.ndarray:
        return self.covering.hi[self.axis] if self.sign > 0 else -self.covering.lo[self.axis]

    @property
    def reach(self) -> float:
        return max(self.best, float(self._far.max(initial=-np.inf)))

    def _look_from(self, x: np.ndarray) -> None:
        """A further point of the set, by local search."""
        beyond = farthest_point(self.evaluator, self.bounds, x, self.axis, self.sign, self.covering.threshold)
        for name, threshold in (("point", self.threshold), ("edge", self.covering.threshold)):
            found = attained_point(self.evaluator, x, beyond, self.axis, self.sign, threshold)
            if found is not None and self.sign * found[self.axis] > self.sign * getattr(self, name)[self.axis]:
                setattr(self, name, found)

    def run(self, slack: Callable[[], float]) -> Iterator[None]:
        """Cuts the regions that reach furthest until `reach` is at most `slack` beyond the edge, as these are by then."""
        every, values = CoveringTests(self.evaluator, *self.bounds, held=self.axis), CoveringTests(self.evaluator, *self.bounds)
        end = self.bounds[1][self.axis] if self.sign > 0 else -self.bounds[0][self.axis]
        while True:
            far, known = self._far, max(self.best, self.sign * float(self.edge[self.axis]))
            open_ = np.flatnonzero((far > known + slack()) & self.covering.can_be_cut)
            if not len(open_):
                return
            chosen = open_[np.argsort(-far[open_], kind="stable")[:POLICY.extent_regions_at_once]]
            inside = (far[chosen] < end) & self.is_whole
            some = np.sort(chosen[inside] if inside.any() else chosen)
            self._sample(some)
            if self.covering.steps % 2:
                self._choose_axis(some, not inside.any())
            self.covering.cut(some, every if inside.any() else values)
            yield

    def _choose_axis(self, some: np.ndarray, blind: bool) -> None:
        """Where derivatives say nothing, what is measured is cut in every other step."""
        columns, (_, axis, level) = self.covering.columns, rows(self.covering.n)
        low, high = self.covering.lo[self.axis, some], self.covering.hi[self.axis, some]
        chosen = some[((columns[level, some] < LIPSCHITZ) | blind) & can_be_cut(low, high)]
        columns[axis, chosen] = self.axis

    def _sample(self, some: np.ndarray) -> None:
        """The middle of one of these regions, or of its far face, may be further than what is known."""
        middles = 0.5 * self.covering.lo[:, some] + 0.5 * self.covering.hi[:, some]
        faces = middles.copy()
        faces[self.axis] = self.sign * self._far[some]
        points = np.concatenate([middles, faces], axis=1)
        good = np.flatnonzero(verified(self.evaluator, points, self.threshold))
        if len(good):
            k = good[np.argmax(self.sign * points[self.axis, good])]
            if self.sign * points[self.axis, k] > self.best:
                self.point = points[:, k].copy()
                self._look_from(self.point)
