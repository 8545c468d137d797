"""Completed squares are the same function, with a bound on the whole line."""

import numpy as np
import pytest

import infimum
from infimum.evaluation.compile import compile
from infimum.evaluation.evaluator import Evaluator
from infimum.expr.node import var
from infimum.structure.complete_squares import completed

INF = np.inf


def quadratic(x):
    return 3 * x[0] ** 2 - 0.7 * x[0] + 4 - x[1] ** 2 + np.exp(x[2]) - (x[1] - 2 * x[2] ** 2 - 9 * x[2])


def shifted(x):
    return 5 - (2 - x[0]) ** 2 / 1 + x[0] + 3 * (x[1] + 0.1) ** 2 - 2 * x[1]


@pytest.mark.parametrize("f", [quadratic, shifted, lambda x: x[0] + x[0] ** 2 + 2 * x[0] ** 2, lambda x: x[0] * x[1]])
def test_the_same_function(f):
    evaluator = compile(f, 3, constraints=lambda x: f(x) + x[2] <= 5)
    found = completed(evaluator.system, var("x", (3,)), {0, 1, 2})
    x = np.random.default_rng(3).normal(size=(3, 200)) * 4
    one, other = evaluator.rows(x, x), Evaluator(found.f, 3, None, None, found).rows(x, x)
    assert (one.lo <= other.hi).all() and (other.lo <= one.hi).all()
    assert np.allclose(one.lo, other.lo, rtol=1e-12, atol=1e-11)


def test_bounds_on_the_whole_line():
    evaluator = compile(lambda x: x[0] ** 2 - 16 * x[0] + 2 * x[1] ** 2 - 3 * x[1], 2,
                        constraints=lambda x: x[0] - x[0] ** 2 >= 0)
    assert evaluator.rows([-INF, -INF], [INF, INF]).lo[0] == -INF
    found = completed(evaluator.system, var("x", (2,)), {0, 1})
    rows = Evaluator(found.f, 2, None, None, found).rows([-INF, -INF], [INF, INF])
    assert -65.2 < rows.lo[0] <= -65.125 and 0.25 <= rows.hi[1] < 0.3
    assert completed(evaluator.system, var("x", (2,)), set()).key == evaluator.system.key


def test_unbounded_variables():
    r = infimum.minimize(lambda x: x[2], [(-INF, INF)] * 3, constraints=lambda x: [
        x[2] >= 5 * x[0] + x[1], x[2] >= x[1] - 5 * x[0], x[2] >= x[0] ** 2 + x[1] ** 2 + 4 * x[1]])
    assert r.verdict is infimum.Verdict.PROVED and r.lower <= -3 <= r.upper and len(r.constraints) == 3
    r = infimum.minimize(lambda x: x[2], [(-INF, INF)] * 3, constraints=lambda x: x[2] == x[0] ** 2 + x[1] ** 2 - 4 * x[0] - x[1])
    assert r.verdict is infimum.Verdict.PROVED and r.lower <= -4.25 <= r.upper
