"""Random problems that reach the hard places: see the tables of bounds, numbers and kinds of functions.

A point p is planted at which the function is defined and, in most problems, all constraints hold; whether they hold elsewhere is
not known. Everything follows from one generator of random numbers.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from bench.related.balls import PI, PRECISIONS, Undefined, Unsure, precision
from bench.related.expressions import TEXT, UNARY, Tree, is_constant, value
from bench.related.problems import End, Pairs, Problem, Row, down, narrower_than_doubles, up

_INF = math.inf
FEATURES = ("powers", "ends", "escapes", "networks", "fits", "journals", "narrow trials")  # what can be left out, by name
_NUMBERS = (0.0, 1.0, -1.0, 0.5, 2.0, 3.0, -2.5, 0.1, 1e-8, 7.0, -0.25)
_FAR_NUMBERS = (1e-300, 1e300, 1e8, -0.0, 5e-324)
_PLAIN = ((-2.0, 2.0), (0.0, 1.0), (-1.0, 3.0), (-3.0, 5.0), (0.5, 4.0), (-4.0, -1.0), (0.0, 2.5), (-1.5, 0.0))
_INFINITE = ((-_INF, _INF), (0.0, _INF), (-_INF, 1.0))
_WHOLE = ((0.0, 3.0), (-2.0, 2.0), (1.0, 4.0), (0.5, 3.5), (-1.0, 1.0))
_BETWEEN: tuple[tuple[End, End], ...] = (
    (Fraction(1, 3), 1.0), (-1.0, Fraction(1, 3)), (Fraction(1, 3), Fraction(2, 3)), (Fraction(1, 3), Fraction(1, 3)),
    (1 + Fraction(1, 10**17), 5.0), (0.0, PI), (PI, 4.0), (Fraction(-7, 10), Fraction(7, 10)), (PI, PI))
_BETWEEN_WHOLE: tuple[tuple[End, End], ...] = (
    (1 + Fraction(1, 10**17), 5), (2**53 + 1, 2**53 + 3), (Fraction(1, 3), PI), (-3, -1 - Fraction(1, 10**20)),
    (0, 4 - Fraction(1, 10**18)))
_EXPONENTS = (((3.0, 3.0), 0), ((2.0, 4.0), 0), ((0.0, 5.0), 1), ((3.0, 4.0), 0), ((2.0, 2.0), 0), ((-2.0, 3.0), 1))
_BINARY = ("add", "add", "sub", "mul", "mul", "div", "min", "max", "where")
_SMOOTH = ("square", "cube", "exp", "sin", "cos", "arctan", "tanh", "neg", "fourth")
_STEPS = ("abs", "floor", "sign", "rint", "ceil")


@dataclass
class Draw:
    """Random numbers, and the features that are left out."""

    rng: np.random.Generator
    without: frozenset[str] = field(default_factory=frozenset)

    def chance(self, share: float) -> bool:
        return bool(self.rng.random() < share)

    def one_of(self, some: Any) -> Any:
        return some[int(self.rng.integers(len(some)))]

    def whole(self, low: int, high: int) -> int:
        """From low to high, both included."""
        return int(self.rng.integers(low, high + 1))

    def may(self, feature: str) -> bool:
        return feature not in self.without

    # ---- expressions
    def number(self, far: bool = False) -> Tree:
        return ("number", self.one_of(_FAR_NUMBERS if far and self.chance(0.3) else _NUMBERS))

    def leaf(self, n: int, far: bool = False) -> Tree:
        if self.chance(0.78):
            return ("x", self.whole(0, n - 1))
        return ("pi",) if self.chance(0.05) else self.number(far)

    def expression(self, n: int, depth: int, far: bool = False) -> Tree:
        """Any operations; two constants are never combined, since Python would round the result."""
        kind = self.rng.random()
        if depth == 0 or kind < 0.12:
            return self.leaf(n, far)
        op = self.one_of(UNARY) if kind < 0.5 else self.one_of(_BINARY)
        args = [self.expression(n, depth - 1, far) for _ in range(TEXT[op].count("{}"))]
        if all(map(is_constant, args)):
            args[0] = ("x", self.whole(0, n - 1))
        return (op, *args)

    def small(self, *shape: int) -> tuple:
        """An array of small numbers, as nested tuples."""
        def listed(a: np.ndarray) -> tuple:
            return tuple(float(v) if a.ndim == 1 else listed(v) for v in a)
        return listed(self.rng.integers(-6, 7, shape) / self.one_of((2.0, 4.0, 10.0)))


# ---- functions
def _wild(d: Draw, n: int) -> Tree:
    return d.expression(n, d.whole(2, 3), far=True)


def _array(d: Draw, n: int) -> Tree:
    equations = d.whole(1, 4)
    part = d.one_of([("sum_of_squares", n, d.small(equations, n), d.small(equations)), ("quadratic", n, d.small(n, n)),
                     ("linear", n, d.small(n)), ("norm", n, d.small(n)), ("waves", n, d.small(n)), ("largest", n, d.small(n)),
                     ("data", n, (0.0, 0.5, 1.0, 2.0), d.small(4))])
    return part if d.chance(0.4) else ("add", part, d.one_of((_smooth, _steps, _array))(d, n))


def _smooth(d: Draw, n: int) -> Tree:
    inner = ("add", ("mul", d.number(), ("x", d.whole(0, n - 1))), ("x", d.whole(0, n - 1)))
    term = (d.one_of(_SMOOTH), inner)
    return term if d.chance(0.4) else ("add", term, _smooth(d, n)) if d.chance(0.7) else ("mul", term, ("x", d.whole(0, n - 1)))


def _steps(d: Draw, n: int) -> Tree:
    term = (d.one_of(_STEPS), ("sub", ("x", d.whole(0, n - 1)), d.number()))
    if d.chance(0.4):
        term = ("where", ("x", d.whole(0, n - 1)), d.number(), _smooth(d, n), term)
    return term if d.chance(0.3) else ("add", term, _smooth(d, n)) if d.chance(0.6) else ("max", term, _smooth(d, n))


def _edges(d: Draw, n: int) -> Tree:
    """Domains that end within the bounds, or at them."""
    inner = ("sub", ("x", d.whole(0, n - 1)), d.number()) if d.chance(0.7) else ("mul", ("x", 0), ("x", n - 1))
    term = (d.one_of(("sqrt", "log", "inverse", "half_power", "minus_two", "cbrt", "tan")), inner)
    return term if d.chance(0.2) else (d.one_of(("add", "sub", "mul", "max")), term, _smooth(d, n))


def _squares(d: Draw, n: int) -> Tree:
    """Quadratic, with products, also where bounds are infinite."""
    found = ("square", ("sub", ("x", 0), d.number()))
    for i in range(1, n):
        inner = ("add", ("x", i), ("mul", d.number(), ("x", d.whole(0, n - 1))))
        found = ("add", found, ("square", inner)) if d.chance(0.8) else ("add", found, ("mul", ("x", i), ("x", 0)))
    return found if d.chance(0.5) else ("add", found, ("linear", n, d.small(n)))


def _powers(d: Draw, n: int) -> Tree:
    """Negative bases with exponents that are constant, whole, fixed or neither."""
    i, j = d.whole(0, n - 1), d.whole(0, n - 1)
    base, exponent = ("x", i), ("x", j)
    kinds: list[Tree] = [("power", base, ("whole", d.whole(-2, 5))),
                         ("power", base, ("number", d.one_of((0.5, 2.0, 3.0, 1.5, 1 / 3, -1.0)))),
                         ("monomial", n, tuple(d.one_of((0.5, 1.0, 2.0, -1.0, 1.5)) for _ in range(n)))]
    if d.may("powers"):
        kinds += [("power", base, exponent), ("power", ("number", d.one_of((-3.0, -0.5, -2.0, 0.0, 2.0))), exponent),
                  ("power", base, ("add", ("whole", d.whole(1, 3)), ("zero_times", exponent))),
                  ("power", base, ("mul", ("number", d.one_of((0.1, 0.5, 2.0, 1.0))), exponent)),
                  ("power", ("sub", base, d.number()), exponent)] * 2
    term = d.one_of(kinds)
    return term if d.chance(0.4) else ("add", term, _smooth(d, n)) if d.chance(0.7) else ("mul", term, ("x", d.whole(0, n - 1)))


def _hilly(d: Draw, n: int) -> Tree:
    """Many local minima, which no structure takes apart: a proof takes many boxes."""
    found: Tree = ("waves", n, tuple(float(d.whole(2, 6)) for _ in range(n)))
    for i in range(n):
        mixed, alone = ("mul", ("x", i), ("x", d.whole(0, n - 1))), ("mul", ("number", float(d.whole(1, 4))), ("x", (i + 1) % n))
        found = ("add", found, ("sin", ("add", mixed, alone)))
    return ("add", found, ("mul", ("number", 0.1), ("square", ("x", 0))))


KINDS: dict[str, tuple[Callable[[Draw, int], Tree], float]] = {
    "wild": (_wild, 0.2), "array": (_array, 0.25), "steps": (_steps, 0.12), "edges": (_edges, 0.12), "squares": (_squares, 0.08),
    "powers": (_powers, 0.15), "smooth": (_smooth, 0.08), "hilly": (_hilly, 0.02)}


# ---- bounds
def _bounds(d: Draw, infinite: float, whole: float, hard: bool) -> tuple[tuple[End, End], int, set[str]]:
    """The ends of a variable, whether it is whole, and the features; without `hard` ones."""
    kind = d.rng.random()
    if not hard:
        return d.one_of(_PLAIN), 0, set()
    if kind < whole:
        if d.may("ends") and d.chance(0.3):
            return d.one_of(_BETWEEN_WHOLE), 1, {"ends"}
        return d.one_of(_WHOLE), 1, set()
    kind = d.rng.random()
    if kind < infinite:
        return d.one_of(_INFINITE), 0, set()
    if kind < infinite + 0.08:
        v = d.one_of((0.0, 1.0, -1.0, 3.0, 2.0, 0.5, -2.0, 0.1))
        return (v, v), 0, set()
    if kind < infinite + 0.11:
        v = d.one_of((1.0, 0.1, -0.5, 3.0, 0.0))
        return (v, math.nextafter(v, _INF)), 0, set()
    if kind < infinite + 0.23 and d.may("ends"):
        return d.one_of(_BETWEEN), 0, {"ends"}
    return d.one_of(_PLAIN), 0, set()


def inside(d: Draw, lo: End, hi: End, whole: bool) -> float:
    """A double between the ends, if there is one, in short binary fractions where that is possible."""
    low, high = up(max_end(lo, -4.0)), down(min_end(hi, 4.0))
    if low > high:  # far away, or no double is there
        low, high = up(lo), down(hi)
    if whole:
        low, high = math.ceil(low), math.floor(high)
        return float(low + d.whole(0, max(0, min(high - low, 4))))
    if narrower_than_doubles(lo, hi) or low >= high:
        return low
    if d.chance(0.3):
        return d.one_of([v for v in (low, high, 0.0, 1.0) if low <= v <= high])
    return min(max(low + (high - low) * d.whole(0, 8) / 8, low), high)


def max_end(lo: End, other: float) -> End:
    return lo if lo == PI or lo >= other else other


def min_end(hi: End, other: float) -> End:
    return hi if hi == PI or hi <= other else other


# ---- problems
def problem(d: Draw, *, rows: float = 0.6, infinite: float = 0.06, whole: float = 0.15, least: int = 1, most: int = 3,
            hard: bool = True, kinds: tuple[str, ...] = ()) -> tuple[Problem, list[float]]:
    """A problem, and its planted point. `rows`, `infinite` and `whole` are the shares of problems with constraints, of infinite
    bounds and of whole variables, of which there are `least` to `most`; without `hard`, bounds are plain intervals."""
    names = list(kinds or KINDS)
    shares = np.array([KINDS[name][1] for name in names])
    kind = names[int(d.rng.choice(len(names), p=shares / shares.sum()))]
    n = d.whole(least, most)
    drawn = [_bounds(d, 0.4 if kind == "squares" and infinite else infinite, whole, hard) for _ in range(n)]
    if kind == "powers" and d.chance(0.6):  # an exponent
        drawn[-1] = (*d.one_of(_EXPONENTS), set())
    bounds, integers = tuple(b for b, _, _ in drawn), tuple(w for _, w, _ in drawn)
    p = [inside(d, *b, bool(w)) for b, w, _ in drawn]
    features = frozenset({kind}.union(*(f for _, _, f in drawn)))
    base = Problem(("number", 0.0), bounds, (), integers if any(integers) else (), features=features)
    f = _defined(d, base, p, lambda: KINDS[kind][0](d, n))
    made = tuple(_row(d, base, p) for _ in range(d.one_of((1, 1, 2, 3)))) if d.chance(rows) else ()
    return base.having(f=f, rows=made), p


def _defined(d: Draw, base: Problem, p: list[float], make: Callable[[], Tree]) -> Tree:
    """An expression that is defined at p, if one is found soon."""
    e: Tree = ("x", 0)
    for _ in range(12):
        e = make()
        if value_at(base, e, p) is not None:
            break
    return e


def value_at(base: Problem, e: Tree, p: list[float]) -> Any:
    """The value of an expression at a point, as a ball; None if there is none, or it is not known."""
    for bits in PRECISIONS:
        with precision(bits):
            try:
                return value(e, base.seen(base.place(p)))
            except Undefined:
                return None
            except Unsure:
                continue
    return None


def _row(d: Draw, base: Problem, p: list[float]) -> Row:
    """A constraint: one that holds at p, or one of which nothing is known."""
    n = base.n
    make = d.one_of((lambda: d.expression(n, 2), lambda: _smooth(d, n), lambda: ("linear", n, d.small(n)), lambda: _squares(d, n),
                     lambda: _edges(d, n), lambda: ("x", d.whole(0, n - 1))))
    e = _defined(d, base, p, make)
    v, compared = value_at(base, e, p), d.chance(0.4)
    kind = d.one_of(("le", "ge", "ge", "eq", "both"))
    if v is None or d.chance(0.2):
        at = d.one_of((0.0, 1.0, -1.0, 0.5, 2.0))
        room = 0.5
    else:
        at = float(v.mid())
        exact = v.is_exact() and bool(v == at)
        room = d.one_of((0.0, 0.0, 1.0, 0.25, 1e-9)) if exact else d.one_of((0.25, 1.0, 1e-9 * (1 + abs(at))))
        kind = kind if exact or kind != "eq" else "both"
        if not math.isfinite(at):
            at, room = 0.0, 1.0
    lo, hi = at - room, at + room
    if kind == "eq":
        lo = hi = at
    lo, hi = (-_INF if kind == "le" else lo), (_INF if kind == "ge" else hi)
    if d.may("ends") and d.chance(0.05):
        return Row(e, -_INF, Fraction(1, 3)) if kind == "le" else Row(e, Fraction(1, 3), hi if hi > 1 else _INF)
    return Row(e, lo, hi, compared and (lo == -_INF or hi == _INF or lo == hi))


def known_points(d: Draw, q: Problem, p: list[float], count: int = 6) -> list[list[float]]:
    """The planted point, and others near it or anywhere within the bounds."""
    def near() -> list[float]:
        return [inside(d, *ends, q.is_whole(i)) if d.chance(0.6) else p[i] for i, ends in enumerate(q.bounds)]
    return [p, *(near() for _ in range(count))]


def replaced(bounds: Pairs, i: int, ends: tuple[End, End]) -> Pairs:
    return (*bounds[:i], ends, *bounds[i + 1:])
