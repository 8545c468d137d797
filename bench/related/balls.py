"""What the operations of drawn expressions mean, in balls of Arb: exact where numbers are exact, else an enclosure.

A function of balls raises `Undefined` where it is certainly undefined, `Pole` where NumPy has an infinite number or a number of
its own there, so that a comparison of it is no evidence, and `Unsure` where the precision does not tell.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import Any

import flint
from flint import arb, fmpq, fmpz

PRECISIONS = (256, 6000)  # bits; the second holds sums of the largest and the smallest doubles exactly
_LARGEST_POWER = 4096     # whole exponents beyond this are left undecided


class Undefined(Exception):
    """The function is certainly undefined at the point."""


class Pole(Undefined):
    """Undefined as a real function, but NumPy goes on with a number."""


class Unsure(Exception):
    """Ball arithmetic cannot tell."""


@contextmanager
def precision(bits: int) -> Iterator[None]:
    """Arb's working precision is a global: it is put back."""
    before = flint.ctx.prec
    flint.ctx.prec = bits
    try:
        yield
    finally:
        flint.ctx.prec = before


PI = "pi"  # the number itself, which no double is


def ball(value: float | int | Fraction | str) -> arb:
    """A number as a ball, as narrow as the precision allows."""
    if value == PI:
        return arb.pi()
    if isinstance(value, Fraction):
        return arb(fmpq(value.numerator, value.denominator))
    return arb(fmpz(value)) if isinstance(value, int) else arb(float(value))


def compare(a: arb, b: arb) -> int:
    """-1, 0 or 1 as a < b, a = b, a > b."""
    if a < b:
        return -1
    if a > b:
        return 1
    if a.is_exact() and b.is_exact():
        return 0
    raise Unsure


def _within(value: arb) -> arb:
    if not value.is_finite():
        raise Unsure
    return value


def _floor(x: arb) -> arb:
    found = x.floor()
    if not found.is_exact():
        raise Unsure
    return found


def _rint(x: arb) -> arb:
    low = _floor(x)
    side = compare(x - low, arb(0.5))
    return low if side < 0 or (side == 0 and (low / 2).floor() * 2 == low) else low + 1


def _sqrt(x: arb) -> arb:
    if compare(x, arb(0)) < 0:
        raise Undefined
    return x.sqrt()


def _log(x: arb) -> arb:
    sign = compare(x, arb(0))
    if sign <= 0:
        raise Pole if sign == 0 else Undefined
    return x.log()


def _exp(x: arb) -> arb:
    if abs(x) > 1e6:
        raise Unsure
    return x.exp()


def _tan(x: arb) -> arb:
    sine, cosine = x.sin_cos()
    return _within(sine / cosine)


def _cbrt(x: arb) -> arb:
    sign = compare(x, arb(0))
    return arb(0) if sign == 0 else x.root(3) if sign > 0 else -((-x).root(3))


def _div(x: arb, y: arb) -> arb:
    if compare(y, arb(0)) == 0:
        raise Pole
    return x / y


def power(x: arb, y: arb) -> arb:
    """The real power of the exact real exponent: for a negative base defined exactly where that exponent is whole."""
    if y.is_exact() and y.is_integer():
        if abs(y) > _LARGEST_POWER:
            raise Unsure
        if y <= 0 and compare(x, arb(0)) == 0:
            raise Pole if y < 0 else Unsure  # 0**0 is 1 in NumPy
        return x ** int(y.unique_fmpz())
    sign = compare(x, arb(0))
    if sign > 0:
        return _within((y * x.log()).exp()) if abs(y * x.log()) < 1e6 else _unsure()
    if sign == 0:
        if compare(y, arb(0)) > 0:
            return arb(0)
        raise Pole
    if y.contains_integer():
        raise Unsure
    raise Pole  # NumPy has NaN; NaN**0 and 1**NaN are 1 there, so that what follows is no evidence


def _unsure() -> Any:
    raise Unsure


BALLS: dict[str, Callable[..., arb]] = {
    "neg": lambda x: -x, "abs": abs, "square": lambda x: x**2, "cube": lambda x: x**3, "fourth": lambda x: x**4,
    "sqrt": _sqrt, "half_power": _sqrt, "log": _log, "exp": _exp, "sin": lambda x: x.sin(), "cos": lambda x: x.cos(),
    "tan": _tan, "arctan": lambda x: x.atan(), "tanh": lambda x: x.tanh(), "cbrt": _cbrt, "floor": _floor,
    "ceil": lambda x: -_floor(-x), "rint": _rint, "sign": lambda x: arb(compare(x, arb(0))),
    "inverse": lambda x: _div(arb(1), x), "minus_two": lambda x: _div(arb(1), x) ** 2, "zero_times": lambda x: 0 * x,
    "add": lambda x, y: x + y, "sub": lambda x, y: x - y, "mul": lambda x, y: x * y, "div": _div, "power": power,
    "min": lambda x, y: x.min(y), "max": lambda x, y: x.max(y),
}
