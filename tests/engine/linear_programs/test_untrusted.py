"""Whatever a solver says, what is concluded holds."""

import numpy as np
import pytest

import infimum
from infimum.backend import highs
from tests.solvers_of_linear_programs import ANSWERS, liar

SIDES = [(0, 1)] * 2 + [(0, 100), (-3, 2)]
POOL = [lambda x: x[0] + x[1] == 1, lambda x: x[2] * x[0] + x[3] <= 40]


def cost(x):
    """Least at x = (1/5, 4/5, ...) or a corner: what it is, the run without linear programs says."""
    return (3 * x[0] + x[1] - 2) * x[2] + np.exp(x[3] * x[0]) + x[3] ** 2


@pytest.fixture(scope="module")
def known():
    return infimum.minimize(cost, SIDES, constraints=POOL, rtol=1e-9, progress=False)


@pytest.mark.parametrize("name", ANSWERS)
def test_bounds_hold(name, known, monkeypatch):
    monkeypatch.setattr(highs, "Highs", liar(name))
    r = infimum.minimize(cost, SIDES, constraints=POOL, rtol=1e-4, progress=False, options={"lp": True}, max_boxes=150_000)
    assert r.verdict.name in ("PROVED", "STOPPED")
    assert r.lower <= known.upper and r.upper >= known.lower
    if name in ("nan", "infinite", "failed", "wrong shape"):
        assert r.lp["failed"] > 0, r.lp
    if name in ("limited", "unknown status"):
        assert r.lp["limited"] > 0, r.lp


@pytest.mark.parametrize("name", ANSWERS)
def test_no_feasible_problem_is_called_infeasible(name, monkeypatch):
    monkeypatch.setattr(highs, "Highs", liar(name))
    r = infimum.feasible([(0, 4)] * 2, [lambda x: x[0] * x[1] == 5.5, lambda x: x[0] + x[1] <= 5], options={"lp": True},
                         progress=False, max_boxes=100_000)
    assert r.verdict.name in ("PROVED", "STOPPED")
