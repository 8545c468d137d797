"""Incumbent: the best point known, with a verified upper bound of the infimum."""

import sys
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from infimum.evaluation.evaluator import Enclosure, Evaluator
from infimum.problem.start_boxes import StartBoxes
from infimum.problem.variable_bounds import OuterBox
from infimum.search.policy.search import BRANCHING
from infimum.search.policy.search import INCUMBENTS as POLICY
from infimum.support.lazy import LazyModule

if TYPE_CHECKING:
    from infimum.points import descents
else:
    descents = LazyModule("points.descents")

_LARGEST = sys.float_info.max
_FOUND = {"incumbent": "found", "incumbent.box": "found.box"}  # names of the best point beside another one in a checkpoint


class Incumbent:
    """`upper` is the upper end of an enclosure of f at `x`, a point where f is certainly defined, inside the bounds and, if there
    are any, in one of the `start` boxes. The bounds lo and hi are rounded inward; where some ends are no doubles, `outer` is the
    box around them, in which regions lie.

    >>> import infimum
    >>> f = infimum.compile(lambda x: (x[0] - 0.25) ** 2 + x[1] ** 4, 2)
    >>> best = Incumbent(f, np.array([-1.0, -1.0]), np.array([1.0, 1.0]))
    >>> best.offer(np.array([[0.5, 0.0], [0.0, 0.5]])), best.x.tolist(), best.upper
    (True, [0.5, 0.0], 0.0625)
    >>> ends = best.improve(np.array([[0.5, 0.9], [0.1, -0.7]]))
    >>> best.upper < 1e-12
    True
    """

    def __init__(self, evaluator: Evaluator, lo: np.ndarray, hi: np.ndarray, start: StartBoxes | None = None,
                 outer: OuterBox | None = None):
        self.evaluator, self.lo, self.hi, self.start, self.outer = evaluator, lo, hi, start, outer
        self.x: np.ndarray | None = None
        self.upper = np.inf

    @property
    def region(self) -> tuple[np.ndarray, np.ndarray]:
        """The box (n) that holds everything within the bounds."""
        return (self.lo, self.hi) if self.outer is None else (self.outer.lo, self.outer.hi)

    @property
    def regions(self) -> tuple[np.ndarray, np.ndarray]:
        """The boxes (n, N) that hold all feasible points: the start boxes, or the whole box."""
        return tuple(end[:, None] for end in self.region) if self.start is None else self.start.regions

    @cached_property
    def reached(self) -> np.ndarray | None:
        """What regions must reach not to lie beyond the feasible set, for each box of it, as `kernel.region_cut.region_outcome`
        reads it; None where all ends are doubles, and no region can."""
        outer = self.outer if self.start is None else self.start.outer
        return None if outer is None else np.concatenate([outer.least, outer.most]).T.ravel()

    def lies_beyond(self, lo: np.ndarray, hi: np.ndarray) -> np.ndarray:
        """Which of these boxes (n, N) lie beyond the feasible set, as ends that are no doubles tell."""
        if self.reached is None:
            return np.zeros(lo.shape[1], bool)
        met = [((hi >= least[:, None]) & (lo <= most[:, None])).all(axis=0) for least, most in
               self.reached.reshape(-1, 2, len(lo))]
        return ~np.logical_or.reduce(met)

    def inside(self, points: np.ndarray) -> np.ndarray:
        """The points (n, N) that lie within the bounds and in a start box. One that lies outside by less than doubles tell, since
        an end is no double, is moved inside."""
        if self.start is not None:
            points = self.start.moved_inside(points)
        elif self.outer is not None:
            near = ((points >= self.outer.lo[:, None]) & (points <= self.outer.hi[:, None])).all(axis=0)
            points = np.where(near, np.minimum(np.maximum(points, self.lo[:, None]), self.hi[:, None]), points)
        inside = ((points >= self.lo[:, None]) & (points <= self.hi[:, None])).all(axis=0)
        if self.start is not None:
            inside &= self.start.holds(points)
        return np.compress(inside, points, axis=1)

    def offer(self, points: np.ndarray) -> bool:
        """Encloses f at the points (n, N), those outside the bounds aside; True if one of them is better than what was known."""
        points = self.inside(points)
        if not points.shape[1]:
            return False
        value = self.enclosed(points, points)
        upper = np.where(value.defined & ~value.empty, value.hi, np.inf)
        k = int(np.argmin(upper))
        if not upper[k] < self.upper:
            return False
        self.x, self.upper = points[:, k].copy(), float(upper[k])
        return True

    def enclosed(self, lo: np.ndarray, hi: np.ndarray) -> Enclosure:
        """f on boxes."""
        return self.evaluator.value(lo, hi)

    def take(self, x: np.ndarray, upper: float) -> None:
        """Accepts a point of a region whose enclosure has this upper end, proved elsewhere; one that lies beyond a bound that is
        no double is offered next to it."""
        if self.reached is None or np.array_equal(self.inside(x[:, None]), x[:, None]):
            self.x, self.upper = x.copy(), upper
        else:
            self.offer(x[:, None])

    def offer_far_points(self) -> bool:
        """Is f lower where variables without bounds are larger, all of them or one?"""
        x, endless = self.x, np.flatnonzero(np.isinf(self.lo) | np.isinf(self.hi))
        if x is None or not 0 < len(endless) <= BRANCHING.far_points_variables:
            return False
        moved = np.repeat(x[:, None], (1 + len(endless)) * len(BRANCHING.far_factors), axis=1)
        for which, part in zip([endless, *endless[:, None]], np.split(np.arange(moved.shape[1]), 1 + len(endless)), strict=True):
            with np.errstate(over="ignore"):
                moved[np.ix_(which, part)] *= BRANCHING.far_factors
        moved = np.minimum(np.maximum(moved, -_LARGEST), _LARGEST)
        return self.offer(np.minimum(np.maximum(moved, self.lo[:, None]), self.hi[:, None]))

    def sharpen(self, slack: float) -> None:
        """Where rounding errors blur the value at x by a good part of `slack`, encloses it to the last bit."""
        if self.x is None or len(self.x) > POLICY.most_close_variables:
            return
        value = self.enclosed(self.x, self.x)
        if value.hi - value.lo > slack * POLICY.blurred_share:
            ends = self.evaluator.value_to_last_bit(self.x)
            self.upper = self.upper if ends is None else min(self.upper, ends[1])

    def arrays(self) -> dict[str, np.ndarray]:
        """The point and its bound, for a checkpoint."""
        return {"incumbent": np.array([self.upper]) if self.x is None else np.concatenate([[self.upper], self.x])}

    def restore(self, arrays: dict[str, np.ndarray]) -> None:
        """The incumbent of a checkpoint."""
        stored = arrays["incumbent"]
        self.upper, self.x = float(stored[0]), stored[1:].copy() if len(stored) > 1 else None

    def found_beside(self, arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        """The point and its bound for a checkpoint that holds an earlier best point, in these arrays: from there a run continues,
        and if it finds nothing better this one is its answer."""
        if not self.upper < arrays["incumbent"][0]:
            return {}
        return {_FOUND[name]: array for name, array in self.arrays().items() if name in _FOUND}

    def take_found(self, arrays: dict[str, np.ndarray]) -> None:
        """The best point that a checkpoint holds beside an earlier one, if none is known that is better."""
        if "found" in arrays and arrays["found"][0] < self.upper:
            self.restore({name: arrays[found] for name, found in _FOUND.items() if found in arrays})

    def improve(self, starts: np.ndarray, lo: np.ndarray | None = None, hi: np.ndarray | None = None,
                rules: "descents.DescentRules | None" = None) -> "descents.DescentEnds":
        """Descends from all starts (n, N) at once, inside the box [lo, hi] (the bounds), and offers the best ends."""
        lo, hi = self.lo if lo is None else lo, self.hi if hi is None else hi
        starts = np.minimum(np.maximum(starts, lo[:, None]), hi[:, None])
        ends = descents.Descents(self.evaluator, lo, hi, starts, rules or descents.DescentRules()).run()
        self.offer(np.take(ends.x, np.argsort(ends.value, kind="stable")[:8], axis=1))
        return ends
