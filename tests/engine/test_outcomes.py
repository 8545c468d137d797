"""Enclosures outcome by outcome against Arb: what is found, what holds, the bits, and what they prove."""

import zlib
from collections.abc import Callable

import numpy as np
import pytest

import infimum
from infimum.backend.cpu import CpuBackend
from infimum.backend.processor import host
from infimum.backend.python import PythonBackend
from infimum.bounds.function_bounds.first_order_kernel import LOWER
from infimum.evaluation.programs import BOUND, BOUND_BY_PIECES, CONTEXT
from infimum.structure.finite_outcomes import outcomes_of
from tests.engine.test_bound import Bounds, within
from tests.engine.test_bound import Judge as BoundJudge
from tests.engine.test_sweep import BOUNDS, INF, Judge, Swept, best_value, boxes
from tests.oracle.boxes import points_of
from tests.oracle.check import Checker
from tests.random_kernels import same_bits

N = 5
FOUND: dict[str, tuple[Callable, str]] = {  # and the operation of the first quantity
    "floor": (lambda x: np.sum((np.floor(x + 0.5) - 0.3) ** 2), "floor"),
    "ceil and others": (lambda x: np.sum((np.ceil(3 * x) - 3 * x - 0.4) ** 2 + x), "ceil"),
    "round": (lambda x: np.sum(np.cos(np.round(2 * x)) * x), "rint"),
    "sign": (lambda x: np.sum(np.exp(-((np.sign(x) - 0.2) ** 2)) + 0.1 * x), "sign"),
    "branches": (lambda x: np.sum((np.where(x < 0.25, x - 1, 1 + x) - 0.1) ** 2), "where"),
    "a sum of integers": (lambda x: np.cos(np.sum(np.floor(2 * x))), "sum"),
    "slices of integers": (lambda x: (lambda k: np.sum((k[1:] - k[:-1] - 0.3) ** 2))(np.floor(3 * x)), "sub"),
    "undefined outcomes": (lambda x: np.log(np.floor(3 * x[0])) + np.sqrt(1 - np.sign(x[1])) + x[2], "floor"),
    "poles": (lambda x: np.sum(1 / (np.round(x) - 1) + x), "rint"),
    "undefined quantities": (lambda x: np.sum((np.floor(np.sqrt(x)) - 0.5) ** 2), "floor"),
    "compared where it is undefined": (lambda x: (np.where(np.floor(np.sqrt(x[0])) < 1, 2.0, -1.0) - 0.3) ** 2 + x[1], "where"),
    "branches that are undefined": (lambda x: np.sum(np.cos(np.where(x > 0, np.sqrt(x), np.log(-x)))), "where"),
    "large integers": (lambda x: np.sum((np.floor(x * 2.0**60) / 2.0**60 - 0.3) ** 2), "floor"),
}
NONE = {"no jumps": lambda x: np.sum(x**2), "the outcome itself": lambda x: np.sum(np.floor(x)),
        "only a branch": lambda x: np.sum(np.where(x > 0, x, x**2)),
        "several": lambda x: np.cos(x[1] * np.floor(x[0]) + np.floor(x[1]))}


@pytest.mark.parametrize("name", FOUND)
def test_parts_are_found(name):
    f, op = FOUND[name]
    assert next(iter(outcomes_of(infimum.compile(f, N).f).values())).quantity.op == op


@pytest.mark.parametrize("name", NONE)
def test_what_is_none(name):
    found = outcomes_of(infimum.compile(NONE[name], N).f)
    assert all(top.op == "mul" for top in found)  # the product below "several" has one jump


@pytest.mark.parametrize("kind", (BOUND, BOUND_BY_PIECES))
@pytest.mark.parametrize("name", FOUND)
def test_bounds_hold(name, kind):
    f, rng = infimum.compile(FOUND[name][0], N), np.random.default_rng(zlib.crc32(name.encode()))
    judge = BoundJudge(Checker(f.f, N))
    for bounds in BOUNDS:
        low, high = np.array((bounds * 2)[:N], dtype=float).T
        lo, hi = within(rng, low, high, 4)
        judge.judge(Bounds(f, lo, hi, low, high, kind), [points_of(rng, lo[:, k], hi[:, k], 4) for k in range(4)])
    assert judge.values > 10


@pytest.mark.parametrize("name", [name for name, (f, _) in FOUND.items() if infimum.compile(f, N).facts.local is not None])
def test_sweeps_cut_nothing_without_a_reason(name):
    f, rng = infimum.compile(FOUND[name][0], N), np.random.default_rng(zlib.crc32(name.encode()))
    judge = Judge(rng)
    for bounds in BOUNDS[:4]:
        low, high = np.array((bounds * 2)[:N], dtype=float).T
        lo, hi = boxes(rng, low, high, 2)
        for upper in (INF, best_value(f, points_of(rng, low, high, 30))):
            judge.judge(Swept(f, lo, hi, low, high, upper, 8))
    assert judge.cut_points + judge.values > 30


@pytest.mark.parametrize("name", ("floor", "branches", "a sum of integers", "undefined outcomes"))
def test_the_bits_are_the_definitions(name):
    low, high = np.full(N, -1.0), np.full(N, 2.0)
    lo, hi = within(np.random.default_rng(3), low, high, 3)
    exact = infimum.compile(FOUND[name][0], N, backend=PythonBackend())
    bounds = Bounds(exact, lo, hi, low, high).out
    context = exact.run(CONTEXT, [lo, hi]) if exact.facts.local is not None else []
    for lanes in host().widths():
        f = infimum.compile(FOUND[name][0], N, backend=CpuBackend(lanes=lanes, threads=2))
        found = [*Bounds(f, lo, hi, low, high).out, *(f.run(CONTEXT, [lo, hi]) if f.facts.local is not None else [])]
        assert all(same_bits(mine, wanted).all() for mine, wanted in zip(found, [*bounds, *context], strict=True))


def test_no_value_between_outcomes_counts():
    f = infimum.compile(lambda x: (np.floor(x[0]) - 3.3) ** 2, 1)
    lower = Bounds(f, [[3.9, 4.0, 3.0, -2.0]], [[4.1, 4.0, 9.5, 9.0]], [-10], [10]).out[LOWER][0]
    assert (lower[:3] > 0.0899999).tolist() == [True, True, True] and lower[1] > 0.48 and lower[3] == 0  # too many outcomes


PROVED = {
    "rounded": (lambda x: np.sum((np.floor(x + 0.5) - 3.3) ** 2), [(-10, 10)] * 5, 0.45),
    "steps": (lambda x: np.sum(np.floor(x + 0.5) ** 2), [(-100, 100)] * 5, 0.0),
    "a sign": (lambda x: (np.sign(x[0]) - 0.3) ** 2 + (np.round(x[1]) - 0.4) ** 2, [(-3, 3)] * 2, 0.25),
    "branches": (lambda x: (np.where(x[0] < 0.3, -1.0, 1.0) - 0.1) ** 2 + x[1] ** 2, [(-3, 3)] * 2, 0.81),
    "together": (lambda x: (np.sum(np.floor(x)) - 3.3) ** 2, [(-3, 3)] * 3, 0.09),
    "a minimiser at the jump": (lambda x: (np.floor(x[0]) - 0.7) ** 2 + (x[0] - 1) ** 2, [(-3, 3)], 0.09),
    "approached at the jump": (lambda x: (np.floor(x[0]) - 0.3) ** 2 + (x[0] - 1) ** 2, [(-3, 3)], 0.09),
}


@pytest.mark.parametrize("name", PROVED)
def test_jumps_are_settled(name):
    f, bounds, least = PROVED[name]
    r = infimum.minimize(f, bounds, max_boxes=200_000)
    assert r.verdict.name == "PROVED" and r.lower <= least + 1e-12 and r.upper >= least - 1e-12 and len(r.regions.lower) < 1000
