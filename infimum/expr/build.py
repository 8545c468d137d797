"""The way to make an expression: shapes are inferred, arguments broadcast, simplifications applied. Constants behind views."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from infimum.expr.node import Expr, Index, Shape, const, is_const, make, topological
from infimum.expr.rewriting_switches import is_on
from infimum.expr.simplify import RULES
from infimum.ops.vocabulary import OPS, Kind


def build(op: str, *args: Any, line: str | None = None, **params: Any) -> Expr:
    """Make `op(*args)`. Arguments may be Exprs, numbers or arrays; shapes broadcast as in NumPy.

    >>> from infimum.expr.node import var
    >>> x = var("x", (2,))
    >>> build("mul", x, x)
    powi(x, k=2)
    """
    row = OPS[op]
    nodes = tuple([a if isinstance(a, Expr) else const(a) for a in args])
    if row.kind in (Kind.MAP, Kind.TEST):
        shape = nodes[0].shape
        if len(nodes) > 1 and any([a.shape != shape for a in nodes]):
            shape = np.broadcast_shapes(*(a.shape for a in nodes))
            nodes = tuple([broadcast(a, shape, line) for a in nodes])
    else:
        shape = _SHAPES[row.kind](op, nodes, params)
    if row.kind is Kind.VIEW and nodes[0].kind is Kind.TEST:  # truth values have no memory: what is compared is rearranged
        return _rearranged_test(nodes[0], lambda a: build(op, a, line=line, **params), line)
    rule = RULES.get(op) if is_on("simplifications") else None
    simpler = None if rule is None else rule(partial(build, line=line), nodes, shape, params)
    if simpler is not None:
        return simpler
    params.pop("shape", None)  # it is the node's own shape
    return make(op, nodes, shape, params, line)


def rebuilt(node: Expr, new: dict[Expr, Expr]) -> Expr:
    """The node with other arguments."""
    args = [new[a] for a in node.args]
    if all(a is b for a, b in zip(args, node.args, strict=True)):
        return node
    shape = {"shape": node.shape} if node.op in ("reshape", "broadcast", "embed") else {}
    return build(node.op, *args, line=node.line, **dict(node.params), **shape)


def substituted(root: Expr, new: dict[Expr, Expr]) -> Expr:
    """The expression with some nodes replaced."""
    new = dict(new)
    for node in topological([root]):
        if node not in new:
            new[node] = rebuilt(node, new)
    return new[root]


def _rearranged_test(test: Expr, view: Callable[[Expr], Expr], line: str | None) -> Expr:
    """A view of truth values: the same tests, of views of what they compare."""
    new: dict[Expr, Expr] = {}
    stack = [test]
    while stack:
        node = stack[-1]
        missing = [a for a in node.args if a not in new] if node.kind is Kind.TEST else []
        if missing:
            stack += missing
            continue
        if node not in new:
            new[node] = build(node.op, *(new[a] for a in node.args), line=line) if node.kind is Kind.TEST else view(node)
        stack.pop()
    return new[test]


def _view_shape(op: str, args: tuple[Expr, ...], params: dict) -> Shape:
    x = args[0]
    match op:
        case "reshape" | "broadcast" | "embed":
            return params["shape"]
        case "transpose":
            return tuple(x.shape[p] for p in params["perm"])
        case "slice":
            return params["counts"]
        case "gather":
            return (len(params["index"].array),)
        case "scatter":
            return (params["size"],)
    return (sum(a.size for a in args),)  # concat


def _reduce_shape(op: str, args: tuple[Expr, ...], params: dict) -> Shape:
    return tuple(d for i, d in enumerate(args[0].shape) if i not in params["axes"])


def _scan_shape(op: str, args: tuple[Expr, ...], params: dict) -> Shape:
    return args[0].shape


_SHAPES = {Kind.VIEW: _view_shape, Kind.REDUCE: _reduce_shape, Kind.SCAN: _scan_shape}


# ---- views, in the words the tracer and the derivatives use

def broadcast(x: Expr, shape: Shape, line: str | None = None) -> Expr:
    """x repeated to `shape` by NumPy's rules."""
    return x if x.shape == shape else build("broadcast", x, shape=tuple(shape), line=line)


def reshape(x: Expr, shape: Shape, line: str | None = None) -> Expr:
    """The same elements, row-major, in another shape."""
    return x if x.shape == tuple(shape) else build("reshape", x, shape=tuple(shape), line=line)


def transpose(x: Expr, perm: Sequence[int], line: str | None = None) -> Expr:
    """Axes permuted."""
    return x if tuple(perm) == tuple(range(len(x.shape))) else build("transpose", x, perm=tuple(perm), line=line)


def take(x: Expr, positions: np.ndarray, line: str | None = None) -> Expr:
    """Elements of x (counted row-major) at `positions`, in the shape of `positions`."""
    positions = np.asarray(positions, dtype=np.int64)
    flat = build("gather", reshape(x, (x.size,), line), index=Index(positions), line=line)
    return reshape(flat, positions.shape, line)


def is_basic(key: tuple) -> bool:
    """Is the key made of integers, slices, None and Ellipsis only (then NumPy's result is a view, not a copy)?"""
    return all(k is None or k is Ellipsis or isinstance(k, slice) or type(k) is int or isinstance(k, np.integer) for k in key)


def index(x: Expr, key: Any, line: str | None = None) -> Expr:
    """x[key] for a NumPy indexing key made of integers, slices, None, Ellipsis and constant integer or boolean arrays."""
    basic = key if isinstance(key, tuple) else (key,)
    if is_basic(basic):
        return _basic(x, basic, line)
    return take(x, np.arange(x.size).reshape(x.shape)[key], line)


def _basic(x: Expr, key: tuple, line: str | None) -> Expr:
    missing = len(x.shape) - sum(k is not None and k is not Ellipsis for k in key)
    gaps = sum(k is Ellipsis for k in key)
    if missing < 0 or gaps > 1:
        raise IndexError(f"too many indices for an array with ndim = {len(x.shape)}" if missing < 0 else
                         "an index can only have a single ellipsis ('...')")
    rest = [slice(None)] * missing
    at = next((i for i, k in enumerate(key) if k is Ellipsis), len(key))
    starts, steps, counts, shape = [], [], [], []
    for k in (*key[:at], *rest, *key[at + 1:]):
        axis = len(starts)
        if k is None:
            shape.append(1)
            continue
        dim = x.shape[axis]
        if isinstance(k, slice):
            span = range(*k.indices(dim))
            starts.append(span.start), steps.append(span.step), counts.append(len(span)), shape.append(len(span))
        elif -dim <= k < dim:
            starts.append(int(k) % dim), steps.append(1), counts.append(1)
        else:
            raise IndexError(f"index {k} is out of bounds for axis {axis} with size {dim}")
    if starts != [0] * len(starts) or steps != [1] * len(steps) or tuple(counts) != x.shape:
        x = build("slice", x, starts=tuple(starts), steps=tuple(steps), counts=tuple(counts), line=line)
    return reshape(x, tuple(shape), line)


def concat(parts: Sequence[Expr], line: str | None = None) -> Expr:
    """Vectors laid end to end."""
    parts = [p for p in parts if p.size]
    if len(parts) == 1:
        return parts[0]
    return build("concat", *parts, line=line) if parts else const(np.zeros(0))


def join(parts: Sequence[Expr], axis: int, line: str | None = None) -> Expr:
    """np.concatenate: arrays joined along an existing axis."""
    first = parts[0]
    order = [axis, *(i for i in range(len(first.shape)) if i != axis)]
    rows = [transpose(p, order, line) for p in parts]
    shape = (sum(r.shape[0] for r in rows), *rows[0].shape[1:])
    flat = reshape(concat([reshape(r, (r.size,), line) for r in rows], line), shape, line)
    return transpose(flat, [order.index(i) for i in range(len(order))], line)


def reduce(op: str, x: Expr, axes: Sequence[int] | None = None, line: str | None = None) -> Expr:
    """sum, prod, amin, amax or norm over `axes` (all if None)."""
    axes = tuple(range(len(x.shape))) if axes is None else tuple(sorted(a % len(x.shape) for a in axes))
    return build(op, x, axes=axes, line=line) if axes else (x if op != "norm" else build("abs", x, line=line))


def zeros(shape: Shape) -> Expr:
    """Exact zeros."""
    return broadcast(const(0.0), shape)


def is_zero(x: Expr) -> bool:
    """Is x certainly the constant 0, wherever its parts are defined?"""
    while x.op in ("broadcast", "reshape"):
        x = x.args[0]
    return is_const(x, 0.0)


def ends_of(y: Expr) -> tuple[np.ndarray, np.ndarray] | None:
    """The ends of an expression that is a constant, or views of constants; None if it is anything else.

    >>> from infimum.expr.build import broadcast
    >>> from infimum.expr.node import const
    >>> ends_of(broadcast(const(2.0), (3,)))[0]
    array([2., 2., 2.])
    """
    if y.op == "const":
        return y.lo, y.hi
    if y.op not in VIEWS:
        return None
    nodes = list(topological([y]))
    if any(node.op not in VIEWS and node.op != "const" for node in nodes):
        return None
    ends = []
    for end in ("lo", "hi"):
        values: dict[int, np.ndarray] = {}
        for node in nodes:
            parts = [values[id(arg)] for arg in node.args]
            values[id(node)] = getattr(node, end) if node.op == "const" else VIEWS[node.op](node, *parts)
        ends.append(values[id(y)])
    return ends[0], ends[1]


def _slice(node: Expr, x: np.ndarray) -> np.ndarray:
    spans = zip(node["starts"], node["steps"], node["counts"], strict=True)
    return x[np.ix_(*(start + step * np.arange(count) for start, step, count in spans))]


VIEWS: dict[str, Callable[..., np.ndarray]] = {
    "broadcast": lambda node, x: np.broadcast_to(x, node.shape), "reshape": lambda node, x: x.reshape(node.shape),
    "transpose": lambda node, x: x.transpose(node["perm"]), "gather": lambda node, x: x[node["index"].array],
    "concat": lambda node, *parts: np.concatenate(parts), "slice": _slice,
}
