"""expit, logaddexp and xlogx against Arb."""

import math

import numpy as np
import pytest
from against_arb import EDGES, LARGEST, beside, check_lanes, check_points, enclosure, estimate, holds, logarithmic
from flint import arb, ctx

INVERSE_E = 1 / math.e


def expit(x: arb) -> arb:
    return 1 / (1 + (-x).exp()) if x > 0 else x.exp() / (1 + x.exp())


def logaddexp(x: arb, y: arb) -> arb:
    """Arb knows e**-10000 as a ball around 0: a number that is certainly larger, and no more than 2**-4000, stands for it."""
    return x.max(y) + ((-abs(x - y)).exp().log1p() if abs(x - y) < 3000 else arb(2) ** -4000)


def xlogx(x: arb) -> arb:
    return x * x.log() if x > 0 else arb(0)


def points(name: str, rng: np.random.Generator) -> np.ndarray:
    if name == "expit":
        breaks = beside(np.array([-746.0, -745.2, -708.4, 0.0, 36.7, 38.0, 746.0]), 3)
        x = np.concatenate([breaks, beside(np.arange(-1080.0, 60.0) * math.log(2)), rng.uniform(-750, 750, 1500),
                            rng.uniform(-1, 1, 1500), logarithmic(rng, 1500, -1074, 10), EDGES])
        return x[np.abs(x) < 2000]
    breaks = beside(np.array([1.0, INVERSE_E, 0.5, 2.0, math.sqrt(0.5), math.sqrt(2), 2.0**-500, 2.0**500, 2.5e305]), 4)
    x = np.abs(np.concatenate([breaks, rng.uniform(0, 3, 1500), logarithmic(rng, 3000, -1074, 1024), EDGES]))
    return x[x > 0]


FUNCTIONS = {"expit": expit, "xlogx": xlogx}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_points(name):
    check_points(name, FUNCTIONS[name], points(name, np.random.default_rng(31)))


def test_logaddexp_at_points():
    """Off by at most 4 ulp of the larger of 1 and max(|x|, |y|): the sum may cancel."""
    rng = np.random.default_rng(32)
    x, y = rng.uniform(-50, 50, 1500), logarithmic(rng, 1500, -1074, 1023)
    x = np.concatenate([x, y, y, x, EDGES, np.full(3, -math.log(2))])
    y = np.concatenate([x[:1500] + rng.uniform(-40, 40, 1500), -x[1500:3000], x[1500:3000], np.roll(x[:1500], 1), EDGES[::-1],
                        beside(np.array([-math.log(2)]), 1)])
    lows, highs = enclosure("logaddexp")(x, x, y, y)
    near = estimate("logaddexp")(x, y)
    for u, v, lo, hi, guess in zip(*(a.tolist() for a in (x, y, lows, highs, near)), strict=True):
        assert holds(logaddexp, (u, v), lo, hi)[0], (u, v, lo, hi)
        unit = math.ulp(max(1.0, abs(u), abs(v)))
        assert min(hi, LARGEST) - lo <= 4 * unit and (abs(guess - lo) <= 4 * unit or guess == math.inf), (u, v, lo, hi, guess)


def test_exact_values():
    for name, x, value in (("expit", 0.0, 0.5), ("xlogx", 0.0, 0.0), ("xlogx", 1.0, 0.0)):
        assert [v[0] for v in enclosure(name)([x], [x])] == [value, value]


def test_unbounded_intervals():
    inf = math.inf
    assert [v.tolist() for v in enclosure("expit")([-inf, 0, -inf], [inf, inf, 0])] == [[0, 0.5, 0], [1, 1, 0.5]]
    lo, hi = enclosure("xlogx")([0.0, 1.0], [inf, inf])
    assert hi.tolist() == [inf, inf] and lo[1] == 0 and -INVERSE_E * (1 + 1e-15) <= lo[0] <= -INVERSE_E
    lo, hi = enclosure("logaddexp")([-inf, -inf, -inf, 3], [inf, 2, 2, inf], [-inf, -inf, 1, 4], [inf, 2, 2, 5])
    assert lo.tolist()[:3] == [-inf, -inf, 1] and hi[0] == inf == hi[3] and 2.69 < hi[1] == hi[2] < 2.7 and 4.3 < lo[3] < 4.4


def test_xlogx_around_its_minimum():
    """At -1/e itself from both sides, and the constant is one double above it."""
    x = beside(np.full(1, INVERSE_E), 3)
    a, b = np.meshgrid(x, x)
    a, b = np.minimum(a, b).ravel(), np.maximum(a, b).ravel()
    lows, highs = enclosure("xlogx")(a, b)
    ctx.prec = 200
    least = -(arb(-1).exp())
    for u, v, lo, hi in zip(a.tolist(), b.tolist(), lows.tolist(), highs.tolist(), strict=True):
        inside = u <= arb(-1).exp() <= v
        bottom = least if inside else xlogx(arb(u)).min(xlogx(arb(v)))
        assert arb(lo) <= bottom and xlogx(arb(u)).max(xlogx(arb(v))) <= hi and hi - lo < 4 * math.ulp(INVERSE_E)


def test_wide_intervals_take_their_ends_from_the_ends():
    x = points("expit", np.random.default_rng(33))
    a, b = np.minimum(x, x[::-1]), np.maximum(x, x[::-1])
    run = enclosure("expit")
    assert np.array_equal(run(a, b)[0], run(a, a)[0]) and np.array_equal(run(a, b)[1], run(b, b)[1])


@pytest.mark.parametrize("name", FUNCTIONS)
def test_same_bits_for_every_number_of_lanes(name):
    x = points(name, np.random.default_rng(34))
    check_lanes(name, np.minimum(x, x[::-1]), np.maximum(x, x[::-1]))
