"""pow and integer powers against Arb."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from against_arb import LARGEST, check_lanes, check_points, check_vectors, compiled, enclosure, holds, logarithmic, width
from flint import arb

from infimum.backend.cpu import host
from infimum.interval.elementary.power import enclose_integer_power, estimate_integer_power

EXPONENTS = (2, 3, 4, 5, 7, 10, 13, 31, 32, 33, 34, 35, 100, 1074, 2**20 + 1, 2**31,
             -1, -2, -3, -4, -7, -8, -33, -34, -1001, -(2**31))


def power(x: arb, y: arb) -> arb:
    mantissa, exponent = math.frexp(float(x))
    if mantissa == 0.5:
        y = y * (exponent - 1)
        return arb(2) ** y if y.is_integer() and abs(y) < 5000 else (y * arb(2).log()).exp()
    return (y * x.log()).exp()


def points(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Bases of every size, many near 1 or powers of two, and exponents for the whole range of results, some whole or tiny."""
    n = 800
    x = np.concatenate([np.abs(logarithmic(rng, n)), rng.uniform(0.5, 2, n),
                        1 + np.exp2(rng.uniform(-52, -1, n)) * rng.choice([-1, 1], n),
                        np.ldexp(1.0, rng.integers(-1074, 1024, n)), rng.integers(1, 100, n) * 1.0])
    results = np.where(rng.random(len(x)) < 0.6, rng.uniform(-1080, 1030, len(x)), logarithmic(rng, len(x), -60, 10))
    logs = np.log2(x)
    y = results / np.where(logs == 0, 1.0, logs)
    y = np.where(rng.random(len(x)) < 0.1, np.round(y), y)
    y = np.where(rng.random(len(x)) < 0.1, logarithmic(rng, len(x), -1074, 0), y)
    inside = np.isfinite(y) & (np.abs(y * logs) < 3000)
    return x[inside], y[inside]


def test_points():
    check_points("pow", power, *points(np.random.default_rng(31)))


def test_exact_values():
    x = np.array([1.0, 1.0, 0.1, 1e300, 4.0, 4.0, 2.0, 2.0, 0.25])
    y = np.array([1e308, -3.7, 0.0, -0.0, 0.5, -0.5, -1074.0, 1023.0, 1.5])
    lo, hi = enclosure("pow")(x, x, y, y)
    assert np.array_equal(lo, hi) and lo.tolist() == [1, 1, 1, 1, 2, 0.5, 5e-324, 2.0**1023, 0.125]


def test_boxes():
    """Ends come from corners; with 0 and infinity among them the limits count. Of x = [0, 0] the powers are 0 for y > 0 and 1 for
    y = 0."""
    grid = [0.0, 5e-324, 0.3, 1.0, 2.5, 1e300, math.inf]
    spans_x = [(a, b) for a, b in itertools.combinations_with_replacement(grid, 2) if a < math.inf]
    grid = [-math.inf, -1e300, -2.5, -1e-320, 0.0, 0.4, 3.0, 1e300, math.inf]
    spans_y = [(a, b) for a, b in itertools.combinations_with_replacement(grid, 2) if a < math.inf and b > -math.inf]
    boxes = [(*s, *t) for s in spans_x for t in spans_y if s[1] > 0 or t[1] >= 0]
    lows, highs = enclosure("pow")(*np.array(boxes).T)

    def corner(x: float, y: float) -> float:
        if y == 0 or x == 1:
            return 1.0
        if abs(y) == math.inf or x in (0, math.inf):
            return math.inf if (x > 1) == (y > 0) else 0.0
        return math.inf if y * math.log(x) > 710 else math.exp(y * math.log(x))
    for (xa, xb, ya, yb), lo, hi in zip(boxes, lows.tolist(), highs.tolist(), strict=True):
        values = [corner(x, y) for x in (xa, xb) for y in (ya, yb)] if xb else [0.0] * (yb > 0) + [1.0] * (ya <= 0)
        least, most = min(values), max(values)
        assert lo <= least * (1 + 1e-12) and hi >= most * (1 - 1e-12), (xa, xb, ya, yb, lo, hi)
        assert lo >= min(least, LARGEST) * (1 - 1e-12) and hi <= most * (1 + 1e-12) + 5e-324, (xa, xb, ya, yb, lo, hi)


def test_zero_to_a_power():
    boxes = [(0, 0, 2, 3), (-0.0, 0, 0, 1), (0, 0, -1, 1), (0, 0.5, 0, 1), (0, 0.5, -1, 0), (0, 0, 0, 0), (0, 0, -1, 0)]
    lo, hi = enclosure("pow")(*np.array(boxes, float).T)
    assert lo.tolist() == [0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0] and hi.tolist() == [0.0, 1.0, 1.0, 1.0, math.inf, 1.0, 1.0]


def integer_power(k: int, lanes: int | None = None):
    return compiled(f"power{k}", lambda b, nlo, hi: enclose_integer_power(b, nlo, hi, k), 1, lanes=lanes)


def bases(k: int, rng: np.random.Generator) -> np.ndarray:
    sizes = np.clip(rng.uniform(-1090, 1040, 300) / k, -1074, 1023)
    x = np.concatenate([np.exp2(sizes), rng.uniform(0.5, 2, 200), 1 + np.exp2(rng.uniform(-52, -1, 200)), np.arange(1.0, 60.0),
                        np.exp2(np.round(sizes)), np.exp2(-np.arange(0.0, 60.0)), np.arange(1.0, 30.0, 2) / 16])
    return x * rng.choice([-1, 1], len(x))


@pytest.mark.parametrize("k", EXPONENTS)
def test_integer_powers(k):
    x = bases(k, np.random.default_rng(32))
    lows, highs = integer_power(k)(x, x)
    near = compiled(f"estimate{k}", lambda b, nlo, hi: (nlo, estimate_integer_power(b, hi, k)), 1)(x, x)[1]
    for v, lo, hi, guess in zip(x.tolist(), lows.tolist(), highs.tolist(), near.tolist(), strict=True):
        sign = -1 if v < 0 and k % 2 else 1
        size = k * math.log2(abs(v))
        if abs(size) > 1100:
            ends = (LARGEST, math.inf) if size > 0 else (0.0, 5e-324)
            assert (lo, hi) == (ends if sign > 0 else (-ends[1], -ends[0])), (v, lo, hi)
            continue
        inside, value = holds(lambda a: a**k if abs(k) < 200 else abs(power(abs(a), arb(k))), (v if abs(k) < 200 else abs(v),),
                              *((lo, hi) if sign > 0 or abs(k) < 200 else (-hi, -lo)))
        assert inside and width(lo, hi, value) <= (4 if k in (3, 4) else 3), (v, lo, hi, value)
        assert math.isinf(guess) or abs(abs(guess) - abs(float(value))) <= 3 * math.ulp(float(value)), (v, guess)
        odd = math.frexp(v)[0] not in (0.5, -0.5)
        if (not odd and -1074 <= size <= 1023) or (odd and 0 < k < 40 and abs(size) < 1020 and _is_double(Fraction(v) ** k)):
            assert lo == hi, (v, lo, hi)


def _is_double(value: Fraction) -> bool:
    return Fraction(float(value)) == value


@pytest.mark.parametrize("k", [k for k in EXPONENTS if abs(k) < 50])
def test_integer_powers_of_intervals(k):
    spans = np.array([(-2, 3), (-3, 2), (0, 2), (-2, 0), (2, 3), (-3, -2), (-math.inf, math.inf), (0, math.inf), (-math.inf, -1),
                      (1, math.inf), (-0.0, 2)])
    lows, highs = integer_power(k)(*spans.T)
    for (a, b), lo, hi in zip(spans.tolist(), lows.tolist(), highs.tolist(), strict=True):
        values = [Fraction(e) ** k if math.isfinite(e) else (e**k if k > 0 else 0) for e in (a, b) if e or k > 0]
        if k > 0:
            values += [0] if a <= 0 <= b else []
        else:
            values += [math.inf] if a <= 0 < b or (a < 0 <= b and k % 2 == 0) else []
            values += [-math.inf] if a < 0 <= b and k % 2 else []
        least, most = min(values), max(values)
        assert lo <= least and most <= hi, (k, a, b, lo, hi)
        for found, best in ((lo, least), (hi, most)):
            assert found == best or abs(found - best) <= 2 * math.ulp(float(best)), (k, a, b, lo, hi)


def test_plain_integer_powers():
    x = np.array([-2.0, 0.5])
    for k, lo, hi in ((0, [1.0], [1.0]), (1, [-2.0], [0.5])):
        found = compiled(f"power{k}", lambda b, nlo, hi, k=k: enclose_integer_power(b, nlo, hi, k), 1)(x[:1], x[1:])
        assert [f.tolist() for f in found] == [lo, hi]


def test_same_bits_for_every_number_of_lanes():
    rng = np.random.default_rng(33)
    x, y = points(rng)
    check_lanes("pow", *(f(v, v[::-1]) for v in (x, y) for f in (np.minimum, np.maximum)))
    for k in (3, 5, 34, -2, -7):
        x = bases(k, rng)
        ends = np.minimum(x, x[::-1]), np.maximum(x, x[::-1])
        first, *others = ([r.view(np.int64) for r in integer_power(k, w)(*ends)] for w in host().widths())
        assert all(np.array_equal(a, b) for other in others for a, b in zip(first, other, strict=True))


def test_vectors():
    """But for 0**0, which the standard has not."""
    check_vectors("pow", "pow", (-math.inf, math.inf), alike=lambda x, x_hi, y, y_hi: x_hi > 0 or y > 0)
