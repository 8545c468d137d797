"""A journal is continued by the function that it is of: what that is bound to is compared, and its best trial is made again."""

import ctypes
import math
import os
import pickle
import signal
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import infimum
from infimum.blackbox.journal import read_journal
from infimum.blackbox.journal_resume import USUAL
from infimum.engines.index.index_options import IndexOptions

SQUARE = [(0.0, 1.0)] * 2


def g(x, c):
    return (float(x[0]) - c) ** 2


def minimize(fun, path, trials, **more):
    return infimum.minimize(fun, SQUARE, engine="index", journal=path, max_trials=trials, **more)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run.jsonl"


@pytest.fixture
def setting(tmp_path, monkeypatch):
    """A number in a file, which no identity sees; `by_file` reads it, here and in workers."""
    file = tmp_path / "setting.txt"
    monkeypatch.setenv("INFIMUM_TEST_SETTING", str(file))
    file.write_text("0.2")
    return file


def by_file(x):
    with open(os.environ["INFIMUM_TEST_SETTING"]) as file:
        word = file.read()
    return g(x, float(word)) if word != "broken" else 1 / 0


def limit_by_file(x):
    with open(os.environ["INFIMUM_TEST_SETTING"]) as file:
        return -float(file.read())


# ---- what it is bound to
def test_another_partial_is_another_function(path):
    r = minimize(partial(g, c=0.2), path, 20)
    with pytest.raises(infimum.JournalError, match=r"of another problem: of `g`, its keyword c was 0\.2, and is 0\.8\. Give "):
        minimize(partial(g, c=0.8), path, 30)
    assert minimize(partial(g, c=0.2), path, 20).fun == r.fun


def test_other_arguments_of_constraints_and_other_matrices(tmp_path):
    from scipy.optimize import LinearConstraint

    def cases(c):
        return {"args": {"constraints": {"type": "ineq", "fun": lambda x, a: a - x[0], "args": (c,)}},
                "matrix": {"constraints": LinearConstraint([[c, 1.0]], ub=1.0)}, "own args": {"args": (np.array([c] * 2000),)}}
    for name, settings in cases(0.25).items():
        fun = (lambda x, a: float(a[0] * x[0])) if name == "own args" else (lambda x: float(x[0]))
        minimize(fun, tmp_path / name, 3, **settings)
        for c, refused in ((0.25, False), (0.25 + 1e-12, True)):
            if refused:
                with pytest.raises(infimum.JournalError, match="of another problem"):
                    minimize(fun, tmp_path / name, 4, **cases(c)[name])
            else:
                minimize(fun, tmp_path / name, 4, **cases(c)[name])


def test_choices_of_one_name(path):
    def scale(c):
        def times(v):
            return c * v
        return times
    bounds = [[scale(1.0), scale(2.0)], (0, 1)]
    infimum.minimize(lambda x: x[0](x[1]), bounds, engine="index", journal=path, max_trials=3)
    with pytest.raises(infimum.JournalError, match="another problem: choice_values was"):
        infimum.minimize(lambda x: x[0](x[1]), [[scale(1.0), scale(3.0)], (0, 1)], engine="index", journal=path, max_trials=4)


def test_a_function_that_keeps_a_record_continues_in_the_same_process(path):
    log, best = [], [math.inf]

    def fun(x):
        log.append(tuple(x))
        best[0] = min(best[0], g(x, 0.3))
        return g(x, 0.3)
    minimize(fun, path, 10)
    assert minimize(fun, path, 14).trials.count == 14 and len(log) == 15


def test_nested_problems_and_what_their_parts_are_bound_to(path):
    def nested(a, b, c, d):
        return infimum.nested(lambda y, z, s: (z[0] - a) ** 2 + s[0], [(0, 1)], [(-1, 1)], simulate=partial(simulated, b=b),
                              constraints=[lambda y: c - y[0]], inner_constraints=[lambda y, z, s: z[0] >= d], max_trials=2,
                              journal=path)
    nested(0.5, 1.0, 0.0, -0.5)
    nested(0.5, 1.0, 0.0, -0.5)
    for changed, said in (((0.6, 1.0, 0.0, -0.5), "variable a was 0.5"), ((0.5, 2.0, 0.0, -0.5), "keyword b was 1.0"),
                          ((0.5, 1.0, 0.1, -0.5), "variable c was 0.0"), ((0.5, 1.0, 0.0, -0.4), "variable d was -0.5")):
        with pytest.raises(infimum.JournalError, match=said):
            nested(*changed)


def simulated(y, b):
    return [b * y[0]]


def test_a_program_that_was_changed(tmp_path, monkeypatch, path):
    monkeypatch.chdir(tmp_path)
    program = Path("sim.py")
    program.write_text("import sys\nprint(float(sys.argv[1]))\n")
    line = f"{sys.executable} sim.py {{x0}} {{x1}}"
    minimize(line, path, 2)
    program.write_text("import sys\nprint(2 * float(sys.argv[1]))\n")
    with pytest.raises(infimum.JournalError, match="the program sim.py has changed"):
        minimize(line, path, 3)


# ---- the best trial again
def test_the_best_trial_is_made_again_and_neither_counted_nor_kept(path):
    calls = []

    def fun(x):
        calls.append(tuple(x))
        return g(x, 0.3)
    r = minimize(fun, path, 10)
    again = minimize(fun, path, 12)
    assert again.trials.count == again.nfev == 12 == len(read_journal(path).trials)
    assert len(calls) == 10 + 1 + 2 and calls[10] == tuple(r.x)
    assert minimize(fun, path, 12, check=False).trials.count == 12 and len(calls) == 13
    assert minimize(fun, path, 12).trials.count == 12 and len(calls) == 14, "asked for even where nothing else is left to do"


@pytest.mark.parametrize("workers", [1, 2])
def test_a_difference_that_no_identity_sees(path, setting, workers):
    old = minimize(by_file, path, 10, workers=workers)
    setting.write_text("0.8")
    with pytest.raises(infimum.JournalError) as said:
        minimize(by_file, path, 12, workers=workers)
    text = str(said.value)
    assert f"gave f = {old.fun!r}, and evaluated again it gives f = {by_file(old.x)!r}" in text and str(path) in text
    assert "check=False" in text and "warm start" in text and len(read_journal(path).trials) == 10
    assert minimize(by_file, path, 12, check=False).trials.count == 12


def test_a_trial_that_fails_now_and_a_constraint_that_differs(path, setting, tmp_path):
    minimize(by_file, path, 5)
    setting.write_text("broken")
    with pytest.raises(infimum.JournalError, match=r"evaluated again it gives no value \(exception: ZeroDivisionError"):
        minimize(by_file, path, 6)
    setting.write_text("0.5")
    other = tmp_path / "other.jsonl"
    minimize(lambda x: x[0], other, 5, constraints=limit_by_file)
    setting.write_text("0.25")
    with pytest.raises(infimum.JournalError, match="gave g1 = -0.5, and evaluated again it gives g1 = -0.25"):
        minimize(lambda x: x[0], other, 6, constraints=limit_by_file)


def test_a_maximum_is_shown_as_one(path, setting):
    old = infimum.maximize(by_file, SQUARE, engine="index", journal=path, max_trials=5)
    setting.write_text("0.3")
    with pytest.raises(infimum.JournalError, match=f"gave f = {old.fun!r}, and"):
        infimum.maximize(by_file, SQUARE, engine="index", journal=path, max_trials=6)


def test_without_a_value_there_is_nothing_to_compare(path, setting):
    setting.write_text("broken")
    with pytest.raises(infimum.TrialError, match="none of 4 trials gave a value"):
        minimize(by_file, path, 4)
    setting.write_text("0.5")
    assert minimize(by_file, path, 8).trials.failures == {"exception": 4}


def test_noise_and_values_that_cannot_be_read(path):
    """A library that is called may be any; its address is no part of what the function is."""
    library, noise = ctypes.CDLL(None), np.random.default_rng(1)

    def noisy(x):
        return g(x, 0.3) + abs(library.abs(-1)) + noise.uniform()
    minimize(noisy, path, 5)
    with pytest.raises(infimum.JournalError, match="if the function is noisy"):
        minimize(noisy, path, 6)
    assert minimize(noisy, path, 6, check=False).trials.count == 6


def test_ctrl_c_meanwhile(path, ctrl_c_heard):
    calls = []

    def fun(x):
        calls.append(1)
        if len(calls) == 6:
            signal.raise_signal(signal.SIGINT)
        return g(x, 0.3)
    minimize(fun, path, 5)
    r = minimize(fun, path, 9)
    assert r.x is None and "interrupted; the best trial of the journal was being made again" in r.message
    assert len(read_journal(path).trials) == 5 and minimize(fun, path, 9).trials.count == 9


def test_the_options_that_a_call_need_not_name_are_the_defaults():
    assert {name: getattr(IndexOptions(), name) for name in USUAL} == USUAL
    assert set(IndexOptions().of_journal()) <= set(USUAL)


# ---- studies
def test_a_trial_belongs_to_its_study(path):
    one, other = infimum.study([(0, 1)]), infimum.study([(0, 1)])
    trial, same = one.ask(), other.ask()
    assert trial.number == same.number and trial.x == same.x
    with pytest.raises(infimum.OptionError, match="trial 0 was asked for by another study"):
        other.tell(trial, 1.0)
    assert other.outstanding == 1
    one.tell(pickle.loads(pickle.dumps(trial)), 1.0)
    other.tell(0, 2.0)  # by its number, on the caller's word
    assert (one.result().fun, other.result().fun) == (1.0, 2.0)


def test_a_study_on_its_journal_knows_its_trials_again(path):
    with infimum.study([(0, 1)], journal=path) as first:
        trial = first.ask()
        first.tell(first.ask(), 3.0)
    with infimum.study([(0, 1)], journal=path) as second:
        second.tell(trial, 1.0)
        assert second.result().fun == 1.0
    with infimum.study([(0, 1)], journal=path.with_name("other.jsonl")) as third:
        third.ask()
        with pytest.raises(infimum.OptionError, match="another study"):
            third.tell(trial, 1.0)
