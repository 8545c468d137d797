"""sin(t)/t and its derivatives against Arb, and the constants of their proofs."""

import math
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest
from against_arb import LARGEST, _run, beside, holds, logarithmic, width
from flint import arb, ctx

from infimum.backend.cpu import CpuBackend, host
from infimum.backend.python import PythonBackend
from infimum.interval.elementary import sinc as code
from infimum.kernel.ir import Builder
from tests.oracle import ball_functions

ORDERS = range(5)
FIRST_EXTREMA = 4.493409457909064, 7.725251836937707, 10.904121659428899  # where tan t = t
INFLECTION = 2.0815759778181


def sinc(m: int) -> Callable[[arb], arb]:
    return partial(ball_functions.sinc, m=m)


def enclosure(m: int, backend: Any = None) -> Callable:
    """As a function of arrays lo, hi."""
    b = Builder()
    nlo, hi = b.outline(f"enclose_sinc_{m}", code.enclose_sinc(m), b.neg(b.input(0, 0)), b.input(1, 0))
    b.output(0, 0, b.neg(nlo))
    b.output(1, 0, hi)
    kernel = (backend or CpuBackend()).compile(b.kernel(f"test_sinc_{m}", 2, 2))
    return lambda lo, hi: _run(kernel, (lo, hi), 2)


def estimate(m: int) -> Callable:
    b = Builder()
    b.output(0, 0, code.estimate_sinc(b, b.input(0, 0), m))
    kernel = CpuBackend().compile(b.kernel(f"test_estimate_sinc_{m}", 1, 1))
    return lambda x: _run(kernel, (x,), 1)[0]


def hard_places() -> np.ndarray:
    """Zeros and extrema, ends of the cases of the code, the smallest and largest doubles."""
    found = np.concatenate([np.arange(1, 9) * np.pi / 2, FIRST_EXTREMA, [code.NEAR, code.TINY, code.FALLING, INFLECTION, 0.0],
                            [5e-324, 2.0**-1022, 1e-160, 1e-8, 1e3, 2.0**20, 2.0**30, 1e16, 1e22, 1e300]])
    near = np.append(beside(found, 2), LARGEST)
    return np.concatenate([near, -near])


def points(rng: np.random.Generator, count: int = 600) -> np.ndarray:
    return np.concatenate([hard_places(), rng.uniform(-30, 30, count), rng.uniform(-5, 5, count), logarithmic(rng, count)])


def intervals(rng: np.random.Generator, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Between points, and of every width around points."""
    x = rng.choice(points(rng), count)
    other = np.where(rng.random(count) < 0.3, rng.choice(points(rng), count), x + np.abs(logarithmic(rng, count, -60, 4)))
    other = np.where(rng.random(count) < 0.1, x * (1 - 2.0 ** rng.uniform(-50, -1, count)), other)
    other = np.where(rng.random(count) < 0.02, rng.choice([-math.inf, math.inf], count), other)
    return np.minimum(x, other), np.maximum(x, other)


def within(rng: np.random.Generator, lo: float, hi: float) -> list[float]:
    """Points of an interval: its ends, where they are finite, places inside, and hard places that it holds."""
    low, high = max(lo, -LARGEST), min(hi, LARGEST)
    inside = [low / 2 + high / 2, low + rng.random() * (high - low) if high - low < math.inf else rng.uniform(-9, 9)]
    inside += [0.0, *FIRST_EXTREMA, INFLECTION, *(-e for e in FIRST_EXTREMA), -INFLECTION]
    return [low, high, *(min(max(v, low), high) for v in inside if low <= v <= high)]


@pytest.mark.parametrize("m", ORDERS)
def test_at_points(m):
    """sin(t)/t: 12 ulp up to 2**20, where a sine is 4 ulp wide: a quotient adds two roundings, and an ulp is between 2**-53
    and 2**-52 of a number. Derivatives: 40 ulp of min(1/(m + 1), 2/|t|), near 0, where odd ones vanish, of |t|/(m + 2)."""
    x = points(np.random.default_rng(81 + m))
    lows, highs = enclosure(m)(x, x)
    for v, lo, hi, guess in zip(x.tolist(), lows.tolist(), highs.tolist(), estimate(m)(x).tolist(), strict=True):
        inside, value = holds(sinc(m), (v,), lo, hi)
        assert inside, (v, lo, hi, value)
        assert lo <= guess <= hi
        if m == 0 and abs(v) <= 2.0**20:
            assert width(lo, hi, value) <= 12, (v, lo, hi)
        size = min(1 / (m + 1), 2 / abs(v) if v else 1.0) if m % 2 == 0 or abs(v) > 1e-3 else abs(v) / (m + 2)
        assert hi - lo <= 40 * math.ulp(size), (v, lo, hi)


@pytest.mark.parametrize("m", ORDERS)
def test_over_intervals(m):
    rng = np.random.default_rng(91 + m)
    a, b = intervals(rng, 600)
    for u, v, lo, hi in zip(a.tolist(), b.tolist(), *(r.tolist() for r in enclosure(m)(a, b)), strict=True):
        assert -code.size_limit(m) <= lo <= hi <= code.size_limit(m)
        for x in within(rng, u, v):
            inside, value = holds(sinc(m), (x,), lo, hi)
            assert inside, ((u, v), x, lo, hi, value)


def test_where_one_value_is_known():
    """1 at 0 alone; the least value; nothing but 0 far away; the range between ends where it falls."""
    lo, hi = enclosure(0)([0.0, -math.inf, 1e300, -2.0, -1.0, 1.0], [0.0, math.inf, math.inf, 3.0, 0.5, 2.0])
    assert (lo[0], hi[0]) == (1, 1) and (lo[1], hi[1]) == (code.LEAST, 1) and max(-lo[2], hi[2]) <= 1.0000001e-300
    at, up = enclosure(0)([3.0, 1.0, 1.0, 2.0], [3.0, 1.0, 1.0, 2.0])
    assert (lo[3:] == [at[0], at[1], at[3]]).all() and (hi[3:] == [1.0, 1.0, up[2]]).all()


@pytest.mark.parametrize("m", ORDERS)
def test_what_an_enclosure_adds_falls_with_the_square_of_the_width(m):
    """Around an extremum too, where no sign of the derivative is known."""
    rng = np.random.default_rng(101 + m)
    middle = np.concatenate([rng.uniform(-20, 20, 40), FIRST_EXTREMA, [0.0]])
    for radius in (2.0**-4, 2.0**-9, 2.0**-14):
        lo, hi = enclosure(m)(middle - radius, middle + radius)
        at = np.array([enclosure(m)(middle + radius * s, middle + radius * s) for s in np.linspace(-1, 1, 33)])
        assert (lo >= at[:, 0].min(0) - 2 * radius**2).all() and (hi <= at[:, 1].max(0) + 2 * radius**2).all()


@pytest.mark.parametrize("m", [9, 20, 40])
def test_high_derivatives_hold(m):
    """Far fewer digits: beyond NEAR the recurrence multiplies errors by up to m!/NEAR**m, and 1/(m + 1) is left at last."""
    x = points(np.random.default_rng(111), 60)
    for v, lo, hi in zip(x.tolist(), *(r.tolist() for r in enclosure(m)(x, x)), strict=True):
        assert holds(sinc(m), (v,), lo, hi)[0], (v, lo, hi)


def test_same_bits_on_every_machine():
    """For every number of lanes, and by the definition of the primitives."""
    a, b = intervals(np.random.default_rng(121), 2000)
    for m in (0, 1, 4):
        first, *others = (enclosure(m, CpuBackend(w))(a, b) for w in host().widths())
        assert all(np.array_equal(u, v) for other in others for u, v in zip(first, other, strict=True))
        defined = enclosure(m, PythonBackend())(a[:40], b[:40])
        assert all(np.array_equal(u[:40], v) for u, v in zip(first, defined, strict=True))


# ---- the constants
def test_constants():
    ctx.prec = 300
    assert Fraction(code.SIXTH) > Fraction(1, 6)
    falling = arb(code.FALLING)
    assert arb.pi() < falling < 2 * arb.pi() and falling * falling.cos() < falling.sin()
    assert all(Fraction(code.size_limit(m)) >= Fraction(1, m + 1) for m in range(200))


def test_the_least_value():
    """It is at the zero of t cos t - sin t between pi and 2 pi: values at the other zeros t are at most 1/t, which is less."""
    ctx.prec = 300
    place, radius = arb(FIRST_EXTREMA[0]), arb(2) ** -50
    below, above = place - radius, place + radius
    assert below * below.cos() < below.sin() and above * above.cos() > above.sin()
    highest, lowest = place.sinc(), place.sinc() - radius**2 / 6  # |s''| <= 1/3, and s' is 0 at the zero
    assert arb(code.LEAST) < lowest and highest < arb(math.nextafter(code.LEAST, 0.0))
    assert 1 / arb(FIRST_EXTREMA[1] - 0.01) < -highest


def test_the_series_ends_where_its_terms_are_small():
    for m in range(12):
        n = m % 2 + 2 * code.TERMS
        assert abs(code.weight(n, m)) * Fraction(code.NEAR) ** n < Fraction(1, 2**66)
