"""Constraints and several start boxes: the minimum over the feasible points of their union."""

import numpy as np
import pytest

import infimum
from infimum import Verdict
from infimum.bounds.bound_order import region_tests_of
from infimum.bounds.interface import StepContext
from infimum.bounds.start_faces import StartFaces
from infimum.kernel.region_cut import DISCARDED_AXIS
from infimum.points.constrained_search import ConstrainedSearch
from infimum.problem.start_boxes import StartBoxes
from tests.engine.constrained.planted_systems import INF, check_nothing_lost, evaluator_of, planted, regions_around

STAIRS = [[(0, 1), (0, 1)], [(0, 1), (1, 2)], [(1, 2), (1, 2)]]  # without [1, 2] x [0, 1]
BOUNDS = [(-2, 3)] * 2

# function, constraints, boxes, the minimum, all minimisers: on faces of boxes and on active constraints
CASES = {
    "on a face where f still falls": (lambda x: -x[0], lambda x: x[1] <= 0.75, STAIRS, {}, -1.0, [(1, 0.5), (1, 0), (1, 0.75)]),
    "at a reentrant corner": (lambda x: (x[0] - 2) ** 2 + x[1], lambda x: x[0] + x[1] >= 1, STAIRS, {}, 1.0, [(1, 0), (2, 1)]),
    "on a curve": (lambda x: x[0] + x[1], lambda x: x[0] * x[1] == 1, STAIRS, {}, 2.0, [(1, 1)]),
    "on a curve that leaves the union": (lambda x: x[1] - x[0], lambda x: x[0] * x[1] == 1, STAIRS, {}, 0.0, [(1, 1)]),
    "of whole numbers": (lambda x: (x[0] - 1.625) ** 2 + (x[1] - 0.375) ** 2, lambda x: x[0] + x[1] <= 5, STAIRS,
                         {"integrality": 1}, 0.53125, [(1, 0), (2, 1)]),
    "apart": (lambda x: x[0] ** 2 + x[1], lambda x: x[1] >= 0, [[(-2, -1), (-1, 1)], [(1.5, 3), (-1, 1)]], {}, 1.0, [(-1, 0)]),
}


@pytest.mark.parametrize("engine", ("auto", "complete", "subdomain"))
@pytest.mark.parametrize("name", CASES)
def test_the_minimum_is_that_of_the_union(name, engine):
    fun, constraints, boxes, more, minimum, minimisers = CASES[name]
    r = infimum.minimize(fun, BOUNDS, constraints=constraints, start_boxes=boxes, engine=engine, atol=1e-2, rtol=0.0, **more)
    assert r.verdict is Verdict.PROVED and r.lower <= minimum + 1e-15 and minimum <= r.upper + 1e-9
    assert all(np.array(x, float) in r.regions for x in minimisers)
    assert any(all(a <= v <= b for v, (a, b) in zip(r.x, box, strict=True)) for box in boxes)
    assert r.message.endswith(f"all this is about the union of the {len(boxes)} start boxes, not about the rest of the bounds")


@pytest.mark.parametrize("name", CASES)
def test_narrow_regions_hold_all_minimisers(name):
    """Second order goes by the boxes as well: a minimiser on a face of one is none of the bounds."""
    fun, constraints, boxes, more, minimum, minimisers = CASES[name]
    r = infimum.minimize(fun, BOUNDS, constraints=constraints, start_boxes=boxes, atol=1e-6, rtol=0.0, xtol=0.05, **more)
    assert r.verdict is Verdict.PROVED and r.lower <= minimum + 1e-15 and minimum <= r.upper + 1e-9
    assert all(np.array(x, float) in r.regions for x in minimisers)
    for found in r.minimisers or ():
        if found.may_be_global:
            assert any(((found.lo <= x) & (x <= found.hi)).all() for x in np.array(minimisers, float))


@pytest.mark.parametrize("engine", ("auto", "complete", "subdomain"))
def test_feasible_points_of_the_bounds_do_not_count(engine):
    """The gap in the stairs is where all feasible points are."""
    r = infimum.minimize(lambda x: x[0], BOUNDS, constraints=lambda x: (x[0] - 1.5) ** 2 + (x[1] - 0.5) ** 2 <= 0.2,
                         start_boxes=STAIRS, engine=engine)
    assert r.verdict is Verdict.INFEASIBLE
    r = infimum.minimize(lambda x: x[0], BOUNDS, start_boxes=[[(0.25, 0.75), (0, 1)], [(1.25, 1.5), (0, 1)]], integrality=[1, 0],
                         engine=engine)
    assert r.verdict is Verdict.INFEASIBLE


@pytest.mark.parametrize("engine", ("auto", "complete"))
def test_a_run_that_is_resumed_knows_its_boxes(engine, tmp_path):
    def fun(x):
        return np.sum(x**4 - 3 * x**2 * np.cos(5 * x)) + x[0] * x[1] * x[2]

    def constraints(x):
        return x[0] * x[1] + x[2] ** 2 <= 0.5
    boxes, bounds = [[(-2, 0), (0, 2), (-2, 2)], [(0, 2), (0, 1), (0, 2)], [(0, 2), (-1, 0), (-2, -1)]], [(-2, 2)] * 3
    settings = {"engine": engine, "atol": 1e-2, "rtol": 0.0, "xtol": 0.1, "start_boxes": boxes, "constraints": constraints}
    settings |= {"options": {"partition": (2, 4)}} if engine == "complete" else {"batch": 16}
    whole = infimum.minimize(fun, bounds, **settings)
    path = tmp_path / "run.inf"
    part = infimum.minimize(fun, bounds, **settings, max_boxes=100, checkpoint=path)
    rest = infimum.resume(path, fun, constraints=constraints)
    assert part.verdict is Verdict.STOPPED and whole.verdict is rest.verdict is Verdict.PROVED
    assert (rest.lower, rest.upper, rest.nit, rest.nfev, rest.regions, rest.message) == (
        whole.lower, whole.upper, whole.nit, whole.nfev, whole.regions, whole.message)


@pytest.mark.parametrize("seed", range(6))
def test_no_part_goes_by_the_faces_of_the_hull(seed):
    """Regions around planted points that end at a face of a start box, inside the hull: there first order says nothing."""
    at, rng = planted(seed, 2, equations=seed % 2), np.random.default_rng(seed)
    p = at.points[:, 0]
    start = StartBoxes(np.stack([p, at.lo], axis=1), np.stack([at.hi, np.maximum(p - 0.25, at.lo)], axis=1))
    before = regions_around(rng, at, 64)
    before[:2], before[2:4] = np.maximum(before[:2], p[:, None]), np.maximum(before[2:4], p[:, None])
    for part in region_tests_of(at.evaluator, *start.hull, start):
        assert isinstance(part.faces, StartFaces)
        if part.name != "lagrangian":  # has not learned anything
            for upper in (INF, float(max(at.values))):
                check_nothing_lost(at, before, part.test(before.copy(), StepContext(upper)).regions, upper, DISCARDED_AXIS)


def test_lines_reduce_nothing_to_a_face_in_start_boxes():
    """f rises with x0 and nothing is in the way: all but the lower face would go, if it were that of the bounds."""
    e = evaluator_of(lambda x: x[0] + x[1], [(lambda x: x[1], -INF, 9.0)], 2)
    start = StartBoxes(np.array([[0.0, 2.0], [0.0, 0.0]]), np.array([[1.0, 3.0], [1.0, 1.0]]))
    lines = next(part for part in region_tests_of(e, *start.hull, start) if part.name == "lines")
    region = np.array([2.0, 0.0, 3.0, 1.0, -INF, 0.0, 3.0])[:, None]
    left = lines.test(region, StepContext(100.0)).regions[:, 0]
    assert left[:4].tolist() == [2.0, 0.0, 3.0, 1.0] and left[4] < INF and left[5] != DISCARDED_AXIS


def test_points_are_looked_for_in_each_box():
    e = evaluator_of(lambda x: x[0] ** 2 + x[1] ** 2, [(lambda x: x[0] * x[1], 1.0, INF)], 2)
    boxes = StartBoxes(np.array([[-3.0, 2.0], [-3.0, 0.0]]), np.array([[-2.0, 3.0], [0.0, 1.0]]))
    search = ConstrainedSearch(e, *boxes.hull, boxes=boxes)
    for _ in search.rounds()[0]:
        pass
    assert boxes.holds(np.stack(search.candidates(), axis=1)).all() and search.value == pytest.approx(4.25, abs=1e-6)
