"""Launches in which blocks share boxes, on a pretended GPU: when, in which shape, with how much memory. No GPU is needed."""

import numpy as np
import pytest

from infimum.backend import hybrid
from infimum.backend.cpu import CpuBackend
from infimum.backend.cuda import cuda_backend, launch
from infimum.backend.cuda.cuda_backend import CudaBackend
from infimum.backend.cuda.work_sharing import WorkSharing
from infimum.backend.hybrid import HybridBackend
from infimum.kernel.ir import Builder, Kernel
from tests.fake_cupy import FakeCupy, installed
from tests.random_kernels import same_bits

TURNS = 1000
DOUBLES = TURNS + 2 * 63  # of scratch: a buffer, and a tree over 63 runs


@pytest.fixture
def pretend(monkeypatch) -> FakeCupy:
    return installed(monkeypatch)


def long_sum() -> Kernel:
    """Roots of a box's numbers, kept, and their sum: about 20 instructions a turn."""
    b = Builder()
    kept = b.buffer(TURNS)
    with b.loop(TURNS) as turn:
        x = b.input(0, turn.index)
        for _ in range(4):
            x = b.sqrt(b.fma(x, x, b.data(turn.index)))
        b.store(kept, turn.index, x)
    with b.loop(TURNS) as turn:
        step = b.step((0.0,), (b.load(kept, b.usub(TURNS - 1, turn.index)),), lambda b, left, right: (b.add(left[0], right[0]),))
    b.output(0, 0, step.results[0])
    return b.kernel("long_sum", 1, 1)


def check(backend: CudaBackend, boxes: int) -> cuda_backend.CudaKernel:
    rng = np.random.default_rng(boxes)
    inputs, data = rng.normal(size=(TURNS, boxes)), rng.random(TURNS)
    expected, found = np.empty((1, boxes)), np.empty((1, boxes))
    CpuBackend().compile(long_sum()).run([inputs], [expected], data, np.zeros(1, np.int64))
    compiled = backend.compile(long_sum())
    compiled.run([inputs], [found], data, np.zeros(1, np.int64))
    assert same_bits(found, expected).all()
    return compiled


@pytest.fixture
def short_is_long(monkeypatch):
    monkeypatch.setattr(launch, "_LONG_INSTRUCTIONS", 1000)


def test_few_boxes_are_shared_and_many_are_not(pretend, short_is_long):
    for boxes in (1, 3, 60):
        compiled = check(CudaBackend(), boxes)
        assert ("_function" in vars(compiled._blocks)) == (boxes < 60) == ("_function" not in vars(compiled._lanes))
    # 3 multiprocessors run 512 threads each: the wider the blocks, the fewer of them
    assert pretend.launches == [(1, 512, 1), (3, 512, 3), (2, 32, 60)]


def test_a_short_box_is_not_shared(pretend, monkeypatch):
    weight = WorkSharing(long_sum()).weight
    for long, shared in ((weight - 1, True), (weight, False)):
        monkeypatch.setattr(launch, "_LONG_INSTRUCTIONS", long)
        assert ("_function" in vars(check(CudaBackend(), 1)._blocks)) == shared


def test_blocks_and_grids_that_are_asked_for(pretend, short_is_long):
    for block, grid in ((5, None), (32, 1), (40, 2)):
        check(CudaBackend(block=block, grid=grid), 3)
    assert pretend.launches == [(3, 5, 3), (1, 32, 3), (2, 40, 3)]


def test_registers_bound_the_threads(pretend, short_is_long, monkeypatch):
    monkeypatch.setattr(pretend.cuda.driver, "occupancyMaxActiveBlocksPerMultiprocessor", lambda function, block, _: 100 // block)
    check(CudaBackend(), 1)
    assert pretend.launches == [(1, 64, 1)]


def test_scratch_stays_within_its_share(pretend, short_is_long):
    for blocks in (2, 1):
        check(CudaBackend(block=8, memory_limit=2 * 8 * (blocks * DOUBLES)), 3)  # as few copies as scratch
    assert WorkSharing(long_sum()).doubles(8) == DOUBLES
    assert [(grid, boxes) for grid, _, boxes in pretend.launches] == [(2, 2), (1, 1), (1, 1), (1, 1), (1, 1)]


def test_threads_with_buffers_of_their_own_are_as_many_as_memory_holds(pretend, short_is_long):
    b = Builder()
    with b.loop(40) as row:
        mine = b.buffer(40)
        with b.loop(40) as column:
            b.store(mine, column.index, b.mul(b.input(0, row.index), b.input(0, column.index)))
        with b.loop(40) as column:
            step = b.step((0.0,), (b.load(mine, b.usub(39, column.index)),), lambda b, left, right: (b.add(left[0], right[0]),))
        b.output(0, row.index, step.results[0])
    kernel, x, found = b.kernel("squares", 1, 1), np.arange(40.0)[:, None], np.empty((40, 1))
    assert WorkSharing(kernel).doubles(10) == 400
    CudaBackend(memory_limit=2 * 8 * 400).compile(kernel).run([x], [found], np.zeros(1), np.zeros(1, np.int64))
    assert (found == x * x.sum()).all() and pretend.launches == [(1, 8, 1)]


def test_where_memory_holds_no_block_a_thread_does_it(pretend, short_is_long, monkeypatch):
    compiled = check(CudaBackend(memory_limit=2 * 8 * (DOUBLES - 1)), 1)
    assert "_function" not in vars(compiled._blocks) and pretend.launches == [(1, 1, 1)]
    cupy = installed(monkeypatch, memory=8 * (3 * TURNS + 100))  # copies, constants and one thread, but not the tree as well
    compiled = check(CudaBackend(memory_limit=1 << 30), 1)
    assert "_function" in vars(compiled._lanes) and cupy.launches == [(1, 1, 1)]


def test_one_long_box_goes_to_the_gpu_when_that_ends_sooner(pretend):
    """A thread alone would take longer than the CPU: it is the block that makes it pay."""
    n = 200_000
    b = Builder()
    with b.loop(n) as turn:
        x = b.input(0, turn.index)
        for _ in range(30):
            x = b.fma(x, x, 0.5)
        step = b.step((0.0,), (x,), lambda b, left, right: (b.add(left[0], right[0]),))
    b.output(0, 0, step.results[0])
    kernel, backend = b.kernel("very_long", 1, 1), HybridBackend(or_cpu=True)
    arrays, compiled = [np.zeros((n, 1)), np.zeros((1, 1))], backend.compile(kernel)
    assert not compiled._pays(arrays, 1) and 0 < compiled.spent < hybrid._LOAD_SECONDS  # loading it takes longer
    compiled.spent = hybrid._LOAD_SECONDS
    assert compiled._pays(arrays, 1)
    vars(compiled)["shorter"], compiled.spent = 1.0, 0.0
    assert not compiled._pays(arrays, 1) and compiled.spent == 0.0
    many = [np.empty((1, 50_000)) for _ in range(2)]  # a thread each: not a matter of blocks
    assert compiled._pays(many, 1)
