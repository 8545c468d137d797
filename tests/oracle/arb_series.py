"""Derivatives by another route than the library's: the expression on power series of balls along x + t * direction, t -> 0+.

From one side a kink is no obstacle: |u| is u or -u by the sign of the first coefficient that is not 0. So a one-sided
derivative exists at the kinks of abs, min, max and norms, and a jump shows as a first coefficient that is not f(x).
"""

from collections.abc import Callable
from typing import Any

from flint import arb, arb_series, ctx

from infimum.expr.node import Expr
from tests.oracle.arb_values import precision
from tests.oracle.walk import POLE, UNDECIDED, UNDEFINED, Algebra, Special, evaluate

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


def _series(*coefficients: Any, prec: int = ORDER) -> arb_series:
    return arb_series(list(coefficients), prec=prec)


def _sign_after(s: arb_series) -> int | None:
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


def _identically_zero(s: arb_series) -> bool:
    return all(s[k] == 0 for k in range(s.prec))


def _through_zero(s: arb_series) -> bool:
    return not s[0] != 0


def _smooth(function: Callable[..., arb_series]) -> Callable[..., Any]:
    def row(*jets: Jet) -> Any:
        return Jet(function(*(j.s for j in jets)), any(j.kinked for j in jets))
    return row


def _inside(function: Callable[[arb_series], arb_series], *gaps: Callable[[arb_series], arb_series]) -> Callable:
    """A function that is analytic where every gap is > 0 and undefined where one is < 0; on the edge nothing is said."""
    def row(x: Jet) -> Any:
        for gap in gaps:
            g = gap(x.s)
            sign = _sign_after(g)
            if sign == -1:
                return UNDEFINED
            if sign is None or _through_zero(g):
                return UNDECIDED
        return Jet(function(x.s), x.kinked)
    return row


def _root(s: arb_series, kinked: bool) -> Any:
    """The square root; t**2k times a series that starts above 0 has one as well."""
    sign = _sign_after(s)
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
    inner = _series(*(s[k] for k in range(order, s.prec)), prec=s.prec - order).sqrt()
    shifted = [0] * (order // 2) + [inner[k] for k in range(inner.prec)]
    return Jet(_series(*shifted, prec=min(ORDER, len(shifted))), True)


def _norm(*xs: Jet) -> Any:
    kinked = any(x.kinked for x in xs)
    if all(_identically_zero(x.s) for x in xs):
        return Jet(_series(0, prec=min(x.s.prec for x in xs)), True)
    return _root(sum((x.s * x.s for x in xs), _series(0)), kinked)


def _abs(x: Jet) -> Any:
    kinked = x.kinked or _through_zero(x.s)
    if _identically_zero(x.s):
        return Jet(x.s, True)
    sign = _sign_after(x.s)
    return UNDECIDED if sign is None else Jet(x.s if sign > 0 else -x.s, kinked)


def _extremum(wanted: int) -> Callable[[Jet, Jet], Any]:
    def row(x: Jet, y: Jet) -> Any:
        gap = x.s - y.s
        kinked = x.kinked or y.kinked or _through_zero(gap)
        if _identically_zero(gap):
            return Jet(x.s, kinked)
        sign = _sign_after(gap)
        return UNDECIDED if sign is None else Jet(x.s if sign == wanted else y.s, kinked)
    return row


def _sign(x: Jet) -> Any:
    sign = _sign_after(x.s)
    return UNDECIDED if sign is None else Jet(_series(sign, prec=x.s.prec), x.kinked or _through_zero(x.s))


def _floor(x: Jet) -> Any:
    """Constant for small t > 0, by the side on which the argument leaves an integer."""
    whole = x.first.floor()
    if not whole.is_exact():
        return UNDECIDED
    on_edge = not x.first > whole
    if on_edge:
        sign = _sign_after(x.s - whole)
        if sign is None:
            return UNDECIDED
        whole = whole if sign > 0 else whole - 1
    return Jet(_series(whole, prec=x.s.prec), x.kinked or on_edge)


def _ceil(x: Jet) -> Any:
    result = _floor(Jet(-x.s, x.kinked))
    return result if isinstance(result, Special) else Jet(-result.s, result.kinked)


def _rint(x: Jet) -> Any:
    """Off the halves floor(x + 1/2); a path that stays on a half is left undecided."""
    return _floor(Jet(x.s + 0.5, x.kinked))


def _cbrt(x: Jet) -> Any:
    if _through_zero(x.s):
        return UNDECIDED
    sign = 1 if x.first > 0 else -1
    return Jet(((x.s * sign).log() / 3).exp() * sign, x.kinked)


def _div(x: Jet, y: Jet) -> Any:
    return UNDECIDED if _through_zero(y.s) else Jet(x.s / y.s, x.kinked or y.kinked)


def _pow(x: Jet, y: Jet) -> Any:
    """At a whole number that does not change along the path the polynomial; of another exponent no power of a negative base is
    defined beside the point."""
    if y.first.is_integer() and abs(y.first) < 2**20 and all(y.s[k] == 0 for k in range(1, y.s.prec)):
        found = _whole_power(x, int(y.first.unique_fmpz()))
        return found if isinstance(found, Special) else Jet(found.s, x.kinked or y.kinked)
    sign = _sign_after(x.s)
    if sign == -1:
        return POLE
    if sign is None or _through_zero(x.s):
        return UNDECIDED
    return Jet((y.s * x.s.log()).exp(), x.kinked or y.kinked)


def _arctan2(y: Jet, x: Jet) -> Any:
    kinked = x.kinked or y.kinked
    if x.first > 0:
        return Jet((y.s / x.s).atan(), kinked)
    if y.first > 0 or y.first < 0:
        half = arb.pi() / 2 if y.first > 0 else -arb.pi() / 2
        return Jet(half - (x.s / y.s).atan(), kinked)
    if x.first < 0:  # on the cut: the side decides; along the cut the value is pi
        sign = 1 if _identically_zero(y.s) else _sign_after(y.s)
        return UNDECIDED if sign is None else Jet((y.s / x.s).atan() + arb.pi() * sign, True)
    return UNDECIDED


def _compare(test: Callable[[int], bool]) -> Callable[[Jet, Jet], Any]:
    def row(x: Jet, y: Jet) -> Any:
        sign = _sign_after(x.s - y.s)
        return UNDECIDED if sign is None else test(sign)
    return row


def _half_sum(x: arb_series, sign: int) -> arb_series:
    return (x.exp() + (-x).exp() * sign) / 2


def _tanh(x: arb_series) -> arb_series:
    """By the side on which nothing overflows."""
    if x[0] > 0:
        e = (x * -2).exp()
        return (1 - e) / (1 + e)
    e = (x * 2).exp()
    return (e - 1) / (e + 1)


def _expit(x: arb_series) -> arb_series:
    return 1 / (1 + (-x).exp()) if x[0] > 0 else x.exp() / (1 + x.exp())


def _logaddexp(x: arb_series, y: arb_series) -> arb_series:
    larger, smaller = (x, y) if x[0] > y[0] else (y, x)
    return larger + (1 + (smaller - larger).exp()).log()


def _polygamma(x: Jet, m: int) -> Any:
    """Derivative number m + 1 of the series of lgamma at the first coefficient, into which the series is put."""
    sign = _sign_after(x.s)
    if sign != 1 or _through_zero(x.s):
        return UNDEFINED if sign == -1 else UNDECIDED
    cap, ctx.cap = ctx.cap, ORDER + m + 1
    try:
        outer = arb_series([x.first, 1], ORDER + m + 1).lgamma()
        for _ in range(m + 1):
            outer = outer.derivative()
    finally:
        ctx.cap = cap
    value = _series(0)
    for k in reversed(range(ORDER)):
        value = value * (x.s - x.first) + outer[k]
    return Jet(value, x.kinked)


def _spline(x: Jet, table: Any) -> Any:
    """The piece that x is in for small t > 0."""
    at, kinked = 0, x.kinked
    for i, p in enumerate(table.points):
        inner, sign, met = 0 < i < table.count, _sign_after(x.s - p), _through_zero(x.s - p)
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
    value = _series(0)
    for c in reversed(table.pieces[at]):
        value = value * (x.s - table.points[at]) + arb(c.numerator) / c.denominator
    return Jet(value, kinked)


def _arcsinh(x: arb_series) -> arb_series:
    """log(x + sqrt(x*x + 1)) for x >= 0, odd."""
    return -_arcsinh(-x) if x[0] < 0 else (x + (x * x + 1).sqrt()).log()


def _log_over(base: Callable[[], arb]) -> Callable:
    return _inside(lambda x: x.log() / base(), lambda x: x)


_ROWS: dict[str, Callable[..., Any]] = {
    "neg": _smooth(lambda x: -x), "abs": _abs, "sqrt": lambda x: _root(x.s, x.kinked), "cbrt": _cbrt,
    "exp": _smooth(lambda x: x.exp()), "exp2": _smooth(lambda x: (x * arb.const_log2()).exp()),
    "expm1": _smooth(lambda x: x.exp() - 1), "log": _inside(lambda x: x.log(), lambda x: x),
    "log2": _log_over(arb.const_log2), "log10": _log_over(arb.const_log10),
    "log1p": _inside(lambda x: (x + 1).log(), lambda x: x + 1),
    "sin": _smooth(lambda x: x.sin()), "cos": _smooth(lambda x: x.cos()), "tan": _smooth(lambda x: x.tan()),
    "arcsin": _inside(lambda x: x.asin(), lambda x: 1 - x, lambda x: 1 + x),
    "arccos": _inside(lambda x: x.acos(), lambda x: 1 - x, lambda x: 1 + x),
    "arctan": _smooth(lambda x: x.atan()),
    "sinh": _smooth(lambda x: _half_sum(x, -1)), "cosh": _smooth(lambda x: _half_sum(x, 1)), "tanh": _smooth(_tanh),
    "arcsinh": _smooth(_arcsinh), "arccosh": _inside(lambda x: (x + (x * x - 1).sqrt()).log(), lambda x: x - 1),
    "arctanh": _inside(lambda x: ((1 + x) / (1 - x)).log() / 2, lambda x: 1 - x, lambda x: 1 + x),
    "lgamma": _inside(lambda x: x.lgamma(), lambda x: x), "polygamma": _polygamma, "spline": _spline,
    "erf": _smooth(lambda x: x.erf()), "erfc": _smooth(lambda x: x.erfc()), "expit": _smooth(_expit),
    "logaddexp": _smooth(_logaddexp), "xlogx": _inside(lambda x: x * x.log(), lambda x: x),
    "sign": _sign, "floor": _floor, "ceil": _ceil, "rint": _rint,
    "add": _smooth(lambda x, y: x + y), "sub": _smooth(lambda x, y: x - y), "mul": _smooth(lambda x, y: x * y),
    "div": _div, "pow": _pow, "arctan2": _arctan2, "hypot": _norm, "norm": _norm, "min": _extremum(-1), "max": _extremum(1),
    "lt": _compare(lambda s: s < 0), "le": _compare(lambda s: s < 0), "eq": _compare(lambda s: False),
    "and": lambda p, q: p and q, "or": lambda p, q: p or q, "not": lambda p: not p,
    # generalised derivatives are no functions of the user: their own derivatives are met in Hessians only
    "slope": lambda x: UNDECIDED, "step": lambda x, y: UNDECIDED, "ratio": lambda x, y: UNDECIDED,
}


class Jets(Algebra):
    """Elements are series along one direction."""

    def __init__(self, point: Any, direction: Any, fraction: float = 0.5):
        self.point, self.direction, self.fraction = point, direction, fraction
        self.rows = _ROWS

    def constant(self, lo: float, hi: float) -> Jet:
        return Jet(_series(arb(lo) if lo == hi else arb(lo) + (arb(hi) - arb(lo)) * arb(self.fraction)))

    def variable(self, position: int) -> Jet:
        return Jet(_series(arb(float(self.point[position])), arb(float(self.direction[position]))))

    def power(self, x: Jet, k: int) -> Any:
        return _whole_power(x, k)

    def apply(self, op: str, *elements: Any) -> Any:
        try:
            result = super().apply(op, *elements)
        except ValueError:  # a quotient whose divisor this precision cannot tell from 0
            return UNDECIDED
        if isinstance(result, Jet) and not all(c.is_finite() for c in result.s.coeffs()):
            return UNDECIDED
        return result


def _whole_power(x: Jet, k: int) -> Any:
    if k < 0:
        return UNDECIDED if _through_zero(x.s) else Jet(_integer_power(x.s, -k).inv(), x.kinked)
    return Jet(_integer_power(x.s, k), x.kinked)


def _integer_power(x: arb_series, k: int) -> arb_series:
    result, square = _series(1), x
    while k:
        result = result * square if k & 1 else result
        k >>= 1
        square = square * square if k else square
    return result


def along(root: Expr, point: Any, direction: Any, bits: int, fraction: float = 0.5) -> Any:
    """The scalar expression along x + t * direction for small t > 0: a Jet, UNDEFINED or UNDECIDED.

    >>> from infimum.expr.build import build, index
    >>> from infimum.expr.node import var
    >>> along(build("abs", index(var("x", (1,)), 0)), [0.0], [-1.0], 64)
    Jet(1.00000000000000*x + O(x^5), kinked)
    """
    cap = ctx.cap
    ctx.cap = ORDER
    try:
        with precision(bits):
            result = evaluate(root, Jets(point, direction, fraction))
            return UNDEFINED if result is POLE else result
    finally:
        ctx.cap = cap
