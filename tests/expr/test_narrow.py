"""Narrowed branches: the same function, NaN included; and which quantities are narrowed."""

import numpy as np
import pytest

import infimum
from infimum.expr.node import topological
from infimum.structure.narrow_branches import narrowed
from tests.expr.evaluate_with_numpy import evaluate

N = 4


def norm(x):
    return np.sqrt(np.sum(x**2))


NARROWED = {  # and how many bounds come in
    "a ball": (lambda x: np.where(norm(x) < 1, norm(x) ** 3 - 2 * norm(x), x[0]), 1),
    "both branches": (lambda x: np.where(x[0] < 0.5, np.exp(x[0]), np.sqrt(x[0] + 1)), 2),
    "the constant on the left": (lambda x: np.where(x[0] >= 0.25, np.sqrt(x[0]), x[0] ** 2), 2),
    "and": (lambda x: np.where((x[0] > 0) & (x[0] <= 1), np.log(x[0]) + x[0], x[1]), 2),
    "or": (lambda x: np.where((x[0] < 0) | (x[0] > 1), x[1], np.arcsin(x[0])), 2),
    "not": (lambda x: np.where(~(x[0] < 0), np.sqrt(x[0]), x[1]), 1),
    "not of or": (lambda x: np.where(~((x[0] < -1) | (x[1] > 1)), x[0] * x[1], x[2]), 2),
    "nested": (lambda x: np.where(x[0] < 1, np.where(x[0] > -1, np.sin(x[0]), x[1]), x[2]), 2),
    "element by element": (lambda x: np.sum(np.where(x > 0, np.sqrt(x), x**2)), 2),
    "one number in arrays": (lambda x: np.sum(np.where(norm(x) < 1, x * norm(x), x)), 1),
    "below a sum": (lambda x: np.where(x[0] < 0.5, np.sum(x[1:] * x[0]), 0.0), 1),
    "undefined": (lambda x: np.where(np.log(x[0]) < 0.5, x[1], np.where(np.log(x[0]) < 1, x[2], x[3])), 1),
    "undefined in the branch": (lambda x: np.where(np.sqrt(x[0]) <= 1, np.sqrt(x[0]), np.sqrt(x[0]) - 1), 2),
    "a pole": (lambda x: np.where(1 / x[0] < 2, np.exp(1 / x[0]), 1 / x[0]), 2),
}
AS_IT_IS = {
    "no choice": lambda x: np.sum(x**2),
    "other quantities": lambda x: np.where(x[0] < 0, x[1], x[2]),
    "other positions": lambda x: np.sum(np.where(x < 0, x[::-1] ** 2, np.sum(np.exp(x)))),
    "a bound that may be undefined": lambda x: np.where(x[0] < np.sqrt(x[1]), x[0], x[0] ** 2),
    "equality": lambda x: np.where(x[0] == 1, x[0], x[0] ** 2),
    "either of two": lambda x: np.where((x[0] < 0) | (x[1] < 0), x[0] * x[1], x[2]),
}


def bounds_in(f) -> int:
    return sum(node.op in ("min", "max") for node in topological([f]))


def points() -> np.ndarray:
    special = np.array(np.meshgrid(*[[-1.0, 0.0, 0.25, 0.5, 1.0, np.e]] * 2)).reshape(2, -1).T
    return np.concatenate([np.tile(special, 2), np.random.default_rng(0).uniform(-2, 2, (200, N))])


@pytest.mark.parametrize("name", [*NARROWED, *AS_IT_IS])
def test_it_is_the_same_function(name):
    f = infimum.compile(NARROWED[name][0] if name in NARROWED else AS_IT_IS[name], N).f
    new = narrowed(f)
    for x in points():
        np.testing.assert_array_equal(evaluate(new, x), evaluate(f, x))


@pytest.mark.parametrize("name", NARROWED)
def test_what_is_narrowed(name):
    f, count = NARROWED[name]
    assert bounds_in(narrowed(infimum.compile(f, N).f)) == count


@pytest.mark.parametrize("name", AS_IT_IS)
def test_what_is_not(name):
    f = infimum.compile(AS_IT_IS[name], N).f
    assert narrowed(f) is f


@pytest.mark.parametrize("count", (12, 40, 1000))
def test_choices_that_follow_one_another_do_not_double(count):
    def f(x):
        y = x[0]
        for i in range(count):
            y = np.where(x[0] < i, np.sin(y + x[0]), np.cos(y * x[0]))
        return y
    f = infimum.compile(f, 1).f
    assert narrowed(f) is f


def test_choices_that_follow_one_another_are_narrowed_by_what_each_compares():
    def f(x):
        y = x[0]
        for _ in range(40):
            y = np.where(y < 1, np.exp(y) - 1, np.sqrt(y))
        return y
    f = infimum.compile(f, 1).f
    assert bounds_in(narrowed(f)) == 80
