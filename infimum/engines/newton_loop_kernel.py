"""The kernels of the interval Newton loop beside that of the step itself (`bounds/newton_kernel.py`), a region a lane.

`tests`: what the natural enclosures of f and its gradient say of a region, before any second derivative: the bounds test, the
monotonicity test, the solution test, and which variable is to be cut. A solution is marked `NO_AXIS`: nothing cuts it any more.
`split`: what becomes of it after a Newton step, one region or two. See `engines`.

Proof: docs/proofs/second_order.md.
"""

import numpy as np

from infimum.bounds.newton_kernel import NO_GAP
from infimum.interval.pair import INF, Pair
from infimum.kernel.box_conclusions import best_lower, first_order, larger, natural, upper_end, with_larger
from infimum.kernel.constant_data import Data
from infimum.kernel.ir import Builder, Kernel, Value
from infimum.kernel.region_cut import DISCARDED_AXIS, NO_AXIS, cut, rows, rows_of

REGIONS, UPPER = range(2)                   # the outputs of `tests`
FIRST, SECOND, SAMPLED = range(3)           # and of `split`
AGAIN = 0.0  # fixed: a variable to be cut, of a region that is to be tested again first


def tests(name: str, n: int, in_boxes: bool = False) -> tuple[Kernel, Data, tuple[int, ...], int]:
    """Inputs: the regions; lower end, upper end and level of f; lower and upper ends of its gradient; the bounds of each region,
    unless they are the user's. Parameters: the user's bounds; how wide a solution may be, and f on it; how low f may be on one
    where it is not Lipschitz, since it need not vary less on a narrower one there. Outputs: the regions, and the upper end of f
    where it is defined on all of a region.

    Of the sides that are too wide, where there are any, that one is cut on which the derivative varies most, as a product of both
    widths, or the widest, where derivatives say nothing. A region that was just reduced to a face is tested again before it is
    given up as too narrow to be cut.
    """
    b, data = Builder(), Data()
    at, index = data.offset(np.zeros(2 * n + 3)), data.offset(np.arange(n, dtype=float))
    widest, slack, low_enough = (b.data(at + 2 * n + k) for k in range(3))
    low_row, axis_row, level_row = rows(n)
    value = Pair(b.neg(b.input(1, 0)), b.input(2, 0), b.input(3, 0))
    known = natural(b, value)
    lipschitz = known.lipschitz(b)
    with b.loop(n) as turn:
        i = turn.index
        high = b.place("uadd", i, n)
        lo, hi = b.input(0, i), b.input(0, high)
        low, up = (b.input(6, k) if in_boxes else b.data(b.place("uadd", at, k)) for k in (i, high))
        slope = Pair(b.neg(b.input(4, i)), b.input(5, i))
        found = first_order(b, lipschitz, slope, lo, hi, low, up)
        left, right = found.left, found.right
        b.output(REGIONS, i, left)
        b.output(REGIONS, high, right)
        width, middle, number = b.sub(right, left), cut(b, left, right, 0.5), b.data(b.place("uadd", index, i))
        varies = b.mul(b.select(lipschitz, b.add(slope.nlo, slope.hi), 1.0), width)
        varies = b.select(b.ogt(varies, 0.0), varies, 0.0)  # NaN, where one is infinite and the other 0, counts as nothing
        inside, too_wide = b.mand(b.ogt(middle, left), b.olt(middle, right)), b.ogt(width, widest)
        facts = b.step((0.0,) * 4, (b.select(found.excluded, 1.0, 0.0), b.max(b.abs(lo), b.abs(hi)), b.select(too_wide, 1.0, 0.0),
                                    b.select(b.mor(found.on_low, found.on_high), b.sub(b.sub(hi, lo), b.sub(right, left)), 0.0)),
                       larger)
        any_side = b.step((-1.0, NO_AXIS), (b.select(inside, varies, -1.0), number), with_larger)
        wide_side = b.step((-1.0, NO_AXIS), (b.select(b.mand(inside, too_wide), varies, -1.0), number), with_larger)
    excluded, furthest, not_narrow, reduced = facts.results
    gone = b.mor(known.empty, b.mand(b.ogt(excluded, 0.0), b.olt(furthest, INF)))
    axis = b.select(b.ogt(wide_side.results[0], -1.0), wide_side.results[1], any_side.results[1])
    axis = b.select(b.mand(b.oeq(axis, NO_AXIS), b.ogt(reduced, 0.0)), AGAIN, axis)
    lower = b.add(best_lower(b, b.input(0, low_row), b.neg(known.nlo)), 0.0)  # one of the two zeros
    varies_little, is_low = b.ole(b.add(value.nlo, value.hi), slack), b.oge(lower, low_enough)
    close = b.mor(b.mand(lipschitz, varies_little), b.mand(b.mnot(lipschitz), is_low))
    axis = b.select(b.mand(close, b.ole(not_narrow, 0.0)), NO_AXIS, axis)
    b.output(REGIONS, low_row, lower)
    b.output(REGIONS, axis_row, b.select(gone, DISCARDED_AXIS, axis))
    b.output(REGIONS, level_row, b.input(3, 0))
    b.output(UPPER, 0, upper_end(b, value))
    return b.kernel(name, 6 + in_boxes, 2), data, (rows_of(n), 1), at


def split(name: str, n: int, gaps: bool = False) -> tuple[Kernel, Data, tuple[int, ...], int]:
    """Inputs: the regions before the step; what it left of them; 1 where it left little enough; the upper end and the level of f
    at the middle; what the step said, its last rows the widest gap. Parameter: the least gap to cut at, as a part of its side.

    A solution stays one; what shrank enough stays whole, and so does, to be tested again, what cannot be cut. Other regions are
    cut at a gap that is wide enough, else in the middle of the variable to be cut. Outputs: two regions, of which the second may
    be gone, and the upper end of f at the middle where it is defined there.
    """
    b, data = Builder(), Data()
    at, index = data.offset(np.zeros(1)), data.offset(np.arange(n, dtype=float))
    low_row, axis_row, level_row = rows(n)
    axis = b.input(1, axis_row)
    gone, solved = b.oeq(axis, DISCARDED_AXIS), b.oeq(b.input(0, axis_row), NO_AXIS)
    whole = b.mor(b.mor(gone, solved), b.mor(b.oeq(axis, NO_AXIS), b.ogt(b.input(2, 0), 0.0)))

    def is_side(i: Value, which: Value) -> Value:
        return b.oeq(b.data(b.place("uadd", index, i)), which)
    side = axis
    if gaps:
        gap, end, begin = (b.input(5, 4 * n + k) for k in range(3))
        with b.loop(n) as turn:
            width = b.sub(b.input(1, b.place("uadd", turn.index, n)), b.input(1, turn.index))
            share = b.step((0.0,), (b.select(is_side(turn.index, gap), b.div(b.sub(begin, end), width), 0.0),), larger)
        at_gap = b.mand(b.mnot(b.oeq(gap, NO_GAP)), b.oge(share.results[0], b.data(at)))
        side = b.select(at_gap, gap, axis)
    with b.loop(n) as turn:
        i = turn.index
        high = b.place("uadd", i, n)
        lo, hi = b.input(1, i), b.input(1, high)
        middle = cut(b, lo, hi, 0.5)
        here = b.mand(is_side(i, side), b.mnot(whole))
        first_end, second_begin = (b.select(at_gap, there, middle) for there in (end, begin)) if gaps else (middle, middle)
        for out, low, up in ((FIRST, lo, b.select(here, first_end, hi)), (SECOND, b.select(here, second_begin, lo), hi)):
            b.output(out, i, low)
            b.output(out, high, up)
    for out, kept in ((FIRST, b.mnot(gone)), (SECOND, b.mnot(whole))):
        b.output(out, low_row, b.input(1, low_row))
        b.output(out, axis_row,
                 b.select(kept, b.select(solved, NO_AXIS, b.select(b.oeq(axis, NO_AXIS), AGAIN, axis)), DISCARDED_AXIS))
        b.output(out, level_row, b.input(1, level_row))
    b.output(SAMPLED, 0, upper_end(b, Pair(b.const(INF), b.input(3, 0), b.input(4, 0))))
    return b.kernel(name, 5 + gaps, 3), data, (rows_of(n), rows_of(n), 1), at
