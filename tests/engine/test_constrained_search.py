"""The search for good points with constraints: multipliers, boxes, integers, the same bits; and constraints at a point."""

import numpy as np
import pytest

from infimum.certify.constraints_at_point import at_point
from infimum.linear_algebra.lane_algebra import log_of_product
from infimum.points.constrained_search import ConstrainedSearch
from infimum.points.interior_point import InteriorPoint
from infimum.points.restoration import Restoration
from tests.engine.constrained_systems import CASES, INF, Case


def found(case: Case, rounds: int = 1, **given) -> ConstrainedSearch:
    search = ConstrainedSearch(case.evaluator(), case.lo, case.hi, **given)
    for steps in search.rounds()[:rounds]:
        for _ in steps:
            pass
    return search


def looked(search: ConstrainedSearch, lo: list, hi: list) -> np.ndarray:
    for _ in search.in_boxes(np.array(lo), np.array(hi)):
        pass
    return search.found


def stationary(case: Case, search: ConstrainedSearch) -> float:
    """How far ∇f + Σ y ∇c is from 0 in the variables that are not at their bounds."""
    slopes = case.evaluator().estimate_jacobian(search.x)[1]
    total = slopes[0] + search.multipliers @ slopes[1:]
    free = (search.x > case.lo + 1e-6) & (search.x < case.hi - 1e-6)
    return float(np.abs(total[free]).max(initial=0.0) / max(1.0, np.abs(slopes[0]).max()))


@pytest.mark.parametrize("name", ["hs14", "hs71", "g06", "15 equations"])
def test_multipliers_belong_to_the_point(name):
    case = CASES[name]
    search = found(case)
    assert stationary(case, search) < 1e-7
    for (c, low, high), y in zip(case.rows, search.multipliers, strict=True):
        gap = high - c(search.x) if y > 0 else c(search.x) - low
        assert y == 0 or abs(y * gap) < 1e-8 * max(1.0, abs(search.value))


def test_known_multipliers():
    """f falls by 1/√2 a unit of the circle's right side."""
    assert found(CASES["disc"]).multipliers == pytest.approx([2**-0.5], rel=1e-6)
    assert found(CASES["circle"]).multipliers == pytest.approx([2**-0.5], rel=1e-6)


def test_the_same_bits_each_time_and_other_ones_with_another_seed():
    case = CASES["g13"]
    one, two, other = found(case), found(case), found(case, seed=1)
    assert np.array_equal(one.x, two.x) and np.array_equal(one.multipliers, two.multipliers)
    assert one.evaluations == two.evaluations and not np.array_equal(one.x, other.x)


def test_how_many_lanes_go_together_changes_nothing():
    case, rng = CASES["hs40"], np.random.default_rng(1)
    points = rng.uniform(-2, 2, (4, 6))
    lo, hi = (np.repeat(end[:, None], 6, axis=1) for end in (case.lo, case.hi))
    together = InteriorPoint(case.evaluator(), lo, hi, points).run(20)
    for k in range(6):
        alone = InteriorPoint(case.evaluator(), lo[:, :1], hi[:, :1], points[:, k:k + 1]).run(20)
        assert np.array_equal(alone.x[:, 0], together.x[:, k]) and alone.error[0] == together.error[k]


def test_one_that_converged_ends_the_patience_with_those_that_do_not():
    """Beside a smooth minimiser at 4 there is one at 0, where the slope is infinite: no lane settles there."""
    case = Case(lambda x: np.sqrt(x[0]) * (x[0] - 4) ** 2, [(lambda x: x[0], -1, INF)], [(0, 5)])
    starts = np.array([[0.05, 3.8]])
    lo, hi = np.zeros((1, 2)), np.full((1, 2), 5.0)

    def steps(lanes: slice, **more) -> tuple[int, np.ndarray]:
        method = InteriorPoint(case.evaluator(), lo[:, lanes], hi[:, lanes], starts[:, lanes])
        return sum(1 for _ in method.steps(100, **more)), method.ends.error
    both, alone = slice(None), slice(0, 1)
    taken, error = steps(both, patience=6)
    assert error[0] > 2.0**-30 >= error[1] and taken < 40
    assert steps(both)[0] > 2 * taken and steps(alone, patience=6)[0] > 2 * taken
    assert steps(alone, patience=6, settled=True)[0] <= taken


def test_lanes_with_multipliers_go_on_where_others_begin_anew():
    case, first = CASES["hs71"], 2.0**-17
    lo, hi = case.lo[:, None], case.hi[:, None]
    ends = InteriorPoint(case.evaluator(), lo, hi, (lo + hi) / 2, last=first).run(40)
    assert ends.error[0] <= 2 * first
    steps = {}
    for name, given in (("on", {"first": first, "multipliers": ends.multipliers}), ("anew", {"first": 2.0**-13})):
        method = InteriorPoint(case.evaluator(), lo, hi, ends.x, **given)
        steps[name] = sum(1 for _ in method.steps(40))
        assert method.ends.error[0] <= 2.0**-36
    assert steps["on"] < steps["anew"]


def test_a_look_for_something_better_does_not_go_on_to_what_is_known():
    case = CASES["hs71"]
    search = found(case)
    best, before = search.x.copy(), search.evaluations
    lo, hi = (np.repeat(end[:, None], 2, axis=1) for end in (case.lo, case.hi))
    cost = {}
    for better in (True, False):
        for _ in search.in_boxes(lo, hi, better=better):
            pass
        cost[better], before = search.evaluations - before, search.evaluations
    assert cost[True] < cost[False] and np.allclose(search.x, best)


def test_given_points_are_begun_at():
    """A feasible set too small to be met by chance, and a bad place to begin."""
    case = Case(lambda x: -np.sum(x), [(lambda x: np.sum(np.cos(40 * x)), 2.999, INF)], [(-1, 1)] * 3)
    assert found(case, given=np.array([[0.95], [0.94], [0.93]])).value < -2.8


def test_in_boxes():
    case = CASES["disconnected"]
    search = ConstrainedSearch(case.evaluator(), case.lo, case.hi)
    right = looked(search, [[1.9], [-0.5]], [[2.1], [0.5]])
    x = np.linspace(1.9, 2.0, 10001)
    assert search.value == pytest.approx((x - np.sqrt(1 - (x**2 - 4) ** 2)).min(), abs=1e-6)
    assert np.array_equal(right[:, 0], search.x)
    both = looked(search, [[-2.1, 1.9], [-0.5, -0.5]], [[-1.9, 2.1], [0.5, 0.5]])
    assert both.shape[1] >= 2 and search.x[0] < -1.5 and search.value == pytest.approx(case.best)


def test_integers_are_rounded_and_the_others_solved_for_again():
    """A knapsack of five things with a continuous rest."""
    case = Case(lambda x: -np.sum(np.array([5.0, 4.0, 3.0, 7.0, 6.0]) * x[:5]) + (x[5] - 0.3) ** 2,
                [(lambda x: np.sum(np.array([2.0, 3.0, 1.0, 4.0, 3.0]) * x[:5]) + x[5], -INF, 7)], [(0, 1)] * 6,
                integers=(0, 1, 2, 3, 4))
    search = found(case)
    assert (search.x[:5] == np.rint(search.x[:5])).all() and search.violation < 1e-7
    assert search.value <= -14 + 0.1
    assert all((x[:5] == np.rint(x[:5])).all() for x in search.candidates())


def test_integers_stay_in_their_box():
    case = Case(lambda x: (x[0] - 3.6) ** 2 + (x[1] - 0.1) ** 2, [(lambda x: x[0] + x[1], -INF, 10)], [(0, 9)] * 2, integers=(0,))
    search = ConstrainedSearch(case.evaluator(), case.lo, case.hi)
    points = looked(search, [[5.5, 7.0], [0.0, 0.0]], [[6.5, 8.5], [1.0, 9.0]])
    assert set(points[0]) <= {6.0, 7.0, 8.0} and search.x == pytest.approx([6.0, 0.1])


def test_nothing_feasible_leaves_no_value():
    search = found(Case(lambda x: x[0], [(lambda x: x[0] ** 2, -INF, -1)], [(-1, 1)]))
    assert search.value == INF or search.violation > 1e-3
    assert (np.abs(search.x) <= 1).all()


def test_undefined_starts_do_no_harm():
    case = Case(lambda x: x[0] * np.log(x[0]), [(lambda x: np.sqrt(x[1] - 0.5) + x[0], -INF, 2)], [(-1, 3), (-1, 3)])
    assert found(case).value == pytest.approx(-np.exp(-1))
    nowhere = found(Case(lambda x: np.log(x[0]), [(lambda x: x[0], 0, INF)], [(-2, -1)]))
    assert nowhere.value == INF and np.isfinite(nowhere.x).all()


def test_restoration_reaches_equations():
    case = CASES["15 equations"]
    rng = np.random.default_rng(0)
    lo, hi = (np.repeat(end[:, None], 8, axis=1) for end in (case.lo, case.hi))
    restored = Restoration(case.evaluator(), lo, hi, rng.uniform(-3, 3, (20, 8)))
    before = restored.left.copy()
    for _ in restored.steps(30):
        pass
    assert (restored.left < 1e-12 * before).sum() >= 4 and (np.abs(restored.x) <= 3).all()


def test_where_no_variable_is_free_nothing_is_solved(monkeypatch):
    """With its integers fixed, a problem of whole numbers alone has nothing left to solve."""
    case = Case(lambda x: (x[0] - 1.6) ** 2 + (x[1] + 0.3) ** 2, [(lambda x: x[0] + 2 * x[1], -INF, 1)], [(-3, 3)] * 2,
                integers=(0, 1))
    lanes, begin = [], InteriorPoint.__init__

    def counted(self, evaluator, lo, hi, *args):
        lanes.append((lo < hi).any())
        begin(self, evaluator, lo, hi, *args)
    monkeypatch.setattr(InteriorPoint, "__init__", counted)
    search = found(case)
    assert search.x.tolist() == [1.0, 0.0] and search.violation == 0 and all(lanes)


def test_the_constraints_at_a_point():
    case = CASES["hs71"]
    search = found(case)
    state = at_point(case.evaluator(), (case.lo, case.hi), (search.x, search.x))
    assert state.active.all() and state.multipliers == pytest.approx(search.multipliers, abs=1e-5)
    assert 0 <= state.violation < 1e-8 and state.worst in (0, 1)
    inside = at_point(case.evaluator(), (case.lo, case.hi), (np.full(4, 3.0), np.full(4, 3.0)))
    assert inside.active.tolist() == [False, True] and 4 <= inside.violation < 4.00001 and inside.worst == 1
    assert inside.lo[0] <= 81 <= inside.hi[0] and inside.multipliers[0] == 0


def test_undefined_constraints_may_be_broken_by_anything():
    case = Case(lambda x: x[0], [(lambda x: np.log(x[0]), -INF, 0)], [(-1, 1)])
    state = at_point(case.evaluator(), (case.lo, case.hi), (np.array([-0.5]), np.array([-0.5])))
    assert state.violation == INF and (state.lo[0], state.hi[0]) == (-INF, INF)


def test_logarithms():
    rng = np.random.default_rng(3)
    a = np.exp(rng.uniform(-700, 700, (5, 50)))
    assert log_of_product(a) == pytest.approx(np.log(a).sum(axis=0), rel=1e-13, abs=1e-12)
    assert np.isnan(log_of_product(np.array([[0.0], [1.0]])))[0]


def test_an_inequality_of_variables_that_are_held_leaves_room():
    """0 <= 2·0 has no room for a slack: without it the lane converges at once."""
    rows = [(lambda x: x[1] - 2 * x[2], -INF, 0), (lambda x: x[0] + x[1], -INF, 3)]
    case = Case(lambda x: (x[0] - 1) ** 2 + x[1], rows, [(0, 4)] * 3)
    lo, hi = np.zeros((3, 1)), np.array([[4.0], [0.0], [0.0]])
    ends = InteriorPoint(case.evaluator(), lo, hi, np.array([[3.0], [0.0], [0.0]]), last=2.0**-37).run(25)
    assert ends.error[0] <= 2.0**-36 and ends.x[0, 0] == pytest.approx(1.0, abs=1e-6) and not ends.multipliers[0].any()


def test_boxes_without_points_are_left_out_and_what_follows_is_held():
    """x0 <= 5 x1 and x0 + x2 >= 2: nothing but x0 = 0 where x1 is 0, and nothing at all where x2 is 0 too. x3 has no end."""
    rows = [(lambda x: x[0] - 5 * x[1], -INF, 0), (lambda x: x[0] + x[2], 2, INF), (lambda x: x[3] + x[2], 0, INF)]
    case = Case(lambda x: x[0] + x[3], rows, [(0, 9), (0, 1), (0, 9), (0, INF)])
    search = ConstrainedSearch(case.evaluator(), case.lo, case.hi)
    lo = np.array([[0.0, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0, 0]]).T
    hi = np.array([[9, 0, 9, INF], [9, 1, 9, INF], [9, 0, 0, INF]]).T
    left, low, high = search._held(lo, hi)
    assert left.tolist() == [0, 1] and low[:, 0].tolist() == [0, 0, 0, 0] and high[:, 0].tolist() == [0, 0, 9, INF]
    assert high[:, 1].tolist() == [9, 1, 9, INF]


def test_curvature_of_the_rows_that_are_not_linear_is_that_of_all():
    rows = [(lambda x: x[0] * x[1] + x[2], -INF, 3), *[(lambda x, k=k: x[0] + k * x[1] - x[2], -INF, 4) for k in range(4)]]
    case = Case(lambda x: x[0] + x[2], rows, [(0, 2)] * 3)
    method = InteriorPoint(case.evaluator(), *(np.repeat(end[:, None], 5, axis=1) for end in (case.lo, case.hi)),
                           np.random.default_rng(3).uniform(0, 2, (3, 5)))
    assert method.barrier.curved.tolist() == [False, True, False, False, False, False]
    method.lanes.y = np.random.default_rng(4).normal(size=method.lanes.y.shape)
    some = method._curvature(method.lanes)
    method.barrier.curved = np.ones(6, bool)
    assert some == pytest.approx(method._curvature(method.lanes), abs=1e-6) and np.abs(some).max() > 0.1
