"""The index method: the published rules, one by one, and whole searches."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from infimum.engines.index.curves import KINDS
from infimum.engines.index.index_method import IndexMethod, MethodOptions, options_of, to_box
from infimum.engines.index.interval_ranking import Ranking
from infimum.engines.index.trial_values import TrialFailure, TrialOutcome, outcome
from infimum.errors import OptionError

FAILED = TrialOutcome(failure=TrialFailure.CRASH)


def waves(x):
    return (x[0] - 0.3) ** 2 + (x[1] - 0.6) ** 2 + 0.1 * math.sin(20 * x[0]) * math.sin(17 * x[1])


def in_a_ring(x):
    """f at most 0 in a ring around the middle, and then right of 0.5; elsewhere the first that is violated."""
    ring = abs(math.dist(x, (0.5, 0.5)) - 0.35) - 0.1
    if ring > 0:
        return [ring]
    right = 0.5 - x[0]
    return [ring, right] if right > 0 else [ring, right, waves(x)]


def run(search, function, count, constraints=0):
    for _ in range(count):
        for trial in search.ask():
            search.tell(trial.number, outcome(function(trial.point), constraints))
    return search


def test_first_points_are_spread_evenly():
    search = IndexMethod(1, options=MethodOptions(first=3, order=20))
    assert [t.point[0] for t in search.ask(3)] == pytest.approx([0.25, 0.5, 0.75], abs=1e-5)


def test_one_step_by_hand():
    """f = x on [0, 1], trials at 1/4, 1/2, 3/4: the formulas with r = 2, m = 1, z* = 1/4."""
    search = IndexMethod(1, options=MethodOptions(r=2.0, first=3, order=40))
    for trial in search.ask(3):
        search.tell(trial.number, outcome(trial.point[0]))
    ranking = Ranking(search.intervals, 2.0)
    by_place = {search.intervals.ends(slot)[1]: rank for slot, rank in enumerate(ranking.characteristics())}
    by_hand = [0.5, 0.25 + 0.0625 - 0.25, 0.25 + 0.0625 - 0.75, -0.5]
    assert [by_place[p] for p in sorted(by_place)] == pytest.approx(by_hand, abs=1e-9)
    assert search.ask()[0].point[0] == pytest.approx(0.125, abs=1e-9)
    assert [ranking._one(slot) for slot in range(4)] == ranking.characteristics().tolist()


def test_the_new_point_moves_to_the_lower_end():
    search = IndexMethod(1, options=MethodOptions(r=2.0, order=40))
    search.intervals.enter(0, search.intervals.end // 2, search.trials.add((0,), (0.5,), outcome(1.0)))
    search.intervals.enter(0, search.intervals.end * 3 // 4, search.trials.add((1,), (0.75,), outcome(0.0)))
    slot = search.intervals.interval_at(0, search.intervals.end * 5 // 8)
    _, position = search._inside(slot, 2.0)
    assert position / search.intervals.end == pytest.approx(0.625 + 0.25 / 4, abs=1e-9)


def test_constants_use_the_nearest_trial_where_the_function_was_computed():
    search = IndexMethod(1, 1, MethodOptions(order=40))
    end = search.intervals.end
    for k, values in ((1, [1.0]), (2, [-1.0, 5.0]), (3, [2.0]), (6, [-1.0, 7.0])):
        search.intervals.enter(0, end * k // 8, search.trials.add((k,), (k / 8,), outcome(values, 1)))
    assert search.intervals.steepest == pytest.approx([3 * 8, 2 * 8 / 4])
    assert search.intervals.target(0) == pytest.approx(-0.001 * 24) and search.intervals.target(1) == 5.0


@pytest.mark.parametrize("curve", KINDS)
@pytest.mark.parametrize("local_every", [0, 3])
def test_it_finds_the_minimum(curve, local_every):
    search = run(IndexMethod(2, options=MethodOptions(r=3.0, curve=curve, local_every=local_every)), waves, 400)
    grid = min(waves((a / 400, b / 400)) for a in range(401) for b in range(401))
    assert search.finish().outcome.values[0] < grid + 2e-3
    assert len(set(search.trials.places)) == 400


def test_constraints_are_not_computed_beyond_the_first_violated():
    found = run(IndexMethod(2, 2, MethodOptions(r=3.0)), in_a_ring, 500, 2).finish()
    assert found.feasible and in_a_ring(found.point) == list(found.outcome.values)
    points = [(a / 300, b / 300) for a in range(301) for b in range(301)]
    assert found.outcome.values[2] < min(v[2] for p in points if len(v := in_a_ring(p)) == 3) + 5e-3
    assert 500 == found.evaluations[0] > found.evaluations[1] > found.evaluations[2] > 0


def test_where_nothing_is_feasible_the_least_violation_is_found():
    found = run(IndexMethod(2, 1, MethodOptions(r=3.0)), lambda x: [1 + waves(x)], 300, 1).finish()
    assert not found.feasible and found.outcome.values[0] == pytest.approx(0.93, abs=0.05)


def test_failures_are_kept_apart_and_their_region_is_covered_thinly():
    search = IndexMethod(2, options=MethodOptions(r=3.0))
    for _ in range(400):
        (trial,) = search.ask()
        search.tell(trial.number, FAILED if trial.point[1] < 0.5 else outcome(waves(trial.point)))
    found, failed = search.finish(), int(np.sum(search.trials.index < 0))
    assert found.outcome.values[0] < -0.05 and found.failures == {TrialFailure.CRASH: failed} and 4 < failed < 150
    assert all(math.isnan(z) == (k < 0) for z, k in zip(search.trials.z, search.trials.index, strict=True))


def test_a_function_that_always_fails_is_covered_evenly():
    search = IndexMethod(2)
    for _ in range(63):
        search.tell(search.ask()[0].number, FAILED)
    assert search.finish().outcome is None and np.ptp(np.log2(search.intervals.width)) == 0


def test_trials_at_once_are_in_different_intervals():
    search = run(IndexMethod(2, options=MethodOptions(first=8)), waves, 20)
    slots = [search.intervals.interval_at(0, search._at[t.number][0][1]) for t in search.ask(8)]
    assert len(set(slots)) == 8


def test_more_trials_than_intervals():
    search = IndexMethod(2, options=MethodOptions(order=3))
    asked = search.ask(1000)
    assert 5 < len(asked) == len({t.point for t in asked}) <= 64


@settings(deadline=None)
@given(st.lists(st.integers(0, 6), min_size=1, max_size=40), st.sampled_from(KINDS), st.integers(0, 2))
def test_the_state_comes_back(steps, curve, local):
    """Whatever the order of asking and telling: the same search again, from arrays."""
    options = MethodOptions(curve=curve, local_every=2 * local, first=2)
    search = IndexMethod(2, 2, options)
    for step in steps:
        if step < 4 or not search.waiting:
            search.ask(1 + step % 3)
        else:
            number = sorted(search.waiting)[step * 7 % len(search.waiting)]
            point = search.curves.point(search.waiting[number])
            search.tell(number, FAILED if step == 6 else outcome(in_a_ring(point), 2))
    again = IndexMethod.from_arrays(search.to_arrays(), 2, 2, options)
    assert again.events == search.events and again.waiting == search.waiting
    assert [t.point for t in again.ask(3)] == [t.point for t in search.ask(3)]


def test_arrays_of_another_search():
    arrays = run(IndexMethod(2), waves, 20).to_arrays()
    with pytest.raises(OptionError, match="another search"):
        IndexMethod.from_arrays(arrays, 2, options=MethodOptions(r=9.0))


def test_it_stops():
    search = IndexMethod(2, options=MethodOptions(trials=10))
    assert search.done() is None and len(search.ask(30)) == 10 and search.done() is None
    for number in list(search.waiting):
        search.tell(number, outcome(1.0))
    assert search.done() == "trials" and search.ask() == []
    search = IndexMethod(1, options=MethodOptions(accuracy=0.01))
    while not search.done():
        run(search, lambda x: (x[0] - 0.3) ** 2, 1)
    assert search.done() == "accuracy" and abs(search.finish().point[0] - 0.3) < 0.01
    search = IndexMethod(2, options=MethodOptions(order=2))
    while not search.done():
        run(search, waves, 1)
    assert search.done() == "grid" and len(set(search.trials.places)) == 16


def test_a_constant_function_is_covered_evenly():
    search = run(IndexMethod(2), lambda x: 3.0, 127)
    assert np.ptp(np.log2(search.intervals.width)) <= 1.51   # twice as fine at both ends of the line, where R is 2 D


@pytest.mark.parametrize("keywords", [{"r": 1.0}, {"r": math.nan}, {"first": 0}, {"accuracy": 1.0}, {"trials": 0},
                                      {"local_every": 1}, {"reserve": -1}, {"speed": 1}])
def test_bad_options(keywords):
    with pytest.raises(OptionError, match=next(iter(keywords))):
        options_of(keywords)


def test_bad_outcomes():
    search = IndexMethod(2, 1)
    (trial,) = search.ask()
    with pytest.raises(OptionError, match="Outcome"):
        search.tell(trial.number, 1.0)
    with pytest.raises(OptionError, match="not asked"):
        search.tell(7, outcome([1.0], 1))
    search.tell(trial.number, outcome([1.0], 1))
    with pytest.raises(OptionError, match="told already"):
        search.tell(trial.number, outcome([1.0], 1))
    for values, constraints in (([1.0, 2.0], 1), ([-1.0], 1), ([], 0), ([-1.0, 0.0, 3.0], 1)):
        with pytest.raises(OptionError):
            outcome(values, constraints)
    assert outcome(math.nan).failure is outcome([-1.0, math.inf], 1).failure is TrialFailure.NAN


def test_points_stay_in_the_box():
    assert to_box((0.0, 1.0), [-1e-3, 0.1], [0.7, 0.3]).tolist() == [-1e-3, 0.3]
