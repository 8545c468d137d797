"""The constants of the exponential functions are as large as their proof needs."""

import numpy as np
import proof_exponential as proof
import pytest
from against_arb import enclosure, holds
from flint import arb, ctx

from infimum.interval.elementary import exponential as code


def test_approximation():
    errors = proof.approximation_errors()
    assert errors["sinh"] <= code.SINH_ERROR and errors["cosh"] <= code.COSH_ERROR


def test_reduction():
    """|r| stays within RADIUS though k comes from a rounded product, and three doubles for ln 2 are enough."""
    ctx.prec = 300
    ln2 = arb(2).log()
    assert ln2 / 2 + ln2 * 1100 * arb(2) ** -51 < code.RADIUS
    missing = abs(ln2 - sum((arb(v) for v in code.LN2), arb(0)))
    assert missing * 1100 < arb(2) ** -152
    assert abs(ln2 - arb(code.LN2[0]) - arb(code.LN2[1])) < arb(2) ** -103 * code.LN2[0]  # base two: BASE_TWO_EPS counts it
    assert 0.5 <= code.LN2[0] < 1 and 1100 * code.LN2[1] < 2.0**-45


def test_exp_and_exp2():
    assert proof.quadratic_need() <= code.QUADRATIC_EPS
    assert proof.quadratic_need(proof.LOW_BASE_TWO) <= code.QUADRATIC_EPS
    assert proof.quadratic_need(0.0, 2.0**-61) <= code.QUADRATIC_EPS
    assert 8 * proof.LOW_BASE_TWO * 2.0**-52 <= code.BASE_TWO_EPS  # low is rounded four times, and times 1 + r once more


@pytest.mark.parametrize("case", ["k = 0", "k != 0"])
def test_expm1_and_tanh(case):
    assert proof.cubic_need(case) <= code.CUBIC_EPS


@pytest.mark.parametrize("odd", [True, False])
def test_sinh_and_cosh(odd):
    assert max(proof.hyperbolic_need(odd, k) for k in (0, 1, 2, 30)) <= code.HYPERBOLIC_EPS


def test_exp_beside_every_multiple_of_ln_2():
    x = proof.near_multiples()
    lows, highs = enclosure("exp")(x, x)
    assert len(np.unique(x)) == len(x)
    for v, lo, hi in zip(x.tolist(), lows.tolist(), highs.tolist(), strict=True):
        assert holds(arb.exp, (v,), lo, hi)[0], v


def test_bounds_for_small_arguments():
    """Below TINY: |f(x) - x| <= x**3/3 + x**5 for sinh (x**3/6) and tanh (x**3/3), at most 2**-54 x."""
    assert code.TINY**2 / 3 * 1.01 <= 2.0**-54
    assert code.TINY / 2 * 1.01 <= 2.0**-28 * 1.01  # cosh x - 1 <= x*x/2*(1 + x*x) <= x*2**-28
