"""A block of threads on one box: the definition's bits, whatever the order of the threads between two barriers.

No GPU and no CuPy are needed. The machine that runs the text raises where two threads meet without a barrier between them, or part.
"""

import random
from collections.abc import Callable, Sequence

import numpy as np
import pytest

from infimum.expr.node import var
from infimum.expr.trace import trace
from infimum.lower import programs
from infimum.lower.kernel import Builder, Kernel, Loop, walk
from infimum.target import ptx, ptx_block
from infimum.target.cpu import CpuTarget
from infimum.target.dealing import Dealing
from infimum.target.lint import lint_ptx
from infimum.target.python import PythonTarget
from tests.ptx_machine import Memory, Module
from tests.random_kernels import DATA, Writer, example, same_bits
from tests.target.cases import EMPTY, PROGRAM_CASES, program_case, program_inputs, program_outputs

Order = Callable[[list[int]], list[int]]


def shuffled(seed: int) -> Order:
    rng = random.Random(seed)
    return lambda threads: rng.sample(threads, len(threads))


ORDERS: tuple[Order, ...] = (lambda threads: threads, lambda threads: threads[::-1], shuffled(1))


class RandomDealing(Dealing):
    """Deals whatever can be dealt, or goes inside, by chance."""

    def __init__(self, kernel: Kernel, seed: int):
        self.rng = random.Random(seed)
        super().__init__(kernel)

    def _choose(self, items: list) -> tuple[float, dict]:
        dealt: dict = {}
        for item in items:
            if isinstance(item, Loop):
                way, first = self._deal(item)
                can = way < float("inf")
                dealt |= {item: first} if can and self.rng.random() < 0.7 else self._choose(item.body)[1]
        return 0.0, dealt


def run(dealing: Dealing, inputs: Sequence[np.ndarray], outputs: Sequence[np.ndarray], data: np.ndarray, udata: np.ndarray,
        grid: int, block: int, order: Order) -> None:
    """Reads the PTX for faults, and runs it."""
    text = ptx.assemble(ptx_block.ir(dealing))
    assert lint_ptx(text, barriers=True) == []
    memory = Memory()
    arrays = [*inputs, *outputs, data, udata]
    addresses = [memory.allocate(a.size) for a in arrays]
    for address, a in zip(addresses, arrays, strict=True):
        memory.write(address, a)
    scratch = memory.allocate(dealing.doubles(block) * grid)
    count = arrays[0].shape[1]
    Module(text).launch(grid, block, [*addresses, scratch, count, count], memory, order=order)
    for address, a in zip(addresses[len(inputs):], outputs, strict=False):
        memory.read(address, a)


def check(dealing: Dealing, inputs: list[np.ndarray], expected: list[np.ndarray], data: np.ndarray, udata: np.ndarray,
          shapes: Sequence[tuple[int, int]] = ((1, 3), (2, 8), (1, 1))) -> None:
    """Shapes are (blocks, threads)."""
    for (grid, block), order in zip(shapes, ORDERS, strict=False):
        found = [np.full_like(a, 12345.0) for a in expected]
        run(dealing, inputs, found, data, udata, grid, block, order)
        for slot, (a, b) in enumerate(zip(found, expected, strict=True)):
            wrong = np.argwhere(~same_bits(a, b))
            assert not wrong.size, f"{(grid, block)}: output {slot}, {len(wrong)} differ, first (row, box) {wrong[0]}"


@pytest.mark.parametrize("seed", range(40))
def test_random_kernel(seed: int):
    """Calls, nested loops, trees, scans, buffers; what is dealt is left to chance."""
    case = example(seed)
    columns, expected = case.columns[:, :3].copy(), case.expected[:, :3].copy()
    for dealing in (Dealing(case.kernel), RandomDealing(case.kernel, seed)):
        check(dealing, [columns], [expected], case.data, case.udata)


def test_random_kernels_deal_all_kinds_of_loops():
    """What the test above sees: loops with steps and without, inside of others, scans, buffers of a thread."""
    seen = set()
    for seed in range(40):
        d = RandomDealing(example(seed).kernel, seed)
        for loop, first in d.dealt.items():
            seen |= {"steps" if loop.steps() else "turns", "scan" if first else "plain", "inside" if loop.index.depth > 2 else "top"}
        seen |= {"private"} if d.private else set()
        scans = [loop for loop in walk(d.kernel.body) if isinstance(loop, Loop) and any(s.prefix for s in loop.steps())]
        seen |= {"scan of a scan"} if any(d._deal(loop)[0] == float("inf") and loop.limit > 16 for loop in scans) else set()
    assert seen == {"steps", "turns", "scan", "plain", "inside", "top", "private", "scan of a scan"}
