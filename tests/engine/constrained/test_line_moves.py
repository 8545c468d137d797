"""Points beside a point: along lines on which linear equations hold, in the next basins and at kinks; and with zeros held."""

import numpy as np
import pytest

import infimum
from infimum.points.constrained_search import ConstrainedSearch
from infimum.points.diving.line_moves import LineMoves, _reduced
from tests.engine.constrained.planted_systems import evaluator_of


def drained(steps):
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value


def moves(f, rows, lo, hi, integers=()) -> LineMoves:
    return LineMoves(evaluator_of(f, rows, len(lo), integers), np.array(lo, float), np.array(hi, float))


@pytest.mark.parametrize("seed", range(6))
def test_points_are_lower_and_obey_the_constraints(seed: int):
    r = np.random.default_rng(seed)
    n, m = 6, int(r.integers(0, 3))
    a, start = r.integers(-3, 4, (m, n)).astype(float), r.uniform(0, 2, n)
    ends = [float((row * start).sum()) for row in a]
    rows = [*((lambda x, row=row: (row * x).sum(), end, end) for row, end in zip(a, ends, strict=True)),
            (lambda x: (x * x).sum(), -np.inf, float((start**2).sum()) + 1.0)]
    lines = moves(lambda x: np.abs(np.sin(5 * x)).sum() + 0.1 * x[0] * x[1], rows, [-1.0] * n, [3.0] * n, (5,) * (seed % 2))
    assert lines.applies
    x = drained(lines.moved(start, 1 << 17))
    before, after = lines.evaluator.estimate(start), lines.evaluator.estimate(x)
    assert after < before - 0.05
    assert ((x >= -1) & (x <= 3)).all() and (x * x).sum() <= (start**2).sum() + 1.0 + 1e-9
    assert all(abs((row * x).sum() - end) <= 1e-9 for row, end in zip(a, ends, strict=True))
    assert seed % 2 == 0 or x[5] == start[5]


def test_the_lowest_basin_of_a_pair_is_seen():
    """Deep and narrow, far away, with a sum that must stay: local searches end in the first of twenty basins."""
    lines = moves(lambda x: 0.02 * (x[0] - 9) ** 2 - np.cos(2 * np.pi * x[0]) + x[2] ** 2, [(lambda x: x[0] + x[1], 10.0, 10.0)],
                  [0, 0, -1], [10, 10, 1])
    x = drained(lines.moved(np.array([1.0, 9.0, 0.5]), 1 << 16))
    assert np.abs(x - [9, 1, 0]).max() < 0.01


def test_equations_that_bend_are_left_alone():
    assert not moves(lambda x: x[0], [(lambda x: x[0] * x[1], 1.0, 1.0)], [0, 0], [3, 3]).applies
    assert not moves(lambda x: x[0], [(lambda x: x[0] + x[1], 1.0, 1.0)], [0, 0], [3, 3], (0,)).applies
    assert moves(lambda x: x[0], [(lambda x: x[0] * x[1], 1.0, 2.0)], [0, 0], [np.inf, 3]).applies


def test_zeros_are_held_where_equations_are_singular():
    """Both equations hold at x0 = x1 = 0 alone: from there t falls to where |x1 - 0.175| = 0.145 t."""
    rows = [(lambda x: x[0] ** 2 * 0.00422 - 0.364 * x[1] - 5.28 * x[1] ** 2, 0.0, 0.0),
            (lambda x: 0.000338 * x[0] ** 4 - 0.425 * x[0] ** 2 * x[1] + 4.53 * x[1] ** 2, 0.0, 0.0),
            (lambda x: 0.145 * x[2] + x[1], 0.175, np.inf)]
    search = ConstrainedSearch(evaluator_of(lambda x: x[2], rows, 3), np.array([-1.0, -1.0, 0.0]), np.array([1.0, 1.0, 9.0]))
    start = np.array([0.0, 0.0, 2.0])
    assert search.zeros(start).tolist() == [True, True, False]
    drained(search.with_zeros_held(start))
    assert np.abs(search.x - [0, 0, 0.175 / 0.145]).max() < 1e-6 and search.x[:2].tolist() == [0, 0]


def test_no_more_evaluations_than_allowed():
    lines = moves(lambda x: np.sin(x * 9).sum(), [], [0.0] * 20, [9.0] * 20)
    found = drained(lines.ends(np.full((20, 3), 1.0), 5000))
    assert found.shape == (20, 1) and lines.evaluations < 8000


def test_dependent_equations_do_not_matter():
    a = np.array([[1.0, 1.0, 0.0, 2.0], [2.0, 2.0, 0.0, 4.0], [0.0, 1.0, 1.0, 0.0]])
    reduced, pivots = _reduced(a, np.arange(4))
    assert len(pivots) == 2 and np.array_equal(reduced[:, pivots], np.eye(2))
    direction = np.zeros(4)
    direction[3] = 1.0
    direction[pivots] = -reduced[:, 3]
    assert np.abs(a @ direction).max() < 1e-12


def test_valve_points():
    """Costs of generators with a kink every few megawatts, whose sum is given."""
    low, high = np.array([0, 0, 60, 40, 55.0]), np.array([680, 360, 180, 120, 120.0])
    a, b = np.array([28, 56, 324, 284, 284]) * 1e-5, np.array([8.1, 8.1, 7.74, 8.6, 8.6])
    e, wave = np.array([300, 200, 150, 100, 100.0]), np.array([0.035, 0.042, 0.063, 0.084, 0.084])
    r = infimum.minimize(lambda x: (a * x * x + b * x + np.abs(e * np.sin(wave * (low - x)))).sum(),
                         list(zip(low, high, strict=True)), constraints=lambda x: x.sum() == 800, rtol=1e-3, progress=False)
    assert r.verdict.name == "PROVED" and r.upper <= r.lower + 1e-3 * abs(r.upper)
