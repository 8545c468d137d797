"""Ctrl-C in a fit, a confidence set and a set of bounded errors: the answer is what is known by then, and holds."""

import signal

import numpy as np
import pytest

import infimum
from infimum.search.interrupts import Interrupts
from infimum.search.progress import ProgressDisplay

X = np.linspace(0.0, 4.0, 12)
TRUE = (5.0, 1.3, 2.0, 0.4)
BOUNDS = [(0, 10), (0, 5), (0, 10), (0, 5)]


def model(x, a, b, c, d):
    return a * np.exp(-b * x) + c * np.exp(-d * x)


Y = model(X, *TRUE) + 0.01 * np.cos(np.arange(12.0) ** 2)


@pytest.fixture
def listening(monkeypatch, ctrl_c_heard) -> None:
    """Ctrl-C is heard as in a session of its own."""
    monkeypatch.setattr(Interrupts, "_last", -np.inf)


def press(monkeypatch, step: int) -> list[int]:
    """Ctrl-C during a step of a search for a set; the steps that are taken are counted."""
    steps: list[int] = []

    def show(*_):
        steps.append(len(steps))
        if len(steps) == step:
            signal.raise_signal(signal.SIGINT)
    monkeypatch.setattr(ProgressDisplay, "show", show)
    return steps


def test_a_fit(listening):
    seen = []

    def callback(snapshot):
        seen.append(snapshot)
        if len(seen) == 20:
            signal.raise_signal(signal.SIGINT)
    r = infimum.fit(model, X, Y, bounds=BOUNDS, atol=0.0, rtol=1e-15, callback=callback)
    assert len(seen) == 20 and r.verdict is infimum.Verdict.STOPPED and r.message.startswith("interrupted")
    assert r.sse.lo <= np.sum((Y - model(X, *r.x)) ** 2) * (1 + 1e-9) and r.unique is None
    assert "STOPPED" in str(r) and "before the proof did" in r.uniqueness


@pytest.mark.parametrize("step", (1, 3))
def test_a_confidence_set(listening, monkeypatch, step):
    r = infimum.fit(model, X, Y, bounds=BOUNDS, symmetric=[("b", "a"), ("d", "c")], rtol=1e-3)
    steps = press(monkeypatch, step)
    c = r.confidence(0.95, profile_rtol=1e-9)
    assert len(steps) == step and c.stopped == "interrupted" and "interrupted" in str(c)
    for name, p in r.params.items():
        assert c.profiles[name].outer.lo <= p.value <= c.profiles[name].outer.hi


@pytest.mark.parametrize("step", (1, 3))
def test_bounded_errors(listening, monkeypatch, step):
    steps = press(monkeypatch, step)
    c = infimum.fit(model, X, Y, bounds=BOUNDS, bounded_error=0.05, volume_rtol=1e-9)
    assert len(steps) == step and c.stopped == "interrupted" and "interrupted" in str(c)
    assert c.outer.may_hold(np.array(TRUE))
