"""Weights of products of constraints are estimates; whatever is asked, the search ends."""

import numpy as np
import pytest

from infimum.bounds.constraint_products import ProductWeightSearch, Slacks
from infimum.bounds.quadratic_lagrangian import QuadraticLagrangian
from tests.engine.constrained.planted_systems import evaluator_of


def test_a_search_that_begins_at_its_end_ends():
    slacks = Slacks(np.zeros((0, 2)), np.zeros(4), np.zeros(4), np.ones(4, bool))
    v, delta = ProductWeightSearch(np.zeros((2, 2)), slacks, np.zeros((2, 0))).run(-1.0)
    assert (v >= 0).all() and abs(delta) < 1e-9


@pytest.mark.parametrize("lo, hi", [
    ((0.5, 0.5), (0.5, 0.5)), ((0, 0.5), (1, 0.5)), ((-1e300, -1e300), (1e300, 1e300)), ((0, 0), (1, 1)),
])
def test_bounds_hold_on_boxes_of_all_sizes(lo, hi):
    rows = [(lambda x: x[0] + x[1], 1.0, 1.0), (lambda x: x[0] - x[1], 0.0, 0.0)]
    evaluator = evaluator_of(lambda x: -x[0] * x[1] + np.sum(x[2:] ** 2), rows, 6)
    box = (np.array([*end, *4 * [rest]], float) for end, rest in ((lo, -1), (hi, 1)))
    found = QuadraticLagrangian(evaluator).bound(*box, np.array([0.5, 0.5, 0, 0, 0, 0]), np.array([0.5, 0.0]), 1e-9)
    assert found <= -0.25
