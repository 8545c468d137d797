"""What is left of each region after a sweep of them where they lie, a region a lane: see
`bounds/sweeps/sweep_context_kernel.py`."""

import numpy as np

from infimum.interval.pair import INF
from infimum.kernel.box_conclusions import add_up, best_lower, larger, with_larger
from infimum.kernel.constant_data import Data
from infimum.kernel.ir import Builder, Value
from infimum.kernel.region_cut import ALIVE, DISCARDED_AXIS, LEAST, NEW_HI, NEW_LO, NO_AXIS, cut, rows, rows_of
from infimum.search.policy.bounds import SWEEPS as POLICY

LEFT, PAID = range(2)    # the outputs of `shaved`
_LEAST_WIDTH = 1e-300  # fixed: its reciprocal is finite


def shaved(name: str, n: int) -> tuple:
    """What is left of each region after a sweep, and 1 if that was worth it, else 0. Inputs: the regions, and what the sweep says
    of each variable. Parameters: the verified upper bound; the part of its volume that a region is worth cutting to.

    A region is gone if one of its variables has no slice left, or if f lies above the upper bound on all of them.
    """
    b, data = Builder(), Data()
    at, index = data.offset(np.array([0.0, POLICY.worth_volume])), data.offset(np.arange(n, dtype=float))
    low_row, axis_row, level_row = rows(n)
    axis = b.input(0, axis_row)

    def enclosure_end(what: int, i: Value) -> Value:
        return b.input(1, b.place("uadd", what * n, i))

    def width(lo: Value, hi: Value) -> Value:
        return b.max(b.sub(hi, lo), _LEAST_WIDTH)
    with b.loop(n) as turn:
        i = turn.index
        lo, hi, high = enclosure_end(NEW_LO, i), enclosure_end(NEW_HI, i), b.place("uadd", i, n)
        new, old, middle = width(lo, hi), width(b.input(0, i), b.input(0, high)), cut(b, lo, hi, 0.5)
        whole = b.oeq(old, INF)
        part = b.select(whole, b.select(b.oeq(new, INF), 1.0, 0.0), b.div(new, old))
        inside, number = b.mand(b.ogt(middle, lo), b.olt(middle, hi)), b.data(b.place("uadd", index, i))
        least = b.step((-INF, 0.0), (enclosure_end(LEAST, i), b.select(b.oeq(enclosure_end(ALIVE, i), 0.0), 1.0, 0.0)), larger)
        volume = b.step((1.0,), (part,), lambda b, p, q: (b.mul(p[0], q[0]),))
        wanted = b.step((0.0,), (b.select(b.mand(inside, b.oeq(axis, number)), 1.0, 0.0),), add_up)
        widest = b.step((-1.0, NO_AXIS), (b.select(inside, new, -1.0), number), with_larger)
    (least, dead), (volume,), (wanted,), (_, widest) = (step.results for step in (least, volume, wanted, widest))
    lower = best_lower(b, b.input(0, low_row), least)
    gone = b.mor(b.ogt(dead, 0.0), b.ogt(lower, b.data(at)))
    with b.loop(n) as turn:
        i = turn.index
        high = b.place("uadd", i, n)
        b.output(LEFT, i, b.select(gone, b.input(0, i), enclosure_end(NEW_LO, i)))
        b.output(LEFT, high, b.select(gone, b.input(0, high), enclosure_end(NEW_HI, i)))
    axis = b.select(gone, DISCARDED_AXIS, b.select(b.ogt(wanted, 0.0), axis, widest))
    for row, value in ((low_row, lower), (axis_row, axis), (level_row, b.input(0, level_row))):
        b.output(LEFT, row, value)
    b.output(PAID, 0, b.select(b.mor(gone, b.ole(volume, b.data(at + 1))), 1.0, 0.0))
    return b.kernel(name, 2, 2), data, (rows_of(n), 1), at
