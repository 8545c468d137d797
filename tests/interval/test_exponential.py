"""exp, exp2, expm1, sinh, cosh, tanh against Arb."""

import math

import numpy as np
import pytest
from against_arb import EDGES, LARGEST, beside, check_lanes, check_points, check_vectors, enclosure, logarithmic
from flint import arb

LN2 = math.log(2)


def two_to_the(x: arb) -> arb:
    whole = x.is_integer() and abs(x) < 5000
    return arb(2) ** x if whole else (x * arb(2).log()).exp()


FUNCTIONS = {"exp": arb.exp, "exp2": two_to_the, "expm1": arb.expm1, "sinh": arb.sinh, "cosh": arb.cosh, "tanh": arb.tanh}
BREAKS = np.concatenate([beside(np.arange(-2155.0, 2055.0, 11) * LN2 / 2), beside(np.arange(-1076.0, 1026.0, 13) * LN2),
                         beside(np.arange(-1075.5, 1025.0, 9.5)),
                         beside(np.array([2.0**-27, 2.0**-60, 2.0**-100, 2.0**-28, 18.7, 20.0, 36.7, 44.0]))])
ENDS = beside(np.array([709.782712893384, -745.1332191019411, -708.3964185322641, 710.4758600739439, 711.0, 712.0, 1024.0,
                        -1074.0, -1075.0, -1022.0, -746.0, 710.0, 1025.0, -1076.0]), 3)


def points(name: str, rng: np.random.Generator) -> np.ndarray:
    x = np.concatenate([logarithmic(rng, 1000, -1074, 11), logarithmic(rng, 1000, -60, 3), rng.uniform(-1, 1, 1500),
                        rng.uniform(-40, 40, 1500), rng.uniform(-1080, 1030, 1500), BREAKS, ENDS, -ENDS, EDGES])
    return x[np.abs(x) < 1e4]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_points(name):
    check_points(name, FUNCTIONS[name], points(name, np.random.default_rng(11)))


def test_huge_arguments():
    huge = np.array([1e5, 1e300, LARGEST])
    over, under, one = (LARGEST, math.inf), (0.0, 5e-324), (1 - 2.0**-53, 1.0)
    negative = {"exp": under, "exp2": under, "expm1": (-1.0, -1 + 2.0**-53), "sinh": (-math.inf, -LARGEST), "cosh": over,
                "tanh": (-1.0, -1 + 2.0**-53)}
    for name, below in negative.items():
        for sign, (lo, hi) in ((-1, below), (1, one if name == "tanh" else over)):
            found = enclosure(name)(sign * huge, sign * huge)
            assert np.all(found[0] == lo) and np.all(found[1] == hi), name


def test_exact_values():
    for zero in (0.0, -0.0):
        for name in FUNCTIONS:
            value = 1.0 if name in ("exp", "exp2", "cosh") else 0.0
            lo, hi = enclosure(name)([zero], [zero])
            assert lo[0] == hi[0] == value, name
    whole = np.arange(-1074.0, 1024.0)
    lo, hi = enclosure("exp2")(whole, whole)
    assert np.array_equal(lo, hi) and np.array_equal(lo, np.ldexp(1.0, whole.astype(int)))


def test_unbounded_intervals():
    ends = [-math.inf, -math.inf, 0.0], [math.inf, 0.0, math.inf]
    for name, lows, highs in (("exp", (0, 0, 1), (math.inf, 1, math.inf)), ("exp2", (0, 0, 1), (math.inf, 1, math.inf)),
                              ("expm1", (-1, -1, 0), (math.inf, 0, math.inf)), ("cosh", (1, 1, 1), (math.inf,) * 3),
                              ("sinh", (-math.inf, -math.inf, 0), (math.inf, 0, math.inf)), ("tanh", (-1, -1, 0), (1, 0, 1))):
        lo, hi = enclosure(name)(*ends)
        assert tuple(lo) == lows and tuple(hi) == highs, name


@pytest.mark.parametrize("name", FUNCTIONS)
def test_wide_intervals_take_their_ends_from_the_ends(name):
    x = points(name, np.random.default_rng(12))
    a, b = np.minimum(x, x[::-1]), np.maximum(x, x[::-1])
    run = enclosure(name)
    (lo, hi), (lo_a, hi_a), (lo_b, hi_b) = run(a, b), run(a, a), run(b, b)
    if name == "cosh":
        assert np.array_equal(lo, np.where((a <= 0) & (b >= 0), 1.0, np.minimum(lo_a, lo_b)))
        assert np.array_equal(hi, np.maximum(hi_a, hi_b))
    else:
        assert np.array_equal(lo, lo_a) and np.array_equal(hi, hi_b)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_same_bits_for_every_number_of_lanes(name):
    x = points(name, np.random.default_rng(13))
    check_lanes(name, np.minimum(x, x[::-1]), np.maximum(x, x[::-1]))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_vectors(name):
    check_vectors(name, name)
