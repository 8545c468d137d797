"""The kernel of lower bounds by tangents: of a region X and a point y, f(x) >= L(x, y) + D(x, y) (`expr/tangents.py`), for any y.

**Lower bound.** That of the mean value form of L in x, at the point where it is highest, and that of D by slices. On a slice S of its
quantity q, what a piece p lies above its tangent at q(y) is enclosed as any piece is; and, where p is smooth on the hull of S and
q(y), by Taylor's formula as p''(hull) (S - q(y))**2 / 2, which shows convexity. L needs to be Lipschitz on X, and X bounded.
**Upper bound.** f(y), if y lies in X, as it does here.
"""

import numpy as np

from infimum.expr.diff import gradient
from infimum.expr.node import Expr, var
from infimum.expr.tangents import Above, tangents
from infimum.interval.arithmetic import mul, square, sub
from infimum.interval.pair import INF, SMOOTH, Pair
from infimum.lower.bound import best_centre
from infimum.lower.branch import rows, rows_of
from infimum.lower.data import Data
from infimum.lower.elements import Elements
from infimum.lower.kernel import Builder, Value
from infimum.lower.lowering import Lowering
from infimum.lower.meaning import Enclosures
from infimum.lower.pieces import Slices
from infimum.lower.proof import add_up, best_lower, larger, natural, tilt, upper_end, whole_if_unsound
from infimum.lower.views import At

LEFT, WORTH, UPPER = range(3)  # the outputs
_SLICES = 8
_CLOSED = 0.125                # it was worth the cost where so much of the distance to the upper bound is left


def tangent(name: str, f: Expr, x: Expr) -> tuple:
    """(kernel, data, rows of the outputs, where the parameter begins): the regions with raised lower bounds; 1 where that was worth
    it, else 0; an upper bound of f at y. Inputs: the regions and the points y in them. Parameter: the verified upper bound."""
    writer = Tangent(f, x)
    return writer.b.kernel(name, 2, 3), writer.data, (rows_of(x.size), 1, 1), writer.at


class Tangent:
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
        lower = self._lower(natural(b, out["L"]))
        at_point, = Lowering(b, Enclosures(), {"x": self._point}, self.data).values([f])
        self._write(lower, upper_end(b, at_point))

    def _box(self, i: "int | Value") -> Pair:
        return Pair(self.b.neg(self.b.input(0, i)), self.b.input(0, self.b.place("uadd", i, self.n)))

    def _point(self, i: "int | Value") -> Pair:
        return Pair(self.b.neg(self.b.input(1, i)), self.b.input(1, i))

    def _lower(self, known: "natural") -> Value:
        """Minus infinity where nothing follows."""
        b, n = self.b, self.n
        centre = b.buffer(n)
        with b.loop(n) as turn:
            i = turn.index
            box = self._box(i)
            b.store(centre, i, best_centre(b, box.lo(b), box.hi, self.slope(i)))
            furthest = b.step((0.0,), (b.max(box.nlo, box.hi),), larger)

        def at_centre(i: "int | Value") -> Pair:
            return Pair(b.neg(b.load(centre, i)), b.load(centre, i))
        value, = Lowering(b, Enclosures(), {"x": at_centre, "y": self._point}, self.data).values([self.form.value])
        with b.loop(n) as turn:
            i = turn.index
            tilts = b.step((0.0,), (tilt(b, self.slope(i), self._box(i), at_centre(i)),), add_up)
        nlo = b.add(whole_if_unsound(b, value).nlo, tilts.results[0])
        usable = b.mand(known.lipschitz(b), b.olt(furthest.results[0], INF))
        if self.form.above is not None:
            pieces = {node: _AboveTangent(b, above, self.data) for node, above in self.form.pieces.items()}
            above, = Lowering(b, Enclosures(), {"x": self._box, "y": self._point}, self.data, pieces).values(
                [self.form.above], straight=False)
            nlo = b.add(nlo, whole_if_unsound(b, above).nlo)
        usable = b.mand(usable, b.olt(b.abs(nlo), INF))  # and no NaN
        return b.select(usable, b.neg(nlo), -INF)

    def _write(self, lower: Value, upper: Value) -> None:
        b, n = self.b, self.n
        low_row, axis_row, level_row = rows(n)
        with b.loop(2 * n) as turn:
            b.output(LEFT, turn.index, b.input(0, turn.index))
        before, best = b.input(0, low_row), b.data(self.at)
        lower = best_lower(b, before, lower)
        for row, value in ((low_row, lower), (axis_row, b.input(0, axis_row)), (level_row, b.input(0, level_row))):
            b.output(LEFT, row, value)
        closed = b.ole(b.sub(best, lower), b.mul(_CLOSED, b.sub(best, before)))
        b.output(WORTH, 0, b.select(b.mand(closed, b.ogt(lower, before)), 1.0, 0.0))
        b.output(UPPER, 0, upper)


class _AboveTangent(Slices):
    """Encloses what one element of a piece lies above its tangent."""

    def __init__(self, b: Builder, above: Above, data: Data):
        super().__init__(b, above.piece, data, _SLICES)
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
