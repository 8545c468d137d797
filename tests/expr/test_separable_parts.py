"""Residuals with their linear parameters apart: what the parts say together is what the residuals are."""

import numpy as np
import pytest

from infimum.expr.node import Expr, topological, var
from infimum.structure.function_families import VARIABLE
from infimum.structure.separable_residuals import residual_vector, separable, sum_of_squares
from infimum.trace.trace import trace
from tests.expr.evaluate_with_numpy import evaluate

T = np.linspace(1.0, 3.0, 6)


def smear(u):
    return np.convolve(u * np.ones(5), [1.0, 1.0])


MODELS = {  # (model, n, products)
    "decays": (lambda b: b[0] * np.exp(-b[1] * T) + b[2] * np.exp(-b[3] * T) + b[4], 5, [(0,), (2,), (4,)]),
    "periods": (lambda b: b[0] * np.cos(T / b[1]) - b[2] * np.cos(T / b[3]), 4, [(0,), (2,)]),
    "products": (lambda b: b[0] * (T + b[1]) / (T**2 + b[2]), 3, [(0,), (0, 1)]),
    "quotient": (lambda b: (b[0] + b[1] * T) / (1 + b[2] * T), 3, [(0,), (1,)]),
    "sign": (lambda b: -(T - b[0]) * 3 - np.log(b[1]), 2, [(0,)]),
    "laid end to end": (lambda b: np.concatenate([b[0] * np.exp(-b[1] * T[:3]), b[2] + b[0] * T[3:]]), 3, [(0,), (2,)]),
    "chosen": (lambda b: np.where(T > 2, b[0] * T, b[1] * np.exp(-b[2] * T)), 3, [(0,), (1,)]),
    "gathered": (lambda b: b[0] * np.exp(-b[1] * T)[[5, 0, 0, 2, 1, 3]] + b[2] * T[::-1], 3, [(0,), (2,)]),
    "smeared": (lambda b: np.convolve(b[0] * np.exp(-b[1] * T[:5]) + 1 / (b[1] + T[:5]), [0.5, 0.5]), 2, [(0,)]),
    "sums below": (lambda b: b[0] * np.cos(T / smear(b[1])) + b[2] * np.cos(T / smear(b[3])), 4, [(0,), (2,)]),
    "another length below": (lambda b: b[0] * T + (1 / (b[1] + T[:3]))[[0, 0, 1, 1, 2, 2]], 2, [(0,)]),
}


@pytest.mark.parametrize("name", MODELS)
def test_the_parts_make_the_residuals(name):
    model, n, products = MODELS[name]
    x, f = var("x", (n,)), trace(lambda b: np.sum((model(b) - T**2) ** 2), n, ())
    parts = separable(residual_vector(f), x)
    assert list(parts.products) == products and parts == sum_of_squares(f, x)
    assert sorted({*parts.nonlinear, *(i for product in products for i in product)}) == list(range(n))
    for point in np.random.default_rng(n).uniform(0.5, 2.0, (5, n)):
        functions = [evaluate(function, point) for function in parts.functions]
        total = evaluate(parts.rest, point)
        for (data, k), product in zip(parts.columns, parts.products, strict=True):
            total = total + (1.0 if data is None else evaluate(data, point)) * functions[k] * np.prod(point[list(product)])
        assert np.allclose(total, model(point) - T**2, rtol=1e-12, atol=1e-12)
        if parts.multiplied:
            denominator, *others = (evaluate(node, point) for node in parts.multiplied)
            for v, other in zip((evaluate(parts.rest, point), *functions), others, strict=True):
                assert np.allclose(v * denominator, other, rtol=1e-12, atol=1e-12)
        for family in parts.families:
            for place, variable in family.members:
                u = 1 / point[variable] if family.inverse else point[variable]
                assert np.allclose(along(family.derivatives[0], u), functions[place], rtol=1e-12)
                rise = (along(family.derivatives[0], u + 1e-6) - along(family.derivatives[0], u - 1e-6)) / 2e-6
                assert np.allclose(rise, along(family.derivatives[1], u), rtol=1e-6, atol=1e-6)


def along(function: Expr, u: float) -> np.ndarray:
    """A function of one variable."""
    shapes = [node.shape for node in topological([function]) if node.op == "var"]
    return evaluate(function, {VARIABLE: np.full(*shapes, u)})


@pytest.mark.parametrize("f", (lambda x: np.sum(x**2), lambda x: np.sum((x * T[:2]) ** 2), lambda x: np.sum(np.exp(x[0] * T)),
                               lambda x: np.sum((x[0] * T) ** 2), lambda x: np.sum(np.cumsum(x[0] * T + x[1]) ** 2)))
def test_what_has_no_such_parts(f):
    """Variables read all at once, no squares, a variable that is not there, running sums."""
    assert sum_of_squares(trace(f, 2, ()), var("x", (2,))) is None


def test_nothing_linear():
    parts = sum_of_squares(trace(lambda b: np.sum((np.exp(-b[0] * T) / (b[1] + T)) ** 2), 2, ()), var("x", (2,)))
    assert parts.nonlinear == (0, 1) and parts.columns == parts.products == parts.functions == ()
