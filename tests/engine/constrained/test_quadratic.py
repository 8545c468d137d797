"""Bounds of quadratic problems over the whole box: true whatever numbers they are made of, and tight at a solution."""

from fractions import Fraction
from itertools import product as every

import numpy as np
import pytest

import infimum
from infimum.bounds.quadratics.constraint_products import ProductWeightSearch, Slacks, product
from infimum.bounds.quadratics.quadratic_lagrangian import QuadraticLagrangian
from infimum.bounds.quadratics.quadratic_proof import Multipliers, proved_lower_bound
from infimum.evaluation.evaluator import Evaluator
from infimum.result import Verdict
from infimum.structure.degree import degrees
from infimum.trace.constraint_reading import read_constraints
from infimum.trace.trace import trace

N = 4
MATRIX = np.array([[3.0, -5, 2, 1], [-5, -2, 4, 0], [2, 4, -6, 3], [1, 0, 3, 1]])
COSTS = np.array([1.0, -2, 0, 5])


def value(x):
    return x @ (MATRIX @ x) + np.sum(COSTS * x)


def limits(x):
    """Two linear inequalities of both directions, linear equations of which one says nothing new, and a disc."""
    return [np.sum(x) <= 6, x[0] - x[1] >= -2, x[2] + x[3] == 2, 2 * x[2] + 2 * x[3] == 4, np.sum(x * x) <= 12]


@pytest.fixture(scope="module")
def small() -> QuadraticLagrangian:
    """Of few variables: the number of them does not matter."""
    f = trace(value, N)
    system = read_constraints(limits, N).system(f)
    found = QuadraticLagrangian(Evaluator(system.f, N, system=system))
    assert found.applies and found.linear.tolist() == [True, True, True, True, False]
    return found


def least_on_grid(lo: np.ndarray, hi: np.ndarray) -> Fraction:
    """The least value at the feasible points whose coordinates are quarters, exactly."""
    sides = [[Fraction(k, 4) for k in range(int(4 * low), int(4 * high) + 1)] for low, high in zip(lo, hi, strict=True)]
    best = None
    for a, b, c in every(*sides[:3]):
        x = [a, b, c, 2 - c]
        if lo[3] <= x[3] <= hi[3] and sum(x) <= 6 and a - b >= -2 and sum(v * v for v in x) <= 12:
            f = sum(int(MATRIX[i, j]) * x[i] * x[j] for i in range(N) for j in range(N))
            f += sum(int(c) * v for c, v in zip(COSTS, x, strict=True))
            best = f if best is None or f < best else best
    return best


BOXES = [(np.zeros(N), np.full(N, 3.0)), (np.array([-1.0, 0, -2, 0]), np.array([1.0, 2, 2, 4])),
         (np.zeros(N), np.array([0.0, 2, 2, 2]))]


@pytest.mark.parametrize("box", range(len(BOXES)))
def test_bounds_are_true_whatever_the_multipliers_and_the_point(small, box):
    lo, hi = BOXES[box]
    least, rng, found = least_on_grid(lo, hi), np.random.default_rng(box), []
    for k in range(24):
        w = rng.normal(size=small.system.m) * 10.0 ** rng.integers(-3, 3) * (k > 0)
        found.append(small.bound(lo, hi, rng.uniform(lo - 1, hi + 1), w, 10.0 ** -rng.integers(0, 9)))
        assert found[-1] <= least, k
    assert max(found) > -np.inf
    assert small.bound(lo, hi, np.full(N, np.nan), np.zeros(small.system.m), 1e-3) == -np.inf
    assert small.bound(lo, np.full(N, np.inf), hi, np.zeros(small.system.m), 1e-3) == -np.inf
    assert small.bound(lo, hi, hi, np.full(small.system.m, np.inf), 1e-3) <= least


def test_weights_that_are_negative_or_lopsided_prove_nothing_false(small):
    lo, hi = BOXES[0]
    least, rng, m = least_on_grid(lo, hi), np.random.default_rng(7), small.system.m
    rows, count, some = np.flatnonzero(small.linear & ~small.system.equal), np.count_nonzero(small.linear & small.system.equal), 0
    for k in range(60):
        x, size = rng.uniform(lo, hi), 10.0 ** rng.integers(-2, 3)
        w, added = rng.normal(size=m), size * rng.uniform(1, 20, N)
        given = Multipliers(w if k % 4 == 0 else small._usable(w), size * rng.normal(size=(2 * N + len(rows),) * 2), rows,
                            size * rng.normal(size=(count, N)), added - 10 * size if k % 4 == 1 else added)
        with np.errstate(all="ignore"):
            read = small._read(x)
            found = proved_lower_bound(small.system, read, lo, hi, x, given)
            worse = proved_lower_bound(small.system, read, lo, hi, x, given._replace(added=np.full(N, np.nan)))
        assert found <= least, k
        assert worse == -np.inf
        some += found > -np.inf
    assert some > 20


def simplex(n: int, seed: int):
    """A matrix of small integers, and the quadratic function that it makes."""
    matrix = np.random.default_rng(seed).integers(-9, 10, (n, n)).astype(float)
    return matrix + matrix.T, lambda x: x @ ((matrix + matrix.T) @ x)


@pytest.mark.parametrize("rtol", [1e-3, 1e-7])
def test_a_dense_indefinite_function_on_a_simplex_is_proved_without_a_cut(rtol):
    n = 14
    matrix, f = simplex(n, 3)
    r = infimum.minimize(f, [(0, 1)] * n, constraints=lambda x: np.sum(x) == 1, rtol=rtol, seed=0, progress=False)
    assert r.verdict is Verdict.PROVED and r.nit == 0
    points = np.random.default_rng(0).dirichlet(np.full(n, 0.2), 20_000)
    assert r.lower <= min(np.einsum("ki,ij,kj->k", points, matrix, points).min(), np.diag(matrix).min())


def planted(n: int, seed: int):
    """Minimise over a cube cut by a hyperplane, with a vertex v that is the minimiser: slopes there point into the cube, and are
    as large as what any curvature can take back."""
    rng = np.random.default_rng(seed)
    matrix = rng.integers(-4, 5, (n, n)).astype(float)
    matrix, v = matrix + matrix.T, rng.integers(0, 2, n).astype(float)
    slope = np.where(v > 0, -1.0, 1.0) * (2 * np.abs(matrix).sum(axis=1) + 1)
    return lambda x: (x - v) @ (matrix @ (x - v)) + np.sum(slope * (x - v)), v


@pytest.mark.parametrize("integrality", [0, 1])
def test_planted_minimisers_are_found_and_proved(integrality):
    for seed in range(3):
        f, v = planted(8, seed)
        r = infimum.minimize(f, [(0, 1)] * 8, constraints=lambda x, v=v: np.sum(x) <= np.sum(v) + 0.5,
                             integrality=[integrality] * 8, rtol=1e-6, atol=1e-6, seed=0, progress=False)
        assert r.verdict is Verdict.PROVED and r.lower <= 0.0 <= r.upper, seed
        assert r.upper - r.lower <= 1e-6


def test_weights_obey_what_is_asked_of_them():
    rng = np.random.default_rng(5)
    n = 6
    curvature = rng.normal(size=(n, n))
    curvature = curvature + curvature.T
    values = np.concatenate([np.zeros(n), np.ones(n), [0.0, 0.3]])
    multipliers = np.concatenate([rng.uniform(0.5, 2, n), np.zeros(n), [1.0, 0.0]])
    slacks = Slacks(rng.normal(size=(2, n)), values, multipliers, np.ones(2 * n + 2, bool))
    across = np.full((n, 1), 1 / np.sqrt(n))
    search = ProductWeightSearch(curvature, slacks, across)
    v, delta = search.run(1e-9)
    assert (v >= 0).all() and (v == v.T).all()
    assert ((v * values).sum(axis=1) <= multipliers + 1e-12)[multipliers > 0].all()
    gradients = np.concatenate([np.eye(n), -np.eye(n), slacks.rows])
    along = np.eye(n) - across @ across.T
    matrix = along @ (curvature - gradients.T @ v @ gradients) @ along + (1 + abs(delta)) * across @ across.T
    assert np.linalg.eigvalsh(matrix).min() > -delta - 1e-8
    assert delta < -np.linalg.eigvalsh(along @ curvature @ along).min()  # better than without products


def test_products_are_added_in_their_order():
    rng = np.random.default_rng(0)
    for rows, inner, columns in ((3, 5, 4), (30, 7, 20), (2, 0, 3)):
        a, b = rng.normal(size=(rows, inner)), rng.normal(size=(inner, columns))
        expected = np.zeros((rows, columns))
        for i, j, k in every(range(rows), range(columns), range(inner)):
            expected[i, j] += a[i, k] * b[k, j]
        assert (product(a, b) == expected).all()


def test_degrees_are_those_of_polynomials_only():
    def rows(x):
        return np.stack([x[0] * x[1], x[0] / 3 - x[2], x[0] * x[1] * x[2], x[0] / x[1], x[0] ** -1, np.abs(x[2]), x[1] ** 2 + 1,
                         np.prod(x[:2]), np.sin(x[0])])

    found, = degrees([trace(lambda x: np.sum(rows(x)), 3)])
    assert found > 2
    found = [int(degrees([trace(lambda x, k=k: rows(x)[k], 3)])[0]) for k in range(9)]
    assert [min(degree, 3) for degree in found] == [2, 1, 3, 3, 3, 3, 2, 2, 3]


def test_other_systems_are_left_alone():
    n = 8
    for f, applies in ((lambda x: x @ x - x[0] * x[1], True), (lambda x: x @ x + np.exp(x[0]), False)):
        system = read_constraints(lambda x: [np.sum(x) <= 1, x[0] * x[1] <= 2], n).system(trace(f, n))
        found = QuadraticLagrangian(Evaluator(system.f, n, system=system))
        assert found.applies is applies
    system = read_constraints(lambda x: [np.sum(x) <= 1, x[0] * x[1] <= 2], n).system(trace(lambda x: np.sum(x), n))
    assert QuadraticLagrangian(Evaluator(system.f, n, system=system)).linear.tolist() == [True, False]
