"""The value of an expression at one point, enclosed to the last bit where that is possible: in fixed-point numbers."""

from collections.abc import Callable
from typing import Any

import numpy as np

from infimum.expr.node import Expr, topological
from infimum.interval import fixed_point as fixed
from infimum.interval.fixed_point import FixedPointInterval, Unknown, whole

_MOST_ELEMENTS = 1 << 14  # elements of all operations
_LOG_2, _LOG_10 = (lambda k=k: fixed.log(whole(k)) for k in (2, 10))


def enclose_at_point(f: Expr, x: np.ndarray) -> tuple[float, float] | None:
    """The tightest doubles around the value of f at x; None where it is not certainly defined, or too large, or has an operation
    that fixed-point numbers lack."""
    return PointValues(x).enclosed(f)


class PointValues:
    """Of several expressions at one point x: what they share is computed once."""

    def __init__(self, x: np.ndarray):
        self.x, self.values = x, {}

    def enclosed(self, f: Expr) -> tuple[float, float] | None:
        """As `enclose_at_point`."""
        nodes = list(topological([f]))
        if sum(node.size for node in nodes) > _MOST_ELEMENTS or any(node.op not in _MAPS and node.op not in _SHAPED
                                                                    for node in nodes):
            return None
        try:
            for node in nodes:
                if node not in self.values:
                    self.values[node] = _value(node, [self.values[a] for a in node.args], self.x)
            return self.values[f].item().ends()
        except Unknown:
            return None


def _value(node: Expr, args: list[np.ndarray], x: np.ndarray) -> np.ndarray:
    if node.op in _MAPS:
        value = np.frompyfunc(_MAPS[node.op], len(args), 1)(*args)
    else:
        value = _SHAPED[node.op](node, *args, **({"x": x} if node.op == "var" else {}))
    found = np.empty(node.shape, object)
    found[...] = value
    return found


def _doubles(lo: np.ndarray, hi: np.ndarray) -> Any:
    return np.frompyfunc(FixedPointInterval.between, 2, 1)(lo.astype(object), hi.astype(object))


def _places(node: Expr) -> tuple:
    """The positions start + step * i along each axis."""
    spans = zip(node["starts"], node["steps"], node["counts"], strict=True)
    return np.ix_(*(start + step * np.arange(count) for start, step, count in spans))


def _reduce(combine: Callable, first: int | None = None) -> Callable:
    """Over all elements along the axes, in any order: sums are exact, and the rest is rounded outward."""
    def row(node: Expr, x: np.ndarray) -> Any:
        kept = [a for a in range(x.ndim) if a not in node["axes"]]
        rows = np.transpose(x, [*kept, *node["axes"]]).reshape(*node.shape, -1)
        found = np.empty(node.shape, object)
        for at in np.ndindex(*node.shape):
            items = list(rows[at])
            total = items.pop() if first is None else whole(first)
            for item in items:
                total = combine(total, item)
            found[at] = total
        return found
    return row


def _not_above(x: FixedPointInterval, y: FixedPointInterval) -> bool:
    return not y.below(x)


def _tangent(x: FixedPointInterval) -> FixedPointInterval:
    return fixed.sin(x) / fixed.cos(x)


def _half_sum(sign: int) -> Callable[[FixedPointInterval], FixedPointInterval]:
    """(e**x + sign e**-x) / 2."""
    def row(x: FixedPointInterval) -> FixedPointInterval:
        up, down = fixed.exp(x), fixed.exp(-x)
        return (up + down if sign > 0 else up - down) / whole(2)
    return row


_SINH, _COSH = _half_sum(-1), _half_sum(1)
_MAPS: dict[str, Callable] = {
    "add": FixedPointInterval.__add__, "sub": FixedPointInterval.__sub__, "mul": FixedPointInterval.__mul__,
    "div": FixedPointInterval.__truediv__, "neg": FixedPointInterval.__neg__,
    "abs": FixedPointInterval.__abs__, "sqrt": fixed.root, "hypot": lambda x, y: fixed.root(x**2 + y**2), "pow": fixed.power,
    "exp": fixed.exp, "exp2": lambda x: fixed.exp(x * _LOG_2()), "expm1": lambda x: fixed.exp(x) - whole(1),
    "log": fixed.log, "log2": lambda x: fixed.log(x) / _LOG_2(), "log10": lambda x: fixed.log(x) / _LOG_10(),
    "log1p": lambda x: fixed.log(x + whole(1)), "sin": fixed.sin, "cos": fixed.cos, "tan": _tangent,
    "sinh": _SINH, "cosh": _COSH, "tanh": lambda x: _SINH(x) / _COSH(x),
    "floor": lambda x: fixed.integer(x, fixed.floor), "ceil": lambda x: -fixed.integer(-x, fixed.floor),
    "rint": lambda x: fixed.integer(x, fixed.rint), "sign": lambda x: fixed.integer(x, fixed.sign),
    "min": fixed.least, "max": lambda x, y: -fixed.least(-x, -y),
    "lt": FixedPointInterval.below, "le": _not_above, "eq": FixedPointInterval.same, "and": lambda p, q: p and q, "or": lambda p,
    q: p or q,
    "not": lambda p: not p, "where": lambda test, x, y: x if test else y,
}
_SHAPED: dict[str, Callable] = {
    "var": lambda node, x: _doubles(x, x), "const": lambda node: _doubles(node.lo, node.hi),
    "powi": lambda node, x: np.frompyfunc(lambda v: v ** node["k"], 1, 1)(x),
    "reshape": lambda node, x: x.reshape(node.shape), "transpose": lambda node, x: x.transpose(node["perm"]),
    "broadcast": lambda node, x: np.broadcast_to(x, node.shape), "slice": lambda node, x: x[_places(node)],
    "gather": lambda node, x: x[node["index"].array],
    "concat": lambda node, *parts: np.concatenate([p.reshape(-1) for p in parts]),
    "sum": _reduce(FixedPointInterval.__add__, 0), "prod": _reduce(FixedPointInterval.__mul__, 1), "amin": _reduce(fixed.least),
    "amax": _reduce(lambda x, y: -fixed.least(-x, -y)),
    "norm": lambda node, x: np.frompyfunc(fixed.root, 1, 1)(_reduce(lambda t, v: t + v**2, 0)(node, x)),
}
