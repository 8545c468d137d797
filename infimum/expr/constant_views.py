"""Constants that are rearranged: what they are without the views."""

from collections.abc import Callable

import numpy as np

from infimum.expr.node import Expr, topological


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
