"""Descents as a whole: what is counted, budgets, many variables."""

from dataclasses import replace

import numpy as np
import pytest

import infimum
from infimum.evaluation.programs import DESCENT_DENSE, DESCENT_LIMITED
from infimum.points.descent_kernel import LaneState
from infimum.points.descents import DescentRules, Descents
from infimum.search.policy.points import DESCENTS
from tests.engine.test_descent import descend, in_every_bit, random_starts, rosenbrock, wavy


# ---- counting
@pytest.mark.parametrize("count", [0, 1, 7, 8, 9, 264, 265, 600])
def test_every_start_comes_back_once(count):
    lo, hi = np.full(2, -2.0), np.full(2, 2.0)
    starts = random_starts(lo, hi, count)
    d = Descents(infimum.compile(wavy, 2), lo, hi, starts, DescentRules())
    assert d.running == count
    parts = []
    while not d.done:
        left = d.running
        gathered = d.advance(5)
        assert d.running == left - gathered
        if gathered:
            parts.append(d.ends())
            assert len(parts[-1].lane) >= count - d.running and len(set(parts[-1].lane)) == len(parts[-1].lane)
    ends = d.ends()
    assert ends.lane.tolist() == list(range(count)) and ends.x.shape == (2, count) and d.running == 0
    assert ends.state.dtype.kind == "i" and len(ends.value) == len(ends.state) == count
    assert d.advance() == 0 and d.best() is None
    for part in parts:
        assert (ends.x[:, part.lane] == part.x).all() and (ends.value[part.lane] == part.value).all()
    if count:
        assert (ends.value == d.evaluator.estimate(ends.x)).all()


def test_evaluations_are_counted_lane_by_lane():
    """A lane's trials until it ended, whoever else was at work; while lanes work, no more are told than there were."""
    lo, hi = np.full(2, -2.0), np.full(2, 2.0)
    starts, f = random_starts(lo, hi, 300), infimum.compile(wavy, 2)
    alone = [Descents(f, lo, hi, starts[:, k:k + 1], DescentRules()).run() for k in range(300)]
    d = Descents(f, lo, hi, starts, DescentRules())
    ends = d.run()
    assert ends.evaluations == sum(e.evaluations for e in alone) and ends.longest == max(e.longest for e in alone)
    assert all(e.evaluations == e.longest > 1 for e in alone) and 0.5 * ends.evaluations < d.evaluations <= ends.evaluations


@pytest.mark.parametrize("most", [1, 7, 100, 299, 300, 1000])
def test_the_lowest_ends_are_chosen_of_all(most):
    lo, hi = np.full(2, -2.0), np.full(2, 2.0)
    d = Descents(infimum.compile(wavy, 2), lo, hi, random_starts(lo, hi, 300), DescentRules())
    every = d.run()
    some = d.ends(most)
    chosen = np.sort(np.argsort(every.value, kind="stable")[:most])
    assert (some.lane == chosen).all() and (some.x == every.x[:, chosen]).all() and (some.state == every.state[chosen]).all()
    assert (some.evaluations, some.longest) == (every.evaluations, every.longest)


def test_the_best_of_the_lanes_at_work():
    lo, hi = np.full(2, -2.0), np.full(2, 2.0)
    f = infimum.compile(lambda x: rosenbrock(x) + 0 * np.sqrt(x[0] + 1), 2)
    starts = random_starts(lo, hi, 40)
    d = Descents(f, lo, hi, starts, DescentRules())
    assert d.best() is None
    d.advance(1)
    x, value = d.best()
    values = f.estimate(starts)
    k = int(np.nanargmin(values))
    assert np.isnan(values).any() and value == values[k] and (x == starts[:, k]).all()
    before = value
    while not d.advance(1):
        x, value = d.best()
        assert value <= before and value == f.estimate(x)
        before = value


def test_no_best_where_all_are_dead():
    d = Descents(infimum.compile(lambda x: np.log(x[0]), 1), np.full(1, -2.0), np.full(1, 2.0), np.full((1, 9), -1.0),
                 DescentRules())
    while not d.done:
        assert d.advance(1) == 0 or d.done
        assert d.best() is None


# ---- budgets
@pytest.mark.parametrize("n", [5, DESCENTS.most_dense_variables + 1])
def test_a_spent_budget_leaves_lanes_as_they_are(n):
    lo, hi = np.full(n, -2.0), np.full(n, 2.0)
    starts, e = random_starts(lo, hi, 20), infimum.compile(rosenbrock, n)
    d = Descents(e, lo, hi, starts, DescentRules(trials=16))
    ends = d.run()
    assert ends.longest == 16 and ends.evaluations == d.evaluations == 16 * 20
    assert np.isin(ends.state, (LaneState.PLAIN, LaneState.LEARNED)).all() and (ends.state == LaneState.LEARNED).any()
    assert (ends.value < e.estimate(starts)).all() and (ends.value == e.estimate(ends.x)).all()
    longer = descend(e, lo, hi, starts, trials=32)
    assert (longer.value < ends.value).all()


def test_each_batch_has_its_own_budget():
    lo, hi = np.full(5, -2.0), np.full(5, 2.0)
    starts = random_starts(lo, hi, 300)
    d = Descents(infimum.compile(rosenbrock, 5), lo, hi, starts, DescentRules(trials=8))
    ends = d.run()
    assert ends.longest == 8 and ends.evaluations == 8 * 300
    last = descend(rosenbrock, lo, hi, starts[:, 264:], trials=8)
    assert in_every_bit(last, replace(ends, x=ends.x[:, 264:], value=ends.value[264:], state=ends.state[264:]))


def test_a_limit_of_halvings_ends_lanes_sooner():
    """With one halving, a lane at a kink gives up after a few trials."""
    lo, hi = np.full(2, -1.0), np.full(2, 2.0)
    starts = random_starts(lo, hi, 40)
    e = infimum.compile(lambda x: np.max(np.abs(x - 0.3)), 2)
    few, many = (Descents(e, lo, hi, starts, DescentRules(halvings=h)) for h in (1, 20))
    few, many = few.run(), many.run()
    assert few.value.mean() > many.value.mean() and few.evaluations < many.evaluations


# ---- many variables
@pytest.mark.parametrize("n", [DESCENTS.most_dense_variables + 8, 1000, 10_000])
def test_quadratic_of_many_variables(n):
    weight = np.linspace(1.0, 30.0, n)
    lo, hi = np.full(n, -1.0), np.full(n, 2.0)
    d = Descents(infimum.compile(lambda x: np.sum(weight * (x - 0.3) ** 2) + 0.3 * np.sum(x[1:] * x[:-1]), n), lo, hi,
                 random_starts(lo, hi, 3), DescentRules())
    ends = d.run()
    matrix = np.zeros((3, n))  # of the gradient, as bands
    matrix[1], matrix[0, 1:], matrix[2, :-1] = 2 * weight, 0.3, 0.3
    from scipy.linalg import solve_banded

    exact = solve_banded((1, 1), matrix, 2 * weight * 0.3)
    assert (exact > lo).all() and (exact < hi).all()
    assert (ends.state == LaneState.CONVERGED).all() and np.abs(ends.x - exact[:, None]).max() < 1e-6


@pytest.mark.parametrize("n, share", [(DESCENTS.most_dense_variables + 8, 3e-3), (1000, 3e-3), (10_000, 3e-3)])
def test_rosenbrock_of_many_variables_falls(n, share):
    lo, hi = np.full(n, -2.0), np.full(n, 2.0)
    starts, e = random_starts(lo, hi, 2), infimum.compile(rosenbrock, n)
    ends = descend(e, lo, hi, starts, trials=64)
    assert (ends.value < share * e.estimate(starts)).all()


def test_dense_and_limited_agree_on_the_minimum():
    """The kind is chosen by the number of variables; both find the same."""
    lo, hi = np.full(4, -2.0), np.full(4, 2.0)
    e, starts = infimum.compile(lambda x: np.sum(np.cosh(x - 0.3)) + 0.1 * x[0] * x[3], 4), random_starts(lo, hi, 8)
    dense, limited = (Descents(e, lo, hi, starts, DescentRules()) for _ in range(2))
    assert dense.kind == DESCENT_DENSE
    limited.kind = DESCENT_LIMITED
    ends = dense.run(), limited.run()
    assert all((end.state == LaneState.CONVERGED).all() for end in ends)
    assert np.abs(ends[0].x - ends[1].x).max() < 1e-6 and (ends[0].x != ends[1].x).any()


@pytest.mark.parametrize("n, kind",
                         [(1, DESCENT_DENSE), (DESCENTS.most_dense_variables, DESCENT_DENSE), (DESCENTS.most_dense_variables + 1,
                                                                                               DESCENT_LIMITED)])
def test_kind_by_the_number_of_variables(n, kind):
    e = infimum.compile(lambda x: np.sum(x), n)
    assert Descents(e, np.zeros(n), np.ones(n), np.zeros((n, 1)), DescentRules()).kind == kind
