"""A reference evaluator: what an Expr means at one point, computed with plain NumPy in float64.

It shares no code with the library beyond the graph itself, so tests can compare a traced function with the function, and
derivatives with differences. Rows are those of `tests/operations.py`, and those of views, reductions and scans here. Outside the
domain of an operation the value is whatever NumPy gives there (NaN or an infinity), without a warning.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from infimum.expr.node import Expr, topological
from tests import operations

Value = np.ndarray
Row = Callable[..., Value]


def evaluate(root: Expr, inputs: Any) -> Value:
    """The value of `root`; `inputs` is the vector of the variable "x", or a mapping from variable names to arrays.

    >>> from infimum.expr.build import build
    >>> from infimum.expr.node import var
    >>> float(evaluate(build("sum", build("exp", var("x", (2,))), axes=(0,)), [0.0, 0.0]))
    2.0
    """
    return evaluate_all([root], inputs)[0]


def evaluate_all(roots: list[Expr], inputs: Any) -> list[Value]:
    """The values of several expressions that may share parts."""
    point = inputs if isinstance(inputs, Mapping) else {"x": inputs}
    values: dict[int, Value] = {}
    with np.errstate(all="ignore"):
        for node in topological(roots):
            values[id(node)] = _value(node, [values[id(arg)] for arg in node.args], point)
            if values[id(node)].shape != node.shape:
                raise AssertionError(f"{node.op} has the value shape {values[id(node)].shape}, the node says {node.shape}")
    return [values[id(root)] for root in roots]


def _value(node: Expr, args: list[Value], point: Mapping[str, Any]) -> Value:
    if node.op == "var":
        return np.asarray(point[node["name"]], dtype=np.float64)
    if node.op == "const":
        return node.lo if node.lo is node.hi else node.lo + (node.hi - node.lo) / 2
    if node.op in ROWS:
        return np.asarray(ROWS[node.op](*args, *(value for _, value in node.params)))
    return np.asarray(SHAPED_ROWS[node.op](node, *args))


ROWS: dict[str, Row] = {op: row.numpy for op, row in operations.ROWS.items()}


def _places(node: Expr, counts: tuple[int, ...]) -> tuple:
    """The positions start + step * i along each axis, ready to index with."""
    spans = zip(node["starts"], node["steps"], counts, strict=True)
    return np.ix_(*(start + step * np.arange(count) for start, step, count in spans))


def _embed(node: Expr, x: Value) -> Value:
    result = np.zeros(node.shape)
    result[_places(node, x.shape)] = x
    return result


def _scatter(node: Expr, x: Value) -> Value:
    result = np.zeros(node.shape)
    np.add.at(result, node["index"].array, x)
    return result


def _scan(combine: np.ufunc, neutral: float) -> Row:
    """A running combination along the last axis, from the other end if `reverse`, without its own element if `exclusive`."""
    def row(node: Expr, x: Value) -> Value:
        ordered = x[..., ::-1] if node["reverse"] else x
        result = combine.accumulate(ordered, axis=-1)
        if node["exclusive"]:
            first = np.full((*x.shape[:-1], 1), neutral)
            result = np.concatenate([first, result[..., :-1]], axis=-1)
        return result[..., ::-1] if node["reverse"] else result
    return row


def _recur(node: Expr, a: Value, m: Value) -> Value:
    """r[i] = a[i] + m[i] * r[i-1], or r[i+1] if `reverse`; r is 0 before the first."""
    if node["reverse"]:
        a, m = a[..., ::-1], m[..., ::-1]
    result, before = np.empty(node.shape), np.zeros(node.shape[:-1])
    for i in range(node.shape[-1]):
        before = a[..., i] + m[..., i] * before
        result[..., i] = before
    return result[..., ::-1] if node["reverse"] else result


# what works on whole arrays: the rows read the node's parameters and shape
SHAPED_ROWS: dict[str, Callable[..., Value]] = {
    "concat": lambda node, *parts: np.concatenate([part.reshape(-1) for part in parts]),
    "reshape": lambda node, x: x.reshape(node.shape),
    "transpose": lambda node, x: x.transpose(node["perm"]),
    "broadcast": lambda node, x: np.broadcast_to(x, node.shape),
    "slice": lambda node, x: x[_places(node, node["counts"])],
    "embed": _embed,
    "gather": lambda node, x: x[node["index"].array],
    "scatter": _scatter,
    "sum": lambda node, x: np.sum(x, axis=node["axes"]),
    "prod": lambda node, x: np.prod(x, axis=node["axes"]),
    "amin": lambda node, x: np.min(x, axis=node["axes"]),
    "amax": lambda node, x: np.max(x, axis=node["axes"]),
    "norm": lambda node, x: np.sqrt(np.sum(x * x, axis=node["axes"])),
    "cumsum": _scan(np.add, 0.0), "cumprod": _scan(np.multiply, 1.0),
    "cummin": _scan(np.minimum, np.inf), "cummax": _scan(np.maximum, -np.inf),
    "recur": _recur,
}
