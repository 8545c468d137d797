"""Slopes: f(x) - f(c) = Σ s_i (x_i - c_i), by identities where there are any, else at a point between."""

import numpy as np
import pytest

from infimum.expr.node import var
from infimum.expr.slope_expressions import SlopeExpressions
from infimum.trace.trace import trace
from tests.expr.evaluate_with_numpy import evaluate

IDENTITIES = [
    lambda x: x[0] ** 2 + 3 * x[1] * x[2],
    lambda x: x[0] * x[1] * x[2] - x[0] ** 3 + x[1] ** 4 - x[2] ** 5 + x[0] ** 6 + x[1] ** 7,
    lambda x: x[0] / (1 + x[1] ** 2) + 1 / (2 + x[2] ** 2) ** 2 - (3 + x[0] ** 2) ** -3,
    lambda x: np.sqrt(4 + x[0] * x[1]) * x[2] + np.sqrt(np.sum(x**2) + 1),
    lambda x: np.sum(np.cumsum(x) ** 2) + np.sum(x[::-1] * x) - np.sum(np.outer(x, x[1:])),
    lambda x: (2.0 - x[0]) / 4.0 - 5 * x[1],
]
OTHERS = [
    lambda x: np.exp(x[0] * x[1]) * x[2] ** 2 + x[0] * np.sin(x[1]) + np.abs(x[2] - x[0]),
    lambda x: np.sum(np.exp(x) * x) + np.maximum(x[0], x[1]) ** 2,
    lambda x: np.log(2 + x[0] ** 2) * np.log(2 + x[1] ** 2) * x[2] + np.prod(x),
]


@pytest.mark.parametrize("f", IDENTITIES)
def test_identities(f):
    x, rng = var("x", (3,)), np.random.default_rng(0)
    slopes = SlopeExpressions(trace(f, 3, ()), x)
    assert not slopes.between and slopes.value.shape == (3,)
    for _ in range(20):
        p, c = rng.uniform(-1, 1, (2, 3))
        s = evaluate(slopes.value, {"x": p, "c": c})
        assert np.sum(s * (p - c)) == pytest.approx(f(p) - f(c), rel=1e-12, abs=1e-13)


@pytest.mark.parametrize("f", OTHERS)
def test_between(f):
    """With all points in one place the slopes are the derivatives; points between are variables of their own."""
    x, rng, h = var("x", (3,)), np.random.default_rng(0), 1e-6
    slopes = SlopeExpressions(trace(f, 3, ()), x)
    assert len(slopes.between) == len(set(slopes.between)) > 1
    for _ in range(5):
        p = rng.uniform(-1, 1, 3)
        s = evaluate(slopes.value, {"x": p, "c": p} | dict.fromkeys(slopes.between, p))
        differences = [(f(p + h * e) - f(p - h * e)) / (2 * h) for e in np.eye(3)]
        assert s == pytest.approx(differences, rel=1e-6, abs=1e-8)


def test_they_are_half_as_wide():
    """The slopes of x² from 0 to 1 end at 1, its derivatives at 2."""
    slopes = SlopeExpressions(trace(lambda x: x[0] ** 2, 1, ()), var("x", (1,)))
    assert evaluate(slopes.value, {"x": np.ones(1), "c": np.zeros(1)}) == 1.0
