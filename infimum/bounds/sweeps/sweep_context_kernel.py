"""Kernels that sweep many regions where they lie, a region a lane: `spread` before the kernel of a sweep, `shaved`
(`bounds/shaving_kernel.py`) after it.

A sweep has a lane for each variable of each region. With variables as rows and regions as columns these lanes stand in memory as
regions do: an array of k times n rows and N columns is one of k rows and n times N columns.
"""

import numpy as np

from infimum.expr.node import Expr
from infimum.interval.pair import INF, SMOOTH, Pair
from infimum.kernel.box_conclusions import larger
from infimum.kernel.constant_data import Data
from infimum.kernel.ir import Builder, Value
from infimum.ops.powers import norm_root
from infimum.structure.local_form import EXACT, NEUTRAL, LocalForm, LocalNumber, all_sources, local_form, sources
from infimum.structure.local_form_positions import ReductionSide, exact, parts, within

_FOR_USER, _FOR_NUMBERS = range(2)  # the outputs, for two of a sweep's inputs


class _Reader:
    """The numbers of a local form in a lane: `rows` says what they are at position i, as `bounds/sweeps/local_context.py` does.

    The regions are input 0; behind them come the arrays of the context, three for each source.
    """

    def __init__(self, b: Builder, data: Data, form: LocalForm, n: int):
        self.b, self.data, self.n, self.positions = b, data, n, np.arange(n)
        nodes = all_sources(form)
        self.slots = {number.name: [1 + 3 * nodes.index(node) for node in sources(number)] for number in form.numbers}

    def _constant(self, table: np.ndarray, i: Value) -> Value:
        return self.b.data(self.b.place("uadd", self.data.offset(table.astype(float)), i))

    def _place(self, table: np.ndarray, i: Value) -> Value:
        return self.b.udata(self.b.place("uadd", self.data.position_offset(table), i))

    def rows(self, number: LocalNumber, i: Value) -> list[Value]:
        """Lower end, upper end, level; one row if it is exact."""
        b = self.b
        if number.kind in EXACT:
            return [self._constant(exact(number, self.positions), i)]
        slots = self.slots[number.name]
        if number.kind == "array":
            at = self._place(within(number, self.positions), i)
            if slots:
                return [b.input(slots[0] + row, at) for row in range(3)]
            return [b.input(0, at), b.input(0, b.place("uadd", at, self.n)), b.const(float(SMOOTH))]
        if number.kind == "scalar":
            return [b.input(slots[0] + row, 0) for row in range(3)]
        one, *others = [self._part(slots[source], slots[2], part, number, i) for source, part in parts(number, self.positions)]
        for two in others:
            root = norm_root(b, Pair(b.min(b.add(b.neg(one[0]), b.neg(two[0])), 0.0), b.add(one[1], two[1])))
            one = [root.lo(b), root.hi, b.min(one[2], two[2])]
        return one

    def _part(self, running: int, whole: int, part: ReductionSide, number: LocalNumber, i: Value) -> list[Value]:
        b, at, neutral = self.b, self._place(part.at, i), NEUTRAL[number.op]
        everything, nothing = (b.ogt(self._constant(mask, i), 0.0) for mask in (part.everything, part.nothing))
        return [b.select(nothing, none, b.select(everything, b.input(whole + row, 0), b.input(running + row, at)))
                for row, none in enumerate((neutral, neutral, float(SMOOTH)))]


def spread(name: str, f: Expr, x: Expr, in_boxes: bool = False) -> tuple:
    """What a sweep reads beside the box, for every variable of each region. Parameters: the user's bounds; where they are those
    of each region (`kernel/start_face_kernel.py`), they are the last input instead."""
    form, b, data, n = local_form(f, x), Builder(), Data(), x.size
    at = data.offset(np.zeros(2 * n))
    reader, inputs = _Reader(b, data, form, n), 1 + 3 * len(all_sources(form))
    with b.loop(n) as turn:
        lo, hi = b.input(0, turn.index), b.input(0, b.place("uadd", turn.index, n))
        endless = b.step((0.0,), (b.select(b.mand(b.ogt(lo, -INF), b.olt(hi, INF)), 0.0, 1.0),), larger)
    bounded, count = b.sub(1.0, endless.results[0]), 0

    def put(slot: int, row: int, i: Value, value: Value) -> None:
        b.output(slot, b.place("uadd", row * n, i), value)
    with b.loop(n) as turn:
        i = turn.index
        user = [b.input(inputs, b.place("uadd", k, i)) if in_boxes else b.data(b.place("uadd", at + k, i)) for k in (0, n)]
        for row, value in enumerate((*user, bounded)):
            put(_FOR_USER, row, i, value)
        for number in form.numbers:
            for value in reader.rows(number, i):
                put(_FOR_NUMBERS, count, i, value)
                count += 1
    return b.kernel(name, inputs + in_boxes, 2), data, (3 * n, max(1, count) * n), at
