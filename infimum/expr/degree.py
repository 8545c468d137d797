"""Expressions that are linear or quadratic in a variable, as far as their form tells."""

from collections.abc import Sequence

from infimum.expr.build import build
from infimum.expr.diff import depends_on, gradient
from infimum.expr.node import Expr, topological, var
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


def degrees(rows: Sequence[Expr], x: Expr) -> list[int] | None:
    """Of scalars, 2 or 1 where they are certainly polynomials of no higher degree; None if some are not.

    >>> from infimum.expr.build import build, index
    >>> from infimum.expr.node import var
    >>> x = var("x", (2,))
    >>> product = build("mul", index(x, 0), index(x, 1))
    >>> degrees([product, index(x, 0)], x), degrees([build("powi", product, k=2)], x)
    ([2, 1], None)
    """
    found = []
    for row in rows:
        if not _of_polynomials(row, x):
            return None
        slope = gradient(row, x)
        if depends_on([slope], x):
            along = build("sum", build("mul", var("direction", x.shape), slope), axes=tuple(range(len(x.shape))))
            if depends_on([gradient(along, x)], x):
                return None
        found.append(2 if depends_on([slope], x) else 1)
    return found
