"""The simplex method of kernels against SciPy's: multipliers are optimal, or show that there is no solution."""

import numpy as np
import pytest
from scipy.optimize import linprog

from infimum.backend.cpu import CpuBackend
from infimum.kernel.constant_data import Data
from infimum.kernel.ir import Builder
from infimum.relax.lane_simplex import NO_SOLUTION, OPTIMAL, RUNNING, LaneProgram, LaneSimplex


def solved(c: np.ndarray, a: np.ndarray, h: np.ndarray, turns: int, endless: int) -> tuple[np.ndarray, np.ndarray]:
    """(multipliers, status) of the programs c (columns, N), a (rows, columns, N), h (rows, N)."""
    rows, columns, lanes = a.shape
    b, data = Builder(), Data()
    entries, right = b.buffer((rows + 1) * columns), b.buffer(rows)
    with b.loop((rows + 1) * columns) as turn:
        b.store(entries, turn.index, b.input(0, turn.index))
    with b.loop(rows) as turn:
        b.store(right, turn.index, b.input(1, turn.index))
    method = LaneSimplex(b, data, LaneProgram(rows, columns, endless, entries, right), turns)
    found = method.multipliers()
    with b.loop(rows) as turn:
        b.output(0, turn.index, b.load(found, turn.index))
    b.output(1, 0, method.status)
    out = [np.empty((rows, lanes)), np.empty((1, lanes))]
    inputs = [np.ascontiguousarray(v) for v in (np.concatenate([a.reshape(-1, lanes), c]), h)]
    CpuBackend().compile(b.kernel("simplex", 2, 2)).run(inputs, out, data.doubles(), data.positions())
    return out[0], out[1][0]


@pytest.mark.parametrize(("rows", "columns", "endless"), [(1, 1, 1), (3, 2, 2), (2, 5, 5), (8, 5, 4), (20, 6, 6), (12, 18, 17)])
def test_against_scipy(rows, columns, endless):
    """Dense and sparse programs with few bits, so that many are degenerate; with a solution, and without."""
    rng, lanes = np.random.default_rng(rows), 60
    a = rng.integers(-4, 5, (rows, columns, lanes)) / 4 * (rng.random((rows, columns, lanes)) < 0.7)
    c, h = rng.integers(-4, 5, (columns, lanes)) / 4, rng.integers(-3, 6, (rows, lanes)) / 4
    c[endless:] = np.abs(c[endless:])
    y, status = solved(c, a, h, 4 * (rows + columns), endless)
    bounds = [(0, 1 if i < endless else None) for i in range(columns)]
    seen = set()
    for k in range(lanes):
        known = linprog(c[:, k], A_ub=a[:, :, k], b_ub=h[:, k], bounds=bounds)
        reduced = (a[:, :, k].T @ y[:, k]) + (c[:, k] if status[k] == OPTIMAL else 0.0)
        assert (y[:, k] >= 0).all() and (reduced[endless:] >= -1e-9).all()
        bound = np.minimum(reduced[:endless], 0.0).sum() - h[:, k] @ y[:, k]  # over all t of the box
        if status[k] == OPTIMAL:
            assert known.status == 0 and bound == pytest.approx(known.fun, abs=1e-9)
        else:
            assert status[k] == NO_SOLUTION and known.status == 2 and bound > 1e-9
        seen.add(status[k])
    assert rows == 1 or columns == 18 or seen == {OPTIMAL, NO_SOLUTION}


def test_a_method_that_is_stopped_says_so_and_its_multipliers_are_not_negative():
    rng = np.random.default_rng(1)
    y, status = solved(rng.normal(size=(9, 50)), rng.normal(size=(12, 9, 50)), rng.normal(size=(12, 50)), 2, 9)
    assert (status == RUNNING).sum() > 10 and (y >= 0).all() and (y > 0).any()


def test_numbers_that_are_none_give_multipliers_that_are_some():
    a = np.array([[[np.nan, np.inf, 1e300, 1.0]], [[1.0, 1.0, -1e300, 1.0]]])
    y, _ = solved(np.ones((1, 4)), a, np.array([[1.0, 1.0, -1e300, np.nan], [-1.0, -1.0, -1e300, -np.inf]]), 9, 1)
    assert (y >= 0).all() and np.isfinite(y).all()
