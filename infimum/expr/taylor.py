"""Taylor's formula for elementary functions, with the derivative at an unknown place between as the last coefficient.

Proof: docs/proofs/poles_and_edges.md.
"""

from fractions import Fraction
from math import factorial

from infimum.expr.build import broadcast, build, rebuilt
from infimum.expr.differentiate import gradient
from infimum.expr.node import Expr, const, topological, var

# under (function, point): the value and the first derivatives there. Each is smooth inside its domain, an interval with the point
# in it, which thus contains the segment from the point to any place where the function is defined. (Not so that of the tangent.)
_AT: dict[tuple[str, float], tuple[float, ...]] = {
    ("sin", 0.0): (0, 1, 0), ("cos", 0.0): (1, 0, -1), ("sinh", 0.0): (0, 1, 0), ("cosh", 0.0): (1, 0, 1),
    ("exp", 0.0): (1, 1, 1), ("expm1", 0.0): (0, 1, 1), ("log1p", 0.0): (0, 1, -1), ("log", 1.0): (0, 1, -1),
    ("sqrt", 1.0): (1, 0.5, -0.25), ("arctan", 0.0): (0, 1, 0), ("tanh", 0.0): (0, 1, 0), ("arcsinh", 0.0): (0, 1, 0),
    ("arcsin", 0.0): (0, 1, 0), ("arctanh", 0.0): (0, 1, 0), ("erf", 0.0): (0,),
}


def expansion(op: str, point: float, order: int, v: Expr, mean: Expr) -> list[Expr] | None:
    """c_0 … c_order with op(point + v) = sum c_k v**k: all but the last are constants; the last is the derivative of that order
    at point + mean v, over its factorial, for some `mean` in [0, 1] that depends on v."""
    known = _AT.get((op, point))
    if known is None or len(known) < order:
        return None
    constants = [broadcast(const(float(Fraction(d) / factorial(k))), v.shape) for k, d in enumerate(known[:order])]
    argument = var("argument", v.shape)
    derivative, axes = build(op, argument), tuple(range(len(v.shape)))
    for _ in range(order):
        derivative = gradient(build("sum", derivative, axes=axes) if axes else derivative, argument)
    between = build("mul", mean, v)
    last = substitute(derivative, {argument: between if point == 0.0 else build("add", between, point)})
    return [*constants, build("div", last, float(factorial(order)))]


def substitute(top: Expr, new: dict[Expr, Expr]) -> Expr:
    """The expression with other nodes in the place of some."""
    new = dict(new)
    for node in topological([top]):
        if node not in new:
            new[node] = rebuilt(node, new)
    return new[top]
