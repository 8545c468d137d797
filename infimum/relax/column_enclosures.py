"""Enclosures of the columns of a system (`relax/lifting.py`), a region a lane: from the variables on, each of what it is made
of."""

from collections.abc import Callable

import numpy as np

from infimum.interval.arithmetic import mul
from infimum.interval.pair import INF, SMOOTH, Pair, b_level
from infimum.kernel.box_conclusions import larger, whole_if_unsound
from infimum.kernel.constant_data import Writer
from infimum.kernel.ir import Value
from infimum.relax.curve_lines import enclosed_curve
from infimum.relax.lifting import Lift, LinearForm, doubles


class ColumnEnclosures(Writer):
    """Writes them. Before, whoever derives from it has made the buffers."""

    lift: Lift
    variables: int
    n: int                            # columns
    enclosures: tuple[int, int, int]  # buffers: minus the lower ends, the upper ends, the levels
    points: int                       # a buffer: about what the columns are at a point

    def ends(self, i: "int | Value") -> tuple[Value, Value]:
        nlo, hi, _ = (self.b.load(part, i) for part in self.enclosures)
        return self.b.neg(nlo), hi

    def _pair(self, k: "int | Value") -> Pair:
        return Pair(*(self.b.load(part, k) for part in self.enclosures))

    def _keep(self, k: "int | Value", v: Pair, point: Value) -> None:
        b, sound = self.b, whole_if_unsound(self.b, v)
        for part, value in zip(self.enclosures, (sound.nlo, sound.hi, b_level(b, v.level)), strict=True):
            b.store(part, k, value)
        b.store(self.points, k, b.select(b.olt(b.abs(point), INF), point, 0.0))

    def _side(self, i: Value) -> tuple[Value, Value]:
        """The ends of a variable."""
        return self.b.input(0, i), self.b.input(0, self._place(i, self.variables))

    def _near(self, i: Value, lo: Value, hi: Value) -> Value:
        """The number of a side near which lines are to touch."""
        raise NotImplementedError

    def _places(self, *tables: list[int]) -> Callable[[Value], list[Value]]:
        at = [self.data.position_offset(np.array(table, np.int64)) for table in tables]
        return lambda i: [self.b.udata(self._place(begin, i)) for begin in at]

    def _enclose(self) -> None:
        """All columns on the region, and about what they are at the best point."""
        b, lift = self.b, self.lift
        with b.loop(self.variables) as turn:
            i = turn.index
            lo, hi = self._side(i)
            self._keep(i, Pair(b.neg(lo), hi), self._near(i, lo, hi))
        for depth in range(1, 1 + max(column.depth for column in lift.columns)):
            level = [(k, column) for k, column in enumerate(lift.columns) if column.depth == depth]
            products = [(k, *column.factors) for k, column in level if column.factors]
            if products:
                places = self._places(*map(list, zip(*products, strict=True)))
                with b.loop(len(products)) as turn:
                    k, one, other = places(turn.index)
                    first, second = self._pair(one), self._pair(other)
                    level_of = b.min(first.level, second.level)
                    self._keep(k, mul(b, first, second).but(level=level_of),
                               b.mul(b.load(self.points, one), b.load(self.points, other)))
            for curve in dict.fromkeys(column.curve for _, column in level if column.curve):
                self._curves_of(curve, [(k, column.argument) for k, column in level if column.curve == curve])
            for k, column in level:
                if column.form is not None:
                    self._sum(k, column.form)
        with b.loop(self.n) as turn:
            lo, hi = self.ends(turn.index)
            furthest = b.step((0.0,), (b.max(b.abs(lo), b.abs(hi)),), larger)
        self.bounded = b.olt(furthest.results[0], INF)

    def _curves_of(self, curve: tuple[str, tuple], which: list[tuple[int, int]]) -> None:
        b, (op, params) = self.b, curve
        places = self._places(*map(list, zip(*which, strict=True)))
        with b.loop(len(which)) as turn:
            k, argument = places(turn.index)
            c = b.load(self.points, argument)
            enclosed = enclosed_curve(b, op, params, self._pair(argument))
            self._keep(k, enclosed, enclosed_curve(b, op, params, Pair(b.neg(c), c)).hi)

    def _sum(self, k: int, form: LinearForm) -> None:
        b = self.b
        constant = doubles(form.constant)
        nlo, hi, level, point = b.const(-constant[0]), b.const(constant[1]), b.const(float(SMOOTH)), b.const(constant[1])
        for j, number in form.terms:
            lo_factor, hi_factor = doubles(number)
            v, pair = self._pair(j), Pair(b.const(-lo_factor), b.const(hi_factor))
            term = mul(b, pair, v)
            nlo, hi, level = b.add(nlo, term.nlo), b.add(hi, term.hi), b.min(level, v.level)
            point = b.fma(hi_factor, b.load(self.points, j), point)
        if k in self.lift.within:
            lo, most = self.lift.within[k]
            least, most = b.min(nlo, -lo), b.min(hi, most)
            some = b.ole(b.neg(least), most)  # where there is none, whoever looks at constraints finds out
            nlo, hi = b.select(some, least, nlo), b.select(some, most, hi)
        self._keep(k, Pair(nlo, hi, level), point)
