"""Derivatives as expressions again: reverse mode over array operations, and those of a single operation.

One adjoint a node, of the node's shape, so the graph of a gradient does not grow with the number of variables and costs a small
multiple of the value. An enclosure of the result encloses the (generalised) derivative wherever the status of the *value* says
`smooth` or `lipschitz`; elsewhere it says nothing, which is why derivatives may be simplified more freely than values.
"""

from collections.abc import Callable, Iterable
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from infimum.errors import ShapeError
from infimum.expr.array_derivative_rules import plus
from infimum.expr.build import build, concat, is_zero, reshape, zeros
from infimum.expr.derivative_rules import sent_back
from infimum.expr.node import Expr, Index, const, topological, var
from infimum.ops.rule_forms import constant
from infimum.ops.vocabulary import OPS

# up to this number of overlapping slices are added as arrays of zeros; more of them are summed by position
_MOST_SLICES_AS_ARRAYS = 4


def gradient(f: Expr, x: Expr) -> Expr:
    """The derivatives of the scalar f by every element of the variable x, in the shape of x.

    >>> from infimum.expr.node import var
    >>> x = var("x", (3,))
    >>> gradient(build("sum", build("sin", x), axes=(0,)), x)
    cos(x)
    """
    return reverse(f, x, sent_back)


def reverse(f: Expr, x: Expr, share: Callable[[Expr, Expr, int], Expr | None], ends: Callable | None = None) -> Expr:
    """Reverse mode with other rules: `share(node, adjoint, i)` is what a node sends back to its argument i. At a node of which
    `ends(node, adjoint)` is not None, that is sent to x at once."""
    if f.shape != ():
        raise ShapeError(f"only a scalar has a gradient; this expression has the shape {f.shape}")
    if x.op != "var":
        raise ShapeError(f"the gradient is taken by a variable, not by the result of `{x.op}`")
    nodes = list(topological([f]))
    active = _active(nodes, x)
    given: dict[int, list[Expr]] = {id(f): [const(1.0)]}
    for node in reversed(nodes):
        received = given.pop(id(node), None)
        if received is None or id(node) not in active or not node.size:
            continue
        adjoint = total(received, node.shape)
        if node is x:
            return adjoint
        if is_zero(adjoint):
            continue
        at_once = None if ends is None else ends(node, adjoint)
        if at_once is not None:
            given.setdefault(id(x), []).append(at_once)
            continue
        for i, arg in enumerate(node.args):
            sent = share(node, adjoint, i) if id(arg) in active else None
            if sent is not None and not is_zero(sent):
                given.setdefault(id(arg), []).append(sent)
    return zeros(x.shape)


def hessian_vector(f: Expr, x: Expr, v: Expr) -> Expr:
    """The matrix of second derivatives of f by x, times the vector v: the gradient of gradient(f) . v, with v held constant."""
    if v.shape != x.shape:
        raise ShapeError(f"the vector has the shape {v.shape}, the variable {x.shape}")
    along = build("mul", gradient(f, x), v)
    return gradient(build("sum", along, axes=tuple(range(len(x.shape)))), x)


def depends_on(roots: Iterable[Expr], x: Expr) -> set[int]:
    """The ids of the nodes under `roots` whose value needs x (x itself among them)."""
    found: set[int] = set()
    for node in topological(list(roots)):
        if node is x or any(id(arg) in found for arg in node.args):
            found.add(id(node))
    return found


def _active(nodes: list[Expr], x: Expr) -> set[int]:
    """The ids of the nodes through which a derivative flows: those that need x other than by way of steps and tests."""
    found: set[int] = set()
    for node in nodes:
        if OPS[node.op].derivative is constant:
            continue
        if node is x or any(id(arg) in found for arg in node.args):
            found.add(id(node))
    return found


def total(received: list[Expr], shape: tuple[int, ...]) -> Expr:
    """The sum of what a node received from its users."""
    parts = [share for share in received if share.op == "embed"]
    if len(parts) > 1:
        received = [share for share in received if share.op != "embed"] + _joined(parts, shape)
    total = received[0]
    for share in received[1:]:
        total = plus(total, share)
    return total


def _joined(parts: list[Expr], shape: tuple[int, ...]) -> list[Expr]:
    """Arrays that are zero but for a part, as few arrays with the same sum.

    A function written with x[0], x[1], ... sends one such array for each, and adding n of them would cost n * n. Runs that do
    not overlap are laid side by side; many overlapping ones are summed by position.
    """
    size = int(np.prod(shape))
    spans = sorted((_span(part, shape), i) for i, part in enumerate(parts))
    runs = [(first, last, parts[i].args[0]) for (first, last), i in spans]
    solid = all(last - first + 1 == x.size for first, last, x in runs) and all(_is_run(part, shape) for part in parts)
    if solid and all(a[1] < b[0] for a, b in zip(runs, runs[1:], strict=False)):
        rows, end = [], 0
        for first, last, x in runs:
            rows += [zeros((first - end,)), reshape(x, (x.size,))]
            end = last + 1
        return [reshape(concat([*rows, zeros((size - end,))]), shape)]
    if len(parts) <= _MOST_SLICES_AS_ARRAYS:
        return parts
    index = Index(np.concatenate([_positions(part, shape) for part in parts]))
    flat = concat([reshape(part.args[0], (part.args[0].size,)) for part in parts])
    return [reshape(build("scatter", flat, index=index, size=size), shape)]


def _span(part: Expr, shape: tuple[int, ...]) -> tuple[int, int]:
    """The first and last position, row-major, that an embedded part occupies."""
    ends = [(s, s + t * (c - 1)) for s, t, c in zip(part["starts"], part["steps"], part.args[0].shape, strict=True)]
    low, high = (np.ravel_multi_index([pick(e) for e in ends], shape) for pick in (min, max))
    return int(low), int(high)


def _is_run(part: Expr, shape: tuple[int, ...]) -> bool:
    """Do the elements of the part keep their order? (If so and the span is full, it is one run.)"""
    return all(t > 0 or c == 1 for t, c in zip(part["steps"], part.args[0].shape, strict=True))


def _positions(part: Expr, shape: tuple[int, ...]) -> np.ndarray:
    """The row-major positions of the elements of an embedded part."""
    axes = [s + t * np.arange(c) for s, t, c in zip(part["starts"], part["steps"], part.args[0].shape, strict=True)]
    return np.ravel_multi_index(np.meshgrid(*axes, indexing="ij"), shape).reshape(-1)


class Partials(NamedTuple):
    """An operation on variables `u0`, `u1`, … and its derivatives by them; those that are 0 everywhere are left out."""

    value: Expr
    first: dict[int, Expr]
    second: dict[tuple[int, int], Expr]  # under (i, j) with i <= j


@cache
def partials(op: str, params: tuple[tuple[str, Any], ...], active: tuple[bool, ...]) -> Partials:
    """The derivatives by the arguments that are `active`.

    >>> partials("powi", (("k", 3),), (True,)).second
    {(0, 0): (6.0 * u0)}
    """
    arguments = [var(f"u{i}", ()) for i in range(len(active))]
    value = build(op, *arguments, **dict(params))
    wanted = [i for i, on in enumerate(active) if on]
    first = {i: gradient(value, arguments[i]) for i in wanted}
    second = {(i, j): gradient(first[i], arguments[j]) for i in wanted for j in wanted if i <= j}
    return Partials(value, *({at: d for at, d in found.items() if not is_zero(d)} for found in (first, second)))
