"""Numbers for the expansion of separable residuals, in plain upward arithmetic: nothing relies on how good they are.

The linear fit at t by two rounds of Cholesky's method, which lose half as many digits as one; how it follows θ; and how the
basis turns. A column that is nearly one of those before it, or that adds little to them whatever its coefficient is within the
region, is *dropped*: it is not eliminated, and no other takes part of it.
"""

from collections.abc import Callable
from itertools import combinations_with_replacement

from infimum.bounds.least_squares.residual_basis import LARGE, TINY, BasisRow, ResidualBasis
from infimum.kernel.box_conclusions import add_up, larger
from infimum.kernel.forms.balls import middle
from infimum.kernel.ir import Builder, Value
from infimum.search.policy.bounds import LEAST_SQUARES as POLICY


class LinearFit:
    """`kappa` κ0; `basis` S by columns κ_j, then b; `path` B, `turns` S M_k for each direction k, `second` the second order of B
    for each pair; `dropped`, and for those columns the `most` that |b| can be."""

    def __init__(self, b: Builder, basis: ResidualBasis, sizes: list[Value], upper: Value):
        self.b, self.rows, self.q, self.p = b, basis, basis.q, basis.p
        every = range(self.q)
        scale = self._scale()
        self.most = [b.div(size, v) for size, v in zip(basis.sizes(sizes), scale, strict=True)]
        root = b.select(b.olt(upper, LARGE), b.sqrt(upper), 0.0)
        first = self._gram(lambda c: [b.mul(v, s) for v, s in zip(c, scale, strict=True)], False)
        self.dropped: list[Value] = []
        one = self._inverse_root(first, root)
        one = [[b.mul(scale[i], one[i][j]) for j in every] for i in every]
        second = self._gram(lambda c: self._turned(c, one), True)
        triangle = self.q * (self.q + 1) // 2
        two, right = self._inverse_root(second[:triangle]), second[triangle:]
        self.basis = [[dot(b, [(one[i][k], two[k][j]) for k in every]) for j in every] for i in every]
        along = [b.select(self.dropped[j], 0.0, dot(b, [(two[k][j], right[k]) for k in every])) for j in every]
        self.kappa = [b.neg(dot(b, [(self.basis[i][j], along[j]) for j in every])) for i in every]
        self._follow()

    def _scale(self) -> list[Value]:
        b = self.b
        with self.rows.rows() as row:
            sizes = tuple(b.select(row.kept, b.abs(v), 0.0) for v in self._columns(row, row.values[1:]))
            top = b.step((0.0,) * self.q, sizes, larger)
        return [b.div(1.0, b.max(v, TINY)) for v in top.results]

    def _columns(self, row: BasisRow, functions: list[Value]) -> list[Value]:
        """The columns of a row, or their slopes."""
        return [functions[k] if data is None else self.b.mul(data.hi, functions[k])
                for data, (_, k) in zip(row.data, self.rows.parts.columns, strict=True)]

    def _turned(self, columns: list[Value], by: list[list[Value]]) -> list[Value]:
        return [dot(self.b, [(v, by[i][j]) for i, v in enumerate(columns)]) for j in range(self.q)]

    def _gram(self, columns: Callable[[list[Value]], list[Value]], with_rest: bool) -> list[Value]:
        """The products of columns, a triangle row by row; then those with the rest."""
        b = self.b
        with self.rows.rows() as row:
            rest, *functions = row.values
            c = columns(self._columns(row, functions))
            terms = [b.mul(c[i], c[j]) for i, j in combinations_with_replacement(range(self.q), 2)]
            terms += [b.mul(v, rest) for v in c] if with_rest else []
            found = b.step((0.0,) * len(terms), tuple(b.select(row.kept, v, 0.0) for v in terms), add_up)
        return list(found.results)

    def _inverse_root(self, gram: list[Value], root: Value | None = None) -> list[list[Value]]:
        """Upper triangular X with Xᵀ A X about I, for a matrix A, but for dropped columns, which have 1 on the diagonal. With
        `root` it is decided which these are."""
        b, q = self.b, self.q
        a = dict(zip(combinations_with_replacement(range(q), 2), gram, strict=True))
        low = [[b.const(0.0)] * q for _ in range(q)]  # A = L Lᵀ
        inverse = []
        for j in range(q):
            left = a[j, j]
            for k in range(j):
                left = b.sub(left, b.mul(low[j][k], low[j][k]))
            floor = b.max(b.mul(a[j, j], POLICY.least_pivot_of_fit), TINY)
            if root is not None:
                adds = b.mul(b.sqrt(b.max(left, floor)), self.most[j])
                self.dropped.append(b.mor(b.mnot(b.ogt(left, floor)), b.olt(adds, b.mul(POLICY.negligible_column, root))))
            inverse.append(b.select(self.dropped[j], 1.0, b.div(1.0, b.sqrt(b.max(left, floor)))))
            for i in range(j + 1, q):
                v = a[j, i]
                for k in range(j):
                    v = b.sub(v, b.mul(low[i][k], low[j][k]))
                low[i][j] = b.select(self.dropped[j], 0.0, b.mul(v, inverse[j]))
        x = [[b.const(0.0)] * q for _ in range(q)]  # L⁻ᵀ
        for j in range(q):
            x[j][j] = inverse[j]
            for i in range(j + 1, q):
                v = dot(b, [(low[i][k], x[j][k]) for k in range(j, i)])
                x[j][i] = b.neg(b.mul(v, inverse[i]))
        return x

    def _follow(self) -> None:
        """How the fit follows each direction, to second order, and the basis turns: about -Ψᵀ ∂u, -Ψᵀ ∂∂u and Ψᵀ ∂Ψ, in the
        coordinates of κ. What second derivatives of the model do within the span of the columns is so taken back by κ."""
        b, q, every, along = self.b, self.q, range(self.q), range(self.p)
        pairs = self.rows.pairs
        with self.rows.rows(slopes=True, taylor=True) as row:
            psi, terms = self._turned(self._columns(row, row.values[1:]), self.basis), []
            for k in along:
                rest, *functions = (slope[k] for slope in row.first)
                slopes = self._columns(row, functions)
                moved = dot(b, [(slopes[j], self.kappa[j]) for j in every], rest)
                terms += [b.mul(m, v) for m in psi for v in (moved, *self._turned(slopes, self.basis))]
            for e in range(len(pairs)):
                rest, *functions = (b.const(0.0) if t.curvature[e] is None else middle(b, t.curvature[e]) for t in row.taylors)
                bent = dot(b, list(zip(self._columns(row, functions), self.kappa, strict=True)), rest)
                terms += [b.mul(m, bent) for m in psi]
            found = b.step((0.0,) * len(terms), tuple(b.select(row.kept, v, 0.0) for v in terms), add_up)
        shares = [b.select(self.dropped[m % q], 0.0, v) for m, v in enumerate(found.results[self.p * q * (q + 1):])]
        self.path, self.turns = [], []  # [k][j], [k][j][m]
        steps, turned = [], []
        for k in along:
            part = found.results[k * q * (q + 1):(k + 1) * q * (q + 1)]
            mine = [[b.select(self.dropped[m], 0.0, v) for v in part[m * (q + 1):(m + 1) * (q + 1)]] for m in every]
            steps.append([b.neg(row[0]) for row in mine])
            turned.append([row[1:] for row in mine])
            self.path.append(self._in_columns(steps[k]))
            self.turns.append([[dot(b, [(self.basis[j][i], turned[k][i][m]) for i in every]) for m in every] for j in every])
        self.second = []  # [pair][j]
        for e, (k, m) in enumerate(pairs):
            total = []
            for i in every:
                v = shares[e * q + i]
                v = dot(b, [(turned[k][i][j], steps[m][j]) for j in every], v)
                total.append(b.neg(dot(b, [(turned[m][i][j], steps[k][j]) for j in every], v)))
            self.second.append(self._in_columns(total))

    def _in_columns(self, steps: list[Value]) -> list[Value]:
        """S times a vector."""
        return [dot(self.b, [(self.basis[j][m], v) for m, v in enumerate(steps)]) for j in range(self.q)]


def dot(b: Builder, factors: list[tuple[Value, Value]], start: Value | None = None) -> Value:
    """A sum of products, an estimate."""
    found = b.const(0.0) if start is None else start
    for one, other in factors:
        found = b.fma(one, other, found)
    return found
