"""log, log2, log10, log1p, arcsinh, arccosh, arctanh against Arb."""

import math

import numpy as np
import pytest
from against_arb import EDGES, LARGEST, beside, check_lanes, check_points, check_vectors, enclosure, logarithmic
from flint import arb


def log2(x: arb) -> arb:
    mantissa, exponent = math.frexp(float(x))
    return arb(exponent - 1) if mantissa == 0.5 else x.log() / arb(2).log()


def log10(x: arb) -> arb:
    power = round(math.log10(float(x)))
    return arb(power) if 0 <= power <= 22 and x == arb(10) ** power else x.log() / arb(10).log()


FUNCTIONS = {"log": arb.log, "log2": log2, "log10": log10, "log1p": arb.log1p, "arcsinh": arb.asinh, "arccosh": arb.acosh,
             "arctanh": arb.atanh}
DOMAINS = {"log": (0.0, math.inf), "log2": (0.0, math.inf), "log10": (0.0, math.inf), "log1p": (-1.0, math.inf),
           "arcsinh": (-math.inf, math.inf), "arccosh": (1.0, math.inf), "arctanh": (-1.0, 1.0)}
BREAKS = beside(np.array([0.5**0.5, 2**0.5, 0.5**0.5 - 1, 2**0.5 - 1, -0.29, 0.41, 2.0**-27, 2.0**-60, 2.0**33, 2.0**53, 2.0**60,
                          1.0, 2.0, 1.25, 0.75, 0.2, 1 / 6, 3.0, 10.0]), 3)


def points(name: str, rng: np.random.Generator) -> np.ndarray:
    near_one = np.exp2(rng.uniform(-53, 0, 1500)) * rng.choice([-1, 1], 1500)
    x = np.concatenate([logarithmic(rng, 1200), logarithmic(rng, 1200, -70, 70), rng.uniform(-1, 3, 1500),
                        rng.uniform(0.5, 2, 1000), 1 + near_one, -1 + near_one, BREAKS, -BREAKS, EDGES, 10.0 ** np.arange(23),
                        np.exp2(np.arange(-1074.0, 1024, 7)), rng.integers(1, 1 << 52, 200).view(np.float64)])
    low, high = DOMAINS[name]
    inside = (x >= low) if name == "arccosh" else (x > low) & (x < high)
    return x[inside]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_points(name):
    check_points(name, FUNCTIONS[name], points(name, np.random.default_rng(21)))


def test_exact_values():
    for name, at, value in (("log", 1.0, 0.0), ("log2", 1.0, 0.0), ("log10", 1.0, 0.0), ("arccosh", 1.0, 0.0),
                            *((n, z, 0.0) for n in ("log1p", "arcsinh", "arctanh") for z in (0.0, -0.0))):
        lo, hi = enclosure(name)([at], [at])
        assert lo[0] == hi[0] == value, name
    exponents = np.arange(-1074.0, 1024.0)
    powers = np.ldexp(1.0, exponents.astype(int))
    lo, hi = enclosure("log2")(powers, powers)
    assert np.array_equal(lo, exponents) and np.array_equal(hi, exponents)


def test_edges_of_the_domain():
    for name in ("log", "log2", "log10"):
        lo, hi = enclosure(name)([0.0, -0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 1.0, math.inf, math.inf])
        assert lo.tolist() == [-math.inf, -math.inf, -math.inf, 0.0, -math.inf]
        assert hi.tolist() == [-LARGEST, -LARGEST, 0.0, math.inf, math.inf]
    lo, hi = enclosure("log1p")([-1.0, -1.0, 0.0], [-1.0, 0.0, math.inf])
    assert lo.tolist() == [-math.inf, -math.inf, 0.0] and hi.tolist() == [-LARGEST, 0.0, math.inf]
    lo, hi = enclosure("arcsinh")([-math.inf, -math.inf, 0.0], [math.inf, 0.0, math.inf])
    assert lo.tolist() == [-math.inf, -math.inf, 0.0] and hi.tolist() == [math.inf, 0.0, math.inf]
    lo, hi = enclosure("arccosh")([1.0], [math.inf])
    assert lo.tolist() == [0.0] and hi.tolist() == [math.inf]
    lo, hi = enclosure("arctanh")([-1.0, -1.0, 1.0, 0.0], [1.0, -1.0, 1.0, 1.0])
    assert lo.tolist() == [-math.inf, -math.inf, LARGEST, 0.0] and hi.tolist() == [math.inf, -LARGEST, math.inf, math.inf]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_wide_intervals_take_their_ends_from_the_ends(name):
    x = points(name, np.random.default_rng(22))
    a, b = np.minimum(x, x[::-1]), np.maximum(x, x[::-1])
    run = enclosure(name)
    (lo, hi), (lo_a, _), (_, hi_b) = run(a, b), run(a, a), run(b, b)
    assert np.array_equal(lo, lo_a) and np.array_equal(hi, hi_b)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_same_bits_for_every_number_of_lanes(name):
    x = points(name, np.random.default_rng(23))
    check_lanes(name, np.minimum(x, x[::-1]), np.maximum(x, x[::-1]))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_vectors(name):
    operation = {"log1p": "logp1", "arcsinh": "asinh", "arccosh": "acosh", "arctanh": "atanh"}.get(name, name)
    check_vectors(name, operation, DOMAINS[name])
