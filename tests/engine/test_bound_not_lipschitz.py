"""Lower bounds where f is not Lipschitz, by its rough and calm parts, against Arb."""

import zlib

import numpy as np
import pytest

import infimum
from infimum.backend.cpu import CpuBackend
from infimum.backend.processor import host
from infimum.backend.python import PythonBackend
from infimum.bounds.function_bounds.first_order_kernel import LOWER
from infimum.evaluation.programs import BOUND, BOUND_BY_PIECES
from infimum.problems import get
from tests.engine.test_bound import Bounds, Judge, within
from tests.engine.test_sweep import BOUNDS
from tests.expr.test_lipschitz_split import SPLIT, N
from tests.oracle.boxes import points_of
from tests.oracle.check import Checker
from tests.random_kernels import same_bits

MORE = {
    "kinks at the minimiser": lambda x: np.sqrt(np.abs(x[0] - x[1])) + np.abs(x[2]) + (x[3] - 0.25) ** 2,
    "a minimiser on a face": lambda x: np.sqrt(np.abs(x[0])) + x[1] - x[2],
    "jumps": lambda x: np.floor(x[0]) + x[1] * x[0] + x[2] ** 3 - np.exp(x[3]),
    "calm that overflows": lambda x: np.sqrt(np.abs(x[0])) + np.exp(500 * x[1]) - np.exp(500 * x[2]),
    "undefined in parts": lambda x: np.sqrt(x[0]) + x[1] ** 2 - x[0] * x[1],
}


@pytest.mark.parametrize("kind", (BOUND, BOUND_BY_PIECES))
@pytest.mark.parametrize("name", (*SPLIT, *MORE))
def test_bounds_hold(name, kind):
    f, rng = infimum.compile((SPLIT | MORE)[name], N), np.random.default_rng(zlib.crc32(name.encode()))
    judge = Judge(Checker(f.f, N))
    for bounds in BOUNDS:
        low, high = np.array((bounds * 2)[:N], dtype=float).T
        lo, hi = within(rng, low, high, 4)
        judge.judge(Bounds(f, lo, hi, low, high, kind), [points_of(rng, lo[:, k], hi[:, k], 4) for k in range(4)])
    assert judge.values > 10


@pytest.mark.parametrize("name", ("a sum", "poles", "jumps"))
def test_the_bits_are_the_definitions(name):
    low, high = np.full(N, -1.0), np.full(N, 2.0)
    lo, hi = within(np.random.default_rng(3), low, high, 3)
    wanted = Bounds(infimum.compile((SPLIT | MORE)[name], N, backend=PythonBackend()), lo, hi, low, high).out
    for lanes in host().widths():
        f = infimum.compile((SPLIT | MORE)[name], N, backend=CpuBackend(lanes=lanes, threads=2))
        assert all(same_bits(a, b).all() for a, b in zip(Bounds(f, lo, hi, low, high).out, wanted, strict=True))


def test_the_calm_part_is_tight_to_second_order():
    """Half the width, a quarter of the excess, on boxes that meet the kink."""
    f, excess = infimum.compile(lambda x: np.sqrt(np.abs(x[0] - x[1])) + np.sum(x**2) - x[0] * x[1], 2), []
    for width in (0.5, 0.25, 0.125):
        lower = Bounds(f, [[1 - width]] * 2, [[1 + width]] * 2, [-3] * 2, [3] * 2).out[LOWER][0, 0]
        excess.append((1 - width) ** 2 - lower)
    assert all(0 <= narrow <= wide / 3.5 for wide, narrow in zip(excess, excess[1:], strict=False))


@pytest.mark.parametrize("name", ("happy_cat", "hgbat"))
def test_kinks_on_a_surface(name):
    p = get(name, 5)
    r = infimum.minimize(p.fun, p.bounds, max_boxes=2_000_000)
    assert r.verdict.name == "PROVED" and r.lower <= 0 <= r.upper and len(r.regions.lower) < 1000
