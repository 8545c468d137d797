"""The kernel of a trial of Levenberg and Marquardt's method: its linear fit, its slopes, and what it does with them."""

import numpy as np
import pytest
from scipy.optimize import lsq_linear

from infimum.evaluation.compile import compile
from infimum.evaluation.evaluator import Evaluator
from infimum.evaluation.programs import LEVENBERG, ProgramKind
from infimum.points.levenberg_kernel import LaneRows, some_rows
from infimum.search.policy.points import LEVENBERG_MARQUARDT

T = np.linspace(0.5, 4.0, 25)
Y = 2 * np.exp(-0.6 * T) + 0.3 + 0.1 * np.cos(11 * T)

MODELS = {  # (function of the parameters, n, columns)
    "decay": (lambda b: b[0] * np.exp(-b[1] * T) + b[2], 3, 2),
    "two decays": (lambda b: b[0] * np.exp(-b[1] * T) + b[2] * T * np.exp(-b[3] * T), 4, 2),
    "line": (lambda b: b[0] + b[1] * T, 2, 2),
    "product": (lambda b: b[0] * (T + b[1]) / (T**2 + b[2]), 3, 2),
    "no column": (lambda b: np.exp(-b[0] * T) / (b[1] + b[2] * T), 3, 0),
    "functions": (lambda b: b[0] * np.arctan(b[1] * T) + np.log(T + b[2] ** 2) - np.sqrt(b[1] + T) ** 3, 3, 1),
    "powers": (lambda b: b[0] * T ** b[1] + 1 / (1 + b[2] * T) ** 3, 3, 1),
    "kinks": (lambda b: b[0] * np.abs(T - b[1]) + np.where(T > 2, b[1] * T, np.maximum(T, b[2])), 3, 1),
    "smeared": (lambda b: np.convolve(b[0] * np.exp(-b[1] * T[:23]) + 1 / (b[2] + T[:23]), [0.25, 0.5, 0.25]), 3, 1),
}


def evaluator_of(name: str) -> Evaluator:
    model, n, _ = MODELS[name]
    return compile(lambda b: np.sum((model(b) - Y) ** 2), n)


def tried(f: Evaluator, points: np.ndarray, limits: tuple = (), geometric: bool = False, often: int = 1):
    """Their rows, and the lanes after some trials from these points; κ within `limits`."""
    p, q = len(f.facts.sum_of_squares.nonlinear), len(f.facts.sum_of_squares.columns)
    rows = LaneRows.of(p, q)
    lanes = np.zeros((rows.count, points.shape[1]))
    lanes[rows.point], lanes[rows.value], lanes[rows.damping] = points, np.inf, LEVENBERG_MARQUARDT.first_damping
    low, high = limits or (np.full(q, -np.inf), np.full(q, np.inf))
    bounds = np.concatenate([np.full(p, 0.01), np.full(p, 9.0), np.full(p, float(geometric)), low, high])
    for _ in range(often):
        lanes, = f.run(LEVENBERG, [lanes], parameters=bounds)
    return rows, lanes


def whole(f: Evaluator, rows: LaneRows, lanes: np.ndarray) -> np.ndarray:
    """The parameters of each lane."""
    parts, x = f.facts.sum_of_squares, np.empty((f.n, lanes.shape[1]))
    x[list(parts.nonlinear)] = lanes[rows.point]
    for product, kappa in zip(parts.products, lanes[rows.kappa], strict=True):
        x[product[-1]] = kappa / np.prod(x[list(product[:-1])], axis=0)
    return x


@pytest.mark.parametrize("name", MODELS)
def test_value_and_slope_are_those_of_the_function_at_the_linear_fit(name):
    f, rng = evaluator_of(name), np.random.default_rng(len(name))
    parts = f.facts.sum_of_squares
    assert len(parts.columns) == MODELS[name][2]
    rows, lanes = tried(f, rng.uniform(0.4, 1.6, (len(parts.nonlinear), 9)))
    x = whole(f, rows, lanes)
    value, gradient = f.estimate_gradient(x)
    assert np.allclose(lanes[rows.value], value, rtol=1e-12)
    others = [i for i in range(f.n) if i not in parts.nonlinear]
    assert np.abs(gradient[others]).max(initial=0) < 1e-8, "the linear parameters are fitted"
    assert np.allclose(2 * lanes[rows.slope], gradient[list(parts.nonlinear)], rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("name", [name for name, (_, _, columns) in MODELS.items() if name != "line"])
def test_the_matrix_is_that_of_projected_slopes(name):
    f, model = evaluator_of(name), MODELS[name][0]
    nonlinear = list(f.facts.sum_of_squares.nonlinear)
    others = [i for i in range(f.n) if i not in nonlinear]
    rows, lanes = tried(f, np.full((len(nonlinear), 1), 0.77))
    x = whole(f, rows, lanes)[:, 0]
    jacobian = np.stack([(model(x + step) - model(x - step)) / 2e-6 for step in 1e-6 * np.eye(f.n)], axis=1)
    v, columns = jacobian[:, nonlinear], jacobian[:, others]
    v = v - columns @ np.linalg.lstsq(columns, v, rcond=None)[0] if others else v
    upper = np.triu_indices(len(nonlinear))
    assert np.allclose(lanes[rows.matrix, 0], (v.T @ v)[upper], rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("seed", range(6))
def test_the_linear_fit_stays_within_its_bounds(seed):
    rng = np.random.default_rng(seed)
    columns = rng.normal(size=(3, 25)) + 0.5
    y = rng.normal(size=25)
    f = compile(lambda b: np.sum((b[0] * columns[0] + b[1] * columns[1] + b[2] * np.exp(-b[3] * columns[2]) - y) ** 2), 4)
    low, high = np.array([-0.1, 0.05, -np.inf]), np.array([0.0, 0.1, rng.uniform(-0.3, 0.3)])
    rows, lanes = tried(f, np.array([[0.1, 0.5, 2.0]]), (low, high))
    for t, kappa, value in zip(lanes[rows.point][0], lanes[rows.kappa].T, lanes[rows.value], strict=True):
        best = lsq_linear(np.stack([columns[0], columns[1], np.exp(-t * columns[2])], axis=1), y, (low, high))
        assert ((kappa >= low) & (kappa <= high)).all()
        assert 2 * best.cost * (1 - 1e-9) <= value <= 2 * best.cost * (1 + 1e-3)


def test_lanes_go_down_to_a_minimum():
    f = evaluator_of("two decays")
    starts, before = np.random.default_rng(0).uniform(0.02, 5.0, (2, 40)), np.inf
    for geometric in (False, True):
        for often in (1, 3, 40):
            rows, lanes = tried(f, starts, geometric=geometric, often=often)
            assert (lanes[rows.value] <= before).all() and ((lanes[rows.point] >= 0.01) & (lanes[rows.point] <= 9)).all()
            before = lanes[rows.value]
        slope, inside = lanes[rows.slope], (lanes[rows.point] > 0.01) & (lanes[rows.point] < 9)
        assert np.abs(slope[inside]).max() < 1e-5 and inside.all(axis=0).sum() > 20
        before = np.inf


def test_what_is_not_finite_is_infinitely_high():
    f = compile(lambda b: np.sum((b[0] * np.exp(b[1] / (T - 0.4)) * np.log(b[2]) - Y) ** 2), 3)
    p = f.facts.sum_of_squares.nonlinear
    points = np.array([[8.0, 0.5, 300.0], [2.0, 0.0, 2.0]])[:len(p)]
    rows = LaneRows.of(2, 1)
    lanes = np.zeros((rows.count, 3))
    lanes[rows.point], lanes[rows.value], lanes[rows.damping] = points, np.inf, LEVENBERG_MARQUARDT.first_damping
    bounds = np.array([0.0, 0.0, 1e3, 9.0, 0.0, 0.0, -np.inf, np.inf])
    lanes, = f.run(LEVENBERG, [lanes], parameters=bounds)
    assert np.isfinite(lanes[rows.value, 0]) and np.isinf(lanes[rows.value, 1:]).all()
    lanes, = f.run(LEVENBERG, [lanes], parameters=bounds)
    assert np.isinf(lanes[rows.value, 1:]).all() and not np.isnan(lanes[rows.point]).any()


def test_one_of_three_rows():
    f, rows = evaluator_of("decay"), some_rows(25, 3)
    part = compile(lambda b: np.sum(((MODELS["decay"][0](b) - Y)[rows]) ** 2), 3)
    where, lanes = tried(part, np.array([[0.3, 0.7, 1.1]]))
    fresh = np.zeros_like(lanes)
    fresh[where.point], fresh[where.value], fresh[where.damping] = [[0.3, 0.7, 1.1]], np.inf, LEVENBERG_MARQUARDT.first_damping
    every_third = ProgramKind.of(LEVENBERG, stride=3)
    some, = f.run(every_third, [fresh], parameters=np.array([0.01, 9.0, 0.0, -np.inf, -np.inf, np.inf, np.inf]))
    assert np.array_equal(lanes, some)


@pytest.mark.parametrize("stride", (2, 7, 117))
def test_some_rows_are_one_of_each_run(stride):
    rows = some_rows(30_000, stride)
    assert np.array_equal(rows // stride, np.arange(30_000 // stride))
    assert abs(np.mean(rows % stride) - (stride - 1) / 2) < 0.02 * stride
