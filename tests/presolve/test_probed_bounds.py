"""Bounds by trying values of whole variables: they hold all feasible points, by enumeration, and more than propagation tells."""

import itertools

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from infimum import minimize
from infimum.bounds.propagation import propagate
from infimum.expr.rewriting_switches import without
from infimum.presolve.presolve_stack import Formulation
from infimum.presolve.probed_bounds import ProbedBounds
from infimum.problem.problem import Problem
from tests.engine.constrained.planted_systems import evaluator_of

INF = np.inf


def applied(rows, bounds, integers):
    asked = Formulation(Problem.read(sum, bounds), evaluator_of(lambda x: x[0], rows, len(bounds), integers))
    return asked, ProbedBounds(), ProbedBounds().apply(asked)


def test_all_feasible_points_are_kept():
    rng, found = np.random.default_rng(3), 0
    for _ in range(12):
        n, rows = 4, []
        for _ in range(3):
            a, square = rng.integers(-4, 5, n).astype(float), float(rng.integers(-1, 2))
            end = float(rng.integers(-2, 6))
            rows.append((lambda x, a=a, square=square: np.sum(a * x) + square * x[0] * x[1], *((-INF, end), (end, end + 1))
                         [int(rng.integers(0, 2))]))
        asked, _, inner = applied(rows, [(0, 1)] * 2 + [(-1, 3), (0, 2)], (0, 1, 2))
        if inner is None:
            continue
        found += 1
        lo, hi = inner.problem.region
        grid = itertools.product((0, 1), (0, 1), range(-1, 4), np.arange(0, 2.01, 0.25))
        for x in map(np.array, grid):
            if all(low <= row(x) <= high for row, low, high in rows):
                assert (lo <= x).all() and (x <= hi).all()
        assert (lo[3], hi[3]) == (0, 2)  # of real variables only the search narrows the bounds
    assert found > 1


def test_more_than_propagation():
    """x_0 + x_1 >= 1, x_0 + (1 - x_1) >= 1: x_0 = 0 has no x_1, which one row alone does not tell."""
    rows = [(lambda x: x[0] + x[1], 1, INF), (lambda x: x[0] - x[1], 0, INF), (lambda x: x[2] - 3 * x[0], -INF, 2)]
    asked, _, inner = applied(rows, [(0, 1), (0, 1), (0, 9)], (0, 1, 2))
    assert propagate(asked.evaluator, *asked.problem.region)[0][0] == 0 and inner.problem.lo[0] == 1
    assert applied(rows, [(0, 1)] * 3, ())[2] is None
    assert applied([(lambda x: x[0] + x[1], 5, INF)], [(0, 1), (0, 1), (0, 9)], (0, 1))[2] is None  # the search says so


@pytest.mark.parametrize("off", [(), ("probed bounds",)])
def test_runs_with_and_without(off):
    rows = [lambda x: x[0] + x[1] >= 1, lambda x: x[0] >= x[1], lambda x: x[2] >= x[1] - 0.5]
    with without(*off):
        r = minimize(lambda x: x[0] + x[2], [(0, 1), (0, 1), (0, 9)], constraints=rows, integrality=[1, 1, 0])
    assert r.lower <= 1.0 <= r.upper + 1e-9 and any("trying values" in said for said in r.presolve) == (off == ())


def _next(number: int, side: float, steps: int) -> int:
    for _ in range(steps):
        number = int(np.nextafter(float(number), side * INF))
    return number


@settings(max_examples=40, deadline=None)
@given(power=st.integers(51, 56), begin=st.integers(-6, 6), steps=st.integers(1, 3), part=st.floats(0, 1),
       sign=st.sampled_from([1, -1]))
@example(power=53, begin=1, steps=2, part=0.25, sign=1)
@example(power=53, begin=1, steps=2, part=0.75, sign=-1)
@example(power=54, begin=-1, steps=1, part=0.5, sign=1)
def test_whole_numbers_that_are_no_doubles_are_kept(power, begin, steps, part, sign):
    """y is 5 at one whole number x alone, which need be no double, and at most 0 at all others."""
    low = _next(2**power, np.sign(begin), abs(begin))
    high = _next(low, 1, steps)
    kept = low + round(part * (high - low))
    ends, kept = sorted((sign * low, sign * high)), sign * kept
    rows = [(lambda x: x[1] + 5 * (x[0] - float(ends[0]) - float(kept - ends[0])) ** 2, -INF, 5)]
    _, _, inner = applied(rows, [tuple(map(float, ends)), (-9, 5)], (0, 1))
    if inner is not None:
        lo, hi = inner.problem.region
        assert int(lo[0]) <= kept <= int(hi[0]) and hi[1] == 5
