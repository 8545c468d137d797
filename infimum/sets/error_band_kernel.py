"""The kernel of bounded errors: where |e_k| <= 1 for every element of a vector e, on boxes of linear coordinates, a box a lane.

The coordinates are u with x = a + A u, the a and A of the parameters being doubles that are meant exactly; x itself where a is 0
and A the unit matrix. Let X be a box of u and c its middle. Each e_k is enclosed on X as it stands, and where it is Lipschitz by
the mean value form e_k(c) + J_k (X - c). X lies inside if all of these lie in [-1, 1] and every e_k is defined on all of X, and
outside if one of them is disjoint from it. A point of X with |e_k| <= 1 solves

    e_k(c) + Σ_j J_kj (u_j - c_j) = q for some q in [-1, 1],

which leaves a part of each variable; what all k leave is the answer. All use X as it was given.
"""

import numpy as np

from infimum.bounds.least_squares.gauss_newton_kernel import residuals_of
from infimum.expr.node import Expr
from infimum.interval.arithmetic import add, mul, sub
from infimum.interval.pair import DEFINED, INF, Pair
from infimum.kernel.box_conclusions import common, larger, natural, parts_left, whole_if_unsound
from infimum.kernel.constant_data import Data
from infimum.kernel.ir import Builder, Kernel, Value
from infimum.kernel.jets import Jet, Jets
from infimum.kernel.lowering import Lowering
from infimum.kernel.schedule import plan

LEFT, FACTS = range(2)       # the outputs: what is left, in the rows of a sweep
INSIDE, VARIES = range(2)    # rows of FACTS: 1 or 0; then for each axis by how much e varies along it


def bands(name: str, f: Expr, x: Expr) -> tuple[Kernel, Data, tuple[int, ...], int]:
    """The kernel, for the residuals e of which f is the sum of squares. Inputs: the lower and the upper ends of the boxes.
    Parameters: a, then A row by row."""
    writer = ErrorBandKernel(residuals_of(f, x, any_size=True), x.size)
    return writer.b.kernel(name, 2, 2), writer.data, (4 * x.size, 1 + x.size), writer.at


class ErrorBandKernel:
    """Writes it."""

    def __init__(self, e: Expr, n: int):
        self.b, self.data, self.n, self.e = Builder(), Data(), n, e
        self.at = self.data.offset(np.zeros(n + n * n))
        b, every = self.b, range(n)
        self.lo, self.hi = ([b.input(k, i) for i in every] for k in (0, 1))
        self.c = [b.min(b.max(b.add(b.mul(lo, 0.5), b.mul(hi, 0.5)), lo), hi) for lo, hi in zip(self.lo, self.hi, strict=True)]
        self.d = [Pair(b.sub(c, lo), b.sub(hi, c)) for c, lo, hi in zip(self.c, self.lo, self.hi, strict=True)]
        bounded = b.olt(-1.0, 0.0)
        for lo, hi in zip(self.lo, self.hi, strict=True):
            bounded = b.mand(bounded, b.mand(b.ogt(lo, -INF), b.olt(hi, INF)))
        at_centre, on_box = self._jets([Pair(b.neg(c), c) for c in self.c]), \
            self._jets([Pair(b.neg(lo), hi) for lo, hi in zip(self.lo, self.hi, strict=True)])
        with b.loop(e.size) as turn, at_centre.elements.scope(), on_box.elements.scope():
            here, there = (lowering.elements.element(e, (turn.index,)) for lowering in (at_centre, on_box))
            found = self._element(here, there, bounded)
            total = b.step((-INF,) * len(found), tuple(found), larger)
        self._write(total.results)

    def _jets(self, box: list[Pair]) -> Lowering:
        """Elements of e with their derivatives along the axes, on a box of u."""
        b, n, jets = self.b, self.n, Jets(self.data, self.n)

        def entry(position: "int | Value") -> Pair:
            value = b.data(b.place("uadd", self.at, position))
            return Pair(b.neg(value), value, point=value)

        def leaf(j: "int | Value") -> Jet:
            row = b.place("uadd", b.place("umul", j, n), n)
            along = [entry(b.place("uadd", row, i)) for i in range(n)]
            place = entry(j)
            for factor, side in zip(along, box, strict=True):
                place = add(b, place, mul(b, factor, side))
            return jets.leaf(place, along)
        lowering = Lowering(b, jets, {"x": leaf}, self.data)
        lowering.elements.plan = plan([self.e], straight=False)
        return lowering

    def _element(self, here: Jet, there: Jet, bounded: Value) -> list[Value]:
        """Numbers of which the largest over all elements count: 1 if this one is not inside, 1 if it is outside; for each
        variable, the last first, the lower end of what is left of u - c, minus its upper end, and how much it varies along it."""
        b, every = self.b, range(self.n)
        known, zero = natural(b, there.value), Pair(b.const(0.0), b.const(0.0))
        slopes = [zero if p is None else whole_if_unsound(b, p) for p in there.first]
        terms = [whole_if_unsound(b, mul(b, slope, side)) for slope, side in zip(slopes, self.d, strict=True)]
        before = [whole_if_unsound(b, here.value)]
        for term in terms:
            before.append(whole_if_unsound(b, add(b, before[-1], term)))
        use = b.mand(bounded, known.lipschitz(b))
        form = Pair(*(b.select(use, end, INF) for end in (before[-1].nlo, before[-1].hi)))
        value = common(b, form, whole_if_unsound(b, there.value))
        inside = b.mand(b.oge(known.level, float(DEFINED)), b.mand(b.ole(value.nlo, 1.0), b.ole(value.hi, 1.0)))
        outside = b.mor(known.empty, b.mor(b.olt(value.nlo, -1.0), b.olt(value.hi, -1.0)))
        found = [b.select(inside, -1.0, 1.0), b.select(outside, 1.0, -1.0)]
        behind: Pair | None = None
        for i in reversed(every):
            rest = before[i] if behind is None else whole_if_unsound(b, add(b, before[i], behind))
            wanted = whole_if_unsound(b, sub(b, Pair(b.const(1.0), b.const(1.0)), rest))
            low, high = b.outline("band_left", _left, *(end for p in (wanted, slopes[i], self.d[i]) for end in (p.nlo, p.hi)))
            found += [b.select(use, low, -INF), b.select(use, b.neg(high), -INF), b.add(terms[i].nlo, terms[i].hi)]
            behind = terms[i] if behind is None else whole_if_unsound(b, add(b, terms[i], behind))
        return found

    def _write(self, found: tuple[Value, ...]) -> None:
        b, n = self.b, self.n
        gone = b.ogt(found[1], 0.0)
        sides = []
        for k, i in enumerate(reversed(range(n))):
            low, nhigh, varies = found[2 + 3 * k:5 + 3 * k]
            new_low = b.max(b.neg(b.sub(b.neg(self.c[i]), low)), self.lo[i])
            new_high = b.min(b.sub(self.c[i], nhigh), self.hi[i])
            nothing = b.mor(b.ogt(low, b.neg(nhigh)), b.ogt(new_low, new_high))
            gone = b.mor(gone, nothing)
            sides.append((i, b.select(nothing, self.lo[i], new_low), b.select(nothing, self.hi[i], new_high)))
            b.output(FACTS, 1 + i, varies)
        for i, low, high in sides:
            for what, value in enumerate((low, high, b.select(gone, 0.0, 1.0), -INF)):
                b.output(LEFT, what * n + i, value)
        b.output(FACTS, INSIDE, b.select(b.mand(b.olt(found[0], 0.0), b.mnot(gone)), 1.0, 0.0))


def _left(b: Builder, *ends: Value) -> tuple[Value, Value]:
    """What slope · t in `wanted` leaves of t."""
    return parts_left(b, Pair(*ends[:2]), Pair(*ends[2:4]), Pair(*ends[4:]))[:2]

