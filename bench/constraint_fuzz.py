"""Hostile random problems with constraints: jumps, poles, edges of domains, huge and tiny numbers, integers, infinite bounds.

A point p of short binary fractions is planted: constraints that are exact there get their value as an end, others some room.
Every answer is judged by ball arithmetic of thousands of bits:

* INFEASIBLE is wrong, as p is feasible;
* `lower` may not be above f(p), nor above f at any other point that is certainly feasible;
* `feasible` may not be a point or box on which a constraint certainly fails, and `upper` not below f on all of it.

    python -m bench.constraint_fuzz FIRST COUNT
"""

import math
import sys
from typing import Any

import flint
import numpy as np
from flint import arb

import infimum
from bench.related.balls import BALLS, Pole, Undefined, Unsure, compare

_BITS = 6000
_NUMBERS = (0.0, 1.0, -1.0, 0.5, 2.0, 3.0, -2.5, 0.1, 1e-300, 1e300, 1e-8, 1e8, -0.0, 7.0, 5e-324)
_UNARY = (
    "neg",
    "abs",
    "square",
    "cube",
    "sqrt",
    "log",
    "exp",
    "sin",
    "cos",
    "floor",
    "ceil",
    "rint",
    "sign",
    "inverse",
    "arctan",
    "half_power",
    "minus_two",
    "zero_times",
    "tan",
    "cbrt",
)
_BINARY = ("add", "add", "sub", "mul", "mul", "div", "min", "max", "where", "less")
_BOUNDS = (
    (-2.0, 2.0),
    (0.0, 1.0),
    (-1.0, 3.0),
    (1.0, 1.0),
    (0.0, 0.0),
    (-1e-300, 1e-300),
    (0.0, 1e300),
    (-math.inf, math.inf),
    (0.0, math.inf),
    (-4.0, 4.0),
    (-4.0, 4.0),
    (-3.0, 5.0),
    (0.5, 1e5),
)


# ---- expressions: nested tuples
def expression(rng: np.random.Generator, n: int, depth: int) -> tuple:
    kind = rng.random()
    if depth == 0 or kind < 0.12:
        return ("x", int(rng.integers(n))) if rng.random() < 0.75 else ("number", float(rng.choice(_NUMBERS)))
    if kind < 0.5:
        return (str(rng.choice(_UNARY)), expression(rng, n, depth - 1))
    op = str(rng.choice(_BINARY))
    args = [expression(rng, n, depth - 1) for _ in range(4 if op == "where" else 2)]
    return (op, *args)


def with_numpy(e: tuple, x: Any) -> Any:
    op, *args = e
    if op == "x":
        return x[args[0]]
    if op == "number":
        return args[0] + 0 * x[0]  # by itself it would be combined with others in Python, and rounded
    v = [with_numpy(a, x) for a in args]
    match op:
        case "neg":
            return -v[0]
        case "abs":
            return np.abs(v[0])
        case "square":
            return v[0] ** 2
        case "cube":
            return v[0] ** 3
        case "half_power":
            return v[0] ** 0.5
        case "minus_two":
            return v[0] ** -2
        case "inverse":
            return 1 / v[0]
        case "zero_times":
            return 0 * v[0]
        case "add":
            return v[0] + v[1]
        case "sub":
            return v[0] - v[1]
        case "mul":
            return v[0] * v[1]
        case "div":
            return v[0] / v[1]
        case "min":
            return np.minimum(v[0], v[1])
        case "max":
            return np.maximum(v[0], v[1])
        case "where":
            return np.where(v[0] <= v[1], v[2], v[3])
        case "less":
            return np.where(v[0] < v[1], v[0], v[1])
        case _:
            return getattr(np, op)(v[0])


def with_balls(e: tuple, x: list[arb]) -> arb:
    """The value; on balls with a radius an enclosure, or one of the exceptions."""
    op, *args = e
    if op == "x":
        return x[args[0]]
    if op == "number":
        return arb(args[0])
    if op == "where":
        return with_balls(args[2 if _holds(args[0], args[1], x, False) else 3], x)
    if op == "less":
        return with_balls(args[0 if _holds(args[0], args[1], x, True) else 1], x)
    return BALLS[op](*[with_balls(a, x) for a in args])


def _holds(a: tuple, b: tuple, x: list[arb], strictly: bool) -> bool:
    """A comparison with something undefined is false."""
    try:
        return compare(with_balls(a, x), with_balls(b, x)) < (0 if strictly else 1)
    except Pole:
        raise Unsure from None
    except Undefined:
        return False


# ---- problems
class Hostile:
    def __init__(self, seed: int):
        rng = np.random.default_rng([seed, 77])
        self.n = n = int(rng.integers(1, 4))
        self.integers, self.bounds, p = [0] * n, [], []
        for i in range(n):
            lo, hi = _BOUNDS[int(rng.integers(len(_BOUNDS)))]
            if math.isfinite(hi - lo) and hi - lo < 1e6 and hi - lo >= 1 and rng.random() < 0.2:
                self.integers[i] = 1
                lo, hi = math.ceil(lo), math.floor(hi)
            low, high = max(lo, -4.0), min(hi, 4.0)
            at = low + (high - low) * float(rng.integers(0, 9)) / 8
            if rng.random() < 0.3:
                at = float(rng.choice([v for v in (low, high, 0.0, 1.0) if lo <= v <= hi]))
            p.append(float(round(at)) if self.integers[i] else at)
            self.bounds.append((float(lo), float(hi)))
        self.p = p
        x = [arb(v) for v in p]
        self.f = self._defined(rng, x)
        self.rows = []
        for _ in range(int(rng.integers(1, 4))):
            e = self._defined(rng, x)
            value = with_balls(e, x)
            exact, near = value.is_exact(), float(value.mid())
            kind = str(rng.choice(["ge", "le", "eq", "both"]))
            if exact and math.isfinite(near) and arb(near) == value:
                room = float(rng.choice([0.0, 0.0, 1.0, 1e-12]))
                lo, hi = near - room, near + room
                lo, hi = (near if arb(lo) > value else lo), (near if arb(hi) < value else hi)
            elif math.isfinite(near):
                lo, hi, kind = (
                    near - abs(near) * 1e-9 - 1e-300,
                    near + abs(near) * 1e-9 + 1e-300,
                    kind if kind != "eq" else "both",
                )
            else:
                continue
            if kind == "eq":
                lo = hi = near
            self.rows.append((e, -math.inf if kind == "le" else lo, math.inf if kind == "ge" else hi))
        if not all(self._row_holds(row, x) for row in self.rows):
            self.rows = []

    def _defined(self, rng: np.random.Generator, x: list[arb]) -> tuple:
        while True:
            e = expression(rng, self.n, int(rng.integers(1, 4)))
            try:
                if with_balls(e, x).is_finite():
                    return e
            except (Undefined, Unsure):
                continue

    def _row_holds(self, row: tuple, x: list[arb]) -> bool:
        e, lo, hi = row
        try:
            v = with_balls(e, x)
        except (Undefined, Unsure):
            return False
        return (lo == -math.inf or bool(v >= arb(lo))) and (hi == math.inf or bool(v <= arb(hi)))

    def feasible_value(self, point: list[float]) -> arb | None:
        """f at a point that is certainly feasible."""
        x = [arb(v) for v in point]
        if not all(self._row_holds(row, x) for row in self.rows):
            return None
        try:
            return with_balls(self.f, x)
        except (Undefined, Unsure):
            return None

    def solve(self, **options: Any) -> Any:
        f, rows = self.f, self.rows
        constraints = [infimum.Constraint(lambda x, e=e: with_numpy(e, x) + 0 * x[0], lo, hi) for e, lo, hi in rows]
        return infimum.minimize(
            lambda x: with_numpy(f, x) + 0 * x[0],
            self.bounds,
            constraints=constraints,
            integrality=self.integers if any(self.integers) else None,
            seed=0,
            progress=False,
            **options,
        )

    def judged(self, r: Any, seed: int) -> str:
        name = r.verdict.name
        if name == "INFEASIBLE":
            return "INFEASIBLE, and it is not"
        rng = np.random.default_rng([seed, 78])
        for k in range(200):
            point = self.p
            if k:
                point = []
                for (lo, hi), whole, at in zip(self.bounds, self.integers, self.p, strict=True):
                    low, high = max(lo, at - 2), min(hi, at + 2)
                    v = at if rng.random() < 0.4 else low + (high - low) * float(rng.integers(0, 65)) / 64
                    point.append(float(round(v)) if whole else min(max(v, lo), hi))
            value = self.feasible_value(point)
            if value is not None and arb(r.lower) > value:
                return f"lower {r.lower!r} is above {value.str(20)} at {point}"
        return "" if r.feasible is None else self._wrong_box(r)

    def _wrong_box(self, r: Any) -> str:
        lo, hi = r.feasible if isinstance(r.feasible, tuple) else (r.feasible, r.feasible)
        for (low, high), whole, a, b in zip(self.bounds, self.integers, lo, hi, strict=True):
            if not low <= a <= b <= high or (whole and not a == b == round(a)):
                return f"the feasible box is {lo} to {hi}"
        x = [arb(float(a)).union(arb(float(b))) if a < b else arb(float(a)) for a, b in zip(lo, hi, strict=True)]
        for k, (e, low, high) in enumerate(self.rows):
            try:
                v = with_balls(e, x)
            except Undefined:
                return f"constraint {k} is undefined at the feasible point"
            except Unsure:
                continue
            if (low > -math.inf and v < arb(low)) or (high < math.inf and v > arb(high)):
                return f"constraint {k} does not hold: {v.str(20)} at {lo}"
        try:
            return f"upper {r.upper!r} is below f" if with_balls(self.f, x) > arb(r.upper) else ""
        except Undefined:
            return "f is undefined at the feasible point"
        except Unsure:
            return ""


def main() -> None:
    flint.ctx.prec = _BITS
    first, count = int(sys.argv[1]), int(sys.argv[2])
    tally: dict[str, int] = {}
    for seed in range(first, first + count):
        q = Hostile(seed)
        try:
            r = q.solve(max_boxes=3000, time_limit=20, rtol=1e-3)
            said, name = q.judged(r, seed), r.verdict.name
        except infimum.InfimumError as error:
            said, name = "", f"error {type(error).__name__}: {str(error)[:60]}"
        except Exception as error:
            said, name = f"{type(error).__name__}: {error}", "crash"
        tally[name] = tally.get(name, 0) + 1
        if said:
            print(
                f"seed {seed}: {said}\n   f {q.f}\n   rows {q.rows}\n   bounds {q.bounds} integers {q.integers} p {q.p}",
                flush=True,
            )
    print(tally, flush=True)


if __name__ == "__main__":
    main()
