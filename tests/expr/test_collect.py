"""Collecting recurrences: the same function, written so that a state is read once in a step."""

import numpy as np
import pytest

from infimum.expr.node import topological
from infimum.structure.collect_recurrences import collected
from infimum.trace.trace import trace
from tests.expr.evaluate_with_numpy import evaluate


def growth(x):
    u = x[2]
    for _ in range(5):
        u = u + 0.1 * x[0] * u * (1 - u / x[1])
    return u


def reactions(x):
    a, b = 1.0, 0.0
    for _ in range(4):
        rate = x[0] * a
        a, b = a - 0.25 * rate + 0.5 * x[1] * b - 0.125 * a**2, b + 0.25 * rate - (0.5 * x[1] + x[2] ** 2) * b / 3
    return (a - b) ** 2


def arrays(x):
    u = np.array([1.0, 2.0, 3.0]) * x
    for _ in range(3):
        u = u - 0.5 * (u * x[0] - u**3 * x) + x
    return np.sum(u)


RECURRENCES = {"growth": growth, "reactions": reactions, "arrays": arrays}


@pytest.mark.parametrize("name", RECURRENCES)
def test_the_same_function(name):
    f = trace(RECURRENCES[name], 3)
    g = collected(f)
    assert g is not f and g.shape == f.shape
    for x in np.random.default_rng(0).uniform(0.5, 2.0, (20, 3)):
        assert evaluate(g, x) == pytest.approx(evaluate(f, x), rel=1e-12)


def test_a_state_is_read_once():
    """u + h q u is u (1 + h q): one product, whose factors are the state and what does not hold it."""
    f = collected(trace(lambda x: x[0] + 0.5 * (x[1] - x[2] * x[0]), 3))
    products = [node for node in topological([f]) if node.op == "mul" and not any(a.op == "const" for a in node.args)]
    assert len(products) == 1


@pytest.mark.parametrize("fun", [lambda x: x[0] * x[1] + x[2], lambda x: x[0] ** 2 - x[0] + x[1], lambda x: np.sum(x**2),
                                 lambda x: x[0] + 3.0 * x[0] + np.sin(x[1]), lambda x: x[0] * x[1] + x[0] * x[2]])
def test_nothing_to_collect(fun):
    f = trace(fun, 3)
    assert collected(f) is f
