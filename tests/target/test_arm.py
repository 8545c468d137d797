"""Code for 64-bit Arm, written here and read, not run: nothing in it has another opinion about the zeros or NaN."""

import re

import llvmlite.binding as llvm
import pytest

from infimum.target import host
from infimum.target.cpu import CpuTarget, SimdSpelling
from tests.random_kernels import example

MINIMUM = re.compile(r"\bf(?:min|max)(?:nm)?\b")


def assembly(seed: int, arm: bool) -> str:
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    machine = llvm.Target.from_triple("aarch64-unknown-linux-gnu").create_target_machine(opt=2)
    target = CpuTarget(lanes=2)
    target.spelling = SimdSpelling(2, arm)
    return machine.emit_assembly(llvm.parse_assembly(target.text(example(seed).kernel)))


@pytest.mark.parametrize("seed", range(8))
def test_a_choice_is_no_minimum(seed):
    assert not MINIMUM.search(assembly(seed, arm=True))


def test_otherwise_it_would_be():
    assert any(MINIMUM.search(assembly(seed, arm=False)) for seed in range(8))


@pytest.mark.parametrize("triple, text", [("aarch64-unknown-linux-gnu", host._CONTROL_ARM),
                                          ("x86_64-unknown-linux-gnu", host._CONTROL_X86)])
def test_the_wrapper_of_every_kernel_is_code(triple, text):
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    machine = llvm.Target.from_triple(triple).create_target_machine(opt=1)
    code = machine.emit_assembly(llvm.parse_assembly(text + host.ATTRIBUTES))
    word = "msr\tFPCR" if "arch" in triple else "ldmxcsr"
    assert code.count(word) == 2 and "infimum_enter" in code
