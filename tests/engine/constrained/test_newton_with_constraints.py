"""`engine="newton"` with constraints."""

import numpy as np
import pytest

import infimum
from infimum.errors import OptionError
from tests.engine.constrained_systems import CASES


@pytest.mark.parametrize("name", ["disc", "hs14", "hs40", "g06", "g11", "disconnected", "integers"])
def test_known_minima(name):
    case = CASES[name]
    rows = [infimum.Constraint(g, low, high) for g, low, high in case.rows]
    whole = [int(i in case.integers) for i in range(len(case.bounds))]
    r = infimum.minimize(case.f, case.bounds, constraints=rows, integrality=whole, engine="newton", max_boxes=20_000,
                         xtol=1e-6)
    assert r.verdict.name == "PROVED" and r.engine == "newton"
    assert r.lower - 1e-9 * abs(case.best) <= case.best <= r.upper + 1e-9 * abs(case.best)
    assert r.minimisers.rest == 0 and len(r.minimisers) == (2 if name in ("hs40", "g11") else 1)
    assert all((hi - lo <= 1e-6).all() for lo, hi in r.boxes)


def test_maxima_and_infeasible_ones(tmp_path):
    disc, f = (lambda x: x[0] ** 2 + x[1] ** 2 <= 1), (lambda x: x[0] * x[1])
    file = tmp_path / "run.inf"
    r = infimum.maximize(f, [(0, 2)] * 2, constraints=disc, engine="newton", checkpoint=file)
    assert r.verdict.name == "PROVED" and r.lower <= 0.5 <= r.upper and r.minimisers.exactly_one
    again = infimum.resume(file, f, constraints=disc)
    assert (again.lower, again.upper, again.nfev) == (r.lower, r.upper, r.nfev)
    assert infimum.minimize(f, [(1, 2)] * 2, constraints=disc, engine="newton").verdict.name == "INFEASIBLE"


def test_options():
    disc = {"constraints": lambda x: x[0] ** 2 + x[1] ** 2 <= 1, "engine": "newton"}
    r = infimum.minimize(lambda x: x[0] + x[1], [(-2, 2)] * 2, options={"sweeps": 3}, **disc)
    assert r.verdict.name == "PROVED" and r.lower <= -np.sqrt(2) <= r.upper + 1e-12
    with pytest.raises(OptionError, match="only 'sweeps'"):
        infimum.minimize(lambda x: x[0], [(-2, 2)] * 2, options={"gaps": True}, **disc)
    with pytest.raises(OptionError, match="up to 64 variables and constraints"):
        infimum.minimize(lambda x: x[0], [(-2, 2)] * 64, **disc)
