"""Second-order Taylor bounds of sums of parabolas, of which everything is known: f = sum(a x**2 + b x), in rational numbers."""

from fractions import Fraction

import numpy as np
import pytest

import infimum
from infimum.backend.python import PythonBackend
from infimum.bounds.function_bounds.taylor_bound import TaylorBound
from infimum.bounds.interface import StepContext
from infimum.kernel.region_cut import DISCARDED_AXIS, rows
from tests.random_kernels import same_bits

INF = np.inf
BENDS, SLOPES = (1, -2, 0, 3), (1, 1, 3, -20)  # convex, concave, straight, convex with a vertex far away
LINES, GRID = rows(4), 64
USER = np.full(4, -8.0), np.full(4, 8.0)


def parabolas(x):
    return sum(a * x[i] ** 2 + b * x[i] for i, (a, b) in enumerate(zip(BENDS, SLOPES, strict=True)))


def term(i: int, x: Fraction) -> Fraction:
    return BENDS[i] * x * x + SLOPES[i] * x


def least(i: int, lo: Fraction, hi: Fraction) -> Fraction:
    """The least value of a term on [lo, hi]."""
    vertex = [Fraction(-SLOPES[i], 2 * BENDS[i])] if BENDS[i] else []
    return min(term(i, x) for x in (lo, hi, *vertex) if lo <= x <= hi)


def drawn(count: int) -> np.ndarray:
    """Regions with ends on a grid, some sides of a single point."""
    rng = np.random.default_rng(count)
    lo = rng.integers(-4 * GRID, 4 * GRID, (4, count)) / GRID
    hi = lo + rng.integers(0, 2 * GRID, (4, count)) * rng.choice([0, 1, 1, 1], (4, count)) / GRID
    return np.concatenate([lo, hi, np.full((1, count), -INF), np.zeros((1, count)), np.full((1, count), 3.0)])


def left_of(regions: np.ndarray, upper: float, f=parabolas, backend=None) -> np.ndarray:
    part = TaylorBound(infimum.compile(f, 4, backend=backend), *USER)
    return part.test(regions, StepContext(upper)).regions


@pytest.mark.parametrize("upper", [-40.0, -15.0, 0.0, 12.5])
def test_the_bound_is_the_minimum_and_no_point_below_the_upper_bound_is_lost(upper):
    regions, counts = drawn(60), {"gone": 0, "narrower": 0}
    left = left_of(regions, upper)
    for before, after in zip(regions.T, left.T, strict=True):
        ends = [(Fraction(before[i]), Fraction(before[4 + i])) for i in range(4)]
        lows = [least(i, *sides) for i, sides in enumerate(ends)]
        assert float(sum(lows)) - 1e-10 < after[LINES[0]] <= sum(lows)
        assert (after[LINES[1]] == DISCARDED_AXIS) == (sum(lows) > upper)
        counts["gone"] += sum(lows) > upper
        for i, (lo, hi) in enumerate(ends if sum(lows) <= upper else ()):
            room = Fraction(upper) - sum(lows) + lows[i]
            kept = [x for k in range(int((hi - lo) * GRID) + 1) if term(i, x := lo + Fraction(k, GRID)) <= room]
            assert all(after[i] <= x <= after[4 + i] for x in kept)
            if BENDS[i] > 0 and kept:  # between the roots of a parabola
                assert after[i] > kept[0] - Fraction(1, GRID) and after[4 + i] < kept[-1] + Fraction(1, GRID)
            counts["narrower"] += (after[i], after[4 + i]) != (lo, hi)
    assert counts["gone"] > 3 and counts["narrower"] > 3


@pytest.mark.parametrize("upper", [-60.0, -15.0, 20.0])
def test_ends_are_rounded_outward(upper):
    """Outside of what is left the term of a variable is larger than the room for it, and so it is no smaller at the end."""
    regions, ends = drawn(4000), 0
    for before, after in zip(regions.T, left_of(regions, upper).T, strict=True):
        if after[LINES[1]] != DISCARDED_AXIS and (after[:8] != before[:8]).any():
            lows = [least(i, Fraction(before[i]), Fraction(before[4 + i])) for i in range(4)]
            for k in np.flatnonzero(after[:8] != before[:8]):
                i = k % 4
                assert term(i, Fraction(after[k])) >= Fraction(upper) - sum(lows) + lows[i]
                ends += 1
    assert ends > 100


def test_mixed_derivatives_count_in_full():
    """x y + z w falls to -8 on this box; the sizes of the mixed derivatives are all that is known, and here that is exact."""
    region = np.array([[-2.0] * 4 + [2.0] * 4 + [-INF, 0.0, 3.0]]).T
    assert left_of(region, 1.0, lambda x: x[0] * x[1] + x[2] * x[3])[LINES[0], 0] == -8


@pytest.mark.parametrize("f", [
    lambda x: np.sum(np.abs(x)), lambda x: np.sum(np.floor(x)), lambda x: np.sum(np.sqrt(x)), lambda x: np.sum(1 / x),
    lambda x: np.sum(x * np.abs(x))])
def test_where_f_is_not_smooth_nothing_is_concluded(f):
    region = np.array([[-1.0] * 4 + [2.0] * 4 + [-INF, 0.0, 0.0]]).T
    assert (left_of(region, -100.0, f) == region).all()


def test_an_unbounded_region_stays():
    region = np.array([[-INF, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0, -INF, 0.0, 3.0]]).T
    assert (left_of(region, -100.0) == region).all()


def test_the_bits_of_the_definition():
    regions = drawn(16)
    for f in (parabolas, lambda x: np.sum(np.exp(x[1:] * x[:-1])) + np.cos(x[0])):
        assert same_bits(left_of(regions, 5.0, f), left_of(regions, 5.0, f, PythonBackend())).all()
