"""A run that has no time to trace or compile its function still answers, and claims nothing that it has not proved."""

import numpy as np
import pytest

import infimum
from infimum.api import solve
from infimum.evaluation.evaluator import Evaluator
from infimum.evaluation.programs import ProgramKind
from infimum.points.plain_call_search import by_plain_calls
from infimum.problem.problem import Problem
from infimum.result import Verdict
from infimum.search.progress import ProgressDisplay, bounds
from infimum.support.clock import OutOfTime, Watch

ENGINES = ("auto", "newton", "swarm", "complete")


def bowl(x):
    return (x[0] - 0.25)**2 + (x[1] + 0.5)**2 + 1.0


@pytest.fixture
def no_time(monkeypatch):
    """The time is over before the function is traced."""
    monkeypatch.setattr(solve, "watch_of", lambda limit: Watch(-1.0))


@pytest.fixture
def without(monkeypatch):
    """Kernels that cannot be compiled in time."""
    def forbid(*kinds: str) -> None:
        prepare = Evaluator.prepare

        def refused(self, kind):
            if ProgramKind.read(kind).name in kinds:
                raise OutOfTime("compiling")
            return prepare(self, kind)
        monkeypatch.setattr(Evaluator, "prepare", refused)
    return forbid


def claims_nothing(r) -> bool:
    return r.verdict is Verdict.STOPPED and not r.success and r.lower == -np.inf and r.upper == np.inf


@pytest.mark.parametrize("engine", ENGINES)
def test_plain_calls_answer_where_tracing_takes_too_long(no_time, engine: str):
    r = infimum.minimize(bowl, [(-1, 1)] * 2, time_limit=30, engine=engine, x0=[0.5, 0.5])
    assert claims_nothing(r) and "tracing" in r.message and "30 s" in r.message
    assert r.fun == bowl(r.x) <= bowl([0.5, 0.5]) and (np.abs(r.x) <= 1).all() and r.nfev >= 1
    assert "none; the value at x is about" in str(r) and len(r.boxes) == 1


def test_an_evaluator_knows_its_function(without):
    without("estimate", "value")
    f = infimum.compile(lambda x, c: bowl(x) + c, 2, args=(5.0,))
    r = infimum.minimize(f, [(-1, 1)] * 2, time_limit=0.1)
    assert claims_nothing(r) and r.fun == bowl(r.x) + 5.0


def test_a_function_that_fails_is_no_error():
    def fails(x):
        if x[0] > 0:
            raise ZeroDivisionError
        return -x[0]
    lo, hi = np.array([-1.0, -np.inf]), np.array([1.0, np.inf])
    r = by_plain_calls(Problem(fails, lo, hi), fails, None, "stopped", 0.2, 0, "auto")
    assert claims_nothing(r) and r.x[0] <= 0 and r.fun == -r.x[0] and np.isfinite(r.x).all()
    nowhere = by_plain_calls(Problem(fails, lo, hi), lambda x: 1 / 0, None, "stopped", 0.0, 0, "auto")
    assert nowhere.fun == np.inf and (nowhere.x >= lo).all() and (nowhere.x <= hi).all()


@pytest.mark.parametrize("low, high", [(-np.inf, np.inf), (2e3, np.inf), (-np.inf, -2e3), (-1e308, 1e308), (5.0, 5.0)])
def test_plain_calls_stay_inside(low: float, high: float):
    seen = []
    problem = Problem(None, np.array([low]), np.array([high]))
    by_plain_calls(problem, lambda x: seen.append(x[0]) or 1.0, None, "", 0.05, 0, "auto")
    assert all(np.isfinite(x) and low <= x <= high for x in seen) and len(seen) >= 1


@pytest.mark.parametrize("engine", [engine for engine in ENGINES if engine != "newton"])  # which verifies by that of the gradient
def test_without_the_kernel_that_verifies_the_value_is_an_estimate(without, engine: str):
    without("value")
    r = infimum.minimize(bowl, [(-1, 1)] * 2, time_limit=1000, engine=engine)
    assert claims_nothing(r) and abs(r.fun - bowl(r.x)) < 1e-12 and "compiling" in r.message


def test_without_the_kernel_that_branches_the_enclosure_is_that_of_the_whole_box(without):
    without("branch", "branch_by_pieces")
    r = infimum.minimize(bowl, [(-1, 1)] * 2, time_limit=1000)
    assert r.verdict is Verdict.STOPPED and r.lower <= 1.0 <= r.upper < 1.001
    (lo, hi), = r.boxes
    assert (lo <= [0.25, -0.5]).all() and (hi >= [0.25, -0.5]).all()


def test_without_second_derivatives_the_newton_loop_knows_the_whole_box(without):
    without("hessian")
    r = infimum.minimize(bowl, [(-1, 1)] * 2, time_limit=1000, engine="newton")
    assert r.verdict is Verdict.STOPPED and r.lower <= 1.0 <= r.upper and len(r.boxes) == 1
    assert (r.boxes[0][0] == -1).all() and (r.boxes[0][1] == 1).all()


def test_a_kernel_that_comes_late_loses_no_region(without):
    """The first step branches; later ones want a kernel that is not there."""
    def valley(x):
        return (x[0]**2 - x[1])**2 + 0.01 * (x[0] - 0.3)**2
    without("branch_by_pieces")
    r = infimum.minimize(valley, [(-2, 2)] * 2, atol=1e-13, rtol=0.0, time_limit=1000)
    assert r.lower <= 0.0 <= r.upper
    assert any((lo <= [0.3, 0.09]).all() and (hi >= [0.3, 0.09]).all() for lo, hi in r.boxes)


def test_waiting_is_shown_after_a_second(capsys):
    display = ProgressDisplay(True)
    display.wait("compiling", 0.5)
    assert capsys.readouterr().err == ""
    display.wait("compiling", 1.5)
    assert "time 1.5 s  phase compiling" in capsys.readouterr().err
    display.clear()


def test_counts_are_shown_with_their_rates_and_gaps_in_percent(capsys):
    class Engine:
        evaluations = 3000

        def figures(self):
            return bounds(2.0, 2.5) | {"regions": "5", "linear programs": 800}
    ProgressDisplay(True).show(Engine(), 2.0)
    shown = capsys.readouterr().err
    assert "gap 0.5 (20 %)  regions 5  linear programs 800 (400 a second)  evaluations 3,000 (1.5e+03 a second)" in shown
