"""A drawn problem: what a user would write, as text and as functions, and what holds at a point of it, exactly."""

import linecache
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from itertools import count
from typing import Any

import numpy as np
from flint import arb

import infimum
from bench.related.balls import PI, PRECISIONS, Undefined, Unsure, ball, precision
from bench.related.expressions import Tree, text, value
from infimum.expr.point_value import enclose_at_point
from infimum.trace.tracer import Tracer

End = float | int | Fraction | str  # an exact number, or PI
Pairs = tuple[tuple[End, End], ...]
_INF = math.inf
_files = count()


@dataclass(frozen=True)
class Row:
    """A constraint: lo <= e <= hi. `compared`: it is written as a comparison, not as a Constraint."""

    e: Tree
    lo: End
    hi: End
    compared: bool = False


@dataclass(frozen=True)
class View:
    """The expressions' variable k is y[order[k]] * scale[k] + shift[k] of the user's variables y."""

    order: tuple[int, ...]
    scale: tuple[float, ...]
    shift: tuple[float, ...]

    def lines(self, n: int) -> list[str]:
        """Statements that turn the user's x into that of the expressions."""
        found = []
        if self.order != tuple(range(n)):
            found.append(f"x = x[{list(self.order)!r}]")
        for op, parameters, neutral in (("*", self.scale, 1.0), ("+", self.shift, 0.0)):
            if any(p != neutral for p in parameters):
                found.append(f"x = x {op} np.array({list(parameters)!r})")
        return found

    def seen(self, y: Sequence[arb]) -> list[arb]:
        """The expressions' variables."""
        return [y[k] * arb(s) + arb(t) for k, s, t in zip(self.order, self.scale, self.shift, strict=True)]


@dataclass(frozen=True)
class Problem:
    """Minimise f over the bounds, where the rows hold; `features` names the hard places that it reaches."""

    f: Tree
    bounds: Pairs
    rows: tuple[Row, ...] = ()
    integers: tuple[int, ...] = ()  # 0 or 1 for each variable; empty: none is whole
    view: View | None = None
    start: tuple[Pairs, ...] = ()
    features: frozenset[str] = field(default_factory=frozenset)

    @property
    def n(self) -> int:
        return len(self.bounds)

    def is_whole(self, i: int) -> bool:
        return bool(self.integers and self.integers[i])

    @property
    def inner_n(self) -> int:
        """How many variables the expressions have."""
        return self.n if self.view is None else len(self.view.order)

    def having(self, **changes: Any) -> "Problem":
        return replace(self, **changes)

    # ---- as a user writes it
    @cached_property
    def source(self) -> str:
        """Python text with the functions f, g0, g1, …"""
        lines = ["import numpy as np", "import infimum", "from fractions import Fraction", ""]
        start = [] if self.view is None else self.view.lines(self.n)
        bodies = {"f": text(self.f, self.inner_n)} | {f"g{k}": self._row_text(row) for k, row in enumerate(self.rows)}
        for name, body in bodies.items():
            lines += [f"def {name}(x):", *(f"    {line}" for line in start), f"    return {body}", ""]
        return "\n".join(lines)

    def _row_text(self, row: Row) -> str:
        body = text(row.e, self.inner_n)
        if not row.compared:
            return body
        if row.lo == row.hi:
            return f"{body} == {end_text(row.lo)}"
        return f"{body} <= {end_text(row.hi)}" if row.lo == -_INF else f"{body} >= {end_text(row.lo)}"

    @cached_property
    def functions(self) -> dict[str, Callable]:
        """The functions of the text."""
        name, space = f"<drawn problem {next(_files)}>", {}
        linecache.cache[name] = (len(self.source), None, self.source.splitlines(keepends=True), name)
        exec(compile(self.source, name, "exec"), space)
        return {key: item for key, item in space.items() if key == "f" or key[0] == "g" and key[1:].isdigit()}

    @property
    def fun(self) -> Callable:
        return self.functions["f"]

    @property
    def constraints(self) -> list:
        return [self.functions[f"g{k}"] if row.compared else
                infimum.Constraint(self.functions[f"g{k}"], given(row.lo), given(row.hi)) for k, row in enumerate(self.rows)]

    @property
    def arguments(self) -> dict[str, Any]:
        """The keyword arguments of `minimize` that belong to the question."""
        found: dict[str, Any] = {}
        if self.rows:
            found["constraints"] = self.constraints
        if any(self.integers):
            found["integrality"] = list(self.integers)
        if self.start:
            found["start_boxes"] = [_given(box) for box in self.start]
        return found

    @property
    def box(self) -> list[tuple[Any, Any]]:
        return _given(self.bounds)

    @property
    def question(self) -> dict[str, str]:
        """The arguments of `minimize` that belong to the question, as text."""
        rows = [f"g{k}" if row.compared else f"infimum.Constraint(g{k}, {end_text(row.lo)}, {end_text(row.hi)})"
                for k, row in enumerate(self.rows)]
        found = {"bounds": _box_text(self.bounds)}
        found |= {"constraints": f"[{', '.join(rows)}]"} if rows else {}
        found |= {"integrality": repr(list(self.integers))} if any(self.integers) else {}
        return found | ({"start_boxes": f"[{', '.join(map(_box_text, self.start))}]"} if self.start else {})

    def snippet(self, door: str = "minimize", settings: dict[str, Any] | None = None) -> str:
        """A program that asks this question."""
        given = [*(("f",) if door != "feasible" else ()), *(f"{name}={text}" for name, text in self.question.items()),
                 *(f"{name}={value!r}" for name, value in (settings or {}).items())]
        return f"{self.source}\nprint(infimum.{door}({', '.join(given)}))"

    # ---- what holds at a point
    def place(self, point: Sequence[Any], upper: Sequence[Any] | None = None) -> list[arb]:
        """The user's variables as balls: a point, or a box up to `upper`. Where no double lies between the ends of a variable,
        it is all that lies between them."""
        found = []
        for (lo, hi), a, b in zip(self.bounds, point, point if upper is None else upper, strict=True):
            if narrower_than_doubles(lo, hi):
                found.append(ball(lo).union(ball(hi)))
            else:
                found.append(ball(a) if a == b else ball(a).union(ball(b)))
        return found

    def seen(self, y: list[arb]) -> list[arb]:
        return y if self.view is None else self.view.seen(y)

    def row_holds(self, row: Row, y: list[arb]) -> bool | None:
        """True: certainly, False: certainly not, None: not known."""
        try:
            v = value(row.e, self.seen(y))
        except Undefined:
            return False
        except Unsure:
            return None
        low, high = row.lo == -_INF or v >= ball(row.lo), row.hi == _INF or v <= ball(row.hi)
        if low and high:
            return True
        return False if (row.lo != -_INF and v < ball(row.lo)) or (row.hi != _INF and v > ball(row.hi)) else None

    def outside(self, point: Sequence[Any], upper: Sequence[Any] | None = None) -> str:
        """How a point (or all of the box up to `upper`) misses the bounds, the start boxes or the whole numbers; empty if it
        does not."""
        upper = point if upper is None else upper
        for i, (a, b) in enumerate(zip(point, upper, strict=True)):
            if not meets(a, b, *self.bounds[i]):
                return f"x[{i}] = {_from_to(a, b)} is not within {_from_to(*self.bounds[i])}"
            if self.is_whole(i) and math.ceil(a) > b:
                return f"x[{i}] = {_from_to(a, b)} is not whole"
        in_start = [all(meets(a, b, *ends) for a, b, ends in zip(point, upper, box, strict=True)) for box in self.start]
        if self.start and not any(in_start):
            return f"{list(point)!r} is in none of the start boxes"
        return ""

    def feasible_value(self, point: Sequence[Any]) -> arb | None:
        """f at a point that is certainly feasible; None if it may not be."""
        if self.outside(point):
            return None
        for bits in PRECISIONS:
            with precision(bits):
                y = self.place(point)
                held = [self.row_holds(row, y) for row in self.rows]
                if False in held:
                    return None
                if None in held:
                    continue
                try:
                    return value(self.f, self.seen(y))
                except Undefined:
                    return None
                except Unsure:
                    continue
        return None


def given(end: End) -> Any:
    """An end as the user gives it."""
    return infimum.pi if end == PI else end


def _given(box: Pairs) -> list[tuple[Any, Any]]:
    return [(given(lo), given(hi)) for lo, hi in box]


def end_text(end: End) -> str:
    if end == PI:
        return "infimum.pi"
    return {_INF: "np.inf", -_INF: "-np.inf"}.get(end, repr(end))


def _box_text(box: Pairs) -> str:
    return f"[{', '.join(f'({end_text(lo)}, {end_text(hi)})' for lo, hi in box)}]"


def below(a: End, b: End) -> bool:
    """a < b, exactly."""
    if a == PI or b == PI:
        with precision(PRECISIONS[0]):
            return a != b and bool(_or_infinite(a) < _or_infinite(b))
    return a < b


def _or_infinite(end: End) -> arb:
    return arb(end) if end in (_INF, -_INF) else ball(end)


def meets(a: Any, b: Any, lo: End, hi: End) -> bool:
    """Do [a, b] and [lo, hi] have a number in common, exactly? Where no double lies between lo and hi, a neighbour will do."""
    if narrower_than_doubles(lo, hi):
        lo, hi = down(lo), up(hi)
    return not below(b, lo) and not below(hi, a)


def _from_to(a: Any, b: Any) -> str:
    return repr(a) if a == b else f"{a!r} to {b!r}"


def _nearest(end: End) -> float:
    return math.pi if end == PI else float(end)


def down(end: End) -> float:
    """The largest double that is at most this number."""
    v = _nearest(end)
    return math.nextafter(v, -_INF) if below(end, v) else v


def up(end: End) -> float:
    """The least double that is at least this number."""
    v = _nearest(end)
    return math.nextafter(v, _INF) if below(v, end) else v


def narrower_than_doubles(lo: End, hi: End) -> bool:
    """No double lies between these ends."""
    return up(lo) > down(hi)


def numbers(point: np.ndarray) -> list[float]:
    return [float(v) for v in point]


def double(value: Any) -> float:
    """What a plain call returns, as a double; what was computed with infimum.pi is known between two of them, NaN where it is
    undefined."""
    if isinstance(value, Tracer):
        return (enclose_at_point(value.expr, np.zeros(0)) or (math.nan,))[0]
    return float(value.lo) if hasattr(value, "hi") else float(value)
