"""The kernel of variable projection: a lower bound of a sum of squares over a region, whatever the linear parameters are.

Let e = rest(θ) + Φ(θ) κ (`expr/separable.py`), T a box of the nonlinear parameters with the point t inside, θ = t + d, |d_k| <= h_k.
For any numbers S (q by q), κ0, B, M_k that a lane has computed, all κ are written as

    κ = κ0 + B d + S (I - Σ M_k d_k) b.

With Ψ(θ) = Φ(θ) S (I - Σ M_k d_k) and u(θ) = rest + Φ (κ0 + B d) the residuals are u + Ψ b, and where G = ΨᵀΨ >= γ > 0 on T,

    Σ e² >= |u|² - wᵀ G⁻¹ w >= |u|² - |w|² / γ,    w = Ψᵀ u.

The numbers are chosen so that at t Ψ is nearly orthonormal, κ0 the linear fit, and Ψᵀ ∂u, Ψᵀ ∂Ψ nearly vanish: κ follows the linear
fit, and the basis turns as little as it can. None of that is relied on. Let u = u0 + V d + ρ with ρ = dᵀ R d / 2 in each row, and
Ψ = Q + L + N, L linear in d, N of second order, all enclosed row by row on T. Then

    |u|² >= |u0 + V d|² + dᵀ (Σ (u0 + V d) R) d,
    γ     = 1 - |QᵀQ - I| - 2 Σ_k h_k |Qᵀ L_k| - 2 |Q| |N|,
    |w|  <= |w0 + W d| + ω,   ω = |Nᵀu0| + |L| |V d| + |Q| |ρ| + |N| |V d| + (|L| + |N|) |ρ|,

with norms of Frobenius. So the sum is at least a quadratic function of d on a box (`_least_of_quadratic`), off by terms of third order only.
Rows whose enclosures are not finite and smooth on T are left out: squares are not negative.

**Contraction.** Where the sum of squares is at most U, |b| <= |w| / γ + √((U - lower) / γ), which bounds κ.
"""

from collections.abc import Callable
from itertools import combinations_with_replacement

import numpy as np

from infimum.expr.node import Expr
from infimum.expr.separable import Separable
from infimum.interval.arithmetic import add, mul, neg, square
from infimum.interval.pair import INF, SMOOTH, Pair, b_level, exact
from infimum.lower.branch import GONE, cut, rows, rows_of
from infimum.lower.data import Data
from infimum.lower.jets import Jet, Jets, unit
from infimum.lower.kernel import Builder, Kernel, Value
from infimum.lower.lowering import Lowering
from infimum.lower.meaning import Enclosures, Estimates
from infimum.lower.proof import add_up, best_lower, larger
from infimum.lower.schedule import plan

LEFT, UPPER, POINT, WORTH = range(4)  # the outputs
_LARGE = 2.0**400   # numbers beyond are not worked with
_TINY = 2.0**-400
_PIVOT = 2.0**-40   # of a pivot, as part of the diagonal
_SWEEPS = 6         # of coordinate descent


def projection(name: str, parts: Separable, n: int) -> tuple[Kernel, Data, tuple[int, ...], int]:
    """The kernel. Parameters: U, then the user's bounds."""
    writer = Projection(parts, n)
    return writer.b.kernel(name, 1, 4), writer.data, (rows_of(n), 1, n, 1), writer.at


class Projection:
    """Writes it."""

    def __init__(self, parts: Separable, n: int):
        self.b, self.data, self.n, self.parts = Builder(), Data(), n, parts
        self.at = self.data.offset(np.zeros(1 + 2 * n))
        b = self.b
        self.p, self.q = len(parts.nonlinear), len(parts.columns)
        self.vectors = [parts.rest, *parts.columns]
        self.pairs = tuple(combinations_with_replacement(range(self.p), 2))
        self.lo, self.hi = ([b.input(0, k + i) for i in range(n)] for k in (0, n))
        self.t, self.h = {}, []
        usable = b.olt(-1.0, 0.0)
        for i in parts.nonlinear:
            lo, hi = self.lo[i], self.hi[i]
            t = b.min(b.max(b.add(b.mul(lo, 0.5), b.mul(hi, 0.5)), lo), hi)
            self.t[i] = t
            self.h.append(b.max(b.sub(hi, t), b.sub(t, lo)))
            usable = b.mand(usable, b.mand(b.ogt(lo, -_LARGE), b.olt(hi, _LARGE)))
        self.usable = usable
        self._choose()
        self._enclose()
        self._conclude()

    # ---- rows of residuals, in a loop over the data
    def _at_point(self) -> Lowering:
        return self._lowering(Estimates(), lambda i: self.t.get(i, self.b.const(0.0)))

    def _lowering(self, meaning: object, leaf: Callable) -> Lowering:
        lowering = Lowering(self.b, meaning, {"x": leaf}, self.data)
        lowering.elements.plan = plan(self.vectors, straight=False)
        return lowering

    def _box(self, i: int) -> Pair:
        return Pair(self.b.neg(self.lo[i]), self.hi[i])

    def _jets(self, box: Callable[[int], Pair], pairs: tuple) -> Lowering:
        jets = Jets(self.data, self.p, pairs)
        where = {i: k for k, i in enumerate(self.parts.nonlinear)}
        return self._lowering(jets, lambda i: jets.leaf(box(i), [unit(self.b, k, where[i]) for k in range(self.p)]))

    def _point(self, i: int) -> Pair:
        return Pair(self.b.neg(self.t[i]), self.t[i], point=self.t[i])

    def _rows(self, *lowerings: Lowering) -> "_Rows":
        return _Rows(self, lowerings)

    # ---- numbers that are chosen, in plain upward arithmetic
    def _choose(self) -> None:
        """κ0, S, B, M as lists of lane values."""
        b, q, p = self.b, self.q, self.p
        every = range(q)
        with self._rows(self._at_point(), self._lowering(Enclosures(), self._box)) as row:
            here, there = row.elements
            keep = self._kept(there)
            sizes = tuple(b.select(keep, b.abs(v), 0.0) for v in here[1:])
            top = b.step((0.0,) * q, sizes, larger) if q else None
        scale = [b.div(1.0, b.max(v, _TINY)) for v in (top.results if q else ())]

        def gram(columns: Callable[[list[Value]], list[Value]], with_rest: bool) -> list[Value]:
            with self._rows(self._at_point(), self._lowering(Enclosures(), self._box)) as row:
                here, there = row.elements
                keep = self._kept(there)
                c = columns(here[1:])
                terms = [b.mul(c[i], c[j]) for i, j in combinations_with_replacement(every, 2)]
                terms += [b.mul(v, here[0]) for v in c] if with_rest else []
                total = b.step((0.0,) * len(terms), tuple(b.select(keep, v, 0.0) for v in terms), add_up) if terms else None
            return list(total.results) if terms else []
        first = gram(lambda c: [b.mul(v, s) for v, s in zip(c, scale, strict=True)], False)
        one = self._inverse_root(first)
        one = [[b.mul(scale[i], one[i][j]) for j in every] for i in every]

        def turned(c: list[Value], by: list[list[Value]]) -> list[Value]:
            return [_dot(b, [(c[i], by[i][j]) for i in every]) for j in every]
        second = gram(lambda c: turned(c, one), True)
        two = self._inverse_root(second[:q * (q + 1) // 2])
        self.s = [[_dot(b, [(one[i][k], two[k][j]) for k in every]) for j in every] for i in every]
        right = second[q * (q + 1) // 2:]
        along = [_dot(b, [(two[k][j], right[k]) for k in every]) for j in every]
        self.kappa = [b.neg(_dot(b, [(self.s[i][j], along[j]) for j in every])) for i in every]
        self._choose_turns(turned)

    def _choose_turns(self, turned: Callable) -> None:
        b, q, p = self.b, self.q, self.p
        every = range(q)
        with self._rows(self._jets(self._point, ()), self._lowering(Enclosures(), self._box)) as row:
            here, there = row.elements
            keep = self._kept(there)
            values = [_one(b, jet.value) for jet in here]
            slopes = [[b.const(0.0) if d is None else _one(b, d) for d in jet.first] for jet in here]
            psi = turned(values[1:], self.s)
            terms = []
            for k in range(p):
                v = _dot(b, [(slopes[1 + j][k], self.kappa[j]) for j in every], slopes[0][k])
                terms += [b.mul(m, v) for m in psi]
                moved = turned([slopes[1 + j][k] for j in every], self.s)
                terms += [b.mul(m, d) for m in psi for d in moved]
            total = b.step((0.0,) * len(terms), tuple(b.select(keep, v, 0.0) for v in terms), add_up) if terms else None
        found, each = list(total.results) if terms else [], q + q * q
        self.b_hat, self.s_hat = [], []  # [k][j], [k][j][m]
        for k in range(p):
            mine = found[k * each:(k + 1) * each]
            self.b_hat.append([b.neg(_dot(b, [(self.s[j][m], mine[m]) for m in every])) for j in every])
            turn = [mine[q + m * q:q + (m + 1) * q] for m in every]  # M_k
            self.s_hat.append([[_dot(b, [(self.s[j][l], turn[l][m]) for l in every]) for m in every] for j in every])

    def _kept(self, there: list[Pair]) -> Value:
        """Is a row defined, smooth and bounded on the box?"""
        b = self.b
        keep = b.olt(-1.0, 0.0)
        for pair in there:
            keep = b.mand(keep, b.mand(b.olt(pair.nlo, _LARGE), b.olt(pair.hi, _LARGE)))
            if not isinstance(pair.level, int):
                keep = b.mand(keep, b.oge(pair.level, float(SMOOTH)))
        return keep

    def _inverse_root(self, gram: list[Value]) -> list[list[Value]]:
        """Upper triangular X with Xᵀ A X about I, for a matrix A (its triangle, row by row); poor where A is singular."""
        b, q = self.b, self.q
        a = {pair: v for pair, v in zip(combinations_with_replacement(range(q), 2), gram, strict=True)}
        low = [[None] * q for _ in range(q)]  # A = L Lᵀ
        inv = []
        for j in range(q):
            left = a[j, j]
            for k in range(j):
                left = b.sub(left, b.mul(low[j][k], low[j][k]))
            pivot = b.max(left, b.max(b.mul(a[j, j], _PIVOT), _TINY))
            inv.append(b.div(1.0, b.sqrt(pivot)))
            for i in range(j + 1, q):
                v = a[j, i]
                for k in range(j):
                    v = b.sub(v, b.mul(low[i][k], low[j][k]))
                low[i][j] = b.mul(v, inv[j])
        zero = b.const(0.0)
        x = [[zero] * q for _ in range(q)]  # L⁻ᵀ
        for j in range(q):
            x[j][j] = inv[j]
            for i in range(j + 1, q):
                v = _dot(b, [(low[i][k], x[j][k]) for k in range(j, i)])
                x[j][i] = b.neg(b.mul(v, inv[i]))
        return x

    # ---- what is enclosed
    def _enclose(self) -> None:
        b, q, p = self.b, self.q, self.p
        every, along = range(q), range(p)
        h = [Pair(v, v) for v in self.h]
        fixed = [_double(b, v) for v in self.kappa]
        path = [[_double(b, v) for v in row] for row in self.b_hat]        # [k][j]
        basis = [[_double(b, v) for v in row] for row in self.s]          # [j][m]
        turns = [[[_double(b, v) for v in row] for row in m] for m in self.s_hat]
        kappa = [_sum(b, [fixed[j], *(mul(b, path[k][j], h[k]) for k in along)]) for j in every]  # on all of T
        bases = [[_sum(b, [basis[j][m], *(mul(b, turns[k][j][m], h[k]) for k in along)]) for m in every] for j in every]
        sums = _Sums(b)
        with self._rows(self._jets(self._point, ()), self._jets(self._box, self.pairs)) as row:
            here, there = row.elements
            keep = self._kept([jet.value for jet in there])
            at, slope = [jet.value for jet in here], [jet.first for jet in here]
            slopes, bend = [jet.first for jet in there], [jet.second for jet in there]
            u = _sum(b, [at[0], *(mul(b, fixed[j], at[1 + j]) for j in every)])
            v = [_sum(b, [slope[0][k], *(_times(b, fixed[j], slope[1 + j][k]) for j in every),
                          *(mul(b, path[k][j], at[1 + j]) for j in every)]) for k in along]
            psi = [_sum(b, [mul(b, basis[j][m], at[1 + j]) for j in every]) for m in every]
            turn = [[_sum(b, [*(_times(b, basis[j][m], slope[1 + j][k]) for j in every),
                              *(neg(b, mul(b, turns[k][j][m], at[1 + j])) for j in every)]) for k in along] for m in every]
            curved, off = {}, b.const(0.0)
            for e, (k, l) in enumerate(self.pairs):
                r = _sum(b, [bend[0][e], *(_times(b, kappa[j], bend[1 + j][e]) for j in every),
                             *(_times(b, path[l][j], slopes[1 + j][k]) for j in every),
                             *(_times(b, path[k][j], slopes[1 + j][l]) for j in every)])
                curved[k, l] = r
                off = b.fma(_size(b, r), self._half_product(k, l), off)
            beyond = []
            for m in every:
                far = b.const(0.0)
                for e, (k, l) in enumerate(self.pairs):
                    r = _sum(b, [*(_times(b, bases[j][m], bend[1 + j][e]) for j in every),
                                 *(_minus(b, _times(b, turns[l][j][m], slopes[1 + j][k])) for j in every),
                                 *(_minus(b, _times(b, turns[k][j][m], slopes[1 + j][l])) for j in every)])
                    far = b.fma(_size(b, r), self._half_product(k, l), far)
                beyond.append(far)
            here_on = _sum(b, [u, *(mul(b, v[k], h[k]) for k in along)])
            sums.pair("u", square(b, u))
            for k in along:
                sums.pair(("g", k), mul(b, u, v[k]))
            for k, l in self.pairs:
                sums.pair(("a", k, l), square(b, v[k]) if k == l else mul(b, v[k], v[l]))
                sums.pair(("c", k, l), mul(b, here_on, curved[k, l]))
            for m in every:
                sums.pair(("w", m), mul(b, psi[m], u))
                for k in along:
                    sums.pair(("W", m, k), add(b, mul(b, turn[m][k], u), mul(b, psi[m], v[k])))
                for l in range(m, q):
                    sums.pair(("G", m, l), square(b, psi[m]) if l == m else mul(b, psi[m], psi[l]))
                for l in every:
                    for k in along:
                        sums.pair(("X", k, m, l), mul(b, psi[m], turn[l][k]))
                sums.size(("N", m), b.mul(beyond[m], beyond[m]))
                sums.size(("Nu", m), b.mul(beyond[m], _size(b, u)))
            for k in along:
                total = b.const(0.0)
                for m in every:
                    size = _size(b, turn[m][k])
                    total = b.fma(size, size, total)
                sums.size(("L", k), total)
                steep = b.const(0.0)
                for j in every:
                    size = _size(b, slopes[1 + j][k])
                    steep = b.fma(size, b.mul(size, self._row_size(j)), steep)
                sums.size(("steep", k), steep)
                size = _size(b, _sum(b, [slopes[0][k], *(_times(b, kappa[j], slopes[1 + j][k]) for j in every)]))
                sums.size(("moves", k), b.mul(size, size))
            sums.size("rho", b.mul(off, off))
            sums.size("z", b.mul(_size(b, at[0]), _size(b, at[0])))
            missing = b.select(keep, 0.0, 1.0)
            sums.end(keep)
            gaps = b.step((0.0,), (missing,), larger)
        self.sums, self.whole = sums, b.oeq(gaps.results[0], 0.0)

    def _half_product(self, k: int, l: int) -> Value:
        """What multiplies a second derivative in dᵀ R d / 2."""
        product = self.b.mul(self.h[k], self.h[l])
        return self.b.mul(0.5, product) if k == l else product

    def _row_size(self, j: int) -> Value:
        total = self.b.const(0.0)
        for v in self.s[j]:
            total = self.b.fma(v, v, total)
        return total

    # ---- what follows
    def _conclude(self) -> None:
        b, q, p, sums = self.b, self.q, self.p, self.sums
        every, along, h = range(q), range(p), self.h
        # γ
        off = b.const(0.0)
        for m in every:
            for l in range(m, q):
                size = _size(b, add(b, sums[("G", m, l)], exact(b, -1.0)) if l == m else sums[("G", m, l)])
                off = b.fma(b.mul(size, size), 1.0 if l == m else 2.0, off)
        off = b.sqrt(off)
        turned = b.const(0.0)
        for k in along:
            total = b.const(0.0)
            for m in every:
                for l in every:
                    size = _size(b, sums[("X", k, m, l)])
                    total = b.fma(size, size, total)
            turned = b.fma(h[k], b.sqrt(total), turned)
        norm_q = b.sqrt(b.add(1.0, off))
        norm_n = b.sqrt(_total(b, [sums.upper(("N", m)) for m in every]))
        loss = b.add(off, b.mul(2.0, b.fma(norm_q, norm_n, turned)))
        gamma = b.neg(b.sub(loss, 1.0))  # 1 - loss, rounded down
        # ω
        v = b.const(0.0)
        for k, l in self.pairs:
            v = b.fma(_size(b, sums[("a", k, l)]), b.mul(b.mul(h[k], h[l]), 1.0 if k == l else 2.0), v)
        v = b.sqrt(v)
        norm_l = _total(b, [b.mul(h[k], b.sqrt(sums.upper(("L", k)))) for k in along])
        rho = b.sqrt(sums.upper("rho"))
        both = b.sqrt(_total(b, [b.mul(sums.upper(("Nu", m)), sums.upper(("Nu", m))) for m in every]))
        omega = b.add(both, b.add(b.mul(b.add(norm_l, norm_n), b.add(v, rho)), b.mul(norm_q, rho)))
        # |w0 + W d| <= sigma
        sigma = b.const(0.0)
        for m in every:
            size = _size(b, sums[("w", m)])
            for k in along:
                size = b.fma(_size(b, sums[("W", m, k)]), h[k], size)
            sigma = b.fma(size, size, sigma)
        sigma = b.sqrt(sigma)
        share = b.min(b.max(b.div(omega, b.max(sigma, _TINY)), 2.0**-30), 2.0**30)  # (s + ω)² <= (1 + share) s² + (1 + 1 / share) ω²
        solid = b.ogt(gamma, 2.0**-6)
        gamma = b.select(solid, gamma, 1.0)
        factor = b.div(b.add(1.0, share), gamma)
        lost = b.mul(b.div(b.add(1.0, b.div(1.0, share)), gamma), b.mul(omega, omega))
        lower = self._least_of_quadratic(factor, lost)
        good = b.mand(self.usable, b.mand(solid, b.mand(b.ogt(lower, 0.0), b.olt(lower, _LARGE))))
        lower = b.select(good, lower, -INF)
        self._write(lower, solid, gamma, b.add(sigma, omega))

    def _least_of_quadratic(self, factor: Value, lost: Value) -> Value:
        """A lower bound of |u0 + V d|² + dᵀ C d - factor |w0 + W d|² - lost for |d_k| <= h_k, as a quadratic form in s = d / h."""
        b, q, p, sums, h = self.b, self.q, self.p, self.sums, self.h
        along, every, by = range(p), range(q), Pair(b.neg(factor), factor, point=factor)
        constant = _sum(b, [sums["u"], *(neg(b, mul(b, by, square(b, sums[("w", m)]))) for m in every)])
        base = b.neg(b.add(constant.nlo, lost))
        tilt, radius = [], b.const(0.0)
        for k in along:
            g = _sum(b, [sums[("g", k)], *(neg(b, mul(b, by, mul(b, sums[("w", m)], sums[("W", m, k)]))) for m in every)])
            middle = _middle(b, g)
            radius = b.fma(b.mul(2.0, h[k]), _spread(b, g, middle), radius)
            tilt.append(b.mul(middle, h[k]))
            # what is rounded off in the product
            radius = b.fma(2.0, b.add(tilt[-1], b.mul(b.neg(middle), h[k])), radius)
        matrix = {}
        for k, l in self.pairs:
            entry = _sum(b, [sums[("a", k, l)], sums[("c", k, l)],
                             *(neg(b, mul(b, by, square(b, sums[("W", m, k)]) if k == l
                                          else mul(b, sums[("W", m, k)], sums[("W", m, l)]))) for m in every)])
            matrix[k, l] = mul(b, entry, mul(b, _double(b, h[k]), _double(b, h[l])))
        low, pivots = self._factors(matrix)
        # E = M - L D Lᵀ: what it takes away at most
        form = {}
        for k, l in self.pairs:
            form[k, l] = _sum(b, [mul(b, _double(b, pivots[m]), mul(b, _double(b, low[k][m]), _double(b, low[l][m])))
                                  for m in range(k + 1)])
            error = add(b, matrix[k, l], neg(b, form[k, l]))
            radius = b.add(radius, b.max(error.nlo, 0.0) if k == l else b.mul(2.0, _size(b, error)))
        point = self._descend(form, tilt)
        value = Pair(b.add(b.neg(base), radius), b.const(INF))  # only its lower end is read
        for k in along:
            gradient = _sum(b, [_double(b, tilt[k]), *(mul(b, form[min(k, l), max(k, l)], _double(b, point[l])) for l in along)])
            curvature = mul(b, _double(b, point[k]), add(b, gradient, neg(b, _double(b, tilt[k]))))
            value = Pair(_total(b, [value.nlo, b.mul(2.0, _size(b, gradient)), curvature.hi]), value.hi)
        return b.neg(value.nlo)

    def _factors(self, matrix: dict) -> tuple[list[list[Value]], list[Value]]:
        """L and D >= 0 of about the matrix, its pivots raised to 0 where they are below."""
        b, p = self.b, self.p
        a = {pair: _middle(b, entry) for pair, entry in matrix.items()}
        low, pivots = [[b.const(float(i == j)) for j in range(p)] for i in range(p)], []
        for j in range(p):
            left = a[j, j]
            for k in range(j):
                left = b.sub(left, b.mul(pivots[k], b.mul(low[j][k], low[j][k])))
            whole = b.max(b.abs(a[j, j]), _TINY)
            positive = b.ogt(left, b.mul(whole, _PIVOT))
            pivots.append(b.select(positive, left, 0.0))
            for i in range(j + 1, p):
                v = a[j, i]
                for k in range(j):
                    v = b.sub(v, b.mul(pivots[k], b.mul(low[i][k], low[j][k])))
                low[i][j] = b.select(positive, b.div(v, left), 0.0)
        return low, pivots

    def _descend(self, form: dict, tilt: list[Value]) -> list[Value]:
        """About the lowest point of 2 tilt·s + sᵀ form s for |s_k| <= 1."""
        b, p = self.b, self.p
        point = [b.const(0.0)] * p
        entries = {pair: _middle(b, entry) for pair, entry in form.items()}
        for _ in range(_SWEEPS if p > 1 else 1):
            for k in range(p):
                slope = _dot(b, [(entries[min(k, l), max(k, l)], point[l]) for l in range(p) if l != k], tilt[k])
                best = b.neg(b.div(slope, b.max(entries[k, k], _TINY)))
                best = b.min(b.max(best, -1.0), 1.0)
                point[k] = b.select(b.uno(best, best), 0.0, best)
        return point

    def _write(self, lower: Value, solid: Value, gamma: Value, w: Value) -> None:
        b, n, q, p = self.b, self.n, self.q, self.p
        upper = b.data(self.at)
        known_lower = best_lower(b, b.input(0, rows(n)[0]), lower)
        gone = b.ogt(known_lower, upper)
        # |b| <= reach
        room = b.max(b.sub(upper, b.max(lower, 0.0)), 0.0)
        reach = b.add(b.div(w, gamma), b.sqrt(b.div(room, gamma)))
        known = b.mand(b.mand(self.usable, solid), b.olt(reach, _LARGE))
        lo, hi = list(self.lo), list(self.hi)
        at_bounds = self.whole
        point = [self.t.get(i, b.const(0.0)) for i in range(n)]
        volume = b.const(1.0)
        for j, product in enumerate(self.parts.products):
            spread = b.const(0.0)
            for k in range(p):
                spread = b.fma(b.abs(self.b_hat[k][j]), self.h[k], spread)
            size = b.const(0.0)
            for m in range(q):
                entry = b.abs(self.s[j][m])
                for k in range(p):
                    entry = b.fma(b.abs(self.s_hat[k][j][m]), self.h[k], entry)
                size = b.fma(entry, entry, size)
            spread = b.fma(b.sqrt(size), reach, spread)
            low, high = b.neg(b.sub(spread, self.kappa[j])), b.add(self.kappa[j], spread)
            if len(product) > 1:
                at_bounds = b.olt(0.0, -1.0)
                continue
            i, = product
            sure = b.mand(known, b.mand(b.ogt(low, -INF), b.olt(high, INF)))
            new_low, new_high = b.select(sure, b.max(low, lo[i]), lo[i]), b.select(sure, b.min(high, hi[i]), hi[i])
            empty = b.ogt(new_low, new_high)
            gone = b.mor(gone, empty)
            wide = b.max(b.sub(self.hi[i], self.lo[i]), _TINY)
            volume = b.mul(volume, b.min(b.div(b.max(b.sub(new_high, new_low), _TINY), wide), 1.0))
            lo[i], hi[i] = b.select(empty, lo[i], new_low), b.select(empty, hi[i], new_high)
            point[i] = self.kappa[j]
            at_bounds = b.mand(at_bounds, b.mand(b.oge(point[i], b.data(self.at + 1 + i)), b.ole(point[i], b.data(self.at + 1 + n + i))))
        for i in range(n):
            b.output(LEFT, i, lo[i])
            b.output(LEFT, n + i, hi[i])
            b.output(POINT, i, point[i])
        low_row, axis_row, level_row = rows(n)
        b.output(LEFT, low_row, known_lower)
        b.output(LEFT, axis_row, b.select(gone, GONE, self._axis()))
        b.output(LEFT, level_row, b.input(0, level_row))
        found = b.mand(at_bounds, b.mand(self.usable, b.ogt(self.sums["u"].hi, -INF)))
        b.output(UPPER, 0, b.select(found, self.sums["u"].hi, INF))
        b.output(WORTH, 0, b.select(b.mor(gone, b.ole(volume, 2.0**-4)), 1.0, 0.0))

    def _axis(self) -> Value:
        """The nonlinear variable that moves basis and model most; where that is not known, the widest as part of its bounds."""
        b, n = self.b, self.n
        best, axis = b.const(-1.0), b.input(0, rows(n)[1])
        scale = b.sqrt(b.max(self.sums.upper("z"), _TINY))
        for k, i in enumerate(self.parts.nonlinear):
            sums = self.sums
            a = b.div(b.sqrt(sums.upper(("moves", k))), scale)
            score = b.mul(self.h[k], b.add(b.sqrt(sums.upper(("steep", k))), a))
            part = b.div(self.h[k], b.max(b.sub(b.data(self.at + 1 + n + i), b.data(self.at + 1 + i)), _TINY))
            score = b.select(b.olt(score, _LARGE), score, part)
            middle = cut(b, self.lo[i], self.hi[i], 0.5)
            can = b.mand(b.ogt(middle, self.lo[i]), b.olt(middle, self.hi[i]))
            better = b.mand(can, b.ogt(score, best))
            best, axis = b.select(better, score, best), b.select(better, float(i), axis)
        return axis


class _Rows:
    """A loop over the rows of residuals: `elements` of each lowering, `rest` first."""

    def __init__(self, writer: Projection, lowerings: tuple[Lowering, ...]):
        self.writer, self.lowerings = writer, lowerings

    def __enter__(self) -> "_Rows":
        self.loop = self.writer.b.loop(self.writer.parts.rest.size)
        index = self.loop.__enter__().index
        self.scopes = [lowering.elements.scope() for lowering in self.lowerings]
        for scope in self.scopes:
            scope.__enter__()
        self.elements = [[lowering.elements.element(v, (index,)) for v in self.writer.vectors] for lowering in self.lowerings]
        return self

    def __exit__(self, *error: object) -> None:
        for scope in reversed(self.scopes):
            scope.__exit__(*error)
        self.loop.__exit__(*error)


class _Sums:
    """Sums over the rows, of enclosures and of sizes."""

    def __init__(self, b: Builder):
        self.b, self.names, self.terms = b, {}, []

    def pair(self, name: object, value: Pair) -> None:
        self.names[name] = len(self.terms)
        self.terms += [value.nlo, value.hi]

    def size(self, name: object, value: Value) -> None:
        self.names[name] = len(self.terms)
        self.terms.append(value)

    def end(self, keep: Value) -> None:
        b = self.b
        self.step = b.step((0.0,) * len(self.terms), tuple(b.select(keep, v, 0.0) for v in self.terms), add_up)

    def __getitem__(self, name: object) -> Pair:
        """The whole line where it is NaN."""
        at = self.names[name]
        nlo, hi = self.step.results[at:at + 2]
        broken = self.b.uno(nlo, hi)
        return Pair(self.b.select(broken, INF, nlo), self.b.select(broken, INF, hi))

    def upper(self, name: object) -> Value:
        value = self.step.results[self.names[name]]
        return self.b.select(self.b.uno(value, value), INF, value)


def _double(b: Builder, value: Value) -> Pair:
    return Pair(b.neg(value), value, point=value)


def _one(b: Builder, pair: Pair) -> Value:
    return pair.hi


def _middle(b: Builder, pair: Pair) -> Value:
    return b.mul(0.5, b.sub(pair.hi, pair.nlo))


def _spread(b: Builder, pair: Pair, middle: Value) -> Value:
    """How far it reaches from there."""
    return b.max(b.add(pair.nlo, middle), b.sub(pair.hi, middle))


def _size(b: Builder, pair: Pair | None) -> Value:
    """The largest absolute value."""
    if pair is None:
        return b.const(0.0)
    return b.select(b.uno(pair.nlo, pair.hi), INF, b.max(b.abs(pair.nlo), b.abs(pair.hi)))


def _times(b: Builder, one: Pair, other: Pair | None) -> Pair | None:
    return None if other is None else mul(b, one, other)


def _minus(b: Builder, pair: Pair | None) -> Pair | None:
    return None if pair is None else neg(b, pair)


def _sum(b: Builder, pairs: list[Pair | None]) -> Pair:
    total = None
    for pair in pairs:
        if pair is not None and not pair.zero:
            bare = Pair(pair.nlo, pair.hi)
            total = bare if total is None else Pair(b.add(total.nlo, bare.nlo), b.add(total.hi, bare.hi))
    return exact(b, 0.0) if total is None else total


def _total(b: Builder, values: list[Value]) -> Value:
    total = b.const(0.0)
    for value in values:
        total = b.add(total, value)
    return total


def _dot(b: Builder, factors: list[tuple[Value, Value]], start: Value | None = None) -> Value:
    total = b.const(0.0) if start is None else start
    for one, other in factors:
        total = b.fma(one, other, total)
    return total
