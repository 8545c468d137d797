"""Signs that are seen from the formula."""

from collections.abc import Callable

import numpy as np

from infimum.expr.node import Expr, topological
from infimum.ops.vocabulary import OPS


def is_constant(c: Expr) -> bool:
    """Does the expression read no variable?"""
    return all(node.op != "var" for node in topological([c]))


def sign_of(c: Expr) -> int:
    """1 or -1 if every element of a constant expression certainly has this sign, else 0."""
    known: dict[Expr, int] = {}
    for node in topological([c]):
        signs = [known[a] for a in node.args]
        known[node] = _SIGNS[node.op](node, *signs) if node.op in _SIGNS and all(signs) else 0
    return known[c]


def _of_numbers(c: Expr) -> int:
    finite = c.size and np.isfinite(c.lo).all() and np.isfinite(c.hi).all()
    return int((c.lo > 0).all()) - int((c.hi < 0).all()) if finite else 0


_SIGNS: dict[str, Callable[..., int]] = {
    "const": _of_numbers, "broadcast": lambda c, s: s, "reshape": lambda c, s: s, "neg": lambda c, s: -s, "abs": lambda c, s: 1,
    "mul": lambda c, s, t: s * t, "div": lambda c, s, t: s * t, "powi": lambda c, s: s if c["k"] % 2 else 1,
    "sqrt": lambda c, s: max(s, 0), "pow": lambda c, s, t: max(s, 0), "exp": lambda c, s: 1,
}


_KEEPS = ("add", "sum", "mul", "div", "powi", "reshape", "broadcast", "slice", "gather", "transpose", "concat")  # x >= 0


def is_nonnegative(x: Expr) -> bool:
    """Is x visibly not negative, wherever it is defined?"""
    seen: set[Expr] = set()
    waiting = [x]
    while waiting:
        node = waiting.pop()
        if node in seen or OPS[node.op].least >= 0 or (node.op == "powi" and node["k"] % 2 == 0):
            continue
        seen.add(node)
        if node.op in _KEEPS:
            waiting += node.args
        elif node.op != "const" or not (node.lo >= 0).all():
            return False
    return True
