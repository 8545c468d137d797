"""Many starts between the steps of a search: they find the lowest of many local minima, and resumed runs take the same course."""

import numpy as np
import pytest

import infimum
from infimum.evaluation.evaluator import Evaluator
from infimum.points.constrained_search import ConstrainedSearch
from infimum.points.diving.many_starts import ManyStarts
from infimum.trace.constraint_reading import read_constraints
from infimum.trace.trace import trace


def apart(i, j, least):
    return lambda x: (x[2 * i] - x[2 * j]) ** 2 + (x[2 * i + 1] - x[2 * j + 1]) ** 2 >= least


# five circles of diameter 1 in a strip of height 1.2, as far to the left as possible
CIRCLES = [apart(i, j, 1.0) for i in range(5) for j in range(i)]
STRIP = [(0, 6) if k % 2 == 0 else (0, 0.2) for k in range(10)]



def search_of(seed=0):
    system = read_constraints(CIRCLES, 10).system(trace(lambda x: (x[0::2] ** 2).sum(), 10))
    evaluator, (lo, hi) = Evaluator(system.f, 10, system=system), (np.array(end, float) for end in zip(*STRIP, strict=True))
    return evaluator, ConstrainedSearch(evaluator, lo, hi, seed)


def test_a_round_finds_points_where_most_starts_break_the_constraints():
    evaluator, search = search_of()
    for _ in ManyStarts(evaluator, search).round(1, None, np.inf):
        pass
    gap = np.sqrt(0.96)
    assert search.violation < 1e-8 and search.value < 1.05 * sum((k * gap) ** 2 for k in range(5))
    first, points = search.value, search.found
    again = search_of()[1]
    for _ in ManyStarts(evaluator, again).round(1, None, np.inf):
        pass
    assert again.value == first and np.array_equal(again.found, points)  # nothing depends on what was drawn before


def test_a_round_around_the_best_point_never_forgets_it():
    evaluator, search = search_of()
    for _ in search.rounds()[0]:
        pass
    best, value = search.x.copy(), search.value
    for _ in ManyStarts(evaluator, search).round(2, best, value):
        pass
    assert search.value <= value


def test_values_of_the_best_point_are_exchanged():
    evaluator, search = search_of()
    best, draws = np.arange(10) / 50.0, np.random.default_rng(0).random((10, 12))
    points = ManyStarts(evaluator, search)._exchanged(best, draws)
    assert {int((point != best).sum()) for point in points.T} == {2, 4}
    assert all(sorted(point) == sorted(best) for point in points.T)
    for n in (1, 2, 3):  # not enough for two pairs
        few = ConstrainedSearch(evaluator, np.zeros(n), np.ones(n))
        assert ManyStarts(evaluator, few)._exchanged(best[:n], draws[:n]).shape == (n, 12)
    beyond = ManyStarts(evaluator, search)._exchanged(best * 10, draws)
    assert ((beyond >= search.lo[:, None]) & (beyond <= search.hi[:, None])).all()


@pytest.mark.parametrize("stop", [3000, 9000])
def test_a_run_that_is_resumed_takes_the_same_course(tmp_path, stop):
    f = lambda x: x[0] * x[1] - x[2] * x[3] + np.sin(3 * x[0]) * x[2]  # noqa: E731
    rows = [lambda x: x[0] ** 2 + x[1] * x[3] >= 1, lambda x: x[2] * x[1] - x[0] * x[3] == 0.3]
    call = {"bounds": [(-2, 2)] * 4, "constraints": rows, "rtol": 0.0, "atol": 0.0}
    whole = infimum.minimize(f, max_boxes=20000, **call)
    infimum.minimize(f, max_boxes=stop, checkpoint=tmp_path / "run.inf", **call)
    resumed = infimum.resume(tmp_path / "run.inf", f, constraints=rows, max_boxes=20000)
    assert (resumed.upper, resumed.lower, resumed.nfev) == (whole.upper, whole.lower, whole.nfev)
