"""A linear function below an expression, composed backward from the result, as expressions again.

In a box, a multiple λ y of a number is at least a multiple of what y is made of, plus a constant. For whatever is linear that is
exact. For a function of one number, λ > 0 takes the line below it and λ < 0 the one above (`ops/line_rules.py`):

    λ y >= (max(λ, 0) s + min(λ, 0) t) u + max(λ, 0) c + min(λ, 0) d,    s u + c <= y <= t u + d.

A product of two numbers u v is α u + β v - α β + r with r = (u - β)(v - α), where α and β are about the middles of v and u. What
np.where chooses is p u + q v + r: p = 1 or q = 1 where a test is decided in the whole box, else both are 0 and r encloses it. Any
other number is what its enclosure says. What a number receives from all its users is added up before it is passed on, so that
what cancels is gone before anything is enclosed. All of this is reverse mode over arrays (`expr/differentiate.py`)
with other rules: it is written in loops, whatever the size of the arrays.

The numbers s, c, t, d, α, β, p, q and r are known in a kernel only, box by box. Here they are variables, one for each array
that they belong to: `BackwardComposition.needs` tells which.

Proof: docs/proofs/linear_bounds.md.
"""

from collections.abc import Callable
from dataclasses import field
from typing import NamedTuple

import numpy as np

from infimum.expr.build import build, is_zero, rebuilt, reduce, reshape, zeros
from infimum.expr.derivative_rules import sent_back
from infimum.expr.differentiate import depends_on, total
from infimum.expr.node import Expr, const, is_const, is_number, make, topological, var
from infimum.ops.vocabulary import Kind
from infimum.search.policy.bounds import LINEAR_RELAXATIONS as POLICY
from infimum.support.lazy import dataclass

CURVE, PRODUCT, CHOICE, OPAQUE = "curve", "product", "choice", "opaque"
SLOPE_BELOW, REST_BELOW, SLOPE_ABOVE, REST_ABOVE = ("slope below", "rest below", "slope above", "rest above")
ALPHA, BETA, REMAINDER, FIRST, SECOND, VALUE = "alpha", "beta", "remainder", "first", "second", "value"
PARTS = {CURVE: (SLOPE_BELOW, REST_BELOW, SLOPE_ABOVE, REST_ABOVE), PRODUCT: (ALPHA, BETA, REMAINDER),
         CHOICE: (FIRST, SECOND, VALUE), OPAQUE: (VALUE,)}
_LINEAR = frozenset({"add", "sub", "neg", "sum", "cumsum"})
HINGES = {"max": "relu", "min": "relu", "logaddexp": "softplus"}  # the function of a difference that they are made of


class Requirement(NamedTuple):
    """What must be known of an array of numbers: the lines of a function of one number, the middles of the factors of products,
    which of two is chosen, or enclosures. `names` are the variables that hold it, in the order of `PARTS`."""

    kind: str
    node: Expr
    names: tuple[str, ...]
    curve: tuple[str, tuple] | None = None  # of the operation and its parameters


@dataclass
class BackwardComposition:
    """f(x) >= Σ slopes_i x_i + rest in the box. `curves` are the functions of one number that have lines. Several functions may
    share `needs`."""

    f: Expr
    x: Expr
    curves: frozenset[str]
    needs: dict[Expr, Requirement] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.f = compose_backward(self.f, self.x)
        self._moves = depends_on([self.f], self.x)
        self._given: dict[Expr, list[Expr]] = {self.f: [const(1.0)]}
        self._rest: list[Expr] = []
        slopes = zeros(self.x.shape)
        for node in reversed(list(topological([self.f]))):
            received = self._given.pop(node, None)
            if received is None or not node.size:
                continue
            adjoint = total(received, node.shape)
            if is_zero(adjoint):
                continue
            if node is self.x:
                slopes = adjoint
            elif id(node) in self._moves:
                self._pass_on(node, adjoint)
            else:
                self._constant(build("mul", adjoint, node))
        self.slopes, rest = slopes, const(0.0)
        for term in self._rest:
            rest = build("add", rest, term)
        self.rest = rest

    # ---- rules
    def _pass_on(self, node: Expr, a: Expr) -> None:
        moving = [i for i, arg in enumerate(node.args) if id(arg) in self._moves]
        if node.op in _LINEAR or node.kind is Kind.VIEW:
            moving = range(len(node.args))
        elif node.op in HINGES:
            return self._hinge(node, a)
        elif node.op in self.curves:
            return self._send(node.args[0], self._along(node, node.op, node.params, a))
        elif node.op == "mul" and len(moving) == 2:
            return self._product(node, a)
        elif node.op == "where":
            return self._choice(node, a)
        elif (node.op, moving) not in (("mul", [0]), ("mul", [1]), ("div", [0]), ("recur", [0])):
            return self._opaque(node, a)
        for i in moving:
            self._send(node.args[i], sent_back(node, a, i))

    def _along(self, node: Expr, op: str, params: tuple, a: Expr) -> Expr:
        """The multiple of its argument that a function of one number sends back."""
        slope_below, below, slope_above, above = self._need(CURVE, node, (op, params))
        rises, falls = _part(a, np.maximum, "max"), _part(a, np.minimum, "min")
        self._constant(_weighted((rises, below), (falls, above)))
        return _weighted((rises, slope_below), (falls, slope_above))

    def _hinge(self, node: Expr, a: Expr) -> None:
        """max(u, v) = v + relu(u - v), min(u, v) = u - relu(u - v), log(e**u + e**v) = v + softplus(u - v)"""
        u, v = node.args  # which may be one and the same
        if node.op == "min":
            through = self._along(node, HINGES[node.op], (), build("neg", a))
            shares = build("add", a, through), build("neg", through)
        else:
            through = self._along(node, HINGES[node.op], (), a)
            shares = through, build("sub", a, through)
        self._send(u, shares[0])
        self._send(v, shares[1])

    def _product(self, node: Expr, a: Expr) -> None:
        alpha, beta, remainder = self._need(PRODUCT, node)
        self._send(node.args[0], build("mul", a, alpha))
        self._send(node.args[1], build("mul", a, beta))
        self._constant(build("mul", a, build("sub", remainder, build("mul", alpha, beta))))

    def _choice(self, node: Expr, a: Expr) -> None:
        first, second, value = self._need(CHOICE, node)
        self._send(node.args[1], build("mul", a, first))
        self._send(node.args[2], build("mul", a, second))
        self._constant(build("mul", a, value))

    def _opaque(self, node: Expr, a: Expr) -> None:
        self._constant(build("mul", a, self._need(OPAQUE, node)[0]))

    # ---- what is known, and where it goes
    def _need(self, kind: str, node: Expr, curve: tuple[str, tuple] | None = None) -> list[Expr]:
        names = tuple(f"{part} {len(self.needs)}" for part in PARTS[kind])
        need = self.needs.setdefault(node, Requirement(kind, node, names, curve))
        return [reshape(var(name, (node.size,)), node.shape) for name in need.names]

    def _send(self, node: Expr, share: Expr) -> None:
        self._given.setdefault(node, []).append(share)

    def _constant(self, terms: Expr) -> None:
        self._rest.append(reduce("sum", terms, tuple(range(len(terms.shape)))))


def _part(a: Expr, of_numbers: np.ufunc, op: str) -> Expr:
    """What a multiple is above 0, or below: of doubles it is known. (Other constants might look alike and be different.)"""
    if a.op in ("broadcast", "reshape"):
        return build(a.op, _part(a.args[0], of_numbers, op), shape=a.shape)
    return const(of_numbers(a.lo, 0.0)) if is_const(a) and a.lo is a.hi else build(op, a, 0.0)


def _weighted(*terms: tuple[Expr, Expr]) -> Expr:
    """The sum of products, those with exact zeros left out."""
    total = zeros(terms[0][1].shape)
    for weight, number in terms:
        if not is_zero(weight):
            product = build("mul", weight, number)
            total = product if is_zero(total) else build("add", total, product)
    return total


def compose_backward(f: Expr, x: Expr) -> Expr:
    """f with quotients as products with inverses, logistic functions as such, norms as roots of sums of squares, and products,
    maxima and minima over few numbers as those of two."""
    moves, new = depends_on([f], x), {}
    for node in topological([f]):
        rule = _APART.get(node.op) if id(node) in moves else None
        new[node] = rebuilt(node, new)
        if rule is not None and new[node].op == node.op:
            new[node] = rule(new[node], [id(arg) in moves for arg in node.args])
    return new[f]


def _quotient(node: Expr, moving: list[bool]) -> Expr:
    u, v = node.args
    if not moving[1]:
        return node
    inverse = build("powi", v, k=-1, line=node.line)
    return build("mul", u, _power(inverse, moving) if inverse.op == "powi" else inverse, line=node.line)


def _power(node: Expr, moving: list[bool]) -> Expr:
    """(1 + e**u)**-k = expit(-u)**k: one curve instead of three."""
    k, total = node["k"], node.args[0]
    if k >= 0 or total.op != "add":
        return node
    one, other = total.args if is_number(total.args[0], 1.0) else total.args[::-1]
    if not is_number(one, 1.0) or other.op != "exp":
        return node
    return build("powi", build("expit", build("neg", other.args[0]), line=node.line), k=-k, line=node.line)



def _norm(node: Expr, moving: list[bool]) -> Expr:
    squares = build("powi", node.args[0], k=2, line=node.line)
    total = build("sum", squares, axes=node["axes"], line=node.line)
    return make("sqrt", (total,), node.shape, {}, line=node.line)  # which `build` would make a norm again


def _pairwise(node: Expr, moving: list[bool]) -> Expr:
    u, op = node.args[0], {"prod": "mul", "amax": "max", "amin": "min"}[node.op]
    if node.size != 1 or not 0 < u.size <= POLICY.most_factors:
        return node
    flat = reshape(u, (u.size,))
    numbers = [reshape(build("slice", flat, starts=(i,), steps=(1,), counts=(1,)), node.shape) for i in range(u.size)]
    while len(numbers) > 1:
        pairs = [numbers[i:i + 2] for i in range(0, len(numbers), 2)]
        numbers = [build(op, *pair, line=node.line) if len(pair) == 2 else pair[0] for pair in pairs]
    return numbers[0]


_APART: dict[str, Callable[[Expr, list[bool]], Expr]] = {
    "div": _quotient, "powi": _power, "norm": _norm, **dict.fromkeys(("prod", "amax", "amin"), _pairwise)}
