"""The kernel of variable projection: a lower bound of a sum of squares over a region, whatever the linear parameters are.

Let e = rest(θ) + Φ(θ) κ (`structure/separable_residuals.py`), T a box of the nonlinear parameters with the point t inside, θ = t
+ d,
|d_k| <= h_k. For any numbers S (q by q), κ0, B, B₂, M_k that a lane has computed, all κ are written as

    κ = κ0 + B d + dᵀ B₂ d / 2 + S (I - Σ M_k d_k) b.

With Ψ(θ) = Φ(θ) S (I - Σ M_k d_k) and u(θ) = rest + Φ (κ0 + B d + dᵀ B₂ d / 2) the residuals are u + Ψ b, and where
G = ΨᵀΨ >= γ > 0 on T,

    Σ e² >= |u|² - wᵀ G⁻¹ w >= |u|² - |w|² / γ,    w = Ψᵀ u.

The numbers are chosen so that at t Ψ is nearly orthonormal, κ0 the linear fit, and Ψᵀ ∂u, Ψᵀ ∂∂u, Ψᵀ ∂Ψ nearly vanish: κ follows
the linear fit, and the basis turns as little as it can. None of that is relied on. Let u = u0 + V d + ρ with ρ = dᵀ R d / 2 in
each row, and Ψ = Q + L + N, L linear in d, N of second order, all enclosed row by row on T
(`bounds/least_squares/residual_expansion.py`). Then

    |u|² >= |u0 + V d|² + dᵀ (Σ (u0 + V d) R) d,
    γ     = 1 - |QᵀQ - I| - 2 Σ_k h_k |Qᵀ L_k| - 2 |Q| |N|,
    |w|  <= |w0 + W d| + ω,   ω = |Nᵀu0| + |L| |V d| + |Q| |ρ| + |N| |V d| + (|L| + |N|) |ρ|,

with norms of Frobenius. So the sum is at least a quadratic function of d on a box (`bounds/least_squares/lane_quadratic.py`), off
by terms of third order only; another one comes from |u + Ψ b| >= |u0 + V d + Ψ b| - |ρ|. Rows whose enclosures are not finite and
smooth on T are left out: squares are not negative.

**Contraction.** Where the sum of squares is at most U, |b| <= |w| / γ + √((U - lower) / γ), which bounds κ; and the quadratic
functions bound θ.

Proof: docs/proofs/linear_parameters.md.
"""

import numpy as np

from infimum.bounds.least_squares.lane_quadratic import LaneQuadratic
from infimum.bounds.least_squares.linear_fit import LinearFit
from infimum.bounds.least_squares.residual_basis import LARGE, TINY, ResidualBasis
from infimum.bounds.least_squares.residual_expansion import ResidualExpansion
from infimum.expr.node import Expr
from infimum.interval.pair import INF
from infimum.kernel.box_conclusions import best_lower
from infimum.kernel.constant_data import Data
from infimum.kernel.forms.balls import Ball, dot, norm, size, total
from infimum.kernel.ir import Builder, Kernel, Value
from infimum.kernel.region_cut import DISCARDED_AXIS, NO_AXIS, can_be_cut, rows, rows_of
from infimum.search.policy.bounds import LEAST_SQUARES as POLICY
from infimum.structure.separable_residuals import SeparableResiduals, residual_vector, separable

LEFT, UPPER, POINT, PAID = range(4)  # the outputs


def projection(name: str, f: Expr, x: Expr) -> tuple[Kernel, Data, tuple[int, ...], int]:
    """The kernel. Parameters: U, then the user's bounds."""
    n = x.size
    writer = ProjectionKernel(separable(residual_vector(f), x), n)
    return writer.b.kernel(name, 1, 4), writer.data, (rows_of(n), 1, n, 1), writer.at


class ProjectionKernel:
    """Writes it."""

    def __init__(self, parts: SeparableResiduals, n: int):
        self.b, self.data, self.n, self.parts = Builder(), Data(), n, parts
        self.at = self.data.offset(np.zeros(1 + 2 * n))
        b = self.b
        self.p, self.q = len(parts.nonlinear), len(parts.columns)
        self.lo, self.hi = ([b.input(0, k + i) for i in range(n)] for k in (0, n))
        self.basis = ResidualBasis(b, self.data, parts, self.lo, self.hi)
        self.h = self.basis.h
        self.fit = LinearFit(b, self.basis, self._sizes(), b.data(self.at))
        self.sums = ResidualExpansion(b, self.basis, self.fit)
        self._bound()
        self._write()

    def _sizes(self) -> list[Value]:
        """The largest |κ_j| in the region."""
        b, found = self.b, []
        for product in self.parts.products:
            most = b.const(1.0)
            for i in product:
                most = b.mul(most, b.max(b.abs(self.lo[i]), b.abs(self.hi[i])))
            found.append(most)
        return found

    # ---- the lower bound
    def _bound(self) -> None:
        """`lower`, of the sum with dropped columns left out, which are of size `left_out`; for κ `solid`, `gamma`, `norm_w`."""
        b, sums, h, every, along = self.b, self.sums, self.h, range(self.q), range(self.p)
        turned = total(b, [b.mul(h[k], sums.off_turn[k]) for k in along])
        norm_q = b.sqrt(b.add(1.0, sums.off_gram))
        loss = b.add(sums.off_gram, b.mul(2.0, b.fma(norm_q, sums.norm_n, turned)))
        gamma = b.neg(b.sub(loss, 1.0))  # 1 - loss, rounded down
        self.solid = b.mand(b.ogt(gamma, POLICY.least_gamma), self.basis.bounded)
        self.gamma = b.select(self.solid, gamma, 1.0)
        v = b.sqrt(total(b, [b.mul(size(b, entry), b.mul(b.mul(h[k], h[m]), 1.0 if k == m else 2.0))
                             for (k, m), entry in sums.a.items()]))
        basis = b.add(total(b, [b.mul(h[k], sums.norm_turn[k]) for k in along]), sums.norm_n)
        straight = b.fma(basis, v, sums.n_times_u)  # ω without ρ
        omega = b.fma(b.add(basis, norm_q), sums.norm_rho, straight)
        sigma = norm(b, [total(b, [size(b, sums.w[m]), *(b.mul(size(b, x), h[k]) for k, x in enumerate(sums.w_slopes[m]))])
                         for m in every])
        curved, plain = self._quadratic(sigma, omega, curved=True), self._quadratic(sigma, straight, curved=False)
        bounds = [curved.least(), self._without(plain.least(), sums.norm_rho)]
        lower = best_lower(b, *(b.select(b.olt(bound, LARGE), bound, -INF) for bound in bounds))
        self.lower = b.select(b.mand(self.solid, b.ogt(lower, 0.0)), lower, -INF)
        left_out = total(b, [b.select(self.fit.dropped[m], b.mul(sums.dropped[m], self.fit.most[m]), 0.0) for m in every])
        self.left_out = b.select(b.uno(left_out, left_out), INF, left_out)
        self.norm_w = b.add(sigma, omega)
        self.quadratics = [(curved, self.left_out), (plain, b.add(self.left_out, sums.norm_rho))]

    def _quadratic(self, sigma: Value, omega: Value, curved: bool) -> LaneQuadratic:
        """|u0 + V d|² + dᵀ C d - (|w0 + W d| + ω)² / γ for |d_k| <= h_k; without C if it is not `curved`.
        (σ + ω)² <= (1 + share) σ² + (1 + 1 / share) ω² for every share."""
        b, sums, along, one = self.b, self.sums, range(self.p), Ball(self.b.const(1.0))
        share = b.min(b.max(b.div(omega, b.max(sigma, TINY)), 2.0**-30), 2.0**30)
        factor = Ball(b.neg(b.div(b.add(1.0, share), self.gamma)))
        lost = b.mul(b.div(b.add(1.0, b.div(1.0, share)), self.gamma), b.mul(omega, omega))

        def less(known: list[Ball], products: list[tuple[Ball, Ball]]) -> Ball:
            """What is known, and the factor times a sum of products."""
            return dot(b, *((one, x) for x in known), (factor, dot(b, *products)))
        constant = less([sums.u2, Ball(b.neg(lost))], [(x, x) for x in sums.w])
        tilt = [less([sums.g[k]], [(x, row[k]) for x, row in zip(sums.w, sums.w_slopes, strict=True)]) for k in along]
        matrix = {(k, m): less([entry, sums.c[k, m]] if curved else [entry], [(row[k], row[m]) for row in sums.w_slopes])
                  for (k, m), entry in sums.a.items()}
        return LaneQuadratic(b, constant, tilt, matrix, self.h)

    def _without(self, lower: Value, left_out: Value) -> Value:
        """A lower bound of |e|² from one of |e + r|², |r| <= left_out: the square of √lower - |r|."""
        b = self.b
        root = b.neg(b.div(b.neg(lower), b.max(b.sqrt(b.max(lower, 0.0)), TINY)))  # rounded down
        less = b.max(b.neg(b.sub(left_out, root)), 0.0)
        return b.select(b.ogt(left_out, 0.0), b.neg(b.mul(b.neg(less), less)), lower)

    # ---- what is left
    def _write(self) -> None:
        b, n, fit = self.b, self.n, self.fit
        lower, gamma, left_out = self.lower, self.gamma, self.left_out
        upper = b.data(self.at)
        known_lower = best_lower(b, b.input(0, rows(n)[0]), self._without(lower, left_out))
        gone = b.ogt(known_lower, upper)
        # |b| <= reach
        beyond = b.add(b.sqrt(upper), left_out)
        room = b.max(b.sub(b.select(b.ogt(left_out, 0.0), b.mul(beyond, beyond), upper), b.max(lower, 0.0)), 0.0)
        reach = b.add(b.div(self.norm_w, gamma), b.sqrt(b.div(room, gamma)))
        known = b.mand(self.solid, b.olt(reach, LARGE))
        lo, hi = list(self.lo), list(self.hi)
        volume = b.const(1.0)

        def cut_to(i: int, low: Value, high: Value, sure: Value) -> None:
            """Variable i is in [low, high], where that is sure."""
            nonlocal gone, volume
            new_low, new_high = b.select(sure, b.max(low, lo[i]), lo[i]), b.select(sure, b.min(high, hi[i]), hi[i])
            empty = b.ogt(new_low, new_high)
            gone = b.mor(gone, empty)
            wide = b.max(b.sub(hi[i], lo[i]), TINY)
            volume = b.mul(volume, b.min(b.div(b.max(b.sub(new_high, new_low), TINY), wide), 1.0))
            lo[i], hi[i] = b.select(empty, lo[i], new_low), b.select(empty, hi[i], new_high)
        for quadratic, more in self.quadratics:
            within = b.add(b.sqrt(upper), more)
            for k, i in enumerate(self.parts.nonlinear):
                nlo, high = quadratic.side(k, b.mul(within, within))
                low, high = b.neg(b.fma(self.h[k], nlo, b.neg(self.basis.t[i]))), b.fma(self.h[k], high, self.basis.t[i])
                cut_to(i, low, high, b.mand(self.solid, b.mand(b.ogt(low, -INF), b.olt(high, INF))))
        inside = self.sums.whole
        point = [self.basis.t.get(i, b.const(0.0)) for i in range(n)]
        for j, product in enumerate(self.parts.products):
            if len(product) > 1:  # nothing is known of the factors
                inside = b.olt(0.0, -1.0)
                continue
            i, (low, high) = product[0], self._range(j, reach)
            sure = b.mand(b.mand(known, b.mnot(fit.dropped[j])), b.mand(b.ogt(low, -INF), b.olt(high, INF)))
            replaced = self.basis.is_replaced(self.parts.columns[j][1])
            if replaced is not None:
                sure, inside = (b.mand(mask, b.mnot(replaced)) for mask in (sure, inside))
            cut_to(i, low, high, sure)
            point[i] = fit.kappa[j]
            inside = b.mand(inside, b.mand(b.oge(point[i], self.lo[i]), b.ole(point[i], self.hi[i])))
        for i in range(n):
            b.output(LEFT, i, lo[i])
            b.output(LEFT, n + i, hi[i])
            b.output(POINT, i, point[i])
        low_row, axis_row, level_row = rows(n)
        b.output(LEFT, low_row, known_lower)
        b.output(LEFT, axis_row, b.select(gone, DISCARDED_AXIS, self._axis(lo, hi)))
        b.output(LEFT, level_row, b.input(0, level_row))
        found = b.mand(b.mand(inside, self.basis.bounded), b.olt(self.sums.upper, LARGE))
        b.output(UPPER, 0, b.select(found, self.sums.upper, INF))
        b.output(PAID, 0, b.select(b.mor(gone, b.ole(volume, 2.0**-4)), 1.0, 0.0))

    def _range(self, j: int, reach: Value) -> tuple[Value, Value]:
        """The ends of κ_j, where |b| <= reach."""
        b, fit, spread, size = self.b, self.fit, self.b.const(0.0), self.b.const(0.0)
        for k, h in enumerate(self.h):
            spread = b.fma(b.abs(fit.path[k][j]), h, spread)
        for e, (k, m) in enumerate(self.basis.pairs):
            spread = b.fma(b.abs(fit.second[e][j]), b.mul(self.h[k], self.h[m]), spread)
        for m in range(self.q):
            entry = b.abs(fit.basis[j][m])
            for k, h in enumerate(self.h):
                entry = b.fma(b.abs(fit.turns[k][j][m]), h, entry)
            spread = b.fma(b.select(fit.dropped[m], entry, 0.0), b.select(fit.dropped[m], fit.most[m], 0.0), spread)
            entry = b.select(fit.dropped[m], 0.0, entry)
            size = b.fma(entry, entry, size)
        spread = b.fma(b.sqrt(size), reach, spread)
        return b.neg(b.sub(spread, fit.kappa[j])), b.add(fit.kappa[j], spread)

    def _axis_as_it_was(self, lo: list[Value], hi: list[Value]) -> Value:
        """The variable that was to be cut, where it still can be, else the widest one."""
        b, was = self.b, self.b.input(0, rows(self.n)[1])
        best, axis = b.const(-1.0), b.const(NO_AXIS)
        for i in range(self.n):
            can = can_be_cut(b, lo[i], hi[i])
            width = b.select(b.oeq(was, float(i)), INF, b.sub(hi[i], lo[i]))
            better = b.mand(can, b.ogt(width, best))
            best, axis = b.select(better, width, best), b.select(better, float(i), axis)
        return axis

    def _axis(self, lo: list[Value], hi: list[Value]) -> Value:
        """The nonlinear variable that moves basis and model most; where that is not known, the widest as part of its bounds, one
        without bounds first. Where none can be cut, the linear one that was to be cut, else another one."""
        b, n = self.b, self.n
        if self.parts.many_nonlinear:
            return self._axis_as_it_was(lo, hi)
        best, axis = b.const(-3.0), b.const(NO_AXIS)

        def better(i: int, score: Value) -> tuple[Value, Value]:
            is_better = b.mand(can_be_cut(b, lo[i], hi[i]), b.ogt(score, best))
            return b.select(is_better, score, best), b.select(is_better, float(i), axis)
        for i in sorted({i for product in self.parts.products for i in product}):
            best, axis = better(i, b.select(b.oeq(b.input(0, rows(n)[1]), float(i)), -1.0, -2.0))
        sums = self.sums.sums
        scale = b.max(sums.root("z"), TINY)
        for k, i in enumerate(self.parts.nonlinear):
            score = b.mul(self.h[k], b.add(sums.root(("basis", k)), b.div(sums.root(("model", k)), scale)))
            part = b.div(self.h[k], b.max(b.sub(b.data(self.at + 1 + n + i), b.data(self.at + 1 + i)), TINY))
            blind = b.fma(b.mul(POLICY.weight_of_left_out_rows, self.sums.missing), part, score)
            score = b.select(b.olt(blind, LARGE), blind, b.select(b.olt(part, LARGE), part, LARGE))
            best, axis = better(i, score)
        return axis
