"""A box with exactly one minimiser, and one around it without any other, for functions of many variables: see
docs/proofs/isolation_by_structure.md.

As `certify/isolation.py`, with the structure of the Hessian: K comes from how much f bends at least, D, in a box X around a
point c. The lowest point of X is not farther from c than |g(c)|, in the norms that D gives.
"""

import numpy as np

from infimum.certify.isolation import IsolatedMinimiser, IsolationFailure, least_radius
from infimum.certify.term_sums.diagonal_convexity import HeldTermSum
from infimum.certify.term_sums.term_hessians import SecondOrderEnclosure, TermSum
from infimum.certify.term_sums.term_sum_newton import polished
from infimum.linear_algebra.interval_matrices import Interval, down, up
from infimum.search.policy.bounds import TERM_SUM_ISOLATION as POLICY


def isolate(terms: TermSum, lo: np.ndarray, hi: np.ndarray, x: np.ndarray,
            reach: Interval) -> IsolatedMinimiser | IsolationFailure:
    """Looks for a minimiser near x. [lo, hi] are the user's bounds; B should reach as far as the box `reach`."""
    with np.errstate(all="ignore"):
        at = _HeldPoint(terms, lo, hi, polished(terms, lo, hi, x))
        unique = at.unique(least_radius(at.x, reach)) if at.here.smooth else IsolationFailure.NOT_SMOOTH
        around = unique if isinstance(unique, IsolationFailure) else at.neighbourhood(unique, reach)
    if not isinstance(around, IsolationFailure):
        return IsolatedMinimiser(*unique, around)
    return around if terms.evaluator.value(*reach).smooth else IsolationFailure.NOT_SMOOTH


class _HeldPoint:
    """The point, and which variables are held at bounds there."""

    def __init__(self, terms: TermSum, lo: np.ndarray, hi: np.ndarray, x: np.ndarray):
        self.terms, self.lo, self.hi, self.x, self.here = terms, lo, hi, x, terms.enclose(x, x)
        slope, fixed = self.here.gradient, lo == hi
        self.low, self.high = (x == lo) & (slope[0] > 0) & ~fixed, (x == hi) & (slope[1] < 0) & ~fixed
        self.free = ~(self.low | self.high | fixed)
        self.downhill = tuple(np.where(x == lo, np.minimum(end, 0.0), np.where(x == hi, np.maximum(end, 0.0), end))
                              for end in slope)  # at a bound f falls inward only
        self.held = HeldTermSum(terms, ~self.free)

    def unique(self, least: np.ndarray) -> Interval | IsolationFailure:
        """A narrow box around the point that holds the lowest point of a box with no faces near it but those of the bounds."""
        free, x = self.free, self.x
        if not free.any():
            return x, x
        radius = self._radius(x, x, self.here)
        if radius is None:
            return IsolationFailure.SINGULAR
        for k in range(POLICY.radii):
            reach = np.where(free, np.maximum(4.0 * radius, 4.0 * least) * POLICY.radius_ratio**k, 0.0)
            lo, hi = np.maximum(x - reach, self.lo), np.minimum(x + reach, self.hi)
            known = self._radius(lo, hi, self.terms.enclose(lo, hi))
            if known is None:
                return IsolationFailure.SINGULAR
            known = np.where(free, np.maximum(known, least), 0.0)
            low, high = np.where(free, down(x - known), x), np.where(free, up(x + known), x)
            if (((lo < low) | (lo == self.lo)) & ((high < hi) | (hi == self.hi)) | ~free).all():
                return np.maximum(low, self.lo), np.minimum(high, self.hi)
        return IsolationFailure.SINGULAR

    def _radius(self, lo: np.ndarray, hi: np.ndarray, bends: SecondOrderEnclosure) -> np.ndarray | None:
        """How far from the point the lowest point of the box may be, in each variable, rounded up; None if there might be
        several."""
        least = self._curvature_at_least(lo, hi, bends)
        if least is None or not (least[self.free] > 0).all():
            return None
        return up(self.held.length(self.downhill, least) / down(np.sqrt(least)))

    def neighbourhood(self, unique: Interval, reach: Interval) -> Interval | IsolationFailure:
        """The largest of a row of boxes, each within the one before and the last K itself, that holds no other minimiser. By
        bisection: smaller ones are easier."""
        for share in (POLICY.first_growth, 1.0):
            box = self._box(share, unique, reach)
            if self._has_no_other(*box):
                return box
        best, fails, holds = unique, 0, POLICY.halvings
        if not self._has_no_other(*best):
            return IsolationFailure.SINGULAR
        while holds - fails > 1:
            k = (fails + holds) // 2
            box = self._box(0.5**k, unique, reach)
            if self._has_no_other(*box):
                best, holds = box, k
            else:
                fails = k
        return best

    def _box(self, share: float, unique: Interval, reach: Interval) -> Interval:
        """So far of the way to `reach`, with K inside."""
        lo, hi = (self.x + (end - self.x) * share for end in reach)
        return np.maximum(np.fmin(lo, unique[0]), self.lo), np.minimum(np.fmax(hi, unique[1]), self.hi)

    def _has_no_other(self, lo: np.ndarray, hi: np.ndarray) -> bool:
        if not (np.isfinite(lo) & np.isfinite(hi)).all():
            return False
        bends = self.terms.enclose(lo, hi)
        rises = (bends.gradient[0][self.low] > 0).all() and (bends.gradient[1][self.high] < 0).all()
        if not rises or not bends.smooth:
            return False
        return not self.free.any() or self._curvature_at_least(lo, hi, bends, () if self.terms.scalars else (0.0,)) is not None

    def _curvature_at_least(self, lo: np.ndarray, hi: np.ndarray, bends: SecondOrderEnclosure,
                            parts: tuple[float, ...] = ()) -> np.ndarray | None:
        """How much f bends on the box, with the first part that shows it."""
        for part in parts or POLICY.curvature_shares[:2 if self.terms.scalars else 1]:
            least = self.held.curvature_at_least(lo, hi, bends, part)
            if least is not None:
                return least
        return None
