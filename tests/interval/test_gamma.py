"""lgamma and polygamma against Arb."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from against_arb import LARGEST, beside, check_lanes, compiled, enclosure, estimate, holds, logarithmic, width
from flint import arb, ctx

from infimum.backend.cpu import host
from infimum.interval.elementary.gamma import LEAST, LOWEST, enclose_polygamma

ORDERS = range(5)


def points(rng: np.random.Generator, least: float = -1074, most: float = 1024) -> np.ndarray:
    near = np.concatenate([1 + logarithmic(rng, 200, -52, -2), 2 + logarithmic(rng, 200, -51, -2)])
    breaks = beside(np.concatenate([np.arange(1.0, 30), [2.0**-400, 2.0**500, 0.5, 1e-300, 2.5e305], LOWEST]), 3)
    x = np.abs(np.concatenate([rng.uniform(0, 20, 1500), logarithmic(rng, 1500, least, most), near, breaks]))
    return x[(x > 2.0**least) & (x < 2.0 ** (most - 1e-9))] if most < 1024 else x


def polygamma(m: int) -> Callable[[arb], arb]:
    return arb.digamma if m == 0 else lambda x: (-1) ** (m + 1) * arb(math.factorial(m)) * arb(m + 1).zeta(x)


def polygamma_enclosure(m: int, lanes: int | None = None) -> Callable:
    return compiled(f"polygamma_{m}", lambda b, nlo, hi: enclose_polygamma(b, nlo, hi, m), 1, lanes=lanes)


def test_lgamma_at_points():
    """4 ulp, or 2**-60 beside the zeros at 1 and 2."""
    x = points(np.random.default_rng(71))
    lows, highs = enclosure("lgamma")(x, x)
    for v, lo, hi, guess in zip(x.tolist(), lows.tolist(), highs.tolist(), estimate("lgamma")(x).tolist(), strict=True):
        inside, value = holds(arb.lgamma, (v,), lo, hi)
        assert inside, (v, lo, hi, value)
        assert hi - lo <= 2.0**-60 or width(lo, hi, value) <= 4, (v, lo, hi)
        assert lo - 2.0**-60 <= guess <= hi + 2.0**-60 or abs(guess - lo) <= 2 * math.ulp(lo), (v, lo, guess)


def test_lgamma_is_exact_at_its_zeros_and_infinite_at_the_ends():
    lo, hi = enclosure("lgamma")([1.0, 2.0, 0.0, LARGEST, 0.0, 0.0, 1.0], [1.0, 2.0, 0.0, LARGEST, math.inf, 1.0, 2.0])
    assert lo.tolist() == [0, 0, LARGEST, LARGEST, LEAST, 0, LEAST]
    assert hi.tolist() == [0, 0, math.inf, math.inf, math.inf, math.inf, 0]


def test_lgamma_around_its_minimum():
    x = beside(np.array(LOWEST), 3)
    a, b = (v.ravel() for v in np.meshgrid(x, x))
    a, b = np.minimum(a, b), np.maximum(a, b)
    ctx.prec = 200
    for u, v, lo, hi in zip(a.tolist(), b.tolist(), *(r.tolist() for r in enclosure("lgamma")(a, b)), strict=True):
        assert arb(lo) <= arb(u).lgamma().min(arb(v).lgamma()) and arb(u).lgamma().max(arb(v).lgamma()) <= hi
        assert lo >= LEAST - 2 * math.ulp(LEAST) and (lo == LEAST or not u <= LOWEST[0] < v)


@pytest.mark.parametrize("m", ORDERS)
def test_polygamma_at_points(m):
    """40 ulp; the digamma function, which has a zero, is off by as much of the larger of 1 and its value."""
    x = points(np.random.default_rng(72 + m), -180, 180)
    lows, highs = polygamma_enclosure(m)(x, x)
    for v, lo, hi in zip(x.tolist(), lows.tolist(), highs.tolist(), strict=True):
        inside, value = holds(polygamma(m), (v,), lo, hi)
        assert inside, (v, lo, hi, value)
        unit = math.ulp(max(abs(float(value)), 1.0 if m == 0 else 0.0))
        assert hi - lo <= 40 * unit, (v, lo, hi)


@pytest.mark.parametrize("m", ORDERS)
def test_polygamma_at_the_ends_of_the_doubles(m):
    x = np.array([5e-324, 1e-310, 1e-200, 1e-80, 1e80, 1e200, 1e307, LARGEST])
    for v, lo, hi in zip(x.tolist(), *(r.tolist() for r in polygamma_enclosure(m)(x, x)), strict=True):
        ctx.prec = 3000
        value = polygamma(m)(arb(v)) if m == 0 or v < 1 else (-1) ** (m + 1) * math.factorial(m - 1) * arb(v) ** -m
        assert (arb(lo) <= value or lo == -math.inf) and (value <= arb(hi) or hi == math.inf), (v, lo, hi)


def test_polygamma_over_intervals():
    """|polygamma| falls, so that wide intervals take their ends from the ends; limits at 0 and infinity."""
    x = points(np.random.default_rng(80), -180, 180)
    a, b = np.minimum(x, x[::-1]), np.maximum(x, x[::-1])
    for m in ORDERS:
        run = polygamma_enclosure(m)
        low, high = (b, a) if m % 2 else (a, b)
        assert np.array_equal(run(a, b)[0], run(low, low)[0]) and np.array_equal(run(a, b)[1], run(high, high)[1])
        lo, hi = (v[0] for v in run([0.0], [math.inf]))
        assert (lo, hi) == ((0, math.inf) if m % 2 else (-math.inf, math.inf if m == 0 else 0))


def test_same_bits_for_every_number_of_lanes():
    x = points(np.random.default_rng(81))
    lo, hi = np.minimum(x, x[::-1]), np.maximum(x, x[::-1])
    check_lanes("lgamma", lo, hi)
    for m in (0, 3):
        first, *others = (polygamma_enclosure(m, w)(lo, hi) for w in host().widths())
        assert all(np.array_equal(a, b) for other in others for a, b in zip(first, other, strict=True))
