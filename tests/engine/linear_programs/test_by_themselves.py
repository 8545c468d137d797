"""Linear programs that nobody asked for: begun late, where there are constraints, and never needed."""

import copy
import json
import sys
from types import SimpleNamespace

import numpy as np
import pytest

import infimum
from infimum import Verdict, minimize
from infimum.api.objective import with_constraints
from infimum.backend import highs
from infimum.bounds.linear_programs.integer_guide import IntegerGuide
from infimum.bounds.linear_programs.program_branching import ProgramBranching
from infimum.bounds.linear_programs.program_dive import ProgramDive
from infimum.bounds.linear_programs.root_linear_programs import RootLinearPrograms
from infimum.engines import counted_starts
from infimum.engines.constrained_run import PROGRAMS, ConstrainedRun
from infimum.points.swarm_options import SwarmOptions
from infimum.problem.problem import Problem
from infimum.problem.settings import Goal, Limits, Method
from infimum.relax.program_bounds import LinearProgramBounding
from infimum.relax.relaxation import Relaxation
from infimum.search.checkpoint import load, save
from infimum.search.policy.bounds import VARIABLE_ELIMINATION
from infimum.support.clock import RunTimeOver, Watch, stoppable

pytest.importorskip("highspy")
METHOD = Method("auto", SwarmOptions(), Goal(1e-7, 1e-6))
WEIGHTS = np.array([12.0, 7.0, 11.0, 8.0, 9.0, 6.0])


def cutting_stock():
    """Two patterns, how often each is cut, and what they hold: products of whole numbers."""
    def f(x):
        return x[0] + x[1] + 0.1 * (x[2] + x[4])

    def demand(x):
        return [x[0] * x[2] + x[1] * x[4] - 9, x[0] * x[3] + x[1] * x[5] - 7]

    def length(x):
        return [20 - 6 * x[2] - 5 * x[3], 20 - 6 * x[4] - 5 * x[5]]
    return f, [(0, 9)] * 2 + [(0, 4)] * 4, [lambda x: np.stack(demand(x)) >= 0, lambda x: np.stack(length(x)) >= 0]


def compiled(f, n, constraints):
    """With all variables whole."""
    return with_constraints(infimum.compile(f, n), constraints, tuple(range(n)), None, 0.0).evaluator


def run_of(most=40_000):
    f, bounds, constraints = cutting_stock()
    evaluator = compiled(f, 6, constraints)
    lo, hi = np.array(bounds, float).T
    return ConstrainedRun(Problem(f, lo, hi), evaluator, METHOD, Limits(max_boxes=most))


def outcome(run):
    left = run.branch.regions()
    return (run.lower, run.value, run.evaluations, run.branch.steps, run.branch.boxes, run.x.tolist(),
            run.lp and run.lp.report(), left.lo.tolist(), left.hi.tolist())


def enumerated():
    """The least value, by trying everything."""
    f, bounds, _ = cutting_stock()
    x = np.stack(np.meshgrid(*[np.arange(lo, hi + 1) for lo, hi in bounds], indexing="ij")).reshape(6, -1)
    fits = (6 * x[2] + 5 * x[3] <= 20) & (6 * x[4] + 5 * x[5] <= 20)
    enough = (x[0] * x[2] + x[1] * x[4] >= 9) & (x[0] * x[3] + x[1] * x[5] >= 7)
    return f(x)[fits & enough].min()


@pytest.fixture
def early(monkeypatch):
    monkeypatch.setattr(PROGRAMS, "first_step_whole", 1)
    monkeypatch.setattr(PROGRAMS, "first_step", 1)
    monkeypatch.setattr(VARIABLE_ELIMINATION, "most_cells", 0)


@pytest.mark.parametrize("options", [None, {"lp": True}, {"lp": False}])
def test_all_ways_enclose_the_optimum(early, options):
    f, bounds, constraints = cutting_stock()
    r = infimum.minimize(f, bounds, constraints=constraints, integrality=1, options=options, rtol=1e-6, progress=False)
    least = enumerated()
    assert r.verdict.name == "PROVED" and r.lower <= least <= r.upper + 1e-12
    assert (r.lp is None) == (options == {"lp": False})


def test_a_problem_that_is_solved_at_once_imports_nothing(monkeypatch):
    monkeypatch.setattr(highs, "_library", lambda: pytest.fail("HiGHS was imported"))
    r = infimum.minimize(lambda x: x[0] * x[1], [(-1, 1)] * 2, constraints=lambda x: x[0] + x[1] <= 1, progress=False)
    assert r.verdict.name == "PROVED" and r.lp is None


def test_without_the_solver_runs_go_on(early, monkeypatch):
    highs._library.cache_clear()
    monkeypatch.setitem(sys.modules, "highspy", None)
    f, bounds, constraints = cutting_stock()
    r = infimum.minimize(f, bounds, constraints=constraints, integrality=1, rtol=1e-6, progress=False)
    highs._library.cache_clear()
    assert r.lp is None and r.lower <= enumerated() <= r.upper + 1e-12


def test_resumed_runs_take_the_same_course(early):
    whole = run_of()
    states = [(copy.deepcopy(whole.state()), whole.lp is not None) for _ in whole.steps() if whole.state() is not None]
    assert whole.lp is not None and any(begun for _, begun in states) and len(states) > 3
    first = next(k for k, (_, begun) in enumerate(states) if begun)
    for state, _ in states[max(0, first - 1):first + 2] + states[first + 2::max(1, len(states) // 2)]:
        again = run_of()
        again.restore(state)
        for _ in again.steps():
            pass
        assert outcome(again) == outcome(whole)


class StopsAfter(Watch):
    """A watch that says stop at its pause of that number after linear programs have begun."""

    def __init__(self, run, pauses: int):
        super().__init__()
        self.run, self.left = run, pauses

    def stop_if_over(self) -> None:
        self.left -= self.run.state_before_search is not None
        if self.left < 0:
            raise RunTimeOver


def test_a_look_at_the_whole_box_that_is_cut_off_is_repeated(early, tmp_path):
    """With what was known before, and what sides of regions are compared with is the same then."""
    whole, most, path = run_of(), 1 << 60, tmp_path / "run.inf"
    with StopsAfter(whole, most) as watch:
        for _ in whole.steps():
            pass
    count = most - watch.left
    for pauses in (0, count // 2, count - 1):
        run, again = run_of(), run_of()
        with StopsAfter(run, pauses), pytest.raises(RunTimeOver):
            for _ in run.steps():
                pass
        save(path, run.state())
        again.restore(load(path))
        for _ in again.steps():
            pass
        assert outcome(again) == outcome(whole)


def test_sides_are_measured_as_before_in_a_run_that_is_resumed(early, monkeypatch):
    """As parts of the sides of the box that propagation has left, where linear programs make it no narrower."""
    monkeypatch.setattr(RootLinearPrograms, "tighten", lambda self, *given: iter(()))
    whole, again = run_of(), run_of()
    again.restore(next(whole.state() for _ in whole.steps() if whole.lp is not None and whole.state_before_search is None))
    assert whole.search.better is None
    assert again.lp.test.branching.units.tolist() == whole.lp.test.branching.units.tolist()
    assert (whole.lp.test.branching.units != 1.0 / (whole.hi - whole.lo)).any()


def test_what_was_eliminated_is_not_eliminated_again():
    whole, again = run_of(), run_of()
    for _ in whole.steps():
        pass
    assert whole.elimination.done and whole.state().values["eliminated"]
    again.restore(whole.state())
    assert again.elimination.done and not again.elimination.waits
    assert again.finish(None, 0.0, []).presolve == whole.finish(None, 0.0, []).presolve != ()


def test_a_point_that_the_clock_has_cut_off_is_not_used(monkeypatch):
    """What the solver has found when the time of the run is over depends on the machine."""
    f, bounds, constraints = cutting_stock()
    bounding, lo, hi = bounding_of(f, bounds, constraints)
    guide, watch = IntegerGuide(bounding), Watch()
    bounding.session()
    assert guide.points(lo, hi, np.inf)
    solved = bounding.solver.whole_solution

    def until_time_is_over(*given):
        watch.asked_to_stop = lambda: True
        return solved(*given)
    monkeypatch.setattr(guide, "holds", [])
    monkeypatch.setattr(bounding.solver, "whole_solution", until_time_is_over)
    with watch, stoppable(), pytest.raises(RunTimeOver):
        guide.points(lo, hi, np.inf)


def test_they_begin_sooner_where_functions_are_costly():
    def due(terms, boxes, lower=0.0):
        rows = [lambda x: np.sum(np.exp(x[0] * np.arange(terms))) <= 9]
        system = with_constraints(infimum.compile(lambda x: x[0], 2), rows, (), None, 0.0).evaluator.system
        branch = SimpleNamespace(steps=2, boxes=boxes, lower=lambda: lower, incumbent=SimpleNamespace(upper=1.0))
        return counted_starts.ProgramsStage(True).are_due(system, branch, (np.zeros(2), np.ones(2)))
    assert not due(1, 20_000) and due(400, 20_000) and not due(400, 100) and not due(400, 20_000, -np.inf)


@pytest.mark.parametrize("falls, waits", [(0.5, True), (0.8, False), (1.0, False)])
def test_they_wait_while_boxes_close_the_gap(falls, waits):
    """With each doubling of the boxes the distance between both bounds falls by this factor; also of a run that continues."""
    system = with_constraints(infimum.compile(lambda x: x[0], 2), [lambda x: x[0] * x[1] <= 9], (), None, 0.0).evaluator.system
    stage, found = counted_starts.ProgramsStage(True), []
    for step in range(12):
        branch = SimpleNamespace(steps=8 * step, boxes=10 * 2**step, lower=lambda step=step: -falls**step,
                                 incumbent=SimpleNamespace(upper=0.0))
        found.append(stage.are_due(system, branch, (np.zeros(2), np.ones(2))))
        values = json.loads(json.dumps(stage.values()))
        stage = counted_starts.ProgramsStage(True)
        stage.restore(values)
    assert not any(found[:2]) and all(due is not waits for due in found[2:])


def test_boxes_that_close_the_gap_have_no_programs_beside_them():
    """A function of two variables with a costly formula: programs of it say far less than many boxes."""
    rng = np.random.default_rng(0)
    w, b, v = rng.normal(size=(2, 40)), rng.normal(size=40), rng.normal(size=40)
    r = minimize(lambda x: np.tanh(x @ w + b) @ v + np.sin(3 * x[0]) * np.cos(2 * x[1]), [(-3, 3)] * 2,
                 constraints=lambda x: x[0] ** 2 + x[1] ** 2 <= 4, atol=1e-4)
    assert r.verdict is Verdict.PROVED and r.lp is None


def bounding_of(f, bounds, constraints):
    evaluator = compiled(f, len(bounds), constraints)
    lo, hi = np.array(bounds, float).T
    return LinearProgramBounding(Relaxation(evaluator), evaluator.linear_programs), lo, hi


def knapsack():
    return bounding_of(lambda x: -(np.array([9.0, 5, 8, 6, 6, 4]) @ x), [(0, 1)] * 6, [lambda x: WEIGHTS @ x <= 25])


def test_a_dive_ends_in_whole_numbers():
    """Rows that are all linear have programs as well."""
    bounding, lo, hi = knapsack()
    x = ProgramDive(bounding).point(lo, hi, np.inf)
    assert (x == np.rint(x)).all() and WEIGHTS @ x <= 25


def test_what_is_not_whole_is_cut_and_probed():
    bounding, lo, hi = knapsack()
    bounding.session()
    left = bounding.bound(*bounding.columns_of(lo, hi), np.inf, 1)
    branching = ProgramBranching(bounding, 6)
    axis = int(branching.axis(left, 0.0, np.inf))
    assert abs(left.point[axis] - np.rint(left.point[axis])) > 0.1
    assert branching.gains[1, :, axis].tolist() == [1.0, 1.0] and (branching.gains[0] >= 0).all()
