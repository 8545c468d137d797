"""Small systems whose rows are exact in fractions, with planted feasible points; and kernels on regions of them."""

from collections.abc import Callable
from fractions import Fraction
from math import floor
from typing import Any, NamedTuple

import numpy as np

from infimum.backend.cpu import CpuBackend
from infimum.expr.build import reshape
from infimum.expr.node import var
from infimum.kernel.region_cut import rows_of
from infimum.problem.system import System
from infimum.relax import gradient_rows_kernel
from infimum.trace.trace import trace

INF = np.inf


class Row(NamedTuple):
    """A function of n variables: with NumPy, and with fractions."""

    traced: Callable
    exact: Callable


def random_row(rng: np.random.Generator, n: int) -> Row:
    """A few terms: powers, products, kinks, quotients, a jump or a choice now and then."""
    terms = [(float(rng.integers(1, 8) * rng.choice([-1, 1]) / 4), int(rng.choice(8, p=[.2, .2, .15, .1, .1, .1, .05, .1])),
              int(rng.integers(n)), int(rng.integers(n))) for _ in range(rng.integers(1, 2 * n + 1))]

    def term(kind: int, x: Any, i: int, j: int, whole: Callable, largest: Callable, chosen: Callable) -> Any:
        return (lambda: x[i], lambda: x[i] * x[j], lambda: x[i] ** 2, lambda: x[i] ** 3, lambda: abs(x[i] - x[j]),
                lambda: x[i] / (1 + x[j] ** 2), lambda: largest(x[i], whole(x[j])),
                lambda: chosen(2 * x[i] < x[j] + 1, x[j] - x[i] ** 2, x[i] * x[j]))[kind]()

    def traced(x):
        return sum(c * term(kind, x, i, j, np.floor, np.maximum, np.where) for c, kind, i, j in terms)

    def exact(x):
        ways = (lambda v: Fraction(floor(v)), max, lambda test, u, v: u if test else v)
        return sum((Fraction(c) * term(kind, x, i, j, *ways) for c, kind, i, j in terms), Fraction(0))
    return Row(traced, exact)


class Case(NamedTuple):
    """A system within the bounds lo, hi; `feasible` points as doubles, with the exact values of f there."""

    system: System
    rows: list[Row]
    lo: np.ndarray
    hi: np.ndarray
    feasible: np.ndarray
    values: list[Fraction]
    asked: dict[bytes, bool]  # has a point a lower one?

    def is_feasible(self, p: np.ndarray) -> bool:
        x = [Fraction(v) for v in p]
        ends = zip(self.rows[1:], self.system.lower, self.system.upper, strict=True)
        return all((low == -INF or Fraction(low) <= g.exact(x)) and (high == INF or g.exact(x) <= Fraction(high))
                   for g, low, high in ends) \
            and all(p[i] == floor(p[i]) for i in self.system.integers) and bool((self.lo <= p).all() and (p <= self.hi).all())

    def value(self, p: np.ndarray) -> Fraction:
        return self.rows[0].exact([Fraction(v) for v in p])

    def has_a_lower_one(self, p: np.ndarray) -> bool:
        """Is a point along a variable feasible and lower?"""
        if p.tobytes() not in self.asked:
            self.asked[p.tobytes()] = self._looked_for(p)
        return self.asked[p.tobytes()]

    def _looked_for(self, p: np.ndarray) -> bool:
        own = self.value(p)
        for i in range(len(p)):
            for t in (1.0,) if i in self.system.integers else (0.5, 2.0**-5, 2.0**-12, 2.0**-36):
                for q in (p[i] - t, p[i] + t):
                    moved = np.where(np.arange(len(p)) == i, q, p)
                    if self.is_feasible(moved) and self.value(moved) < own:
                        return True
        return False


def random_case(seed: int) -> Case:
    """Up to four variables and constraints, some equations, sometimes an integer; ends with few bits, so that all is exact."""
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(1, 5)), int(rng.integers(1, 5))
    integers = tuple(i for i in range(n) if rng.random() < 0.15)
    lo = rng.integers(-4, 1, n).astype(float)
    hi = lo + rng.integers(1, 6, n)
    points = lo + (hi - lo) * rng.integers(0, 9, (40, n)) / 8
    points = np.where(np.isin(np.arange(n), integers), np.floor(points), points)
    rows = [random_row(rng, n) for _ in range(1 + m)]
    lower, upper = np.full(m, -INF), np.full(m, INF)
    for k in range(m):
        g = [rows[k + 1].exact([Fraction(v) for v in p]) for p in points[:6]]
        if rng.random() < 0.3 and Fraction(float(g[0])) == g[0]:
            lower[k] = upper[k] = float(g[0])
        elif rng.random() < 0.5:
            upper[k] = float(max(g)) + 2.0**-30
        else:
            lower[k] = float(min(g)) - 2.0**-30
            upper[k] = float(max(g)) + 2.0**-30 if rng.random() < 0.3 else INF
    f, *bodies = (reshape(trace(r.traced, n, ()), (1,)) for r in rows)
    system = System(reshape(f, ()), tuple(bodies), lower, upper, integers)
    case = Case(system, rows, lo, hi, points[:0], [], {})
    feasible = np.array([p for p in np.unique(points, axis=0) if case.is_feasible(p)]).reshape(-1, n)
    return case._replace(feasible=feasible, values=[case.value(p) for p in feasible])


def random_regions(case: Case, seed: int, count: int) -> np.ndarray:
    """Boxes within the bounds, most of them around a feasible point, some of them faces or reaching the bounds."""
    rng, n = np.random.default_rng(seed), len(case.lo)
    around = rng.uniform(case.lo, case.hi, (count, n)).T
    if len(case.feasible):
        some = rng.random(count) < 0.7
        around[:, some] = case.feasible[rng.integers(len(case.feasible), size=int(some.sum()))].T
    width = (case.hi - case.lo)[:, None] * 2.0 ** -rng.integers(0, 9, (n, count))
    lo, hi = around - width * rng.random((n, count)), around + width * rng.random((n, count))
    flat = rng.random((n, count)) < 0.1
    lo, hi = np.where(flat, around, lo), np.where(flat, around, hi)
    return columns(np.clip(lo, case.lo[:, None], case.hi[:, None]), np.clip(hi, case.lo[:, None], case.hi[:, None]))


def columns(lo: np.ndarray, hi: np.ndarray) -> np.ndarray:
    """Regions of which nothing is known."""
    n, count = lo.shape
    regions = np.zeros((rows_of(n), count))
    regions[:n], regions[n:2 * n], regions[2 * n] = lo, hi, -INF
    return regions


class Kernel:
    """A kernel of a case, that of lines if no other is told, written now, whatever was compiled before. Its parameters are the
    upper bound, and the `given` ones or else the bounds."""

    def __init__(self, case: Case, writer: Callable = gradient_rows_kernel.gradient_rows, given: np.ndarray | None = None):
        kernel, data, self.rows, self.at = writer("kernel", case.system, var("x", (len(case.lo),)))
        self.given = np.concatenate([case.lo, case.hi]) if given is None else given
        self.data, self.positions = data.doubles(), data.positions()
        self.compiled = CpuBackend().compile(kernel)

    def __call__(self, regions: np.ndarray, upper: float) -> list[np.ndarray]:
        doubles = self.data.copy()
        given = np.append(upper, self.given)
        doubles[self.at:self.at + len(given)] = given
        out = [np.empty((count, regions.shape[1])) for count in self.rows]
        self.compiled.run([regions], out, doubles, self.positions)
        return out
