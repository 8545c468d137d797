"""Weights of products of constraints are estimates; whatever is asked, the search ends."""

import numpy as np
import pytest

import infimum
from infimum.bounds.quadratics.constraint_products import ProductWeightSearch, Slacks
from infimum.bounds.quadratics.quadratic_lagrangian import QuadraticLagrangian
from infimum.search.policy.search import CONSTRAINED
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


def test_a_search_ends_after_the_steps_that_it_may_take():
    """And what it has found until then gives a bound that holds, if a weaker one."""
    rows = [(lambda x: np.sum(x), 1.0, 1.0)]
    matrix = np.random.default_rng(2).standard_normal((8, 8))
    evaluator = evaluator_of(lambda x: x @ (matrix @ x), rows, 8)
    asked = np.zeros(8), np.ones(8), np.full(8, 0.125), np.zeros(1), 1e-9
    lower, steps = [], []
    for most in (0, 2, np.inf):
        quadratic = QuadraticLagrangian(evaluator)
        lower.append(quadratic.bound(*asked, most))
        steps.append(quadratic.steps)
    points = np.random.default_rng(3).dirichlet(np.ones(8), 1000)
    assert max(lower) <= np.einsum("ki,ij,kj->k", points, matrix, points).min() and lower[0] < lower[-1]
    assert steps[0] == 0 < steps[1] < steps[2] and steps[1] < 2 + 60  # it ends between two steps of Newton's method


def test_steps_are_counted_in_evaluations(monkeypatch):
    """A dense problem is proved by its first bound; with costlier steps that is asked after more evaluations, or never."""
    def solve():
        r = infimum.minimize(lambda x: x[0] * x[1] - 2 * x[2] * x[3] - x @ x, [(0, 1)] * 6,
                             constraints=lambda x: [np.sum(x) <= 2.5])
        assert r.verdict.name == "PROVED"
        return r
    asked = []
    bound = QuadraticLagrangian.bound
    monkeypatch.setattr(QuadraticLagrangian, "bound", lambda self, *given: asked.append(given[-1]) or bound(self, *given))
    one = solve()
    assert asked and min(asked) >= CONSTRAINED.least_quadratic_steps
    monkeypatch.setattr(CONSTRAINED, "quadratic_operations", 1 << 40)
    asked.clear()
    other = solve()
    assert not asked and one.lower <= other.upper and other.lower <= one.upper
