"""Rows over the variables and the products and curves of a system: the lifted relaxation, a region a lane.

**Columns** (`relax/lifting.py`) are enclosed on the region X from the variables on. At every feasible point x of X the numbers
z_c that the columns are there lie in these enclosures [l_c, u_c], and obey

* the rows of the system, which are linear in the columns; what sums are; and linear equations times a variable, which are
  linear in the columns as well, as all products that occur are columns;
* for a product w = a b the planes of McCormick: (a - l_a)(b - l_b) >= 0 and its three like;
* for a curve w = p(a) the lines below and above it (`ops/line_rules.py`), touching it at the best point known, or next to it,
  and, where it is convex or concave, at two points near the ends.

These are the rows of a relaxation (`relax/lane_relaxation.py`), with f, which is linear in the columns, as the last one.

**The variable to cut next** is that whose products and curves are the furthest from what the solution of the linear program takes
them for, each weighed by the multipliers of its lines: by this amount the bound would rise if they were exact.

Proof: docs/proofs/lifted_relaxation.md.
"""

from functools import partial

import numpy as np

from infimum.expr.node import Expr
from infimum.interval.pair import INF, Pair
from infimum.kernel.box_conclusions import add_up
from infimum.kernel.constant_data import Data
from infimum.kernel.ir import Builder, Kernel, Value
from infimum.kernel.region_cut import rows
from infimum.ops.line_rules import lines_of, touching
from infimum.problem.system import System
from infimum.relax.column_enclosures import ColumnEnclosures
from infimum.relax.curve_lines import curve_of, enclosed_curve, name_of
from infimum.relax.lane_relaxation import LaneRelaxation
from infimum.relax.lifting import LinearForm, doubles, lift_of
from infimum.search.policy.bounds import LINEAR_RELAXATIONS as POLICY

POINT = 2  # fixed: an output: the solution of the linear program


def lifted(name: str, system: System, x: Expr) -> tuple[Kernel, Data, tuple[int, ...], int]:
    """The kernel. Parameters: the verified upper bound; the best point known, or NaN; and by what widths are multiplied where
    it is chosen what to cut."""
    return LiftedKernel(system, x).program(name, x.size)


class LiftedKernel(ColumnEnclosures, LaneRelaxation):
    """Writes it."""

    worth_volume, worth_gap = 0.0, POLICY.lifted_worth_gap_left  # it is too costly to be worth a reduced region alone

    def __init__(self, system: System, x: Expr):
        super().__init__(x.size, system.integers, 2 * x.size)
        self.lift, b = lift_of(system, x), self.b
        self.n, self.constraints, self.count = len(self.lift.columns), self.lift.count, self.lift.count + 1
        self.enclosures = tuple(b.buffer(self.n) for _ in range(3))  # minus the lower ends, the upper ends, the levels
        self.points, self.lowest = b.buffer(self.n), b.const(-INF)

    def _near(self, i: Value, lo: Value, hi: Value) -> Value:
        b, best = self.b, self._table(self.at + 1, i)
        return b.min(b.max(b.select(b.uno(best, best), b.add(b.mul(lo, 0.5), b.mul(hi, 0.5)), best), lo), hi)

    # ---- rows
    def _write_rows(self) -> None:
        b, n, lift = self.b, self.n, self.lift
        self._enclose()
        self.a, self.h = b.buffer((self.count + 1) * n), b.buffer(self.count + 1)
        fixed = len(lift.fixed)
        with b.loop((self.constraints - fixed) * n) as turn:
            b.store(self.a, self._place(fixed * n, turn.index), 0.0)
        self._fixed_rows([*lift.fixed, lift.rows[0]])
        if lift.products:
            self._product_rows(fixed)
        begin = fixed + 4 * len(lift.products)
        for curve in dict.fromkeys(lift.columns[k].curve for k in lift.curves):
            which = [k for k in lift.curves if lift.columns[k].curve == curve]
            self._curve_rows(begin, curve, which)
            begin += 4 * len(which)

    def _fixed_rows(self, forms: list[LinearForm]) -> None:
        """Those with the same coefficients for every region, and f's."""
        b, n, count = self.b, self.n, len(forms)
        least, most = np.zeros((count, n)), np.zeros((count, n))
        constants = np.array([-doubles(form.constant)[0] for form in forms])
        for r, form in enumerate(forms):
            for k, number in form.terms:
                least[r, k], most[r, k] = doubles(number)
        low, high, right = (self.data.offset(table) for table in (least, most, constants))
        targets = self._places([*range(count - 1), self.count - 1])
        with b.loop(count) as turn:
            r = turn.index
            target, = targets(r)
            with b.loop(n) as inner:
                k = inner.index
                place = self._place(self._times(r, n), k)
                nlo, a, more = b.load(self.enclosures[0], k), self._table(low, place), self._table(high, place)
                b.store(self.a, self._place(self._times(target, n), k), a)
                total = b.step((0.0,), (b.max(b.mul(a, nlo), b.mul(more, nlo)),), add_up)
            b.store(self.h, target, b.add(self._table(right, r), total.results[0]))

    def _put(self, r: Value, entries: list[tuple[Value, Value]], h: Value) -> None:
        for k, a in entries:
            self.b.store(self.a, self._place(self._times(r, self.n), k), a)
        self.b.store(self.h, r, h)

    def _product_rows(self, begin: int) -> None:
        """d_w = w - l_w, and so on: in all four rows most of the constant cancels."""
        b, lift = self.b, self.lift
        factors = [lift.columns[k].factors for k in lift.products]
        places = self._places(lift.products, *map(list, zip(*factors, strict=True)))
        with b.loop(len(factors)) as turn:
            w, one, other = places(turn.index)
            (a, a_hi), (c, c_hi), (lo, _) = (self.ends(k) for k in (one, other, w))
            r = self._place(begin, self._times(turn.index, 4))
            rest = b.fma(a, c, b.neg(lo))
            corner = b.fma(a_hi, c_hi, b.fma(b.neg(a_hi), c, b.fma(b.neg(a), c_hi, lo)))
            self._put(r, [(one, c), (other, a), (w, b.const(-1.0))], b.fma(b.neg(a), c, lo))
            self._put(self._place(r, 1), [(one, c_hi), (other, a_hi), (w, b.const(-1.0))], corner)
            self._put(self._place(r, 2), [(one, b.neg(c)), (other, b.neg(a_hi)), (w, b.const(1.0))], rest)
            self._put(self._place(r, 3), [(one, b.neg(c_hi)), (other, b.neg(a)), (w, b.const(1.0))], rest)

    def _curve_rows(self, begin: int, curve: tuple[str, tuple], which: list[int]) -> None:
        b, (op, params) = self.b, curve
        places = self._places(which, [self.lift.columns[k].argument for k in which])
        name = name_of("tangents", op, params)
        with b.loop(len(which)) as turn:
            w, argument = places(turn.index)
            a, y = self._pair(argument), self._pair(w)
            r = self._place(begin, self._times(turn.index, 4))
            found = b.outline(name, partial(_tangents, op=op, params=params), a.nlo, a.hi, y.nlo, y.hi, y.level,
                              b.load(self.points, argument))
            for number in range(4):
                side, slope, rest = found[3 * number:3 * number + 3]
                turned = b.mul(side, slope)  # side (slope a - w) <= rest
                h = b.add(b.add(rest, b.mul(turned, a.nlo)), b.mul(side, b.neg(y.nlo)))
                usable = b.mand(b.olt(b.abs(slope), INF), b.olt(b.abs(h), INF))
                self._put(self._place(r, number), [(argument, b.select(usable, turned, 0.0)),
                                                   (w, b.select(usable, b.mul(-1.0, side), 0.0))], b.select(usable, h, INF))

    # ---- what is cut next
    def _reduce(self) -> None:
        self.scores = self._scores()

    def _score(self, i: Value, left: Value, right: Value) -> Value:
        """Where nothing is wrong it stays with the variable that is to be cut, if it can be."""
        b, score = self.b, self.b.load(self.scores, i)
        mine = b.oeq(b.input(0, rows(self.variables)[1]), self._table(self.numbers, i))
        return b.select(b.mand(self.bounded, b.ogt(score, 0.0)), score, b.select(mine, 0.0, -1.0))

    def _scores(self) -> int:
        """Of each variable: by how much its products and curves are wrong, times their multipliers."""
        b, lift = self.b, self.lift
        point, values, scores = self.solved.point(), b.buffer(self.n), b.buffer(self.variables)
        with b.loop(self.n) as turn:
            k = turn.index
            low, high = b.load(self.low, k), b.load(self.high, k)
            b.store(values, k, b.add(self.ends(k)[0], b.fma(b.sub(high, low), b.load(point, k), low)))
        with b.loop(self.variables) as turn:
            b.output(POINT, turn.index, b.load(values, turn.index))
        lifted = [*lift.products, *(k for c in dict.fromkeys(lift.columns[k].curve for k in lift.curves)
                                    for k in lift.curves if lift.columns[k].curve == c)]
        wrong = b.buffer(len(lifted))
        begin = len(lift.fixed)

        def weighed(number: "int | Value", error: Value) -> None:
            y = b.const(0.0)
            for k in range(4):
                y = b.add(y, self._weight(self._place(begin + k, self._times(number, 4))))
            total = b.mul(b.abs(error), y)
            b.store(wrong, number, b.select(b.olt(total, INF), total, 0.0))
        if lift.products:
            places = self._places(lift.products, *map(list, zip(*(lift.columns[k].factors for k in lift.products), strict=True)))
            with b.loop(len(lift.products)) as turn:
                w, one, other = (b.load(values, k) for k in places(turn.index))
                weighed(turn.index, b.sub(b.mul(one, other), w))
        at = len(lift.products)
        for curve in dict.fromkeys(lift.columns[k].curve for k in lift.curves):
            which = [k for k in lift.curves if lift.columns[k].curve == curve]
            places = self._places(which, [lift.columns[k].argument for k in which])
            with b.loop(len(which)) as turn:
                w, c = (b.load(values, k) for k in places(turn.index))
                weighed(self._place(at, turn.index), b.sub(enclosed_curve(b, *curve, Pair(b.neg(c), c)).hi, w))
            at += len(which)
        reads = self.data.offset(lift.reads[lifted].T.astype(float).copy())
        with b.loop(self.variables) as turn:
            i = turn.index
            with b.loop(len(lifted)) as inner:
                share = self._table(reads, self._place(self._times(i, len(lifted)), inner.index))
                total = b.step((0.0,), (b.mul(share, b.load(wrong, inner.index)),), add_up)
            lo, hi = self.ends(i)
            relative = b.mul(b.sub(hi, lo), self._table(self.at + 1 + self.variables, i))
            b.store(scores, i, b.mul(total.results[0], relative))
        return scores


def _tangents(b: Builder, *given: Value, op: str, params: tuple) -> tuple[Value, ...]:
    """Four lines for w = p(a), each as (side, slope, rest): side (slope a - w) <= rest."""
    made, a, y, lo, hi = curve_of(b, op, params), Pair(*given[:2]), Pair(*given[2:5]), b.neg(given[0]), given[1]
    lines = lines_of(b, made, a, y, given[5])
    found = [b.const(1.0), lines.slope_below, lines.nlo, b.const(-1.0), lines.slope_above, lines.hi]
    for part in (POLICY.tangent_inset, 1.0 - POLICY.tangent_inset):
        t = b.min(b.max(b.add(b.mul(lo, 1.0 - part), b.mul(hi, part)), lo), hi)
        slope, nlo, above = touching(b, made, a, y, t)
        below = b.olt(nlo, INF)
        found += [b.select(below, 1.0, -1.0), slope, b.select(below, nlo, above)]
    return tuple(found)
