"""Sums whose terms stand apart, gathered: e + r**-12 - r**-6 is (e + r**-12) - r**-6, where nothing but the terms reads r alone.
With the terms of each quantity side by side there are such parts, and they are pieces (`structure.single_quantity_pieces`). Sums
of vectors that are computed from the same elements have been joined before (`structure.arrange_reductions`)."""

from collections import Counter
from functools import reduce
from typing import Any

from infimum.expr.build import build, rebuilt, substituted
from infimum.expr.node import Expr, topological
from infimum.expr.rewriting_switches import step
from infimum.structure.single_quantity_pieces import quantities

_CHAIN = ("add", "sub", "neg")
_Term = tuple[bool, Expr]  # is it subtracted?


@step("gathered sums", lambda f: f)
def gathered(f: Expr) -> Expr:
    """f with the terms of its sums in another order: the same terms, and so the same value and domain."""
    f = _by_norms(f)
    nodes = list(topological([f]))
    quantity, _ = quantities(nodes)
    sums = [node for node in nodes if node.op in _CHAIN]
    users = Counter(arg for node in nodes for arg in node.args)
    inner = {arg for node in sums for arg in node.args
             if arg.op in _CHAIN and users[arg] == 1 and getattr(quantity[arg], "op", None) in _CHAIN}
    found = {node: _groups(_terms(node, inner), quantity) for node in sums if node not in inner}
    apart = {node: groups for node, groups in found.items() if any(len(terms) > 1 for terms in groups.values())}
    new: dict[Expr, Expr] = {}
    for node in nodes if apart else ():
        if node in apart:
            totals = (reduce(_plus, ((negative, new[term]) for negative, term in terms)) for terms in apart[node].values())
            new[node] = _signed(reduce(_plus, totals))
        else:
            new[node] = rebuilt(node, new)
    return new.get(f, f)


def _by_norms(f: Expr) -> Expr:
    """f with r**2 in place of a sum of squares whose root r it reads as well: they are one quantity. The same value and domain;
    at r = 0 the status is that of the norm."""
    nodes = dict.fromkeys(topological([f]))
    if not any(node.op in ("norm", "hypot") for node in nodes):
        return f
    roots = {node: build("sqrt", node) for node in nodes if node.op in ("add", "sum")}
    squares = {node: build("powi", root, k=2) for node, root in roots.items() if root.op != "sqrt" and root in nodes}
    return substituted(f, squares) if squares else f


def _terms(top: Expr, inner: set[Expr]) -> list[_Term]:
    """The terms of a sum, from left to right."""
    found, stack = [], [(False, top)]
    while stack:
        negative, node = stack.pop()
        if node is top or node in inner:
            signs = (negative, negative) if node.op == "add" else (negative, not negative)[-len(node.args):]
            stack += reversed(list(zip(signs, node.args, strict=True)))
        else:
            found.append((negative, node))
    return found


def _groups(terms: list[_Term], quantity: dict[Expr, Any]) -> dict[Any, list[_Term]]:
    """The terms by what they read."""
    groups: dict[Any, list[_Term]] = {}
    for negative, term in terms:
        reads = quantity[term]
        groups.setdefault(reads if isinstance(reads, Expr) else term, []).append((negative, term))
    return groups


def _plus(one: _Term, other: _Term) -> _Term:
    """The sum of two terms, with the sign of the first if both have the same."""
    if one[0] == other[0]:
        return one[0], build("add", one[1], other[1])
    first, second = (other, one) if one[0] else (one, other)
    return False, build("sub", first[1], second[1])


def _signed(term: _Term) -> Expr:
    return build("neg", term[1]) if term[0] else term[1]

