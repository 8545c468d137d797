"""The lowest point of a box on which f is convex: where it lies, whether derivatives vanish there or not.

It need not be a stationary point, nor lie strictly inside the bounds or strictly on them: so a minimiser at a bound where the
derivative vanishes as well, or closer to a bound than doubles tell, is found like any other. The theorem is in
docs/proofs/isolation.md.
"""

from typing import NamedTuple

import numpy as np

from infimum.certify.neighbourhood import NestedBoxes, convexity, nested_boxes, part_of
from infimum.evaluation.evaluator import Evaluator, Hessian
from infimum.linear_algebra.interval_matrices import Interval, exactly, matrix_product, size, up
from infimum.linear_algebra.lane_algebra import inverse_factor
from infimum.linear_algebra.positive_definite import midpoint


class BoundedPoint(NamedTuple):
    """A point within bounds, which are rounded inward; the `region` is the same bounds, rounded outward."""

    x: np.ndarray
    bounds: Interval
    region: Interval


def convex_minimiser(evaluator: Evaluator, point: BoundedPoint, here: Hessian, held: Interval, reach: Interval,
                     least: np.ndarray) -> tuple[Interval, Interval] | None:
    """K and B around x: K holds exactly one minimiser over the bounds, and B, which contains it, no other; K is at least as wide
    as `least`. `here` are the derivatives at x, and `held` are masks of variables that lie at lower bounds, and at upper ones,
    from which f rises strictly: as far as B reaches, f need be convex in the others only. A variable at a bound that is no double
    may still move a little, or is held somewhere between both of its roundings."""
    x, bounds, region = point
    open_ = np.flatnonzero(~(held[0] | held[1] | (bounds[0] == bounds[1])))
    factor = inverse_factor(midpoint(part_of(here, open_))[..., None])
    if not len(open_) or not here.value.smooth or not np.isfinite(factor).all():
        return None
    box = np.where(held[0], region[0], x), np.where(held[1], region[1], x)
    row = nested_boxes(x, box, reach, region)
    convex = convexity(evaluator, row, open_, factor, held)
    at_ends = (x == bounds[0]) & (bounds[0] == region[0]), (x == bounds[1]) & (bounds[1] == region[1])
    radius = _distance(_descent_slopes(here, at_ends, open_), factor, convex)
    return _nested_pair(row, convex > 0, box, open_, np.maximum(radius, least[open_, None]), region)


def _descent_slopes(here: Hessian, at_ends: Interval, open_: np.ndarray) -> Interval:
    """The derivatives by the open variables at x, those at a bound, by masks, only as far as f may fall from it."""
    slope, (low, high) = (here.gradient.lo.copy(), here.gradient.hi.copy()), at_ends
    for end in slope:
        end[low], end[high] = np.minimum(here.gradient.lo, 0.0)[low], np.maximum(here.gradient.hi, 0.0)[high]
    return slope[0][open_], slope[1][open_]


def _distance(slope: Interval, factor: np.ndarray, convex: np.ndarray) -> np.ndarray:
    """How far from x the lowest point of each box can be, in each variable: |Tᵀu| with |u| at most twice |T g| by the least
    eigenvalue of T H Tᵀ."""
    push = _length(size(matrix_product(exactly(factor), tuple(end[:, None, None] for end in slope)))[:, 0, 0])
    with np.errstate(all="ignore"):
        most = up(up(2.0 * push) / np.where(convex > 0, convex, np.nan))
    columns = np.array([_length(np.abs(factor[:, i, 0])) for i in range(factor.shape[1])])
    return up(columns[:, None] * most)


def _length(sizes: np.ndarray) -> float:
    """The length of a vector, rounded up."""
    total = 0.0
    for entry in sizes:
        total = up(total + up(entry * entry))
    return up(np.sqrt(total))


def _nested_pair(row: NestedBoxes, convex: np.ndarray, box: Interval, open_: np.ndarray, radius: np.ndarray,
                 bounds: Interval) -> tuple[Interval, Interval] | None:
    """The narrowest K, and the largest B, of the boxes with the lowest point not on any face but those of the bounds. The `box`
    is the point, with variables that are held as their bounds are known."""
    lo, hi = (np.repeat(end[:, None], len(row.share), axis=1) for end in box)
    lo[open_] = np.nextafter(box[0][open_, None] - radius, -np.inf)
    hi[open_] = np.nextafter(box[1][open_, None] + radius, np.inf)
    inside = ((lo > row.lo) | (row.lo == bounds[0][:, None])) & ((hi < row.hi) | (row.hi == bounds[1][:, None]))
    fits = np.flatnonzero(convex & inside[open_].all(axis=0))
    if not len(fits):
        return None
    narrow, wide = fits[-1], fits[0]
    unique = tuple(np.minimum(np.maximum(end[:, narrow], bounds[0]), bounds[1]) for end in (lo, hi))
    return unique, (row.lo[:, wide].copy(), row.hi[:, wide].copy())
