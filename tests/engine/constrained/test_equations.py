"""Equations that fix variables at their bounds, that have double roots, and of which only some variables are worth cutting."""

import numpy as np
import pytest

import infimum
from infimum.bounds.gradient_rows import GradientRows
from infimum.bounds.interface import StepContext
from infimum.evaluation.compile import compile
from infimum.kernel.region_cut import rows
from infimum.points.constrained_search import ConstrainedSearch


def test_a_double_root_is_named_with_its_cure():
    def root(x):
        return (3 * x[0] - 1) ** 2 == 0
    r = infimum.minimize(lambda x: x[1], [(-1, 1)] * 2, constraints=root, max_boxes=2000)
    assert r.verdict.name != "PROVED" and r.x is None
    assert "linearly dependent" in r.message and "feasibility=1e-8" in r.message and "no feasible point" in r.message
    r = infimum.minimize(lambda x: x[1], [(-1, 1)] * 2, constraints=root, feasibility=1e-8)
    assert r.verdict.name == "PROVED" and r.feasibility == 1e-8


def test_what_is_infeasible_is_not_said_to_be_singular():
    r = infimum.minimize(lambda x: x[1], [(-1, 1)] * 2, constraints=lambda x: (3 * x[0] - 1) ** 2 + 1 == 0)
    assert r.verdict.name == "INFEASIBLE" and "feasibility=" not in r.message


def saving(x):
    """Capital x[:4] and consumption x[4:8], of which the first is what is left of the first capital."""
    return -np.sum(np.log(x[4:]))


SAVING = [lambda x: x[1:4] == x[:3] + x[:3] ** 0.5 - x[4:7], lambda x: x[3] ** 0.5 >= x[7]]
FIRST = 1.232050807568877  # about √3 - 1/2, which x[4] has to be, close to its lower bound
BOUNDS = [(3, 3), (3.5, 3.5), *[(1, 10)] * 2, (FIRST - 1e-9, 5), *[(0.5, 5)] * 3]


def test_variables_that_can_have_one_value_are_held():
    evaluator = compile(saving, 8, constraints=SAVING)
    lo, hi = np.array(BOUNDS, float).T.copy()
    search = ConstrainedSearch(evaluator, lo, hi)
    begin_lo, begin_hi = lo.copy(), hi.copy()
    begin_lo[4], begin_hi[4] = FIRST, np.nextafter(FIRST, 2)
    search.begin = begin_lo, begin_hi
    for _ in search.rounds()[0]:
        pass
    assert search.x[4] == pytest.approx(FIRST, abs=1e-15) and search.violation < 1e-9
    slopes = evaluator.estimate_weighted(search.x[:, None], np.concatenate([[1.0], search.multipliers])[:, None])[1][:, 0]
    inside = (search.x > lo + 1e-4) & (search.x < hi - 1e-4)
    assert np.abs(slopes[inside]).max() < 1e-6


def test_such_a_problem_is_proved():
    r = infimum.minimize(saving, BOUNDS, constraints=SAVING, rtol=1e-4, max_boxes=100_000)
    assert r.verdict.name == "PROVED" and r.feasible is not None


def test_a_search_goes_on_where_a_checkpoint_was_made():
    evaluator = compile(saving, 8, constraints=SAVING)
    lo, hi = np.array(BOUNDS, float).T.copy()
    one, other = ConstrainedSearch(evaluator, lo, hi), ConstrainedSearch(evaluator, lo, hi)
    one.begin = lo + 0.1 * (hi - lo), hi
    other.restore(one.arrays())
    assert np.array_equal(one.begin, other.begin)


def test_what_is_linear_is_not_cut():
    """The bound is as good as that of sin: cutting the others, which are wider and stand in more rows, leaves it as it is."""
    evaluator = compile(lambda x: x[3], 4, constraints=[
        lambda x: x[3] == x[1] - x[2], lambda x: x[1] + x[2] == 5 * np.sin(3 * x[0]), lambda x: x[1] - 2 * x[2] >= x[0]])
    lo, hi = np.array([[0.0, 1.0], [-20.0, 20.0], [-20.0, 20.0], [-40.0, 40.0]]).T
    low_row, axis_row, _ = rows(4)
    region = np.concatenate([lo, hi, [-np.inf, 0.0, 0.0]])[:, None]
    left = GradientRows(evaluator, lo, hi).test(region, StepContext(np.inf)).regions
    assert left[low_row, 0] > -np.inf and left[axis_row, 0] == 0
