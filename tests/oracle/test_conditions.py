"""Conditions with undefined operands: what is proved holds of the function that NumPy computes."""

import numpy as np
import pytest

import infimum
from infimum.errors import NotLocalError
from tests.oracle.random_conditions import GRID, Conditions, by_numpy, chain

_ROOM = 1e-9  # for NumPy's roundings in the branches


@pytest.mark.parametrize("seed", range(60))
def test_enclosures_hold_what_numpy_computes(seed):
    draw, n = Conditions(seed), (2, 2, 5)[seed % 3]
    f = draw.function() if n == 2 else chain(draw.function())
    compiled = infimum.compile(f, n)
    points = GRID[draw.rng.integers(len(GRID), size=(n, 60))]
    lo, hi = (points + side * draw.rng.integers(0, 5, size=points.shape) / 4 for side in (-1, 1))
    lo[:, ::3] = hi[:, ::3] = points[:, ::3]
    values, mean = by_numpy(f, points), compiled.mean_value(lo, hi)
    for e in (compiled.value(lo, hi), mean.natural, mean.best, compiled.gradient(lo, hi).value):
        lost = np.isfinite(values) & ~((e.lo - _ROOM <= values) & (values <= e.hi + _ROOM))
        assert not lost.any(), (points[:, lost].T, lo[:, lost].T, hi[:, lost].T, values[lost], e.lo[lost], e.hi[lost])
        wrong = np.isnan(values) & e.defined
        assert not wrong.any(), ("claimed to be defined", points[:, wrong].T)


@pytest.mark.parametrize("seed", range(1000, 1012))
def test_minima_lie_below_what_numpy_computes(seed):
    draw, n = Conditions(seed), 2 + 2 * (seed % 2)
    f = draw.function() if n == 2 else chain(draw.function())
    values = by_numpy(f, GRID[draw.rng.integers(len(GRID), size=(n, 1000))])
    lowest = values[np.isfinite(values)].min(initial=np.inf)
    for engine in ("auto", "newton", "complete"):
        try:
            r = infimum.minimize(f, [(-3, 3)] * n, max_boxes=200, engine=engine)
        except NotLocalError:
            continue
        assert r.lower is None or r.lower <= lowest + _ROOM, (engine, r, lowest)


def test_a_guard_decides_where_the_root_is_undefined():
    """f(-1) = -1: the root is NaN there, which is not below 1."""
    r = infimum.minimize(lambda x: np.where((x[0] > 0) & (np.sqrt(x[0]) < 1), 1.0, x[0]), [(-1, 4)])
    assert r.verdict.name == "PROVED" and r.lower == r.upper == -1.0

