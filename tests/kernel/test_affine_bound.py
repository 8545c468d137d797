"""Affine bounds: the enclosures that forms give, and the linear function below f, judged by Arb at points of the box."""

import itertools

import numpy as np
import pytest
from flint import arb, ctx

import infimum
from infimum.evaluation.programs import AFFINE
from infimum.kernel.region_cut import DISCARDED_AXIS, rows
from infimum.relax.affine_bound_kernel import is_recurrence
from infimum.trace.trace import trace
from tests.kernel.test_linear_bounds import BOXES, ROWS, Exact, boxes

N = 3


def euler(x, m):
    """Ten steps of two reversible reactions."""
    a, b = 1 + 0 * x[0], 0 * x[0]
    for _ in range(10):
        rate = x[0] * x[0] * a - m.exp(x[1]) * b
        a, b = a - 0.125 * rate - 0.0625 * a * a, b + 0.125 * (rate - x[2] * b)
    return (a - 0.5) * (a - 0.5) + b


FUNCTIONS = {**ROWS, "euler": euler}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_nothing_is_lost(name):
    """No point with f <= U is cut off, and no lower bound is above f."""
    fun, rng = FUNCTIONS[name], np.random.default_rng(3)
    evaluator, (lo, hi) = infimum.compile(lambda x: fun(x, np), N), boxes(rng)
    regions = np.concatenate([lo, hi, np.full((1, BOXES), -np.inf), np.zeros((1, BOXES)), np.full((1, BOXES), 3.0)])
    middle = evaluator.value(0.5 * lo + 0.5 * hi, 0.5 * lo + 0.5 * hi).hi
    upper = float(np.median(middle[np.isfinite(middle)]))
    left, _ = evaluator.run(AFFINE, [regions], parameters=np.array([upper, 1.0, 1.0, 1.0]))
    (lower_row, axis_row, _), said = rows(N), 0
    with ctx.workprec(2000):
        for k in range(BOXES):
            corners = list(itertools.product(*zip(lo[:, k].tolist(), hi[:, k].tolist(), strict=True)))
            inside = [np.clip(lo[:, k] + rng.random(N) * (hi[:, k] - lo[:, k]), lo[:, k], hi[:, k]).tolist() for _ in range(12)]
            said += np.isfinite(left[lower_row, k])
            for x in corners + inside:
                value = fun([arb(v) for v in x], Exact)
                if value.is_finite():
                    assert not value < arb(left[lower_row, k]) if np.isfinite(left[lower_row, k]) else True, (name, x)
                    if value <= arb(upper):
                        assert left[axis_row, k] != DISCARDED_AXIS, (name, x)
                        assert (left[:N, k] <= x).all() and (left[N:2 * N, k] >= x).all(), (name, x)
    assert said > BOXES // 2


def test_recurrences_are_known_by_their_structure():
    def decay(x):
        u = x[1]
        for _ in range(20):
            u = u - 0.1 * x[0] * u
        return (u - 1) ** 2
    assert is_recurrence(trace(decay, 2), 2)
    assert not is_recurrence(trace(lambda x: np.sum(np.sin(x) ** 2), 2), 2)
    assert not is_recurrence(trace(lambda x: decay(x) + np.sum(x), 9), 9)  # too many variables


def test_a_long_recurrence_stays_narrow():
    """Fifty steps of a decay: natural enclosures grow with each step, forms do not."""
    def decay(x):
        u = x[1]
        for _ in range(50):
            u = u - 0.1 * x[0] * u
        return u
    evaluator = infimum.compile(decay, 2)
    lo, hi = np.array([0.95, 1.0]), np.array([1.05, 1.0625])
    region = np.concatenate([lo, hi, [-np.inf, 0.0, 3.0]])[:, None]
    left, _ = evaluator.run(AFFINE, [region], parameters=np.array([np.inf, 1.0, 1.0]))
    least, natural = lo[1] * (1 - 0.1 * hi[0]) ** 50, float(evaluator.value(lo, hi).lo)
    lower = left[rows(2)[0], 0]
    assert natural < -1.0 and 0.9 * least < lower <= least
