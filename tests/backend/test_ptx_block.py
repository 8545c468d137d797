"""A block of threads on one box: the definition's bits, whatever the order of the threads between two barriers.

No GPU and no CuPy are needed. The machine that runs the text raises where threads meet without a barrier between them, or part.
"""

import random
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pytest

from infimum.backend import ptx
from infimum.backend.code_lint import lint_ptx
from infimum.backend.cpu import CpuBackend
from infimum.backend.cuda import ptx_block
from infimum.backend.cuda.work_sharing import WorkSharing
from infimum.backend.python import PythonBackend
from infimum.kernel.ir import RUN, Loop, walk
from tests.backend.block_cases import RandomSharing, long_kernel, nested_kernel
from tests.backend.cases import EMPTY, PROGRAM_CASES, program_case, program_inputs, program_outputs
from tests.ptx_simulator import Memory, Module
from tests.random_kernels import Writer, example, same_bits

Order = Callable[[list[int]], list[int]]


def shuffled(seed: int) -> Order:
    rng = random.Random(seed)
    return lambda threads: rng.sample(threads, len(threads))


ORDERS: tuple[Order, ...] = (lambda threads: threads, lambda threads: threads[::-1], shuffled(1))


def launch(text: str, doubles: int, inputs: Sequence[np.ndarray], outputs: Sequence[np.ndarray], data: np.ndarray,
           udata: np.ndarray, grid: int, block: int, order: Order = ORDERS[0]) -> None:
    """Runs PTX whose blocks have so many doubles of scratch."""
    memory = Memory()
    arrays = [*inputs, *outputs, data, udata]
    addresses = [memory.allocate(a.size) for a in arrays]
    for address, a in zip(addresses, arrays, strict=True):
        memory.write(address, a)
    scratch = memory.allocate(doubles * grid)
    count = arrays[0].shape[1]
    Module(text).launch(grid, block, [*addresses, scratch, count, count], memory, order=order)
    for address, a in zip(addresses[len(inputs):], outputs, strict=False):
        memory.read(address, a)


def check(sharing: WorkSharing, inputs: list[np.ndarray], expected: list[np.ndarray], data: np.ndarray, udata: np.ndarray,
          shapes: Sequence[tuple[int, int]] = ((1, 3), (2, 8), (1, 1))) -> None:
    """Reads the PTX for faults and runs it. Shapes are (blocks, threads)."""
    text = ptx.assemble(ptx_block.ir(sharing))
    assert lint_ptx(text, barriers=True) == []
    for (grid, block), order in zip(shapes, ORDERS, strict=False):
        found = [np.full_like(a, 12345.0) for a in expected]
        launch(text, sharing.doubles(block), inputs, found, data, udata, grid, block, order)
        for slot, (a, b) in enumerate(zip(found, expected, strict=True)):
            wrong = np.argwhere(~same_bits(a, b))
            assert not wrong.size, f"{(grid, block)}: output {slot}, {len(wrong)} differ, first (row, box) {wrong[0]}"


@pytest.mark.parametrize("seed", range(40))
def test_random_kernel(seed: int):
    """Calls, nested loops, trees, scans, buffers; what is distributed is left to chance."""
    case = example(seed)
    columns, expected = case.columns[:, :3].copy(), case.expected[:, :3].copy()
    for sharing in (WorkSharing(case.kernel), RandomSharing(case.kernel, seed)):
        check(sharing, [columns], [expected], case.data, case.udata)


def test_random_kernels_deal_all_kinds_of_loops():
    """What the test above sees: loops with steps and without, inside of others, scans, and those that cannot be distributed."""
    seen = set()
    for seed in range(40):
        d = RandomSharing(example(seed).kernel, seed)
        for loop, first in d.distributed.items():
            seen |= {"steps" if loop.steps() else "turns", "scan" if first else "plain"}
            seen |= {"inner" if loop.index.depth > 2 else "outer"}
        seen |= {"a scan of a scan" for loop in walk(d.kernel.body) if isinstance(loop, Loop) and loop.limit > RUN
                 and d._deal(loop)[0] == float("inf")}
    assert seen == {"steps", "turns", "scan", "plain", "inner", "outer", "a scan of a scan"}


# ---- every length
@pytest.mark.parametrize("count", (0, 1, 15, 16, 17, 31, 32, 33, 255, 256, 257, 1000))
def test_every_length(count: int):
    rng, udata = np.random.default_rng(count), np.array([count])
    inputs, data = rng.normal(size=(4, 2)), rng.normal(size=1100)
    for limit in (max(count, 1), count + 40)[:2 if count < 300 else 1]:
        kernel, expected = long_kernel(limit), np.full((limit + 4, 2), 12345.0)
        PythonBackend().compile(kernel).run([inputs], [expected], data, udata)
        for sharing in (WorkSharing(kernel), RandomSharing(kernel, count)):
            check(sharing, [inputs], [expected], data, udata, [(2, 5), (1, 33 if count < 300 else 8), (1, 2)])


def test_long_loops_are_dealt_and_short_ones_are_not():
    loops = [item for item in long_kernel(1000).body if isinstance(item, Loop)]
    assert [loop in WorkSharing(long_kernel(1000)).distributed for loop in loops] == [False] * 4  # of another kernel
    assert len(WorkSharing(long_kernel(1000)).distributed) == 4
    assert len(WorkSharing(long_kernel(1)).distributed) == 0


@pytest.mark.parametrize(("rows", "columns", "private"), [(300, 20, 1), (3, 700, 0), (40, 40, 1)])
def test_loops_inside_of_loops(rows: int, columns: int, private: int):
    """Many short rows go to different threads, which need a buffer each; few long ones are shared out one after the other."""
    kernel, rng = nested_kernel(rows, columns), np.random.default_rng(rows)
    inputs, data, expected = rng.normal(size=(4, 2)), rng.normal(size=1000), np.full((rows, 2), 12345.0)
    PythonBackend().compile(kernel).run([inputs], [expected], data, EMPTY[1])
    sharing = WorkSharing(kernel)
    assert len(sharing.private) == private and sharing.doubles(7) == rows + columns * (7 if private else 1) + sharing.tree
    check(sharing, [inputs], [expected], data, EMPTY[1], [(1, 5), (2, 8), (1, 1)])
    for seed in range(2):
        check(RandomSharing(kernel, seed), [inputs], [expected], data, EMPTY[1], [(2, 3)])


# ---- every program
@pytest.mark.parametrize(("function", "n", "kind"), PROGRAM_CASES)
def test_program(function: str, n: int, kind: str):
    """Every kernel of an Evaluator, on two boxes, against the CPU."""
    kernel, doubles, positions = program_case(function, n, kind)
    inputs, expected = program_inputs(kernel, 2, n), program_outputs(kernel, 2)
    CpuBackend().compile(kernel).run(inputs, expected, doubles, positions)
    check(RandomSharing(kernel, n), inputs, expected, doubles, positions, [(1, 3)])


@pytest.mark.parametrize("seed", range(1000, 1040))
def test_more_random_kernels_are_clean(seed: int):
    kernel = Writer(seed).kernel()[0]
    for sharing in (WorkSharing(kernel), RandomSharing(kernel, seed)):
        assert lint_ptx(ptx.assemble(ptx_block.ir(sharing)), barriers=True) == []


# ---- teeth
def spoilt(instead: str) -> Iterator[Callable[[int], None]]:
    """For each barrier the launch, on so many boxes, of a text in which something else stands in its place."""
    kernel, rng = long_kernel(100), np.random.default_rng(0)  # 7 runs: all levels are on the stack
    sharing = RandomSharing(kernel, 0, often=1.0)
    parts = ptx.assemble(ptx_block.ir(sharing)).split("bar.sync \t0;")
    for n in range(1, len(parts)):
        text = "bar.sync \t0;".join(parts[:n]) + instead + "bar.sync \t0;".join(parts[n:])

        def run(boxes: int, text: str = text) -> None:
            launch(text, sharing.doubles(4), [rng.normal(size=(4, boxes))], [np.zeros((104, boxes))], rng.normal(size=1100),
                   np.array([100]), 1, 4)
        yield run


def test_every_barrier_is_needed():
    """Whichever is left out, threads meet, if there is a second box."""
    runs = list(spoilt(""))
    assert len(runs) > 8
    for run in runs:
        with pytest.raises(AssertionError, match="meet at"):
            run(2)


def test_threads_that_part_are_caught():
    for run in spoilt("mov.u32 %r1, %tid.x;\n setp.eq.s32 %p1, %r1, 0;\n @%p1 ret;\n bar.sync 0;"):
        with pytest.raises(AssertionError, match="part"):
            run(1)


@pytest.mark.parametrize("change", ["bar.sync 1;", "@%p1 bar.sync 0;", "barrier.sync 0;", "bar.red.popc.u32 %r1, 0, %p1;"])
def test_other_ways_to_wait_are_caught(change: str):
    text = ptx_block.text(long_kernel(60))
    assert lint_ptx(text, barriers=True) == [] and lint_ptx(text)
    at = text.index("bar.sync")
    assert lint_ptx(text[:at] + change + "\n" + text[at:], barriers=True)
