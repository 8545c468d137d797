"""sin, cos, tan against Arb."""

import math

import numpy as np
import pytest
from against_arb import (
    EDGES,
    LARGEST,
    beside,
    check_lanes,
    check_points,
    check_vectors,
    compiled,
    enclosure,
    estimate,
    holds,
    logarithmic,
)
from flint import arb, ctx
from proof_trigonometric import hardest

from infimum.interval.elementary.angle_reduction import LIMIT
from infimum.interval.elementary.trigonometric import enclose_sincos

NAMES = ("sin", "cos", "tan")
REACH = 2.0**20


def multiples(unit: arb, count: int, limit: float, rng: np.random.Generator) -> np.ndarray:
    """Doubles beside multiples of `unit`, small and random ones up to the limit."""
    ctx.prec = 200
    most = int(limit / float(unit))
    factors = np.unique(np.concatenate([np.arange(-200, 201), rng.integers(-most, most, count)])).tolist()
    return beside(np.array([float(unit * k) for k in factors]))


def points(rng: np.random.Generator, limit: float) -> np.ndarray:
    quarter = arb.pi() / 4
    x = np.concatenate([rng.uniform(-10, 10, 2000), rng.uniform(-limit, limit, 1500),
                        logarithmic(rng, 1500, -60, math.log2(limit)), logarithmic(rng, 300, -1074, -60),
                        multiples(quarter, 200, limit, rng), hardest(limit), EDGES, [-0.0, limit, -limit]])
    return x[np.abs(x) <= limit]


@pytest.mark.parametrize("name", NAMES)
def test_points(name):
    assert check_points(name, getattr(arb, name), points(np.random.default_rng(3), REACH)) <= 4


@pytest.mark.parametrize("name", NAMES)
def test_points_up_to_the_limit(name):
    x = points(np.random.default_rng(4), LIMIT)
    for at, lo, hi in zip(x.tolist(), *map(np.ndarray.tolist, enclosure(name)(x, x)), strict=True):
        inside, value = holds(getattr(arb, name), (at,), lo, hi)
        assert inside, (at, lo, hi)
        assert hi - lo <= 2.0**-42 * max(1, abs(value)), (at, lo, hi)


def test_exact_values():
    for zero in (0.0, -0.0):
        for name, value in (("sin", 0.0), ("cos", 1.0), ("tan", 0.0)):
            lo, hi = enclosure(name)([zero], [zero])
            assert lo[0] == hi[0] == value


def extremes(name: str, lo: float, hi: float) -> tuple[arb, arb]:
    """The exact range of sin or cos."""
    ctx.prec = 200 if min(abs(lo), abs(hi)) > 1e-30 else 3000
    a, b, half = arb(lo), arb(hi), arb(1) / 2
    ends = getattr(arb, name)(a), getattr(arb, name)(b)
    crest = half / 2 if name == "sin" else arb(0)

    def passed(at: arb) -> bool:
        first, last = ((v / (2 * arb.pi()) - at).floor() for v in (a, b))
        return lo <= hi and (first.unique_fmpz() != last.unique_fmpz() or (lo <= 0 <= hi and at == 0))
    return (arb(-1) if passed(crest + half) else min(ends), arb(1) if passed(crest) else max(ends))


def intervals(rng: np.random.Generator, limit: float) -> tuple[np.ndarray, np.ndarray]:
    beside_extrema = multiples(arb.pi() / 2, 100, limit, rng)
    start = np.concatenate([rng.uniform(-20, 20, 1500), rng.uniform(-limit, limit, 1500), beside_extrema])
    end = start + np.where(rng.random(len(start)) < 0.2, 0, np.exp2(rng.uniform(-40, 3.5, len(start))))
    return start, end


@pytest.mark.parametrize("name", ("sin", "cos"))
def test_wide_intervals(name):
    """Also with extrema a hair inside or outside, by both functions and both at once."""
    rng = np.random.default_rng(5)
    a, b = (np.concatenate(v) for v in zip(intervals(rng, REACH), intervals(rng, LIMIT), strict=True))
    keep = (np.abs(a) <= LIMIT) & (np.abs(b) <= LIMIT)
    a, b = a[keep], b[keep]
    lows, highs = enclosure(name)(a, b)
    both = compiled("sincos", enclose_sincos, 1, 4)(a, b)[0 if name == "sin" else 2:][:2]
    assert np.array_equal(lows, both[0]) and np.array_equal(highs, both[1])
    for x, y, lo, hi in zip(*map(np.ndarray.tolist, (a, b, lows, highs)), strict=True):
        least, most = extremes(name, x, y)
        assert arb(lo) <= least and most <= arb(hi), (x, y, lo, hi)
        slack = 2.0**-51 if max(abs(x), abs(y)) <= REACH else 2.0**-42
        assert least - arb(lo) <= slack and arb(hi) - most <= slack, (x, y, lo, hi)


def test_wide_tangents():
    rng = np.random.default_rng(6)
    a, b = intervals(rng, REACH)
    lows, highs = enclosure("tan")(a, b)
    for x, y, lo, hi in zip(*map(np.ndarray.tolist, (a, b, lows, highs)), strict=True):
        ctx.prec = 200 if min(abs(x), abs(y)) > 1e-30 else 4000
        turns = [(arb(v) / arb.pi() - arb(1) / 2).floor().unique_fmpz() for v in (x, y)]
        if turns[0] != turns[1]:
            assert (lo, hi) == (-math.inf, math.inf), (x, y, lo, hi)
        else:
            least, most = arb(x).tan(), arb(y).tan()
            assert arb(lo) <= least and most <= arb(hi), (x, y, lo, hi)
            for end, exact in ((lo, least), (hi, most)):
                assert abs(end - exact) <= 2.0**-50 * abs(exact) + 2.0**-1073, (x, y, lo, hi)


def large_points(rng: np.random.Generator) -> np.ndarray:
    """Doubles beyond the limit: around it, of all exponents, next to multiples of pi/2, where the words of 2/pi change."""
    words = beside(np.ldexp(1.0, [53 * t + k for t in range(20) for k in (0, 1, 2)]))
    x = np.concatenate([beside(np.array([LIMIT])), logarithmic(rng, 1500, 30, 1024), hardest(math.inf, range(-22, 971))[::10],
                        multiples(arb.pi() / 2, 300, 2.0**50, rng), words, -words, [LARGEST, -LARGEST]])
    return x[np.abs(x) > LIMIT]


@pytest.mark.parametrize("name", NAMES)
def test_large_points(name):
    """Also beside small ones in the lanes next to them."""
    rng = np.random.default_rng(8)
    x = large_points(rng)
    mixed = np.where(rng.random(len(x)) < 0.3, rng.uniform(-5, 5, len(x)), x)
    rows, ctx.prec = np.stack([mixed, *enclosure(name)(mixed, mixed), estimate(name)(mixed)], axis=1), 1400
    for at, lo, hi, guess in rows.tolist():
        value = getattr(arb, name)(arb(at))
        assert arb(lo) <= value <= arb(hi), (at, lo, hi)
        assert arb(hi) - lo <= 2.0**-30 * abs(value) and abs(guess - value) <= 2.0**-45 * abs(value), (at, lo, hi, guess)


@pytest.mark.parametrize("name", ("sin", "cos"))
def test_wide_intervals_of_large_arguments(name):
    """Ranges narrower than 3 are tight, wider ones [-1, 1]; extrema a hair inside or outside, and the limit inside."""
    rng = np.random.default_rng(9)
    start = np.concatenate([rng.uniform(2.0**30, 2.0**36, 1500), multiples(arb.pi() / 2, 300, 2.0**45, rng),
                            hardest(2.0**50, range(-22, -2)), rng.uniform(LIMIT - 3, LIMIT + 1, 300)])
    end = start + np.where(rng.random(len(start)) < 0.2, 0, np.exp2(rng.uniform(-15, 3.5, len(start))))
    far = np.maximum(np.abs(start), np.abs(end)) > LIMIT
    start, end = start[far], end[far]
    lows, highs = enclosure(name)(start, end)
    both = compiled("sincos", enclose_sincos, 1, 4)(start, end)[0 if name == "sin" else 2:][:2]
    assert np.array_equal(lows, both[0]) and np.array_equal(highs, both[1])
    for x, y, lo, hi in zip(*map(np.ndarray.tolist, (start, end, lows, highs)), strict=True):
        least, most = extremes(name, x, y)
        assert arb(lo) <= least and most <= arb(hi), (x, y, lo, hi)
        assert y - x < 3 or (lo, hi) == (-1, 1)
        assert y - x >= 3 or (least - arb(lo) <= 2.0**-51 and arb(hi) - most <= 2.0**-51), (x, y, lo, hi)


def test_wide_tangents_of_large_arguments():
    rng = np.random.default_rng(10)
    start = np.concatenate([rng.uniform(2.0**30, 2.0**36, 1000), multiples(arb.pi() / 2, 300, 2.0**45, rng)])
    start = start[np.abs(start) > LIMIT + 4]
    end = start + np.exp2(rng.uniform(-15, 2, len(start)))
    lows, highs = enclosure("tan")(start, end)
    ctx.prec = 400
    for x, y, lo, hi in zip(*map(np.ndarray.tolist, (start, end, lows, highs)), strict=True):
        turns = [(arb(v) / arb.pi() - arb(1) / 2).floor().unique_fmpz() for v in (x, y)]
        if turns[0] != turns[1] or y - x >= 3:
            assert (lo, hi) == (-math.inf, math.inf), (x, y, lo, hi)
        else:
            assert arb(lo) <= arb(x).tan() and arb(y).tan() <= arb(hi), (x, y, lo, hi)
            assert all(abs(a - arb(v).tan()) <= 2.0**-30 * abs(a) for a, v in ((lo, x), (hi, y))), (x, y, lo, hi)


def test_beyond_all_doubles():
    far = np.array([1e16, 1e300, LARGEST, math.inf])
    lo, hi = np.concatenate([-far, -far, np.zeros(4), -far]), np.concatenate([-far / 2, np.ones(4), far, far])
    for name, reach in (("sin", 1.0), ("cos", 1.0), ("tan", math.inf)):
        low, high = enclosure(name)(lo, hi)
        assert np.all(low == -reach) and np.all(high == reach)


@pytest.mark.parametrize("name", NAMES)
def test_same_bits_for_every_number_of_lanes(name):
    rng = np.random.default_rng(7)
    a, b = intervals(rng, 2 * LIMIT)
    x = np.concatenate([points(rng, LIMIT), large_points(rng)])
    rng.shuffle(x)
    check_lanes(name, np.concatenate([a, x, [-math.inf]]), np.concatenate([b, x, [math.inf]]))


@pytest.mark.parametrize("name", NAMES)
def test_vectors(name):
    check_vectors(name, name, reach=REACH)
