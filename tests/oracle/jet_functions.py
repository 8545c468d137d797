"""Functions on power series of balls in t -> 0+, for the rows of `tests/operations.py`: a Jet, UNDEFINED, POLE or UNDECIDED."""

from collections.abc import Callable
from math import factorial
from typing import Any

from flint import arb, arb_series, ctx

from tests.oracle import ball_functions
from tests.oracle.walk import POLE, UNDECIDED, UNDEFINED, Special

ORDER = 5  # coefficients kept; a root of t**2 costs one of them


class Jet:
    """A series c0 + c1 t + ... known to O(t**prec). `kinked` if some choice held for t > 0 only."""

    __slots__ = ("s", "kinked")

    def __init__(self, s: arb_series, kinked: bool = False):
        self.s, self.kinked = s, kinked

    def __repr__(self) -> str:
        return f"Jet({self.s}{', kinked' if self.kinked else ''})"

    @property
    def first(self) -> arb:
        return self.s[0]


def series(*coefficients: Any, prec: int = ORDER) -> arb_series:
    return arb_series(list(coefficients), prec=prec)


def sign_after(s: arb_series) -> int | None:
    """The sign of the series for small t > 0, None where it is not certain."""
    for k in range(s.prec):
        c = s[k]
        if c > 0:
            return 1
        if c < 0:
            return -1
        if not c.is_zero():
            return None
    return None


def identically_zero(s: arb_series) -> bool:
    return all(s[k] == 0 for k in range(s.prec))


def through_zero(s: arb_series) -> bool:
    return not s[0] != 0


def smooth(function: Callable[..., arb_series]) -> Callable[..., Any]:
    def row(*jets: Jet) -> Any:
        return Jet(function(*(j.s for j in jets)), any(j.kinked for j in jets))
    return row


def inside(function: Callable[[arb_series], arb_series], *gaps: Callable[[arb_series], arb_series]) -> Callable:
    """A function that is analytic where every gap is > 0 and undefined where one is < 0; on the edge nothing is said."""
    def row(x: Jet) -> Any:
        for gap in gaps:
            g = gap(x.s)
            sign = sign_after(g)
            if sign == -1:
                return UNDEFINED
            if sign is None or through_zero(g):
                return UNDECIDED
        return Jet(function(x.s), x.kinked)
    return row


def square_root(s: arb_series, kinked: bool) -> Any:
    """The square root; t**2k times a series that starts above 0 has one as well."""
    sign = sign_after(s)
    if sign == -1:
        return UNDEFINED
    if sign is None:
        return UNDECIDED
    order = 0
    while s[order] == 0:
        order += 1
    if order == 0:
        return Jet(s.sqrt(), kinked)
    if order % 2:
        return UNDECIDED
    inner = series(*(s[k] for k in range(order, s.prec)), prec=s.prec - order).sqrt()
    shifted = [0] * (order // 2) + [inner[k] for k in range(inner.prec)]
    return Jet(series(*shifted, prec=min(ORDER, len(shifted))), True)


def norm(*xs: Jet) -> Any:
    kinked = any(x.kinked for x in xs)
    if all(identically_zero(x.s) for x in xs):
        return Jet(series(0, prec=min(x.s.prec for x in xs)), True)
    return square_root(sum((x.s * x.s for x in xs), series(0)), kinked)


def absolute(x: Jet) -> Any:
    kinked = x.kinked or through_zero(x.s)
    if identically_zero(x.s):
        return Jet(x.s, True)
    sign = sign_after(x.s)
    return UNDECIDED if sign is None else Jet(x.s if sign > 0 else -x.s, kinked)


def extremum(wanted: int) -> Callable[[Jet, Jet], Any]:
    def row(x: Jet, y: Jet) -> Any:
        gap = x.s - y.s
        kinked = x.kinked or y.kinked or through_zero(gap)
        if identically_zero(gap):
            return Jet(x.s, kinked)
        sign = sign_after(gap)
        return UNDECIDED if sign is None else Jet(x.s if sign == wanted else y.s, kinked)
    return row


def sign(x: Jet) -> Any:
    sign = sign_after(x.s)
    return UNDECIDED if sign is None else Jet(series(sign, prec=x.s.prec), x.kinked or through_zero(x.s))


def floor(x: Jet) -> Any:
    """Constant for small t > 0, by the side on which the argument leaves an integer."""
    whole = x.first.floor()
    if not whole.is_exact():
        return UNDECIDED
    on_edge = not x.first > whole
    if on_edge:
        sign = sign_after(x.s - whole)
        if sign is None:
            return UNDECIDED
        whole = whole if sign > 0 else whole - 1
    return Jet(series(whole, prec=x.s.prec), x.kinked or on_edge)


def ceil(x: Jet) -> Any:
    result = floor(Jet(-x.s, x.kinked))
    return result if isinstance(result, Special) else Jet(-result.s, result.kinked)


def rint(x: Jet) -> Any:
    """Off the halves floor(x + 1/2); a path that stays on a half is left undecided."""
    return floor(Jet(x.s + 0.5, x.kinked))


def cbrt(x: Jet) -> Any:
    if through_zero(x.s):
        return UNDECIDED
    sign = 1 if x.first > 0 else -1
    return Jet(((x.s * sign).log() / 3).exp() * sign, x.kinked)


def div(x: Jet, y: Jet) -> Any:
    return UNDECIDED if through_zero(y.s) else Jet(x.s / y.s, x.kinked or y.kinked)


def power(x: Jet, y: Jet) -> Any:
    """At a whole number that does not change along the path the polynomial; of another exponent no power of a negative base is
    defined beside the point."""
    if y.first.is_integer() and abs(y.first) < 2**20 and all(y.s[k] == 0 for k in range(1, y.s.prec)):
        found = whole_power(x, int(y.first.unique_fmpz()))
        return found if isinstance(found, Special) else Jet(found.s, x.kinked or y.kinked)
    sign = sign_after(x.s)
    if sign == -1:
        return POLE
    if sign is None or through_zero(x.s):
        return UNDECIDED
    return Jet((y.s * x.s.log()).exp(), x.kinked or y.kinked)


def arctan2(y: Jet, x: Jet) -> Any:
    kinked = x.kinked or y.kinked
    if x.first > 0:
        return Jet((y.s / x.s).atan(), kinked)
    if y.first > 0 or y.first < 0:
        half = arb.pi() / 2 if y.first > 0 else -arb.pi() / 2
        return Jet(half - (x.s / y.s).atan(), kinked)
    if x.first < 0:  # on the cut: the side decides; along the cut the value is pi
        sign = 1 if identically_zero(y.s) else sign_after(y.s)
        return UNDECIDED if sign is None else Jet((y.s / x.s).atan() + arb.pi() * sign, True)
    return UNDECIDED


def compare(test: Callable[[int], bool]) -> Callable[[Jet, Jet], Any]:
    def row(x: Jet, y: Jet) -> Any:
        sign = sign_after(x.s - y.s)
        return UNDECIDED if sign is None else test(sign)
    return row


def half_sum(x: arb_series, sign: int) -> arb_series:
    return (x.exp() + (-x).exp() * sign) / 2


def tanh(x: arb_series) -> arb_series:
    """By the side on which nothing overflows."""
    if x[0] > 0:
        e = (x * -2).exp()
        return (1 - e) / (1 + e)
    e = (x * 2).exp()
    return (e - 1) / (e + 1)


def expit(x: arb_series) -> arb_series:
    return 1 / (1 + (-x).exp()) if x[0] > 0 else x.exp() / (1 + x.exp())


def logaddexp(x: arb_series, y: arb_series) -> arb_series:
    larger, smaller = (x, y) if x[0] > y[0] else (y, x)
    return larger + (1 + (smaller - larger).exp()).log()


def polygamma(x: Jet, m: int) -> Any:
    """Derivative number m + 1 of the series of lgamma at the first coefficient, into which the series is put."""
    sign = sign_after(x.s)
    if sign != 1 or through_zero(x.s):
        return UNDEFINED if sign == -1 else UNDECIDED
    cap, ctx.cap = ctx.cap, ORDER + m + 1
    try:
        outer = arb_series([x.first, 1], ORDER + m + 1).lgamma()
        for _ in range(m + 1):
            outer = outer.derivative()
    finally:
        ctx.cap = cap
    return composed([outer[k] for k in range(ORDER)], x)


def composed(outer: list[arb], x: Jet) -> Jet:
    """The series with these coefficients around the first coefficient of x, into which x is put."""
    value = series(0)
    for c in reversed(outer):
        value = value * (x.s - x.first) + c
    return Jet(value, x.kinked)


def sinc(x: Jet, m: int) -> Jet:
    return composed([ball_functions.sinc(x.first, m + k) / factorial(k) for k in range(ORDER)], x)


def spline(x: Jet, table: Any) -> Any:
    """The piece that x is in for small t > 0."""
    at, kinked = 0, x.kinked
    for i, p in enumerate(table.points):
        inner, sign, met = 0 < i < table.count, sign_after(x.s - p), through_zero(x.s - p)
        if not inner and not table.bounded:
            continue
        if not inner and (met or sign != (-1 if i else 1)):
            return UNDECIDED if met or sign is None else UNDEFINED
        if inner and (met or sign is None) and table.smooth[i - 1] < 0:
            return UNDECIDED
        if inner and sign is None:
            return UNDECIDED
        at = i if inner and sign > 0 else at
        kinked = kinked or (inner and met)
    value = series(0)
    for c in reversed(table.pieces[at]):
        value = value * (x.s - table.points[at]) + arb(c.numerator) / c.denominator
    return Jet(value, kinked)


def arcsinh(x: arb_series) -> arb_series:
    """log(x + sqrt(x*x + 1)) for x >= 0, odd."""
    return -arcsinh(-x) if x[0] < 0 else (x + (x * x + 1).sqrt()).log()


def log_over(base: Callable[[], arb]) -> Callable:
    return inside(lambda x: x.log() / base(), lambda x: x)


def whole_power(x: Jet, k: int) -> Any:
    if k < 0:
        return UNDECIDED if through_zero(x.s) else Jet(integer_power(x.s, -k).inv(), x.kinked)
    return Jet(integer_power(x.s, k), x.kinked)


def integer_power(x: arb_series, k: int) -> arb_series:
    result, square = series(1), x
    while k:
        result = result * square if k & 1 else result
        k >>= 1
        square = square * square if k else square
    return result
