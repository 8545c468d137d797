"""nested: trials of outer variables, proofs over inner ones, what is said of both, and what cannot be."""

import json
import math
import signal
import time
from types import SimpleNamespace

import numpy as np
import pytest

import infimum
from infimum.blackbox.journal import read_journal
from infimum.cli.shell_wording import for_shell
from infimum.evaluation.evaluator import Evaluator
from infimum.problem.violation import violation
from infimum.search.driver import drive
from infimum.search.interrupts import Interrupts
from infimum.trace.constraint_reading import read_constraints
from infimum.trace.trace import trace

UNIT, WIDE = [(0.0, 1.0)], [(-2.0, 2.0)]


def waves(y, z):
    """At each y the least over z is that of the lower of two wells: (z - 1)**2 - y in one, (z + 1)**2 - 0.5 in the other."""
    return np.minimum((z[0] - 1) ** 2 - y[0], (z[0] + 1) ** 2 - 0.5) + 4 * (y[0] - 0.75) ** 2


def least(y):
    """The same, by hand."""
    return min(-y, -0.5) + 4 * (y - 0.75) ** 2


def in_pieces(y, z):
    return (z[0] - y[0]) ** 2 + 1.0 if y[0] > 0.5 else (z[0] - 2 * y[0]) ** 2 + (y[0] - 0.25) ** 2


def simulated(y):
    if y[0] > 0.9:
        raise ValueError("the solver diverged")
    return [math.sin(6 * float(y[0])), 2.0]


def with_simulation(y, z, s):
    return s[0] + (z[0] - y[0]) ** 2 * s[1]


def nested(fun=waves, outer=UNIT, inner=WIDE, **settings):
    return infimum.nested(fun, outer, inner, **{"max_trials": 25} | settings)


def test_the_inner_minimum_is_enclosed_at_every_trial(tmp_path):
    r = nested(journal=tmp_path / "run.jsonl")
    assert r.verdict.name == "CANDIDATE" and r.lower == -math.inf and r.engine == "nested" and r.success
    assert r.x == pytest.approx([0.875, 1.0], abs=0.02) and r.fun == r.upper >= waves(r.x[:1], r.x[1:])
    assert r.trials.inner.lower <= least(r.x[0]) <= r.upper and r.upper - r.trials.inner.lower <= 1e-6
    assert r.trials.inner.verdicts == {"PROVED": 25} and r.trials.count == 25
    trials = read_journal(tmp_path / "run.jsonl").trials
    assert len(trials) == 25
    for trial in trials:
        inner, value = trial.outcome.inner, trial.outcome.value
        assert inner.lower <= least(trial.x[0]) <= value <= inner.lower + 1e-6 * max(1, abs(value)) + 1e-15
        assert waves(trial.x, inner.z) == pytest.approx(value, abs=1e-9)
    assert r.trials.inner.evaluations == sum(trial.outcome.inner.evaluations for trial in trials)


def test_what_the_result_says():
    r = nested(max_trials=8)
    text = str(r)
    assert "lower values may exist at others" in text and "the minimum over z is enclosed, with proof" in text
    assert f"is proved to lie in [{r.trials.inner.lower!r}, {r.upper!r}]" in text and "(verified at x)" in text
    assert "lower bound  none" in text and "8 inner problems (8 proved)" in text
    known = json.loads(r.to_json())["trials"]["inner"]
    assert known["lower"] == r.trials.inner.lower and known["verdicts"] == {"PROVED": 8}


def test_a_journal_goes_on_with_the_same_bits(tmp_path):
    whole = nested(max_trials=20)
    first = nested(max_trials=9, journal=tmp_path / "run.jsonl")
    again = nested(max_trials=20, journal=tmp_path / "run.jsonl")
    assert first.trials.count == 9 and again.x.tobytes() == whole.x.tobytes() and again.upper == whole.upper
    assert again.trials.inner.lower == whole.trials.inner.lower
    assert again.trials.inner.evaluations == whole.trials.inner.evaluations
    with pytest.raises(infimum.JournalError, match="of another problem: inner bounds was"):
        nested(inner=[(-3, 3)], journal=tmp_path / "run.jsonl")


def not_right(y):
    return y[0] - 0.8


def above(y, z, s):
    return z[0] >= y[0] - 1


def test_resume_says_which_call_goes_on(tmp_path):
    path = str(tmp_path / "run.jsonl")
    nested(with_simulation, simulate=simulated, constraints=[not_right], inner_constraints=above, inner_integrality=1,
           maximise=True, max_trials=4, journal=path)
    with pytest.raises(infimum.CheckpointError, match="is a journal of 4 trials") as said:
        infimum.resume(path, with_simulation)
    call = str(said.value).split("continue it with ")[1].split(", with the other settings")[0]
    names = {f.__name__: f for f in (with_simulation, simulated, not_right, above)} | {"infimum": infimum}
    assert eval(call.replace(", journal", ", max_trials=6, journal"), names).trials.count == 6
    assert call in for_shell(str(said.value))


def test_other_inner_constraints_are_another_problem(tmp_path):
    path = tmp_path / "run.jsonl"
    nested(inner_constraints=infimum.Constraint(waves, ub=3.0), max_trials=2, journal=path)
    for other in (infimum.Constraint(waves, ub=4.0), {"type": "ineq", "fun": waves}, {"type": "eq", "fun": waves, "args": (1,)}):
        with pytest.raises(infimum.JournalError, match="of another problem: .*the ends of `waves` have changed"):
            nested(inner_constraints=other, max_trials=2, journal=path)


def test_a_function_that_needs_numbers_is_traced_for_each():
    r = nested(in_pieces, max_trials=20)
    assert r.x == pytest.approx([0.25, 0.5], abs=1e-2) and r.trials.inner.verdict == "PROVED"
    assert "traced again in each trial" in r.message and "test_nested.py:" in r.message


def test_a_choice_is_an_outer_variable():
    r = nested(lambda y, z: (z[0] - y[1]) ** 2 + {"steel": 2.0, "wood": 1.0}[y[0]], [["steel", "wood"], (0, 1)], max_trials=12)
    assert r.trials.point[0] == "wood" and r.upper == pytest.approx(1.0, abs=1e-6) and len(r.x) == 3


def test_what_is_simulated_is_taken_as_it_is():
    r = nested(with_simulation, simulate=simulated, max_trials=40)
    assert r.x[0] == pytest.approx(math.pi / 4, abs=1e-2) and r.x[1] == pytest.approx(r.x[0], abs=1e-3)
    assert r.trials.failures["exception"] > 0 and "test_nested.py" in r.trials.last_failure
    assert r.trials.inner.lower <= math.sin(6 * r.x[0]) <= r.upper and "traced again" not in r.message


def test_a_function_that_means_something_else_when_it_is_traced():
    """Its text of y is no number while y is traced: what was traced is not believed, and numbers are."""
    r = nested(lambda y, z: (z[0] - 1) ** 2 + len(str(y[0])) * 0.0 + (5.0 if "x" in str(y[0]) else 0.0), max_trials=5)
    assert r.upper == pytest.approx(0.0, abs=1e-6) and r.trials.inner.verdict == "PROVED"


# ---- constraints
def test_constraints_on_y_come_first_and_those_on_z_are_proved():
    calls = []

    def not_left(y):
        calls.append(float(y[0]))
        return 0.2 - y[0]
    r = nested(lambda y, z: y[0] + z[0] ** 2, constraints=[not_left], inner_constraints=[lambda y, z: z[0] >= 3 - 2 * y[0]],
               max_trials=60)
    # feasible where 3 - 2 y <= 2: y >= 0.5; there the minimum is y + (3 - 2 y)**2, at y = 1
    assert len(calls) == 60 and r.x == pytest.approx([1.0, 1.0], abs=0.02) and r.trials.evaluations[0] == 60
    assert r.trials.inner.verdicts["INFEASIBLE"] == r.trials.evaluations[1] - r.trials.evaluations[2] > 0
    assert r.trials.constraints[1] <= 0 and r.x[1] >= 3 - 2 * r.x[0]


def test_an_infeasible_inner_problem_counts_with_its_least_violation(tmp_path):
    nested(lambda y, z: y[0] + z[0] ** 2, inner_constraints=[lambda y, z: z[0] >= 3 - 2 * y[0]], journal=tmp_path / "run.jsonl")
    violated = [trial for trial in read_journal(tmp_path / "run.jsonl").trials if trial.outcome.index == 1]
    assert violated and all(trial.outcome.inner.verdict == "INFEASIBLE" for trial in violated)
    for trial in violated:
        wanted = 1 - 2 * trial.x[0]           # 3 - 2 y - 2, at z = 2
        assert 0 < wanted <= trial.outcome.value <= 1.02 * wanted + 1e-6
        assert trial.outcome.inner.z[0] == pytest.approx(2.0, abs=0.02)


def test_no_feasible_y_at_all():
    r = nested(inner_constraints=[lambda y, z: z[0] >= 4 + y[0]], max_trials=6)
    assert r.x is None and r.verdict.name == "UNDECIDED" and not r.success and "violates g1 by" in r.message
    assert r.trials.inner.verdicts == {"INFEASIBLE": 6} and r.trials.inner.verdict is None


def test_forms_of_inner_constraints():
    same = [lambda y, z: z[0] >= y[0], infimum.Constraint(lambda y, z: z[0] - y[0], lb=0.0),
            {"type": "ineq", "fun": lambda y, z, by: by * (z[0] - y[0]), "args": (1.0,)}]
    found = [nested(lambda y, z: z[0] ** 2 - 0.1 * y[0], inner_constraints=one, max_trials=12) for one in same]
    assert len({round(r.upper, 9) for r in found}) == 1 and all(r.x[1] >= r.x[0] for r in found)


def test_the_violation_is_that_of_the_worst_constraint():
    system = read_constraints([lambda x: x[0] + x[1] >= 3, infimum.Constraint(lambda x: x, [-1.0, -np.inf], [1.0, 2.0])],
                              2).system(trace(np.sum, 2))
    found = Evaluator(violation(system), 2)
    for x in np.random.default_rng(0).uniform(-4, 4, (50, 2)):
        wanted = max(3 - x[0] - x[1], x[0] - 1, -1 - x[0], x[1] - 2)
        assert float(found.estimate(x)) == pytest.approx(wanted, abs=1e-12)


# ---- limits
def test_an_inner_problem_that_is_stopped_says_so():
    def hard(y, z):
        return np.sum(np.sin(z * z * 9) * z) + y[0]
    r = nested(hard, inner=[(-3.0, 3.0)] * 3, inner_max_boxes=10, max_trials=3)
    assert r.trials.inner.verdicts == {"STOPPED": 3} and r.trials.inner.verdict == "STOPPED"
    assert r.upper >= hard(r.x[:1], r.x[1:]) and r.trials.inner.lower < r.upper - 1e-3
    assert "wider than asked for" in str(r)


def in_the_midst(monkeypatch, happens):
    """In the second step of the first inner proof something happens; an inner problem, whose proof has more steps than that."""
    def driven(search, **settings):
        def steps():
            for k, _ in enumerate(usual()):
                if k == 1:
                    happens()
                yield
        usual, search.steps = search.steps, steps
        return drive(search, **settings)
    monkeypatch.setattr("infimum.api.inner_problem.drive", driven)
    return {"fun": lambda y, z: np.sum(np.sin(z * np.sum(z) * 9) * z) + np.prod(np.cos(5 * z)) + y[0],
            "inner": [(-30.0, 30.0)] * 12}


def test_the_time_of_the_run_ends_an_inner_proof(monkeypatch):
    late = []
    clock = SimpleNamespace(perf_counter=lambda: time.perf_counter() + sum(late))
    monkeypatch.setattr("infimum.support.clock.perf_counter", clock.perf_counter)
    monkeypatch.setattr("infimum.search.driver.time", clock)
    r = nested(**in_the_midst(monkeypatch, lambda: late.append(1000.0)), time_limit=1000.0)
    assert late == [1000.0] and r.x is None and r.trials.count == 0 and "the time limit of 1000 s" in r.message


def test_a_proof_that_the_time_of_the_run_ends_early_is_no_outcome(monkeypatch):
    """A proof begins nothing more shortly before the end of its time: then the run has some left, which changes nothing."""
    nested(max_trials=1)  # compiles the kernels
    monkeypatch.setattr("infimum.api.inner_problem.drive",
                        lambda search, **settings: drive(search, time_limit=1e-9, progress=False))
    r = nested(max_trials=2, time_limit=1000.0)
    assert r.trials.count == 0 and "the time limit of 1000 s" in r.message
    assert nested(max_trials=2, time_limit=1000.0, inner_time_limit=1.0).trials.inner.verdicts == {"STOPPED": 2}


def test_ctrl_c_ends_an_inner_proof(monkeypatch, ctrl_c_heard):
    monkeypatch.setattr(Interrupts, "_last", -math.inf)
    r = nested(**in_the_midst(monkeypatch, lambda: signal.raise_signal(signal.SIGINT)), max_trials=5)
    assert r.x is None and r.trials.count == 0 and "interrupted" in r.message


def test_workers_change_nothing():
    here = nested(batch=2, max_trials=12)
    there = nested(batch=2, max_trials=12, workers=2, timeout=120.0)
    assert there.x.tobytes() == here.x.tobytes() and there.trials.inner.lower == here.trials.inner.lower
    assert there.upper == here.upper and there.trials.inner.verdicts == here.trials.inner.verdicts


@pytest.mark.parametrize("settings, said", [
    ({"fun": 3}, "fun must be a function"), ({"simulate": "sim"}, "simulate must be a function"),
    ({"inner_constraints": [waves, "z > 0"]}, "inner constraint 1 is of type str"), ({"inner_constraints": 3}, "is of type int"),
    ({"atol": -1}, "atol must be"), ({"time_limit": math.nan}, "time_limit must be"), ({"seed": -1}, "the seed must be"),
    ({"threads": 0}, "threads must be"), ({"device": "abacus"}, "there is no device"), ({"memory_limit": "8G"}, "memory_limit"),
    ({"workers": 2, "inner_constraints": [above, lambda y, z: z[0] >= 0]}, "inner constraint 1 `<lambda>` .*test_nested.py"),
    ({"workers": 2, "fun": with_simulation, "simulate": lambda y: 1.0}, "simulate, `<lambda>` .*test_nested.py"),
    ({"inner_max_boxes": 0}, "inner_max_boxes must be a positive number"),
    ({"outer": [(0, math.inf)]}, "must be finite"), ({"inner": [(1, 0)]}, "reversed"),
    ({"inner": [(0.2, 0.8)], "inner_integrality": 1}, "inner variable 0 is a whole number")])
def test_bad_arguments(settings, said):
    with pytest.raises(infimum.InfimumError, match=said):
        nested(**settings)


@pytest.mark.parametrize(("fun", "said"), [
    (lambda y, z: None, r"TraceError: \S*test_nested.py:\d+, in `<lambda>`: The function returned None"),
    (lambda y: y[0], r"UserFunctionError: \S*test_nested.py:\d+, in `<lambda>`: .*takes 1 positional.*is called with y and z")])
def test_errors_are_about_the_users_function(fun, said):
    with pytest.raises(infimum.TrialError, match=said):
        nested(fun, max_trials=2)
    in_constraint = said.replace(": ", ": constraint 0: ", 1).replace("The function returned", ".*")
    with pytest.raises(infimum.TrialError, match=in_constraint):
        nested(inner_constraints=fun, max_trials=2)


def test_what_cannot_be_traced_in_z_is_said():
    with pytest.raises(infimum.TrialError, match="none of 3 trials gave a value.*test_nested.py"):
        nested(lambda y, z: math.sin(z[0]), max_trials=3)
    for simulated_, said in (({}, "dict"), ("1.5", "str"), (None, "None: is a `return`"), (1j, "complex"), ([1.0, None], "list")):
        with pytest.raises(infimum.TrialError, match=f"simulate returned {said}"):
            nested(with_simulation, simulate=lambda y, given=simulated_: given, max_trials=3)
    with pytest.raises(infimum.TrialError, match="last: TraceError: .*draws random numbers"):
        nested(lambda y, z: z[0] * np.random.rand(), max_trials=2)


def test_where_the_function_is_not_defined():
    """Constraints that can be met where it is not say nothing of its value."""
    for constraint in ((), lambda y, z: z[0] >= 0, lambda y, z: 2.0 >= 1.0):
        with pytest.raises(infimum.TrialError, match="the function is defined nowhere within the bounds"):
            nested(lambda y, z: np.sqrt(z[0] - 5), inner_constraints=constraint, max_trials=2)
    r = nested(lambda y, z: np.sqrt(z[0] - 1), inner_constraints=lambda y, z: 2.0 >= 1.0, max_trials=2)
    assert r.upper == pytest.approx(0, abs=1e-5) and r.trials.constraints == (0.0,)


def test_whole_inner_numbers():
    r = nested(lambda y, z: (z[0] - 0.6 - y[0]) ** 2 + y[0], inner_integrality=1, max_trials=15)
    assert r.x[1] == round(r.x[1]) and r.upper == pytest.approx(0.16, abs=0.01)


# ---- maxima
def hill(y, z):
    return -waves(y, z)


def test_a_maximum_is_the_minimum_of_the_opposite(tmp_path):
    least, most = nested(waves), nested(hill, maximise=True, journal=tmp_path / "run.jsonl")
    inner = most.trials.inner
    assert most.maximised and most.x.tobytes() == least.x.tobytes() and most.fun == most.lower == -least.upper
    assert most.upper == math.inf and (inner.lower, inner.upper) == (most.lower, -least.trials.inner.lower)
    assert "higher values may exist at others; of this y the maximum over z is enclosed" in str(most)
    assert f"the maximum over z is proved to lie in [{inner.lower!r}, {inner.upper!r}]" in str(most)
    assert [h.fun for h in most.history] == [-h.fun for h in least.history]
    with pytest.raises(infimum.JournalError, match="of another problem"):
        nested(hill, journal=tmp_path / "run.jsonl")
    again = nested(hill, maximise=True, journal=tmp_path / "run.jsonl")
    assert again.x.tobytes() == most.x.tobytes() and again.trials.inner.upper == inner.upper


def test_a_maximum_under_constraints_with_a_target():
    r = nested(lambda y, z: z[0] - y[0], maximise=True, inner_constraints=lambda y, z: z[0] ** 2 <= y[0], max_trials=60,
               options={"target": 0.24})
    assert r.success and "target" in r.message and 0.24 <= r.lower <= 0.25 <= r.trials.inner.upper + 0.01
    stopped = nested(lambda y, z: np.sum(np.sin(z * z * 9) * z) + y[0], inner=[(-3.0, 3.0)] * 3, inner_max_boxes=10, max_trials=2,
                     maximise=True)
    assert stopped.trials.inner.upper > stopped.lower and "wider than asked for" in str(stopped)


# ---- what is traced, and what numbers give
def kind_of(z):
    return 0.0 if isinstance(z[0], float) else 1.0


def of_kind(y, z):
    return z[0] >= kind_of(z)


@pytest.mark.parametrize("constraint", [
    of_kind, lambda y, z: 1.5 - kind_of(z) - z[0] >= 0, infimum.Constraint(lambda y, z: z[0] - kind_of(z), lb=0.0),
    {"type": "ineq", "fun": lambda y, z, by: z[0] * by - kind_of(z), "args": (1.0,)}])
def test_a_constraint_that_means_something_else_when_it_is_traced_is_refused(constraint):
    """The first is at its end there, the second far from it: comparisons are asked on both sides of their ends."""
    with pytest.raises(infimum.TrialError, match=r"none of 2 trials.*constraint 1: .*test_nested.py:\d+, in .* traced"):
        nested(lambda y, z: z[0] ** 2 - z[0] / 9, inner_constraints=[lambda y, z: z[0] >= -1, constraint], max_trials=2)


def test_a_constraint_that_needs_y_as_numbers_is_traced_for_each():
    """Its y has no type of numbers while it is traced; then it is traced with numbers, and means the same."""
    r = nested(lambda y, z: z[0] + y[0], inner_constraints=lambda y, z: z[0] >= (0.5 if isinstance(y[0], float) else -1.0),
               max_trials=6)
    assert r.upper == pytest.approx(r.x[0] + 0.5, abs=1e-6) and r.trials.inner.verdicts == {"PROVED": 6}


def test_a_function_that_means_something_else_in_z_is_refused():
    with pytest.raises(infimum.TrialError, match=r"test_nested.py:\d+, in .*for plain numbers, and as it was traced it returns"):
        nested(lambda y, z: (z[0] - 1) ** 2 + kind_of(z), max_trials=2)


def test_numbers_and_traces_of_equations_and_arrays_agree():
    rules = [lambda y, z: z[0] + z[1] == y[0], lambda y, z: np.stack([z[0] - 1e9, z[1] - 1e9]) <= 0, lambda y, z: 3.0 >= 2.0,
             infimum.Constraint(lambda y, z: z, lb=-infimum.pi, ub=[2, 2]), lambda y, z: z[0] >= 0.1]
    r = nested(lambda y, z: np.sum(z ** 2) + y[0], inner=WIDE * 2, inner_constraints=rules, max_trials=4)
    assert r.trials.feasible == 4 and r.trials.failures == {}
