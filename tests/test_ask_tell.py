"""infimum.study: asking and telling, in any order, with constraints, failures and a journal."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import infimum
from infimum.blackbox.journal import read_journal


def cost(x):
    return float((x[0] - 0.3) ** 2 + abs(x[1] - 0.6))


def test_a_study_is_what_minimize_does():
    study = infimum.study([(0, 1)] * 2, max_trials=50)
    while (trial := study.ask()) is not None:
        study.tell(trial, cost(trial.x))
    r, same = study.result(), infimum.minimize(cost, [(0, 1)] * 2, engine="index", max_trials=50)
    assert r.x.tobytes() == same.x.tobytes() and r.fun == same.fun and r.trials.count == 50
    assert [h.fun for h in r.history] == [h.fun for h in same.history] and study.done.startswith("the budget of 50 trials")
    assert r.verdict.name == "CANDIDATE" and "verified" not in str(r)


@settings(deadline=None, max_examples=20)
@given(st.lists(st.integers(0, 9), min_size=10, max_size=80))
def test_any_number_outstanding_in_any_order_and_deterministic(steps):
    def go():
        study, open_trials, log = infimum.study([(0, 1), (0, 3)], integrality=[0, 1]), [], []
        for step in steps:
            if step < 5 or not open_trials:
                open_trials.append(study.ask())
                log.append(open_trials[-1].x.tolist())
            else:
                trial = open_trials.pop(step * 3 % len(open_trials))
                study.tell(trial, **({"failure": "lost"} if step == 9 else {"value": cost(trial.x)}))
        assert study.outstanding == len(open_trials)
        return log, study.result().fun
    assert go() == go()


def test_constraints_and_failures():
    study = infimum.study([(0, 1)] * 2, constraints=2)
    for k in range(60):
        t = study.ask()
        g1 = t.x[0] - 0.5
        if k == 7:
            study.tell(t, failure=ValueError("diverged"))
        elif k == 8:
            study.tell(t, math.nan, constraints=[-1, -1])
        elif g1 > 0:
            study.tell(t, constraints=[g1])
        else:
            study.tell(t.number, -t.x[0], constraints=[g1, -1.0])
    r = study.result()
    assert r.trials.failures == {"exception": 1, "nan": 1} and r.trials.evaluations[0] == 60 and r.x[0] <= 0.5
    assert r.fun == pytest.approx(-0.5, abs=0.01) and r.trials.constraints[1] == -1.0


def test_maximise_choices_and_target():
    with infimum.study([["a", "b", "c"], (0, 1)], maximise=True, options={"target": 1.9}, max_trials=500) as study:
        while (t := study.ask()) is not None:
            study.tell(t, {"a": 0, "b": 1, "c": 0.5}[t.x[0]] + t.x[1])
    r = study.result()
    assert study.done == "the target is reached" and r.maximised and r.fun == r.lower >= 1.9 and r.trials.point[0] == "b"


def test_a_finite_set_ends():
    study = infimum.study([(1, 3)], integrality=1)
    trials = [study.ask() for _ in range(3)]
    assert sorted(t.x[0] for t in trials) == [1, 2, 3] and study.ask() is None and study.done == "every point was asked for"
    assert study.result().x is None and study.outstanding == 3


def test_a_journal_goes_on_and_asks_again_for_what_was_not_told(tmp_path):
    path, whole = tmp_path / "study.jsonl", infimum.study([(0, 1)] * 2)
    first = infimum.study([(0, 1)] * 2, journal=path)
    for k in range(20):
        t = first.ask()
        assert t.x.tolist() == whole.ask().x.tolist()
        if k not in (11, 16):
            first.tell(t, cost(t.x))
            whole.tell(t.number, cost(t.x))
    with pytest.raises(infimum.JournalError, match="in use by another run"):
        infimum.study([(0, 1)] * 2, journal=path)
    first.close()
    with infimum.study([(0, 1)] * 2, journal=path) as second:
        assert second.result().fun == first.result().fun and second.outstanding == 2
        for number in (11, 16):
            t = second.ask()
            assert t.number == number
            second.tell(t, cost(t.x))
            whole.tell(number, cost(t.x))
        assert second.ask().x.tolist() == whole.ask().x.tolist()
    assert len(read_journal(path).trials) == 20
    with pytest.raises(infimum.JournalError, match="another problem"):
        infimum.study([(0, 2)] * 2, journal=path)
    with pytest.raises(infimum.JournalError, match="another problem"):
        infimum.minimize(cost, [(0, 1)] * 2, engine="index", journal=path)


@pytest.mark.parametrize(("told", "said"), [
    ({"value": "0.5"}, "told is text"), ({"value": 1j}, "complex"), ({"value": np.zeros(2)}, "array of the shape"),
    ({}, "no value"),
    ({"value": 1.0, "failure": "x"}, "not both"), ({"value": 1.0, "constraints": [0.5]}, "0 constraints, and 1 number came")])
def test_what_cannot_be_told(told, said):
    study = infimum.study([(0, 1)])
    t = study.ask()
    with pytest.raises(infimum.OptionError, match=said):
        study.tell(t, **told)
    study.tell(t, 1.0)
    with pytest.raises(infimum.OptionError, match="not asked for, or was told already"):
        study.tell(t, 1.0)


@pytest.mark.parametrize(("settings_", "said"), [
    ({"constraints": -1}, "how many numbers"), ({"constraints": [cost]}, "how many numbers"),
    ({"max_trials": 0}, "max_trials must"),
    ({"options": {"share": 3}}, "no option 'share'")])
def test_studies_that_cannot_be(settings_, said):
    with pytest.raises(infimum.OptionError, match=said):
        infimum.study([(0, 1)], **settings_)
    with pytest.raises(infimum.BoundsError, match="must be finite"):
        infimum.study([(0, None)])


def test_a_study_shows_where_it_stands():
    study = infimum.study([(0, 1)], maximise=True)
    study.tell(study.ask(), 2.5)
    study.ask()
    assert repr(study) == "Study(1 trial told, 1 asked for and not told, the best 2.5)"
    assert "1 trial told" in study.result().message
