"""The constants of arctan and its kin are as large as their proof needs."""

import numpy as np
import proof_inverse_trigonometric as proof
from against_arb import beside, logarithmic, margin
from flint import arb, ctx

from infimum.interval.elementary import inverse_trigonometric as code


def test_tail():
    assert proof.error_need(proof.arctan_approximation()) <= code.ERROR


def test_multiples_of_a_quarter_of_pi():
    assert proof.base_need() <= code.BASE


def test_reach():
    """Both quotients on either side of the comparison with n/m, which is rounded, are within reach."""
    ctx.prec = 200
    edge = arb(code._EIGHTH)
    assert edge * (1 + arb(2) ** -50) < code.REACH
    below = edge * (1 - arb(2) ** -50)
    assert (1 - below) / (1 + below) < code.REACH


def test_bounds_of_the_ranges():
    ctx.prec = 200
    assert arb(code._PI[0]) < arb.pi() < arb(code._PI_UP) and code._HALF_PI_UP == code._PI_UP / 2


def test_small_quotients():
    """n/m >= arctan(n/m) >= (n/m)(1 - (n/m)**2/3): not two doubles below n/m rounded up, for which 2**-53 would do."""
    assert code.SMALL**2 / 3 < 2.0**-60


def test_small_sines():
    """x <= arcsin x <= x + x**3/5 below 2**-30."""
    assert (2.0**-30) ** 2 / 5 <= 2.0**-60


def test_errors_as_computed():
    """The error bound holds before the last rounding, and is not idle; the tiny quotients are another case."""
    rng = np.random.default_rng(12)
    edges = beside(np.array([2.0**0.5 - 1, 1.0, 2.0**0.5 + 1]), 20)
    y = np.concatenate([rng.uniform(0, 3, 3000), np.abs(logarithmic(rng, 1500, -32, 60)), edges])
    x = np.concatenate([rng.choice([-1.0, 1.0], 3000), rng.uniform(-4, 4, 1500), np.ones_like(edges)])
    y = np.maximum(y, np.abs(x) * 2.0**-32)
    assert 0.25 < margin("angle", lambda b, y, x: code._angle(b, y, 0.0, x, 0.0)[:3], arb.atan2, y, x) <= 1


def test_other_leg_as_computed():
    """sqrt(1 - x*x) is good to 2**-95."""
    rng = np.random.default_rng(13)
    x = np.concatenate([rng.uniform(-1, 1, 2000), 1 - np.exp2(rng.uniform(-53, 0, 2000)), logarithmic(rng, 300, -100, 0)])
    def leg(b, x):
        root, rest = code._other_leg(b, x)
        return root, rest, b.mul(root, 2.0**-95)
    assert margin("leg", leg, lambda v: (1 - v * v).sqrt(), x[x < 1]) <= 1
