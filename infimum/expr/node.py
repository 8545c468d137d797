"""Expr: an immutable, shared, shaped expression over arrays."""

import math
import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np

from infimum.ops.vocabulary import OPS, Kind
from infimum.support.clock import check_time
from infimum.support.digests import blake2b

Shape = tuple[int, ...]
_INFIX = {"add": "+", "sub": "-", "mul": "*", "div": "/", "lt": "<", "le": "<=", "eq": "=="}


class Index:
    """A constant vector of positions, hashable by content: which elements `gather` takes."""

    __slots__ = ("array", "key")

    def __init__(self, array: np.ndarray):
        self.array = np.ascontiguousarray(array, dtype=np.int64).reshape(-1)
        self.array.flags.writeable = False
        self.key = blake2b(self.array.tobytes(), digest_size=16).hexdigest()

    def __hash__(self) -> int:
        return hash(self.key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Index) and self.key == other.key

    def __repr__(self) -> str:
        return f"Index({np.array2string(self.array, threshold=6)})"


class Expr:
    """A node of the expression graph. Equal nodes are one object, so `is` compares expressions.

    `op` names a row of `ops.OPS`, `args` are Exprs, `params` a tuple of (name, value) pairs, `shape` the shape of the value;
    `lo` and `hi` are set on constants only (equal arrays where the constants are doubles); `line` is "file:line" of the
    user's code that first made the node and is no part of its identity.
    """

    __slots__ = ("op", "args", "params", "shape", "line", "lo", "hi", "_key", "size", "kind", "__weakref__")

    op: str
    args: tuple["Expr", ...]
    params: tuple[tuple[str, Any], ...]
    shape: Shape
    line: str | None
    lo: np.ndarray | None
    hi: np.ndarray | None
    size: int
    kind: Kind

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"an Expr is immutable: cannot set {name}")

    def __reduce__(self):
        raise TypeError("an Expr is not picklable: send the function and trace it again")

    def __getitem__(self, name: str) -> Any:
        """The parameter called `name`."""
        for key, value in self.params:
            if key == name:
                return value
        raise KeyError(name)

    @property
    def key(self) -> str:
        """Content key: equal for equal expressions in every process; the source line has no part in it."""
        if self._key is None:
            for node in topological([self]):
                if node._key is None:
                    object.__setattr__(node, "_key", _digest(node))
        return self._key

    def __repr__(self) -> str:
        return one_line(self)


def _digest(node: Expr) -> str:
    h = blake2b(digest_size=16)
    params = tuple((k, getattr(v, "key", v)) for k, v in node.params)
    h.update(repr((node.op, params, node.shape)).encode())
    for arg in node.args:
        h.update(arg._key.encode())
    if node.lo is not None:
        h.update(node.lo.tobytes())
        h.update(node.hi.tobytes())
    return h.hexdigest()


_SET_SLOT = [vars(Expr)[name].__set__ for name in Expr.__slots__[:10]]  # past the refusing __setattr__, and fast
_LINE = Expr.__slots__.index("line")
_nodes: "weakref.WeakValueDictionary[tuple, Expr]" = weakref.WeakValueDictionary()


def make(op: str, args: tuple[Expr, ...], shape: Shape, params: dict[str, Any] | None = None, line: str | None = None,
         lo: np.ndarray | None = None, hi: np.ndarray | None = None) -> Expr:
    """The one place where nodes are born: returns the existing equal node if there is one."""
    rows = tuple(sorted(params.items())) if params else ()
    data = None if lo is None else (lo.tobytes(), None if hi is lo else hi.tobytes())
    identity = (op, tuple(map(id, args)), rows, shape, data)
    found = _nodes.get(identity)
    if found is not None:
        if line is not None and getattr(found.line, "code", None) is not getattr(line, "code", None):
            _SET_SLOT[_LINE](found, line)  # of the function that is traced now, not of an earlier one
        return found
    check_time()
    node = object.__new__(Expr)
    values = op, args, rows, shape, line, lo, hi, None, math.prod(shape), OPS[op].kind
    for set_slot, value in zip(_SET_SLOT, values, strict=True):
        set_slot(node, value)
    return _nodes.setdefault(identity, node)


def lines_of(roots: list[Expr]) -> list[tuple[Expr, str]]:
    """The nodes of expressions that know a line of the user's code, with that line: another function that is traced later and
    has a node in common takes it for its own."""
    return [(node, node.line) for node in topological(roots) if node.line is not None]


def restore_lines(lines: list[tuple[Expr, str]]) -> None:
    """Gives nodes the lines that they had."""
    for node, line in lines:
        _SET_SLOT[_LINE](node, line)


def var(name: str, shape: Shape) -> Expr:
    """An input vector."""
    return make("var", (), shape, {"name": name})


def const(value: Any, upper: Any = None) -> Expr:
    """A constant: the exact doubles `value`, or with `upper` real numbers of which only value <= c <= upper is known."""
    if upper is not None and not np.array_equal(value, upper):
        return between(value, upper)
    lo = _freeze(value)
    return make("const", (), lo.shape, lo=lo, hi=lo)


def between(lower: Any, upper: Any) -> Expr:
    """A constant with two ends, even if they are equal."""
    lo, hi = _freeze(lower), _freeze(upper)
    return make("const", (), lo.shape, lo=lo, hi=hi)


def _freeze(value: Any) -> np.ndarray:
    array = np.array(value, dtype=np.float64, order="C")
    array += 0.0  # zero has no sign
    array.flags.writeable = False
    return array


def is_const(node: Expr, value: float | None = None) -> bool:
    """Is the node a constant, and, if a value is given, that double in every element?"""
    if node.op != "const":
        return False
    return value is None or (node.lo is node.hi and bool((node.lo == value).all()))


def is_number(node: Expr, value: float | None = None) -> bool:
    """The same for a constant that is repeated or reshaped as well."""
    while node.op in ("broadcast", "reshape"):
        node = node.args[0]
    return is_const(node, value)


def topological(roots: list[Expr], leaf: Expr | None = None) -> Iterator[Expr]:
    """Every node that the roots need, once each, arguments before users, in a fixed order; what `leaf` needs is left out."""
    seen: set[int] = set()
    stack = [(root, False) for root in reversed(roots)]
    while stack:
        node, done = stack.pop()
        if done:
            yield node
        elif id(node) not in seen:
            seen.add(id(node))
            if not len(seen) & 1023:
                check_time()
            stack.append((node, True))
            if node is not leaf:
                stack.extend([(arg, False) for arg in reversed(node.args)])


# ---- as text
def operations(*roots: Expr) -> int:
    """How many nodes the roots are computed from, with themselves."""
    return sum(1 for _ in topological(list(roots)))


def leaf_text(node: Expr) -> str | None:
    """A variable or a constant; None for an operation."""
    if node.op == "var":
        return node["name"]
    if node.op != "const":
        return None
    if node.size == 1 and node.lo is node.hi:
        return f"{float(node.lo.flat[0])!r}"
    if node.size == 1:
        return f"[{float(node.lo.flat[0])!r}, {float(node.hi.flat[0])!r}]"
    return f"const{list(node.shape)}"


def call_text(node: Expr, names: list[str]) -> str:
    """An operation on arguments that are named so."""
    if node.op in _INFIX and len(names) == 2:
        return f"({names[0]} {_INFIX[node.op]} {names[1]})"
    params = [f"{k}={v!r}" for k, v in node.params]
    return f"{node.op}({', '.join([*names, *params])})"


def one_line(root: Expr, limit: int = 400) -> str:
    """The expression as one formula; a long one is cut in the middle."""
    text: dict[int, str] = {}
    for node in topological([root]):
        text[id(node)] = leaf_text(node) or call_text(node, [text[id(a)] for a in node.args])
        if len(text[id(node)]) > limit:
            text[id(node)] = text[id(node)][: limit // 2 - 2] + " ... " + text[id(node)][-limit // 2 + 3:]
    return text[id(root)]
