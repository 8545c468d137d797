"""A row for a function of a few variables, by affine forms: a linear function below f, a region a lane.

All numbers of f are enclosed by their affine forms (`relax/affine_meaning.py`), from the variables up; then a linear function
below f is composed from f down to the variables (`relax/linear_bounds_kernel.py`), with planes through the middles of these
enclosures. The first pass bounds how far the numbers of a long recurrence are from linear, at the cost of adding up what errors
do to each other; the second one multiplies only the products of two such distances, each with what it really does to f.
Recurrences are collected before (`structure/collect_recurrences.py`).

With d = x - lo the function is s·d - h, s rounded down; `relax/lane_relaxation.py` has what follows from it. Nothing is asked of
derivatives: f need not even be continuous.

Proof: docs/proofs/affine_bounds.md.
"""

from collections.abc import Callable
from functools import partial

from infimum.expr.node import Expr, topological
from infimum.interval.pair import INF, Pair
from infimum.kernel.box_conclusions import whole_if_unsound
from infimum.kernel.constant_data import Data
from infimum.kernel.ir import Builder, Value
from infimum.kernel.schedule import straight_cost
from infimum.relax.affine_meaning import AffineForms
from infimum.relax.lane_relaxation import LinearLowerBound, WidestSide
from infimum.relax.linear_bounds_kernel import LinearBoundsKernel
from infimum.search.policy.bounds import LINEAR_RELAXATIONS as POLICY
from infimum.structure.collect_recurrences import collected, has_steps


def affine_bound(name: str, f: Expr, x: Expr) -> tuple:
    """The kernel. Parameters: the verified upper bound, and what sides are multiplied with before they are compared."""
    return AffineRow(collected(f), x.size).program(name)


class AffineRow(WidestSide):
    """Writes it."""

    def __init__(self, f: Expr, n: int):
        super().__init__(n, ())
        self.f = f

    def _write_rows(self) -> None:
        b, n = self.b, self.n
        bounds = LinearBoundsKernel(b, self.data, self._box, [self.f], AffineForms(n))
        slopes, nlo = bounds.line(0, 1.0, None)
        self.lowest = b.neg(whole_if_unsound(b, bounds.numbers[bounds.rows[0]].pair).nlo)
        kept = b.buffer(n)
        for i in range(n):
            b.store(kept, i, slopes.get(i, 0.0))
        self._store_lines([LinearLowerBound(partial(b.load, kept), nlo)], [0.0])


def is_recurrence(f: Expr, n: int) -> bool:
    """Has f few variables and several sums that can be collected, and is it short enough to be written out?"""
    return fits([f], n) and has_steps(f, POLICY.affine_least_sums)


def fits(rows: list[Expr], n: int) -> bool:
    """Are there few variables, and can these functions of them be written out?"""
    return n <= POLICY.affine_most_variables and straight_cost(list(topological(rows))) <= POLICY.affine_most_cost


def enclosures(b: Builder, data: Data, box: Callable[[int], Pair], rows: list[Expr], n: int) -> list[Pair]:
    """The enclosures of functions on a box, narrowed from both sides by linear functions."""
    bounds, found = LinearBoundsKernel(b, data, box, [collected(row) for row in rows], AffineForms(n)), []
    widths = [b.sub(box(i).hi, box(i).lo(b)) for i in range(n)]
    for k, number in enumerate(bounds.rows):
        ends = []
        for sign in (1.0, -1.0):
            total, usable = _least(b, *bounds.line(k, sign, None), widths)
            ends.append(b.select(usable, total, INF))
        pair = bounds.numbers[number].pair
        found.append(pair.but(nlo=b.min(ends[0], pair.nlo), hi=b.min(ends[1], pair.hi), point=None, zero=False))
    return found


def _least(b: Builder, slopes: dict[int, Value], nlo: Value, widths: list[Value]) -> tuple[Value, Value]:
    """Minus the least value of s·d - h, and whether it is one."""
    total = nlo
    for s, w in ((s, widths[i]) for i, s in slopes.items()):
        total = b.add(total, b.max(b.mul(b.neg(s), w), 0.0))
    usable = b.olt(b.abs(total), INF)
    for s, w in ((s, widths[i]) for i, s in slopes.items()):
        usable = b.mand(usable, b.mand(b.olt(b.abs(s), INF), b.olt(w, INF)))
    return total, usable
