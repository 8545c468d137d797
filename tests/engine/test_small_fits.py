"""What makes fits of few data quick: few starts for perfect data, all variables cut where only places are asked for, regions
around one minimiser joined, facts of a function that are found once."""

import numpy as np
import pytest

import infimum
from infimum.backend.arrays import HostArrays
from infimum.evaluation.compile import compile
from infimum.kernel.region_cut import rows_of
from infimum.points.levenberg_marquardt import LevenbergMarquardt
from infimum.problem.settings import Goal
from infimum.search.branch_and_bound import BranchAndBound
from infimum.search.incumbent import Incumbent
from infimum.search.region_heap import RegionHeap

X = np.linspace(0.0, 3.0, 40)


def decay(p, x=X):
    return p[0] * np.exp(-p[1] * x)


@pytest.mark.parametrize(("points", "most"), ((40, 500), (20_000, 50)))
def test_perfect_data_are_met_from_a_few_starts(points, most):
    x = np.linspace(0.0, 3.0, points)
    f = compile(lambda p: np.sum((decay(p, x) - decay((4.0, 0.7), x)) ** 2), 2)
    lo, hi = np.zeros(2), np.full(2, 10.0)
    search = LevenbergMarquardt(f, lo, hi, (lo, hi), 0)
    search.enough = 1e-18
    for _ in search._steps():
        if search.value <= search.enough:
            break
    assert search.value <= search.enough and search.evaluations < most and np.allclose(search.x, (4.0, 0.7))


def bump(p):
    return p[0] * np.exp(-((X - p[1]) ** 2) / p[2] ** 2) * (1 - np.exp(-p[3] * (X + 0.1)))


TRUE = np.array([2.0, 1.3, 0.7, 3.0])


def squares(p):
    return np.sum((bump(p) - bump(TRUE)) ** 2)


BOX = [(0.1, 5.0), (0.0, 3.0), (0.2, 2.0), (0.1, 10.0)]


@pytest.mark.parametrize(("goal", "alike"), (({"atol": 1e-3, "xtol": 0.1}, True), ({"atol": 1e-3}, False),
                                             ({"atol": 0.0, "rtol": 1e-300, "xtol": 0.1}, False)))
def test_one_linear_parameter_of_four_is_cut_where_only_places_are_asked_for(monkeypatch, goal, alike):
    called, cut = [], BranchAndBound._cut_alike
    monkeypatch.setattr(BranchAndBound, "_cut_alike", lambda self: (called.append(1), cut(self)))
    r = infimum.minimize(squares, BOX, rtol=goal.pop("rtol", 0.0), max_boxes=3000, **goal)
    assert bool(called) == alike and r.lower <= 1e-20


@pytest.mark.parametrize(("model", "true", "box"), (
    (lambda p: p[0] * np.exp(-p[1] * X), (3.0, 0.8), [(0, 10), (0, 5)]),
    (lambda p: p[0] + p[1] * X + p[2] * np.exp(-((X - p[3]) ** 2)), (1.0, 0.2, 3.0, 1.4), [(-3, 3), (-1, 1), (0, 9), (0, 4)])))
def test_linear_parameters_are_cut_however_many_there_are(model, true, box):
    """Where the value is known and only places are asked for; twice begun is as once begun."""
    f = compile(lambda p: np.sum((model(p) - model(true)) ** 2), len(box))
    lo, hi = np.array(box, float).T
    for xtol, alike in ((0.1, True), (None, False)):
        incumbent = Incumbent(f, lo, hi)
        incumbent.offer(np.array(true)[:, None])
        branch = BranchAndBound(f, Goal(1e-3, 0.0, xtol), incumbent)
        spared = [part for part in branch.tests if part.eliminates]
        branch.begin(lo[:, None], hi[:, None])
        branch.begin_again(lo[:, None], hi[:, None])
        assert spared and branch.alike == alike and bool(set(spared) & set(branch.tests)) != alike


def test_such_a_run_goes_on_as_if_it_had_not_stopped(tmp_path):
    goal, path = {"atol": 1e-3, "rtol": 0.0, "xtol": 0.05}, tmp_path / "run.inf"
    whole = infimum.minimize(squares, BOX, max_boxes=6000, **goal)
    infimum.minimize(squares, BOX, max_boxes=2000, checkpoint=path, **goal)
    again = infimum.resume(path, squares, max_boxes=6000)
    assert again.nit == whole.nit and np.array_equal(again.regions.lo, whole.regions.lo)
    assert np.array_equal(again.regions.hi, whole.regions.hi)


def test_a_minimiser_on_a_cut_is_left_in_one_region():
    """Both minimisers, (±3, 2), lie on cuts: four regions each."""
    x = np.linspace(-8.0, 8.0, 200)

    def model(p):
        return -(p[0] ** 2) * x - p[1] ** 2 * x + 0.01 * p[0] ** 4 * x + 0.01 * p[1] ** 4 * x + 10 * p[1]
    y = model((3.0, 2.0))
    r = infimum.minimize(lambda p: np.sum((y - model(p)) ** 2), [(-8, 8)] * 2, atol=1e-3, rtol=0.0, xtol=1e-3)
    assert r.success and len(r.regions) == 2 and (r.regions.hi - r.regions.lo).max() <= 1e-3
    assert (3.0, 2.0) in r.regions and (-3.0, 2.0) in r.regions


def test_facts_of_an_equal_function_are_found_once():
    one, two = (compile(lambda p: np.sum((decay(p) - 1.5 * X) ** 2), 2) for _ in range(2))
    assert one is not two and one.facts.separable is two.facts.separable is not None
    assert compile(lambda p: np.sum((decay(p) - 2.5 * X) ** 2), 2).facts.separable is not one.facts.separable


def test_a_kernel_sees_the_columns_in_use():
    heap = RegionHeap(HostArrays(), 2)
    heap.add(np.arange(5.0 * rows_of(2)).reshape(rows_of(2), 5))
    assert heap.room > 100 and heap.columns().shape[1] == 5 and np.array_equal(heap.columns(), heap.data[:, :5])
    heap.add(np.zeros((rows_of(2), heap.room - 5)))
    assert heap.columns() is heap.data
