"""Bounds by Lagrangian functions: whatever the multipliers are, no feasible point is lost."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from infimum.bounds.convexifying_terms import convexity
from infimum.bounds.interface import LocalSolution, StepContext
from infimum.bounds.lagrangian_bound import LagrangianBound
from infimum.kernel.region_cut import DISCARDED_AXIS
from infimum.structure.minus_product import minus_product
from infimum.trace.trace import trace
from tests.engine.constrained.planted_systems import INF, Planted, check_nothing_lost, evaluator_of, planted, regions_around


def _teach(part, x, *known):
    part.learn(LocalSolution(x, lambda logarithmic: known))


def part_of(evaluator, lo=-2.0, hi=2.0):
    return LagrangianBound(evaluator, np.full(evaluator.n, lo), np.full(evaluator.n, hi))


def region(*sides):
    lo, hi = zip(*sides, strict=True)
    return np.array([*lo, *hi, -INF, 0.0, 3.0])[:, None]


def taught(evaluator, x, w, *bounds):
    part = part_of(evaluator, *bounds)
    x, w = np.array(x, float), np.array(w, float)
    _teach(part, x, *convexity(evaluator, x, w, part.logarithmic))
    return part


def test_one_region_is_enough_where_the_lagrangian_function_is_convex():
    evaluator = evaluator_of(lambda x: x[0] + x[1], [(lambda x: x[0]**2 + x[1]**2, 1.0, 1.0)], 2)
    root = 0.5**0.5
    left = taught(evaluator, [-root, -root], [root]).test(region((-2, 2), (-2, 2)), StepContext(-1.4)).regions
    assert -2**0.5 - 1e-14 <= left[4, 0] <= -2**0.5 + 1e-14


def test_the_squares_of_equations_make_it_convex():
    evaluator = evaluator_of(lambda x: -x[0] * x[1], [(lambda x: x[0] + x[1], 2.0, 2.0)], 2)
    part = taught(evaluator, [1, 1], [1])
    left = part.test(region((-2, 2), (-2, 2)), StepContext(-0.9)).regions
    assert -1 - 1e-14 <= left[4, 0] <= -1
    part.given[4] = 0.0  # r
    assert part.test(region((-2, 2), (-2, 2)), StepContext(-0.9)).regions[4, 0] < -2


def test_a_flat_direction_does_not_hide_that_it_is_convex():
    """(x - y)² has none across x = y; without s no elimination would end."""
    evaluator = evaluator_of(lambda x: (x[0] - x[1])**2 + x[2], [(lambda x: x[2], 1.0, INF)], 3)
    part = taught(evaluator, [0.5, 0.5, 1], [-1])
    left = part.test(region((-2, 2), (-2, 2), (-2, 2)), StepContext(1.5)).regions
    assert 1 - 1e-6 <= left[6, 0] <= 1
    part.given[6:9] = 0.0  # s
    assert part.test(region((-2, 2), (-2, 2), (-2, 2)), StepContext(1.5)).regions[6, 0] < 0


def test_regions_beside_the_solution_have_a_centre_of_their_own():
    evaluator = evaluator_of(lambda x: (x[0] - x[1])**2 + x[0]**2 / 64, [(lambda x: x[0] + x[1], -INF, 4.0)], 2)
    left = taught(evaluator, [0, 0], [0]).test(region((1, 2), (-2, 2)), StepContext(5.0)).regions
    assert 1 / 64 - 1e-9 <= left[4, 0] <= 1 / 64  # next to the solution is (1, 0), where the tangent is steep


def test_minus_a_product_is_judged_by_its_logarithm():
    evaluator = evaluator_of(lambda x: -4 * x[0] * x[1] * x[2], [(lambda x: x[0]**2 + x[1]**2 + x[2]**2, 3.0, 3.0)], 3)
    assert not taught(evaluator, [1, 1, 1], [2]).logarithmic  # variables may be negative
    part = taught(evaluator, [1, 1, 1], [2], 0.0)
    whole = part.test(region((2**-6, 2), (2**-6, 2), (2**-6, 2)), StepContext(-4.0)).regions
    assert -4 - 1e-12 <= whole[6, 0] <= -4
    assert part.test(region((0, 2), (2**-6, 2), (2**-6, 2)), StepContext(-4.0)).regions[6, 0] == -INF  # not defined everywhere


@pytest.mark.parametrize("low, proved", [((0, 0, 0, -2), True), ((0, 0, -2, 0), False)])
def test_only_variables_in_the_product_must_not_be_negative(low, proved):
    rows = [(lambda x: np.sum(x[:3] ** 2) + x[3], -INF, 3.0), (lambda x: x[3], 0.0, INF)]
    evaluator = evaluator_of(lambda x: -4 * x[0] * x[1] * x[2], rows, 4)
    assert LagrangianBound(evaluator, np.array(low, float), np.full(4, 2.0)).logarithmic == proved


def test_factors_of_a_product_beyond_doubles_are_no_reason_to_fail():
    assert minus_product(trace(lambda x: -(3 * x[0] * x[1]) ** 63, 2)) is None  # 3**63 is no double
    assert minus_product(trace(lambda x: -(4 * x[0] * x[1]) ** 600, 2)) is None
    assert minus_product(trace(lambda x: -1e200 * x[0] * 1e200 * x[1], 2)) is None
    assert minus_product(trace(lambda x: -(4 * x[0] * x[1]) ** 3, 2)).factor == -64.0



@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(2, 3), scale=st.sampled_from([0.0, 1.0, 1e3]))
def test_no_point_of_a_product_is_lost(seed, n, scale):
    rng = np.random.default_rng(seed)
    points = rng.integers(0, 9, (n, 2)) / 4
    powers = rng.integers(1, 4, n).tolist()

    def f(x):
        total = -3
        for i in range(n):
            total = total * x[i]**powers[i]
        return total
    values = [Fraction(f([Fraction(float(v)) for v in p])) for p in points.T]
    a = rng.integers(-3, 4, n).tolist()
    ends = [sum(c * float(v) for c, v in zip(a, p, strict=True)) for p in points.T]
    evaluator = evaluator_of(f, [(lambda x: sum(c * x[i] for i, c in enumerate(a)), min(ends), max(ends))], n)
    at = Planted(evaluator, np.zeros(n), np.full(n, 2.0), points, values)
    part = taught(evaluator, rng.uniform(0.1, 2, n), scale * rng.standard_normal(1), 0.0)
    assert part.logarithmic
    before = regions_around(rng, at, 64)
    for upper in (INF, float(max(values)), float(min(values)), 1.0):
        check_nothing_lost(at, before, part.test(before.copy(), StepContext(upper)).regions, upper, DISCARDED_AXIS)


def test_a_multiplier_without_an_end_counts_nothing():
    evaluator = evaluator_of(lambda x: x[0], [(lambda x: x[0], 0.0, INF), (lambda x: x[0], -INF, 1.0)], 1)
    part = part_of(evaluator)
    _teach(part, np.zeros(1), np.array([5.0, -5.0]), 0.0, np.zeros(1), None)  # of signs that would need the missing ends
    assert part.given[1:3].tolist() == [0.0, 0.0]
    _teach(part, np.zeros(1), np.array([-1.0, np.nan]), 0.0, np.zeros(1), None)
    assert part.given[1:3].tolist() == [-1.0, 0.0]
    assert part.test(region((-2, 2)), StepContext(5.0)).regions[2, 0] == 0.0


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(1, 3), scale=st.sampled_from([0.0, 1e-3, 1.0, 1e3, 1e200]))
def test_no_feasible_point_is_lost(seed, n, scale):
    at, rng = planted(seed, n), np.random.default_rng(seed)
    part = part_of(at.evaluator)
    w, x = scale * rng.standard_normal(at.evaluator.system.m), rng.uniform(-2, 2, n)
    found = convexity(at.evaluator, x, w)
    _teach(part, x, w, found.r if rng.integers(2) else scale, found.s if rng.integers(2) else np.full(n, scale),
               found.factor if rng.integers(3) else rng.standard_normal((n, n)), found.slope, found.matrix)
    before = regions_around(rng, at, 64)
    for upper in (INF, float(max(at.values)), float(min(at.values))):
        check_nothing_lost(at, before, part.test(before.copy(), StepContext(upper)).regions, upper, DISCARDED_AXIS)


def test_the_check_would_notice():
    """Multipliers whose ends are not those of their signs do lose points."""
    at = planted(3, 2)
    m, rng = at.evaluator.system.m, np.random.default_rng(0)
    part = part_of(at.evaluator)
    _teach(part, at.points[:, 0], np.zeros(m), 0.0, np.zeros(2), None)
    part.given[2:2 + m], part.given[2 + m:2 + 2 * m] = 1.0, -1e6
    before, upper = regions_around(rng, at, 256), float(max(at.values))
    with pytest.raises(AssertionError):
        check_nothing_lost(at, before, part.test(before.copy(), StepContext(upper)).regions, upper, DISCARDED_AXIS)
