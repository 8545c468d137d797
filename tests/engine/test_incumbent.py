"""The incumbent's upper bound is above the exact value at its point, which lies inside the bounds and where f is defined."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import infimum
from infimum.points.descent_kernel import LaneState
from infimum.points.descents import DescentRules
from infimum.search.incumbent import Incumbent


def polynomial(x):
    """Exact in Fractions too."""
    return (x[0] - 2 * x[1]) ** 4 - 3 * x[0] * x[1] + x[1] ** 3 - x[0] / 8


def incumbent(f, low: float, high: float, n: int = 2) -> Incumbent:
    return Incumbent(infimum.compile(f, n), np.full(n, float(low)), np.full(n, float(high)))


def exact(x: np.ndarray) -> Fraction:
    return polynomial([Fraction(v) for v in x])


@settings(max_examples=60)
@given(st.lists(st.tuples(st.floats(-3, 3), st.floats(-3, 3)), min_size=1, max_size=12))
def test_upper_is_above_the_exact_value(points):
    best = incumbent(polynomial, -3, 3)
    columns = np.array(points).T
    assert best.offer(columns)
    value = exact(best.x)
    assert value <= Fraction(best.upper) <= value + Fraction(abs(value) + 200) / 2**48
    assert (columns == best.x[:, None]).all(axis=0).any()
    assert all(Fraction(best.upper) <= exact(p) + Fraction(abs(exact(p)) + 200) / 2**48 for p in columns.T)


def test_upper_is_above_the_exact_value_after_descents():
    best = incumbent(polynomial, -3, 3)
    best.improve(np.random.default_rng(0).uniform(-3, 3, (2, 30)))
    value = exact(best.x)
    assert value <= Fraction(best.upper) < value + Fraction(1, 10**12) and best.upper < -11


def test_nothing_is_known_at_first():
    best = incumbent(polynomial, -3, 3)
    assert best.x is None and best.upper == np.inf
    assert not best.offer(np.empty((2, 0))) and best.x is None


def test_only_better_points_count():
    best = incumbent(lambda x: np.sum(x * x), -1, 1)
    assert best.offer(np.array([[0.5, 0.75], [0.0, 0.25]])) and best.upper == 0.25
    assert not best.offer(np.array([[0.75], [0.0]])) and not best.offer(np.array([[0.0], [0.5]]))
    assert best.x.tolist() == [0.5, 0.0] and best.upper == 0.25
    assert best.offer(np.array([[0.25], [0.0]])) and best.upper == 0.0625


def test_the_point_is_a_copy():
    best, points = incumbent(lambda x: np.sum(x * x), -1, 1), np.array([[0.5], [0.25]])
    best.offer(points)
    points[:] = 9.0
    assert best.x.tolist() == [0.5, 0.25]


@pytest.mark.parametrize("outside", [(1.5, 0.0), (0.0, -1.0000000000000002), (np.inf, 0.0), (0.0, -np.inf), (np.nan, 0.0),
                                     (np.nan, np.nan)])
def test_points_outside_the_bounds_never_count(outside):
    """f falls towards all of them."""
    best = incumbent(lambda x: -np.sum(x * x), -1, 1)
    assert not best.offer(np.array(outside)[:, None]) and best.x is None
    assert best.offer(np.array([outside, (0.5, 0.25), outside]).T) and best.x.tolist() == [0.5, 0.25]


def test_points_on_the_bounds_count():
    best = incumbent(lambda x: -np.sum(x * x), -1, 1)
    assert best.offer(np.array([[1.0], [-1.0]])) and best.upper == -2.0


UNDEFINED = {
    "root of a negative number": lambda x: np.sqrt(x[0] - 1) - 5 + x[1],
    "logarithm of a negative number": lambda x: np.log(x[0] - 1) - 5 + x[1],
    "division by zero": lambda x: 1 / np.maximum(x[0] - 1, 0.0) - 5 + x[1],
    "multiplied by zero": lambda x: 0 * np.sqrt(x[0] - 1) - 5 + x[1],
    "inverse sine": lambda x: np.arcsin(x[0] - 2.25) - 5 + x[1],
}


@pytest.mark.parametrize("f", UNDEFINED.values(), ids=UNDEFINED)
def test_undefined_points_never_count(f):
    best = incumbent(f, 0, 4)
    assert not best.offer(np.array([[0.5], [0.0]])) and best.x is None and best.upper == np.inf
    assert best.offer(np.array([[0.5, 1.5], [0.0, 1.0]])) and best.x.tolist() == [1.5, 1.0]


def test_a_point_that_is_not_certainly_defined_does_not_count():
    """The estimate of the root's argument is above 0, but the enclosure holds negative numbers too."""
    best = incumbent(lambda x: np.sqrt(np.sin(x[0]) ** 2 + np.cos(x[0]) ** 2 - 1 + x[1]), 0, 1)
    assert np.isfinite(best.evaluator.estimate([0.5, 0.0]))
    assert not best.offer(np.array([[0.5], [0.0]])) and best.x is None
    assert best.offer(np.array([[0.5], [0.25]])) and abs(best.upper - 0.5) < 1e-14


# ---- descents
def test_improve_stays_inside_a_smaller_box():
    """The minimum of the whole box is at 0; in the smaller one, at its corner."""
    best = incumbent(lambda x: np.sum(x * x), -1, 1)
    lo, hi = np.array([0.25, 0.5]), np.array([0.75, 0.625])
    ends = best.improve(np.random.default_rng(1).uniform(-1, 1, (2, 20)), lo, hi)
    assert ((ends.x >= lo[:, None]) & (ends.x <= hi[:, None])).all() and ends.x.shape == (2, 20)
    assert best.x.tolist() == [0.25, 0.5] and best.upper == 0.3125


def test_improve_with_one_end_of_the_box_given():
    best = incumbent(lambda x: np.sum(x * x), -1, 1)
    best.improve(np.zeros((2, 1)), hi=np.array([-0.5, 1.0]))
    assert best.x[0] == -0.5 and abs(best.x[1]) < 1e-8


def test_improve_in_a_box_of_one_point():
    best = incumbent(lambda x: np.sum(x * x), -1, 1)
    corner = np.array([0.5, -0.25])
    best.improve(np.zeros((2, 3)), corner, corner)
    assert best.x.tolist() == [0.5, -0.25] and best.upper == 0.3125


def test_improve_never_forgets_what_is_better():
    best = incumbent(lambda x: np.sum(x * x), -1, 1)
    best.offer(np.array([[0.0], [0.0]]))
    best.improve(np.array([[0.9], [0.9]]), np.full(2, 0.5), np.ones(2))
    assert best.upper == 0.0 and best.x.tolist() == [0.0, 0.0]


def test_improve_follows_its_rules():
    best, start = incumbent(lambda x: 100 * (x[1] - x[0] ** 2) ** 2 + (1 - x[0]) ** 2, -5, 5), np.array([[-1.0], [2.0]])
    short = best.improve(start, rules=DescentRules(trials=8))
    assert short.state[0] < LaneState.CONVERGED and best.upper > 1e-3
    assert best.improve(start).state[0] == LaneState.CONVERGED and best.upper < 1e-20


def test_improve_of_no_starts():
    best = incumbent(polynomial, -3, 3)
    assert len(best.improve(np.empty((2, 0))).value) == 0 and best.x is None


def ridge(x):
    return 100 * np.sqrt(np.abs(x[1] - x[0] ** 2 / 100)) + 0.01 * np.abs(x[0] + 9.7)


def test_a_blurred_value_is_enclosed_to_the_last_bit():
    """One ulp under the root is 1e-6; what can be told from the double next to it is half of that."""
    best = incumbent(ridge, -15, 3)
    a = -9.7
    best.offer(np.array([[a], [a * a / 100]]))
    blurred = best.upper
    best.sharpen(1.0)
    assert best.upper == blurred > 1e-6  # nothing to gain
    best.sharpen(1e-6)
    difference = abs(Fraction(a * a / 100) - Fraction(a) ** 2 / 100)
    rest = Fraction(best.upper) - Fraction(0.01) * abs(Fraction(a) + Fraction(9.7))
    assert best.upper < 0.8 * blurred and difference <= (rest / 100) ** 2 <= difference * Fraction(1 + 1e-12)


def test_a_gap_of_one_ulp_is_closed():
    r = infimum.minimize(ridge, [(-15, -5), (-3, 3)], max_boxes=2_000_000)
    assert r.verdict.name == "PROVED" and 0 <= r.upper - r.lower <= 1e-6
