"""The kernel of a step of branch and bound: a lane cuts its piece out of its parent and bounds it.

**Regions** are columns of one array: the lower ends, the upper ends, a lower bound of f, the variable to cut next, the status of
f. All are doubles, so that a region is moved, kept and sent as one thing. The variable to cut is `NO_AXIS` where no double lies
strictly inside any side, and `DISCARDED_AXIS` where the region is proved away.

**Cuts.** The cut at the part q of [lo, hi] is D = lo + (hi - lo) q rounded down, or, where D is lo, the same rounded up. So it is
one double for both neighbours, it never falls as q grows, and at q = 1/2 it lies strictly inside wherever any double does: up
to the first double above lo, D of a smaller q is lo, and its stand-in is at most that double. D is below hi because hi - lo,
rounded up, is off by much less than a part of it. The ends of the parent are taken as they are, not computed. An unbounded
side is cut in two, whatever the number of pieces: the line at 0, a half-line at 0, or at 1, or at twice its end.

**Whole numbers** are cut between floor(D) and floor(D) + 1, so that no piece holds a number of its neighbour, as long as both
are doubles for certain: where |D| < 2**53. Beyond, both pieces end at D, so that whole numbers that are no doubles stay in one.

Proof: docs/proofs/first_order.md, docs/proofs/exact_bounds.md.
"""

from collections.abc import Callable

import numpy as np

from infimum.interval.pair import INF
from infimum.kernel.box_conclusions import larger, with_larger
from infimum.kernel.constant_data import Data
from infimum.kernel.ir import Builder, Kernel, Value

REGIONS, UPPER, POINT = range(3)               # the outputs
NO_AXIS, DISCARDED_AXIS = -1.0, -2.0           # instead of a variable to cut
ABOVE, DISCARDED, NEAR, FAR, FINAL = range(5)  # what becomes of a region
OUTCOME_COUNT = 5
NEW_LO, NEW_HI, ALIVE, LEAST = range(4)               # the rows of a sweep's output
_LARGEST = 1.7976931348623157e308
_WHOLE_BELOW = 2.0**53  # fixed: below it a whole number and the next one are doubles, and their sum with 1 is exact


def rows_of(n: int) -> int:
    """How many numbers a region of n variables has."""
    return 2 * n + 3


def rows(n: int) -> tuple[int, int, int]:
    """The rows of the lower bound, the variable to cut, the status; before them are the lower ends, then the upper ends."""
    return 2 * n, 2 * n + 1, 2 * n + 2


def cut(b: Builder, lo: Value, hi: Value, part: "float | Value") -> Value:
    """Where [lo, hi] is cut: see above. For an unbounded side `part` does not matter."""
    return b.outline("cut", _cut, lo, hi, part)[0]


def _cut(b: Builder, lo: Value, hi: Value, part: Value) -> Value:
    width, nlo = b.sub(hi, lo), b.neg(lo)
    down, up = b.neg(b.fma(b.neg(width), part, nlo)), b.fma(width, part, lo)
    inside = b.select(b.ogt(down, lo), down, up)
    # the width is no double, its ends are
    weighed = b.neg(b.fma(nlo, b.sub(1.0, part), b.mul(b.neg(hi), part)))
    inside = b.select(b.olt(width, INF), inside, weighed)
    right = b.select(b.olt(lo, 0.0), 0.0, b.select(b.olt(lo, 0.5), 1.0, b.min(b.mul(2.0, lo), _LARGEST)))
    left = b.select(b.ogt(hi, 0.0), 0.0, b.select(b.ogt(hi, -0.5), -1.0, b.max(b.mul(2.0, hi), -_LARGEST)))
    no_low, no_high = b.mnot(b.ogt(lo, -INF)), b.mnot(b.olt(hi, INF))
    outside = b.select(no_low, b.select(no_high, 0.0, left), right)
    point = b.add(b.select(b.mor(no_low, no_high), outside, inside), 0.0)  # one of the two zeros
    return b.min(b.max(point, lo), hi)


def can_be_cut(b: Builder, lo: Value, hi: Value) -> Value:
    """Does a double lie strictly inside?"""
    middle = cut(b, lo, hi, 0.5)
    return b.mand(b.ogt(middle, lo), b.olt(middle, hi))


class RegionPiece:
    """A lane's piece of its parent, input 0. Parameters: its number k, and the parts k / pieces, (k + 1) / pieces.

    The only piece of one (0, 0, 1) is the parent itself. A piece that is a point of its neighbour is `void`, and so is one
    without a whole number where the variable is one: `whole` is where a table of these begins, which are 1 there.
    """

    def __init__(self, b: Builder, n: int, number_of: Callable[["int | Value"], Value], at: int, whole: int | None = None):
        self.b, self.n, self.number_of = b, n, number_of
        self.axis = b.input(0, rows(n)[1])
        number, before, after = (b.data(at + i) for i in range(3))
        with b.loop(n) as turn:
            i = turn.index
            mine = b.select(self._is_axis(i), 1.0, 0.0)
            known = () if whole is None else (b.data(b.place("uadd", whole, i)),)
            side = b.step((-1.0, 0.0, 0.0, *(0.0 for _ in known)),
                          (mine, b.input(0, i), b.input(0, b.place("uadd", i, n)), *known), with_larger)
        _, low, high, *known = side.results
        bounded = b.mand(b.ogt(low, -INF), b.olt(high, INF))
        is_whole = b.ogt(known[0], 0.0) if known else None
        left = b.select(b.mor(bounded, b.oeq(number, 1.0)), self._cut(low, high, before, is_whole, 1.0), high)
        right = b.select(b.mor(bounded, b.oeq(number, 0.0)), self._cut(low, high, after, is_whole, 0.0), high)
        self.left, self.right = b.select(b.ole(before, 0.0), low, left), b.select(b.oge(after, 1.0), high, right)
        only_point = b.mand(b.oeq(number, 0.0), b.oeq(low, high))
        self.void = b.mand(b.ole(self.right, self.left), b.mnot(only_point))
        if is_whole is not None:
            none = b.mor(b.olt(self.right, self.left), b.mand(b.mnot(bounded), b.ogt(number, 1.0)))
            shared = b.mor(b.mnot(is_whole), b.ogt(b.abs(self.left), _WHOLE_BELOW))  # a point of a neighbour, if it is a point
            self.void = b.mor(b.mand(is_whole, none), b.mand(shared, self.void))

    def _cut(self, low: Value, high: Value, part: Value, is_whole: Value | None, beyond: float) -> Value:
        """The end of a piece. Of whole numbers it is floor(D), or the next one, as long as both are doubles for certain."""
        b, point = self.b, cut(self.b, low, high, part)
        if is_whole is None:
            return point
        near = b.mand(is_whole, b.olt(b.abs(point), _WHOLE_BELOW))
        return b.select(near, b.add(b.floor(point), beyond), point)

    def _is_axis(self, i: "int | Value") -> Value:
        return self.b.oeq(self.axis, self.number_of(i))

    def ends(self, i: "int | Value") -> tuple[Value, Value]:
        b, mine = self.b, self._is_axis(i)
        lo, hi = b.input(0, i), b.input(0, b.place("uadd", i, self.n))
        return b.select(mine, self.left, lo), b.select(mine, self.right, hi)


def region_outcome(name: str, n: int, boxes: int = 0) -> tuple[Kernel, Data, tuple[int, ...], int]:
    """What becomes of each region. Parameters: the verified upper bound, and the border between near and far regions; and where
    ends of the feasible set, a union of `boxes` boxes, are no doubles, for each box the numbers (n) that the upper ends of a
    region must reach, then those that its lower ends must not exceed: one that lies beyond all boxes is proved away.

    Only an ordered lower > upper discards; a lower bound that is NaN would stay. No kernel writes one: see `best_lower`.
    """
    b, data = Builder(), Data()
    at = data.offset(np.zeros(2 + 2 * n * boxes))
    low_row, axis_row, _ = rows(n)
    lower, axis, upper, border = b.input(0, low_row), b.input(0, axis_row), b.data(at), b.data(at + 1)
    kept = b.select(b.ole(lower, border), float(NEAR), float(FAR))
    kept = b.select(b.oeq(axis, NO_AXIS), float(FINAL), kept)
    found = b.select(b.ogt(lower, upper), float(ABOVE), kept)
    gone = b.oeq(axis, DISCARDED_AXIS)
    if boxes:
        gone = b.mor(gone, _beyond_all(b, n, boxes, at + 2))
    b.output(0, 0, b.select(gone, float(DISCARDED), found))
    return b.kernel(name, 1, 1), data, (1,), at


def _beyond_all(b: Builder, n: int, boxes: int, at: int) -> Value:
    """Does the region lie beyond each box in some variable?"""
    with b.loop(boxes) as box:
        with b.loop(n) as turn:
            i = turn.index
            first = b.place("uadd", at, b.place("uadd", b.place("umul", box.index, 2 * n), i))
            least, most = b.data(first), b.data(b.place("uadd", first, n))
            apart = b.mor(b.olt(b.input(0, b.place("uadd", i, n)), least), b.ogt(b.input(0, i), most))
            beyond = b.step((0.0,), (b.select(apart, 1.0, 0.0),), larger)
        met = b.step((0.0,), (b.select(b.ogt(beyond.results[0], 0.0), 0.0, 1.0),), larger)
    return b.oeq(met.results[0], 0.0)


def wide(name: str, n: int) -> tuple[Kernel, Data, tuple[int, ...], int]:
    """(the lower bound of a region that is too wide, NaN of another; the side to cut). Parameter: what is too wide.

    That is the side that the region is to be cut at next anyway, which has the largest smear, if it is too wide, else the widest.
    A side without a double strictly inside does not count, since it cannot be cut. A width is rounded up, so that none is wider
    than it seems.
    """
    b, data = Builder(), Data()
    at, index = data.offset(np.zeros(1)), data.offset(np.arange(n, dtype=float))
    with b.loop(n) as turn:
        i = turn.index
        lo, hi = b.input(0, i), b.input(0, b.place("uadd", i, n))
        width, middle = b.sub(hi, lo), cut(b, lo, hi, 0.5)
        counts = b.mand(b.ogt(width, b.data(at)), b.mand(b.ogt(middle, lo), b.olt(middle, hi)))
        number = b.data(b.place("uadd", index, i))
        width = b.select(b.oeq(b.input(0, rows(n)[1]), number), INF, width)
        side = b.step((-1.0, NO_AXIS), (b.select(counts, width, -1.0), number), with_larger)
    widest, axis = side.results
    b.output(0, 0, b.select(b.ogt(widest, 0.0), b.input(0, rows(n)[0]), float("nan")))
    b.output(1, 0, axis)
    return b.kernel(name, 1, 2), data, (1, 1), at
