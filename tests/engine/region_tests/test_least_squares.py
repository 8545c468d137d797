"""Sums of squares: which functions have residuals, what the upper bound leaves of regions, and how few of them stay."""

from fractions import Fraction

import numpy as np
import pytest

import infimum
from infimum.backend.cpu import CpuBackend
from infimum.backend.python import PythonBackend
from infimum.bounds.interface import StepContext
from infimum.bounds.least_squares.gauss_newton import GaussNewton
from infimum.kernel.region_cut import DISCARDED_AXIS
from infimum.problem.settings import Goal
from infimum.search.branch_and_bound import BranchAndBound
from infimum.search.incumbent import Incumbent
from infimum.search.region_pool import Regions
from tests.random_kernels import same_bits

INF = np.inf
T = np.arange(-40, 40) / 16  # dyadic: sums of squares of dyadic lines are exact


def line(x):
    return np.sum((x[0] * T + x[1] - 0.5 * T + 0.25) ** 2)


def waves(x):
    """Three waves on parabolas: the Hessian is definite on 1e-5 around the minimiser (-4, -2, 2)."""
    return sum(0.05 * (np.linspace(-6, 6, 200) - v) ** 2 - np.cos(3 * (np.linspace(-6, 6, 200) - v)) for v in x)


def left_of(f, boxes, upper: float, backend=None) -> Regions:
    n = len(boxes[0])
    evaluator = infimum.compile(f, n, backend=backend)
    lo, hi = (np.array([[side[k] for side in box] for box in boxes], dtype=float).T for k in (0, 1))
    count = len(boxes)
    level = evaluator.value(lo, hi).level.astype(np.int8)
    regions = Regions(np.ascontiguousarray(lo), np.ascontiguousarray(hi), np.full(count, -INF), np.zeros(count, np.int32), level)
    part = GaussNewton(evaluator, np.full(n, -9.0), np.full(n, 9.0))
    return Regions.from_columns(part.test(regions.columns(), StepContext(upper)).regions)


@pytest.mark.parametrize(("f", "n", "has"), [
    (line, 2, True), (lambda x: np.sum((waves(x) - 1) ** 2), 3, True),
    (lambda x: np.sum(x**2), 3, False),                                    # no data
    (lambda x: np.sum((x[0] * T - x[1]) ** 4), 2, False),
    (lambda x: np.sum((x[0] * T - x[1]) ** 2) + x[0], 2, False),
    (lambda x: np.sum((x[0] * T - np.sum(np.cos(x[1] * T))) ** 2), 2, False),  # a sum within each residual
    (lambda x: np.sum((np.outer(T, x) @ np.ones(len(x))) ** 2), 9, False),
])
def test_which_functions_have_residuals(f, n, has):
    assert infimum.compile(f, n).facts.has_residuals == has


def test_a_line_is_fitted_at_once():
    """The equations of a linear model are exact: what is left is the box around the ellipse f <= U."""
    left = left_of(line, [[(-3, 2), (-4, 5)], [(1, 2), (1, 2)]], 0.0)
    assert np.abs(left.lo[:, 0] - [0.5, -0.25]).max() < 1e-13 > np.abs(left.hi[:, 0] - [0.5, -0.25]).max()
    assert (left.lo[:, 0] <= [0.5, -0.25]).all() and (left.hi[:, 0] >= [0.5, -0.25]).all() and left.axis[1] == DISCARDED_AXIS


@pytest.mark.parametrize("upper", (2.0**-30, 0.25, 7.0))
def test_points_below_the_upper_bound_stay(upper):
    """The ellipse f = U touches the sides of what is left, and no point within it is lost: judged in exact arithmetic."""
    left = left_of(line, [[(-3, 2), (-4, 5)]], upper)
    squares = [Fraction(t) ** 2 for t in T.tolist()]
    total, count, cross = sum(squares), len(T), sum(map(Fraction, T.tolist()))
    half = [float(np.sqrt(upper * a / (total * count - cross**2))) for a in (count, total)]
    for i, centre in enumerate((0.5, -0.25)):
        assert left.lo[i, 0] <= centre - half[i] * (1 - 1e-12) and left.hi[i, 0] >= centre + half[i] * (1 - 1e-12)
        assert left.hi[i, 0] - left.lo[i, 0] <= 2 * half[i] * (1 + 1e-9)


@pytest.mark.parametrize("beyond", (2.0**-20, 0.25, 7.0))
def test_what_no_line_can_mend_is_taken_off(beyond):
    """Data that no line meets: what is left is the box around the ellipse f <= U, less what every line misses. In exact
    arithmetic, the least of f and the ellipse."""
    data = np.round(8 * np.cos(5 * T)) / 8
    t, y, count = [Fraction(v) for v in T.tolist()], [Fraction(v) for v in data.tolist()], len(T)
    total, cross, sums = sum(v * v for v in t), sum(t), (sum(a * b for a, b in zip(t, y, strict=True)), sum(y))
    scale = total * count - cross**2
    best = [(count * sums[0] - cross * sums[1]) / scale, (total * sums[1] - cross * sums[0]) / scale]
    least = sum((best[0] * a + best[1] - b) ** 2 for a, b in zip(t, y, strict=True))
    upper = float(least) + beyond
    left = left_of(lambda x: np.sum((x[0] * T + x[1] - data) ** 2), [[(-3, 2), (-4, 5)], [(1, 2), (1, 2)]], upper)
    for i, a in enumerate((count, total)):
        half, centre = float((Fraction(upper) - least) * a / scale) ** 0.5, float(best[i])
        assert left.lo[i, 0] <= centre - half * (1 - 1e-12) and left.hi[i, 0] >= centre + half * (1 - 1e-12)
        assert left.hi[i, 0] - left.lo[i, 0] <= 2 * half * (1 + 1e-6)
    assert left.axis[1] == DISCARDED_AXIS
    below = left_of(lambda x: np.sum((x[0] * T + x[1] - data) ** 2), [[(-3, 2), (-4, 5)]], float(least) * (1 - 1e-9))
    assert below.axis.tolist() == [DISCARDED_AXIS], "no line is as good as that"


def test_an_unknown_upper_bound_says_nothing():
    boxes = [[(-3, 2), (-4, 5)], [(-INF, 2), (0, 1)], [(1, 1), (1, 1)]]
    for upper in (INF, 1e308):
        left = left_of(line, boxes, upper)
        assert (left.axis != DISCARDED_AXIS).all() and (left.lo.T == [[low for low, _ in box] for box in boxes]).all()
    assert left_of(line, boxes, 0.0).axis.tolist()[1:] == [0, DISCARDED_AXIS], "an unbounded region is left as it is"


def test_a_jump_is_no_slope():
    """On both sides the slope is the same, so that derivatives do not see it: the minimiser lies behind it."""
    def jump(x):
        return np.sum((np.where(x[0] < 0.5, x[0] + 1, x[0]) * T + x[1] - T / 2) ** 2)
    boxes = [[(0, 0.6), (-0.25, 0.25)], [(0.5, 0.6), (-0.25, 0.25)], [(0.51, 0.6), (-0.25, 0.25)], [(0, 0.49), (-0.25, 0.25)]]
    left = left_of(jump, boxes, 0.0)
    assert left.axis.tolist()[:2] == [0, 0] and (left.lo[0] == [0, 0.5, 0.51, 0]).all()
    assert (left.axis[2:] == DISCARDED_AXIS).all(), "beside it there is nothing"


@pytest.mark.parametrize("f", (line, lambda x: np.sum((waves(x) - waves([-4.0, -2.0, 2.0])) ** 2)))
def test_the_same_bits_as_the_definition(f):
    n = 2 if f is line else 3
    rng = np.random.default_rng(n)
    boxes = [[(c - r, c + r) for c in rng.uniform(-4, 4, n)] for r in (0.0, 1e-3, 0.1, 2.0)]
    one, other = (left_of(f, boxes, 1e-3, backend) for backend in (CpuBackend(), PythonBackend()))
    for a, b in zip(one._arrays(), other._arrays(), strict=True):
        assert same_bits(np.asarray(a, float), np.asarray(b, float)).all()


def test_regions_in_a_narrow_valley_become_one_each():
    y = waves([-4.0, -2.0, 2.0])
    r = infimum.minimize(lambda x: np.sum((y - waves(x)) ** 2), [(-5, -3), (-3, 0), (0, 3)], xtol=1e-3)
    assert r.success and len(r.regions) == 1 and [-4.0, -2.0, 2.0] in r.regions
    assert r.regions.width < 1e-9, "what is narrow enough is narrowed further where that is cheap"
    assert r.minimisers.exactly_one


def test_the_end_is_done_once():
    """Regions that are narrow enough, one with the minimiser: the others go, and a second end changes nothing."""
    f = infimum.compile(line, 2)
    lo, hi = np.full(2, -9.0), np.full(2, 9.0)
    incumbent = Incumbent(f, lo, hi)
    incumbent.offer(np.array([[0.5], [-0.25]]))
    branch = BranchAndBound(f, Goal(1e-3, 0.0, 1e-1), incumbent)
    low = np.array([[0.45, 0.55, 0.45, 0.35], [-0.3, -0.3, -0.2, -0.3]])
    branch.pool.replace(Regions(low, low + 0.1, np.zeros(4), np.zeros(4, np.int32), np.full(4, 3, np.int8)))
    branch.end()
    assert len(branch.pool) == 4 and branch.ended, "no costly part was tried: none is compiled at the end"
    branch.ended = False
    for part in branch.tests[1:]:
        part.payoff.judge(3, 1, 0)
    branch.end()
    left = branch.regions()
    assert len(left) == 1 and (left.hi - left.lo).max() < 1e-12 and (left.lo[:, 0] <= [0.5, -0.25]).all()
    boxes, state = branch.boxes, branch.state()
    again = BranchAndBound(f, Goal(1e-3, 0.0, 1e-1), incumbent)
    again.restore(state)
    again.end()
    assert again.boxes == boxes and again.ended


@pytest.mark.parametrize(("points", "batch", "full"), [(80, 8192, 512), (4000, 8192, 32), (4000, 1 << 17, 512), (4000, 64, 16)])
def test_costly_regions_are_cut_into_few_pieces(points, batch, full):
    """Unless the batch is that of a GPU, which has the lanes for more."""
    t = np.linspace(-1, 1, points)
    f = infimum.compile(lambda x: np.sum((x[0] * t + x[1] * t**2 - t) ** 2), 2)
    lo, hi = np.full(2, -3.0), np.full(2, 2.0)
    assert BranchAndBound(f, Goal(), Incumbent(f, lo, hi), batch).full == full


def test_a_costly_fit_takes_few_boxes():
    t = np.linspace(-8, 8, 2000)
    y = -13 * t + 0.97 * t + 20

    def misfit(p):
        return np.sum((y + p[0] ** 2 * t + p[1] ** 2 * t - 0.01 * (p[0] ** 4 + p[1] ** 4) * t - 10 * p[1]) ** 2)
    r = infimum.minimize(misfit, [(-8, 8)] * 2, xtol=1e-3, atol=1e-3)
    assert r.success and len(r.boxes) == 2 and [3.0, 2.0] in r.regions and [-3.0, 2.0] in r.regions and r.nfev < 1500
