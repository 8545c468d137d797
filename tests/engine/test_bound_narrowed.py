"""Narrowed branches of `np.where` against Arb: what holds, the bits, and what they prove."""

import zlib

import numpy as np
import pytest

import infimum
from infimum.backend.cpu import CpuBackend
from infimum.backend.processor import host
from infimum.backend.python import PythonBackend
from infimum.evaluation.programs import BOUND, BOUND_BY_PIECES
from infimum.interval.pair import DEFINED
from infimum.structure.narrow_branches import narrowed
from tests.engine.test_bound import Bounds, Judge, bound, within
from tests.engine.test_sweep import BOUNDS
from tests.expr.test_narrow import AS_IT_IS, NARROWED, N
from tests.oracle.boxes import points_of
from tests.oracle.check import Checker
from tests.random_kernels import same_bits

FUNCTIONS = {name: f for name, (f, _) in NARROWED.items()} | AS_IT_IS


@pytest.mark.parametrize("kind", (BOUND, BOUND_BY_PIECES))
@pytest.mark.parametrize("name", FUNCTIONS)
def test_bounds_hold(name, kind):
    f, rng = infimum.compile(FUNCTIONS[name], N), np.random.default_rng(zlib.crc32(name.encode()))
    judge = Judge(Checker(narrowed(f.f), N, meant=f.f))
    for bounds in BOUNDS:
        low, high = np.array((bounds * 2)[:N], dtype=float).T
        lo, hi = within(rng, low, high, 4)
        judge.judge(Bounds(f, lo, hi, low, high, kind), [points_of(rng, lo[:, k], hi[:, k], 4) for k in range(4)])
    assert judge.values > 10


@pytest.mark.parametrize("name", ("a ball", "element by element", "undefined", "a pole"))
def test_the_bits_are_the_definitions(name):
    low, high = np.full(N, -1.0), np.full(N, 2.0)
    lo, hi = within(np.random.default_rng(3), low, high, 3)
    exact = Bounds(infimum.compile(FUNCTIONS[name], N, backend=PythonBackend()), lo, hi, low, high).out
    for lanes in host().widths():
        f = infimum.compile(FUNCTIONS[name], N, backend=CpuBackend(lanes=lanes, threads=2))
        found = Bounds(f, lo, hi, low, high).out
        assert all(same_bits(mine, wanted).all() for mine, wanted in zip(found, exact, strict=True))


def test_a_branch_is_enclosed_where_it_counts():
    cubic = bound(lambda x: np.where(x[0] < 1, x[0] - x[0] ** 3, x[0]), [(0, 10)])
    assert cubic.lower[0] >= -1
    root = bound(lambda x: np.where(x[0] > 0, np.sqrt(x[0]), 1.0), [(-1, 4)])
    assert root.lower[0] == 0 and root.level[0] >= DEFINED


def test_what_holds_at_one_position_says_nothing_of_others():
    mirrored = bound(lambda x: np.sum(np.where(x < 0, x[::-1], 0.0)), [(-1, 3)] * 2, [(-1, -0.5), (2, 3)])
    assert mirrored.lower[0] <= 2 <= mirrored.upper[0]
    r = infimum.minimize(lambda x: np.sum(np.where(x < 0, -(x[::-1] ** 2), 0.0)), [(-1, 3)] * 2)
    assert r.lower <= -9 <= r.upper


def test_an_undefined_bound_makes_a_test_false():
    r = infimum.minimize(lambda x: np.where(x[0] < np.sqrt(x[1]), 5.0, x[0]), [(0, 1), (-1, 1)])
    assert r.lower <= 0 <= r.upper  # at x[0] = 0, x[1] < 0
