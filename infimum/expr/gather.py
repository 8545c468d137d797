"""Sums whose terms stand apart, gathered: e + r**-12 - r**-6 is (e + r**-12) - r**-6, where nothing but the terms reads r alone,
and nothing in sum(r**-12) - 2 sum(r**-6) reads an element of r twice. With the terms of each quantity side by side there are such
parts, and they are pieces (`expr.pieces`)."""

from collections import Counter
from functools import reduce
from typing import Any

from infimum.expr.build import build, rebuilt
from infimum.expr.node import Expr, topological
from infimum.expr.pieces import quantities
from infimum.expr.simplify import scalar_of
from infimum.expr.taylor import substitute

_CHAIN = ("add", "sub", "neg")
_Term = tuple[bool, Expr]  # is it subtracted?


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
            new[node] = reduce(_plus, ((False, _total(key, terms, new)) for key, terms in apart[node].items()))[1]
        else:
            new[node] = rebuilt(node, [new[a] for a in node.args])
    return new.get(f, f)


def _by_norms(f: Expr) -> Expr:
    """f with r**2 in place of a sum of squares whose root r it reads as well: they are one quantity. The same value and domain;
    at r = 0 the status is that of the norm."""
    nodes = dict.fromkeys(topological([f]))
    if not any(node.op in ("norm", "hypot") for node in nodes):
        return f
    roots = {node: build("sqrt", node) for node in nodes if node.op in ("add", "sum")}
    squares = {node: build("powi", root, k=2) for node, root in roots.items() if root.op != "sqrt" and root in nodes}
    return substitute(f, squares) if squares else f


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


def _of_sum(term: Expr) -> tuple[Expr | None, Expr] | None:
    """(c, X) if the term is c sum(X) for a number c, None if that is 1; the axes are all."""
    factor, whole = term.args if term.op == "mul" and scalar_of(term.args[0]) is not None else (None, term)
    return (factor, whole.args[0]) if whole.op == "sum" and whole.shape == () and len(whole.args[0].shape) == 1 else None


def _groups(terms: list[_Term], quantity: dict[Expr, Any]) -> dict[Any, list[_Term]]:
    """The terms by what they read."""
    groups: dict[Any, list[_Term]] = {}
    for negative, term in terms:
        groups.setdefault(_key(term, quantity), []).append((negative, term))
    return groups


def _key(term: Expr, quantity: dict[Expr, Any]) -> Any:
    """Terms with the same key are put together: what they read, or what the elements of their sum read."""
    parts = _of_sum(term)
    reads = quantity[term if parts is None else parts[1]]
    return (parts is not None, reads if isinstance(reads, Expr) else term)


def _total(key: Any, terms: list[_Term], new: dict[Expr, Expr]) -> Expr:
    if len(terms) == 1 or not key[0]:
        return _signed(reduce(_plus, ((negative, new[term]) for negative, term in terms)))
    parts = []
    for negative, term in terms:
        factor, inside = _of_sum(term)
        parts.append((negative, new[inside] if factor is None else build("mul", factor, new[inside])))
    return build("sum", _signed(reduce(_plus, parts)), axes=(0,))


def _plus(one: _Term, other: _Term) -> _Term:
    """The sum of two terms, with the sign of the first if both have the same."""
    if one[0] == other[0]:
        return one[0], build("add", one[1], other[1])
    first, second = (other, one) if one[0] else (one, other)
    return False, build("sub", first[1], second[1])


def _signed(term: _Term) -> Expr:
    return build("neg", term[1]) if term[0] else term[1]

