"""Native loops over rows of numbers, one after the other, where each may read what those before it have written: NumPy has none.

Every operation rounds upward, whatever the caller's control word is, and none is fused or reordered: the bits are the same on
every machine.
"""

import ctypes

import numpy as np

from infimum.backend.host import ATTRIBUTES, LOCK, PARAMETERS, Enter, Module

_ROUNDED = "add", "sub", "mul", "div"
_HEAD = "\n".join(f"declare double @llvm.experimental.constrained.f{op}.f64(double, double, metadata, metadata)"
                  for op in _ROUNDED)


class Writer:
    """A loop over cells. Arrays are named with their element: "f" doubles, "i" 32-bit numbers."""

    def __init__(self, name: str, arrays: str, backwards: bool = False):
        self.name, self.backwards, self.lines, self.count = name, backwards, [], 0
        self.arrays = [word.split(":") for word in arrays.split()]
        self.types = {array: {"f": "double", "i": "i32"}[kind] for array, kind in self.arrays}

    def let(self, text: str) -> str:
        self.count += 1
        self.lines.append(f"  %t{self.count} = {text}")
        return f"%t{self.count}"

    def place(self, array: str, at: str) -> str:
        return self.let(f"getelementptr {self.types[array]}, ptr %{array}, i64 {at}")

    def load(self, array: str, at: str = "%i") -> str:
        value = self.let(f"load {self.types[array]}, ptr {self.place(array, at)}")
        return self.let(f"sext i32 {value} to i64") if self.types[array] == "i32" else value

    def store(self, array: str, at: str, value: str) -> None:
        place = self.place(array, at)
        self.lines.append(f"  store {self.types[array]} {value}, ptr {place}")

    def rounded(self, op: str, x: str, y: str) -> str:
        """x op y, for add, sub, mul and div."""
        mode = 'metadata !"round.upward", metadata !"fpexcept.ignore"'
        return self.let(f"call double @llvm.experimental.constrained.f{op}.f64(double {x}, double {y}, {mode}) #1")

    def add(self, x: str, y: str) -> str:
        return self.rounded("add", x, y)

    def larger(self, x: str, y: str) -> str:
        """x where it is the larger, else y."""
        return self.let(f"select i1 {self.let(f'fcmp ogt double {x}, {y}')}, double {x}, double {y}")

    def raise_to(self, array: str, at: str, value: str, number: str = "", numbers: str = "") -> None:
        """Writes the larger of an entry and the value; with it the number of the cell, if it is the larger."""
        old = self.load(array, at)
        more = self.let(f"fcmp ogt double {value}, {old}")
        self.store(array, at, self.let(f"select i1 {more}, double {value}, double {old}"))
        if numbers:
            old = self.let(f"load i32, ptr {self.place(numbers, at)}")
            self.store(numbers, at, self.let(f"select i1 {more}, i32 {number}, i32 {old}"))

    def text(self) -> str:
        setup = []
        for k, (array, _) in enumerate(self.arrays):
            setup += [f"  %at.{array} = getelementptr ptr, ptr %arrays, i64 {k}", f"  %{array} = load ptr, ptr %at.{array}"]
        index = "  %last = sub i64 %total, 1\n  %i = sub i64 %last, %turn" if self.backwards else "  %i = add i64 %turn, 0"
        return "\n".join([f"define void @{self.name}({PARAMETERS}) #0 {{", "entry:", *setup, "  br label %check", "check:",
                          "  %turn = phi i64 [ 0, %entry ], [ %next, %body ]", "  %more = icmp slt i64 %turn, %total",
                          "  br i1 %more, label %body, label %done", "body:", index, *self.lines, "  %next = add i64 %turn, 1",
                          "  br label %check", "done:", "  ret void", "}"])


def module_of(*texts: str) -> Module:
    """The machine code of these loops."""
    with LOCK:
        module = Module("\n".join([_HEAD, *texts, Enter.text(), ATTRIBUTES]))
        Enter.found_in(module)
        return module


def run(module: Module, name: str, count: int, arrays: list[np.ndarray]) -> None:
    """One of the loops, over so many rows."""
    pointers = (ctypes.c_int64 * len(arrays))(*(a.ctypes.data for a in arrays))
    at, counter, entry = ctypes.addressof(pointers), ctypes.c_int64(0), module.address(name)
    Enter.call(entry, at, None, None, None, count, count, count, ctypes.addressof(counter), at, 1)
