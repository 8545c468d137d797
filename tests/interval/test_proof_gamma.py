"""The constants of lgamma and polygamma are as large as their proof needs."""

import math
from fractions import Fraction

import numpy as np
from against_arb import logarithmic, margin
from flint import arb, ctx
from proof_exponential import Counter
from proof_trigonometric import WIDER, Cell

from infimum.backend.cpu import CpuBackend
from infimum.interval.elementary import gamma as code
from infimum.kernel.ir import Builder

FIRST = 9.99  # no less than this is y


def test_constants():
    ctx.prec = 300
    for pair, value in ((code.HALF_LOG_2PI, (2 * arb.pi()).log() / 2), (code.TWELFTH, arb(1) / 12), (code.LN2, arb(2).log())):
        assert abs(value - arb(pair[0]) - arb(pair[1])) < arb(2) ** -105
    for k, c in enumerate(code.BERNOULLI, 1):
        assert arb.bernoulli(2 * k).overlaps(arb(c.numerator) / c.denominator)
    for k, c in enumerate(code.STIRLING, 1):
        assert abs(Fraction(c) - code.BERNOULLI[k - 1] / (2 * k * (2 * k - 1))) <= Fraction(1, 2**53) * abs(Fraction(c))


def test_minimum_of_lgamma():
    ctx.prec = 200
    below, above = code.LOWEST
    assert math.nextafter(below, 2.0) == above and arb(below).digamma() < 0 < arb(above).digamma()
    assert arb(code.LEAST) < arb(below).lgamma() + (arb(above) - arb(below)) * arb(below).digamma()  # convex: above its tangent
    assert arb(below).lgamma() - arb(code.LEAST) < arb(2) ** -54


def test_series():
    """Roundings for all y >= FIRST, in cells of it; those of the coefficients; and the first term that is left out."""
    cells, y = [(1e4, 2.0**900)], 1e4
    while y > FIRST:
        cells.append((y / 1.01, y))
        y /= 1.01
    worst = 0.0
    for low, high in cells:
        rounded = code.beyond_twelfth(Counter(), Cell(max(low, FIRST), high)).err
        coefficients = sum(abs(c) * 2.0**-53 * low ** (-2 * k) for k, c in enumerate(code.STIRLING) if k)
        worst = max(worst, (rounded + coefficients) / low)
    n = len(code.BERNOULLI)
    left = float(abs(code.BERNOULLI[-1])) / (2 * n * (2 * n - 1)) / FIRST ** (2 * n - 1)
    assert (worst + left) * WIDER < code.STIRLING_ERROR / 2


def test_steps_lead_to_the_series():
    rng = np.random.default_rng(91)
    beside = [np.nextafter(np.arange(1.0, 16), v) for v in (0.0, 100.0)]
    x = np.concatenate([*beside, rng.uniform(0, 16, 500), [5e-324, 1e-300, 1e300]])
    for start in (code.START, code.START + 3):
        b = Builder()
        b.output(0, 0, code._steps(b, b.input(0, 0), start))
        n = np.empty((1, len(x)))
        CpuBackend().compile(b.kernel("steps", 1, 1)).run([x[None]], [n], np.zeros(1), np.zeros(1, np.int64))
        assert (n[0] == np.floor(n[0])).all() and (n[0] >= 0).all() and (n[0] <= start).all()
        assert (x + n[0] >= start - 0.01).all() and (n[0][x >= start] == 0).all()


def test_slack_covers_double_double():
    """Ten products, five sums, a quotient and two logarithms of relative errors up to 2**-95; what is multiplied or added is
    below the sizes that SLACK counts, y log y, which is above 20, and the logarithm of the product."""
    assert 40 * 2.0**-95 < code.SLACK


def test_error_as_computed():
    """The error bound holds before the last rounding."""
    rng = np.random.default_rng(92)
    x = np.abs(np.concatenate([rng.uniform(0, 12, 3000), logarithmic(rng, 1500, -1000, 900), 1 + logarithmic(rng, 200, -40, -3)]))

    def unscaled(b, x):
        head, tail, error, unscale = code._lgamma_parts(b, x)
        return tuple(b.mul(v, unscale) for v in (head, tail, error))
    assert 0.01 < margin("lgamma", unscaled, arb.lgamma, x) <= 1
