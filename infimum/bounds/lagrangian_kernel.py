"""The kernel of Lagrangian bounds: what multipliers say of the feasible points of a region, a region a lane.

For numbers w_k and an end e_k of constraint k, the upper one where w_k > 0 and the lower one where w_k < 0, and for r >= 0

    L(x) = f(x) + Σ w_k (g_k(x) - e_k) + r Σ (h_k(x) - c_k)²

with the second sum over the equations h_k = c_k alone, is at most f(x) at every feasible point x: a lower bound of L on a region
is one of f on its feasible part. Any such numbers will do; those of a local solution make L flat there, and r makes it convex
across the equations.

**Lower bound.** That of the natural enclosure of L; where L is Lipschitz, of the mean value form L(c) + G(X)(X - c); where L is
convex on the region, or would be with Σ s_i x_i² added for given s_i >= 0, of its tangent less what was added:
L(c) + G(c)(X - c) - Σ s_i (X_i - c_i)². That is so where T H Tᵀ is dominated by its diagonal, for the second derivatives H of L
with what was added, and a given matrix T. c is a point of the region: next to the local solution, and where second derivatives
are asked about, next to the least point of the quadratic function with the first and second derivatives there.

**Minus a product.** If f = q exp(-p) with q < 0 (`structure/minus_product.py`), L may be made with p instead of f, and used where
p is defined on all of the region: L >= P says that f >= q exp(-P), and f <= U < 0 that p <= -log(U / q). Such a p is a sum.

**What is left.** Where L is at most the upper bound, G_i (x_i - c_i) is at most what the other terms of the mean value form
leave.

Proof: docs/proofs/lagrangian.md.
"""

from typing import TYPE_CHECKING

import numpy as np

from infimum.expr.build import build, concat, take
from infimum.expr.differentiate import gradient
from infimum.expr.node import Expr, const, var
from infimum.interval.arithmetic import div, mul, sub
from infimum.interval.pair import DEFINED, INF, SMOOTH, Pair, b_level, exact
from infimum.kernel.box_conclusions import add_up, larger, natural, parts_left, raised, tilt, whole_if_unsound
from infimum.kernel.constant_data import Data
from infimum.kernel.directional_curvature import triangle
from infimum.kernel.ir import Builder, Value
from infimum.kernel.lowering import Lowering
from infimum.kernel.meaning import Enclosures
from infimum.kernel.region_cut import rows
from infimum.ops.rules import RULES
from infimum.problem.system import System
from infimum.search.policy.bounds import LAGRANGIAN as POLICY
from infimum.support.lazy import LazyModule

if TYPE_CHECKING:
    from infimum.structure import minus_product as products
else:
    products = LazyModule("structure.minus_product")

LEFT, PAID = range(2)  # the outputs
_W, _E, _R, _S = "w", "e", "r", "s"


def lagrangian(name: str, system: System, x: Expr, curved: int = 1, logarithmic: int = 0) -> tuple:
    """(kernel, data, rows of the outputs, where the parameters begin): the rows of a sweep, from which `bounds/shaving_kernel.py`
    makes what is left of a region, none of them dead; 1 where it was worth the cost, else 0. Parameters: the verified upper
    bound, the local solution, w, e, r, and, where it is asked whether L is convex, s, T row by row, and the first
    and second derivatives of L + Σ s_i x_i² at the local solution."""
    writer = LagrangianKernel(system, x, bool(curved), bool(logarithmic))
    return writer.b.kernel(name, 1, 2), writer.data, (4 * x.size, 1), writer.at


def expression(system: System, f: Expr | None = None) -> Expr:
    """L, with w, e and r as further variables, and f instead of the system's if one is given."""
    m, bodies = system.m, concat(system.bodies)
    slack = build("sub", bodies, var(_E, (m,)))
    total = build("add", system.f if f is None else f, build("sum", build("mul", var(_W, (m,)), slack), axes=(0,)))
    equal = np.flatnonzero(system.equal)
    if not len(equal):
        return total
    off = build("sub", take(bodies, equal), const(system.lower[equal]))
    squares = build("sum", build("powi", off, k=2), axes=(0,))
    return build("add", total, build("mul", var(_R, ()), squares))


class LagrangianKernel:
    """Writes it."""

    def __init__(self, system: System, x: Expr, curved: bool, logarithmic: bool):
        self.b, self.data, self.n, self.m = Builder(), Data(), x.size, system.m
        self.at = self.data.offset(np.zeros(2 + self.n + 2 * self.m + (2 * self.n + 2 * self.n**2 if curved else 0)))
        self.outer = products.minus_product(system.f) if logarithmic else None
        self.f = expression(system, None if self.outer is None else self.outer.p)
        b = self.b
        self.leaves = {name: self._given(at) for name, at in (
            (_W, 1 + self.n), (_E, 1 + self.n + self.m), (_R, 1 + self.n + 2 * self.m))}
        derivative = gradient(self.f, x)
        self.centre = self._descend() if curved else None
        box, value = self._on_box_and_at_centre(derivative)
        known = natural(b, box)
        with b.loop(self.n) as turn:
            i, box = turn.index, self._box(turn.index)
            tilts = b.step((0.0, 0.0), tuple(tilt(b, g(i), box, self._centre(i)) for g in (self.slope, self.slope_there)), add_up)
            furthest = b.step((0.0,), (b.max(box.nlo, box.hi),), larger)
        bounded = b.olt(furthest.results[0], INF)
        self.tilts = tilts.results[0]
        self.linear = b.add(whole_if_unsound(b, value).nlo, self.tilts)  # minus the lower end of the mean value form
        self.usable = b.mand(b.mand(known.lipschitz(b), bounded), b.olt(b.abs(self.linear), INF))
        nlo = b.select(bounded, raised(b, known, value, self.tilts), known.nlo)
        if curved:
            tangent = b.add(b.add(whole_if_unsound(b, value).nlo, tilts.results[1]), self._added())
            convex = b.mand(b.mand(b.oge(known.level, float(SMOOTH)), bounded), self._is_convex(x))
            nlo = b.select(b.mand(convex, b.olt(tangent, nlo)), tangent, nlo)
        self._write(b.neg(nlo), b.oge(known.level, float(DEFINED)))

    def _on_box_and_at_centre(self, derivative: Expr) -> list[Pair]:
        """What L is there; and `slope` and `slope_there`, what its derivatives are. Written once, for both turns of a loop."""
        b, n = self.b, self.n
        places, slopes, ends = self._buffers(2 * n), self._buffers(2 * n), (*self._buffers(2), b.buffer(2))
        found: list[Pair] = []
        with b.loop(n) as turn:
            for k, pair in enumerate((self._box(turn.index), self._centre(turn.index))):
                for buffer, end in zip(places, pair[:2], strict=True):
                    b.store(buffer, b.place("uadd", k * n, turn.index), end)
        with b.loop(2) as turn:
            begin = b.place("umul", turn.index, n)

            def leaf(i: "int | Value") -> Pair:
                return Pair(*(b.load(buffer, b.place("uadd", begin, i)) for buffer in places))

            def keep(at: tuple, v: Pair) -> None:
                for buffer, end in zip(slopes, whole_if_unsound(b, v)[:2], strict=True):
                    b.store(buffer, b.place("uadd", begin, at[0]), end)

            def keep_value(at: tuple, v: Pair) -> None:
                found.append(v)
                for buffer, end in zip(ends, (v.nlo, v.hi, b_level(b, v.level)), strict=True):
                    b.store(buffer, turn.index, end)
            Lowering(b, Enclosures(), self.leaves | {"x": leaf}, self.data).run([(self.f, keep_value), (derivative, keep)])
        self.slope, self.slope_there = (
            lambda i, k=k: Pair(*(b.load(buffer, b.place("uadd", k * n, i)) for buffer in slopes)) for k in range(2))
        value = found[0]
        return [value.but(nlo=b.load(ends[0], k), hi=b.load(ends[1], k), point=None,
                          level=value.level if isinstance(value.level, int) else b.load(ends[2], k)) for k in range(2)]

    def _of_f(self, lower: Value, defined: Value) -> tuple[Value, Value]:
        """What a lower bound of L says of f, and what the upper bound of f says of L: without an outer function the same."""
        b, best = self.b, self.b.data(self.at)
        if self.outer is None:
            return lower, best
        factor = exact(b, self.outer.factor)
        power = RULES["exp"](b, Pair(lower, b.neg(lower)))
        below = b.neg(mul(b, factor, Pair(b.const(0.0), power.hi)).nlo)
        quotient = div(b, Pair(b.neg(best), best), factor)
        known = b.mand(defined, b.mand(b.olt(best, 0.0), b.ogt(b.neg(quotient.nlo), 0.0)))
        most = RULES["log"](b, Pair(b.select(known, quotient.nlo, -1.0), b.select(known, quotient.hi, 1.0))).nlo
        return b.select(b.mand(defined, b.ogt(lower, -INF)), below, -INF), b.select(known, most, INF)

    def _buffers(self, size: int) -> tuple[int, int]:
        return self.b.buffer(size), self.b.buffer(size)

    def _given(self, begin: int):
        def leaf(i: "int | Value") -> Pair:
            v = self.b.data(self.b.place("uadd", self.at + begin, i))
            return Pair(self.b.neg(v), v, point=v)
        return leaf

    def _box(self, i: "int | Value") -> Pair:
        return Pair(self.b.neg(self.b.input(0, i)), self.b.input(0, self.b.place("uadd", i, self.n)))

    def _centre(self, i: "int | Value") -> Pair:
        """The local solution, or the point of the box next to it; or where descending has ended."""
        c = self._inside(i, self._given(1)(i).hi) if self.centre is None else self.b.load(self.centre, i)
        return Pair(self.b.neg(c), c)

    def _inside(self, i: "int | Value", v: Value) -> Value:
        box = self._box(i)
        return self.b.min(self.b.max(v, box.lo(self.b)), box.hi)

    def _descend(self) -> int:
        """About the least point of the box: each variable in turn, some times."""
        b, n = self.b, self.n
        begin = 2 + n + 2 * self.m + n + n**2
        there, slope, matrix = self._given(1), self._given(begin), self._given(begin + n)
        moving, centre = b.state(n), b.buffer(n)
        order = self.data.position_offset(np.tile(np.arange(n), POLICY.sweeps))
        with b.loop(n) as turn:
            b.store(moving, turn.index, self._inside(turn.index, there(turn.index).hi))
        with b.rounds(POLICY.sweeps * n) as turn:
            i = b.udata(b.place("uadd", order, turn.index))
            with b.loop(n) as inner:
                j = inner.index
                term = b.mul(matrix(b.place("uadd", b.place("umul", i, n), j)).hi, b.sub(b.load(moving, j), there(j).hi))
                step = b.step((0.0,), (term,), add_up)
            steep = b.add(slope(i).hi, step.results[0])
            c = b.sub(b.load(moving, i), b.div(steep, matrix(b.place("uadd", b.place("umul", i, n), i)).hi))
            b.store(moving, i, self._inside(i, b.select(b.uno(c, c), b.load(moving, i), c)))
            turn.more = b.olt(-1.0, 0.0)
        with b.loop(n) as turn:
            b.store(centre, turn.index, b.load(moving, turn.index))
        return centre

    def _added(self) -> Value:
        """What Σ s_i (x_i - c_i)² is at most."""
        b, n = self.b, self.n
        with b.loop(n) as turn:
            i, (nlo, hi) = turn.index, sub(b, self._box(turn.index), self._centre(turn.index))[:2]
            far = b.max(nlo, hi)
            step = b.step((0.0,), (b.mul(b.mul(self._given(2 + n + 2 * self.m)(i).hi, far), far),), add_up)
        return step.results[0]

    def _is_convex(self, x: Expr) -> Value:
        """Is T H Tᵀ dominated by its diagonal, for all second derivatives H of L + Σ s_i x_i² on the box?"""
        b, n = self.b, self.n
        size, begin = n * (n + 1) // 2, self.at + 2 + 2 * n + 2 * self.m
        squares = build("sum", build("mul", var(_S, (n,)), build("powi", x, k=2)), axes=(0,))
        least, most = b.buffer(size), b.buffer(size)

        def along(i: "int | Value"):
            def direction(j: "int | Value") -> Pair:
                v = b.data(b.place("uadd", b.place("uadd", b.place("umul", i, n), begin), j))
                return Pair(b.neg(v), v, point=v)
            return direction

        def write(row: "int | Value", entry: Pair) -> None:
            entry = whole_if_unsound(b, entry)
            b.store(least, row, entry.nlo)
            b.store(most, row, b.max(entry.nlo, entry.hi))
        leaves = {"x": self._box, _S: self._given(2 + n + 2 * self.m), **self.leaves}
        triangle(b, self.data, build("add", self.f, squares), leaves, along, n, write)
        places = {pair: n + k for k, pair in enumerate(zip(*(a.tolist() for a in np.triu_indices(n, 1)), strict=True))}
        convex = b.olt(-1.0, 0.0)
        for i in range(n):
            total = b.load(least, i)
            for j in range(n):
                if i != j:
                    total = b.add(total, b.load(most, places[min(i, j), max(i, j)]))
            convex = b.mand(convex, b.olt(total, 0.0))
        return convex

    def _write(self, lower: Value, defined: Value) -> None:
        """Rows of a sweep; whether it was worth it. Where nothing is left, all feasible points lie above the upper bound."""
        b, n = self.b, self.n
        before, best = b.input(0, rows(n)[0]), b.data(self.at)
        lower, most = self._of_f(lower, defined)
        room, sides = b.add(most, self.linear), (b.buffer(n), b.buffer(n))
        with b.loop(n) as turn:
            i = turn.index
            box, c = self._box(i), self._centre(i)
            others = b.sub(room, tilt(b, self.slope(i), box, c))
            least = Pair(b.const(INF), b.select(b.uno(others, others), INF, others))
            low, high = parts_left(b, least, self.slope(i), sub(b, box, c))[:2]
            low, high = b.max(b.neg(b.add(b.neg(low), c.nlo)), box.lo(b)), b.min(b.add(c.hi, high), box.hi)
            cut = b.mand(self.usable, b.ole(low, high))
            b.store(sides[0], i, b.select(cut, low, box.lo(b)))
            b.store(sides[1], i, b.select(cut, high, box.hi))
            empty = b.step((0.0,), (b.select(b.mand(self.usable, b.ogt(low, high)), 1.0, 0.0),), larger)
        above = b.mor(b.ogt(lower, best), b.mand(b.ogt(empty.results[0], 0.0), b.olt(best, INF)))
        lower = b.select(above, INF, lower)
        with b.loop(n) as turn:
            i = turn.index
            for what, value in enumerate((b.load(sides[0], i), b.load(sides[1], i), 1.0, lower)):
                b.output(LEFT, b.place("uadd", what * n, i), value)
        closed = b.mand(b.ogt(lower, before), b.olt(b.sub(best, lower), b.mul(POLICY.worth_gap_left, b.sub(best, before))))
        b.output(PAID, 0, b.select(b.mor(above, closed), 1.0, 0.0))
