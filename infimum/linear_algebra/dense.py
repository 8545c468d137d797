"""Symmetric systems of linear equations, many at once: elimination in native loops, eight systems to a vector.

Every operation rounds upward, whatever the caller's control word is, and none is fused or reordered: the bits are the same on
every machine. All of it is an estimate.
"""

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from struct import pack

import numpy as np

from infimum.backend.processor import ATTRIBUTES, LOCK, PARAMETERS, KernelWrapper, Module, address

_LANES = 8
_V = f"<{_LANES} x double>"
_OPERATIONS = "add", "sub", "mul", "div"
_HEAD = "\n".join(f"declare {_V} @llvm.experimental.constrained.f{op}.v{_LANES}f64({_V}, {_V}, metadata, metadata)"
                  for op in _OPERATIONS) + f"\ndeclare i1 @llvm.vector.reduce.and.v{_LANES}i1(<{_LANES} x i1>)"
_NUMBERS = "k", "count", "positive", "tries"
_ARRAYS = "matrix", "right", "first", "factor", "x", "good", "added"
_NONE, _ONE = "zeroinitializer", f"<{', '.join(['double 1.0'] * _LANES)}>"


class _Code:
    """Lines of LLVM IR with loops. What one turn of a loop leaves to the next lies in memory: `vector` is a place there."""

    def __init__(self) -> None:
        self.lines, self.names, self.block = [], 0, "entry"

    def let(self, text: str) -> str:
        self.names += 1
        self.lines.append(f"  %t{self.names} = {text}")
        return f"%t{self.names}"

    def number(self, op: str, a: str, b: "str | int") -> str:
        return self.let(f"{op} i64 {a}, {b}")

    def rounded(self, op: str, a: str, b: str) -> str:
        mode = 'metadata !"round.upward", metadata !"fpexcept.ignore"'
        return self.let(f"call {_V} @llvm.experimental.constrained.f{op}.v{_LANES}f64({_V} {a}, {_V} {b}, {mode}) #1")

    def where(self, test: str, a: str, b: str, yes: str, no: str) -> str:
        """yes where the comparison of two vectors holds, and no elsewhere."""
        return self.let(f"select <{_LANES} x i1> {self.let(f'fcmp {test} {_V} {a}, {b}')}, {_V} {yes}, {_V} {no}")

    def load(self, array: str, at: "str | int") -> str:
        return self.let(f"load {_V}, ptr {self._place(array, at)}, align 8")

    def store(self, array: str, at: "str | int", value: str) -> None:
        self.lines.append(f"  store {_V} {value}, ptr {self._place(array, at)}, align 8")

    def _place(self, array: str, at: "str | int") -> str:
        return self.let(f"getelementptr double, ptr {array}, i64 {at}")

    def _begin(self, block: str) -> None:
        self.lines += [f"  br label %{block}", f"{block}:"]
        self.block = block

    @contextmanager
    def loop(self, begin: "str | int", end: "str | int", unless: str | None = None) -> Iterator[str]:
        """From begin to end; a turn that finds 1 in all of the vector `unless` is the last, and does nothing."""
        self.names += 1
        name, before = f"loop{self.names}", self.block
        self._begin(name)
        self.lines.append(f"  %{name}.i = phi i64 [ {begin}, %{before} ], [ %{name}.next, %{name}.latch ]")
        more = self.let(f"icmp slt i64 %{name}.i, {end}")
        if unless is not None:
            done = self.let(f"fcmp oeq {_V} {self.load(unless, 0)}, {_ONE}")
            done = self.let(f"call i1 @llvm.vector.reduce.and.v{_LANES}i1(<{_LANES} x i1> {done})")
            more = self.let(f"select i1 {done}, i1 false, i1 {more}")
        self.lines += [f"  br i1 {more}, label %{name}.body, label %{name}.end", f"{name}.body:"]
        self.block = f"{name}.body"
        yield f"%{name}.i"
        self._begin(f"{name}.latch")
        self.lines += [f"  %{name}.next = add i64 %{name}.i, 1", f"  br label %{name}", f"{name}.end:"]
        self.block = f"{name}.end"


def _text() -> str:
    c = _Code()
    for place, name in enumerate((*_NUMBERS, *_ARRAYS)):
        at = c.let(f"getelementptr i64, ptr %arrays, i64 {place}")
        c.lines.append(f"  %{name} = load {'i64' if name in _NUMBERS else 'ptr'}, ptr {at}")
    one_more, last = c.number("add", "%k", 1), c.number("sub", "%count", _LANES)
    good, added, trial_good = (f"%{name}.now" for name in ("good", "added", "trial"))
    for name, begin in ((good, 0), (added, _LANES), (trial_good, 2 * _LANES), ("%solution", 3 * _LANES),
                        ("%table", c.number("mul", c.number("add", "%k", 3), _LANES))):
        c.lines.append(f"  {name} = getelementptr double, ptr %scratch, i64 {begin}")

    def at(i: str, j: str) -> str:
        return c.number("mul", c.number("add", c.number("mul", i, one_more), j), _LANES)

    def given(i: str, lane: str) -> str:
        return c.number("add", c.number("mul", i, "%count"), lane)

    with c.loop(0, "%total") as block:
        begin = c.number("mul", block, _LANES)
        lane = c.let(f"select i1 {c.let(f'icmp slt i64 {begin}, {last}')}, i64 {begin}, i64 {last}")
        factor = c.load("%factor", 0)
        for place in (good, added):
            c.store(place, 0, _NONE)
        with c.loop(0, "%tries", good) as trial:
            with c.loop(0, "%k") as i:
                with c.loop(0, "%k") as j:
                    c.store("%table", at(i, j), c.load("%matrix", given(c.number("add", c.number("mul", i, "%k"), j), lane)))
                c.store("%table", at(i, "%k"), c.load("%right", given(i, lane)))
            with c.loop(0, "%positive") as i:
                c.store("%table", at(i, i), c.rounded("add", c.load("%table", at(i, i)), c.load(added, 0)))
            with c.loop(0, "%k") as i:
                pivot, after = c.load("%table", at(i, i)), c.number("add", i, 1)
                with c.loop(after, "%k") as j:
                    part = c.rounded("div", c.load("%table", at(i, j)), pivot)
                    with c.loop(j, one_more) as m:
                        less = c.rounded("mul", part, c.load("%table", at(i, m)))
                        c.store("%table", at(j, m), c.rounded("sub", c.load("%table", at(j, m)), less))
            c.store(trial_good, 0, _ONE)
            with c.loop(0, "%k") as turn:
                i = c.number("sub", c.number("sub", "%k", 1), turn)
                own = c.number("mul", i, _LANES)
                c.store("%solution", own, c.load("%table", at(i, "%k")))
                with c.loop(c.number("add", i, 1), "%k") as j:
                    less = c.rounded("mul", c.load("%table", at(i, j)), c.load("%solution", c.number("mul", j, _LANES)))
                    c.store("%solution", own, c.rounded("sub", c.load("%solution", own), less))
                pivot, sum_ = c.load("%table", at(i, i)), c.load("%solution", own)
                value = c.rounded("div", sum_, pivot)
                c.store("%solution", own, value)
                known = c.where("oeq", c.rounded("sub", value, value), _NONE, c.load(trial_good, 0), _NONE)
                up, down = (c.where(test, pivot, _NONE, known, _NONE) for test in ("ogt", "olt"))
                first = c.let(f"icmp slt i64 {i}, %positive")
                c.store(trial_good, 0, c.let(f"select i1 {first}, {_V} {up}, {_V} {down}"))
            before = c.load(good, 0)
            with c.loop(0, "%k") as i:
                value = c.load("%solution", c.number("mul", i, _LANES))
                c.store("%x", given(i, lane), c.where("oeq", before, _ONE, c.load("%x", given(i, lane)), value))
            now = c.where("oeq", before, _ONE, before, c.load(trial_good, 0))
            c.store(good, 0, now)
            start = c.let(f"icmp eq i64 {trial}, 0")
            more = c.rounded("mul", factor, c.load(added, 0))
            more = c.let(f"select i1 {start}, {_V} {c.load('%first', lane)}, {_V} {more}")
            c.store(added, 0, c.where("oeq", now, _ONE, c.load(added, 0), more))
        c.store("%good", lane, c.load(good, 0))
        c.store("%added", lane, c.load(added, 0))
    return "\n".join([f"define void @infimum_solve_dense({PARAMETERS}) #0 {{", "entry:", *c.lines, "  ret void", "}"])


@cache
def _module() -> Module:
    with LOCK:
        module = Module("\n".join([_HEAD, _text(), KernelWrapper.text(), ATTRIBUTES]), plain=True)
        KernelWrapper.found_in(module)
        return module


@cache
def _entry() -> int:
    return _module().address("infimum_solve_dense")


def solve(matrix: np.ndarray, right: np.ndarray, positive: int, first: np.ndarray | None = None, factor: float = 1.0,
          tries: int = 1) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Solutions (k, N) of symmetric systems (k, k, N), of which only the upper triangles are read, by elimination in the given
    order; where its first `positive` pivots are positive and the others negative; and what was added to the first elements of the
    diagonal for that: nothing, then `first` (N,), then more by a factor each time, until they are, or the tries are used up.

    >>> x, good, added = solve(np.array([[[2.0], [1.0]], [[1.0], [-1.0]]]), np.array([[3.0], [0.0]]), 1)
    >>> x[:, 0].tolist(), good.tolist()
    ([1.0, 1.0], [True])
    """
    k, lanes = right.shape
    first = np.zeros(lanes) if first is None else first
    if lanes < _LANES:
        matrix, right, first = (np.concatenate([a, np.repeat(a[..., -1:], _LANES - lanes, axis=-1)], axis=-1) if lanes else
                                np.ones((*a.shape[:-1], _LANES)) for a in (matrix, right, first))
    count = right.shape[1]
    inputs = [np.ascontiguousarray(a) for a in (matrix, right, first, np.full(_LANES, factor))]
    outputs = [np.empty((k, count)), np.empty(count), np.empty(count)]
    scratch = np.empty(_LANES * (3 + k + k * (k + 1)) + _LANES)
    words = pack("11q", k, count, positive, tries, *(address(a) for a in inputs + outputs))
    blocks, counter, entry = -(-count // _LANES), ctypes.c_int64(0), _entry()
    KernelWrapper.call(entry, words, None, None, address(scratch), count, blocks, blocks, ctypes.addressof(counter), None, 1)
    x, good, added = (a[..., :lanes] for a in outputs)
    return x, good == 1.0, added
