"""Functions on Arb balls, as rows of `tests/operations.py` need them: a finite ball, UNDEFINED, POLE or UNDECIDED."""

from collections.abc import Callable
from math import factorial
from typing import Any

from flint import acb, arb

from tests.oracle.walk import POLE, UNDECIDED, UNDEFINED, Special


def decide(yes: bool, no: bool, value: Callable[[], Any], otherwise: Any = UNDEFINED) -> Any:
    """The value where the condition certainly holds, `otherwise` where it certainly fails."""
    return value() if yes else otherwise if no else UNDECIDED


def truth(yes: bool, no: bool) -> Any:
    return True if yes else False if no else UNDECIDED


def whole(x: arb) -> Any:
    """The one integer that the ball of a rounded number holds."""
    return x if x.is_exact() else UNDECIDED


def rint(x: arb) -> Any:
    """floor(x + 1/2), less 1 where x is half an odd integer and that is odd."""
    up = whole((x + 0.5).floor())
    if isinstance(up, Special) or x + 0.5 > up:
        return up
    return decide(x + 0.5 == up, False, lambda: up if (up / 2).is_integer() else up - 1)


def cbrt(x: arb) -> Any:
    if x > 0:
        return x.root(3)
    return -(-x).root(3) if x < 0 else decide(x == 0, False, lambda: arb(0))


def sign(x: arb) -> Any:
    return arb(1) if x > 0 else arb(-1) if x < 0 else decide(x == 0, False, lambda: arb(0))


def div(x: arb, y: arb) -> Any:
    return decide(y != 0, y == 0, lambda: x / y, POLE)


def integer_power(x: arb, k: int) -> Any:
    return x**k if k >= 0 else decide(x != 0, x == 0, lambda: x**k, POLE)


def power(x: arb, y: arb) -> Any:
    """exp(y log x) for x > 0; at a whole number y also for x <= 0, but for 0 to a negative one."""
    if x > 0:
        return (y * x.log()).exp()
    if y.is_integer():
        if abs(y) <= 2**31:
            return integer_power(x, int(y.unique_fmpz()))
        size = (y * (-x).log()).exp() if x < 0 else UNDECIDED
        return size if isinstance(size, Special) or (y / 2).is_integer() else -size
    if x == 0:
        return decide(y > 0, y < 0, lambda: arb(0), POLE)
    return POLE if x < 0 and not y.contains_integer() else UNDECIDED


def arctan2(y: arb, x: arb) -> Any:
    if x > 0:
        return (y / x).atan()
    if y > 0:
        return arb.pi() / 2 - (x / y).atan()
    if y < 0:
        return -arb.pi() / 2 - (x / y).atan()
    if y == 0:
        return decide(x < 0, x == 0, lambda: arb.pi(), POLE)
    return UNDECIDED


def step(x: arb, y: arb) -> Any:
    return arb(1) if x > y else arb(0) if x < y else decide(x == y, False, lambda: arb(0.5))


def ratio(x: arb, y: arb) -> Any:
    return x / y if y > 0 else decide(y == 0, False, lambda: arb(0))


def norm(*xs: arb) -> arb:
    return sum((x * x for x in xs), arb(0)).sqrt()


def above_pole(distance: arb, value: Callable[[], Any]) -> Any:
    """A function with a pole at distance 0, defined above it."""
    return decide(distance > 0, distance <= 0, value, UNDEFINED if distance < 0 else POLE)


def expit(x: arb) -> Any:
    return 1 / (1 + (-x).exp()) if x > 0 else x.exp() / (1 + x.exp())


def logaddexp(x: arb, y: arb) -> Any:
    return x.max(y) + (-abs(x - y)).exp().log1p()


def xlogx(x: arb) -> Any:
    return x * x.log() if x > 0 else decide(x == 0, x < 0, lambda: arb(0))


def polygamma(x: arb, m: int) -> Any:
    """(-1)**(m+1) m! zeta(m+1, x), Hurwitz's zeta function."""
    sign = arb((-1) ** (m + 1) * factorial(m))
    return above_pole(x, lambda: x.digamma() if m == 0 else sign * arb(m + 1).zeta(x))


def sinc(x: arb, m: int) -> arb:
    """Derivative number m of sin(x)/x: the real part of i**m times the integral of u**m exp(i x u) over [0, 1], which is
    Kummer's function 1F1(m + 1, m + 2, i x) / (m + 1)."""
    return (acb(0, 1) ** m * acb(0, x).hypgeom_1f1(m + 1, m + 2)).real / (m + 1)


def spline(x: arb, table: Any) -> Any:
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


def tan(x: arb) -> Any:
    sine, cosine = x.sin_cos()
    return sine / cosine if cosine != 0 else UNDECIDED


def scaled_log(base: Callable[[], arb]) -> Callable[[arb], Any]:
    return lambda x: above_pole(x, lambda: x.log() / base())
