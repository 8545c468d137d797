"""Searches: probes are values of the function at the places described, and every move leads lower, inside the bounds."""

import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import infimum
from infimum.evaluation.evaluator import Evaluator
from infimum.evaluation.programs import PROBE
from infimum.points import coordinate_lines as search
from infimum.points.coordinate_lines import CoordinateLineSearch, LinePoint
from infimum.search.policy.points import COORDINATE_LINES
from tests.random_kernels import same_bits

CENTRES = np.random.default_rng(0).uniform(-3.0, 3.0, 40)  # off every grid


def wavy(x):
    return np.sum(np.sin(3 * x) * np.exp(-(x**2))) + np.prod(np.cos(x)) + np.sqrt(np.sum(x**2))


def rastrigin(x):
    y = x - CENTRES[:len(x)]
    return np.sum(y**2 - 10 * np.cos(2 * np.pi * y) + 10)


def product_of_waves(x):
    """The product rises when one factor moves by half a wave, and falls when two do."""
    return 0.01 * np.sum(x**2) - np.prod(np.cos(x))


def outcome(moves: Iterator) -> "LinePoint | np.ndarray":
    """What a method returns at its end."""
    while True:
        try:
            next(moves)
        except StopIteration as end:
            return end.value


def place_at(e: Evaluator, x) -> LinePoint:
    return LinePoint(np.array(x, float), float(e.estimate(np.array(x, float))))


def search_in(f, low: float, high: float, n: int, **settings) -> CoordinateLineSearch:
    return CoordinateLineSearch(infimum.compile(f, n), np.full(n, float(low)), np.full(n, float(high)), **settings)


def moves_of(s: CoordinateLineSearch, place: LinePoint) -> list[LinePoint]:
    """Where each kind of move leads from here."""
    swept = outcome(s.sweep(place))
    pairs = [outcome(s.pairs(swept, scale, scale)) for scale in range(COORDINATE_LINES.radii_of_pairs)]
    points = np.concatenate(pairs, axis=1)
    moved = [LinePoint(x, float(value)) for x, value in zip(points.T, s.evaluator.estimate(points), strict=True)]
    return [swept, outcome(s.downhill(place)), outcome(s.polish(place)), *moved]


# ---- probes
@st.composite
def probes(draw):
    """(n, point, lanes): finite numbers, indices that are variables or none."""
    n = draw(st.sampled_from([1, 2, 5, 17, 33]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    lanes = rng.normal(size=(5, 40)) * draw(st.sampled_from([1e-3, 1.0, 30.0]))
    lanes[0], lanes[2] = (rng.integers(-1, n + 1, 40) for _ in range(2))
    lanes[2, :10] = lanes[0, :10]  # the second of two changes of one variable counts
    return n, rng.normal(size=n), lanes


@settings(max_examples=30)
@given(probes())
def test_changes_of_two_variables(question):
    n, point, lanes = question
    lanes[4] = 0.0
    e = infimum.compile(wavy, n)
    bounds = np.full(n, -np.inf), np.full(n, np.inf)
    found = e.run(PROBE, [lanes], parameters=np.concatenate([point, np.ones(n), *bounds, np.arange(float(n))]))[0][0]
    places = np.repeat(point[:, None], lanes.shape[1], axis=1)
    for column, (j, v, k, w, _) in enumerate(lanes.T):
        for index, value in ((j, v), (k, w)):
            if 0 <= index < n:
                places[int(index), column] = value
    assert same_bits(found, e.estimate(places)).all()


def rounded_up(exact: Fraction) -> float:
    nearest = float(exact)
    return nearest if Fraction(nearest) >= exact else math.nextafter(nearest, math.inf)


@settings(max_examples=30)
@given(probes())
def test_steps_along_a_direction(question):
    """clip(point + t*direction), rounded once and upward; the changes of single variables come after it and are not clipped."""
    n, point, lanes = question
    e, rng = infimum.compile(wavy, n), np.random.default_rng(n)
    direction, lo, hi = rng.normal(size=n), rng.uniform(-2.0, -0.5, n), rng.uniform(0.5, 2.0, n)
    found = e.run(PROBE, [lanes], parameters=np.concatenate([point, direction, lo, hi, np.arange(float(n))]))[0][0]
    places = np.empty((n, lanes.shape[1]))
    for column, (j, v, k, w, t) in enumerate(lanes.T):
        for i in range(n):
            moved = rounded_up(Fraction(t) * Fraction(direction[i]) + Fraction(point[i]))
            places[i, column] = w if k == i else v if j == i else min(max(moved, lo[i]), hi[i])
    assert same_bits(found, e.estimate(places)).all()


def test_values_come_in_runs_of_limited_size(monkeypatch):
    s = search_in(wavy, -2, 2, 3)
    at = np.random.default_rng(1).uniform(-2, 2, (3, 30))
    whole = outcome(s._lines(np.ones(3), np.arange(3), at))
    assert s.evaluations == 90
    monkeypatch.setattr(search.POLICY, "lanes_at_once", 16)
    moves = s._lines(np.ones(3), np.arange(3), at)
    assert sum(1 for _ in moves) == 6 and s.evaluations == 180
    assert same_bits(outcome(s._lines(np.ones(3), np.arange(3), at)), whole).all()
    for j in range(3):
        points = np.ones((3, 30))
        points[j] = at[j]
        assert same_bits(whole[j], s.evaluator.estimate(points)).all()


# ---- moves
@pytest.mark.parametrize("seed", range(4))
def test_a_sweep_solves_a_separable_function_up_to_the_basin(seed):
    n = 20
    s = search_in(rastrigin, -5.12, 5.12, n)
    place = place_at(s.evaluator, np.random.default_rng(seed).uniform(-5.12, 5.12, n))
    assert place.value > 100
    swept = outcome(s.sweep(place))
    assert np.abs(swept.x - CENTRES[:n]).max() < 0.1 and swept.value < 0.1
    assert swept.value == s.evaluator.estimate(swept.x) and s.sweeps == 1
    again = outcome(s.sweep(swept))
    assert again.value < swept.value and np.abs(again.x - CENTRES[:n]).max() < 1e-3


def test_a_sweep_looks_closer_around_the_point():
    """64 samples over the whole line, 16 within a 16th of the width and 16 within a 128th."""
    s = CoordinateLineSearch(infimum.compile(wavy, 2), np.array([0.0, -4.0]), np.array([1.0, 4.0]))
    x = np.array([0.4, 3.99])
    at = s._samples(x, np.arange(2))
    assert at.shape == (2, 96) and (np.diff(at, axis=1) >= 0).all()
    assert (at[:, 0] == s.lo).all() and (at[:, -1] == s.hi).all() and np.diff(at, axis=1).max() <= 8 / 63 * (1 + 1e-12)
    away = np.abs(at - x[:, None])[0]
    assert (away <= 1 / 128 * (1 + 1e-9)).sum() >= 16 and (away <= 1 / 16 * (1 + 1e-9)).sum() >= 32
    assert (away <= 1 / 16 * (1 + 1e-9)).sum() <= 32 + 9
    assert max(np.abs(away - radius).min() for radius in (1 / 16, 1 / 128)) < 1e-12


def test_a_sweep_remembers_the_lowest_basins_of_each_line():
    """cos has its minima at odd multiples of pi: of the line's five, the four lowest."""
    s = search_in(lambda x: np.sum(np.cos(x) + 0.01 * (x - 1) ** 2), -16, 16, 2)
    swept = outcome(s.sweep(place_at(s.evaluator, [0.1, 0.2])))
    assert swept.variables.tolist() == [0, 1] and swept.basins.shape == (2, 4)
    expected = np.array([-np.pi, np.pi, 3 * np.pi, -3 * np.pi])
    for basins in swept.basins:
        assert np.abs(np.sort(basins) - np.sort(expected)).max() < 0.3
    assert np.abs(swept.x - np.pi).max() < 0.3


def test_changes_that_exclude_each_other_are_not_all_made():
    """Either variable alone gains by moving, both together lose."""
    s = search_in(lambda x: (x[0] + x[1] - 1) ** 2 + 0.1 * x[0] - 0.05 * x[1], 0, 1, 2)
    place = place_at(s.evaluator, [0.0, 0.0])
    swept = outcome(s.sweep(place))
    assert swept.x[0] == 0.0 and swept.x[1] > 0.9 and swept.value < 0


def test_pairs_lead_out_where_sweeps_are_stuck():
    s = search_in(product_of_waves, -10, 11, 4)
    place = place_at(s.evaluator, [3.08, 3.08, 0.0, 0.0])
    for _ in range(4):
        place = outcome(s.sweep(place))
    assert np.abs(place.x - [3.08, 3.08, 0, 0]).max() < 0.01 and place.value > -0.81
    points = outcome(s.pairs(place, 0, 0))
    assert points.shape == (4, 8)
    values = s.evaluator.estimate(points)
    assert values[0] < -0.99 and np.abs(points[:, 0]).max() < 0.1
    assert (np.diff(values) >= 0).all() and np.isfinite(values).all()


@pytest.mark.parametrize("n", [2, 3, 17, 40])
def test_pairs_differ_in_two_variables(n):
    """For n = 17 and 40 there are more pairs than lanes: the turn chooses some."""
    s = search_in(product_of_waves, -10, 11, n)
    place = place_at(s.evaluator, CENTRES[:n])
    swept = outcome(s.sweep(place))
    place.variables, place.basins = swept.variables, swept.basins
    chosen = []
    for turn in range(3):
        before = s.evaluations
        points = outcome(s.pairs(place, 1, turn, most=60))
        assert s.evaluations - before <= 1 << 13 and points.shape[0] == n and 40 <= points.shape[1] <= 60
        changed = points != place.x[:, None]
        assert (changed.sum(axis=0) == 2).all() and len(np.unique(points, axis=1).T) == points.shape[1]
        assert (points >= s.lo[:, None]).all() and (points <= s.hi[:, None]).all()
        chosen.append(points)
    assert (chosen[0] == outcome(s.pairs(place, 1, 0, most=60))).all()
    assert (n <= 3) == np.array_equal(chosen[0], chosen[1])


def test_pairs_are_of_two_different_variables():
    s, seen = search_in(product_of_waves, -10, 11, 40), []
    place, values = outcome(s.sweep(place_at(s.evaluator, CENTRES[:40]))), s._values
    s._values = lambda x, lanes, direction=None: seen.append(lanes) or values(x, lanes, direction)
    for turn in range(4):
        outcome(s.pairs(place, 0, turn))
    first, second = np.concatenate([lanes[[0, 2]] for lanes in seen], axis=1)
    assert len(seen) == 4 and (first != second).all() and set(first) | set(second) == set(range(40))


def test_pairs_come_nearer_with_the_scale():
    """Within half of the width, an eighth, a 32nd, …, the basins of the lines aside."""
    s = search_in(wavy, -2, 2, 3)
    place = outcome(s.sweep(place_at(s.evaluator, [0.3, -0.4, 0.5])))
    place.basins = np.repeat(place.x[:, None], 4, axis=1)
    for scale in range(COORDINATE_LINES.radii_of_pairs):
        points = outcome(s.pairs(place, scale, 0, most=1 << 13))
        away = np.abs(points - place.x[:, None]).max()
        assert 4 * 0.5 ** (2 + 2 * scale) < away <= 4 * 0.5 ** (1 + 2 * scale) * (1 + 1e-9)


def test_no_pairs_of_fewer_than_two_variables():
    s = search_in(wavy, -2, 2, 1)
    place = outcome(s.sweep(place_at(s.evaluator, [0.3])))
    assert outcome(s.pairs(place, 0, 0)).shape == (1, 0)
    assert outcome(s.pairs(LinePoint(np.zeros(1), 1.0), 0, 0)).shape == (1, 0)


def test_downhill_crosses_the_box():
    """The gradient leads to the bound, whatever the widths are."""
    s = CoordinateLineSearch(infimum.compile(lambda x: np.exp(x[0]) + x[1], 2), np.array([-3.0, 0.0]), np.array([1.0, 1e-3]))
    moved = outcome(s.downhill(place_at(s.evaluator, [0.9, 9e-4])))
    assert moved.x[0] == -3.0 and moved.value == s.evaluator.estimate(moved.x)


def test_downhill_is_measured_in_widths():
    """One step leads to the middle of a box a thousand times as long as wide."""
    s = CoordinateLineSearch(infimum.compile(lambda x: (x[0] - 0.5) ** 2 + (1000 * x[1] - 0.5) ** 2, 2), np.zeros(2),
                             np.array([1.0, 1e-3]))
    moved = outcome(s.downhill(place_at(s.evaluator, [1.0, 1e-3])))
    assert np.abs(moved.x * [1, 1000] - 0.5).max() < 1e-12


def test_downhill_finds_a_narrow_valley():
    """Steps from the whole width down to 2**-31 of it are tried."""
    s = search_in(lambda x: np.abs(x[0] - 1e-7), -1, 1, 1)
    moved = outcome(s.downhill(place_at(s.evaluator, [0.0])))
    assert 0 < moved.value < 5e-8


@pytest.mark.parametrize("f", [lambda x: 3.0 + 0 * x[0], lambda x: np.sqrt(x[0]) + x[1], lambda x: x[0] ** 2 + x[1] ** 2])
def test_downhill_stays_where_there_is_no_way_down(f):
    """Gradients that are 0 or infinite."""
    s = CoordinateLineSearch(infimum.compile(f, 2), np.zeros(2), np.ones(2))
    place = place_at(s.evaluator, [0.0, 0.0])
    assert outcome(s.downhill(place)) is place


@pytest.mark.parametrize("f, c", [
    (lambda x: np.sum(np.abs(x - 0.3)), 0.3),
    (lambda x: np.sum(np.abs(x**2 - 2)), 2.0**0.5),
    (lambda x: np.sum(np.abs(x - 0.3)) ** 1.5 + 7 * np.abs(x[0] - 0.3), 0.3),
    (lambda x: np.sum(np.sqrt(np.abs(x - 0.3))), 0.3),
])
def test_polish_reaches_the_last_bits_of_a_kink(f, c):
    s = search_in(f, 0.125, 2, 5)
    polished = outcome(s.polish(place_at(s.evaluator, np.random.default_rng(2).uniform(0.2, 2.0, 5))))
    assert np.abs(polished.x - c).max() < 1e-12


def test_polish_makes_so_many_rounds():
    s = search_in(lambda x: np.sum(np.abs(x - 0.3)), -1, 2, 2)
    place = place_at(s.evaluator, [1.9, -0.9])
    values = [outcome(s.polish(place, rounds)).value for rounds in (0, 1, 2, 8)]
    assert values[0] == place.value and values == sorted(values, reverse=True) and values[1] > values[2] > values[3]


@settings(max_examples=25)
@given(st.integers(1, 6), st.integers(0, 2**32))
def test_no_move_leads_higher_or_outside(n, seed):
    """And the value of a place is the function's there."""
    rng = np.random.default_rng(seed)
    lo = rng.normal(size=n)
    hi = lo + np.where(rng.random(n) < 0.25, 0.0, rng.uniform(0.0, 4.0, n) * rng.choice([1e-9, 1.0, 50.0]))
    s = CoordinateLineSearch(infimum.compile(wavy, n), lo, hi, samples=int(rng.integers(3, 40)))
    if not len(s.movable):
        return
    place = place_at(s.evaluator, rng.choice([lo, hi, np.clip(lo + (hi - lo) * rng.random(n), lo, hi)]))
    for moved in moves_of(s, place):
        assert (moved.x >= lo).all() and (moved.x <= hi).all()
        assert (moved.x[lo == hi] == lo[lo == hi]).all()
        assert moved.value == s.evaluator.estimate(moved.x)
    for moved in moves_of(s, place)[:3]:
        assert moved.value <= place.value


def test_fixed_variables_are_never_probed():
    s = CoordinateLineSearch(infimum.compile(wavy, 4), np.array([-1.0, 0.5, -1.0, 0.25]), np.array([1.0, 0.5, 2.0, 0.25]))
    swept = outcome(s.sweep(place_at(s.evaluator, [0.5] * 4)))
    assert s.movable.tolist() == swept.variables.tolist() == [0, 2]


# ---- undefined values
def test_undefined_values_are_never_chosen():
    """Each variable alone may go to 1, both together leave the domain: the merged point has no value."""
    f = infimum.compile(lambda x: -x[0] - x[1] + 0 * np.sqrt(1.5 - x[0] - x[1]), 2)
    s = CoordinateLineSearch(f, np.zeros(2), np.ones(2))
    place = place_at(f, [0.0, 0.0])
    for moved in moves_of(s, place):
        assert np.isfinite(moved.value) and moved.value == f.estimate(moved.x)
    assert outcome(s.sweep(place)).value <= -1.0
    assert outcome(s.polish(place)).value < -1.49


def test_infinite_values_are_never_chosen():
    """-1/0 is no value, however low the values beside it are."""
    f = infimum.compile(lambda x: -1 / x[0] + x[1] ** 2, 2)
    s = CoordinateLineSearch(f, np.array([0.0, -1.0]), np.ones(2))
    for moved in moves_of(s, place_at(f, [0.5, 0.5])):
        assert moved.x[0] > 0 and np.isfinite(moved.value)


def test_values_without_a_number_are_infinite():
    s = CoordinateLineSearch(infimum.compile(lambda x: np.log(x[0]), 1), np.full(1, -1.0), np.ones(1))
    found = outcome(s._lines(np.ones(1), np.zeros(1, int), np.array([[-1.0, 0.0, 1.0]])))
    assert found.tolist() == [[np.inf, np.inf, 0.0]]


def test_a_line_without_any_value_moves_nothing():
    """Where only the point itself is defined, it stays."""
    f = infimum.compile(lambda x: np.sqrt(-((x[0] - 0.3) ** 2)) + x[1], 2)
    s = CoordinateLineSearch(f, np.array([0.0, 0.5]), np.ones(2))
    place = place_at(f, [0.3, 0.5])
    assert place.value == 0.5
    swept = outcome(s.sweep(place))
    assert (swept.x == place.x).all() and swept.value == 0.5


# ---- many variables
def test_a_sweep_takes_a_part_of_too_many_variables(monkeypatch):
    n, samples = 12, 64
    lo, hi = np.full(n, -5.12), np.full(n, 5.12)
    hi[3] = lo[3]
    monkeypatch.setattr(search.POLICY, "most_numbers", samples * n * 5)
    s = CoordinateLineSearch(infimum.compile(rastrigin, n), lo, hi, samples, seed=7)
    place, seen, choices = place_at(s.evaluator, lo), set(), []
    for _ in range(12):
        before = s.evaluations
        swept = outcome(s.sweep(place))
        assert len(swept.variables) == 5 and (np.diff(swept.variables) > 0).all()
        assert set(np.flatnonzero(swept.x != place.x)) <= set(swept.variables)
        assert s.evaluations - before <= 5 * (samples + 2 * 16 + 2 * 4 * 16) + 12
        seen |= set(swept.variables.tolist())
        choices.append(tuple(swept.variables))
        place = swept
    assert seen == set(range(n)) - {3} and len(set(choices)) > 6
    assert np.abs(np.delete(place.x - CENTRES[:n], 3)).max() < 0.1
    other = CoordinateLineSearch(s.evaluator, lo, hi, samples, seed=8)
    assert tuple(outcome(other.sweep(place)).variables) != choices[0]


def test_a_sweep_takes_one_variable_at_least(monkeypatch):
    monkeypatch.setattr(search.POLICY, "most_numbers", 1)
    s = search_in(rastrigin, -5.12, 5.12, 6)
    assert len(outcome(s.sweep(place_at(s.evaluator, np.zeros(6)))).variables) == 1


def test_polish_is_left_out_where_it_would_take_too_long(monkeypatch):
    s = search_in(lambda x: np.sum(np.abs(x - 0.3)), -1, 2, 2)
    place = place_at(s.evaluator, [1.9, -0.9])
    monkeypatch.setattr(search.POLICY, "most_numbers", 16 * 2 * 2 * 96 - 1)
    assert outcome(s.polish(place)) is place and s.evaluations == 0
    monkeypatch.setattr(search.POLICY, "most_numbers", 16 * 2 * 2 * 96)
    assert outcome(s.polish(place)).value < place.value


@given(st.lists(st.sampled_from([-1.0, -0.0, 0.0, 1.0, 2.5, np.inf]), min_size=1, max_size=40), st.integers(1, 45))
def test_the_lowest_are_the_beginning_of_a_stable_sort(values, count):
    values = np.array(values)
    assert search._lowest(values, count).tolist() == np.argsort(values, kind="stable")[:count].tolist()
