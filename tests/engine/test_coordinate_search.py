"""The CoordinateSearch: inside the bounds, its value is the estimate at its point, never NaN, never worse, the same each time."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import infimum
from infimum import problems
from infimum.backend.cpu import CpuBackend
from infimum.bounds.sweeps.sweeps import Sweeper
from infimum.points.coordinate_search import CoordinateSearch
from tests.random_kernels import same_bits

INF = np.inf


def coordinate_search(f: Callable, low: Any, high: Any, seed: int = 0, **backend: int) -> CoordinateSearch:
    low, high = (np.array(a, dtype=float) for a in (low, high))
    e = infimum.compile(f, len(low), backend=CpuBackend(**backend) if backend else None)
    return CoordinateSearch(e, Sweeper(e, low, high), low, high, seed)


def holds(s: CoordinateSearch) -> None:
    """What is true at every moment."""
    assert ((s.x >= s.lo) & (s.x <= s.hi)).all() and not np.isnan(s.x).any()
    estimate = float(s.evaluator.estimate(s.x))
    assert s.value == (estimate if np.isfinite(estimate) else INF)


def settle(s: CoordinateSearch, rounds: int | None = None) -> list[float]:
    """Runs the rounds, checking after every piece; the value after each."""
    holds(s)
    values = [s.value]
    for k, way in enumerate(s.rounds()[:rounds]):
        before = s.value
        for _ in way:
            holds(s)
            assert s.value <= before or k > 0  # later ways begin elsewhere, and go back if that was worse
            before = s.value
        holds(s)
        values.append(s.value)
    return values


FUNCTIONS: dict[str, tuple[Callable, tuple[float, float], float]] = {  # function, bounds, a value that is reached
    "kinks": (lambda x: np.sum(np.abs(x - 0.3)), (-2, 3), 1e-9),
    "rastrigin": (lambda x: np.sum(x**2 - 10 * np.cos(2 * np.pi * x)) + 10 * len(x), (-5, 6), 1e-9),
    "product": (lambda x: np.prod(x / 2), (-2, 3), -1e3), "largest": (lambda x: np.max(np.abs(x)), (-1, 2), 0.1),
    "jumps": (lambda x: np.sum(np.floor(x) + np.sign(x)), (-2, 3), -210.0),
    "chain": (lambda x: np.sum((x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2), (-2, 2), 1.0),
    "variance": (lambda x: np.var(x) + np.sum(x**2), (-1, 2), 1e-9),
    "undefined in parts": (lambda x: np.sum(np.log(x) ** 2), (-0.5, 2), 1e-9),
    "poles": (lambda x: np.sum(1 / x**2), (-1, 2), 30.0),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_it_stays_inside_and_knows_its_value(name):
    f, (low, high), reached = FUNCTIONS[name]
    s = coordinate_search(f, np.full(70, low), np.full(70, high))
    values = settle(s)
    assert all(after <= before for before, after in zip(values, values[1:], strict=False))
    assert values[-1] <= reached and s.evaluations > 70


@pytest.mark.parametrize("name", ("ackley", "styblinski_tang", "schwefel_2_26", "salomon", "michalewicz"))
def test_the_gallery_is_settled_inside(name):
    p = problems.get(name, 70)
    s = coordinate_search(p.fun, p.lo, p.hi)
    values = settle(s, 2)
    assert values[-1] >= p.minimum.lo - 1e-9 * abs(p.minimum.lo) - 1e-9 and values[-1] < values[0] + 1e-9


@pytest.mark.parametrize(("f", "low", "high"), [
    (lambda x: np.sum(np.log(x)), -2, -1), (lambda x: np.sum(np.sqrt(x - 5)), 0, 1), (lambda x: np.sum(np.log(x) ** 2), -1, 1),
    (lambda x: np.sum(x) / np.sum(0 * x), -1, 1), (lambda x: np.prod(x) * 1e308, 1e300, 1e301)])
def test_where_there_is_no_value_none_is_chosen(f, low, high):
    """f has no finite value at the middle, or anywhere: no NaN, no warning, no point outside."""
    s = coordinate_search(f, np.full(70, float(low)), np.full(70, float(high)))
    settle(s)
    assert s.value == INF or np.isfinite(s.value)


@pytest.mark.parametrize(("low", "high"), [
    (0.5, 0.5), (0.0, 5e-324), (1.0, 1.0 + 2**-52), (-1e154, 1e154), (-1.0, 3 * 2.0**-54)])
def test_narrow_and_wide_bounds(low, high):
    s = coordinate_search(lambda x: np.sum(x**2) - np.prod(x), np.full(66, low), np.full(66, high))
    values = settle(s, 3)
    assert len(values) == 4 and values[-1] <= values[0]


def test_bounds_of_many_widths():
    rng = np.random.default_rng(0)
    low = rng.choice((-1e10, -1.0, 0.0, 1e-300, 5.0), 80)
    high = low + rng.choice((0.0, 1e-12, 1.0, 1e6), 80)
    s = coordinate_search(lambda x: np.sum(np.abs(x - 1) ** 1.5) + np.max(x), low, high)
    values = settle(s, 3)
    assert values[-1] <= values[0]


def test_it_is_deterministic():
    """Equal seeds give equal bits for any threads and lanes; another seed draws other points."""
    f, (low, high), _ = FUNCTIONS["rastrigin"]
    bounds = np.full(70, low), np.full(70, high)
    runs = [coordinate_search(lambda x: f(x) + np.sum(np.sin(3 * x[1:]) * x[:-1]), *bounds, seed, **backend)
            for seed, backend in ((0, {"threads": 1}), (0, {"threads": 2}), (0, {"lanes": 2}), (1, {"threads": 1}))]
    for s in runs:
        for way in s.rounds()[:3]:
            for _ in way:
                pass
    assert all(same_bits(runs[0].x, s.x).all() and s.value == runs[0].value and s.evaluations == runs[0].evaluations
               for s in runs[1:3])
    assert not same_bits(runs[0].x, runs[3].x).all() or runs[0].value == runs[3].value


def test_pairs_of_signs_are_found():
    """The least product of factors of both signs has an odd number of negative ones, all at their largest."""
    for n in (65, 66):
        s = coordinate_search(lambda x: np.prod(x), np.full(n, -2.0), np.full(n, 1.5))
        settle(s)
        assert s.value <= -(2.0**65) * 0.74


def test_it_can_be_left_at_any_moment():
    """Between two pieces the state holds, and another round may begin, which gets as far as if nothing had been."""
    f, (low, high), reached = FUNCTIONS["chain"]
    s = coordinate_search(f, np.full(70, low), np.full(70, high))
    for k, way in enumerate(s.rounds()):
        for i, _ in enumerate(way):
            holds(s)
            if i == k + 1:
                break
    assert settle(s)[-1] <= reached


def test_last_digits_that_do_not_show_in_a_long_sum_are_found():
    """Along one variable f changes by less than its rounding long before the whole of f does."""
    n, (f, (low, high), _) = 20_000, FUNCTIONS["rastrigin"]
    away = np.random.default_rng(3).uniform(-0.4, 0.4, n)
    s = coordinate_search(lambda x: f(x - away) * 1e3, np.full(n, low), np.full(n, high))
    for _ in s.rounds()[0]:
        pass
    holds(s)
    assert np.abs(s.x - away).max() < 1e-14 * (high - low)
