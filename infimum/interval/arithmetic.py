"""The four operations, negation, absolute value and integer powers on pairs (-lo, hi), and calls of elementary functions."""

from typing import TYPE_CHECKING, Any

from infimum.interval.elementary import row
from infimum.interval.pair import (
    INF,
    LIPSCHITZ,
    POLE,
    SMOOTH,
    Pair,
    absorb,
    both_whole,
    cut,
    exact,
    forgets_nan,
    lowest,
    where_level,
    whole_sum,
)
from infimum.support.lazy import LazyModule

if TYPE_CHECKING:
    from infimum.interval.elementary import power
else:
    power = LazyModule("interval.elementary.power")  # for high powers alone


def neg(b, x: Pair) -> Pair:
    """The ends change places: nothing is computed."""
    return x.but(nlo=x.hi, hi=x.nlo, least=-x.most, most=-x.least, point=None if x.point is None else b.neg(x.point))


def add(b, x: Pair, y: Pair) -> Pair:
    """Both ends round up. No infinities of opposite sign meet unless an operand is empty."""
    if x.zero or y.zero:
        return (y if x.zero else x).but(level=lowest(b, x.level, y.level), whole=whole_sum(x, y))
    least = max(x.least, y.least) if min(x.least, y.least) >= 0 else -1
    most = min(x.most, y.most) if max(x.most, y.most) <= 0 else 1
    sums = Pair(b.add(x.nlo, y.nlo), b.add(x.hi, y.hi), lowest(b, x.level, y.level), least=least, most=most,
                whole=whole_sum(x, y))
    return absorb(b, sums, x, y)


def sub(b, x: Pair, y: Pair) -> Pair:
    return add(b, x, neg(b, y))


def mul(b, x: Pair, y: Pair) -> Pair:
    """The product with 0 * inf = 0; what is known of signs saves multiplications."""
    level = lowest(b, x.level, y.level)
    if x.zero or y.zero:
        return absorb(b, exact(b, 0.0).but(level=level, whole=both_whole(x, y)), x, y)  # 0 * x is no constant: x may be undefined
    if y.point is not None and x.point is None:
        x, y = y, x
    if x.most <= 0 and x.least < 0:
        return neg(b, mul(b, neg(b, x), y))
    if y.most <= 0 and y.least < 0:
        return neg(b, mul(b, x, neg(b, y)))
    least = min(x.least, y.least) if x.least >= 0 and y.least >= 0 else -1
    least = min(least, 0)  # a positive lower end may underflow to 0
    if x.point is not None:
        ends = _scale(b, x, y)
    elif x.least >= 0 and y.least >= 0:
        ends = _finite(b, b.mul(x.nlo, b.neg(y.nlo))), _finite(b, b.mul(x.hi, y.hi))
    elif x.least >= 0:
        ends = _times_nonnegative(b, y, x)
    elif y.least >= 0:
        ends = _times_nonnegative(b, x, y)
    else:
        ends = _bounded_product(b, x, y) if x.unit and y.unit else _product(b, x, y)
    return absorb(b, Pair(*ends, level, least=least, unit=x.unit and y.unit, whole=both_whole(x, y)), x, y)


def _finite(b, product):
    """0 * inf is 0, not NaN."""
    return b.select(b.uno(product, product), 0.0, product)


def _scale(b, c: Pair, x: Pair):
    """A constant double times an interval: two multiplications."""
    if c.least >= 0:
        ends = b.mul(x.nlo, c.point), b.mul(x.hi, c.point)
        return ends if c.nonzero else tuple(_finite(b, e) for e in ends)
    size, swap = b.abs(c.point), b.olt(c.point, 0.0)
    low, high = b.mul(x.nlo, size), b.mul(x.hi, size)
    if not c.nonzero:
        low, high = _finite(b, low), _finite(b, high)
    return b.select(swap, high, low), b.select(swap, low, high)


def _times_nonnegative(b, x: Pair, y: Pair):
    """x * y for y >= 0: each end of x meets the end of y that takes it furthest."""
    lo = b.neg(y.nlo)

    def end(v):
        far = b.select(b.oge(v, 0.0), y.hi, lo)
        return _finite(b, b.mul(v, far))
    return end(x.nlo), end(x.hi)


def _product(b, x: Pair, y: Pair):
    """The largest of four products for each end.

    Only the first product needs its NaN (0 * inf) replaced by 0: `max(NaN, m)` is m, and whenever one of the other three is
    NaN the value 0 is covered by the rest. (x = 0 at one end and y infinite at the other: the first product or its mirror is
    0, or both signs of infinity are among the products.)
    """
    xlo, ylo = b.neg(x.nlo), b.neg(y.nlo)
    high = _finite(b, b.mul(x.nlo, y.nlo))
    for p in (b.mul(xlo, y.hi), b.mul(x.hi, ylo), b.mul(x.hi, y.hi)):
        high = b.max(p, high)
    low = _finite(b, b.mul(xlo, y.nlo))
    for p in (b.mul(x.nlo, y.hi), b.mul(x.hi, y.nlo), b.mul(b.neg(x.hi), y.hi)):
        low = b.max(p, low)
    return low, high


def _bounded_product(b, x: Pair, y: Pair):
    """The product of two bounded intervals: each end of x meets the end of y that takes it furthest, up and down."""
    ylo, minus = b.neg(y.nlo), b.neg(y.hi)
    right, left = b.oge(x.hi, 0.0), b.ole(x.nlo, 0.0)  # xhi >= 0, xlo >= 0
    high = b.max(b.mul(x.hi, b.select(right, y.hi, ylo)), b.mul(x.nlo, b.select(left, minus, y.nlo)))
    low = b.max(b.mul(x.hi, b.select(right, y.nlo, minus)), b.mul(x.nlo, b.select(left, ylo, y.hi)))
    return low, high


def div(b, x: Pair, y: Pair) -> Pair:
    """x / y. A divisor that contains 0 clears the status; [0, 0] gives Empty; 0 has no sign."""
    if y.most <= 0 and y.least < 0:
        return neg(b, div(b, x, neg(b, y)))
    level = lowest(b, x.level, y.level)
    least = 0 if x.least >= 0 and y.least >= 0 else -1
    if y.least == 1:
        if y.point is not None:
            return absorb(b, Pair(b.div(x.nlo, y.point), b.div(x.hi, y.point), level, least=least), x, y)
        return absorb(b, Pair(*_quotient(b, x, y.lo(b), y.hi), level, least=least), x, y)
    flip = b.ole(y.hi, 0.0)
    a = x.but(nlo=b.select(flip, x.hi, x.nlo), hi=b.select(flip, x.nlo, x.hi))
    nlo, hi = b.select(flip, y.hi, y.nlo), b.select(flip, y.nlo, y.hi)
    lo = b.abs(b.max(b.neg(nlo), 0.0))
    low, high = _quotient(b, a, lo, hi)
    across = b.mand(b.ogt(nlo, 0.0), b.mnot(b.mand(b.oeq(x.nlo, 0.0), b.oeq(x.hi, 0.0))))
    touches = b.mand(b.oge(nlo, 0.0), b.oge(hi, 0.0))
    quotient = Pair(b.select(across, INF, low), b.select(across, INF, high),
                    lowest(b, level, where_level(b, touches, POLE, SMOOTH)), least=least)
    nothing = b.mand(b.oeq(nlo, 0.0), b.oeq(hi, 0.0))
    return absorb(b, cut(b, quotient, nothing), x, y)


def _quotient(b, x: Pair, lo, hi):
    """x / [lo, hi] for lo >= 0, hi > 0: a positive end is divided by lo, any other by hi, so that inf / inf cannot occur."""
    return tuple(b.div(end, b.select(b.ogt(end, 0.0), lo, hi)) for end in (x.nlo, x.hi))


def absolute(b, x: Pair) -> Pair:
    """|x|: Lipschitz where 0 is met, smooth elsewhere."""
    if x.least >= 0 or x.most <= 0:
        return x if x.least >= 0 else neg(b, x)
    away = b.mor(b.olt(x.nlo, 0.0), b.olt(x.hi, 0.0))
    level = lowest(b, x.level, where_level(b, away, SMOOTH, LIPSCHITZ))
    hi, nlo = _far_and_near(b, x)
    return Pair(nlo, hi, level, may_be_empty=x.may_be_empty, least=0, unit=x.unit, whole=x.whole)


def square(b, x: Pair) -> Pair:
    """x*x as one occurrence: never negative."""
    far, near = _far_and_near(b, x)
    return absorb(b, Pair(b.mul(near, b.neg(near)), b.mul(far, far), x.level, least=0, unit=x.unit, whole=both_whole(x, x)), x)


def _far_and_near(b, x: Pair):
    """The largest |x|, and minus the smallest."""
    return b.max(x.nlo, x.hi), b.min(b.min(x.nlo, x.hi), 0.0)


def powi(b, x: Pair, k: int) -> Pair:
    """x**k for an integer k; k = 0 keeps the domain and status of x.

    Width at one point: x*x is at most 1 ulp wide; its square is then at most 2.83 ulp wide before the last roundings, so x**4 at
    most 4 (the cube at most 4 likewise). Larger powers are computed in double-double.
    """
    if k == 0:
        return absorb(b, exact(b, 1.0).but(level=forgets_nan(b, x.level)), x)
    if k == 2:
        return square(b, x)
    if k == 3:  # v |v| |v| rounds up for both signs of v
        ends = (b.mul(b.mul(v, b.abs(v)), b.abs(v)) for v in (x.nlo, x.hi))
        return absorb(b, Pair(*ends, x.level, least=min(x.least, 0), most=max(x.most, 0), whole=both_whole(x, x)), x)
    if k == 4:
        far, near = _far_and_near(b, x)
        low, high = b.mul(near, b.neg(near)), b.mul(far, far)
        return absorb(b, Pair(b.mul(low, b.neg(low)), b.mul(high, high), x.level, least=0, whole=both_whole(x, x)), x)
    nlo, hi = power.enclose_integer_power(b, x.nlo, x.hi, k)
    result = Pair(nlo, hi, x.level, least=0 if k % 2 == 0 else min(x.least, 0), whole=both_whole(x, x) if k > 0 else 0)
    if k < 0:
        meets_zero = b.mand(b.oge(x.nlo, 0.0), b.oge(x.hi, 0.0))
        result = result.but(level=lowest(b, x.level, where_level(b, meets_zero, POLE, SMOOTH)))
        result = cut(b, result, b.mand(b.oeq(x.nlo, 0.0), b.oeq(x.hi, 0.0)))
    return absorb(b, result, x)


def call(b, name: str, *pairs: Pair) -> tuple[Any, Any]:
    """The enclosure of an elementary function, out of line unless it is short. At a single double it is that of the interval with
    two equal ends, to the last bit, and the ends share what they are computed from."""
    function, ends = row(name), tuple(end for p in pairs for end in (p.nlo, p.hi))
    if function.short:
        return function.enclose(b, *ends)
    if len(pairs) == 1 and pairs[0].point is not None:
        return b.outline(f"enclose_{name}_at", lambda b, v: function.enclose(b, b.neg(v), v), pairs[0].point)
    return b.outline(f"enclose_{name}", function.enclose, *ends)
