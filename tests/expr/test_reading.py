"""Which variables an expression reads: all that its value depends on, and not many more."""

import numpy as np
import pytest

from infimum.expr.node import var
from infimum.expr.variable_reads import reads
from infimum.trace.trace import trace

X = [
    (lambda x: x[0] * x[2], {0, 2}),
    (lambda x: np.floor(x[1]) + 0 * x[3], {1, 3}),
    (lambda x: np.sum(x[1:] - x[:-1]), {0, 1, 2, 3, 4, 5}),
    (lambda x: (x[1:] - x[:-1])[2], {2, 3}),
    (lambda x: x[::-1][0] + np.cumsum(x[1:3])[1], {1, 2, 5}),
    (lambda x: x.reshape(2, 3).T[2, 1] + np.where(x[0] > 0, x[1], 2.0), {0, 1, 5}),
    (lambda x: np.max(x[np.array([1, 4])]), {1, 4}),
    (lambda x: np.concatenate([x[3:], x[:3]])[0], {3}),
    (lambda x: np.sum(np.outer(x[:2], x[2:4])[0]), {0, 2, 3}),
]


@pytest.mark.parametrize(("f", "expected"), X)
def test_what_is_read(f, expected):
    x = var("x", (6,))
    table = reads([trace(f, 6, ())], x)
    assert table.shape == (1, 6) and set(np.flatnonzero(table[0]).tolist()) == expected


@pytest.mark.parametrize(("f", "expected"), X)
def test_nothing_that_matters_is_missing(f, expected):
    """The value does not change with any other variable."""
    rng = np.random.default_rng(0)
    others = [i for i in range(6) if i not in expected]
    for _ in range(20):
        p = rng.normal(size=6)
        q = p.copy()
        q[others] = rng.normal(size=len(others))
        assert f(p) == f(q)
