"""Interpreted kernels whose loops are compiled equal the definition bit for bit, and give way to compiled ones."""

from itertools import product

import numpy as np
import pytest

from infimum.backend.bytecode import encode
from infimum.backend.code_lint import lint_assembly, lint_ir
from infimum.backend.cpu import CompiledKernel, CpuBackend, _weight
from infimum.backend.hot_loops import definitions, hot_loops
from infimum.backend.processor import host
from infimum.kernel.ir import Builder, Kernel
from tests.backend.block_cases import rounds_kernel
from tests.backend.cases import EMPTY
from tests.backend.machines import MACHINES
from tests.random_kernels import example, same_bits

WIDTHS = host().widths()


class WithNativeLoops(CpuBackend):
    """Interprets all but the outermost loops."""

    def compile(self, kernel: Kernel) -> CompiledKernel:
        program = encode(kernel, self.lanes)
        found = CpuBackend(self.lanes, plain=True)._with_native(kernel, program, program.loops)
        found._better = None
        assert found._code[2] is not None and len(found._code[2].words) == len(program.words)
        return found


@pytest.mark.parametrize("seed", [0, 1, 3])
def test_random_kernel(seed: int):
    """Calls, nested loops, trees, scans, buffers."""
    for lanes, threads in product(WIDTHS, (1, 2)):
        assert example(seed).differing(WithNativeLoops(lanes), 17, threads) == 0, f"{lanes} lanes, {threads} threads"


@pytest.mark.parametrize(("limit", "size"), [(40, 3), (20, 33)])
def test_rounds(limit: int, size: int):
    kernel, inputs = rounds_kernel(limit, size), np.random.default_rng(size).normal(size=(4, 19)) * 3
    data, expected = np.arange(size + 1, dtype=float), np.full((size + 1, 19), 12345.0)
    CpuBackend(WIDTHS[-1]).compile(kernel).run([inputs], [expected], data, EMPTY[1])
    found = np.full_like(expected, 12345.0)
    WithNativeLoops(WIDTHS[-1]).compile(kernel).run([inputs], [found], data, EMPTY[1])
    assert same_bits(found, expected).all()


def long_loop(turns: int, straight: int) -> Kernel:
    """A sum over many turns behind straight code."""
    b = Builder()
    x = b.input(0, 0)
    for _ in range(straight):
        x = b.sqrt(b.add(x, 1.0))
    with b.loop(turns) as turn:
        total = b.step((0.0,), (b.mul(x, b.data(turn.index)),), lambda b, left, right: (b.add(left[0], right[0]),))
    b.output(0, 0, b.add(total.results[0], x))
    return b.kernel("long_loop", 1, 1)


def test_a_loop_that_runs_for_long_is_compiled_and_later_all():
    """By counts: the same bits in each of the three ways."""
    turns = 20000
    kernel, x, data = long_loop(turns, 400), np.linspace(0.0, 9.0, 40)[None], np.linspace(-1.0, 1.0, turns)
    expected, found = np.empty((1, 40)), np.empty((1, 40))
    CpuBackend().compile(kernel).run([x], [expected], data, EMPTY[1])
    interpreted = CpuBackend().interpret(kernel)
    ways = set()
    for _ in range(1500):
        interpreted.run([x], [found], data, EMPTY[1])
        program = interpreted._code[2]
        ways.add("compiled" if program is None else f"{len(program.loops)} interpreted loops")
        assert same_bits(found, expected).all()
    assert ways == {"1 interpreted loops", "0 interpreted loops", "compiled"}


@pytest.mark.parametrize(("turns", "straight", "hot"), [(20000, 400, True), (600, 400, False), (20000, 1, False)])
def test_loops_are_hot_that_are_few_words_and_most_of_the_cost(turns: int, straight: int, hot: bool):
    kernel = long_loop(turns, straight)
    program = encode(kernel, WIDTHS[0])
    assert hot_loops(program, kernel.body, _weight) == (program.loops if hot else [])


@pytest.mark.parametrize("machine", MACHINES)
def test_code_on_every_machine(machine: str):
    """No operation rounds another way, and nothing but our functions is called."""
    spelling = MACHINES[machine].spelling
    kernel = long_loop(50, 9)
    program = encode(kernel, spelling.lanes)
    backend = CpuBackend(spelling.lanes)
    backend.spelling = spelling
    ir = backend._frame([], *definitions(spelling, kernel, program, program.loops))
    assert lint_ir(ir) == [] and lint_assembly(MACHINES[machine].assembly(ir)) == []
