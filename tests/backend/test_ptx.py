"""The GPU backend's text: the reader finds no fault in it, and a machine that runs PTX finds the definition's bits.

No GPU and no CuPy are needed. What a real GPU makes of the same text is in test_cuda_bits.py.
"""

from collections.abc import Sequence

import numpy as np
import pytest

from infimum.backend import ptx
from infimum.backend.code_lint import calls_on_one_line, lint_ptx
from infimum.backend.cpu import CpuBackend
from infimum.backend.cuda.cuda_backend import CudaBackend
from infimum.interval import elementary
from infimum.kernel.ir import Kernel
from tests.backend.cases import (
    EMPTY,
    LANE_PRIMITIVES,
    PROGRAM_CASES,
    ROUNDED,
    UNIFORM_PRIMITIVES,
    constant_case,
    elementary_case,
    extrema_case,
    primitive_case,
    program_case,
    program_inputs,
    program_outputs,
    small_kernel,
    uniform_case,
)
from tests.ptx_simulator import Memory, Module
from tests.random_kernels import Writer, example, same_bits

SHAPES = (1, 1), (2, 3)  # (blocks, threads a block), fewer than boxes


def run(kernel: Kernel, inputs: Sequence[np.ndarray], outputs: Sequence[np.ndarray], data: np.ndarray, udata: np.ndarray,
        shape: tuple[int, int]) -> None:
    """Reads the kernel's PTX for faults, and runs it."""
    text = ptx.ptx(kernel)
    assert lint_ptx(text) == []
    memory, (grid, block) = Memory(), shape
    arrays = [*inputs, *outputs, data, udata]
    addresses = [memory.allocate(a.size) for a in arrays]
    for address, a in zip(addresses, arrays, strict=True):
        memory.write(address, a)
    scratch = memory.allocate(sum(kernel.buffers) * grid * block)
    count = arrays[0].shape[1]
    Module(text).launch(grid, block, [*addresses, scratch, count, count], memory)
    for address, a in zip(addresses[len(inputs):], outputs, strict=False):
        memory.read(address, a)


def check(kernel: Kernel, inputs: np.ndarray, expected: np.ndarray, data: np.ndarray = EMPTY[0]) -> None:
    """A kernel with one input and one output, in two shapes of the launch."""
    for shape in SHAPES:
        found = np.full_like(expected, 12345.0)
        run(kernel, [inputs], [found], data, EMPTY[1], shape)
        wrong = np.flatnonzero(~same_bits(found, expected).all(axis=0))
        assert not wrong.size, f"{inputs[:, wrong[0]]}: {found[:, wrong[0]]}, not {expected[:, wrong[0]]}"


# ---- the text means what the kernel means
def test_the_oldest_text_that_will_do():
    text = CudaBackend.text(small_kernel())
    assert ".version 5.0" in text and ".target sm_60\n" in text


@pytest.mark.parametrize("op", LANE_PRIMITIVES)
def test_primitive(op: str):
    kernel, operands, expected = primitive_case(op)
    some = np.random.default_rng(1).choice(operands.shape[1], 400, replace=False)
    check(kernel, np.ascontiguousarray(operands[:, some]), np.ascontiguousarray(expected[:, some]))


@pytest.mark.parametrize("op", ROUNDED)
def test_constant_operands_fold_upward(op: str):
    kernel, inputs, expected = constant_case(op)
    check(kernel, inputs[:, :2].copy(), expected[:, :2].copy())


@pytest.mark.parametrize("op", UNIFORM_PRIMITIVES)
def test_uniform_primitive(op: str):
    kernel, inputs, data, expected = uniform_case(op)
    check(kernel, inputs[:, :3].copy(), expected[:, :3].copy(), data)


def test_minimum_and_maximum_keep_the_sign_of_zero():
    """LLVM takes a select for a minimum, and the minimum of PTX is -0 where the definition gives +0."""
    kernel, inputs = extrema_case()
    expected = np.empty((6, inputs.shape[1]))
    CpuBackend().compile(kernel).run([inputs], [expected], *EMPTY)
    check(kernel, inputs, expected)
    assert "min.f64" not in ptx.ptx(kernel)


@pytest.mark.parametrize("seed", range(20))
def test_random_kernel(seed: int):
    """Calls, nested loops, trees, scans, buffers."""
    case = example(seed)
    for shape in SHAPES:
        found = np.full_like(case.expected, 12345.0)
        run(case.kernel, [case.columns], [found], case.data, case.udata, shape)
        assert same_bits(found, case.expected).all(), f"{(~same_bits(found, case.expected)).sum()} results differ"


@pytest.mark.parametrize("name", elementary.NAMES)
def test_elementary_function(name: str):
    check(*elementary_case(name))


@pytest.mark.parametrize(("function", "n", "kind"), PROGRAM_CASES)
def test_program(function: str, n: int, kind: str):
    """Every kernel of an Evaluator, on a few boxes, against the CPU."""
    kernel, doubles, positions = program_case(function, n, kind)
    inputs, expected, found = program_inputs(kernel, 3, n), program_outputs(kernel, 3), program_outputs(kernel, 3)
    CpuBackend().compile(kernel).run(inputs, expected, doubles, positions)
    run(kernel, inputs, found, doubles, positions, (1, 2))
    for slot, (a, b) in enumerate(zip(found, expected, strict=True)):
        assert same_bits(a, b).all(), f"output {slot}, rows {np.flatnonzero(~same_bits(a, b).all(axis=1))[:9]} differ"


@pytest.mark.parametrize("seed", range(1000, 1040))
def test_more_random_kernels_are_clean(seed: int):
    assert lint_ptx(ptx.ptx(Writer(seed).kernel()[0])) == []


# ---- teeth of the reader
SEEDED_CHANGES = {
    "add.rp.f64": "add.f64", "fma.rp.f64": "fma.rn.f64", "div.rp.f64": "div.rn.f64", "sqrt.rp.f64": "sqrt.approx.ftz.f64",
    "cvt.rmi.f64.f64": "cvt.rpi.f64.f64", "call.uni (retval0), infimum_small_part": "call.uni (retval0), __nv_floor",
    ") infimum_small_part(": ") __nv_floor(", "abs.f64": "ex2.approx.f32", ".target sm_60": ".target sm_60, map_f64_to_f32",
    "\n.func": "\n.extern .func",
}
SEEDED_LINES = """
add.f64 %rd1, %rd2, %rd3;
add.rn.f64 %rd1, %rd2, %rd3;
add.rm.f64 %rd1, %rd2, %rd3;
sub.f64 %rd1, %rd2, %rd3;
mul.f64 %rd1, %rd2, %rd3;
mul.rz.f64 %rd1, %rd2, %rd3;
div.rn.f64 %rd1, %rd2, %rd3;
div.full.f32 %r1, %r2, %r3;
fma.rn.f64 %rd1, %rd2, %rd3, %rd4;
fma.rp.ftz.f32 %r1, %r2, %r3, %r4;
mad.rp.f64 %rd1, %rd2, %rd3, %rd4;
mad.f64 %rd1, %rd2, %rd3, %rd4;
sqrt.rn.f64 %rd1, %rd2;
sqrt.approx.f32 %r1, %r2;
rcp.rp.f64 %rd1, %rd2;
rsqrt.approx.f64 %rd1, %rd2;
rcp.approx.ftz.f64 %rd1, %rd2;
min.f64 %rd1, %rd2, %rd3;
max.f64 %rd1, %rd2, %rd3;
add.rp.f32 %r1, %r2, %r3;
copysign.f64 %rd1, %rd2, %rd3;
cvt.rn.f64.s64 %rd1, %rd2;
cvt.rp.f64.s64 %rd1, %rd2;
cvt.rzi.s64.f64 %rd1, %rd2;
cvt.rn.f32.f64 %r1, %rd1;
cvt.f64.f32 %rd1, %r1;
cvt.rpi.f64.f64 %rd1, %rd2;
@%p1 add.f64 %rd1, %rd2, %rd3;
@!%p1 mul.rn.f64 %rd1, %rd2, %rd3;
$L__BB0_7: add.f64 %rd1, %rd2, %rd3;
{ add.f64 %rd1, %rd2, %rd3; }
mov.b64 %rd1, %rd2; add.f64 %rd1, %rd2, %rd3;
call.uni (retval0), __nv_sin, (param0);
call.uni __nv_sin, (param0);
call (retval0), %rd7, (param0), prototype_0;
.extern .func (.param .b64 func_retval0) infimum_sin
.visible .func (.param .b64 func_retval0) sin(
.alias infimum_f, infimum_g;
// begin inline asm
atom.global.add.u64 %rd1, [%rd2], 1;
bar.sync 0;
shfl.sync.idx.b32 %r1, %r2, 0, 31, -1;
""".strip("\n").split("\n")
HARMLESS_LINES = """
add.rp.f64 %rd1, %rd2, %rd3;
@%p1 sub.rp.f64 %rd1, %rd2, 0d3FF0000000000000;
cvt.rni.f64.f64 %rd1, %rd2;
cvt.rmi.f64.f64 %rd1, %rd2;
neg.f64 %rd1, %rd2;
setp.geu.f64 %p1, %rd1, %rd2;
selp.f64 %rd1, %rd2, %rd3, %p1;
ld.global.nc.f64 %fd1, [%rd1];
st.local.f64 [%rd1], %fd1;
mad.lo.s64 %rd1, %rd2, %rd3, %rd4;
min.s64 %rd1, %rd2, %rd3;
add.s64 %rd1, %rd2, 8; // add.f64
cvt.u32.u64 %r1, %rd1;
{ // callseq 0, 0
call.uni (retval0), infimum_f, (param0);
bra.uni $L__BB0_1;
""".strip("\n").split("\n")


@pytest.mark.parametrize("good", SEEDED_CHANGES)
def test_text_with_one_change_is_caught(good: str):
    text = calls_on_one_line(ptx.ptx(small_kernel()))
    assert lint_ptx(text) == []
    assert good in text
    assert lint_ptx(text.replace(good, SEEDED_CHANGES[good]))


def module_with(line: str) -> str:
    return ".func  (.param .b64 func_retval0) infimum_f(\n\t.param .b64 infimum_f_param_0\n)\n{\n\t" + line + "\n}\n"


@pytest.mark.parametrize("line", SEEDED_LINES)
def test_line_is_caught(line: str):
    assert lint_ptx(module_with(line))


@pytest.mark.parametrize("callee, problems", [("infimum_f", 0), ("sin", 1)])
def test_a_call_over_several_lines(callee: str, problems: int):
    """As LLVM before 21 writes it."""
    assert len(lint_ptx(module_with(f"call.uni (retval0), \n\t{callee}, \n\t(\n\tparam0\n\t);"))) == problems


@pytest.mark.parametrize("line", HARMLESS_LINES)
def test_harmless_line_is_not_caught(line: str):
    assert lint_ptx(module_with(line)) == []


@pytest.mark.parametrize("call", ["llvm.experimental.constrained.fadd.f64", "llvm.fma.f64", "llvm.sqrt.f64", "llvm.minnum.f64"])
def test_intrinsic_that_forgets_the_rounding_is_caught(call: str):
    """On this machine LLVM turns constrained operations into round-to-nearest without a word: only the text shows it."""
    arity = {"fma": 3, "sqrt": 1}.get(call.split(".")[1], 2)
    values = ", ".join(["double %x", "double %y", "double %z"][:arity])
    mode = ', metadata !"round.upward", metadata !"fpexcept.ignore"' if "constrained" in call else ""
    declared = ", ".join(["double"] * arity + ["metadata"] * (2 if mode else 0))
    text = ptx.assemble(f"declare double @{call}({declared})\ndefine double @infimum_f(double %x, double %y, double %z) {{\n"
                        f"  %q = call double @{call}({values}{mode})\n  ret double %q\n}}")
    assert lint_ptx(text)
