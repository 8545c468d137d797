"""Tangents: f(x) = L(x, y) + D(x, y) for any point y, where the outer functions of f are replaced by their tangents in L.

Let f be a sum of terms p(q(x)), each a function p of one quantity q. The tangent of p at q(y) is p(q(y)) + p'(q(y)) (q(x) - q(y))
and D is the sum of what p lies above its tangent. Where p is convex that is nowhere negative, and left out: a sum of squares of
residuals e is at least that of 2 e(y) e(x) - e(y)**2, and a norm of them has a tangent as well. Elsewhere p is a piece
(`structure/single_quantity_pieces.py`), and what it lies above its tangent is enclosed on slices of q
(`bounds/function_bounds/tangent_kernel.py`). L is as linear as the quantities are, so that its mean value form is far tighter
than that of f. Terms of other kinds are in L as they are.

Proof: docs/proofs/tangents.md.
"""

from functools import cached_property
from typing import Any

from infimum.expr.build import broadcast, build, reshape, substituted
from infimum.expr.differentiate import gradient
from infimum.expr.node import Expr, is_number, topological, var
from infimum.expr.rewriting_switches import step
from infimum.interval.pair import SMOOTH
from infimum.ops.vocabulary import OPS, Kind
from infimum.search.policy.search import RECOGNITION as POLICY
from infimum.structure.arrange_reductions import arranged
from infimum.structure.gather_terms import gathered
from infimum.structure.single_quantity_pieces import Piece, quantities
from infimum.support.lazy import dataclass

_LINEAR = ("add", "sub", "neg", "mul", "div", "sum")  # mul and div: by constants


@dataclass(frozen=True)
class TangentExcess:
    """What a piece lies above its tangent: `piece.value` reads the quantity as `piece.variable`, and as `there` at the point y,
    where it is `at_point`. `outer` is the piece's own function of the variable."""

    piece: Piece
    there: Expr
    at_point: Expr
    outer: Expr

    @cached_property
    def curvature(self) -> Expr:
        """Its second derivative, element by element."""
        return _derivative(_derivative(self.outer, self.piece.variable), self.piece.variable)


@dataclass(frozen=True)
class Tangents:
    """f(x) >= value(x, y) + above(x, y), y a variable of the shape of x; `above` is None for 0, `pieces` are those in it, under
    their nodes."""

    value: Expr
    above: Expr | None
    pieces: dict[Expr, TangentExcess]


@step("tangents", lambda f, x: None)
def tangents(f: Expr, x: Expr) -> Tangents | None:
    """The tangents of f at a point y, a variable; None where f has no terms of this kind, or those of single variables alone."""
    f = gathered(arranged(f, x))
    nodes = list(topological([f]))
    if len(nodes) > POLICY.tangent_nodes:
        return None
    writer = _Writer(f, x, nodes)
    value, above = writer.written()
    if not writer.joins or len(writer.pieces) > POLICY.tangent_pieces:
        return None
    return Tangents(value, above, writer.pieces)


Sum = tuple[Expr | None, Expr | None]  # of L and D


class _Writer:
    """Writes L and D. Nodes in which f is linear are taken apart, with the sign of what multiplies them."""

    def __init__(self, f: Expr, x: Expr, nodes: list[Expr]):
        self.f, self.x, self.y, self.nodes = f, x, var("y", x.shape), nodes
        self.quantity, self.paths = quantities(nodes)
        self.pieces: dict[Expr, TangentExcess] = {}
        self.joins = False  # does a quantity read more than one variable?
        self.signs: dict[Expr, set[int]] = {f: {1}}

    def written(self) -> Sum:
        linear = set()
        for node in reversed(self.nodes):  # those that use it come first
            if node in self.signs and self._is_taken_apart(node):
                linear.add(node)
                for arg, sign in _signed_args(node):
                    self.signs.setdefault(arg, set()).update(sign * s for s in self.signs[node])
        found: dict[Expr, Sum] = {}
        for node in self.nodes:
            if node in self.signs:
                found[node] = _combined(node, found) if node in linear else self._term(node)
        return found[self.f]

    def _is_taken_apart(self, node: Expr) -> bool:
        if node.op not in _LINEAR or (node.op in ("mul", "div") and _factor(node) is None):
            return False
        return self.paths[node] < 2 or self.quantity[node] is node

    def _term(self, node: Expr) -> Sum:
        if node.op == "norm" and self.signs[node] == {1}:
            return self._of_norm(node), None
        convex = self.signs[node] == {1} and _is_convex(node)
        quantity = node.args[0] if convex and self.quantity[node] is not None else self.quantity[node]
        if not isinstance(quantity, Expr) or quantity is node or not (convex or self._is_smooth(node, quantity)):
            return node, None
        self.joins = self.joins or not _is_part_of(self.quantity[quantity], self.x)
        variable, there = var("piece", quantity.shape), var("there", quantity.shape)
        outer, at_point = substituted(node, {quantity: variable}), substituted(quantity, {self.x: self.y})
        at_there = substituted(outer, {variable: there})
        tangent = build("add", at_there, build("mul", _derivative(at_there, there), build("sub", variable, there)))
        here = {variable: quantity, there: at_point}
        if convex:
            return substituted(tangent, here), None
        above = build("sub", outer, tangent)
        written = substituted(above, here)
        self.pieces[written] = TangentExcess(Piece(above, variable, quantity), there, at_point, outer)
        return substituted(tangent, here), written

    def _of_norm(self, node: Expr) -> Expr:
        """The tangent of a norm at e(y): no product of e(x) with a vector of length 1 is above the norm of e(x)."""
        inside, self.joins = node.args[0], True
        there, shape = substituted(inside, {self.x: self.y}), [1 if k in node["axes"] else d for k, d in enumerate(inside.shape)]
        length = broadcast(reshape(build("norm", there, axes=node["axes"]), tuple(shape)), inside.shape)
        return build("sum", build("mul", build("div", there, length), inside), axes=node["axes"])

    def _is_smooth(self, node: Expr, quantity: Expr) -> bool:
        inside = [part for part in topological([node], quantity) if part is not quantity]
        return all(OPS[part.op].tangents or self.quantity[part] is None for part in inside)


def _is_convex(node: Expr) -> bool:
    """Is it a function of one number that is smooth and convex everywhere?"""
    if node.op == "powi":
        return node["k"] > 0 and node["k"] % 2 == 0
    row = OPS[node.op]
    return row.arity == 1 and row.curvature == 1 and row.status == SMOOTH


def _derivative(p: Expr, variable: Expr) -> Expr:
    """Of each element by its variable."""
    axes = tuple(range(len(p.shape)))
    return gradient(build("sum", p, axes=axes) if axes else p, variable)


def _is_part_of(quantity: Any, x: Expr) -> bool:
    """Is it made of single variables?"""
    return isinstance(quantity, Expr) and all(node.kind is Kind.VIEW or node is x for node in topological([quantity]))


def _factor(node: Expr) -> tuple[int, Expr] | None:
    """The place of the one argument that a product or a quotient multiplies by a constant, and the constant."""
    one, other = node.args
    if is_number(other):
        return 0, other
    return (1, one) if node.op == "mul" and is_number(one) else None


def _signed_args(node: Expr) -> list[tuple[Expr, int]]:
    """The arguments in which the node is linear, with the sign of what multiplies them, 0 where that is not known."""
    if node.op in ("mul", "div"):
        k, factor = _factor(node)
        while factor.op != "const":
            factor = factor.args[0]
        return [(node.args[k], 1 if (factor.lo >= 0).all() else -1 if (factor.hi <= 0).all() else 0)]
    signs = {"neg": (-1,), "sub": (1, -1), "add": (1, 1), "sum": (1,)}[node.op]
    return list(zip(node.args, signs, strict=True))


def _combined(node: Expr, found: dict[Expr, Sum]) -> Sum:
    """L and D of a node that is linear in its arguments."""
    return tuple(_joined(node, [found[arg][k] for arg, _ in _signed_args(node)]) for k in (0, 1))


def _joined(node: Expr, parts: list[Expr | None]) -> Expr | None:
    if node.op in ("add", "sub") and None in parts:
        first, second = parts
        return first if second is None else second if node.op == "add" else build("neg", second)
    if None in parts:
        return None
    if node.op in ("mul", "div"):
        k, factor = _factor(node)
        parts = [parts[0], factor] if k == 0 else [factor, parts[0]]
    return build(node.op, *parts, **dict(node.params))
