"""Boxes with exactly one minimiser: examples that hold, and those that must not be called so."""

import pickle

import numpy as np
import pytest

import infimum
from infimum.certify.isolation import IsolatedMinimiser, IsolationFailure, isolate
from infimum.certify.region_isolation import IsolationProblem, isolate_regions
from infimum.problem.settings import Goal
from infimum.search.branch_and_bound import BranchAndBound
from infimum.search.incumbent import Incumbent
from infimum.search.region_pool import Regions


def isolated(f, sides, x, reach=0.1):
    lo, hi = np.array(sides, dtype=float).T
    x = np.array(x, dtype=float)
    return isolate(infimum.compile(f, len(lo)), lo, hi, x, (np.maximum(x - reach, lo), np.minimum(x + reach, hi)))


def asked(f, sides, **options):
    return infimum.minimize(f, sides, **{"xtol": 1e-3, **options}).minimisers


def holds(minimiser, x):
    return bool(((minimiser.lo <= x) & (x <= minimiser.hi)).all())


PLACES = {  # function, bounds, the minimiser
    "inside": (lambda x: 100 * (x[1] - x[0] ** 2) ** 2 + (1 - x[0]) ** 2, [(-5, 10)] * 2, [1, 1]),
    "on a face": (lambda x: (x[0] - 3) ** 2 + (x[1] - 0.25) ** 2 + x[0] * x[1], [(0, 1), (-1, 1)], [1, -0.25]),
    "in a corner": (lambda x: (x[0] - 3) ** 2 + (x[1] + 0.25) ** 2, [(0, 1)] * 2, [1, 0]),
    "at a vertex of three": (lambda x: np.sum((x + [1, -3, 0]) ** 2) + x[2], [(0, 1)] * 3, [0, 1, 0]),
    "with a fixed variable": (lambda x: (x[0] - x[1] / 2) ** 2 * x[1], [(-3, 3.5), (2, 2)], [1, 2]),
    "in unbounded space": (lambda x: np.cosh(x[0] - 1) + (x[1] - x[0]) ** 2, [(-np.inf, np.inf)] * 2, [1, 1]),
    "beside an undefined part": (lambda x: x[0] * np.log(x[0]) + (x[1] - x[0]) ** 2, [(-1, 3)] * 2, [np.exp(-1)] * 2),
    "beside a kink": (lambda x: (x[0] - 1) ** 2 + abs(x[0] + 1) + x[1] ** 2, [(-3, 3)] * 2, [0.5, 0]),
    "close to a bound": (lambda x: (x[0] - 1e-7) ** 2 + x[1] ** 2, [(0, 1), (-1, 1)], [1e-7, 0]),
    "far from 0": (lambda x: (x[0] - 1e6) ** 2 + np.cosh(x[1]), [(0, 1e7), (-1, 2)], [1e6, 0]),
}


@pytest.mark.parametrize("name", PLACES)
def test_exactly_one_minimiser(name):
    f, sides, x = PLACES[name]
    found = asked(f, sides)
    assert found.exactly_one and len(found) == 1 and found.rest == 0 and found.why is None
    assert (found[0].hi - found[0].lo <= 1e-6 * np.maximum(1, np.abs(x))).all()
    assert holds(found[0], np.array(x, dtype=float)) or name == "beside an undefined part"  # 1/e is no double


@pytest.mark.parametrize(("f", "sides", "why"), [
    (lambda x: x[0] ** 4 + x[1] ** 2, [(-1, 1.5)] * 2, IsolationFailure.SINGULAR),
    (lambda x: abs(x[0] - 0.125) + x[1] ** 2, [(-1, 1.5)] * 2, IsolationFailure.NOT_SMOOTH),
    (lambda x: np.maximum(x[0], 0) ** 2 + np.maximum(-x[0], 0) ** 2 * 3 + x[1] ** 2, [(-1, 1.5)] * 2,
     IsolationFailure.NOT_SMOOTH),
    (lambda x: abs(x[0]) ** 1.5 + x[1] ** 2, [(-1, 1.5)] * 2, IsolationFailure.NOT_SMOOTH),
    (lambda x: (x[0] ** 2 + x[1] ** 2 - 1) ** 2, [(-2, 2.5)] * 2, IsolationFailure.SINGULAR),
    (lambda x: (np.sum(x**2) - 1) ** 2, [(-1.25, 1.5)] * 3, IsolationFailure.SINGULAR),
    (lambda x: (x[0] + x[1]) ** 2, [(-1, 2)] * 2, IsolationFailure.SINGULAR),
    (lambda x: np.sqrt(x[0] ** 2 + x[1] ** 2), [(-1, 2)] * 2, IsolationFailure.NOT_SMOOTH),
    (lambda x: np.sqrt(x[0]) + x[1] ** 2, [(-1, 2)] * 2, IsolationFailure.NOT_SMOOTH)])
def test_minimisers_that_cannot_be_told_apart_end_with_a_word(f, sides, why):
    """Singular Hessians, kinks, edges, vanishing derivatives at bounds, curves and surfaces."""
    r = infimum.minimize(f, sides, xtol=0.05)
    assert len(r.minimisers) == 0 and r.minimisers.rest == r.regions.count and r.minimisers.why == why.value
    assert why.value in str(r) and "exactly one" not in str(r)


@pytest.mark.parametrize("distance", (1e-1, 1e-3, 1e-5, 1e-7))
def test_two_minimisers_that_are_close_are_never_called_one(distance):
    """(x² - d²)² has minimisers at ±d and a maximum between them; their values are equal."""
    def f(x):
        return (x[0] ** 2 - distance**2) ** 2 + x[1] ** 2
    found = asked(f, [(-1, 1.5), (-1, 1.5)], atol=0.0, rtol=0.0, max_boxes=20_000)
    assert not found.exactly_one
    for m in found:
        assert not (holds(m, np.array([distance, 0.0])) and holds(m, np.array([-distance, 0.0])))
    one = isolated(f, [(-1, 1.5)] * 2, [distance * 1.1, 0.0])
    if isinstance(one, IsolatedMinimiser):
        assert one.neighbourhood[0][0] > -distance, "no box around one may reach the other"


def test_a_saddle_and_a_maximum_are_no_minimisers():
    def saddle(x):
        return x[0] ** 2 - x[1] ** 2
    assert isinstance(isolated(saddle, [(-1, 1)] * 2, [0.0, 0.0], reach=0.01), IsolationFailure)
    assert isinstance(isolated(lambda x: -np.sum(x**2), [(-1, 1)] * 2, [0.0, 0.0], reach=0.01), IsolationFailure)
    for m in asked(lambda x: (x[0] ** 2 - 1) ** 2 + x[1] ** 2 * (1 + x[0]), [(-0.5, 2), (-1, 1)]):
        assert not holds(m, np.array([0.0, 0.0]))


def test_the_trap_of_a_minimiser_behind_a_concave_part():
    """cos t - 0.01 t on [-5.2, 3.2]: the minimiser 3.1516 lies behind a part where the second derivative is negative."""
    found = asked(lambda x: np.cos(x[0]) - 0.01 * x[0], [(-5.2, 3.2)])
    assert found.exactly_one and holds(found[0], np.array([np.pi + np.arcsin(0.01)]))


def test_local_minimisers_of_equal_value_are_all_listed():
    found = asked(lambda x: (4 - 2.1 * x[0] ** 2 + x[0] ** 4 / 3) * x[0] ** 2 + x[0] * x[1] + (-4 + 4 * x[1] ** 2) * x[1] ** 2,
                  [(-3, 3), (-2, 2)])
    assert len(found.may_be_global) == 2 and found.rest == 0 and not found.exactly_one


SINES, TIMES = np.array([1.0, 2.0, 0.3, 0.7, 5.0, 1.1]), np.linspace(0, 2, 30)


def two_sines(x):
    """A fit with a narrow valley: regions of 1e-3 along it are hundreds."""
    return x[0] * np.sin(x[1] * TIMES + x[2]) + x[3] * np.sin(x[4] * TIMES + x[5])


def misfit(x):
    return np.sum((two_sines(x) - two_sines(SINES)) ** 2)


VALLEY = [(0.5, 2), (1, 3), (-1, 1), (0.5, 1), (4, 6), (0, 2)]


def test_regions_around_a_minimiser_become_one():
    r = infimum.minimize(misfit, VALLEY, xtol=1e-3)
    assert r.success and r.regions.count == 1 and SINES in r.regions
    assert r.minimisers.exactly_one and holds(r.minimisers[0], SINES)


def test_a_run_that_is_resumed_ends_with_the_same_regions(tmp_path):
    whole = infimum.minimize(misfit, VALLEY, xtol=1e-3)
    for part in (0.3, 0.9):
        file = tmp_path / f"{part}"
        infimum.minimize(misfit, VALLEY, xtol=1e-3, checkpoint=file, max_boxes=int(part * whole.nfev))
        again = infimum.resume(file, misfit)
        assert again.regions == whole.regions and again.lower == whole.lower and (again.x == whole.x).all()


def tiles(corner, side, count):
    """count by count boxes around a corner."""
    ends = np.linspace(corner, corner + side, count + 1).T
    at = np.indices((count, count)).reshape(2, -1)
    return [np.stack([ends[i][at[i] + k] for i in range(2)]) for k in (0, 1)]


def test_a_corner_that_cannot_be_cut_is_put_aside():
    """Around a minimiser in a corner, K is a point: it is kept, among the regions that cannot be cut."""
    f = infimum.compile(lambda x: (x[0] - 3) ** 2 + (x[1] + 0.25) ** 2, 2)
    lo, hi = np.zeros(2), np.ones(2)
    incumbent = Incumbent(f, lo, hi)
    incumbent.offer(np.array([[0.95], [0.05]]))
    branch = BranchAndBound(f, Goal(1.0, 0.0, 1e-3), incumbent)
    low, high = tiles(np.array([0.875, 0.0]), 0.125, 5)
    branch.pool.replace(Regions(low, high, f.value(low, high).lo, np.zeros(25, np.int32), np.full(25, 3, np.int8)))
    branch.isolate_minimisers(last=True)
    left = branch.regions()
    assert not len(branch.pool) and branch.done and len(left) == 1 and branch.discarded["second order"] == 24
    assert (left.lo[:, 0] == [1, 0]).all() and (left.hi[:, 0] == [1, 0]).all() and left.lower[0] <= 4.0625 == incumbent.upper


def test_lower_bounds_of_other_regions_count():
    """What is left of regions reaches a little beyond them: no bound of theirs holds there, only that of the whole search."""
    f = infimum.compile(lambda x: (x[0] - 0.25) ** 2 + (x[1] - 0.25) ** 2, 2)
    low, high = tiles(np.zeros(2), 0.5, 5)
    regions = Regions(low, high, np.full(25, 5.0), np.zeros(25, np.int32), np.full(25, 3, np.int8))
    settled = isolate_regions(IsolationProblem(f, -np.ones(2), np.ones(2)), regions, [(np.zeros(2), np.full(2, 0.5))],
                              (-3.0, 7.0), None)
    assert settled.rest == 0 and len(settled.left) == 1 and settled.left.lower[0] <= 0.0


def test_without_patience_the_first_group_that_is_not_settled_is_the_last():
    """x lies in the second group, where the Hessian is singular; the minimisers of the others are proved with patience only."""
    f = infimum.compile(lambda x: (x[0] - 1) ** 2 * (x[0] + 1) ** 2 * x[0] ** 4 + x[1] ** 2, 2)
    corners = [np.array([c, -0.05]) for c in (0.95, -0.05, -1.05)]
    low, high = (np.concatenate(ends, axis=1) for ends in zip(*(tiles(c, 0.1, 2) for c in corners), strict=True))
    regions = Regions(low, high, np.zeros(12), np.zeros(12, np.int32), np.full(12, 3, np.int8))
    groups = [(c, c + 0.1) for c in corners]
    found = {patient: isolate_regions(IsolationProblem(f, np.full(2, -2.0), np.full(2, 2.0)), regions, groups, (0.0, 1e-3),
                                      np.zeros(2),
                                      patient)
             for patient in (True, False)}
    assert len(found[True].minimisers) == 2 and found[True].rest == 4
    assert len(found[False].minimisers) == 0 and found[False].rest == 12 and found[False].why is IsolationFailure.SINGULAR


def test_what_lies_around_is_never_lost():
    """Regions are dropped in many functions with known minimisers: each minimiser stays in a region."""
    rng = np.random.default_rng(0)
    for _ in range(12):
        centre, turn = rng.uniform(-1, 1, 2), rng.normal(size=(2, 2))
        matrix = turn @ turn.T + 0.01 * np.eye(2)
        r = infimum.minimize(lambda x, m=matrix, c=centre: np.sum((m @ (x - c)) ** 2) + np.sum((x - c) ** 2) ** 2,
                             [(-2, 2.5)] * 2, xtol=1e-3)
        assert r.success and centre in r.regions
        assert all(holds(m, centre) or np.abs(m.lo - centre).max() < 1e-12 for m in r.minimisers)


def test_other_forms_of_the_answer():
    r = infimum.minimize(lambda x: np.sum((x - 0.5) ** 2), [(-1, 2)] * 2, xtol=1e-3)
    assert pickle.loads(pickle.dumps(r)).minimisers.exactly_one, "a pickle holds no function, but the answer"
    assert r.minimisers.exactly_one and "minimisers   exactly one, in [0.5, 0.5] x [0.5, 0.5]" in str(r)
    assert r["minimisers"] is r.minimisers
    assert r.to_dict()["minimisers"]["rest"] == 0 and r.to_dict()["minimisers"]["found"][0]["may_be_global"] is True
    assert infimum.minimize(lambda x: x[0] ** 2, [(-1, 2)], engine="swarm").minimisers is None
    assert infimum.minimize(lambda x: np.log(-1 - x[0] ** 2), [(-1, 2)]).minimisers.rest == 0


def test_many_variables_are_not_looked_at():
    found = asked(lambda x: np.sum(np.cos(3 * np.cumsum(x))), [(-1, 2)] * 33, max_boxes=10)
    assert len(found) == 0 and found.rest > 0 and "32 variables" in found.why


def test_a_finished_search_that_goes_on_ends_again():
    """It may be resumed with a narrower goal: what comes at the end then comes once more."""
    f = infimum.compile(lambda x: (x[0] ** 2 - 1) ** 2 + x[1] ** 2 * (x[0] + 3), 2)
    lo, hi = np.full(2, -2.0), np.full(2, 2.5)
    branch = BranchAndBound(f, Goal(1e-6, 0.0, 1e-2), Incumbent(f, lo, hi))
    branch.begin(lo[:, None], hi[:, None])
    branch.end()
    assert branch.ended and not branch.done
    branch.step()
    assert not branch.ended


def test_a_single_point_that_is_left_needs_no_second_derivatives():
    found = asked(lambda x: np.sum(np.exp(np.cumsum(x))), [(-1, 2)] * 33, max_boxes=10)
    assert found.exactly_one and (found[0].lo == -1).all() and (found[0].hi == -1).all()
    assert not asked(lambda x: np.exp(-x[0]), [(0, np.inf)]).exactly_one  # there is no minimiser
