"""The interval Newton step: its division, what it leaves, and minimisers that other programs have lost."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import infimum
from infimum.backend.python import PythonBackend
from infimum.bounds.function_bounds.interval_newton import IntervalNewton
from infimum.bounds.interface import StepContext
from infimum.interval.pair import Pair
from infimum.kernel.box_conclusions import parts_left
from infimum.kernel.ir import Builder
from infimum.kernel.region_cut import DISCARDED_AXIS
from infimum.search.region_pool import Regions
from tests.random_kernels import same_bits

INF = np.inf
ENDS = st.sampled_from([-INF, -1e308, -3.0, -1.0, -0.1, -5e-324, 0.0, -0.0, 5e-324, 1 / 3, 1.0, 2.0, 7.0, 1e308, INF]) \
    | st.floats(-10, 10)


def pair(finite: bool = False) -> st.SearchStrategy:
    ends = ENDS.filter(np.isfinite) if finite else ENDS
    return st.tuples(ends, ends).map(sorted).filter(lambda p: p[0] < INF and p[1] > -INF)


@pytest.fixture(scope="module")
def division():
    b = Builder()
    v, m, d = (Pair(b.neg(b.input(0, 2 * k)), b.input(0, 2 * k + 1)) for k in range(3))
    for row, end in enumerate(parts_left(b, v, m, d)):
        b.output(0, row, end)
    compiled = PythonBackend().compile(b.kernel("division", 1, 1))

    def left(v, m, d):
        out = np.empty((4, 1))
        compiled.run([np.array([*v, *m, *d], dtype=float)[:, None]], [out], np.zeros(1), np.zeros(1, np.int64))
        return tuple(out[:, 0].tolist())
    return left


def below(x: float, y: Fraction) -> bool:
    return x == -INF or (x < INF and Fraction(x) <= y)


def above(x: float, y: Fraction) -> bool:
    return x == INF or (x > -INF and Fraction(x) >= y)


def number(x: float, infinite: int) -> Fraction:
    """The double, with a number of so many digits for infinity."""
    return Fraction(x) if np.isfinite(x) else (1 if x > 0 else -1) * Fraction(10) ** infinite


def may_be(t: Fraction, v: list, m: list) -> bool:
    """Is there a number in m whose product with t is in v?"""
    low, high = sorted(number(end, 4000) * t for end in m)
    return low <= number(v[1], 8000) and number(v[0], 8000) <= high


@settings(max_examples=400, deadline=None)
@given(pair(), pair(), pair(finite=True))
@example([1.0, 2.0], [-1.0, 1.0], [-0.5, 3.0])
@example([-2.0, -1.0], [-1.0, 2.0], [-0.25, 0.25])
@example([1.0, 2.0], [0.0, 1.0], [-4.0, 4.0])
@example([1.0, 1.0], [-0.0, 0.0], [-4.0, 4.0])
@example([0.0, 0.0], [1.0, 2.0], [-4.0, 4.0])
@example([-INF, INF], [1.0, 2.0], [-4.0, 4.0])
def test_the_division_loses_no_solution(division, v, m, d):
    low, high, before, behind = division(v, m, d)
    assert not np.isnan(low) and not np.isnan(high) and (low >= d[0] and high <= d[1])
    near = [Fraction(end) for end in (before, behind) if before < behind]
    for t in [Fraction(d[0]) + (Fraction(d[1]) - Fraction(d[0])) * k / 8 for k in range(9)] + [
            end + Fraction(1, 2**k) * (sum(near) / 2 - end) for end in near for k in (1, 20, 60)]:
        if may_be(t, v, m):
            assert below(low, t) and above(high, t), t
            assert not before < behind or above(before, t) or below(behind, t), t


@pytest.mark.parametrize(("v", "m", "d", "left"), [
    ([2, 4], [1, 2], [-9, 9], (1, 4)), ([2, 4], [-2, -1], [-9, 9], (-4, -1)), ([-4, 2], [1, 2], [-9, 9], (-4, 2)),
    ([1, 2], [-1, 1], [-0.5, 9], (1, 9)), ([1, 2], [-1, 1], [-9, 0.5], (-9, -1)), ([1, 2], [-1, 1], [-9, 9], (-9, 9)),
    ([-2, -1], [-1, 2], [-0.25, 9], (1, 9)), ([1, 2], [0, 1], [-9, 9], (1, 9)), ([1, 2], [-1, 0], [-9, 9], (-9, -1)),
    ([-1, 1], [-1, 1], [-9, 9], (-9, 9)),
])
def test_the_division_is_sharp(division, v, m, d, left):
    assert division(v, m, d)[:2] == left


@pytest.mark.parametrize(("v", "m", "d", "gap"), [
    ([1, 2], [-1, 1], [-9, 9], (-1, 1)), ([1, 2], [-1, 4], [-9, 9], (-1, 0.25)), ([-2, -1], [-1, 4], [-9, 9], (-0.25, 1)),
    ([1, 2], [-1, 1], [-1, 1], (-1, 1)), ([1, 2], [-1, 1], [-0.5, 9], (INF, -INF)), ([-1, 2], [-1, 1], [-9, 9], (INF, -INF)),
    ([1, 2], [1, 2], [-9, 9], (INF, -INF)), ([1, 2], [0, 1], [-9, 9], (INF, -INF)),
])
def test_two_parts_leave_a_gap(division, v, m, d, gap):
    assert division(v, m, d)[2:] == gap


@pytest.mark.parametrize(("v", "m", "d"), [([1, 2], [-1, 1], [-0.5, 0.5]), ([5, 6], [1, 2], [-1, 1]), ([1, 2], [0, 0], [-9, 9])])
def test_nothing_may_be_left(division, v, m, d):
    low, high, *_ = division(v, m, d)
    assert low > high


def newton_of(f, n: int, user: list, boxes: list, backend=None) -> Regions:
    evaluator = infimum.compile(f, n, backend=backend)
    low, high = np.array(user, dtype=float).T
    lo, hi = (np.array([[side[k] for side in box] for box in boxes], dtype=float).T for k in (0, 1))
    count = len(boxes)
    level = evaluator.value(lo, hi).level.astype(np.int8)
    regions = Regions(np.ascontiguousarray(lo), np.ascontiguousarray(hi), np.full(count, -INF), np.zeros(count, np.int32), level)
    return Regions.from_columns(IntervalNewton(evaluator, low, high).test(regions.columns(), StepContext(INF)).regions)


def bowl(x):
    return (x[0] - 0.25) ** 2 + (x[0] - 0.25) * (x[1] + 0.5) + (x[1] + 0.5) ** 2


def test_a_quadratic_function_is_solved_at_once():
    left = newton_of(bowl, 2, [(-9, 9)] * 2, [[(-3, 2), (-4, 5)], [(1, 2), (1, 2)]])
    assert np.abs(left.lo[:, 0] - [0.25, -0.5]).max() < 1e-14 > np.abs(left.hi[:, 0] - [0.25, -0.5]).max()
    assert (left.lo[:, 0] <= [0.25, -0.5]).all() and (left.hi[:, 0] >= [0.25, -0.5]).all()
    assert left.axis[1] == DISCARDED_AXIS


def test_on_a_bound_no_derivative_vanishes():
    """The whole minimum of x0 + … lies on the user's bound; the other variable is narrowed all the same."""
    boxes = [[(0, 1), (-2, 2)], [(0, 0), (-2, 2)], [(0.5, 1), (-1, 1)]]
    left = newton_of(lambda x: x[0] + (x[1] - x[0]) ** 2, 2, [(0, 4), (-4, 4)], boxes)
    assert left.axis[0] != DISCARDED_AXIS and left.lo[0, 0] == 0.0 and left.lo[1, 0] <= 0 <= left.hi[1, 0]
    assert left.axis[1] != DISCARDED_AXIS and (left.lo[:, 1] == [0, 0]).all() and abs(left.hi[1, 1]) < 1e-14
    assert left.axis[2] == DISCARDED_AXIS


def test_where_the_function_is_concave_there_is_no_minimiser_but_on_bounds():
    left = newton_of(lambda x: np.cos(x[0]), 1, [(-1, 9)], [[(-0.5, 1)], [(-1, 1)], [(2, 4)]])
    assert left.axis[0] == DISCARDED_AXIS and left.axis[1] != DISCARDED_AXIS and (left.lo[0, 1], left.hi[0, 1]) == (-1, 1)
    assert left.axis[2] != DISCARDED_AXIS and left.lo[0, 2] <= np.pi <= left.hi[0, 2] and left.hi[0, 2] - left.lo[0, 2] < 1.2


def test_the_negative_part_of_a_second_derivative_counts():
    """Where it is left out, this minimiser is lost."""
    minimiser = np.pi + np.arcsin(0.01)
    left = newton_of(lambda x: np.cos(x[0]) - 0.01 * x[0], 1, [(-9, 9)], [[(-5.2, 3.2)]])
    assert left.axis[0] != DISCARDED_AXIS and left.lo[0, 0] <= minimiser <= left.hi[0, 0]


@pytest.mark.parametrize("f", [lambda x: np.abs(x[0]) + x[1] ** 2, lambda x: np.maximum(x[0], 0.0) ** 2 + x[1] ** 2,
                               lambda x: x[0] * np.abs(x[0]) + x[1] ** 2])
def test_kinks_of_the_gradient_stop_it(f):
    left = newton_of(f, 2, [(-9, 9)] * 2, [[(-1, 1), (-2, 1)]])
    assert left.axis[0] != DISCARDED_AXIS and (left.lo[:, 0] == [-1, -2]).all() and (left.hi[:, 0] == [1, 1]).all()


def test_unbounded_regions_stay_as_they_are():
    left = newton_of(bowl, 2, [(-INF, INF)] * 2, [[(1, INF), (1, 2)]])
    assert left.axis[0] != DISCARDED_AXIS and (left.lo[:, 0] == [1, 1]).all() and (left.hi[:, 0] == [INF, 2]).all()


def test_a_singular_middle_is_no_harm():
    """The Hessian of (x + y)**2 has no inverse: every minimiser on the line stays."""
    left = newton_of(lambda x: (x[0] + x[1]) ** 2 + 0 * x[0], 2, [(-9, 9)] * 2, [[(-1, 1), (-1, 1)], [(1, 2), (1, 2)]])
    assert left.axis[0] != DISCARDED_AXIS and (left.lo[:, 0] == -1).all() and (left.hi[:, 0]
                                                                               == 1).all() and left.axis[1] == DISCARDED_AXIS


def test_the_bits_of_the_definition():
    def f(x):
        return np.sum(np.sin(3 * x) * x**2) + np.exp(x[0] * x[1]) + x[2] ** 4 * x[1]
    rng = np.random.default_rng(0)
    lows, sizes = rng.uniform(-2, 1, (24, 3)), rng.choice([1e-6, 0.01, 0.3, 1.0], (24, 3))
    boxes = [list(zip(low, low + size, strict=True)) for low, size in zip(lows, sizes, strict=True)]
    one, two = (newton_of(f, 3, [(-2, 2)] * 3, boxes, backend) for backend in (None, PythonBackend()))
    assert same_bits(one.columns(),
                     two.columns()).all() and (one.axis == DISCARDED_AXIS).any() and (one.axis != DISCARDED_AXIS).any()


def test_a_fit_leaves_one_region():
    """Regions no longer cluster around the minimiser of a sum of squares."""
    x = np.linspace(0, 1, 40)
    y = 0.3 * np.sin(25 * x + 4)
    bounds = [(0.1, 1), (0.6, 63), (0, 6.28)]
    r = infimum.minimize(lambda p: np.sum((y - p[0] * np.sin(p[1] * x + p[2])) ** 2), bounds, atol=1e-3, rtol=0.0, xtol=1e-6)
    assert r.verdict.name == "PROVED" and len(r.regions) == 1
    assert np.abs(r.x - [0.3, 25, 4]).max() < 1e-6
