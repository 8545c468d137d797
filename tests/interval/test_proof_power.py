"""The constants of the powers are as large as their proof needs."""

import proof_power as proof
from flint import arb, ctx

from infimum.interval.elementary import power as code


def test_approximation():
    assert proof.approximation() <= code.FINE_ERROR


def test_logarithm():
    assert proof.logarithm_need() <= code.LOG_EPS / 2


def test_exponent():
    """exp of a double-double exponent: an error of e moves 2**e by e*ln 2*2**0.5 of 2**k at most, which `extra` = e covers."""
    assert proof.exponent_error() < 2.0**-55.8
    ctx.prec = 100
    assert arb(2).log() * arb(2).sqrt() * (1 + arb(2) ** -20) < 1


def test_binary_power():
    assert proof.binary_power_need() <= 2.0**-88 / 8


def test_constants():
    ctx.prec = 300
    for pair, value in ((code.THIRD, arb(1) / 3), (code.FIFTH, arb(1) / 5), (code.TWICE_LOG2E, 2 / arb(2).log())):
        assert abs(value - arb(pair[0]) - arb(pair[1])) < arb(2) ** -104 * value
