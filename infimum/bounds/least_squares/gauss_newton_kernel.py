"""The kernel of a Gauss-Newton step: what an upper bound of a sum of squares leaves of a region, a region a lane.

Let f = Σ e_k², each e_k Lipschitz around a bounded region X, and c a point of X. At a point x of X with f(x) <= U, for all
numbers y_k, |Σ y_k e_k(x)| <= |y| √U (Cauchy and Schwarz), and by the mean value theorem e_k(x) = e_k(c) + J_k (x - c) with J_k
in the enclosure of the derivatives of e_k on X. So x solves

    Σ y_k e_k(c) + Σ_j (Σ_k y_k J_kj) (x_j - c_j) = q,    q in [-|y| √U, |y| √U].

One such equation for each variable, with y the rows of about (GᵀG)⁻¹Gᵀ, G the derivatives at c, for which the matrix of the
equations is near the unit matrix. q is less than that where another sum b = Σ z_k e_k(x) is known not to vanish on X: the squared
length of the projection of e on y and z is at most U as well, hence

    |Σ y_k e_k(x)| <= |y·z| √U / |z| + |y| √(U - b²/|z|²).

z is about e(c) less its projection on the columns of G, what no parameter can mend: z·G is about 0, so that b hardly varies on X,
and near a minimiser b²/|z|² is about the least of f. If b² > |z|² U, f lies above U. The equations are solved one after the other
as in `bounds/newton_kernel.py`. Nothing is assumed of derivatives of f: a minimiser at a bound solves them as well. Where f can
become almost 0, regions without a minimiser go long before second derivatives of f tell anything, since what is inverted has the
square root of its condition.

Derivatives are computed from the data twice rather than stored: in a first loop for GᵀG, in the second one for the equations.

Proof: docs/proofs/sums_of_squares.md.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from infimum.bounds.newton_kernel import NewtonKernel
from infimum.expr.node import Expr
from infimum.interval.arithmetic import mul
from infimum.interval.pair import INF, LIPSCHITZ, Pair, b_level
from infimum.kernel.box_conclusions import add_up, larger, whole_if_unsound
from infimum.kernel.constant_data import Data
from infimum.kernel.ir import Builder, Kernel, Value
from infimum.kernel.jets import Jet, Jets, unit
from infimum.kernel.lowering import Lowering
from infimum.kernel.schedule import is_sum_over_data, plan
from infimum.search.policy.bounds import LEAST_SQUARES as POLICY
from infimum.structure.separable_residuals import residual_vector

REGIONS, CENTRE = range(2)  # the inputs
_LEAST_NORM, _MOST_NORM = 2.0**-500, 2.0**500  # fixed: of |z|²: no product overflows or underflows


def residuals_of(f: Expr, x: Expr, any_size: bool = False) -> Expr | None:
    """The vector e of which f is the sum of squares; None if it is no such sum, or if loops over its data are not cheap; or
    too short for that to matter, unless `any_size` will do."""
    e = residual_vector(f)
    return e if e is not None and is_sum_over_data(f, x, any_size) else None


def residuals(name: str, f: Expr, x: Expr) -> tuple[Kernel, Data, tuple[int, ...], int]:
    """The kernel. Parameter: √U, rounded up."""
    writer = GaussNewtonKernel(residuals_of(f, x), x.size)
    return writer.b.kernel(name, 2, 1), writer.data, (4 * x.size,), writer.at


class GaussNewtonKernel(NewtonKernel):
    """Writes it."""

    def __init__(self, e: Expr, n: int):
        self.b, self.data, self.n, self.e = Builder(), Data(), n, e
        self.at = self.data.offset(np.zeros(1))
        b, every = self.b, range(n)
        lo, hi = ([b.input(REGIONS, k + i) for i in every] for k in (0, n))
        self.c = [b.input(CENTRE, i) for i in every]
        self.free, self.gone = [b.olt(-1.0, 0.0)] * n, b.olt(0.0, -1.0)
        normal, slopes = self._normal_matrix()
        multipliers = self._inverse(normal)
        sums, level = self._sums(multipliers, slopes, lambda i: Pair(b.neg(lo[i]), hi[i]))
        usable = b.oge(level, float(LIPSCHITZ))
        for low, high in zip(lo, hi, strict=True):
            usable = b.mand(usable, b.mand(b.ogt(low, -INF), b.olt(high, INF)))
        self.free = [usable] * n
        self.left = [Pair(b.sub(c, low), b.sub(high, c)) for c, low, high in zip(self.c, lo, hi, strict=True)]  # of x - c
        for _ in range(POLICY.gauss_newton_sweeps):
            most, across = self._rest(sums)
            for i, row in enumerate(sums.rows):
                reach = b.add(b.mul(row.across, across), b.mul(b.sqrt(row.square), most))
                right = row.at_centre
                self._solve(i, row.slopes, whole_if_unsound(b, Pair(b.add(right.nlo, reach), b.add(right.hi, reach))))
        self._write(lo, hi)

    def _rest(self, sums: "DataSums") -> tuple[Value, Value]:
        """√(U - b²/|z|²) and √U / |z|, rounded up, for b on what is left of the region; √U and 0 where z is of no use."""
        b, root = self.b, self.b.data(self.at)
        total, whole = sums.rest.at_centre, b.mul(root, root)
        for j, entry in enumerate(sums.rest.slopes):
            total = self._plus(total, entry, j)
        distance = b.max(b.max(b.neg(total.nlo), b.neg(total.hi)), 0.0)  # of b from 0
        part = b.neg(b.div(b.mul(b.neg(distance), distance), sums.rest.square))  # b²/|z|², rounded down
        left = b.sub(whole, part)
        use = b.mand(self.free[0], b.mand(b.ogt(sums.least, _LEAST_NORM), b.olt(sums.rest.square, _MOST_NORM)))
        self._discard(b.mand(use, b.olt(left, 0.0)))
        left, across = b.max(left, 0.0), b.sqrt(b.div(whole, sums.least))
        return b.select(use, b.sqrt(left), root), b.select(use, across, 0.0)

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

    def _normal_matrix(self) -> tuple[list[list[Pair]], list[Value]]:
        """About GᵀG, and Gᵀe(c)."""
        b, every, at_centre = self.b, range(self.n), self._jets(self._point)
        with b.loop(self.e.size) as turn, at_centre.elements.scope():
            here = at_centre.elements.element(self.e, (turn.index,))
            slopes, value = self._slopes(here), self._middle(here.value)
            products = {(i, j): b.mul(slopes[i], slopes[j]) for i in every for j in every if i <= j}
            terms = (*products.values(), *(b.mul(slope, value) for slope in slopes))
            total = b.step((0.0,) * len(terms), terms, add_up)
        found = dict(zip(products, total.results, strict=False))
        entries = [[found[min(i, j), max(i, j)] for j in every] for i in every]
        return [[Pair(b.neg(v), v) for v in row] for row in entries], list(total.results[len(products):])

    def _sums(self, multipliers: list[list[Value]], slopes: list[Value], box: Callable[[int], Pair]) -> "tuple[DataSums, Value]":
        """Everything that the equations need, and the least level of all elements on the region."""
        b, at_centre, on_region = self.b, self._jets(self._point), self._jets(box)
        mended = [self._dot(row, slopes) for row in multipliers]  # of e(c), by a step of Gauss and Newton
        with b.loop(self.e.size) as turn, at_centre.elements.scope(), on_region.elements.scope():
            here, there = (lowering.elements.element(self.e, (turn.index,)) for lowering in (at_centre, on_region))
            slope = self._slopes(here)
            z = b.sub(self._middle(here.value), self._dot(mended, slope))
            ends, zero = [], Pair(b.const(0.0), b.const(0.0))
            for y in (*(self._dot(row, slope) for row in multipliers), z):
                exact = Pair(b.neg(y), y, point=y)
                pairs = [zero if p is None else mul(b, exact, p) for p in (*there.first, here.value)]
                ends += [end for p in pairs for end in (p.nlo, p.hi)]
                ends += [b.mul(y, y), b.mul(y, z), b.mul(b.neg(y), z)]
            total = b.step((0.0,) * len(ends), tuple(ends), add_up)
            level = b.step((-INF,), (b.neg(b_level(b, there.value.level)),), larger)
        length = len(ends) // (self.n + 1)
        rows = [self._row(total.results[k * length:(k + 1) * length]) for k in range(self.n + 1)]
        return DataSums(rows[:-1], rows[-1], b.neg(total.results[-1])), b.neg(level.results[0])

    def _row(self, ends: tuple[Value, ...]) -> "WeightedSums":
        b, *pairs = self.b, *(whole_if_unsound(self.b, Pair(*ends[k:k + 2])) for k in range(0, 2 * self.n + 2, 2))
        square, *across = ends[2 * self.n + 2:]
        return WeightedSums(pairs[:-1], pairs[-1], square, b.max(*across))

    def _dot(self, factors: list[Value], values: list[Value]) -> Value:
        """About their product: any number will do."""
        total = self.b.const(0.0)
        for factor, value in zip(factors, values, strict=True):
            total = self.b.fma(factor, value, total)
        return total


class WeightedSums(NamedTuple):
    """Sums over the data for numbers y_k, or z_k: of y_k times the derivatives on the region, and times the residuals at the
    centre; |y|² and |y·z|, rounded up."""

    slopes: list[Pair]
    at_centre: Pair
    square: Value
    across: Value


class DataSums(NamedTuple):
    """The rows y, one for each variable; z; and |z|² rounded down."""

    rows: list[WeightedSums]
    rest: WeightedSums
    least: Value
