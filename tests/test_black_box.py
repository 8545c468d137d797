"""minimize with engine="index": functions that are never traced, their results, journals, workers, and what cannot be."""

import json
import math
import pickle
import signal
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import infimum
from infimum.blackbox.journal import read_journal
from tests import children
from tests.trials.black_boxes import bowl, by_first

ROOT = Path(infimum.__file__).parents[1]
SQUARE = [(0.0, 1.0)] * 2


def minimize(fun, bounds=SQUARE, **settings):
    return infimum.minimize(fun, bounds, **{"engine": "index", "max_trials": 40} | settings)


def untraceable(x):
    return math.sin(9 * float(x[0])) + (0.0 if x[1] < 0.5 else float(x[1]))


def left_half(x):
    return float(x[0]) - 0.5


def sometimes(x):
    if x[0] > 0.5:
        raise ValueError("too far to the right")
    return float(np.sum(x)) if x[1] < 0.5 else float("nan")


def bits(result):
    return result.x.tobytes(), result.fun, result.trials.count, result.trials.evaluations


# ---- results
def test_a_candidate_whose_value_was_returned():
    r = minimize(untraceable, constraints=[left_half], max_trials=80)
    assert r.verdict.name == "CANDIDATE" and r.lower == -np.inf and r.success and r.feasible is None
    assert r.fun == r.upper == untraceable(r.x) == pytest.approx(math.sin(9 * 0.5), abs=0.03) and r.x[0] <= 0.5
    assert r.trials.count == r.trials.evaluations[0] == 80 > r.trials.evaluations[1] == r.nfev == r.trials.feasible
    assert r.trials.constraints == (left_half(r.x),) and r.trials.failures == {} and r.engine == "index"
    assert [h.fun for h in r.history] == sorted((h.fun for h in r.history), reverse=True) and r.history[-1].fun == r.fun
    text = str(r)
    assert "verified" not in text + r.verdict.value and "proved" not in text and "upper is a value that was returned" in text
    assert f"{r.fun!r} (returned at x)" in text and "80 trials" in text and "g1 80 times" in text


def test_other_forms_of_a_result():
    r = minimize(sometimes)
    again = pickle.loads(pickle.dumps(r))
    assert bits(again) == bits(r) and str(again) == str(r)
    told = json.loads(r.to_json())
    assert told["verdict"] == "CANDIDATE" and told["lower"] == "-inf" and told["trials"]["count"] == 40
    assert told["trials"]["failures"] == r.trials.failures == {"exception": r.trials.failures["exception"],
                                                               "nan": r.trials.failures["nan"]}
    assert sum(r.trials.failures.values()) + r.trials.feasible == 40 and "failed" in r._repr_html_()
    assert "too far to the right" in str(r) or "nan" in r.trials.last_failure


def test_maximize():
    r = infimum.maximize(lambda x: 3 - float((x[0] - 0.25) ** 2), [(0, 1)], engine="index", max_trials=30)
    assert r.maximised and r.fun == r.lower == pytest.approx(3) and r.upper == np.inf and "higher values may exist" in str(r)
    assert "verified" not in str(r) and r.history[-1].lower == r.fun


def test_choices_and_whole_numbers():
    def cost(x):
        assert isinstance(x, list) and isinstance(x[2], int)
        return {"relu": 0.3, "tanh": 0.0, "none": 1.0}[x[1]] + (x[0] - 0.5) ** 2 + abs(x[2] - 3)
    r = minimize(cost, [(0, 1), ["relu", "tanh", "none"], (1, 5)], integrality=[0, 0, 1], max_trials=300)
    assert r.trials.point[1:] == ["tanh", 3] and r.trials.point[0] == r.x[0] == pytest.approx(0.5, abs=1e-3)
    assert "'tanh', 3" in str(r) and json.loads(r.to_json())["trials"]["point"][1] == "tanh"


def test_a_finite_set_is_tried_once():
    seen = []
    r = minimize(lambda x: seen.append(tuple(x)) or float(x[0] * x[1]), [(0, 4), (1, 3)], integrality=1, max_trials=100)
    assert len(seen) == len(set(seen)) == 15 == r.trials.count and r.success and "all 15 points" in r.message


def test_no_feasible_point():
    r = minimize(bowl, constraints=[lambda x: x[0] + 0.25])
    assert r.x is None and r.verdict.name == "UNDECIDED" and not r.success and r.upper == np.inf and r.trials.constraints is None
    assert "no trial met all constraints" in r.message and "violates g1 by 0.25" in r.message and "none" in str(r)


def test_args_start_points_and_scipys_constraints():
    from scipy.optimize import NonlinearConstraint
    r = minimize(lambda x, a: float((x[0] - a) ** 2), args=(0.7,), x0=[0.7, 0.2], max_trials=1)
    assert r.fun == 0 and r.x.tolist() == [0.7, 0.2]
    r = minimize(bowl, constraints=NonlinearConstraint(lambda x: x[0], 0.5, np.inf), max_trials=60)
    assert 0.5 <= r.x[0] < 0.51


# ---- limits
def test_never_more_trials_than_the_budget():
    for workers, budget in ((1, 7), (3, 7)):
        assert minimize(bowl, max_trials=budget, workers=workers).trials.count == budget


def test_target_accuracy_time_and_callback():
    reached = minimize(bowl, options={"target": 1e-3}, max_trials=500)
    assert reached.success and reached.fun <= 1e-3 and reached.trials.count < 100 and "target" in reached.message
    missed = minimize(bowl, options={"target": -1.0})
    assert not missed.success and "the target of -1 was not reached" in missed.message
    near = minimize(lambda x: float(x[0] ** 2), [(-1, 2)], options={"accuracy": 0.01}, max_trials=1000)
    assert near.success and "accuracy of 0.01" in near.message and near.trials.count < 200
    assert not minimize(bowl, options={"accuracy": 1e-6}).success
    timed = minimize(bowl, max_trials=None, time_limit=0.2)
    assert timed.success and timed.trials.count > 5 and "time limit" in timed.message
    stopped = minimize(bowl, callback=lambda snapshot: snapshot.nfev >= 10)
    assert stopped.trials.count == 10 and "callback" in stopped.message and not stopped.success


def test_progress_shows_trials(capsys):
    minimize(sometimes, progress=True)
    said = capsys.readouterr().err
    assert "trials" in said and "of 40" in said and "failed" in said


# ---- workers
def test_the_number_of_workers_changes_no_bit():
    usual = minimize(bowl, batch=3, max_trials=20)
    assert bits(usual) == bits(minimize(bowl, batch=3, workers=2, max_trials=20)) and usual.nit == 7


def test_crashes_and_timeouts_are_outcomes():
    r = minimize(by_first, [(0, 6), (0.5, 0.5)], integrality=[1, 0], workers=2, timeout=0.3)
    assert r.trials.failures == {"exception": 1, "crash": 3, "timeout": 1, "nan": 1} and r.trials.count == 7
    assert r.fun == 0.5 and r.x.tolist() == [0, 0.5] and "all 7 points" in r.message and "3 crash" in str(r)


def test_asynchronous_runs_replay_to_the_same_bits(tmp_path):
    path = tmp_path / "run.jsonl"
    first = minimize(bowl, workers=2, options={"asynchronous": True}, journal=path, max_trials=25)
    tickets = [trial.ticket for trial in read_journal(path).trials]
    again = minimize(bowl, options={"asynchronous": True}, journal=path, max_trials=25)
    assert bits(first) == bits(again) and sorted(tickets) == list(range(25))
    assert [trial.ticket for trial in read_journal(path).trials] == tickets


# ---- journals
def test_a_journal_goes_on_with_a_larger_budget(tmp_path):
    whole = minimize(untraceable, constraints=[left_half], max_trials=60, batch=4)
    path = tmp_path / "run.jsonl"
    part = minimize(untraceable, constraints=[left_half], max_trials=30, batch=4, journal=path)
    assert part.trials.journal == str(path) and f"continues from {path}, with a larger max_trials=" in part.message
    path.write_bytes(path.read_bytes()[:-9])  # a torn line
    rest = minimize(untraceable, constraints=[left_half], max_trials=60, journal=path)
    assert bits(rest) == bits(whole) and len(read_journal(path).trials) == 60
    less = minimize(untraceable, constraints=[left_half], max_trials=10, journal=path)
    assert bits(less) == bits(whole)


def nearly(x):
    return untraceable(x) + 0.01 * float(x[0])


def test_a_warm_start_from_another_journal(tmp_path):
    old, new = tmp_path / "old.jsonl", tmp_path / "new.jsonl"
    before = minimize(untraceable, journal=old, max_trials=60)
    warm = {"options": {"warm_start": old}, "journal": new}
    r = minimize(nearly, max_trials=5, **warm)
    assert r.trials.count == 5 and r.fun <= nearly(before.x) and r.fun == nearly(r.x)
    first = read_journal(new).trials[0]
    assert first.x == tuple(before.x) and first.outcome.value == nearly(before.x)
    assert bits(minimize(nearly, max_trials=9, **warm)) == bits(minimize(nearly, max_trials=9, options={"warm_start": old}))
    with pytest.raises(infimum.JournalError, match="begun with warm_start = "):
        minimize(nearly, journal=new)
    with pytest.raises(infimum.JournalError, match="no warm start from .*: it is of a minimum"):
        infimum.maximize(nearly, SQUARE, engine="index", options={"warm_start": old})
    with pytest.raises(infimum.JournalError, match="it has 2 variables"):
        minimize(nearly, [(0, 1)], options={"warm_start": old})


def test_journals_that_cannot_be_used(tmp_path):
    path = tmp_path / "run.jsonl"
    minimize(bowl, journal=path, max_trials=3)
    with pytest.raises(infimum.JournalError, match=r"another problem: bounds\[0\] was \[0.0, 1.0\], and is \[0.0, 2.0\]"):
        minimize(bowl, [(0, 2), (0, 1)], journal=path)
    with pytest.raises(infimum.JournalError, match="the function was `bowl`, and is `untraceable`"):
        minimize(untraceable, journal=path)
    with pytest.raises(infimum.JournalError, match="begun with r = None, and here it is 3.0"):
        minimize(bowl, journal=path, options={"r": 3.0})
    with pytest.raises(infimum.JournalError, match="in use by another run"):
        minimize(bowl, journal=path, max_trials=5, callback=lambda s: minimize(bowl, journal=path) is None)
    (tmp_path / "other").write_text("something else\n")
    with pytest.raises(infimum.JournalError, match="no journal of infimum"):
        minimize(bowl, journal=tmp_path / "other")
    with pytest.raises(infimum.JournalError, match="it is a folder"):
        minimize(bowl, journal=tmp_path)


PROGRAM = """
import time, infimum
def slow(x):
    print("begun", flush=True)
    for _ in range(600):  # in short pieces: a signal that comes just before a sleep does not shorten it
        time.sleep(0.1)
    return float(x[0])
if __name__ == "__main__":
    r = infimum.minimize(slow, [(0.95, 1)], engine="index", journal="run.jsonl", {more})
    print(r.message, r.trials.count)
"""


@pytest.mark.parametrize("more", ["", "workers=2"])
def test_ctrl_c_ends_the_trial_and_says_how_to_go_on(tmp_path, more):
    (tmp_path / "program.py").write_text(PROGRAM.replace("{more}", more))
    child = children.start(sys.executable, "program.py", cwd=tmp_path, env={"PYTHONPATH": str(ROOT), "PATH": ""})
    assert child.stdout.readline() == "begun\n"
    begun = time.monotonic()
    child.send_signal(signal.SIGINT)
    said = child.communicate(timeout=30)[0]
    assert "interrupted" in said and "the same call continues from run.jsonl" in said and said.strip().endswith(" 0")
    assert time.monotonic() - begun < 20 and child.returncode == 0


@pytest.mark.parametrize("fun, bounds, settings", [
    (bowl, SQUARE, {"constraints": [left_half]}), (lambda x: float(x[0]), [(0, 9), (0.5, 1)], {"integrality": [1, 0]}),
    ("expr {x0} + {x1}", [(0, 3), (2, 9)], {"integrality": 1}), (lambda x: len(x[0]), [["a", "bc", "def"], (0, 1)], {})])
def test_resume_says_which_call_goes_on_from_a_journal(tmp_path, fun, bounds, settings):
    path = str(tmp_path / "run.jsonl")
    minimize(fun, bounds, journal=path, max_trials=5, **settings)
    with pytest.raises(infimum.CheckpointError, match="is a journal of 5 trials, not the checkpoint of a proof") as said:
        infimum.resume(path, fun)
    call = str(said.value).split("continue it with ")[1].split(", with the other settings")[0]
    names = {"infimum": infimum, "fun": fun, "bowl": bowl, "left_half": left_half}
    assert eval(call.replace(", journal", ", max_trials=9, journal"), names).trials.count == 9


def test_resume_says_which_study_goes_on(tmp_path):
    path = str(tmp_path / "run.jsonl")
    with infimum.study([(0, 1)], constraints=1, maximise=True, journal=path) as study:
        study.tell(study.ask(), 1.0, constraints=[-1.0])
    with pytest.raises(infimum.CheckpointError) as said:
        infimum.resume(path, None)
    call = str(said.value).split("continue it with ")[1].split(", with the other settings")[0]
    with eval(call) as study:
        assert study.result().trials.count == 1


def test_ctrl_c_in_a_later_trial_keeps_the_earlier_ones_and_whoever_heard_it_before():
    heard, tried = [], []

    def interrupted(x):
        tried.append(x)
        if len(tried) == 7:
            signal.raise_signal(signal.SIGINT)
            pytest.fail("the trial went on")
        return float(x[0])

    def listener(*_):
        heard.append(1)
    before = signal.getsignal(signal.SIGINT)
    try:
        for handler in (listener, signal.default_int_handler):
            tried.clear()
            signal.signal(signal.SIGINT, handler)
            assert minimize(interrupted).trials.count == 6
            assert signal.getsignal(signal.SIGINT) is handler
    finally:
        signal.signal(signal.SIGINT, before)
    assert heard == [1]


def test_another_thread_may_run_it():
    found = []
    thread = threading.Thread(target=lambda: found.append(minimize(bowl)))
    thread.start()
    thread.join()
    assert bits(found[0]) == bits(minimize(bowl))


# ---- commands
def test_a_command():
    r = minimize("expr {x0} + {x1}", [(0, 3), (2, 9)], integrality=1, max_trials=6)
    assert r.trials.count == 6 and r.fun >= 2
    with pytest.raises(infimum.TrialError, match="must give 1 number and nothing else"):
        minimize("echo none {x}")
    with pytest.raises(infimum.TrialError, match="cannot be started"):
        minimize("./no_such_program {x}")
    with pytest.raises(infimum.OptionError, match="a command has no args"):
        minimize("echo {x}", args=(1,))


# ---- bad input
@pytest.mark.parametrize(("returned", "said"), [
    (np.zeros(3), "array of the shape"), ("0.5", "returned text"), (1j, "complex number"), (None, "returned None"),
    ([1.0], "a list of 1 element"), (True, "a comparison")])
def test_functions_that_return_no_number(returned, said):
    def fun(x):
        return returned
    with pytest.raises(infimum.TrialError, match=f"The function `fun` .*{said}"):
        minimize(fun)


def test_functions_that_always_raise():
    calls = []

    def broken(x):
        calls.append(x)
        return undefined_name + len(calls)  # noqa: F821
    with pytest.raises(infimum.TrialError, match=r"none of 30 trials gave a value \(30 exception\); the last: NameError"):
        minimize(broken, max_trials=500)
    assert len(calls) == 30
    with pytest.raises(infimum.TrialError, match="none of 5 trials"):
        minimize(broken, max_trials=5)


@pytest.mark.parametrize(("settings", "error", "said"), [
    ({"bounds": [(0, np.inf)]}, infimum.BoundsError, "must be finite; give the widest bounds that make sense"),
    ({"constraints": {"type": "eq", "fun": bowl}}, infimum.OptionError, "it is an equality"),
    ({"constraints": [infimum.Constraint(bowl, 1, 1)]}, infimum.OptionError, "it is an equality"),
    ({"constraints": "x > 0"}, infimum.OptionError, "constraints must be one or a list"),
    ({"max_trials": 0}, infimum.OptionError, "max_trials must be a positive whole number"),
    ({"max_trials": 2.5}, infimum.OptionError, "max_trials must be a positive whole number"),
    ({"workers": "many"}, infimum.OptionError, "workers must be a number, \"ray\", or the address of a Ray cluster"),
    ({"timeout": -1}, infimum.OptionError, "timeout of a trial must be a positive number"),
    ({"journal": 3}, infimum.OptionError, "journal must be the name of a file"),
    ({"max_boxes": 10}, infimum.OptionError, "engine 'index' has no max_boxes=: use max_trials="),
    ({"checkpoint": "a"}, infimum.OptionError, "engine 'index' has no checkpoint=: use journal="),
    ({"xtol": 1e-3}, infimum.OptionError, "'accuracy'"),
    ({"options": {"particles": 3}}, infimum.OptionError, "'particles' is an option of engine 'auto'"),
    ({"x0": [5.0, 5.0]}, infimum.OptionError, "x0"),
    ({"bounds": [(0, 1)] * 65}, infimum.OptionError, "1 to 64 variables, not 65")])
def test_arguments_that_cannot_be(settings, error, said):
    with pytest.raises(error, match=said):
        minimize(bowl, **settings)


def test_other_things_that_cannot_be():
    with pytest.raises(infimum.TrialError, match="cannot be sent to worker processes.*Define it at the top of a module"):
        minimize(lambda x: x[0], workers=2)
    with pytest.raises(infimum.OptionError, match="engine 'index' proves nothing"):
        infimum.feasible(SQUARE, [left_half], engine="index")
    with pytest.raises(infimum.OptionError, match="fun must be a function"):
        minimize(3)
    with pytest.raises(infimum.OptionError, match="'accuracy' is an option of engine 'index'"):
        infimum.minimize(bowl, SQUARE, options={"accuracy": 0.1})


# ---- what users have stumbled over
def test_a_start_point_holds_chosen_values():
    bounds = [["relu", "tanh"], (0, 1), [16, 32, 64]]

    def first(x0):
        return minimize(lambda x: x[1], bounds, x0=x0, max_trials=1).trials.point
    assert first(["tanh", 0.5, 32]) == first([1, 0.5, 1]) == first(np.array([1, 0.5, 1])) == ["tanh", 0.5, 32]
    tried = []
    minimize(lambda x: tried.append(x) or 0.0, bounds, x0=[["relu", 0.25, 64], ["tanh", 0.75, 16]], max_trials=2)
    assert tried == [["relu", 0.25, 64], ["tanh", 0.75, 16]]
    with pytest.raises(infimum.OptionError, match="x0 has 'elu' for variable 0, whose choices are 'relu', 'tanh'"):
        first(["elu", 0.5, 32])
    with pytest.raises(infimum.OptionError, match="x0"):
        first(["tanh", 0.5])


def test_a_choice_that_is_given_twice_is_refused():
    with pytest.raises(infimum.BoundsError, match="'a' is twice among the choices of variable 1"):
        minimize(bowl, [(0, 1), ["a", "b", "a"]])
    assert minimize(lambda x: float(x[0]), [[1, 1.0, True]], max_trials=9).trials.count == 3


def test_choices_of_functions_go_on_in_another_process(tmp_path):
    """Their addresses are other ones there."""
    script = "import infimum, sys\ndef a(v): return v\ndef b(v): return -v\n" \
             f"r = infimum.minimize(lambda x: x[0](x[1]), [[a, b], (0, 1)], journal={str(tmp_path / 'run.jsonl')!r}, " \
             "engine='index', max_trials=int(sys.argv[1]))\nprint(r.trials.count)"
    for count in ("3", "5"):
        done = children.run(sys.executable, "-c", "pad = [0] * " + count + "\n" + script, count, cwd=ROOT)
        assert done.stdout.strip() == count, done.stderr


def test_a_nan_says_whose_it_is():
    with pytest.raises(infimum.TrialError, match="the last: g1 returned nan"):
        minimize(bowl, constraints=lambda x: math.nan, max_trials=2)
    with pytest.raises(infimum.TrialError, match="the last: f returned inf"):
        minimize(lambda x: math.inf, constraints=lambda x: -1, max_trials=2)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there are no such devices")
def test_a_device_is_no_journal():
    """Reading /dev/full has no end."""
    for device in ("/dev/full", "/dev/null"):
        with pytest.raises(infimum.JournalError, match="is no ordinary file"):
            minimize(bowl, journal=device)


def test_arguments_that_a_function_does_not_take():
    """The line is that of the function, not the one that calls it."""
    with pytest.raises(infimum.TrialError, match=r"missing 1 required positional argument: 'a' \(.*test_black_box.py:\d+\)"):
        minimize(lambda x, a: a * x[0], max_trials=2)


@pytest.mark.parametrize(("name", "said"), [
    ("maxiter", "with engine='index' max_trials="), ("n_trials", "use max_trials="), ("n_jobs", "use workers="),
    ("storage", "use journal="), ("direction", "infimum.maximize")])
def test_names_of_other_optimisers(name, said):
    with pytest.raises(infimum.OptionError, match=said):
        minimize(bowl, **{name: 3})


def test_a_command_line_needs_trials():
    with pytest.raises(infimum.OptionError, match="a command line is tried with engine='index'"):
        infimum.minimize("./sim {x0}", [(0, 1)])


def test_what_differs_from_a_journal_is_said(tmp_path):
    path = tmp_path / "run.jsonl"
    minimize(bowl, journal=path, max_trials=2)
    assert "the journal holds 2 trials, and the budget is 1" in minimize(bowl, journal=path, max_trials=1).message
    with pytest.raises(infimum.JournalError, match="the minimum of `bowl` was searched for, and now it is the maximum"):
        infimum.maximize(bowl, SQUARE, engine="index", journal=path)
    with pytest.raises(infimum.JournalError, match="the functions were `bowl`, and are `left_half`, `bowl`"):
        minimize(bowl, constraints=left_half, journal=path)
