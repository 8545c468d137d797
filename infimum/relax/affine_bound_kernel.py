"""The kernel of affine bounds: what a linear function below f says about a region, a region a lane.

All numbers of f are enclosed by their affine forms (`relax/affine_meaning.py`), from the variables up; then a linear function
below f is composed from f down to the variables (`relax/linear_bounds_kernel.py`), with planes through the middles of these
enclosures. The first pass bounds how far the numbers of a long recurrence are from linear, at the cost of adding up what errors
do to each other; the second one multiplies only the products of two such distances, each with what it really does to f.
Recurrences are collected before (`structure/collect_recurrences.py`).

With d = x - lo the function is s·d - h, s rounded down. It gives a lower bound, and where f is not above the verified upper bound
u, s_i d_i is at most u + h less the least of the other terms, which leaves a part of each variable. Nothing is asked of
derivatives: f need not even be continuous.

Proof: docs/proofs/affine_bounds.md.
"""

from collections.abc import Callable

import numpy as np

from infimum.expr.node import Expr, topological
from infimum.interval.pair import INF, Pair
from infimum.kernel.box_conclusions import best_lower, whole_if_unsound, with_larger
from infimum.kernel.constant_data import Data
from infimum.kernel.ir import Builder, Value
from infimum.kernel.region_cut import DISCARDED_AXIS, NO_AXIS, can_be_cut, rows, rows_of
from infimum.kernel.schedule import straight_cost
from infimum.relax.affine_meaning import AffineForms
from infimum.relax.linear_bounds_kernel import LinearBoundsKernel
from infimum.structure.collect_recurrences import collected, has_steps

LEFT, WORTH = range(2)  # the outputs
# variables at most; sums that can be collected at least, with fewer of which compiling costs more than the kernel saves; cost of
# what is written out at most
_MOST_VARIABLES, _LEAST_COLLECTED_SUMS, _MOST_COST = 8, 5, 1 << 17
# the test paid if at most this part of the volume, or of the distance to the upper bound, is left
_WORTH_VOLUME, _WORTH_GAP_LEFT = 0.25, 0.5


def affine_bound(name: str, f: Expr, x: Expr) -> tuple:
    """(kernel, data, rows of the outputs, where the parameters begin). Input: the regions. Parameters: what sides are multiplied
    with before they are compared, the verified upper bound."""
    b, data, n = Builder(), Data(), x.size
    at = data.offset(np.zeros(n + 1))
    sides = [(b.input(0, i), b.input(0, n + i)) for i in range(n)]
    f = collected(f)
    bounds = LinearBoundsKernel(b, data, lambda i: Pair(b.neg(sides[i][0]), sides[i][1]), [f], AffineForms(n))
    slopes, nlo = bounds.line(0, 1.0, None, n)
    natural = whole_if_unsound(b, bounds.numbers[bounds.rows[0]].pair).nlo
    _write(b, sides, slopes, nlo, natural, [b.data(at + i) for i in range(n)], b.data(at + n))
    return b.kernel(name, 1, 2), data, (rows_of(n), 1), at


def is_recurrence(f: Expr, n: int) -> bool:
    """Has f few variables and several sums that can be collected, and is it short enough to be written out?"""
    return fits([f], n) and has_steps(f, _LEAST_COLLECTED_SUMS)


def fits(rows: list[Expr], n: int) -> bool:
    """Are there few variables, and can these functions of them be written out?"""
    return n <= _MOST_VARIABLES and straight_cost(list(topological(rows))) <= _MOST_COST


def enclosures(b: Builder, data: Data, box: Callable[[int], Pair], rows: list[Expr], n: int) -> list[Pair]:
    """The enclosures of functions on a box, narrowed from both sides by linear functions."""
    bounds, found = LinearBoundsKernel(b, data, box, [collected(row) for row in rows], AffineForms(n)), []
    widths = [b.sub(box(i).hi, box(i).lo(b)) for i in range(n)]
    for k, number in enumerate(bounds.rows):
        ends = []
        for sign in (1.0, -1.0):
            total, usable, _ = _least(b, *bounds.line(k, sign, None, n), widths)
            ends.append(b.select(usable, total, INF))
        pair = bounds.numbers[number].pair
        found.append(pair.but(nlo=b.min(ends[0], pair.nlo), hi=b.min(ends[1], pair.hi), point=None, zero=False))
    return found


def _least(b: Builder, slopes: list[Value], nlo: Value, widths: list[Value]) -> tuple[Value, Value, list[Value]]:
    """Minus the least value of s·d - h; whether it is one; and what each variable has in it."""
    falls = [b.max(b.mul(b.neg(s), w), 0.0) for s, w in zip(slopes, widths, strict=True)]
    total = nlo
    for fall in falls:
        total = b.add(total, fall)
    usable = b.olt(b.abs(total), INF)
    for s, w in zip(slopes, widths, strict=True):
        usable = b.mand(usable, b.mand(b.olt(b.abs(s), INF), b.olt(w, INF)))
    return total, usable, falls


def _write(b: Builder, sides: list[tuple[Value, Value]], slopes: list[Value], nlo: Value, natural: Value, weights: list[Value],
           upper: Value) -> None:
    n = len(sides)
    low_row, axis_row, level_row = rows(n)
    widths = [b.sub(hi, lo) for lo, hi in sides]
    total, usable, falls = _least(b, slopes, nlo, widths)
    known = b.input(0, low_row)
    lower = best_lower(b, known, b.neg(natural), b.select(usable, b.neg(total), -INF))
    volume, chosen, number = b.const(1.0), b.const(-1.0), b.const(NO_AXIS)
    for i, ((lo, hi), s, w, fall) in enumerate(zip(sides, slopes, widths, falls, strict=True)):
        room = b.sub(b.add(upper, total), fall)  # s_i d_i is at most this
        reach = b.div(room, s)                   # rounded up: the end of d_i where it rises,
        start = b.neg(b.div(b.neg(room), s))     # rounded down: its beginning where it falls
        cut = b.mand(usable, b.olt(b.abs(room), INF))
        rises, drops = b.mand(cut, b.ogt(s, 0.0)), b.mand(cut, b.olt(s, 0.0))
        right = b.select(b.mand(rises, b.olt(reach, w)), b.min(b.add(lo, reach), hi), hi)
        left = b.select(b.mand(drops, b.ogt(start, 0.0)), b.max(b.neg(b.sub(b.neg(lo), start)), lo), lo)
        alive = b.ole(left, right)
        left, right = b.select(alive, left, lo), b.select(alive, right, hi)
        b.output(LEFT, i, left)
        b.output(LEFT, n + i, right)
        side = b.sub(right, left)
        volume = b.mul(volume, b.select(b.ogt(w, 0.0), b.div(side, w), 1.0))
        size = b.select(can_be_cut(b, left, right), b.min(b.mul(side, weights[i]), 2.0**1000), -1.0)
        chosen, number = with_larger(b, (chosen, number), (size, b.const(float(i))))
    away = b.mor(b.ogt(lower, upper), b.oeq(b.input(0, axis_row), DISCARDED_AXIS))
    nearer = b.ole(b.sub(upper, lower), b.mul(_WORTH_GAP_LEFT, b.sub(upper, known)))
    worth = b.mor(away, b.mor(b.ole(volume, _WORTH_VOLUME), b.mand(b.olt(upper, INF), nearer)))
    for row, value in ((low_row, lower), (axis_row, b.select(away, DISCARDED_AXIS, number)), (level_row, b.input(0, level_row))):
        b.output(LEFT, row, value)
    b.output(WORTH, 0, b.select(worth, 1.0, 0.0))
