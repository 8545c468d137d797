"""Random integer and mixed programs with known optima: every claim is compared with exact enumeration.

    python bench/integer_programs.py [--draws 2000] [--seed 0] [--kinds KIND ...] [--limit 10] [--jobs 1] [--json FILE]

Polynomials of degree two, in some kinds with exponentials. The whole variables are enumerated. With these fixed, a real variable
stands in its own square and in linear terms alone, and no row has two of them: its best value follows from a formula, in
rationals; values of exponentials are enclosed by Arb. So the optimum is known exactly, or that there is no feasible point.
Kinds are the rows of `KINDS`. A claim is wrong if its interval does not contain the optimum, if it says infeasible where there is
a point, or if a point of whole numbers does not satisfy the rows exactly. Exit status 1: a claim is wrong.
"""

import argparse
import itertools
import math
import multiprocessing
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
if ROOT not in sys.path:
    sys.path.insert(0, ROOT)
import infimum  # noqa: E402
from bench.table import exit_code, head, report, this_machine, write_json  # noqa: E402

Point = Sequence[Fraction]
INF = float("inf")
MANY = 2000  # points from which on the lowest are looked at first
ROUNDING = 2.0**-44  # relative to the sum of the sizes of all terms
SHOWN = 10  # wrong claims that are printed


@dataclass(frozen=True)
class Polynomial:
    """constant + linear x + x' square x + the sum of exp(row x) over the rows of `exponents`; all coefficients are doubles."""

    constant: float
    linear: np.ndarray
    square: np.ndarray
    exponents: np.ndarray

    def __call__(self, x: np.ndarray) -> Any:
        """As a user writes it: no row of zeros, no term that vanishes."""
        total = self.constant + self.linear @ x
        if self.square.any():
            total = total + x @ self.square @ x
        return total + np.sum(np.exp(self.exponents @ x)) if len(self.exponents) else total

    def slope(self, x: Point, j: int) -> Fraction:
        """The coefficient of x[j] where the others are x, less its square."""
        cross = sum(Fraction(self.square[i, j] + self.square[j, i]) * v for i, v in enumerate(x) if i != j)
        return Fraction(self.linear[j]) + cross

    def at(self, x: Point) -> tuple[Fraction, Fraction]:
        """Two numbers between which the value lies; the value itself where there are no exponentials."""
        size = range(len(x))
        total = Fraction(self.constant) + sum(Fraction(self.linear[i]) * x[i] for i in size)
        total += sum(Fraction(self.square[i, j]) * x[i] * x[j] for i in size for j in size if self.square[i, j])
        if not len(self.exponents):
            return total, total
        from flint import arb, ctx, fmpq
        ctx.prec = 128
        exponents = [sum(Fraction(c) * v for c, v in zip(row, x, strict=True)) for row in self.exponents]
        enclosure = sum((arb(fmpq(e.numerator, e.denominator)).exp() for e in exponents), arb(0))
        ends = [Fraction(int(m)) * Fraction(2) ** int(e) for m, e in
                (enclosure.lower().mid().man_exp(), enclosure.upper().mid().man_exp())]
        return total + ends[0], total + ends[1]


@dataclass(frozen=True)
class Program:
    """Minimise `objective` under lower <= row(x) <= upper. `grid` has the values of each whole variable that are enumerated: all
    within its bounds, or, where it has none, all that can be optimal."""

    kind: str
    objective: Polynomial
    rows: tuple[tuple[Polynomial, float, float], ...]
    bounds: tuple[tuple[float, float], ...]
    integrality: tuple[int, ...]
    grid: tuple[range, ...]

    def optimum(self) -> tuple[Fraction, Fraction] | None:
        """Two numbers between which the least value lies; None if no point is feasible."""
        values = []
        for estimate, whole in self._in_order():
            if values and estimate > float(min(high for _, high in values)):
                break
            if (x := self._completed(whole)) is not None:
                values.append(self.objective.at(x))
        return (min(low for low, _ in values), min(high for _, high in values)) if values else None

    def _in_order(self) -> Iterator[tuple[float, tuple[int, ...]]]:
        """The whole numbers of the grid, each with a number that the objective is not below; of very many the lowest first."""
        if not all(self.integrality) or math.prod(map(len, self.grid)) < MANY or len(self.objective.exponents):
            yield from ((-INF, whole) for whole in itertools.product(*self.grid))
            return
        x = np.stack([a.ravel() for a in np.meshgrid(*self.grid, indexing="ij")]).astype(float)
        parts = [np.full(x.shape[1], self.objective.constant), *(self.objective.linear[:, None] * x),
                 *(c * x[i] * x[j] for (i, j), c in np.ndenumerate(self.objective.square) if c)]
        value = sum(parts) - ROUNDING * sum(map(np.abs, parts))  # fewer than a hundred terms
        for k in np.argsort(value, kind="stable"):
            yield float(value[k]), tuple(x[:, k].astype(int).tolist())

    def _completed(self, whole: tuple[int, ...]) -> Point | None:
        """The best point with these whole numbers."""
        left = iter(whole)
        x = [Fraction(next(left)) if kind else Fraction(0) for kind in self.integrality]
        real = [j for j, kind in enumerate(self.integrality) if not kind]
        ends = {j: [Fraction(end) for end in self.bounds[j]] for j in real}
        for row, lower, upper in self.rows:
            rest, slopes = row.at(x)[0], {j: s for j in real if (s := row.slope(x, j))}
            if not slopes and not lower <= rest <= upper:
                return None
            for j, s in slopes.items():
                sides = sorted(((lower if s > 0 else upper, 0), (upper if s > 0 else lower, 1)), key=lambda side: side[1])
                for end, k in sides:
                    if abs(end) < INF:
                        limit = (Fraction(end) - rest) / s
                        ends[j][k] = min(ends[j][k], limit) if k else max(ends[j][k], limit)
        for j, (low, high) in ends.items():
            if low > high:
                return None
            x[j] = self._best(j, low, high, self.objective.slope(x, j))
        return x

    def _best(self, j: int, low: Fraction, high: Fraction, slope: Fraction) -> Fraction:
        curvature = Fraction(self.objective.square[j, j])
        inside = [-slope / (2 * curvature)] if curvature > 0 and low < -slope / (2 * curvature) < high else []
        return min([low, high, *inside], key=lambda v: curvature * v * v + slope * v)

    def wrong(self, result: Any) -> str | None:
        """What is wrong with the claims of a result, if anything."""
        found, verdict = self.optimum(), result.verdict.name
        if found is None:
            return f"{verdict} with {result.upper}, but there is no feasible point" if result.upper < INF else None
        if verdict == "INFEASIBLE":
            return f"infeasible, but the optimum is {float(found[1])}"
        if result.lower > found[1] or result.upper < found[0]:
            return f"[{result.lower!r}, {result.upper!r}], but the optimum is {float(found[0])!r}"
        if result.upper < INF and all(self.integrality):
            x = [Fraction(v) for v in result.x]
            if any(v.denominator != 1 for v in x) or any(not a <= row.at(x)[0] <= b for row, a, b in self.rows):
                return f"{result.x} is not feasible"
        return None

    def solve(self, **settings: Any) -> Any:
        """What infimum says."""
        constraints = [infimum.Constraint(row, lower, upper) for row, lower, upper in self.rows]
        return infimum.minimize(self.objective, list(self.bounds), constraints=constraints, integrality=list(self.integrality),
                                **settings)


class Draw:
    """Random parts of a program of n variables. Coefficients are whole numbers, halves, or tenths, which no double holds."""

    def __init__(self, kind: str, seed: int, number: int):
        self.rng = np.random.default_rng([seed, number, sum(map(ord, kind))])
        self.kind, self.n = kind, int(self.rng.integers(2, 5))
        self.unit = float(self.rng.choice([1.0, 1.0, 0.5, 0.1]))

    def coefficients(self, *shape: int, most: int = 5) -> np.ndarray:
        return self.rng.integers(-most, most + 1, shape) * self.unit

    def polynomial(self, linear: Any = None, square: Any = None, exponents: Any = None, constant: float = 0.0) -> Polynomial:
        n = self.n
        return Polynomial(constant, np.zeros(n) if linear is None else np.asarray(linear, float),
                          np.zeros((n, n)) if square is None else np.asarray(square, float),
                          np.zeros((0, n)) if exponents is None else np.asarray(exponents, float))

    def box(self, least: int = 2, most: int = 6) -> list[tuple[float, float]]:
        low = self.rng.integers(-3, 2, self.n)
        return [(float(a), float(a + b)) for a, b in zip(low, self.rng.integers(least, most, self.n), strict=True)]

    def rows(self, count: int, square: bool = False) -> list[tuple[Polynomial, float, float]]:
        """Rows with an end on one side, on both, or equal ones, near the value at a whole point."""
        found = []
        for _ in range(count):
            row = self.polynomial(self.coefficients(self.n), self.coefficients(self.n, self.n, most=2) if square else None)
            value = float(row.at([Fraction(int(v)) for v in self.rng.integers(-2, 4, self.n)])[0])
            room = float(self.rng.integers(0, 4)) * self.unit
            found.append((row, *((-INF, value), (value - room, INF), (value - room, value + room), (value, value))
                          [int(self.rng.integers(0, 4))]))
        return found

    def program(self, objective: Polynomial, rows: Sequence[Any], bounds: Sequence[Any], whole: Sequence[int] | None = None,
                grid: Sequence[range] | None = None) -> Program:
        whole = [1] * self.n if whole is None else whole
        if grid is None:
            grid = [range(int(np.ceil(a)), int(np.floor(b)) + 1) for (a, b), w in zip(bounds, whole, strict=True) if w]
        return Program(self.kind, objective, tuple(rows), tuple(bounds), tuple(whole), tuple(grid))


def linear(d: Draw) -> Program:
    return d.program(d.polynomial(d.coefficients(d.n)), d.rows(int(d.rng.integers(1, 4))), d.box())


def quadratic(d: Draw) -> Program:
    objective = d.polynomial(d.coefficients(d.n), d.coefficients(d.n, d.n))
    return d.program(objective, [*d.rows(1), *d.rows(int(d.rng.integers(0, 3)), square=True)], d.box())


def binary(d: Draw) -> Program:
    d.n = int(d.rng.integers(5, 9))
    some = np.ones(d.n)
    rows = [(d.polynomial(some), float(d.rng.integers(0, 3)), float(d.rng.integers(2, d.n)))]
    return d.program(d.polynomial(d.coefficients(d.n), d.coefficients(d.n, d.n)), rows, [(0.0, 1.0)] * d.n)


def knapsack(d: Draw) -> Program:
    """Cost and weight go together, so that bounds by rounding do not suffice."""
    d.n = int(d.rng.integers(3, 6))
    weights = d.rng.integers(5, 20, d.n).astype(float)
    value = d.polynomial(-(weights + d.rng.integers(0, 3, d.n)) * d.unit)
    room = float(d.rng.integers(10, 50))
    rows = [(d.polynomial(weights), -INF if d.rng.random() < 0.5 else room, room)]
    return d.program(value, rows, [(0.0, float(v)) for v in d.rng.integers(1, 5, d.n)])


def exponential(d: Draw) -> Program:
    return d.program(d.polynomial(d.coefficients(d.n), None, d.rng.integers(-2, 3, (2, d.n)) * 0.5), d.rows(1), d.box(2, 5))


def no_bounds(d: Draw) -> Program:
    """sum d_i (x_i - p_i)² + (v x - q)², d > 0, without bounds: d_i (x_i - p_i)² is at most the value at any feasible point."""
    scale, middle = d.rng.integers(1, 4, d.n).astype(float), d.rng.integers(-40, 41, d.n) / 8
    v, q = d.rng.integers(-3, 4, d.n).astype(float), float(d.rng.integers(-9, 10)) / 4
    square = np.diag(scale) + np.outer(v, v)
    objective = d.polynomial(-2 * scale * middle - 2 * q * v, square, None, float(scale @ middle**2 + q * q))
    near = [Fraction(round(p)) for p in middle]
    rows = []
    if d.rng.random() < 0.5:  # met by the rounded middle
        row = d.polynomial(d.rng.integers(-3, 4, d.n).astype(float))
        rows.append((row, -INF if d.rng.random() < 0.5 else float(row.at(near)[0]), float(row.at(near)[0])))
    most = objective.at(near)[0]
    grid = [range(int(np.floor(p - r)), int(np.ceil(p + r)) + 1)
            for p, r in zip(middle, np.sqrt(float(most) / scale) + 1e-6, strict=True)]
    lower = [-INF if d.rng.random() < 0.7 else float(np.floor(p - 30)) for p in middle]
    return d.program(objective, rows, [(a, INF) for a in lower], None, grid)


def bilinear(d: Draw) -> Program:
    """One real variable, in products with whole ones, and rows in which it stands."""
    whole = [1] * (d.n - 1) + [0]
    square = d.coefficients(d.n, d.n, most=3)
    square[-1, -1] = abs(square[-1, -1])
    rows = []
    for row, lower, upper in d.rows(2, square=True):
        row.square[-1, -1] = 0.0
        rows.append((row, lower, upper))
    return d.program(d.polynomial(d.coefficients(d.n), square), rows, d.box(2, 5), whole)


def switched(d: Draw) -> Program:
    """Quantities y_i <= M z_i with fixed costs and diminishing returns, at most some of them switched on."""
    count = int(d.rng.integers(2, 5))
    d.n = 2 * count
    most, cost = d.rng.integers(1, 9, count).astype(float), d.rng.integers(0, 6, count) * d.unit
    gain, curve = d.rng.integers(0, 9, count) * d.unit, d.rng.integers(0, 4, count) * d.unit
    objective = d.polynomial(np.concatenate([-gain, cost]), np.diag(np.concatenate([curve, np.zeros(count)])))
    unit = np.eye(d.n)
    rows = [(d.polynomial(unit[i] - most[i] * unit[count + i]), -INF, 0.0) for i in range(count)]
    rows.append((d.polynomial(unit[count:].sum(axis=0)), float(d.rng.integers(0, 2)), float(d.rng.integers(1, count + 1))))
    return d.program(objective, rows, [(0.0, 10.0)] * count + [(0.0, 1.0)] * count, [0] * count + [1] * count)


KINDS: dict[str, Callable[[Draw], Program]] = {
    make.__name__: make for make in (linear, quadratic, binary, knapsack, exponential, no_bounds, bilinear, switched)}


def program(number: int, seed: int = 0, kinds: Sequence[str] = tuple(KINDS)) -> Program:
    """The program with this number: the kinds in turn."""
    kind = kinds[number % len(kinds)]
    return KINDS[kind](Draw(kind, seed, number))


def judged(task: tuple[int, int, tuple[str, ...], float]) -> dict[str, Any]:
    """One program, solved and compared."""
    number, seed, kinds, limit = task
    asked, start = program(number, seed, kinds), time.perf_counter()
    row: dict[str, Any] = {"number": number, "kind": asked.kind, "wrong": None}
    try:
        result = asked.solve(time_limit=limit, threads=1, device="cpu")
        row |= {"verdict": result.verdict.name, "seconds": time.perf_counter() - start, "wrong": asked.wrong(result)}
    except infimum.InfimumError as error:
        row |= {"verdict": type(error).__name__, "seconds": time.perf_counter() - start}
    return row


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS))
    parser.add_argument("--limit", type=float, default=10.0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--json", metavar="FILE")
    asked = parser.parse_args()
    tasks = [(number, asked.seed, tuple(asked.kinds), asked.limit) for number in range(asked.draws)]
    with multiprocessing.get_context("spawn").Pool(asked.jobs) as pool:
        rows = list(pool.imap_unordered(judged, tasks))
    head(f"{len(rows)} programs, {asked.limit:g} s each, seed {asked.seed}")
    for kind in asked.kinds:
        mine = [row for row in rows if row["kind"] == kind]
        decided = [row for row in mine if row["verdict"] in ("PROVED", "INFEASIBLE")]
        seconds = statistics.median([row["seconds"] for row in decided] or [0.0])
        others = sorted({row["verdict"] for row in mine} - {"PROVED", "INFEASIBLE"})
        report(f"{kind}: decided", len(decided), "programs", note=f"of {len(mine)}, median {seconds:.3f} s {' '.join(others)}")
    wrong = [row for row in rows if row["wrong"]]
    report("wrong claims", len(wrong), "programs", "0", not wrong)
    for row in wrong[:SHOWN]:
        print(f"  --seed {asked.seed}, number {row['number']}, {row['kind']}: {row['wrong']}")
    write_json(asked.json, this_machine(), programs=rows)
    return exit_code()


if __name__ == "__main__":
    sys.exit(main())
