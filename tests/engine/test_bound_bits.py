"""The kernel's bounds: how good they are, and the definition's bits."""


from collections.abc import Callable
from functools import cache

import numpy as np
import pytest

import infimum
from infimum.backend.cpu import CpuBackend
from infimum.backend.processor import host
from infimum.backend.python import PythonBackend
from tests.all_threads import all_threads_work  # noqa: F401
from tests.engine.test_bound import INF, Bounds, bound, reduced, within
from tests.oracle import walk
from tests.oracle.arb_values import value
from tests.random_kernels import same_bits


# ---- how good the bounds are
def test_where_the_function_rises_the_bound_is_the_value_at_the_end():
    f = infimum.compile(lambda x: x[0] ** 3 - x[0] + x[1] * x[0], 2)
    b = bound(f, [(-5, 5), (-5, 5)], [(2, 2.25), (1, 1.25)])
    exact = f.value([2.0, 1.0], [2.0, 1.0])
    assert b.point[:, 0].tolist() == [2, 1] and b.lower[0] == exact.lo and b.upper[0] == exact.hi


def test_the_point_is_where_the_mean_value_form_is_highest():
    """With derivatives from -a to b, the part a / (a + b) of the way; an end where they have one sign."""
    for box, point in (((-1, 3), 0), ((-3, 1), 0), ((1, 2), 1), ((-2, -1), -1), ((0, 2), 0), ((-2, 0), 0)):
        assert bound(lambda x: x[0] ** 2, [(-9, 9)], [box]).point[0, 0] == point


def test_the_mean_value_form_is_better_than_the_natural_enclosure_on_small_boxes():
    """The error is quadratic in the width."""
    def f(x):
        return x[0] * np.sin(x[0]) - x[0] ** 2 + x[1] * x[0] * 0.5 - 2 * x[1]
    e = infimum.compile(f, 2)
    for width in 2.0 ** -np.arange(4.0, 14.0):
        at = np.array([1.9, -0.7])
        b = bound(e, [(-9, 9), (-9, 9)], np.stack([at, at + width], axis=1))
        x = np.stack(np.meshgrid(*(a + np.linspace(0, width, 33) for a in at))).reshape(2, -1)
        assert e.value(at, at + width).lo < b.lower[0] <= e.estimate(x).min()
        assert e.estimate(x).min() - b.lower[0] <= 4 * width**2 + 1e-14


def test_the_axis_is_the_variable_that_matters_most():
    f = infimum.compile(lambda x: 100 * np.sin(x[0]) + np.sin(x[1]), 2)
    assert bound(f, [(0, 4)] * 2).axis[0] == 0
    assert bound(f, [(0, 4)] * 2, [(1, 1.01), (0, 4)]).axis[0] == 1
    assert bound(f, [(0, 4)] * 2, [(1, 1), (0, 4)]).axis[0] == 1
    assert bound(lambda x: np.floor(x[0]) + 9 * x[1], [(0, 4), (0, 1)]).axis[0] == 0, "without `lipschitz` the widest is cut"
    assert bound(lambda x: np.sum(x**2), [(-1, 2)] * 3).axis[0] == 0, "the first of equals"


def test_no_upper_bound_where_the_function_may_be_undefined():
    """3 * 0.1 is a little more than 0.3: the root of the difference is undefined, though its enclosure is [0, 0]."""
    f = infimum.compile(lambda x: np.sqrt(0.3 - x[0] * 0.1) - x[0], 1)
    assert not f.value([3.0], [3.0]).empty and value(f.f, [3.0], 200) is walk.UNDEFINED
    assert bound(f, [(0, 9)], [(3, 3)]).upper[0] == INF and bound(f, [(0, 9)], [(2, 2)]).upper[0] < INF


def test_points_are_cut_nowhere_and_enclosed_tightly():
    f = infimum.compile(lambda x: np.exp(x[0]) * np.sin(x[1]), 2)
    x = np.random.default_rng(1).normal(size=(2, 20))
    b = Bounds(f, x, x, np.full(2, -9.0), np.full(2, 9.0))
    exact = f.value(x, x)
    assert same_bits(b.lower, exact.lo).all() and same_bits(b.upper, exact.hi).all() and same_bits(b.point, x).all()
    assert (b.new_lo == x).all() and (b.new_hi == x).all()


# ---- bits
def smooth(x):
    return np.sum(np.sin(3 * x) * x) + x[0] * x[-1] ** 3 - np.exp(-x[0])


def kinked(x):
    return np.linalg.norm(x) + np.abs(x[0] - x[-1]) + np.max(x) * 0.3


def partial(x):
    return np.sum(np.sqrt(x)) + np.log(x[0]) / x[-1] + np.sum(x**1.5)


def jumping(x):
    return np.where(x[0] > 0.25, np.floor(x[-1] * 2), np.sign(x[0])) + np.sum(x**2)


BITS = [(f, n) for f in (smooth, kinked, partial, jumping) for n in (1, 3)] + [(smooth, 20), (jumping, 20)]


@cache
def bits_case(f: Callable, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, list[np.ndarray]]:
    """(low, high, lo, hi, results by the definition) for a few boxes."""
    rng = np.random.default_rng(n)
    low, high = np.full(n, -2.0), np.full(n, 3.0)
    low[0], high[-1] = -INF, (1.0 if n > 1 else 3.0)
    count = 12 if n < 10 else 5
    lo, hi = within(rng, low, high, count)
    lo[:, 0], hi[:, 0] = 0.25, 0.75
    lo[:, 1], hi[:, 1] = np.where(np.isfinite(low), low, -2.0), high
    expected = Bounds(infimum.compile(f, n, backend=PythonBackend()), lo, hi, low, high).out
    return low, high, lo, hi, expected


@pytest.mark.parametrize(("f", "n"), BITS)
def test_the_bits_are_the_definitions(f, n, all_threads_work):  # noqa: F811
    """For every number of lanes and threads, in batches of several sizes."""
    low, high, lo, hi, expected = bits_case(f, n)
    for lanes in host().widths():
        for threads, boxes in ((1, lo.shape[1]), (1, 1), (2, 40), (3, 77)):
            order = np.random.default_rng(boxes).integers(0, lo.shape[1], boxes)
            e = infimum.compile(f, n, backend=CpuBackend(lanes=lanes, threads=threads))
            out = Bounds(e, lo[:, order], hi[:, order], low, high).out
            for found, wanted in zip(out, expected, strict=True):
                assert same_bits(found, np.ascontiguousarray(wanted[:, order])).all(), (lanes, threads, boxes)


def test_bounds_of_one_run_do_not_reach_the_next():
    f = infimum.compile(lambda x: x[0] + 0 * x[1], 2)
    box = [(1, 2), (0, 1)]
    assert bound(f, [(0, 2), (0, 1)], box).discard[0] == 1
    assert reduced(bound(f, [(1, 2), (0, 1)], box)) == [(1, 1), (0, 1)]
    assert bound(f, [(0, 2), (0, 1)], box).discard[0] == 1
