"""Minima of functions whose angles are large."""

import numpy as np

import infimum
from infimum.problems import get


def test_weierstrass():
    """The angles of its last terms are beyond 2**30."""
    for n in (2, 5):
        r = infimum.minimize((p := get("weierstrass", n)).fun, p.bounds)
        assert r.verdict.name == "PROVED" and r.lower <= 0.0 and r.upper < 1e-12


def test_very_large_angles():
    """The double nearest to a multiple of pi/2, relative to its size; and some turns beyond 2**40."""
    hard = 6381956970095103 * 2.0**797
    assert 0 < infimum.enclose(lambda x: np.abs(np.cos(x[0])), [(hard, hard)]).lo < 1e-18
    r = infimum.minimize(lambda x: np.sin(2.0**40 * x[0]) * x[1], [(1, 1 + 2.0**-37), (1, 2)])
    assert r.verdict.name == "PROVED" and -2 <= r.lower <= r.upper <= -2 + 2e-6
