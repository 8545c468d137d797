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

from collections.abc import Generator
from dataclasses import field

from infimum.expr.build import build
from infimum.expr.node import Expr, const, topological, var
from infimum.expr.rewriting_switches import step
from infimum.ops.vocabulary import OPS, Kind
from infimum.search.policy.search import REARRANGEMENT as POLICY
from infimum.structure.arrange_reductions import arranged
from infimum.support.lazy import dataclass

Y = "y"
EXACT = ("constant", "inside")  # kinds of numbers that are known exactly; of the others an enclosure and its status
_SCAN = {"sum": "cumsum", "prod": "cumprod", "amin": "cummin", "amax": "cummax", "norm": "cumsum"}
NEUTRAL = {name: row.neutral[1] for name, row in OPS.items() if row.neutral is not None}


@dataclass(frozen=True, slots=True)
class LocalNumber:
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
    """L, its numbers, whether they are all independent of y, and which of their sources have terms of one variable each."""

    value: Expr
    numbers: list[LocalNumber] = field(default_factory=list)
    exact: bool = True
    terms: "dict[Expr, Term]" = field(default_factory=dict)  # of the sources of numbers whose elements read one variable each


@dataclass(frozen=True, slots=True)
class Term:
    """The element of a vector that reads variable j alone: it stands at j + shift and is `value`, an expression like L."""

    shift: int
    value: Expr


class NotLocal(Exception):
    """The function cannot be taken apart."""


@step("local forms", lambda f, x, block=1: None)
def local_form(f: Expr, x: Expr, block: int = 1) -> LocalForm | None:
    """f seen from one variable, or from `block` consecutive ones (y, y1, y2, …, from variable j on); None if it cannot be taken
    apart."""
    f = arranged(f, x)
    depends: set[Expr] = set()
    for node in topological([f]):
        if node is x or not depends.isdisjoint(node.args):
            depends.add(node)
    writer = _Writer(x, depends, block)
    try:
        value = writer.write(f)
    except NotLocal:
        return None
    return LocalForm(value, list(writer.numbers.values()), writer.exact, writer.terms)


Asked = tuple[Expr] | tuple[Expr, int]  # a scalar, or a vector and the shift of the element that is meant
Writing = Generator[Asked, Expr, Expr]  # asks for parts, is sent them, returns the whole


class _Writer:
    def __init__(self, x: Expr, depends: set[Expr], block: int):
        self.x, self.n, self.depends, self.block = x, x.size, depends, block
        self.numbers: dict[tuple, LocalNumber] = {}
        self.exact = True
        self.terms: dict[Expr, Term] = {}
        self.y = block_variables(block)
        self._written: dict[Asked, Expr] = {}
        self._reads: dict[Expr, tuple[int, int] | None] = {}

    def number(self, kind: str, source: object = None, shift: int = 0, size: int = 0, op: str = "", stop: int = 0) -> Expr:
        key = (kind, id(source), shift, size, op, stop)
        if key not in self.numbers:
            self.numbers[key] = LocalNumber(f"c{len(self.numbers)}", kind, source, shift, size, op, stop)
        return var(self.numbers[key].name, ())

    def write(self, f: Expr) -> Expr:
        """The scalar f. Expressions may be deep: what asks for a part waits on a list, not on Python's stack."""
        waiting: list[tuple[Asked, Writing]] = [((f,), self._scalar(f))]
        part = None
        while waiting:
            asked, writing = waiting[-1]
            try:
                wanted = writing.send(part)
            except StopIteration as end:
                part = self._written[asked] = end.value
                waiting.pop()
                continue
            part = self._written.get(wanted)
            if part is None:
                waiting.append((wanted, self._scalar(*wanted) if len(wanted) == 1 else self._element(*wanted)))
        return part

    # ---- scalars
    def _scalar(self, node: Expr) -> Writing:
        if node not in self.depends:
            return node
        if node.kind in (Kind.MAP, Kind.TEST) and node.shape == ():
            parts = []
            for a in node.args:
                parts.append((yield a,))
            return build(node.op, *parts, **dict(node.params))
        if node.op == "reshape" and node.size == 1:
            return (yield from self._single(node))
        if node.kind is Kind.REDUCE and node.shape == () and len(node.args[0].shape) == 1:
            return (yield from self._reduction(node))
        raise NotLocal

    def _single(self, node: Expr) -> Writing:
        """One element of a vector: seen from the variables it reads, that element; from all others, what it is on the whole
        box."""
        source, at = node.args[0], 0
        while _is_shift(source):
            at, source = at + source["starts"][0], source.args[0]
        if source.shape != (self.n,) and source.size != 1:
            raise NotLocal
        value = self.number("scalar", node)
        offsets = self._offsets(source)
        if offsets is None:
            return value
        if offsets[1] - offsets[0] > POLICY.element_reach:
            raise NotLocal
        for shift in range(-offsets[1], self.block - offsets[0]):
            here = self.number("inside", None, shift - at, 1)
            value = build("where", build("lt", const(0.5), here), (yield source, shift), value)
        return value

    def _reduction(self, node: Expr) -> Writing:
        terms = node.args[0]
        offsets = self._offsets(terms)
        if offsets is None or offsets[1] - offsets[0] > POLICY.term_reach:
            raise NotLocal
        first, last, size = -offsets[1], self.block - 1 - offsets[0], terms.size  # the terms at j + first … j + last read y
        source = build("powi", terms, k=2) if node.op == "norm" else terms
        parts = []
        for shift in range(first, last + 1):
            term = yield terms, shift
            if first == last:
                self.terms[source] = Term(shift, build("powi", term, k=2) if node.op == "norm" else term)
            if shift < 0 or shift + self.n - self.block + 1 > size:
                here = build("lt", const(0.5), self.number("inside", None, shift, size))
                term = build("where", here, term, const(NEUTRAL[node.op]))
            parts.append(term)
        if node.op == "norm":
            value = self.number("others", source, first, size, "norm", last + 1)
            for part in parts:
                value = build("hypot", value, part)
            return value
        value = build(OPS[node.op].of_two, self.number("before", terms, first, size, node.op),
                      self.number("after", terms, last + 1, size, node.op))
        for part in parts:
            value = build(OPS[node.op].of_two, value, part)
        return value

    # ---- elements of vectors
    def _offsets(self, node: Expr) -> tuple[int, int] | None:
        """Element i of the vector reads x[i + offset] for offsets from the first to the second; None if it reads no element."""
        stack = [node]
        while stack:
            top = stack[-1]
            args = self._read_through(top) if top not in self._reads else ()
            missing = [a for a in args if a not in self._reads]
            if missing:
                stack += missing
                continue
            stack.pop()
            if top not in self._reads:
                found = [(0, 0)] if top is self.x else [r for a in args if (r := self._reads[a]) is not None]
                start = top["starts"][0] if top.op == "slice" and args else 0
                self._reads[top] = (min(r[0] for r in found) + start, max(r[1] for r in found) + start) if found else None
        return self._reads[node]

    def _read_through(self, node: Expr) -> tuple[Expr, ...]:
        """The vectors from which the elements of this one are computed, each from those at its own position or a fixed shift."""
        if node is self.x or node not in self.depends:
            return ()
        if node.op == "broadcast":
            self.exact = False  # a scalar that depends on x reaches every element, whichever variable is looked from
            return ()
        if _is_shift(node) or node.kind in (Kind.MAP, Kind.TEST):
            return node.args
        raise NotLocal

    def _element(self, node: Expr, shift: int) -> Writing:
        """The element of the vector at position j + shift."""
        if node is self.x:
            return self.y[shift] if 0 <= shift < self.block else self.number("array", node, shift, node.size)
        if node.op == "broadcast" and node.args[0].size == 1:
            return self._spread(node.args[0])
        if node not in self.depends and node.kind is not Kind.TEST:  # a truth value is no number
            if node.op != "const" or node.lo is not node.hi:
                return self.number("array", node, shift, node.size)
            return const(node.lo.flat[0]) if node.size == 1 else self.number("constant", node.lo, shift, node.size)
        if _is_shift(node):
            return (yield node.args[0], shift + node["starts"][0])
        if node.kind in (Kind.MAP, Kind.TEST):
            parts = []
            for a in node.args:
                parts.append((yield a, shift))
            return build(node.op, *parts, **dict(node.params))
        raise NotLocal

    def _spread(self, scalar: Expr) -> Expr:
        """A scalar that every element reads."""
        if scalar not in self.depends:
            return scalar if scalar.shape == () else build("reshape", scalar, shape=())
        self.exact = False
        return self.number("scalar", scalar)


def _is_shift(node: Expr) -> bool:
    """Is the vector a run of another one?"""
    return node.op == "slice" and len(node.shape) == 1 and node["steps"] == (1,)


def block_variables(block: int) -> list[Expr]:
    """The variables of a local form."""
    return [var(Y if k == 0 else f"{Y}{k}", ()) for k in range(block)]


def sources(number: LocalNumber) -> list[Expr]:
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
