"""Roots and powers."""

import math
from typing import TYPE_CHECKING, Any

from infimum.interval.arithmetic import absolute, call, div, powi, square, sub
from infimum.interval.elementary import row
from infimum.interval.pair import DEFINED, INF, LIPSCHITZ, SMOOTH, Pair, absorb, exact, lowest, where_level
from infimum.ops.operation import Edge, Inflection, Obstacle, Operation
from infimum.ops.rule_forms import (
    Ends,
    divisor,
    either_sign,
    elementary,
    ends,
    not_negative,
    partial_rule,
    primitive,
    unless_nan,
    whole_within,
)
from infimum.support.lazy import LazyModule

if TYPE_CHECKING:
    from infimum.interval import real_power
    from infimum.interval.elementary import power
else:
    real_power, power = LazyModule("interval.real_power"), LazyModule("interval.elementary.power")

_LARGEST = 1.7976931348623157e308


# ---- enclosures
def sqrt_ends(b, x: Pair) -> Ends:
    """The tightest doubles: the upward root steps down by one where its square exceeds the argument."""
    lo = b.abs(b.max(x.lo(b), 0.0))
    root = b.sqrt(lo)
    below = b.float(b.isub(b.bits(root), 1))
    too_large = b.ogt(b.fma(root, root, b.neg(lo)), 0.0)
    return b.neg(b.select(too_large, below, root)), b.sqrt(b.abs(b.max(x.hi, 0.0)))


def _sqrt(b, x: Pair) -> Pair:
    if x.least == 1:
        nlo, hi = sqrt_ends(b, x)
        return absorb(b, Pair(nlo, hi, x.level, least=1), x)
    return _SQRT(b, x)


_SQRT = partial_rule("sqrt", (Edge(0.0, True), None), sqrt_ends, least=0)


def norm_root(b, squares: Pair) -> Pair:
    """The square root at the end of a norm: Lipschitz even at 0, where `squares` (of the same level as its terms) is >= 0."""
    nlo, hi = sqrt_ends(b, squares)
    away = b.olt(squares.nlo, 0.0)
    return absorb(b, Pair(nlo, hi, lowest(b, squares.level, where_level(b, away, SMOOTH, LIPSCHITZ)), least=0), squares)


def _cbrt(b, x: Pair) -> Pair:
    nlo, hi = call(b, "cbrt", x)
    away = b.mor(b.olt(x.nlo, 0.0), b.olt(x.hi, 0.0))
    return absorb(b, Pair(nlo, hi, lowest(b, x.level, where_level(b, away, SMOOTH, DEFINED)), least=x.least, most=x.most), x)


# ---- estimates
def _integer_power(b, x: Any, k: int) -> Any:
    """x**k by squaring; large powers, whose error would grow, by the proved function's upper end."""
    if k == 0:
        return b.const(1.0)
    if abs(k) > 16:
        return power.estimate_integer_power(b, x, k)
    result, square, rest = None, x, abs(k)
    while rest:
        if rest & 1:
            result = square if result is None else b.mul(result, square)
        rest >>= 1
        square = b.mul(square, square) if rest else square
    return b.div(1.0, result) if k < 0 else result


def _pow(b, x: Any, y: Any) -> Any:
    """x**y for x > 0; 0**y = 0 for y > 0 and 0**0 = 1; for x < 0 at whole numbers y, by their parity; else NaN."""
    size = unless_nan(b, b.outline("estimate_pow", row("pow").estimate, b.abs(x), y)[0], x, y)
    half = b.mul(y, 0.5)
    signed = b.select(b.oeq(b.floor(half), half), size, b.neg(size))
    of_negative = b.select(b.oeq(b.floor(y), y), signed, math.nan)
    at_zero = b.select(b.ogt(y, 0.0), 0.0, b.select(b.oeq(y, 0.0), 1.0, math.nan))
    return b.select(b.ogt(x, 0.0), size, b.select(b.oeq(x, 0.0), at_zero, b.select(b.olt(x, 0.0), of_negative, math.nan)))


# ---- inverses
def _root(b, y: Pair, k: int) -> Ends:
    """The k-th root of [-nlo, hi], which is not negative."""
    if k == 1:
        return ends(y)
    return sqrt_ends(b, y) if k == 2 else call(b, "pow", y, Pair(b.div(-1.0, float(k)), b.div(1.0, float(k))))


def _inverse_powi(b, y: Pair, own: Pair, k: int) -> Ends:
    if k == 0:
        return b.const(INF), b.const(INF)
    if k < 0:
        inverse = div(b, exact(b, 1.0), y if k % 2 else not_negative(b, y))
        return _inverse_powi(b, inverse.but(may_be_empty=False), own, -k)
    if k % 2 == 0:
        return either_sign(b, _root(b, not_negative(b, y), k), own)
    if k == 3:
        return call(b, "cbrt", y)
    return _odd_end(b, y.nlo, k), _odd_end(b, y.hi, k)


def _odd_end(b, end: Any, k: int) -> Any:
    """An upper bound of the k-th root of a number."""
    size = b.min(b.abs(end), _LARGEST)
    nlo, hi = _root(b, Pair(b.neg(size), size), k)
    return b.select(b.oeq(b.abs(end), INF), INF, b.select(b.oge(end, 0.0), hi, nlo))


def leg(b, y: Pair, own: Pair, squares: Pair) -> Ends:
    """Of sqrt(x*x + squares) = y."""
    left = sub(b, square(b, not_negative(b, y)), squares)
    return either_sign(b, sqrt_ends(b, not_negative(b, left)), own)


def _base(b, y: Pair, own: Pair, exponent: Pair) -> Ends:
    """Where x >= 0, y >= 0 and x = y ** (1 / exponent). Where x < 0 the exponent is a whole number, and so it is for |x| and
    |y|."""
    nlo, hi = _base_size(b, *ends(not_negative(b, y)), *ends(exponent))
    none = b.olt(b.min(own.hi, y.hi), 0.0)  # no x >= 0
    size, whole = absolute(b, y), whole_within(b, exponent)
    may_be_negative = b.mand(b.ogt(own.nlo, 0.0), b.ole(b.neg(whole.nlo), whole.hi))
    near, far = b.outline_where("size_of_negative_base", _base_size, may_be_negative, (-INF, -INF), *ends(size), *ends(whole))
    return b.max(b.select(none, -INF, nlo), far), b.max(b.select(none, -INF, hi), near)


def _base_size(b, nlo: Any, hi: Any, exponent_nlo: Any, exponent_hi: Any) -> Ends:
    """Of x >= 0 with x ** exponent = y >= 0: y ** (1 / exponent), and anything where the exponent may be 0."""
    clear = b.olt(b.min(exponent_nlo, exponent_hi), 0.0)
    usable = Pair(b.select(clear, exponent_nlo, -1.0), b.select(clear, exponent_hi, 1.0))
    root = call(b, "pow", Pair(nlo, hi), div(b, exact(b, 1.0), usable).but(may_be_empty=False))
    return b.select(clear, b.min(root[0], 0.0), 0.0), b.select(clear, root[1], INF)


def _exponent(b, y: Pair, own: Pair, base: Pair) -> Ends:
    """That of a negative base is a whole number."""
    whole, negative = whole_within(b, own), b.olt(base.hi, 0.0)
    return b.select(negative, whole.nlo, INF), b.select(negative, whole.hi, INF)


# ---- derivatives and inflections
def _powi_derivative(e, node, a, i):
    k = node["k"]
    return None if k == 0 else e.times(a, e.mul(float(k), e.powi(node.args[0], k=k - 1)))


def _pow_derivative(e, node, a, i):
    x, y = node.args
    if i == 1:
        return e.times(a, e.mul(node, e.log(x)))
    return e.times(a, e.mul(y, e.pow(x, e.less_one(y))))


def _odd_power_inflection(k: int) -> Inflection | None:
    if k < 3 or k % 2 == 0:
        return None
    low, high = 0.0, 1.0  # where the tangent at -r meets x**k at 1: k r**(k-1) (1 + r) = 1 + r**k
    for _ in range(30):
        r = 0.5 * (low + high)
        low, high = (low, r) if k * r ** (k - 1) * (1.0 + r) > 1.0 + r**k else (r, high)
    return Inflection(-1, low)


RECORDS = (
    Operation("sqrt", "square root, x >= 0", enclose=_sqrt, estimate=primitive("sqrt"),
              inverse=(lambda b, y, own: ends(square(b, not_negative(b, y))),),
              derivative=divisor(lambda e, x, y: e.mul(2.0, y)),
              numpy="sqrt", float_result=True, least=0, curvature=-1, tangents=True,
              taylor=(1.0, (1, 0.5, -0.25)), cost=8, obstacle=Obstacle("is negative", "is 0")),
    elementary("cbrt", "cube root, all x", enclose=_cbrt, inverse=lambda b, y, own: ends(powi(b, y, 3)),
               reciprocal_slope=lambda e, x, y: e.mul(3.0, e.powi(y, k=2)),
               scipy="cbrt", status=DEFINED, inflection=Inflection(1, 0.125), costly_inverse=False,
               obstacle=Obstacle("", "is 0")),
    Operation("powi", "x**k for the integer k (params: k); x != 0 for k < 0", enclose=powi,
              estimate=_integer_power, inverse=(_inverse_powi,), derivative=_powi_derivative,
              curvature=0, inflection=_odd_power_inflection, tangents=True, cost=6, costly_inverse=True,
              obstacle=Obstacle("is 0", "approaches 0", pole=True)),
    Operation("pow",
              "x**y = exp(y log x), x > 0; 0**y = 0 for y > 0, 0**0 = 1; for x < 0 and a whole number y (-1)**y |x|**y", 2,
              enclose=lambda b, x, y: real_power.real_power(b, x, y), estimate=_pow, inverse=(_base, _exponent),
              derivative=_pow_derivative, tangents=True, costly_inverse=True,
              obstacle=Obstacle("is negative and the exponent no whole number, or 0 and the exponent negative", "approaches 0",
                                pole=True)),
)
