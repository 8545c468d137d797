"""Files that a modelling system wrote, with functions written here once more."""

from pathlib import Path

import numpy as np
import pytest

from infimum.ampl import read
from infimum.ampl.model_run import solve

MODELS = Path(__file__).parent / "models"
INF = np.inf


@pytest.mark.parametrize("name", ["six_hump_camel", "six_hump_camel_binary"])
def test_six_hump_camel(name):
    model = read(MODELS / name)
    assert model.lo.tolist() == [-3, -2] and model.hi.tolist() == [3, 2] and model.m == 0
    assert model.names == (("x", "y") if name == "six_hump_camel" else None) and model.x0.tolist() == [0, 0.5]
    for x in np.random.default_rng(0).uniform(model.lo, model.hi, (5, 2)):
        x, y = x.tolist()
        wanted = 4 * x**2 - 2.1 * x**4 + x**6 / 3 + x * y - 4 * y**2 + 4 * y**4
        assert model.fun(np.array([x, y])) == pytest.approx(wanted, rel=1e-13, abs=1e-13)
    result, solution = solve(model)
    assert solution.code == 0 and result.lower == pytest.approx(-1.0316284534898774, abs=1e-6)
    assert result.lower <= -1.03162845348 and result.upper >= -1.03162845349


def test_haverly():
    """The pooling problem, with a switch that is 0 or 1."""
    model = read(MODELS / "haverly.nl")
    assert sorted(model.names) == ["A", "B", "Cx", "Cy", "Px", "Py", "p", "use"]
    assert [model.names[i] for i in np.flatnonzero(model.integrality)] == ["use"]
    at = dict(zip(model.names, np.random.default_rng(1).uniform(model.lo, model.hi).tolist(), strict=True))
    x = np.array([at[name] for name in model.names])
    A, B, Cx, Cy, Px, Py, p, use = (at[name] for name in ("A", "B", "Cx", "Cy", "Px", "Py", "p", "use"))
    assert model.fun(x) == pytest.approx(6 * A + 16 * B + 10 * (Cx + Cy) - 9 * (Px + Cx) - 15 * (Py + Cy), rel=1e-13)
    wanted = {"pool": (Px + Py - A - B, 0, 0), "sulphur": (p * (Px + Py) - 3 * A - B, 0, 0),
              "first": (p * Px + 2 * Cx - 2.5 * (Px + Cx), -INF, 0), "second": (p * Py + 2 * Cy - 1.5 * (Py + Cy), -INF, 0),
              "demandx": (Px + Cx, -INF, 100), "demandy": (Py + Cy, -INF, 200), "switch": (Cx + Cy - 300 * use, -INF, 0)}
    found = {}
    for constraint, rows in zip(model.constraints, model.rows, strict=True):
        for row, *said in zip(rows, constraint.fun(x), constraint.lb, constraint.ub, strict=True):
            found[model.constraint_names[row]] = tuple(said)
    assert found.keys() == wanted.keys()
    for name in wanted:
        assert found[name] == pytest.approx(wanted[name], rel=1e-12, abs=1e-10)
    assert {model.constraint_names[row] for row in model.rows[0]} == {"pool", "demandx", "demandy", "switch"}  # the linear ones
