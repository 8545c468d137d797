"""What views, reductions and scans send back to their arguments, `rule(node, adjoint, i)` for argument number i."""

import math
from collections.abc import Callable

import numpy as np

from infimum.expr.build import broadcast, build, is_zero, reduce, reshape, transpose, zeros
from infimum.expr.node import Expr, Index

Rule = Callable[[Expr, Expr, int], Expr | None]
_NESTED = 8  # choices one in the other that an adjoint may carry


# ---- products with an adjoint

def times(a: Expr, factor: Expr) -> Expr:
    """The adjoint a times a factor, computed only where a branch of `where` lets the adjoint through.

    In where(y > 0, sqrt(x), 0) the root may be undefined where it is not chosen; 0 * undefined would spoil the sum at x, while
    a `where` around the product ignores what is not chosen. (A user's product is not treated so: its domain would change.)
    """
    return _inside(a, lambda inner: build("mul", inner, factor))


def over(a: Expr, divisor: Expr) -> Expr:
    """The adjoint a divided by something, with branches as in `times`."""
    return _inside(a, lambda inner: build("div", inner, divisor))


def plus(a: Expr, c: Expr, depth: int = _NESTED) -> Expr:
    """The sum of two adjoints; what comes out of the branches of one `where` is joined again, so that `times` still sees it."""
    if depth and a.op == c.op == "where" and a.args[0] is c.args[0]:
        pairs = [(a.args[i], c.args[i]) for i in (1, 2)]
        if any(is_zero(p) or is_zero(q) for p, q in pairs):
            return build("where", a.args[0], *(plus(p, q, depth - 1) for p, q in pairs))
    return build("add", a, c)


def chosen(test: Expr, a: Expr, branch: int) -> Expr:
    """The adjoint a where the test chooses this branch, 1 or 2, of a `where`, else 0. Of many such choices, one in the other, two
    become one, or a chain of them would be written anew for every operation below it."""
    nested, inner = 0, a
    while inner.op == "where" and nested < _NESTED and (zero := _zero_branch(inner)):
        inner, nested = inner.args[3 - zero], nested + 1
    if nested == _NESTED:
        sides = [t if side == 1 else build("not", t) for t, side in ((test, branch), (a.args[0], 3 - _zero_branch(a)))]
        test, a, branch = build("and", *sides), a.args[3 - _zero_branch(a)], 1
    return build("where", test, a, 0.0) if branch == 1 else build("where", test, 0.0, a)


def negative(a: Expr) -> Expr:
    """The adjoint -a, with branches as in `times`."""
    return _inside(a, lambda inner: build("neg", inner))


def _rearranged(a: Expr, view: Callable[[Expr], Expr]) -> Expr:
    """A view of the adjoint a, with branches as in `times`; conditions can be viewed like numbers."""
    return _inside(a, view, view)


def _zero_branch(a: Expr) -> int:
    """The branch of a `where`, 1 or 2, that is 0; of two that are, the second; 0 if neither is."""
    return 2 if is_zero(a.args[2]) else 1 if is_zero(a.args[1]) else 0


def _inside(a: Expr, function: Callable[[Expr], Expr], on_test: Callable[[Expr], Expr] = lambda test: test) -> Expr:
    around = []
    while a.op == "where" and (zero := _zero_branch(a)):
        around.append((on_test(a.args[0]), zero))
        a = a.args[3 - zero]
    a = function(a)
    for test, zero in reversed(around):
        a = build("where", test, a, 0.0) if zero == 2 else build("where", test, 0.0, a)
    return a


# ---- views

def _transpose(node: Expr, a: Expr, i: int) -> Expr:
    back = [node["perm"].index(k) for k in range(len(node.shape))]
    return _rearranged(a, lambda inner: transpose(inner, back))


def _broadcast(node: Expr, a: Expr, i: int) -> Expr:
    x = node.args[0]
    new = len(node.shape) - len(x.shape)
    repeated = [k for k, size in enumerate(node.shape) if k < new or (x.shape[k - new] == 1 and size != 1)]
    return reshape(reduce("sum", a, repeated), x.shape)


def _slice(node: Expr, a: Expr, i: int) -> Expr:
    return build("embed", a, starts=node["starts"], steps=node["steps"], shape=node.args[0].shape)


def _embed(node: Expr, a: Expr, i: int) -> Expr:
    params = {"starts": node["starts"], "steps": node["steps"], "counts": node.args[0].shape}
    return _rearranged(a, lambda inner: build("slice", inner, **params))


def _gather(node: Expr, a: Expr, i: int) -> Expr:
    index, size = node["index"], node.args[0].size
    if len(index.array) == size and bool((np.bincount(index.array, minlength=size) == 1).all()):
        back = Index(np.argsort(index.array))
        return _rearranged(a, lambda inner: build("gather", inner, index=back))
    return build("scatter", a, index=index, size=size)


def _concat(node: Expr, a: Expr, i: int) -> Expr:
    x = node.args[i]
    start = sum(before.size for before in node.args[:i])
    return _rearranged(a, lambda inner: reshape(build("slice", inner, starts=(start,), steps=(1,), counts=(x.size,)), x.shape))


# ---- reductions

def _expand(node: Expr, y: Expr) -> Expr:
    """y, shaped like the reduction `node`, repeated to the shape of what was reduced."""
    shape = node.args[0].shape
    kept = tuple(1 if k in node["axes"] else size for k, size in enumerate(shape))
    return _rearranged(y, lambda inner: broadcast(reshape(inner, kept), shape))


def _others(node: Expr, function: Callable[[Expr], Expr]) -> Expr:
    """A function of rows, applied along the reduced axes of the argument as if they were one last axis."""
    x, axes = node.args[0], node["axes"]
    kept = [k for k in range(len(x.shape)) if k not in axes]
    order = [*kept, *axes]
    turned = transpose(x, order)
    rows = reshape(turned, (*node.shape, math.prod(x.shape[k] for k in axes)))
    return transpose(reshape(function(rows), turned.shape), [order.index(k) for k in range(len(order))])


def _one_element(node: Expr) -> bool:
    return node.args[0].size == node.size


def _prod(node: Expr, a: Expr, i: int) -> Expr:
    """The product of the others, by running products from both sides: a division would fail where an element is 0."""
    def others(x: Expr) -> Expr:
        return build("mul", *(build("cumprod", x, reverse=r, exclusive=True) for r in (False, True)))
    return reshape(a, node.args[0].shape) if _one_element(node) else times(_expand(node, a), _others(node, others))


def _extreme(scan: str, pick: str) -> Rule:
    """amax and amin: an element counts where it beats all others, with [0, 1] where it ties with one."""
    def weights(x: Expr) -> Expr:
        others = build(pick, *(build(scan, x, reverse=r, exclusive=True) for r in (False, True)))
        return build("step", x, others) if pick == "max" else build("step", others, x)

    def rule(node: Expr, a: Expr, i: int) -> Expr:
        return reshape(a, node.args[0].shape) if _one_element(node) else times(_expand(node, a), _others(node, weights))
    return rule


def _norm(node: Expr, a: Expr, i: int) -> Expr:
    return times(_expand(node, a), build("ratio", node.args[0], _expand(node, node)))


# ---- scans along the last axis

def _shift(x: Expr, forward: bool) -> Expr:
    """Every element moved by one place along the last axis, towards the end if `forward`; a zero enters, one element leaves."""
    *outer, n = x.shape
    if n <= 1:
        return zeros(x.shape)
    still = [0] * len(outer)
    steps = (1,) * len(x.shape)
    kept = build("slice", x, starts=(*still, 0 if forward else 1), steps=steps, counts=(*outer, n - 1))
    return build("embed", kept, starts=(*still, 1 if forward else 0), steps=steps, shape=x.shape)


def _cumsum(node: Expr, a: Expr, i: int) -> Expr:
    return build("cumsum", a, reverse=not node["reverse"], exclusive=node["exclusive"])


def _cumprod(node: Expr, a: Expr, i: int) -> Expr:
    """With y_i the product of x_0 ... x_i, x_j receives (x_0 ... x_(j-1)) * r_j, where r_j = a_j + x_(j+1) r_(j+1).

    If y_i leaves x_i out, the same holds with r_j moved by one: r_j = a_(j+1) + x_(j+1) r_(j+1). Never a division by an element.
    """
    x, backward = node.args[0], node["reverse"]
    before = build("cumprod", x, reverse=backward, exclusive=True)
    if node["exclusive"]:
        after = _shift(build("recur", a, x, reverse=not backward), forward=backward)
    else:
        after = build("recur", a, _shift(x, forward=backward), reverse=not backward)
    return build("mul", before, after)


def _recur(node: Expr, a: Expr, i: int) -> Expr:
    """r_i = a_i + m_i r_(i-1) runs back as l_i = adjoint_i + m_(i+1) l_(i+1); a receives l, m receives l_i r_(i-1)."""
    backward = node["reverse"]
    back = build("recur", a, _shift(node.args[1], forward=backward), reverse=not backward)
    return back if i == 0 else build("mul", back, _shift(node, forward=not backward))


def _running_extreme(node: Expr, a: Expr, i: int) -> Expr:
    """y_i = max(y_(i-1), x_i), step by step: l_i = a_i + step(y_i, x_(i+1)) l_(i+1), and x_i receives step(x_i, y_(i-1)) l_i.

    If y leaves x_i out, it is y_(i-1), so its adjoint moves by one first. For minima the comparisons turn around.
    """
    x, backward = node.args[0], node["reverse"]
    before = build(node.op, x, reverse=backward, exclusive=True)
    old, new = (before, x) if node.op == "cummax" else (x, before)
    stays, enters = build("step", old, new), build("step", new, old)
    received = _shift(a, forward=backward) if node["exclusive"] else a
    return build("mul", build("recur", received, _shift(stays, forward=backward), reverse=not backward), enters)


ARRAY_RULES: dict[str, Rule] = {
    "reshape": lambda node, a, i: _rearranged(a, lambda inner: reshape(inner, node.args[0].shape)),
    "transpose": _transpose,
    "broadcast": _broadcast, "slice": _slice, "embed": _embed, "gather": _gather, "concat": _concat,
    "scatter": lambda node, a, i: _rearranged(a, lambda inner: build("gather", inner, index=node["index"])),
    "sum": lambda node, a, i: _expand(node, a), "prod": _prod, "norm": _norm,
    "amax": _extreme("cummax", "max"), "amin": _extreme("cummin", "min"),
    "cumsum": _cumsum, "cumprod": _cumprod, "recur": _recur, "cummax": _running_extreme, "cummin": _running_extreme,
}
