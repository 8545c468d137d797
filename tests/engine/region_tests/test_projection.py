"""Variable projection: how good its bounds are, the points it offers, what it cuts, whole runs. Whether its claims hold is the
question of test_projection_held.py."""

import numpy as np
import pytest

import infimum
from infimum.backend.python import PythonBackend
from infimum.bounds.interface import StepContext
from infimum.bounds.least_squares.variable_projection import VariableProjection
from tests.engine.region_tests.projections import (
    INF,
    WIDE,
    T,
    Y,
    asked,
    decay,
    equal,
    is_gone,
    lower,
    poles,
    random_regions,
    regions_of,
)
from tests.random_kernels import same_bits


def least(x1: float) -> float:
    """The linear fit of the decay."""
    columns = np.stack([np.exp(-x1 * T), np.ones_like(T)], axis=1)
    return float(np.linalg.lstsq(columns, Y, rcond=None)[1][0])


# ---- how good it is
def test_at_a_point_it_is_the_linear_fit():
    outcome = asked(decay, [WIDE, (0, 9), WIDE], [[WIDE, (r, r), WIDE] for r in (0.5, 2.0, 8.0)])
    expected = np.array([least(r) for r in (0.5, 2.0, 8.0)])
    assert (lower(outcome) <= expected + 1e-12).all() and (lower(outcome) > expected * (1 - 1e-9)).all()
    assert (outcome.upper[0] >= expected - 1e-12).all() and (outcome.upper[0] < expected * (1 + 1e-9)).all()
    assert (outcome.point[1] == [0.5, 2.0, 8.0]).all()


def test_its_error_is_of_third_order():
    widths = np.array([0.2, 0.1, 0.05, 0.025])
    outcome = asked(decay, [WIDE, (0, 9), WIDE], [[WIDE, (2 - w, 2 + w), WIDE] for w in widths])
    lost = np.array([min(least(r) for r in np.linspace(2 - w, 2 + w, 21)) for w in widths]) - lower(outcome)
    assert (lost >= -1e-12).all() and (lost[:-1] > 5 * lost[1:]).all()


def test_linear_parameters_become_the_ellipse():
    upper = 1.01 * least(2.0)
    outcome = asked(decay, [WIDE, (0, 9), WIDE], [[WIDE, (2, 2), WIDE]], upper)
    columns = np.stack([np.exp(-2 * T), np.ones_like(T)], axis=1)
    centre, inverse = np.linalg.lstsq(columns, Y, rcond=None)[0], np.linalg.inv(columns.T @ columns)
    half = np.sqrt((upper - least(2.0)) * np.diag(inverse))
    lo, hi = outcome.regions[[0, 2], 0], outcome.regions[[3, 5], 0]
    assert (lo <= centre - half + 1e-9).all() and (hi >= centre + half - 1e-9).all()
    assert (hi - lo < 3 * (2 * half)).all() and outcome.paid[0, 0] == 1
    assert is_gone(asked(decay, [WIDE, (0, 9), WIDE], [[(50, 60), (2, 2.01), WIDE]], upper))[0]


def test_a_parameter_that_has_no_part_stays_as_it_is():
    """Its column is 0, which is not the same as no data."""
    outcome = asked(lambda x: np.sum((x[0] * T + 0 * x[1] - Y) ** 2), [WIDE, (0, 1)], [[WIDE, (0, 1)]], 4.0)
    residual = float(np.linalg.lstsq(T[:, None], Y, rcond=None)[1][0])
    assert abs(lower(outcome)[0] - residual) < 1e-9 and outcome.regions[[1, 3], 0].tolist() == [0, 1]
    assert outcome.regions[2, 0] - outcome.regions[0, 0] < 1


# ---- points, and what is cut
def test_points_lie_within_the_bounds():
    """The linear fit lies beyond them: no point is offered."""
    inside, outside = ([(-9, 9), (0, 9), (-9, 9)], [(-9, 9), (0, 9), (5, 9)])
    for user, offered in ((inside, True), (outside, False)):
        outcome = asked(decay, user, [[user[0], (1, 1.5), user[2]]])
        assert (outcome.upper[0, 0] < INF) == offered


def test_where_no_nonlinear_parameter_can_be_cut_a_linear_one_is():
    outcome = asked(decay, [WIDE, (0, 9), WIDE], [[WIDE, (1, 1), WIDE], [(1, 1), (1, 1), WIDE], [(1, 1), (1, 1), (1, 1)]])
    assert outcome.regions[7].tolist() == [0, 2, -1]
    outcome = asked(decay, [WIDE, (-INF, INF), WIDE], [[WIDE, (0, INF), WIDE], [WIDE, (0, 2), WIDE]])
    assert outcome.regions[7].tolist() == [1, 1]


def test_the_bits_of_the_definition():
    for f, n in ((decay, 3), (poles, 4), (equal, 4)):
        results = []
        for backend in (None, PythonBackend()):
            evaluator = infimum.compile(f, n, backend=backend)
            part = VariableProjection(evaluator, np.full(n, -1e6), np.full(n, 1e6))
            regions = regions_of(evaluator, random_regions(evaluator, np.random.default_rng(n), 2))
            results.append(part.test(regions, StepContext(2.0)))
        for mine, definition in zip(*((r.regions, r.paid, r.upper, r.point) for r in results), strict=True):
            assert same_bits(np.asarray(mine), np.asarray(definition)).all()


# ---- whole runs
def test_linear_parameters_are_never_cut():
    """Bounds a million wide cost next to nothing."""
    r = infimum.minimize(decay, [WIDE, (0.1, 5), WIDE], max_boxes=3000)
    assert r.verdict.name == "PROVED" and r.lower <= min(least(v) for v in np.linspace(0.1, 5, 2000)) + 1e-12


@pytest.mark.parametrize("f", [
    lambda x: np.sum((np.concatenate([x[0] * np.exp(-x[1] * T), x[0] * T + x[1]]) - np.concatenate([Y, T])) ** 2),
    lambda x: np.sum((x[0] * x[1] ** np.arange(1.0, 13.0) - Y) ** 2),
    lambda x: np.sum((x[0] * np.where(T > 0.5, np.exp(-x[1] * T), 1.0) - Y) ** 2),
    lambda x: np.sum((x[0:1] * np.exp(-x[1:2]) - 1) ** 2),
    lambda x: np.sum((np.repeat(x[0:1], 12) * np.exp(-x[1] * T) - Y) ** 2),
])
def test_residuals_of_every_form_are_solved(f):
    r = infimum.minimize(f, [(-5, 5), (0.1, 2)], atol=1e-3, rtol=1e-3, max_boxes=100_000)
    assert r.verdict.name == "PROVED"
