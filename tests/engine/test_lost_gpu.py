"""A GPU that is lost or full in the midst of a run: a clear error, and with a checkpoint nothing is lost. No GPU is needed."""

from collections import OrderedDict
from typing import Any

import numpy as np
import pytest

import infimum
from infimum.backend.cpu import CpuBackend
from infimum.backend.cuda import gpu_arrays
from infimum.backend.cuda.cuda_backend import CudaBackend
from infimum.backend.hybrid import HybridBackend
from infimum.evaluation import compiled_programs
from infimum.search import checkpoint, driver, region_heap
from infimum.search.branch_and_bound import BranchAndBound
from tests.engine.test_gpu_branch import camel, fingerprint
from tests.engine.test_gpu_branch import started as branch_started
from tests.fake_cupy import CUDADriverError, FakeCupy, installed

SHORT = {"swarm_steps": 1, "descent_steps": 20, "particles": 16}


def wave(x):
    return x[0] ** 4 - 3 * x[0] ** 2 + x[0]


def bowl(x):
    return np.sum(x**2 - 0.3 * x)


CASES = {"auto": (wave, [(-3, 3)], {"batch": 16, "options": SHORT}),
         "newton": (wave, [(-3, 3)], {"engine": "newton", "batch": 16, "xtol": 1e-2, "options": {"gaps": True}}),
         "complete": (bowl, [(-1, 2)] * 2, {"engine": "complete", "options": {"partition": (2, 2), "points": 1}, "atol": 1e-2})}


@pytest.fixture
def started(monkeypatch):
    """started(…): a new process with a pretended GPU that writes a checkpoint after every step."""
    def start(**settings) -> FakeCupy:
        monkeypatch.setattr(compiled_programs, "_lowered", OrderedDict())
        return installed(monkeypatch, memory=1 << 24, **settings)
    monkeypatch.setattr(gpu_arrays, "_COUNTED", 1 << 20)  # one thread: counting digits is slow there
    monkeypatch.setattr(driver.CheckpointWriter.__init__, "__defaults__", (0.0,))
    return start


def bits(r: infimum.Result) -> list:
    boxes = [end.tobytes() for box in r.boxes for end in box]
    return [r.x.tobytes(), np.array([r.lower, r.upper]).tobytes(), r.verdict, r.nit, r.nfev, r.regions, boxes]


@pytest.mark.parametrize("name", CASES)
def test_lost_at_any_call_and_resumed_on_the_cpu(started, name, tmp_path):
    """Every call after the lost one fails as well, those of whoever tidies up included."""
    f, bounds, settings = CASES[name]
    whole = infimum.minimize(f, bounds, device="cpu", **settings)
    cupy = started()
    assert bits(infimum.minimize(f, bounds, device="cuda", **settings)) == bits(whole)
    calls, later = cupy.calls, 0
    for lost_at in sorted({*range(4), *range(7, calls, calls // 5), calls - 1}):
        started(lost_at=lost_at)
        path = str(tmp_path / f"{lost_at}.inf")
        with pytest.raises(infimum.DeviceError, match=r"'Pretended GPU' \(cuda:0\) failed: .*launch failure.*new one") as said:
            infimum.minimize(f, bounds, device="cuda", checkpoint=path, **settings)
        assert f"infimum.resume({path!r}, fun, device='cpu')" in str(said.value)
        later += checkpoint.load(path).values["state"] is not None
        assert bits(infimum.resume(path, f, device="cpu")) == bits(whole), lost_at
    assert later > 2


def test_lost_without_a_checkpoint(started):
    started(lost_at=30)
    f, bounds, settings = CASES["auto"]
    with pytest.raises(infimum.DeviceError, match="device='cpu'$"):
        infimum.minimize(f, bounds, device="cuda", **settings)
    with pytest.raises(infimum.DeviceError, match="failed"):
        CudaBackend().arrays.send(np.ones((1, 1)))


# ---- memory
def camel_branch(backend: Any) -> BranchAndBound:
    """Few regions at hand, so that most of them wait, and no more room than they need."""
    branch = branch_started(camel, [-3.0, -2.0], [3.0, 2.0], backend, 16)
    branch.pool.size, branch.pool.full = 4, 8
    return branch


def test_regions_that_wait_go_to_the_host_and_the_bits_stay(started):
    cupy, tries = started(), []

    def need() -> None:
        """As if there were no memory, until something has gone."""
        tries.append(cupy.used)
        if len(tries) == 1:
            raise MemoryError
    on_cpu, on_gpu = camel_branch(CpuBackend()), camel_branch(HybridBackend())
    for k in range(12):
        on_cpu.step()
        on_gpu.step()
        if k == 4:
            on_gpu.pool._fit(need)
        assert fingerprint(on_cpu) == fingerprint(on_gpu)
    assert tries[1] < tries[0] and on_gpu.pool.waiting.arrays is on_gpu.arrays.here and len(on_gpu.pool.waiting)


@pytest.mark.parametrize("memory", [3_000, 8_000, 14_000])
def test_a_full_gpu_ends_the_run_with_what_is_proved(started, monkeypatch, memory, tmp_path):
    """And the checkpoint of that moment goes on on the CPU."""
    monkeypatch.setattr(region_heap.POLICY, "least_room", 16)
    path, bounds = str(tmp_path / "run.inf"), [(-3, 3), (-2, 2)]
    started().memory = memory
    r = infimum.minimize(camel, bounds, device="cuda", batch=16, options=SHORT, checkpoint=path)
    assert "no memory is left beside" in r.message and r.lower <= -1.031628453489877 <= r.upper
    assert infimum.resume(path, camel, device="cpu").verdict is infimum.Verdict.PROVED


def test_a_launch_that_finds_no_memory_is_no_lost_gpu(started, monkeypatch):
    """The driver says so in its own words."""
    cupy = started()
    arrays = CudaBackend().arrays
    row = arrays.send(np.ones((1, 4)))

    def full(*_):
        raise CUDADriverError("CUDA_ERROR_OUT_OF_MEMORY: out of memory")
    monkeypatch.setattr(cupy, "touch", full)
    with pytest.raises(infimum.DeviceMemoryError, match="memory of the GPU 'Pretended GPU' is full"):
        arrays.least(row)
