"""erf and erfc against Arb."""

import math

import numpy as np
import pytest
from against_arb import EDGES, LARGEST, beside, check_lanes, check_points, enclosure, logarithmic
from flint import arb

FUNCTIONS = {"erf": arb.erf, "erfc": arb.erfc}
BREAKS = beside(np.array([0.5, 2.0**-30, 3.0, 4.0, 6.0, 5.86, 26.54, 27.22, 28.0, 1.0, 2.0]), 3)


def points(rng: np.random.Generator) -> np.ndarray:
    squares = beside(np.sqrt(np.arange(0.5, 1080.0) * math.log(2)))  # where the exponential changes its multiple of ln 2
    x = np.concatenate([BREAKS, -BREAKS, squares, -squares, rng.uniform(-1, 1, 1500), rng.uniform(-7, 7, 1500),
                        rng.uniform(0, 29, 1500), logarithmic(rng, 1500, -1074, 5), EDGES])
    return x[np.abs(x) < 100]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_points(name):
    check_points(name, FUNCTIONS[name], points(np.random.default_rng(51)))


def test_exact_values_and_limits():
    huge = np.array([100.0, 1e300, LARGEST, math.inf])
    assert [v[0] for v in enclosure("erf")([0.0], [0.0])] == [0, 0] and [v[0] for v in enclosure("erfc")([0.0], [0.0])] == [1, 1]
    lo, hi = enclosure("erf")(huge, huge)
    assert (lo == 1 - 2.0**-53).all() and (hi == 1).all()
    lo, hi = enclosure("erfc")(huge, huge)
    assert (lo == 0).all() and (hi == 5e-324).all()
    lo, hi = enclosure("erfc")(-huge, -huge)
    assert (lo == 2 - 2.0**-52).all() and (hi == 2).all()
    assert [v[0] for v in enclosure("erf")([-math.inf], [math.inf])] == [-1, 1]
    assert [v[0] for v in enclosure("erfc")([-math.inf], [math.inf])] == [0, 2]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_wide_intervals_take_their_ends_from_the_ends(name):
    x = points(np.random.default_rng(52))
    a, b = np.minimum(x, x[::-1]), np.maximum(x, x[::-1])
    run = enclosure(name)
    low, high = (a, b) if name == "erf" else (b, a)
    assert np.array_equal(run(a, b)[0], run(low, low)[0]) and np.array_equal(run(a, b)[1], run(high, high)[1])


@pytest.mark.parametrize("name", FUNCTIONS)
def test_same_bits_for_every_number_of_lanes(name):
    x = points(np.random.default_rng(53))
    check_lanes(name, np.minimum(x, x[::-1]), np.maximum(x, x[::-1]))
