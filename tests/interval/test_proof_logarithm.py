"""The constants of the logarithms are as large as their proof needs."""

import proof_logarithm as proof
import pytest
from flint import arb, ctx

from infimum.interval.elementary import logarithm as code


def test_approximation():
    s = max(abs(f / (2 + f)) for f in (proof.BELOW, proof.ABOVE))
    assert s * s * (1 + 2.0**-40) < 0.02945
    assert proof.approximation() <= code.LOG_ERROR


def test_mantissa_stays_within_reach():
    ctx.prec = 200
    assert arb(proof.BELOW) < arb(0.5).sqrt() - 1 - arb(2) ** -50 and arb(2).sqrt() - 1 + arb(2) ** -50 < proof.ABOVE
    assert code.ONE_BITS - code.SQRT_HALF_BITS > 0 and -0.29 > proof.BELOW and proof.ABOVE > 0.41


@pytest.mark.parametrize("scaled", [False, True])
def test_remainder(scaled):
    assert proof.cubic_need(scaled) <= code.CUBIC_EPS


def test_constants():
    """Pairs for the constants; the first part of those that an exponent multiplies has 42 bits at most."""
    ctx.prec = 300
    ln2, ln10 = arb(2).log(), arb(10).log()
    for pair, value in ((code.LN2, ln2), (code.LOG10_2, ln2 / ln10), (code.LOG2E, 1 / ln2), (code.LOG10E, 1 / ln10)):
        assert abs(value - arb(pair[0]) - arb(pair[1])) < arb(2) ** -95 * value
    for pair in (code.LN2, code.LOG10_2):
        mantissa = int(pair[0] * 2.0**60)
        assert mantissa % 2**16 == 0 and mantissa == pair[0] * 2.0**60 and abs(pair[1]) < 2.0**-42 * pair[0]


def test_bounds_for_small_and_huge_arguments():
    assert code.TINY**2 / 3 * 1.01 <= 2.0**-54                       # arctanh x - x < x**3/3*(1 + x*x), x - arcsinh x < x**3/6
    assert 1 / (4 * code.HUGE**2) + 2.0**-66 <= code.RELATIVE_EPS * 22  # arcsinh x - log 2x < 1/(4 x*x); the square of rest/u
