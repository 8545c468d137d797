"""Launches of the GPU backend on a pretended GPU: copies, pieces, scratch, constants, refusals. No GPU is needed."""

import sys

import numpy as np
import pytest

from infimum.backend.cuda import cuda_backend as cuda
from infimum.backend.cuda import gpu
from infimum.backend.cuda.cuda_backend import CudaBackend, _Constants
from infimum.errors import DeviceError, ShapeError
from infimum.kernel.ir import Builder, Kernel
from tests import children, fake_cupy
from tests.fake_cupy import FakeCupy, installed
from tests.random_kernels import example, same_bits

WITH_BUFFER = next(seed for seed in range(100) if sum(example(seed).kernel.buffers) > 10)


@pytest.fixture
def pretend(monkeypatch):
    """pretend(…) installs a pretended CuPy and returns it."""
    def install(**settings) -> FakeCupy:
        return installed(monkeypatch, **settings)
    return install


def sum_kernel() -> Kernel:
    """input 0 + input 1 + data[0], through a buffer; row 1 of the output is left alone."""
    b = Builder()
    buffer = b.buffer(3)
    with b.loop(3) as turn:
        b.store(buffer, turn.index, b.add(b.input(0, turn.index), b.input(1, turn.index)))
    with b.loop(3) as turn:
        step = b.step((0.0,), (b.load(buffer, turn.index),), lambda b, left, right: (b.add(left[0], right[0]),))
    b.output(0, 0, b.add(step.results[0], b.data(0)))
    return b.kernel("sum", 2, 1)


def whole_numbers(boxes: int) -> tuple[list[np.ndarray], np.ndarray, np.ndarray, np.ndarray]:
    """(inputs, output, data, udata) of sum_kernel: sums are exact."""
    inputs = [np.arange(3.0 * boxes).reshape(3, boxes), np.ones((3, boxes))]
    return inputs, np.full((2, boxes), -7.0), np.array([100.0, 0.0]), np.zeros(1, np.int64)


def check(inputs, output, data) -> None:
    assert (output[0] == inputs[0].sum(axis=0) + 3 + data[0]).all()
    assert (output[1] == -7.0).all()


@pytest.mark.parametrize(("block", "grid"), [(None, None), (32, 1), (128, None), (1, 2), (5, 1)])
@pytest.mark.parametrize("seed", [0, WITH_BUFFER])
def test_every_shape_of_a_launch(pretend, seed, block, grid):
    pretend()
    for boxes in (1, 3, 40):
        differing = example(seed).differing(CudaBackend(block=block, grid=grid), boxes, 1)
        assert differing == 0, f"{boxes} boxes: {differing} results differ"


def test_few_boxes_are_spread_and_scratch_stays_with_what_runs(pretend):
    cupy = pretend()
    compiled = CudaBackend().compile(sum_kernel())
    for boxes in (5, 200, 2000):
        inputs, output, data, udata = whole_numbers(boxes)
        compiled.run(inputs, [output], data, udata)
        check(inputs, output, data)
    assert cupy.launches == [(1, 32, 5), (4, 64, 200), (12, 128, 2000)]  # 3 multiprocessors with 4 blocks of 128


def test_a_kernel_without_scratch_has_a_thread_for_every_box(pretend):
    cupy = pretend()
    b = Builder()
    b.output(0, 0, b.neg(b.input(0, 0)))
    numbers, output = np.arange(5000.0).reshape(1, 5000), np.empty((1, 5000))
    CudaBackend().compile(b.kernel("negate", 1, 1)).run([numbers], [output], np.zeros(1), np.zeros(1, np.int64))
    assert (output == -numbers).all()
    assert cupy.launches == [(40, 128, 5000)]


def test_a_memory_limit_splits_the_launch(pretend):
    cupy = pretend()
    inputs, output, data, udata = whole_numbers(100)
    CudaBackend(memory_limit=2 * 64 * 30).compile(sum_kernel()).run(inputs, [output], data, udata)
    check(inputs, output, data)
    assert [boxes for _, _, boxes in cupy.launches] == [30, 30, 30, 10]  # a box has 8 rows of 8 bytes
    assert all(24 * grid * block <= 64 * 30 for grid, block, _ in cupy.launches)


def test_running_out_of_memory_splits_the_launch(pretend):
    cupy = pretend(memory=20000)
    inputs, output, data, udata = whole_numbers(300)
    compiled = CudaBackend(memory_limit=1 << 30).compile(sum_kernel())
    compiled.run(inputs, [output], data, udata)
    check(inputs, output, data)
    assert sum(boxes for _, _, boxes in cupy.launches) == 300
    assert len(cupy.launches) > 1
    assert cupy.used == 24  # the constants


def test_a_box_that_does_not_fit_is_refused(pretend):
    pretend()
    inputs, output, data, udata = whole_numbers(3)
    for limit in (0, 20, 100):
        with pytest.raises(DeviceError, match="one box needs 88 bytes"):
            CudaBackend(memory_limit=limit).compile(sum_kernel()).run(inputs, [output], data, udata)
    assert (output == -7.0).all()


def test_constants_are_sent_when_they_change(pretend):
    cupy = pretend()
    compiled = CudaBackend().compile(sum_kernel())
    inputs, output, data, udata = whole_numbers(4)
    counts = []
    for value in (100.0, 100.0, -0.0, 0.0, np.nan, np.nan, 5.0):
        data[0] = value  # in place: the array is the same object
        before = cupy.sent
        compiled.run(inputs, [output], data, udata)
        counts.append(cupy.sent - before - 3)
        assert same_bits(output[0], inputs[0].sum(axis=0) + 3 + value).all()
    assert counts == [2, 0, 1, 1, 1, 0, 1]


def test_large_constants_are_sent_when_they_change(pretend):
    cupy = pretend()
    compiled = CudaBackend().compile(sum_kernel())
    inputs, output, _, udata = whole_numbers(4)
    data, counts = np.zeros(10_000), []
    for value in (0.0, -0.0, -0.0, np.nan, np.nan, 5.0):
        data[0] = value
        before = cupy.sent
        compiled.run(inputs, [output], data, udata)
        counts.append(cupy.sent - before - 3)
        assert same_bits(output[0], inputs[0].sum(axis=0) + 3 + value).all()
    assert counts == [2, 1, 0, 1, 0, 1]


def test_of_large_constants_only_what_changed_is_sent(pretend, monkeypatch):
    """Wherever it lies; nothing of what was sent lately; and that is left as it was, since kernels may still read it."""
    cupy, words, given = pretend(), [], []
    original = fake_cupy.Array.set
    monkeypatch.setattr(fake_cupy.Array, "set", lambda self, array: words.append(array.size) or original(self, array))
    monkeypatch.setattr(cuda, "_KEPT_LARGE_BYTES", 3 * 80_000)
    kept, data = _Constants(), np.arange(10_000.0)
    two = {3: 7.0, 5: 7.0}
    changes = [{}, {9_999: -1.0}, two, {9_999: -1.0}, {}, {17: -0.0}, {18: np.nan}, two, {0: 2.0, 9_999: 2.0}]
    for change in changes:
        now = data.copy()
        now[list(change)] = list(change.values())
        given.append((kept.on(cupy, now), now))
        assert all(same_bits(there.get(), meant).all() for there, meant in given)
    assert words == [10_000, 1, 3, 1, 1, 3, 10_000], "the third one was forgotten"
    kept.on(cupy, np.zeros(9_000))
    assert words[-1] == 9_000


def test_arrays_on_the_device_are_not_copied(pretend):
    cupy = pretend()
    inputs, output, data, udata = whole_numbers(50)
    there = [cupy.empty(a.shape) for a in (*inputs, output)]
    for a, copy in zip((*inputs, output), there, strict=True):
        copy.set(a)
    compiled = CudaBackend(grid=1, block=7).compile(sum_kernel())
    compiled.run(there[:2], there[2:], data, udata)
    before = cupy.sent
    compiled.run(there[:2], there[2:], data, udata)
    assert cupy.sent == before
    assert cupy.launches == [(1, 7, 50)] * 2
    check(inputs, there[2].get(), data)


def test_no_boxes_no_launch(pretend):
    cupy = pretend()
    inputs, output, data, udata = whole_numbers(0)
    CudaBackend().compile(sum_kernel()).run(inputs, [output], data, udata)
    assert cupy.launches == []


def test_equal_kernels_are_loaded_once(pretend):
    pretend()
    inputs, output, data, udata = whole_numbers(4)
    for block in (None, 32, 64):
        CudaBackend(block=block).compile(sum_kernel()).run(inputs, [output], data, udata)
    assert len(gpu._loaded) == 1
    CudaBackend(device=1).compile(sum_kernel()).run(inputs, [output], data, udata)
    assert len(gpu._loaded) == 2


@pytest.mark.parametrize("spoil", [
    lambda ins, outs: (ins[:1], outs),
    lambda ins, outs: (ins, [outs[0].astype(np.float32)]),
    lambda ins, outs: (ins, [outs[0][:, :3]]),
    lambda ins, outs: ([ins[0][:, ::2], ins[1][:, ::2]], [outs[0][:, ::2]]),
    lambda ins, outs: ([ins[0].T.copy().T, ins[1]], outs),
    lambda ins, outs: ([ins[0][0], ins[1]], outs),
])
def test_arrays_that_do_not_fit_are_refused(pretend, spoil):
    pretend()
    inputs, output, data, udata = whole_numbers(4)
    ins, outs = spoil(inputs, [output])
    with pytest.raises(ShapeError):
        CudaBackend().compile(sum_kernel()).run(ins, outs, data, udata)


def test_arrays_elsewhere_are_refused(pretend):
    cupy = pretend()
    inputs, output, data, udata = whole_numbers(4)
    with cupy.cuda.Device(1):
        there = [cupy.empty(a.shape) for a in (*inputs, output)]
    compiled = CudaBackend().compile(sum_kernel())
    with pytest.raises(ShapeError, match="on GPU 1"):
        compiled.run(there[:2], there[2:], data, udata)
    with pytest.raises(ShapeError, match="all of one kind"):
        compiled.run(there[:2], [output], data, udata)


# ---- what a user is told
def test_names_tell_targets_apart(pretend):
    pretend()
    assert CudaBackend().name == "cuda"
    assert CudaBackend(1).name == "cuda(device=1)"
    assert CudaBackend(memory_limit=5, grid=2).name == "cuda(memory_limit=5, grid=2)"


def test_no_gpu(pretend):
    pretend(devices=0)
    with pytest.raises(DeviceError, match="no NVIDIA GPU answers.*driver"):
        CudaBackend()


def test_no_such_gpu(pretend):
    pretend()
    for number in (2, -1):
        with pytest.raises(DeviceError, match=f"no GPU number {number}; this machine has 2"):
            CudaBackend(number)


def test_old_gpu(pretend, monkeypatch):
    pretend()
    monkeypatch.setattr("tests.fake_cupy._Device.compute_capability", "52")
    with pytest.raises(DeviceError, match="compute capability 52"):
        CudaBackend()


def test_kernel_that_the_driver_refuses(pretend):
    pretend().refuses = "CUDA_ERROR_INVALID_PTX: a PTX JIT compilation failed"
    inputs, output, data, udata = whole_numbers(4)
    with pytest.raises(DeviceError, match="Pretended GPU.*refuses the kernel.*INVALID_PTX"):
        CudaBackend().compile(sum_kernel()).run(inputs, [output], data, udata)


def test_other_errors_are_not_taken_for_a_lack_of_memory(pretend, monkeypatch):
    pretend()
    compiled = CudaBackend().compile(sum_kernel())
    monkeypatch.setattr(cuda.CudaKernel, "_launch", lambda *a: (_ for _ in ()).throw(RuntimeError("CUDA_ERROR_ILLEGAL_ADDRESS")))
    inputs, output, data, udata = whole_numbers(4)
    with pytest.raises(RuntimeError, match="ILLEGAL_ADDRESS"):
        compiled.run(inputs, [output], data, udata)


def test_without_cupy(monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", None)
    monkeypatch.setattr(gpu, "_gpus", {})
    with pytest.raises(DeviceError, match=r"needs CuPy.*pip install infimum\[cuda\].*driver"):
        CudaBackend()


def test_cupy_is_imported_only_when_a_target_is_made():
    code = "import sys, infimum, infimum.backend.cuda.cuda_backend; sys.exit('cupy' in sys.modules)"
    assert children.run(sys.executable, "-c", code).returncode == 0


@pytest.mark.parametrize(("memory", "batch"), [(141 * 10**9, 1 << 19), (1 << 34, 1 << 19), ((1 << 34) - 1, 1 << 18),
                                               (6 * 10**9, 1 << 17)])
def test_a_small_gpu_has_smaller_steps(pretend, memory, batch):
    pretend(memory=memory)
    assert CudaBackend().batch == batch
