"""The kernel that encloses second derivatives: the upper triangle of the Hessian, and the gradient.

A sum over many data with few variables, as in least squares, has one loop, in which the derivatives by all variables are carried
along (`kernel/jets.py`); nothing is stored, and squares are squares. For other functions:

Row i is the Hessian times the i-th unit vector, by reverse mode; where rows are written out, it begins at the diagonal, else an
entry is the intersection with that of its mirror image. On the diagonal, where reverse mode has products of two enclosures of the
same derivative, the second derivative along the i-th variable (`kernel/jets.py`) has squares: both are intersected. Where f is
not smooth, the entries say nothing.
"""

import numpy as np

from infimum.expr.differentiate import gradient, hessian_vector
from infimum.expr.node import Expr, topological, var
from infimum.interval.pair import SMOOTH, Pair, b_level, exact
from infimum.kernel.box_conclusions import common, whole_if_unsound
from infimum.kernel.constant_data import Data
from infimum.kernel.ir import Builder, Value
from infimum.kernel.jets import ONE, Jets, along_variables, unit
from infimum.kernel.lowering import LaneBox, Lowering, constant_leaf, write_pair
from infimum.kernel.meaning import Enclosures
from infimum.kernel.schedule import STRAIGHT_LINE_COST, independent_roots, is_sum_over_data, straight_cost
from infimum.kernel.view_positions import At
from infimum.structure.term_sums import C


def hessian(name: str, f: Expr, x: Expr, constants: int = 0) -> tuple:
    """(kernel, data, rows of the outputs): lo, hi and level of the value, lo and hi of the gradient, and of the upper triangle of
    the Hessian, row by row. Constants of f, if there are any, are the third input: lower ends, then upper ends."""
    n = x.size
    writer = HessianKernel(f, x, constants)
    size = n * (n + 1) // 2
    return writer.b.kernel(name, 3 if constants else 2, 7), writer.data, (1, 1, 1, n, n, size, size)


class HessianKernel:
    """Writes the kernel."""

    def __init__(self, f: Expr, x: Expr, constants: int = 0):
        self.b, self.data, self.f, self.n = Builder(), Data(), f, x.size
        self.box, self.constant = LaneBox(self.b, self.n), constant_leaf(self.b, 2, constants)
        if not constants and is_sum_over_data(f, x):
            self._all_at_once()
        else:
            self._row_by_row(x)

    # ---- forward: all directions in one loop over the data
    def _all_at_once(self) -> None:
        pairs = tuple(zip(*(a.tolist() for a in np.triu_indices(self.n)), strict=True))
        found = along_variables(self.b, self.f, self.box, self.n, self.data, pairs, self.box.guard)
        self.box.write(0, found.value)
        for slot, derivatives in ((3, found.first), (5, found.second)):
            write = write_pair(self.b, slot)
            for row, p in enumerate(derivatives):
                write(row, p or exact(self.b, 0.0))

    # ---- reverse: a row after the other
    def _row_by_row(self, x: Expr) -> None:
        f, out, first, v = self.f, {}, write_pair(self.b, 3), var("v", x.shape)
        self.product = hessian_vector(f, x, v)
        self.written_out = self.n * straight_cost(list(topological([self.product, f]))) <= 4 * STRAIGHT_LINE_COST
        common_parts = [] if self.written_out else independent_roots(self.product, v)
        self.once = Lowering(self.b, Enclosures(), {"x": self.box, C: self.constant}, self.data)
        self.once.run([(f, lambda at, v: out.setdefault("f", v)), (gradient(f, x), lambda at, v: first(at[0], v)),
                       *((node, lambda at, v: None) for node in common_parts)], self.box.guard,
                      self.written_out, stored={node for node in common_parts if node.size > 1})
        self.box.write(0, out["f"])
        self.smooth = self.b.oge(b_level(self.b, out["f"].level), float(SMOOTH))
        self.write = write_pair(self.b, 5)
        if self.written_out:
            self._rows_written_out()
        else:
            self._rows_in_a_loop()

    def _along(self, i: "int | Value") -> Pair:
        """The second derivative along variable i."""
        jets = Jets(self.data, *ONE)
        leaves = {"x": lambda j: jets.leaf(self.box(j), [unit(self.b, i, j)]), C: lambda j: jets.still(self.constant(j))}
        found, = Lowering(self.b, jets, leaves, self.data).values([self.f], self.written_out or None)
        return whole_if_unsound(self.b, found.second[0] or exact(self.b, 0.0))

    def _both(self, one: Pair, other: Pair) -> Pair:
        """Two enclosures of one number, where f is smooth."""
        b, best = self.b, common(self.b, one, other)
        return Pair(*(b.select(self.smooth, mine, its) for mine, its in ((best.nlo, one.nlo), (best.hi, one.hi))))

    def _rows_written_out(self) -> None:
        row = 0
        for i in range(self.n):
            lowering = self.once.within({"v": lambda j, i=i: unit(self.b, i, j)})
            for j in range(i, self.n):
                entry = whole_if_unsound(self.b, lowering.elements_at([self.product], (j,))[0])
                self.write(row, entry if i != j else self._both(entry, self._along(i)))
                row += 1

    def _rows_in_a_loop(self) -> None:
        b, n = self.b, self.n
        entries = b.buffer(n * n), b.buffer(n * n)
        with b.loop(n) as turn:
            i = turn.index
            diagonal = self._along(i)

            def put(at: At, v: Pair) -> None:
                known, place = whole_if_unsound(b, v), b.place("uadd", b.place("umul", i, n), at[0])
                best = self._both(known, diagonal)
                for buffer, mine, its in zip(entries, (best.nlo, best.hi), (known.nlo, known.hi), strict=True):
                    b.store(buffer, place, b.select(b.ueq(i, at[0]), mine, its))
            self.once.within({"v": lambda j: unit(self.b, i, j)}).run([(self.product, put)], straight=False)
        rows, columns = np.triu_indices(n)
        upper, lower = (self.data.position_offset((a * n + c).astype(np.int64)) for a, c in ((rows, columns), (columns, rows)))
        with b.loop(len(rows)) as turn:
            one, other = (Pair(*(b.load(buffer, b.udata(b.place("uadd", at, turn.index))) for buffer in entries))
                          for at in (upper, lower))
            self.write(turn.index, self._both(one, other))
