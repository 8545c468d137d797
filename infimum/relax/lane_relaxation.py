"""A linear relaxation of a region, a region a lane: rows, multipliers, and what follows from both.

**Rows** are inequalities a_r·d <= h_r that hold at every feasible point of the region, d being the distances of the columns from
their lower ends. Those of constraints come first, then one or two that bound f from below: a·d - h <= f. The classes that derive
from `LaneRelaxation` differ in where the rows come from.

**Contraction.** Each row leaves of a column what the least values of its other terms allow, rows of f with the verified upper
bound U. Where rows of constraints leave nothing, the region has no feasible point; where f <= U is needed for that, it has none
of interest, and its lower bound is infinite.

**Multipliers.** For any y >= 0, with weights of f's rows that add up to 1, f >= Σ y_r (a_r·d - h_r), and the right side is
bounded below column by column. Without f's rows a positive bound shows that no point is feasible. The same sum is one more row,
which contracts each column by its reduced cost. A single row has the multiplier 1; those of several are the solution of a linear
program (`relax/lane_simplex.py`), of which nothing is believed.

Proof: docs/proofs/constraint_lines.md. For a region at a time, `relax/safe_conclusions.py` concludes the same from multipliers
that a library finds.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from infimum.interval.pair import INF, Pair
from infimum.kernel.box_conclusions import add_up, best_lower, larger, with_larger
from infimum.kernel.constant_data import Data, Writer
from infimum.kernel.ir import Builder, Value
from infimum.kernel.region_cut import DISCARDED_AXIS, NO_AXIS, can_be_cut, rows, rows_of
from infimum.search.policy.bounds import LINEAR_RELAXATIONS as POLICY
from infimum.support.lazy import LazyModule

if TYPE_CHECKING:
    from infimum.relax import lane_simplex
else:
    lane_simplex = LazyModule("relax.lane_simplex")  # not needed for a single row

LEFT, PAID = range(2)  # the first outputs: what is left of the region, and whether the test was worth its cost
SMALLEST = 2.0**-900  # fixed: the range of doubles
_GRAIN = 2.0**22  # fixed: of the weights of f's rows: multiples of 2**-30, so that they add up to 1 exactly


class LinearLowerBound(NamedTuple):
    """A linear function below another one: Σ slope(i) (x_i - lo_i) - nlo."""

    slope: Callable[["int | Value"], Value]
    nlo: Value


class LaneRelaxation(Writer, ABC):
    """Writes the kernel. The parameters begin with the verified upper bound; `extra` of them follow."""

    n: int                # columns, of which the variables are the first
    count: int            # of all rows
    constraints: int      # of those of constraints
    a: int                # a buffer: the coefficients of the rows, with room for one more
    h: int                # a buffer: their right sides, likewise; an infinite one says nothing
    bounded: Value        # is the region?
    lowest: Value         # a lower bound of f that is known without the rows
    worth_volume = POLICY.worth_volume  # the test paid if at most this part of the volume is left,
    worth_gap = POLICY.worth_gap_left   # or this part of the distance to the upper bound

    def __init__(self, variables: int, integers: Sequence[int], extra: int):
        self.b, self.data, self.variables = Builder(), Data(), variables
        self.at = self.data.offset(np.zeros(1 + extra))
        self.upper = self.b.data(self.at)
        self.bounded_above = self.b.olt(self.upper, INF)
        self.numbers = self.data.offset(np.arange(max(variables, 1), dtype=float))
        self.whole = self.data.offset(np.isin(np.arange(variables), integers).astype(float))

    def program(self, name: str, *outputs: int) -> tuple:
        """(kernel, data, rows of the outputs, where the parameters begin); `outputs` are the rows of those that are added."""
        self._write_rows()
        self._contract()
        self._bound()
        self._reduce()
        self._write_region()
        return self.b.kernel(name, 1, 2 + len(outputs)), self.data, (rows_of(self.variables), 1, *outputs), self.at

    # ---- what differs
    @abstractmethod
    def _write_rows(self) -> None:
        """Stores `a` and `h`, and sets what is declared above."""

    def _reduce(self) -> None:  # noqa: B027 (a source that knows no more than its rows needs none)
        """What else leaves nothing of the region is marked here."""

    def _left(self, i: Value) -> tuple[Value, Value]:
        """What is left of a side of a bounded region."""
        b, (lo, hi) = self.b, self.ends(i)
        left = b.max(b.neg(b.sub(b.neg(lo), b.load(self.low, i))), lo)
        right = b.min(b.add(lo, b.load(self.high, i)), hi)
        left, right = b.select(self.bounded, left, lo), b.select(self.bounded, right, hi)
        return self._rounded(b.ogt(self._table(self.whole, i), 0.0), left, right)

    @abstractmethod
    def _score(self, i: Value, left: Value, right: Value) -> Value:
        """The variable with the largest score is cut next; none with one below -1 is."""

    def ends(self, i: "int | Value") -> tuple[Value, Value]:
        """Of a column on the region."""
        return self.b.input(0, i), self.b.input(0, self.b.place("uadd", i, self.variables))

    # ---- contraction
    def _contract(self) -> None:
        b, n = self.b, self.n
        self.low, self.high = b.state(n), b.state(n)  # of d = x - lo
        self.empty = b.state(2)                       # nothing is left: by constraints alone, or by f as well
        with b.loop(n) as turn:
            lo, hi = self.ends(turn.index)
            b.store(self.low, turn.index, 0.0)
            b.store(self.high, turn.index, b.select(self.bounded, b.sub(hi, lo), INF))
        b.store(self.empty, 0, 0.0)
        b.store(self.empty, 1, 0.0)
        sweeps = 1 if self.count == 1 else POLICY.contraction_sweeps
        constraints = self.data.offset(np.tile(np.where(np.arange(self.count) < self.constraints, 1.0, 0.0), sweeps)
                                       * (np.arange(sweeps * self.count) < self.count))
        order = self.data.position_offset(np.tile(np.arange(self.count), sweeps))
        of_f = self.data.offset((np.arange(self.count) >= self.constraints).astype(float))
        with b.rounds(sweeps * self.count) as turn:
            r = b.udata(self._place(order, turn.index))
            h = b.load(self.h, r)
            h = b.select(b.ogt(self._table(of_f, r), 0.0), b.add(h, self.upper), h)
            empty = self._apply(r, h)
            alone = b.mor(b.ogt(self._table(constraints, turn.index), 0.0), b.mnot(self.bounded_above))
            self._mark(empty, alone)
            turn.more = b.mand(self.bounded, b.oeq(b.load(self.empty, 0), 0.0))

    def _mark(self, empty: Value, alone: Value) -> None:
        b = self.b
        for k, mask in enumerate((b.mand(empty, alone), b.mand(empty, b.mnot(alone)))):
            b.store(self.empty, k, b.select(mask, 1.0, b.load(self.empty, k)))

    def _apply(self, r: "int | Value", h: Value) -> Value:
        """a_r·d <= h contracts d. Where that leaves nothing; d stays as it is in a variable where it does."""
        b, n = self.b, self.n
        live = b.mand(b.mand(self.bounded, b.olt(h, INF)),
                      b.mand(b.oeq(b.load(self.empty, 0), 0.0), b.oeq(b.load(self.empty, 1), 0.0)))

        def entry(i: Value) -> Value:
            return b.load(self.a, self._place(self._times(r, n), i))
        with b.loop(n) as turn:
            i = turn.index
            turned = b.neg(entry(i))
            most = b.mul(turned, b.select(b.oge(turned, 0.0), b.load(self.high, i), b.load(self.low, i)))
            total = b.step((0.0,), (most,), add_up)
        room = b.add(h, total.results[0])  # h less the least value of a·d, rounded up
        with b.loop(n) as turn:
            i = turn.index
            a, low, high = entry(i), b.load(self.low, i), b.load(self.high, i)
            own = b.add(room, b.mul(a, b.select(b.oge(a, 0.0), low, high)))  # a_i d_i is at most that
            new_high = b.select(b.ogt(a, 0.0), b.min(b.div(own, a), high), high)
            new_low = b.select(b.olt(a, 0.0), b.max(b.neg(b.div(own, b.neg(a))), low), low)
            nothing = b.ogt(new_low, new_high)
            use = b.mand(live, b.mnot(nothing))
            b.store(self.low, i, b.select(use, new_low, low))
            b.store(self.high, i, b.select(use, new_high, high))
            step = b.step((0.0,), (b.select(nothing, 1.0, 0.0),), add_up)
        return b.mand(live, b.mor(b.olt(room, 0.0), b.ogt(step.results[0], 0.0)))

    # ---- multipliers
    def _bound(self) -> None:
        """The lower bound by multipliers, and the row that they give."""
        b = self.b
        if self.count == 1:
            self.by_rows = b.select(self.bounded, self._least(0), -INF)  # what is left of the region has its least value
            return
        self.weights, no_solution = self._multipliers()
        self._add_up(self.weights)
        bound = self._least(self.count)  # of f; without f's rows of 0
        live, h = self._is_live(), b.load(self.h, self.count)
        by_f = b.mand(b.mand(live, b.mnot(no_solution)), b.ogt(bound, -INF))
        self.by_rows = b.select(by_f, bound, -INF)
        # what the box is cut to already holds for f <= upper alone
        self._mark(b.mand(b.mand(live, no_solution), b.ogt(bound, 0.0)), b.mnot(self.bounded_above))
        self._mark(self._apply(self.count, b.select(no_solution, h, b.add(h, self.upper))), b.mnot(self.bounded_above))

    def _weight(self, row: "int | Value") -> Value:
        """The multiplier of a row. A single row is one of f, whose weights add up to 1."""
        return self.b.const(1.0) if self.count == 1 else self.b.load(self.weights, row)

    def _is_live(self) -> Value:
        b = self.b
        return b.mand(self.bounded, b.mand(b.oeq(b.load(self.empty, 0), 0.0), b.oeq(b.load(self.empty, 1), 0.0)))

    def _least(self, r: int) -> Value:
        """The least value of a_r·d - h_r on what is left, rounded down."""
        b = self.b
        with b.loop(self.n) as turn:
            i = turn.index
            turned = b.neg(b.load(self.a, self._place(r * self.n, i)))
            most = b.mul(turned, b.select(b.oge(turned, 0.0), b.load(self.high, i), b.load(self.low, i)))
            total = b.step((0.0,), (most,), add_up)
        return b.neg(b.add(b.load(self.h, r), total.results[0]))

    def _multipliers(self) -> tuple[int, Value]:
        """A buffer of those of all rows; and whether they are to show that the rows of constraints have no solution."""
        b, count = self.b, self.constraints
        solved, scales, cost = self._program()
        found = solved.multipliers()
        no_solution = b.oeq(solved.status, lane_simplex.NO_SOLUTION)
        weights = b.buffer(self.count)
        self.solved = solved
        with b.loop(count) as turn:
            y = b.mul(b.mul(b.load(found, turn.index), b.load(scales, turn.index)), b.select(no_solution, 1.0, cost))
            sound = b.mand(b.olt(y, INF), b.olt(b.load(self.h, turn.index), INF))
            b.store(weights, turn.index, b.select(sound, y, 0.0))
        second = b.const(0.0)
        if self.count > count + 1:  # f's second row has a weight between 0 and 1
            share = b.mul(b.mul(b.load(found, count), b.load(scales, count)), cost)
            share = b.sub(b.add(b.select(b.olt(share, 1.0), share, 1.0), _GRAIN), _GRAIN)
            second = b.select(no_solution, 0.0, share)
            b.store(weights, self.count - 1, second)
        b.store(weights, count, b.select(no_solution, 0.0, b.sub(1.0, second)))
        return weights, no_solution

    def _program(self) -> "tuple[lane_simplex.LaneSimplex, int, Value]":
        """The linear program for t = (d - low) / (high - low): constraints, then f's second row less its first, which has a
        variable of its own for what f lies above the first; the objective is the first row. Returns by what rows were
        multiplied, and divided the objective."""
        b, n, count = self.b, self.n, self.constraints
        two = self.count > count + 1
        size, columns = count + two, n + two
        entries, right, scales = b.buffer((size + 1) * columns), b.buffer(max(size, 1)), b.buffer(size + 1)

        def fill(row: "int | Value", entry: Callable[[Value], Value], h: Value, more: float) -> Value:
            with b.loop(n) as turn:
                i = turn.index
                low, high, a = b.load(self.low, i), b.load(self.high, i), entry(i)
                size = b.step((0.0,), (b.abs(b.mul(a, b.sub(high, low))),), larger)
                moved = b.step((0.0,), (b.mul(a, low),), add_up)
            norm = b.max(size.results[0], SMALLEST)
            scale = b.select(b.olt(norm, INF), b.div(1.0, norm), 0.0)
            with b.loop(n) as turn:
                i = turn.index
                width = b.sub(b.load(self.high, i), b.load(self.low, i))
                b.store(entries, self._place(self._times(row, columns), i), b.mul(b.mul(entry(i), width), scale))
            if two:
                b.store(entries, self._place(self._times(row, columns), n), b.mul(more, scale))
            b.store(scales, row, scale)
            rest = b.mul(b.sub(h, moved.results[0]), scale)
            return b.select(b.olt(b.abs(rest), INF), rest, 1.0)

        def of_row(r: "int | Value") -> Callable[[Value], Value]:
            return lambda i: b.load(self.a, self._place(self._times(r, n), i))
        with b.loop(count) as turn:
            r = turn.index
            b.store(right, r, fill(r, of_row(r), b.load(self.h, r), 0.0))
        if two:
            b.store(right, count, fill(count, lambda i: b.sub(of_row(count + 1)(i), of_row(count)(i)),
                                       b.sub(b.load(self.h, count + 1), b.load(self.h, count)), -1.0))
        fill(size, of_row(count), b.const(0.0), 1.0)
        cost = b.div(1.0, b.load(scales, size))
        live = b.mand(self.bounded, b.oeq(b.add(b.load(self.empty, 0), b.load(self.empty, 1)), 0.0))
        program = lane_simplex.LaneProgram(size, columns, n, entries, right)
        return lane_simplex.LaneSimplex(b, self.data, program, 2 * (size + columns), live), scales, cost

    def _add_up(self, weights: int) -> None:
        """The row Σ weight_r row_r, behind the others: rounded so that it holds."""
        b, n = self.b, self.n
        with b.loop(n) as turn:
            i = turn.index
            with b.loop(self.count) as inner:
                r = inner.index
                turned = b.neg(b.load(self.a, self._place(self._times(r, n), i)))
                step = b.step((0.0,), (b.mul(b.load(weights, r), turned),), add_up)
            b.store(self.a, self._place(self.count * n, i), b.neg(step.results[0]))
        with b.loop(self.count) as turn:
            r = turn.index
            y = b.load(weights, r)
            step = b.step((0.0,), (b.select(b.ogt(y, 0.0), b.mul(y, b.load(self.h, r)), 0.0),), add_up)
        b.store(self.h, self.count, step.results[0])

    # ---- what is left
    def _write_region(self) -> None:
        """Where constraints alone leave nothing a region is discarded; where f <= upper is needed to say so, its bound is
        infinite. Without rows of constraints none is infeasible by its rows, and a region above the upper bound is discarded."""
        b, n = self.b, self.variables
        low_row, axis_row, level_row = rows(n)
        known = b.input(0, low_row)
        with b.loop(n) as turn:
            i = turn.index
            (lo, hi), (left, right) = self.ends(i), self._left(i)
            nothing = b.ogt(left, right)
            left, right = b.select(nothing, lo, left), b.select(nothing, hi, right)
            b.output(LEFT, i, left)
            b.output(LEFT, self._place(i, n), right)
            score = b.select(can_be_cut(b, left, right), self._score(i, left, right), -2.0)
            chosen = b.step((-1.5, NO_AXIS), (score, self._table(self.numbers, i)), with_larger)
            volume = b.step((1.0,), (self._part(lo, hi, left, right),), lambda b, p, q: (b.mul(p[0], q[0]),))
            lost = b.step((0.0,), (b.select(nothing, 1.0, 0.0),), add_up)
        self._mark(b.ogt(lost.results[0], 0.0), b.mnot(self.bounded_above))
        gone, above = (b.ogt(b.load(self.empty, k), 0.0) for k in (0, 1))
        lower = best_lower(b, known, self.lowest, self.by_rows)
        if self.constraints:
            lower = b.select(above, INF, lower)
        else:
            gone = b.mor(gone, b.mor(above, b.ogt(lower, self.upper)))
        away = b.mor(gone, b.ogt(lower, self.upper))
        discarded = b.mor(gone, b.oeq(b.input(0, axis_row), DISCARDED_AXIS))
        for row, value in ((low_row, lower), (axis_row, b.select(discarded, DISCARDED_AXIS, chosen.results[1])),
                           (level_row, b.input(0, level_row))):
            b.output(LEFT, row, value)
        nearer = b.mand(self.bounded_above, b.ole(b.sub(self.upper, lower), b.mul(self.worth_gap, b.sub(self.upper, known))))
        b.output(PAID, 0, b.select(b.mor(away, b.mor(b.ole(volume.results[0], self.worth_volume), nearer)), 1.0, 0.0))

    def _part(self, lo: Value, hi: Value, left: Value, right: Value) -> Value:
        """The part of a side that is left."""
        b = self.b
        before, after = (b.max(b.sub(q, p), SMALLEST) for p, q in ((lo, hi), (left, right)))
        return b.select(b.olt(before, INF), b.div(after, before), b.select(b.olt(after, INF), 0.0, 1.0))


class WidestSide(LaneRelaxation):
    """Of sources without branching rules of their own, whose rows are linear functions of the variables. The variable to cut next
    is the one with the largest side, times the parameters that follow the upper bound."""

    worth_volume = POLICY.one_row_worth_volume

    def __init__(self, variables: int, integers: Sequence[int]):
        super().__init__(variables, integers, variables)
        self.n, b = variables, self.b
        with b.loop(self.n) as turn:
            lo, hi = self.ends(turn.index)
            endless = b.step((0.0,), (b.select(b.mand(b.ogt(lo, -INF), b.olt(hi, INF)), 0.0, 1.0),), add_up)
        self.bounded = b.oeq(endless.results[0], 0.0)

    def _box(self, i: "int | Value") -> Pair:
        lo, hi = self.ends(i)
        return Pair(self.b.neg(lo), hi)

    def _store_lines(self, lines: Sequence[LinearLowerBound], ends: Sequence[float]) -> None:
        """line - end <= 0 for each, the last of which is f's. Where a line is not known its row says nothing."""
        b, n = self.b, self.n
        self.count, self.constraints = len(lines), len(lines) - 1
        self.a, self.h = b.buffer((self.count + 1) * n), b.buffer(self.count + 1)
        for r, (line, end) in enumerate(zip(lines, ends, strict=True)):
            h = b.add(end, line.nlo)
            with b.loop(n) as turn:
                size = b.step((0.0,), (b.abs(line.slope(turn.index)),), add_up)
            usable = b.mand(self.bounded, b.mand(b.olt(size.results[0], INF), b.olt(b.abs(h), INF)))
            with b.loop(n) as turn:
                b.store(self.a, self._place(r * n, turn.index), b.select(usable, line.slope(turn.index), 0.0))
            b.store(self.h, r, b.select(usable, h, INF))

    def _score(self, i: Value, left: Value, right: Value) -> Value:
        b = self.b
        return b.min(b.mul(b.sub(right, left), self._table(self.at + 1, i)), 2.0**1000)
