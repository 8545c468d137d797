"""Hoisting: a function of many variables, seen from one of them.

`local_form(f, x)` writes f as an expression L of a single variable y, the variable number j of x, and of numbers that do not
depend on it: for every j, f(x) = L(x[j]; numbers of j). Reductions are taken apart at j: what stands before j, the terms that
read x[j], what stands after; nothing is ever subtracted back out. So f over a box with x[j] restricted costs O(1) for each j and
restriction, once the numbers are known, and these cost O(n) for all j together, by running sums and products from both sides.

What can be taken apart: reductions over vectors whose elements are computed element by element from x, from shifted parts of x
(`x[1:]`, `x[:-1]`) and constants, and single elements of such vectors, joined by any scalar operations. Where a term reads a
scalar that itself depends on x (a mean), that scalar is a number of its own which holds for the whole box: values stay enclosed,
but the derivative by y would miss a part, so that `exact` is False.
"""

import sys
from dataclasses import dataclass, field

import numpy as np

from infimum.expr.build import build
from infimum.expr.node import Expr, const, topological, var
from infimum.expr.ops import Kind

Y = "y"
EXACT = ("constant", "inside")  # kinds of numbers that are known exactly; of the others an enclosure and its status
_SCAN = {"sum": "cumsum", "prod": "cumprod", "amin": "cummin", "amax": "cummax", "norm": "cumsum"}
_JOIN = {"sum": "add", "prod": "mul", "amin": "min", "amax": "max"}
NEUTRAL = {"sum": 0.0, "prod": 1.0, "amin": np.inf, "amax": -np.inf, "norm": 0.0}


@dataclass(frozen=True, slots=True)
class Number:
    """A number of L, for every j: what `source` holds at position j + shift, within its length; beyond it the end nearest to it.

    kind: "array" (`source` is a vector expression in x), "scalar" (a scalar expression, the same for every j), "constant" (an
    array of doubles, `source`), "inside" (1 where 0 <= j + shift < size, else 0), "before" and "after" (what a reduction has
    before position j + shift, and from there on: `source` is the vector of its terms), "others" (the norm of both, for `norm`,
    before j + shift and from j + stop on).
    """

    name: str
    kind: str
    source: object = None
    shift: int = 0
    size: int = 0
    op: str = ""
    stop: int = 0


@dataclass(slots=True)
class LocalForm:
    """L, its numbers, and whether they are all independent of y."""

    value: Expr
    numbers: list[Number] = field(default_factory=list)
    exact: bool = True


class NotLocal(Exception):
    """The function cannot be taken apart."""


def local_form(f: Expr, x: Expr, block: int = 1) -> LocalForm | None:
    """f seen from one variable, or from `block` consecutive ones (y, y1, y2, …, from variable j on); None if it cannot be taken
    apart."""
    depends: set[Expr] = set()
    for node in topological([f]):
        if node is x or not depends.isdisjoint(node.args):
            depends.add(node)
    writer, deep = _Writer(x, depends, block), sys.getrecursionlimit()
    sys.setrecursionlimit(max(deep, 200_000))  # expressions may be deep; what is found must not depend on the caller's stack
    try:
        value = writer.scalar(f)
    except NotLocal:
        return None
    finally:
        sys.setrecursionlimit(deep)
    return LocalForm(value, list(writer.numbers.values()), writer.exact)


class _Writer:
    def __init__(self, x: Expr, depends: set[Expr], block: int):
        self.x, self.n, self.depends, self.block = x, x.size, depends, block
        self.numbers: dict[tuple, Number] = {}
        self.exact = True
        self.y = block_variables(block)
        self._scalars: dict[Expr, Expr] = {}
        self._elements: dict[tuple[Expr, int], Expr] = {}

    def number(self, kind: str, source: object = None, shift: int = 0, size: int = 0, op: str = "", stop: int = 0) -> Expr:
        key = (kind, id(source), shift, size, op, stop)
        if key not in self.numbers:
            self.numbers[key] = Number(f"c{len(self.numbers)}", kind, source, shift, size, op, stop)
        return var(self.numbers[key].name, ())

    # ---- scalars
    def scalar(self, node: Expr) -> Expr:
        if node not in self._scalars:
            self._scalars[node] = self._scalar(node)
        return self._scalars[node]

    def _scalar(self, node: Expr) -> Expr:
        if node not in self.depends:
            return node
        if node.kind in (Kind.MAP, Kind.TEST) and node.shape == ():
            return build(node.op, *(self.scalar(a) for a in node.args), **dict(node.params))
        if node.op == "reshape" and node.size == 1:
            return self._single(node)
        if node.kind is Kind.REDUCE and node.shape == () and len(node.args[0].shape) == 1:
            return self._reduction(node)
        raise NotLocal

    def _single(self, node: Expr) -> Expr:
        """One element of a vector: seen from the variables it reads, that element; from all others, what it is on the whole
        box."""
        source, at = node.args[0], 0
        while source.op == "slice" and len(source.shape) == 1 and source["steps"] == (1,):
            at, source = at + source["starts"][0], source.args[0]
        if source.shape != (self.n,) and source.size != 1:
            raise NotLocal
        value = self.number("scalar", node)
        offsets = self._offsets(source)
        if not offsets:
            return value
        for shift in range(-offsets[-1], self.block - offsets[0]):
            here = self.number("inside", None, shift - at, 1)
            value = build("where", build("lt", const(0.5), here), self.element(source, shift), value)
        return value

    def _reduction(self, node: Expr) -> Expr:
        terms = node.args[0]
        offsets = self._offsets(terms)
        if not offsets or offsets[-1] - offsets[0] > 4:
            raise NotLocal
        first, last, size = -offsets[-1], self.block - 1 - offsets[0], terms.size  # the terms at j + first … j + last read y
        parts = []
        for shift in range(first, last + 1):
            term = self.element(terms, shift)
            if shift < 0 or shift + self.n - self.block + 1 > size:
                here = build("lt", const(0.5), self.number("inside", None, shift, size))
                term = build("where", here, term, const(NEUTRAL[node.op]))
            parts.append(term)
        if node.op == "norm":
            value = self.number("others", build("powi", terms, k=2), first, size, "norm", last + 1)
            for part in parts:
                value = build("hypot", value, part)
            return value
        value = build(_JOIN[node.op], self.number("before", terms, first, size, node.op),
                      self.number("after", terms, last + 1, size, node.op))
        for part in parts:
            value = build(_JOIN[node.op], value, part)
        return value

    # ---- elements of vectors
    def _offsets(self, node: Expr) -> list[int]:
        """Element i of the vector reads x[i + offset] for these offsets."""
        found: set[int] = set()
        stack, seen = [(node, 0)], set()
        while stack:
            node, shift = stack.pop()
            if (node, shift) in seen:
                continue
            seen.add((node, shift))
            if node is self.x:
                found.add(shift)
            elif node not in self.depends:
                continue
            elif node.op == "broadcast":
                self.exact = False  # a scalar that depends on x reaches every element, whichever variable is looked from
            elif node.op == "slice" and len(node.shape) == 1 and node["steps"] == (1,):
                stack.append((node.args[0], shift + node["starts"][0]))
            elif node.kind in (Kind.MAP, Kind.TEST):
                stack += [(a, shift) for a in node.args]
            else:
                raise NotLocal
        return sorted(found)

    def element(self, node: Expr, shift: int) -> Expr:
        """The element of the vector at position j + shift."""
        key = (node, shift)
        if key not in self._elements:
            self._elements[key] = self._element(node, shift)
        return self._elements[key]

    def _element(self, node: Expr, shift: int) -> Expr:
        if node is self.x:
            return self.y[shift] if 0 <= shift < self.block else self.number("array", node, shift, node.size)
        if node.op == "broadcast" and node.args[0].size == 1:
            return self._spread(node.args[0])
        if node not in self.depends and node.kind is not Kind.TEST:  # a truth value is no number
            if node.op != "const" or node.lo is not node.hi:
                return self.number("array", node, shift, node.size)
            return const(node.lo.flat[0]) if node.size == 1 else self.number("constant", node.lo, shift, node.size)
        if node.op == "slice" and len(node.shape) == 1 and node["steps"] == (1,):
            return self.element(node.args[0], shift + node["starts"][0])
        if node.kind in (Kind.MAP, Kind.TEST):
            return build(node.op, *(self.element(a, shift) for a in node.args), **dict(node.params))
        raise NotLocal

    def _spread(self, scalar: Expr) -> Expr:
        """A scalar that every element reads."""
        if scalar not in self.depends:
            return scalar if scalar.shape == () else build("reshape", scalar, shape=())
        self.exact = False
        return self.number("scalar", scalar)


def block_variables(block: int) -> list[Expr]:
    """The variables of a local form."""
    return [var(Y if k == 0 else f"{Y}{k}", ()) for k in range(block)]


def sources(number: Number) -> list[Expr]:
    """The expressions in x that a number is read from: for a reduction the running combination of what is before each term, of
    what is after each, and of all terms."""
    if number.kind == "scalar" or (number.kind == "array" and number.source.op != "var"):
        return [number.source]
    if number.kind not in ("before", "after", "others"):
        return []
    scan, whole = _SCAN[number.op], "sum" if number.op == "norm" else number.op
    return [*(build(scan, number.source, reverse=reverse, exclusive=True) for reverse in (False, True)),
            build(whole, number.source, axes=(0,))]


def all_sources(form: LocalForm) -> list[Expr]:
    """The sources of all numbers, each once, in a fixed order."""
    return list(dict.fromkeys(node for number in form.numbers for node in sources(number)))
