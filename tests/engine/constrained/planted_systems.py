"""Random systems with known feasible points: polynomials with small whole coefficients, whose values there are exact doubles."""

from collections.abc import Callable
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from infimum.evaluation.evaluator import Evaluator
from infimum.expr.build import reshape
from infimum.problem.system import System
from infimum.trace.trace import trace

INF = np.inf


def evaluator_of(fun: Callable, constraints: list[tuple[Callable, float, float]], n: int, integers: tuple[int, ...] = (),
                 backend: object = None) -> Evaluator:
    """Minimise fun where each function of the list lies between its ends."""
    f = trace(fun, n)
    bodies = tuple(reshape(trace(g, n), (1,)) for g, _, _ in constraints)
    lower, upper = (np.array([row[k] for row in constraints], float).reshape(-1) for k in (1, 2))
    return Evaluator(f, n, backend, system=System(f, bodies, lower, upper, integers))


class Planted(NamedTuple):
    """A system, its bounds, points (n, N) that are feasible, and what f is there."""

    evaluator: Evaluator
    lo: np.ndarray
    hi: np.ndarray
    points: np.ndarray
    values: list[Fraction]


def planted(seed: int, n: int, equations: int = 1, inequalities: int = 2, points: int = 2) -> Planted:
    """Points of quarters within [-2, 2]; an equation is a product of factors, one of which vanishes at each of them; an
    inequality is just met by one of them or by none."""
    rng = np.random.default_rng(seed)
    p = rng.integers(-8, 9, (n, points)) / 4

    def polynomial() -> Callable:
        linear, square = rng.integers(-3, 4, n).tolist(), rng.integers(-2, 3, (n, n)).tolist()

        def g(x):
            total = sum(a * x[i] for i, a in enumerate(linear))
            return total + sum(square[i][j] * x[i] * x[j] for i in range(n) for j in range(n))
        return g

    def product() -> Callable:
        rows = [(rng.integers(-3, 4, n).tolist(), p[:, k]) for k in range(points)]

        def h(x):
            total = 1
            for a, point in rows:
                total = total * sum(a[i] * (x[i] - float(point[i])) for i in range(n))
            return total
        return h

    def exact(g: Callable, k: int) -> Fraction:
        return Fraction(g([Fraction(float(v)) for v in p[:, k]]))
    f = polynomial()
    constraints = [(product(), 0.0, 0.0) for _ in range(equations)]
    for _ in range(inequalities):
        g = polynomial()
        found = [exact(g, k) for k in range(points)]
        room = float(rng.integers(0, 2))
        constraints.append((g, float(min(found)) - room, INF) if rng.integers(2) else (g, -INF, float(max(found)) + room))
    return Planted(evaluator_of(f, constraints, n), np.full(n, -2.0), np.full(n, 2.0), p, [exact(f, k) for k in range(points)])


def regions_around(rng: np.random.Generator, at: Planted, count: int) -> np.ndarray:
    """Columns of regions within the bounds, of all sizes, around feasible points, which lie on the edge of some."""
    n = len(at.lo)
    centre = at.points[:, rng.integers(0, at.points.shape[1], count)]
    size = 4.0 * 2.0 ** -rng.integers(0, 30, count)
    below, above = (size * rng.choice([0.0, 1.0, rng.random()], (n, count)) for _ in range(2))
    lo, hi = np.maximum(centre - below, at.lo[:, None]), np.minimum(centre + above, at.hi[:, None])
    rest = np.stack([np.full(count, -INF), np.zeros(count), np.full(count, 3.0)])
    return np.ascontiguousarray(np.concatenate([lo, hi, rest]))


def check_nothing_lost(at: Planted, before: np.ndarray, after: np.ndarray, upper: float, gone: float) -> None:
    """Every feasible point of a region at which f is at most `upper` is still in it, and no lower bound is above f there."""
    n = len(at.lo)
    for k, value in enumerate(at.values):
        p = at.points[:, k, None]
        held = ((before[:n] <= p) & (p <= before[n:2 * n])).all(axis=0)
        if value <= upper:  # exactly
            kept = ((after[:n] <= p) & (p <= after[n:2 * n])).all(axis=0)
            assert kept[held].all()
            assert (after[2 * n + 1][held] != gone).all()
            assert all(low == -INF or Fraction(low) <= value for low in after[2 * n][held].tolist())
