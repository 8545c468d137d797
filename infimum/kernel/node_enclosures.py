"""The kernel that looks inside a function: the enclosures of all its operations, not of its value alone."""

from infimum.expr.node import Expr, topological
from infimum.interval.pair import Pair
from infimum.kernel.box_conclusions import shown_level
from infimum.kernel.constant_data import Data
from infimum.kernel.ir import Builder
from infimum.kernel.lowering import LaneBox, Lowering, Writer
from infimum.kernel.meaning import Enclosures
from infimum.kernel.view_positions import flat
from infimum.ops.vocabulary import Kind

_COMPUTING = (Kind.MAP, Kind.REDUCE, Kind.SCAN)


def nodes_of(f: Expr) -> list[Expr]:
    """The operations of f that compute something, in the order in which the kernel writes them."""
    return [node for node in topological([f]) if node.kind in _COMPUTING]


def nodes(name: str, f: Expr, x: Expr) -> tuple:
    """(kernel, data, rows of the outputs): lower ends, upper ends and levels, the elements of one operation after those of
    another."""
    b, data, outputs, size = Builder(), Data(), [], 0
    box = LaneBox(b, x.size)

    def writer(shape: tuple[int, ...], offset: int) -> Writer:
        def write(at: tuple, value: Pair) -> None:
            row = b.place("uadd", offset, flat(b, shape, at))
            for slot, lane in enumerate((b.neg(value.nlo), value.hi, shown_level(b, value.level))):
                b.output(slot, row, lane)
        return write
    for node in nodes_of(f):
        outputs.append((node, writer(node.shape, size)))
        size += node.size
    Lowering(b, Enclosures(), {"x": box}, data).run(outputs)
    return b.kernel(name, 2, 3), data, (size,) * 3
