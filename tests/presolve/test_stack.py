"""The stack of presolve steps: their order, whole runs with and without each of them, and what is seen of a run at work."""

from pathlib import Path

import numpy as np
import pytest

import infimum
from infimum.api import inner_problem, prepared_run
from infimum.expr.rewriting_switches import without
from infimum.parallel.proofs.portion_prover import PortionProver
from infimum.presolve.maximisation import Maximisation
from infimum.presolve.presolve_stack import PresolvedRun, PresolveStack, PresolveStep, RunBounds
from infimum.search.driver import drive
from tests.portions.proofs import BOUNDS as BOX
from tests.portions.proofs import SETTINGS, limits, waves
from tests.presolve.formulations import ROWS

INF = np.inf
# all steps have something to do: x[1] is fixed, x[4] a fixed exponent, x[2] is defined, x[3] has no bounds
BOUNDS = [(-2, 2), (0.5, 0.5), (-100, 100), (-INF, INF), (2, 2)]
BEST = -4.0625  # at x[0] = -0.25, x[3] = 2
SOME = [0, 2, 3]


def defining(x):
    return x[2] == x[0] ** x[4] + x[1] * x[0] + x[3] ** 2 - 4 * x[3]


CONSTRAINTS = [defining, lambda x: x[0] + x[3] >= 0.25]
IN_ORDER = ["Maximisation", "KnownExponents", "FixedVariables", "ConstraintReport", "DefinedObjective", "CompletedSquares"]
SWITCHES = {"fixed exponents": "KnownExponents", "fixed variables": "FixedVariables", "defined variable": "DefinedObjective"}


class Recorded(PresolveStep):
    """Writes down what is asked of it."""

    def __init__(self, name, log, applies=True):
        self.name, self.log, self.applies = name, log, applies

    def apply(self, given):
        self.log.append(f"apply {self.name}")
        return given if self.applies else None

    def postsolve(self, result):
        self.log.append(f"postsolve {self.name}")
        return result

    def point(self, x):
        return np.append(x, int(self.name))

    def bounds(self, known):
        return known._replace(value=known.value * 10 + int(self.name))


@pytest.fixture
def stacks(monkeypatch):
    """The names of the steps of each run that is driven."""
    found = []

    def driven(run, **settings):
        found.append([type(step).__name__ for step in run.presolve.steps])
        return drive(run, **settings)
    monkeypatch.setattr(prepared_run, "drive", driven)
    monkeypatch.setattr(inner_problem, "drive", driven)
    return found


def test_steps_are_undone_in_the_opposite_order():
    log = []
    stack = PresolveStack(ROWS["maximisation"].formulation())
    assert stack.push() is stack.formulation
    stack.push(Recorded("1", log), Recorded("2", log, applies=False))
    stack.push(Recorded("3", log))
    assert [step.name for step in stack.steps] == ["1", "3"]
    stack.postsolve(None)
    assert log == ["apply 1", "apply 2", "apply 3", "postsolve 3", "postsolve 1"]
    assert stack.point(np.zeros(1)).tolist() == [0.0, 3.0, 1.0] and stack.bounds(RunBounds(0.0, 0.0, 0.0)).value == 31


def test_each_step_is_given_what_the_last_one_left():
    row, stack = ROWS["fixed variables"], PresolveStack(ROWS["fixed variables"].formulation())
    given = stack.push(Maximisation())
    inner = stack.push(row.step())
    assert given.evaluator.n == 5 and inner.evaluator.n == 3 and stack.formulation is inner
    y = np.array([1.0, 0.5, 2.0])
    assert inner.evaluator.value(y, y).lo == pytest.approx(-(0.5 + np.log(2) + 0.5))
    assert stack.point(y).tolist() == [1.0, 0.5, 0.5, 2.0, -0.25]


def test_every_call_has_the_same_stack(stacks, tmp_path):
    path, last = tmp_path / "run.inf", IN_ORDER[1:]
    infimum.minimize(lambda x: x[2], BOUNDS, constraints=CONSTRAINTS, checkpoint=path)
    infimum.maximize(lambda x: -x[2], BOUNDS, constraints=CONSTRAINTS)
    infimum.resume(path, lambda x: x[2], constraints=CONSTRAINTS)
    infimum.minimize(lambda x: x[2], BOUNDS, constraints=CONSTRAINTS, workers=1)
    infimum.feasible(BOUNDS, CONSTRAINTS)
    infimum.minimize(lambda x: x[0] ** 2, [(-1, 2)], engine="subdomain")
    assert stacks == [last, IN_ORDER, last, last, ["KnownExponents", "FixedVariables", "ConstraintReport", "CompletedSquares"],
                      ["ConstraintReport", "EmptySystem"]]
    stacks.clear()
    infimum.nested(lambda y, z: z[1] + y[0] ** 2, [(-1, 1)], [(-1, 1), (-9, 9)], max_trials=1,
                   inner_constraints=lambda y, z: z[1] == z[0] ** 2 + y[0])
    assert stacks == [["ConstraintReport"]]  # f is no multiple of a variable; outer variables stay, as boxes that are points


def test_a_fit_has_it_too(stacks):
    t = np.arange(6.0)
    infimum.fit(lambda t, a, b: a * t + b, t, 2 * t + 1, bounds={"a": (-5, 5), "b": (1, 1)})
    assert stacks and all(names[-1] == "ConstraintReport" for names in stacks)


@pytest.mark.parametrize("maximises", [False, True])
@pytest.mark.parametrize("name", SWITCHES)
def test_off_and_on(name, maximises, stacks):
    verb, sign = (infimum.maximize, -1) if maximises else (infimum.minimize, 1)
    bounds = [(-5, 5) if np.isinf(low) else (low, high) for low, high in BOUNDS]

    def solved():
        return verb(lambda x: sign * x[2], bounds, constraints=CONSTRAINTS, max_boxes=3000)
    on = solved()
    with without(name):
        off = solved()
    assert SWITCHES[name] in stacks[0] and SWITCHES[name] not in stacks[1]
    for r in (on, off):
        assert r.lower <= sign * BEST <= r.upper + 1e-12 and r.x.shape == (5,) and r.x[[1, 4]].tolist() == [0.5, 2.0]
        assert any((lo <= point + 1e-6).all() and (point - 1e-6 <= hi).all() for lo, hi in r.boxes
                   for point in [np.array([-0.25, 0.5, BEST, 2.0, 2.0])])
        assert r.constraints[0].multiplier == pytest.approx(sign * 1.0, rel=1e-2)
    assert on.lower <= off.upper and off.lower <= on.upper and on.success


@pytest.mark.parametrize("engine", ["auto", "newton", "complete", "subdomain", "swarm"])
def test_a_maximum_is_a_minimum_of_the_opposite(engine):
    def f(x):
        return np.sin(3 * x[0]) * x[0] + x[1] * x[2]
    bounds = [(-2, 3), (0.5, 0.5), (-1, 1)]
    most, least = infimum.maximize(f, bounds, engine=engine), infimum.minimize(lambda x: -f(x), bounds, engine=engine)
    assert (most.lower, most.upper, most.fun) == (-least.upper, -least.lower, -least.fun)
    assert most.x.tobytes() == least.x.tobytes() and most.nfev == least.nfev
    assert [(-h.fun, -h.upper, -h.lower) for h in most.history][-1] == [(h.fun, h.lower, h.upper) for h in least.history][-1]


def test_a_run_at_work_is_seen_in_terms_of_the_user(tmp_path):
    """Snapshots, and a checkpoint from which the run continues with the same bits."""
    def f(x):
        return -x[2] - 1

    def row(x):
        return x[2] >= np.sin(5 * x[0]) * x[0] + np.cos(7 * x[3] * x[0]) * x[1] + x[3] ** x[4]
    bounds, seen, path = [(-2, 2), (0.5, 0.5), (-100, 100), (-3, 3), (2, 2)], [], tmp_path / "run.inf"
    settings = {"constraints": row, "rtol": 1e-9, "batch": 16}
    whole = infimum.maximize(f, bounds, callback=seen.append, **settings)
    known = [s for s in seen if s.upper < INF]
    assert known and all(s.x.shape == (5,) and s.x[[1, 4]].tolist() == [0.5, 2.0] for s in seen)
    assert all(s.lower <= whole.upper and whole.lower <= s.upper for s in known)
    assert [h.lower for h in whole.history] == sorted(h.lower for h in whole.history)
    infimum.maximize(f, bounds, checkpoint=path, max_boxes=whole.nfev // 2, **settings)
    again = infimum.resume(path, f, constraints=row)
    assert (again.lower, again.upper, again.x.tobytes()) == (whole.lower, whole.upper, whole.x.tobytes())
    assert row(again.x + np.array([0, 0, 1e-9, 0, 0])) and f(again.x) <= again.upper


def test_workers_are_sent_the_innermost_form(monkeypatch):
    """Neither the variable that is defined nor the one that is fixed is bounded there, and the answer has both."""
    sent, of = [], PortionProver.of
    monkeypatch.setattr(PortionProver, "of", lambda *given: sent.append(given) or of(*given))

    def row(x):
        return x[3] == waves(x[:3]) + x[4]
    bounds = [*BOX, (-INF, INF), (1, 1)]
    dealt = infimum.minimize(lambda x: x[3], bounds, constraints=[row, limits], workers=1, **SETTINGS)
    assert dealt.rounds["rounds"] > 0 and dealt.success and dealt.x.shape == (5,) and dealt.x[4] == 1
    assert dealt.lower <= -0.6402256113 and -0.6402256114 <= dealt.upper and len(dealt.constraints) == 3
    (problem, evaluator, *_), = sent
    assert evaluator.system.m == 2 and evaluator.n == 4 and problem.lo[3] == problem.hi[3]


def test_obstacles_name_the_variables_of_the_user():
    """Also where another step follows the one that takes out fixed variables: here squares are completed."""
    r = infimum.minimize(lambda x: np.exp(x[3]) * x[0] + x[1], [(-2, -1), (0.5, 0.5), (0.5, 0.5), (-INF, INF)], max_boxes=100,
                         constraints=lambda x: x[0] * x[3] <= 50 + x[2])
    assert r.lower == -INF and "near x[0] = " in r.obstacle and ", x[3] = " in r.obstacle


def test_figures_are_those_of_the_engine_where_no_sign_turns():
    class Engine:
        name, value, lower, evaluations, x = "engine", 2.0, 1.0, 3, None

        def figures(self):
            return {"best": "about 2", "lower": "1"}

        def state(self):
            return "a state"
    run = PresolvedRun(Engine(), PresolveStep())
    assert run.figures() == {"best": "about 2", "lower": "1"} and run.x is None and run.state() == "a state"
    assert (run.value, run.lower, run.upper, run.evaluations) == (2.0, 1.0, 2.0, 3)
    assert PresolvedRun(Engine(), Maximisation()).figures() == {"best": "-2", "lower": "-2"}
    with pytest.raises(AttributeError):
        run.branch  # noqa: B018 - only what the driver asks for has a name here


def test_no_engine_is_hidden_behind_a_proxy():
    root = Path(infimum.__file__).parent
    for folder in ("presolve", "engines", "problem", "search"):
        for path in (root / folder).rglob("*.py"):
            assert "def __getattr__" not in path.read_text() or path.name == "curve_intervals.py", path
