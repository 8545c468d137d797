"""What the conditions of Fritz John leave of regions where the gradients of tied constraints may be dependent, so that f need
have no multiplier: docs/proofs/stationary_points.md.

Of the multipliers of f and of the tied constraints one is the largest: it *leads*, and is 1 or -1, the others lie in [-1, 1]. For
each row that may lead and each sign, a *case*, the linear conditions contract the multipliers; a region is left with the hull of
what its cases leave. The last axis is a lane for each case.
"""

import numpy as np

from infimum.bounds.fritz_john.binding_constraints import BindingConstraints, ReducedRegions
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
from infimum.linear_algebra.least_squares_multipliers import left_inverse
from infimum.linear_algebra.positive_definite import midpoint
from infimum.search.policy.bounds import FRITZ_JOHN as POLICY


def by_cases(regions: BindingConstraints) -> ReducedRegions:
    """Regions on which something is not Lipschitz stay as they are."""
    (n, count), said = regions.lo.shape, regions.lipschitz
    f = np.ones((1, count), bool)
    upward, downward = np.concatenate([f, regions.at_high & regions.may_bind]), np.concatenate([~f, regions.at_low
                                                                                                & regions.may_bind])
    work = _MultiplierCases(regions, (np.where(downward, -1.0, 0.0), np.where(upward, 1.0, 0.0)))
    leaders, lanes = np.concatenate([np.nonzero(upward & said), np.nonzero(downward & said)], axis=1)
    signs = np.where(np.arange(len(lanes)) < np.count_nonzero(upward & said), 1.0, -1.0)
    lo, hi, none = np.full((n, count), np.inf), np.full((n, count), -np.inf), np.ones(count, bool)
    together = max(1, POLICY.dependence_elements_at_once // (len(upward) * (2 * n + len(upward))))
    for start in range(0, len(lanes), together):
        some = slice(start, start + together)
        left = work.left(leaders[some], lanes[some], signs[some])
        stays = lanes[some][~left.none]
        none[stays] = False
        np.minimum.at(lo, (slice(None), stays), left.lo[:, ~left.none])
        np.maximum.at(hi, (slice(None), stays), left.hi[:, ~left.none])
    use = said & ~none
    return ReducedRegions(np.where(use, lo, regions.lo), np.where(use, hi, regions.hi), said & none)


class _MultiplierCases:
    """Regions with the multipliers (1 + m, N) that their rows may have, that of f first."""

    def __init__(self, regions: BindingConstraints, multipliers: Interval):
        self.regions, self.multipliers = regions, multipliers
        self.middle = np.minimum(np.maximum(0.5 * regions.lo + 0.5 * regions.hi, regions.lo), regions.hi)
        self.rows = regions.evaluator.rows(self.middle, self.middle)
        tied = np.concatenate([np.ones((1, len(regions.lipschitz)), bool), regions.may_bind])
        self.slopes = tuple(np.where(tied[:, None], end, 0.0) for end in regions.slopes)
        # any positive factors will do; with these gradients have about the same length
        exponents = np.clip(np.frexp(size(self.slopes).max(axis=1))[1], -900, 900)
        self.scaled = times(exactly(np.ldexp(1.0, -exponents)[:, None]), self.slopes)
        # where sums of derivatives must lie: at 0, beyond it where a bound may hold the variable
        held = ~regions.may_move
        self.derivatives = np.where(held | regions.on_high, -np.inf, 0.0), np.where(held | regions.on_low, np.inf, 0.0)

    def left(self, leader: np.ndarray, lane: np.ndarray, sign: np.ndarray) -> ReducedRegions:
        """What cases leave, each a row that leads with a sign in a region."""
        w, slopes = (tuple(end[..., lane] for end in ends) for ends in (self.multipliers, self.scaled))
        for end in w:
            end[leader, np.arange(len(lane))] = sign
        at, sums = self.regions, self._sums(slopes, leader, lane)
        zero = np.zeros((sums[0].shape[1], len(lane)))
        target = tuple(np.concatenate([end[:, lane], zero]) for end in self.derivatives)
        matrix = tuple(np.concatenate(parts, axis=1) for parts in zip(slopes, sums, strict=True))
        w, none = contracted(matrix, w, target, POLICY.dependence_sweeps)
        derivative = _sum(times(tuple(end[:, None] for end in w), slopes))
        lo, hi = self._where_active(w, lane)
        on_low, on_high, low, high = (end[:, lane] for end in (at.on_low, at.on_high, *at.faces))
        hi = np.where(on_low & (derivative[0] > 0), np.minimum(hi, low), hi)
        lo = np.where(on_high & (derivative[1] < 0), np.maximum(lo, high), lo)
        return ReducedRegions(lo, hi, none | (lo > hi).any(axis=0))

    def _sums(self, slopes: Interval, leader: np.ndarray, lane: np.ndarray) -> Interval:
        """Coefficients (1 + m, r, N) of sums of multiples of the conditions of free variables: about, those that tell one
        multiplier, and those to which no row but the leader contributes."""
        free = self.regions.free[:, lane]
        others = np.where(free, midpoint(slopes), 0.0)
        others[leader, :, np.arange(len(lane))] = 0.0
        one = np.repeat(POLICY.dependence_regularisation * np.eye(len(others))[..., None], len(lane), axis=2)
        left = left_inverse(np.concatenate([others, one], axis=1))[:, :len(free)]
        left = np.where(np.isfinite(left).all(axis=(0, 1)), left, 0.0)
        across = np.eye(len(free))[..., None] * free
        for row, other in zip(others, left, strict=True):
            across = across - row[:, None] * other
        return transposed(matrix_product(exactly(np.concatenate([left, across])), transposed(slopes)))

    def _where_active(self, w: Interval, lane: np.ndarray) -> Interval:
        """What is left of regions by constraints that hold just so: equations, and those whose multiplier cannot vanish."""
        system = self.regions.evaluator.system
        lower, upper, equal = system.lower[:, None], system.upper[:, None], system.equal[:, None]
        at_upper, at_lower = (w[0][1:] > 0) | equal, (w[1][1:] < 0) & ~equal
        active = (at_upper | at_lower) & self.regions.may_bind[:, lane]
        end = np.where(at_lower, lower, np.where(at_upper, upper, 0.0))
        off = minus(exactly(end), (self.rows.lo[1:, lane], self.rows.hi[1:, lane]))
        off = np.where(active, off[0], -np.inf), np.where(active, off[1], np.inf)
        x, lo, hi = (end[:, lane] for end in (self.middle, self.regions.lo, self.regions.hi))
        matrix = transposed(tuple(end[1:, :, lane] for end in self.slopes))
        (low, high), none = contracted(matrix, minus((lo, hi), exactly(x)), off, 1)
        lo, hi = np.maximum(lo, down(x + low)), np.minimum(hi, up(x + high))
        return np.where(none, np.inf, lo), hi


def contracted(matrix: Interval, y: Interval, target: Interval, sweeps: int) -> tuple[Interval, np.ndarray]:
    """What is left of y (k, N) where Σ_k a_kr y_k lies in target (r, N) for all r, for matrices a in `matrix` (k, r, N), all
    finite; and where that is nothing."""
    signed, none = (matrix[0] > 0) | (matrix[1] < 0), np.zeros(y[0].shape[1], bool)
    for _ in range(sweeps):
        terms = times(tuple(end[:, None] for end in y), matrix)
        rest = minus(target, _of_the_others(terms))
        quotients = [end / by for end in rest for by in matrix]
        least, most = down(np.minimum.reduce(quotients)), up(np.maximum.reduce(quotients))
        least, most = np.where(signed & (least > -np.inf), least, -np.inf), np.where(signed & (most < np.inf), most, np.inf)
        total = _sum(terms)
        y = np.maximum(y[0], least.max(axis=1)), np.minimum(y[1], most.min(axis=1))
        none |= (y[0] > y[1]).any(axis=0) | ((total[0] > target[1]) | (total[1] < target[0])).any(axis=0)
        y = tuple(np.where(none, 0.0, end) for end in y)
    return y, none


def _sum(terms: Interval) -> Interval:
    """Over the first axis."""
    found = tuple(end[0] for end in terms)
    for k in range(1, len(terms[0])):
        found = plus(found, tuple(end[k] for end in terms))
    return found


def _of_the_others(terms: Interval) -> Interval:
    """For each index of the first axis, the sum over all others."""
    count, zero = len(terms[0]), np.zeros_like(terms[0][0])
    before, after = [(zero, zero)], [(zero, zero)]
    for k in range(count - 1):
        before.append(plus(before[-1], tuple(end[k] for end in terms)))
        after.append(plus(after[-1], tuple(end[count - 1 - k] for end in terms)))
    return tuple(np.stack(ends) for ends in zip(*(plus(b, a) for b, a in zip(before, reversed(after), strict=True)), strict=True))
