"""Outcomes in a kernel: what is computed from a quantity that takes few values is enclosed for each of them; their hull is the
enclosure.

Proof: docs/proofs/jumps.md.
"""

from collections.abc import Callable

import numpy as np

from infimum.expr.node import Expr
from infimum.interval.pair import INF, Pair
from infimum.kernel.box_conclusions import larger, whole_if_unsound
from infimum.kernel.constant_data import Data
from infimum.kernel.element_lowering import Elements, Tighter
from infimum.kernel.ir import Builder, Value
from infimum.kernel.lowering import Lowering
from infimum.kernel.meaning import Enclosures
from infimum.kernel.view_positions import At
from infimum.ops.choices import Truth
from infimum.structure.finite_outcomes import Outcomes, outcomes_of

_MOST_INTEGERS = 8  # integers that are looked at one by one
_EXACT = 2.0**52    # up to here an integer plus a small one is a double


def by_outcome(b: Builder, f: Expr, data: Data, others: Tighter) -> Tighter:
    """For every part of f that has outcomes the way to enclose it by them; `others` come after it."""
    found = {node: OutcomeEnclosure(b, part, data) for node, part in outcomes_of(f).items()}
    return {node: _both(mine, others[node]) if node in others else mine for node, mine in found.items()} | {
        node: other for node, other in others.items() if node not in found}


def _both(first: Callable, second: Callable) -> Callable:
    return lambda elements, known, at: second(elements, first(elements, known, at), at)


class OutcomeEnclosure:
    """Tightens the enclosure of one element of such a part."""

    def __init__(self, b: Builder, part: Outcomes, data: Data):
        self.b, self.part, self.data = b, part, data
        self.numbers = data.offset(np.arange(_MOST_INTEGERS, dtype=float))

    def __call__(self, elements: Elements, known: Pair, at: At) -> Pair:
        """`known` is the natural enclosure over all of the quantity."""
        b, quantity = self.b, self.part.quantity
        leaves = {name: elements.element(node, at) for name, node in self.part.beside.items()}
        if quantity.op == "where":
            ends = self._of_branches(*(elements.element(a, at) for a in quantity.args), leaves, at)
        else:
            ends = self._of_integers(elements.element(quantity, at), leaves, at)
        nlo, hi = (b.min(mine, theirs) for mine, theirs in zip(ends, (known.nlo, known.hi), strict=True))
        return known.but(nlo=nlo, hi=hi, point=None, zero=False)

    def _of_integers(self, q: Pair, leaves: dict[str, Pair], at: At) -> tuple[Value, ...]:
        """The hull over the integers in q; infinite where they are too many."""
        b, lo = self.b, q.lo(self.b)
        few = b.mand(b.ole(b.sub(q.hi, lo), float(_MOST_INTEGERS - 1)), b.ole(b.max(q.nlo, q.hi), _EXACT))
        with b.loop(_MOST_INTEGERS) as turn:
            k = b.min(b.add(lo, b.data(b.place("uadd", self.numbers, turn.index))), q.hi)
            hull = b.step((-INF, -INF), self._over(Pair(b.neg(k), k), leaves, at), larger)
        return tuple(b.select(few, end, INF) for end in hull.results)

    def _of_branches(self, test: Truth, one: Pair, other: Pair, leaves: dict[str, Pair], at: At) -> tuple[Value, ...]:
        """The hull over the branches that may be taken."""
        b = self.b
        ends = [self._over(branch, leaves, at) for branch in (one, other)]
        return tuple(b.max(b.select(test.no, -INF, yes), b.select(test.yes, -INF, no)) for yes, no in zip(*ends, strict=True))

    def _over(self, y: Pair, leaves: dict[str, Pair], at: At) -> tuple[Value, Value]:
        """(minus the lower end, the upper end) for one outcome, both minus infinite where there is no value."""
        b = self.b
        given = {name: lambda _, v=v: v for name, v in {**leaves, self.part.variable["name"]: y}.items()}
        value, = Lowering(b, Enclosures(), given, self.data).elements_at([self.part.value], at)
        empty = b.mand(b.oeq(value.nlo, -INF), b.oeq(value.hi, -INF))
        whole = whole_if_unsound(b, value)
        return b.select(empty, -INF, whole.nlo), b.select(empty, -INF, whole.hi)
