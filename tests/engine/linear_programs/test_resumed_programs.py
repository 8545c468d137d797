"""A run with linear programs goes on with the same bits from wherever it was stopped: in the midst of a step, or of a look for
points."""

import copy

import numpy as np
import pytest

import infimum
from infimum.bounds.bound_table import Schedule
from infimum.bounds.linear_programs import linear_program_bound
from infimum.bounds.linear_programs import root_linear_programs as whole_box
from infimum.engines.constrained_run import ConstrainedRun
from infimum.problem.problem import Problem
from infimum.problem.settings import Goal, Limits, Method
from infimum.problems import constrained
from infimum.search.checkpoint import load

pytest.importorskip("highspy")


class Options:
    lp = True


METHOD = Method("auto", Options(), Goal(1e-7, 1e-3))


def runs_of(name):
    """A maker of new runs."""
    p = constrained.get(name)
    evaluator = infimum.compile(p.fun, p.n, constraints=p.constraints)
    return lambda: ConstrainedRun(Problem(p.fun, p.lo, p.hi), evaluator, METHOD, Limits(max_boxes=30_000))


def states(run, chosen):
    """The run to its end, and the states of it that are chosen."""
    return [copy.deepcopy(run.state()) for _ in run.steps() if run.state() is not None and chosen(run)]


def resumed(run, state):
    run.restore(state)
    for _ in run.steps():
        pass
    return run


def outcome(run):
    left = run.branch.regions()
    return (run.lower, run.value, run.evaluations, run.branch.steps, run.branch.boxes, run.x.tolist(), run.lp.report(),
            left.lo.tolist(), left.hi.tolist())


def test_stopped_in_the_midst_of_a_look():
    """It begins with the look, and with what was known then."""
    new_run = runs_of("adhya_1")
    whole = new_run()
    found = states(whole, lambda run: run.state_before_search is not None)
    assert len(found) > 3
    for state in found[:: len(found) // 2]:
        assert outcome(resumed(new_run(), state)) == outcome(whole)


def bilinear():
    """f, bounds and constraints of a function of products, with whole numbers: its relaxation has no curves."""
    rng = np.random.default_rng(0)
    q, a = np.triu(rng.integers(-5, 6, (6, 6)), 1).astype(float), rng.integers(0, 5, (2, 6)).astype(float)
    return lambda x: x @ (q @ x), [(0, 20)] * 6, lambda x: a @ x <= 7.3 * a.sum(axis=1)


def test_a_file_holds_all_counts_of_the_solver_and_starts_without_curves(tmp_path):
    """Where curves would be touched is an empty array then."""
    f, bounds, constraints = bilinear()
    path, asked = tmp_path / "run.inf", {"integrality": [1, 0] * 3, "options": {"lp": True}, "seed": 0, "progress": False}
    whole = infimum.minimize(f, bounds, constraints=constraints, **asked)
    part = infimum.minimize(f, bounds, constraints=constraints, max_boxes=200, checkpoint=path, **asked)
    sizes = load(path).arrays["lp.starts.points.sizes"]
    rest = infimum.resume(path, f, constraints=constraints, progress=False)
    assert part.verdict.name == "STOPPED" and (sizes == 0).any()
    assert all(getattr(rest, name) == getattr(whole, name) for name in ("lower", "upper", "nfev", "nit", "lp"))
    assert rest.x.tolist() == whole.x.tolist() and rest.regions.lo.tolist() == whole.regions.lo.tolist()


def test_a_rest_that_is_due_is_kept(monkeypatch):
    """Few programs bring the lowest region no nearer, in a cut of a step that judges nothing."""
    monkeypatch.setattr(linear_program_bound.POLICY, "judged_programs", 4)
    monkeypatch.setattr(whole_box.POLICY, "first_step_if_curved", 0)
    new_run = runs_of("g10")
    whole = new_run()
    found = states(whole, lambda run: run.lp.test.payoff.rest > 0)
    assert found
    assert outcome(resumed(new_run(), found[0])) == outcome(whole)


def test_states_of_earlier_versions_have_no_rest():
    payoff = linear_program_bound.PayoffInTurns(Schedule(0, 4, 0.25, grows=True))
    payoff.rest = 16
    payoff.restore(np.array([3, 1, 20, 10]))
    assert (payoff.due, payoff.pays, payoff.tried, payoff.gained, payoff.rest) == (3, True, 20, 10, 0)
