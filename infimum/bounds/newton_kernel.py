"""The kernel of an interval Newton step: what second derivatives leave of a region, a region a lane.

Let f be twice continuously differentiable around a bounded region X, and c a point of X. A variable is *free* if X lies strictly
inside the user's bounds in it. At a minimiser x within X the derivative by a free variable i vanishes. By the mean value theorem

    0 = g_i(c) + sum over all j of H_ij (x_j - c_j),    H the Hessian's enclosure on X.

**Concavity.** If H_ii < 0 for a free i, X holds no minimiser.

**Newton.** Such equations, and sums of multiples of them, are solved for one variable after the other, the others at what is left
of them (Gauss-Seidel). A `SweepPlan` says which: each as it stands, for all variables (pivoting over all rows); then row i of
Y g(c) + Y H (x - c) = 0 for variable i, where Y is about the inverse of the middle of H, with the rows and columns of the unit
matrix for variables that are not free. Any numbers Y are right, so nothing depends on how well they were computed; where one is
no number, the equation stands as it is. Where a divisor contains 0 the quotient has two parts, a half-line each: what lies
beyond one of them goes, a gap in the middle stays, and is told. If nothing is left of a variable, X holds no minimiser.
Equations of variables that are not free are not used, and these keep their range.

**Sequential arguments** (Hansen): H_ij need only hold the second derivatives at points of which the variables behind j are at c
(`kernel/sequential_hessian.py`). Such a matrix contracts; whether f is concave is asked of the full Hessian.

The rows of its output are those of a sweep, from which `bounds/shaving_kernel.py` makes what is left of a region; then the widest
gap.

Proof: docs/proofs/second_order.md.
"""

from typing import NamedTuple

import numpy as np

from infimum.interval.arithmetic import add, mul, neg
from infimum.interval.pair import INF, SMOOTH, Pair, exact
from infimum.kernel.box_conclusions import common, parts_left, whole_if_unsound
from infimum.kernel.constant_data import Data
from infimum.kernel.ir import Builder, Kernel, Value

REGIONS, LEVEL, CENTRE, SLOPE_LO, SLOPE_HI, CURVATURE_LO, CURVATURE_HI, MORE = range(8)  # the inputs; then those asked for
NO_GAP = -1.0  # fixed: instead of the variable that has one
_LARGEST_INVERSE = 2.0**500  # fixed: of the numbers Y: no product overflows


class SweepPlan(NamedTuple):
    """How often which equations are solved: `pivots` as they stand, for all variables, then `inverse` with the inverse of the
    middle. `sequential`: a matrix with sequential arguments is given too. `gaps`: the widest gap is told."""

    pivots: int = 1
    inverse: int = 2
    sequential: int = 0
    gaps: int = 0


def centre(name: str, n: int) -> tuple[Kernel, Data, tuple[int, ...], int]:
    """The middle of each region, a point of it; in a variable without bounds a finite end, or 0."""
    b = Builder()
    with b.loop(n) as turn:
        lo, hi = b.input(0, turn.index), b.input(0, b.place("uadd", turn.index, n))
        middle = b.min(b.max(b.add(b.mul(lo, 0.5), b.mul(hi, 0.5)), lo), hi)
        end = b.select(b.ogt(lo, -INF), lo, b.select(b.olt(hi, INF), hi, 0.0))
        b.output(0, turn.index, b.select(b.mand(b.ogt(lo, -INF), b.olt(hi, INF)), middle, end))
    return b.kernel(name, 1, 1), Data(), (n,), 0


def contract(name: str, n: int, in_boxes: bool = False,
             recipe: SweepPlan | None = None) -> tuple[Kernel, Data, tuple[int, ...], int]:
    """The kernel. Parameters: the user's bounds; where they are those of each region, they are the last input instead."""
    recipe = recipe or SweepPlan()
    writer = NewtonKernel(n, in_boxes, recipe)
    return writer.b.kernel(name, 7 + 2 * recipe.sequential + in_boxes, 1), writer.data, (4 * n + 3 * recipe.gaps,), writer.at


class NewtonKernel:
    """Writes it, without loops: what one variable leaves is used for the next."""

    recipe, gaps = SweepPlan(), ()  # of those that have equations of their own

    def __init__(self, n: int, in_boxes: bool, recipe: SweepPlan):
        self.b, self.data, self.n, self.recipe = Builder(), Data(), n, recipe
        self.at = self.data.offset(np.zeros(2 * n))
        b, every = self.b, range(n)
        lo, hi = ([b.input(REGIONS, k + i) for i in every] for k in (0, n))
        self.c = [b.input(CENTRE, i) for i in every]
        self._choose_free(lo, hi, in_boxes)
        slope = [self._read(SLOPE_LO, SLOPE_HI, i) for i in every]
        places = {pair: k for k, pair in enumerate(zip(*(a.tolist() for a in np.triu_indices(n)), strict=True))}
        curvature = [[self._read(CURVATURE_LO, CURVATURE_HI, places[min(i, j), max(i, j)]) for j in every] for i in every]
        self.left = [Pair(b.sub(c, low), b.sub(high, c)) for c, low, high in zip(self.c, lo, hi, strict=True)]  # of x - c
        self.gaps = [(b.const(INF), b.const(-INF)) for _ in every] if recipe.gaps else ()  # of x - c; the first is the left end
        self.gone = b.olt(0.0, -1.0)
        for i in every:
            self._discard(b.mand(self.free[i], b.olt(curvature[i][i].hi, 0.0)))
        if recipe.sequential:
            curvature = [[common(b, entry, self._read(MORE, MORE + 1, i * n + j)) for j, entry in enumerate(row)]
                         for i, row in enumerate(curvature)]
        for _ in range(recipe.pivots):
            for i in every:
                self._solve_for_all(self.free[i], curvature[i], slope[i])
        rows = []
        if recipe.inverse:
            rows = [([self._combined(y, [curvature[i][j] for i in every]) for j in every], self._combined(y, slope))
                    for y in self._inverse(curvature)]
        for _ in range(recipe.inverse):
            for i, (row, right) in enumerate(rows):
                self._solve(i, row, right)
        self._write(lo, hi)

    def _read(self, low: int, high: int, row: int) -> Pair:
        return whole_if_unsound(self.b, Pair(self.b.neg(self.b.input(low, row)), self.b.input(high, row)))

    def _choose_free(self, lo: list[Value], hi: list[Value], in_boxes: bool) -> None:
        """The variables whose derivatives vanish at a minimiser: none where f is not smooth, or the region is unbounded."""
        b, n = self.b, self.n
        usable = b.oge(b.input(LEVEL, 0), float(SMOOTH))
        for low, high in zip(lo, hi, strict=True):
            usable = b.mand(usable, b.mand(b.ogt(low, -INF), b.olt(high, INF)))

        def bound(k: int) -> Value:
            return b.input(MORE + 2 * self.recipe.sequential, k) if in_boxes else b.data(self.at + k)
        self.free = [b.mand(usable, b.mand(b.ogt(lo[i], bound(i)), b.olt(hi[i], bound(n + i)))) for i in range(n)]

    def _discard(self, mask: Value) -> None:
        self.gone = self.b.mor(self.gone, mask)

    # ---- one equation
    def _solve(self, i: int, row: list[Pair], right: Pair) -> None:
        """row · (x - c) + right = 0, solved for variable i."""
        total = right
        for j, entry in enumerate(row):
            if j != i:
                total = self._plus(total, entry, j)
        self._divide(i, self.free[i], total, row[i])

    def _solve_for_all(self, holds: Value, row: list[Pair], right: Pair) -> None:
        """The same, where it holds, for one variable after the other: what those before contribute is summed up as it is left of
        them, what those behind do as it was."""
        behind = [right]
        for j in range(self.n - 1, 0, -1):
            behind.append(self._plus(behind[-1], row[j], j))
        before: Pair | None = None
        for i in range(self.n):
            rest = behind.pop()
            total = rest if before is None else Pair(*self.b.outline("newton_sum", _sum, *_ends(before, rest)))
            self._divide(i, self.b.mand(holds, self.free[i]), total, row[i])
            before = self._plus(exact(self.b, 0.0) if before is None else before, row[i], i)

    def _plus(self, total: Pair, entry: Pair, j: int) -> Pair:
        """A sum, and its term of variable j."""
        return Pair(*self.b.outline("newton_term", _term, *_ends(total, entry, self.left[j])))

    def _divide(self, i: int, holds: Value, total: Pair, divisor: Pair) -> None:
        """divisor · (x_i - c_i) + total = 0, where that holds."""
        b, ends = self.b, _ends(total, divisor, self.left[i])
        if self.recipe.gaps:
            low, high, before, behind = b.outline("newton_parts", _parts, *ends)
            known, (left, right) = b.mand(holds, b.olt(before, behind)), self.gaps[i]
            wider = b.mand(known, b.ogt(b.sub(behind, before), b.sub(right, left)))
            self.gaps[i] = b.select(wider, before, left), b.select(wider, behind, right)
        else:
            low, high = b.outline("newton_quotient", _quotient, *ends)
        self._discard(b.mand(holds, b.ogt(low, high)))
        use = b.mand(holds, b.ole(low, high))
        self.left[i] = Pair(b.select(use, b.neg(low), self.left[i].nlo), b.select(use, high, self.left[i].hi))

    # ---- sums of multiples of the equations
    def _inverse(self, matrix: list[list[Pair]]) -> list[list[Value]]:
        """About the inverse of the middle, for the free variables, by elimination without exchanges; a row that is no good, and
        one of another variable, is that of the unit matrix. Multiples of equations that do not hold are 0."""
        b, every = self.b, range(self.n)
        both = [[b.mand(self.free[i], self.free[j]) for j in every] for i in every]
        a = [[b.select(both[i][j], self._middle(matrix[i][j]), float(i == j)) for j in every] for i in every]
        y = [[b.const(float(i == j)) for j in every] for i in every]
        for k in every:
            scale = b.div(1.0, a[k][k])
            a[k], y[k] = ([b.mul(v, scale) for v in row] for row in (a[k], y[k]))
            for i in every:
                if i != k:
                    factor = b.neg(a[i][k])
                    a[i], y[i] = ([b.fma(factor, top, v) for top, v in zip(m[k], m[i], strict=True)] for m in (a, y))
        found = []
        for i in every:
            good = self.free[i]
            for v in y[i]:
                good = b.mand(good, b.olt(b.abs(v), _LARGEST_INVERSE))
            row = [b.select(good, v, float(i == j)) for j, v in enumerate(y[i])]
            found.append([b.select(self.free[j], v, 0.0) for j, v in enumerate(row)])
        return found

    def _middle(self, x: Pair) -> Value:
        b = self.b
        return b.add(b.mul(b.neg(x.nlo), 0.5), b.mul(x.hi, 0.5))

    def _combined(self, factors: list[Value], pairs: list[Pair]) -> Pair:
        """The sum of exact numbers times enclosures."""
        b, nlo, hi = self.b, self.b.const(0.0), self.b.const(0.0)
        for y, x in zip(factors, pairs, strict=True):
            nlo, hi = b.outline("newton_multiple", _multiple, nlo, hi, y, x.nlo, x.hi)
        return whole_if_unsound(b, Pair(nlo, hi))

    # ---- what comes out
    def _write(self, lo: list[Value], hi: list[Value]) -> None:
        """Rows of a sweep: the ends, 0 where nothing is left, no lower bound."""
        b, n, sides = self.b, self.n, []
        for i, left in enumerate(self.left):
            low = b.max(b.neg(b.add(left.nlo, b.neg(self.c[i]))), lo[i])
            high = b.min(b.add(self.c[i], left.hi), hi[i])
            use = b.mand(self.free[i], b.ole(low, high))
            sides.append((b.select(use, low, lo[i]), b.select(use, high, hi[i])))
        if self.gaps:
            sides = self._write_gap(sides)
        for i, ends in enumerate(sides):
            for what, value in enumerate((*ends, b.select(self.gone, 0.0, 1.0), -INF)):
                b.output(0, what * n + i, value)

    def _write_gap(self, sides: list[tuple[Value, Value]]) -> list[tuple[Value, Value]]:
        """Rows behind those: the variable with the widest gap, as a part of its side, and the ends of the gap. Returns what is
        left of the sides, where a gap has reached an end since it was found."""
        b, found = self.b, []
        best = tuple(b.const(value) for value in (0.0, NO_GAP, 0.0, 0.0))
        for i, (low, high) in enumerate(sides):
            before, behind = self.gaps[i]
            known, c = b.olt(before, behind), self.c[i]
            left, right = b.add(c, before), b.neg(b.add(b.neg(c), b.neg(behind)))
            known = b.mand(known, b.olt(left, right))
            no_left, no_right = b.mand(known, b.olt(left, low)), b.mand(known, b.ogt(right, high))
            self._discard(b.mand(no_left, no_right))
            new_low, new_high = b.select(no_left, b.max(low, right), low), b.select(no_right, b.min(high, left), high)
            crossed = b.ogt(new_low, new_high)
            found.append((b.select(crossed, low, new_low), b.select(crossed, high, new_high)))
            inside = b.mand(known, b.mnot(b.mor(no_left, no_right)))
            part = b.select(inside, b.div(b.sub(right, left), b.sub(high, low)), 0.0)
            better = b.ogt(part, best[0])
            best = tuple(b.select(better, new, old) for new, old in zip((part, float(i), left, right), best, strict=True))
        for row, value in enumerate(best[1:]):
            b.output(0, 4 * self.n + row, value)
        return found


# ---- functions out of line: the kernel calls each of them very often
def _ends(*pairs: Pair) -> list[Value]:
    return [end for pair in pairs for end in (pair.nlo, pair.hi)]


def _multiple(b: Builder, nlo: Value, hi: Value, y: Value, x_nlo: Value, x_hi: Value) -> tuple[Value, Value]:
    """A pair, and y times another one; nothing of an infinite one if y is 0."""
    size, turned, none = b.abs(y), b.olt(y, 0.0), b.oeq(y, 0.0)
    low, high = (b.select(none, 0.0, b.select(turned, other, end)) for end, other in ((x_nlo, x_hi), (x_hi, x_nlo)))
    return b.fma(size, low, nlo), b.fma(size, high, hi)


def _term(b: Builder, nlo: Value, hi: Value, *factors: Value) -> tuple[Value, Value]:
    """A pair, and the product of two others; the whole line where it is NaN."""
    found = whole_if_unsound(b, add(b, Pair(nlo, hi), mul(b, Pair(*factors[:2]), Pair(*factors[2:]))))
    return found.nlo, found.hi


def _sum(b: Builder, *ends: Value) -> tuple[Value, Value]:
    """Of two pairs; the whole line where it is NaN."""
    found = whole_if_unsound(b, add(b, Pair(*ends[:2]), Pair(*ends[2:])))
    return found.nlo, found.hi


def _quotient(b: Builder, *ends: Value) -> tuple[Value, Value]:
    return _parts(b, *ends)[:2]


def _parts(b: Builder, *ends: Value) -> tuple[Value, Value, Value, Value]:
    return parts_left(b, neg(b, Pair(*ends[:2])), Pair(*ends[2:4]), Pair(*ends[4:]))
