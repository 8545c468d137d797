"""Ctrl-C: the first ends a run with what it has, a second one soon after leaves; both as signals in this process."""

import os
import signal

import numpy as np
import pytest

import infimum
from infimum.api import prepared_run
from infimum.bounds.linear_programs import rounding_cuts
from infimum.engines.constrained_run import ConstrainedRun
from infimum.presolve import probed_bounds
from infimum.search import interrupts
from infimum.search.interrupts import Interrupts
from infimum.search.policy.search import DISPLAY
from tests.trials.black_boxes import interrupts_itself


class Clock:
    """Stands in for the clock of `interrupts`."""

    now = 1000.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch, ctrl_c_heard) -> Clock:
    fake = Clock()
    monkeypatch.setattr(interrupts, "time", fake)
    monkeypatch.setattr(Interrupts, "_last", -np.inf)
    return fake


def hard(x):
    """Not proved in the few steps that the tests make."""
    return np.sin(3 * x[0] * x[1]) + np.cos(5 * x[0] - x[1] ** 2)


def minimize(callback):
    return infimum.minimize(hard, [(-9, 8)] * 2, atol=0, rtol=0, xtol=0, callback=callback)


def pressing(*calls: int):
    """A callback during whose so-many-th calls Ctrl-C is pressed."""
    seen = []

    def callback(snapshot):
        seen.append(snapshot)
        if len(seen) in calls:
            signal.raise_signal(signal.SIGINT)
    return callback


def test_the_first_ends_the_run_with_its_enclosure(clock):
    r = minimize(pressing(3))
    assert r.verdict is infimum.Verdict.STOPPED and r.message.startswith("interrupted") and r.lower <= -1.9 <= r.upper + 0.2
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.parametrize(("later", "leaves"),
                         [(0.0, True), (DISPLAY.second_interrupt_seconds, True), (DISPLAY.second_interrupt_seconds + 0.1, False)])
def test_a_second_one_soon_after_leaves_a_loop_over_runs(clock, later, leaves):
    assert minimize(pressing(1)).message.startswith("interrupted")
    clock.now += later
    if leaves:
        with pytest.raises(KeyboardInterrupt):
            minimize(pressing(1))
    else:
        assert minimize(pressing(1)).message.startswith("interrupted")
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_two_in_one_run_leave_it(clock):
    def twice(snapshot):
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        minimize(twice)


def test_an_interrupt_of_the_callback_itself_ends_the_run(clock):
    def raising(snapshot):
        raise KeyboardInterrupt
    assert minimize(raising).message.startswith("interrupted")


def test_handlers_of_others_are_left_alone(clock):
    heard = []
    signal.signal(signal.SIGINT, lambda *_: heard.append(1))
    r = infimum.minimize(lambda x: x[0] ** 2, [(-1, 2)], callback=pressing(1))
    assert heard == [1] and r.verdict is infimum.Verdict.PROVED


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
@pytest.mark.parametrize("settings", [{}, {"max_trials": 9}, {"max_trials": 9, "workers": 2}], ids=["proof", "trials", "workers"])
def test_a_run_that_was_started_deaf_to_it_goes_on(clock, settings):
    """As `nohup` starts it, and shells that put a command in the background: it is heard neither here nor by workers."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    fun, engine = (interrupts_itself, "index") if settings else (lambda x: x[0] ** 2, "auto")
    r = infimum.minimize(fun, [(-1, 2)], engine=engine, callback=pressing(1, 2), **settings)
    assert r.success and (r.trials.count == 9 if settings else r.verdict is infimum.Verdict.PROVED)
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN


def interrupted_in(place, monkeypatch):
    """Ctrl-C is pressed when this function of the preparation is called."""
    owner, name = place
    own = getattr(owner, name)

    def pressed(*given, **more):
        signal.raise_signal(signal.SIGINT)
        return own(*given, **more)
    monkeypatch.setattr(owner, name, pressed)


PLACES = {"comparison": (prepared_run, "Comparison"), "presolve": (probed_bounds.ProbedBounds, "apply"),
          "engine": (ConstrainedRun, "__init__"), "rounding cuts": (rounding_cuts._RootProgram, "of"),
          "search": (prepared_run, "drive")}


@pytest.mark.parametrize("place", PLACES)
def test_the_first_ends_the_preparation_too(place, clock, monkeypatch):
    pytest.importorskip("highspy")

    def solved():
        return infimum.minimize(lambda x: x[0] * x[1] + np.sin(x[2] * x[0]), [(0, 4)] * 3, integrality=[1, 1, 0],
                                constraints=lambda x: 7 * x[0] + 5 * x[1] + 2 * x[2] >= 11, options={"lp": True}, progress=False)
    known = solved()
    with monkeypatch.context() as patch:
        interrupted_in(PLACES[place], patch)
        r = solved()
    assert r.verdict is infimum.Verdict.STOPPED and r.message.startswith("interrupted")
    assert r.lower <= known.upper and (r.x is None or r.upper >= known.lower)
    assert place == "search" or "no feasible point was found" in r.message
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_without_constraints_a_point_is_there(clock, monkeypatch):
    interrupted_in(PLACES["comparison"], monkeypatch)
    r = infimum.minimize(hard, [(-9, 8)] * 2, progress=False)
    assert r.verdict is infimum.Verdict.STOPPED and r.message.startswith("interrupted while") and r.fun == hard(r.x)


def test_a_second_one_in_the_preparation_leaves_it(clock, monkeypatch):
    interrupted_in(PLACES["comparison"], monkeypatch)
    interrupted_in(PLACES["comparison"], monkeypatch)
    with pytest.raises(KeyboardInterrupt):
        infimum.minimize(hard, [(-9, 8)] * 2, progress=False)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_run_that_continues_keeps_what_is_proved(clock, tmp_path, monkeypatch):
    path = tmp_path / "run.inf"
    known = infimum.minimize(hard, [(-9, 8)] * 2, checkpoint=path, atol=0, rtol=0, xtol=0, max_boxes=2000, progress=False)
    interrupted_in(PLACES["comparison"], monkeypatch)
    r = infimum.resume(path, hard, progress=False)
    assert r.verdict is infimum.Verdict.STOPPED and r.message == "interrupted"
    assert known.lower <= r.lower <= r.upper <= known.upper
