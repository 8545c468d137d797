"""Pieces: the largest subexpressions that read a single quantity, more than once: x**4 - 16*x**2 + 5*x, sqrt(x) * sin(x), or
1 - cos(r) + r / 10 of r = norm(x).

The natural extension of a piece is loose, because it takes every occurrence of the quantity as another one. But it is one
quantity, so that cutting its range into slices and enclosing the piece on each of them costs little
(`kernel.forms.sliced_pieces`).
"""

from functools import cached_property

from infimum.expr.build import build, substituted
from infimum.expr.differentiate import gradient
from infimum.expr.node import Expr, topological, var
from infimum.expr.rewriting_switches import step
from infimum.ops.vocabulary import Kind
from infimum.search.policy.search import RECOGNITION as POLICY
from infimum.support.lazy import dataclass

_MIXED = object()


@dataclass(frozen=True)
class Piece:
    """`value`, element by element, as a function of `variable`, which stands for the elements of `quantity`."""

    value: Expr
    variable: Expr
    quantity: Expr

    @cached_property
    def compares(self) -> bool:
        """Is there a comparison in it? Then it has values also where the quantity is undefined."""
        return any(node.kind is Kind.TEST for node in topological([self.value]))

    @cached_property
    def slope(self) -> Expr:
        """The derivative of each element by its variable."""
        axes = tuple(range(len(self.value.shape)))
        return gradient(build("sum", self.value, axes=axes) if axes else self.value, self.variable)


def quantities(nodes: list[Expr]) -> tuple[dict[Expr, object], dict[Expr, int]]:
    """What each of the nodes (arguments first) reads, and in how many ways."""
    quantity: dict[Expr, object] = {}  # that a node reads, element by element; None if it is constant, _MIXED for odd tests
    paths: dict[Expr, int] = {}        # in how many ways it reads it
    for node in nodes:
        read = {quantity[a] for a in node.args} - {None}
        if len(read) == 1 and node.kind in (Kind.MAP, Kind.TEST):
            quantity[node], paths[node] = read.pop(), min(sum(paths[a] for a in node.args), 2)
        elif read or node.op == "var":
            quantity[node], paths[node] = _MIXED if node.kind is Kind.TEST else node, 1
        else:
            quantity[node], paths[node] = None, 0
    return quantity, paths


@step("pieces", lambda f: {})
def pieces_of(f: Expr) -> dict[Expr, Piece]:
    """The pieces of f, under the nodes of f that they are."""
    nodes = list(topological([f]))
    quantity, paths = quantities(nodes)
    used = {arg: None for node in nodes for arg in node.args if quantity[arg] is not quantity[node]} | {f: None}
    tops = [node for node in nodes if node in used and node.kind is Kind.MAP and paths[node] > 1
            and isinstance(quantity[node], Expr) and quantity[node] is not node
            and (len(node.shape) <= 1 or node.size <= POLICY.piece_table_elements)]
    return {top: _piece(top, quantity[top]) for top in tops}


def _piece(top: Expr, quantity: Expr) -> Piece:
    variable = var("piece", quantity.shape)
    return Piece(substituted(top, {quantity: variable}), variable, quantity)
