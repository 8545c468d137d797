"""Code for every machine, on any machine: LLVM's back ends are all in llvmlite."""

from dataclasses import dataclass
from functools import cache

import llvmlite.binding as llvm

from infimum.backend import processor as host
from infimum.backend.cpu import CpuBackend
from infimum.backend.simd import ArmSpelling, SimdSpelling
from infimum.kernel.ir import Kernel


@dataclass(frozen=True, slots=True)
class Machine:
    """A processor as LLVM names it, what its lanes are, and how its control word is loaded."""

    triple: str
    processor: str
    features: str
    spelling: SimdSpelling
    wrapper: str

    def module(self, kernel: Kernel) -> str:
        """The LLVM IR of the wrapper, the kernel and every function it calls."""
        backend = CpuBackend(self.spelling.lanes)
        backend.spelling = self.spelling
        return self.wrapper + backend.defining(kernel.functions(), backend.text(kernel))

    def assembly(self, ir: str, level: int = 1) -> str:
        """The machine code of a module as text."""
        return self._compiler(level).emit_assembly(llvm.parse_assembly(ir))

    @cache  # noqa: B019 - there are as many as rows below
    def _compiler(self, level: int) -> llvm.TargetMachine:
        llvm.initialize_all_targets()
        llvm.initialize_all_asmprinters()
        return llvm.Target.from_triple(self.triple).create_target_machine(cpu=self.processor, features=self.features, opt=level,
                                                                          jit=True)


def _x86(processor: str, lanes: int) -> Machine:
    return Machine("x86_64-unknown-linux-gnu", processor, "-prefer-256-bit", SimdSpelling(lanes), host._CONTROL_X86)


def _arm(processor: str) -> Machine:
    return Machine("aarch64-unknown-linux-gnu", processor, "-sve", ArmSpelling(2), host._CONTROL_ARM)


MACHINES = {"AVX-512": _x86("skylake-avx512", 8), "AVX-512 narrow": _x86("skylake-avx512", 2), "AVX2": _x86("haswell", 4),
            "Arm": _arm("generic"), "Arm with SVE": _arm("neoverse-v2")}
