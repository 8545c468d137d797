"""The kernel of second-order Taylor bounds, a region a lane. Let f be twice continuously differentiable around a bounded region X
with the middle c, g the gradient at c, H the Hessian on X, and w_i the largest |x_i - c_i|. With x_i - c_i = w_i s_i,

    f(x) >= f(c) + sum of (g_i w_i s_i + A_i s_i**2 / 2),   A_i = w_i (H_ii w_i - sum over j != i of |H_ij| w_j),   |s_i| <= 1.

**Lower bound.** With m_i = |g_i| w_i, each term is at least -m_i t + A_i t**2 / 2 at t = |s_i|. That is least at t = m_i / A_i
where A_i > m_i, else at t = 1.

**What is left of X.** Where f is not above the verified upper bound u, the term of a variable is at most u less all the others of
the lower bound. That is solved for t on both sides of c: exactly where A_i > 0, else with the chord of the term on [0, 1].

Proof: docs/proofs/taylor_bound.md.
"""

import numpy as np

from infimum.interval.pair import INF, SMOOTH, Pair
from infimum.kernel.box_conclusions import add_up, larger, whole_if_unsound
from infimum.kernel.constant_data import Data
from infimum.kernel.ir import Builder, Value
from infimum.kernel.region_cut import rows
from infimum.search.policy.bounds import TAYLOR_BOUND as POLICY

REGIONS, CENTRE, VALUE_LO, LEVEL, SLOPE_LO, SLOPE_HI, CURVATURE_LO, CURVATURE_HI = range(8)  # the inputs
LEFT, PAID = range(2)  # the outputs


def taylor(name: str, n: int) -> tuple:
    """(kernel, data, rows of the outputs, where the parameter begins): the rows of a sweep, from which `bounds/shaving_kernel.py`
    makes what is left of a region; 1 where it was worth the cost, else 0. Inputs: the regions, their middles, f and its gradient
    there, its level and its Hessian on the regions. Parameter: the verified upper bound."""
    writer = TaylorKernel(n)
    return writer.b.kernel(name, 8, 2), writer.data, (4 * n, 1), writer.at


class TaylorKernel:
    """Writes it."""

    def __init__(self, n: int):
        self.b, self.data, self.n = Builder(), Data(), n
        self.at = self.data.offset(np.zeros(1))
        triangle = np.zeros((n, n), np.int64)  # where an entry of the Hessian is among those of its upper triangle
        triangle[np.triu_indices(n)] = np.arange(n * (n + 1) // 2)
        self.places = self.data.position_offset(np.maximum(triangle, triangle.T).ravel())
        b, (width, concavity, depth) = self.b, (self.b.buffer(n) for _ in range(3))
        self.width, self.concavity, self.depth = (lambda i, kept=kept: b.load(kept, i) for kept in (width, concavity, depth))
        with b.loop(n) as turn:
            (lo, hi), c = self._ends(turn.index), b.input(CENTRE, turn.index)
            b.store(width, turn.index, b.max(b.sub(c, lo), b.sub(hi, c)))
            furthest = b.step((0.0,), (b.max(b.abs(lo), b.abs(hi)),), larger)
        with b.loop(n) as turn:
            i = turn.index
            b.store(concavity, i, self._concavity(i))
            slope = self._slope(i)
            b.store(depth, i, _depth(b, b.mul(b.max(slope.nlo, slope.hi), self.width(i)), self.concavity(i)))
            total = b.step((0.0,), (self.depth(i),), add_up)
        self.whole = b.sub(total.results[0], b.input(VALUE_LO, 0))  # minus the lower bound
        smooth = b.mand(b.oge(b.input(LEVEL, 0), float(SMOOTH)), b.olt(furthest.results[0], INF))
        self.usable = b.mand(smooth, b.olt(b.abs(self.whole), INF))  # and no NaN
        self._write()

    def _ends(self, i: Value) -> tuple[Value, Value]:
        return self.b.input(REGIONS, i), self.b.input(REGIONS, self.b.place("uadd", i, self.n))

    def _read(self, low: int, high: int, row: Value) -> Pair:
        return whole_if_unsound(self.b, Pair(self.b.neg(self.b.input(low, row)), self.b.input(high, row)))

    def _slope(self, i: Value) -> Pair:
        return self._read(SLOPE_LO, SLOPE_HI, i)

    def _concavity(self, i: Value) -> Value:
        """Minus A_i."""
        b = self.b
        with b.loop(self.n) as turn:
            j = turn.index
            row = b.udata(b.place("uadd", self.places, b.place("uadd", b.place("umul", i, self.n), j)))
            entry = self._read(CURVATURE_LO, CURVATURE_HI, row)
            size = b.select(b.ueq(i, j), entry.nlo, b.max(entry.nlo, entry.hi))
            total = b.step((0.0,), (b.mul(size, self.width(j)),), add_up)
        return b.mul(total.results[0], self.width(i))

    def _write(self) -> None:
        """Rows of a sweep; whether it was worth it."""
        b, n = self.b, self.n
        before, best = b.input(REGIONS, rows(n)[0]), b.data(self.at)
        lower = b.select(self.usable, b.neg(self.whole), -INF)
        with b.loop(n) as turn:
            i = turn.index
            (lo, hi), c, w, slope = self._ends(i), b.input(CENTRE, i), self.width(i), self._slope(i)
            room = b.sub(b.add(best, self.whole), self.depth(i))  # the term of this variable is no larger
            room = b.select(b.uno(room, room), INF, room)
            (down, lowest), (up, highest) = (b.outline("taylor_side", _side, b.mul(end, w), self.concavity(i), room)
                                             for end in (slope.hi, slope.nlo))
            low = b.select(b.ole(down, lowest), b.neg(b.mul(lowest, w)), b.neg(b.mul(b.neg(up), w)))
            high = b.select(b.ole(up, highest), b.mul(highest, w), b.mul(b.neg(down), w))
            low, high = b.max(b.neg(b.add(b.neg(low), b.neg(c))), lo), b.min(b.add(c, high), hi)
            cut, gone = b.mand(self.usable, b.ole(low, high)), b.mand(self.usable, b.ogt(low, high))
            ends = b.select(cut, low, lo), b.select(cut, high, hi)
            for what, value in enumerate((*ends, b.select(gone, 0.0, 1.0), lower)):
                b.output(LEFT, b.place("uadd", what * n, i), value)
            dead = b.step((0.0,), (b.select(gone, 1.0, 0.0),), larger)
        closed = b.mand(b.ogt(lower, before), b.olt(b.sub(best, lower), b.mul(POLICY.worth_gap_left, b.sub(best, before))))
        b.output(PAID, 0, b.select(b.mor(closed, b.ogt(dead.results[0], 0.0)), 1.0, 0.0))


def _depth(b: Builder, m: Value, concavity: Value) -> Value:
    """Minus the least value of -m t + A t**2 / 2 for t in [0, 1], where `concavity` is -A."""
    inside = b.ogt(b.neg(concavity), m)  # the vertex
    return b.select(inside, b.div(b.mul(b.mul(m, 0.5), m), b.neg(concavity)), b.fma(concavity, 0.5, m))


def _side(b: Builder, m: Value, concavity: Value, room: Value) -> tuple[Value, Value]:
    """The part of [0, 1] outside of which -m t + A t**2 / 2 > room, where `concavity` is -A: its ends, in the wrong order where
    nothing is left."""
    a = b.neg(concavity)
    convex, square = b.ogt(a, 0.0), b.fma(m, m, b.mul(2.0, b.mul(a, room)))
    root = b.sqrt(b.max(square, 0.0))
    near, far = b.neg(b.div(b.sub(root, m), a)), b.div(b.add(m, root), a)
    near = b.select(b.olt(square, 0.0), INF, near)
    falls, above = b.fma(concavity, 0.5, m), b.olt(room, 0.0)  # minus the slope of the chord
    chord_near = b.select(above, b.select(b.ogt(falls, 0.0), b.neg(b.div(room, falls)), INF), 0.0)
    chord_far = b.select(b.olt(falls, 0.0), b.div(room, b.neg(falls)), 1.0)
    near, far = b.select(convex, near, chord_near), b.select(convex, far, chord_far)
    near = b.select(b.ogt(near, 0.0), near, 0.0)  # nor NaN
    return near, b.select(b.olt(far, 1.0), far, 1.0)
