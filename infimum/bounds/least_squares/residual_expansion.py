"""Sums over the rows of separable residuals, expanded around t: what `bounds/least_squares/projection_kernel.py` concludes from.

With the numbers of `bounds/least_squares/linear_fit.py`, u = u0 + V d + ρ and Ψ = Q + L d + N in each row, |ρ| and |N| bounded on
T. u0, V, Q, L are balls with tiny radii; sums of products of them are off by what their norms say (Cauchy and Schwarz), so that
only norms of radii are summed up beside those of midpoints.
"""

from itertools import combinations_with_replacement
from typing import NamedTuple

from infimum.bounds.least_squares.linear_fit import LinearFit
from infimum.bounds.least_squares.residual_basis import LARGE, BasisRow, ResidualBasis, TaylorForm
from infimum.interval.arithmetic import mul, square
from infimum.interval.pair import INF, Pair
from infimum.kernel.box_conclusions import add_up
from infimum.kernel.forms.balls import UNITS, Ball, ball, dot, norm, size, total
from infimum.kernel.ir import Builder, Value


class ExpansionSums:
    """Sums over the rows that are kept, by name."""

    def __init__(self, b: Builder):
        self.b, self.names, self.terms = b, {}, []

    def add(self, name: object, value: Value) -> None:
        self.names[name] = len(self.terms)
        self.terms.append(value)

    def end(self, kept: Value) -> None:
        b = self.b
        self.step = b.step((0.0,) * len(self.terms), tuple(b.select(kept, v, 0.0) for v in self.terms), add_up)

    def __getitem__(self, name: object) -> Value:
        """NaN where a term was."""
        return self.step.results[self.names[name]]

    def root(self, name: object) -> Value:
        """Of a sum of squares, rounded up; infinite where it is NaN."""
        b, value = self.b, self[name]
        return b.select(b.uno(value, value), INF, b.sqrt(value))


class ResidualExpansion:
    """The sums, as balls: `u2` |u0|², `g` Vᵀu0, `a` VᵀV, `c` Σ (u0 + V d) R, `w` Qᵀu0, `w_slopes` Lᵀu0 + QᵀV. And norms of u0, Q,
    L_k, N, ρ, Nᵀu0, QᵀQ - I, QᵀL_k, without the columns that are dropped, and of these."""

    def __init__(self, b: Builder, basis: ResidualBasis, fit: LinearFit):
        self.b, self.fit, self.h, self.pairs = b, fit, basis.h, basis.pairs
        self.q, self.p, self.parts = basis.q, basis.p, basis.parts
        self.sums = ExpansionSums(b)
        with basis.rows(taylor=True) as row:
            kept = b.mand(row.kept, self._row(row))
            missing = b.select(b.mand(kept, row.plain), 0.0, 1.0)
            self.sums.end(kept)
            gaps = b.step((0.0,), (missing,), add_up)
        self.missing = b.div(gaps.results[0], float(self.parts.rest.size))  # the part of the rows that is left out, or replaced
        self.whole = b.oeq(self.missing, 0.0)
        self._collect()

    # ---- a row
    def _row(self, row: BasisRow) -> Value:
        """Is it bounded?"""
        b, q, along = self.b, range(self.q), range(self.p)
        taylors = [_BallExpansion(b, taylor) for taylor in row.taylors]
        rest, functions = taylors[0], taylors[1:]
        data = [None if pair is None else ball(b, pair) or Ball(b.const(0.0)) for pair in row.data]  # None is 1 here, not 0

        def by_function(factors: list[Value]) -> list[Ball]:
            """What multiplies each function if these multiply the columns."""
            found = []
            for f in range(len(functions)):
                mine = [(Ball(factor), x) for factor, x, (_, g) in zip(factors, data, self.parts.columns, strict=True) if g == f]
                alone = len(mine) == 1 and mine[0][1] is None
                found.append(mine[0][0] if alone else dot(b, *((c, x or Ball(b.const(1.0))) for c, x in mine)))
            return found
        fit = self.fit
        fixed, path = by_function(fit.kappa), [by_function(each) for each in fit.path]
        bases = [by_function([fit.basis[j][m] for j in q]) for m in q]
        turns = [[[Ball(b.neg(x.mid), x.rad) for x in by_function([each[j][m] for j in q])] for m in q] for each in fit.turns]
        one = Ball(b.const(1.0))
        u_pair = self._residual(row)
        u = ball(b, u_pair)
        v = [dot(b, (one, rest.first[k]), *zip(fixed, (f.first[k] for f in functions), strict=True),
                 *zip(path[k], (f.value for f in functions), strict=True)) for k in along]
        psi = [dot(b, *zip(bases[m], (f.value for f in functions), strict=True)) for m in q]
        turn = [[dot(b, *zip(bases[m], (f.first[k] for f in functions), strict=True),
                     *zip(turns[k][m], (f.value for f in functions), strict=True)) for k in along] for m in q]
        curved, rho = self._second(one, rest, functions, fixed, path, [by_function(each) for each in fit.second])
        beyond = [self._second(None, None, functions, bases[m], [turns[k][m] for k in along])[1] for m in q]
        bounded = b.olt(total(b, [rho, *beyond]), LARGE)
        columns = _ColumnForms(psi, turn, beyond)
        self._sum_dropped(columns)
        self._sum(_ResidualForm(u_pair, u, v, curved, rho), columns)
        self._sum_moves(row, one, rest, functions, fixed, bases)
        return bounded

    def _residual(self, row: BasisRow) -> Pair:
        """u0, as a pair: the sum of its squares is an upper bound, too."""
        b, terms = self.b, [row.taylors[0].value]
        for kappa, data, (_, f) in zip(self.fit.kappa, row.data, self.parts.columns, strict=True):
            exact = Pair(b.neg(kappa), kappa, point=kappa)
            term = mul(b, exact, row.taylors[1 + f].value)
            terms.append(term if data is None else mul(b, term, data))
        nlo, hi = (total(b, [getattr(term, end) for term in terms]) for end in ("nlo", "hi"))
        return Pair(nlo, hi)

    def _second(self, one: Ball | None, rest: "_BallExpansion | None", functions: "list[_BallExpansion]", factors: list[Ball],
                moves: list[list[Ball]], more: list[list[Ball]] | None = None) -> tuple[dict[tuple[int, int], Ball], Value]:
        """The second derivatives on T of rest + Σ (factor + move·d + dᵀ more d / 2) function, and how large dᵀ R d / 2 is."""
        b, every = self.b, range(len(functions))
        far = [[b.mul(size(b, move[f]), self.h[k]) for k, move in enumerate(moves)] for f in every]  # what is added to a factor
        near = [[[] for _ in every] for _ in moves]                                                # … to a move
        for e, (k, m) in enumerate(self.pairs if more is not None else ()):
            for f in every:
                far[f].append(b.mul(size(b, more[e][f]), self._half(k, m)))
                near[k][f].append(b.mul(size(b, more[e][f]), self.h[m]))
                if k != m:
                    near[m][f].append(b.mul(size(b, more[e][f]), self.h[k]))
        factors = [self._wider(factors[f], far[f]) for f in every]
        moves = [[self._wider(move[f], near[k][f]) for f in every] for k, move in enumerate(moves)]
        found, much = {}, b.const(0.0)
        for e, (k, m) in enumerate(self.pairs):
            first = [] if rest is None else [(one, rest.curvature[e])]
            last = [] if more is None else zip(more[e], (self._on_box(f) for f in functions), strict=True)
            found[k, m] = dot(b, *first, *zip(factors, (f.curvature[e] for f in functions), strict=True),
                              *zip(moves[m], (f.slopes[k] for f in functions), strict=True),
                              *zip(moves[k], (f.slopes[m] for f in functions), strict=True), *last)
            much = b.fma(size(b, found[k, m]), self._half(k, m), much)
        return found, much

    def _wider(self, x: Ball, more: list[Value]) -> Ball:
        return Ball(x.mid, total(self.b, more if x.rad is None else [x.rad, *more])) if more else x

    def _on_box(self, function: "_BallExpansion") -> Ball | None:
        """Its values on T."""
        if function.value is None:
            return None
        slopes = [self.b.mul(size(self.b, slope), self.h[k]) for k, slope in enumerate(function.slopes) if slope is not None]
        return self._wider(function.value, slopes)

    def _half(self, k: int, m: int) -> Value:
        """What multiplies a second derivative in dᵀ R d / 2."""
        product = self.b.mul(self.h[k], self.h[m])
        return self.b.mul(0.5, product) if k == m else product

    # ---- what is summed up
    def _sum_dropped(self, columns: "_ColumnForms") -> None:
        """How large the columns are that are dropped; they are 0 then."""
        b, zero = self.b, self.b.const(0.0)
        psi, turn, beyond = columns
        for m in range(self.q):
            dropped = self.fit.dropped[m]
            all_of_it = total(b, [size(b, psi[m]), beyond[m], *(b.mul(size(b, turn[m][k]), self.h[k]) for k in range(self.p))])
            self.sums.add(("dropped", m), b.mul(all_of_it, all_of_it))

            def kept(x: Ball, dropped: Value = dropped) -> Ball:
                return Ball(b.select(dropped, zero, x.mid), b.select(dropped, zero, x.rad))
            psi[m], turn[m], beyond[m] = kept(psi[m]), [kept(x) for x in turn[m]], b.select(dropped, zero, beyond[m])

    def _sum(self, residual: "_ResidualForm", columns: "_ColumnForms") -> None:
        b, add, q, along = self.b, self.sums.add, range(self.q), range(self.p)
        (u_pair, u, v, curved, rho), (psi, turn, beyond) = residual, columns
        squared = square(b, u_pair)
        add("u2.nlo", squared.nlo)
        add("u2.hi", squared.hi)
        add("u.rad", b.mul(u.rad, u.rad))
        all_of_u = size(b, u)
        reach = total(b, [b.mul(size(b, v[k]), self.h[k]) for k in along])
        for k in along:
            add(("g", k), b.mul(u.mid, v[k].mid))
            add(("v.rad", k), b.mul(v[k].rad, v[k].rad))
            add(("turn.rad", k), self._squares(turn[m][k].rad for m in q))
            add(("turn", k), self._squares(turn[m][k].mid for m in q))
        for k, m in self.pairs:
            r = curved[k, m]
            add(("a", k, m), b.mul(v[k].mid, v[m].mid))
            add(("c", k, m), b.mul(u.mid, r.mid))
            off = b.fma(all_of_u, b.fma(b.abs(r.mid), UNITS, r.rad), b.mul(reach, size(b, r)))
            add(("c.rad", k, m), b.fma(u.rad, b.abs(r.mid), off))
        add("psi.rad", self._squares(x.rad for x in psi))
        for m in q:
            add(("w", m), b.mul(psi[m].mid, u.mid))
            add(("Nu", m), b.mul(beyond[m], all_of_u))
            for k in along:
                add(("W", m, k), b.fma(turn[m][k].mid, u.mid, b.mul(psi[m].mid, v[k].mid)))
                for i in q:
                    add(("X", k, m, i), b.mul(psi[m].mid, turn[i][k].mid))
        for m, i in combinations_with_replacement(q, 2):
            add(("G", m, i), b.mul(psi[m].mid, psi[i].mid))
        add("N", self._squares(beyond))
        add("rho", b.mul(rho, rho))

    def _squares(self, values: object) -> Value:
        found = self.b.const(0.0)
        for value in values:
            found = self.b.fma(value, value, found)
        return found

    def _sum_moves(self, row: BasisRow, one: Ball, rest: "_BallExpansion", functions: "list[_BallExpansion]", fixed: list[Ball],
                   bases: list[list[Ball]]) -> None:
        """How much each direction moves model and basis: which to cut, an estimate."""
        b = self.b
        for k in range(self.p):
            slopes = [f.slopes[k] for f in functions]
            moved = size(b, dot(b, (one, rest.slopes[k]), *zip(fixed, slopes, strict=True)))
            self.sums.add(("model", k), b.mul(moved, moved))
            self.sums.add(("basis", k), self._squares(size(b, dot(b, *zip(each, slopes, strict=True))) for each in bases))
        self.sums.add("z", b.mul(row.values[0], row.values[0]))

    # ---- as balls
    def _collect(self) -> None:
        b, sums, q, along = self.b, self.sums, range(self.q), range(self.p)
        self.upper = sums["u2.hi"]
        nlo, hi = sums["u2.nlo"], sums["u2.hi"]
        self.u2 = ball(b, Pair(nlo, hi))
        self.norm_u = b.add(sums.root("u2.hi"), sums.root("u.rad"))  # and of its midpoints
        self.norm_psi = norm(b, [sums.root(("G", m, m)) for m in q])
        self.norm_turn = [sums.root(("turn", k)) for k in along]
        rad_u, rad_psi = sums.root("u.rad"), sums.root("psi.rad")
        rad_turn, rad_v = ([sums.root((name, k)) for k in along] for name in ("turn.rad", "v.rad"))
        norm_v = [sums.root(("a", k, k)) for k in along]

        def off(one: Value, one_rad: Value, other: Value, other_rad: Value) -> Value:
            """By how much a sum of products is off: |x| <= one, |x - mid| <= one_rad, …; rounding errors included."""
            return b.fma(one, b.fma(other, 2.0 * UNITS, other_rad), b.mul(one_rad, b.add(other, other_rad)))
        self.g = [Ball(sums["g", k], off(self.norm_u, rad_u, norm_v[k], rad_v[k])) for k in along]
        self.a = {(k, m): Ball(sums["a", k, m], off(norm_v[k], rad_v[k], norm_v[m], rad_v[m])) for k, m in self.pairs}
        self.c = {(k, m): Ball(sums["c", k, m], sums["c.rad", k, m]) for k, m in self.pairs}
        self.w = [Ball(sums["w", m], off(self.norm_psi, rad_psi, self.norm_u, rad_u)) for m in q]
        self.w_slopes = [[Ball(sums["W", m, k], b.add(off(self.norm_turn[k], rad_turn[k], self.norm_u, rad_u),
                                                      off(self.norm_psi, rad_psi, norm_v[k], rad_v[k]))) for k in along]
                         for m in q]
        off_gram = off(self.norm_psi, rad_psi, self.norm_psi, rad_psi)
        entries = []
        for m, i in combinations_with_replacement(q, 2):
            entry = sums["G", m, i]
            if m == i:
                entry = b.select(self.fit.dropped[m], 0.0, b.max(b.abs(b.sub(entry, 1.0)), b.abs(b.sub(1.0, entry))))
            entries += [entry] if m == i else [entry, entry]
        self.off_gram = b.add(norm(b, entries), off_gram)
        self.off_turn = [b.add(norm(b, [sums["X", k, m, i] for m in q for i in q]),
                               off(self.norm_psi, rad_psi, self.norm_turn[k], rad_turn[k])) for k in along]
        self.norm_turn = [b.add(one, rad) for one, rad in zip(self.norm_turn, rad_turn, strict=True)]
        self.norm_n, self.norm_rho = sums.root("N"), sums.root("rho")
        self.n_times_u = norm(b, [sums["Nu", m] for m in q])
        self.dropped = [sums.root(("dropped", m)) for m in q]


class _ResidualForm(NamedTuple):
    """The residual of one row: its value u0, as a pair and as a ball; its slopes V; its second derivatives R on T, and the
    largest size of dᵀ R d / 2."""

    pair: Pair
    value: Ball
    slopes: list[Ball]
    second: dict[tuple[int, int], Ball]
    remainder: Value


class _ColumnForms(NamedTuple):
    """The columns of Q in one row: the value of each, its slopes, and the largest size of its remainder."""

    values: list[Ball]
    slopes: list[list[Ball]]
    remainders: list[Value]


class _BallExpansion:
    """An expansion, as balls."""

    def __init__(self, b: Builder, taylor: TaylorForm):
        self.value = ball(b, taylor.value)
        self.first, self.slopes, self.curvature = ([ball(b, pair) for pair in each] for each in taylor[1:])
