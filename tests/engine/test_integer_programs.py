"""Random integer and mixed programs whose optima exact enumeration knows: no claim contradicts them."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from bench.integer_programs import INF, KINDS, Draw, program
from infimum import Verdict

COUNT = 400


@pytest.mark.parametrize("number", range(COUNT))
def test_claims(number: int) -> None:
    asked = program(number, seed=1)
    result = asked.solve(time_limit=10.0, threads=1, device="cpu")
    assert asked.wrong(result) is None


def small() -> object:
    """Minimise (y - 1)² + z over whole z in 0..2 and real y in [0, 4] with 2 y - 3 z >= 1: at z = 0 it is 0, at y = 1."""
    d = Draw("linear", 0, 0)
    d.n, d.unit = 2, 1.0
    objective = d.polynomial([-2, 1], [[1, 0], [0, 0]], None, 1.0)
    return d.program(objective, [(d.polynomial([2, -3]), 1.0, INF)], [(0.0, 4.0), (0.0, 2.0)], [0, 1])


def test_enumeration() -> None:
    asked = small()
    assert asked.optimum() == (0, 0)
    tight = replace(asked, rows=((asked.rows[0][0], 3.0, INF),))  # y >= 3/2 at z = 0
    assert tight.optimum() == (Fraction(1, 4), Fraction(1, 4))
    assert replace(asked, rows=((asked.rows[0][0], 9.0, INF),)).optimum() is None


def test_a_wrong_claim_is_found() -> None:
    asked = small()
    result = asked.solve()
    assert result.verdict is Verdict.PROVED and asked.wrong(result) is None
    assert "optimum" in asked.wrong(replace(result, lower=1e-3))
    assert "optimum" in asked.wrong(replace(result, upper=-1e-3))
    assert "infeasible" in asked.wrong(replace(result, verdict=Verdict.INFEASIBLE))
    assert "no feasible point" in replace(asked, rows=((asked.rows[0][0], 9.0, INF),)).wrong(result)
    whole = program(list(KINDS).index("linear"))
    assert "not feasible" in whole.wrong(replace(whole.solve(), x=np.full(len(whole.bounds), 0.5)))
