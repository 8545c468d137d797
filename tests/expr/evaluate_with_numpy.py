"""A reference evaluator: what an Expr means at one point, computed with plain NumPy in float64.

It shares no code with the library beyond the graph itself, so tests can compare a traced function with the function, and
derivatives with differences. One row an operation, each written as the text in `infimum.ops.vocabulary` says. Outside the domain
of an operation the value is whatever NumPy gives there (NaN or an infinity), without a warning.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import scipy.special

from infimum.expr.node import Expr, topological

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
    row = ROWS.get(node.op)
    return np.asarray(row(*args) if row is not None else SHAPED_ROWS[node.op](node, *args))


def _power(x: Value, y: Value) -> Value:
    """As NumPy has it, but for 0 to a negative power."""
    return np.where((x == 0) & (y < 0), np.nan, np.power(x, y))


# element by element, no parameters
ROWS: dict[str, Row] = {
    "neg": np.negative, "abs": np.abs, "sqrt": np.sqrt, "cbrt": np.cbrt,
    "exp": np.exp, "exp2": np.exp2, "expm1": np.expm1,
    "log": np.log, "log2": np.log2, "log10": np.log10, "log1p": np.log1p,
    "sin": np.sin, "cos": np.cos, "tan": np.tan, "arcsin": np.arcsin, "arccos": np.arccos, "arctan": np.arctan,
    "sinh": np.sinh, "cosh": np.cosh, "tanh": np.tanh, "arcsinh": np.arcsinh, "arccosh": np.arccosh, "arctanh": np.arctanh,
    "lgamma": scipy.special.loggamma, "erf": scipy.special.erf, "erfc": scipy.special.erfc,
    "expit": scipy.special.expit, "logaddexp": np.logaddexp, "xlogx": lambda x: -scipy.special.entr(x),
    "sign": np.sign, "floor": np.floor, "ceil": np.ceil, "rint": np.rint, "slope": np.sign,
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide, "pow": _power,
    "arctan2": np.arctan2, "hypot": np.hypot, "min": np.minimum, "max": np.maximum,
    "step": lambda x, y: np.where(x > y, 1.0, np.where(x < y, 0.0, 0.5)),
    "ratio": lambda x, y: np.where(y == 0, 0.0, x / np.where(y == 0, 1.0, y)),
    "where": np.where,
    "lt": np.less, "le": np.less_equal, "eq": np.equal, "and": np.logical_and, "or": np.logical_or, "not": np.logical_not,
    "concat": lambda *parts: np.concatenate([part.reshape(-1) for part in parts]),
}


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


# those that need the node's parameters or shape
SHAPED_ROWS: dict[str, Callable[..., Value]] = {
    "powi": lambda node, x: np.power(x, float(node["k"])),
    "polygamma": lambda node, x: scipy.special.polygamma(node["m"], x),
    "spline": lambda node, x: node["table"].at(x),
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
