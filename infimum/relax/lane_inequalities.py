"""Linear inequalities a_r·d <= h_r in a box, a box a lane: what they leave of it, and what they say together of a function.

Those of constraints come first, then one or two that bound f from below: a·d - h <= f. See `relax/gradient_rows_kernel.py`, which
makes them.
"""

from collections.abc import Callable

import numpy as np

from infimum.interval.pair import INF
from infimum.kernel.box_conclusions import add_up, larger
from infimum.kernel.constant_data import Writer
from infimum.kernel.ir import Value
from infimum.relax.lane_simplex import NO_SOLUTION, LaneProgram, LaneSimplex

_SWEEPS = 2
SMALLEST = 2.0**-900
_GRAIN = 2.0**22  # of the weights of f's lines: multiples of 2**-30, so that they add up to 1 exactly


class LaneInequalities(Writer):
    """Writes that. Before, whoever derives from it has stored `a` and `h`, with room for one more; an infinite h says nothing."""

    n: int
    count: int            # of all inequalities
    constraints: int      # of those of constraints
    a: int
    h: int
    upper: Value          # of f
    bounded_above: Value  # is that finite?
    bounded: Value        # is the box?

    def ends(self, i: "int | Value") -> tuple[Value, Value]:
        """Of the box, in variable i."""
        raise NotImplementedError

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
        constraints = self.data.offset(np.tile(np.where(np.arange(self.count) < self.constraints, 1.0, 0.0), _SWEEPS)
                                       * (np.arange(_SWEEPS * self.count) < self.count))
        order = self.data.position_offset(np.tile(np.arange(self.count), _SWEEPS))
        of_f = self.data.offset((np.arange(self.count) >= self.constraints).astype(float))
        with b.rounds(_SWEEPS * self.count) as turn:
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

    # ---- the linear program
    def _bound(self) -> None:
        """The lower bound by multipliers, and the line that they give."""
        b, n, count = self.b, self.n, self.constraints
        solved, scales, cost = self._program()
        found = solved.multipliers()
        no_solution = b.oeq(solved.status, NO_SOLUTION)
        weights = b.buffer(self.count)
        self.solved, self.weights = solved, weights
        with b.loop(count) as turn:
            y = b.mul(b.mul(b.load(found, turn.index), b.load(scales, turn.index)), b.select(no_solution, 1.0, cost))
            sound = b.mand(b.olt(y, INF), b.olt(b.load(self.h, turn.index), INF))
            b.store(weights, turn.index, b.select(sound, y, 0.0))
        second = b.const(0.0)
        if self.count > count + 1:  # f's second line has a row, and a weight between 0 and 1
            share = b.mul(b.mul(b.load(found, count), b.load(scales, count)), cost)
            share = b.sub(b.add(b.select(b.olt(share, 1.0), share, 1.0), _GRAIN), _GRAIN)
            second = b.select(no_solution, 0.0, share)
            b.store(weights, self.count - 1, second)
        b.store(weights, count, b.select(no_solution, 0.0, b.sub(1.0, second)))
        self._add_up(weights)
        h = b.load(self.h, self.count)
        with b.loop(n) as turn:
            i = turn.index
            turned = b.neg(b.load(self.a, self._place(self.count * n, i)))
            most = b.mul(turned, b.select(b.oge(turned, 0.0), b.load(self.high, i), b.load(self.low, i)))
            total = b.step((0.0,), (most,), add_up)
        bound = b.neg(b.add(h, total.results[0]))  # of f; without f's lines of 0
        live = b.mand(self.bounded, b.mand(b.oeq(b.load(self.empty, 0), 0.0), b.oeq(b.load(self.empty, 1), 0.0)))
        by_f = b.mand(b.mand(live, b.mnot(no_solution)), b.ogt(bound, -INF))
        self.by_lines = b.select(by_f, bound, -INF)
        # what the box is cut to already holds for f <= upper alone
        self._mark(b.mand(b.mand(live, no_solution), b.ogt(bound, 0.0)), b.mnot(self.bounded_above))
        self._mark(self._apply(self.count, b.select(no_solution, h, b.add(h, self.upper))), b.mnot(self.bounded_above))

    def _program(self) -> tuple[LaneSimplex, int, Value]:
        """The linear program for t = (d - low) / (high - low): constraints, then f's second line less its first, which has a
        variable of its own for what f lies above the first; the objective is the first line. Returns by what rows were
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

        def of_line(r: "int | Value") -> Callable[[Value], Value]:
            return lambda i: b.load(self.a, self._place(self._times(r, n), i))
        with b.loop(count) as turn:
            r = turn.index
            b.store(right, r, fill(r, of_line(r), b.load(self.h, r), 0.0))
        if two:
            b.store(right, count, fill(count, lambda i: b.sub(of_line(count + 1)(i), of_line(count)(i)),
                                       b.sub(b.load(self.h, count + 1), b.load(self.h, count)), -1.0))
        fill(size, of_line(count), b.const(0.0), 1.0)
        cost = b.div(1.0, b.load(scales, size))
        live = b.mand(self.bounded, b.oeq(b.add(b.load(self.empty, 0), b.load(self.empty, 1)), 0.0))
        program = LaneProgram(size, columns, n, entries, right)
        return LaneSimplex(b, self.data, program, 2 * (size + columns), live), scales, cost

    def _add_up(self, weights: int) -> None:
        """The line Σ weight_r line_r, behind the others: rounded so that it holds."""
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
