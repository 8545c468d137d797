"""Signs that are seen from the formula."""

from collections.abc import Callable

import numpy as np

from infimum.expr.node import Expr, topological


def is_constant(c: Expr) -> bool:
    """Does the expression read no variable?"""
    return all(node.op != "var" for node in topological([c]))


def sign_of(c: Expr) -> int:
    """1 or -1 if every element of a constant expression certainly has this sign, else 0."""
    if c.op == "const":
        finite = c.size and np.isfinite(c.lo).all() and np.isfinite(c.hi).all()
        return int((c.lo > 0).all()) - int((c.hi < 0).all()) if finite else 0
    signs = [sign_of(a) for a in c.args] if c.op in _SIGNS else [0]
    return _SIGNS[c.op](c, *signs) if all(signs) else 0


_SIGNS: dict[str, Callable[..., int]] = {
    "broadcast": lambda c, s: s, "reshape": lambda c, s: s, "neg": lambda c, s: -s, "abs": lambda c, s: 1,
    "mul": lambda c, s, t: s * t, "div": lambda c, s, t: s * t, "powi": lambda c, s: s if c["k"] % 2 else 1,
    "sqrt": lambda c, s: max(s, 0), "pow": lambda c, s, t: max(s, 0), "exp": lambda c, s: 1,
}


def is_nonnegative(x: Expr) -> bool:
    """Is x visibly not negative, wherever it is defined?"""
    waiting = [x]
    while waiting:
        node = waiting.pop()
        if node.op in ("add", "sum", "mul", "div", "reshape", "broadcast", "slice", "gather", "transpose", "concat", "powi"):
            if node.op != "powi" or node["k"] % 2:
                waiting += node.args
        elif node.op not in ("norm", "hypot", "abs", "sqrt", "exp", "cosh") and not (node.op == "const" and (node.lo >= 0).all()):
            return False
    return True
