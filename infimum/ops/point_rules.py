"""Estimates: each operation at one point, in the same upward arithmetic, without widening. Never a proof."""

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

from infimum.interval.elementary import NAMES, row
from infimum.support.lazy import LazyModule

if TYPE_CHECKING:
    from infimum.interval import spline
    from infimum.interval.elementary import power
else:
    spline, power = LazyModule("interval.spline"), LazyModule("interval.elementary.power")


def _power(b, x, k: int):
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


# where the functions are defined: (primitive, edge) that must hold for the argument
_DOMAIN: dict[str, tuple[tuple[str, float], ...]] = {
    **dict.fromkeys(("log", "log2", "log10"), (("ogt", 0.0),)), "log1p": (("ogt", -1.0),), "arccosh": (("oge", 1.0),),
    "xlogx": (("oge", 0.0),), "lgamma": (("ogt", 0.0),),
    **dict.fromkeys(("arcsin", "arccos"), (("oge", -1.0), ("ole", 1.0))), "arctanh": (("ogt", -1.0), ("olt", 1.0)),
}


def _unless_nan(b, value, x, y):
    """A comparison loses NaN (0 * inf after an overflow): it must not come out as a number."""
    return b.select(b.uno(x, y), math.nan, value)


def _elementary(name: str) -> Callable:
    """The out-of-line estimate; NaN outside the domain and for NaN, so that no search takes such a point for a good one."""
    def rule(b, *xs):
        value = _unless_nan(b, b.outline(f"estimate_{name}", row(name).estimate, *xs)[0], xs[0], xs[-1])
        for test, edge in _DOMAIN.get(name, ()):
            value = b.select(getattr(b, test)(xs[0], edge), value, math.nan)
        return value
    return rule


def _pow(b, x, y):
    """x**y for x > 0; 0**y = 0 for y > 0 and 0**0 = 1; for x < 0 at whole numbers y, by their parity; else NaN."""
    size = _unless_nan(b, b.outline("estimate_pow", row("pow").estimate, b.abs(x), y)[0], x, y)
    half = b.mul(y, 0.5)
    signed = b.select(b.oeq(b.floor(half), half), size, b.neg(size))
    of_negative = b.select(b.oeq(b.floor(y), y), signed, math.nan)
    at_zero = b.select(b.ogt(y, 0.0), 0.0, b.select(b.oeq(y, 0.0), 1.0, math.nan))
    return b.select(b.ogt(x, 0.0), size, b.select(b.oeq(x, 0.0), at_zero, b.select(b.olt(x, 0.0), of_negative, math.nan)))


def _polygamma(b, x, m: int):
    from infimum.interval.elementary.gamma import estimate_polygamma

    return b.select(b.ogt(x, 0.0), estimate_polygamma(b, x, m), math.nan)


def _choose(b, less, equal, greater, x, y):
    return b.select(b.olt(x, y), less, b.select(b.ogt(x, y), greater, equal))


ESTIMATES: dict[str, Callable] = {
    **{name: _elementary(name) for name in NAMES}, "sin with cos": _elementary("sin"), "cos with sin": _elementary("cos"),
    "pow": _pow, "polygamma": _polygamma, "spline": lambda b, *xs, **params: spline.estimate_spline(b, *xs, **params),
    "add": lambda b, x, y: b.add(x, y), "sub": lambda b, x, y: b.sub(x, y), "mul": lambda b, x, y: b.mul(x, y),
    "div": lambda b, x, y: b.div(x, y), "neg": lambda b, x: b.neg(x), "abs": lambda b, x: b.abs(x), "powi": _power,
    "sqrt": lambda b, x: b.sqrt(x), "floor": lambda b, x: b.floor(x), "ceil": lambda b, x: b.neg(b.floor(b.neg(x))),
    "rint": lambda b, x: b.roundeven(x),
    "sign": lambda b, x: _choose(b, -1.0, 0.0, 1.0, x, 0.0), "slope": lambda b, x: _choose(b, -1.0, 0.0, 1.0, x, 0.0),
    "min": lambda b, x, y: _unless_nan(b, b.min(x, y), x, y), "max": lambda b, x, y: _unless_nan(b, b.max(x, y), x, y),
    "step": lambda b, x, y: _choose(b, 0.0, 0.5, 1.0, x, y),
    "ratio": lambda b, x, y: b.select(b.ogt(y, 0.0), b.div(x, y), 0.0),
    "where": lambda b, test, x, y: b.select(test, x, y),
    "lt": lambda b, x, y: b.olt(x, y), "le": lambda b, x, y: b.ole(x, y), "eq": lambda b, x, y: b.oeq(x, y),
    "not": lambda b, p: b.mnot(p), "and": lambda b, p, q: b.mand(p, q), "or": lambda b, p, q: b.mor(p, q),
}
