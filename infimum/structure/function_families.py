"""Functions that are one function of different variables, as exp(-x a) and exp(-x b): equal where a and b are, and no basis then.

`kernel/forms/divided_differences.py` replaces them by divided differences, for which it needs their derivatives.

Proof: docs/proofs/linear_parameters.md.
"""

from typing import NamedTuple

from infimum.expr.build import broadcast, build, rebuilt, substituted
from infimum.expr.differentiate import partials
from infimum.expr.node import Expr, const, topological, var
from infimum.ops.vocabulary import Kind
from infimum.search.policy.search import RECOGNITION as POLICY

VARIABLE = "u"  # of a family
ORDER = 4  # fixed: the proof of divided differences needs derivatives to this order; of the highest derivative


class FunctionFamily(NamedTuple):
    """`members` are the places of the functions and the variable that each reads; `derivatives` the function of the variable `u`
    and its derivatives. u is the variable itself, or 1 / it (`inverse`): frequencies instead of periods."""

    members: tuple[tuple[int, int], ...]
    derivatives: tuple[Expr, ...]
    inverse: bool


def families(functions: tuple[Expr, ...], x: Expr) -> tuple[FunctionFamily, ...]:
    """Those of two or more members, the first few of each."""
    found: dict[Expr, list[tuple[int, int]]] = {}
    for place, function in enumerate(functions):
        leaves = [node for node in topological([function]) if x in node.args]
        if len(leaves) == 1 and leaves[0].op == "slice" and leaves[0].size == 1:
            common = substituted(function, {leaves[0]: var(VARIABLE, leaves[0].shape)})
            found.setdefault(common, []).append((place, leaves[0]["starts"][0]))
    several = [(_by_inverse(common), members) for common, members in found.items() if len(members) > 1]
    return tuple(FunctionFamily(tuple(members[:POLICY.most_family_members]), _derivatives(common), inverse) for (common, inverse),
                 members in several)


def _by_inverse(function: Expr) -> tuple[Expr, bool]:
    """The function of 1 / u, and whether it is that: if u occurs in denominators below constants only."""
    nodes = list(topological([function]))
    views = {node for node in nodes if node.op == "var" or (node.kind is Kind.VIEW and _reads(node))}
    users = [node for node in nodes if node not in views and any(a in views for a in node.args)]
    if not users or not all(node.op == "div" and node.args[1] in views and node.args[0].op == "const" for node in users):
        return function, False
    return substituted(function, {node: build("mul", *node.args) for node in users}), True


def _reads(node: Expr) -> bool:
    """Does it show u, and nothing else: no zeros beside it, no sums of it?"""
    while node.kind is Kind.VIEW and len(node.args) == 1 and node.op not in ("embed", "scatter"):
        node = node.args[0]
    return node.op == "var"


def _derivatives(function: Expr) -> tuple[Expr, ...]:
    found = [function]
    for _ in range(ORDER):
        found.append(_derivative(found[-1]))
    return tuple(found)


def _derivative(function: Expr) -> Expr:
    """By `u`, element by element."""
    found: dict[Expr, Expr] = {}
    for node in topological([function]):
        zero = broadcast(const(0.0), node.shape)
        if node.op == "var":
            found[node] = broadcast(const(1.0), node.shape)
        elif all(found[a] is broadcast(const(0.0), a.shape) for a in node.args):
            found[node] = zero
        elif node.kind is Kind.VIEW:
            found[node] = rebuilt(node, {a: found[a] for a in node.args})
        else:
            moving = tuple(found[a] is not broadcast(const(0.0), a.shape) for a in node.args)
            rules = partials(node.op, node.params, moving)
            leaves, total = {var(f"u{k}", ()): a for k, a in enumerate(node.args)}, zero
            for k, rule in rules.first.items():
                total = build("add", total, build("mul", substituted(rule, leaves), found[node.args[k]]))
            found[node] = broadcast(total, node.shape)
    return found[function]
