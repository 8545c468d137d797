"""Random expressions over every operation, kept twice: as the library builds them, and as they were meant.

`built` went through `build` with all its simplifications; `meant` has the same operations in the same order, made without any,
and is what the oracle evaluates. So a wrong simplification shows as a lost enclosure.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from infimum.expr.build import build
from infimum.expr.node import Expr, Index, const, make, topological, var
from infimum.ops.vocabulary import OPS, Kind
from tests.operations import ROWS
from tests.oracle.tables import TABLES

# they appear in derivatives only, so their status says nothing; as values they are checked for containment
DERIVATIVE_ONLY = frozenset({"slope", "step", "ratio", "recur", "embed", "scatter"})
NO_STATUS = frozenset({"slope", "step", "ratio", "recur"})
NO_DERIVATIVE = frozenset({"cummin", "cummax", "slope", "step", "ratio"})

AWKWARD = (0.1, -0.1, 0.0, 1.0, -1.0, 2.0, -2.0, 3.0, 0.5, 1 / 3, 10.0, -7.0, 1e-5, 5e-324, -2.5e-310, 1e-300, 1e300, -1e300,
           1.7976931348623157e308, 2.0**53, 2.0**-1022, np.pi, 0.9999999999999999, 1.0000000000000002)
_GENTLE = (0.1, -0.3, 1.0, 2.0, -1.0, 3.0, 0.5, 10.0, -2.5)


@dataclass(frozen=True, slots=True)
class Twin:
    """One expression, twice: see above."""

    built: Expr
    meant: Expr

    @property
    def shape(self) -> tuple[int, ...]:
        return self.built.shape

    @property
    def size(self) -> int:
        return self.built.size


def twin(op: str, *args: Any, **params: Any) -> Twin:
    """The operation on twins or numbers, shapes broadcast."""
    twins = [a if isinstance(a, Twin) else constant(a) for a in args]
    if OPS[op].kind in (Kind.MAP, Kind.TEST):
        shape = np.broadcast_shapes(*(t.shape for t in twins))
        twins = [t if t.shape == shape else twin("broadcast", t, shape=shape) for t in twins]
    built = build(op, *(t.built for t in twins), **params)
    kept = {k: v for k, v in params.items() if k != "shape"}
    return Twin(built, make(op, tuple(t.meant for t in twins), built.shape, kept))


def constant(value: Any, upper: Any = None) -> Twin:
    c = const(value, upper)
    return Twin(c, c)


def operations(root: Expr) -> dict[str, int]:
    """How often each operation occurs."""
    counts: dict[str, int] = {}
    for node in topological([root]):
        counts[node.op] = counts.get(node.op, 0) + 1
    return counts


class Generator:
    """Draws expressions in n variables. `must` names an operation that each expression gets near its root."""

    def __init__(self, rng: np.random.Generator, n: int):
        self.rng, self.n = rng, n
        x = var("x", (n,))
        self.x = Twin(x, x)
        self.gentle = rng.random() < 0.7

    # ---- choices
    def chance(self, p: float) -> bool:
        return bool(self.rng.random() < p)

    def pick(self, items: Any) -> Any:
        return items[int(self.rng.integers(len(items)))]

    def number(self) -> float:
        if self.chance(0.3):
            return float(self.rng.normal() * 10.0 ** self.rng.integers(-2, 3))
        return self.pick(_GENTLE if self.gentle else AWKWARD)

    # ---- leaves
    def leaf(self, shape: tuple[int, ...]) -> Twin:
        size = int(np.prod(shape))
        roll = self.rng.random()
        if roll < 0.15:
            return self.constant(shape)
        if not shape:
            i = int(self.rng.integers(self.n))
            return twin("reshape", twin("slice", self.x, starts=(i,), steps=(1,), counts=(1,)), shape=())
        return self.reshaped(self.vector_of_variables(size), shape)

    def constant(self, shape: tuple[int, ...]) -> Twin:
        values = np.array([self.number() for _ in range(int(np.prod(shape)))]).reshape(shape)
        if self.chance(0.15):
            return constant(values, np.maximum(values, np.nextafter(np.minimum(values, 1e308), np.inf)))
        return constant(values)

    def vector_of_variables(self, size: int) -> Twin:
        n, rng = self.n, self.rng
        if size == n and self.chance(0.7):
            return self.x
        step = self.pick((1, 1, 2, -1))
        if size * abs(step) <= n:
            start = int(rng.integers(n - (size - 1) * abs(step)))
            start = start if step > 0 else start + (size - 1) * -step
            return twin("slice", self.x, starts=(start,), steps=(step,), counts=(size,))
        return twin("gather", self.x, index=Index(rng.integers(n, size=size)))

    def reshaped(self, v: Twin, shape: tuple[int, ...]) -> Twin:
        return v if v.shape == shape else twin("reshape", v, shape=shape)

    # ---- growth
    def grow(self, shape: tuple[int, ...], depth: int, op: str | None = None) -> Twin:
        if depth <= 0 and op is None:
            return self.leaf(shape)
        if op is None and self.chance(0.06):  # a sign that the library can know before it sees a box
            return twin("neg", self.positive(shape, depth - 1))
        op = self.pick(_WEIGHTED) if op is None else op
        return _GROWERS[op](self, op, shape, depth - 1)

    def positive(self, shape: tuple[int, ...], depth: int) -> Twin:
        """Something that is >= 0 or > 0 by its form; sometimes with an offset so that the edge is met."""
        x = self.grow(shape, depth)
        kind = self.rng.integers(5)
        if kind == 0:
            return twin("exp", x)
        if kind == 1:
            return twin("abs", x)
        square = twin("powi", x, k=2)
        return square if kind == 2 else twin("add", square, float(self.pick((1.0, 0.1, 1e-12, -1.0))))

    def bounded(self, shape: tuple[int, ...], depth: int) -> Twin:
        """Something in [-1, 1]."""
        return twin(self.pick(("sin", "cos", "tanh")), self.grow(shape, depth))

    def scalar(self, depth: int, must: str | None = None) -> Twin:
        """A scalar expression; with `must`, one that contains that operation."""
        if must is None:
            return self.grow((), depth)
        shape = self.pick(_SHAPES_OF.get(must, ((), (2,), (self.n,))))
        inner = self.grow(shape, depth, must)
        if inner.shape:
            inner = twin(self.pick(("sum", "sum", "prod", "amax", "norm")), inner, axes=tuple(range(len(inner.shape))))
        if self.chance(0.5):
            inner = twin(self.pick(("add", "mul", "sub", "max")), inner, self.grow((), max(depth - 2, 0)))
        return twin(self.pick(("sin", "exp", "neg", "abs", "arctan")), inner) if self.chance(0.25) else inner


# ---- how each operation finds its arguments
Grower = Callable[[Generator, str, tuple[int, ...], int], Twin]

def _unary(g: Generator, op: str, shape: tuple[int, ...], depth: int) -> Twin:
    drawn = ROWS[op].drawn
    if drawn == "above one" and g.chance(0.6):
        return twin(op, twin("add", 1.0, g.positive(shape, depth)))
    if drawn in ("positive", "bounded") and g.chance(0.6):
        return twin(op, getattr(g, drawn)(shape, depth))
    return twin(op, g.grow(shape, depth))


def _binary(g: Generator, op: str, shape: tuple[int, ...], depth: int) -> Twin:
    x, y = g.grow(shape, depth), g.grow(shape, depth - 1)
    if op in ("add", "mul", "sub") and g.chance(0.1):
        y = x
    return twin(op, x, y) if g.chance(0.5) else twin(op, y, x)


def _powi(g: Generator, op: str, shape: tuple[int, ...], depth: int) -> Twin:
    return twin(op, g.grow(shape, depth), k=int(g.pick((-7, -3, -2, -1, 0, 1, 2, 2, 3, 3, 4, 5, 6, 7, 8, 11, 20, 33, 64))))


def _polygamma(g: Generator, op: str, shape: tuple[int, ...], depth: int) -> Twin:
    x = g.positive(shape, depth) if g.chance(0.6) else g.grow(shape, depth)
    return twin(op, x, m=int(g.pick((0, 0, 1, 1, 2, 3))))


def _sinc(g: Generator, op: str, shape: tuple[int, ...], depth: int) -> Twin:
    return twin(op, g.grow(shape, depth), m=int(g.pick((0, 0, 0, 1, 2, 3))))


def _spline(g: Generator, op: str, shape: tuple[int, ...], depth: int) -> Twin:
    return twin(op, g.grow(shape, depth), table=g.pick(TABLES))


def _pow(g: Generator, op: str, shape: tuple[int, ...], depth: int) -> Twin:
    base = g.positive(shape, depth) if g.chance(0.6) else g.grow(shape, depth)
    roll = g.rng.random()
    if roll < 0.35:
        return twin(op, base, float(g.pick((1.5, 0.5, -0.5, 2.5, 0.1, 1 / 3, -1.5, 2.0, 3.0, -2.0, 0.0, 100.7, 1e-3))))
    if roll < 0.5:  # some of them whole, some between a whole number and its neighbour
        ends = np.array([g.pick((2.0, 3.0, -1.0, 0.0, 1.0, 2.5, 5.0)) for _ in range(int(np.prod(shape)))]).reshape(shape)
        return twin(op, base, constant(ends, np.where(g.rng.random(shape) < 0.2, np.nextafter(ends, 9.0), ends)))
    exponent = g.grow(shape, depth - 1)
    return twin(op, base, twin(g.pick(("floor", "rint", "sign")), exponent) if g.chance(0.4) else exponent)


def _ratio(g: Generator, op: str, shape: tuple[int, ...], depth: int) -> Twin:
    """|x| <= y by its form, as where derivatives use it."""
    x = g.grow(shape, depth)
    return twin(op, x, twin("hypot", x, g.grow(shape, depth - 1)) if g.chance(0.7) else twin("abs", x))


def _test(g: Generator, op: str, shape: tuple[int, ...], depth: int) -> Twin:
    if op in ("and", "or"):
        return twin(op, *(_test(g, g.pick(("lt", "le")), shape, depth - 1) for _ in range(2)))
    if op == "not":
        return twin(op, _test(g, g.pick(("lt", "le", "eq")), shape, depth))
    y = g.grow(shape, depth - 1) if g.chance(0.4) else constant(np.full(shape, g.number()))
    return twin(op, g.grow(shape, depth), y)


def _where(g: Generator, op: str, shape: tuple[int, ...], depth: int, test: str | None = None) -> Twin:
    test = test if test is not None else g.pick(("lt", "le", "lt", "le", "eq", "and", "or", "not"))
    return twin("where", _test(g, test, shape, min(depth, 2)), g.grow(shape, depth), g.grow(shape, depth - 1))


def _tested(g: Generator, op: str, shape: tuple[int, ...], depth: int) -> Twin:
    return _where(g, "where", shape, depth, op)


def _reduce(g: Generator, op: str, shape: tuple[int, ...], depth: int) -> Twin:
    length = int(g.pick((1, 2, 3, g.n, g.n)))
    if int(np.prod(shape)) * length > 120 or len(shape) > 2:
        length = 2
    place = int(g.rng.integers(len(shape) + 1))
    axes, inner = (place,), (*shape[:place], length, *shape[place:])
    if not shape and g.chance(0.25) and length <= 8:
        axes, inner = (0, 1), (2, length)
    return twin(op, g.grow(inner, depth), axes=axes)


def _scan(g: Generator, op: str, shape: tuple[int, ...], depth: int) -> Twin:
    if not shape:
        inner = _scan(g, op, (g.pick((1, 2, 3, g.n)),), depth)
        return twin(g.pick(("sum", "prod", "amin")), inner, axes=(0,))
    reverse = g.chance(0.5)
    if op == "recur":
        return twin(op, g.grow(shape, depth), g.grow(shape, depth - 1), reverse=reverse)
    exclusive = op in ("cumsum", "cumprod") and g.chance(0.4)
    return twin(op, g.grow(shape, depth), reverse=reverse, exclusive=exclusive)


def _view(g: Generator, op: str, shape: tuple[int, ...], depth: int) -> Twin:
    """A view with the size asked for, then put into the shape."""
    size = int(np.prod(shape))
    if not size:
        return g.constant(shape)
    return g.reshaped(_VIEW_GROWERS[op](g, size, depth), shape)


def _transpose(g: Generator, size: int, depth: int) -> Twin:
    rows = next((r for r in (2, 3, 5, 7) if size % r == 0), 1)
    return twin("transpose", g.grow((rows, size // rows), depth), perm=(1, 0))


def _slice(g: Generator, size: int, depth: int) -> Twin:
    step = int(g.pick((1, 2, -1)))
    start = int(g.rng.integers(2)) + (size - 1 if step < 0 else 0)
    length = size * abs(step) + 2
    return twin("slice", g.grow((length,), depth), starts=(start,), steps=(step,), counts=(size,))


def _gather(g: Generator, size: int, depth: int) -> Twin:
    source = int(g.pick((1, 2, size, g.n)))
    return twin("gather", g.grow((source,), depth), index=Index(g.rng.integers(source, size=size)))


def _scatter(g: Generator, size: int, depth: int) -> Twin:
    source = int(g.pick((1, 3, size, g.n)))
    return twin("scatter", g.grow((source,), depth), index=Index(g.rng.integers(size, size=source)), size=size)


def _embed(g: Generator, size: int, depth: int) -> Twin:
    count = int(g.rng.integers(1, size + 1))
    step = int(g.pick((1, -1, 2))) if count * 2 <= size else int(g.pick((1, -1)))
    start = int(g.rng.integers(size - (count - 1) * abs(step))) + ((count - 1) * -step if step < 0 else 0)
    return twin("embed", g.grow((count,), depth), starts=(start,), steps=(step,), shape=(size,))


def _concat(g: Generator, size: int, depth: int) -> Twin:
    if size == 1:
        return g.reshaped(g.grow((), depth), (1,))
    first = int(g.rng.integers(1, size))
    return twin("concat", g.grow((first,), depth), g.grow((size - first,), depth - 1))


_VIEW_GROWERS: dict[str, Callable[[Generator, int, int], Twin]] = {
    "reshape": lambda g, size, depth: twin("reshape", g.grow((1, size), depth), shape=(size, 1)),
    "broadcast": lambda g, size, depth: twin("broadcast", g.grow((), depth), shape=(size,)),
    "transpose": _transpose, "slice": _slice, "gather": _gather, "scatter": _scatter, "embed": _embed, "concat": _concat,
}
_PARAMETERS = ("powi", "polygamma", "sinc", "spline")
_ONE = [name for name, row in OPS.items() if row.kind is Kind.MAP and row.arity == 1 and name not in _PARAMETERS]
_TWO = [name for name, row in OPS.items() if row.kind is Kind.MAP and row.arity == 2 and name not in ("pow", "ratio")]
_GROWERS: dict[str, Grower] = {
    **dict.fromkeys(_ONE, _unary), **dict.fromkeys(_TWO, _binary), "powi": _powi, "polygamma": _polygamma, "sinc": _sinc,
    "spline": _spline, "pow": _pow, "ratio": _ratio, "where": _where,
    **{name: _tested for name, row in OPS.items() if row.kind is Kind.TEST},
    **{name: _reduce for name, row in OPS.items() if row.kind is Kind.REDUCE},
    **{name: _scan for name, row in OPS.items() if row.kind is Kind.SCAN},
    **dict.fromkeys(_VIEW_GROWERS, _view),
    "var": lambda g, op, shape, depth: g.leaf(shape), "const": lambda g, op, shape, depth: g.constant(shape),
}
assert set(_GROWERS) == set(OPS), "an operation of the table has no generator"
_SHAPES_OF = {"transpose": ((6,), (4,)), "broadcast": ((3,), (6,)), **dict.fromkeys(
    ("reshape", "slice", "gather", "scatter", "embed", "concat"), ((2,), (5,), (6,)))}
# arithmetic and the common functions are drawn more often; what only derivatives use, not at all unless asked for
_WEIGHTED = [name for name in _GROWERS if name not in DERIVATIVE_ONLY | {"var", "const"}] \
    + ["add", "mul", "sub", "mul", "add"] * 3 \
    + ["sum", "where", "div", "powi", "abs", "max", "sqrt", "log", "exp", "sin", "cos", "norm", "slice", "prod"]
