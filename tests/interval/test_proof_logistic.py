"""expit and xlogx: the parts they are made of are proved elsewhere; here the errors as they are computed, and the constants."""

import math

import numpy as np
import proof_exponential
from against_arb import logarithmic, margin
from flint import arb, ctx
from test_logistic import expit, xlogx

from infimum.interval.elementary import logistic as code


def test_exponential_in_two_parts():
    """The low part of the argument: an ulp of the reduction, one of the sum with the argument's own low part, and some room."""
    assert proof_exponential.cubic_need("in two parts") <= code.TWO_PART_EPS


def test_slack_covers_double_double():
    """Sums, a product by a power of two and a quotient: fewer than eight errors of 2**-97 of numbers below 2."""
    assert 8 * 2 * 2.0**-97 + 2.0**-95 < code.SLACK


def test_minimum_of_xlogx():
    ctx.prec = 200
    below, above = code.INVERSE_E
    assert math.nextafter(below, 1.0) == above and below < arb(-1).exp() < above


def test_errors_as_computed():
    """The error bounds hold before the last rounding, and are not idle."""
    rng = np.random.default_rng(41)
    x = np.concatenate([rng.uniform(-700, 0, 2000), rng.uniform(-1, 1, 3000), rng.uniform(0, 40, 1000),
                        logarithmic(rng, 500, -80, 5)])

    def scaled(b, x):
        k, head, tail, error = code._expit_parts(b, x)
        return tuple(code.scale(b, v, k) for v in (head, tail, error))
    assert 0.25 < margin("expit", scaled, expit, x) <= 1
    x = np.abs(np.concatenate([rng.uniform(0, 2, 3000), logarithmic(rng, 2000, -300, 300), 1 + logarithmic(rng, 500, -52, -2)]))

    def unscaled(b, x):
        head, tail, error, unscale = code._xlogx_parts(b, x)
        return tuple(b.mul(v, unscale) for v in (head, tail, error))
    assert 0.25 < margin("xlogx", unscaled, xlogx, x) <= 1
