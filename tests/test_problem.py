"""Intervals and bounds: what is accepted, what is refused, and with which words."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import Bounds

from infimum import BoundsError, Interval
from infimum.problem import read_bounds

INF = math.inf


@pytest.mark.parametrize(("bounds", "n", "expected"), [
    ([(0, 1), (-2, 3.5)], None, ([0, -2], [1, 3.5])),
    ((-1, 1), 3, ([-1] * 3, [1] * 3)),
    ([(None, 0), (0, None)], None, ([-INF, 0], [0, INF])),
    ([(-INF, INF)], None, ([-INF], [INF])),
    (np.array([[0.0, 1.0], [2.0, 2.0]]), None, ([0, 2], [1, 2])),
    (Bounds([0, 1], [2, 3]), None, ([0, 1], [2, 3])),
    (Bounds(0, 1), 4, ([0] * 4, [1] * 4)),
    (((1, 2), (3, 4)), 2, ([1, 3], [2, 4])),
])
def test_bounds_are_read(bounds, n, expected):
    lo, hi = read_bounds(bounds, n)
    assert lo.tolist() == expected[0] and hi.tolist() == expected[1]
    assert lo.dtype == hi.dtype == np.float64


@pytest.mark.parametrize(("bounds", "n", "words"), [
    ([(1, 0)], None, "reversed"),
    ([(0, math.nan)], None, "NaN"),
    ([(0, 1), (2, 3, 4)], None, "variable 1 must be a pair"),
    ([(0, 1)], 2, "n = 2"),
    ([], None, "empty"),
    ((0, 1), None, "pass n="),
    ([(0, "a")], None, "not a real number"),
    (["ab"], None, "must be a pair"),
    ([(0, 1j)], None, "not a real number"),
    ([(True, 2)], None, "not a real number"),
    (3.0, None, "sequence"),
    ([(INF, INF)], None, "point at infinity"),
    ([(-INF, -INF)], None, "point at infinity"),
    ([(0, object())], None, "not a real number"),
])
def test_bad_bounds_are_refused(bounds, n, words):
    with pytest.raises(BoundsError, match=words):
        read_bounds(bounds, n)


@given(st.integers(-2**70, 2**70), st.integers(0, 2**70))
def test_long_integers_are_rounded_outward(low, width):
    lo, hi = read_bounds([(low, low + width)])
    assert Fraction(lo[0]) <= low and low + width <= Fraction(hi[0])


@given(st.floats(allow_nan=False, allow_infinity=False), st.floats(allow_nan=False, allow_infinity=False))
def test_width_is_rounded_up(a, b):
    interval = Interval(min(a, b), max(a, b))
    width = interval.width
    assert math.isinf(width) or Fraction(width) >= Fraction(interval.hi) - Fraction(interval.lo)


def test_interval_shows_and_tests():
    assert repr(Interval(1.0, 2.5)) == "[1.0, 2.5]"
    assert 2.0 in Interval(1.0, 2.0) and 2.1 not in Interval(1.0, 2.0)
    assert Interval(INF, -INF).empty and repr(Interval(INF, -INF)) == "[empty]" and Interval(INF, -INF).width == 0
    assert Interval(-INF, 0.0).width == INF
