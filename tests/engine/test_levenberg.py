"""The search for the lowest sum of squares: it finds what descents miss, at the cost of some thousand evaluations."""

import numpy as np
import pytest

import infimum
from infimum.evaluation.compile import compile
from infimum.points.levenberg_marquardt import LevenbergMarquardt, _power
from infimum.points.swarm import Swarm
from infimum.problem.start_boxes import StartBoxes

X = np.linspace(0.0, 10.0, 60)
NOISE = 0.02 * np.cos(np.arange(60.0) ** 2)
INF = np.inf

FITS = {  # (model, parameters of the data, bounds)
    "decay": (lambda b, x: b[0] * np.exp(-b[1] * x) + b[2], (5, 0.7, 1), [(0, 100), (1e-3, 10), (-5, 5)]),
    "tones": (lambda b, x: b[0] * np.sin(b[1] * x) + b[2] * np.cos(b[1] * x) + b[3] * np.sin(b[4] * x),
              (1, 7.3, -2, 0.7, 12.1), [(-9, 9), (0.1, 15), (-9, 9), (-9, 9), (0.1, 15)]),
    "peaks": (lambda b, x: b[0] * np.exp(-((x - b[1]) / b[2]) ** 2) + b[3] * np.exp(-((x - b[4]) / b[5]) ** 2),
              (2, 3, 0.8, 1, 4.5, 0.5), [(0, 20), (0.1, 30), (0.05, 20), (0, 20), (0.1, 30), (0.05, 20)]),
    "overflow": (lambda b, x: b[0] * np.exp(b[1] / (50 + 7 * x + b[2])), (5.6e-3, 6181, 345),
                 [(-200, 200), (400, 4e6), (25, 2.5e5)]),
    "no linear parameter": (lambda b, x: np.exp(-b[0] * x) / (b[1] + b[2] * x), (0.2, 0.3, 0.4), [(0, 5), (0.01, 5), (0, 5)]),
    "only linear parameters": (lambda b, x: b[0] + b[1] * x + b[2] * x**2, (1, 2, -0.3), [(-9, 9)] * 3),
    "products": (lambda b, x: b[0] * (x**2 + x * b[1]) / (x**2 + x * b[2] + b[3]), (0.19, 0.19, 0.12, 0.13),
                 [(-3, 3), (-3, 3), (0.01, 30), (0.01, 30)]),
    "factors": (lambda b, x: b[0] * b[1] * np.exp(-b[2] * x), (2, 3, 0.4), [(0, 5), (0.5, 5), (0, 5)]),
    "linear ones without bounds": (lambda b, x: b[0] * np.exp(-b[1] * x) + b[2], (5e4, 0.7, 1),
                                   [(-INF, INF), (0, 10), (-INF, INF)]),
    "negative": (lambda b, x: b[0] * np.exp(b[1] * x), (3, -0.4), [(-9, 9), (-50, -1e-4)]),
    "pieces": (lambda b, x: b[0] * np.exp(-b[1] * np.where(x > 4, 4 + 2 * (x - 4), x)) + np.where(x > 5, b[2], 0.0), (5, 0.7, 1),
               [(0, 100), (1e-3, 10), (-5, 5)]),
    "two responses": (lambda b, x: np.concatenate([b[0] * np.exp(-b[1] * x[:30]) + b[2], b[0] * (1 - np.exp(-b[1] * x[:30]))]),
                      (5, 0.7, 1), [(0, 100), (1e-3, 10), (-5, 5)]),
    "smeared": (lambda b, x: np.convolve(b[0] * np.exp(-b[1] * x[:58]) + b[2], [0.25, 0.5, 0.25]), (5, 0.7, 1),
                [(0, 100), (1e-3, 10), (-5, 5)]),
    "two fixed ones": (lambda b, x: b[0] * np.exp(-b[1] * x) + b[2], (5, 0.7, 1), [(0, 100), (0.7, 0.7), (1, 1)]),
    "a fixed one": (lambda b, x: b[0] * np.exp(-b[1] * x) + b[2], (5, 0.7, 1), [(0, 100), (1e-3, 10), (1, 1)]),
}


def search_of(model, y, bounds, seed=0, x=X, given=None, threads=None):
    lo, hi = np.array(bounds, float).T
    f = compile(lambda b: np.sum((y - model(b, x)) ** 2), len(lo), threads=threads)
    within = np.where(np.isfinite(lo), lo, -1e3), np.where(np.isfinite(hi), hi, 1e3)
    return LevenbergMarquardt(f, lo, hi, within, seed, given)


def run(search):
    for steps in search.rounds():
        for _ in steps:
            pass
    points = np.stack(search.candidates(), axis=1)
    assert ((points >= search.lo[:, None]) & (points <= search.hi[:, None])).all()
    return search


@pytest.mark.parametrize("name", FITS)
def test_it_finds_the_parameters_of_the_data(name):
    model, b, bounds = FITS[name]
    for seed in (0, 1):
        search = run(search_of(model, model(np.array(b, float), X) + NOISE, bounds, seed))
        assert search.value <= np.sum(NOISE**2) and search.evaluations < 10_000
        assert np.isclose(search.value, search.evaluator.estimate(search.x), rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize("name", ("decay", "products", "peaks"))
def test_perfect_data(name):
    model, b, bounds = FITS[name]
    search = run(search_of(model, model(np.array(b, float), X), bounds))
    assert search.value < 1e-20


@pytest.mark.parametrize(("bounds", "lowest"), (([(0, 100), (0, 10), (2, 5)], (2, 2)), ([(0, 4), (0, 10), (1.5, 5)], (0, 4))))
def test_linear_parameters_at_their_bounds(bounds, lowest):
    """Among all parameters nothing near is lower."""
    model, b, _ = FITS["decay"]
    search = run(search_of(model, model(b, X) + NOISE, bounds))
    lo, hi = np.array(bounds, float).T
    x, (i, at) = search.x, lowest
    assert x[i] == at
    near = np.clip(x[:, None] + np.random.default_rng(0).normal(size=(3, 500)) * 1e-4, lo[:, None], hi[:, None])
    assert (search.evaluator.estimate(near) >= search.value * (1 - 1e-12)).all()


def test_products_that_the_bounds_exclude():
    """The relaxed fit is not attained: b1 would be 0.19."""
    model, b, _ = FITS["products"]
    bounds = [(0, 0.15), (0.3, 1), (0.01, 1), (0.01, 1)]
    search = run(search_of(model, model(b, X) + NOISE, bounds))
    assert np.isclose(search.value, search.evaluator.estimate(search.x), rtol=1e-9)
    lo, hi = np.array(bounds, float).T
    near = np.clip(search.x[:, None] + np.random.default_rng(0).normal(size=(4, 500)) * 1e-4, lo[:, None], hi[:, None])
    assert (search.evaluator.estimate(near) >= search.value * (1 - 1e-9)).all()


def test_many_data_are_looked_at_in_part_and_then_all():
    model, b, bounds = FITS["decay"]
    x = np.linspace(0, 10, 30_000)
    y = model(b, x) + 0.1 * np.cos(np.arange(30_000.0) ** 2)
    search = search_of(model, y, bounds, x=x)
    assert search.stride == 117
    run(search)
    assert search.evaluations < 500 and search.value <= np.sum((y - model(b, x)) ** 2)
    _, gradient = search.evaluator.estimate_gradient(search.x)
    assert np.abs(gradient).max() < 1e-5


def test_fast_waves_in_many_data():
    """Rows at equal distances could not tell it from slower ones."""
    x = np.linspace(0, 10, 20_000)
    y = np.sin(191.0 * x + 0.4) + 0.1 * np.cos(np.arange(20_000.0) ** 2)
    model = lambda b, x: b[0] * np.sin(b[1] * x) + b[2] * np.cos(b[1] * x)  # noqa: E731
    search = run(search_of(model, y, [(-9, 9), (150, 250), (-9, 9)], x=x))
    assert abs(search.x[1] - 191) < 1e-2


def test_the_points_do_not_depend_on_threads():
    model, b, bounds = FITS["peaks"]
    one, two = (run(search_of(model, model(b, X) + NOISE, bounds, threads=threads)) for threads in (1, 2))
    assert np.array_equal(one.x, two.x) and one.value == two.value and np.array_equal(one.lanes, two.lanes)


def test_given_points_are_starts():
    """A peak so narrow that no start meets it."""
    y = np.where(np.arange(60) == 17, 5.0, 0.0) + NOISE

    def model(b, x):
        return b[0] * np.exp(-((x - b[1]) / b[2]) ** 2)
    bounds = [(0, 20), (-1e6, 1e6), (0.05, 0.06)]
    without, given = run(search_of(model, y, bounds)), run(search_of(model, y, bounds, given=np.array([[1.0], [X[17]], [0.055]])))
    assert given.value < 1 < without.value


def test_only_points_in_start_boxes_count():
    """Exchangeable peaks: of two equal minima one is in the boxes, and it is not dropped for the other."""
    model, b, bounds = FITS["peaks"]
    lo, hi = np.array(bounds, float).T
    lower, upper = np.repeat(lo[:, None], 2, axis=1), np.repeat(hi[:, None], 2, axis=1)
    for i, j in ((1, 4), (4, 1)):  # a staircase below the diagonal, and one above
        low, high = lower.copy(), upper.copy()
        low[j, 1], high[i, 0], low[i, 1] = 4.0, 4.0, 4.0
        start = StartBoxes(low, high)
        search = search_of(model, model(b, X) + NOISE, bounds)
        search.start = start
        run(search)
        assert LevenbergMarquardt.fits(search.evaluator,
                                       start) and start.holds(search.x[:, None]).all() and search.x[i] < search.x[j]
        assert search.value <= np.sum(NOISE**2)
    few = StartBoxes(lower[:, :1], lower[:, :1] + (upper - lower)[:, :1] / 8)
    assert not LevenbergMarquardt.fits(search.evaluator, StartBoxes(*(np.concatenate(ends, axis=1) for ends in (
        (few.lo, upper[:, :1]), (few.hi, upper[:, :1]))))), "two corners of a large box"


def test_start_boxes_without_a_point():
    """All that is low lies elsewhere, and what is left of lanes too."""
    y = 3 * np.exp(-0.4 * X) + NOISE
    boxes = [[(-9, 9), (2.0, 2.2)], [(-9, 9), (2.1, 2.5)], [(-9, -8.9), (0.1, 0.2)]]
    r = infimum.minimize(lambda b: np.sum((y - b[0] * np.exp(-b[1] * X)) ** 2), [(-9, 9), (0.1, 2.5)], start_boxes=boxes,
                         atol=0.0, rtol=1e-3)
    assert r.verdict is infimum.Verdict.PROVED and np.isclose(r.x[1], 2.0) and r.x in r.regions


def test_no_point_at_all():
    search = search_of(lambda b, x: b[0] * np.log(b[1] - x), X, [(-1, 1), (-5, 0)])
    run(search)
    assert search.value == INF and search.lanes.shape[1] == 0


@pytest.mark.parametrize("name", ("decay", "negative", "pieces", "two responses", "smeared", "no linear parameter",
                                  "only linear parameters", "a fixed one"))
def test_a_proof_begins_with_it(name, monkeypatch):
    monkeypatch.setattr(Swarm, "rounds", lambda *_: pytest.fail("no swarm before branching"))
    model, b, bounds = FITS[name]
    y = model(np.array(b, float), X) + NOISE
    r = infimum.minimize(lambda b: np.sum((y - model(b, X)) ** 2), bounds, atol=0.0, rtol=1e-4)
    assert r.verdict is infimum.Verdict.PROVED and r.lower <= r.upper <= np.sum(NOISE**2)


@pytest.mark.parametrize("f", (lambda x: np.sum(x**2), lambda x: np.sum(np.cos(x[0] * X)), lambda x: (x[0] - 1) ** 2 + x[1] ** 4,
                               lambda x: np.sum(np.cumsum(x[0] * X + x[1]) ** 2), lambda x: np.sum((x[:2] - 1) ** 2)))
def test_other_functions_have_nothing_to_do_with_it(f):
    assert not LevenbergMarquardt.fits(compile(f, 2))


def test_powers_by_square_roots():
    base, exponent = np.array([[7.0], [1e10], [1.0]]), np.linspace(0, 1.999, 50)
    assert np.allclose(_power(base, exponent), base**exponent, rtol=1e-5)


@pytest.mark.parametrize("name", ("pieces", "two responses", "smeared"))
def test_parts_of_residuals_leave_parameters_linear(name):
    model, _, bounds = FITS[name]
    assert search_of(model, X, bounds).parts.products == ((0,), (2,))
