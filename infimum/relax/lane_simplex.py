"""A small linear program in each lane: multipliers by a dual simplex method, for bounds that hold with any multipliers.

    minimise c·t  subject to  a_r·t <= h_r,  0 <= t_i <= 1.

**The table.** Each variable in the basis is β + Σ α_j ν_j, the ν_j being those outside of it, all at 0: one that is at its upper
bound is counted from there, downwards, and its number is negative then. The last row is the objective, its entries d_j >= 0. At
the start the slacks h_r - a_r·t are the basis, and each t_i is at the end that its cost wants: so no first phase is needed.

**A turn** takes the variable that violates its bounds most out of the basis, and for it the one with the least d_j / α_j among
α_j > 0. If there is none the program has no solution, and that row says why: its variable is negative whatever the others are.

The answer is what the d_j of slacks are, or in the last case the -α_j and 1 for the variable itself: numbers not below 0.
Nothing relies on more than that. Everything is an estimate in plain upward arithmetic, in the same order in every lane.

Proof: docs/proofs/constraint_lines.md.
"""

from typing import NamedTuple

import numpy as np

from infimum.interval.pair import INF
from infimum.kernel.box_conclusions import add_up, with_larger, with_lower
from infimum.kernel.constant_data import Data
from infimum.kernel.ir import Builder, Value
from infimum.search.policy.bounds import LINEAR_RELAXATIONS as POLICY

RUNNING, OPTIMAL, NO_SOLUTION = 0.0, 1.0, 2.0  # fixed: names of states


class LaneProgram(NamedTuple):
    """The linear program of a lane. The buffer `entries` has the a_r, then c; `right` has the h_r. Of the columns, those from
    `endless` on belong to variables without an upper bound, whose cost is not negative."""

    rows: int
    columns: int
    endless: int
    entries: int
    right: int


class _Pivot(NamedTuple):
    """The row and the column that are exchanged, the element where they meet, the value of the row, and a buffer with all of the
    row's elements."""

    row: Value
    column: Value
    element: Value
    value: Value
    elements: int


class LaneSimplex:
    """Writes it. Lanes that are not `live` do nothing."""

    def __init__(self, b: Builder, data: Data, program: LaneProgram, turns: int, live: Value | None = None):
        rows, columns, endless, entries, right = program
        self.b, self.rows, self.columns, self.entries = b, rows, columns, entries
        self.ceilings = data.offset(np.where(np.arange(columns) < endless, 1.0, INF))
        self.numbers = data.offset(np.arange(rows + columns + 1, dtype=float))
        self.table = b.state((rows + 1) * (columns + 1))
        self.inside, self.outside = b.state(max(rows, 1)), b.state(columns)            # numbers of variables, from 1 on
        self.high_inside, self.high_outside = b.state(max(rows, 1)), b.state(columns)  # their upper bounds
        self.ray, self.facts = b.buffer(columns), b.state(2)
        self._start(right, live)
        with b.rounds(turns) as turn:
            self._turn()
            turn.more = b.oeq(b.load(self.facts, 0), RUNNING)

    def _number(self, k: "int | Value") -> Value:
        """k as a double."""
        return self.b.data(self.b.place("uadd", self.numbers, k))

    def _at(self, row: "int | Value", column: "int | Value") -> "int | Value":
        return self.b.place("uadd", self.b.place("umul", row, self.columns + 1), column)

    def _entry(self, row: "int | Value", column: Value) -> Value:
        return self.b.load(self.entries, self.b.place("uadd", self.b.place("umul", row, self.columns), column))

    def _ceiling(self, column: Value) -> Value:
        return self.b.data(self.b.place("uadd", self.ceilings, column))

    def _start(self, right: int, live: Value | None) -> None:
        b, last = self.b, self.columns
        down = b.buffer(self.columns)  # 1 for variables at their upper bounds
        with b.loop(self.columns) as turn:
            j = turn.index
            cost = self._entry(self.rows, j)
            at_top = b.olt(cost, 0.0)
            b.store(down, j, b.select(at_top, 1.0, 0.0))
            b.store(self.table, self._at(self.rows, j), b.abs(cost))
            number = self._number(b.place("uadd", j, 1))
            b.store(self.outside, j, b.select(at_top, b.neg(number), number))
            b.store(self.high_outside, j, self._ceiling(j))
        b.store(self.table, self._at(self.rows, last), 0.0)
        with b.loop(self.rows) as turn:
            r = turn.index
            with b.loop(self.columns) as inner:
                j = inner.index
                a = self._entry(r, j)
                at_top = b.ogt(b.load(down, j), 0.0)
                b.store(self.table, self._at(r, j), b.select(at_top, a, b.neg(a)))
                moved = b.step((0.0,), (b.select(at_top, b.neg(b.mul(a, self._ceiling(j))), 0.0),), add_up)
            b.store(self.table, self._at(r, last), b.add(b.load(right, r), moved.results[0]))
            b.store(self.inside, r, self._number(b.place("uadd", r, self.columns + 1)))
            b.store(self.high_inside, r, INF)
        b.store(self.facts, 0, RUNNING if live is None else b.select(live, RUNNING, OPTIMAL))
        b.store(self.facts, 1, 0.0)

    # ---- a turn
    def _turn(self) -> None:
        b, last = self.b, self.columns
        going = b.oeq(b.load(self.facts, 0), RUNNING)
        with b.loop(self.rows) as turn:
            r = turn.index
            value, high = b.load(self.table, self._at(r, last)), b.load(self.high_inside, r)
            beyond = b.max(b.neg(value), b.sub(value, high))
            worst = b.step((POLICY.simplex_tolerance, -1.0, 0.0, 0.0, 0.0),
                           (beyond, self._number(r), value, high, b.load(self.inside, r)), with_larger)
        _, row, value, high, leaving = worst.results
        none = b.olt(row, 0.0)
        above = b.mand(b.ogt(value, 0.0), b.mnot(none))  # it leaves at its upper bound, and is counted from there
        sign = b.select(above, -1.0, 1.0)
        value = b.select(above, b.sub(high, value), value)
        pivots = b.buffer(self.columns)
        with b.loop(self.columns) as turn:
            j = turn.index
            with b.loop(self.rows) as inner:
                r = inner.index
                mine = b.select(b.oeq(row, self._number(r)), b.load(self.table, self._at(r, j)), 0.0)
                found = b.step((0.0,), (mine,), add_up)
            alpha = b.mul(sign, found.results[0])
            b.store(pivots, j, alpha)
            b.store(self.ray, j, b.max(b.neg(alpha), 0.0))
            cost = b.max(b.load(self.table, self._at(self.rows, j)), 0.0)
            usable = b.ogt(alpha, POLICY.simplex_least_pivot)
            quotient = b.select(usable, b.div(b.add(cost, POLICY.simplex_tie_break), alpha), INF)
            best = b.step((INF, -1.0, 1.0, 0.0, 0.0),
                          (quotient, self._number(j), alpha, b.load(self.outside, j), b.load(self.high_outside, j)), with_lower)
        _, column, pivot, entering, ceiling = best.results
        nothing = b.mand(b.olt(column, 0.0), b.mnot(none))
        ended = b.select(none, OPTIMAL, b.select(nothing, NO_SOLUTION, RUNNING))
        moves = b.mand(going, b.oeq(ended, RUNNING))
        leaving = b.mul(sign, leaving)
        b.store(self.facts, 0, b.select(going, ended, b.load(self.facts, 0)))
        b.store(self.facts, 1, b.select(b.mand(going, nothing), leaving, b.load(self.facts, 1)))
        self._exchange(moves, _Pivot(row, column, pivot, value, pivots), (leaving, high), (entering, ceiling))

    def _exchange(self, moves: Value, at: _Pivot, leaving: tuple[Value, Value], entering: tuple[Value, Value]) -> None:
        """The table after the exchange, in lanes that move. Leaving and entering variables come with their upper bounds."""
        row, column, pivot, value, pivots = at
        b, last, inverse = self.b, self.columns, self.b.div(1.0, pivot)
        new, stays = b.buffer(self.columns), b.buffer(self.columns)

        def quotient(v: Value) -> Value:
            return b.select(moves, b.neg(b.mul(v, inverse)), 0.0)
        with b.loop(self.columns) as turn:
            j = turn.index
            here = b.mand(moves, b.oeq(column, self._number(j)))
            b.store(new, j, b.select(here, inverse, quotient(b.load(pivots, j))))
            b.store(stays, j, b.select(here, 0.0, 1.0))
            for state, other in zip((self.outside, self.high_outside), leaving, strict=True):
                b.store(state, j, b.select(here, other, b.load(state, j)))
        new_value = quotient(value)
        with b.loop(self.rows) as turn:
            r = turn.index
            here = b.mand(moves, b.oeq(row, self._number(r)))
            for state, other in zip((self.inside, self.high_inside), entering, strict=True):
                b.store(state, r, b.select(here, other, b.load(state, r)))
        with b.loop(self.rows + 1) as turn:
            r = turn.index
            with b.loop(self.columns) as inner:
                j = inner.index
                mine = b.select(b.oeq(column, self._number(j)), b.load(self.table, self._at(r, j)), 0.0)
                found = b.step((0.0,), (mine,), add_up)
            here = b.mand(moves, b.oeq(row, self._number(r)))
            factor = b.select(here, 1.0, b.select(moves, found.results[0], 0.0))
            keep = b.select(here, 0.0, 1.0)
            with b.loop(self.columns) as inner:
                j = inner.index
                old = b.mul(b.mul(b.load(self.table, self._at(r, j)), keep), b.load(stays, j))
                b.store(self.table, self._at(r, j), b.fma(factor, b.load(new, j), old))
            old = b.mul(b.load(self.table, self._at(r, last)), keep)
            b.store(self.table, self._at(r, last), b.fma(factor, new_value, old))

    # ---- the answer
    @property
    def status(self) -> Value:
        return self.b.load(self.facts, 0)

    def multipliers(self) -> int:
        """A buffer with those of the rows: not negative, and 0 where one is no number."""
        b, found = self.b, self.b.buffer(max(self.rows, 1))
        no_solution, why = b.oeq(self.status, NO_SOLUTION), b.load(self.facts, 1)
        with b.loop(self.rows) as turn:
            number = self._number(b.place("uadd", turn.index, self.columns + 1))
            with b.loop(self.columns) as inner:
                j = inner.index
                rate = b.select(no_solution, b.load(self.ray, j), b.load(self.table, self._at(self.rows, j)))
                total = b.step((0.0,), (b.select(b.oeq(b.load(self.outside, j), number), rate, 0.0),), add_up)
            own = b.select(b.mand(no_solution, b.oeq(why, number)), 1.0, 0.0)
            value = b.add(total.results[0], own)
            b.store(found, turn.index, b.select(b.mand(b.ogt(value, 0.0), b.olt(value, INF)), value, 0.0))
        return found

    def point(self) -> int:
        """A buffer with the t_i of the last table."""
        b, found = self.b, self.b.buffer(self.columns)
        with b.loop(self.columns) as turn:
            number = self._number(b.place("uadd", turn.index, 1))
            with b.loop(self.rows) as inner:
                value, name = b.load(self.table, self._at(inner.index, self.columns)), b.load(self.inside, inner.index)
                mine = b.select(b.oeq(name, number), value, b.select(b.oeq(name, b.neg(number)), b.sub(1.0, value), 0.0))
                inside = b.step((0.0,), (mine,), add_up)
            with b.loop(self.columns) as inner:
                at_top = b.oeq(b.load(self.outside, inner.index), b.neg(number))
                outside = b.step((0.0,), (b.select(at_top, 1.0, 0.0),), add_up)
            b.store(found, turn.index, b.add(inside.results[0], outside.results[0]))
        return found
