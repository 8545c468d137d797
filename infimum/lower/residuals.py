"""The kernel of a Gauss-Newton step: what an upper bound of a sum of squares leaves of a region, a region a lane.

Let f = Σ e_k², each e_k Lipschitz around a bounded region X, and c a point of X. At a point x of X with f(x) <= U, for all
numbers y_k, |Σ y_k e_k(x)| <= |y| √U (Cauchy and Schwarz), and by the mean value theorem e_k(x) = e_k(c) + J_k (x - c) with J_k
in the enclosure of the derivatives of e_k on X. So x solves

    Σ y_k e_k(c) + Σ_j (Σ_k y_k J_kj) (x_j - c_j) = q,    q in [-|y| √U, |y| √U].

One such equation for each variable, with y the rows of about (GᵀG)⁻¹Gᵀ, G the derivatives at c, for which the matrix of the
equations is near the unit matrix. They are solved one after the other as in `lower/contract.py`. Nothing is said about
derivatives of f: a minimiser at a bound solves them as well. Where the least of f is near 0, regions without a minimiser go long
before second derivatives of f tell anything, since what is inverted has the square root of its condition.

y is computed from the data twice rather than stored: in a first loop for GᵀG, in the second one for the equations.
"""

from collections.abc import Callable

import numpy as np

from infimum.expr.node import Expr, topological
from infimum.expr.ops import Kind
from infimum.interval.arithmetic import mul
from infimum.interval.pair import INF, LIPSCHITZ, Pair, b_level
from infimum.lower.contract import Contract
from infimum.lower.data import Data
from infimum.lower.jets import Jet, Jets, unit
from infimum.lower.kernel import Builder, Kernel, Value
from infimum.lower.lowering import Lowering
from infimum.lower.proof import add_up, larger, whole_if_unsound
from infimum.lower.schedule import is_sum_over_data, plan

REGIONS, CENTRE = range(2)  # the inputs
_SWEEPS = 2


def residuals_of(f: Expr, x: Expr) -> Expr | None:
    """The vector e of which f is the sum of squares; None if it is none, or not such a one that loops over data are cheap."""
    squares = f.args[0] if f.op == "sum" else f
    e = squares.args[0] if squares.op == "powi" and squares["k"] == 2 else None
    if e is None or len(e.shape) != 1 or not is_sum_over_data(f, x):
        return None
    return None if any(node.kind is Kind.REDUCE for node in topological([e])) else e


def residuals(name: str, f: Expr, x: Expr) -> tuple[Kernel, Data, tuple[int, ...], int]:
    """The kernel. Parameter: √U, rounded up."""
    writer = Residuals(residuals_of(f, x), x.size)
    return writer.b.kernel(name, 2, 1), writer.data, (4 * x.size,), writer.at


class Residuals(Contract):
    """Writes it."""

    def __init__(self, e: Expr, n: int):
        self.b, self.data, self.n, self.e = Builder(), Data(), n, e
        self.at = self.data.offset(np.zeros(1))
        b, every = self.b, range(n)
        lo, hi = ([b.input(REGIONS, k + i) for i in every] for k in (0, n))
        self.c = [b.input(CENTRE, i) for i in every]
        self.free, self.gone = [b.olt(-1.0, 0.0)] * n, b.olt(0.0, -1.0)
        multipliers = self._inverse(self._normal_matrix())
        matrix, right, sizes, level = self._equations(multipliers, lambda i: Pair(b.neg(lo[i]), hi[i]))
        usable = b.oge(level, float(LIPSCHITZ))
        for low, high in zip(lo, hi, strict=True):
            usable = b.mand(usable, b.mand(b.ogt(low, -INF), b.olt(high, INF)))
        self.free = [usable] * n
        self.left = [Pair(b.sub(c, low), b.sub(high, c)) for c, low, high in zip(self.c, lo, hi, strict=True)]  # of x - c
        for _ in range(_SWEEPS):
            for i in every:
                reach = b.mul(b.sqrt(sizes[i]), b.data(self.at))
                self._solve(i, matrix[i], whole_if_unsound(b, Pair(b.add(right[i].nlo, reach), b.add(right[i].hi, reach))))
        self._write(lo, hi)

    def _point(self, i: int) -> Pair:
        return Pair(self.b.neg(self.c[i]), self.c[i])

    def _jets(self, box: Callable[[int], Pair]) -> Lowering:
        """Elements of e with their derivatives by all variables, in a box."""
        jets = Jets(self.data, self.n)
        leaves = {"x": lambda j: jets.leaf(box(j), [unit(self.b, i, j) for i in range(self.n)])}
        lowering = Lowering(self.b, jets, leaves, self.data)
        lowering.elements.plan = plan([self.e], straight=False)
        return lowering

    def _slopes(self, jet: Jet) -> list[Value]:
        """About the derivatives at a point: any numbers will do."""
        return [self.b.const(0.0) if p is None else self._middle(p) for p in jet.first]

    def _normal_matrix(self) -> list[list[Pair]]:
        """About GᵀG."""
        b, every, at_centre = self.b, range(self.n), self._jets(self._point)
        with b.loop(self.e.size) as turn, at_centre.elements.scope():
            slopes = self._slopes(at_centre.elements.element(self.e, (turn.index,)))
            products = {(i, j): b.mul(slopes[i], slopes[j]) for i in every for j in every if i <= j}
            total = b.step((0.0,) * len(products), tuple(products.values()), add_up)
        found = dict(zip(products, total.results, strict=True))
        entries = [[found[min(i, j), max(i, j)] for j in every] for i in every]
        return [[Pair(b.neg(v), v) for v in row] for row in entries]

    def _equations(self, multipliers: list[list[Value]],
                   box: Callable[[int], Pair]) -> tuple[list[list[Pair]], list[Pair], list[Value], Value]:
        """The matrix, the values at the centre, |y|² rounded up, and the least level of all elements on the region."""
        b, every, at_centre, on_region = self.b, range(self.n), self._jets(self._point), self._jets(box)
        with b.loop(self.e.size) as turn, at_centre.elements.scope(), on_region.elements.scope():
            here, there = (lowering.elements.element(self.e, (turn.index,)) for lowering in (at_centre, on_region))
            slopes, pairs, sizes = self._slopes(here), [], []
            for row in multipliers:
                y = b.const(0.0)
                for factor, slope in zip(row, slopes, strict=True):
                    y = b.fma(factor, slope, y)
                exact = Pair(b.neg(y), y, point=y)
                pairs += [None if p is None else mul(b, exact, p) for p in (*there.first, here.value)]
                sizes.append(b.mul(y, y))
            zero = Pair(b.const(0.0), b.const(0.0))
            ends = [end for p in pairs for end in ((p or zero).nlo, (p or zero).hi)]
            total = b.step((0.0,) * (len(ends) + self.n), (*ends, *sizes), add_up)
            level = b.step((-INF,), (b.neg(b_level(b, there.value.level)),), larger)
        found = [whole_if_unsound(b, Pair(*total.results[k:k + 2])) for k in range(0, len(ends), 2)]
        rows = [found[i * (self.n + 1):(i + 1) * (self.n + 1)] for i in every]
        return [row[:-1] for row in rows], [row[-1] for row in rows], list(total.results[len(ends):]), b.neg(level.results[0])
