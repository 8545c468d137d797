"""Quadratic rows as sums of squares (`relax/completed_forms.py`): the same polynomial, and better bounds of it."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from infimum import Constraint, Verdict, minimize
from infimum.evaluation.evaluator import Evaluator
from infimum.expr.node import var
from infimum.problem.system import System
from infimum.relax.completed_forms import with_completed_forms
from infimum.trace.trace import trace


def completed(f, n: int, box: tuple[float, float] = (-9.0, 9.0), integers: tuple[int, ...] = ()) -> tuple[System, System]:
    system = System(trace(f, n), (), np.empty(0), np.empty(0), integers)
    return system, with_completed_forms(system, var("x", (n,)), np.full(n, box[0]), np.full(n, box[1]))


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(1, 5), rank=st.integers(1, 5), sign=st.sampled_from([1, -1]))
def test_the_same_polynomial(seed, n, rank, sign):
    """Enclosures at points hold the exact values, and those of boxes the least value."""
    rng = np.random.default_rng(seed)
    root, g, c = rng.integers(-4, 5, (rank, n)) / 8, rng.integers(-9, 10, n) / 4, float(rng.integers(-3, 4))
    matrix = sign * root.T @ root

    def f(x):
        return sum(matrix[i, j] * x[i] * x[j] for i in range(n) for j in range(n)) + sum(g[i] * x[i] for i in range(n)) + c
    before, after = completed(f, n)
    points = rng.normal(size=(n, 8)) * 10.0**rng.integers(-2, 3)
    found = Evaluator(after.f, n).value(points, points)
    for k, point in enumerate(points.T):
        x = [Fraction(float(v)) for v in point]
        exact = (sum(Fraction(float(matrix[i, j])) * x[i] * x[j] for i in range(n) for j in range(n))
                 + sum(Fraction(float(g[i])) * x[i] for i in range(n)) + Fraction(c))
        assert found.lo[k] <= exact <= found.hi[k]
        assert found.hi[k] - found.lo[k] <= 1e-9 * (1 + np.abs(point).max())**2
    if after is not before and n <= rank and sign > 0 and np.linalg.matrix_rank(root) == n:
        middle = -np.linalg.solve(matrix, g) / 2
        least, side = c + g @ middle / 2, 10 * np.abs(middle).max() + 1e3
        wide = Evaluator(after.f, n).value(np.full(n, -side), np.full(n, side))
        assert wide.lo <= least + 1e-6 * (1 + abs(least))
        assert wide.lo >= least - 1e-6 * (1 + abs(least))


@pytest.mark.parametrize("f", [
    lambda x: x[0] * x[1],                                    # indefinite
    lambda x: (x[0] - x[1])**2 + x[0],                        # its formula tells that it is convex
    lambda x: x[0]**2 + x[1]**2 + 3 * x[0],                   # no product of two variables
    lambda x: x[0]**2 + x[0] * x[1] + x[1]**2 + np.sin(x[0]),
    lambda x: x[0]**3 + x[0] * x[1],
])
def test_what_stays_as_it_is(f):
    before, after = completed(f, 2)
    assert after is before


def test_products_of_binary_variables_stay():
    def f(x):
        return 2 * x[0]**2 + x[0] * x[1] + 2 * x[1]**2
    kept, same = completed(f, 2, (0, 1), (0, 1))
    before, after = completed(f, 2, (0, 2), (0, 1))
    assert same is kept and after is not before


def test_whole_numbers_of_a_convex_form():
    """Against enumeration."""
    rng = np.random.default_rng(5)
    root = rng.normal(size=(4, 4))
    matrix, centre = np.round(root.T @ root, 3), rng.normal(size=4) * 3

    def f(x):
        return sum(matrix[i, j] * (x[i] - centre[i]) * (x[j] - centre[j]) for i in range(4) for j in range(4))
    grid = np.stack(np.meshgrid(*[np.arange(-6, 7)] * 4, indexing="ij")).reshape(4, -1)
    grid = grid[:, grid.sum(axis=0) >= 2]
    away = grid - centre[:, None]
    truth = ((matrix @ away) * away).sum(axis=0).min()
    r = minimize(f, [(-6, 6)] * 4, integrality=[1] * 4, constraints=[Constraint(lambda x: np.sum(x), lb=2)], time_limit=30)
    assert r.verdict is Verdict.PROVED and r.lower - 1e-9 <= truth <= r.upper + 1e-9
