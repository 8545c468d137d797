"""Bounds of variables from the growth of polynomials (`bounds/growth_bounds.py`), and entropies near 0."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from infimum import Constraint, Verdict, minimize
from infimum.bounds.growth_bounds import with_growth_bounds
from tests.engine.constrained_systems import Case


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6), degree=st.integers(1, 5), sign=st.sampled_from([1, -1]))
def test_roots_lie_within(seed, degree, sign):
    """Of a polynomial equation in x0 whose coefficients depend on x1: its real roots, for several x1."""
    rng = np.random.default_rng(seed)
    c, d = rng.integers(-5, 6, degree + 1).astype(float), rng.integers(-2, 3, degree + 1).astype(float)

    def row(x):
        return sum((c[k] + d[k] * x[1]) * x[0]**k for k in range(degree + 1))
    lo, hi = np.array([-np.inf, -1.0]), np.array([np.inf, 2.0])
    system = Case(lambda x: x[0], [(row, 0.0, 0.0)], list(zip(lo, hi, strict=True))).evaluator().system
    low, high = with_growth_bounds(system, lo, hi, np.inf)
    for y in np.linspace(-1, 2, 13):
        roots = np.roots((c + d * y)[::-1]) if np.abs(c + d * y).max() > 0 else np.array([1e9])
        real = roots[np.abs(roots.imag) < 1e-9].real
        assert (real >= low[0] - 1e-6 * np.abs(real)).all() and (real <= high[0] + 1e-6 * np.abs(real)).all()


def test_what_has_no_bound_gets_none():
    cases = [(lambda x: x[0] * x[1], 1.0, 1.0), (lambda x: x[0]**3 + x[0]**2 * x[1]**3, -np.inf, 4.0),
             (lambda x: np.sin(x[0]) + x[0]**2, 0.0, 4.0)]
    for case in cases:
        system = Case(lambda x: x[0], [case], [(-np.inf, np.inf), (-np.inf, np.inf)]).evaluator().system
        low, high = with_growth_bounds(system, np.full(2, -np.inf), np.full(2, np.inf), np.inf)
        assert np.isinf([low, high]).all()


def test_an_equation_of_state():
    """A cubic equation whose coefficients depend on bounded variables: its unknown has no bounds."""
    r = minimize(lambda x: x[0] - np.log(x[0] - x[1]), [(0, np.inf), (0.1, 0.4)], time_limit=20,
                 constraints=[Constraint(lambda x: x[0]**3 - x[0]**2 + (0.5 - x[1]) * x[0] - 0.2 * x[1], 0, 0)])
    grid = np.linspace(0.1, 0.4, 4001)
    values = [x.real - np.log(x.real - y) for y in grid for x in np.roots([1, -1, 0.5 - y, -0.2 * y])
              if abs(x.imag) < 1e-12 and x.real > y]
    assert r.verdict is Verdict.PROVED and r.lower <= min(values) + 1e-9 and r.upper >= min(values) - 1e-3


@pytest.mark.parametrize("f", [
    lambda x: np.sum(x * np.log(x)),
    lambda x: x[0] * np.log(x[0] / (x[0] + x[1])) + x[1] * np.log(x[1] / (x[0] + x[1])),
    lambda x: 2 * x[0] * np.log(x[0]) + np.log(x[1]) * x[1],
])
def test_entropies_are_bounded_near_0(f):
    r = minimize(f, [(0, 1)] * 2, constraints=[Constraint(lambda x: x[0] + x[1], 1, 1)], time_limit=20)
    x = np.linspace(1e-9, 1 - 1e-9, 100001)
    best = min(f(np.array([a, 1 - a])) for a in x[::50])
    assert r.verdict is Verdict.PROVED and r.lower <= best and r.upper >= best - 1e-4


def test_a_minimum_that_is_not_attained_at_the_edge():
    """x log x is not defined at 0: values approach the infimum, and no point at 0 is claimed."""
    r = minimize(lambda x: x[0] - x[0] * np.log(x[0]) + x[1]**2, [(0, 0.3), (-1, 1)],
                 constraints=[Constraint(lambda x: x[0] + x[1], lb=-2)], time_limit=10)
    assert r.lower <= 0 and r.x is not None and r.x[0] > 0 and r.upper > 0
