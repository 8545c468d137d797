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


@pytest.mark.parametrize(("f", "n", "constraints", "names"), [
    (lambda x: x[0], 1, (), "x[0]"),
    (lambda x: x[0] + x[1] ** 2, 2, (), "x[0]"),
    (lambda x: x[1] + np.exp(x[0]), 2, lambda x: x[0] * x[1] >= 1, "x[1]"),
    (lambda x: x[0] * x[1], 2, (), "x[0], x[1]"),
    (lambda x: -np.log(1 + abs(x[1])), 2, (), "x[1]")])
def test_what_is_said_names_the_variables_to_blame(f, n, constraints, names):
    """No limit was reached, and those that the function does not fall with need no bounds."""
    r = infimum.minimize(f, [(-INF, INF)] * n, constraints=constraints, max_boxes=100_000)
    assert f"No lower bound was found: the bounds of {names} are infinite" in r.obstacle and "Give finite bounds" in r.obstacle
    assert f"{r.verdict.name}: no lower bound was found; the upper bound holds" in str(r) and "limit was reached" not in str(r)


def test_what_falls_at_infinity_is_no_pole():
    r = infimum.minimize(lambda x: -np.log(x[0]), [(1, INF)], max_boxes=50_000)
    assert "the bounds of x[0] are infinite" in r.obstacle and "approaches 0" not in r.obstacle
    r = infimum.minimize(lambda x: np.log(x[0]), [(0, INF)], max_boxes=5_000)
    assert "approaches 0" in r.obstacle


def test_the_largest():
    r = infimum.maximize(lambda x: x[0], [(0, INF)])
    assert r.upper == INF and r.lower > 1e70


@pytest.mark.parametrize("f", [lambda x: -1e90 * np.exp(-x[0] ** 2), lambda x: x[0] ** 4 - 1e50 * x[0] ** 2])
def test_low_values_with_a_bound_are_proved(f):
    r = infimum.minimize(f, [(-INF, INF)])
    assert r.verdict is infimum.Verdict.PROVED and r.upper < -1e80
