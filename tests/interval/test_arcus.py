"""arctan, arcsin, arccos, arctan2 against Arb."""

import math
from functools import cache

import numpy as np
import pytest
from against_arb import EDGES, beside, check_lanes, check_points, check_vectors, enclosure, logarithmic
from flint import arb, ctx

FUNCTIONS = {"arctan": arb.atan, "arcsin": arb.asin, "arccos": arb.acos}
BREAKS = [2.0**0.5 - 1, 2.0**0.5 + 1, 1.0, 2.0**-33, 2.0**-30, 0.5**0.5, math.sin(math.pi / 8), math.cos(math.pi / 8)]
BREAKS = beside(np.array(BREAKS), 3)
PI_UP = float.fromhex("0x1.921fb54442d19p+1")


def points(name: str, rng: np.random.Generator) -> np.ndarray:
    x = np.concatenate([logarithmic(rng, 1500), logarithmic(rng, 1500, -40, 40), rng.uniform(-3, 3, 2000),
                        rng.uniform(-1, 1, 2000),
                        (1 - np.exp2(rng.uniform(-53, 0, 1500))) * rng.choice([-1, 1], 1500), BREAKS, -BREAKS, EDGES])
    return x if name == "arctan" else x[np.abs(x) <= 1]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_points(name):
    assert check_points(name, FUNCTIONS[name], points(name, np.random.default_rng(3))) <= 4


def test_exact_values():
    for name, at in (("arctan", 0.0), ("arcsin", 0.0), ("arctan", -0.0), ("arcsin", -0.0), ("arccos", 1.0)):
        lo, hi = enclosure(name)([at], [at])
        assert lo[0] == hi[0] == 0


def test_ranges_end_at_multiples_of_pi():
    half = PI_UP / 2
    assert [v[0] for v in enclosure("arctan")([-math.inf], [math.inf])] == [-half, half]
    assert [v[0] for v in enclosure("arcsin")([-1.0], [1.0])] == [-half, half]
    assert [v[0] for v in enclosure("arccos")([-1.0], [1.0])] == [0.0, PI_UP]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_wide_intervals_take_their_ends_from_the_ends(name):
    x = points(name, np.random.default_rng(5))
    a, b = np.minimum(x, x[::-1]), np.maximum(x, x[::-1])
    run = enclosure(name)
    (lo, hi), (lo_a, hi_a), (lo_b, hi_b) = run(a, b), run(a, a), run(b, b)
    low, high = (lo_b, hi_a) if name == "arccos" else (lo_a, hi_b)
    assert np.array_equal(lo, low) and np.array_equal(hi, high)


def angle(y: arb, x: arb) -> arb:
    if y == 0:
        return arb.pi() if x < 0 else arb(0)
    return arb.atan2(y, x)


def vector_points(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    edges = np.concatenate([EDGES, [-0.0]])
    y, x = (np.concatenate([logarithmic(rng, 1500), logarithmic(rng, 1500, -30, 30), rng.uniform(-1, 1, 1500)]) for _ in range(2))
    near = logarithmic(rng, 1000, -1060, 1020)
    y = np.concatenate([y, near, np.repeat(edges, len(edges))])
    x = np.concatenate([x, near * rng.uniform(-2, 2, 1000), np.tile(edges, len(edges))])
    some = (x != 0) | (y != 0)
    return y[some], x[some]


def test_angles_of_points():
    assert check_points("arctan2", angle, *vector_points(np.random.default_rng(8))) <= 4


def test_angles_of_boxes():
    """Points of random boxes, corners and the axes included, lie inside; the ends are near the angles of corners."""
    rng = np.random.default_rng(9)
    grid = [-math.inf, -3.0, -1.0, -1e-310, 0.0, 1e-310, 1.0, 2.5, math.inf]
    spans = [(a, b) for a in grid for b in grid if a <= b and a < math.inf and b > -math.inf]
    boxes = [(*s, *t) for s in spans for t in spans if s != (0.0, 0.0) or t != (0.0, 0.0)]
    lows, highs = enclosure("arctan2")(*np.array(boxes).T)
    ctx.prec = 4000
    exactly = cache(lambda y, x: angle(arb(y), arb(x)))
    for (ya, yb, xa, xb), lo, hi in zip(boxes, lows.tolist(), highs.tolist(), strict=True):
        ys, xs = ([v for v in (max(a, -1e300), min(b, 1e300), 0.0, round(rng.uniform(max(a, -9), min(b, 9)), 1)) if a <= v <= b]
                  for a, b in ((ya, yb), (xa, xb)))
        seen = [exactly(y, x) for y in ys for x in xs if x or y]
        assert all(arb(lo) <= v and v <= arb(hi) for v in seen), (ya, yb, xa, xb, lo, hi)
        if ya < 0 <= yb and xa < 0:
            assert (lo, hi) == (-PI_UP, PI_UP)
        else:
            assert float(min(seen)) - lo < 1e-15 and hi - float(max(seen)) < 1e-15, (ya, yb, xa, xb, lo, hi)


def test_same_bits_for_every_number_of_lanes():
    rng = np.random.default_rng(10)
    for name in FUNCTIONS:
        x = points(name, rng)
        check_lanes(name, np.minimum(x, x[::-1]), np.maximum(x, x[::-1]))
    y, x = vector_points(rng)
    check_lanes("arctan2", *(f(v, v[::-1]) for v in (y, x) for f in (np.minimum, np.maximum)))


def test_vectors():
    check_vectors("arctan", "atan")
    check_vectors("arcsin", "asin", (-1.0, 1.0))
    check_vectors("arccos", "acos", (-1.0, 1.0))
    check_vectors("arctan2", "atan2")
