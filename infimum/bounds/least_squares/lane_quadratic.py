"""Quadratic functions on a box around 0, a box a lane: q(d) = c + 2 gᵀd + dᵀM d for |d_k| <= h_k, with balls for coefficients.

In s = d / h, |s_k| <= 1. M, as it is then, is split into P = L D Lᵀ with D >= 0, exactly that of these doubles, and the rest
E, which takes away at most the sum of |E_kl|, on the diagonal of its negative part. So q(d) >= c - lost + 2 gᵀs + sᵀP s.

**The least value.** For a point s0 of the box convexity gives 2 gᵀs + sᵀP s >= 2 (g + P s0)ᵀs - s0ᵀP s0, least in a corner.

**Sides.** Where q <= U: with t = Lᵀs and a = L⁻¹g the sum is Σ (2 a_j t_j + D_j t_j²), and t_n = s_n for the last variable n of
the order. The others contribute at least -a_j² / D_j and at least -2 |a_j| max |t_j| each; what is left is a quadratic
inequality for s_n.
"""

from itertools import combinations_with_replacement

from infimum.interval.pair import INF
from infimum.kernel.forms.balls import Ball, dot, size, total
from infimum.kernel.ir import Builder, Value
from infimum.search.policy.bounds import LEAST_SQUARES as POLICY

_TINY = 2.0**-400  # fixed: its reciprocal is finite


class LaneQuadratic:
    """`matrix` has the entries (k, l) with k <= l."""

    def __init__(self, b: Builder, constant: Ball, tilt: list[Ball], matrix: dict[tuple[int, int], Ball], h: list[Value]):
        self.b, self.constant, self.p = b, constant, len(h)
        self.one, exact = Ball(b.const(1.0)), [Ball(v) for v in h]
        self.tilt = [dot(b, (tilt[k], exact[k])) for k in range(self.p)]
        self.matrix = {(k, m): dot(b, (dot(b, (entry, exact[k])), exact[m])) for (k, m), entry in matrix.items()}

    def _entry(self, k: int, m: int) -> Ball:
        return self.matrix[min(k, m), max(k, m)]

    def _split(self, order: list[int]) -> tuple[list[list[Value]], list[Value], dict[tuple[int, int], Ball], list[Value]]:
        """L, D, P and what is lost, with the variables in this order."""
        b, places = self.b, list(combinations_with_replacement(range(self.p), 2))
        matrix = {(i, j): self._entry(order[i], order[j]) for i, j in places}
        low, pivots = self._factors({place: entry.mid for place, entry in matrix.items()})
        form, lost = {}, [b.const(0.0) if self.constant.rad is None else self.constant.rad]
        for i, j in places:
            terms = [(self.one, dot(b, (Ball(pivots[m]), dot(b, (Ball(low[i][m]), Ball(low[j][m])))))) for m in range(i + 1)]
            form[i, j] = dot(b, *terms)
            error = dot(b, (self.one, matrix[i, j]), (Ball(b.const(-1.0)), form[i, j]))
            below = b.sub(error.rad, error.mid)
            lost.append(b.select(b.ole(below, 0.0), 0.0, below) if i == j else b.mul(2.0, size(b, error)))  # NaN stays NaN
        return low, pivots, form, lost

    def least(self) -> Value:
        """A lower bound on all of the box; NaN where there is none."""
        b, every = self.b, range(self.p)
        _, _, form, lost = self._split(list(every))
        point = self._descend({place: entry.mid for place, entry in form.items()})
        for k in every:
            turned = dot(b, *((Ball(point[m]), form[min(k, m), max(k, m)]) for m in every))
            gradient = dot(b, (self.one, self.tilt[k]), (self.one, turned))
            curvature = dot(b, (Ball(point[k]), turned))
            lost += [b.mul(2.0, size(b, gradient)), b.add(curvature.mid, curvature.rad)]
        return b.neg(b.sub(total(b, lost), self.constant.mid))

    def side(self, k: int, upper: Value) -> tuple[Value, Value]:
        """What q <= upper leaves of s_k: minus the lower end, the upper end; beyond ±1 or NaN where nothing is known."""
        b, last = self.b, self.p - 1
        order = [*(m for m in range(self.p) if m != k), k]
        low, pivots, _, lost = self._split(order)
        a: list[Ball] = []
        for i, m in enumerate(order):
            a.append(dot(b, (self.one, self.tilt[m]), *((Ball(b.neg(low[i][j])), a[j]) for j in range(i))))
        for j in range(last):
            most, reach = size(b, a[j]), b.const(1.0)
            for i in range(j + 1, self.p):
                reach = b.add(reach, b.abs(low[i][j]))
            by_pivot = b.select(b.ogt(pivots[j], 0.0), b.div(b.mul(most, most), pivots[j]), INF)
            by_reach = b.mul(2.0, b.mul(most, reach))
            lost.append(b.select(b.olt(by_pivot, by_reach), by_pivot, by_reach))
        room = b.add(b.sub(upper, self.constant.mid), total(b, lost))  # D s² + 2 a s <= room
        pivot = pivots[last]
        middle = dot(b, (Ball(b.neg(b.div(1.0, pivot))), a[last]))  # about -a / D: the rest is enclosed
        # (s - c)² <= room / D - c² - 2 c (a / D + …): with c any double, D (s - c)² + 2 (a + D c) (s - c) <= room - 2 a c - D c²
        c = Ball(b.min(b.max(middle.mid, -2.0), 2.0))
        rest = dot(b, (self.one, a[last]), (Ball(pivot), c))
        moved = dot(b, (c, a[last]), (c, rest))
        room = b.add(b.add(room, b.neg(moved.mid)), moved.rad)
        tilted = b.mul(size(b, rest), 6.0)  # |s - c| <= 3
        room = b.add(room, tilted)
        wide = b.sqrt(b.div(b.max(room, 0.0), pivot))
        known = b.mand(b.ogt(pivot, 0.0), b.mnot(b.uno(room, c.mid)))
        nlo, hi = b.sub(wide, c.mid), b.add(c.mid, wide)
        return b.select(known, nlo, 1.0), b.select(known, hi, 1.0)

    def _factors(self, a: dict[tuple[int, int], Value]) -> tuple[list[list[Value]], list[Value]]:
        """L and D >= 0 of about the matrix, its pivots raised to 0 where they are below."""
        b, p = self.b, self.p
        low, pivots = [[b.const(float(i == j)) for j in range(p)] for i in range(p)], []
        for j in range(p):
            left = a[j, j]
            for k in range(j):
                left = b.sub(left, b.mul(pivots[k], b.mul(low[j][k], low[j][k])))
            positive = b.ogt(left, b.mul(b.max(b.abs(a[j, j]), _TINY), POLICY.least_pivot_of_form))
            pivots.append(b.select(positive, left, 0.0))
            for i in range(j + 1, p):
                v = a[j, i]
                for k in range(j):
                    v = b.sub(v, b.mul(pivots[k], b.mul(low[i][k], low[j][k])))
                low[i][j] = b.select(positive, b.div(v, left), 0.0)
        return low, pivots

    def _descend(self, form: dict[tuple[int, int], Value]) -> list[Value]:
        """About the lowest point of 2 tilt·s + sᵀ form s for |s_k| <= 1."""
        b, p = self.b, self.p
        point = [b.const(0.0)] * p
        for _ in range(POLICY.sweeps_of_form if p > 1 else 1):
            for k in range(p):
                slope = self.tilt[k].mid
                for m in range(p):
                    slope = slope if m == k else b.fma(form[min(k, m), max(k, m)], point[m], slope)
                best = b.neg(b.div(slope, b.max(form[k, k], _TINY)))
                best = b.min(b.max(best, -1.0), 1.0)
                point[k] = b.select(b.uno(best, best), 0.0, best)
        return point
