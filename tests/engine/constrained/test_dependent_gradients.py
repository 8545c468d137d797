"""Minimisers at which gradients of active constraints are dependent, so that f need have no multiplier: none is lost, and
regions beside them go."""

from fractions import Fraction

import numpy as np
import pytest

import infimum
from infimum.bounds.fritz_john.dependent_gradients import contracted
from infimum.bounds.fritz_john.stationary_points import StationarityTest
from tests.engine.constrained.planted_systems import evaluator_of

INF = np.inf


def _distance(x):
    return (x[0] - 2) ** 2 + x[1] ** 2


def _cusp(x):
    return (1 - x[0]) ** 3 - x[1]


# the only minimiser, f, constraints, bounds, and how many in a hundred regions beside the minimiser go at least
DEGENERATE = {
    "a cusp at a bound": ([1, 0], _distance, [(_cusp, 0, INF)], [(0, 3), (0, 3)], 50),
    "a cusp of two constraints": ([1, 0], _distance, [(_cusp, 0, INF), (lambda x: x[1], 0, INF)], [(-3, 3)] * 2, 60),
    "discs that touch": ([1, 0], lambda x: x[0] + 3 * x[1],
                         [(lambda x: x[0] ** 2 + x[1] ** 2, -INF, 1), (lambda x: (x[0] - 2) ** 2 + x[1] ** 2, -INF, 1)],
                         [(-3, 4), (-3, 3)], 75),
    "a parabola and its tangent": ([0, 0], lambda x: x[0] - x[1], [(lambda x: x[1] - x[0] ** 2, 0, 0), (lambda x: x[1], 0, 0)],
                                   [(-2, 2)] * 2, 70),
    "complementary variables": ([1, 0], lambda x: (x[0] - 1) ** 2 + (x[1] - 0.5) ** 2, [(lambda x: x[0] * x[1], -INF, 0)],
                                [(0, 2)] * 2, 30),
    "four edges at a corner": ([0, 0], lambda x: 2 * x[0] + x[1],
                               [(lambda x: x[0], 0, INF), (lambda x: x[1], 0, INF), (lambda x: x[0] + x[1], 0, INF),
                                (lambda x: 2 * x[0] + x[1], 0, INF)], [(-2, 2)] * 2, 15),
    "a kink": ([0, 0], lambda x: x[0] / 2 - x[1], [(lambda x: abs(x[0]) + x[1], -INF, 0), (lambda x: x[0] + x[1], -INF, 0)],
               [(-2, 2)] * 2, 35),
    "an equation twice": ([0.5, 0.5, 1], lambda x: x[0] ** 2 + x[1] ** 2 + (x[2] - 1) ** 2,
                          [(lambda x: x[0] + x[1], 1, 1), (lambda x: 2 * x[0] + 2 * x[1], 2, 2)], [(-2, 2)] * 3, 70),
    "the square of an equation": ([-1, 0], lambda x: x[0], [(lambda x: (x[0] ** 2 + x[1] ** 2 - 1) ** 2, 0, 0)], [(-2, 2)] * 2,
                                  0),
    "a whole number": ([1, 0, 3], lambda x: _distance(x) + (x[2] - 3.4) ** 2, [(_cusp, 0, INF)], [(0, 3), (0, 3), (0, 5)], 25),
}


def _regions_around(rng, p, lo, hi, count):
    """Of all sizes, the point in some of them, on the edges of others, beside the rest."""
    size = 2.0 ** -rng.integers(0, 24, count)
    middle = p[:, None] + size * rng.choice([-1.5, -1.0, -0.5, 0.0, 0.5, 1.0, 1.5], (len(p), count))
    sides = size * rng.choice([0.5, 1.0], (len(p), count))
    return tuple(np.clip(end, lo[:, None], hi[:, None]) for end in (middle - sides, middle + sides))


@pytest.mark.parametrize("name", DEGENERATE)
def test_degenerate_minimisers_stay(name):
    point, f, rows, bounds, share = DEGENERATE[name]
    p, (low, high) = np.array(point, float), np.array(bounds, float).T
    whole = (2,) if "whole" in name else ()
    lo, hi = _regions_around(np.random.default_rng(1), p, low, high, 400)
    if whole:
        lo[2], hi[2] = np.ceil(lo[2]), np.maximum(np.ceil(lo[2]), np.floor(hi[2]))
    left, p = StationarityTest(evaluator_of(f, rows, len(p), whole), (low, high))(lo, hi), p[:, None]
    holds = ((lo <= p) & (p <= hi)).all(axis=0)
    assert holds.any() and not left.none[holds].any()
    assert ((left.lo <= p) & (p <= left.hi)).all(axis=0)[holds].all()
    assert ((left.lo >= lo) & (left.hi <= hi) & (left.lo <= left.hi))[:, ~left.none].all()
    assert 100 * np.count_nonzero(left.none) >= share * np.count_nonzero(~holds)


def test_a_region_that_holds_a_cusp_is_reduced_to_the_bound():
    """f has no multiplier at (1, 0); the constraint's is not 0, and from x[1] = 0 it rises."""
    lo, hi, bounds = np.array([[0.9], [0.0]]), np.array([[1.1], [0.1]]), (np.zeros(2), np.full(2, 3.0))
    left = StationarityTest(evaluator_of(_distance, [(_cusp, 0, INF)], 2), bounds)(lo, hi)
    assert not left.none[0] and left.hi[1, 0] == 0.0


def test_more_tied_constraints_than_variables():
    """Gradients are dependent on all regions, but no multipliers have the right signs: f falls away from all constraints."""
    rows = [(lambda x, k=k: x[0] + k * x[1], -INF, 1) for k in (-0.5, 0, 0.5)]
    evaluator, bounds = evaluator_of(lambda x: x[0] + 0.1 * x[1], rows, 2), (np.full(2, -3.0), np.full(2, 3.0))
    left = StationarityTest(evaluator, bounds)(np.array([[0.9], [-0.1]]), np.array([[1.1], [0.1]]))
    assert left.none[0]


def test_linear_conditions_keep_their_solutions():
    """Matrices and vectors of small fractions, whose products are exact."""
    rng = np.random.default_rng(0)
    for _ in range(40):
        k, r = rng.integers(1, 5, 2)
        a, y = rng.integers(-8, 9, (k, r, 50)) / 4, rng.integers(-8, 9, (k, 50)) / 8
        width, wider = (rng.integers(0, 3, shape) / 4 for shape in (a.shape, y.shape))
        sums = (a * y[:, None]).sum(axis=0)
        room = np.where(rng.random(sums.shape) < 0.3, INF, rng.integers(0, 2, sums.shape) / 4)
        with np.errstate(all="ignore"):
            (low, high), none = contracted((a - width, a), (y - wider, y + 2 * wider), (sums, sums + room), 3)
        assert not none.any() and (low <= y).all() and (y <= high).all()


@pytest.mark.parametrize("name", ["a cusp at a bound", "discs that touch", "a parabola and its tangent"])
def test_a_single_point_that_is_left_is_the_minimiser(name):
    point, f, rows, bounds, _ = DEGENERATE[name]
    r = infimum.minimize(f, bounds, constraints=[infimum.Constraint(*row) for row in rows], xtol=1e-6)
    assert r.minimisers.exactly_one and r.minimisers.why is None
    assert (r.minimisers[0].lo == point).all() and (r.minimisers[0].hi == point).all()
    assert r.minimisers[0].lower <= Fraction(f([Fraction(t) for t in point])) <= r.minimisers[0].upper


def test_what_cannot_be_told_apart_is_said():
    _, f, rows, bounds, _ = DEGENERATE["an equation twice"]
    r = infimum.minimize(f, bounds, constraints=[infimum.Constraint(*row) for row in rows], xtol=1e-3)
    assert not r.minimisers.exactly_one and "dependent" in r.minimisers.why


def test_an_equation_of_variables_that_bounds_hold_is_no_reason_to_fail():
    r = infimum.minimize(lambda x: x[0] + x[1], [(0, 1)] * 2, constraints=lambda x: x[0] == x[1])
    assert r.minimisers.exactly_one and (r.minimisers[0].lo == 0).all() and (r.minimisers[0].hi == 0).all()
