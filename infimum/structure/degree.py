"""Expressions that are linear or quadratic in a variable, as far as their form tells."""

from collections.abc import Callable, Sequence

import numpy as np

from infimum.expr.build import VIEWS
from infimum.expr.differentiate import depends_on, gradient
from infimum.expr.node import Expr, topological
from infimum.ops.vocabulary import POLYNOMIAL, Kind


def is_linear(f: Expr, x: Expr) -> bool:
    """Are the derivatives of f the same everywhere?

    >>> from infimum.expr.build import build, index
    >>> from infimum.expr.node import var
    >>> x = var("x", (2,))
    >>> is_linear(build("sub", index(x, 0), index(x, 1)), x), is_linear(build("abs", index(x, 0)), x)
    (True, False)
    """
    return _of_polynomials(f, x) and not depends_on([gradient(f, x)], x)


def _of_polynomials(f: Expr, x: Expr) -> bool:
    """Operations with a kink or a jump have derivatives that may look constant."""
    found = depends_on([f], x)
    return all(node.op in POLYNOMIAL or node.kind is Kind.VIEW for node in topological([f]) if id(node) in found)


_HIGH = 1 << 20  # fixed: more than any degree that matters
_DEGREES: dict[str, Callable[..., np.ndarray]] = {
    "var": lambda node: np.ones(node.shape, int),
    "const": lambda node: np.zeros(node.shape, int),
    "add": lambda node, a, b: np.maximum(a, b),
    "sub": lambda node, a, b: np.maximum(a, b),
    "neg": lambda node, a: a,
    "mul": lambda node, a, b: a + b,
    "div": lambda node, a, b: np.where(b > 0, _HIGH, a),
    "powi": lambda node, a: a * node["k"] if node["k"] > 0 else np.where(a > 0, _HIGH, 0),
    "sum": lambda node, a: a.max(axis=node["axes"], initial=0),
    "prod": lambda node, a: a.sum(axis=node["axes"]),
    **VIEWS,
}


def degrees(rows: Sequence[Expr]) -> list[np.ndarray]:
    """For each element of each row, a degree that it does not exceed as a polynomial; a large number where it may be none.

    >>> from infimum.expr.build import build, index
    >>> from infimum.expr.node import var
    >>> x = var("x", (2,))
    >>> product = build("mul", index(x, 0), index(x, 1))
    >>> degrees([product, x, build("sin", product)])[:2], int(degrees([build("sin", product)])[0]) > 2
    ([array(2), array([1, 1])], True)
    """
    found: dict[Expr, np.ndarray] = {}
    for node in topological(rows):
        args = [found[arg] for arg in node.args]
        rule = _DEGREES.get(node.op)
        if rule is None:
            known = np.full(node.shape, _HIGH if any((arg > 0).any() for arg in args) else 0)
        else:
            known = np.minimum(rule(node, *args), _HIGH)
        found[node] = np.broadcast_to(known, node.shape)
    return [np.array(found[row]) for row in rows]
