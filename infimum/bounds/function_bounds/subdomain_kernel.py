"""The kernel of subdomains: a piece of a region is divided, for one look, into k**L parts, and what is left of it is their hull.
A piece a lane.

The L variables with the largest sides, as parts of the user's bounds (or, adaptively, with the largest smear of f: slope times
side), have their sides divided into k each. On every subdomain f and all constraints are enclosed together, as they stand, or by
their mean value forms or affine bounds as well; a subdomain dies if f or a constraint is undefined on all of it, a constraint is
violated there, or f lies above the upper bound. The lower bound of the piece is the least one of those that survive, and each of
the L variables shrinks to the hull of these. If none survives, the piece is gone; where f above the upper bound had a part in
that, its lower bound says so instead. The ends of whole numbers are rounded inward, and a subdomain without a whole number dies.
An unbounded side is not divided.

Proof: docs/proofs/first_order.md.
"""

import itertools

import numpy as np

from infimum.expr.differentiate import gradient
from infimum.expr.node import Expr
from infimum.interval.pair import INF, LIPSCHITZ, Pair
from infimum.kernel.box_conclusions import add_up, best_lower, larger, natural, tilt, whole_if_unsound, with_larger
from infimum.kernel.constant_data import Data
from infimum.kernel.ir import Builder, Value
from infimum.kernel.lowering import Lowering
from infimum.kernel.meaning import Enclosures
from infimum.kernel.region_cut import DISCARDED_AXIS, NO_AXIS, RegionPiece, can_be_cut, cut, rows, rows_of
from infimum.kernel.system_kernels import outputs_of
from infimum.problem.system import System
from infimum.relax.affine_bound_kernel import enclosures

NATURAL, MEAN_VALUE, AFFINE = range(3)  # forms
LARGEST, ADAPTIVE = range(2)    # choices


def subdomain(name: str, system: System, x: Expr, pieces: int, divided: int, form: int = NATURAL, choice: int = LARGEST) -> tuple:
    """(kernel, data, rows of the output, where the parameters begin). Input: the regions. Parameters: what the sides are
    multiplied with before they are compared, those of `RegionPiece`, the width of sides that are narrow enough, the upper
    bound."""
    writer = SubdomainKernel(system, x, pieces, min(divided, x.size), form, choice)
    return writer.b.kernel(name, 1, 1), writer.data, (rows_of(x.size),), writer.at


class SubdomainKernel:
    """Writes it."""

    def __init__(self, system: System, x: Expr, pieces: int, divided: int, form: int, choice: int):
        self.b, self.data, self.n, self.system, self.divided = Builder(), Data(), x.size, system, divided
        self.at = self.data.offset(np.zeros(self.n + 5))
        self.index = self.data.offset(np.arange(self.n, dtype=float))
        whole = np.isin(np.arange(self.n), system.integers).astype(float)
        self.integers = self.data.offset(whole) if system.integers else None
        self.piece = RegionPiece(self.b, self.n, self._number, self.at + self.n, self.integers)
        self.narrow, self.upper = (self.b.data(self.at + self.n + k) for k in (3, 4))
        digits = np.array(list(itertools.product(range(pieces), repeat=divided)), float).reshape(-1, divided)
        self.count = len(digits)
        self.tables = [[self.data.offset(np.ascontiguousarray((digits[:, r] + end) / pieces)) for end in (0, 1)]
                       for r in range(divided)]
        self._rank(x, choice)
        b = self.b
        with b.loop(self.count) as turn:
            parts = [[b.data(b.place("uadd", table, turn.index)) for table in ends] for ends in self.tables]
            nlo, violated = self._enclosed(x, form, lambda i: self._side(i, parts))
            above = b.ogt(b.neg(nlo), self.upper)
            dead = b.mor(violated, above)
            ends = [end for before, after in parts for end in (b.neg(before), after)]
            best = b.step((-INF,) * (1 + len(ends)), tuple(b.select(dead, -INF, v) for v in (nlo, *ends)), larger)
            counts = b.step((0.0, 0.0), tuple(b.select(mask, 1.0, 0.0) for mask in (b.mnot(dead), b.mnot(violated))), add_up)
        (nlo, *ends), (alive, possible) = best.results, counts.results
        self._write(nlo, ends, b.ogt(alive, 0.0), b.ogt(possible, 0.0))

    def _number(self, i: "int | Value") -> Value:
        return self.b.data(self.b.place("uadd", self.index, i))

    def _weight(self, i: "int | Value") -> Value:
        return self.b.data(self.b.place("uadd", self.at, i))

    def _whole(self, i: "int | Value") -> tuple[Value, Value]:
        return self.piece.ends(i)

    # ---- which variables are divided
    def _rank(self, x: Expr, choice: int) -> None:
        """The place of each variable in the order of what is compared; unbounded sides come last."""
        b, n = self.b, self.n
        measure, self.ranks = b.buffer(n), b.buffer(n)
        slopes = None
        if choice == ADAPTIVE:
            slopes = b.buffer(n)

            def keep(at: tuple, g: Pair) -> None:
                g = whole_if_unsound(b, g)
                b.store(slopes, at[0], b.min(b.max(b.max(g.nlo, g.hi), 2.0**-500), 2.0**500))
            Lowering(b, Enclosures(), {"x": lambda i: _pair(b, self._whole(i))}, self.data).run(
                [(gradient(self.system.f, x), keep)])
        with b.loop(n) as turn:
            lo, hi = self._whole(turn.index)
            width = b.mul(b.sub(hi, lo), self._weight(turn.index))
            if slopes is not None:
                width = b.mul(width, b.load(slopes, turn.index))
            bounded = b.mand(b.olt(b.sub(hi, lo), INF), b.olt(width, INF))
            b.store(measure, turn.index, b.select(bounded, width, -1.0))
        with b.loop(n) as turn:
            mine, number = b.load(measure, turn.index), self._number(turn.index)
            with b.loop(n) as other:
                its, place = b.load(measure, other.index), self._number(other.index)
                before = b.mor(b.ogt(its, mine), b.mand(b.oeq(its, mine), b.olt(place, number)))
                rank = b.step((0.0,), (b.select(before, 1.0, 0.0),), add_up)
            b.store(self.ranks, turn.index, b.select(b.oge(mine, 0.0), rank.results[0], float(n)))

    def _part(self, i: "int | Value", low: Value, high: Value, parts: list[list[Value]]) -> tuple[Value, Value]:
        """The part of a side between two parts of it, which are those of its rank."""
        b, rank = self.b, self.b.load(self.ranks, i)
        before, after = b.const(0.0), b.const(1.0)
        for r, (begin, end) in enumerate(parts):
            mine = b.oeq(rank, float(r))
            before, after = b.select(mine, begin, before), b.select(mine, end, after)
        left = b.select(b.ole(before, 0.0), low, cut(b, low, high, before))
        right = b.select(b.oge(after, 1.0), high, cut(b, low, high, after))
        if self.integers is None:
            return left, right
        whole = b.ogt(b.data(b.place("uadd", self.integers, i)), 0.0)
        return (b.select(whole, b.add(b.neg(b.floor(b.neg(left))), 0.0), left),
                b.select(whole, b.add(b.floor(right), 0.0), right))

    def _side(self, i: "int | Value", parts: list[list[Value]]) -> Pair:
        return _pair(self.b, self._part(i, *self._whole(i), parts))

    # ---- one subdomain
    def _enclosed(self, x: Expr, form: int, box) -> tuple[Value, Value]:
        """Minus a lower bound of f, and whether a constraint is violated or something undefined on all of the subdomain."""
        b, m, n = self.b, self.system.m, self.n
        ends = b.buffer(1 + m), b.buffer(1 + m)
        levels, empty = b.buffer(1 + m), b.buffer(1 + m)

        def keep(row: "int | Value", v: Pair) -> None:
            known, whole = natural(b, v), whole_if_unsound(b, v)
            for buffer, value in zip((*ends, levels, empty), (whole.nlo, whole.hi, known.level, b.select(known.empty, 1.0, 0.0)),
                                     strict=True):
                b.store(buffer, row, value)
        outputs = outputs_of(b, self.system, keep)
        slopes = (b.buffer((1 + m) * n), b.buffer((1 + m) * n)) if form == MEAN_VALUE else ()

        def put(k: int):
            def write(at: tuple, g: Pair) -> None:
                g = whole_if_unsound(b, g)
                for buffer, end in zip(slopes, (g.nlo, g.hi), strict=True):
                    b.store(buffer, b.place("uadd", k * n, at[0]), end)
            return write
        if slopes:
            outputs += [(g, put(k)) for k, g in enumerate(self.system.jacobian(x))]
        if form == AFFINE:
            for row, v in enumerate(enclosures(b, self.data, box, list(self.system.rows), n)):
                keep(row, v)
        else:
            Lowering(b, Enclosures(), {"x": box}, self.data).run(outputs)
        best = self._mean_values(box, ends, levels, slopes) if slopes else ends
        lower, upper = (self.data.offset(np.append([bound], of)) for bound, of in
                        ((-INF, self.system.lower), (INF, self.system.upper)))
        with b.loop(1 + m) as turn:
            low, high = b.neg(b.load(best[0], turn.index)), b.load(best[1], turn.index)
            beyond = b.mor(b.ogt(low, b.data(b.place("uadd", upper, turn.index))),
                           b.olt(high, b.data(b.place("uadd", lower, turn.index))))
            out = b.mor(beyond, b.ogt(b.load(empty, turn.index), 0.0))
            bad = b.step((0.0,), (b.select(out, 1.0, 0.0),), add_up)
        faults = bad.results[0]
        if self.integers is not None:
            with b.loop(n) as turn:
                side = box(turn.index)
                none = b.step((0.0,), (b.select(b.olt(side.hi, side.lo(b)), 1.0, 0.0),), add_up)
            faults = b.add(faults, none.results[0])
        return b.load(best[0], 0), b.ogt(faults, 0.0)

    def _mean_values(self, box, ends: tuple[int, int], levels: int, slopes: tuple[int, int]) -> tuple[int, int]:
        """The ends, or those of g(c) + G(X)(X - c) where they are tighter and g is Lipschitz; c is the middle."""
        b, m, n = self.b, self.system.m, self.n
        best, there = (b.buffer(1 + m), b.buffer(1 + m)), (b.buffer(1 + m), b.buffer(1 + m))

        def middle(i: "int | Value") -> Pair:
            side = box(i)
            lo, hi = side.lo(b), side.hi
            c = b.min(b.max(b.add(b.mul(lo, 0.5), b.mul(hi, 0.5)), lo), hi)
            c = b.select(b.olt(b.abs(c), INF), c, b.select(b.ogt(lo, -INF), lo, b.select(b.olt(hi, INF), hi, 0.0)))
            return Pair(b.neg(c), c)

        def keep(row: "int | Value", v: Pair) -> None:
            v = whole_if_unsound(b, v)
            for buffer, end in zip(there, (v.nlo, v.hi), strict=True):
                b.store(buffer, row, end)
        Lowering(b, Enclosures(), {"x": middle}, self.data).run(outputs_of(b, self.system, keep))
        with b.loop(1 + m) as turn:
            row = b.place("umul", turn.index, n)
            with b.loop(n) as inner:
                slope = Pair(*(b.load(end, b.place("uadd", row, inner.index)) for end in slopes))
                side, c = box(inner.index), middle(inner.index)
                turned = Pair(slope.hi, slope.nlo)
                tilts = b.step((0.0, 0.0), (tilt(b, slope, side, c), tilt(b, turned, side, c)), add_up)
            usable = b.oge(b.load(levels, turn.index), float(LIPSCHITZ))
            for buffer, known, at, total in zip(best, ends, there, tilts.results, strict=True):
                natural_end, mean = b.load(known, turn.index), b.add(b.load(at, turn.index), total)
                tighter = b.mand(usable, b.mand(b.olt(mean, natural_end), b.ogt(mean, -INF)))
                b.store(buffer, turn.index, b.select(tighter, mean, natural_end))
        return best

    # ---- what is left
    def _write(self, nlo: Value, ends: list[Value], alive: Value, possible: Value) -> None:
        b, n = self.b, self.n
        low_row, axis_row, level_row = rows(n)
        parts = [[b.neg(ends[2 * r]), ends[2 * r + 1]] for r in range(self.divided)]
        with b.loop(n) as turn:
            i = turn.index
            whole = self._whole(i)
            low, high = (b.select(alive, left, was) for left, was in zip(self._part(i, *whole, parts), whole, strict=True))
            b.output(0, i, low)
            b.output(0, b.place("uadd", i, n), high)
            width = b.sub(high, low)
            side = b.mul(width, self._weight(i))
            side = b.select(can_be_cut(b, low, high), b.select(b.olt(side, INF), side, 2.0**1000), -1.0)
            wide = b.select(b.ogt(width, self.narrow), side, -1.0)
            first, any_side = (b.step((-1.0, NO_AXIS), (size, self._number(i)), with_larger) for size in (wide, side))
        known = b.input(0, low_row)
        lower = b.select(alive, best_lower(b, known, b.neg(nlo)), b.select(possible, INF, known))
        b.output(0, low_row, lower)
        already = b.mor(self.piece.void, b.oeq(b.input(0, axis_row), DISCARDED_AXIS))
        gone = b.mor(already, b.mnot(b.mor(alive, possible)))
        axis = b.select(b.ogt(first.results[0], -1.0), first.results[1], any_side.results[1])
        b.output(0, axis_row, b.select(gone, DISCARDED_AXIS, axis))
        b.output(0, level_row, b.input(0, level_row))


def _pair(b: Builder, ends: tuple[Value, Value]) -> Pair:
    return Pair(b.neg(ends[0]), ends[1])
