"""The default search: descents beside the index method, and what they need."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from infimum.engines.index.constrained_descent import ConstrainedDescent, descent
from infimum.engines.index.constrained_model_step import least_constrained
from infimum.engines.index.fitted_quadratics import quadratics
from infimum.engines.index.index_search import IndexSearch, SearchOptions
from infimum.engines.index.local_models import least_in_box, predicted, quadratic
from infimum.engines.index.model_descent import ModelDescent
from infimum.engines.index.trial_values import TrialFailure, TrialOutcome, outcome

FAILED = TrialOutcome(failure=TrialFailure.TIMEOUT)


def narrow(x):
    """A paraboloid with a narrow ball around (0.8, 0.25), where it goes down below the rest."""
    away = math.dist(x, (0.8, 0.25)) / 0.07
    bowl = (x[0] - 0.3) ** 2 + (x[1] - 0.6) ** 2
    return bowl if away >= 1 else bowl - 1.2 * (1 - 3 * away**2 + 2 * away**3)


def run(search, function, count):
    for _ in range(count):
        (trial,) = search.ask()
        search.tell(trial.number, function(trial.point))
    return search


@given(st.integers(1, 5), st.integers(0, 1000))
def test_models_know_quadratics(n, seed):
    random = np.random.default_rng(seed)
    root, slope = random.normal(size=(n, n)), random.normal(size=n)
    hessian, at = root @ root.T, random.uniform(0, 1, n)
    points = random.uniform(0, 1, ((n + 1) * (n + 2) // 2 + 3, n))
    values = np.array([slope @ (p - at) + 0.5 * (p - at) @ hessian @ (p - at) for p in points])
    gradient, found = quadratic(points, values, at)
    assert np.allclose(found, hessian, atol=1e-3 * np.abs(hessian).max()) and np.allclose(gradient, slope, atol=1e-2)
    diagonal = np.array([3.0 + slope @ (p - at) + np.sum((p - at) ** 2) for p in points])
    if len(points) >= 2 * n + 2:
        assert predicted(points, diagonal, at) == pytest.approx(3.0, abs=1e-6)


@given(st.integers(1, 4), st.integers(0, 1000))
def test_the_step_stays_in_the_box_and_goes_down(n, seed):
    random = np.random.default_rng(seed)
    root, gradient = random.normal(size=(n, n)), random.normal(size=n)
    hessian = root + root.T
    step = least_in_box(gradient, hessian, np.full(n, -0.3), np.full(n, 0.2))
    assert np.all((step >= -0.3) & (step <= 0.2)) and gradient @ step + 0.5 * step @ hessian @ step < 0


@pytest.mark.parametrize("n", [1, 2, 5])
def test_a_descent_comes_to_the_minimum_with_few_trials(n):
    def f(x):
        return float(np.sum((1 + np.arange(n)) * (x - 0.4) ** 2) + 0.3 * np.sum((x - 0.4) ** 3))
    found = descent(np.full(n, 0.6), np.array([f(np.full(n, 0.6))]), np.empty((0, n)), np.empty((0, 1)), 0.1, 0.002)
    while not found.over:
        point = np.clip(found.next(), 0, 1)
        found.tell(point, np.array([f(point)]))
    assert np.abs(found.best - 0.4).max() < 0.01 and found.trials < 25 * n


@given(st.integers(0, 1000), st.booleans())
@settings(deadline=None)
def test_the_step_under_constraints_is_as_good_as_a_grid(seed, linear):
    random = np.random.default_rng(seed)

    def symmetric():
        root = random.normal(size=(2, 2))
        return np.zeros((2, 2)) if linear else root + root.T
    gradient, hessian, way = random.normal(size=2), symmetric(), random.uniform(0, 2 * np.pi)
    value, slope, bend = -random.uniform(0.01, 0.5), np.array([math.cos(way), math.sin(way)]), symmetric() / 3
    step = least_constrained(gradient, hessian, np.array([value]), slope[None], bend[None], np.full(2, -1.0), np.full(2, 1.0))
    grid = np.stack(np.meshgrid(*[np.linspace(-1, 1, 41)] * 2), axis=-1).reshape(-1, 2)
    restraint = [value + x @ slope + 0.5 * np.sum(x @ bend * x, axis=1) for x in (grid, step[None])]
    values = (grid @ gradient + 0.5 * np.sum(grid @ hessian * grid, axis=1))[restraint[0] <= 0]
    found = gradient @ step + 0.5 * step @ hessian @ step
    assert np.all(np.abs(step) <= 1) and restraint[1][0] <= 1e-2
    assert found <= 1e-9 and (not linear or found <= values.min() + 1e-3 * np.ptp(values))


def test_a_step_where_constraints_hold_nowhere_stays_in_the_box():
    """Two that exclude each other: multipliers grow without end."""
    ways = np.array([[1.0, 0.0, 0.0], [-1.0, 0.0, 0.0]])
    flat = np.zeros((2, 3, 3))
    step = least_constrained(np.ones(3), -np.eye(3), np.array([0.5, 0.7]), ways, flat, np.full(3, -1.0), np.zeros(3))
    assert np.all((step >= -1) & (step <= 0))


@given(st.integers(1, 5), st.integers(0, 1000))
@settings(deadline=None)
def test_models_of_several_functions_know_what_they_do_not(n, seed):
    """Quadratics, where each has enough trials; then nothing is unknown. With few, what is unknown grows away from them."""
    random = np.random.default_rng(seed)
    hessians = random.normal(size=(2, n, n))
    hessians, slopes, at = hessians + hessians.transpose(0, 2, 1), random.normal(size=(2, n)), random.uniform(0, 1, n)
    steps = random.uniform(-0.1, 0.1, (3 * (n + 1) * (n + 2), n))
    both = zip(slopes, hessians, strict=True)
    values = np.stack([steps @ g + 0.5 * np.sum(steps @ h * steps, axis=1) for g, h in both], axis=1)
    values[::3, 1] = math.nan
    found = quadratics(at + steps, values, at, 1)
    near = np.argsort(np.abs(steps).max(axis=1))[:n + 2]
    missed = np.abs(found.rises(steps[near])[0] - values[near, 0])
    assert found.functions == [0, 1] and np.allclose(found.gradients, slopes, atol=0.2 * np.abs(hessians).max())
    assert missed.max() <= 0.05 * np.ptp(values[:, 0]) and np.allclose(found.rises(steps)[:, 2], found.rise(steps[2]))
    few = quadratics(at + steps[1:3 * n:3], values[1:3 * n:3], at, 1)
    assert few is None and quadratics(at + steps[:n + 2], values[:n + 2], at, 0).functions == [0]
    near, far = found.unknown(0.01 * np.eye(n)), found.unknown(np.eye(n))
    assert np.all(near < 0.05 * far)


def at_a_ball(x):
    """f falls to the lower left; feasible above a line and in a ball: least where both meet."""
    line, ball = 0.5 - x[1], math.dist(x, (0.5, 0.5)) - 0.3
    if line > 0:
        return [line]
    return [line, ball] if ball > 0 else [line, ball, x[0] + 0.5 * x[1] + (x[0] - x[1]) ** 2]


@pytest.mark.parametrize("start", [(0.5, 0.7), (0.9, 0.9), (0.3, 0.1)])
def test_a_descent_comes_to_a_vertex_of_the_feasible_set(start):
    """From a feasible start, and from starts where the second and the first constraint are violated."""
    def values(x):
        found = at_a_ball(x)
        return np.array(found + [math.nan] * (3 - len(found)))
    start = np.array(start)
    found = descent(start, values(start), np.empty((0, 2)), np.empty((0, 3)), 0.1, 0.0005)
    while not found.over:
        point = np.clip(found.next(), 0, 1)
        found.tell(point, values(point))
    assert found.level == 2 and np.abs(found.best - (0.2, 0.5)).max() < 0.005 and found.trials < 90


def test_trials_at_constraints_are_few():
    """80 are enough for a vertex of the feasible set."""
    found = run(IndexSearch(2, 2), lambda x: outcome(at_a_ball(x), 2), 80).finish()
    assert found.feasible and math.dist(found.point, (0.2, 0.5)) < 0.01


def test_an_accuracy_is_reached_though_nothing_is_feasible():
    search = IndexSearch(2, 1, SearchOptions(accuracy=0.05))
    while search.done() is None:
        for trial in search.ask():
            search.tell(trial.number, outcome([1 + trial.point[0]], 1))
        assert search.trials.count < 3000
    assert search.done() == "accuracy" and not search.finish().feasible


@pytest.mark.parametrize("kind, values", [(ModelDescent, [1.0]), (ConstrainedDescent, [-0.5, 1.0])])
def test_a_descent_ends_where_nothing_has_a_value(kind, values):
    found = kind(np.array([0.5, 0.5]), np.array(values), np.empty((0, 2)), np.empty((0, len(values))), 0.1, 0.002)
    while not found.over:
        found.tell(found.next(), None)
        assert found.trials < 200
    assert found.value == 1.0


def test_a_narrow_ball_is_found():
    search = run(IndexSearch(2), lambda x: outcome(narrow(x)), 250)
    assert math.dist(search.finish().point, (0.8, 0.25)) < 0.02
    assert len(search.minima) >= 2 and len(set(search.trials.places)) == 250


def test_rankings_take_turns_while_descents_go_on():
    """The method's own trials never stop: at least one of three."""
    search, own = IndexSearch(2), 0
    for _ in range(200):
        (trial,) = search.ask()
        own += search.descending is None
        search.tell(trial.number, outcome(narrow(trial.point)))
    assert 67 <= own < 200


def test_failures_beside_descents():
    search = run(IndexSearch(2), lambda x: FAILED if x[0] > 0.5 else outcome(narrow(x)), 200)
    assert math.dist(search.finish().point, (0.3, 0.6)) < 0.02


def test_constraints_beside_descents():
    def values(x):
        ball = math.dist(x, (0.5, 0.5)) - 0.3
        return outcome([ball] if ball > 0 else [ball, x[0] + x[1]], 1)
    found = run(IndexSearch(2, 1), values, 300).finish()
    assert found.feasible and found.outcome.values[1] == pytest.approx(1 - 0.3 * math.sqrt(2), abs=0.01)


@settings(deadline=None, max_examples=30)
@given(st.lists(st.integers(0, 6), min_size=20, max_size=120))
def test_the_state_of_a_search_comes_back(steps):
    search = IndexSearch(2)
    for step in steps:
        if step < 3 or not search.waiting:
            search.ask(1 + step % 3)
        else:
            number = sorted(search.waiting)[step * 7 % len(search.waiting)]
            point = search.curves.point(search.waiting[number])
            search.tell(number, FAILED if step == 6 and point[0] < 0.2 else outcome(narrow(point)))
    again = IndexSearch.from_arrays(search.to_arrays(), 2, 0, SearchOptions())
    assert again.waiting == search.waiting and again.descending == search.descending
    assert [t.point for t in again.ask(4)] == [t.point for t in search.ask(4)]
