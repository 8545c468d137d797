"""Bounds behind the constants of infimum.interval.elementary.error_function, computed again from its own code.

Where the argument is small (`near`) the error of the tail counts in units of a*z; the low part of 2/sqrt(pi) and the rounding
error of the head are below 2**-51 of a, and what their sum loses, below 2**-100 of it, is covered by SLACK.
"""

import math
from collections.abc import Callable

from flint import arb, arb_poly, arb_series, ctx
from proof_exponential import Counter
from proof_trigonometric import WIDER, Cell, approximation_error

from infimum.interval.elementary import error_function as code

TERMS = 30     # of the Taylor polynomials, whose last coefficient over a whole piece bounds what is left
TURN = 8.0     # beyond, the asymptotic series


def near_approximation() -> float:
    """The error of NEAR in z on [0, BREAK**2]; the series alternates and falls: it leaves less than its next term."""
    ctx.prec = 300
    series = [(-1) ** n * 2 / arb.const_sqrt_pi() / (arb(math.factorial(n)) * (2 * n + 1)) for n in range(1, 40)]
    return approximation_error(series, arb(1) / math.factorial(40), code.NEAR, code.BREAK**2 * WIDER)


def near_need() -> float:
    """The least NEAR_EPS: the error of the tail, of a*z as computed, for SMALL <= a <= BREAK."""
    need, top = 0.0, code.BREAK
    while top > code.SMALL:
        bottom = top / 1.03
        b, a = Counter(), Cell(bottom, top)
        z = b.mul(a, a)
        tail = code.near_tail(b, a, z, Cell(-1.13 * 2.0**-52 * top, 0.0))
        unit = bottom**3 * (1 - 2.0**-50)
        need = max(need, (tail.err + top**3 * code.NEAR_ERROR - bottom * code.SLACK / 2) * WIDER / unit)
        top = bottom
    return need


# ---- FAR
def _worst(difference: Callable[[arb_series], arb_series], low: float, high: float, pieces: int) -> float:
    """A bound of |difference| on [low, high], by Taylor polynomials at the middles of pieces, with remainder."""
    half, worst = arb(high - low) / (2 * pieces), 0.0
    for i in range(pieces):
        middle = arb(low) + half * (2 * i + 1)
        exact, over_all = (difference(arb_series([centre, 1], TERMS)) for centre in (middle, arb(middle.mid(), half.upper())))
        bound = sum((abs(exact[j]) * half**j for j in range(TERMS - 1)), abs(over_all[TERMS - 1]) * half ** (TERMS - 1))
        worst = max(worst, float(bound.upper()))
    return worst * WIDER


def _far(q: arb_series) -> arb_series:
    value = arb_series([0], TERMS)
    for c in reversed(code.FAR):
        value = value * q + arb(c)
    return value * q + sum(map(arb, code.FAR_MIDDLE), arb(0))


def far_approximation() -> float:
    """The error of FAR for a >= BREAK: in a up to TURN, in w = 1/a beyond.

    There exp(a*a)*erfc(a)*(1 + 2a) = (2 + w)/sqrt(pi) * (1 - w**2/2 + 3 w**4/4 - …), the n-th term (2n-1)!! (w*w/2)**n, and what
    the series leaves is less than the first term left out.
    """
    ctx.prec, ctx.cap = 300, TERMS

    def middle(a: arb_series) -> arb_series:
        return (a * 2 + 1) * (a * a).exp() * a.erfc() - _far((a - 4) / (a + 3))
    count, terms, term = 62, [], arb(1)
    for n in range(count):
        terms += [term, arb(0)]
        term *= -arb(2 * n + 1) / 2
    left = abs(term) * arb(1 / TURN) ** (2 * count) * (2 + arb(1 / TURN)) / arb.const_sqrt_pi()

    def beyond(w: arb_series) -> arb_series:
        series = arb_series([0], TERMS)
        for c in reversed(terms):
            series = series * w + c
        return series * (w + 2) / arb.const_sqrt_pi() - _far((1 - w * 4) / (1 + w * 3))
    return max(_worst(middle, code.BREAK, TURN, 300), _worst(beyond, 0.0, 1 / TURN, 200) + float(left.upper()) * WIDER)


def slope_error() -> float:
    """How far FAR_SLOPE is from the derivative of FAR, for |q| <= 1: bounded on pieces of q."""
    ctx.prec = 200
    far = arb_poly([0, *code.FAR])
    difference = far.derivative() - arb_poly(list(code.FAR_SLOPE))
    return max(float(abs(difference(arb((2 * i + 1) / 512 - 1, 1 / 512))).upper()) for i in range(512)) * WIDER


def far_need(slope: float) -> float:
    """The least FAR_EPS: roundings of far_tail for |q| <= 1, |low| <= 4u|q|, and the error of FAR.

    `low` is off by 2**-97 and its square is left out, at most 2**-98 with a second derivative below 2.
    """
    need, pieces = 0.0, 400
    for i in range(-pieces, pieces):
        low = 2.0**-50 * (max(abs(i), abs(i + 1)) / pieces)
        tail = code.far_tail(Counter(), Cell(i / pieces, (i + 1) / pieces), Cell(-low, low))
        need = max(need, tail.err + low * slope)
    return (need + code.FAR_ERROR) * WIDER
