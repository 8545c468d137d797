"""A box with exactly one minimiser of a problem with constraints, and a larger one around it that holds no other global one: the
theorem is in docs/proofs/stationary_points.md.

For a point c, the *active* constraints are the equations and those inequalities that hold just so with a multiplier of the right
sign; variables are *held* where c lies on a bound of the user's from which the Lagrangian function rises strictly, where the
bounds are equal, or where they are whole numbers; the others are free.
"""

from typing import NamedTuple

import numpy as np

from infimum.bounds.fritz_john.kkt_conditions import KktEquations
from infimum.certify.constraints_at_point import at_point
from infimum.certify.isolation import IsolatedMinimiser, IsolationFailure, least_radius
from infimum.certify.neighbourhood import NestedBoxes, nested_boxes
from infimum.evaluation.evaluator import Evaluator
from infimum.linear_algebra.interval_matrices import (
    Interval,
    down,
    exactly,
    matrix_product,
    minus,
    plus,
    size,
    times,
    transposed,
    up,
)
from infimum.linear_algebra.krawczyk import operator
from infimum.linear_algebra.lane_algebra import inverse_factor, total
from infimum.linear_algebra.least_squares_multipliers import applied, left_inverse, multipliers
from infimum.linear_algebra.positive_definite import midpoint, positive_definite
from infimum.search.policy.bounds import ISOLATION as POLICY

_ULPS, _TINY = 2.0**-50, 2.0**-300  # fixed: the rounding of doubles, and numbers that are as good as 0


class _KktPoint(NamedTuple):
    """A point (n) with multipliers (a) of active constraints, the equations that it solves, which inequalities are at an upper
    (1) or lower end (-1), 0 for equations, and the masks of variables held at lower bounds, and at upper ones."""

    x: np.ndarray
    w: np.ndarray
    conditions: KktEquations
    sides: np.ndarray
    low: np.ndarray
    high: np.ndarray


def isolate(evaluator: Evaluator, lo: np.ndarray, hi: np.ndarray, x: np.ndarray,
            reach: Interval) -> IsolatedMinimiser | IsolationFailure:
    """Looks for a minimiser near x. [lo, hi] are the user's bounds; B should reach as far as the box `reach`, of shape (n,)."""
    with np.errstate(all="ignore"):
        at = _polished(evaluator, lo, hi, x)
        if isinstance(at, IsolationFailure):
            return at
        work = _BoxProof(evaluator, (lo, hi), at)
        inner = work.unique(least_radius(at.x, reach))
        return inner if isinstance(inner, IsolationFailure) else IsolatedMinimiser(*inner, work.neighbourhood(inner, reach))


def _polished(evaluator: Evaluator, lo: np.ndarray, hi: np.ndarray, x: np.ndarray) -> _KktPoint | IsolationFailure:
    """Newton's method from x, with what seems to be active there."""
    system, multipliers = evaluator.system, at_point(evaluator, (lo, hi), (x, x)).multipliers
    active = np.flatnonzero((multipliers != 0) | system.equal)
    w, near, slopes = multipliers[active], POLICY.held_distance * np.maximum(1.0, np.abs(x)), evaluator.estimate_jacobian(x)[1]
    sides = np.where(system.equal[active], 0, np.sign(w)).astype(int)
    slope, whole = slopes[0] + total(slopes[1 + active] * w[:, None]), np.isin(np.arange(len(x)), system.integers)
    fixed = (lo == hi) | whole
    low, high = (x <= lo + near) & (slope > 0) & ~fixed, (x >= hi - near) & (slope < 0) & ~fixed
    x, free = np.where(low, lo, np.where(high, hi, np.where(whole, np.rint(x), x))), np.flatnonzero(~(low | high | fixed))
    conditions = KktEquations(evaluator, active, np.where(sides < 0, system.lower[active], system.upper[active]), free)
    length = np.inf
    for _ in range(POLICY.constrained_newton_steps):
        step = conditions.step(x, w)
        if step is None:
            return _singular(conditions, x)
        longest = float((np.abs(step[0]) / np.maximum(1.0, np.abs(x[free]))).max(initial=0.0))
        if not 0.0 < longest < length:
            break
        length, x, w = longest, x.copy(), w + step[1]
        x[free] += step[0]
    inside = ((x > lo) & (x < hi))[free].all()
    return _KktPoint(x, w, conditions, sides, low, high) if inside else IsolationFailure.AT_A_BOUND


def _singular(conditions: KktEquations, x: np.ndarray) -> IsolationFailure:
    """Why the conditions seem to have no solution that is alone."""
    if not len(conditions.active):
        return IsolationFailure.SINGULAR
    slopes = conditions.slopes((conditions.evaluator.estimate_jacobian(x)[1][..., None],) * 2)[0]
    if not slopes.shape[1]:
        return IsolationFailure.DEPENDENT  # all variables are held, and constraints active besides
    slopes = slopes / np.abs(slopes).max(axis=1, keepdims=True)
    left = left_inverse(slopes)
    # NaN where gradients are dependent
    return IsolationFailure.FLAT if (np.abs(left) < POLICY.largest_inverse).all() else IsolationFailure.DEPENDENT


class _BoxProof:
    """What is proved on boxes around the point."""

    def __init__(self, evaluator: Evaluator, bounds: Interval, at: _KktPoint):
        self.evaluator, self.system, self.bounds = evaluator, evaluator.system, bounds
        self.at, self.conditions = at, at.conditions
        self.free, self.active, self.equal = at.conditions.free, at.conditions.active, at.sides == 0
        self.residual, self.here = at.conditions.residual(at.x, at.w)
        self.y = at.conditions.inverse(at.x, self.here)
        self.slopes = self._slopes(at.x[:, None], at.x[:, None])
        self.multipliers: Interval = exactly(at.w[:, None])  # an enclosure of those of the minimiser, once K is known

    def _slopes(self, lo: np.ndarray, hi: np.ndarray) -> Interval:
        found = self.evaluator.jacobian(lo, hi)
        return self.conditions.slopes((found.lo, found.hi))

    def _of_free(self, hessian: Interval) -> Interval:
        return tuple(h[np.ix_(self.free, self.free)] for h in hessian)

    # ---- K
    def unique(self, least: np.ndarray) -> Interval | IsolationFailure:
        """K, a narrow box around the point with exactly one minimiser."""
        if self.y is None or not self.here.smooth[0]:
            return _singular(self.conditions, self.at.x) if self.here.smooth[0] else IsolationFailure.NOT_SMOOTH
        at, f, free = self.at, len(self.free), self.free
        if not f:
            return self._judged((at.x, at.x))
        centre = np.concatenate([at.x[free], at.w])
        floor = np.concatenate([least[free], _ULPS * np.abs(at.w) + _TINY])
        step = total((np.abs(self.y) * size(self.residual)[None, :, 0]).T)
        radius = np.maximum(2.0 * step, 2.0 * floor)[:, None] * 8.0 ** np.arange(POLICY.radii)
        box = centre[:, None] - radius, centre[:, None] + radius
        lo, hi = (np.repeat(at.x[:, None], POLICY.radii, axis=1) for _ in range(2))
        lo[free], hi[free] = box[0][:f], box[1][:f]
        slopes, found = self.evaluator.jacobian(lo, hi), self.conditions.lagrangian((lo, hi), (box[0][f:], box[1][f:]))
        matrix = self.conditions.matrix(found.hessian, (slopes.lo, slopes.hi))
        sent = operator(centre, self.residual, matrix, self.y[..., None], box)
        alone = np.flatnonzero(sent.inside & found.smooth & self._inside(lo, hi))
        if not len(alone):
            return IsolationFailure.SINGULAR
        k = alone[0]
        self.multipliers = sent.lo[f:, k:k + 1], sent.hi[f:, k:k + 1]
        inner = at.x.copy(), at.x.copy()
        inner[0][free], inner[1][free] = sent.lo[:f, k], sent.hi[:f, k]
        return self._judged(inner)

    def _judged(self, inner: Interval) -> Interval | IsolationFailure:
        """Is the solution in this box a minimiser, and the only one there?"""
        lo, hi = (end[:, None] for end in inner)
        if not self._alone(NestedBoxes(lo, hi, np.zeros(1)))[0]:
            return IsolationFailure.WEAK
        curved = self._of_free(self.conditions.lagrangian((lo, hi), self.multipliers).hessian)
        return inner if self._is_curved(curved, self._slopes(lo, hi)) else IsolationFailure.SINGULAR

    def _is_curved(self, curved: Interval, slopes: Interval) -> bool:
        """Is H + r JᵀJ positive definite for some r? Then so is H where J vanishes."""
        r = self._penalty(slice(None))
        if r is None:
            return False
        whole = with_penalty(curved, slopes, r)
        return not len(self.free) or bool(positive_definite(whole, inverse_factor(midpoint(whole)))[0])

    def _penalty(self, rows: np.ndarray | slice) -> float | None:
        """About an r for which H + r JᵀJ is positive definite at the point, J of these active constraints; None if none is."""
        if not len(self.free):
            return 0.0
        curved, slopes = self._of_free(self.here.hessian), tuple(end[rows] for end in self.slopes)
        across = float((midpoint(slopes) ** 2).max(initial=0.0))
        unit = max(float(np.abs(midpoint(curved)).max()), _TINY) / across if across > 0 else 0.0
        for penalty in POLICY.penalties if unit > 0 else POLICY.penalties[:1]:
            if np.isfinite(inverse_factor(midpoint(with_penalty(curved, slopes, penalty * unit)))).all():
                return POLICY.safety_factor * penalty * unit
        return None

    def _inside(self, lo: np.ndarray, hi: np.ndarray) -> np.ndarray:
        """Which boxes lie strictly inside the bounds in the free variables."""
        return ((lo > self.bounds[0][:, None]) & (hi < self.bounds[1][:, None]))[self.free].all(axis=0)

    # ---- B
    def neighbourhood(self, inner: Interval, reach: Interval) -> Interval:
        """The largest of a row of boxes, each within the one before and the last K itself, without another global minimiser."""
        x, (lo, hi) = self.at.x, self.bounds
        still = ~(self.at.low | self.at.high)
        still[self.free] = False
        reach, bounds = (tuple(np.where(still, x, end) for end in ends) for ends in (reach, (lo, hi)))
        for row in nested_boxes(x, inner, reach, bounds).portions():
            good = np.flatnonzero(self._is_convex(row) | self._alone(row))
            if len(good):
                return row.lo[:, good[0]], row.hi[:, good[0]]
        return inner

    def _rises(self, gradient: Interval) -> np.ndarray:
        """Where the Lagrangian function rises strictly from the bounds that hold variables."""
        return (gradient[0][self.at.low] > 0).all(axis=0) & (gradient[1][self.at.high] < 0).all(axis=0)

    def _is_convex(self, row: NestedBoxes) -> np.ndarray:
        """On which boxes f + Σ w (g - e) + r Σ (h - c)²/2, the last sum over the equations, is strictly convex in the free
        variables and rises from the bounds that hold others, for the multipliers of the minimiser: there f is larger at all other
        feasible points, where it is at least that sum."""
        lanes, r = row.lo.shape[1], self._penalty(self.equal)
        if r is None:
            return np.zeros(lanes, bool)
        found, numbers = self.evaluator.jacobian(row.lo, row.hi), 1 + self.active[self.equal]
        off = minus((found.value.lo[numbers], found.value.hi[numbers]), exactly(self.conditions.ends[self.equal][:, None]))
        slopes = tuple(end[self.equal] for end in self.conditions.slopes((found.lo, found.hi)))
        w = tuple(np.repeat(end, lanes, axis=1) for end in self.multipliers)
        if r:
            for end, more in zip(w, times(exactly(np.full((1, 1), r)), off), strict=True):
                end[self.equal] += more
            w = down(w[0]), up(w[1])
        found = self.conditions.lagrangian((row.lo, row.hi), w)
        fine = found.smooth & self._rises(found.gradient)
        if not len(self.free):
            return fine
        there = with_penalty(self._of_free(self.here.hessian), tuple(end[self.equal] for end in self.slopes), r)
        factor = np.repeat(inverse_factor(midpoint(there)), lanes, axis=2)
        return fine & positive_definite(with_penalty(self._of_free(found.hessian), slopes, r), factor)

    def _alone(self, row: NestedBoxes) -> np.ndarray:
        """On which boxes every local minimiser solves the conditions, and these have one solution at most."""
        others, slopes = np.delete(np.arange(self.system.m), self.active), self.evaluator.jacobian(row.lo, row.hi)
        rows, jacobian = slopes.value, (slopes.lo, slopes.hi)
        fine = self._inside(row.lo, row.hi) & (rows.lo[1 + others] > self.system.lower[others, None]).all(axis=0)
        fine &= (rows.hi[1 + others] < self.system.upper[others, None]).all(axis=0)
        w, known = self._multipliers(row, self.conditions.slopes(jacobian))
        found = self.conditions.lagrangian((row.lo, row.hi), w)
        fine &= known & found.smooth & self._rises(found.gradient)
        fine &= (w[0][self.at.sides > 0] > 0).all(axis=0) & (w[1][self.at.sides < 0] < 0).all(axis=0)
        if not len(self.free):
            return fine
        product = matrix_product(exactly(self.y[..., None]), self.conditions.matrix(found.hessian, jacobian))
        radius = np.concatenate([up(row.hi[self.free] - row.lo[self.free]), up(w[1] - w[0])])
        return fine & (applied(size(minus(exactly(np.eye(len(self.y))[..., None]), product)), radius) < radius).all(axis=0)

    def _multipliers(self, row: NestedBoxes, slopes: Interval) -> tuple[Interval, np.ndarray]:
        """Those of all points of a box at which the derivatives by the free variables vanish, and where they are known."""
        lanes = row.lo.shape[1]
        w = np.repeat(self.at.w[:, None], lanes, axis=1)
        gradient = self.conditions.lagrangian((row.lo, row.hi), exactly(w)).gradient
        left = np.repeat(left_inverse(midpoint(self.slopes)), lanes, axis=2)
        return multipliers(left, slopes, tuple(g[self.free] for g in gradient), w, np.ones(w.shape, bool))


def with_penalty(curved: Interval, slopes: Interval, r: float) -> Interval:
    """H + r JᵀJ."""
    return plus(curved, times(exactly(np.full(1, r)), matrix_product(transposed(slopes), slopes))) if r else curved
