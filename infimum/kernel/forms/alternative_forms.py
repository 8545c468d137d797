"""Other forms of a part of the function in a kernel: what they enclose holds beside the natural enclosure of the part."""

from collections.abc import Callable

from infimum.expr.node import Expr
from infimum.interval.pair import Pair
from infimum.kernel.box_conclusions import whole_if_unsound
from infimum.kernel.constant_data import Data
from infimum.kernel.element_lowering import Elements, Leaf
from infimum.kernel.ir import Builder
from infimum.kernel.lowering import Lowering
from infimum.kernel.meaning import Enclosures
from infimum.kernel.view_positions import At
from infimum.structure.expansions.pole_alternatives import Alternative


def unknown_means(b: Builder, means: tuple[Expr, ...]) -> dict[str, Leaf]:
    """Numbers between 0 and 1 that may depend on the point."""
    return {mean["name"]: lambda _: Pair(b.const(0.0), b.const(1.0), least=0, unit=True) for mean in means}


def other_form(b: Builder, other: Alternative, data: Data) -> Callable[[Elements, Pair, At], Pair]:
    """The way to tighten a part of the function that has another form."""
    def tighter(elements: Elements, known: Pair, at: At) -> Pair:
        leaves = {**elements.leaves, **unknown_means(b, other.means)}
        found = whole_if_unsound(b, *Lowering(b, Enclosures(), leaves, data).elements_at([other.value], at))
        nlo, high = (b.select(b.olt(mine, theirs), mine, theirs)
                     for mine, theirs in zip((found.nlo, found.hi), (known.nlo, known.hi), strict=True))
        return known.but(nlo=nlo, hi=high, point=None, zero=False)
    return tighter
