"""Views: where an element of a rearranged array is found. Nothing is computed but positions.

Each view tells the elements that it needs, and what becomes of their values. Whoever asks computes them: views of views do not
nest in Python's stack.
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

import numpy as np

from infimum.expr.node import Expr
from infimum.kernel.constant_data import Data
from infimum.kernel.ir import Builder, Step, Value
from infimum.kernel.meaning import Meaning

At = tuple["int | Value", ...]
Needs = tuple[Sequence[tuple[Expr, At]], Callable[..., Any]]  # elements, and the function of their values


class ElementWriter(Protocol):
    """What a view needs of whoever writes its elements."""

    b: Builder
    data: Data
    meaning: Meaning

    def element(self, node: Expr, at: At) -> Any: ...

    def scope(self) -> AbstractContextManager[None]: ...

    def step(self, op: str, value: Any) -> tuple[Step, Any]: ...

    def tree(self, op: str, values: Sequence) -> Any: ...


def _same(value: Any) -> Any:
    return value


def _one(x: Expr, at: At) -> Needs:
    return ((x, at),), _same


def flat(b: Builder, shape: tuple[int, ...], at: At) -> "int | Value":
    position: int | Value = 0
    for size, i in zip(shape, at, strict=True):
        position = b.place("uadd", b.place("umul", position, size), i)
    return position


def unflat(b: Builder, shape: tuple[int, ...], position: "int | Value") -> At:
    at: list[int | Value] = []
    for axis in range(len(shape) - 1, -1, -1):
        size = shape[axis]
        at.append(0 if size == 1 else b.place("umod", position, size) if axis else position)
        position = b.place("udiv", position, size) if axis else 0
    return tuple(reversed(at))


def _reshape(e: ElementWriter, node: Expr, at: At) -> Needs:
    x = node.args[0]
    long = [(d, i) for d, i in zip(node.shape, at, strict=True) if d > 1]
    if [d for d, _ in long] == [d for d in x.shape if d > 1]:  # only axes of length 1 come or go
        rest = iter(i for _, i in long)
        return _one(x, tuple(next(rest) if d > 1 else 0 for d in x.shape))
    return _one(x, unflat(e.b, x.shape, flat(e.b, node.shape, at)))


def _transpose(e: ElementWriter, node: Expr, at: At) -> Needs:
    perm = node["perm"]
    return _one(node.args[0], tuple(at[perm.index(axis)] for axis in range(len(perm))))


def _broadcast(e: ElementWriter, node: Expr, at: At) -> Needs:
    x = node.args[0]
    tail = at[len(at) - len(x.shape):]
    return _one(x, tuple(i if d > 1 else 0 for d, i in zip(x.shape, tail, strict=True)))


def _slice(e: ElementWriter, node: Expr, at: At) -> Needs:
    place, rows = e.b.place, zip(node["starts"], node["steps"], node.shape, at, strict=True)
    return _one(node.args[0], tuple(place("uadd", place("umul", i if d > 1 else 0, step), start) for start, step, d, i in rows))


def _gather(e: ElementWriter, node: Expr, at: At) -> Needs:
    positions = node["index"].array
    if isinstance(at[0], int):
        return _one(node.args[0], (int(positions[at[0]]),))
    return _one(node.args[0], (e.b.udata(e.b.place("uadd", e.data.position_offset(positions), at[0])),))


def _concat_element(e: ElementWriter, node: Expr, at: At) -> Needs:
    """Of the part that holds the position; where that is not static, all parts are computed and one is picked."""
    b, i, begin, parts, masks = e.b, at[0], 0, [], []
    for part in node.args:
        if isinstance(i, int) and begin <= i < begin + part.size:
            return _one(part, (i - begin,))
        if not isinstance(i, int) and part.size:
            inside = b.place("umin", b.place("umax", b.place("usub", i, begin), 0), part.size - 1)
            parts.append((part, (inside,)))
            masks.append(b.ueq(b.place("uadd", inside, begin), i))
        begin += part.size

    def picked(*values: Any) -> Any:
        total, *rest = (e.meaning.pick(b, mask, value) for mask, value in zip(masks, values, strict=True))
        for value in rest:
            total = e.meaning.rules["add"](b, total, value)
        return total
    return parts, picked


def _embed(e: ElementWriter, node: Expr, at: At) -> Needs:
    b, x, masks, inner = e.b, node.args[0], [], []
    for start, step, count, i in zip(node["starts"], node["steps"], x.shape, at, strict=True):
        first = start if step > 0 else start + step * (count - 1)
        stride = abs(step)
        if isinstance(i, int):
            place, rest = divmod(i - first, stride)
            if rest or not 0 <= place < count:
                return (), lambda: e.meaning.zero(b)
            inner.append(place if step > 0 else count - 1 - place)
            continue
        offset = b.place("umax", b.place("usub", i, first), 0)
        place = b.place("umin", b.place("udiv", offset, stride), count - 1)
        masks.append(b.ueq(b.place("uadd", b.place("umul", place, stride), first), i))
        inner.append(place if step > 0 else b.place("usub", count - 1, place))

    def picked(value: Any) -> Any:
        for mask in masks:
            value = e.meaning.pick(b, mask, value)
        return value
    return ((x, tuple(inner)),), picked


def _scatter(e: ElementWriter, node: Expr, at: At) -> Needs:
    """The sum of the elements that land here, from a table of who lands where."""
    b, x, target = e.b, node.args[0], node["index"].array
    order = np.argsort(target, kind="stable")
    starts = np.searchsorted(target[order], np.arange(node.size + 1))
    if isinstance(at[0], int):
        return [(x, (int(i),)) for i in order[starts[at[0]]:starts[at[0] + 1]]], lambda *values: e.tree("sum", values)
    sources, begins = (e.data.position_offset(t) for t in _scatter_table(e, node, order, starts))
    begin = b.udata(b.place("uadd", begins, at[0]))
    end = b.udata(b.place("uadd", begins + 1, at[0]))
    most = int(np.diff(starts).max(initial=0))

    def added() -> Any:
        with b.loop(b.place("usub", end, begin), most) as turn, e.scope():
            source = b.udata(b.place("uadd", sources, b.place("uadd", begin, turn.index)))
            step, form = e.step("sum", e.element(x, (source,)))
        return e.meaning.unpack(step.results, form)
    return (), added


def _scatter_table(e: ElementWriter, node: Expr, order: np.ndarray, starts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    key = ("scatter", node["index"].key, node.size)
    if key not in e.data.tables:
        e.data.tables[key] = order.astype(np.int64), starts.astype(np.int64)
    return e.data.tables[key]


VIEWS: dict[str, Callable[[ElementWriter, Expr, At], Needs]] = {
    "reshape": _reshape, "transpose": _transpose, "broadcast": _broadcast, "slice": _slice, "gather": _gather,
    "concat": _concat_element, "embed": _embed, "scatter": _scatter,
}
