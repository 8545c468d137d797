"""The kernel of Newton's method for equations: what the equations of a system leave of a region together, a region a lane.

Let h_1, …, h_m be the constraints with two finite ends, l_k <= h_k <= u_k, equations among them, Lipschitz around the bounded
region X; c is the middle of X, and S_kj encloses the slopes of h_k between c and the points of X (`expr/slope_expressions.py`).
At every feasible point x of X

    0 = h_k(c) - e_k + Σ_j S_kj (x_j - c_j)    for some e_k in [l_k, u_k],

and the same is true of sums of multiples of these rows, by any numbers Y. Each of them is solved for one variable after the
other, the others at what is left of them (Gauss-Seidel): first the rows as they stand, then Y times them. There are as many rows
as equations and more variables as a rule. Elimination chooses in which of them the rows are solved, for each region anew: in
row after row that in which it varies most on X, once those chosen before are eliminated. Y is what that multiplies the rows by,
about the inverse of the middle of S in these columns; the others stay where they are, as intervals. A row that is
about a sum of the rows before it has no variable, and is used all the same.

Nothing relies on how well Y was computed. A row counts only where its slopes are bounded, and where its ends are closer
than it varies: wide ends would only blur the sums. A region of which nothing is left has no feasible point, by constraints alone.

Proof: docs/proofs/equations.md.
"""

import numpy as np

from infimum.expr.build import is_zero
from infimum.expr.node import Expr
from infimum.expr.slope_expressions import POINT as AT
from infimum.expr.slope_expressions import SlopeExpressions
from infimum.interval.arithmetic import mul, neg
from infimum.interval.pair import INF, LIPSCHITZ, Pair, b_level
from infimum.kernel.box_conclusions import add_up, larger, parts_left, whole_if_unsound, with_larger
from infimum.kernel.constant_data import Data, Writer
from infimum.kernel.ir import Builder, Kernel, Value
from infimum.kernel.lowering import Lowering
from infimum.kernel.meaning import Enclosures
from infimum.kernel.region_cut import DISCARDED_AXIS, NO_AXIS, can_be_cut, rows, rows_of
from infimum.problem.system import System
from infimum.search.policy.bounds import NEWTON_EQUATIONS as POLICY

LEFT, PAID = range(2)       # the outputs
_LARGEST_INVERSE = 2.0**500  # fixed: of the numbers Y: no product overflows
_SMALLEST_INVERSE = 2.0**-900  # fixed: its reciprocal is finite


def newton_equations(name: str, system: System, x: Expr) -> tuple[Kernel, Data, tuple[int, ...], int]:
    """The kernel. Parameters: by what widths are multiplied where it is chosen what to cut; 1 where the rows choose it."""
    writer = NewtonEquationsKernel(system, x)
    return writer.b.kernel(name, 1, 2), writer.data, (rows_of(x.size), 1), writer.at


class NewtonEquationsKernel(Writer):
    """Writes it."""

    def __init__(self, system: System, x: Expr):
        self.b, self.data, self.n, self.system = Builder(), Data(), x.size, system
        self.used = system.two_sided
        self.m = len(self.used)
        self.at = self.data.offset(np.zeros(x.size + 1))
        self.whole = self.data.offset(np.isin(np.arange(self.n), system.integers).astype(float))
        self.numbers = self.data.offset(np.arange(self.n, dtype=float))
        # minus the lower ends and the upper ends: of the rows, then of Y times the rows
        self.slopes = tuple(self.b.buffer(2 * self.m * self.n) for _ in range(2))
        self.right = tuple(self.b.buffer(2 * self.m) for _ in range(2))
        self.shares = self.b.buffer(self.m)  # one divided by what a row varies by; 0 for one that is not used
        self._choose_middle()
        self._enclose([SlopeExpressions(system.rows[1 + k], x) for k in self.used])
        self._multiply(self._eliminate())
        self._solve()
        self._write()

    def _ends(self, i: "int | Value") -> tuple[Value, Value]:
        return self.b.input(0, i), self.b.input(0, self._place(i, self.n))

    def _box(self, i: "int | Value") -> Pair:
        lo, hi = self._ends(i)
        return Pair(self.b.neg(lo), hi)

    def _point(self, i: "int | Value") -> Pair:
        c = self.b.load(self.middle, i)
        return Pair(self.b.neg(c), c)

    def _slope(self, k: "int | Value", j: "int | Value") -> Pair:
        return Pair(*(self.b.load(part, self._place(self._times(k, self.n), j)) for part in self.slopes))

    def _choose_middle(self) -> None:
        """A point of the region, whole in whole numbers; 0 where it is unbounded."""
        b, self.middle = self.b, self.b.buffer(self.n)
        with b.loop(self.n) as turn:
            i = turn.index
            lo, hi = self._ends(i)
            c = b.add(b.mul(lo, 0.5), b.mul(hi, 0.5))
            c = b.select(b.ogt(self._table(self.whole, i), 0.0), b.floor(c), c)
            c = b.min(b.max(c, lo), hi)
            both = b.mand(b.ogt(lo, -INF), b.olt(hi, INF))
            b.store(self.middle, i, b.select(both, c, 0.0))
            furthest = b.step((0.0,), (b.max(b.abs(lo), b.abs(hi)),), larger)
        self.bounded = b.olt(furthest.results[0], INF)

    # ---- the rows
    def _enclose(self, slopes: list[SlopeExpressions]) -> None:
        """Slopes, and values in the middle less the ends; zeros for a row that is not used."""
        b, n, m = self.b, self.n, self.m
        raw, values, levels = tuple(b.buffer(m * n) for _ in range(2)), tuple(b.buffer(m) for _ in range(2)), b.buffer(m)
        with b.loop(m * n) as turn:
            for part in raw:
                b.store(part, turn.index, 0.0)

        def entry(begin: int):
            return lambda at, v: [b.store(part, self._place(begin, at[0]), end) for part, end in zip(raw, v[:2], strict=True)]

        def value(k: int):
            return lambda at, v: [b.store(part, k, end) for part, end in zip(values, v[:2], strict=True)]

        def level(k: int):  # nothing is known of an enclosure that is NaN
            return lambda at, v: b.store(levels, k, b.select(b.uno(v.nlo, v.hi), 0.0, b_level(b, v.level)))
        bodies, outputs = [self.system.rows[1 + k] for k in self.used], []
        for k, row in enumerate(slopes):
            begin = k * n
            for part in row.value.args if row.value.op == "concat" else (row.value,):
                if not is_zero(part):
                    outputs.append((part, entry(begin)))
                begin += part.size
        Lowering(b, Enclosures(), {"x": self._point}, self.data).run([(body, value(k)) for k, body in enumerate(bodies)])
        leaves = {"x": self._box, AT: self._point} | {name: self._box for row in slopes for name in row.between}
        Lowering(b, Enclosures(), leaves, self.data).run([*((body, level(k)) for k, body in enumerate(bodies)), *outputs])
        low, high = (self.data.offset(ends[self.used]) for ends in (self.system.lower, self.system.upper))
        with b.loop(m) as turn:
            k = turn.index
            with b.loop(n) as inner:
                j = inner.index
                slope = whole_if_unsound(b, Pair(*(b.load(part, self._place(self._times(k, n), j)) for part in raw)))
                lo, hi = self._ends(j)
                size = b.max(b.abs(slope.nlo), b.abs(slope.hi))
                step = b.step((0.0, 0.0), (size, b.mul(size, b.sub(hi, lo))), add_up)
            size, varies = step.results
            at_middle = whole_if_unsound(b, Pair(*(b.load(part, k) for part in values)))
            lower, upper = self._table(low, k), self._table(high, k)
            right = Pair(b.add(at_middle.nlo, upper), b.sub(at_middle.hi, lower))
            use = b.mand(self.bounded, b.oge(b.load(levels, k), float(LIPSCHITZ)))
            use = b.mand(use, b.mand(b.olt(size, INF), b.olt(b.add(b.abs(right.nlo), b.abs(right.hi)), INF)))
            use = b.mand(use, b.ole(b.sub(upper, lower), b.mul(POLICY.close_ends, varies)))
            b.store(self.shares, k, b.select(b.mand(use, b.ogt(varies, _SMALLEST_INVERSE)), b.div(1.0, varies), 0.0))
            for part, end in zip(self.right, (right.nlo, right.hi), strict=True):
                b.store(part, k, b.select(use, end, 0.0))
            with b.loop(n) as inner:
                place = self._place(self._times(k, n), inner.index)
                for part, given in zip(self.slopes, raw, strict=True):
                    b.store(part, place, b.select(use, b.load(given, place), 0.0))

    # ---- sums of multiples of them
    def _eliminate(self) -> int:
        """The numbers Y, row by row."""
        b, n, m = self.b, self.n, self.m
        a, y, first = b.state(m * n), b.state(m * m), b.buffer(m)
        units = self.data.offset(np.eye(m).ravel())
        with b.loop(m) as turn:
            k = turn.index
            with b.loop(n) as inner:
                j = inner.index
                (lo, hi), slope = self._ends(j), self._slope(k, j)
                size = b.mul(b.sub(b.mul(slope.hi, 0.5), b.mul(slope.nlo, 0.5)), b.sub(hi, lo))
                b.store(a, self._place(self._times(k, n), j), size)
                norm = b.step((0.0,), (b.abs(size),), larger)
            b.store(first, k, norm.results[0])
            with b.loop(m) as inner:
                place = self._place(self._times(k, m), inner.index)
                b.store(y, place, self._table(units, place))
        with b.rounds(m) as turn:
            k = turn.index
            pivots, multiples = b.buffer(n), b.buffer(m)  # of this row
            with b.loop(n) as inner:
                j = inner.index
                value = b.load(a, self._place(self._times(k, n), j))
                b.store(pivots, j, value)
                chosen = b.step((0.0, -1.0, 1.0), (b.abs(value), self._table(self.numbers, j), value), with_larger)
            size, column, pivot = chosen.results
            with b.loop(m) as inner:
                b.store(multiples, inner.index, b.load(y, self._place(self._times(k, m), inner.index)))
            good = b.mand(b.ogt(size, b.mul(POLICY.least_pivot, b.load(first, k))), b.ogt(size, _SMALLEST_INVERSE))
            with b.loop(m) as inner:
                i = inner.index
                with b.loop(n) as deeper:
                    j = deeper.index
                    value = b.load(a, self._place(self._times(i, n), j))
                    found = b.step((0.0,), (b.select(b.oeq(column, self._table(self.numbers, j)), value, 0.0),), add_up)
                other = b.mand(good, b.mnot(b.ueq(i, k)))
                factor = b.select(other, b.neg(b.div(found.results[0], pivot)), 0.0)
                for state, own, width in ((a, pivots, n), (y, multiples, m)):
                    with b.loop(width) as deeper:
                        place = self._place(self._times(i, width), deeper.index)
                        b.store(state, place, b.fma(factor, b.load(own, deeper.index), b.load(state, place)))
            turn.more = self.bounded
        return y

    def _multiply(self, y: int) -> None:
        """Y times the rows, behind them."""
        b, n, m = self.b, self.n, self.m
        numbers = b.buffer(m * m)
        with b.loop(m) as turn:
            i = turn.index
            with b.loop(m) as inner:
                worst = b.step((0.0,),
                               (b.select(b.olt(b.abs(b.load(y, self._place(self._times(i, m), inner.index))), _LARGEST_INVERSE),
                                                 0.0, 1.0),), larger)
            sound = b.oeq(worst.results[0], 0.0)
            with b.loop(m) as inner:
                place = self._place(self._times(i, m), inner.index)
                b.store(numbers, place, b.select(sound, b.load(y, place), 0.0))

            def total(parts: tuple[int, int], place, i: Value = i) -> Pair:
                with b.loop(m) as inner:
                    k = inner.index
                    factor = b.load(numbers, self._place(self._times(i, m), k))
                    size, turned = b.abs(factor), b.olt(factor, 0.0)
                    nlo, hi = (b.load(part, place(k)) for part in parts)
                    ends = b.mul(size, b.select(turned, hi, nlo)), b.mul(size, b.select(turned, nlo, hi))
                    step = b.step((0.0, 0.0), ends, add_up)
                return Pair(*step.results)
            with b.loop(n) as inner:
                j = inner.index
                found = total(self.slopes, lambda k, j=j: self._place(self._times(k, n), j))
                for part, end in zip(self.slopes, (found.nlo, found.hi), strict=True):
                    b.store(part, self._place(self._times(self._place(i, m), n), j), end)
            found = total(self.right, lambda k: k)
            for part, end in zip(self.right, (found.nlo, found.hi), strict=True):
                b.store(part, self._place(i, m), end)

    # ---- what they leave
    def _solve(self) -> None:
        b, n, m = self.b, self.n, self.m
        self.left, self.empty = (b.state(n), b.state(n)), b.state(1)  # of x - c: minus the lower end, the upper end
        with b.loop(n) as turn:
            (lo, hi), c = self._ends(turn.index), b.load(self.middle, turn.index)
            for state, end in zip(self.left, (b.sub(c, lo), b.sub(hi, c)), strict=True):
                b.store(state, turn.index, b.select(self.bounded, end, INF))
        b.store(self.empty, 0, b.select(self.bounded, 0.0, 1.0))
        order = self.data.position_offset(np.concatenate([np.arange(m), np.tile(np.arange(m, 2 * m), POLICY.sweeps)]))
        with b.rounds((1 + POLICY.sweeps) * m) as turn:
            self._solve_row(b.udata(self._place(order, turn.index)))
            turn.more = b.oeq(b.load(self.empty, 0), 0.0)

    def _solve_row(self, r: Value) -> None:
        """Row r, solved for each variable, the others as they were left before."""
        b, n = self.b, self.n
        right = Pair(*(b.load(part, r) for part in self.right))
        live = b.oeq(b.load(self.empty, 0), 0.0)
        terms = b.buffer(n), b.buffer(n)
        with b.loop(n) as turn:
            j = turn.index
            term = mul(b, self._slope(r, j), Pair(*(b.load(state, j) for state in self.left)))
            for part, end in zip(terms, (term.nlo, term.hi), strict=True):
                b.store(part, j, end)
            step = b.step((0.0, 0.0), (term.nlo, term.hi), add_up)
        total = [b.add(end, own) for end, own in zip(step.results, (right.nlo, right.hi), strict=True)]
        with b.loop(n) as turn:
            j = turn.index
            # the sum of the others is the sum of all less the own term: both were rounded up, so that this is not below
            others = whole_if_unsound(b, Pair(*(b.sub(end, b.load(part, j)) for end, part in zip(total, terms, strict=True))))
            before = Pair(*(b.load(state, j) for state in self.left))
            low, high = parts_left(b, neg(b, others), self._slope(r, j), before)[:2]
            nothing = b.ogt(low, high)
            use = b.mand(live, b.mnot(nothing))
            for state, end, old in zip(self.left, (b.neg(low), high), before[:2], strict=True):
                b.store(state, j, b.select(use, end, old))
            found = b.step((0.0,), (b.select(nothing, 1.0, 0.0),), larger)
        b.store(self.empty, 0, b.select(b.mand(live, b.ogt(found.results[0], 0.0)), 2.0, b.load(self.empty, 0)))

    def _all_used(self) -> Value:
        b = self.b
        with b.loop(self.m) as turn:
            unused = b.step((0.0,), (b.select(b.ogt(b.load(self.shares, turn.index), 0.0), 0.0, 1.0),), larger)
        return b.mand(b.ogt(self._table(self.at, self.n), 0.0), b.oeq(unused.results[0], 0.0))

    def _write(self) -> None:
        """Whole numbers between the ends; the variable to cut. If the rows choose it, and all are used, that is the one with the
        largest share in what they vary by; else it stays, unless most of it is gone, and then the widest is cut."""
        b, n = self.b, self.n
        low_row, axis_row, level_row = rows(n)
        axis, by_rows = b.input(0, axis_row), self._all_used()
        with b.loop(n) as turn:
            i = turn.index
            (lo, hi), whole, c = self._ends(i), b.ogt(self._table(self.whole, i), 0.0), b.load(self.middle, i)
            nlo, high = (b.load(state, i) for state in self.left)
            left, right = b.max(b.neg(b.sub(nlo, c)), lo), b.min(b.add(c, high), hi)
            left, right = self._rounded(whole, left, right)
            none = b.mand(self.bounded, b.ogt(left, right))
            use = b.mand(self.bounded, b.mnot(none))
            left, right = b.select(use, left, lo), b.select(use, right, hi)
            nothing = b.step((0.0,), (b.select(none, 1.0, 0.0),), larger)
            before, after = (b.max(b.sub(q, p), _SMALLEST_INVERSE) for p, q in ((lo, hi), (left, right)))
            part = b.select(b.olt(before, INF), b.div(after, before), 1.0)
            volume = b.step((1.0,), (part,), lambda b, p, q: (b.mul(p[0], q[0]),))
            with b.loop(self.m) as inner:
                slope = self._slope(inner.index, i)
                share = b.mul(b.max(b.abs(slope.nlo), b.abs(slope.hi)), b.load(self.shares, inner.index))
                smear = b.step((0.0,), (share,), add_up)
            stays = b.mand(b.oeq(axis, self._table(self.numbers, i)), b.ogt(part, POLICY.worth_volume))
            size = b.select(stays, INF, b.mul(b.min(after, 2.0**100), self._table(self.at, i)))
            size = b.select(by_rows, b.mul(smear.results[0], after), size)
            size = b.select(can_be_cut(b, left, right), size, -1.0)
            chosen = b.step((-0.5, NO_AXIS), (size, self._table(self.numbers, i)), with_larger)
            b.output(LEFT, i, left)
            b.output(LEFT, self._place(i, n), right)
        gone = b.mor(b.ogt(nothing.results[0], 0.0), b.ogt(b.load(self.empty, 0), 1.0))
        b.output(LEFT, low_row, b.input(0, low_row))
        b.output(LEFT, axis_row, b.select(gone, DISCARDED_AXIS, chosen.results[1]))
        b.output(LEFT, level_row, b.input(0, level_row))
        b.output(PAID, 0, b.select(b.mor(gone, b.ole(volume.results[0], POLICY.worth_volume)), 1.0, 0.0))
