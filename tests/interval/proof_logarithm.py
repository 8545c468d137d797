"""Bounds behind the constants of infimum.interval.elementary.logarithm, computed again from its own code.

Only the cubic remainder s*g is rough. Everything else in a tail is below 2**-33 of the head (k times the low part of ln 2) or is
the rounding error of a head or square; their own roundings, fewer than ten of 2**-52 of that, are below 2**-80 of the head,
and RELATIVE_EPS is 2**-64. Double-double arguments are off by less than 2**-90, which costs as much.
"""

from collections.abc import Iterator

from flint import arb, ctx
from proof_exponential import Counter
from proof_trigonometric import WIDER, Cell, approximation_error

from infimum.interval.elementary import logarithm as code

LEAST = 2.0**-61
BELOW, ABOVE = -0.29290, 0.41422   # sqrt(1/2) - 1 and sqrt(2) - 1, outward


def approximation() -> float:
    """The error of LOG in z on [0, 0.02945]; what 40 terms leave is below 2*z**40."""
    ctx.prec = 300
    top, terms = 0.02945, 40
    return approximation_error([arb(2) / (2 * k + 3) for k in range(terms)], 2 * arb(top) ** terms, code.LOG, top)


def both_signs(ratio: float = 1.02) -> Iterator[tuple[float, float]]:
    for end in (BELOW, ABOVE):
        b = end
        while abs(b) > LEAST:
            a = b / ratio
            yield min(a, b), max(a, b)
            b = a


def cubic_need(scaled: bool) -> float:
    """The least CUBIC_EPS, of |s|*h, both as computed; `scaled` as in log2 and log10: one rounding more, and 3/16 more room."""
    need = 0.0
    for lo, hi in both_signs():
        b, f = Counter(), Cell(lo, hi)
        h, _, s, g, _ = code.cubic_remainder(b, f)
        remainder = b.fma(s, g, Cell(0.0, 0.0))
        error = remainder.err + s.most**3 * code.LOG_ERROR + (2.0**-52 * (remainder.most + remainder.err) if scaled else 0.0)
        unit = (min(abs(s.lo), abs(s.hi)) - s.err) * (h.lo - h.err)
        need = max(need, error * WIDER / unit / (1.1875 if scaled else 1.0))
    return need
