"""Which variables are whole numbers, and what that does to their bounds."""

from fractions import Fraction

import numpy as np
import pytest

import infimum
from infimum.problem.integrality import read_integrality
from infimum.problem.problem import Problem

MOST = np.finfo(float).max
BOX = [(0.5, 3.5), (-1.5, 2.0), (0, 1)]


@pytest.mark.parametrize(("given", "integers", "lo", "hi"), [
    (None, (), [0.5, -1.5, 0], [3.5, 2, 1]), (0, (), [0.5, -1.5, 0], [3.5, 2, 1]),
    ([1, 0, 1], (0, 2), [1, -1.5, 0], [3, 2, 1]), (1, (0, 1, 2), [1, -1, 0], [3, 2, 1]),
    (np.array([False, True, False]), (1,), [0.5, -1, 0], [3.5, 2, 1]), ([1.0, 0.0, 0.0], (0,), [1, -1.5, 0], [3, 2, 1]),
])
def test_bounds_are_rounded_inward(given, integers, lo, hi):
    found, none, problem = read_integrality(given, Problem.read(sum, BOX, x0=[0.6, 0.2, 1]))
    assert found == integers and none is None and problem.lo.tolist() == lo and problem.hi.tolist() == hi
    assert ((problem.x0[:, 0] >= problem.lo) & (problem.x0[:, 0] <= problem.hi)).all()


def test_bounds_that_hold_no_whole_number():
    assert read_integrality([0, 1], Problem.read(sum, [(0, 1), (0.2, 0.8)]))[1] == 1


@pytest.mark.parametrize(("given", "said"), [
    ([2, 0, 0], "integrality of variable 0 is 2"), ([0, 0.5, 0], "integrality of variable 1 is 0.5"),
    ([1], r"integrality has the shape \(1,\), and there are 3 variables: give one number, or one for each"),
    ([1, 0], r"integrality has the shape \(2,\), and there are 3 variables"), ("101", "0 .any number. or 1"),
    ([[1, 0, 1]], r"the shape \(1, 3\)"), ([np.nan, 0, 0], "integrality of variable 0 is nan"),
])
def test_errors(given, said):
    with pytest.raises((infimum.OptionError, infimum.ShapeError), match=said):
        infimum.minimize(lambda x: x[0], BOX, integrality=given)


@pytest.mark.parametrize(("bounds", "lo", "hi"), [
    ((0.5, None), 1, np.inf), ((None, 0.5), -np.inf, 0), ((None, None), -np.inf, np.inf), ((Fraction(1, 3), None), 1, np.inf),
    ((2**53 + 1, None), 2.0**53 + 2, np.inf), ((None, -(2**53) - 1), -np.inf, -2.0**53 - 2), ((0, 10**400), 0, MOST),
])
def test_infinite_bounds(bounds, lo, hi):
    integers, none, problem = read_integrality([1], Problem.read(sum, [bounds]))
    assert integers == (0,) and none is None and (problem.lo.tolist(), problem.hi.tolist()) == ([lo], [hi])
    low, high = problem.region
    assert low[0] <= lo and high[0] >= hi and (bounds[1] != 10**400 or high[0] == np.inf)
    if bounds == (2**53 + 1, None):
        assert low[0] == 2.0**53 and problem.ends[0, 0].number == 2**53 + 1


def test_infinite_start_boxes():
    boxes = [[(Fraction(1, 3), None)], [(None, Fraction(-1, 3))]]
    problem = read_integrality([1], Problem.read(sum, [(None, None)], start_boxes=boxes))[2]
    assert problem.start.lo.tolist() == [[1, -np.inf]] and problem.start.hi.tolist() == [[np.inf, -1]]
    with pytest.raises(infimum.OptionError, match="beyond 2..53"):
        read_integrality([1], Problem.read(sum, [(None, None)], start_boxes=[[(2**53 + 1, None)], [(None, 0)]]))

