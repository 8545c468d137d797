"""The kernel of lower bounds by tangents: f(x) >= L(x, y) + D(x, y) on a region X (`structure/outer_tangents.py`), for any point
y of it.

**Lower bound.** That of the mean value form of L in x, L(c, y) + G (X - c) with the derivatives G of L on X, at the point c where
it is highest, and that of D by slices. On a slice S of its quantity q, what a piece p lies above its tangent at q(y) is enclosed
as any piece is; and, where p is smooth on the hull of S and q(y), by Taylor's formula, as p''(hull) (S - q(y))**2 / 2, which
shows convexity. L has to be Lipschitz on X, and X bounded.

**What is left of X.** Where f is not above the verified upper bound u, G_i (x_i - c_i) is at most u less all the other terms of
the lower bound: that leaves a part of each variable.

**Upper bound.** f(y).

Proof: docs/proofs/tangents.md.
"""

import numpy as np

from infimum.bounds.function_bounds.first_order_kernel import best_centre
from infimum.expr.differentiate import gradient
from infimum.expr.node import Expr
from infimum.interval.arithmetic import mul, square, sub
from infimum.interval.pair import INF, SMOOTH, Pair
from infimum.kernel.box_conclusions import (
    NaturalEnclosure,
    add_up,
    larger,
    natural,
    parts_left,
    tilt,
    upper_end,
    whole_if_unsound,
)
from infimum.kernel.constant_data import Data
from infimum.kernel.element_lowering import Elements
from infimum.kernel.forms.sliced_pieces import PieceSlices
from infimum.kernel.ir import Builder, Value
from infimum.kernel.lowering import Lowering
from infimum.kernel.meaning import Enclosures
from infimum.kernel.region_cut import rows
from infimum.kernel.view_positions import At
from infimum.search.policy.bounds import TANGENTS as POLICY
from infimum.structure.outer_tangents import TangentExcess, tangents

LEFT, PAID, UPPER = range(3)  # the outputs


def tangent(name: str, f: Expr, x: Expr) -> tuple:
    """(kernel, data, rows of the outputs, where the parameter begins): the rows of a sweep, from which `bounds/shaving_kernel.py`
    makes what is left of a region; 1 where it was worth the cost, else 0; an upper bound of f at y. Inputs: the regions, and the
    points y in them. Parameter: the verified upper bound."""
    writer = TangentKernel(f, x)
    return writer.b.kernel(name, 2, 3), writer.data, (4 * x.size, 1, 1), writer.at


class TangentKernel:
    """Writes it."""

    def __init__(self, f: Expr, x: Expr):
        self.b, self.data, self.n = Builder(), Data(), x.size
        self.at = self.data.offset(np.zeros(1))
        self.form = tangents(f, x)
        b, leaves, out = self.b, {"x": self._box, "y": self._point}, {}
        slopes = b.buffer(self.n), b.buffer(self.n)

        def keep(at: tuple, g: Pair) -> None:
            g = whole_if_unsound(b, g)
            for buffer, end in zip(slopes, (g.nlo, g.hi), strict=True):
                b.store(buffer, at[0], end)
        Lowering(b, Enclosures(), leaves, self.data).run([(self.form.value, lambda at, v: out.setdefault("L", v)),
                                                          (gradient(self.form.value, x), keep)])
        self.slope = lambda i: Pair(*(b.load(end, i) for end in slopes))
        self._mean_value_form(natural(b, out["L"]))
        at_point, = Lowering(b, Enclosures(), {"x": self._point}, self.data).values([f])
        self._write(upper_end(b, at_point))

    def _box(self, i: "int | Value") -> Pair:
        return Pair(self.b.neg(self.b.input(0, i)), self.b.input(0, self.b.place("uadd", i, self.n)))

    def _point(self, i: "int | Value") -> Pair:
        return Pair(self.b.neg(self.b.input(1, i)), self.b.input(1, i))

    def _mean_value_form(self, known: NaturalEnclosure) -> None:
        """Minus the lower bound, and what each variable has in it; whether it is one."""
        b, n = self.b, self.n
        centre = b.buffer(n)
        with b.loop(n) as turn:
            i = turn.index
            box = self._box(i)
            b.store(centre, i, best_centre(b, box.lo(b), box.hi, self.slope(i)))
            furthest = b.step((0.0,), (b.max(box.nlo, box.hi),), larger)
        self.centre = lambda i: Pair(b.neg(b.load(centre, i)), b.load(centre, i))
        value, = Lowering(b, Enclosures(), {"x": self.centre, "y": self._point}, self.data).values([self.form.value])
        nlo = whole_if_unsound(b, value).nlo
        if self.form.above is not None:
            pieces = {node: _AboveTangent(b, above, self.data) for node, above in self.form.pieces.items()}
            above, = Lowering(b, Enclosures(), {"x": self._box, "y": self._point}, self.data, pieces).values(
                [self.form.above], straight=False)
            nlo = b.add(nlo, whole_if_unsound(b, above).nlo)
        self.tilt = lambda i: tilt(b, self.slope(i), self._box(i), self.centre(i))
        with b.loop(n) as turn:
            tilts = b.step((0.0,), (self.tilt(turn.index),), add_up)
        self.whole = b.add(nlo, tilts.results[0])
        bounded = b.mand(known.lipschitz(b), b.olt(furthest.results[0], INF))
        self.usable = b.mand(bounded, b.olt(b.abs(self.whole), INF))  # and no NaN

    def _write(self, upper: Value) -> None:
        """Rows of a sweep; whether it was worth it; the upper bound."""
        b, n = self.b, self.n
        before, best = b.input(0, rows(n)[0]), b.data(self.at)
        lower = b.select(self.usable, b.neg(self.whole), -INF)
        room = b.add(best, self.whole)  # what may be added to the lower bound before it is above the upper bound
        with b.loop(n) as turn:
            i = turn.index
            box, c = self._box(i), self.centre(i)
            others = b.sub(room, self.tilt(i))  # the slope of this variable times its distance from c is no larger
            least = Pair(b.const(INF), b.select(b.uno(others, others), INF, others))
            low, high = parts_left(b, least, self.slope(i), sub(b, box, c))[:2]
            low, high = b.max(b.neg(b.add(b.neg(low), c.nlo)), box.lo(b)), b.min(b.add(c.hi, high), box.hi)
            cut, alive = b.mand(self.usable, b.ole(low, high)), b.mnot(b.mand(self.usable, b.ogt(low, high)))
            ends = b.select(cut, low, box.lo(b)), b.select(cut, high, box.hi)
            for what, value in enumerate((*ends, b.select(alive, 1.0, 0.0), lower)):
                b.output(LEFT, b.place("uadd", what * n, i), value)
            gone = b.step((0.0,), (b.select(alive, 0.0, 1.0),), larger)
        closed = b.mand(b.ogt(lower, before), b.olt(b.sub(best, lower), b.mul(POLICY.worth_gap_left, b.sub(best, before))))
        b.output(PAID, 0, b.select(b.mor(closed, b.ogt(gone.results[0], 0.0)), 1.0, 0.0))
        b.output(UPPER, 0, upper)


class _AboveTangent(PieceSlices):
    """Encloses what one element of a piece lies above its tangent."""

    def __init__(self, b: Builder, above: TangentExcess, data: Data):
        super().__init__(b, above.piece, data, POLICY.slices_of_piece)
        self.above = above

    def __call__(self, elements: Elements, known: Pair, at: At) -> Pair:
        self.there = elements.element(self.above.at_point, at)
        self.leaves = {self.above.there["name"]: lambda _: self.there}
        return super().__call__(elements, known, at)

    def _enclosure(self, lo: Value, hi: Value, at: At) -> tuple[Value, ...]:
        b, there = self.b, self.there
        nlo, high = super()._enclosure(lo, hi, at)
        hull = Pair(b.max(b.neg(lo), there.nlo), b.max(hi, there.hi))
        outer, curvature = self._over(hull, at, self.above.outer, self.above.curvature)
        distance = square(b, sub(b, Pair(b.neg(lo), hi), there.but(level=SMOOTH)))
        taylor = whole_if_unsound(b, mul(b, whole_if_unsound(b, curvature), distance)).nlo
        known = natural(b, outer)
        usable = b.mand(b.oge(known.level, float(SMOOTH)), b.olt(b.max(hull.nlo, hull.hi), INF))
        mine = b.select(usable, b.mul(0.5, taylor), INF)
        return b.select(b.olt(mine, nlo), mine, nlo), high
