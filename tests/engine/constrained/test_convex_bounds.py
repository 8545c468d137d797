"""Finite bounds in the place of infinite ones (`bounds/infinite_ends/convex_bounds.py`): nothing of the set is lost, and what is
unbounded stays unbounded."""

import time
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from infimum import Constraint, Verdict, minimize
from infimum.bounds.infinite_ends.convex_bounds import with_convex_bounds
from infimum.relax.convex_quadratics import squares_of
from infimum.relax.dense_simplex import solved
from tests.engine.constrained_systems import Case

FREE = -np.inf, np.inf
seeds = st.integers(0, 10**6)


def quadratic(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    """A positive definite matrix of small whole numbers, and its minimum."""
    root = rng.integers(-2, 3, (n, n)) + 9 * np.eye(n)
    return root.T @ root, rng.integers(-5, 6, n).astype(float)


def expanded(matrix: np.ndarray, centre: np.ndarray):
    """The quadratic function as a sum of products of single variables."""
    n = len(centre)

    def f(x):
        pairs = sum(matrix[i, j] * x[i] * x[j] for i in range(n) for j in range(n))
        return pairs - 2 * sum(float(v) * x[i] for i, v in enumerate(matrix @ centre))
    return f


@settings(deadline=None, max_examples=15)
@given(seed=seeds, n=st.integers(1, 4))
def test_a_sublevel_set_of_a_quadratic_function_lies_within(seed, n):
    """Its extents are known: those of an ellipsoid."""
    rng = np.random.default_rng(seed)
    matrix, centre = quadratic(rng, n)
    least, x = -float(centre @ matrix @ centre), centre + rng.normal(size=n)
    upper = least + float((x - centre) @ matrix @ (x - centre))
    evaluator = Case(expanded(matrix, centre), [], [FREE] * n).evaluator()
    lo, hi = with_convex_bounds(evaluator, np.full(n, -np.inf), np.full(n, np.inf), x, upper)
    extent = np.sqrt((upper - least) * np.diag(np.linalg.inv(matrix)))
    assert np.isfinite([lo, hi]).all()
    assert (lo <= centre - extent * (1 - 1e-9)).all() and (hi >= centre + extent * (1 - 1e-9)).all()
    assert (hi - lo <= 1e3 * (1 + extent)).all()


@settings(deadline=None, max_examples=25)
@given(seed=seeds, n=st.integers(1, 4), m=st.integers(1, 7))
def test_linear_constraints(seed, n, m):
    """Against linear programs in plain doubles: bounded where those are, and not narrower."""
    rng = np.random.default_rng(seed)
    rows, x = rng.integers(-3, 4, (m, n)).astype(float), rng.integers(-3, 4, n).astype(float)
    ends = rows @ x + rng.integers(0, 3, m)
    each = [(lambda x, row=row: np.sum(row * x), -np.inf, end) for row, end in zip(rows, ends, strict=True)]
    evaluator = Case(lambda x: np.sin(x[0]), each, [FREE] * n).evaluator()
    lo, hi = with_convex_bounds(evaluator, np.full(n, -np.inf), np.full(n, np.inf), x, np.inf)
    for i in range(n):
        for sign, end in ((1.0, lo[i]), (-1.0, -hi[i])):
            found = linprog(sign * np.eye(n)[i], A_ub=rows, b_ub=ends, bounds=[FREE] * n)
            assert not (found.status == 3 and np.isfinite(end)), "a bound of what has none"
            assert found.status != 0 or end <= found.fun + 1e-6


@pytest.mark.parametrize(("f", "truth"), [
    (lambda x: x[0]**2 + x[1]**2 + x[0] * x[1] - 3 * x[0], -3.0),
    (lambda x: np.exp(x[0] + x[1]) + np.exp(-x[0]) + np.exp(-x[1]), 3.0),
    (lambda x: (x[0] - x[1])**2 + np.abs(x[0] + 2 * x[1] - 3), 0.0),
])
def test_convex_functions_without_bounds(f, truth):
    r = minimize(f, [FREE] * 2, time_limit=20)
    assert r.verdict is Verdict.PROVED and r.lower <= truth + 1e-9 and r.upper >= truth - 1e-9


def test_a_set_without_bounds_keeps_its_minimisers():
    r = minimize(lambda x: (x[0] + x[1])**2, [FREE] * 2, constraints=[Constraint(lambda x: x[0] - x[1], lb=1)], time_limit=20)
    far = np.array([1e6, -1e6])
    assert r.verdict is Verdict.PROVED
    assert any((np.array(lo) <= far).all() and (far <= np.array(hi)).all() for lo, hi in r.boxes)


@pytest.mark.parametrize("constraint", [
    Constraint(lambda x: (x[0]**2 - 4)**1.5, ub=1),              # convex where it is defined, on two parts
    Constraint(lambda x: np.sqrt(x[0]**2 - 4), ub=1),
    Constraint(lambda x: 1 / (x[0]**2 - 4), lb=0, ub=1e9),
    Constraint(lambda x: np.log(x[0]**2 - 4), ub=0),
    Constraint(lambda x: x[0]**2, lb=4, ub=5),
])
def test_sets_of_two_parts_are_kept_whole(constraint):
    """From a point of the one part nothing follows for the other one, in which the minimum is."""
    r = minimize(lambda x: x[0] + 0 * x[1], [FREE, (0, 1)], constraints=[constraint], x0=[2.1, 0.5], time_limit=2)
    assert r.lower <= -2.0


@pytest.mark.parametrize("least", [0, Fraction(1, 10**30)])
def test_a_domain_that_ends_at_a_bound(least):
    """1 / x is not defined at an end of x, which is no feasible point."""
    r = minimize(lambda x: x[0] + x[1]**2 + x[0] * 1e-3, [(least, np.inf), FREE],
                 constraints=[Constraint(lambda x: x[1] - 1 / x[0], lb=0)], time_limit=20)
    assert r.verdict is Verdict.PROVED and abs(r.upper - 1.8908) < 1e-2


def test_whole_numbers_and_products():
    """A portfolio of whole lots: the second derivatives of the objective are proved to be positive definite."""
    rng = np.random.default_rng(3)
    matrix, _ = quadratic(rng, 3)
    goal = minimize(expanded(matrix, np.array([1.4, -2.6, 0.3])), [(-9, 9)] * 3, integrality=[1] * 3, time_limit=20)
    free = minimize(expanded(matrix, np.array([1.4, -2.6, 0.3])), [(-9e5, 9e5)] * 3, integrality=[1] * 3, time_limit=20)
    assert goal.verdict is free.verdict is Verdict.PROVED
    assert abs(goal.upper - free.upper) <= 1e-6


@settings(max_examples=200, deadline=None)
@given(seed=seeds, n=st.integers(0, 6), rank=st.integers(0, 6), spoiled=st.booleans())
def test_semidefinite_matrices(seed, n, rank, spoiled):
    """Sums of squares are; with a direction of negative curvature they are not."""
    rng = np.random.default_rng(seed)
    root = rng.integers(-3, 4, (rank, n))
    matrix = root.T @ root
    if spoiled:
        v = rng.integers(-2, 3, n)
        matrix = matrix - (int(v @ matrix @ v) // max(1, int(v @ v)**2) + 1) * np.outer(v, v)
        spoiled = bool(v.any())
    matrix = np.vectorize(Fraction, otypes=[object])(matrix.astype(int).astype(object)) / 7
    squares = squares_of(matrix)
    assert (squares is None) is spoiled
    if squares is not None:
        lines = [np.array([Fraction(0)] * s.at + [Fraction(1)] + s.factors, object) for s in squares]
        found = sum((s.weight * np.multiply.outer(line, line) for s, line in zip(squares, lines, strict=True)), 0 * matrix)
        assert (found == matrix).all()


@settings(max_examples=60, deadline=None)
@given(seed=seeds, n=st.integers(1, 12), m=st.integers(0, 16))
def test_the_simplex_method_against_another_one(seed, n, m):
    rng = np.random.default_rng(seed)
    matrix, right, cost = rng.normal(size=(m, n)) * (rng.random((m, n)) < 0.5), rng.normal(size=m) + 1, rng.normal(size=n)
    end = solved(cost, matrix, right, 2000)
    other = linprog(cost, A_ub=matrix if m else None, b_ub=right if m else None, bounds=[(0, 1)] * n)
    weighed = end.multipliers @ matrix
    if other.status == 2:
        assert end.no_point and np.minimum(weighed, 0).sum() > end.multipliers @ right
    else:
        assert np.minimum(cost + weighed, 0).sum() - end.multipliers @ right == pytest.approx(other.fun, abs=1e-6)
        assert cost @ end.point == pytest.approx(other.fun, abs=1e-6)


@pytest.mark.parametrize("row", [lambda x: 100 - x[0] - 1e-12 * np.log(x[0]), lambda x: 100 - x[0] + 1e-12 / x[0],
                                 lambda x: 100 - x[0] - 1e-12 * np.sqrt(x[0] - 1e-9)])
def test_a_point_at_the_edge_of_the_domain_proves_nothing(row):
    """Where a row is not defined at the point that the box is put around, the set need not come near that point."""
    evaluator = Case(lambda x: np.sin(x[1]), [(row, -np.inf, 0.0)], [(0, np.inf), (0, 1)]).evaluator()
    lo, hi = with_convex_bounds(evaluator, np.zeros(2), np.array([np.inf, 1.0]), np.zeros(2), np.inf)
    assert (lo <= [101, 0]).all() and (hi >= [101, 1]).all()


def test_second_derivatives_of_very_different_sizes_take_no_time():
    rng = np.random.default_rng(0)
    scale = 10.0**rng.uniform(-30, 30, 48)
    root = rng.normal(size=(48, 48))
    matrix = np.vectorize(Fraction, otypes=[object])((root.T @ root) * np.outer(scale, scale))
    begin = time.process_time()
    squares_of(matrix)
    assert time.process_time() - begin < 2.0
