"""Products of arrays: dot, @, outer, einsum and their relatives are one multiplication of views and one sum, never a loop."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from infimum.expr import build as b
from infimum.expr.node import Expr
from infimum.trace.tracer import FUNCTIONS, UFUNCS, Tracer, lift
from infimum.trace.tracer_operators import add_methods
from infimum.trace.user_source import fail, user_line


def contract(operands: Sequence[Expr], labels: Sequence[Sequence[Any]], output: Sequence[Any]) -> Tracer:
    """Einstein's sum: axes with equal labels run together, labels not in `output` are summed over."""
    line = user_line()
    sizes: dict[Any, int] = {}
    for x, names in zip(operands, labels, strict=True):
        for name, size in zip(names, x.shape, strict=True):
            if size != sizes.get(name, size) and 1 not in (size, sizes[name]):
                raise ValueError(f"shapes do not match in a product: {size} and {sizes[name]} along the same axis")
            sizes[name] = max(size, sizes.get(name, size)) if size else 0
    order = [*output, *(name for name in sizes if name not in output)]
    spread = [_spread(x, names, order, line) for x, names in zip(operands, labels, strict=True)]
    product = spread[0]
    for factor in spread[1:]:
        product = b.build("mul", product, factor, line=line)
    summed = tuple(range(len(output), len(order)))
    if not product.size:
        return Tracer(b.zeros(tuple(sizes[name] for name in output)))
    return Tracer(b.reduce("sum", b.broadcast(product, tuple(sizes[name] for name in order), line), summed, line))


def _spread(x: Expr, names: Sequence[Any], order: list[Any], line: str | None) -> Expr:
    """x with its axes in the given order and axes of length 1 for the labels it lacks."""
    names = list(names)
    while len(set(names)) < len(names):  # a repeated label is a diagonal
        first = next(i for i, name in enumerate(names) if name in names[i + 1:])
        second = names.index(names[first], first + 1)
        if x.shape[first] != x.shape[second]:
            raise ValueError(f"a repeated subscript stands for axes of the lengths {x.shape[first]} and {x.shape[second]}")
        positions = np.diagonal(np.arange(x.size).reshape(x.shape), 0, first, second)
        x = b.take(x, positions, line)
        name = names[first]
        names = [n for i, n in enumerate(names) if i not in (first, second)] + [name]
    perm = sorted(range(len(names)), key=lambda i: order.index(names[i]))
    size_of = dict(zip(names, x.shape, strict=True))
    return b.reshape(b.transpose(x, perm, line), tuple(size_of.get(name, 1) for name in order), line)


def _tensordot(a: Any, b_: Any, axes: Any = 2) -> Tracer:
    x, y = lift(a), lift(b_)
    if isinstance(axes, (int, np.integer)):
        left, right = list(range(len(x.shape) - axes, len(x.shape))), list(range(axes))
    else:
        left, right = ([s] if isinstance(s, (int, np.integer)) else list(s) for s in axes)
    names_x = [("a", i) for i in range(len(x.shape))]
    names_y = [("b", i) for i in range(len(y.shape))]
    for i, j in zip(left, right, strict=True):
        if x.shape[i] != y.shape[j]:
            raise ValueError(f"shapes {x.shape} and {y.shape} do not match in a product")
        names_y[j] = names_x[i]
    summed = {names_x[i] for i in left}
    return contract([x, y], [names_x, names_y], [n for n in (*names_x, *names_y) if n not in summed])


def _dot(a: Any, b: Any, out: Any = None) -> Tracer:
    """Sum over the last axis of a and the last but one of b (the last if b is a vector)."""
    if not np.shape(a) or not np.shape(b):
        return np.multiply(Tracer(lift(a)), b)
    return _tensordot(a, b, ([len(np.shape(a)) - 1], [max(len(np.shape(b)) - 2, 0)]))


def _inner(a: Any, b: Any) -> Tracer:
    if not np.shape(a) or not np.shape(b):
        return np.multiply(Tracer(lift(a)), b)
    return _tensordot(a, b, ([len(np.shape(a)) - 1], [len(np.shape(b)) - 1]))


def _matmul(a: Any, b: Any) -> Tracer:
    """@: products of the last two axes, all axes before them broadcast."""
    x, y = lift(a), lift(b)
    if not x.shape or not y.shape:
        raise ValueError("matmul: an operand is a number; use * instead")
    if x.shape[-1] != y.shape[max(len(y.shape) - 2, 0)]:
        raise ValueError(f"matmul: shapes {x.shape} and {y.shape} do not match")
    rows = [] if len(x.shape) == 1 else ["row"]
    columns = [] if len(y.shape) == 1 else ["column"]
    stack_x, stack_y = list(range(len(x.shape) - 2))[::-1], list(range(len(y.shape) - 2))[::-1]
    stack = stack_x if len(stack_x) >= len(stack_y) else stack_y
    return contract([x, y], [[*stack_x, *rows, "sum"], [*stack_y, "sum", *columns]], [*stack, *rows, *columns])


def _outer(a: Any, b_: Any) -> Tracer:
    x, y = (b.reshape(v, (v.size,), user_line()) for v in (lift(a), lift(b_)))
    return contract([x, y], ["i", "j"], "ij")


def _vdot(a: Any, b: Any) -> Tracer:
    return _inner(np.ravel(Tracer(lift(a))), np.ravel(Tracer(lift(b))))


def _einsum(subscripts: Any, *operands: Any, optimize: Any = None, order: str = "K") -> Tracer:
    if not isinstance(subscripts, str) or "." in subscripts:
        fail("np.einsum is known with subscripts such as 'ij,j->i' only.",
             "Write the subscripts as a string without an ellipsis.")
    inputs, arrow, output = subscripts.replace(" ", "").partition("->")
    labels = inputs.split(",")
    if not arrow:
        output = "".join(sorted(c for c in set(inputs) - {","} if inputs.count(c) == 1))
    nodes = [lift(v) for v in operands]
    if len(labels) != len(nodes) or any(len(names) != len(x.shape) for names, x in zip(labels, nodes, strict=True)):
        raise ValueError(f"einsum: the subscripts {subscripts!r} do not fit the operands")
    if not set(output) <= set(inputs) or len(set(output)) < len(output):
        raise ValueError(f"einsum: the output {output!r} does not fit the subscripts {subscripts!r}")
    return contract(nodes, labels, output)


UFUNCS[np.matmul] = _matmul
FUNCTIONS.update({np.dot: _dot, np.inner: _inner, np.outer: _outer, np.vdot: _vdot, np.tensordot: _tensordot, np.einsum: _einsum})
add_methods([], [np.dot])
