"""The constants of erf and erfc are as large as their proof needs."""

import math

import numpy as np
import proof_error_function as proof
from against_arb import logarithmic, margin
from flint import arb, ctx

from infimum.interval.elementary import error_function as code


def test_approximations():
    assert proof.near_approximation() <= code.NEAR_ERROR
    assert proof.far_approximation() <= code.FAR_ERROR


def test_roundings():
    assert proof.near_need() <= code.NEAR_EPS
    assert proof.far_need(proof.slope_error()) <= code.FAR_EPS


def test_constants():
    """2/sqrt(pi) in two parts, and between neighbours; below SMALL the lower one is below erf(a)/a as well."""
    ctx.prec = 300
    constant = 2 / arb.const_sqrt_pi()
    low, rest = code.TWO_OVER_ROOT_PI
    assert abs(constant - arb(low) - arb(rest)) < arb(2) ** -105 and math.nextafter(low, 2.0) == code.ABOVE
    assert low < constant * (1 - arb(code.SMALL) ** 2 / 3) and constant < code.ABOVE


def test_ends():
    """erfc of LAST is below the smallest double, and erf of 6 above the last double before 1."""
    ctx.prec = 300
    assert arb(code.LAST).erfc() < arb(2) ** -1074 and arb(6).erf() > 1 - arb(2) ** -53
    assert code.LAST**2 < 1100


def test_second_derivative_of_far():
    """The square of the low part of q is left out."""
    assert sum(k * (k + 1) * abs(c) for k, c in enumerate(code.FAR)) < 2


def test_errors_as_computed():
    """The error bounds hold before the last rounding, and are not idle."""
    rng = np.random.default_rng(61)
    x = np.concatenate([rng.uniform(-6, 6, 2000), rng.uniform(-0.6, 0.6, 1000), logarithmic(rng, 300, -29, 2),
                        rng.uniform(0.5, 26, 2000)])

    def scaled(b, x):
        k, head, tail, error = code._erfc_parts(b, x)
        return tuple(code.scale(b, v, k) for v in (head, tail, error))
    assert 0.25 < margin("erfc", scaled, arb.erfc, x) <= 1
    a = np.abs(x[(np.abs(x) < 6) & (np.abs(x) > 2.0**-29)])
    assert 0.25 < margin("erf", code._erf_parts, arb.erf, a) <= 1
