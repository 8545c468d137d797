"""Messages along a tree of cells: native loops for dynamic programming, one cell after the other.

A cell has a number, and links to entries of a table: two that it reads (`first`, `second`) and one that it writes (`parent`).
Cells come in an order in which every entry is written before it is read. All numbers are *minus* lower bounds and sums round
upward, so that what comes out is a lower bound too; -inf is a cell or an entry that nothing reaches. Entry 0 is read where there
is no link and holds 0; entry 1 is written by cells without a parent.
"""

import ctypes
from functools import cache

import numpy as np

from infimum.backend.host import ATTRIBUTES, LOCK, PARAMETERS, Enter, Module

NONE, TOP = 0, 1  # the entries for cells without a link, and without a parent

_HEAD = """
declare double @llvm.experimental.constrained.fadd.f64(double, double, metadata, metadata)
"""


class _Writer:
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

    def add(self, x: str, y: str) -> str:
        mode = 'metadata !"round.upward", metadata !"fpexcept.ignore"'
        return self.let(f"call double @llvm.experimental.constrained.fadd.f64(double {x}, double {y}, {mode}) #1")

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


def _up() -> str:
    w = _Writer("min_sum_up", "number:f first:i second:i parent:i table:f")
    below = w.add(w.load("table", w.load("first")), w.load("table", w.load("second")))
    w.raise_to("table", w.load("parent"), w.add(w.load("number"), below))
    return w.text()


def _down() -> str:
    w = _Writer("min_sum_down", "number:f first:i second:i parent:i table:f above:f whole:f best:f from_child:i",
                backwards=True)
    first, second, parent = w.load("first"), w.load("second"), w.load("parent")
    u, v = w.load("table", first), w.load("table", second)
    outside = w.add(w.load("number"), w.load("above", parent))
    whole = w.add(outside, w.add(u, v))
    w.store("whole", "%i", whole)
    number = w.let("trunc i64 %i to i32")
    w.raise_to("best", parent, whole, number, "from_child")
    for entry, beside in ((first, v), (second, u)):
        w.raise_to("above", entry, w.add(outside, beside))
    return w.text()


@cache
def _module() -> Module:
    with LOCK:
        module = Module("\n".join([_HEAD, _up(), _down(), Enter.text(), ATTRIBUTES]))
        Enter.found_in(module)
        return module


def _run(name: str, count: int, arrays: list[np.ndarray]) -> None:
    pointers = (ctypes.c_int64 * len(arrays))(*(a.ctypes.data for a in arrays))
    at, counter, entry = ctypes.addressof(pointers), ctypes.c_int64(0), _module().address(name)
    Enter.call(entry, at, None, None, None, count, count, count, ctypes.addressof(counter), at, 1)


def up(number: np.ndarray, first: np.ndarray, second: np.ndarray, parent: np.ndarray, entries: int) -> np.ndarray:
    """The table: for each entry the largest sum below it. Its entry TOP is that of all cells without a parent."""
    table = np.full(entries, -np.inf)
    table[NONE] = 0.0
    _run("min_sum_up", len(number), [number, first, second, parent, table])
    return table


def down(number: np.ndarray, first: np.ndarray, second: np.ndarray, parent: np.ndarray,
         table: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(for each cell the largest sum of a whole that it is part of; for each entry the cell with the largest such sum among those
    that write it, the last of equals, -1 if there is none)."""
    above, best, whole = np.full(len(table), -np.inf), np.full(len(table), -np.inf), np.empty(len(number))
    above[TOP], from_child = 0.0, np.full(len(table), -1, np.int32)
    _run("min_sum_down", len(number), [number, first, second, parent, table, above, whole, best, from_child])
    return whole, from_child
