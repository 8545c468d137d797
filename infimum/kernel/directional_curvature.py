"""The kernels that enclose second derivatives along given directions: T H Tᵀ for a matrix T whose rows they are.

The derivatives of every operation on the way are taken along the directions (`kernel/jets.py`), so that what nearly cancels along
one of them does so in each term of a sum, before it is enclosed: in narrow valleys this is far tighter than T H Tᵀ with an
enclosure of H.

Proof: docs/proofs/isolation.md.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from infimum.expr.node import Expr
from infimum.interval.pair import Pair, exact
from infimum.kernel.constant_data import Data
from infimum.kernel.ir import Builder, Value
from infimum.kernel.jets import ONE, TWO, Jets
from infimum.kernel.lowering import LaneBox, Lowering, constant_leaf, write_pair
from infimum.kernel.meaning import Enclosures
from infimum.support.lazy import LazyModule

if TYPE_CHECKING:
    from infimum.structure import term_sums
else:
    term_sums = LazyModule("structure.term_sums")

Direction = Callable[["int | Value"], Pair]


def curvature(name: str, f: Expr, x: Expr) -> tuple:
    """(kernel, data, rows of the outputs, where the matrix T begins in the doubles): lo, hi and level of the value; lo and hi of
    the diagonal, then of what is above it, row by row."""
    b, data, n, out = Builder(), Data(), x.size, {}
    box, at = LaneBox(b, n), data.offset(np.zeros(n * n))
    Lowering(b, Enclosures(), {"x": box}, data).run([(f, lambda at, v: out.setdefault("f", v))], box.guard)
    box.write(0, out["f"])

    def along(i: "int | Value") -> Direction:
        return lambda j: _exact(b, b.data(b.place("uadd", b.place("uadd", b.place("umul", i, n), at), j)))
    triangle(b, data, f, {"x": box}, along, n, write_pair(b, 3))
    return b.kernel(name, 2, 5), data, (1, 1, 1, n * (n + 1) // 2, n * (n + 1) // 2), at


def term_curvature(name: str, f: Expr, x: Expr, constants: int, count: int) -> tuple:
    """The same along `count` directions that are a lane's own, the last input, row by row; for terms with constants, and
    without their value. What comes out counts where the term is smooth."""
    b, data, n = Builder(), Data(), x.size
    directions = 3 if constants else 2

    def along(i: "int | Value") -> Direction:
        return lambda j: _exact(b, b.input(directions, b.place("uadd", b.place("umul", i, n), j)))
    triangle(b, data, f, {"x": LaneBox(b, n), term_sums.C: constant_leaf(b, 2, constants)}, along, count, write_pair(b, 0))
    return b.kernel(name, directions + 1, 2), data, (count * (count + 1) // 2,) * 2


def _exact(b: Builder, value: Value) -> Pair:
    return Pair(b.neg(value), value, point=value)


def triangle(b: Builder, data: Data, f: Expr, leaves: dict[str, Callable], along: Callable[["int | Value"], Direction],
             count: int, write: Callable[["int | Value", Pair], None]) -> None:
    """Writes the diagonal of T H Tᵀ, then what is above it."""
    box = leaves["x"]

    def second(directions: list[Direction], counts: tuple) -> Pair:
        jets = Jets(data, *counts)
        moving = {"x": lambda j: jets.leaf(box(j), [along(j) for along in directions])}
        still = {name: lambda j, leaf=leaf: jets.still(leaf(j)) for name, leaf in leaves.items() if name != "x"}
        found, = Lowering(b, jets, moving | still, data).values([f])
        return found.second[0] or exact(b, 0.0)
    with b.loop(count) as turn:
        write(turn.index, second([along(turn.index)], ONE))
    rows, columns = (data.position_offset(a.astype(np.int64)) for a in np.triu_indices(count, 1))
    if count > 1:
        with b.loop(count * (count - 1) // 2) as turn:
            directions = [along(b.udata(b.place("uadd", offset, turn.index))) for offset in (rows, columns)]
            write(b.place("uadd", turn.index, count), second(directions, TWO))
