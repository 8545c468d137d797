"""Work beside a GPU: its results do not depend on when it is done, it ends with the run, and its errors are heard."""

import threading
import time

import numpy as np
import pytest

import infimum
from infimum.engine import auto
from infimum.engine.beside import Beside
from infimum.evaluate import Evaluator
from infimum.result import Verdict

TURN = np.linalg.qr(np.random.default_rng(3).normal(size=(4, 4)))[0]


def schwefel(x):
    y = TURN @ x
    return -np.sum(y * np.sin(np.sqrt(np.abs(y))))


SEARCH = {"bounds": [(-500.0, 500.0)] * 4, "batch": 32, "rtol": 1e-4}


def bits(r: infimum.Result) -> list:
    boxes = [end.tobytes() for box in r.boxes for end in box]
    return [r.x.tobytes(), r.lower, r.upper, r.nit, r.nfev, r.regions, r.message, boxes]


@pytest.fixture
def besides(monkeypatch):
    """All that went on beside, as if the CPU were a GPU."""
    made = []
    monkeypatch.setattr(Evaluator, "goes_far", lambda self, batch, least=1: True)
    monkeypatch.setattr(auto, "Beside", lambda steps: made.append(Beside(steps)) or made[-1])
    return made


def test_a_run_with_a_swarm_beside_it_has_the_same_bits(request):
    alone = infimum.minimize(schwefel, **SEARCH)
    besides = request.getfixturevalue("besides")
    both = infimum.minimize(schwefel, **SEARCH)
    assert len(besides) == 1 and bits(both) == bits(alone) and both.verdict is Verdict.PROVED and both.nit > auto._LATER


@pytest.mark.parametrize("steps", [10, 40, 63, 66])
def test_a_run_that_is_resumed_has_the_same_bits(besides, steps, tmp_path):
    whole, path, seen = infimum.minimize(schwefel, **SEARCH), str(tmp_path / "run"), []

    def stop(snapshot):
        seen.append(snapshot)
        return snapshot.lower > -np.inf and len(seen) > 400 + steps
    infimum.minimize(schwefel, callback=stop, checkpoint=path, **SEARCH)
    assert bits(infimum.resume(path, schwefel)) == bits(whole)
    assert threading.active_count() < 20 and not any(t.name == "infimum-beside" for t in threading.enumerate())


def test_it_ends_with_the_run(besides):
    infimum.minimize(schwefel, time_limit=0.3, **SEARCH)
    assert all(not b._thread.is_alive() for b in besides)


def test_large_batches_wait_longer(monkeypatch):
    seen = []
    monkeypatch.setattr(auto.Auto, "_wider", lambda self: seen.append(self.branch.steps) or iter(()))
    monkeypatch.setattr(auto, "_LARGE", 32)
    monkeypatch.setattr(auto, "_LATEST", 70)
    infimum.minimize(schwefel, **SEARCH)
    assert seen == [70]


def test_errors_are_heard_and_steps_counted():
    def fails():
        yield
        raise ZeroDivisionError("here")
    beside = Beside(fails())
    with pytest.raises(ZeroDivisionError, match="here"):
        for _ in beside.wait():
            pass
    beside.stop()


def test_a_stop_is_heard_after_a_step():
    taken = []

    def endless():
        while True:
            taken.append(0)
            time.sleep(0.001)
            yield
    beside = Beside(endless())
    time.sleep(0.02)
    beside.stop()
    count = len(taken)
    time.sleep(0.02)
    assert 0 < len(taken) == count and not beside._thread.is_alive()
