"""Both ends of f on many boxes of a frame, by Taylor's formula to second order where f is smooth.

With c the middle of a box of u and d = u - c, f = f(c) + γ·d + d·M d / 2, where γ encloses the slopes along the frame's axes at c
and M the second derivatives along them on all of the box. Along each axis γ_i d_i + M_ii d_i²/2 is bounded as it is; what is not
on the diagonal, which is small in a principal frame, by its size. Natural enclosure and mean value form hold everywhere else.

Proof: docs/proofs/sublevel_sets.md.
"""

from typing import NamedTuple

import numpy as np

from infimum.evaluation.evaluator import Evaluator
from infimum.linear_algebra.interval_matrices import Interval, down, exactly, minus, plus, size, times, up
from infimum.sets.frame import Frame


class TaylorEnclosure(NamedTuple):
    """f on boxes: `lo` is not above any of its values, `hi` not below; `defined` on all of a box. `varies` (n, N): about by how
    much f varies along each axis, NaN where that is not known."""

    lo: np.ndarray
    hi: np.ndarray
    defined: np.ndarray
    varies: np.ndarray


def both_ends(evaluator: Evaluator, frame: Frame, lo: np.ndarray, hi: np.ndarray) -> TaylorEnclosure:
    """f on the boxes [lo, hi] (n, N) of the frame."""
    place = frame.place(lo, hi)
    value, low, high = evaluator.curvature(*place, np.ascontiguousarray(frame.matrix.T))
    found = TaylorEnclosure(value.lo.copy(), value.hi.copy(), value.defined, np.full(lo.shape, np.nan))
    smooth = np.flatnonzero(value.smooth & (np.isfinite(lo) & np.isfinite(hi)).all(axis=0))
    rough = np.flatnonzero(~value.smooth & ~value.empty)
    if len(rough):
        best = evaluator.mean_value(*(end[:, rough] for end in place)).best
        found.lo[rough], found.hi[rough] = np.maximum(found.lo[rough], best.lo), np.minimum(found.hi[rough], best.hi)
    if len(smooth):
        lo, hi = lo[:, smooth], hi[:, smooth]
        middle = np.minimum(np.maximum(0.5 * lo + 0.5 * hi, lo), hi)
        here = evaluator.gradient(*frame.place(middle, middle))
        slopes = _along(frame, (here.lo, here.hi))
        form = taylor((here.value.lo, here.value.hi), slopes, (low[..., smooth], high[..., smooth]),
                      minus((lo, hi), exactly(middle)))
        reach = size((low[..., smooth], high[..., smooth]))
        found.varies[:, smooth] = (size(slopes) + (reach * (hi - lo)[None]).sum(axis=1)) * (hi - lo)
        usable = here.value.lipschitz
        found.lo[smooth] = np.where(usable, np.fmax(found.lo[smooth], form[0]), found.lo[smooth])
        found.hi[smooth] = np.where(usable, np.fmin(found.hi[smooth], form[1]), found.hi[smooth])
    return found


def _along(frame: Frame, gradient: Interval) -> Interval:
    """The slopes along the frame's axes."""
    n, total = len(frame.centre), None
    for j in range(n):
        term = times(exactly(frame.matrix[j, :, None]), (gradient[0][None, j], gradient[1][None, j]))
        total = term if total is None else plus(total, term)
    return total


def taylor(value: Interval, slopes: Interval, curvature: Interval, d: Interval) -> Interval:
    """value + slopes·d + d·curvature d / 2 for all numbers in the enclosures: slopes (n, N), curvature (n, n, N), d (n, N)."""
    n, reach = len(d[0]), size(d)
    low, high = value
    for i in range(n):
        g, negative = (slopes[0][i], slopes[1][i]), (-slopes[1][i], -slopes[0][i])
        side = d[0][i], d[1][i]
        high = up(high + _largest(g, curvature[1][i, i], side))
        low = down(low - _largest(negative, -curvature[0][i, i], side))
        for j in range(i + 1, n):
            across = up(up(size((curvature[0][i, j], curvature[1][i, j])) * reach[i]) * reach[j])
            low, high = down(low - across), up(high + across)
    return low, high


def _largest(g: Interval, h: np.ndarray, d: Interval) -> np.ndarray:
    """Not below g d + h d²/2 for any g and d within the intervals, where the second derivative is at most h.

    Where h >= 0, that is convex in d, and largest at an end. Where h < 0, it lies below its tangent at any point, here about
    the one where it is largest.
    """
    ends = [up(times(g, exactly(end))[1] + up(0.5 * up(np.maximum(h, 0.0) * up(end * end)))) for end in d]
    at = np.minimum(np.maximum(np.where(h < 0, (0.5 * g[0] + 0.5 * g[1]) / np.where(h < 0, -h, 1.0), 0.0), d[0]), d[1])
    slope = plus(g, times(exactly(h), exactly(at)))
    there = up(times(g, exactly(at))[1] + up(0.5 * times(exactly(h), (np.maximum(down(at * at), 0.0),) * 2)[1]))
    tangent = up(there + times(slope, minus(d, exactly(at)))[1])
    return np.where(h < 0, tangent, np.maximum(*ends))
