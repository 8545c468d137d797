"""This processor: what it can do, how LLVM compiles for it, and the control word of its floating-point unit."""

import ctypes
import os
import platform
import threading

import llvmlite
import llvmlite.binding as llvm
import numpy as np

from infimum.backend import disk_cache
from infimum.errors import HostError

LOCK = threading.RLock()  # LLVM compiles one module at a time
PLAIN = 20_000  # more lines of LLVM IR than this are compiled in the plain way
PARAMETERS = "ptr %arrays, ptr %data, ptr %udata, ptr %scratch, i64 %stride, i64 %total, i64 %block, ptr %counter"
ATTRIBUTES = "attributes #0 = { noinline nounwind strictfp }\nattributes #1 = { nounwind strictfp }\n"

# the kernel the given number of times, to and fro between two lists of arrays
_TURNS = f"""
  br label %turn
turn:
  %k = phi i64 [ 0, %entry ], [ %next, %again ]
  %odd = trunc i64 %k to i1
  %now = select i1 %odd, ptr %back, ptr %arrays
  call void %work({PARAMETERS.replace("%arrays", "%now")}) #0
  %next = add i64 %k, 1
  %more = icmp slt i64 %next, %times
  br i1 %more, label %again, label %done
again:
  store i64 0, ptr %counter
  br label %turn
done:
"""

# MXCSR: exceptions masked (0x1F80), rounding upward (0x4000), flush-to-zero and denormals-are-zero off
_CONTROL_X86 = f"""
declare void @llvm.x86.sse.stmxcsr(ptr)
declare void @llvm.x86.sse.ldmxcsr(ptr)
define void @infimum_enter(ptr %work, {PARAMETERS}, ptr %back, i64 %times) #0 {{
entry:
  %caller = alloca i32
  %ours = alloca i32
  call void @llvm.x86.sse.stmxcsr(ptr %caller)
  store i32 {0x5F80}, ptr %ours
  call void @llvm.x86.sse.ldmxcsr(ptr %ours)
{_TURNS}
  call void @llvm.x86.sse.ldmxcsr(ptr %caller)
  ret void
}}
"""

# FPCR: rounding toward plus infinity (bits 23:22 = 01), everything else off
_CONTROL_ARM = f"""
declare i64 @llvm.aarch64.get.fpcr()
declare void @llvm.aarch64.set.fpcr(i64)
define void @infimum_enter(ptr %work, {PARAMETERS}, ptr %back, i64 %times) #0 {{
entry:
  %caller = call i64 @llvm.aarch64.get.fpcr()
  call void @llvm.aarch64.set.fpcr(i64 {1 << 22})
{_TURNS}
  call void @llvm.aarch64.set.fpcr(i64 %caller)
  ret void
}}
"""


if hasattr(os, "register_at_fork"):  # a child must not inherit the lock from a thread that it does not have
    os.register_at_fork(before=LOCK.acquire, after_in_parent=LOCK.release, after_in_child=LOCK.release)


class Host:
    """The processor as LLVM sees it. `lanes` is the number of doubles of its widest vector."""

    def __init__(self) -> None:
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        self.features = llvm.get_host_cpu_features()
        self.name = llvm.get_host_cpu_name()
        kind = platform.machine().lower()
        self.arm, x86 = kind in ("aarch64", "arm64"), kind in ("x86_64", "amd64")
        if not (self.arm or (x86 and self.features.get("fma") and self.features.get("avx2"))):
            raise HostError(f"the processor '{self.name}' ({platform.machine()}) has no fused multiply-add that infimum can use; "
                            "it needs x86-64 with AVX2 and FMA, or 64-bit Arm")
        self.lanes = 2 if self.arm else 8 if self.features.get("avx512f") and self.features.get("avx512dq") else 4
        # vectors of one length on every Arm: those of SVE differ from machine to machine
        self.flags = self.features.flatten() + (",-prefer-256-bit" if x86 else ",-sve")
        self.triple = llvm.get_process_triple()

    def machine(self, plain: bool = False):
        """A new TargetMachine for the module: llvmlite hands it over to the engine, so it is never shared. `plain`: one that
        compiles in half the time, and no bit otherwise, where there is very much to compile."""
        level = 0 if plain else 1
        return llvm.Target.from_triple(self.triple).create_target_machine(cpu=self.name, features=self.flags, opt=level, jit=True)

    def settings(self) -> tuple[str, ...]:
        """All but the text that machine code follows from."""
        version = ".".join(map(str, llvm.llvm_version_info))
        return self.triple, self.name, self.flags, llvmlite.__version__, version

    def widths(self) -> list[int]:
        """Every number of lanes worth testing on this host."""
        return [w for w in (2, 4, 8) if w <= self.lanes]


class Module:
    """Machine code of one LLVM module. It owns the engine: dropping it frees the code."""

    def __init__(self, ir: str, plain: bool = False):
        self.ir, self.plain = ir, plain or ir.count("\n") > PLAIN
        name = disk_cache.name_of(ir, str(self.plain), *host().settings())
        kept = disk_cache.read(name)
        # no optimiser passes: the Builder has merged and hoisted what can be, and code generation does the rest
        self.engine = llvm.create_mcjit_compiler(llvm.parse_assembly("" if kept else ir), host().machine(self.plain))
        if kept:
            self.engine.set_object_cache(getbuffer_func=lambda module: kept)
        elif disk_cache.folder() is not None:
            self.engine.set_object_cache(lambda module, code: disk_cache.write(name, code))
        self.engine.finalize_object()

    def assembly(self) -> str:
        """The machine code as text, for tests that read it."""
        return host().machine(self.plain).emit_assembly(llvm.parse_assembly(self.ir))

    def address(self, name: str) -> int:
        return self.engine.get_function_address(name)


_host: Host | None = None


def host() -> Host:
    """The host, examined once."""
    global _host
    with LOCK:
        if _host is None:
            _host = Host()
        return _host


def address(array: np.ndarray) -> int:
    """Where the array's numbers begin; `array.ctypes.data` takes microseconds, and a call has eight arrays."""
    return ctypes.addressof(ctypes.c_char.from_buffer(array)) if array.flags.writeable and array.size else array.ctypes.data


class KernelWrapper:
    """The thin wrapper around every kernel: it loads our control word, calls the kernel, once or to and fro, and restores the
    caller's whole word.

    It is compiled with the first kernel of the process, because a module costs milliseconds however small it is.
    """

    module: Module | None = None
    call = None  # enter(the kernel's address, the kernel's arguments …, the arrays of every other time, how often)

    @classmethod
    def text(cls) -> str:
        """The definition, for the module of the first kernel; nothing afterwards."""
        return "" if cls.module else _CONTROL_ARM if host().arm else _CONTROL_X86

    @classmethod
    def found_in(cls, module: Module) -> None:
        """Takes the wrapper from the module that was compiled with `text()`."""
        if cls.module is None:
            signature = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 5, *[ctypes.c_int64] * 3, *[ctypes.c_void_p] * 2,
                                         ctypes.c_int64)  # frees the GIL
            cls.module, cls.call = module, signature(module.address("infimum_enter"))
