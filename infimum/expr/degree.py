"""Expressions that are linear in a variable, as far as their form tells."""

from infimum.expr.diff import depends_on, gradient
from infimum.expr.node import Expr, topological
from infimum.expr.ops import Kind

_POLYNOMIAL = ("var", "add", "sub", "neg", "mul", "div", "powi", "sum", "prod")


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
    return all(node.op in _POLYNOMIAL or node.kind is Kind.VIEW for node in topological([f]) if id(node) in found)
