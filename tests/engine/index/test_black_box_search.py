"""The search of a black box between its bounds: whole numbers, points that would repeat, points to start from, the polish."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from infimum.blackbox.outcome import Outcome, OutcomeKind
from infimum.blackbox.variables import Variables
from infimum.engines.index.black_box_search import BlackBoxSearch
from infimum.engines.index.index_method import IndexMethod
from infimum.engines.index.index_options import IndexOptions
from infimum.engines.index.index_search import IndexSearch
from infimum.engines.index.trial_values import outcome
from infimum.engines.index.unit_cube import UnitCube
from infimum.errors import OptionError


def search_of(bounds, integrality=None, constraints=0, starts=(), **options):
    return BlackBoxSearch(Variables.read(bounds, integrality), constraints, IndexOptions.read(options), starts)


def run(search, fun, count):
    """Trials one after the other, at most so many; their points."""
    points = []
    while len(points) < count and (proposal := search.ask()) is not None:
        points.append(proposal.x)
        search.tell(proposal.number, Outcome.of(np.atleast_1d(fun(np.array(proposal.x))), search.constraints))
    return points


# ---- the cube
@given(st.lists(st.tuples(st.floats(-1e6, 1e6), st.floats(0, 1e6), st.booleans()), min_size=1, max_size=4), st.integers(0, 999))
def test_points_are_allowed_and_come_back(rows, seed):
    bounds = [(math.floor(low), math.floor(low) + math.ceil(width)) if whole else (low, low + width)
              for low, width, whole in rows]
    variables = Variables.read(bounds, [int(whole) for *_, whole in rows])
    cube = UnitCube(variables)
    unit = np.random.default_rng(seed).uniform(0, 1, cube.n)
    x = cube.point(unit)
    assert variables.allowed(x)
    assert variables.allowed(cube.point(np.zeros(cube.n))) and cube.point(np.ones(cube.n)) == tuple(variables.hi)
    again = cube.unit(x)
    assert np.allclose(again[cube.continuous], unit[cube.continuous], atol=1e-3) or not len(cube.continuous) or any(
        width < 1e-3 for _, width, _ in rows)
    whole = np.flatnonzero(cube.whole)
    assert np.array_equal(np.array(cube.point(again))[np.array(cube.axes)[whole]], np.array(x)[np.array(cube.axes)[whole]])


def test_bounds_wider_than_doubles():
    cube = UnitCube(Variables.read([(-1.7e308, 1.7e308)]))
    assert cube.point([0.5]) == (0.0,) and cube.point([0.0]) == (-1.7e308,) and cube.point([1.0]) == (1.7e308,)
    assert cube.unit([0.0]) == 0.5


def test_every_whole_number_has_an_equal_part():
    cube = UnitCube(Variables.read([(3, 7)], 1))
    found = [cube.point([(k + 0.5) / 1000])[0] for k in range(1000)]
    assert [found.count(v) for v in (3.0, 4.0, 5.0, 6.0, 7.0)] == [200] * 5


# ---- finite sets
@pytest.mark.parametrize(("bounds", "integrality", "count"), [
    ([(0, 4), (0, 2)], 1, 15), ([["a", "b", "c"], (1, 4)], [0, 1], 12), ([(2, 2), (5, 5)], 0, 1), ([(0, 0), (1, 3)], 1, 3),
    ([(0, 60), (0, 1)], 1, 122)])
def test_a_finite_set_ends_with_each_point_once(bounds, integrality, count):
    search = search_of(bounds, integrality)
    points = run(search, lambda x: float(np.sum((x - 1) ** 2)), 10**6)
    assert len(points) == len(set(points)) == count and search.exhausted and search.ask() is None


def test_points_that_are_waited_for_are_not_asked_again():
    search = search_of([(0, 3), (0, 3)], 1)
    asked = [search.ask() for _ in range(16)]
    assert len({a.x for a in asked}) == 16 and search.ask() is None
    for number in (3, 15, 0, *range(1, 3), *range(4, 15)):
        search.tell(number, Outcome.of([float(number)], 0))
    assert search.book.value == 0 and search.book.x == asked[0].x and not search.waiting


def test_choices_beside_continuous_variables():
    search = search_of([(0, 1), ["a", "b", "c"]])
    points = run(search, lambda x: float((x[0] - 0.3) ** 2 + [0.5, 0.0, 0.2][int(x[1])]), 120)
    assert len(set(points)) == 120 and search.book.x[1] == 1 and abs(search.book.x[0] - 0.3) < 1e-3


# ---- points to start from
def test_points_to_start_from_come_first_and_exactly():
    starts = [(0.1, 0.7), (0.1, 0.7), (0.9, 1 / 3)]
    search = search_of([(0, 1)] * 2, starts=starts)
    points = run(search, lambda x: float(np.sum(x)), 30)
    assert points[:2] == [(0.1, 0.7), (0.9, 1 / 3)] and len(set(points)) == 30


def test_places_from_outside_are_in_the_state():
    search = IndexSearch(2)
    given_trial = search.ask_at((0.2, 0.8))
    assert search.ask_at((0.2, 0.8)) is None
    search.tell(given_trial.number, outcome(1.0))
    for _ in range(5):
        (trial,) = search.ask()
        search.tell(trial.number, outcome(sum(trial.point)))
    again = IndexSearch.from_arrays(search.to_arrays(), 2)
    assert again.asked == search.asked and again.ask()[0].point == search.ask()[0].point
    assert isinstance(again, IndexMethod)


# ---- the polish
def test_the_polish_leaves_the_grid():
    def smooth(x):
        return float(2 - np.cos(3 * (x[0] - 0.123456789)) - np.exp(-((x[1] - 0.7 + 0.3 * (x[0] - 0.123456789)) ** 2)))
    coarse, fine = search_of([(0, 1)] * 2, polish=False), search_of([(0, 1)] * 2)
    for search in (coarse, fine):
        run(search, smooth, 400)
    assert fine.book.value < 0.01 * coarse.book.value and fine.polish.trials <= 40
    assert math.dist(fine.book.x, (0.123456789, 0.7)) < 1e-5 < math.dist(coarse.book.x, (0.123456789, 0.7))


def test_the_polish_reaches_the_bounds():
    search = search_of([(0, 1)] * 2)
    run(search, lambda x: float(x[0] - x[1]), 300)
    assert search.book.x == (0.0, 1.0)


@pytest.mark.parametrize("n, constraints, value, wanted", [
    (3, [lambda x: np.sum(x**2) - 0.5], lambda x: np.sum(x), -math.sqrt(1.5)),                # a curved boundary
    (3, [lambda x: x[0] - 0.3 * x[2], lambda x: np.sum(x) - 1.5], lambda x: np.sum((x - 0.7) ** 2),
     0.2521942446043165),                                                                     # two at once
    (5, [lambda x: np.sum(x**2) - 0.5, lambda x: 0.1 - x[0]], lambda x: np.sum(x), -1.3),     # two in five variables
])
def test_the_polish_reaches_the_boundary_of_constraints(n, constraints, value, wanted):
    def trial(x):
        found = [float(g(x)) for g in constraints]
        first = next((k for k, g in enumerate(found) if g > 0), None)
        return [*found, float(value(x))] if first is None else found[:first + 1]
    search = search_of([(-1, 1)] * n, constraints=len(constraints))
    run(search, trial, 300)
    assert wanted - 1e-12 <= search.book.value <= wanted + 1e-6


def test_a_larger_budget_asks_the_same_first():
    def fun(x):
        return float(np.sin(9 * x[0]) + x[1] ** 2)
    short, long = (run(search_of([(0, 1)] * 2), fun, count) for count in (60, 120))
    assert long[:60] == short


@settings(deadline=None, max_examples=25)
@given(st.lists(st.integers(0, 9), min_size=30, max_size=150), st.booleans())
def test_only_the_order_of_asking_and_telling_counts(steps, whole):
    def go():
        search, log = search_of([(0, 6), (0, 4)], int(whole)), []
        for step in steps:
            if step < 5 or not search.waiting:
                log.append(search.ask())
            else:
                number = sorted(search.waiting)[step * 7 % len(search.waiting)]
                failed = step == 9
                value = math.cos(3 * search.waiting[number][0]) + search.waiting[number][1]
                search.tell(number, Outcome.failed(OutcomeKind.TIMEOUT, "") if failed else Outcome.of([value], 0))
        return log
    assert go() == go()


# ---- options
@pytest.mark.parametrize(("options", "said"), [
    ({"accuracy": 2}, "'accuracy' must be a number from 0"), ({"target": math.nan}, "'target' must be a finite number, or None"),
    ({"r": 1}, "'r' must be a number greater than 1"), ({"curve": "hilbert"}, "'curve' must be one of 'single'"),
    ({"asynchronous": 1}, "'asynchronous' must be True or False"), ({"patience": 0}, "'patience' must be a whole number"),
    ({"order": 60}, "'order' must be a whole number from 1 to 52"), ({"workers": 2}, "there is no option 'workers'; there are")])
def test_options_that_cannot_be(options, said):
    with pytest.raises(OptionError, match=said):
        IndexOptions.read(options)
