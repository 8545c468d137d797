"""Which elements of a variable each element of an expression reads: a superset of those that its value depends on."""

import numpy as np

from infimum.expr.node import Expr, topological
from infimum.ops.vocabulary import Kind

_MOST_ELEMENTS = 1 << 22  # elements of a table; larger ones are taken to read everything


def reads(roots: list[Expr], x: Expr) -> np.ndarray:
    """A row for each element of the roots, one root after the other, and a column for each element of x.

    >>> from infimum.expr.build import build, index
    >>> from infimum.expr.node import var
    >>> x = var("x", (3,))
    >>> reads([build("mul", index(x, 0), index(x, 2))], x).tolist()
    [[True, False, True]]
    """
    found = readers(roots, x)
    return np.concatenate([found[root].reshape(-1, x.size) for root in roots])


def readers(roots: list[Expr], x: Expr) -> dict[Expr, np.ndarray]:
    """The same for all that the roots are computed from: tables of the shapes of the nodes, with one more axis for x."""
    n, found = x.size, {}
    for node in topological(roots):
        if node is x:
            found[node] = np.eye(n, dtype=bool).reshape(*x.shape, n)
        elif node.kind is Kind.LEAF:
            found[node] = np.broadcast_to(False, (*node.shape, n))
        elif node.size * n > _MOST_ELEMENTS:
            found[node] = np.broadcast_to(True, (*node.shape, n))
        else:
            found[node] = _reads(node, [found[arg] for arg in node.args])
    return found


def _reads(node: Expr, args: list[np.ndarray]) -> np.ndarray:
    table, n = args[0], args[0].shape[-1]
    if node.kind in (Kind.MAP, Kind.TEST):
        return np.logical_or.reduce(args)
    if node.kind is Kind.REDUCE:
        return table.any(axis=node["axes"])
    if node.kind is Kind.SCAN:
        return np.broadcast_to(np.logical_or.reduce(args).any(axis=-2, keepdims=True), (*node.shape, n))
    match node.op:
        case "reshape":
            return table.reshape(*node.shape, n)
        case "transpose":
            return table.transpose(*node["perm"], len(node.shape))
        case "broadcast":
            return np.broadcast_to(table, (*node.shape, n))
        case "gather":
            return table[node["index"].array]
        case "concat":
            return np.concatenate(args)
        case "slice":
            return table[_places(node, node.shape)]
    whole = np.zeros((*node.shape, n), dtype=bool)
    if node.op == "embed":
        whole[_places(node, node.args[0].shape)] = table
    else:  # scatter
        np.logical_or.at(whole, node["index"].array, table)
    return whole


def _places(node: Expr, counts: tuple[int, ...]) -> tuple[np.ndarray, ...]:
    """Where the elements of a slice stand in the whole."""
    axes = [start + step * np.arange(count) for start, step, count in zip(node["starts"], node["steps"], counts, strict=True)]
    return np.ix_(*axes)
