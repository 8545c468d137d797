"""options={"lp": True}: what a user sees of it."""

import signal
import sys
from types import SimpleNamespace

import numpy as np
import pytest

import infimum
from infimum.backend import highs
from infimum.problems import constrained
from infimum.relax import program_bounds
from infimum.search import interrupts

pytest.importorskip("highspy")
LP = {"lp": True}


def problem(name):
    p = constrained.get(name)
    return (p.fun, p.bounds), {"constraints": p.constraints, "rtol": 1e-4, "progress": False}


@pytest.mark.parametrize("name", ["haverly_1", "haverly_2", "haverly_3", "bental_4", "bental_5", "foulds_2", "ex5_3_2"])
def test_pooling_problems_are_closed_at_the_root(name):
    given, settings = problem(name)
    r = infimum.minimize(*given, **settings, options=LP)
    assert r.verdict.name == "PROVED" and r.nit == 0
    least = constrained.get(name).minimum
    assert r.lower <= least.hi and r.upper >= least.lo
    assert r.lp["solver"].startswith("HiGHS ") and r.lp["solved"] > 0 and r.lp["failed"] == 0


def test_what_other_tests_prove_at_once_needs_none():
    r = infimum.minimize(lambda x: x[0] * x[1], [(-1, 1)] * 2, constraints=lambda x: x[0] + x[1] <= 1, progress=False)
    assert r.lp is None and r["lp"] is None


def test_functions_without_constraints():
    def f(x):
        return (1.5 - x[0] + x[0] * x[1]) ** 2 + np.exp(x[0] * x[1])
    plain, with_lp = (infimum.minimize(f, [(-4.5, 4.5)] * 2, progress=False, options=o) for o in (None, LP))
    assert with_lp.verdict.name == "PROVED" and with_lp.lp["solved"] > 0
    assert with_lp.lower <= plain.upper and plain.lower <= with_lp.upper


def test_infeasible_problems_take_one_program():
    r = infimum.minimize(lambda x: x[0], [(-1, 2)] * 2, constraints=[lambda x: x[0] * x[1] >= 5], options=LP, progress=False)
    assert r.verdict.name == "INFEASIBLE" and r.nit == 0


@pytest.fixture
def no_highs(monkeypatch):
    highs._library.cache_clear()
    monkeypatch.setitem(sys.modules, "highspy", None)
    yield
    highs._library.cache_clear()


@pytest.mark.parametrize("constraints", [(), [lambda x: x[0] * x[1] <= 1]])
def test_a_missing_solver_says_what_to_install(no_highs, constraints):
    with pytest.raises(infimum.SolverError, match=r"pip install highspy"):
        infimum.minimize(lambda x: x[0] * x[1], [(-1, 2)] * 2, constraints=constraints, options=LP)
    r = infimum.minimize(lambda x: x[0] * x[1], [(-1, 2)] * 2, constraints=constraints, progress=False)
    assert r.verdict.name == "PROVED"


def test_an_old_solver_is_named(no_highs, monkeypatch):
    monkeypatch.setitem(sys.modules, "highspy", SimpleNamespace(Highs=type("Highs", (), {"version": lambda self: "1.7.2"})))
    with pytest.raises(infimum.SolverError, match=r"version 1\.7\.2 is older than 1\.10.*pip install highspy"):
        infimum.minimize(lambda x: x[0] * x[1], [(-1, 2)] * 2, options=LP)


@pytest.mark.parametrize("value", [1, "yes"])
def test_the_option_is_true_or_false(value):
    with pytest.raises(infimum.OptionError, match="'lp' must be True, False or None"):
        infimum.minimize(lambda x: x[0], [(0, 1)], options={"lp": value})


def test_a_swarm_has_no_use_for_it():
    with pytest.raises(infimum.OptionError, match="engine 'swarm' proves no such bound"):
        infimum.minimize(lambda x: x[0], [(0, 1)], engine="swarm", options=LP)


def test_iterations_are_limited(monkeypatch):
    monkeypatch.setattr(program_bounds.POLICY, "iterations_a_row", 0)
    monkeypatch.setattr(program_bounds.POLICY, "least_iterations", 3)
    given, settings = problem("haverly_1")
    r = infimum.minimize(*given, **settings, options=LP, max_boxes=20_000)
    assert r.lp["limited"] > 0 and r.lower <= -400 <= r.upper + 1e-9


LONG = "adhya_1"  # its variables are tightened again after a look for points


def results(r):
    return (r.lower, r.upper, r.nfev, r.nit, r.x.tolist(), r.lp, r.regions.lo.tolist(), r.regions.hi.tolist())


def test_a_run_that_is_resumed_has_the_same_bits(tmp_path):
    given, settings = problem(LONG)
    whole = infimum.minimize(*given, **settings, options=LP)
    assert whole.nit > 3 and whole.verdict.name == "PROVED"
    for most in (whole.nfev // 64,):  # few of the evaluations are boxes
        path = tmp_path / f"{most}.inf"
        first = infimum.minimize(*given, **settings, options=LP, checkpoint=path, max_boxes=most)
        assert first.verdict.name == "STOPPED"
        assert results(infimum.resume(path, given[0], constraints=settings["constraints"], progress=False)) == results(whole)


def test_another_version_is_said_clearly(tmp_path, monkeypatch):
    given, settings = problem(LONG)
    infimum.minimize(*given, **settings, options=LP, checkpoint=tmp_path / "run.inf", max_boxes=4000)
    monkeypatch.setattr(highs, "version", lambda: "HiGHS 99.0.0 (none)")
    r = infimum.resume(tmp_path / "run.inf", given[0], constraints=settings["constraints"], progress=False)
    assert r.verdict.name == "PROVED" and "written with HiGHS 1" in r.message and "this is HiGHS 99.0.0" in r.message
    assert r.lp["solver"] == "HiGHS 99.0.0 (none)"


@pytest.mark.parametrize("at", [1, 4, 20])
def test_ctrl_c_leaves_what_holds(at, monkeypatch, ctrl_c_heard):
    class Interrupted(highs.Highs):
        calls = 0

        def solve(self, *asked):
            Interrupted.calls += 1
            if Interrupted.calls == at:
                signal.raise_signal(signal.SIGINT)
            return super().solve(*asked)
    monkeypatch.setattr(highs, "Highs", Interrupted)
    monkeypatch.setattr(interrupts.POLICY, "second_interrupt_seconds", -1.0)  # each as if it were the first
    given, settings = problem("adhya_1")
    r = infimum.minimize(*given, **settings, options=LP)
    assert r.verdict.name == "STOPPED" and "interrupted" in r.message
    assert r.lower <= -549.80 and r.upper >= -549.8031
