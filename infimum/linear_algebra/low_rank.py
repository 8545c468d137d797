"""What a matrix of low rank, B J + Jᵀ Bᵀ + Jᵀ C J, can take from a diagonal matrix D at most. All rounded outward.

Proof: docs/proofs/isolation_by_structure.md.
"""

import numpy as np

from infimum.linear_algebra.interval_matrices import Interval, down, exactly, plus, size, times, up
from infimum.linear_algebra.outward_sums import total


def low_rank_loss(mixed: Interval, slopes: Interval, inner: Interval, weight: np.ndarray) -> float:
    """σ >= 0 for which the matrix plus σ D is positive semidefinite. B and J, given by rows (k, n), and C (k, k) are enclosures;
    D is the positive `weight`. The better of two: with C apart from B, and shared between B and Bᵀ. NaN where there is none."""
    rows = range(len(mixed[0]))
    b, j = ([tuple(end[k] for end in ends) for k in rows] for ends in (mixed, slopes))
    c = [[tuple(end[k, m] for end in inner) for m in rows] for k in rows]
    lengths = [length(part, weight) for part in j]
    apart = [_indefinite(b[k], j[k], weight) for k in rows]
    apart += [_times(_negative(c[k][k]), lengths[k], lengths[k]) for k in rows]
    apart += [_times(2.0, float(size(c[k][m])), lengths[k], lengths[m]) for k in rows for m in range(k)]
    joined = []
    for k in rows:
        whole = b[k]
        for m in rows:
            whole = plus(whole, times(j[m], times(c[k][m], exactly(np.float64(0.5)))))
        joined.append(_indefinite(whole, j[k], weight))
    return float(np.fmin(_sum(apart), _sum(joined)))


def length(a: Interval, weight: np.ndarray) -> float:
    """The largest of √(Σ a_i² / D_i), rounded up."""
    largest = size(a)
    return float(up(np.sqrt(total(exactly(up(up(largest * largest) / weight)))[1])))


def _indefinite(b: Interval, j: Interval, weight: np.ndarray) -> float:
    """σ >= 0 with b jᵀ + j bᵀ + σ D positive semidefinite: its eigenvalues are b·j ± |b| |j|, with D for the unit matrix."""
    products = times(b, j)
    inner = total((down(products[0] / weight), up(products[1] / weight)))[0]
    return float(np.maximum(up(_times(length(b, weight), length(j, weight)) - inner), 0.0))


def _negative(c: Interval) -> float:
    return float(np.maximum(-c[0], 0.0))


def _times(*factors: float) -> float:
    """Of numbers that are not negative, rounded up."""
    value = 1.0
    for factor in factors:
        value = float(up(value * factor))
    return value


def _sum(numbers: list[float]) -> float:
    """Not below the sum."""
    return total(exactly(np.array([0.0, *numbers])))[1]
