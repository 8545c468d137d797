"""The kernel of the complete search with constraints: one subregion of the selected region a lane, as in
`engines/complete_kernel.py`.

f and all constraints are enclosed together on the subregion, with nothing hoisted: what one formula leaves of a variable is no
use to another. A lane dies where one of them is undefined on all of it, a constraint is violated there, or a variable that shall
be whole has no whole number. Where f certainly rises or falls with a variable, and every constraint that reads it is Lipschitz
and strictly satisfied on the whole subregion, that holds no minimiser unless it reaches the user's bound; but this counts only
where a feasible point is known, so that it never shows that there is none. A sample counts if all constraints certainly hold
there.
"""

import numpy as np

from infimum.engines.complete_kernel import LEFT, LOWER, SAMPLE, UPPER, LanePieces
from infimum.expr.differentiate import gradient
from infimum.expr.node import Expr
from infimum.expr.variable_reads import reads
from infimum.interval.pair import DEFINED, INF, LIPSCHITZ, Pair
from infimum.kernel.box_conclusions import add_up, best_lower, first_order, natural, whole_if_unsound, with_lower
from infimum.kernel.ir import Value
from infimum.kernel.lowering import Leaf, Lowering
from infimum.kernel.meaning import Enclosures
from infimum.kernel.system_kernels import outputs_of
from infimum.problem.system import System
from infimum.search.policy.search import PUBLISHED_ENGINES as POLICY

_NAN = float("nan")


class Layout:
    """Where the parameters lie: the ends of the pieces (p + 1 for each variable of the block); for each variable its place in the
    block, -1 outside, the region's ends, and the user's bounds; what the region's lower end is known to be at least; 1 where
    only minimisers are of interest, since a feasible point is known; then the parts of the width at which each sample lies (n a
    sample)."""

    def __init__(self, n: int, m: int, p: int, samples: int):
        self.place = m * (p + 1)
        self.region = self.place + n
        self.user = self.region + 2 * n
        self.least = self.user + 2 * n
        self.known = self.least + 1
        self.parts = self.known + 1
        self.size = self.parts + samples * n


class CompleteSystemKernel(LanePieces):
    """Writes the kernel."""

    def __init__(self, system: System, x: Expr, m: int, p: int, samples: int):
        self.system, self.x, self.n, self.rows = system, x, x.size, 1 + system.m
        self.layout = Layout(self.n, m, p, samples)
        super().__init__(m, p, self.layout.size)
        b = self.b
        whole = np.isin(np.arange(self.n), system.integers).astype(float)
        self.whole = self.data.offset(whole) if system.integers else None
        self.lower, self.upper = (self.data.offset(np.append(free, ends)) for free, ends in
                                  ((-INF, system.lower), (INF, system.upper)))
        nlo, violated, excluded = self._region(self._sides())
        upper, sample = self._samples(samples) if samples else (b.const(INF), b.const(-1.0))
        lower = b.neg(nlo)
        gone = b.mor(violated, b.mand(excluded, b.ogt(self.given(self.layout.known), 0.0)))
        left = b.select(gone, _NAN, best_lower(b, lower, self.given(self.layout.least)))
        for row, v in ((LOWER, b.select(violated, _NAN, lower)), (LEFT, left), (UPPER, upper), (SAMPLE, sample)):
            b.output(0, row, v)

    def _at(self, table: int, k: "int | Value") -> Value:
        return self.b.data(self.b.place("uadd", table, k))

    def _given(self, begin: int, i: "int | Value") -> Value:
        return self.given(self.b.place("uadd", begin, i))

    # ---- the subregion
    def _sides(self) -> Value:
        """Stores the sides of the subregion, whole numbers for integer variables; how many have none?"""
        b, n, layout = self.b, self.n, self.layout
        self.lo, self.hi = b.buffer(n), b.buffer(n)
        with b.loop(n) as turn:
            i = turn.index
            place, lo, hi = (self._given(begin, i) for begin in (layout.place, layout.region, layout.region + n))
            for k, (left, right) in enumerate(self.ends):
                mine = b.oeq(place, float(k))
                lo, hi = b.select(mine, left, lo), b.select(mine, right, hi)
            if self.whole is not None:
                is_whole = b.ogt(self._at(self.whole, i), 0.0)
                lo = b.select(is_whole, b.add(b.neg(b.floor(b.neg(lo))), 0.0), lo)
                hi = b.select(is_whole, b.add(b.floor(hi), 0.0), hi)
            b.store(self.lo, i, lo)
            b.store(self.hi, i, hi)
            none = b.step((0.0,), (b.select(b.olt(hi, lo), 1.0, 0.0),), add_up)
        return none.results[0]

    def _box(self, i: "int | Value") -> Pair:
        return Pair(self.b.neg(self.b.load(self.lo, i)), self.b.load(self.hi, i))

    def _enclosed(self, leaf: Leaf, *more: tuple) -> list[int]:
        """Buffers with minus the lower ends, the upper ends, the levels and the emptiness of all rows there."""
        b = self.b
        buffers = [b.buffer(self.rows) for _ in range(4)]

        def keep(row: "int | Value", v: Pair) -> None:
            known, ends = natural(b, v), whole_if_unsound(b, v)
            for buffer, value in zip(buffers, (ends.nlo, ends.hi, known.level, b.select(known.empty, 1.0, 0.0)), strict=True):
                b.store(buffer, row, value)
        Lowering(b, Enclosures(), {"x": leaf}, self.data).run([*outputs_of(b, self.system, keep), *more])
        return buffers

    def _region(self, void: Value) -> tuple[Value, Value, Value]:
        """With this number of sides that are void: (minus the lower end of f; is there such a side, or a row violated or
        undefined; does a derivative exclude minimisers?)."""
        b, n = self.b, self.n
        derives = self.rows * n <= POLICY.most_elements
        slopes = b.buffer(n), b.buffer(n)

        def derivative(at: tuple, v: Pair) -> None:
            v = whole_if_unsound(b, v)
            for buffer, end in zip(slopes, (v.nlo, v.hi), strict=True):
                b.store(buffer, at[0], end)
        found = self._enclosed(self._box, *([(gradient(self.system.f, self.x), derivative)] if derives else []))
        slack = b.buffer(self.rows)
        with b.loop(self.rows) as turn:
            k = turn.index
            nlo, hi, level, empty = (b.load(buffer, k) for buffer in found)
            lo, lower, upper = b.neg(nlo), self._at(self.lower, k), self._at(self.upper, k)
            inside = b.mand(b.mor(b.ogt(lo, lower), b.oeq(lower, -INF)), b.mor(b.olt(hi, upper), b.oeq(upper, INF)))
            b.store(slack, k, b.select(b.mand(inside, b.oge(level, float(LIPSCHITZ))), 1.0, 0.0))
            out = b.mor(b.mor(b.ogt(lo, upper), b.olt(hi, lower)), b.ogt(empty, 0.0))
            bad = b.step((0.0,), (b.select(out, 1.0, 0.0),), add_up)
        excluded = self._excluded(slopes, slack) if derives else b.ogt(b.const(0.0), 0.0)
        return b.load(found[0], 0), b.ogt(b.add(bad.results[0], void), 0.0), excluded

    def _excluded(self, slopes: tuple[int, int], slack: int) -> Value:
        """Row 0, f itself, has no ends: it is slack where it is Lipschitz, and taken to read every variable."""
        b, n, user = self.b, self.n, self.layout.user
        table = reads(list(self.system.rows), self.x)
        table[0] = True
        table = self.data.offset(table.astype(float))
        with b.loop(n) as turn:
            i = turn.index
            with b.loop(self.rows) as inner:
                tied = b.mand(b.ogt(self._at(table, b.place("uadd", b.place("umul", inner.index, n), i)), 0.0),
                              b.oeq(b.load(slack, inner.index), 0.0))
                in_the_way = b.step((0.0,), (b.select(tied, 1.0, 0.0),), add_up)
            allowed = b.oeq(in_the_way.results[0], 0.0)
            if self.whole is not None:
                allowed = b.mand(allowed, b.oeq(self._at(self.whole, i), 0.0))
            found = first_order(b, allowed, Pair(*(b.load(end, i) for end in slopes)), b.load(self.lo, i), b.load(self.hi, i),
                                self._given(user, i), self._given(user + n, i))
            some = b.step((0.0,), (b.select(found.excluded, 1.0, 0.0),), add_up)
        return b.ogt(some.results[0], 0.0)

    # ---- samples
    def _samples(self, samples: int) -> tuple[Value, Value]:
        """(the smallest upper end of f at a sample at which all constraints certainly hold, the number of that sample)."""
        b = self.b
        with b.loop(samples) as turn:
            parts = b.place("uadd", b.place("umul", turn.index, self.n), self.layout.parts)

            def point(i: "int | Value") -> Pair:
                lo, hi = b.load(self.lo, i), b.load(self.hi, i)
                c = b.fma(b.sub(hi, lo), self._given(parts, i), lo)
                if self.whole is not None:
                    c = b.select(b.ogt(self._at(self.whole, i), 0.0), b.floor(c), c)
                c = b.min(b.max(c, lo), hi)
                return Pair(b.neg(c), c)
            found = self._enclosed(point)
            with b.loop(self.rows) as inner:
                k = inner.index
                nlo, hi, level, empty = (b.load(buffer, k) for buffer in found)
                holds = b.mand(b.oge(b.neg(nlo), self._at(self.lower, k)), b.ole(hi, self._at(self.upper, k)))
                certain = b.mand(b.mand(holds, b.oge(level, float(DEFINED))), b.oeq(empty, 0.0))
                uncertain = b.step((0.0,), (b.select(certain, 0.0, 1.0),), add_up)
            value = b.select(b.oeq(uncertain.results[0], 0.0), b.load(found[1], 0), INF)
            best = b.step((INF, -1.0), (value, self.number(turn.index)), with_lower)
        return best.results


def complete_system(name: str, system: System, x: Expr, m: int, p: int, samples: int) -> tuple:
    """(kernel, data, rows of the output, where the parameters begin in the doubles). One input: the lane's number, as bits."""
    writer = CompleteSystemKernel(system, x, m, p, samples)
    return writer.b.kernel(name, 1, 1), writer.data, (4,), writer.at
