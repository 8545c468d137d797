"""Bounds by the tangent of a Lagrangian function: true whatever the multipliers and the point, and tight at a solution."""

import numpy as np
import pytest

import infimum
from infimum.bounds.convex_tangent import tangent_bound
from infimum.evaluation.evaluator import Evaluator
from infimum.trace.constraint_reading import read_constraints
from infimum.trace.trace import trace


def volume(x):
    """The largest box with little wall and floor: a geometric program."""
    return 1 / (x[0] * x[1] * x[2])


def walls(x):
    return [x[2] * (x[0] + x[1]) <= 5, x[0] * x[1] <= 2, x[0] / x[1] <= 2, -1 / x[2] <= -0.1]


def distance(x):
    return np.exp(x[0] - x[1]) + np.sqrt((x[1] - 1) ** 2 + (x[2] + 1) ** 2 + 1)


def half_spaces(x):
    return [x[0] + x[1] + x[2] >= 1, np.log(x[0] + 3) >= 0.5 * x[2], x[0] - x[1] == 0.25, x[0] * x[2] <= 4]


CASES = {"geometric": (volume, walls, (0.125, 8.0)), "convex": (distance, half_spaces, (-2.0, 3.0))}


@pytest.fixture(scope="module", params=CASES)
def case(request):
    f, limits, (lo, hi) = CASES[request.param]
    expr = trace(f, 3)
    system = read_constraints(limits, 3).system(expr)
    return Evaluator(system.f, 3, system=system), np.full(3, lo), np.full(3, hi), f, limits


def test_bounds_are_true_whatever_the_multipliers_and_the_point(case):
    evaluator, lo, hi, f, _ = case
    rng, found = np.random.default_rng(1), []
    points = rng.uniform(lo[:, None], hi[:, None], (3, 20_000))
    if evaluator.system.equal.any():
        points[0] = np.clip(points[1] + 0.25, lo[0], hi[0])
    values = evaluator.estimate_jacobian(points)[0]
    system = evaluator.system
    feasible = ((values[1:] >= system.lower[:, None] - 1e-9) & (values[1:] <= system.upper[:, None] + 1e-9)).all(axis=0)
    assert feasible.sum() > 50
    least = values[0][feasible].min()
    for k in range(40):
        x, w = rng.uniform(lo, hi), rng.normal(size=system.m) * 10.0 ** rng.integers(-3, 2) * (k > 0)
        found.append(tangent_bound(evaluator, lo, hi, x, w))
        assert found[-1] <= least + 1e-6 * (1 + abs(least)), k
    assert max(found) > -np.inf


def test_a_solution_is_proved_without_a_cut(case):
    _, lo, hi, f, limits = case
    r = infimum.minimize(f, list(zip(lo, hi, strict=True)), constraints=limits, progress=False)
    assert r.verdict.name == "PROVED" and r.nit == 0


def test_what_is_not_convex_says_nothing():
    for f, limits in ((lambda x: x[0] - x[1] ** 2, lambda x: x[0] >= 0.5), (lambda x: x[0] / x[1] - x[0], lambda x: x[1] >= 0.5)):
        system = read_constraints(limits, 2).system(trace(f, 2))
        bound = tangent_bound(Evaluator(system.f, 2, system=system), np.full(2, 0.25), np.ones(2), np.full(2, 0.5), np.zeros(1))
        assert bound == -np.inf


def test_an_undefined_part_of_the_box_says_nothing():
    system = read_constraints(lambda x: x[1] >= 0.5, 2).system(trace(lambda x: np.sqrt(x[0]) * 0 + x[1], 2))
    evaluator = Evaluator(system.f, 2, system=system)
    assert tangent_bound(evaluator, np.array([-1.0, 0.0]), np.ones(2), np.full(2, 0.75), np.array([-1.0])) == -np.inf


def test_a_running_sum_that_ends_with_a_constant_has_no_tangent():
    """Its last term alone is constant; at the higher of two local minima a tangent would be above the lower one."""
    def double_well(x):
        return np.cumsum(np.stack([(x[0] ** 2 - 1) ** 2 + 0.125 * x[0], 0.5]))[1]
    expr = trace(double_well, 1)
    system = read_constraints(lambda x: x[0] <= 1.5, 1).system(expr)
    evaluator = Evaluator(system.f, 1, system=system)
    bound = tangent_bound(evaluator, np.full(1, -2.0), np.full(1, 2.0), np.array([0.984]), np.zeros(1))
    assert bound <= double_well(np.array([-1.0]))
