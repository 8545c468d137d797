"""Systems of linear equations whose graph is narrow, by elimination: native loops, in a time that is linear.

The variables are numbered in the order in which they are eliminated. Of those after it, variable i meets at most `width`, which
are `links[:, i]`, in the elements off[width i + k] of the symmetric matrix. Where there is none, the link is n. What eliminating
them adds to is already there: for each pair of links, `between` says where in `off` the element of these two stands, and width n
if there is none. Every operation rounds upward, whatever the caller's control word is, and none is fused or reordered: the bits
are the same on every machine. All of it is an estimate.
"""

import ctypes
from functools import cache
from typing import NamedTuple

import numpy as np

from infimum.backend.processor import ATTRIBUTES, LOCK, PARAMETERS, KernelWrapper, Module

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


def _names(width: int) -> tuple[list[str], dict[tuple[int, int], str]]:
    """The names of the links, and of what says where the elements of two of them stand."""
    return [f"link{k}" for k in range(width)], {(k, m): f"between{k}.{m}" for k in range(width) for m in range(k + 1, width)}


def _forwards(width: int) -> str:
    """Pivots become positive: where the matrix is not definite, the solution still leads downhill. `raw` is what they were."""
    links, between = _names(width)
    w = _Writer("infimum_eliminate", "diagonal off right least raw", " ".join([*links, *between.values()]))
    places = [w.let(f"add i64 {w.let(f'mul i64 %i, {width}')}, {k}") for k in range(width)]
    raw = w.load("diagonal")
    pivot = w.larger(w.larger(raw, w.let(f"fneg double {raw}")), w.load("least"))
    value, elements, others = w.load("right"), [w.load("off", at) for at in places], [w.load(link) for link in links]
    parts = [w.rounded("div", element, pivot) for element in elements]
    for k, (part, element, other) in enumerate(zip(parts, elements, others, strict=True)):
        for array, at, by in (("diagonal", other, element), ("right", other, value),
                              *(("off", w.load(between[k, m]), elements[m]) for m in range(k + 1, width))):
            w.store(array, at, w.rounded("sub", w.load(array, at), w.rounded("mul", part, by)))
    for array, at, known in (("raw", "%i", raw), ("diagonal", "%i", pivot),
                             *(("off", at, part) for at, part in zip(places, parts, strict=True))):
        w.store(array, at, known)
    return w.text()


def _backwards(width: int) -> str:
    links, _ = _names(width)
    w = _Writer("infimum_substitute", "diagonal off right x", " ".join(links), backwards=True)
    value = w.rounded("div", w.load("right"), w.load("diagonal"))
    for k, link in enumerate(links):
        at = w.let(f"add i64 {w.let(f'mul i64 %i, {width}')}, {k}")
        value = w.rounded("sub", value, w.rounded("mul", w.load("off", at), w.load("x", w.load(link))))
    w.store("x", "%i", value)
    return w.text()


def _inverted(width: int) -> str:
    """The elements of the inverse that stand where the matrix has some, from the last row on: `inverse` are those on its
    diagonal, `beside` the others."""
    links, between = _names(width)
    w = _Writer("infimum_invert", "diagonal off inverse beside", " ".join([*links, *between.values()]), backwards=True)
    places = [w.let(f"add i64 {w.let(f'mul i64 %i, {width}')}, {k}") for k in range(width)]
    parts, own = [w.load("off", at) for at in places], w.rounded("div", "1.0", w.load("diagonal"))
    for k, (place, part) in enumerate(zip(places, parts, strict=True)):
        element = w.rounded("sub", "0.0", w.rounded("mul", part, w.load("inverse", w.load(links[k]))))
        for m in range(width):
            if m != k:
                known = w.load("beside", w.load(between[min(k, m), max(k, m)]))
                element = w.rounded("sub", element, w.rounded("mul", parts[m], known))
        w.store("beside", place, element)
        own = w.rounded("sub", own, w.rounded("mul", part, element))
    w.store("inverse", "%i", own)
    return w.text()


@cache
def _module(width: int = 2) -> Module:
    with LOCK:
        module = Module("\n".join([_HEAD, _forwards(width), _backwards(width), _inverted(width), KernelWrapper.text(),
                                   ATTRIBUTES]))
        KernelWrapper.found_in(module)
        return module


def _run(width: int, name: str, count: int, arrays: list[np.ndarray]) -> None:
    pointers = (ctypes.c_int64 * len(arrays))(*(a.ctypes.data for a in arrays))
    at, counter, entry = ctypes.addressof(pointers), ctypes.c_int64(0), _module(width).address(name)
    KernelWrapper.call(entry, at, None, None, None, count, count, count, ctypes.addressof(counter), at, 1)


class SparseFactors(NamedTuple):
    """L D Lᵀ: the pivots D (n,), before they were made positive too, and the elements of L beside the diagonal (width n,)."""

    pivots: np.ndarray
    raw: np.ndarray
    parts: np.ndarray


def _width(links: np.ndarray) -> int:
    """That of `links`: width rows of links, then one row for each pair of them."""
    return next(width for width in range(len(links) + 1) if width * (width + 1) // 2 == len(links))


def solve(diagonal: np.ndarray, off: np.ndarray, right: np.ndarray, least: np.ndarray, links: np.ndarray) -> np.ndarray:
    """The solution (n,), with pivots replaced by their absolute values, or by `least` where they are less. `links` are the links,
    then `between` for the pairs (0, 1), (0, 2), …, (1, 2), …

    >>> links = np.array([[1, 2], [2, 2], [4, 4]])  # 2 x + y = 4, x + 3 y = 7
    >>> solve(np.array([2.0, 3.0]), np.array([1.0, 0.0, 0.0, 0.0]), np.array([4.0, 7.0]), np.zeros(2), links)
    array([1., 2.])
    """
    return _solved(diagonal, off, right, least, links)[1]


def factored(diagonal: np.ndarray, off: np.ndarray, links: np.ndarray) -> SparseFactors:
    """The factors of the matrix.

    >>> factored(np.array([2.0, 3.0]), np.array([1.0, 0.0]), np.array([[1, 2]])).raw
    array([2. , 2.5])
    """
    return _solved(diagonal, off, np.zeros(len(diagonal)), np.zeros(len(diagonal)), links)[0]


def _solved(diagonal: np.ndarray, off: np.ndarray, right: np.ndarray, least: np.ndarray,
            links: np.ndarray) -> tuple[SparseFactors, np.ndarray]:
    n, width = len(right), _width(links)
    diagonal, off, right = (np.append(a, 0.0) for a in (diagonal, off, right))
    x, raw = np.zeros(n + 1), np.empty(n)
    _run(width, "infimum_eliminate", n, [diagonal, off, right, least, raw, *links])
    _run(width, "infimum_substitute", n, [diagonal, off, right, x, *links[:width]])
    return SparseFactors(diagonal[:n], raw, off[:-1]), x[:n]


def inverse_diagonal(known: SparseFactors, links: np.ndarray) -> np.ndarray:
    """The diagonal of the inverse (n,), in a time that is linear as well.

    >>> links = np.array([[1, 2]])
    >>> inverse_diagonal(factored(np.array([2.0, 1.0]), np.array([1.0, 0.0]), links), links)
    array([1., 2.])
    """
    n, width = len(known.pivots), _width(links)
    inverse, beside = np.zeros(n + 1), np.zeros(width * n + 1)
    _run(width, "infimum_invert", n, [known.pivots, known.parts, inverse, beside, *links])
    return inverse[:n]
