"""Rough and calm parts: their sum is the function, and the calm part is Lipschitz."""

import numpy as np
import pytest

import infimum
from infimum.expr.build import build
from infimum.expr.node import topological
from infimum.structure.lipschitz_split import lipschitz_parts
from tests.expr.evaluate_with_numpy import evaluate

N = 4
SPLIT = {
    "a sum": lambda x: np.sqrt(np.abs(x[0])) + x[1] ** 2,
    "happy cat": lambda x: ((np.sum(x**2) - 4) ** 2) ** 0.125 + (0.5 * np.sum(x**2) + np.sum(x)) / 4 + 0.5,
    "differences": lambda x: x[0] - (np.floor(x[1]) - np.sin(x[2])) - np.abs(x[3]),
    "in a sum": lambda x: np.sum(np.sqrt(np.abs(x)) - 2 * x**2),
    "scaled": lambda x: 3 * (np.cbrt(x[0]) + x[1]) / 7 + -(x[2] - x[3] ** 0.5),
    "poles": lambda x: 1 / x[0] + x[1] * x[0] + np.log(x[2]) * x[3],
}
WHOLE = {"calm": lambda x: np.sum(np.abs(x)) * x[0], "rough": lambda x: np.sqrt(np.abs(x[0])) * x[1],
         "a constant beside": lambda x: np.sqrt(np.abs(x[0])) + 3}


@pytest.mark.parametrize("name", SPLIT)
def test_the_parts_add_up(name):
    f = infimum.compile(SPLIT[name], N).f
    rough, calm = lipschitz_parts(f)
    assert not {n.op for n in topological([calm])} & {"sqrt", "cbrt", "pow", "floor", "log"}
    x = np.random.default_rng(0).uniform(0.1, 3, (20, N))
    for point in x:
        np.testing.assert_allclose(evaluate(build("add", rough, calm), {"x": point}), evaluate(f, {"x": point}), rtol=1e-13)


@pytest.mark.parametrize("name", WHOLE)
def test_what_is_not_split(name):
    assert lipschitz_parts(infimum.compile(WHOLE[name], N).f) is None
