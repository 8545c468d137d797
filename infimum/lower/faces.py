"""The kernel that tells, where a search starts from several boxes, which faces of a region are faces of the feasible set.

The feasible set F is the union of the start boxes, and every region lies in F. At the lower end of variable i a region R has
*room* if some start box B holds R in all other variables, begins below R in variable i, and does not end below it: whatever point
of R lies on that face, B, and so F, holds the points next to it with a smaller x_i. Then the face means nothing, and the bound
that the region is given there is infinite. Otherwise it is the end of the region itself, as if the user had bounded the variable
there. So a minimiser on a face of F is never taken for one that can move. A face at which only several boxes together leave room
counts as a bound too, which is safe. Upper ends are the mirror image.

What holds for a region holds for its pieces: at an end that they share there is the same room, and at another one the region
itself is room.
"""

import numpy as np

from infimum.interval.pair import INF
from infimum.lower.data import Data
from infimum.lower.kernel import Builder, Kernel, Value
from infimum.lower.proof import add_up, larger


def faces(name: str, n: int, count: int) -> tuple[Kernel, Data, tuple[int, ...], int]:
    """The lower bounds of each region, then the upper bounds. Parameters: the boxes one by one, each the lower ends, then the
    upper ends."""
    b, data = Builder(), Data()
    at, outside = data.offset(np.zeros(2 * n * count)), b.buffer(count)

    def ends(i: Value) -> tuple[Value, Value]:
        return b.input(0, i), b.input(0, b.place("uadd", i, n))

    def start(k: Value, i: Value) -> tuple[Value, Value]:
        first = b.place("uadd", at, b.place("uadd", b.place("umul", k, 2 * n), i))
        return b.data(first), b.data(b.place("uadd", first, n))

    def beyond(k: Value, i: Value) -> Value:
        """1 where the box does not hold the region in variable i."""
        (lo, hi), (low, high) = ends(i), start(k, i)
        return b.select(b.mand(b.ole(low, lo), b.ole(hi, high)), 0.0, 1.0)
    with b.loop(count) as box:
        with b.loop(n) as turn:
            total = b.step((0.0,), (beyond(box.index, turn.index),), add_up)
        b.store(outside, box.index, total.results[0])
    with b.loop(n) as turn:
        i = turn.index
        lo, hi = ends(i)
        with b.loop(count) as box:
            k = box.index
            low, high = start(k, i)
            holds = b.ole(b.load(outside, k), beyond(k, i))  # in all other variables
            below = b.mand(holds, b.mand(b.olt(low, lo), b.ole(lo, high)))
            above = b.mand(holds, b.mand(b.ogt(high, hi), b.oge(hi, low)))
            room = b.step((0.0, 0.0), (b.select(below, 1.0, 0.0), b.select(above, 1.0, 0.0)), larger)
        for row, end, no_bound in zip((0, n), (lo, hi), (-INF, INF), strict=True):
            free = b.ogt(room.results[row // n], 0.0)
            b.output(0, b.place("uadd", i, row), b.select(free, no_bound, end))
    return b.kernel(name, 1, 1), data, (2 * n,), at
