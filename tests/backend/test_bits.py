"""The CPU equals the definition (the python backend) bit for bit, for all widths, threads, batches, words of the caller."""

from itertools import product

import numpy as np
import pytest

from infimum.backend.cpu import CpuBackend
from infimum.backend.processor import host
from infimum.errors import InternalError
from infimum.interval import elementary
from infimum.kernel.ir import Builder, Kernel
from tests.all_threads import all_threads_work  # noqa: F401
from tests.backend.cases import (
    EMPTY,
    LANE_PRIMITIVES,
    ROUNDED,
    UNIFORM_PRIMITIVES,
    constant_case,
    elementary_case,
    primitive_case,
    uniform_case,
)
from tests.control_word import USUAL, every_control_word  # noqa: F401
from tests.random_kernels import example, same_bits

WIDTHS = host().widths()
BATCHES = (1, 2, 3, 7, 8, 9, 15, 17, 100, 1001)
FEW_BATCHES = (3, 17, 100)


@pytest.fixture(autouse=True)
def caller_word(every_control_word: int, all_threads_work: None) -> int:  # noqa: F811
    """Every test below runs under every control word of the caller, and threads are threads even in small batches."""
    return every_control_word


@pytest.mark.parametrize("op", LANE_PRIMITIVES)
def test_primitive(op: str):
    kernel, operands, expected = primitive_case(op)
    for lanes, plain in product(WIDTHS, (False, True)):
        found = np.empty_like(expected)
        CpuBackend(lanes, plain=plain).compile(kernel).run([operands], [found], *EMPTY)
        wrong = np.flatnonzero(~same_bits(found, expected).all(axis=0))
        assert not wrong.size, f"{op}{tuple(operands[:, wrong[0]])} = {found[:, wrong[0]]}, not {expected[:, wrong[0]]}"


@pytest.mark.parametrize("op", ROUNDED)
def test_constant_operands_fold_upward(op: str):
    """Where the compiler computes at compile time, it rounds upward too."""
    kernel, inputs, expected = constant_case(op)
    for plain in (False, True):
        found = np.empty_like(expected)
        CpuBackend(plain=plain).compile(kernel).run([inputs], [found], *EMPTY)
        assert same_bits(found, expected).all()


@pytest.mark.parametrize("op", UNIFORM_PRIMITIVES)
def test_uniform_primitive(op: str):
    kernel, inputs, data, expected = uniform_case(op)
    found = np.empty_like(expected)
    CpuBackend().compile(kernel).run([inputs], [found], data, EMPTY[1])
    assert same_bits(found, expected).all()


@pytest.mark.parametrize("group", range(12))
def test_random_kernels(group: int, caller_word: int):
    """Calls, nested loops, trees, scans, buffers: the same bits for every width, every batch, one and two threads; under other
    control words than the usual one, two of each group of five."""
    usual = caller_word == USUAL
    for seed in range(5 * group, 5 * group + (5 if usual else 2)):
        check_random_kernel(seed, BATCHES if usual else FEW_BATCHES)


def check_random_kernel(seed: int, batches: tuple[int, ...]) -> None:
    for lanes, boxes, threads in product(WIDTHS, batches, (1, 2)):
        differing = example(seed).differing(CpuBackend(lanes, plain=threads == 2), boxes, threads)
        assert differing == 0, f"kernel {seed}, {lanes} lanes, {boxes} boxes, {threads} threads: {differing} results differ"


@pytest.mark.parametrize("name", elementary.NAMES)
def test_elementary_function(name: str):
    kernel, inputs, expected = elementary_case(name)
    for lanes, plain in product(WIDTHS, (False, True)):
        found = np.empty_like(expected)
        CpuBackend(lanes, plain=plain).compile(kernel).run([inputs], [found], *EMPTY)
        wrong = np.flatnonzero(~same_bits(found, expected).all(axis=0))
        assert not wrong.size, f"{name} of {inputs[:, wrong[0]]} = {found[:, wrong[0]]}, not {expected[:, wrong[0]]}"


def test_kernels_alike_but_for_their_buffers_are_not_taken_for_each_other():
    """Their code may be the same, the memory it needs is not."""
    def kernel(size: int) -> Kernel:
        b = Builder()
        buffer, count = b.buffer(size), b.udata(0)
        with b.loop(count, size) as turn:
            b.store(buffer, turn.index, b.input(0, 0))
        with b.loop(count, size) as turn:
            step = b.step((0.0,), (b.load(buffer, turn.index),), lambda b, left, right: (b.add(left[0], right[0]),))
        b.output(0, 0, step.results[0])
        return b.kernel("alike", 1, 1)
    small, large = (CpuBackend(WIDTHS[0]).compile(kernel(size)) for size in (1, 16))
    assert small.ir == large.ir and (small._code[1], large._code[1]) == (WIDTHS[0], 16 * WIDTHS[0])


def there_and_back() -> Kernel:
    """x -> (x + y) / 3, y -> x: it matters from where each time begins."""
    b = Builder()
    x, y = b.input(0, 0), b.input(0, 1)
    b.output(0, 0, b.div(b.add(x, y), 3.0))
    b.output(0, 1, x)
    return b.kernel("there_and_back", 1, 1)


@pytest.mark.parametrize("times", (0, 1, 2, 3, 8, 101))
@pytest.mark.parametrize("boxes", (1, 5, 64, 1500))
def test_to_and_fro(times: int, boxes: int, monkeypatch):
    """As often as one run after another, whether a thread goes on alone, for a while, or meets others each time."""
    kernel, rng = there_and_back(), np.random.default_rng(boxes)
    start = rng.normal(size=(2, boxes))
    wanted, other = start.copy(), np.zeros_like(start)
    once = CpuBackend().compile(kernel)
    for _ in range(times):
        once.run([wanted], [other], *EMPTY)
        wanted, other = other, wanted
    for lanes, threads, seconds in product(WIDTHS, (1, 2), (0.0, 1e-7, 1e9)):
        monkeypatch.setattr("infimum.backend.cpu._TURNS_SECONDS", seconds)
        arrays = [start.copy(), np.zeros_like(start)]
        CpuBackend(lanes).compile(kernel).run(arrays[:1], arrays[1:], *EMPTY, threads=threads, times=times)
        assert same_bits(arrays[times % 2], wanted).all()


def test_a_single_lane_is_refused():
    """LLVM's scalar instructions may round otherwise than those of vectors."""
    with pytest.raises(InternalError, match="2 lanes at least"):
        CpuBackend(lanes=1)
