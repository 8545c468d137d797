"""PTX: a kernel as text for NVIDIA's driver, where a lane is a thread. Needs neither a GPU nor CuPy.

PTX spells the rounding in each instruction, so there is no control word to load and restore. Every double is rounded by a `.rp`
instruction; one without a mode would mean `.rn` and could be contracted. `backend/code_lint.py` reads the text for that.
"""

import re

import llvmlite
import llvmlite.binding as llvm

from infimum.backend.llvm_text import Renderer, Spelling, Text, lane_body
from infimum.backend.processor import LOCK
from infimum.errors import HostError
from infimum.kernel.ir import Kernel

TRIPLE = "nvptx64-nvidia-cuda"
# Chips of 2016 and later, and the oldest PTX that knows them: drivers translate old text for new chips, and nothing that the
# kernels need has come since.
CAPABILITY, VERSION = "sm_60", "+ptx50"
ENTRY = "work"
_ROUNDED = {"add": 2, "mul": 2, "div": 2, "sqrt": 1, "fma": 3}  # intrinsics that round upward, with their numbers of operands
_EXACT = {"abs": "llvm.fabs.f64", "floor": "llvm.floor.f64", "roundeven": "llvm.roundeven.f64"}
REGISTERS = "\n".join(f"declare i32 @llvm.nvvm.read.ptx.sreg.{name}.x()" for name in ("tid", "ctaid", "ntid", "nctaid"))
# of LLVM: 0 translates without thought, 1 finds out what lies in global memory; the driver optimises the result either way
_LEVEL = 1


class CudaSpelling(Spelling):
    """Scalars of one thread, and the nvvm intrinsics that round upward."""

    lane, integer, truth = "double", "i64", "i1"

    def declarations(self) -> str:
        rows = [f"declare double @llvm.nvvm.{op}.rp.d({', '.join(['double'] * n)})" for op, n in _ROUNDED.items()]
        rows += [f"declare double @{name}(double)" for name in _EXACT.values()]
        return "\n".join([*rows, REGISTERS])

    def upward(self, text: Text, op: str, operands: list[str]) -> str:
        if op == "sub":  # there is no such intrinsic; IEEE 754 defines x - y as x + (-y), signs of zeros included
            op, operands = "add", [operands[0], text.let(f"fneg double {operands[1]}")]
        return f"call double @llvm.nvvm.{op}.rp.d(" + ", ".join(f"double {x}" for x in operands) + ")"

    def exact(self, op: str, operand: str) -> str:
        return f"call double @{_EXACT[op]}(double {operand})"

    def constant(self, bits: str, type: str) -> str:
        return bits

    def spread(self, text: Text, scalar: str, type: str) -> str:
        return scalar

    def any(self, text: Text, mask: str) -> str:
        return mask

    select = Spelling.select_bits

    def element(self, text: Text, buffer: str, position: str) -> str:
        """Element by element, and in each element thread by thread: threads that run together touch neighbours."""
        row = text.let(f"mul i64 %width, {position}")
        return text.let(f"getelementptr inbounds double, ptr {buffer}, i64 {row}")


def ptx(kernel: Kernel) -> str:
    """The kernel's PTX. `ENTRY` takes the arrays, data, udata, scratch, the length of a row and the number of boxes.

    Scratch has `sum(kernel.buffers)` doubles for each thread of the launch.
    """
    return assemble(ir(kernel))


def assemble(text: str) -> str:
    """LLVM IR to PTX."""
    with LOCK:
        machine = _machine()
        head = f'target triple = "{TRIPLE}"\ntarget datalayout = "{machine.target_data}"\n'
        # no optimiser passes, as for the CPU: the Builder has merged and hoisted what can be
        return machine.emit_assembly(llvm.parse_assembly(head + text))


def settings() -> str:
    """All that the PTX of a text follows from beside it."""
    return f"{TRIPLE} {CAPABILITY} {VERSION} {_LEVEL} llvmlite {llvmlite.__version__}"


def _machine() -> llvm.TargetMachine:
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    try:
        target = llvm.Target.from_triple(TRIPLE)
    except RuntimeError:
        raise HostError("this llvmlite was built without LLVM's NVPTX target; the wheels of PyPI have it") from None
    return target.create_target_machine(cpu=CAPABILITY, features=VERSION, opt=_LEVEL)


def ir(kernel: Kernel) -> str:
    """The kernel's LLVM IR, with the definitions of the functions it calls."""
    buffers, offset = [], 0
    for i, size in enumerate(kernel.buffers):
        buffers += [f"  %start{i} = mul i64 %width, {offset}", f"  %place{i} = add i64 %start{i}, %thread",
                    f"  %buf{i} = getelementptr inbounds double, ptr %scratch, i64 %place{i}"]
        offset += size
    return whole(kernel, Renderer(CudaSpelling()), buffers, "ptr noalias %scratch", "%thread", "%width")


def whole(kernel: Kernel, r: Renderer, setup: list[str], scratch: str, first: str, by: str, after: str = "") -> str:
    """The module of a kernel whose boxes are first, first + by, …; `setup` finds its buffers, `after` is done after each box."""
    stacks, prologue, lane, start, end = lane_body(r, kernel)
    parameters = [f"ptr noalias readonly %in{i}" for i in range(kernel.inputs)]
    parameters += [f"ptr noalias %out{i}" for i in range(kernel.outputs)]
    parameters += [f"ptr noalias readonly %{name}" for name in ("data", "udata")]
    parameters += [scratch, "i64 %stride", "i64 %total"]
    body = _WORK.format(entry=ENTRY, thread=THREAD, parameters=", ".join(parameters), stacks="\n".join(stacks), start=start,
                        end=end, setup="\n".join(setup + prologue), lane="\n".join(lane), first=first, by=by, after=after)
    functions = [Renderer(r.s).function(f, "internal") for f in kernel.functions()]
    return _named("\n".join([r.s.declarations(), *functions, body, "attributes #0 = { noinline nounwind }\n"]))


def _named(text: str) -> str:
    """Our functions carry a name that no library has."""
    return re.sub(rf"@(?!llvm\.|{ENTRY}\()(\w+)\(", r"@infimum_\1(", text)


# %thread: the number of this thread, of %width
THREAD = """
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %ctaid = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %ntid = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %nctaid = call i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
  %in.block = zext i32 %tid to i64
  %block = zext i32 %ctaid to i64
  %threads = zext i32 %ntid to i64
  %blocks = zext i32 %nctaid to i64
  %before = mul i64 %block, %threads
  %thread = add i64 %before, %in.block
  %width = mul i64 %blocks, %threads"""

# A thread (or block) takes every box whose number is its own plus a multiple of all threads, so that scratch is bounded by them.
_WORK = """
define ptx_kernel void @{entry}({parameters}) #0 {{
entry:
{stacks}
{thread}
{setup}
  %some = icmp slt i64 {first}, %total
  br i1 %some, label %{start}, label %finish
{start}:
  %k = phi i64 [ {first}, %entry ], [ %after, %{end}.next ]
{lane}
  br label %{end}.next
{end}.next:
{after}
  %after = add i64 %k, {by}
  %again = icmp slt i64 %after, %total
  br i1 %again, label %{start}, label %finish
finish:
  ret void
}}"""
