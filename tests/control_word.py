"""The caller's floating-point control word: reading it, setting it, and running kernels under words that break careless code.

Only the calls of native code run under an altered word (`CompiledKernel.run` and what it does), never the test around them:
Python and NumPy compute with the same registers. A test module runs every test under every word with

    from tests.control_word import every_control_word  # noqa: F401

    @pytest.fixture(autouse=True)
    def _under_every_control_word(every_control_word): ...
"""

import ctypes
import platform
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

import llvmlite.binding as llvm
import pytest

from infimum.backend.cpu import CompiledKernel
from infimum.backend.processor import host

ARM = platform.machine().lower() in ("aarch64", "arm64")

# name -> bits that differ from the usual word (nearest, everything masked, subnormal numbers kept)
_WORDS_X86 = {"nearest": 0, "ftz_daz": 0x8040, "down": 0x2000, "up": 0x4000, "to_zero": 0x6000}
_WORDS_ARM = {"nearest": 0, "ftz_daz": 1 << 24, "down": 2 << 22, "up": 1 << 22, "to_zero": 3 << 22}
USUAL = 0 if ARM else 0x1F80
WORDS = {name: USUAL | bits for name, bits in (_WORDS_ARM if ARM else _WORDS_X86).items()}

_X86 = """
declare void @llvm.x86.sse.stmxcsr(ptr)
declare void @llvm.x86.sse.ldmxcsr(ptr)
define i64 @read_word() {
  %cell = alloca i32
  call void @llvm.x86.sse.stmxcsr(ptr %cell)
  %word = load i32, ptr %cell
  %wide = zext i32 %word to i64
  ret i64 %wide
}
define void @write_word(i64 %wide) {
  %cell = alloca i32
  %word = trunc i64 %wide to i32
  store i32 %word, ptr %cell
  call void @llvm.x86.sse.ldmxcsr(ptr %cell)
  ret void
}
"""
_ARM = """
declare i64 @llvm.aarch64.get.fpcr()
declare void @llvm.aarch64.set.fpcr(i64)
define i64 @read_word() {
  %word = call i64 @llvm.aarch64.get.fpcr()
  ret i64 %word
}
define void @write_word(i64 %word) {
  call void @llvm.aarch64.set.fpcr(i64 %word)
  ret void
}
"""


@cache
def _access() -> tuple:
    """(read, write, the engine that owns their code)."""
    machine = host().machine()
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(_ARM if ARM else _X86), machine)
    engine.finalize_object()
    read = ctypes.CFUNCTYPE(ctypes.c_int64)(engine.get_function_address("read_word"))
    write = ctypes.CFUNCTYPE(None, ctypes.c_int64)(engine.get_function_address("write_word"))
    return read, write, engine


def read_word() -> int:
    """The control word of this thread."""
    return _access()[0]()


def write_word(word: int) -> None:
    """Sets the control word of this thread."""
    _access()[1](word)


@contextmanager
def control_word(word: int) -> Iterator[None]:
    """Runs the block under `word` in this thread, and restores what was there before."""
    before = read_word()
    write_word(word)
    try:
        yield
    finally:
        write_word(before)


@pytest.fixture(params=WORDS.values(), ids=WORDS)
def every_control_word(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """Runs the test once for each word, which every kernel's caller then has; returns the word."""
    word, run = request.param, CompiledKernel.run

    def run_under_word(self, *arguments, **settings):
        with control_word(word):
            run(self, *arguments, **settings)

    monkeypatch.setattr(CompiledKernel, "run", run_under_word)
    return word
