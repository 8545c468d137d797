"""Outcomes: where an expression takes only a few values, or one of two branches, what is computed from it is enclosed for each.

floor, ceil, rint and sign are integers, and so are sums and products of integers. `where` is one of its branches. The natural
extension takes such a quantity as an interval, and everything in it as possible: (floor(x) - 3.3)**2 seems to reach 0 beside
every jump from 3 to 4. `outcomes_of` finds the largest parts of the function that are computed, element by element, from one such
quantity and from others that have no jumps. No comparison is among them, so that they are undefined where the quantity is.

Proof: docs/proofs/jumps.md.
"""

from typing import Any

from infimum.expr.build import build
from infimum.expr.node import Expr, is_const, topological, var
from infimum.expr.rewriting_switches import step
from infimum.expr.whole_numbers import whole_elements
from infimum.ops.vocabulary import OPS, Kind
from infimum.search.policy.search import RECOGNITION as POLICY
from infimum.support.lazy import dataclass

_SEVERAL = object()  # instead of a quantity


@dataclass(frozen=True)
class Outcomes:
    """`value`, element by element, as a function of `variable`, which stands for the elements of `quantity`, and of further
    variables, which stand for the expressions in `beside`."""

    value: Expr
    variable: Expr
    quantity: Expr
    beside: dict[str, Expr]


@step("outcomes", lambda f: {})
def outcomes_of(f: Expr) -> dict[Expr, Outcomes]:
    """The parts of f that are enclosed outcome by outcome, under the nodes of f that they are."""
    nodes = list(topological([f]))
    if not any(node.op == "where" or OPS[node.op].whole == "always" for node in nodes):
        return {}
    whole = whole_elements(nodes)
    quantity: dict[Expr, Any] = {}  # that a node is computed from; None if it has no jumps
    for node in nodes:
        read = {quantity[a] for a in node.args} - {None}
        if node.op == "where" or OPS[node.op].whole == "always":
            quantity[node] = node
        elif not read:
            quantity[node] = None
        elif len(read) == 1 and node.kind is Kind.MAP:
            quantity[node] = read.pop()
        else:
            quantity[node] = node if whole[node].all() else _SEVERAL
    used = {arg for node in nodes for arg in node.args if quantity[arg] is not quantity[node]} | {f}
    tops = [node for node in nodes if node in used and node.kind is Kind.MAP and len(node.shape) <= 1
            and quantity[node] not in (None, _SEVERAL, node)]
    return {top: _part(top, quantity) for top in tops} if len(tops) <= POLICY.most_outcomes else {}


def _part(top: Expr, quantity: dict[Expr, Any]) -> Outcomes:
    mine: Expr = quantity[top]
    variable = var("outcome", mine.shape)
    inside = [node for node in topological([top], leaf=mine) if quantity[node] is mine and node is not mine]
    new: dict[Expr, Expr] = {mine: variable}
    beside: dict[str, Expr] = {}
    for node in inside:
        for arg in node.args:
            if arg not in new:
                new[arg] = arg if is_const(arg) else var(f"beside {len(beside)}", arg.shape)
                beside |= {} if is_const(arg) else {f"beside {len(beside)}": arg}
        new[node] = build(node.op, *(new[a] for a in node.args), line=node.line, **dict(node.params))
    return Outcomes(new[top], variable, mine, beside)
