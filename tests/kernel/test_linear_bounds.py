"""Linear bounds lie nowhere above the expressions: judged by Arb at points of the box, its corners among them."""

import itertools

import numpy as np
import pytest
from flint import arb, ctx

from infimum.evaluation.programs import LINEAR_BOUNDS
from tests.engine.constrained.planted_systems import INF, evaluator_of

N, BOXES = 3, 60

ROWS = {
    "products": lambda x, m: x[0] * x[1] - x[1] * x[2] + x[0] ** 2,
    "exponential": lambda x, m: m.exp(x[0] - x[1]) * x[2],
    "quotient": lambda x, m: x[0] / (x[1] + 3) - m.sin(2 * x[2]),
    "edges": lambda x, m: m.log(x[0] + 2.5) * x[1] + m.sqrt(x[2] + 2),
    "bends": lambda x, m: m.tanh(x[0] + x[1]) - abs(x[2] - x[0]) + x[0] ** 3 * x[1] - x[2] ** 5,
    "angle": lambda x, m: 1 / (x[0] * x[0] + 1) + m.cos(x[1]) * m.arctan(x[2]),
    "pole": lambda x, m: x[0] / x[1] + 1 / (x[2] * x[2]),
    "large": lambda x, m: 1e200 * x[0] * x[1] - 1e-200 * x[2] ** 4,
}


class Exact:
    """The functions of Arb's numbers."""

    exp, log, sin, cos, sqrt, tanh, arctan = (
        staticmethod(lambda v, name=name: getattr(v, name)()) for name in ("exp", "log", "sin", "cos", "sqrt", "tanh", "atan"))


def boxes(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    centre, size = rng.uniform(-2, 2, (N, BOXES)), 4.0 * 2.0 ** -rng.integers(0, 40, BOXES)
    lo, hi = (np.clip(centre + side * size * rng.random((N, BOXES)), -2.0, 2.0) for side in (-1, 1))
    hi[:, ::7] = lo[:, ::7]
    lo[:, 1::9], hi[:, 1::9] = -2.0, 2.0
    return lo, hi


@pytest.mark.parametrize("name", ROWS)
def test_nowhere_above(name):
    row, rng = ROWS[name], np.random.default_rng(1)
    evaluator = evaluator_of(lambda x: row(x, np), [(lambda x: x[0], -INF, 1.0)], N)
    lo, hi = boxes(rng)
    slopes, constants = evaluator.run(LINEAR_BOUNDS, [lo, hi])
    slopes, finite = slopes.reshape(-1, N, BOXES), 0
    with ctx.workprec(2000):
        for k in range(BOXES):
            corners = list(itertools.product(*zip(lo[:, k].tolist(), hi[:, k].tolist(), strict=True)))
            inside = [np.clip(lo[:, k] + rng.random(N) * (hi[:, k] - lo[:, k]), lo[:, k], hi[:, k]).tolist() for _ in range(4)]
            for x in corners + inside:
                point = [arb(v) for v in x]
                value = row(point, Exact)
                if not value.is_finite():
                    continue
                for j, sign in enumerate((1, 1, -1, -1)):
                    if np.isfinite(constants[j, k]):
                        line = arb(constants[j, k]) + sum((arb(slopes[j, i, k]) * (point[i] - arb(lo[i, k])) for i in range(N)),
                                                          arb(0))
                        assert not sign * value < line, (name, x, sign)
                        finite += 1
    assert finite > 100


def test_what_cancels_cancels():
    """x y - x y is 0 along the lines, where intervals see two products."""
    evaluator = evaluator_of(lambda x: (x[0] * x[1] + x[2]) - x[0] * x[1], [(lambda x: x[0], -INF, 1.0)], N)
    slopes, constants = evaluator.run(LINEAR_BOUNDS, [np.full((N, 1), -1.0), np.ones((N, 1))])
    assert np.allclose(slopes[:N, 0], [0.0, 0.0, 1.0], atol=1e-12) and abs(constants[0, 0] + 1.0) < 1e-12
