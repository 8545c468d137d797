"""Systems with a known global minimiser on active constraints: a convex Lagrangian function that is stationary there."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from infimum.evaluation.evaluator import Evaluator
from tests.engine.constrained.planted_systems import evaluator_of

INF = np.inf


class Active(NamedTuple):
    """A system, its bounds and its only minimiser, with all numbers short enough to be exact."""

    evaluator: Evaluator
    lo: np.ndarray
    hi: np.ndarray
    point: np.ndarray
    value: float


def system_with_minimiser(seed: int) -> Active:
    """n from 2 to 4; some constraints are active at the point, by inequalities at either end or as equations, and sometimes one
    of them twice, so that gradients are dependent; others are not. Some variables lie at a bound, some are whole numbers, of
    which no derivative vanishes. With f = Σ q (x - p)² / 2 - Σ w ∇g(p)(x - p) + slopes, f + Σ w g is convex, and least at p."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 5))
    p = rng.integers(-4, 5, n) / 2
    whole = tuple(i for i in range(n) if p[i] == np.rint(p[i]) and rng.random() < 0.25)
    at_low = np.isin(np.arange(n), [i for i in range(n) if i not in whole and rng.random() < 0.2])
    lo, hi = np.where(at_low, p, -4.0), np.full(n, 4.0)
    moving = [i for i in range(n) if i not in whole]
    constraints, slope, curved = [], np.zeros(n), np.zeros(n)
    for _ in range(int(rng.integers(0, n + 2))):
        a, b = (np.where(np.isin(np.arange(n), moving), rng.integers(-2, 3, n), 0) for _ in range(2))
        g, value = _quadratic(a, b), float(np.sum(a * p) + np.sum(b * p * p))
        kind, w = rng.integers(4), float(rng.integers(1, 4))
        if kind == 0:
            constraints.append((g, -INF, value + float(rng.integers(1, 3))))
            continue
        sign = -1.0 if kind == 2 else 1.0
        slope -= sign * w * (a + 2 * b * p)
        curved += np.abs(2 * w * b)
        ends = {1: (-INF, value), 2: (value, INF), 3: (value, value)}[int(kind)]
        constraints += [(g, *ends)] * (2 if rng.random() < 0.15 else 1)
    quarter = np.where(np.isin(np.arange(n), whole), rng.choice([-0.25, 0.25], n), 0.0)
    slope += np.where(at_low, rng.integers(0, 3, n), 0)
    f = _objective(curved + 2.0, p + quarter, p, slope)
    return Active(evaluator_of(f, constraints, n, whole), lo, hi, p, float(f(p)))


def _quadratic(a: np.ndarray, b: np.ndarray) -> Callable:
    return lambda x: sum(float(a[i]) * x[i] + float(b[i]) * x[i] ** 2 for i in range(len(a)))


def _objective(q: np.ndarray, middle: np.ndarray, p: np.ndarray, slope: np.ndarray) -> Callable:
    return lambda x: sum(float(q[i]) / 2 * (x[i] - float(middle[i])) ** 2 + float(slope[i]) * (x[i] - float(p[i]))
                         for i in range(len(q)))


def regions_around(rng: np.random.Generator, at: Active, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Boxes (n, N) within the bounds, of all sizes, most of them around the point, or with the point on an edge."""
    n, p = len(at.lo), at.point[:, None]
    size = 4.0 * 2.0 ** -rng.integers(0, 24, count)
    below, above = (size * rng.choice([0.0, 1.0, rng.random()], (n, count)) for _ in range(2))
    off = np.where(rng.random(count) < 0.3, size, 0.0) * rng.uniform(-1, 1, (n, count))
    return tuple(np.clip(end, at.lo[:, None], at.hi[:, None]) for end in (p + off - below, p + off + above))
