"""Tangents of outer functions: L + D is f where nothing is left out, and L is never above f where something is."""

from fractions import Fraction

import numpy as np
import pytest

from infimum.expr.build import substituted
from infimum.expr.node import const, topological, var
from infimum.expr.point_value import enclose_at_point
from infimum.structure.outer_tangents import tangents
from infimum.trace.trace import trace

T = np.linspace(0, 1, 5)


def joined(f, n: int):
    return tangents(trace(f, n, ()), var("x", (n,)))


CONVEX = {
    "squares of residuals": lambda x: np.sum((x[0] * np.exp(-x[1] * T) - T) ** 2),
    "weights": lambda x: np.sum(np.array([1.0, 2.0, 0.0, 3.0, 0.5]) * (x[0] * np.cos(x[1] * T) - T) ** 2) / 5,
    "a mean": lambda x: np.mean((x[0] * x[1] - T) ** 2) + 2 * (x[0] - 1) ** 2,
    "other convex functions": lambda x: np.exp(x[0] * x[1]) + np.cosh(x[0] - x[1]) + (x[0] - x[1] ** 2) ** 4,
    "an exponential less 1": lambda x: np.expm1(x[0] * x[1]) + x[0],
    "a norm's square": lambda x: np.sum((x - x[::-1] ** 2) ** 2) + x[0],
    "a norm": lambda x: np.linalg.norm(x[0] * np.exp(x[1] * T) - T) / 3 + (x[0] * x[1]) ** 2,
    "norms of rows": lambda x: np.sum(np.linalg.norm(np.stack([x[0] * T - x[1], x[0] * x[1] + T]), axis=0)),
    "what is subtracted twice": lambda x: -(3 - (x[0] * x[1] - 1) ** 2) - np.sin(x[0] * x[1]) * x[1],
}
PIECES = {
    "a pair": lambda x: (x[0] ** 2 + x[1] ** 2 + 1) ** -6 - (x[0] ** 2 + x[1] ** 2 + 1) ** -3,
    "pairs in an array": lambda x: np.sum((x[0] - T) ** 2 * np.exp(-x[1]) - np.exp(-((x[0] * x[1] - T) ** 2))),
    "concave": lambda x: 4.0 - (x[0] * x[1] - 1) ** 2,
    "weights of both signs": lambda x: np.sum(np.array([1.0, -2.0, 0.0, 3.0, 0.5]) * (x[0] * x[1] - T) ** 2),
}


def value(f, x: np.ndarray, y: np.ndarray) -> tuple[Fraction, Fraction]:
    """Ends of an enclosure of an expression in x and y."""
    lo, hi = enclose_at_point(substituted(f, {var("y", y.shape): const(y)}), x)
    return Fraction(lo), Fraction(hi)


@pytest.mark.parametrize("name", [*CONVEX, *PIECES])
def test_both_parts_are_the_function_or_below_it(name):
    f = trace((CONVEX | PIECES)[name], 2, ())
    found, rng = joined((CONVEX | PIECES)[name], 2), np.random.default_rng(len(name))
    assert (found.above is None) == (name in CONVEX) == (not found.pieces)
    for x, y in rng.uniform(-2, 2, (30, 2, 2)):
        (low, high), (lower, upper) = value(f, x, y), value(found.value, x, y)
        if found.above is not None:
            more = value(found.above, x, y)
            lower, upper = lower + more[0], upper + more[1]
            assert lower <= high and low <= upper
        else:
            assert lower <= high


@pytest.mark.parametrize("name", [*CONVEX, *PIECES])
def test_at_the_point_itself_it_is_the_function(name):
    f, found = trace((CONVEX | PIECES)[name], 2, ()), joined((CONVEX | PIECES)[name], 2)
    for x in np.random.default_rng(1).uniform(-2, 2, (10, 2)):
        (low, high), (lower, upper) = value(f, x, x), value(found.value, x, x)
        assert lower <= high and low <= upper


@pytest.mark.parametrize("f", [
    lambda x: x[0] ** 2 + np.cos(3 * x[1]),                     # variables alone: nothing is gained
    lambda x: x[0] * x[1] + np.sin(x[0] + x[1] * x[0]) * x[1],  # no terms of one quantity
    lambda x: np.abs(x[0] * x[1]) + np.where(x[0] * x[1] > 0, x[0] * x[1], 0.0),  # kinks and jumps
])
def test_functions_without_such_terms(f):
    assert joined(f, 2) is None


def test_long_functions_are_left_alone():
    def f(x):
        total = 0.0
        for k in range(600):
            total = total + (x[0] * x[1] - k) ** 2
        return total
    assert joined(f, 2) is None


def test_kinks_stay_inside():
    """|e| is no smooth outer function: the term stays as it is, and others beside it do not."""
    found = joined(lambda x: np.abs(x[0] * x[1] - 1) + (x[0] * x[1] - 1) ** 2 + (x[0] + x[1]) ** 2, 2)
    assert found is not None and any(node.op == "abs" for node in topological([found.value]))
