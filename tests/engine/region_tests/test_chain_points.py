"""Points of long chains: derivatives along the tree, combinations of candidates, and the minima that are found."""

import itertools

import numpy as np
import pytest

import infimum
from infimum.backend.hybrid import HybridBackend
from infimum.chains import chain as chain_module
from infimum.chains import grid
from infimum.chains.bag_forms import forms_of
from infimum.chains.candidate_choice import CandidateChoice
from infimum.chains.cell_kernels import NO_VALUE
from infimum.chains.chain import Chain
from infimum.chains.chain_points import ChainPointSearch
from infimum.chains.tree_newton import TreeNewton
from infimum.evaluation.evaluator import Evaluator
from infimum.problem.settings import Goal
from infimum.search.incumbent import Incumbent
from tests.engine.region_tests.test_chain import SUMS, after
from tests.fake_cupy import installed

QUADRATICS = {"a chain": lambda d: np.sum((d[1:] - 2 * d[:-1]) ** 2) + np.sum(d**2),
              "a ring": lambda d: np.sum((d - np.roll(d, 1)) ** 2 * np.arange(1, 9)) + d[0] ** 2,
              "a star": lambda d: np.sum(d[1:] * d[0]) + 8 * np.sum(d**2),
              "a band": lambda d: np.sum((d[2:] - 2 * d[1:-1] + d[:-2]) ** 2) + np.sum(d**2) / 100,
              "a tree": lambda d: np.sum((d[[0, 0, 1, 1, 1, 2, 3]] - d[[1, 2, 3, 4, 5, 6, 7]]) ** 2) + d[4] ** 2}


@pytest.fixture(autouse=True)
def _as_the_library_computes():
    with np.errstate(all="ignore"):
        yield


def chain_of(f, low, high) -> Chain:
    low, high = np.array(low, dtype=float), np.array(high, dtype=float)
    evaluator = infimum.compile(f, len(low))
    chain = Chain.of(evaluator, (low[:, None], high[:, None]), Goal(), Incumbent(evaluator, low, high), np.inf)
    assert chain is not None
    return chain


def newton_of(f, low, high) -> TreeNewton:
    chain = chain_of(f, low, high)
    return TreeNewton(chain.grid.kinds, forms_of(chain.grid.kinds), chain.low, chain.high)


# ---- Newton steps
@pytest.mark.parametrize("name", SUMS)
def test_derivatives_are_those_of_the_whole(name):
    newton, e = newton_of(SUMS[name], [-1.0] * 8, [1.25] * 8), infimum.compile(SUMS[name], 8)
    x = np.random.default_rng(2).uniform(-1, 1.25, 8)
    hessian = e.estimate_hessian_vector(np.repeat(x[:, None], 8, axis=1), np.eye(8))[np.ix_(newton.order, newton.order)]
    gradient, diagonal, off = newton._model(x)
    size = np.abs(hessian).max()
    assert np.allclose(gradient, e.estimate_gradient(x)[1][newton.order], rtol=1e-12, atol=1e-12 * size)
    mine = np.diag(diagonal)
    for row, link in zip(off, newton.links, strict=False):
        at = np.flatnonzero(link < 8)
        mine[at, link[at]], mine[link[at], at] = row[at], row[at]
    assert np.allclose(mine, hessian, rtol=1e-12, atol=1e-12 * size)


@pytest.mark.parametrize("name", QUADRATICS)
def test_a_quadratic_takes_one_step(name):
    at = np.array([0.1, -0.3, 0.5, 0.25, 0.0, 0.7, -0.6, 0.2])
    newton = newton_of(lambda x: QUADRATICS[name](x - at), [-2.0] * 8, [2.0] * 8)
    assert np.allclose(newton.steps(np.full(8, 1.5))[:, 0], at, atol=1e-12)


def test_variables_stay_on_bounds_to_which_the_gradient_leads():
    newton = newton_of(lambda x: np.sum(x) + np.sum((x[1:] - x[:-1]) ** 2), [0.0] * 5, [1.0] * 5)
    assert (newton.steps(np.zeros(5)) == 0).all()
    x = np.array([0.0, 0.0, 0.5, 0.0, 0.0])
    assert (newton.steps(x)[[0, 4]] == 0).all() and (newton.steps(x)[2] < 0.5).all()


def test_what_has_no_derivative_stays_and_the_rest_moves():
    newton = newton_of(lambda x: np.sqrt(x[0]) + np.sum((x[1:] - 0.25) ** 2) + (x[0] * x[1]) ** 2 + x[1] * x[2] * 0,
                       [-1.0] * 4, [1.0] * 4)
    ends = newton.steps(np.array([-0.5, 0.9, 0.9, 0.9]))
    assert (ends[0] == -0.5).all() and np.allclose(ends[2:, 0], 0.25)


# ---- combinations
@pytest.mark.parametrize("name", SUMS)
def test_the_best_combination(name):
    kinds = chain_of(SUMS[name], [-1.0] * 8, [1.25] * 8).grid.kinds
    candidates = np.random.default_rng(3).uniform(-1, 1.25, (8, 3))
    value, x = CandidateChoice(kinds, forms_of(kinds), 8, 3).best(candidates)
    every = np.array(list(itertools.product(*candidates.tolist()))).T
    values = infimum.compile(SUMS[name], 8).estimate(every)
    assert np.isclose(value, values.min(), rtol=1e-12) and (x == every[:, np.argmin(values)]).all()


def test_what_is_undefined_is_not_chosen():
    kinds = chain_of(lambda x: np.sum(np.sqrt(x[1:] * x[:-1])) + np.sum(x), [-1.0] * 4, [1.0] * 4).grid.kinds
    _, x = CandidateChoice(kinds, forms_of(kinds), 4, 2).best(np.array([[-0.5, 0.5], [0.25, 0.25], [-1, 1], [0.25, 0.25]]))
    assert x.tolist() == [0.5, 0.25, 1, 0.25]


def test_points_are_crossed():
    """Each is at the minimum in one half, far from it in the other."""
    at, n = np.linspace(-1, 1, 40), 40
    chain = chain_of(lambda x: np.sum((x - at) ** 2) + np.sum((np.diff(at) - x[1:] + x[:-1]) ** 2), [-3.0] * n, [3.0] * n)
    halves = [np.where(np.arange(n) < 20, at, 2.5), np.where(np.arange(n) < 20, -2.5, at)]
    chain.incumbent.offer(halves[0][:, None])
    for _ in chain.points._cross(halves[1], halves[0], (1e3, 1e3), np.full(n, 0.1), 0.0):
        pass
    assert chain.incumbent.upper < 1e-20


# ---- starts
def test_of_equal_bounds_the_lower_value_decides():
    kind = chain_of(SUMS["a chain"], [-1.0] * 8, [1.25] * 8).grid.kinds[0]
    bound, value = np.array([1.0, 1.0, 1.5, -np.inf, 1.0]), np.array([4.0, 3.0, 1.5, 1.0, -np.inf])
    hope = kind.optimistic_bound([np.stack([bound, value, -bound])])[0]
    assert hope[1] > hope[0] > hope[2] > hope[3] == hope[4] == -NO_VALUE and np.allclose(hope[:3], -bound[:3], rtol=1e-8)


# ---- minima
def dixon_price(x):
    return (x[0] - 1) ** 2 + np.sum(np.arange(2, len(x) + 1) * (2 * x[1:] ** 2 - x[:-1]) ** 2)


def moved(f, n: int, seed: int, width: float):
    rng = np.random.default_rng(seed)
    shift, order = rng.uniform(-0.1, 0.1, n) * width, rng.permutation(n)
    return lambda x: f((x - shift)[order])


@pytest.mark.parametrize(("n", "seed"), [(60, 0), (60, 1), (300, 2), (1000, 3)])
def test_a_narrow_minimum_beside_a_flat_one(n, seed):
    """Values at centres of cells are lower along the flat one, whose value is 2/3, until cells are narrower than 1 / n."""
    chain = after(chain_of(moved(dixon_price, n, seed, 20.0), [-10] * n, [10] * n), 5)
    assert chain.incumbent.upper < 1e-20 and chain.lower >= 0


@pytest.mark.parametrize("n", [40, 400])
def test_a_curved_valley(n):
    chain = after(chain_of(moved(lambda x: np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2), n, 4, 15.0),
                           [-5] * n, [10] * n), 5)
    assert chain.incumbent.upper < 1e-20


def test_wells_on_a_tree():
    """The best combination of the wells, which dynamic programming over a fine grid finds as well."""
    rng, n = np.random.default_rng(5), 60
    above, tilt = np.array([int(rng.integers(0, i)) for i in range(1, n)]), rng.uniform(-0.3, 0.3, n)

    def f(x):
        return np.sum((x**2 - 1) ** 2 + tilt * x) + 0.4 * np.sum((x[1:] - x[above]) ** 2)
    grid, cost = np.linspace(-1.3, 1.3, 521), np.zeros((n, 521))
    for i in reversed(range(n)):
        cost[i] += (grid**2 - 1) ** 2 + tilt[i] * grid
        if i:
            cost[above[i - 1]] += (cost[i][:, None] + 0.4 * (grid[:, None] - grid) ** 2).min(axis=0)
    chain = after(chain_of(f, [-2.5] * n, [2.6] * n), 4)
    assert cost[0].min() - 1e-2 <= chain.incumbent.upper <= cost[0].min()


def test_kinks():
    """Newton steps know nothing there; places on both sides do."""
    a = np.sin(np.arange(50) ** 2)
    chain = after(chain_of(lambda x: np.sum(np.abs(x - a)) + 0.1 * np.sum(np.abs(x[1:] - x[:-1])), [-2] * 50, [2.1] * 50), 8)
    assert chain.incumbent.upper <= 0.1 * np.abs(np.diff(a)).sum() * (1 + 1e-3)


def test_no_path_no_point():
    chain = chain_of(lambda x: np.sum(np.sqrt(-1 - x[1:] ** 2 - x[:-1] ** 2)), [-1.0] * 40, [1.0] * 40)
    assert isinstance(chain.points, ChainPointSearch) and after(chain).empty and chain.incumbent.x is None


@pytest.mark.parametrize("name", ["a chain", "triangles"])
def test_a_gpu_has_the_same_bits(name, monkeypatch):
    """A pretended one, on which the levels are, while the search for points is here."""
    def levels(backend) -> tuple:
        evaluator = infimum.compile(SUMS[name], 4, backend=backend)
        low, high = np.full(4, -1.0), np.full(4, 1.25)
        chain = Chain.of(evaluator, (low[:, None], high[:, None]), Goal(), Incumbent(evaluator, low, high))
        assert chain.points is not None
        after(chain, 2)
        return chain.lower, chain.levels, chain.incumbent.upper, chain.incumbent.x.tobytes()
    monkeypatch.setattr(grid.POLICY, "first_slices", 2)
    monkeypatch.setattr(chain_module.DESCENTS, "most_dense_variables", 2)
    here = levels(None)
    installed(monkeypatch, memory=1 << 26)
    monkeypatch.setattr(Evaluator, "uses_gpu", lambda self, batch: batch > 10)
    assert levels(HybridBackend()) == here
