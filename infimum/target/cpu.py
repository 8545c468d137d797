"""The CPU: a lane is an element of a SIMD vector, LLVM compiles, threads share the blocks of lanes."""

import ctypes
import hashlib
import os
import platform
import threading
from collections import OrderedDict
from collections.abc import Sequence

import llvmlite
import llvmlite.binding as llvm
import numpy as np

from infimum.errors import HostError
from infimum.lower.kernel import Function, Kernel, Loop, walk
from infimum.target import workers
from infimum.target.llvm import Renderer, Spelling, Text, lane_body

_ATTRIBUTES = "attributes #0 = { noinline nounwind strictfp }\nattributes #1 = { nounwind strictfp }\n"
_PASSES = ("instruction_combine",)


class SimdSpelling(Spelling):
    """LLVM's constrained intrinsics on vectors, rounded upward, in strictfp functions."""

    def __init__(self, lanes: int):
        self.lanes = lanes
        self.lane, self.integer, self.truth = f"<{lanes} x double>", f"<{lanes} x i64>", f"<{lanes} x i1>"
        self.suffix = f"v{lanes}f64"

    def declarations(self) -> str:
        v, mode = self.lane, "metadata, metadata"
        arity = {"fadd": 2, "fsub": 2, "fmul": 2, "fdiv": 2, "sqrt": 1, "fma": 3}
        rows = [f"declare {v} @llvm.experimental.constrained.{op}.{self.suffix}({', '.join([v] * n)}, {mode})"
                for op, n in arity.items()]
        return "\n".join(rows + [f"declare {v} @llvm.{op}.{self.suffix}({v})" for op in ("fabs", "floor", "roundeven")])

    def upward(self, op: str, operands: list[str]) -> str:
        name = op if op in ("sqrt", "fma") else f"f{op}"
        values = ", ".join(f"{self.lane} {x}" for x in operands)
        return (f"call {self.lane} @llvm.experimental.constrained.{name}.{self.suffix}({values}, "
                'metadata !"round.upward", metadata !"fpexcept.ignore") #1')

    def exact(self, op: str, operand: str) -> str:
        return f"call {self.lane} @llvm.{'fabs' if op == 'abs' else op}.{self.suffix}({self.lane} {operand})"

    def constant(self, bits: str, type: str) -> str:
        return f"splat ({type} {bits})"

    def spread(self, text: Text, scalar: str, type: str) -> str:
        vector = f"<{self.lanes} x {type}>"
        one = text.let(f"insertelement {vector} poison, {type} {scalar}, i64 0")
        return text.let(f"shufflevector {vector} {one}, {vector} poison, <{self.lanes} x i32> zeroinitializer")


class Host:
    """This processor: what it can do, and how LLVM is told."""

    def __init__(self) -> None:
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        self.features = llvm.get_host_cpu_features()
        self.name = llvm.get_host_cpu_name()
        self.arm = platform.machine().lower() in ("aarch64", "arm64")
        self.x86 = platform.machine().lower() in ("x86_64", "amd64")
        if not (self.arm or (self.x86 and self.features.get("fma") and self.features.get("avx2"))):
            raise HostError(f"the processor '{self.name}' ({platform.machine()}) has no fused multiply-add that infimum can use; "
                            "it needs x86-64 with AVX2 and FMA, or 64-bit Arm")
        self.lanes = 2 if self.arm else 8 if self.features.get("avx512f") and self.features.get("avx512dq") else 4
        self.flags = self.features.flatten() + (",-prefer-256-bit" if self.x86 else "")
        self.triple = llvm.get_process_triple()

    def machine(self):
        """A new TargetMachine: llvmlite hands it over to the engine, so it is never shared."""
        return llvm.Target.from_triple(self.triple).create_target_machine(cpu=self.name, features=self.flags, opt=1, jit=True)

    def widths(self) -> list[int]:
        """Every number of lanes worth testing on this host."""
        return [w for w in (2, 4, 8) if w <= self.lanes]


_lock = threading.RLock()
_host: Host | None = None
_library: dict[tuple[str, int], "_Module"] = {}
_compiled: "OrderedDict[str, CompiledKernel]" = OrderedDict()
_KEEP = 1024


def host() -> Host:
    """The host, examined once."""
    global _host
    with _lock:
        if _host is None:
            _host = Host()
        return _host


class _Module:
    """Machine code of one LLVM module. It owns the engine: dropping it frees the code."""

    def __init__(self, ir: str):
        self.ir = ir
        self.engine = llvm.create_mcjit_compiler(*self._improved())
        self.engine.finalize_object()

    def _improved(self) -> tuple:
        """The module after the passes, and a machine for it."""
        module = llvm.parse_assembly(self.ir)
        machine = host().machine()
        builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=1))
        passes = llvm.create_new_module_pass_manager()
        for name in _PASSES:
            getattr(passes, f"add_{name}_pass")()
        passes.run(module, builder)
        return module, machine

    def assembly(self) -> str:
        """The machine code as text, for tests that read it."""
        module, machine = self._improved()
        return machine.emit_assembly(module)

    def address(self, name: str) -> int:
        return self.engine.get_function_address(name)


def _symbol(f: Function, lanes: int) -> str:
    return f"infimum_{f.name}_{lanes}"


class CompiledKernel:
    """A kernel in machine code; call `run`. Holds the modules whose code it uses."""

    def __init__(self, kernel: Kernel, lanes: int, ir: str, functions: list["_Module"]):
        self.lanes, self.inputs, self.outputs = lanes, kernel.inputs, kernel.outputs
        self.ir = ir
        self._needs = functions
        self._module = _Module(ir)
        signature = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 4, *[ctypes.c_int64] * 3, ctypes.c_void_p)
        self._entry = signature(self._module.address("entry"))
        self._scratch_doubles = sum(kernel.buffers) * lanes
        self._cost = 0.3e-9 * _weight(kernel.body)  # seconds a box: a guess until measured

    def run(self, inputs: Sequence[np.ndarray], outputs: Sequence[np.ndarray], data: np.ndarray, udata: np.ndarray,
            threads: int = 1) -> None:
        """Runs every lane. Arrays are C-contiguous float64 of shape (rows, N), all with the same N."""
        count = (inputs[0] if inputs else outputs[0]).shape[1]
        if count == 0:
            return
        if count < self.lanes:
            self._run_padded(inputs, outputs, data, udata, count)
            return
        block = self._block(count, threads)
        threads = min(threads, -(-count // block))
        pointers = (ctypes.c_void_p * (len(inputs) + len(outputs)))(*(a.ctypes.data for a in (*inputs, *outputs)))
        counter = ctypes.c_int64(0)
        scratch = [np.empty(self._scratch_doubles + 8) for _ in range(threads)]
        fixed = (ctypes.addressof(pointers), data.ctypes.data, udata.ctypes.data)
        jobs = [(*fixed, -(-s.ctypes.data // 64) * 64, count, count, block, ctypes.addressof(counter)) for s in scratch]
        seconds = workers.run(self._entry, jobs)
        if count >= 1024:
            self._cost = seconds * threads / count

    def _block(self, count: int, threads: int) -> int:
        """Boxes that take about a millisecond, in whole vectors."""
        boxes = max(1, int(1e-3 / max(self._cost, 1e-10)))
        if threads > 1:
            boxes = min(boxes, -(-count // threads))
        return -(-boxes // self.lanes) * self.lanes

    def _run_padded(self, inputs, outputs, data, udata, count: int) -> None:
        wide_in = [np.repeat(a[:, :1], self.lanes, axis=1) for a in inputs]
        for wide, a in zip(wide_in, inputs, strict=True):
            wide[:, :count] = a
        wide_out = [np.empty((a.shape[0], self.lanes)) for a in outputs]
        self.run(wide_in, wide_out, data, udata)
        for wide, a in zip(wide_out, outputs, strict=True):
            a[...] = wide[:, :count]

    def assembly(self) -> str:
        """The machine code as text, for tests that read it."""
        return self._module.assembly()


def _weight(items: list) -> float:
    """Roughly how many instructions a lane's turn costs."""
    return sum(max(1, item.limit) * _weight(item.body) if isinstance(item, Loop) else 1 for item in items) or 1.0


class CpuTarget:
    """Compiles kernels for this processor; `lanes` and `threads` change the speed, never a bit."""

    name = "cpu"

    def __init__(self, lanes: int | None = None, threads: int | None = None):
        self.lanes = lanes or host().lanes
        self.threads = threads or os.cpu_count() or 1
        self.spelling = SimdSpelling(self.lanes)

    def compile(self, kernel: Kernel) -> CompiledKernel:
        """Machine code for the kernel, from the cache if an equal one was compiled before."""
        ir = self.text(kernel)
        key = hashlib.blake2b("|".join([ir, host().name, host().flags, llvmlite.__version__]).encode()).hexdigest()
        with _lock:
            found = _compiled.get(key)
            if found is None:
                functions = [self._function(f) for f in kernel.functions()]
                found = _compiled[key] = CompiledKernel(kernel, self.lanes, ir, functions)
                if len(_compiled) > _KEEP:
                    _compiled.popitem(last=False)
            _compiled.move_to_end(key)
            return found

    def _function(self, f: Function) -> "_Module":
        """An elementary function, compiled once in a process for each number of lanes and found by its name."""
        key = (f.name, self.lanes)
        if key not in _library:
            callees = Kernel(f.name, [], f.body, [], 0, 0).functions()
            for callee in callees:
                self._function(callee)
            r = Renderer(self.spelling)
            parts = [self.spelling.declarations(), *(r.declare(c) for c in callees), r.function(f), _ATTRIBUTES]
            _library[key] = module = _Module(self._rename("\n".join(parts), [f, *callees]))
            llvm.add_symbol(_symbol(f, self.lanes), module.address(_symbol(f, self.lanes)))
        return _library[key]

    def _rename(self, ir: str, functions: list[Function]) -> str:
        for f in functions:
            ir = ir.replace(f"@{f.name}(", f"@{_symbol(f, self.lanes)}(")
        return ir

    def text(self, kernel: Kernel) -> str:
        """The kernel's LLVM IR."""
        functions = kernel.functions()
        r = Renderer(self.spelling)
        stacks, prologue, lane, start, end = lane_body(self.spelling, kernel)
        slots = [f"in{i}" for i in range(kernel.inputs)] + [f"out{i}" for i in range(kernel.outputs)]
        setup = []
        for i, name in enumerate(slots):
            setup += [f"  %at.{name} = getelementptr ptr, ptr %arrays, i64 {i}", f"  %{name} = load ptr, ptr %at.{name}"]
        offset = 0
        for i, size in enumerate(kernel.buffers):
            setup.append(f"  %buf{i} = getelementptr {self.spelling.lane}, ptr %scratch, i64 {offset}")
            offset += size
        body = _WORK.format(stacks="\n".join(stacks), setup="\n".join(setup + prologue), lanes=self.lanes, start=start,
                            lane="\n".join(lane), end=end)
        control = _CONTROL_ARM if host().arm else _CONTROL_X86
        parts = [self.spelling.declarations(), *(r.declare(f) for f in functions), body, control, _ATTRIBUTES]
        return self._rename("\n".join(parts), functions)


# Takes blocks from a shared counter until none is left. The last vector of the last block is moved back so that it ends
# with the last box: some boxes are then computed twice, with the same bits.
_WORK = """
define internal void @work(ptr %arrays, ptr %data, ptr %udata, ptr %scratch, i64 %stride, i64 %total, i64 %block, ptr %counter) #0 {{
entry:
{stacks}
{setup}
  %last = sub i64 %total, {lanes}
  br label %fetch
fetch:
  %number = atomicrmw add ptr %counter, i64 1 monotonic
  %first = mul i64 %number, %block
  %some = icmp slt i64 %first, %total
  br i1 %some, label %go, label %finish
go:
  %full = add i64 %first, %block
  %whole = icmp slt i64 %full, %total
  %stop = select i1 %whole, i64 %full, i64 %total
  br label %{start}
{start}:
  %at = phi i64 [ %first, %go ], [ %after, %{end}.next ]
  %back = icmp slt i64 %last, %at
  %k = select i1 %back, i64 %last, i64 %at
{lane}
  br label %{end}.next
{end}.next:
  %after = add i64 %at, {lanes}
  %again = icmp slt i64 %after, %stop
  br i1 %again, label %{start}, label %fetch
finish:
  ret void
}}"""

_PARAMETERS = "ptr %arrays, ptr %data, ptr %udata, ptr %scratch, i64 %stride, i64 %total, i64 %block, ptr %counter"

# MXCSR: exceptions masked (0x1F80), rounding upward (0x4000), flush-to-zero and denormals-are-zero off
_CONTROL_X86 = f"""
declare void @llvm.x86.sse.stmxcsr(ptr)
declare void @llvm.x86.sse.ldmxcsr(ptr)
define void @entry({_PARAMETERS}) #0 {{
  %caller = alloca i32
  %ours = alloca i32
  call void @llvm.x86.sse.stmxcsr(ptr %caller)
  store i32 {0x5F80}, ptr %ours
  call void @llvm.x86.sse.ldmxcsr(ptr %ours)
  call void @work({_PARAMETERS}) #0
  call void @llvm.x86.sse.ldmxcsr(ptr %caller)
  ret void
}}
"""

# FPCR: rounding toward plus infinity (bits 23:22 = 01), everything else off
_CONTROL_ARM = f"""
declare i64 @llvm.aarch64.get.fpcr()
declare void @llvm.aarch64.set.fpcr(i64)
define void @entry({_PARAMETERS}) #0 {{
  %caller = call i64 @llvm.aarch64.get.fpcr()
  call void @llvm.aarch64.set.fpcr(i64 {1 << 22})
  call void @work({_PARAMETERS}) #0
  call void @llvm.aarch64.set.fpcr(i64 %caller)
  ret void
}}
"""


def calls_outside(kernel: Kernel) -> list[str]:
    """Names of the functions a kernel calls: all of them ours."""
    return [item.attr.name for item in walk(kernel.body) if getattr(item, "op", "") == "call"]
