"""Interpreted kernels equal the definition bit for bit, for all widths, threads, batches and words of the caller."""

from itertools import product

import numpy as np
import pytest

from infimum.backend import interpreter
from infimum.backend.code_lint import lint_assembly, lint_ir
from infimum.backend.cpu import CompiledKernel, CpuBackend
from infimum.backend.processor import host
from infimum.interval import elementary
from infimum.kernel.ir import Kernel
from tests.all_threads import all_threads_work  # noqa: F401
from tests.backend.cases import EMPTY, LANE_PRIMITIVES, UNIFORM_PRIMITIVES, elementary_case, primitive_case, uniform_case
from tests.backend.machines import MACHINES
from tests.control_word import USUAL, every_control_word  # noqa: F401
from tests.random_kernels import example, same_bits

WIDTHS = host().widths()


class Interpreting(CpuBackend):
    """Compiles nothing."""

    def compile(self, kernel: Kernel) -> CompiledKernel:
        found = self.interpret(kernel)
        found._better = None
        assert found._code[2] is not None
        return found


@pytest.fixture
def caller_word(every_control_word: int, all_threads_work: None) -> int:  # noqa: F811
    return every_control_word


def check(kernel: Kernel, inputs: np.ndarray, expected: np.ndarray, data: np.ndarray = EMPTY[0]) -> None:
    for lanes in WIDTHS:
        found = np.empty_like(expected)
        Interpreting(lanes).compile(kernel).run([inputs], [found], data, EMPTY[1])
        wrong = np.flatnonzero(~same_bits(found, expected).all(axis=0))
        assert not wrong.size, f"{kernel.name} of {inputs[:, wrong[0]]} = {found[:, wrong[0]]}, not {expected[:, wrong[0]]}"


@pytest.mark.parametrize("op", LANE_PRIMITIVES)
def test_primitive(op: str, caller_word: int):
    check(*primitive_case(op))


@pytest.mark.parametrize("op", UNIFORM_PRIMITIVES)
def test_uniform_primitive(op: str):
    kernel, inputs, data, expected = uniform_case(op)
    check(kernel, inputs, expected, data)


@pytest.mark.parametrize("name", elementary.NAMES)
def test_elementary_function(name: str):
    check(*elementary_case(name))


@pytest.mark.parametrize("seed", range(30))
def test_random_kernel(seed: int, caller_word: int):
    """Calls, nested loops, trees, scans, buffers."""
    for lanes, boxes, threads in product(WIDTHS, (1, 17, 100) if caller_word == USUAL else (17,), (1, 2)):
        differing = example(seed).differing(Interpreting(lanes), boxes, threads)
        assert differing == 0, f"{lanes} lanes, {boxes} boxes, {threads} threads: {differing} results differ"


@pytest.mark.parametrize("machine", MACHINES)
def test_its_code_on_every_machine(machine: str):
    """No operation of it rounds another way or calls anything; its two switches jump by tables."""
    ir = interpreter.text(MACHINES[machine].spelling)
    assert lint_ir(ir) == []
    for level in (0, 1):
        text = MACHINES[machine].assembly(ir, level)
        found = lint_assembly(text)
        assert len(found) == 2 and all(line.startswith("indirect jump") for line in found)
        assert lint_assembly(text, tables=True) == []
