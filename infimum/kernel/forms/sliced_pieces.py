"""Pieces in a kernel: the quantity of a piece is cut into slices, each slice is enclosed by the natural extension and the mean
value form, and their hull is tight to second order."""

import numpy as np

from infimum.expr.node import Expr
from infimum.expr.signs import is_nonnegative
from infimum.interval.pair import DEFINED, INF, POLE, Pair, b_level
from infimum.kernel.box_conclusions import common, larger, natural, whole_if_unsound
from infimum.kernel.constant_data import Data
from infimum.kernel.element_lowering import Elements, Leaf, Tighter
from infimum.kernel.forms.alternative_forms import other_form, unknown_means
from infimum.kernel.forms.monotone_mean_value import two_centred
from infimum.kernel.forms.slice_grading import Grading
from infimum.kernel.ir import Builder, Value
from infimum.kernel.lowering import Lowering
from infimum.kernel.meaning import Enclosures
from infimum.kernel.view_positions import At
from infimum.structure.expansions.norm_quotients import norm_quotients
from infimum.structure.expansions.pole_alternatives import Alternative, alternatives
from infimum.structure.single_quantity_pieces import Piece, pieces_of


def by_slices(b: Builder, f: Expr, data: Data, count: int, unbounded: bool = False) -> Tighter:
    """For every piece of f the way to enclose it by this number of slices, which may be unbounded; for quotients by norms that of
    their other form."""
    slices = {node: PieceSlices(b, piece, data, count, unbounded=unbounded) for node, piece in pieces_of(f).items()}
    return {**{node: other_form(b, other, data) for node, other in norm_quotients(f).items()}, **slices}


class PieceSlices:
    """Tightens the enclosure of one element of a piece. `leaves` are what it reads beside its quantity."""

    def __init__(self, b: Builder, piece: Piece, data: Data, count: int, leaves: dict[str, Leaf] | None = None,
                 unbounded: bool = False):
        self.b, self.piece, self.data, self.count, self.leaves = b, piece, data, count, leaves or {}
        self.ends = data.offset(np.arange(count + 1) / count)
        self.others = alternatives(piece.value, piece.variable, is_nonnegative(piece.quantity), unbounded)
        self.grading = Grading(b, data, count) if self.others else None

    def __call__(self, elements: Elements, known: Pair, at: At) -> Pair:
        """`known` is the natural enclosure over the whole quantity."""
        quantity = elements.element(self.piece.quantity, at)
        b, lo, hi = self.b, quantity.lo(self.b), quantity.hi
        width = b.sub(hi, lo)
        graded = None if self.grading is None else self.grading.applies(lo, hi)
        bounded = b.olt(width, INF)
        whole = b.mnot(bounded) if graded is None else None  # is every slice the whole?

        def end(k: "int | Value") -> Value:
            """One double for both neighbours."""
            even = b.min(b.max(b.fma(width, b.data(b.place("uadd", self.ends, k)), lo), lo), hi)
            if graded is None:
                return even
            even = b.select(bounded, even, self.grading.unbounded_end(k, lo, hi))
            return b.select(graded, self.grading.end(k, lo, hi), even)
        with b.loop(self.count) as turn:
            first, last = b.ueq(turn.index, 0), b.ueq(turn.index, self.count - 1)
            left = b.select(first if whole is None else b.mor(first, whole), lo, end(turn.index))
            right = b.select(last if whole is None else b.mor(last, whole), hi, end(b.place("uadd", turn.index, 1)))
            hull = b.step((-INF, -INF), self._enclosure(left, right, at), larger)
        results = hull.results
        if self.piece.compares:  # where the quantity is undefined somewhere, its slices miss points of the box
            defined = b.oge(b_level(b, quantity.level), float(DEFINED))
            results = [b.select(defined, end, INF) for end in results]
        nlo, high = (b.select(b.olt(mine, theirs), mine, theirs)
                     for mine, theirs in zip(results, (known.nlo, known.hi), strict=True))
        return known.but(nlo=nlo, hi=high, point=None, zero=False)

    def _over(self, y: Pair, at: At, *nodes: Expr, means: tuple[Expr, ...] = ()) -> list[Pair]:
        leaves = {**self.leaves, self.piece.variable["name"]: lambda _: y, **unknown_means(self.b, means)}
        return Lowering(self.b, Enclosures(), leaves, self.data).elements_at(list(nodes), at)

    def _other(self, y: Pair, at: At, other: Alternative) -> Pair:
        """What another form says, where it holds."""
        b, ends = self.b, whole_if_unsound(self.b, *self._over(y, at, other.value, means=other.means))
        if other.domain is None:
            return ends
        holds = b.ole(whole_if_unsound(b, *self._over(y, at, other.domain)).nlo, 0.0)
        return Pair(*(b.select(holds, end, INF) for end in (ends.nlo, ends.hi)))

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
        for other in self.others:
            ends = common(b, ends, self._other(y, at, other))
        form = two_centred(b, whole_if_unsound(b, slope), lo, hi, lambda y: self._over(y, at, self.piece.value)[0])
        return tuple(b.select(known.empty, -INF, b.select(b.mand(known.lipschitz(b), b.olt(mine, theirs)), mine, theirs))
                     for mine, theirs in ((form.nlo, ends.nlo), (form.hi, ends.hi)))
