"""Functions without a lower bound: the run ends, and says so."""

import numpy as np
import pytest

import infimum

INF = np.inf


@pytest.mark.parametrize(("f", "n", "constraints"), [
    (lambda x: -x[0], 1, ()),
    (lambda x: x[0] * x[1], 2, ()),
    (lambda x: -x[0] ** 2 + x[1] ** 4, 2, ()),
    (lambda x: -x[0], 2, lambda x: x[1] >= x[0]),
    (lambda x: x[0] * x[1], 2, lambda x: x[0] + x[1] == 1),
    (lambda x: x[2], 3, lambda x: x[2] == x[0] * x[1]),
])
def test_values_that_fall_and_fall(f, n, constraints):
    r = infimum.minimize(f, [(-INF, INF)] * n, constraints=constraints, max_boxes=3_000_000)
    assert r.verdict in (infimum.Verdict.STOPPED, infimum.Verdict.UNDECIDED) and r.lower == -INF and r.upper < -1e70
    assert "can tell, " in r.message and "infimum is -infinity" in r.message and "Give finite bounds" in r.obstacle
    assert r.nit < 100


def test_the_largest():
    r = infimum.maximize(lambda x: x[0], [(0, INF)])
    assert r.upper == INF and r.lower > 1e70


@pytest.mark.parametrize("f", [lambda x: -1e90 * np.exp(-x[0] ** 2), lambda x: x[0] ** 4 - 1e50 * x[0] ** 2])
def test_low_values_with_a_bound_are_proved(f):
    r = infimum.minimize(f, [(-INF, INF)])
    assert r.verdict is infimum.Verdict.PROVED and r.upper < -1e80
