"""Bounds behind the constants of infimum.interval.elementary.roots."""

import math

from flint import arb, ctx

from infimum.interval.elementary import roots as code

U = 2.0**-52  # an upward rounding moves v by less than U*|v|


def start_error(pieces: int = 2048) -> float:
    """The relative error of the first guess of v**(-1/3), with the roundings of its polynomial."""
    ctx.prec = 120
    worst = 0.0
    for i in range(pieces):
        m = arb(1 + (i + 0.5) / pieces, 0.5 / pieces)
        middle = arb(1 + (i + 0.5) / pieces)
        value, slope = arb(0), arb(0)
        for k, c in enumerate(code.INVERSE):
            value += arb(c) * middle**k
            slope += k * arb(c) * m ** (k - 1) if k else 0
        exact = (-middle.log() / 3).exp()
        drift = (slope + (m.log() * arb(-4) / 3).exp() / 3) * arb(0, 0.5 / pieces)  # mean value form of the difference
        worst = max(worst, float(abs(value - exact + drift).upper()) / 0.79)
    largest = sum(abs(c) * 2.0**k for k, c in enumerate(code.INVERSE))
    roots = max(abs(float(arb(c) * arb(2) ** (arb(j) / 3) - 1)) for j, c in enumerate(code._INVERSE_ROOTS))
    return worst + 2 * len(code.INVERSE) * U * largest / 0.79 + 2 * roots + 2 * U


def cbrt_need() -> float:
    """The least CBRT_ERROR, from the error of the first guess on."""
    s = start_error()
    e = (1 + s) ** 3 - 1 + 8 * U                          # |1 - v s^3|, with its three roundings
    s = 14 / 81 * e**3 * (1 + 4 * e) + 8 * U + 4 * U * e    # series of (1 - e)**(-1/3) from e**3 on; e is off by 8U at most
    y = 2 * s + s * s + 3 * U                             # y = v*s*s
    rest = 3 * y * 1.01                                   # |v - y**3|, of v
    rounding = 3 * U * (rest + 3 * U)                     # the three operations after the exact v - cube
    factor = 2 * s + 2 * y + 8 * U                        # s*s/3 for 1/(3 y*y), with the roundings of the tail
    return y * y * 1.01 + rounding + rest / 3 * factor * 1.01


def hypot_need() -> float:
    """The least HYPOT_ERROR: the roundings listed beside the code."""
    return 0.5 * (1 + 1 + 2 + 3 + 4) * U * U + (3 + 4) * U * U + math.ldexp(1.0, -122)
