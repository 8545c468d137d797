"""Single points at which constraints are violated by less than enclosures tell."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import infimum
from bench.integer_programs import program
from infimum.certify.exact_points import violated_points
from infimum.evaluation.evaluator import Evaluator
from infimum.trace.constraint_reading import read_constraints
from infimum.trace.trace import trace


def evaluator_of(constraints, n):
    system = read_constraints(constraints, n).system(trace(lambda x: x[0], n), tuple(range(n)))
    return Evaluator(system.f, n, system=system)


EQUATION = evaluator_of(lambda x: 0.1 * x[0] + 0.2 * x[1] * x[0] - 0.3 * x[1] == 0.5, 2)


@given(st.integers(-50, 50), st.integers(-50, 50))
def test_only_violated_points(a, b):
    exact = Fraction(0.1) * a + Fraction(0.2) * a * b - Fraction(0.3) * b - Fraction(0.5)
    x = np.array([[a], [b]], float)
    assert violated_points(EQUATION, x, x)[0] == (exact != 0)


def test_an_end_that_is_no_double():
    third = evaluator_of(infimum.Constraint(lambda x: x[0] / 3, -np.inf, Fraction(1, 3)), 1)
    x = np.array([[0.0, 1.0, 2.0]])
    assert violated_points(third, x, x).tolist() == [False, False, True]


def test_what_cannot_be_decided_stays():
    other = evaluator_of([lambda x: np.exp(x[0]) - np.exp(x[1]) >= 1e-300, lambda x: x[0] >= 0], 2)
    x = np.array([[1.0, -1.0], [1.0, 0.0]])
    assert violated_points(other, x, x).tolist() == [False, True]
    assert violated_points(EQUATION, np.zeros((2, 1)), np.array([[0.0], [1.0]])).tolist() == [False]
    assert violated_points(EQUATION, np.full((2, 1), -np.inf), np.full((2, 1), -np.inf)).tolist() == [False]


@pytest.mark.parametrize("number", [272, 424, 656, 1152, 1344, 1672])
def test_programs_that_ended_undecided(number):
    """With coefficients such as 0.1 and 0.30000000000000004."""
    asked = program(number)
    result = asked.solve(max_boxes=20_000)
    assert result.verdict.name in ("PROVED", "INFEASIBLE") and asked.wrong(result) is None
