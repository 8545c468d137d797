"""Numbers with which a quadratic Lagrangian function becomes convex around a solution. Estimates."""

import numpy as np

from infimum.bounds.quadratics.constraint_products import ProductWeightSearch, Slacks, product
from infimum.bounds.quadratics.quadratic_proof import (
    Coefficients,
    LinearRows,
    Multipliers,
    curvature_of,
    excess,
    least_in_corners,
    tilts_of,
)
from infimum.linear_algebra.lane_algebra import total
from infimum.linear_algebra.positive_definite import midpoint
from infimum.problem.system import System
from infimum.search.policy.bounds import QUADRATIC_PROBLEMS as POLICY


def multipliers_for(system: System, read: Coefficients, box: tuple[np.ndarray, np.ndarray], x: np.ndarray, w: np.ndarray,
                    gap: float, most_steps: float = np.inf) -> tuple[Multipliers, ProductWeightSearch]:
    """Good numbers for multipliers w of a solution x, found in at most this number of steps, and the search that has found them:
    where they are not good enough, it has directions, in units of the widths, along which f may fall."""
    lo, hi = box
    n, width = len(x), hi - lo
    values, slopes = midpoint(read.value)[1:], midpoint(read.slope)
    curvature = midpoint(curvature_of(read, w)) * width * width[:, None]
    rows = np.flatnonzero(read.linear & ~system.equal)
    sign = np.where(np.isfinite(system.upper[rows]), -1.0, 1.0)  # of the slack
    beside = sign[:, None] * slopes[1 + rows] * width
    sizes = np.abs(beside).max(axis=1, initial=0.0)
    slack = sign * (values[rows] - np.where(sign > 0, system.lower[rows], system.upper[rows])) / sizes
    slack = np.where(is_active(slack, np.abs(w[rows]) * sizes / np.abs(curvature).max(initial=0.0)), 0.0, slack)
    steep = total(slopes * np.append(1.0, w)[:, None]) * width
    slacks = Slacks(beside / np.where(sizes > 0, sizes, 1.0)[:, None],
                    np.concatenate([(x - lo) / width, (hi - x) / width, slack]),
                    np.concatenate([np.maximum(steep, 0.0), np.maximum(-steep, 0.0), np.abs(w[rows]) * sizes]),
                    np.concatenate([width > 0, width > 0, sizes > 0]))
    across, mixed = _orthonormal(slopes[1:][read.linear & system.equal] * width)
    away = (lo - x) / np.where(width > 0, width, 1.0), (hi - x) / np.where(width > 0, width, 1.0)
    linear = np.flatnonzero(read.linear)
    linear_rows = LinearRows(linear, slopes[1 + linear] * width, excess(system, values, linear))
    tilts = tilts_of(system, np.zeros(n), away, np.ones(n), linear_rows)
    furthest = -least_in_corners(total(tilts[:, None] * slopes[1 + linear] * width), *away, np.ones(n)) - float(
        total(np.append(tilts * excess(system, values, linear), 0.0)))
    search = ProductWeightSearch(curvature, slacks, across)
    v, delta = search.run(POLICY.spent_gap * gap / max(furthest, POLICY.rounding), most_steps)
    used = np.zeros(system.m)
    used[rows] = np.where(sizes > 0, total((v * np.where(slacks.known, slacks.values, 0.0)).T)[2 * n:] / sizes, 0.0)
    scale = np.concatenate([width, width, sizes])
    scale = np.where(slacks.known, 1.0 / scale, 0.0)
    free = np.where(width > 0, 1.0 / width, 0.0)
    equations = _decoupling(curvature - search.form(v), across, mixed) * free
    delta = max(delta, 0.0) + POLICY.rounding * search.size
    w = np.where(w > 0, np.maximum(w - used, 0.0), np.minimum(w + used, 0.0))
    added = np.where(width > 0, delta * free * free, 1.0)
    return Multipliers(w, v * scale * scale[:, None], rows, equations, added), search


def is_active(slack: np.ndarray, multiplier: np.ndarray) -> np.ndarray:
    """Is a slack 0 at a solution? Where neither it nor its multiplier is large, both are small at the end of a search."""
    return (slack <= POLICY.surely_active) | ((slack <= POLICY.maybe_active) & (multiplier >= POLICY.complement * slack))


def _orthonormal(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Orthonormal vectors (n, q) with the same span, and how they are made of the rows (q, rows)."""
    count, n = rows.shape
    vectors, mixed = [], []
    for k, row in enumerate(rows):
        vector, part = row.copy(), (np.arange(count) == k).astype(float)
        before = float(np.sqrt(total(vector * vector)))
        for _ in range(2):
            for known, how in zip(vectors, mixed, strict=True):
                along = float(total(vector * known))
                vector, part = vector - along * known, part - along * how
        length = float(np.sqrt(total(vector * vector)))
        if length > POLICY.dependent_pivot * before:
            vectors.append(vector / length)
            mixed.append(part / length)
    return np.array(vectors).reshape(len(vectors), n).T.copy(), np.array(mixed).reshape(len(vectors), count)


def _decoupling(matrix: np.ndarray, across: np.ndarray, mixed: np.ndarray) -> np.ndarray:
    """Vectors m_k (rows, n) with which the matrix plus Σ (h_k m_kᵀ + m_k h_kᵀ) is what it was along the equations, has their
    gradients as eigenvectors, and is as large across them."""
    turned, size = product(across.T, matrix), float(np.abs(matrix).max(initial=0.0))
    inner = product(turned, across)
    wanted = 0.5 * (size * across.T - product(inner, across.T)) - (turned - product(inner, across.T))
    return product(mixed.T, wanted)
