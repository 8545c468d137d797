"""Taylor's formula for elementary functions, with the derivative at an unknown place between as the last coefficient.

Proof: docs/proofs/poles_and_edges.md.
"""

from fractions import Fraction
from math import factorial

from infimum.expr.build import broadcast, build, substituted
from infimum.expr.differentiate import gradient
from infimum.expr.node import Expr, const, var
from infimum.ops.vocabulary import OPS


def expansion(op: str, point: float, order: int, v: Expr, mean: Expr) -> list[Expr] | None:
    """c_0 … c_order with op(point + v) = sum c_k v**k: all but the last are constants; the last is the derivative of that order
    at point + mean v, over its factorial, for some `mean` in [0, 1] that depends on v. None where the record knows too little."""
    centre, known = OPS[op].taylor or (None, ())
    if centre != point or len(known) < order:
        return None
    constants = [broadcast(const(float(Fraction(d) / factorial(k))), v.shape) for k, d in enumerate(known[:order])]
    argument = var("argument", v.shape)
    derivative, axes = build(op, argument), tuple(range(len(v.shape)))
    for _ in range(order):
        derivative = gradient(build("sum", derivative, axes=axes) if axes else derivative, argument)
    between = build("mul", mean, v)
    last = substituted(derivative, {argument: between if point == 0.0 else build("add", between, point)})
    return [*constants, build("div", last, float(factorial(order)))]
