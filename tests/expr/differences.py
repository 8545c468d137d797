"""Derivatives by central differences in 100 digits: an evaluator of Expr with mpmath, the yardstick of the derivative tests."""

from collections.abc import Callable, Mapping
from typing import Any

import mpmath
import numpy as np

from infimum.expr.node import Expr, topological

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
        elif node.op in ELEMENTWISE:
            value = np.frompyfunc(ELEMENTWISE[node.op], len(args), 1)(*args)
        else:
            value = SHAPED[node.op](node, *args)
        values[id(node)] = as_objects(value)
        assert values[id(node)].shape == node.shape, (node.op, values[id(node)].shape, node.shape)
    return values[id(root)]


def as_objects(value: Any) -> np.ndarray:
    """An array even where NumPy hands out a bare element."""
    if isinstance(value, np.ndarray):
        return value
    result = np.empty((), dtype=object)
    result[()] = value
    return result


ELEMENTWISE: dict[str, Callable] = {
    "neg": lambda x: -x, "abs": abs, "sqrt": mpmath.sqrt, "cbrt": lambda x: mpmath.sign(x) * mpmath.cbrt(abs(x)),
    "exp": mpmath.exp, "exp2": lambda x: mpmath.mpf(2) ** x, "expm1": mpmath.expm1,
    "log": mpmath.log, "log2": lambda x: mpmath.log(x, 2), "log10": mpmath.log10, "log1p": mpmath.log1p,
    "sin": mpmath.sin, "cos": mpmath.cos, "tan": mpmath.tan,
    "arcsin": mpmath.asin, "arccos": mpmath.acos, "arctan": mpmath.atan,
    "sinh": mpmath.sinh, "cosh": mpmath.cosh, "tanh": mpmath.tanh,
    "arcsinh": mpmath.asinh, "arccosh": mpmath.acosh, "arctanh": mpmath.atanh,
    "lgamma": mpmath.loggamma, "erf": mpmath.erf, "erfc": mpmath.erfc,
    "expit": lambda x: 1 / (1 + mpmath.exp(-x)), "logaddexp": lambda x, y: mpmath.log(mpmath.exp(x) + mpmath.exp(y)),
    "xlogx": lambda x: x * mpmath.log(x),
    "sign": mpmath.sign, "floor": mpmath.floor, "ceil": mpmath.ceil, "rint": mpmath.nint, "slope": mpmath.sign,
    "add": lambda x, y: x + y, "sub": lambda x, y: x - y, "mul": lambda x, y: x * y, "div": lambda x, y: x / y,
    "pow": mpmath.power, "arctan2": mpmath.atan2, "hypot": mpmath.hypot, "min": min, "max": max,
    "step": lambda x, y: mpmath.mpf(1 if x > y else 0 if x < y else 0.5), "ratio": lambda x, y: x / y,
    "where": lambda test, x, y: x if test else y,
    "lt": lambda x, y: x < y, "le": lambda x, y: x <= y, "eq": lambda x, y: x == y,
    "and": lambda x, y: x and y, "or": lambda x, y: x or y, "not": lambda x: not x,
}


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


def _spline(table: Any, x: Any) -> Any:
    at = max(0, sum(1 for p in table.points[:-1] if p <= x) - 1)
    return sum(mpmath.mpf(c.numerator) / c.denominator * (x - table.points[at]) ** j for j, c in enumerate(table.pieces[at]))


SHAPED: dict[str, Callable] = {
    "powi": lambda node, x: np.frompyfunc(lambda element: element ** node["k"], 1, 1)(x),
    "polygamma": lambda node, x: np.frompyfunc(lambda element: mpmath.psi(node["m"], element), 1, 1)(x),
    "spline": lambda node, x: np.frompyfunc(lambda element: _spline(node["table"], element), 1, 1)(x),
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
