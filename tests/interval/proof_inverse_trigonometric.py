"""Bounds behind the constants of infimum.interval.elementary.inverse_trigonometric, computed again from its own code."""

from flint import arb, ctx
from proof_trigonometric import WIDER, Analyst, Cell, approximation_error, cells

from infimum.interval.elementary import inverse_trigonometric as code


def arctan_approximation() -> float:
    """The error of the polynomial in z on [0, REACH**2]; the series falls, so what 60 terms leave is below z**60."""
    ctx.prec = 300
    terms, z = 60, arb(code.REACH) ** 2
    series = [arb((-1) ** (k + 1)) / (2 * k + 3) for k in range(terms)]
    return approximation_error(series, z**terms, code.ARCTAN, float(z.upper()) * WIDER)


def error_need(approximation: float, parts: int = 400) -> float:
    """The least ERROR: what QUOTIENT does not cover, of q**3; BASE covers the rest.

    |low| <= 2**-52 q after the division (double-double, off by less than 2**-90 q, or 2**-96 where q is a difference: then BASE
    covers it). The sum of the tail and the low part of the multiple of pi/4 (off by 2**-102, BASE) is rounded once more.
    """
    need = 0.0
    for a, b in cells(code.SMALL, code.REACH, parts):
        analyst, q, low = Analyst(), Cell(a, b), 2.0**-52 * b
        tail = code.tail(analyst, q, Cell(-low, low), analyst.mul(q, q))
        model = b**3 * approximation + low * b**4 + low * low + 2.0**-90 * b
        sums = 2.0**-52 * (tail.most + tail.err)
        need = max(need, ((tail.err + model + sums) * WIDER - a * code.QUOTIENT) / a**3)
    return need


def base_need() -> float:
    """The least BASE: constants (pi and its multiples as two doubles), roundings of 2**-52 of 2**-50, the quotient 2**-96."""
    ctx.prec = 300
    worst = 0.0
    for parts, factor in zip((*code._QUARTERS, code._THREE_QUARTERS), (0.25, 0.5, 1.0, 0.75), strict=True):
        missing = abs(arb.pi() * factor - arb(parts[0]) - arb(parts[1]))
        worst = max(worst, float(missing.upper()) / parts[0])
    return (worst + 2 * 2.0**-102 + 2.0**-104 + 2.0**-96) / 0.78
