"""Derivatives by central differences in 100 digits: an evaluator of Expr with mpmath, the yardstick of the derivative tests."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import mpmath
import numpy as np

from infimum.expr.node import Expr, topological
from tests.operations import ROWS

DIGITS = 100
STEP = mpmath.mpf(10) ** -30  # its square is the relative error, so even wild functions are differentiated to many digits


def directional(root: Expr, point: Mapping[str, Any], name: str, direction: np.ndarray) -> np.ndarray:
    """The derivative of the (array) expression along a direction of one variable, as doubles."""
    with mpmath.workdps(DIGITS):
        here = {key: exact(value) for key, value in point.items()}
        ends = [evaluate(root, {**here, name: here[name] + sign * STEP * exact(direction)}) for sign in (1, -1)]
        return np.array((ends[0] - ends[1]) / (2 * STEP), dtype=np.float64)


def gradient_by_differences(root: Expr, x: np.ndarray) -> np.ndarray:
    """All partial derivatives of a scalar expression in the variable "x"."""
    return np.array([directional(root, {"x": x}, "x", unit) for unit in np.eye(len(x))])


def value(root: Expr, point: Mapping[str, Any]) -> np.ndarray:
    """The value of an expression, computed in many digits and rounded to doubles at the end."""
    with mpmath.workdps(DIGITS):
        return np.array(evaluate(root, {key: exact(values) for key, values in point.items()}), dtype=np.float64)


def exact(array: Any) -> np.ndarray:
    """Doubles as mpmath numbers."""
    array = np.asarray(array)
    result = np.empty(array.shape, dtype=object)
    for at, value in np.ndenumerate(array):
        result[at] = mpmath.mpf(float(value))
    return result


def evaluate(root: Expr, point: Mapping[str, np.ndarray]) -> np.ndarray:
    """The value of an expression, elements being mpmath numbers."""
    values: dict[int, np.ndarray] = {}
    for node in topological([root]):
        args = [values[id(arg)] for arg in node.args]
        if node.op == "var":
            value = point[node["name"]]
        elif node.op == "const":
            value = (exact(node.lo) + exact(node.hi)) / 2
        elif node.op in ROWS:
            value = np.frompyfunc(partial(_element, node), len(args), 1)(*args)
        else:
            value = SHAPED[node.op](node, *args)
        values[id(node)] = as_objects(value)
        assert values[id(node)].shape == node.shape, (node.op, values[id(node)].shape, node.shape)
    return values[id(root)]


def _element(node: Expr, *elements: Any) -> Any:
    return ROWS[node.op].mpmath(*elements, *(value for _, value in node.params))


def as_objects(value: Any) -> np.ndarray:
    """An array even where NumPy hands out a bare element."""
    if isinstance(value, np.ndarray):
        return value
    result = np.empty((), dtype=object)
    result[()] = value
    return result


def _zeros(shape: tuple[int, ...]) -> np.ndarray:
    return exact(np.zeros(shape))


def _at(node: Expr, counts: tuple[int, ...]) -> tuple:
    return np.ix_(*(s + t * np.arange(c) for s, t, c in zip(node["starts"], node["steps"], counts, strict=True)))


def _embed(node: Expr, x: np.ndarray) -> np.ndarray:
    result = _zeros(node.shape)
    result[_at(node, x.shape)] = x
    return result


def _scatter(node: Expr, x: np.ndarray) -> np.ndarray:
    result = _zeros(node.shape)
    for target, value in zip(node["index"].array, x, strict=True):
        result[target] += value
    return result


def _reduction(combine: Callable, neutral: float) -> Callable:
    def row(node: Expr, x: np.ndarray) -> np.ndarray:
        for axis in reversed(node["axes"]):
            x = as_objects(np.frompyfunc(combine, 2, 1).reduce(x, axis=axis, initial=mpmath.mpf(neutral)))
        return x
    return row


def _norm(node: Expr, x: np.ndarray) -> np.ndarray:
    return np.frompyfunc(mpmath.sqrt, 1, 1)(np.add.reduce(x * x, axis=node["axes"]))


def _walk(node: Expr) -> range:
    places = range(node.shape[-1])
    return places[::-1] if node["reverse"] else places


def _scan(combine: Callable, neutral: float) -> Callable:
    def row(node: Expr, x: np.ndarray) -> np.ndarray:
        result, running = _zeros(node.shape), exact(np.full(node.shape[:-1], neutral))
        for i in _walk(node):
            after = as_objects(np.frompyfunc(combine, 2, 1)(running, x[..., i]))
            result[..., i] = running if node["exclusive"] else after
            running = after
        return result
    return row


def _recur(node: Expr, a: np.ndarray, m: np.ndarray) -> np.ndarray:
    result, before = _zeros(node.shape), _zeros(node.shape[:-1])
    for i in _walk(node):
        before = a[..., i] + m[..., i] * before
        result[..., i] = before
    return result


def _add(x: Any, y: Any) -> Any:
    return x + y


def _mul(x: Any, y: Any) -> Any:
    return x * y


SHAPED: dict[str, Callable] = {
    "reshape": lambda node, x: x.reshape(node.shape),
    "transpose": lambda node, x: x.transpose(node["perm"]),
    "broadcast": lambda node, x: np.broadcast_to(x, node.shape),
    "slice": lambda node, x: x[_at(node, node["counts"])],
    "embed": _embed, "scatter": _scatter, "gather": lambda node, x: x[node["index"].array],
    "concat": lambda node, *parts: np.concatenate([part.reshape(-1) for part in parts]),
    "sum": _reduction(_add, 0), "prod": _reduction(_mul, 1), "norm": _norm,
    "amax": _reduction(max, -np.inf), "amin": _reduction(min, np.inf),
    "cumsum": _scan(_add, 0), "cumprod": _scan(_mul, 1), "cummax": _scan(max, -np.inf), "cummin": _scan(min, np.inf),
    "recur": _recur,
}
