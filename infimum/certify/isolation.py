"""A box with exactly one minimiser, and a larger one around it that holds no other: the theorem is in docs/proofs/isolation.md.

For a point c, the variables are *held* where c lies on a bound of the user's from which f rises strictly, and free elsewhere. K
holds exactly one stationary point of the free variables, strictly inside their bounds; on B, a box around K within the bounds, f
is smooth, the Hessian of the free variables positive definite, and f rises strictly from the bounds that hold the others.
"""

from enum import Enum
from typing import NamedTuple

import numpy as np

from infimum.certify.convex_minimiser import BoundedPoint, convex_minimiser
from infimum.certify.neighbourhood import convexity, nested_boxes, part_of
from infimum.certify.newton_polish import polished
from infimum.evaluation.evaluator import Evaluator, Hessian
from infimum.linear_algebra.interval_matrices import Interval, size
from infimum.linear_algebra.krawczyk import krawczyk
from infimum.linear_algebra.lane_algebra import inverse, inverse_factor
from infimum.linear_algebra.positive_definite import midpoint
from infimum.search.policy.bounds import ISOLATION as POLICY

_ULPS, _FINE = 2.0**-52, 2.0**-60  # fixed: what doubles can tell apart, as part of the numbers and of the widths


class IsolatedMinimiser(NamedTuple):
    """K holds exactly one minimiser over the user's bounds, a local one, and B, which contains it, no other."""

    lo: np.ndarray
    hi: np.ndarray
    neighbourhood: Interval


class IsolationFailure(Enum):
    """Why a point was not proved to be near an isolated minimiser."""

    NOT_SMOOTH = "the function is not smooth there"
    SINGULAR = "the second derivatives may vanish in some direction there"
    AT_A_BOUND = "a derivative may vanish at a bound there"
    BETWEEN = "it lies at a bound that is no double there"
    WEAK = "a constraint or a bound may be active there with a multiplier that vanishes"
    DEPENDENT = "the gradients of the active constraints are about dependent there: multipliers are not unique, or f has none"
    FLAT = "the second derivatives may vanish along the active constraints there"
    TOO_WIDE = "regions reach further than second derivatives tell; a smaller xtol= narrows them"
    TOO_MANY = "there are too many boxes to look at all of them"


def isolate(evaluator: Evaluator, lo: np.ndarray, hi: np.ndarray, x: np.ndarray, reach: Interval,
            region: Interval | None = None) -> IsolatedMinimiser | IsolationFailure:
    """Looks for a minimiser near x. [lo, hi] are the user's bounds; B should reach as far as the box `reach`, of shape (n,).
    Where some bounds are no doubles, these are rounded inward, and the `region` is rounded outward."""
    at, here = _HeldPoint.near(evaluator, lo, hi, x, region)
    x = at.x
    factor, least = inverse_factor(midpoint(part_of(here, at.free))[..., None]), least_radius(x, reach)
    found = IsolationFailure.SINGULAR
    if here.value.smooth and np.isfinite(factor).all():
        found = _unique(evaluator, at, factor, least)
    if not isinstance(found, IsolationFailure):
        around = _largest_unique_box(evaluator, at, factor, found, reach)
        found = IsolationFailure.SINGULAR if around is None else IsolatedMinimiser(*found, around)
    if found is IsolationFailure.AT_A_BOUND:
        found = _convex_minimiser(evaluator, at, here, (at.low, at.high), reach, least) or found
    if (at.low | at.high).any() and not (isinstance(found, IsolatedMinimiser) and _covers(found.neighbourhood, reach)):
        wider = _convex_minimiser(evaluator, at, here, (at.low & False, at.high & False), reach, least)
        found = _merged_isolation(found, wider) if wider is not None else found
    if isinstance(found, IsolationFailure) and not evaluator.value(*reach).smooth:
        return IsolationFailure.NOT_SMOOTH
    return found


class _HeldPoint:
    """The point x, and which variables are held at bounds there. `box` is the point with these at their bounds: a box where such
    a bound is no double, since it lies somewhere between two of them."""

    def __init__(self, lo: np.ndarray, hi: np.ndarray, x: np.ndarray, here: Hessian, region: Interval):
        self.lo, self.hi, self.region, self.x, slope = lo, hi, region, x, here.gradient
        self.fixed = lo == hi
        self.low = (x == lo) & (slope.lo > 0) & ~self.fixed
        self.high = (x == hi) & (slope.hi < 0) & ~self.fixed
        self.box = np.where(self.low, region[0], x), np.where(self.high, region[1], x)
        self.free = np.flatnonzero(~(self.low | self.high | self.fixed))
        self.slope = slope.lo[self.free, None], slope.hi[self.free, None]

    @classmethod
    def near(cls, evaluator: Evaluator, lo: np.ndarray, hi: np.ndarray, x: np.ndarray,
             region: Interval | None) -> "tuple[_HeldPoint, Hessian]":
        """The point to which x leads, and the derivatives there, at all points of its box. Where f rises from such a bound, but
        not surely from all numbers that it may be, the variable is not held."""
        if region is None:
            x, here = polished(evaluator, lo, hi, x)
            return cls(lo, hi, x, here, (lo, hi)), here
        x, here = polished(evaluator, lo, hi, np.minimum(np.maximum(x, lo), hi))
        there = evaluator.hessian(*cls(lo, hi, x, here, region).box)
        return cls(lo, hi, x, there, region), there

    def inside(self, lo: np.ndarray, hi: np.ndarray) -> np.ndarray:
        """Which boxes lie strictly inside the bounds in the free variables."""
        free = self.free
        return ((lo[free] > self.lo[free, None]) & (hi[free] < self.hi[free, None])).all(axis=0)


def least_radius(x: np.ndarray, reach: Interval) -> np.ndarray:
    """The least radius of a box around x that is worth telling."""
    with np.errstate(all="ignore"):
        width = reach[1] - reach[0]
    return np.maximum(np.maximum(_ULPS * np.abs(x), _FINE * np.where(np.isfinite(width), width, 1.0)), 2.0**-200)


def _unique(evaluator: Evaluator, at: _HeldPoint, factor: np.ndarray, least: np.ndarray) -> Interval | IsolationFailure:
    """A narrow box around the point with exactly one stationary point of the free variables."""
    free, x = at.free, at.x
    if not len(free):
        return at.box
    radius = np.maximum(2.0 * _newton_step(factor, at.slope), 2.0 * least[free])[:, None] * 8.0 ** np.arange(POLICY.radii)
    lo, hi = (np.repeat(end[:, None], POLICY.radii, axis=1) for end in at.box)
    lo[free] -= radius
    hi[free] += radius
    found = evaluator.hessian(lo, hi)
    sent = krawczyk(x[free], at.slope, part_of(found, free), factor, (lo[free], hi[free]))
    alone = sent.inside & found.value.smooth
    proved = np.flatnonzero(alone & at.inside(lo, hi))
    if not len(proved):
        return IsolationFailure.AT_A_BOUND if alone.any() else IsolationFailure.SINGULAR
    k = proved[0]
    low, high = (end.copy() for end in at.box)
    low[free], high[free] = sent.lo[:, k], sent.hi[:, k]
    low, high = _narrowed(evaluator, at, factor, low, high)
    low[free] = np.maximum(np.minimum(low, x - least)[free], lo[free, k])
    high[free] = np.minimum(np.maximum(high, x + least)[free], hi[free, k])
    return low, high


def _narrowed(evaluator: Evaluator, at: _HeldPoint, factor: np.ndarray, lo: np.ndarray, hi: np.ndarray) -> Interval:
    """The stationary point is where the operator sends any box that holds it."""
    free = at.free
    for _ in range(POLICY.narrowings):
        if not ((lo[free] <= at.x[free]) & (at.x[free] <= hi[free])).all():
            break
        found = evaluator.hessian(lo[:, None], hi[:, None])
        sent = krawczyk(at.x[free], at.slope, part_of(found, free), factor, (lo[free, None], hi[free, None]))
        low, high = np.fmax(lo[free], sent.lo[:, 0]), np.fmin(hi[free], sent.hi[:, 0])
        if ((low <= lo[free]) & (high >= hi[free])).all():
            break
        lo, hi = lo.copy(), hi.copy()
        lo[free], hi[free] = low, high
    return lo, hi


def _largest_unique_box(evaluator: Evaluator, at: _HeldPoint, factor: np.ndarray, unique: Interval,
                        reach: Interval) -> Interval | None:
    """The largest of a row of boxes, each within the one before and the last K itself, that holds no other minimiser."""
    for row in nested_boxes(at.x, unique, reach, at.region).portions():  # the first is nearly always the largest
        k = np.flatnonzero(convexity(evaluator, row, at.free, factor, (at.low, at.high)) > 0)
        if len(k):
            return row.lo[:, k[0]], row.hi[:, k[0]]
    return None


def _convex_minimiser(evaluator: Evaluator, at: _HeldPoint, here: Hessian, held: Interval, reach: Interval,
                      least: np.ndarray) -> IsolatedMinimiser | None:
    found = convex_minimiser(evaluator, BoundedPoint(at.x, (at.lo, at.hi), at.region), here, held, reach, least)
    return None if found is None else IsolatedMinimiser(*found[0], found[1])


def _merged_isolation(found: IsolatedMinimiser | IsolationFailure,
                      other: IsolatedMinimiser) -> IsolatedMinimiser | IsolationFailure:
    """The narrower K with the wider B, where that contains the other: both are then around the same minimiser."""
    if isinstance(found, IsolationFailure):
        return other
    return found._replace(neighbourhood=other.neighbourhood) if _covers(other.neighbourhood, found.neighbourhood) else found


def _covers(box: Interval, other: Interval) -> bool:
    return bool(((box[0] <= other[0]) & (other[1] <= box[1])).all())


def _newton_step(factor: np.ndarray, slope: Interval) -> np.ndarray:
    """About the length of a step of Newton's method in each variable."""
    y, total = np.abs(inverse(factor)[..., 0]), np.zeros(len(factor))
    for j, length in enumerate(size(slope)[:, 0]):
        total = total + y[:, j] * length
    return total
