"""Intervals and bounds: what is accepted, what is refused, and with which words."""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import Bounds

import infimum
from infimum import BoundsError, Interval
from infimum.problem.variable_bounds import _doubles, _read, read_bounds

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
    lo, hi = read_bounds(bounds, n).region
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
    ({"a": (0, 1)}, None, "not a dict"),
    ({(0, 1), (2, 3)}, None, "not a set"),
    ((0, 1), 2.0, "positive integer"),
    ((0, 1), 0, "positive integer"),
    (Bounds([0, 1, 2], 3), 2, "n = 2"),
])
def test_bad_bounds_are_refused(bounds, n, words):
    with pytest.raises(BoundsError, match=words):
        read_bounds(bounds, n)


@given(st.integers(-2**70, 2**70), st.integers(0, 2**70))
def test_long_integers_are_rounded_outward_and_inward(low, width):
    box = read_bounds([(low, low + width)])
    (lo, hi), high = box.region, low + width
    assert Fraction(lo[0]) <= low <= Fraction(box.lo[0]) and Fraction(box.hi[0]) <= high <= Fraction(hi[0])
    assert box.lo[0] in (lo[0], math.nextafter(lo[0], INF)) and box.hi[0] in (hi[0], math.nextafter(hi[0], -INF))
    assert (box.outer is None) == (Fraction(lo[0]) == low and Fraction(hi[0]) == high)


@pytest.mark.parametrize("value", [
    Fraction(1, 3), Fraction(-2, 3), Decimal("0.1"), Decimal("-1e-400"), Decimal("1e-400"), np.int64(2**53 + 1),
    np.uint64(2**63 + 1), np.longdouble("0.1"), np.float32(0.1), 10**400, -(10**400), infimum.pi, -infimum.e, np.array(0.5), 3,
])
def test_whatever_the_number_the_box_read_contains_the_box_written(value):
    lo, hi = read_bounds([(value, value)]).region
    low, high = (getattr(value, "lo", value), getattr(value, "hi", value))
    exact = [Fraction(*v.as_integer_ratio()) if hasattr(v, "as_integer_ratio") else Fraction(int(v)) for v in (low, high)] \
        if not isinstance(value, np.ndarray) else [Fraction(1, 2)] * 2
    assert math.isinf(lo[0]) or Fraction(lo[0]) <= exact[0]
    assert math.isinf(hi[0]) or exact[1] <= Fraction(hi[0])
    assert hi[0] <= math.nextafter(math.nextafter(lo[0], INF), INF)


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


@given(st.lists(st.tuples(*2 * [st.one_of(st.floats(), st.integers(-2**70, 2**70), st.integers(-9, 9), st.booleans(), st.none(),
                                          st.floats(-5, 5).map(np.float64))]), min_size=1, max_size=4))
def test_many_plain_bounds_are_read_as_one_by_one(pairs):
    """Doubles and whole numbers that are doubles go a shorter way; what is wrong is said by the longer one."""
    found = _doubles(pairs)
    if found is not None:
        one_by_one = [[end.down for end in pair] for pair in _read(pairs)]
        assert found.tobytes() == np.array(one_by_one, dtype=float).tobytes()
        assert all(end.is_double for pair in _read(pairs) for end in pair)
    elif all(type(v) in (float, np.float64) or (type(v) is int and abs(v) <= 2**53) for pair in pairs for v in pair):
        with pytest.raises(BoundsError):
            _read(pairs)


def test_lower_and_upper_ends_are_no_pairs():
    for ends in (([-5, -5], [5, 5]), ([-5, -4], [4, 5]), (np.array([-5, -4]), np.array([4, 5]))):
        with pytest.raises(BoundsError, match=r"may be the lower and the upper ends.*list\(zip\(lows, highs\)\)"):
            read_bounds(ends)
    assert read_bounds([(-5, -5), (5, 5)]).lo.tolist() == [-5, 5]  # both variables have one value


def test_a_data_frame_is_its_rows():
    pandas = pytest.importorskip("pandas")
    assert read_bounds(pandas.DataFrame([(-5, 5), (-4, 4)])).lo.tolist() == [-5, -4]
