"""The kernel that tells, where a search starts from several boxes, which faces of a region are faces of the feasible set.

The feasible set F is the union of the start boxes, and every region lies in F. At the lower end of variable i a region R has
*room* if some start box B holds R in all other variables, begins below R in variable i, and does not end below it: whatever point
of R lies on that face, B, and so F, holds the points next to it with a smaller x_i. Then the face means nothing, and the bound
that the region is given there is infinite. Otherwise it is the end of the region itself, as if the user had bounded the variable
there. So a minimiser on a face of F is never taken for one that can move. A face at which only several boxes together leave room
counts as a bound too, which is safe. Upper ends are the mirror image.

Where ends of start boxes are no doubles, regions reach to the doubles beyond them, and a box has *room* for others only as far as
the doubles within it. A region whose lower end lies beyond that of a box then ends at the first double within that box instead,
and there is room only if B reaches that far: so a box may begin next to where another one ends, less than a double apart.

What holds for a region holds for its pieces: at an end that they share there is the same room, and at another one the region
itself is room.

Proof: docs/proofs/start_boxes.md.
"""

import numpy as np

from infimum.interval.pair import INF
from infimum.kernel.box_conclusions import add_up, larger
from infimum.kernel.constant_data import Data
from infimum.kernel.ir import Builder, Kernel, Value


def faces(name: str, n: int, boxes: int, between: bool = False) -> tuple[Kernel, Data, tuple[int, ...], int]:
    """The lower bounds of each region, then the upper bounds. Parameters: the boxes one by one, each the lower ends, then the
    upper ends; where some are `between` doubles, these are rounded inward, and the same ends rounded outward follow."""
    b, data = Builder(), Data()
    rows = 2 + 2 * between
    at, outside = data.offset(np.zeros(rows * n * boxes)), b.buffer(boxes)

    def ends(i: Value) -> tuple[Value, Value]:
        return b.input(0, i), b.input(0, b.place("uadd", i, n))

    def start(k: Value, i: Value, row: int = 0) -> tuple[Value, Value]:
        first = b.place("uadd", at + row * n, b.place("uadd", b.place("umul", k, rows * n), i))
        return b.data(first), b.data(b.place("uadd", first, n))

    def within(i: Value, lo: Value, hi: Value) -> tuple[Value, Value]:
        """The ends of a region, at the first and last doubles within boxes beyond whose ends they lie."""
        with b.loop(boxes) as box:
            (low, high), (first, last) = start(box.index, i, 2), start(box.index, i)
            moved = (b.select(b.mand(b.ole(low, lo), b.olt(lo, first)), first, lo),
                     b.neg(b.select(b.mand(b.oge(high, hi), b.ogt(hi, last)), last, hi)))
            most = b.step((-INF, -INF), moved, larger)
        return most.results[0], b.neg(most.results[1])

    def beyond(k: Value, i: Value) -> Value:
        """1 where the box does not hold the region in variable i."""
        (lo, hi), (low, high) = ends(i), start(k, i)
        return b.select(b.mand(b.ole(low, lo), b.ole(hi, high)), 0.0, 1.0)
    with b.loop(boxes) as box:
        with b.loop(n) as turn:
            total = b.step((0.0,), (beyond(box.index, turn.index),), add_up)
        b.store(outside, box.index, total.results[0])
    with b.loop(n) as turn:
        i = turn.index
        lo, hi = ends(i)
        own_lo, own_hi = within(i, lo, hi) if between else (lo, hi)
        with b.loop(boxes) as box:
            k = box.index
            low, high = start(k, i)
            holds = b.ole(b.load(outside, k), beyond(k, i))  # in all other variables
            below = b.mand(holds, b.mand(b.olt(low, lo), b.ole(own_lo, high)))
            above = b.mand(holds, b.mand(b.ogt(high, hi), b.oge(own_hi, low)))
            room = b.step((0.0, 0.0), (b.select(below, 1.0, 0.0), b.select(above, 1.0, 0.0)), larger)
        for row, end, no_bound in zip((0, n), (own_lo, own_hi), (-INF, INF), strict=True):
            free = b.ogt(room.results[row // n], 0.0)
            b.output(0, b.place("uadd", i, row), b.select(free, no_bound, end))
    return b.kernel(name, 1, 1), data, (2 * n,), at
