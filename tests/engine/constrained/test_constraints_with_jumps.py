"""Constraints that jump: a point at the jump is feasible if enclosures there say so."""

import numpy as np

import infimum
from infimum.search.feasible_incumbent import FeasibleIncumbent
from tests.engine.constrained.planted_systems import evaluator_of


def test_points_are_judged_where_they_are():
    at = FeasibleIncumbent(evaluator_of(lambda x: x[0], [(lambda x: np.floor(x[0]), 1, 1)], 1), np.zeros(1), np.full(1, 3.0))
    at.offer_as_they_are(np.array([[1.0 - 2.0**-53, 2.0, np.nan, np.inf]]))
    assert at.x is None and at.upper == np.inf
    at.offer_as_they_are(np.array([[1.5, 1.0]]))
    assert at.x.tolist() == [1.0] and at.upper == 1.0
    at.offer_as_they_are(np.empty((1, 0)))


def test_the_minimiser_at_a_jump():
    r = infimum.minimize(lambda x: x[0] + x[1] ** 2, [(0, 3)] * 2, constraints=lambda x: np.floor(x[0]) == 1, atol=1e-10)
    assert r.verdict.name == "PROVED" and r.lower == r.upper == 1.0 and r.feasible.tolist() == [1.0, 0.0]


def test_a_feasible_point_where_derivatives_lead_nowhere():
    """floor(x y) = 2 has no derivatives but 0."""
    r = infimum.minimize(lambda x: x[0] + x[1], [(0, 3)] * 2, constraints=lambda x: np.floor(x[0] * x[1]) == 2, atol=1e-2)
    assert r.verdict.name == "PROVED" and np.floor(r.x[0] * r.x[1]) == 2 and r.lower <= 2 * np.sqrt(2) <= r.upper
