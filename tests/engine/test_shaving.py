"""Regions swept where they lie: what `Sweeper.sweep` says of their boxes, which is held against Arb, put together.

The numbers that a sweep reads have the bits of `bounds/sweeps/local_context.py`; norms of the other variables lie within them,
and hold what exact arithmetic gives.
"""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import infimum
from infimum.backend.cpu import CpuBackend
from infimum.backend.cuda.gpu_arrays import GpuArrays
from infimum.backend.hybrid import HybridBackend
from infimum.backend.python import PythonBackend
from infimum.bounds import shaving_kernel
from infimum.bounds.sweeps.local_context import ContextNumbers
from infimum.bounds.sweeps.sweep_kernel import ALIVE, LEAST, NEW_HI, NEW_LO
from infimum.bounds.sweeps.sweeps import Sweeper
from infimum.evaluation.evaluator import Evaluator
from infimum.evaluation.programs import CONTEXT, SHAVING, SPREAD
from infimum.kernel.region_cut import DISCARDED_AXIS, NO_AXIS, rows, rows_of
from infimum.problem.cover import widths
from infimum.search.region_pool import Regions, can_be_cut
from tests.engine.test_gpu_branch import fingerprint, shaving
from tests.engine.test_sweep import compiled
from tests.expr.test_hoist import LOCAL
from tests.fake_cupy import installed
from tests.random_kernels import same_bits

INF = np.inf
NAMES = sorted(LOCAL)


def regions_of(rng: np.random.Generator, n: int, count: int) -> np.ndarray:
    """Boxes of many widths, some of them points in some variables, some unbounded."""
    lo = rng.uniform(-2.0, 2.0, (n, count))
    hi = lo + rng.choice([0.0, 1e-9, 0.1, 1.0, 3.0], (n, count))
    hi[0, ::13], lo[n - 1, ::17] = INF, -INF
    return Regions(lo, hi, rng.uniform(-9.0, 0.0, count), rng.integers(-1, n, count).astype(np.int32),
                   rng.integers(0, 4, count).astype(np.int8)).columns()


@pytest.mark.parametrize("name", NAMES)
def test_numbers_have_the_bits_of_their_definition(name):
    n = 7
    f = compiled(name, n)
    numbers, regions = ContextNumbers(f.facts.local), regions_of(np.random.default_rng(len(name)), n, 60)
    lo, hi = regions[:n], regions[n:2 * n]
    found = f.run(CONTEXT, [lo, hi]) if numbers.needs_context else []
    low, high = np.linspace(-3.0, -2.0, n), np.linspace(5.0, 6.0, n)
    user, mine = f.run(SPREAD, [regions, *found], parameters=np.concatenate([low, high]))
    bounded = np.isfinite(lo).all(axis=0) & np.isfinite(hi).all(axis=0)
    wanted = [np.repeat(low[:, None], 60, 1), np.repeat(high[:, None], 60, 1), np.repeat(bounded[None], n, 0)]
    assert user.tobytes() == np.concatenate(wanted).astype(float).tobytes() and 0 < bounded.sum() < 60
    mine, k = mine.reshape(-1, n, 60), 0
    for number, defined in zip(f.facts.local.numbers, numbers.enclosures(np.arange(n), lo, hi, found), strict=True):
        rows_of_it = mine[k:k + len(defined)]
        k += len(defined)
        if number.kind != "others":
            assert all(same_bits(a, np.broadcast_to(b, a.shape)).all() for a, b in zip(rows_of_it, defined, strict=True))
            continue
        assert (rows_of_it[0] >= defined[0]).all() and (rows_of_it[1] <= defined[1]).all()
        assert (rows_of_it[2] == defined[2]).all()


@settings(max_examples=200)
@given(st.lists(st.tuples(st.floats(-1e150, 1e150), st.floats(0, 1e3)), min_size=3, max_size=5))
def test_a_norm_of_the_others_holds_what_exact_arithmetic_gives(sides):
    n = len(sides)
    f = infimum.compile(lambda x: np.sqrt(np.sum(x**2)) + np.linalg.norm(x), n)
    lo = np.array([[a] for a, _ in sides])
    hi = lo + np.array([[w] for _, w in sides])
    regions = Regions(lo, hi, np.zeros(1), np.zeros(1, np.int32), np.zeros(1, np.int8)).columns()
    found = f.run(CONTEXT, [lo, hi])
    _, out = f.run(SPREAD, [regions, *found], parameters=np.zeros(2 * n))
    out, at = out.reshape(-1, n), 0
    for number in f.facts.local.numbers:
        if number.kind == "others":
            for j in range(n):
                others = [k for k in range(n) if k != j]
                ends = [(Fraction(float(lo[k, 0])), Fraction(float(hi[k, 0]))) for k in others]
                most = sum(max(a * a, b * b) for a, b in ends)
                least = sum(Fraction(0) if a <= 0 <= b else min(a * a, b * b) for a, b in ends)
                below, above = out[at, j], out[at + 1, j]
                assert below >= 0 and Fraction(float(below)) ** 2 <= least
                assert above == INF or Fraction(float(above)) ** 2 >= most
        at += 1 if number.kind in ("constant", "inside") else 3
    assert any(number.kind == "others" for number in f.facts.local.numbers)


def is_axis(axis: float, lo: np.ndarray, hi: np.ndarray, wanted: int) -> bool:
    """Is it the wanted variable, if a double lies strictly inside; else the widest that has one, up to rounding?"""
    inside = can_be_cut(lo, hi)
    if wanted >= 0 and inside[wanted]:
        return axis == wanted
    if not inside.any():
        return axis == NO_AXIS
    with np.errstate(over="ignore", invalid="ignore"):
        width = np.where(inside, hi - lo, -1.0)
    return bool(inside[int(axis)]) and width[int(axis)] >= width.max() * (1 - 1e-15)


def check_shaved(f: Evaluator, regions: np.ndarray, low: np.ndarray, high: np.ndarray, upper: float) -> int:
    """Holds the shaved regions against a sweep of their boxes; returns how many are gone."""
    n, sweeper = f.n, Sweeper(f, low, high)
    before = Regions.from_columns(regions)
    with np.errstate(over="ignore", invalid="ignore"):
        lo, hi, lower = sweeper.sweep(before.lo, before.hi, upper)
    left, worth = sweeper.shave(regions, upper)
    lower_row, axis_row, level_row = rows(n)
    tighter = any(number.kind == "others" for number in f.facts.local.numbers)
    for k in range(regions.shape[1]):
        gone = not (lo[:, k] <= hi[:, k]).all() or max(lower[k], before.lower[k]) > upper
        assert (left[axis_row, k] == DISCARDED_AXIS) == gone or (tighter and not gone)
        assert left[level_row, k] == before.level[k]
        if left[axis_row, k] == DISCARDED_AXIS:
            assert worth[0, k] == 1.0
            continue
        new_lo, new_hi = left[:n, k], left[n:2 * n, k]
        if not tighter:
            assert new_lo.tobytes() == lo[:, k].tobytes() and new_hi.tobytes() == hi[:, k].tobytes()
            assert left[lower_row, k] == max(lower[k], before.lower[k])
        assert (new_lo >= lo[:, k]).all() and (new_hi <= hi[:, k]).all() and left[lower_row, k] >= lower[k]
        assert is_axis(left[axis_row, k], new_lo, new_hi, before.axis[k])
        old, new = (np.maximum(widths(a, b), 1e-300) for a, b in ((before.lo[:, k], before.hi[:, k]), (new_lo, new_hi)))
        with np.errstate(invalid="ignore"):
            cut = np.nansum(np.log2(old / new))
        if abs(cut - 24.0) > 1e-6:
            assert worth[0, k] == (cut > 24.0)
    return int((left[axis_row] == DISCARDED_AXIS).sum())


@pytest.mark.parametrize("name", NAMES)
def test_what_is_left_is_what_a_sweep_leaves(name):
    n = 6
    f, gone = compiled(name, n), 0
    for seed, upper in enumerate((INF, 0.5, -0.5)):
        regions = regions_of(np.random.default_rng(seed), n, 50)
        gone += check_shaved(f, regions, np.full(n, -4.0), np.full(n, 6.0), upper)
    assert 0 < gone < 150


@pytest.mark.parametrize("n", (1, 3))
@settings(max_examples=100)
@given(st.data())
def test_a_kernel_puts_together_whatever_a_sweep_says(n, data):
    """Numbers that no sweep of a real function gives: points, adjacent doubles, infinite ends; the definition's bits."""
    ends = st.sampled_from([-INF, -1.5e308, -1.0, -0.0, 0.0, 5e-324, 1.0, np.nextafter(1.0, 2.0), 2.0, 1.5e308, INF])
    region = np.sort(np.array(data.draw(st.lists(st.tuples(ends, ends), min_size=n, max_size=n))), axis=1)
    swept = np.array([sorted((min(max(x, a), b), min(max(y, a), b))) for (a, b), (x, y) in
                      zip(region, data.draw(st.lists(st.tuples(ends, ends), min_size=n, max_size=n)), strict=True)])
    alive = np.array(data.draw(st.lists(st.integers(0, 2), min_size=n, max_size=n)), float)
    least = np.array(data.draw(st.lists(st.sampled_from([-INF, -1.0, 0.0, 1.0]), min_size=n, max_size=n)))
    said = np.zeros((4, n))
    said[NEW_LO], said[NEW_HI], said[ALIVE], said[LEAST] = swept[:, 0], swept[:, 1], alive, least
    wanted, known, upper = data.draw(st.integers(-1, n - 1)), data.draw(st.sampled_from([-INF, -2.0, 0.5])), 0.25
    columns = np.concatenate([region[:, 0], region[:, 1], [known, wanted, 2.0]])[:, None]
    inputs, given_upper = [columns, np.ascontiguousarray(said.reshape(-1, 1))], np.array([upper])
    f = infimum.compile(lambda x: np.sum(x), n)
    (left, paid), defined = (e.run(SHAVING, inputs, parameters=given_upper)
                              for e in (f, Evaluator(f.f, n, PythonBackend())))
    assert same_bits(left, defined[shaving_kernel.LEFT]).all() and same_bits(paid, defined[shaving_kernel.PAID]).all()
    gone = bool((alive == 0).any() or max(known, *least) > upper)
    assert (left[2 * n + 1, 0] == DISCARDED_AXIS) == gone and (not gone or paid[0, 0] == 1.0)
    if not gone:
        assert left[:2 * n, 0].tobytes() == np.concatenate([swept[:, 0], swept[:, 1]]).tobytes()
        assert is_axis(left[2 * n + 1, 0], swept[:, 0], swept[:, 1], wanted)
        assert left[2 * n, 0] == max(known, *least) and left[2 * n + 2, 0] == 2.0


# ---- inside branch and bound
def test_a_search_that_shaves_loses_no_minimiser():
    from scipy.optimize import minimize

    branch = shaving(CpuBackend())
    best = min((minimize(branch.evaluator.estimate, start, method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-12,
                                                                                           "maxiter": 20000})
                for start in np.random.default_rng(0).uniform(-2, 2.5, (12, 6))), key=lambda r: r.fun)
    for _ in range(40):
        if branch.done:
            break
        branch.step()
        regions = branch.regions()
        assert ((regions.lo <= best.x[:, None]) & (best.x[:, None] <= regions.hi)).all(axis=0).any()
        assert branch.lower() <= best.fun + 1e-12
    assert branch.discarded["sweep"] > 0


def test_shaving_in_parts_gives_the_same(monkeypatch):
    whole = shaving(CpuBackend())
    for _ in range(4):
        whole.step()
    monkeypatch.setattr("infimum.bounds.sweeps.shaving.POLICY.elements_at_once", 30)
    parts = shaving(CpuBackend())
    for _ in range(4):
        parts.step()
    mine, theirs = (sorted(map(bytes, np.ascontiguousarray(b.regions().columns().T))) for b in (whole, parts))
    assert mine == theirs and whole.discarded == parts.discarded


def test_regions_are_shaved_where_they_lie(monkeypatch):
    """On a pretended GPU: the same bits, and no array of regions comes here."""
    cupy = installed(monkeypatch, memory=1 << 26)
    monkeypatch.setattr("infimum.backend.cuda.gpu_arrays._COUNTED", 1 << 20)
    on_cpu, on_gpu = shaving(CpuBackend(), 16), shaving(HybridBackend(), 16)
    assert fingerprint(on_cpu) == fingerprint(on_gpu)
    fetched, usual = [], GpuArrays.fetch
    monkeypatch.setattr(GpuArrays, "fetch", lambda self, array, *what: (fetched.append(array.shape), usual(self, array))[1])
    on_gpu.step()
    on_cpu.step()
    assert cupy.launches and fetched and not [shape for shape in fetched if shape[0] == rows_of(6)]  # counts, bounds, a point
    assert fingerprint(on_cpu) == fingerprint(on_gpu)
