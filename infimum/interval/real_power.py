"""x**y on intervals, for every real exponent: one meaning, whatever the exponent is made of.

x**y is e**(y log x) for x > 0; 0**y is 0 for y > 0 and 1 for y = 0; and for x < 0 it is (-1)**y |x|**y where y is a whole number
(docs/proofs/powers.md). Elsewhere it is undefined. Over X and Y the values at bases x >= 0 and those at x < 0 are enclosed one
by one: the latter are those of |x| at the whole numbers of Y, with the sign of each.
"""

from typing import Any

from infimum.interval.arithmetic import call
from infimum.interval.elementary import row
from infimum.interval.pair import (
    DEFINED,
    INF,
    LIPSCHITZ,
    POLE,
    SMOOTH,
    Pair,
    absorb,
    forgets_nan,
    lowest,
    where_level,
)


def real_power(b, x: Pair, y: Pair) -> Pair:
    """x**y. NumPy has a number where an operand is NaN and the other one decides (NaN**0), and where rounding makes an exponent
    whole: so what is undefined counts as a pole."""
    inside = x.but(nlo=b.min(x.nlo, 0.0), hi=b.max(x.hi, 0.0))
    ends = call(b, "pow", inside, y)
    signed = x.least < 0 and y.whole >= 0  # may a negative base have a power?
    level = lowest(b, forgets_nan(b, lowest(b, x.level, y.level)), _level(b, x, y, signed))
    none = b.mor(b.olt(x.hi, 0.0), b.mand(b.oeq(x.hi, 0.0), b.olt(y.hi, 0.0)))  # no base x >= 0 has a power
    ends = tuple(b.select(none, -INF, end) for end in ends)
    if signed:
        whole = b.mand(b.ogt(x.nlo, 0.0), b.ole(b.neg(b.floor(y.nlo)), b.floor(y.hi)))
        of_negative = b.outline_where("power_of_negative", _of_negative, whole, (-INF, -INF), x.nlo, x.hi, y.nlo, y.hi)
        ends = tuple(b.max(one, other) for one, other in zip(ends, of_negative, strict=True))
    return absorb(b, Pair(*ends, level, may_be_empty=True, least=-1 if signed else 0), x, y)


def _of_negative(b, nlo: Any, hi: Any, ynlo: Any, yhi: Any) -> tuple[Any, Any]:
    """(-lower, upper) of the powers of the x < 0 in [-nlo, hi], at the whole numbers from `first` to `last`. Where these are
    several, both signs occur."""
    first, last = b.neg(b.floor(ynlo)), b.floor(yhi)
    below, above = b.outline("enclose_pow", row("pow").enclose, b.min(hi, 0.0), nlo, b.neg(first), last)  # of |x|
    half = b.mul(last, 0.5)
    several, odd = b.olt(first, last), b.mnot(b.oeq(b.floor(half), half))
    return b.select(b.mor(several, odd), above, below), b.select(b.mand(odd, b.mnot(several)), below, above)


def _level(b, x: Pair, y: Pair, signed: bool) -> Any:
    """Of the power of operands that are smooth: where the base is positive, where it may be 0, where it may be negative."""
    lo, first = x.lo(b), y.lo(b)
    at_zero = where_level(b, b.oge(first, 0.0), DEFINED, POLE)
    level = where_level(b, b.oeq(lo, 0.0), at_zero, POLE)
    if signed:
        # one whole number on all of the box; beside the box as well where the exponent is known to change by jumps alone
        point = b.mand(b.oeq(first, y.hi), b.oeq(b.floor(first), first))
        level = where_level(b, point, where_level(b, b.olt(x.hi, 0.0), DEFINED, at_zero), level)
        if y.whole > 0:
            kept = where_level(b, b.oge(first, 2.0), SMOOTH, where_level(b, b.oge(first, 1.0), LIPSCHITZ, at_zero))
            calm = where_level(b, b.olt(x.hi, 0.0), SMOOTH, kept)  # derivatives are powers of exponents less 1 and 2
            several = where_level(b, b.olt(x.hi, 0.0), DEFINED, at_zero)
            level = where_level(b, point, calm, several)
    return where_level(b, b.ogt(lo, 0.0), SMOOTH, level)
