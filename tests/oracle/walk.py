"""How an expression is walked element by element; what an element is, an `Algebra` says (balls, or power series of balls).

Written from the text of `infimum.ops.vocabulary` alone, on plain object arrays: no schedule, no loop, no simplification.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from infimum.expr.node import Expr, topological
from infimum.ops.vocabulary import Kind


class Special:
    """A value that is no number. UNDEFINED: outside the natural domain, where NumPy has NaN. POLE: outside as well, but NumPy may
    go on with a number. UNDECIDED: the precision cannot tell."""

    def __init__(self, name: str):
        self.name = name

    def __repr__(self) -> str:
        return self.name


UNDEFINED, POLE, UNDECIDED = Special("undefined"), Special("pole"), Special("undecided")
FORGET_NAN = ("pow", "hypot")  # NaN**0 and 1**NaN are 1, hypot(inf, NaN) is inf


class Algebra(ABC):
    """What the elements are. `rows` maps an elementwise operation to a function of elements, none of them special."""

    rows: dict[str, Callable[..., Any]]

    @abstractmethod
    def constant(self, lo: float, hi: float) -> Any: ...

    @abstractmethod
    def variable(self, position: int) -> Any: ...

    def named(self, name: str, position: int) -> Any:
        """An element of the variable of this name: most expressions have one variable."""
        return self.variable(position)

    @abstractmethod
    def power(self, x: Any, k: int) -> Any:
        """x to the integer k."""

    def apply(self, op: str, *elements: Any) -> Any:
        """The operation on elements. What is undefined stays undefined, whatever it meets, until it is compared: that is false
        for NaN, and either for a pole."""
        special = [e for e in elements if isinstance(e, Special)]
        if not special:
            return self.rows[op](*elements)
        if op in ("and", "or"):
            decisive = op == "or"
            return decisive if any(e is decisive for e in elements) else UNDECIDED
        if op in ("lt", "le", "eq"):
            return False if UNDEFINED in special else UNDECIDED
        worst = next(s for s in (POLE, UNDEFINED, UNDECIDED) if s in special)
        return POLE if worst is UNDEFINED and op in FORGET_NAN else worst


def evaluate(root: Expr, algebra: Algebra) -> Any:
    """The element that the scalar expression `root` is."""
    return elements(root, algebra).reshape(-1)[0]


def elements(root: Expr, algebra: Algebra) -> np.ndarray:
    """The array that the expression is."""
    values: list[np.ndarray] = []
    for node, places in _order(root):
        values.append(_array(node, [values[i] for i in places], algebra))
    return values[-1]


@lru_cache(maxsize=64)
def _order(root: Expr) -> list[tuple[Expr, list[int]]]:
    """The nodes, arguments first, each with the places of its arguments in this list."""
    nodes = list(topological([root]))
    place = {id(node): i for i, node in enumerate(nodes)}
    return [(node, [place[id(a)] for a in node.args]) for node in nodes]


def _array(node: Expr, args: list[np.ndarray], algebra: Algebra) -> np.ndarray:
    result = np.empty(node.shape, dtype=object)
    flat = result.reshape(-1)
    op, kind = node.op, node.kind
    if op == "var":
        flat[:] = [algebra.named(node["name"], i) for i in range(node.size)]
    elif op == "const":
        flat[:] = [algebra.constant(float(a), float(b)) for a, b in zip(node.lo.flat, node.hi.flat, strict=True)]
    elif op == "where":
        flat[:] = [_chosen(*row) for row in zip(*(a.reshape(-1) for a in args), strict=True)]
    elif op == "powi" or (op == "pow" and (k := _integer(node.args[1])) is not None):
        k = node["k"] if op == "powi" else k
        forgotten = {UNDEFINED: POLE} if k == 0 else {}
        flat[:] = [forgotten.get(x, x) if isinstance(x, Special) else algebra.power(x, k) for x in args[0].reshape(-1)]
    elif kind in (Kind.MAP, Kind.TEST):
        params = [value for _, value in node.params]
        flat[:] = [algebra.apply(op, *row, *params) for row in zip(*(a.reshape(-1) for a in args), strict=True)]
    elif kind is Kind.VIEW:
        result[...] = _VIEWS[op](node, args, algebra)
    elif kind is Kind.REDUCE:
        flat[:] = _reduced(node, args[0], algebra)
    else:
        result[...] = _scanned(node, args, algebra)
    return result


def _integer(y: Expr) -> int | None:
    """The one integer that a constant exponent is: such a power of NaN is NaN, unless it is 0."""
    while y.op in ("broadcast", "reshape"):
        y = y.args[0]
    if y.op != "const" or not (y.lo == y.hi).all() or not y.size or not (y.lo == y.lo.flat[0]).all():
        return None
    return int(y.lo.flat[0]) if float(y.lo.flat[0]).is_integer() and abs(y.lo.flat[0]) <= 2**31 else None


def _chosen(test: Any, yes: Any, no: Any) -> Any:
    if isinstance(test, Special):
        return test
    return yes if test else no


# ---- views
@lru_cache(maxsize=256)
def _places(node: Expr, counts: tuple[int, ...]) -> tuple:
    return np.ix_(*(s + t * np.arange(c) for s, t, c in zip(node["starts"], node["steps"], counts, strict=True)))


def _embed(node: Expr, args: list[np.ndarray], algebra: Algebra) -> np.ndarray:
    result = np.full(node.shape, algebra.constant(0.0, 0.0), dtype=object)
    result[_places(node, args[0].shape)] = args[0]
    return result


def _scatter(node: Expr, args: list[np.ndarray], algebra: Algebra) -> np.ndarray:
    result = np.full(node.shape, algebra.constant(0.0, 0.0), dtype=object)
    for place, value in zip(node["index"].array, args[0], strict=True):
        result[place] = algebra.apply("add", result[place], value)
    return result


_VIEWS: dict[str, Callable] = {
    "reshape": lambda node, args, algebra: args[0].reshape(node.shape),
    "transpose": lambda node, args, algebra: args[0].transpose(node["perm"]),
    "broadcast": lambda node, args, algebra: np.broadcast_to(args[0], node.shape),
    "slice": lambda node, args, algebra: args[0][_places(node, node["counts"])],
    "gather": lambda node, args, algebra: args[0][node["index"].array],
    "concat": lambda node, args, algebra: np.concatenate([a.reshape(-1) for a in args]),
    "embed": _embed, "scatter": _scatter,
}


# ---- reductions and scans
_COMBINE = {"sum": "add", "prod": "mul", "amin": "min", "amax": "max",
            "cumsum": "add", "cumprod": "mul", "cummin": "min", "cummax": "max"}
_NEUTRAL = {"cumsum": 0.0, "cumprod": 1.0, "cummin": float("inf"), "cummax": float("-inf")}


def _reduced(node: Expr, x: np.ndarray, algebra: Algebra) -> list:
    axes = node["axes"]
    kept = [a for a in range(x.ndim) if a not in axes]
    rows = x.transpose(*kept, *axes).reshape(node.size, -1)
    if node.op == "norm":
        return [algebra.apply("norm", *row) for row in rows]
    return [_fold(_COMBINE[node.op], row, algebra) for row in rows]


def _fold(op: str, row: np.ndarray, algebra: Algebra) -> Any:
    total = row[0]
    for value in row[1:]:
        total = algebra.apply(op, total, value)
    return total


def _scanned(node: Expr, args: list[np.ndarray], algebra: Algebra) -> np.ndarray:
    turned = [a[..., ::-1] if node["reverse"] else a for a in args]
    result = np.empty(node.shape, dtype=object)
    for at in np.ndindex(*node.shape[:-1]):
        rows = [a[at] for a in turned]
        out = _recurrence(*rows, algebra) if node.op == "recur" else _running(node, rows[0], algebra)
        result[at] = out[::-1] if node["reverse"] else out
    return result


def _running(node: Expr, row: np.ndarray, algebra: Algebra) -> list:
    op, out = _COMBINE[node.op], []
    total = algebra.constant(_NEUTRAL[node.op], _NEUTRAL[node.op]) if node["exclusive"] else None
    for value in row:
        if node["exclusive"]:
            out.append(total)
            total = value if len(out) == 1 else algebra.apply(op, total, value)
        else:
            total = value if total is None else algebra.apply(op, total, value)
            out.append(total)
    return out


def _recurrence(a: np.ndarray, m: np.ndarray, algebra: Algebra) -> list:
    out = [a[0]] if m[0] not in (UNDEFINED, POLE) else [m[0]]
    for i in range(1, len(a)):
        out.append(algebra.apply("add", a[i], algebra.apply("mul", m[i], out[-1])))
    return out
