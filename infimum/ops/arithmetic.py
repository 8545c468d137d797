"""Sums, products, quotients, signs and absolute values."""

from typing import Any

from infimum.interval.arithmetic import absolute, add, div, mul, neg, sub
from infimum.interval.pair import INF, LIPSCHITZ, SMOOTH, Pair
from infimum.ops.operation import Obstacle, Operation
from infimum.ops.rule_forms import Ends, either_sign, ends, factor, not_negative, primitive


# ---- inverses
def term(b, y: Pair, own: Pair, other: Pair) -> Ends:
    """Of x + z = y."""
    return ends(sub(b, y, other))


def product_factor(b, y: Pair, own: Pair, other: Pair) -> Ends:
    """Of x * z = y: y / z where z is not 0; anything where y and z may both be 0. Where z has both signs and y has one, x is
    beyond one of two ends, and X may tell which."""
    zero = b.mand(b.oge(other.nlo, 0.0), b.oge(other.hi, 0.0))
    free = b.mand(b.oge(y.nlo, 0.0), b.oge(y.hi, 0.0))
    # z > 0 or z < 0
    flip = b.olt(other.hi, 0.0)
    lo, hi = b.select(flip, b.neg(other.hi), b.neg(other.nlo)), b.select(flip, other.nlo, other.hi)
    up, down = b.select(flip, y.hi, y.nlo), b.select(flip, y.nlo, y.hi)
    plain = [b.div(end, b.select(b.ogt(end, 0.0), lo, hi)) for end in (up, down)]
    # 0 in z = [-p, q], and y or -y at least l > 0: x >= l / q, or x <= -l / p
    below = b.olt(y.hi, 0.0)
    least = b.select(below, y.hi, y.nlo)
    p, q = b.select(below, other.hi, other.nlo), b.select(below, other.nlo, other.hi)
    right, left = b.div(least, b.abs(q)), b.div(least, b.abs(p))  # as -lo and as hi
    beyond = (b.select(b.ogt(b.neg(own.nlo), left), right, INF), b.select(b.olt(own.hi, b.neg(right)), left, INF))
    return tuple(b.select(zero, b.select(free, INF, two), one) for one, two in zip(plain, beyond, strict=True))


# ---- derivatives
def quotient_derivative(e, node: Any, a: Any, i: int) -> Any:
    """For x / y and for ratio(x, y) alike (the latter where it is smooth)."""
    y = node.args[1]
    return e.over(a, y) if i == 0 else e.negative(e.times(a, e.div(node, y)))


RECORDS = (
    Operation("neg", "-x", enclose=neg, estimate=primitive("neg"), inverse=(lambda b, y, own: ends(neg(b, y)),),
              derivative=lambda e, node, a, i: e.negative(a),
              numpy="negative", status=SMOOTH, whole="kept", tangents=True, cost=0),
    Operation("abs", "|x|", enclose=absolute, estimate=primitive("abs"),
              inverse=(lambda b, y, own: either_sign(b, ends(not_negative(b, y)), own),),
              derivative=factor(lambda e, x, y: e.slope(x)),
              numpy="absolute fabs", status=LIPSCHITZ, least=0, whole="kept", curvature=1, cost=3,
              obstacle=Obstacle("", "is 0")),
    Operation("add", "x + y", 2, enclose=add, estimate=primitive("add"), inverse=(term, term),
              derivative=lambda e, node, a, i: a,
              numpy="add", status=SMOOTH, whole="kept", tangents=True, cost=2),
    Operation("sub", "x - y", 2, enclose=sub, estimate=primitive("sub"),
              inverse=(lambda b, y, own, other: ends(add(b, y, other)), lambda b, y, own, other: ends(sub(b, other, y))),
              derivative=lambda e, node, a, i: a if i == 0 else e.negative(a),
              numpy="subtract", status=SMOOTH, whole="kept", tangents=True, cost=2),
    Operation("mul", "x * y", 2, enclose=mul, estimate=primitive("mul"),
              inverse=(product_factor, product_factor),
              derivative=lambda e, node, a, i: e.times(a, node.args[1 - i]),
              numpy="multiply", status=SMOOTH, whole="kept", tangents=True, cost=10),
    Operation("div", "x / y, y != 0", 2, enclose=div, estimate=primitive("div"),
              inverse=(lambda b, y, own, other: ends(mul(b, y, other)),
                       lambda b, y, own, other: product_factor(b, other, own, y)), derivative=quotient_derivative,
              numpy="divide", float_result=True, tangents=True, cost=10,
              obstacle=Obstacle("is 0", "approaches 0", operand=1, pole=True)),
)
