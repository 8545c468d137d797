"""Arranging: the same function with its reductions written so that each variable's part in them is one term.

The form in which a function is seen from one variable (`structure.local_form`) takes reductions of vectors apart, term by term.
What is written in other ways is brought into that form here, where it is the same function with the same domain:

* a loop over the elements of x is a reduction of a vector (`structure.roll_loops`);
* a reduction of a matrix that reads x along one axis, and constants along the other, a short one, is a reduction of a vector
  whose elements are combined row by row: np.sum(j * np.sin((j + 1) * x + j)) with a column j;
* sums of vectors that are computed from the same elements are one sum: np.sum(x**2) - 10 * np.sum(np.cos(x)). Apart, each would
  be bounded without regard to the other.
"""

from collections.abc import Callable
from functools import reduce
from weakref import WeakKeyDictionary

import numpy as np

from infimum.expr.build import broadcast, build, index, rebuilt, reshape
from infimum.expr.node import Expr, between, const, is_const, topological
from infimum.expr.rewriting_switches import state, step
from infimum.ops.vocabulary import OPS, Kind
from infimum.search.policy.search import REARRANGEMENT as POLICY
from infimum.structure.roll_loops import rolled
from infimum.structure.totals import Depends, all_parts, dependent, scaled, totals

_known: "WeakKeyDictionary[Expr, tuple]" = WeakKeyDictionary()  # x, what is switched off, and the other form if there is one


@step("arranged reductions", lambda f, x: f)
def arranged(f: Expr, x: Expr) -> Expr:
    """f, a function of x, in that form."""
    if f not in _known or _known[f][:2] != (x, state()):
        other = _arranged(f, x)
        _known[f] = x, state(), None if other is f else other
    return _known[f][2] or f


def _arranged(f: Expr, x: Expr) -> Expr:
    f = rolled(f, x)
    depends = dependent(f, x)
    matrices = [node for node in depends if node.kind is Kind.REDUCE and len(node.args[0].shape) == 2]
    if 0 < len(matrices) <= POLICY.most_places:
        f = _rebuilt(f, matrices, lambda node: _by_rows(node, dependent(node, x)))
        depends = dependent(f, x)
    sums = totals(f, _above_sums(depends))
    if 0 < len(sums) <= POLICY.most_places:
        f = _rebuilt(f, sums, lambda node: _joined(node, dependent(node, x)))
    return f


def _rebuilt(f: Expr, places: list[Expr], other: Callable[[Expr], Expr | None]) -> Expr:
    """f with these of its nodes written in the other way, where there is one."""
    new: dict[Expr, Expr] = {}
    for node in topological([f]):
        now = rebuilt(node, new)
        new[node] = (other(now) if node in places else None) or now
    return new[f]


# ---- matrices
def _by_rows(node: Expr, depends: Depends) -> Expr | None:
    """A reduction of a matrix, along both axes or one, as one of a vector; None if x is not read along the other axis alone."""
    matrix, axes = node.args[0], node["axes"]
    for short in axes:
        rows = _rows(matrix, short, depends) if 0 < matrix.shape[short] <= POLICY.longest_short_axis else None
        if rows is not None:
            joined = reduce(lambda a, b: build(OPS[node.op].of_two, a, b, line=node.line), rows)
            if len(axes) == 2:
                return build(node.op, joined, axes=(0,), line=node.line)
            return build("abs", joined, line=node.line) if node.op == "norm" and len(rows) == 1 else joined
    return None


def _rows(matrix: Expr, short: int, depends: Depends) -> list[Expr] | None:
    """The rows (short = 0) or columns of the matrix, as vectors."""
    count, long, found = matrix.shape[short], matrix.shape[1 - short], {}
    for node in topological([matrix]):
        if node.shape != matrix.shape:
            continue
        if node not in depends:
            found[node] = [_constant_row(node, short, k) for k in range(count)]
        elif node.kind in (Kind.MAP, Kind.TEST) and all(a in found for a in node.args):
            found[node] = [build(node.op, *(found[a][k] for a in node.args), line=node.line, **dict(node.params))
                           for k in range(count)]
        elif node.op == "broadcast":
            source = node.args[0]
            shape = (1,) * (2 - len(source.shape)) + source.shape
            if shape[short] == 1:
                found[node] = [broadcast(reshape(source, (source.size,)), (long,))] * count
        if len(found) * count > POLICY.most_operations:
            return None
    return found.get(matrix)


def _constant_row(node: Expr, short: int, k: int) -> Expr:
    source, at = node.args[0] if node.op == "broadcast" else node, slice(None)
    if not is_const(source):
        return index(node, (k, at) if short == 0 else (at, k), node.line)
    shape = (1,) * (2 - len(source.shape)) + source.shape
    lo, hi = (np.take(end.reshape(shape), min(k, shape[short] - 1), axis=short) for end in (source.lo, source.hi))
    row = const(lo) if source.lo is source.hi else between(lo, hi)
    return broadcast(reshape(row, ()) if row.size == 1 else row, (node.shape[1 - short],))


# ---- sums
def _is_sum(node: Expr) -> bool:
    return node.op == "sum" and node["axes"] == (0,) and len(node.args[0].shape) == 1


def _above_sums(depends: Depends) -> Depends:
    """The nodes that read a sum."""
    found: Depends = {}
    for node in depends:
        if any(_is_sum(a) or a in found for a in node.args):
            found[node] = None
    return found


def _joined(total: Expr, depends: Depends) -> Expr | None:
    """The same with the sums in it joined that are computed from the same elements; None if there are none."""
    rest: list[Expr] = []
    groups: dict[tuple, list[Expr]] = {}
    for node, scaling in all_parts(total, depends, "add", POLICY.most_summands) or []:
        if node in depends and _is_sum(node):
            groups.setdefault(_read(node.args[0], depends), []).append(scaled(node.args[0], scaling))
        else:
            rest.append(scaled(node, scaling))
    if all(len(vectors) == 1 for vectors in groups.values()):
        return None

    def add(a: Expr, b: Expr) -> Expr:
        return build("add", a, b, line=total.line)
    return reduce(add, [*(build("sum", reduce(add, vectors), axes=(0,), line=total.line) for vectors in groups.values()), *rest])


def _read(vector: Expr, depends: Depends) -> tuple:
    """From which vectors its elements are computed, one by one, and how many there are."""
    found, stack, seen = set(), [vector], {vector}
    while stack:
        node = stack.pop()
        if node.kind not in (Kind.MAP, Kind.TEST):
            found.add(node)
            continue
        new = [a for a in dict.fromkeys(node.args) if a in depends and a not in seen]
        seen.update(new)
        stack += new
    return vector.size, frozenset(found)
