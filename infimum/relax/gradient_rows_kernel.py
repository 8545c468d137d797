"""Rows by first derivatives of a function and its constraints, a region a lane.

**Rows.** Let g be f or a constraint, Lipschitz around the bounded region X, c the corner of all lower ends, and [s_i, S_i] its
slopes between c and points x of X (`expr/slope_expressions.py`): g(x) >= g(c) + Σ s_i (x_i - c_i). At the corner of all upper
ends the same holds with S_i. So with d = x - lo every feasible x with f(x) <= U solves a·d <= h for all of these, the
constraint g <= u giving g(x) - u <= 0, g >= l the same for -g, an equation both, and f <= U one as well. What follows is in
`relax/lane_relaxation.py`.

**First order.** Where f certainly rises with x_i on X and every constraint that reads x_i is slack on all of X, minimisers in X
lie on its lower face in x_i; as for functions alone (`kernel/box_conclusions.py`) X is reduced to the face or has none.

Proof: docs/proofs/constraint_lines.md.
"""

from collections.abc import Callable

import numpy as np

from infimum.expr.build import is_zero
from infimum.expr.differentiate import gradient
from infimum.expr.node import Expr
from infimum.expr.slope_expressions import POINT as AT
from infimum.expr.slope_expressions import SlopeExpressions
from infimum.expr.variable_reads import reads
from infimum.interval.pair import DEFINED, INF, LIPSCHITZ, Pair, b_level
from infimum.kernel.box_conclusions import add_up, first_order, whole_if_unsound, with_lower
from infimum.kernel.constant_data import Data
from infimum.kernel.ir import Kernel, Value
from infimum.kernel.lowering import Lowering
from infimum.kernel.meaning import Enclosures
from infimum.kernel.schedule import is_short
from infimum.kernel.system_kernels import outputs_of
from infimum.problem.system import System
from infimum.relax.lane_relaxation import SMALLEST, LaneRelaxation
from infimum.relax.linear_bounds_kernel import LinearBoundsKernel
from infimum.structure.degree import is_linear
from infimum.support.lazy import dataclass

UPPER, POINT = 2, 3              # fixed: outputs: a verified upper bound, and where f has it
_LOW, _HIGH, _MIDDLE = range(3)  # the points


@dataclass(frozen=True)
class RowLayout:
    """The rows of a system, those of constraints before those of f: the row of each, its sign (-1 for -g), its corner, and the
    end of its constraint, that of -g where the sign is -1."""

    row: np.ndarray
    sign: np.ndarray
    corner: np.ndarray
    end: np.ndarray
    constraints: int

    @classmethod
    def of(cls, system: System, linear: np.ndarray) -> "RowLayout":
        """A linear constraint has one for each of its sides, another one two."""
        found = []
        for k in range(system.m):
            for sign, end in ((1.0, system.upper[k]), (-1.0, -system.lower[k])):
                if end < INF:
                    found += [(k + 1, sign, corner, end) for corner in ((_LOW,) if linear[k + 1] else (_LOW, _HIGH))]
        count = len(found)
        found += [(0, 1.0, corner, 0.0) for corner in ((_LOW,) if linear[0] else (_LOW, _HIGH))]
        row, sign, corner, end = (np.array(column) for column in zip(*found, strict=True))
        return cls(row, sign, corner, end, count)

    def of_rows(self, which: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """What there is of each of these rows."""
        return self.row[which], self.sign[which], self.corner[which], self.end[which]


def gradient_rows(name: str, system: System, x: Expr) -> tuple[Kernel, Data, tuple[int, ...], int]:
    """The kernel. Parameters: the verified upper bound, and the user's lower and upper bounds."""
    return GradientRowsKernel(system, x).program(name, 1, x.size)


class GradientRowsKernel(LaneRelaxation):
    """Writes it."""

    def __init__(self, system: System, x: Expr):
        super().__init__(x.size, system.integers, 2 * x.size)
        self.n, self.m, self.system, self.x = x.size, system.m, system, x
        self.linear = np.array([is_linear(row, x) for row in system.rows])
        self.layout = RowLayout.of(system, self.linear)
        self.count, self.constraints = len(self.layout.row), self.layout.constraints
        self.lower_ends, self.upper_ends = (self.data.offset(np.append(-INF if k == 0 else INF, ends))
                                            for k, ends in enumerate((system.lower, system.upper)))
        self.reads = self.data.offset(reads(list(system.rows), x).astype(float))

    def box(self, i: "int | Value") -> Pair:
        lo, hi = self.ends(i)
        return Pair(self.b.neg(lo), hi)

    # ---- enclosures
    def _on_region(self, system: System, derivatives: Expr) -> None:
        """What the rows are on the region, and the derivatives of f."""
        b, n, count = self.b, self.n, 1 + self.m
        self.gradient = b.buffer(2 * n)  # minus the lower ends of all, then the upper ends
        self.slack, self.lipschitz = b.buffer(count), b.buffer(count)

        def derivative(at: tuple, v: Pair) -> None:
            v = whole_if_unsound(b, v)
            for side, end in enumerate((v.nlo, v.hi)):
                b.store(self.gradient, self._place(side * n, at[0]), end)
        raw, write = self._raw()
        Lowering(b, Enclosures(), {"x": self.box}, self.data).run([*outputs_of(b, system, write), (derivatives, derivative)])
        with b.loop(count) as turn:
            k = turn.index
            nlo, hi, level = (b.load(part, k) for part in raw)
            lower, upper, lo = self._table(self.lower_ends, k), self._table(self.upper_ends, k), b.neg(nlo)
            broken = b.uno(nlo, hi)
            calm = b.mand(b.oge(level, float(LIPSCHITZ)), b.mnot(broken))
            inside = b.mand(b.mor(b.ogt(lo, lower), b.oeq(lower, -INF)), b.mor(b.olt(hi, upper), b.oeq(upper, INF)))
            b.store(self.slack, k, b.select(b.mand(inside, calm), 1.0, 0.0))
            b.store(self.lipschitz, k, b.select(calm, 1.0, 0.0))
            empty = b.mand(b.oeq(nlo, -INF), b.oeq(hi, -INF))
            outside = b.mand(b.mor(b.ogt(lo, upper), b.olt(hi, lower)), b.mnot(broken))
            step = b.step((0.0,), (b.select(b.mor(empty, outside), 1.0, 0.0),), add_up)
        self.violated = step.results[0]  # the number of rows that discard the region
        self.lowest = b.neg(whole_if_unsound(b, Pair(*(b.load(part, 0) for part in raw[:2]))).nlo)

    def _raw(self) -> tuple[list[int], Callable]:
        """Buffers for minus the lower ends, the upper ends and the levels of all rows, and their writer."""
        b, raw = self.b, [self.b.buffer(1 + self.m) for _ in range(3)]

        def write(k: "int | Value", v: Pair) -> None:
            for part, value in zip(raw, (v.nlo, v.hi, b_level(b, v.level)), strict=True):
                b.store(part, k, value)
        return raw, write

    def _at_points(self, system: System, slopes: list[SlopeExpressions]) -> None:
        """Values at the two corners, and the slopes of all rows from there; where a point may be feasible, also in the middle."""
        b, n, count = self.b, self.n, 1 + self.m
        self.slopes = b.buffer(2 * 2 * count * n)  # for each corner minus the lower ends of all, then the upper ends
        self.points, self.values = b.buffer(3 * n), b.buffer(2 * 3 * count)  # minus the lower ends, then the upper ends
        self.defined = b.buffer(3 * count)
        with b.loop(n) as turn:
            i = turn.index
            lo, hi = self.ends(i)
            finite_lo, finite_hi = b.ogt(lo, -INF), b.olt(hi, INF)
            middle = b.min(b.max(b.add(b.mul(lo, 0.5), b.mul(hi, 0.5)), lo), hi)
            middle = b.select(b.ogt(self._table(self.whole, i), 0.0), b.floor(middle), middle)
            some = b.select(finite_lo, lo, b.select(finite_hi, hi, 0.0))
            both = b.mand(finite_lo, finite_hi)
            for p, c in ((_LOW, lo), (_HIGH, hi), (_MIDDLE, middle)):
                b.store(self.points, self._place(p * n, i), b.select(both, c, some))
            step = b.step((0.0,), (b.select(both, 0.0, 1.0),), add_up)
        self.bounded = b.oeq(step.results[0], 0.0)
        with b.loop(2) as turn:
            point = self._at_point(system, turn.index)
            self._from_point(slopes, turn.index, point)
        if not system.equal.any():
            self._at_point(system, _MIDDLE)

    def _at_point(self, system: System, p: "int | Value") -> Callable[["int | Value"], Pair]:
        """Values at a point, whose coordinates it returns."""
        b, n, count = self.b, self.n, 1 + self.m

        def point(i: "int | Value") -> Pair:
            c = b.load(self.points, self._place(self._times(p, n), i))
            return Pair(b.neg(c), c)
        raw, write = self._raw()
        Lowering(b, Enclosures(), {"x": point}, self.data).run(outputs_of(b, system, write))
        with b.loop(count) as turn:
            at = self._place(self._times(p, count), turn.index)
            *ends, level = (b.load(part, turn.index) for part in raw)
            value = whole_if_unsound(b, Pair(*ends))
            b.store(self.values, at, value.nlo)
            b.store(self.values, self._place(at, 3 * count), value.hi)
            b.store(self.defined, at, b.select(b.oge(level, float(DEFINED)), 1.0, 0.0))
        return point

    def _from_point(self, slopes: list[SlopeExpressions], p: Value, point: Callable[["int | Value"], Pair]) -> None:
        """Slopes between a corner and the points of the region. Those that are 0 by their form are not computed."""
        b, n, count = self.b, self.n, 1 + self.m
        raw, outputs = [b.buffer(count * n) for _ in range(2)], []
        with b.loop(count * n) as turn:
            for part in raw:
                b.store(part, turn.index, 0.0)

        def writer(begin: int) -> Callable:
            def write(at: tuple, v: Pair) -> None:
                for part, end in zip(raw, (v.nlo, v.hi), strict=True):
                    b.store(part, self._place(begin, at[0]), end)
            return write
        for k, row in enumerate(slopes):
            begin = k * n
            for part in row.value.args if row.value.op == "concat" else (row.value,):
                if not is_zero(part):
                    outputs.append((part, writer(begin)))
                begin += part.size
        leaves = {"x": self.box, AT: point} | {name: self.box for row in slopes for name in row.between}
        Lowering(b, Enclosures(), leaves, self.data).run(outputs)
        with b.loop(count * n) as turn:
            slope = whole_if_unsound(b, Pair(*(b.load(part, turn.index) for part in raw)))
            for side, end in enumerate((slope.nlo, slope.hi)):
                b.store(self.slopes, self._place(self._times(p, 2 * count * n), side * count * n, turn.index), end)

    # ---- the rows
    def _write_rows(self) -> None:
        b, system = self.b, self.system
        self._on_region(system, gradient(system.f, self.x))
        self._at_points(system, [SlopeExpressions(row, self.x) for row in system.rows])
        self.a, self.h = b.buffer((self.count + 1) * self.n), b.buffer(self.count + 1)
        composed = ~self.linear[self.layout.row] & is_short(list(system.rows))
        if composed.any():
            self._compose(np.flatnonzero(composed))
        if not composed.all():
            self._from_slopes(np.flatnonzero(~composed))

    def _from_slopes(self, which: np.ndarray) -> None:
        """a and h of these rows; 0 and infinite where there is none."""
        b, n, count, (rows, signs, corners, ends) = self.b, self.n, 1 + self.m, self.layout.of_rows(which)
        low, plain = corners == _LOW, signs > 0
        place = self.data.position_offset
        first = place(((2 * corners + np.where(low == plain, 0, 1)) * count + rows) * n)  # where its slopes begin
        values = place(corners * count + rows + np.where(plain, 0, 3 * count))
        row, turned, at = place(rows.astype(np.int64)), self.data.offset(np.where(low, -1.0, 1.0)), place(which)
        high, ends = self.data.offset(np.where(low, 0.0, 1.0)), self.data.offset(ends.astype(float))
        with b.loop(len(which)) as turn:
            k = turn.index
            r, begin, sign = b.udata(self._place(at, k)), b.udata(self._place(first, k)), self._table(turned, k)

            def entry(i: Value) -> Value:
                return b.mul(sign, b.load(self.slopes, self._place(begin, i)))
            with b.loop(n) as inner:
                i = inner.index
                a, (lo, hi) = entry(i), self.ends(i)
                width = b.select(b.oge(a, 0.0), b.sub(hi, lo), b.neg(b.sub(lo, hi)))
                total = b.step((0.0, 0.0), (b.mul(a, width), b.abs(a)), add_up)
            along, size = total.results
            h = b.add(self._table(ends, k), b.load(self.values, b.udata(self._place(values, k))))
            h = b.select(b.ogt(self._table(high, k), 0.0), b.add(h, along), h)
            usable = b.mand(b.mand(self.bounded, b.ogt(b.load(self.lipschitz, b.udata(self._place(row, k))), 0.0)),
                            b.mand(b.olt(size, INF), b.olt(b.abs(h), INF)))
            with b.loop(n) as inner:
                b.store(self.a, self._place(self._times(r, n), inner.index), b.select(usable, entry(inner.index), 0.0))
            b.store(self.h, r, b.select(usable, h, INF))

    def _compose(self, which: np.ndarray) -> None:
        """The same by linear bounds of rows that are not linear, of which corners choose the planes."""
        b, n, layout = self.b, self.n, self.layout
        bounds = LinearBoundsKernel(b, self.data, self.box, list(self.system.rows))
        with b.loop(self.count * n) as turn:
            b.store(self.a, turn.index, 0.0)
        for r in which.tolist():
            slopes, nlo = bounds.line(int(layout.row[r]), float(layout.sign[r]), layout.corner[r] == _LOW)
            h, size = b.add(float(layout.end[r]), nlo), b.const(0.0)
            for slope in slopes.values():
                size = b.add(size, b.abs(slope))
            usable = b.mand(self.bounded, b.mand(b.olt(size, INF), b.olt(b.abs(h), INF)))
            for i, slope in slopes.items():
                b.store(self.a, r * n + i, b.select(usable, slope, 0.0))
            b.store(self.h, r, b.select(usable, h, INF))

    # ---- first order, and what is left
    def _reduce(self) -> None:
        """Reduces sides by first order; where no minimiser is left the bound is infinite."""
        b, n = self.b, self.n
        self._mark(b.ogt(self.violated, 0.0), b.ogt(b.const(1.0), 0.0))
        self.new_lo, self.new_hi = b.buffer(n), b.buffer(n)
        calm = b.mand(self.bounded, b.ogt(b.load(self.lipschitz, 0), 0.0))
        with b.loop(n) as turn:
            i = turn.index
            with b.loop(self.m) as inner:
                k = b.place("uadd", inner.index, 1)
                tied = b.mand(b.ogt(self._table(self.reads, self._place(self._times(k, n), i)), 0.0),
                              b.oeq(b.load(self.slack, k), 0.0))
                step = b.step((0.0,), (b.select(tied, 1.0, 0.0),), add_up)
            (lo, hi), whole = self.ends(i), b.ogt(self._table(self.whole, i), 0.0)
            first, last = self._rounded(whole, lo, hi)
            slope = Pair(*(b.load(self.gradient, self._place(side * n, i)) for side in (0, 1)))
            allowed = b.mand(calm, b.oeq(step.results[0], 0.0))
            low, high = (self._table(self.at + 1 + k * n, i) for k in (0, 1))
            # a region of whole numbers ends at them; beyond 2**53 they may be no doubles, and where the user's bounds are such
            beyond = b.mand(b.olt(lo, low), b.olt(low, INF)), b.mand(b.ogt(hi, high), b.ogt(high, -INF))
            own = b.select(b.mand(whole, b.mnot(beyond[0])), lo, low), b.select(b.mand(whole, b.mnot(beyond[1])), hi, high)
            found = first_order(b, allowed, slope, lo, hi, *own)
            left, right = super()._left(i)
            left = b.max(left, b.select(found.on_high, b.min(last, found.left), first))
            right = b.min(right, b.select(found.on_low, b.max(first, found.right), last))
            left, right = self._rounded(whole, left, right)
            nothing = b.ogt(left, right)
            b.store(self.new_lo, i, b.select(nothing, lo, left))
            b.store(self.new_hi, i, b.select(nothing, hi, right))
            facts = b.step((0.0, 0.0), (b.select(found.excluded, 1.0, 0.0), b.select(nothing, 1.0, 0.0)), add_up)
        excluded, nothing = (b.ogt(v, 0.0) for v in facts.results)
        self._mark(b.mand(b.mand(excluded, self.bounded), self.bounded_above), b.ogt(b.const(0.0), 0.0))
        self._mark(nothing, b.mnot(self.bounded_above))
        self.totals, (self.costs, self.lost) = self._variations(), self._costs()
        self._write_point()

    def _left(self, i: Value) -> tuple[Value, Value]:
        return self.b.load(self.new_lo, i), self.b.load(self.new_hi, i)

    def _varies(self, k: "int | Value", i: Value) -> Value:
        """How much a row varies, about, because of a variable."""
        b, count = self.b, 1 + self.m
        places = (self._place(self._times(self._place(side * count, k), self.n), i) for side in (0, 1))
        slope = b.max(*(b.load(self.slopes, place) for place in places))
        return b.mul(slope, b.sub(b.load(self.new_hi, i), b.load(self.new_lo, i)))

    def _variations(self) -> int:
        """Of each row 1 over how much it varies because of all variables; 0 for those that are slack."""
        b, count = self.b, 1 + self.m
        totals = b.buffer(count)
        with b.loop(count) as turn:
            k = turn.index
            with b.loop(self.n) as inner:
                step = b.step((0.0,), (self._varies(k, inner.index),), add_up)
            total = step.results[0]
            counts = b.mand(b.ogt(b.load(self.lipschitz, k), 0.0), b.mand(b.ogt(total, 0.0), b.olt(total, INF)))
            of_f = b.ueq(k, 0)
            counts = b.mand(counts, b.mor(of_f, b.oeq(b.load(self.slack, k), 0.0)))
            b.store(totals, k, b.select(counts, b.div(1.0, total), 0.0))
        return totals

    def _score(self, i: Value, left: Value, right: Value) -> Value:
        """The share in what the bound loses, where that is known, and in what all rows vary by, those aside that are slack."""
        b, count = self.b, 1 + self.m
        known = b.mand(b.ogt(self.lost, 2.0**-900), b.olt(self.lost, INF))
        with b.loop(count) as inner:
            k = inner.index
            share = b.load(self.totals, k)
            term = b.select(b.ogt(share, 0.0), b.mul(self._varies(k, i), share), 0.0)
            step = b.step((0.0,), (term,), add_up)
        after, near = b.max(b.sub(right, left), SMALLEST), b.min(b.abs(left), b.abs(right))
        endless = b.div(2.0**1000, b.max(1.0, b.select(b.olt(near, INF), near, 0.0)))
        smear = b.select(b.olt(after, INF), b.max(step.results[0], b.mul(b.min(after, 2.0**100), 2.0**-200)), endless)
        return b.select(known, b.add(b.div(b.load(self.costs, i), self.lost), b.mul(smear, 1.0 / count)), smear)

    def _costs(self) -> tuple[int, Value]:
        """What the bound loses, about, because slopes vary on the region: for each variable its width, times how much the slopes
        of the rows by it vary, times their multipliers; and the sum of all. What is linear costs nothing."""
        b, n, count = self.b, self.n, 1 + self.m
        costs, row = b.buffer(n), self.data.position_offset(self.layout.row.astype(np.int64))
        with b.loop(n) as turn:
            i = turn.index
            with b.loop(self.count) as inner:
                at = self._place(self._times(b.udata(self._place(row, inner.index)), n), i)
                low, high = (b.add(*(b.load(self.slopes, self._place(at, (2 * corner + side) * count * n)) for side in (0, 1)))
                             for corner in (_LOW, _HIGH))
                weight = self._weight(inner.index)
                step = b.step((0.0,), (b.select(b.ogt(weight, 0.0), b.mul(weight, b.add(low, high)), 0.0),), add_up)
            cost = b.mul(step.results[0], b.sub(b.load(self.new_hi, i), b.load(self.new_lo, i)))
            b.store(costs, i, cost)
            total = b.step((0.0,), (cost,), add_up)
        return costs, total.results[0]

    def _write_point(self) -> None:
        """The best of the points at which every constraint certainly holds. Equations are never certain to."""
        b, n, count = self.b, self.n, 1 + self.m
        if self.system.equal.any():
            b.output(UPPER, 0, INF)
            with b.loop(n) as turn:
                b.output(POINT, turn.index, b.load(self.points, self._place(_MIDDLE * n, turn.index)))
            return
        best = b.const(INF), b.const(float(_MIDDLE))
        for p in range(3):
            with b.loop(count) as turn:
                k = turn.index
                at = p * count
                low, high = b.neg(b.load(self.values, self._place(at, k))), b.load(self.values, self._place(at + 3 * count, k))
                inside = b.mand(b.oge(low, self._table(self.lower_ends, k)), b.ole(high, self._table(self.upper_ends, k)))
                certain = b.mand(inside, b.ogt(b.load(self.defined, self._place(at, k)), 0.0))
                outside = b.step((0.0,), (b.select(certain, 0.0, 1.0),), add_up)
            with b.loop(n) as turn:
                i = turn.index
                c, (lo, hi) = b.load(self.points, self._place(p * n, i)), self.ends(i)
                allowed = b.mand(b.mand(b.oge(c, lo), b.ole(c, hi)), b.olt(b.abs(c), INF))
                rough = b.mand(b.ogt(self._table(self.whole, i), 0.0), b.mnot(b.oeq(b.floor(c), c)))
                wrong = b.step((0.0,), (b.select(b.mand(allowed, b.mnot(rough)), 0.0, 1.0),), add_up)
            holds = b.oeq(b.add(outside.results[0], wrong.results[0]), 0.0)
            value = b.select(holds, b.load(self.values, p * count + 3 * count), INF)
            best = with_lower(b, best, (value, b.const(float(p))))
        b.output(UPPER, 0, best[0])
        with b.loop(n) as turn:
            i = turn.index
            low, high, middle = (b.load(self.points, self._place(p * n, i)) for p in range(3))
            b.output(POINT, i, b.select(b.oeq(best[1], 0.0), low, b.select(b.oeq(best[1], 1.0), high, middle)))
