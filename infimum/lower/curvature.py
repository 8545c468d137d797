"""The kernel that encloses second derivatives along given directions: T H Tᵀ for a matrix T whose rows they are.

The derivatives of every operation on the way are taken along the directions (`lower/jets.py`), so that what nearly cancels along
one of them does so in each term of a sum, before it is enclosed: in narrow valleys this is far tighter than T H Tᵀ with an
enclosure of H.
"""

from collections.abc import Callable

import numpy as np

from infimum.expr.node import Expr
from infimum.interval.pair import Pair, exact
from infimum.lower.boxes import Box, write_pair
from infimum.lower.data import Data
from infimum.lower.jets import ONE, TWO, Jets
from infimum.lower.kernel import Builder, Value
from infimum.lower.lowering import Lowering
from infimum.lower.meaning import Enclosures


def curvature(name: str, f: Expr, x: Expr) -> tuple:
    """(kernel, data, rows of the outputs, where the matrix T begins in the doubles): lo, hi and level of the value; lo and hi of
    the diagonal, then of what is above it, row by row."""
    b, data, n, out = Builder(), Data(), x.size, {}
    box, at = Box(b, n), data.offset(np.zeros(n * n))
    Lowering(b, Enclosures(), {"x": box}, data).run([(f, lambda at, v: out.setdefault("f", v))], box.guard)
    box.write(0, out["f"])
    write = write_pair(b, 3)

    def along(i: "int | Value") -> Callable[["int | Value"], Pair]:
        def element(j: "int | Value") -> Pair:
            value = b.data(b.place("uadd", b.place("uadd", b.place("umul", i, n), at), j))
            return Pair(b.neg(value), value, point=value)
        return element

    def second(directions: list[Callable], counts: tuple) -> Pair:
        jets = Jets(data, *counts)
        found, = Lowering(b, jets, {"x": lambda j: jets.leaf(box(j), [along(j) for along in directions])}, data).values([f])
        return exact(b, 0.0) if found.second[0] is None else found.second[0]
    with b.loop(n) as turn:
        write(turn.index, second([along(turn.index)], ONE))
    rows, columns = (data.position_offset(a.astype(np.int64)) for a in np.triu_indices(n, 1))
    if n > 1:
        with b.loop(n * (n - 1) // 2) as turn:
            directions = [along(b.udata(b.place("uadd", offset, turn.index))) for offset in (rows, columns)]
            write(b.place("uadd", turn.index, n), second(directions, TWO))
    return b.kernel(name, 2, 5), data, (1, 1, 1, n * (n + 1) // 2, n * (n + 1) // 2), at
