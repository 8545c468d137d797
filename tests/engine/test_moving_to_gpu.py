"""A search that turns out to be long goes to a GPU that is beside the machine: the same bits wherever that is played, resumed or
not, and where the GPU fails all goes on here."""

import numpy as np
import pytest

import infimum
from infimum.backend import devices
from infimum.backend.cuda import cuda_backend
from infimum.engines import auto
from infimum.errors import DeviceError, DeviceMemoryError
from infimum.evaluation.evaluator import Evaluator
from infimum.evaluation.facts import Facts
from infimum.search.branch_and_bound import BranchAndBound
from tests.engine.test_gpu_branch import gpu
from tests.engine.test_overlap import bits
from tests.fake_cupy import installed

SEARCH = {"bounds": [(-500.0, 500.0)] * 6, "rtol": 1e-4}
LARGE = 4096
TURN = np.linalg.qr(np.random.default_rng(3).normal(size=(6, 6)))[0]


def schwefel(x):
    y = TURN @ x
    return -np.sum(y * np.sin(np.sqrt(np.abs(y))))


def set_long(monkeypatch, boxes: int, regions: int) -> None:
    monkeypatch.setattr(auto.POLICY, "boxes_before_gpu", boxes)
    monkeypatch.setattr(auto.POLICY, "regions_for_gpu", regions)


@pytest.fixture
def long(monkeypatch):
    """Searches are long after 20,000 boxes."""
    set_long(monkeypatch, 20_000, 100)
    monkeypatch.setattr("infimum.evaluation.device_choice.POLICY.batch", 256)


@pytest.fixture
def beside(monkeypatch, long):
    """A CPU that plays a machine with a GPU beside it."""
    monkeypatch.setattr(Evaluator, "gpu_batch", LARGE)


def seen_steps(monkeypatch) -> list[tuple[int, int]]:
    """(batch, boxes before) of every step of branch and bound."""
    seen, step = [], BranchAndBound.step

    def watched(self):
        seen.append((self.batch, self.boxes))
        step(self)
    monkeypatch.setattr(BranchAndBound, "step", watched)
    return seen


def test_a_long_search_grows_once(monkeypatch, beside):
    seen = seen_steps(monkeypatch)
    r = infimum.minimize(schwefel, device="cpu", **SEARCH)
    batches = [batch for batch, _ in seen]
    first = batches.index(LARGE)
    assert set(batches[:first]) == {256} and set(batches[first:]) == {LARGE} and first < len(batches) - 3
    assert all(boxes < 20_000 for _, boxes in seen[:first]) and seen[first][1] >= 20_000
    assert r.verdict is infimum.Verdict.PROVED and r.batch == LARGE and r.nit <= len(seen)
    plain = infimum.minimize(schwefel, device="cpu", batch=256, **SEARCH)
    assert plain.batch == 256 and abs(plain.fun - r.fun) < 1e-4 * abs(r.fun)


def test_who_names_a_batch_keeps_it(monkeypatch, beside):
    seen = seen_steps(monkeypatch)
    assert infimum.minimize(schwefel, device="cpu", batch=256, **SEARCH).batch == 256
    assert {batch for batch, _ in seen} == {256}


def test_a_short_search_does_not_even_look_for_a_gpu(monkeypatch):
    def looked(self):
        raise AssertionError("looked")
    monkeypatch.setattr(Evaluator, "gpu_batch", property(looked))
    assert infimum.minimize(schwefel, device="cpu", **SEARCH).verdict is infimum.Verdict.PROVED


@pytest.mark.parametrize("stop", (15_000, 19_900, 25_000, 60_000))
def test_resumed_before_and_after_it_has_the_same_bits(stop, beside, tmp_path):
    whole = infimum.minimize(schwefel, device="cpu", **SEARCH)
    file = str(tmp_path / "run.npz")
    stopped = infimum.minimize(schwefel, device="cpu", checkpoint=file, max_boxes=stop, **SEARCH)
    assert stopped.verdict is infimum.Verdict.STOPPED and stopped.batch == (256 if stop < 20_000 else LARGE)
    again = infimum.resume(file, schwefel, device="cpu")
    assert bits(again) == bits(whole) and again.batch == LARGE


def test_where_no_gpu_was_a_resumed_run_stays(monkeypatch, long, tmp_path):
    """As the run that was never disturbed would have."""
    whole = infimum.minimize(schwefel, device="cpu", **SEARCH)
    file = str(tmp_path / "run.npz")
    infimum.minimize(schwefel, device="cpu", checkpoint=file, max_boxes=30_000, **SEARCH)
    monkeypatch.setattr(Evaluator, "gpu_batch", LARGE)
    assert bits(infimum.resume(file, schwefel, device="cpu")) == bits(whole)


@pytest.mark.parametrize(("when", "error"), (("restore", MemoryError), ("step", DeviceError("the GPU failed")),
                                             ("step", MemoryError), ("_put", DeviceMemoryError("full"))))
def test_where_it_fails_all_is_as_it_was(monkeypatch, error, when, long):
    """Also in the midst of the first step, when it has found a better point and counted what it discards."""
    plain = infimum.minimize(schwefel, device="cpu", **SEARCH)
    monkeypatch.setattr(Evaluator, "gpu_batch", LARGE)
    usual, failed = getattr(BranchAndBound, when), []

    def fails(self, *args):
        if self.batch == LARGE:
            failed.append(when)
            raise error
        return usual(self, *args)
    monkeypatch.setattr(BranchAndBound, when, fails)
    r = infimum.minimize(schwefel, device="cpu", **SEARCH)
    assert failed == [when] and bits(r) == bits(plain) and r.batch == 256


def test_where_its_memory_ends_later_it_comes_back(monkeypatch, beside):
    usual, steps = BranchAndBound.step, []

    def fails(self):
        steps.append(self.batch)
        if self.batch == LARGE and steps.count(LARGE) == 3:
            raise MemoryError
        usual(self)
    monkeypatch.setattr(BranchAndBound, "step", fails)
    r = infimum.minimize(schwefel, device="cpu", **SEARCH)
    assert r.verdict is infimum.Verdict.PROVED and r.batch == 256 and steps.count(LARGE) == 3 and steps[-1] == 256


def camel(x):
    return 4 * x[0] ** 2 - 2.1 * x[0] ** 4 + x[0] ** 6 / 3 + x[0] * x[1] - 4 * x[1] ** 2 + 4 * x[1] ** 4


def test_auto_goes_to_a_gpu(monkeypatch, tmp_path):
    """A pretended one: the bits of a CPU that plays it, and the regions lie there. So does a run that was stopped before and is
    resumed with that GPU alone."""
    set_long(monkeypatch, 300, 5)
    monkeypatch.setattr(Facts, "has_pieces", False)  # with them it would end before
    monkeypatch.setattr("infimum.evaluation.device_choice.POLICY.batch", 16)
    monkeypatch.setattr("infimum.evaluation.device_choice.POLICY.worth_a_gpu", 32)
    search = {"bounds": [(-3.0, 3.0), (-2.0, 2.0)], "rtol": 1e-2, "atol": 1e-2, "options": {"particles": 8}}
    with monkeypatch.context() as m:
        m.setattr(Evaluator, "gpu_batch", 32)
        here = infimum.minimize(camel, device="cpu", **search)
    installed(monkeypatch, memory=1 << 26)
    monkeypatch.setattr(cuda_backend, "_BATCH", 32)
    monkeypatch.setattr("infimum.backend.cuda.gpu_arrays._COUNTED", 1 << 20)
    monkeypatch.setattr(devices, "gpu_may_be_here", lambda: True)
    monkeypatch.setattr(devices, "_SECONDS_BEFORE_GPU", 1e9)  # no kernel is brought there for its own sake
    places = []
    step = BranchAndBound.step
    monkeypatch.setattr(BranchAndBound, "step",
                        lambda self: (places.append(isinstance(self.pool.front.data, np.ndarray)), step(self))[1])
    there = infimum.minimize(camel, device="auto", **search)
    assert bits(here) == bits(there) and there.batch == here.batch == 32
    assert here.device == "cpu" and there.device == "cpu and cuda:0"
    assert places[0] and not places[-1] and places == sorted(places, reverse=True)
    file = str(tmp_path / "run.npz")
    assert infimum.minimize(camel, device="auto", checkpoint=file, max_boxes=200, **search).batch == 16
    assert bits(infimum.resume(file, camel, device="cuda")) == bits(here)


def test_a_gpu_too_small_for_steps_that_pay_is_left_alone(monkeypatch):
    installed(monkeypatch, memory=1 << 26)
    monkeypatch.setattr(devices, "gpu_may_be_here", lambda: True)
    f = infimum.compile(camel, 2, device="auto")
    assert f.backend.gpu_batch < 1 << 16 and f.gpu_batch is None


@pytest.mark.gpu
def test_auto_goes_to_a_real_gpu(monkeypatch):
    gpu()
    set_long(monkeypatch, 20_000, 100)
    there = infimum.minimize(schwefel, device="auto", **SEARCH)
    monkeypatch.setattr(Evaluator, "gpu_batch", there.batch)
    here = infimum.minimize(schwefel, device="cpu", **SEARCH)
    assert there.batch == here.batch > 8192 and bits(here) == bits(there)
