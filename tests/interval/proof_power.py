"""The error count behind infimum.interval.elementary.power, with the part in plain double taken from Cells.

Double-double operations are off by at most 2**-95 of their result (doubledouble.py; tests/interval/test_doubledouble.py).
"""

from flint import arb, ctx
from proof_exponential import Counter
from proof_trigonometric import Cell, approximation_error

from infimum.interval.elementary import power as code
from infimum.interval.elementary.doubledouble import horner

TOP = 0.02945           # z = s*s for sqrt(1/2) <= 1 + f <= sqrt(2)
DOUBLED = 2.0**-95
OPERATIONS = 10


def approximation() -> float:
    """The error of FINE in z on [0, TOP]; what 40 terms leave is below z**40."""
    ctx.prec = 300
    terms = 40
    return approximation_error([arb(1) / (2 * k + 7) for k in range(terms)], arb(TOP) ** terms, code.FINE, TOP)


def logarithm_need() -> float:
    """The least LOG_EPS, of the logarithm of the mantissa: the error of z*z*(z*FINE), and OPERATIONS of double-double.

    The head of z stands for z in z*FINE: its error is at most 2**-51 z. The bracket 1 + … is at least 1.
    """
    b = Counter()
    worst = 0.0
    for i in range(64):
        z = Cell(TOP * i / 64, TOP * (i + 1) / 64, 2.0**-51 * TOP)
        product = b.mul(z, horner(b, z, code.FINE))
        worst = max(worst, (product.err + z.hi * code.FINE_ERROR) * (z.hi * (1 + 2.0**-40)) ** 2)
    return worst * 1.01 + OPERATIONS * DOUBLED


def exponent_error(largest: float = 1100.0) -> float:
    """A bound of the error of y*log2(x) if that is at most `largest`: the part beyond the exponent is at most the logarithm."""
    return largest * code.LOG_EPS + largest * 2.0**-98


def binary_power_need() -> float:
    """The relative error of x**k in double-double, k <= SMALL_POWERS: products count 2**-97 each, an error of x**j k/j times."""
    worst = 0.0
    for k in range(2, code.SMALL_POWERS + 1):
        error = 0.0
        for digit in bin(k)[3:]:
            error = 2 * error + 2.0**-97
            error = error + 2.0**-97 if digit == "1" else error
        worst = max(worst, error)
    return worst * 1.01 + 2.0**-96
