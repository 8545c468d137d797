"""What a result says where there are constraints: whichever engine found it."""

import json
import pickle
import sys
from types import ModuleType

import numpy as np
import pytest

import infimum
from tests.constrained_stand_in import StandIn

BOX = [(0, 4), (0, 4)]
SETTINGS = {"atol": 1e-2, "rtol": 0.0}


@pytest.fixture(autouse=True)
def stand_in(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("infimum.engines.constrained_run")
    module.ConstrainedRun = StandIn
    monkeypatch.setitem(sys.modules, "infimum.engines.constrained_run", module)


def total(x):
    return x[0] + 2 * x[1]


def product(x):
    return x[0] * x[1]


def test_a_table_of_the_constraints():
    r = infimum.minimize(total, BOX, constraints=[infimum.Constraint(product, 1.0, 9.0), lambda x: x[0] <= 3], **SETTINGS)
    assert r.verdict is infimum.Verdict.PROVED and r.lower <= 2 * np.sqrt(2) <= r.upper and r.maxcv == 0.0
    assert r.feasible is r.x or (r.feasible == r.x).all()
    first, second = r.constraints
    assert (first.name, first.number, first.lower, first.upper) == ("product", 0, 1.0, 9.0)
    assert (second.name, second.active, second.multiplier) == ("x[0] <= 3", False, 0.0)
    assert r.x[0] * r.x[1] in first.value
    lines = str(r).splitlines()
    at = next(k for k, line in enumerate(lines) if line.startswith("constraints"))
    assert "multiplier" in lines[at] and lines[at + 1].split()[:2] == ["0", "product"]
    assert lines[at + 2].split()[-3:] == ["3]", "no", "0"]


def test_multipliers_are_sensitivities():
    active = infimum.Constraint(lambda x: x[0] + x[1], 1.0)
    r = infimum.minimize(lambda x: 3 * (x[0] + x[1]) + 0.0 * x[0], BOX, constraints=active, **SETTINGS | {"atol": 1e-9})
    assert r.constraints[0].active and r.constraints[0].multiplier == pytest.approx(3.0)
    r = infimum.maximize(lambda x: -3 * (x[0] + x[1]), BOX, constraints=active, **SETTINGS | {"atol": 1e-9})
    assert r.constraints[0].multiplier == pytest.approx(-3.0)


def test_rows_are_in_the_order_of_the_user():
    matrix = [[1, 1], [1, 0], [1, 2]]
    linear = type("LinearConstraint", (), {"A": matrix, "lb": [0, 1, 2], "ub": np.inf})()
    r = infimum.minimize(total, BOX, constraints=[linear, lambda x: x >= 0.5], **SETTINGS)
    found = [(c.number, c.element, c.lower) for c in r.constraints]
    assert found == [(0, 0, 0.0), (0, 1, 1.0), (0, 2, 2.0), (1, 0, 0.5), (1, 1, 0.5)]


def test_a_box_that_holds_a_feasible_point(monkeypatch):
    box = (np.array([1.0, 0.999]), np.array([1.0, 1.001]))
    monkeypatch.setattr(StandIn, "told", box)
    r = infimum.minimize(total, BOX, constraints=lambda x: x[0] * x[1] == 1, max_boxes=100)
    assert isinstance(r.feasible, tuple) and 0.0 <= r.maxcv < 1e-12 and r.constraints[0].active
    assert "a point in [1, 1] x [0.999, 1.001]" in str(r)
    assert r.constraints[0].value == infimum.Interval(1.0, 1.0)  # that point meets it


def test_infeasible_is_said_of_constraints_or_of_the_function():
    r = infimum.minimize(total, BOX, constraints=[lambda x: x[0] >= 3, lambda x: x[0] <= 2])
    assert r.verdict is infimum.Verdict.INFEASIBLE and r.message == "no point within the bounds meets all constraints"
    assert r.feasible is None and r.maxcv is None and r.constraints is None and r.lower == np.inf
    r = infimum.minimize(lambda x: np.log(-1 - x[0]), BOX, constraints=lambda x: x[0] >= 1)
    assert r.message == "no point within the bounds meets all constraints, and has a value of the function"
    r = infimum.maximize(total, BOX, constraints=lambda x: False)
    assert r.verdict is infimum.Verdict.INFEASIBLE and r.upper == -np.inf and "maximised" in r


def test_without_a_feasible_point():
    r = infimum.minimize(total, BOX, constraints=lambda x: x[0] ** 2 + x[1] ** 2 == 3, max_boxes=200)
    assert r.verdict is infimum.Verdict.STOPPED and r.message.endswith("; no feasible point was found") and r.x is None
    assert r.feasible is None and r.maxcv is None


def test_relaxed_equations_are_said_to_be():
    asked = {"constraints": [lambda x: x[0] * x[1] == 1], "feasibility": 0.25, "atol": 0.1}
    r = infimum.minimize(total, BOX, **asked)
    assert r.success and r.feasibility == 0.25 and "equations are relaxed: they may be off by 0.25" in str(r)
    row = r.constraints[0]
    assert (row.lower, row.upper) == (0.75, 1.25)
    r = infimum.minimize(total, BOX, constraints=lambda x: x[0] >= 1, feasibility=0.25, atol=0.1)
    assert r.feasibility == 0.0 and "relaxed" not in str(r)


def test_maximum_in_the_users_sign():
    seen = []
    r = infimum.maximize(product, BOX, constraints=lambda x: x[0] + x[1] <= 4, callback=lambda s: seen.append(s), **SETTINGS)
    assert r.maximised and r.lower <= 4 <= r.upper and r.fun == r.lower == product(r.x) and r.purpose == "maximise"
    assert all(s.lower <= 4 <= s.upper and s.fun == s.lower for s in seen) and seen
    assert all(h.lower <= 4 <= h.upper for h in r.history)
    assert 4 <= r.regions.upper.max() <= r.upper and (r.regions.lower == -np.inf).all()
    assert "the global maximum is proved" in str(r) and "lower bound" in str(r).partition("upper bound")[0]


def test_feasible_points():
    r = infimum.feasible(BOX, [lambda x: x[0] * x[1] >= 9, lambda x: x[0] <= 3])
    assert r.verdict is infimum.Verdict.PROVED and r.message == "x meets all constraints" and r.feasible is not None
    assert r.x[0] * r.x[1] >= 9 and "a feasible point is proved" in str(r) and "upper bound" not in str(r)
    assert infimum.feasible(BOX, lambda x: x[0] >= 5).verdict is infimum.Verdict.INFEASIBLE


def test_whole_numbers():
    r = infimum.minimize(lambda x: (x[0] - 2.4) ** 2 + x[1], [(0.5, 3.5), (0, 1)], integrality=[1, 0], **SETTINGS)
    assert r.x[0] == 2.0 and r.success
    r = infimum.minimize(total, [(0.2, 0.8), (0, 1)], integrality=[1, 0])
    assert r.verdict is infimum.Verdict.INFEASIBLE


def test_what_holds_everywhere_is_noted_and_left_out():
    r = infimum.minimize(total, BOX, constraints=[lambda x: 3 >= 2, lambda x: x[0] >= 1], **SETTINGS)
    assert r.message.endswith("constraint 0 holds everywhere") and [c.number for c in r.constraints] == [1]
    plain = infimum.minimize(total, BOX, constraints=lambda x: True)
    assert plain.engine == "auto" and plain.constraints is None


def test_the_newton_loop_takes_one_box():
    with pytest.raises(infimum.OptionError, match="engine 'newton' takes one box"):
        infimum.minimize(total, BOX, engine="newton", start_boxes=[BOX, BOX], constraints=lambda x: x[0] >= 1)


def test_an_evaluator_with_constraints():
    own = infimum.compile(total, 2, constraints=lambda x: x[0] * x[1] == 1)
    exact = infimum.maximize(own, BOX, integrality=[1, 0], max_boxes=300)
    assert exact.constraints is None or exact.x[0] == np.rint(exact.x[0])
    relaxed = infimum.minimize(own, BOX, feasibility=0.25, atol=0.1)
    assert relaxed.feasibility == 0.25 and relaxed.constraints[0].name == "x[0] * x[1] == 1"
    assert own.rows([1.0, 1.0], [1.0, 1.0]).lo.tolist() == [3.0, 1.0]
    with pytest.raises(infimum.OptionError, match="this Evaluator was compiled with its own"):
        infimum.minimize(own, BOX, constraints=lambda x: x[0] >= 1)


@pytest.mark.parametrize("wrong", [(np.array([1.0, 2.0]), np.array([1.0, 2.0])), (np.array([0.2, 5.0]), np.array([0.2, 5.0]))])
def test_no_engine_may_call_a_point_feasible_that_is_not(monkeypatch, wrong):
    monkeypatch.setattr(StandIn, "told", wrong)
    with pytest.raises(infimum.InternalError, match="taken for feasible"):
        infimum.minimize(total, BOX, constraints=lambda x: x[0] * x[1] == 1, max_boxes=10)


def test_many_notes_are_counted():
    r = infimum.minimize(total, BOX, constraints=[lambda x: np.full(9, True), lambda x: x[0] >= 1], **SETTINGS)
    assert r.message.endswith("constraint 0[2] holds everywhere; and so do 6 more")


def test_pickles_and_json_hold_the_table():
    r = infimum.minimize(total, BOX, constraints=lambda x: x[0] * x[1] >= 1, **SETTINGS)
    copy = pickle.loads(pickle.dumps(r))
    assert str(copy.constraints) == str(r.constraints)
    told = json.loads(r.to_json())
    assert told["constraints"][0]["name"] == "x[0] * x[1] >= 1" and told["maxcv"] == 0.0


def test_resume_wants_the_same_constraints(tmp_path):
    file, near = tmp_path / "run.inf", infimum.Constraint(product, 1.0)
    settings = {"constraints": near, "integrality": [1, 0], "feasibility": 0.5, "max_boxes": 100}
    infimum.maximize(total, BOX, checkpoint=file, **settings)
    again = infimum.resume(file, total, constraints=near)
    assert again.maximised and again.x[0] == np.rint(again.x[0])
    for other in ((), lambda x: x[0] >= 1, infimum.Constraint(product, 2.0)):
        with pytest.raises(infimum.CheckpointError, match="is of other constraints"):
            infimum.resume(file, total, constraints=other)
    infimum.feasible(BOX, near, checkpoint=tmp_path / "other.inf")
    assert infimum.resume(tmp_path / "other.inf", None, constraints=near).purpose == "feasible"


def test_settings_that_maximize_and_feasible_do_not_have():
    with pytest.raises(infimum.OptionError, match="maximize has no argument 'tol': use atol="):
        infimum.maximize(total, BOX, tol=1)
    with pytest.raises(infimum.OptionError, match="feasible has no argument 'timelimit': did you mean time_limit="):
        infimum.feasible(BOX, [], timelimit=1)
    with pytest.raises(infimum.OptionError, match="feasibility must be a number that is not negative"):
        infimum.minimize(total, BOX, feasibility=-1)
