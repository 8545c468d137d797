"""Systems of linear equations whose graph is a tree of width 2, by elimination: a native loop, in a time that is linear.

The variables are numbered in the order in which they are eliminated. Of those after it, variable i meets at most two, `first` and
`second`, in the elements off[2 i] and off[2 i + 1] of the symmetric matrix; `between` says where in `off` the element of these
two stands. Where there is none, they are n, and `between` is 2 n. Every operation rounds upward, whatever the caller's control
word is, and none is fused or reordered: the bits are the same on every machine.
"""

import ctypes
from functools import cache

import numpy as np

from infimum.backend.host import ATTRIBUTES, LOCK, PARAMETERS, Enter, Module

_OPERATIONS = "sub", "mul", "div"
_HEAD = "\n".join(f"declare double @llvm.experimental.constrained.f{op}.f64(double, double, metadata, metadata)"
                  for op in _OPERATIONS)


class _Writer:
    """A loop over variables, from the first or from the last one on. `doubles` and `numbers` are the names of its arrays."""

    def __init__(self, name: str, doubles: str, numbers: str, backwards: bool = False):
        self.name, self.backwards, self.lines, self.count = name, backwards, [], 0
        self.types = dict.fromkeys(doubles.split(), "double") | dict.fromkeys(numbers.split(), "i64")

    def let(self, text: str) -> str:
        self.count += 1
        self.lines.append(f"  %t{self.count} = {text}")
        return f"%t{self.count}"

    def load(self, array: str, at: str = "%i") -> str:
        return self.let(f"load {self.types[array]}, ptr {self._place(array, at)}")

    def store(self, array: str, at: str, value: str) -> None:
        self.lines.append(f"  store {self.types[array]} {value}, ptr {self._place(array, at)}")

    def _place(self, array: str, at: str) -> str:
        return self.let(f"getelementptr {self.types[array]}, ptr %{array}, i64 {at}")

    def rounded(self, op: str, x: str, y: str) -> str:
        mode = 'metadata !"round.upward", metadata !"fpexcept.ignore"'
        return self.let(f"call double @llvm.experimental.constrained.f{op}.f64(double {x}, double {y}, {mode}) #1")

    def larger(self, x: str, y: str) -> str:
        return self.let(f"select i1 {self.let(f'fcmp ogt double {x}, {y}')}, double {x}, double {y}")

    def text(self) -> str:
        given = [f"  %at.{array} = getelementptr ptr, ptr %arrays, i64 {k}\n  %{array} = load ptr, ptr %at.{array}"
                 for k, array in enumerate(self.types)]
        index = "  %last = sub i64 %total, 1\n  %i = sub i64 %last, %turn" if self.backwards else "  %i = add i64 %turn, 0"
        return "\n".join([f"define void @{self.name}({PARAMETERS}) #0 {{", "entry:", *given, "  br label %check", "check:",
                          "  %turn = phi i64 [ 0, %entry ], [ %next, %body ]", "  %more = icmp slt i64 %turn, %total",
                          "  br i1 %more, label %body, label %done", "body:", index, *self.lines, "  %next = add i64 %turn, 1",
                          "  br label %check", "done:", "  ret void", "}"])


def _forwards() -> str:
    """Pivots become positive: where the matrix is not definite, the solution still leads downhill."""
    w = _Writer("infimum_eliminate", "diagonal off right least", "first second between")
    left = w.let("mul i64 %i, 2")
    right = w.let(f"add i64 {left}, 1")
    raw = w.load("diagonal")
    pivot = w.larger(w.larger(raw, w.let(f"fneg double {raw}")), w.load("least"))
    value, one, other = w.load("right"), w.load("off", left), w.load("off", right)
    first, second, between = w.load("first"), w.load("second"), w.load("between")
    parts = [w.rounded("div", element, pivot) for element in (one, other)]
    for array, at, part, element in (("diagonal", first, parts[0], one), ("diagonal", second, parts[1], other),
                                     ("off", between, parts[0], other), ("right", first, parts[0], value),
                                     ("right", second, parts[1], value)):
        w.store(array, at, w.rounded("sub", w.load(array, at), w.rounded("mul", part, element)))
    for array, at, known in (("diagonal", "%i", pivot), ("off", left, parts[0]), ("off", right, parts[1])):
        w.store(array, at, known)
    return w.text()


def _backwards() -> str:
    w = _Writer("infimum_substitute", "diagonal off right x", "first second", backwards=True)
    left = w.let("mul i64 %i, 2")
    right = w.let(f"add i64 {left}, 1")
    value = w.rounded("div", w.load("right"), w.load("diagonal"))
    for at, link in ((left, "first"), (right, "second")):
        value = w.rounded("sub", value, w.rounded("mul", w.load("off", at), w.load("x", w.load(link))))
    w.store("x", "%i", value)
    return w.text()


@cache
def _module() -> Module:
    with LOCK:
        module = Module("\n".join([_HEAD, _forwards(), _backwards(), Enter.text(), ATTRIBUTES]))
        Enter.found_in(module)
        return module


def _run(name: str, count: int, arrays: list[np.ndarray]) -> None:
    pointers = (ctypes.c_int64 * len(arrays))(*(a.ctypes.data for a in arrays))
    at, counter, entry = ctypes.addressof(pointers), ctypes.c_int64(0), _module().address(name)
    Enter.call(entry, at, None, None, None, count, count, count, ctypes.addressof(counter), at, 1)


def solve(diagonal: np.ndarray, off: np.ndarray, right: np.ndarray, least: np.ndarray, links: np.ndarray) -> np.ndarray:
    """The solution (n,), with pivots replaced by their absolute values, or by `least` where they are less. `links` (3, n) are
    first, second, between. An estimate.

    >>> links = np.array([[1, 2], [2, 2], [4, 4]])  # 2 x + y = 4, x + 3 y = 7
    >>> solve(np.array([2.0, 3.0]), np.array([1.0, 0.0, 0.0, 0.0]), np.array([4.0, 7.0]), np.zeros(2), links)
    array([1., 2.])
    """
    n = len(right)
    diagonal, off, right = (np.append(a, 0.0) for a in (diagonal, off, right))
    x = np.zeros(n + 1)
    _run("infimum_eliminate", n, [diagonal, off, right, least, *links])
    _run("infimum_substitute", n, [diagonal, off, right, x, *links[:2]])
    return x[:n]
