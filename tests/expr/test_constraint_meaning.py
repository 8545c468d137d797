"""Random constraints in random forms: the points that a System admits are those at which NumPy finds all comparisons true."""

import operator

import numpy as np
import pytest
from evaluate_with_numpy import evaluate_all

from infimum import Constraint
from infimum.expr.node import const
from infimum.trace.constraint_reading import read_constraints

N = 8
COMPARE = {">=": operator.ge, "<=": operator.le, "==": operator.eq}
BODIES = [
    lambda x, a: x[0] * a + x[1], lambda x, a: a * x[1:] - x[:-1] ** 2, lambda x, a: np.sum(x.reshape(2, 4) * a, axis=0),
    lambda x, a: [a * x[i] + x[i + 1] ** 2 for i in range(7)], lambda x, a: np.sqrt(x[:3]) - a, lambda x, a: np.log2(x[0]) * a,
    lambda x, a: np.where(x[:4] > a, x[:4], x[4:]), lambda x, a: a, lambda x, a: x[:, None] * x[None, :] - a,
]


def points(rng: np.random.Generator) -> np.ndarray:
    """Small multiples of 1/4, so that ends are met exactly; roots and logarithms are undefined at some."""
    return rng.integers(-8, 9, (200, N)) / 4


def written(rng: np.random.Generator):
    """A constraint, and whether NumPy finds it true at a point."""
    body, a = BODIES[rng.integers(len(BODIES))], float(rng.integers(-4, 5)) / 2
    end, other = float(rng.integers(-4, 5)) / 2, float(rng.integers(0, 9)) / 2
    sign = list(COMPARE)[rng.integers(3)]
    compare = COMPARE[sign]
    form = rng.integers(7)
    values = lambda x: body(x, a) if not isinstance(body(x, a), list) else np.stack(body(x, a))  # noqa: E731
    if form == 0:
        return (lambda x: compare(values(x), end)), lambda x: compare(values(x), end)
    if form == 1:
        return (lambda x: compare(end, values(x))), lambda x: compare(end, values(x))
    if form == 2:
        return (lambda x: compare(values(x), x[0])), lambda x: compare(values(x), x[0])
    if form == 3:
        return Constraint(lambda x: body(x, a), end, end + other), lambda x: (values(x) >= end) & (values(x) <= end + other)
    if form == 4:
        return {"type": "ineq", "fun": lambda x: values(x) - end}, lambda x: values(x) - end >= 0
    if form == 5:
        return (lambda x: [compare(values(x), end), x[2] <= 1]), lambda x: np.all(compare(values(x), end)) & (x[2] <= 1)
    return (lambda x: np.all(compare(values(x), end)) & (x[1] >= -1)), lambda x: np.all(compare(values(x), end)) & (x[1] >= -1)


@pytest.mark.parametrize("seed", range(40))
def test_the_same_points_are_feasible(seed):
    rng = np.random.default_rng(seed)
    given, truths = zip(*(written(rng) for _ in range(rng.integers(1, 4))), strict=True)
    system = read_constraints(list(given), N).system(const(0.0))
    for x in points(rng):
        with np.errstate(all="ignore"):
            expected = all(np.all(truth(x)) for truth in truths)
            values = [] if system is None else np.concatenate([v.ravel() for v in evaluate_all(list(system.bodies), x)])
            admitted = system is None or bool(((values >= system.lower) & (values <= system.upper)).all())
        assert admitted == expected, x
