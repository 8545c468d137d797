"""Rounds: turns one after the other that hand on what they know, with the same bits everywhere, whichever lanes end early."""

import numpy as np
import pytest

from infimum.backend import ptx
from infimum.backend.code_lint import lint_ptx
from infimum.backend.cpu import CpuBackend
from infimum.backend.cuda.work_sharing import WorkSharing
from infimum.backend.processor import host
from infimum.backend.python import PythonBackend
from infimum.kernel.ir import Builder, Kernel
from infimum.kernel.routines import LONG_CODE
from tests.backend.block_cases import RandomSharing, rounds_kernel
from tests.backend.cases import EMPTY
from tests.backend.test_interpreter import Interpreting
from tests.backend.test_ptx import run
from tests.backend.test_ptx_block import check
from tests.random_kernels import same_bits

SIZES = [(40, 3), (3, 7), (20, 33)]


def case(limit: int, size: int, boxes: int) -> tuple[Kernel, np.ndarray, np.ndarray, np.ndarray]:
    kernel, inputs = rounds_kernel(limit, size), np.random.default_rng(size).normal(size=(4, boxes)) * 3
    inputs[:, ::4] *= 0.01  # some lanes have nothing to do
    data, expected = np.arange(size + 1, dtype=float), np.full((size + 1, boxes), 12345.0)
    PythonBackend().compile(kernel).run([inputs], [expected], data, EMPTY[1])
    return kernel, inputs, data, expected


@pytest.mark.parametrize(("limit", "size"), SIZES)
def test_every_width(limit: int, size: int):
    kernel, inputs, data, expected = case(limit, size, 19)
    wanted = set(expected[size].tolist())
    assert len(wanted) > 1 and max(wanted) <= limit and (limit > 3 or max(wanted) == limit)
    for lanes in host().widths():
        found = np.full_like(expected, 12345.0)
        CpuBackend(lanes).compile(kernel).run([inputs], [found], data, EMPTY[1])
        assert same_bits(found, expected).all()


@pytest.mark.parametrize(("limit", "size"), SIZES)
def test_on_gpu_threads(limit: int, size: int):
    kernel, inputs, data, expected = case(limit, size, 3)
    assert lint_ptx(ptx.ptx(kernel)) == []
    found = np.full_like(expected, 12345.0)
    run(kernel, [inputs], [found], data, EMPTY[1], (1, 2))
    assert same_bits(found, expected).all()


@pytest.mark.parametrize(("limit", "size"), SIZES)
def test_in_blocks(limit: int, size: int):
    """The machine raises where threads meet without a barrier, also those of one round and of the next."""
    kernel, inputs, data, expected = case(limit, size, 2)
    for sharing in (WorkSharing(kernel), RandomSharing(kernel, size), RandomSharing(kernel, size, often=1.0)):
        assert all(loop.more is None for loop in sharing.distributed)
        check(sharing, [inputs], [expected], data, EMPTY[1], [(1, 3), (2, 8)])


def test_state_is_read_where_it_is_written_and_stores_of_a_round_are_kept():
    b = Builder()
    state = b.state(1)
    b.store(state, 0, 1.0)
    first = b.load(state, 0)
    b.store(state, 0, b.add(first, b.input(0, 0)))
    b.output(0, 0, first)
    with b.rounds(5) as turn:
        b.store(state, 0, b.mul(b.load(state, 0), 2.0))  # read by the next round alone, and after the last
        turn.more = b.olt(b.load(state, 0), 20.0)
    b.output(0, 1, b.load(state, 0))
    kernel, x = b.kernel("state", 1, 1), np.array([[2.0, 0.0, 7.0, 100.0]])
    for backend in (PythonBackend(), *(CpuBackend(lanes) for lanes in host().widths()[:1])):
        found = np.empty((2, 1))
        for k, last in enumerate((24.0, 32.0, 32.0, 202.0)):
            backend.compile(kernel).run([x[:, k:k + 1].copy()], [found], *EMPTY)
            assert found[:, 0].tolist() == [1.0, last]


def masked_rounds(always: bool, before: int) -> Kernel:
    """Rounds of which `more` is computed before the loop and read by nothing else, behind a straight line of instructions."""
    b = Builder()
    state, x = b.state(1), b.input(0, 0)
    for k in range(before):
        x = (b.add if k % 2 else b.sub)(x, b.data(k % 2))
    wanted = b.olt(-1.0, 0.0) if always else b.oeq(b.mul(x, 0.0), 0.0)
    b.store(state, 0, x)
    with b.rounds(5) as turn:
        old = b.load(state, 0)
        b.store(state, 0, b.add(b.mul(old, 0.5), b.mul(old, 0.0)))  # a zero, which is false as a mask, in the first free place
        turn.more = wanted
    b.output(0, 0, b.load(state, 0))
    return b.kernel("masked_rounds", 1, 1)


@pytest.mark.parametrize("before", (0, LONG_CODE))
@pytest.mark.parametrize("always", (True, False))
def test_a_mask_that_only_ends_rounds_is_kept(always: bool, before: int):
    kernel, data = masked_rounds(always, before), np.array([1.0, 1.0])
    inputs = np.linspace(-3.0, 4.0, 17)[None]
    expected = np.empty_like(inputs)
    PythonBackend().compile(kernel).run([inputs], [expected], data, EMPTY[1])
    assert (expected == inputs / 32).all()  # all five rounds
    for lanes in host().widths():
        for backend in (CpuBackend(lanes), Interpreting(lanes)):
            found = np.full_like(expected, 12345.0)
            backend.compile(kernel).run([inputs], [found], data, EMPTY[1])
            assert same_bits(found, expected).all()
