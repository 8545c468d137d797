"""`import infimum.pyomo`: infimum as a solver of Pyomo, with limits, bounds, conditions and names as Pyomo has them."""

import logging
import math
import os
import re
import signal
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO

import pytest

import infimum

pyo = pytest.importorskip("pyomo.environ")

from pyomo.common.errors import ApplicationError  # noqa: E402
from pyomo.opt import SolverStatus, TerminationCondition  # noqa: E402

import infimum.pyomo as plugin  # noqa: E402
from infimum.cli.program import run as run_program  # noqa: E402
from tests import children  # noqa: E402

ENDED = TerminationCondition
STARTED = 4  # words of the command before the program's own


@pytest.fixture
def solver(monkeypatch):
    """It runs in this process: starting another takes a second."""
    def execute(self, command):
        monkeypatch.setenv("infimum_options", command.env["infimum_options"])
        self.words, log = command.cmd[STARTED:], StringIO()
        with redirect_stdout(log), redirect_stderr(log):
            code = run_program(self.words)
        self._last_solve_time = 0.25
        return [code, log.getvalue()]
    monkeypatch.setattr(plugin.Infimum, "_execute_command", execute)
    return pyo.SolverFactory("infimum")


def _bowl(sense=pyo.minimize):
    m = pyo.ConcreteModel()
    m.x = pyo.Var([(1, "a"), (2, "b c"), (3, "d:e")], bounds=(-2, 3))
    m.o = pyo.Objective(expr=(1 if sense == pyo.minimize else -1) * sum((x - 1) ** 2 for x in m.x.values()), sense=sense)
    return m


def _hard(sense=pyo.minimize):
    m = pyo.ConcreteModel()
    m.x = pyo.Var(range(12), bounds=(-500, 500))
    m.o = pyo.Objective(expr=sum(m.x[i] * pyo.sin(m.x[i] * m.x[(i + 1) % 12]) for i in range(12)), sense=sense)
    return m


@pytest.mark.parametrize("sense", [pyo.minimize, pyo.maximize])
def test_bounds_and_gap(solver, sense):
    m = _bowl(sense)
    m.o.expr += 7
    done = solver.solve(m)
    problem = done.problem
    assert done.solver.termination_condition == ENDED.optimal and done.solver.status == SolverStatus.ok
    assert problem.lower_bound <= 7 <= problem.upper_bound and problem.gap >= problem.upper_bound - problem.lower_bound
    assert problem.gap < 1e-5 and problem.sense == sense
    assert (problem.number_of_variables, problem.number_of_constraints) == (3, 0)
    assert pyo.value(m.o) == pytest.approx(7, abs=1e-5) and pyo.check_optimal_termination(done)
    what = "maximum" if sense == pyo.maximize else "minimum"
    assert f"PROVED, the global {what} lies in [" in done.solver.message and done.solver.wallclock_time == 0.25
    assert "\\x3a" not in str(done) and ": [" not in done.solver.message


@pytest.mark.parametrize("sense", [pyo.minimize, pyo.maximize])
def test_a_limit_keeps_the_bounds(solver, sense):
    """Those that are known when it is reached, and the point that has the better value."""
    m = _hard(sense)
    done = solver.solve(m, options={"max_boxes": 100})
    assert done.solver.termination_condition == ENDED.maxEvaluations and done.solver.status == SolverStatus.ok
    low, high = done.problem.lower_bound, done.problem.upper_bound
    assert -6000.01 <= low < high <= 6000.01 and done.problem.gap >= high - low
    assert pyo.value(m.o) == pytest.approx(high if sense == pyo.minimize else low, rel=1e-9)


def test_time_limits(solver):
    """How much is known by then depends on the machine."""
    m = _hard()
    done = solver.solve(m, timelimit=0.05)
    assert "time_limit=0.05" in solver.words and "time_limit" not in solver.options
    assert done.solver.termination_condition == ENDED.maxTimeLimit
    assert "the time limit of 0.05 s was reached" in done.solver.message
    solver.solve(m, options={"max_boxes": 1})
    assert "time_limit=0.05" not in solver.words  # each call has its own


def test_no_point_is_loaded_where_there_is_none(solver):
    m = _bowl()
    m.x[1, "a"].value = 0.125
    m.pool = pyo.Constraint(m.x.index_set(), rule=lambda m, *i: m.x[i] >= 6)
    done = solver.solve(m)
    assert done.solver.termination_condition == ENDED.infeasible and done.solver.status == SolverStatus.warning
    assert "INFEASIBLE, proved that no point within the bounds meets all constraints" in done.solver.message
    assert done.problem.gap is None and m.x[1, "a"].value == 0.125 and done.problem.number_of_constraints == 3


def test_names_of_indexed_components(solver):
    m = _bowl()
    m.x[3, "d:e"].fix(1)
    m.o.expr = 1 / m.x[2, "b c"] + m.x[1, "a"] ** 2
    done = solver.solve(m, options={"max_boxes": 1000})
    assert "`1 / 'x[2,b c]'` has no finite enclosure" in done.solver.message
    assert "near x[1,a] = " in done.solver.message and ", 'x[2,b c]' = " in done.solver.message


def test_errors_are_logged(solver, caplog):
    """Pyomo's own exceptions do not hold the reason."""
    m = _bowl()
    m.x[1, "a"].setub(-3)
    with caplog.at_level(logging.ERROR), pytest.raises(ValueError, match="bad status: error"):
        solver.solve(m)
    assert ", x[1,a], the bounds are reversed, -2.0 > -3.0" in caplog.text
    with caplog.at_level(logging.ERROR), pytest.raises(ApplicationError):
        solver.solve(_bowl(), options={"timlimit": 5})
    assert "infimum has no option 'timlimit': did you mean" in caplog.text


def test_without_an_objective(solver):
    m = _bowl()
    m.o.deactivate()
    m.c = pyo.Constraint(expr=sum(x ** 2 for x in m.x.values()) == 2)
    done = solver.solve(m)
    assert done.solver.termination_condition == ENDED.optimal and done.problem.gap is None
    assert sum(x.value ** 2 for x in m.x.values()) == pytest.approx(2)


def test_a_search_without_proof_is_not_called_optimal(solver):
    done = solver.solve(_bowl(), options={"engine": "swarm"})
    assert done.solver.termination_condition == ENDED.feasible and done.problem.lower_bound == -math.inf
    assert not pyo.check_optimal_termination(done)


@pytest.mark.parametrize("code, point, condition, status", [
    (0, True, ENDED.optimal, SolverStatus.ok), (100, True, ENDED.feasible, SolverStatus.ok),
    (200, False, ENDED.infeasible, SolverStatus.warning), (300, True, ENDED.unbounded, SolverStatus.warning),
    (402, True, ENDED.maxTimeLimit, SolverStatus.ok), (472, False, ENDED.maxTimeLimit, SolverStatus.warning),
    (403, True, ENDED.maxIterations, SolverStatus.ok), (404, True, ENDED.maxEvaluations, SolverStatus.ok),
    (474, False, ENDED.maxEvaluations, SolverStatus.warning), (401, True, ENDED.userInterrupt, SolverStatus.aborted),
    (410, True, ENDED.resourceInterrupt, SolverStatus.aborted), (470, False, ENDED.noSolution, SolverStatus.warning),
    (500, False, ENDED.error, SolverStatus.error)])
def test_conditions(code, point, condition, status):
    assert plugin._ended(code, point) == (condition, status)


def test_in_a_process_of_its_own(capfd):
    """What is printed while it runs, is shown with tee=True only."""
    m = _bowl(pyo.maximize)
    solver = pyo.SolverFactory("infimum")
    assert solver.available() and solver.version()[:3] == tuple(map(int, infimum.__version__.split(".")[:3]))
    done = solver.solve(m, tee=True, timelimit=60)
    out = capfd.readouterr().out
    assert "3 variables, 0 constraints; maximises objective o" in out and "PROVED, the global maximum lies in" in out
    assert done.solver.termination_condition == ENDED.optimal and done.solver.wallclock_time > 0
    solver.solve(m)
    assert capfd.readouterr().out == ""


class _Process:
    """Interrupted as often as `waits` says."""

    def __init__(self, *waits):
        self.waits, self.did = list(waits), []

    def wait(self, limit=None):
        self.did.append("wait" if limit is None else "wait a while")
        outcome = self.waits.pop(0)
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome

    def terminate(self):
        self.did.append("terminate")

    def kill(self):
        self.did.append("kill")


def test_interrupts():
    late = subprocess.TimeoutExpired("infimum", 5)
    once, deaf, twice = _Process(KeyboardInterrupt(), 0), _Process(KeyboardInterrupt(), late, 0), \
        _Process(KeyboardInterrupt(), KeyboardInterrupt())
    assert plugin._waited(once) == plugin._waited(deaf) == 0
    with pytest.raises(KeyboardInterrupt):
        plugin._waited(twice)
    assert (once.did, deaf.did) == (["wait", "wait a while"], ["wait", "wait a while", "terminate", "wait"])
    assert twice.did == ["wait", "wait a while", "kill"]


@pytest.mark.skipif(os.name == "nt", reason="there is no SIGTERM")
def test_sigterm_writes_what_is_proved(tmp_path):
    """Batch systems send it before they kill."""
    _hard().write(str(tmp_path / "model.nl"))
    words = [sys.executable, "-m", "infimum", str(tmp_path / "model.nl"), "-AMPL", "time_limit=60"]
    home = os.path.dirname(os.path.dirname(infimum.__file__))
    child = children.start(*words, cwd=home)
    line = child.stdout.readline()
    while "none" in line or not re.match(r" +[\d.]+ ", line):  # until both bounds are known
        assert child.poll() is None
        line = child.stdout.readline()
    child.send_signal(signal.SIGTERM)
    out, _ = child.communicate(timeout=30)
    assert child.returncode == 0 and "STOPPED, interrupted; the global minimum lies in [" in out
    told = plugin.read_summary(tmp_path / "model.sol")
    assert told.code == 401 and -6000.01 <= told.suffixes["bestbound"] <= told.suffixes["bestvalue"] <= 0


def test_whole_numbers_without_bounds(solver):
    m = pyo.ConcreteModel()
    m.k, m.j = pyo.Var(domain=pyo.NonNegativeIntegers), pyo.Var(domain=pyo.Integers)
    m.o = pyo.Objective(expr=(m.k - 3.3) ** 2 + (m.k - m.j) ** 2)
    m.c = pyo.Constraint(expr=m.k + m.j >= 7)
    solver.solve(m)
    assert (round(m.k()), round(m.j())) in {(4, 4), (4, 3)}
