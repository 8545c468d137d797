"""The device a user names; arrays on a pretended GPU; runs that go where they end sooner. No GPU is needed."""

import importlib.util
from collections import OrderedDict

import numpy as np
import pytest

import infimum
from infimum import problems
from infimum.backend import devices, hybrid
from infimum.backend.cpu import CpuBackend
from infimum.backend.cuda import gpu
from infimum.backend.cuda.cuda_backend import CudaBackend
from infimum.backend.devices import backend_of
from infimum.backend.hybrid import HybridBackend
from infimum.errors import DeviceError, OptionError
from infimum.evaluation import compiled_programs
from tests.fake_cupy import CUDARuntimeError, FakeCupy, installed
from tests.random_kernels import same_bits


@pytest.fixture
def pretend(monkeypatch) -> FakeCupy:
    cupy = installed(monkeypatch, memory=1 << 26)
    monkeypatch.setattr(devices, "gpu_may_be_here", lambda: True)
    return cupy


def never(x):
    raise AssertionError("work began")


@pytest.mark.parametrize("device", ["gpu", "cuda:", "cuda:-1", "cuda:x", "CPU", "", None, 0])
def test_unknown_devices_are_named_with_the_known_ones(device):
    with pytest.raises(OptionError, match="'auto', 'cpu', 'cuda'"):
        infimum.minimize(never, [(0, 1)], device=device)


@pytest.mark.skipif(importlib.util.find_spec("cupy") is not None, reason="CuPy is here")
def test_without_cupy_cuda_says_what_to_install_and_auto_is_the_cpu():
    with pytest.raises(DeviceError, match="pip install infimum"):
        infimum.minimize(never, [(0, 1)], device="cuda")
    assert isinstance(backend_of("auto"), CpuBackend)
    assert infimum.minimize(lambda x: x[0] ** 2, [(-1, 2)]).device == "cpu"


def test_a_gpu_that_is_not_there(pretend):
    with pytest.raises(DeviceError, match="no GPU number 7; this machine has 2"):
        infimum.minimize(never, [(0, 1)], device="cuda:7")
    assert backend_of("cuda:1").device == 1


def test_a_memory_limit_too_small_for_a_batch(pretend):
    with pytest.raises(OptionError, match="too small for the GPU: a step of 16 boxes of 1,000 variables .* give a larger"):
        infimum.minimize(never, [(0, 1)] * 1000, device="cuda", memory_limit=1e5)
    with pytest.raises(OptionError, match="a step of 16,777,216 boxes of 3 variables takes 4,831,838,208; give a smaller batch"):
        infimum.minimize(never, [(0, 1)] * 3, device="cuda", memory_limit=1e8, batch=1 << 24)


def test_auto_does_without_a_gpu_that_cannot_be_used(monkeypatch):
    def broken():
        raise DeviceError("the driver is too old")
    monkeypatch.setattr(gpu, "_cupy", broken)
    monkeypatch.setattr(gpu, "_gpus", {})
    monkeypatch.setattr(devices, "gpu_may_be_here", lambda: True)
    backend = backend_of("auto")
    assert isinstance(backend, HybridBackend) and backend.cuda is None
    assert same_bits(backend.arrays.fetch(backend.arrays.send(np.ones((2, 3)))), np.ones((2, 3))).all()
    p = problems.get("branin")
    assert infimum.minimize(p.fun, p.bounds).verdict is infimum.Verdict.PROVED
    with pytest.raises(DeviceError, match="too old"):
        backend_of("cuda")


@pytest.mark.parametrize(("limit", "lost_at", "said"), [(10, np.inf, "memory_limit = 10 allows"), (None, 5, "failed")])
def test_auto_does_without_a_gpu_that_fails(pretend, monkeypatch, limit, lost_at, said):
    monkeypatch.setattr(hybrid, "_LAUNCH", -1.0)  # as if a launch cost nothing
    pretend.lost_at = lost_at
    lo, hi = np.zeros((2, 5)), np.ones((2, 5))
    wanted = infimum.compile(lambda x: np.sum(np.cos(x)), 2).value(lo, hi)
    for or_cpu in (True, False):
        monkeypatch.setattr(compiled_programs, "_lowered", OrderedDict())
        f = infimum.compile(lambda x: np.sum(np.cos(x)), 2, backend=HybridBackend(0, limit, or_cpu=or_cpu))
        kernel = f.prepare("value")[0]
        if or_cpu:
            for _ in range(3):
                assert same_bits(f.value(lo, hi).lo, wanted.lo).all() and kernel.spent == -np.inf
        else:
            with pytest.raises(DeviceError, match=said):
                f.value(lo, hi)


def test_an_old_driver(pretend):
    def refuse() -> int:
        raise CUDARuntimeError("cudaErrorInsufficientDriver: CUDA driver version is insufficient for CUDA runtime version")
    pretend.cuda.runtime.getDeviceCount = refuse
    with pytest.raises(DeviceError, match="driver is too old.*newer driver.*pip install cupy-cuda12x"):
        infimum.minimize(never, [(0, 1)], device="cuda")


def test_an_evaluator_has_its_device_already():
    f = infimum.compile(lambda x: x[0] ** 2, 1, device="cpu")
    assert infimum.minimize(f, [(-1, 1)], device="cpu").device == "cpu"
    with pytest.raises(OptionError, match="this Evaluator was compiled for 'cpu'"):
        infimum.minimize(f, [(-1, 1)], device="cuda")
    with pytest.raises(OptionError, match="a backend has its own device and threads"):
        infimum.compile(lambda x: x[0], 1, backend=CpuBackend(), device="nonsense")


def test_an_evaluator_may_be_given_the_gpu_that_it_has(pretend):
    for named, others in (("cuda", ("cpu", "cuda:1")), ("cuda:0", ("cpu",)), ("cuda:1", ("cpu", "cuda"))):
        f = infimum.compile(lambda x: x[0] ** 2, 1, device=named)
        assert infimum.minimize(f, [(-1, 1)], device=named).device == f"cpu and cuda:{named[5:] or 0}"
        for other in others:
            with pytest.raises(OptionError, match=f"device '{other}' .* this Evaluator was compiled for 'cuda:"):
                infimum.minimize(f, [(-1, 1)], device=other)


def test_a_gpu_that_only_may_be_used_is_not_where_a_run_was(pretend, monkeypatch):
    """With CuPy installed, `device="auto"` may move to a GPU, within the memory limit. Only if it does, the table says so."""
    def run():
        monkeypatch.setattr(compiled_programs, "_lowered", OrderedDict())
        return infimum.minimize(lambda x: x[0] ** 2, [(-1, 2)], engine="swarm", memory_limit=8e9)
    assert run().device == "cpu" and "on cpu\n" in str(run()) and not pretend.launches
    monkeypatch.setattr(hybrid, "_LAUNCH", -1.0)  # as if a launch cost nothing
    monkeypatch.setattr(devices, "_SECONDS_BEFORE_GPU", 0.0)
    assert run().device == "cpu and cuda:0" and pretend.launches
    f = infimum.compile(lambda x: x[0] ** 2, 1, device="auto")
    assert repr(f).startswith("Evaluator of 1 variable on cpu:")
    with pytest.raises(OptionError, match="this Evaluator was compiled for 'auto'"):
        infimum.minimize(f, [(-1, 1)], device="cpu")


@pytest.mark.parametrize("count", (1, 2, 7, 96, 128, 384))
def test_the_least_of_a_row_is_the_first(pretend, count):
    arrays, rng = CudaBackend().arrays, np.random.default_rng(count)
    for row in (rng.normal(size=(1, count)), rng.integers(0, 2, (1, count)).astype(float), np.full((1, count), np.inf)):
        there = arrays.send(np.concatenate([row + 1, row]))
        assert same_bits(arrays.fetch(there), np.concatenate([row + 1, row])).all()
        assert arrays.least(there[1:2]) == [(row.min(), int(np.argmin(row)))]


def test_the_complete_search_on_a_pretended_gpu(pretend):
    """Its lanes and results stay there; the bits are the CPU's."""
    p = problems.get("complete_search_rastrigin", 4)
    runs = [infimum.minimize(infimum.compile(p.fun, 4, backend=backend), p.bounds, engine="complete",
                             options={"partition": (2, 4), "points": 3, "iterations": 3})
            for backend in (CpuBackend(), HybridBackend())]
    assert same_bits(runs[0].x, runs[1].x).all() and (runs[0].lower, runs[0].upper) == (runs[1].lower, runs[1].upper)
    assert runs[0].regions == runs[1].regions and len(pretend.launches) >= 6


def test_a_kernel_is_brought_to_the_gpu_when_it_pays(pretend, monkeypatch):
    f = infimum.compile(lambda x: np.sum(np.cos(x)), 2, backend=HybridBackend(patience=1e9, or_cpu=True))
    lo, hi = np.zeros((2, 5)), np.ones((2, 5))
    wanted, kernel = f.value(lo, hi), f.prepare("value")[0]
    assert "on_gpu" not in vars(kernel) and kernel.spent == 0.0
    monkeypatch.setattr(hybrid, "_LAUNCH", -1.0)  # as if a launch cost nothing
    f.value(lo, hi)
    assert "on_gpu" not in vars(kernel) and kernel.spent > 0.0  # but patience is not at its end
    kernel.backend.patience = 0.0
    found = f.value(lo, hi)
    assert "on_gpu" in vars(kernel) and same_bits(found.lo, wanted.lo).all() and same_bits(found.hi, wanted.hi).all()


def test_what_a_failing_gpu_left_half_done_is_begun_again(monkeypatch):
    """Runs to and fro change their inputs: the CPU begins with what they were."""
    installed(monkeypatch)
    f = infimum.compile(lambda x: x[0] ** 2, 1, backend=HybridBackend(or_cpu=True))
    compiled, doubles, positions, _ = f.prepare("estimate")
    x, y = np.array([[3.0]]), np.zeros((1, 1))

    class Failing:
        def run(self, inputs, *_, **__):
            inputs[0][...] = 77.0
            raise DeviceError("lost")
    compiled.on_gpu, compiled._pays = Failing(), lambda *_: True
    compiled.run([x], [y], doubles, positions, times=2)
    assert y[0, 0] == 9.0 and x[0, 0] == 81.0 and compiled.spent == -np.inf
