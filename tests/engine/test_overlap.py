"""Work while a GPU works: its results do not depend on when it is done, it ends with the run, and its errors are heard."""

import threading
from types import SimpleNamespace

import numpy as np
import pytest

import infimum
from infimum.backend.arrays import HostArrays
from infimum.backend.cuda.cuda_backend import CudaBackend
from infimum.backend.wait_estimate import WaitEstimate
from infimum.engines import auto
from infimum.evaluation.evaluator import Evaluator
from infimum.result import Verdict
from infimum.search.overlapped_work import OverlappedWork
from tests.fake_cupy import installed

TURN = np.linalg.qr(np.random.default_rng(3).normal(size=(4, 4)))[0]


def schwefel(x):
    y = TURN @ x
    return -np.sum(y * np.sin(np.sqrt(np.abs(y))))


SEARCH = {"bounds": [(-500.0, 500.0)] * 4, "batch": 32, "rtol": 1e-4}


def bits(r: infimum.Result) -> list:
    boxes = [end.tobytes() for box in r.boxes for end in box]
    return [r.x.tobytes(), r.lower, r.upper, r.nit, r.nfev, r.regions, r.message, boxes]


class Slow(HostArrays):
    """Waits whenever it is asked for the least number, as often as `patience` says."""

    idle = None

    def __init__(self, patience: int):
        self.patience, self.steps = patience, 0

    def least(self, *rows):
        for _ in range(self.patience):
            if self.idle is None or not self.idle():
                break
            self.steps += 1
        return super().least(*rows)


@pytest.fixture
def slow(monkeypatch):
    """A CPU that plays a GPU, for which one has to wait."""
    def be(patience: int) -> Slow:
        arrays = Slow(patience)
        monkeypatch.setattr(Evaluator, "uses_gpu", lambda self, batch, least=1: batch == SEARCH["batch"])
        monkeypatch.setattr(Evaluator, "arrays", arrays)
        return arrays
    return be


@pytest.mark.parametrize("patience", [0, 1, 7, 100_000])
def test_a_run_with_a_swarm_beside_it_has_the_same_bits(slow, patience):
    alone = infimum.minimize(schwefel, **SEARCH)
    arrays = slow(patience)
    both = infimum.minimize(schwefel, **SEARCH)
    assert bits(both) == bits(alone) and both.verdict is Verdict.PROVED and both.nit > auto.POLICY.late_swarm_step
    assert bool(arrays.steps) == bool(patience) and arrays.idle is None


@pytest.mark.parametrize("steps", [10, 40, 63, 66])
def test_a_run_that_is_resumed_has_the_same_bits(slow, steps, tmp_path):
    arrays = slow(3)
    whole, path, seen = infimum.minimize(schwefel, **SEARCH), str(tmp_path / "run"), []

    def stop(snapshot):
        seen.append(snapshot)
        return snapshot.lower > -np.inf and len(seen) > 30 + steps
    infimum.minimize(schwefel, callback=stop, checkpoint=path, **SEARCH)
    assert arrays.idle is None and bits(infimum.resume(path, schwefel)) == bits(whole)


def test_it_ends_with_the_run(slow):
    arrays = slow(2)
    r = infimum.minimize(schwefel, max_boxes=500, **SEARCH)
    assert r.verdict is Verdict.STOPPED and arrays.idle is None and arrays.steps


def test_where_memory_runs_out_in_a_look_the_enclosure_is_kept(monkeypatch):
    def full(self):
        raise MemoryError
        yield
    monkeypatch.setattr(auto.Auto, "_closer", full)
    r = infimum.minimize(schwefel, **SEARCH)
    assert r.verdict is Verdict.STOPPED and "no memory is left" in r.message and r.lower <= -1718.18 <= r.upper + 1


def test_large_batches_wait_longer(monkeypatch):
    seen = []
    monkeypatch.setattr(auto.Auto, "_wider", lambda self: seen.append(self.branch.steps) or iter(()))
    monkeypatch.setattr(auto.POLICY, "large_batch", 32)
    monkeypatch.setattr(auto.POLICY, "late_swarm_step_if_large", 70)
    infimum.minimize(schwefel, **SEARCH)
    assert seen == [70]


def test_steps_errors_and_the_rest():
    arrays, taken = SimpleNamespace(idle=None), []

    def three():
        for k in range(3):
            assert arrays.idle is None  # no step within a step
            taken.append(k)
            yield
    overlap = OverlappedWork(three(), arrays)
    assert arrays.idle() and taken == [0]
    assert list(overlap.rest()) == [None, None] and taken == [0, 1, 2] and arrays.idle is None

    def fails():
        yield
        raise ZeroDivisionError("here")
    overlap = OverlappedWork(fails(), arrays)
    assert arrays.idle() and not arrays.idle() and arrays.idle is None
    with pytest.raises(ZeroDivisionError, match="here"):
        list(overlap.rest())
    overlap = OverlappedWork(three(), arrays)
    while arrays.idle is not None and arrays.idle():
        pass
    assert list(overlap.rest()) == [] and taken == [0, 1, 2] * 2


def test_another_thread_takes_no_step():
    arrays, heard = SimpleNamespace(idle=None), []
    overlap = OverlappedWork(iter([None, None]), arrays)
    thread = threading.Thread(target=lambda: heard.append(arrays.idle()))
    thread.start()
    thread.join()
    assert heard == [False] and arrays.idle is not None and list(overlap.rest()) == [None, None]


def test_a_gpu_uses_the_time(monkeypatch):
    """Only where there is time for it, as far as one knows, and not when what is queued is done."""
    installed(monkeypatch)
    arrays, calls = CudaBackend().arrays, []
    row = arrays.send(np.arange(5.0)[None])
    arrays.idle = lambda: calls.append(0) or True
    assert arrays.fetch(row, "long").tolist() == [[0, 1, 2, 3, 4]] and not calls  # nobody knows how long it takes
    for what in ("long", "short"):
        arrays._wait_estimate.waited(what, {"long": 100.0, "short": 1e-9}[what], False)
    arrays.fetch(row, "short")
    assert not calls
    arrays.fetch(row, "long")
    assert len(calls) == 1
    arrays.idle = lambda: calls.append(0) or False
    arrays.fetch(row, "long")
    assert len(calls) == 2


def test_patience_learns():
    p = WaitEstimate()
    assert not p.has_time("a", 0.0)
    p.waited("a", 8.0, False)
    p.stepped(4.0)  # a quarter of it counts
    assert p.has_time("a", 0.0) and p.has_time("a", 6.5) and not p.has_time("a", 7.1) and not p.has_time("b", 0.0)
    for _ in range(40):
        p.stepped(4.0)
    assert p.has_time("a", 3.5) and not p.has_time("a", 4.5)
    for _ in range(20):
        p.waited("a", 9.0, True)  # always late: one cannot have so much time
    assert not p.has_time("a", 2.0)
    for _ in range(20):
        p.waited("a", 9.0, False)
    assert p.has_time("a", 4.5)
    p.stepped(1e4)  # a step that took very long is not the last
    assert not p.has_time("a", 0.0)
    for _ in range(400):
        p.waited("a", 9.0, False)
    assert p.has_time("a", 0.0)
