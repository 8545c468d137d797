"""Which variables are whole numbers, and what that does to their bounds."""

import numpy as np
import pytest

import infimum
from infimum.problem.integrality import read_integrality
from infimum.problem.problem import Problem

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
    ([1, 0], r"integrality has the shape \(2,\), and there are 3 variables"), ("101", "0 .any number. or 1"),
    ([[1, 0, 1]], r"the shape \(1, 3\)"), ([np.nan, 0, 0], "integrality of variable 0 is nan"),
])
def test_errors(given, said):
    with pytest.raises((infimum.OptionError, infimum.ShapeError), match=said):
        infimum.minimize(lambda x: x[0], BOX, integrality=given)


def test_infinite_bounds():
    with pytest.raises(infimum.OptionError, match=r"variable 1 is a whole number, and its bounds \(0.0, inf\) are infinite"):
        infimum.minimize(lambda x: x[0], [(0, 1), (0, None)], integrality=[0, 1])
