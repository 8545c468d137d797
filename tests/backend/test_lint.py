"""No emitted code rounds another way, rearranges, or calls what is not ours; and the reader that says so has teeth."""

import re
from dataclasses import replace

import llvmlite.binding as llvm
import pytest

from infimum.backend import host_loops, interpreter
from infimum.backend.code_lint import lint_assembly, lint_ir
from infimum.backend.cpu import CpuBackend
from infimum.backend.processor import KernelWrapper, host
from infimum.interval import elementary
from infimum.kernel.ir import Builder, Kernel
from infimum.linear_algebra import sparse_elimination
from tests.backend.cases import LANE_PRIMITIVES, elementary_kernel, primitive_kernel, small_kernel
from tests.backend.machines import MACHINES
from tests.random_kernels import Writer


def check(kernel: Kernel, machine: str) -> None:
    """Reads the kernel, every function it calls, and the wrapper around it."""
    ir = MACHINES[machine].module(kernel)
    assert lint_ir(ir) == []
    assert lint_assembly(MACHINES[machine].assembly(ir)) == []


@pytest.mark.parametrize("plain", (False, True))
def test_code_that_runs_here(plain: bool):
    """What the processor is given, the wrapper of the control word too."""
    compiled = CpuBackend(plain=plain).compile(small_kernel())
    assert "@infimum_enter" in KernelWrapper.module.ir
    loops = host_loops._module(), host_loops._module(plain=True), sparse_elimination._module()
    for module in {compiled._module, *compiled._needs, KernelWrapper.module, *loops}:
        assert lint_ir(module.ir) == []
        assert lint_assembly(module.assembly(), tables=module in interpreter._modules.values()) == []


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("module", [host_loops, sparse_elimination])
def test_loops_on_every_machine(machine, module):
    """All but the wrapper, which is this machine's own."""
    wrapper = r"declare [^\n]*@llvm\.(?:x86|aarch64)[^\n]*\n|define void @infimum_enter.*?\n}\n"
    text = re.sub(wrapper, "", module._module().ir, flags=re.S)
    for level in (0, 1):
        assert lint_assembly(MACHINES[machine].assembly(text, level)) == []


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("seed", range(1000, 1030))
def test_random_kernels(seed: int, machine: str):
    check(Writer(seed).kernel()[0], machine)


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("name", elementary.NAMES)
def test_elementary_functions(name: str, machine: str):
    """The enclosure and the estimate, with all the functions they keep out of line."""
    check(elementary_kernel(name), machine)


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("op", LANE_PRIMITIVES)
def test_primitives(op: str, machine: str):
    check(primitive_kernel(op), machine)


@pytest.mark.parametrize("machine", MACHINES)
def test_long_programs_are_compiled_in_the_plain_way(machine: str):
    ir = MACHINES[machine].module(Writer(1000).kernel()[0])
    assert lint_assembly(MACHINES[machine].assembly(ir, level=0)) == []


@pytest.mark.parametrize("machine", MACHINES)
def test_the_wrapper_loads_a_word_and_restores_the_callers(machine: str):
    code = MACHINES[machine].assembly(MACHINES[machine].module(small_kernel()))
    assert code.count("msr\tFPCR" if "Arm" in machine else "ldmxcsr") == 2 and "infimum_enter" in code


# ---- teeth
SEEDED_IR = {
    'metadata !"round.upward"': 'metadata !"round.tonearest"',
    'metadata !"fpexcept.ignore"': 'metadata !"fpexcept.strict"',
    "= call <{n} x double> @llvm.experimental.constrained.fma": "= call nsz <{n} x double> @llvm.experimental.constrained.fma",
    "@llvm.experimental.constrained.fma.": "@llvm.experimental.constrained.fmuladd.",
    "@llvm.experimental.constrained.sqrt.": "@llvm.sqrt.",
    "@infimum_small_part_{n}(": "@floor(",
    " strictfp": "",
}
SEEDED_LINES = """
  %q = fadd double %a, %b
  %q = fsub contract double %a, %b
  %q = fmul fast double %a, %b
  %q = fmul arcp double %a, %b
  %q = fdiv <4 x double> %a, %b
  %q = frem double %a, %b
  %q = fneg nnan double %a
  %q = fcmp ninf olt double %a, %b
  %q = select afn i1 %m, double %a, double %b
  %q = phi reassoc double [ %a, %x ]
  %q = sitofp i64 %a to double
  %q = uitofp i64 %a to double
  %q = fptosi double %a to i64
  %q = fptrunc double %a to float
  %q = call double @llvm.fma.f64(double %a, double %b, double %c)
  %q = call double @llvm.fmuladd.f64(double %a, double %b, double %c)
  %q = call double @llvm.minnum.f64(double %a, double %b)
  %q = tail call double @llvm.exp.v4f64(double %a)
  %q = call double @sin(double %a)
  %q = invoke double @cos(double %a)
  call void %pointer(ptr %a)
  call void asm sideeffect "fldcw", ""()
declare double @exp(double)
define void @work() #7 {
attributes #3 = { strictfp "unsafe-fp-math"="true" }
attributes #3 = { strictfp "denormal-fp-math"="preserve-sign" }
""".strip("\n").split("\n")
HARMLESS_LINES = """
  %fast = fneg double %nsz
  %q = fcmp olt double %a, %b ; contract
  br label %afn
  call void @infimum_fast_4(ptr %x)
  %q = call <4 x double> @llvm.roundeven.v4f64(<4 x double> %a)
  %q = bitcast <4 x double> %a to <4 x i64>
""".strip("\n").split("\n")
SEEDED_ASSEMBLY = """
callq sin
callq sin@PLT
callq *exp@GOTPCREL(%rip)
callq *8(%rax)
jmp floor
jmpq *%rax
jne cos
movabsq $fma, %rax
leaq log(%rip), %rax
vaddpd {rn-sae}, %zmm0, %zmm1, %zmm2
vaddss %xmm0, %xmm1, %xmm2
vrcp14pd %zmm0, %zmm1
vcvtpd2ps %zmm0, %ymm0
vcvtsi2sd %rax, %xmm0, %xmm0
vcvttpd2qq %zmm0, %zmm0
fldl (%rax)
faddp
bl sin
b exp
b.lt tan
cbz x1, sin
br x8
adrp x8, pow
ldr x8, [x8, :got_lo12:pow]
frecpe v0.2d, v1.2d
scvtf d0, x1
fmaxnm v0.2d, v1.2d, v2.2d
fminnm d0, d1, d2
fmax v0.2d, v1.2d, v2.2d
fmin d0, d1, d2
fmaxnmp d0, v1.2d
fminnmv s0, v1.4s
fcvtzs x0, d0
fnmadd d0, d1, d2, d3
fmulx d0, d1, d2
add x8, x8, :lo12:pow
movz x8, #:abs_g3:pow
ldr x8, pow
tbz w8, #0, sin
msr FPSR, x8
fadd z0.d, p0/m, z0.d, z1.d
.quad exp
.xword exp
vrangepd $5, %zmm0, %zmm1, %zmm2
vminmaxpd $0, %zmm0, %zmm1, %zmm2
vfixupimmpd $0, %zmm0, %zmm1, %zmm2
vscalefpd %zmm0, %zmm1, %zmm2
vdppd $0, %xmm0, %xmm1, %xmm2
vaddsubpd %ymm0, %ymm1, %ymm2
vaddph %zmm0, %zmm1, %zmm2
""".split("\n")[1:-1]
HARMLESS_ASSEMBLY = """
callq work
callq *%r14
callq *-40(%rsp)
movabsq $infimum_exp_8, %r14
jmp .LBB0_1
lock xaddq %rdi, (%rax)
vbroadcastsd .LCPI0_0(%rip), %zmm0
vaddpd (%r15,%r12,8){1to8}, %zmm0, %zmm0 {%k1} {z}
vaddpd {ru-sae}, %zmm0, %zmm1, %zmm2
vmovaps 32(%rsp), %xmm0
vcmpltpd %zmm1, %zmm2, %k1
retq
bl infimum_exp_2
blr x8
b.lt .LBB0_1
cbz x1, .LBB0_1
fadd v0.2d, v0.2d, v1.2d
adrp x8, infimum_exp_2
ldr q0, [x8, :lo12:.LCPI0_0]
mov x0, x1
mov v0.16b, v1.16b
stp d15, d14, [sp, #-80]!
csel x9, x9, x10, lt
add x14, x14, x4, lsl #1
ld1r { v2.2d }, [x8]
fmov v4.2d, #0.50000000
fcmlt v2.2d, v4.2d, #0.0
bsl v3.16b, v5.16b, v4.16b
bics xzr, x10, x10, asr #63
sxtw x8, w9
mov v0.d[1], v1.d[0]
msr FPCR, x8
vminpd %zmm0, %zmm1, %zmm2
.quad 0x3ff0000000000000
.quad .LBB0_1-.LCPI0_0
""".split("\n")[1:-1]


@pytest.mark.parametrize("good", SEEDED_IR)
def test_ir_with_one_change_is_caught(good: str):
    lanes = host().lanes
    ir = CpuBackend().text(small_kernel())
    assert lint_ir(ir) == []
    good, bad = (text.replace("{n}", str(lanes)) for text in (good, SEEDED_IR[good]))
    assert good in ir
    assert lint_ir(ir.replace(good, bad))


@pytest.mark.parametrize("line", SEEDED_LINES)
def test_line_of_ir_is_caught(line: str):
    assert lint_ir(line)


@pytest.mark.parametrize("line", HARMLESS_LINES)
def test_harmless_ir_is_not_caught(line: str):
    assert lint_ir(line) == []


def module_with(line: str) -> str:
    return ".LBB0_1:\n.LCPI0_0:\nwork:\n\t" + line.replace(" ", "\t", 1)


@pytest.mark.parametrize("line", SEEDED_ASSEMBLY)
def test_line_of_assembly_is_caught(line: str):
    assert lint_assembly(module_with(line))


@pytest.mark.parametrize("line", HARMLESS_ASSEMBLY)
def test_harmless_assembly_is_not_caught(line: str):
    assert lint_assembly(module_with(line)) == []


@pytest.mark.parametrize("call", ["llvm.sin.f64(double %x)", "llvm.pow.f64(double %x, double %x)"])
def test_library_call_of_the_compiler_is_caught(call: str):
    """An intrinsic that looks like an instruction becomes a call of the maths library: the assembly shows it."""
    declared = call.replace(" %x", "")
    ir = f"declare double @{declared}\ndefine double @infimum_f(double %x) {{\n  %q = call double @{call}\n  ret double %q\n}}"
    assert any("not ours" in problem for problem in lint_assembly(host().machine().emit_assembly(llvm.parse_assembly(ir))))


def test_fma_without_hardware_is_caught():
    """On a processor without FMA a constrained fma becomes a call; such hosts are refused, and the reader would see it too."""
    b = Builder()
    x = b.input(0, 0)
    b.output(0, 0, b.fma(x, x, x))
    old = replace(MACHINES["AVX-512 narrow"], processor="x86-64")
    assert any("symbol fma" in problem for problem in lint_assembly(old.assembly(old.module(b.kernel("fused", 1, 1)))))
