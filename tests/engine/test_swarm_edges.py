"""The edges of the swarm: dead lanes, fixed variables, odd options and arguments, overflow, callbacks, flat functions."""

import sys

import numpy as np
import pytest

import infimum
from infimum import BoundsError, OptionError
from infimum.points.coordinate_lines import CoordinateLineSearch, LinePoint
from infimum.points.descent_kernel import LaneState
from infimum.points.descents import DescentRules, Descents
from infimum.points.swarm import Swarm
from infimum.points.swarm_options import SwarmOptions
from infimum.problem.problem import Problem
from infimum.search.incumbent import Incumbent

BOX = [(-1.0, 2.0)] * 2
LO, HI = np.full(2, -1.0), np.full(2, 1.0)


def sphere(x):
    return np.sum(x * x)


def swarm(fun, bounds=BOX, **settings):
    return infimum.minimize(fun, bounds, engine="swarm", **settings)


def half(x):
    """At least 5; undefined where x[0] < 0."""
    return 5 + sphere(x - 0.25) + 0 * np.sqrt(x[0])


# 1. a DEAD lane ends with the value 0
def test_1a_dead_lanes_have_no_value():
    e = Descents(infimum.compile(half, 2), LO, HI, np.array([[-0.5, 0.5], [0.5, 0.5]]), DescentRules()).run()
    assert e.state[0] == LaneState.DEAD and not np.isfinite(e.value[0])


def test_1b_history_and_snapshots_tell_no_value_that_is_none():
    seen = []
    r = swarm(half, [(-1, 1)] * 2, callback=lambda s: seen.append((s.x.copy(), s.fun)))
    assert min(p.fun for p in r.history) >= 4.999999
    e = infimum.compile(half, 2)
    assert all(e.estimate(x) == fun for x, fun in seen)


def test_1c_improve_offers_the_best_end_although_others_are_dead():
    best = Incumbent(infimum.compile(half, 2), LO, HI)
    best.improve(np.concatenate([np.full((2, 9), -0.5), np.full((2, 1), 0.5)], axis=1))
    assert best.x is not None


def test_1d_searches_start_from_living_lanes():
    """Shifting f by a constant must not change how well it is minimised."""
    def f(x, shift):
        return np.sum(x**2 - 10 * np.cos(2 * np.pi * x) + 10) + shift + 0 * np.sqrt(x[0] + 0.5)
    found = [swarm(f, (-5.12, 5.3), n=10, args=(shift,), options={"restarts": 0}).upper - shift for shift in (-1000.0, 1000.0)]
    assert found[0] < 1e-6 and found[1] < 1e-6


# 2. all variables fixed
def test_2_all_variables_fixed():
    r = swarm(sphere, [(1, 1), (2, 2)])
    assert r.x.tolist() == [1.0, 2.0] and r.upper == 5.0 and r.success


def test_2b_search_with_nothing_to_move():
    s = CoordinateLineSearch(infimum.compile(sphere, 2), np.ones(2), np.ones(2))
    moves = s.sweep(LinePoint(np.ones(2), 2.0))
    with pytest.raises(StopIteration):
        while True:
            next(moves)


# 3. options
@pytest.mark.parametrize("name", ["swarm_steps", "descent_steps", "halvings", "samples", "inertia", "cognitive", "social",
                                  "armijo"])
def test_3a_none_where_none_means_nothing(name):
    with pytest.raises(OptionError):
        swarm(sphere, options={name: None})


@pytest.mark.parametrize("value", [[0.5], object(), 1 + 0j, {}, np.array([0.1, 0.2])])
def test_3b_numbers_that_are_none(value):
    with pytest.raises(OptionError):
        swarm(sphere, options={"inertia": value})


@pytest.mark.parametrize("options", ["abc", 5, [1, 2]])
def test_3c_options_that_are_no_dictionary(options):
    with pytest.raises(OptionError):
        swarm(sphere, options=options)


# 4. args with an Evaluator
@pytest.mark.parametrize("args", [np.array([1.0]), np.array([1.0, 2.0])])
def test_4_arrays_as_args_of_an_evaluator(args):
    with pytest.raises(OptionError, match="args belong to a function"):
        swarm(infimum.compile(sphere, 2), args=args)


# 5. floating-point warnings
def test_5a_bounds_whose_width_overflows():
    with pytest.raises(BoundsError, match="width|wide|far"):
        swarm(sphere, [(-1e308, 1e308), (0, 1)])


def test_5b_steep_functions():
    assert swarm(lambda x: np.sinh(x[0]), [(-710, 710)]).upper < -1e308 / 2


def test_5c_values_whose_difference_overflows():
    assert swarm(lambda x: 1.7e308 * np.tanh(1e3 * x[0]), [(-1, 1)]).upper < -1.6e308


# 6. words
def test_6a_numbers_in_messages_are_plain():
    with pytest.raises(OptionError) as error:
        swarm(sphere, x0=[0.5, 3.0])
    assert "variable 1 is 3.0," in str(error.value)


def test_6b_confidence_is_named_as_the_reason():
    r = swarm(sphere, options={"confidence": 0.9})
    assert "confidence" in r.message and "1 waves" not in r.message


# 7. callback
def test_7a_true_of_numpy_stops():
    r = swarm(sphere, callback=lambda s: np.abs(s.x).max() < 100)
    assert r.message.startswith("stopped by the callback")


def test_7b_a_callback_cannot_spoil_the_best_point():
    """x0 is the best point until the end: only `best` knows the needle once its lanes have converged elsewhere."""
    def spoil(snapshot):
        snapshot.x[:] = 77.0

    problem = Problem.read(sphere, BOX)
    s = Swarm(problem, infimum.compile(sphere, 2), SwarmOptions(), 0)
    steps = s.steps()
    next(steps)
    s.x[:] = 77.0
    assert (s.best.x <= 2.0).all()


# 8. pairs
def test_8_pairs_differ_from_the_place():
    s = CoordinateLineSearch(infimum.compile(lambda x: 0.01 * np.sum(x**2) - np.prod(np.cos(x)), 6), np.full(6, -10.0),
                             np.full(6, 11.0))
    x = np.zeros(6)
    place = LinePoint(x, -1.0)
    moves = s.sweep(place)
    try:
        while True:
            next(moves)
    except StopIteration as end:
        place = end.value
    moves = s.pairs(place, 1, 0)
    try:
        while True:
            next(moves)
    except StopIteration as end:
        points = end.value
    assert (points != place.x[:, None]).any(axis=0).all()


# 9. no stderr
def test_9_no_stderr(monkeypatch):
    monkeypatch.setattr(sys, "stderr", None)
    assert swarm(sphere).success


# 10. a flat function
def test_10_flat_function():
    r = swarm(lambda x: 3.0 + 0 * x[0])
    assert "CAUTION" not in r.message


# 11. budget of descents
def test_11_descent_steps_are_kept():
    f = infimum.compile(lambda x: 100 * (x[1] - x[0] ** 2) ** 2 + (1 - x[0]) ** 2, 2)
    d = Descents(f, LO, HI, np.full((2, 1), 0.9), DescentRules(trials=1))
    assert d.run().longest == 1
