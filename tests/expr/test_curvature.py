"""Formulas that are said to be convex are so: along segments, in the variables and in their logarithms."""

import numpy as np
import pytest
from scipy.special import loggamma

from infimum.evaluation.compile import compile as compiled
from infimum.expr.build import build
from infimum.expr.node import const, var
from infimum.structure.curvature import CONCAVE, CONVEX, LINEAR, curvatures

NEITHER = 0
POSITIVE = np.array([0.25, 0.5, 1.0]), np.array([2.0, 3.0, 4.0])
MIXED = np.array([-2.0, -1.0, 0.5]), np.array([1.0, 3.0, 2.0])
NEGATIVE = np.array([-2.0, -3.0, -4.0]), np.array([-0.25, -0.5, -1.0])
A = np.array([[1.0, -2.0, 0.5], [0.0, 3.0, -1.0]])

# formula, box, what is to be known in the variables, and in their logarithms
TABLE = [
    (lambda x: x[0] - 2 * x[1] + 3, MIXED, LINEAR, NEITHER),
    (lambda x: x[0] + 2 * x[1] + 3, POSITIVE, LINEAR, CONVEX),
    (lambda x: -x[0] - 2 * x[1], POSITIVE, LINEAR, CONCAVE),
    (lambda x: x[0] * x[1] / x[2] ** 2, POSITIVE, NEITHER, CONVEX),
    (lambda x: np.log(x[0] * x[1] / x[2] ** 2), POSITIVE, NEITHER, LINEAR),
    (lambda x: 3 * x[0] ** 0.5 / x[1] + x[2] ** -0.3 * x[0], POSITIVE, NEITHER, CONVEX),
    (lambda x: 2 - x[0] * x[1] - 4 / x[2], POSITIVE, NEITHER, CONCAVE),
    (lambda x: (x[0] + x[1]) ** 3 * (x[1] + 1 / x[2]) / x[0], POSITIVE, NEITHER, CONVEX),
    (lambda x: np.maximum(x[0] * x[1], x[2]) + np.exp(x[0] / x[1]), POSITIVE, NEITHER, CONVEX),
    (lambda x: 1 / (20 - x[0] * x[1]), POSITIVE, NEITHER, NEITHER),
    (lambda x: x[0] * x[1] - x[2], POSITIVE, NEITHER, NEITHER),
    (lambda x: x[0] ** 2 + (x[1] - x[2]) ** 4, MIXED, CONVEX, NEITHER),
    (lambda x: x[0] ** 3, POSITIVE, CONVEX, CONVEX),
    (lambda x: x[0] ** 3, NEGATIVE, CONCAVE, NEITHER),
    (lambda x: x[0] ** 3, MIXED, NEITHER, NEITHER),
    (lambda x: (x[0] ** 2 + 1) ** 2, MIXED, CONVEX, NEITHER),
    (lambda x: (x[0] ** 2 - 1) ** 2, MIXED, NEITHER, NEITHER),
    (lambda x: (x[0] - 3) ** 2 + x[1] * 0, NEGATIVE, CONVEX, NEITHER),
    (lambda x: 1 / x[0], POSITIVE, CONVEX, CONVEX),
    (lambda x: 1 / x[0], NEGATIVE, CONCAVE, NEITHER),
    (lambda x: -2 / x[1] ** 2, NEGATIVE, CONCAVE, NEITHER),
    (lambda x: np.sqrt(x[0]) + np.log(x[1]), POSITIVE, CONCAVE, CONVEX),
    (lambda x: np.exp(x[0] - x[1]) - np.sqrt(x[2] + 1), MIXED, CONVEX, NEITHER),
    (lambda x: np.exp(-x[0]), POSITIVE, CONVEX, NEITHER),
    (lambda x: np.exp(x[0] ** 2) * np.exp(x[1]), MIXED, CONVEX, NEITHER),
    (lambda x: np.exp(np.sqrt(x[0])), POSITIVE, NEITHER, CONVEX),
    (lambda x: np.abs(x[0] - x[1]) + np.linalg.norm(x), MIXED, CONVEX, NEITHER),
    (lambda x: np.max(A @ x) - np.min(A @ x), MIXED, CONVEX, NEITHER),
    (lambda x: np.min(x**2), MIXED, NEITHER, NEITHER),
    (lambda x: np.sum(np.array([1.0, 2.0, -1.0]) * x**2), MIXED, NEITHER, NEITHER),
    (lambda x: np.sum(np.array([1.0, 2.0, 0.0]) * x**2), MIXED, CONVEX, NEITHER),
    (lambda x: np.prod(x), POSITIVE, NEITHER, CONVEX),
    (lambda x: np.prod(x), MIXED, NEITHER, NEITHER),
    (lambda x: np.hypot(x[0], x[1] - 1), MIXED, CONVEX, NEITHER),
    (lambda x: np.sqrt((x[0] - x[1]) ** 2 + 2 * x[2] ** 4 / 3 + 3), MIXED, CONVEX, NEITHER),
    (lambda x: np.sqrt((x[0] - x[1]) ** 2 + x[2]), MIXED, NEITHER, NEITHER),
    (lambda x: np.sqrt((x[0] ** 2 - 1) ** 2 + 1), MIXED, NEITHER, NEITHER),
    (lambda x: np.logaddexp(x[0], 2 * x[1]), MIXED, CONVEX, NEITHER),
    (lambda x: np.sin(x[0]) + x[1], MIXED, NEITHER, NEITHER),
    (lambda x: np.where(x[0] > 0, x[0], 0), MIXED, NEITHER, NEITHER),
    (lambda x: np.cbrt(x[0]), NEGATIVE, CONVEX, NEITHER),
    (lambda x: np.cbrt(x[0]), MIXED, NEITHER, NEITHER),
    (lambda x: 2.0 ** (x[0] - x[1]), MIXED, NEITHER, NEITHER),
    (lambda x: np.abs(x[1]) ** 1.5, POSITIVE, CONVEX, CONVEX),
    (lambda x: np.cosh(x[0]) + np.log1p(x[2]), POSITIVE, NEITHER, NEITHER),
    (lambda x: loggamma(x[0] + 2 * x[1]), POSITIVE, CONVEX, NEITHER),
    (lambda x: loggamma(x[0] * x[1]), POSITIVE, NEITHER, NEITHER),
    (lambda x: np.arccosh(2 + np.sqrt(x[0])) - np.expm1(x[1] - x[2]), POSITIVE, CONCAVE, NEITHER),
    (lambda x: np.cumsum(np.stack([x[0] * x[1], 1.0]))[1], MIXED, NEITHER, NEITHER),  # the last argument alone is constant
    (lambda x: np.cumprod(np.stack([x[0], x[1], 2.0]))[::-1][0], POSITIVE, NEITHER, NEITHER),
    (lambda x: np.convolve(x, x)[1], POSITIVE, NEITHER, NEITHER),
]


@pytest.mark.parametrize(("f", "box", "plain", "in_logarithms"), TABLE)
def test_what_is_known_of_a_formula(f, box, plain, in_logarithms):
    expr = compiled(f, 3).f
    found = [curvatures((expr,), *box, logs)[0].item() for logs in (False, True) if not logs or (box[0] > 0).all()]
    assert found == [plain, in_logarithms][:len(found)]


def test_powers_by_their_exponents():
    """A whole number, whose power is defined for negative bases too, others, and one that may be whole: as defined, of x >= 0."""
    x = var("x", (3,))
    exponents = const(np.array([3.0, 2.0, 3.0]), np.array([3.0, 2.0, np.nextafter(3.0, 4.0)]))
    found = {name: curvatures((build("pow", x, exponents),), *box)[0].tolist() for name, box in
             (("mixed", MIXED), ("negative", NEGATIVE), ("positive", POSITIVE))}
    assert found == {"mixed": [NEITHER, CONVEX, CONVEX], "negative": [CONCAVE, CONVEX, CONVEX], "positive": [CONVEX] * 3}


def _random(rng, depth, x):
    """A random formula of positive variables."""
    if depth == 0:
        return x[int(rng.integers(3))] if rng.random() < 0.8 else float(rng.choice([0.5, 1.0, -1.5, 2.0])) + 0 * x[0]
    kind, one = int(rng.integers(12)), _random(rng, depth - 1, x)
    if kind < 6:
        other = _random(rng, depth - 1, x)
        return (np.add, np.subtract, np.multiply, np.divide, np.maximum, np.minimum)[kind](one, other)
    return (np.square, np.reciprocal, np.negative, np.exp, np.log, np.sqrt)[kind - 6](one)


@pytest.mark.parametrize("logs", [False, True])
def test_random_formulas_curve_as_they_are_said_to(logs):
    lo, hi = POSITIVE
    rng, told = np.random.default_rng(5), 0
    forward, back = (np.log, np.exp) if logs else (lambda v: v, lambda v: v)
    one, two = (rng.uniform(forward(lo)[:, None], forward(hi)[:, None], (3, 60)) for _ in range(2))
    for seed in range(400):
        def f(x, seed=seed):
            return _random(np.random.default_rng(seed), 1 + seed % 4, x) + 0 * x[0]
        with np.errstate(all="ignore"):
            ends, middle = [f(back(p)) for p in (one, two)], f(back((one + two) / 2))
        if not all(np.isfinite(v).all() for v in (*ends, middle)) or max(np.abs(v).max() for v in (*ends, middle)) > 1e12:
            continue
        curve = curvatures((compiled(f, 3).f,), lo, hi, logs)[0].item()
        told += curve != NEITHER
        above, slack = (ends[0] + ends[1]) / 2 - middle, 1e-9 * (1 + np.abs(middle) + np.abs(ends[0]) + np.abs(ends[1]))
        assert not curve & CONVEX or (above >= -slack).all(), seed
        assert not curve & CONCAVE or (above <= slack).all(), seed
    assert told > 60
