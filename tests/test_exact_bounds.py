"""Bounds between doubles at every door, where a run is stored and sent, and numbers that are absurd."""

import math
import pickle
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import Bounds as ScipyBounds

import infimum
from infimum import BoundsError, Constraint, OptionError, feasible, minimize
from infimum.blackbox.variables import Variables
from infimum.parallel.proofs.portion_prover import PortionProver
from infimum.points.swarm_options import SwarmOptions
from infimum.problem.problem import Problem
from infimum.problem.settings import Goal, Machine, Method
from infimum.problem.variable_bounds import read_bounds
from infimum.search.checkpoint import load

INF, THIRD, PI = math.inf, Fraction(1, 3), infimum.pi
BEYOND = 1 + Fraction(1, 10**17)  # less than a double above 1


# ---- what was proved of other bounds before
def test_whole_numbers_begin_above_a_bound_that_is_none():
    r = minimize(lambda x: x[0] ** 2, [(BEYOND, 5)], integrality=[1])
    assert r.verdict.name == "PROVED" and r.lower == r.upper == 4 and r.x.tolist() == [2]


@pytest.mark.parametrize("last", (3, 30))
def test_whole_numbers_that_are_no_doubles(last):
    """The least of x - 2**53 is 1, at a number that is no double."""
    r = minimize(lambda x: x[0] - 2**53, [(2**53 + 1, 2**53 + last)], integrality=[1])
    assert r.lower <= 1 <= r.upper and r.verdict.name != "PROVED" and 2**53 + 1 <= int(r.x[0]) <= 2**53 + last
    assert any(Fraction(lo[0]) <= 2**53 + 1 <= Fraction(hi[0]) for lo, hi in r.boxes)


def test_one_whole_number_that_is_no_double():
    r = minimize(lambda x: x[0] - 2**53, [(2**53 + Fraction(1, 2), 2**53 + Fraction(3, 2))], integrality=[1])
    assert r.lower <= 1 <= r.upper and isinstance(r.feasible, tuple)
    none = minimize(lambda x: x[0], [(2**53 + Fraction(1, 4), 2**53 + Fraction(3, 4))], integrality=[1])
    assert none.verdict.name == "INFEASIBLE"


@pytest.mark.parametrize("engine", ("auto", "newton", "complete", "subdomain"))
def test_a_constraint_that_leaves_nothing_of_the_bounds(engine):
    more = {"engine": engine, **({"options": {"partition": (2, 4)}} if engine == "complete" else {})}
    assert feasible([(THIRD, 1)], Constraint(lambda x: x[0], -INF, 1 / 3), **more).verdict.name == "INFEASIBLE"
    assert feasible([(-1, PI)], lambda x: x[0] >= PI.hi, **more).verdict.name == "INFEASIBLE"
    wide = feasible([(THIRD, 1), (0, 1)], [Constraint(lambda x: x[0], -INF, 1 / 3), lambda x: x[0] * x[1] >= 0.01], **more)
    assert wide.verdict.name == "INFEASIBLE"


def test_the_infimum_at_an_end_is_not_the_value_at_a_double():
    r = minimize(lambda x: x[0], [(THIRD, 1)])
    (lo, hi), = r.boxes
    assert r.lower < THIRD < r.upper and Fraction(r.x[0]) > THIRD and lo[0] < THIRD < hi[0]


def test_no_double_between_the_ends():
    r = minimize(lambda x: x[0] * x[1], [(THIRD, THIRD), (2, 5)])
    lo, hi = r.feasible
    assert r.lower < 2 * THIRD < r.upper and lo[0] < THIRD < hi[0] and r.x[0] in (lo[0], hi[0]) and r.verdict.name == "PROVED"
    assert "x[0] is a number between" in r.message and r.minimisers.exactly_one and r.minimisers[0].lo[0] < r.minimisers[0].hi[0]
    either = minimize(lambda x: x[0] * x[1], [(THIRD, THIRD + Fraction(1, 10**30)), (2, 5)], xtol=1e-3)
    assert not either.minimisers.exactly_one and "not known exactly" in either.minimisers.why and either.attained is None
    all_of_them = minimize(lambda x: np.sum(x**2), [(THIRD, THIRD), (PI, PI)])
    assert all_of_them.lower < THIRD**2 + Fraction(PI.lo) ** 2 < all_of_them.upper and all_of_them.verdict.name == "PROVED"
    same = minimize(lambda x: np.sin(x[0]), [(PI, PI)])
    assert same.lower <= 0 <= same.upper and same.upper - same.lower < 1e-15


def test_irrational_ends():
    r = minimize(lambda x: np.cos(x[0]) + x[1], [(1, PI), (-infimum.e, 1)], xtol=1e-3)
    assert r.verdict.name == "PROVED" and r.minimisers.exactly_one and r.x[0] <= PI.lo and r.x[1] >= -infimum.e.lo
    k = r.minimisers[0]
    assert k.lo[0] <= PI.lo < PI.hi <= k.hi[0] and k.lo[1] <= -infimum.e.hi < -infimum.e.lo <= k.hi[1]


@pytest.mark.parametrize(("f", "n"), [(lambda x: 10 * len(x) + np.sum(x**2 - 10 * np.cos(2 * np.pi * x)), 10),
                                      (lambda x: np.sum(np.sin(x)) + np.sin(np.sum(x)) + 0.1 * np.sum(x**2), 3)])
def test_such_bounds_cost_nothing(f, n):
    exact, double = (minimize(f, [(-end, end)] * n) for end in (PI, np.pi))
    assert exact.verdict.name == double.verdict.name == "PROVED" and exact.nfev <= 1.1 * double.nfev


# ---- reading
@pytest.mark.parametrize(("pair", "words"), [
    ((THIRD, 1 / 3), "reversed: 1/3 > 0.333"), ((BEYOND, 1), "reversed"), ((PI, PI.lo), "reversed"),
    ((2**53 + 1, 2.0**53), "reversed"), ((10**5000, 0), "reversed: a fraction of numbers of 16610 bits"),
    ((PI, Fraction(314159265358979323846, 10**20)), "is not known"), ((Decimal("1e999999999"), INF), "absurd"),
    ((0, Decimal("1e-999999999")), "absurd"), ((Decimal("sNaN"), 1), "not a real number"),
])
def test_ends_are_compared_as_they_are(pair, words):
    with pytest.raises(BoundsError, match=words):
        read_bounds([pair])


def test_bounds_beyond_all_doubles_are_an_error():
    with pytest.raises(BoundsError, match="beyond all doubles"):
        minimize(lambda x: x[0], [(10**400, INF)])
    r = minimize(lambda x: x[0] ** 2, [(-(10**400), 10**400)])
    assert r.lower == r.upper == 0


@given(*2 * [st.fractions(-4, 4, max_denominator=50)], *2 * [st.sampled_from([0, Fraction(1, 10**25), Fraction(-1, 10**25)])])
def test_a_box_reaches_beyond_another_as_exact_numbers_tell(a, b, c, d):
    low, high = sorted((a, b))
    one, other = read_bounds([(low + c, high + 1 + d)]), read_bounds([(low, high + 1)])
    assert (one.reaches_beyond(other) is None) == (c >= 0 and d <= 0)
    assert read_bounds(one.pairs()).pairs() == one.pairs()


@pytest.mark.parametrize("x0", ([10**400], [Fraction(10) ** 400], [[0.5], [10**400]], [math.inf], [10**5000], [Decimal("1e400")]))
def test_absurd_points_are_errors_of_ours(x0):
    with pytest.raises(OptionError, match="x0"):
        minimize(lambda x: x[0] ** 2, [(0, None)], x0=x0)


@pytest.mark.parametrize("box", ([(0, 10**400)], [(Decimal("1e999999999"), 1)], [(THIRD, 1 / 3)], [(0, BEYOND)]))
def test_absurd_start_boxes_are_errors_of_ours(box):
    with pytest.raises(OptionError, match="box 0 of start_boxes"):
        minimize(lambda x: x[0] ** 2, [(0, 1)], start_boxes=[box])


@pytest.mark.parametrize("end", (10**400, 10**400 * THIRD, Decimal("1e999999999"), Decimal("sNaN"), 1j, "1", True))
def test_absurd_ends_of_constraints_are_errors_of_ours(end):
    with pytest.raises(infimum.InfimumError, match="constraint 0"):
        minimize(lambda x: x[0] ** 2, [(0, 1)], constraints=Constraint(lambda x: x[0], -INF, end))


def test_the_table_of_constraints_shows_the_users_values():
    third = Fraction(1, 3)
    r = infimum.minimize(lambda x: x[0] - x[1], [(0, 1)] * 2, constraints=[
        infimum.Constraint(lambda x: x[0] + x[1], third, third), infimum.Constraint(lambda x: x, Fraction(1, 10), np.inf)])
    total, first, second = r.constraints
    assert total.value.lo <= third <= total.value.hi and total.lower == total.upper == pytest.approx(1 / 3)
    assert second.value.lo == pytest.approx(1 / 3 - 0.1) and second.value.width < 1e-6
    assert first.active and first.lower == pytest.approx(0.1) and first.value.lo == pytest.approx(0.1)


def test_a_constraint_with_two_exact_ends_is_one_row():
    r = infimum.minimize(lambda x: x[0], [(0, 1)] * 2, constraints=[
        infimum.Constraint(lambda x: x[0], Fraction(1, 3), Fraction(1, 2)),
        infimum.Constraint(lambda x: x, [Fraction(1, 10)] * 2, [Fraction(9, 10), 1])])
    assert [(row.number, row.element) for row in r.constraints] == [(0, None), (1, 0), (1, 1)]
    assert r.constraints[0].active and r.constraints[0].lower == pytest.approx(1 / 3) and r.constraints[0].upper == 0.5
    assert r.constraints[2].upper == 1 and r.constraints[2].lower == pytest.approx(0.1)


def test_whole_numbers_between_an_end_and_the_double_within():
    """2**53 + 1 is within these bounds, and the nearest double within them is 2**53."""
    last = 2**53
    with pytest.raises(infimum.OptionError, match="no double"):
        infimum.minimize(lambda x: -(x[0] - 2.0**53), [(last - 1, last + 1)], integrality=1,
                         start_boxes=[[(last - 1, last)], [(last, last + 1)]])
    for bounds in ((last - 1, infimum.pi + (last - 2)), (-infimum.pi - (last - 2), 1 - last)):
        with pytest.raises(infimum.OptionError, match="is not known"):
            infimum.maximize(lambda x: x[0], [bounds], integrality=1)


def test_scipy_bounds_hold_exact_numbers():
    r = minimize(lambda x: x[0], ScipyBounds(np.array([THIRD], dtype=object), np.array([1], dtype=object)))
    assert Fraction(r.x[0]) > THIRD > r.lower
    with pytest.raises(BoundsError, match="beyond all doubles"):
        minimize(lambda x: x[0], type("Ends", (), {"lb": [10**400], "ub": [10**401]})())


def test_a_point_at_an_end_is_moved_inside():
    r = minimize(lambda x: x[0], [(THIRD, 1)], x0=[1 / 3], engine="swarm", options={"particles": 8, "restarts": 0})
    assert Fraction(r.x[0]) > THIRD
    with pytest.raises(OptionError, match="outside the bounds"):
        minimize(lambda x: x[0], [(THIRD, 1)], x0=[np.nextafter(1 / 3, 0)])


# ---- runs that are stored, and sent
SMALL = {"max_boxes": 200, "xtol": 1e-9, "atol": 1e-13, "rtol": 0.0}


def himmelblau(x):
    return (x[0] ** 2 + x[1] - 11) ** 2 + (x[0] + x[1] ** 2 - 7) ** 2 + x[2]


@pytest.mark.parametrize(("engine", "last"), [("auto", (THIRD, 1)), ("newton", (THIRD, 1)), ("complete", (THIRD, 1)),
                                              ("newton", (THIRD, THIRD)), ("newton", (PI, PI)),
                                              ("newton", (THIRD, THIRD + Fraction(1, 10**30)))])
def test_a_run_is_resumed_with_the_same_bounds(engine, last, tmp_path):
    path, bounds = str(tmp_path / "run.inf"), [(-PI, 5), (Fraction(-10, 3), 5), last]
    more = {"options": {"partition": (3, 2)}} if engine == "complete" else {}
    minimize(himmelblau, bounds, engine=engine, checkpoint=path, **SMALL, **more)
    resumed = infimum.resume(path, himmelblau, max_boxes=2000)
    whole = minimize(himmelblau, bounds, engine=engine, **SMALL | {"max_boxes": 2000}, **more)
    for name in ("lower", "upper", "nfev", "message"):
        assert getattr(resumed, name) == getattr(whole, name)
    assert resumed.x.tobytes() == whole.x.tobytes() and resumed.regions.lo.tobytes() == whole.regions.lo.tobytes()
    assert resumed.regions.hi.tobytes() == whole.regions.hi.tobytes()


def test_start_boxes_are_resumed_with_the_same_ends(tmp_path):
    path, boxes = str(tmp_path / "run.inf"), [[(-PI, 0), (0, PI), (THIRD, 1)], [(THIRD, PI), (-PI, 5), (THIRD, 1)]]
    asked = {"start_boxes": boxes, **SMALL}
    minimize(himmelblau, [(-5, 5)] * 3, checkpoint=path, **asked)
    resumed = infimum.resume(path, himmelblau, max_boxes=2000)
    whole = minimize(himmelblau, [(-5, 5)] * 3, **asked | {"max_boxes": 2000})
    assert resumed.regions.lo.tobytes() == whole.regions.lo.tobytes() and resumed.upper == whole.upper


def test_a_checkpoint_of_doubles_is_what_it_was(tmp_path):
    """So those of earlier releases, whose ends were rounded to doubles, are read as they were written."""
    path = str(tmp_path / "run.inf")
    minimize(himmelblau, [(-5, 5)] * 3, checkpoint=path, start_boxes=[[(-1, 5)] * 3], **SMALL)
    state = load(path)
    assert not [name for name in state.arrays if "outer" in name] and "ends" not in state.values["settings"]


def test_workers_know_the_bounds():
    r = minimize(himmelblau, [(-PI, 5), (Fraction(-10, 3), 5), (THIRD, 1)], workers=1, portions=4, xtol=1e-3)
    assert r.verdict.name == "PROVED" and Fraction(r.x[2]) > THIRD and r.lower <= THIRD <= r.upper
    problem = Problem.read(himmelblau, [(THIRD, 1)] * 3, start_boxes=[[(THIRD, 0.5)] * 3, [(0.5, 1)] * 3])
    prover = PortionProver.of(problem, infimum.compile(himmelblau, 3), Method("auto", SwarmOptions(), Goal()),
                              Machine("cpu", None, 64), None)
    sent = pickle.loads(pickle.dumps(prover))
    assert all(np.array_equal(a, b) for a, b in zip(sent.outer, problem.outer, strict=True))
    assert all(np.array_equal(a, b) for a, b in zip(sent.start.outer, problem.start.outer, strict=True))


# ---- other doors
def test_enclosures_hold_over_the_exact_box():
    found = infimum.enclose(lambda x: 3 * x[0], [(THIRD, PI)])
    assert found.lo < 1 < found.hi and found.hi > 3 * Fraction(PI.lo)


def test_trials_are_made_within_the_bounds():
    variables = Variables.read([(THIRD, 1), (BEYOND, 5)], integrality=[0, 1])
    assert variables.lo[0] > THIRD and variables.lo[1] == 2
    with pytest.raises(BoundsError, match="no double lies between the bounds \\(1/3, 1/3\\)"):
        Variables.read([(THIRD, THIRD)])
    one = Variables.read([[1 - Fraction(1, 10**30), 1 + Fraction(1, 10**30)], [-PI, Decimal("0.1")]])
    assert one.lo[0] == one.hi[0] == 1 and not one.choices and one.lo[1] == -PI.lo and one.hi[1] < 0.1


def test_inner_problems_have_exact_bounds():
    r = infimum.nested(lambda y, z: z[0] * (1 + y[0] ** 2), [(THIRD, 1)], [(THIRD, 1)], max_trials=6)
    assert all(Fraction(v) >= THIRD for v in r.x) and r.trials.inner.lower <= THIRD * (1 + Fraction(r.x[0]) ** 2) <= r.upper
    with pytest.raises(BoundsError, match="inner variable 0"):
        infimum.nested(lambda y, z: z[0], [(0, 1)], [(THIRD, THIRD)])


def test_fits_within_exact_bounds():
    """y = a x with a >= 1/3, for data that want a = 0: the sum of squares is (1 + 4 + 9) / 9."""
    x, y = [1.0, 2.0, 3.0], [0.0, 0.0, 0.0]
    r = infimum.fit(lambda x, a: a * x, x, y, bounds={"a": (THIRD, 5)})
    assert r.least.lo <= Fraction(14, 9) <= r.least.hi and Fraction(r.params["a"].value) > THIRD and r.unique
    assert r.params["a"].at_bound == "lower" and r.params["a"].lo < THIRD < r.params["a"].hi
    popt, _ = infimum.curve_fit(lambda x, a: a * x, x, y, bounds=([THIRD], [5]))
    assert Fraction(popt[0]) > THIRD
    two = infimum.fit(lambda x, a, b: a + b + 0 * x, x, y, bounds=[(THIRD, 2), (THIRD, 2)], symmetric=["a", "b"])
    assert two.least.lo <= 3 * 4 * THIRD**2 <= two.least.hi
    with pytest.raises(OptionError, match="exchangeable"):
        infimum.fit(lambda x, a, b: a + b + 0 * x, x, y, bounds=[(THIRD, 2), (1 / 3, 2)], symmetric=["a", "b"])


def test_networks_within_exact_bounds():
    net = infimum.network([np.array([[1.0, -1.0]]), np.array([0.0, 0.0])], activations=["linear"])
    largest, smallest = infimum.networks.largest, infimum.networks.smallest
    assert infimum.verify(net, [(THIRD, 1)], smallest(0, limit=1 / 3)).verdict.name == "HOLDS"
    bounded = infimum.verify(net, [(THIRD, PI)], largest(0))
    assert bounded.lower <= PI.lo and bounded.upper >= PI.hi
    found = infimum.verify(net, [(-PI, 1)], infimum.networks.robust([-3.0], 5.0))
    assert found.verdict.name == "VIOLATED" and -PI.lo <= found.counterexample[0] <= 1
