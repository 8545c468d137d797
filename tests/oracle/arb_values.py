"""The value of an expression at a point of exact doubles, as an Arb ball: at the precision asked for, no more is known.

`value` returns a finite ball, UNDEFINED (a point outside the natural domain of an operation), or UNDECIDED (this precision
cannot settle a test, a step or a domain, or the number left Arb's range); the caller then asks for more, see `PRECISIONS`.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import factorial
from typing import Any

from flint import arb, ctx

from infimum.expr.node import Expr
from tests.oracle.walk import POLE, UNDECIDED, UNDEFINED, Algebra, Special, evaluate

# cos of the smallest double is 1 - 2**-2149: a ball must be able to tell it from 1
PRECISIONS = (128, 700, 2600)


@contextmanager
def precision(bits: int) -> Iterator[None]:
    """Arb's working precision is a global: it is put back."""
    before = ctx.prec
    ctx.prec = bits
    try:
        yield
    finally:
        ctx.prec = before


def decide(yes: bool, no: bool, value: Callable[[], Any], otherwise: Any = UNDEFINED) -> Any:
    """The value where the condition certainly holds, `otherwise` where it certainly fails."""
    return value() if yes else otherwise if no else UNDECIDED


def truth(yes: bool, no: bool) -> Any:
    return True if yes else False if no else UNDECIDED


def _whole(x: arb) -> Any:
    """The one integer that the ball of a rounded number holds."""
    return x if x.is_exact() else UNDECIDED


def _rint(x: arb) -> Any:
    """floor(x + 1/2), less 1 where x is half an odd integer and that is odd."""
    up = _whole((x + 0.5).floor())
    if isinstance(up, Special) or x + 0.5 > up:
        return up
    return decide(x + 0.5 == up, False, lambda: up if (up / 2).is_integer() else up - 1)


def _cbrt(x: arb) -> Any:
    if x > 0:
        return x.root(3)
    return -(-x).root(3) if x < 0 else decide(x == 0, False, lambda: arb(0))


def _sign(x: arb) -> Any:
    return arb(1) if x > 0 else arb(-1) if x < 0 else decide(x == 0, False, lambda: arb(0))


def _div(x: arb, y: arb) -> Any:
    return decide(y != 0, y == 0, lambda: x / y, POLE)


def _integer_power(x: arb, k: int) -> Any:
    return x**k if k >= 0 else decide(x != 0, x == 0, lambda: x**k, POLE)


def _pow(x: arb, y: arb) -> Any:
    """exp(y log x) for x > 0; at a whole number y also for x <= 0, but for 0 to a negative one."""
    if x > 0:
        return (y * x.log()).exp()
    if y.is_integer():
        if abs(y) <= 2**31:
            return _integer_power(x, int(y.unique_fmpz()))
        size = (y * (-x).log()).exp() if x < 0 else UNDECIDED
        return size if isinstance(size, Special) or (y / 2).is_integer() else -size
    if x == 0:
        return decide(y > 0, y < 0, lambda: arb(0), POLE)
    return POLE if x < 0 and not y.contains_integer() else UNDECIDED


def _arctan2(y: arb, x: arb) -> Any:
    if x > 0:
        return (y / x).atan()
    if y > 0:
        return arb.pi() / 2 - (x / y).atan()
    if y < 0:
        return -arb.pi() / 2 - (x / y).atan()
    if y == 0:
        return decide(x < 0, x == 0, lambda: arb.pi(), POLE)
    return UNDECIDED


def _step(x: arb, y: arb) -> Any:
    return arb(1) if x > y else arb(0) if x < y else decide(x == y, False, lambda: arb(0.5))


def _ratio(x: arb, y: arb) -> Any:
    return x / y if y > 0 else decide(y == 0, False, lambda: arb(0))


def _norm(*xs: arb) -> arb:
    return sum((x * x for x in xs), arb(0)).sqrt()


def _above_pole(distance: arb, value: Callable[[], Any]) -> Any:
    """A function with a pole at distance 0, defined above it."""
    return decide(distance > 0, distance <= 0, value, UNDEFINED if distance < 0 else POLE)


def _expit(x: arb) -> Any:
    return 1 / (1 + (-x).exp()) if x > 0 else x.exp() / (1 + x.exp())


def _logaddexp(x: arb, y: arb) -> Any:
    return x.max(y) + (-abs(x - y)).exp().log1p()


def _xlogx(x: arb) -> Any:
    return x * x.log() if x > 0 else decide(x == 0, x < 0, lambda: arb(0))


def _polygamma(x: arb, m: int) -> Any:
    """(-1)**(m+1) m! zeta(m+1, x), Hurwitz's zeta function."""
    sign = arb((-1) ** (m + 1) * factorial(m))
    return _above_pole(x, lambda: x.digamma() if m == 0 else sign * arb(m + 1).zeta(x))


def _spline(x: arb, table: Any) -> Any:
    first, last = table.points[0], table.points[-1]
    if table.bounded and not (x >= first and x <= last):
        return UNDEFINED if x < first or x > last else UNDECIDED
    at = 0
    for i, p in enumerate(table.points[1:-1], 1):
        if x >= p:
            at = i
        elif not x < p:
            return UNDECIDED
    value = arb(0)
    for c in reversed(table.pieces[at]):
        value = value * (x - table.points[at]) + arb(c.numerator) / c.denominator
    return value


def _tan(x: arb) -> Any:
    sine, cosine = x.sin_cos()
    return sine / cosine if cosine != 0 else UNDECIDED


def _scaled_log(base: Callable[[], arb]) -> Callable[[arb], Any]:
    return lambda x: _above_pole(x, lambda: x.log() / base())


_ROWS: dict[str, Callable[..., Any]] = {
    "neg": lambda x: -x, "abs": abs, "cbrt": _cbrt, "sqrt": lambda x: decide(x >= 0, x < 0, x.sqrt),
    "exp": lambda x: x.exp(), "exp2": lambda x: (x * arb.const_log2()).exp() if not x.is_integer() else arb(2) ** x,
    "expm1": lambda x: x.expm1(), "log": lambda x: _above_pole(x, x.log),
    "log2": _scaled_log(arb.const_log2), "log10": _scaled_log(arb.const_log10),
    "log1p": lambda x: _above_pole(x + 1, x.log1p),
    "sin": lambda x: x.sin(), "cos": lambda x: x.cos(), "tan": _tan,
    "arcsin": lambda x: decide(abs(x) <= 1, abs(x) > 1, x.asin), "arccos": lambda x: decide(abs(x) <= 1, abs(x) > 1, x.acos),
    "arctan": lambda x: x.atan(), "sinh": lambda x: x.sinh(), "cosh": lambda x: x.cosh(), "tanh": lambda x: x.tanh(),
    "arcsinh": lambda x: x.asinh(), "arccosh": lambda x: decide(x >= 1, x < 1, x.acosh),
    "arctanh": lambda x: _above_pole(1 - abs(x), x.atanh),
    "lgamma": lambda x: _above_pole(x, x.lgamma), "polygamma": _polygamma, "spline": _spline,
    "erf": lambda x: x.erf(), "erfc": lambda x: x.erfc(), "expit": _expit, "logaddexp": _logaddexp, "xlogx": _xlogx,
    "sign": _sign, "slope": _sign, "floor": lambda x: _whole(x.floor()), "ceil": lambda x: _whole(x.ceil()),
    "rint": _rint,
    "add": lambda x, y: x + y, "sub": lambda x, y: x - y, "mul": lambda x, y: x * y, "div": _div, "pow": _pow,
    "arctan2": _arctan2, "hypot": _norm, "norm": _norm, "min": lambda x, y: x.min(y), "max": lambda x, y: x.max(y),
    "step": _step, "ratio": _ratio,
    "lt": lambda x, y: truth(x < y, x >= y), "le": lambda x, y: truth(x <= y, x > y), "eq": lambda x, y: truth(x == y, x != y),
    "and": lambda p, q: p and q, "or": lambda p, q: p or q, "not": lambda p: not p,
}


class Balls(Algebra):
    """Elements are finite balls. A constant known to lie between two doubles is one number there, `fraction` of the way."""

    def __init__(self, point: Any, fraction: float = 0.5):
        self.point, self.fraction = point, fraction
        self.rows = _ROWS

    def constant(self, lo: float, hi: float) -> arb:
        if lo == hi:
            return arb(lo)
        return arb(lo) + (arb(hi) - arb(lo)) * arb(self.fraction)

    def variable(self, position: int) -> arb:
        return arb(float(self.point[position]))

    def power(self, x: arb, k: int) -> Any:
        return _integer_power(x, k)

    def apply(self, op: str, *elements: Any) -> Any:
        result = super().apply(op, *elements)
        return UNDECIDED if isinstance(result, arb) and not result.is_finite() else result


def value(root: Expr, point: Any, bits: int, fraction: float = 0.5) -> Any:
    """The scalar expression at the point: a ball, UNDEFINED or UNDECIDED.

    >>> from infimum.expr.build import build, index
    >>> from infimum.expr.node import var
    >>> value(build("log", index(var("x", (1,)), 0)), [0.0], 64), value(build("sqrt", index(var("x", (1,)), 0)), [4.0], 64)
    (undefined, 2.00000000000000)
    """
    with precision(bits):
        result = evaluate(root, Balls(point, fraction))
        if result is POLE:
            return UNDEFINED
        return UNDECIDED if not isinstance(result, Special) and not result.is_finite() else result


def settled_value(root: Expr, point: Any, fraction: float = 0.5) -> Any:
    """The value at the first precision that leaves nothing undecided; UNDECIDED if none does."""
    result: Any = UNDECIDED
    for bits in PRECISIONS:
        result = value(root, point, bits, fraction)
        if result is not UNDECIDED:
            return result
    return result
