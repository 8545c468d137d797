"""The conditions of Fritz John: no planted minimiser is lost, and regions beside it go."""

import numpy as np
import pytest

from infimum.bounds.fritz_john.fritz_john import FritzJohn
from infimum.bounds.fritz_john.stationary_points import StationarityTest
from infimum.bounds.interface import StepContext
from infimum.kernel.region_cut import DISCARDED_AXIS
from tests.engine.constrained.minimisers_at_constraints import INF, regions_around, system_with_minimiser
from tests.engine.constrained.planted_systems import evaluator_of


@pytest.mark.parametrize("seeds", [range(k, k + 8) for k in (0, 8)])
def test_planted_minimisers_stay(seeds):
    beside = gone = narrower = 0
    for seed in seeds:
        at = system_with_minimiser(seed)
        lo, hi = regions_around(np.random.default_rng(seed), at, 160)
        left, p = StationarityTest(at.evaluator, (at.lo, at.hi))(lo, hi), at.point[:, None]
        holds = ((lo <= p) & (p <= hi)).all(axis=0)
        assert holds.any() and not left.none[holds].any()
        assert ((left.lo <= p) & (p <= left.hi)).all(axis=0)[holds].all()
        assert ((left.lo >= lo) & (left.hi <= hi) & (left.lo <= left.hi))[:, ~left.none].all()
        beside, gone = beside + np.count_nonzero(~holds), gone + np.count_nonzero(left.none)
        narrower += np.count_nonzero(((left.lo > lo) | (left.hi < hi)).any(axis=0) & holds)
    assert gone > 0.3 * beside and narrower > 60


def _left(fun, rows, bounds, lo, hi, integers=()):
    lo, hi = (np.array(end, float)[:, None] for end in (lo, hi))
    evaluator = evaluator_of(fun, rows, len(lo), integers)
    low, high = np.array(bounds, float).T
    return StationarityTest(evaluator, (low, high))(lo, hi)


def test_a_cusp_has_no_multipliers():
    """(1, 0) is the minimiser, and the gradient of f is no multiple of that of the constraint there."""
    rows = [(lambda x: (1 - x[0]) ** 3 - x[1], 0, INF)]
    for bounds in ([(0, 3), (0, 3)], [(-3, 3), (-3, 3)]):
        more = [] if bounds[0][0] == 0 else [(lambda x: x[1], 0, INF)]
        left = _left(lambda x: (x[0] - 2) ** 2 + x[1] ** 2, rows + more, bounds, [0.9, 0.0], [1.1, 0.1])
        assert not left.none[0] and left.lo[0, 0] <= 1 <= left.hi[0, 0] and left.lo[1, 0] == 0


def test_the_sign_of_a_multiplier():
    """x + y is least on the lower half of the unit disc's edge, largest on the upper one."""
    disc = [(lambda x: x[0] ** 2 + x[1] ** 2, -INF, 1)]
    s = np.sqrt(0.5)
    for sign, none in ((-1, False), (1, True)):
        left = _left(lambda x: x[0] + x[1], disc, [(-2, 2)] * 2, [sign * s - 0.01] * 2, [sign * s + 0.01] * 2)
        assert left.none[0] == none
    assert (left.hi - left.lo).max() > 0


def test_a_newton_step_ends_at_the_minimiser():
    circle = [(lambda x: x[0] ** 2 + x[1] ** 2, 1, 1)]
    lo, hi = np.full(2, -0.8), np.full(2, -0.6)
    for _ in range(5):
        left = _left(lambda x: x[0] + x[1], circle, [(-2, 2)] * 2, lo, hi)
        lo, hi = left.lo[:, 0], left.hi[:, 0]
        assert not left.none[0] and (lo <= -np.sqrt(0.5)).all() and (hi >= -np.sqrt(0.5)).all()
    assert (hi - lo < 1e-14).all()


def test_loose_variables_where_gradients_are_dependent():
    """Two equal constraints tie x[0]; f falls, is concave or has no stationary point in x[1], and is least at x[2]'s bound."""
    twice = [(lambda x: x[0] ** 2, -INF, 1)] * 2 + [(lambda x: x[1] + x[2], -INF, 100)]
    box, bounds = ([0.9, 0.1, 0.0], [1.1, 0.9, 0.5]), [(-2, 2), (-5, 5), (0, 5)]
    for second, none in ((lambda t: t, True), (lambda t: -(t - 0.5) ** 2, True), (lambda t: (t - 2) ** 2, True),
                         (lambda t: (t - 0.5) ** 2, False)):
        left = _left(lambda x, g=second: -x[0] + g(x[1]) + x[2], twice, bounds, *box)
        assert left.none[0] == none
    assert left.lo[1, 0] == left.hi[1, 0] == 0.5 or left.hi[1, 0] - left.lo[1, 0] < 1e-12
    assert left.hi[2, 0] == 0.0 and (left.lo[0, 0], left.hi[0, 0]) == (0.9, 1.1)


def test_whole_numbers_have_no_derivatives():
    """(x - 3.6)² over the integers is least at 4, where it rises."""
    left = _left(lambda x: (x[0] - 3.6) ** 2 + x[1] ** 2, [(lambda x: x[1], -INF, 9)], [(0, 9), (-5, 5)], [4, -1], [6, 1], (0,))
    assert not left.none[0] and left.lo[0, 0] == 4 and left.hi[0, 0] == 6 and left.hi[1, 0] - left.lo[1, 0] < 1e-12


def test_the_part_keeps_its_contract():
    at = system_with_minimiser(3)
    lo, hi = regions_around(np.random.default_rng(0), at, 100)
    regions = np.concatenate([lo, hi, np.full((1, 100), -INF), np.zeros((1, 100)), np.full((1, 100), 3.0)])
    part, before = FritzJohn(at.evaluator, at.lo, at.hi), regions.copy()
    assert part.test(regions, StepContext(INF)).regions is regions  # without a feasible point nothing may be discarded
    found = part.test(regions, StepContext(at.value))
    assert (regions == before).all() and found.boxes > 0 and set(found.paid[0]) <= {0.0, 1.0}
    n, p = len(at.lo), at.point[:, None]
    holds = ((lo <= p) & (p <= hi)).all(axis=0)
    gone = found.regions[2 * n + 1] == DISCARDED_AXIS
    assert gone.any() and not gone[holds].any() and (found.regions[2 * n][gone] == INF).all()
