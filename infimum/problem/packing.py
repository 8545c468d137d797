"""Expressions on their way to another process: as rows that can be pickled, one for each node, arguments before users.

What arrives is the same expression: every node has the key it had, so that the same kernels are made of it, with the same bits.
The user's function does not travel, and neither do the lines of the user's code.
"""

from typing import Any, NamedTuple

import numpy as np

from infimum.expr.node import Expr, Shape, make, topological
from infimum.problem.system import Label, System


class PackedNode(NamedTuple):
    """A node; `args` are the numbers of rows. `upper` is None where the constants are doubles."""

    op: str
    args: tuple[int, ...]
    shape: Shape
    params: dict[str, Any]
    lower: np.ndarray | None
    upper: np.ndarray | None


class PackedExprs(NamedTuple):
    """Expressions: all their nodes, and which of these they are."""

    rows: list[PackedNode]
    roots: list[int]

    @classmethod
    def of(cls, roots: list[Expr]) -> "PackedExprs":
        number: dict[Expr, int] = {}
        rows = []
        for node in topological(roots):
            number[node] = len(rows)
            upper = None if node.hi is node.lo else node.hi
            rows.append(PackedNode(node.op, tuple(number[a] for a in node.args), node.shape, dict(node.params), node.lo, upper))
        return cls(rows, [number[root] for root in roots])

    def unpacked(self) -> list[Expr]:
        nodes: list[Expr] = []
        for row in self.rows:
            lower, upper = (None if end is None else _frozen(end) for end in (row.lower, row.upper))
            nodes.append(make(row.op, tuple(nodes[k] for k in row.args), row.shape, row.params, None, lower,
                              lower if upper is None else upper))
        return [nodes[k] for k in self.roots]


class PackedSystem(NamedTuple):
    """A function with its constraints."""

    exprs: PackedExprs
    lower: np.ndarray
    upper: np.ndarray
    integers: tuple[int, ...]
    labels: tuple[Label, ...]
    orders: int

    @classmethod
    def of(cls, system: System) -> "PackedSystem":
        return cls(PackedExprs.of([system.f, *system.bodies]), system.lower, system.upper, system.integers, system.labels,
                   system.orders)

    def unpacked(self) -> System:
        f, *bodies = self.exprs.unpacked()
        return System(f, tuple(bodies), self.lower, self.upper, self.integers, self.labels, self.orders)


def _frozen(array: np.ndarray) -> np.ndarray:
    array.flags.writeable = False
    return array
