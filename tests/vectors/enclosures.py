"""Our enclosures of the vectors, one evaluator an operation and all its rows in one batch, and how much wider they are."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from infimum.evaluation.evaluator import Evaluator
from infimum.expr.build import build, index
from infimum.expr.node import Expr, var
from infimum.interval.elementary import row as elementary_row
from tests.vectors.extract_itf1788 import Row, read_table


@dataclass(frozen=True, slots=True)
class Operation:
    """What an operation of the vectors is called here, how it is written, and by how many ulps an end may be too far out.

    The ends of the operations with `ulps` 0 are the tightest doubles. None: no operation of ours but several, only contained.
    `rows` is the name in the table where it is not the key; `alike` tells of a row whether both mean the same function there.
    """

    ours: str
    written: Callable[..., Expr]
    ulps: int | None
    rows: str = ""
    alike: Callable[[Row], bool] = lambda row: True


def same_power(row: Row) -> bool:
    """The power of the standard is that of positive bases, and of 0 to positive exponents. Ours has 0**0 = 1 and, of a negative
    base, the powers at whole numbers."""
    (lo, _), (first, last) = row.box
    return lo > 0 or (lo == 0 and not first <= 0 <= last) or np.ceil(first) > np.floor(last)


def _exact(name: str) -> Operation:
    return Operation(name, lambda *args: build(name, *args), 0)


def _elementary(name: str) -> Operation:
    return Operation(name, lambda *args: build(name, *args), elementary_row(name).ulps)


def _together(name: str, other: str) -> Operation:
    """Where a kernel needs sin and cos of one argument, one function computes both: min(sin x, cos x + 4) is sin x, exactly."""
    return Operation(f"{name}, computed with {other}", lambda x: build("min", build(name, x), build("add", build(other, x), 4.0)),
                     elementary_row(name).ulps, rows=name)


def _power(k: int) -> Operation:
    return Operation(f"powi, k = {k}", lambda x: build("powi", x, k=k), 0 if -1 <= k <= 2 else 4)


_SAME_NAME = ("cbrt", "pow", "exp", "exp2", "expm1", "log", "log2", "log10", "sin", "cos", "tan", "sinh", "cosh", "tanh", "hypot")
_OTHER_NAME = {"logp1": "log1p", "asin": "arcsin", "acos": "arccos", "atan": "arctan", "atan2": "arctan2", "asinh": "arcsinh",
               "acosh": "arccosh", "atanh": "arctanh", "rootn 3": "cbrt"}
OPERATIONS: dict[str, Operation] = {
    **{name: _exact(name) for name in ("neg", "add", "sub", "mul", "div")},
    "recip": Operation("div, 1 / x", lambda x: build("div", 1.0, x), 0),
    **{name: _exact(name) for name in ("sqrt", "abs", "sign", "floor", "ceil", "min", "max")},
    "sqr": _power(2),
    **{f"pown {k}": _power(k) for k in (-8, -7, -3, -2, -1, 0, 1, 2, 3, 7, 8)},
    **{name: _elementary(name) for name in _SAME_NAME}, "pow": replace(_elementary("pow"), alike=same_power),
    **{theirs: _elementary(ours) for theirs, ours in _OTHER_NAME.items()},
    "sin with cos": _together("sin", "cos"),
    "cos with sin": _together("cos", "sin"),
    "fma": Operation("mul and add", lambda x, y, z: build("add", build("mul", x, y), z), None),
}


def ordinal(x: np.ndarray) -> np.ndarray:
    """Doubles numbered in their order, so that differences count ulps; both zeros are 0, infinity follows the largest.

    >>> ordinal(np.array([-5e-324, -0.0, 0.0, 1.0])) - ordinal(np.array([0.0, 0.0, -5e-324, np.nextafter(1.0, 0.0)]))
    array([-1,  0,  1,  1])
    """
    bits = np.asarray(x, dtype=np.float64).view(np.int64)
    return np.where(bits < 0, np.iinfo(np.int64).min - bits, bits)


@dataclass(frozen=True, slots=True)
class Measured:
    """The rows of an operation and our enclosures of them, an entry a row.

    `below` and `above`: by how many ulps the lower and the upper end lie outside the tightest ones; negative: inside.
    """

    rows: list[Row]
    lo: np.ndarray
    hi: np.ndarray
    level: np.ndarray
    expected_lo: np.ndarray
    expected_hi: np.ndarray

    @property
    def empty(self) -> np.ndarray:
        return self.lo > self.hi

    @property
    def expected_empty(self) -> np.ndarray:
        return self.expected_lo > self.expected_hi

    @property
    def below(self) -> np.ndarray:
        return np.where(self.empty | self.expected_empty, 0, steps(self.lo, self.expected_lo))

    @property
    def above(self) -> np.ndarray:
        return np.where(self.empty | self.expected_empty, 0, steps(self.expected_hi, self.hi))

    @property
    def width(self) -> np.ndarray:
        """The width of our enclosures in ulps."""
        return np.where(self.empty, 0, steps(self.lo, self.hi))

    def describe(self, i: int) -> str:
        """A row beside what we make of it."""
        row = self.rows[i]
        decoration = f" {row.given} -> {row.decoration}" if row.decoration else ""
        box = " ".join(f"[{lo!r}, {hi!r}]" for lo, hi in row.box)
        return (f"{row.operation} {box}: expected {list(row.result)}{decoration}, "
                f"got [{float(self.lo[i])!r}, {float(self.hi[i])!r}] level {int(self.level[i])}")


def steps(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Ulps from low up to high; by integers of Python, since the infinities are further apart than 64 bits can say."""
    return np.array([float(int(b) - int(a)) for a, b in zip(ordinal(low), ordinal(high), strict=True)])


@cache
def vectors() -> dict[str, list[Row]]:
    """The rows of the table by operation."""
    found: dict[str, list[Row]] = {}
    for row in read_table():
        found.setdefault(row.operation, []).append(row)
    return found


@cache
def measured(name: str) -> Measured:
    """All rows of an operation in which it means the same as ours, evaluated."""
    return evaluated(name, [row for row in vectors()[OPERATIONS[name].rows or name] if OPERATIONS[name].alike(row)])


def evaluated(name: str, rows: list[Row]) -> Measured:
    n = len(rows[0].box)
    x = var("x", (n,))
    evaluator = Evaluator(OPERATIONS[name].written(*(index(x, i) for i in range(n))), n)
    boxes = np.array([row.box for row in rows])  # row, argument, end
    ours = evaluator.value(boxes[:, :, 0].T, boxes[:, :, 1].T)
    expected = np.array([row.result for row in rows])
    return Measured(rows, ours.lo, ours.hi, ours.level, expected[:, 0], expected[:, 1])
