"""Pieces in a kernel: the quantity of a piece is cut into slices, each slice is enclosed by the natural extension and the mean
value form, and their hull is tight to second order."""

import numpy as np

from infimum.expr.node import Expr
from infimum.expr.pieces import Piece, pieces_of
from infimum.interval.arithmetic import add, mul, sub
from infimum.interval.pair import DEFINED, INF, POLE, Pair, b_level
from infimum.lower.data import Data
from infimum.lower.elements import Elements, Leaf
from infimum.lower.kernel import Builder, Value
from infimum.lower.lowering import Lowering
from infimum.lower.meaning import Enclosures
from infimum.lower.proof import larger, natural, whole_if_unsound
from infimum.lower.views import At


def by_slices(b: Builder, f: Expr, data: Data, count: int) -> "dict[Expr, Slices]":
    """For every piece of f the way to enclose it by so many slices."""
    return {node: Slices(b, piece, data, count) for node, piece in pieces_of(f).items()}


class Slices:
    """Tightens the enclosure of one element of a piece. `leaves` are what it reads beside its quantity."""

    def __init__(self, b: Builder, piece: Piece, data: Data, count: int, leaves: dict[str, Leaf] | None = None):
        self.b, self.piece, self.data, self.count, self.leaves = b, piece, data, count, leaves or {}
        self.ends = data.offset(np.arange(count + 1) / count)

    def __call__(self, elements: Elements, known: Pair, at: At) -> Pair:
        """`known` is the natural enclosure over the whole quantity."""
        quantity = elements.element(self.piece.quantity, at)
        b, lo, hi = self.b, quantity.lo(self.b), quantity.hi
        width = b.sub(hi, lo)
        unbounded = b.mnot(b.olt(width, INF))

        def end(k: "int | Value") -> Value:
            """One double for both neighbours."""
            return b.min(b.max(b.fma(width, b.data(b.place("uadd", self.ends, k)), lo), lo), hi)
        with b.loop(self.count) as turn:
            first, last = b.ueq(turn.index, 0), b.ueq(turn.index, self.count - 1)
            left = b.select(b.mor(first, unbounded), lo, end(turn.index))
            right = b.select(b.mor(last, unbounded), hi, end(b.place("uadd", turn.index, 1)))
            hull = b.step((-INF, -INF), self._enclosure(left, right, at), larger)
        results = hull.results
        if self.piece.compares:  # where the quantity is undefined somewhere, its slices miss points of the box
            defined = b.oge(b_level(b, quantity.level), float(DEFINED))
            results = [b.select(defined, end, INF) for end in results]
        nlo, high = (b.select(b.olt(mine, theirs), mine, theirs)
                     for mine, theirs in zip(results, (known.nlo, known.hi), strict=True))
        return known.but(nlo=nlo, hi=high, point=None, zero=False)

    def _over(self, y: Pair, at: At, *nodes: Expr) -> list[Pair]:
        name = self.piece.variable["name"]
        return Lowering(self.b, Enclosures(), {**self.leaves, name: lambda _: y}, self.data).elements_at(list(nodes), at)

    def of_slice(self, lo: Value, hi: Value) -> tuple[Value, Value, Value]:
        """Of a scalar piece on one slice: the ends of its enclosure, lo > hi where it is empty, and its level."""
        b, (value,) = self.b, self._over(Pair(self.b.neg(lo), hi), (), self.piece.value)
        known, (nlo, high) = natural(b, value), self._enclosure(lo, hi, ())
        return b.neg(nlo), high, b.select(known.empty, float(POLE), known.level)

    def _enclosure(self, lo: Value, hi: Value, at: At) -> tuple[Value, ...]:
        """(minus the lower end, the upper end) over one slice, both minus infinite where it is empty."""
        b, y = self.b, Pair(self.b.neg(lo), hi)
        value, slope = self._over(y, at, self.piece.value, self.piece.slope)
        known, ends = natural(b, value), whole_if_unsound(b, value)
        middle = b.min(b.max(b.add(b.mul(lo, 0.5), b.mul(hi, 0.5)), lo), hi)
        centre = Pair(b.neg(middle), middle)
        at_centre, = self._over(centre, at, self.piece.value)
        form = add(b, at_centre, mul(b, whole_if_unsound(b, slope), sub(b, y, centre)))
        sound = b.mand(b.ogt(form.nlo, -INF), b.ogt(form.hi, -INF))
        usable = b.mand(b.mand(known.lipschitz(b), b.olt(b.abs(middle), INF)), sound)
        return tuple(b.select(known.empty, -INF, b.select(b.mand(usable, b.olt(mine, theirs)), mine, theirs))
                     for mine, theirs in ((form.nlo, ends.nlo), (form.hi, ends.hi)))
