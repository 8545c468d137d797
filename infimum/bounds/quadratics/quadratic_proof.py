"""The proof of a bound of a quadratic problem: see `quadratic_lagrangian.py` and docs/proofs/quadratic.md. Sums and products are
rounded outward."""

from typing import NamedTuple

import numpy as np

from infimum.linear_algebra.interval_matrices import Interval, down, exactly, matrix_product, minus, plus, times, transposed, up
from infimum.linear_algebra.lane_algebra import inverse_factor, total
from infimum.linear_algebra.positive_definite import midpoint, positive_definite
from infimum.problem.system import System
from infimum.search.policy.bounds import QUADRATIC_PROBLEMS as POLICY


class Coefficients(NamedTuple):
    """Of f and all constraints, rows of a system: enclosures of values (1 + m,) and gradients (1 + m, n) at a point, and of
    gradients at 0 and at `far` times each unit vector (1 + m, n, 1 + n). Which constraints are linear (m,)?"""

    value: Interval
    slope: Interval
    slopes: Interval
    far: float
    linear: np.ndarray


class Multipliers(NamedTuple):
    """What a Lagrangian function is made of: w (m,); weights of products (k, k) of slacks, those of lower bounds, of upper bounds
    and of the rows numbered `rows`; m_k (equations, n); and t (n,). Weights and t must not be negative."""

    w: np.ndarray
    products: np.ndarray
    rows: np.ndarray
    equations: np.ndarray
    added: np.ndarray


def proved_lower_bound(system: System, read: Coefficients, lo: np.ndarray, hi: np.ndarray, x: np.ndarray,
                       given: Multipliers) -> float:
    """f is certainly not below this at the feasible points of the bounded box [lo, hi], of which x is one; -inf where nothing is
    known."""
    n, w, rows = len(x), given.w, given.rows
    v = np.where(given.products > 0, given.products, 0.0)
    v = exactly(np.maximum(v, v.T))
    equal, used = np.flatnonzero(read.linear & system.equal), np.flatnonzero(w)
    end = np.where(w > 0, system.upper, system.lower)
    value, slope = (read.value[0][0], read.value[1][0]), (read.slope[0][0], read.slope[1][0])
    for k in used:
        weight, there = exactly(w[k]), (read.value[0][1 + k], read.value[1][1 + k])
        value = plus(value, times(weight, minus(there, exactly(end[k]))))
        slope = plus(slope, times(weight, (read.slope[0][1 + k], read.slope[1][1 + k])))
    slacks, beside = _slacks(system, read, lo, hi, x, rows)
    pulled = _column(matrix_product(_lanes(v), _lanes((slacks[0][:, None], slacks[1][:, None]))))  # V s
    for term in _each(times(slacks, pulled)):
        value = minus(value, times(exactly(0.5), term))
    slope = minus(slope, _transformed(pulled, beside, n))
    curvature = minus(curvature_of(read, w), _form(v, beside, n))
    for k, m in zip(equal, given.equations, strict=True):
        m, row = exactly(m), (read.slope[0][1 + k], read.slope[1][1 + k])
        off = minus((read.value[0][1 + k], read.value[1][1 + k]), exactly(system.lower[k]))
        slope = plus(slope, times(off, m))
        mixed = times((row[0][:, None], row[1][:, None]), m)
        curvature = plus(curvature, plus(mixed, transposed(mixed)))
    added = _convexifying_diagonal(curvature, given.added)
    if added is None:
        return -np.inf
    linear = np.flatnonzero(read.linear)
    rows_at_x = LinearRows(linear, midpoint(read.slope)[1 + linear], excess(system, midpoint(read.value)[1:], linear))
    tilts = tilts_of(system, midpoint(slope), (lo - x, hi - x), added, rows_at_x)
    for k, y in zip(linear, tilts, strict=True):
        end = system.upper[k] if y > 0 else system.lower[k]
        if y != 0 and np.isfinite(end):
            value = plus(value, times(exactly(y), minus((read.value[0][1 + k], read.value[1][1 + k]), exactly(end))))
            slope = plus(slope, times(exactly(y), (read.slope[0][1 + k], read.slope[1][1 + k])))
    low, changes = float(value[0]), []
    for away in (minus(exactly(lo), exactly(x)), minus(exactly(hi), exactly(x))):
        far = np.maximum(np.abs(away[0]), np.abs(away[1]))
        changes.append(down(times(slope, away)[0] - up(0.5 * up(added * up(far * far)))))
    for change in np.minimum(*changes):  # hands NaN on
        low = float(down(low + change))
    return low if low > -np.inf else -np.inf  # NaN says nothing


def excess(system: System, values: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """By how much rows exceed the end that they have."""
    return values[rows] - np.where(np.isfinite(system.upper[rows]), system.upper[rows], system.lower[rows])


class LinearRows(NamedTuple):
    """Linear constraints by their numbers (k,), with their gradients (k, n), and by how much they exceed an end (k,), see
    `excess`."""

    numbers: np.ndarray
    gradients: np.ndarray
    excess: np.ndarray


def tilts_of(system: System, slope: np.ndarray, box: tuple[np.ndarray, np.ndarray], bent: np.ndarray,
             linear: LinearRows) -> np.ndarray:
    """Further multipliers of linear constraints, which raise the least of slope·d - Σ t_i d_i² / 2 over the corners d of the box:
    each in turn, the best of the numbers at which a corner changes. `bent` are the t_i. Estimates."""
    (low, high), (which, rows, off) = box, linear
    found = np.zeros(len(which))
    for _ in range(POLICY.passes):
        for k, row in enumerate(rows):
            others = slope - found[k] * row
            turns = (0.5 * bent * (low + high) - others) / row
            trial = np.append(np.where(np.isfinite(turns), turns, 0.0), [0.0, found[k]])
            if not np.isfinite(system.upper[which[k]]):
                trial = np.minimum(trial, 0.0)
            if not np.isfinite(system.lower[which[k]]):
                trial = np.maximum(trial, 0.0)
            values = least_in_corners((others + trial[:, None] * row).T, low[:, None], high[:, None],
                                      bent[:, None]) + trial * off[k]
            best = float(trial[int(np.argmax(np.where(np.isnan(values), -np.inf, values)))])
            found[k], slope = best, others + best * row
    return found


def _slacks(system: System, read: Coefficients, lo: np.ndarray, hi: np.ndarray, x: np.ndarray,
            rows: np.ndarray) -> tuple[Interval, Interval]:
    """Enclosures of all slacks at x, and of the gradients of those of rows."""
    upper = np.isfinite(system.upper[rows])
    ends = exactly(np.where(upper, system.upper[rows], system.lower[rows]))
    off = minus((read.value[0][1 + rows], read.value[1][1 + rows]), ends)
    slope = read.slope[0][1 + rows], read.slope[1][1 + rows]
    slack = np.where(upper, -off[1], off[0]), np.where(upper, -off[0], off[1])
    beside = np.where(upper[:, None], -slope[1], slope[0]), np.where(upper[:, None], -slope[0], slope[1])
    parts = minus(exactly(x), exactly(lo)), minus(exactly(hi), exactly(x)), slack
    return tuple(np.concatenate([part[side] for part in parts]) for side in range(2)), beside


def _convexifying_diagonal(curvature: Interval, added: np.ndarray) -> np.ndarray | None:
    """At least these numbers, with which on its diagonal the matrix is proved to be positive definite."""
    added = np.maximum(added, 0.0)  # hands NaN on
    for _ in range(POLICY.diagonal_tries):
        whole = plus(curvature, exactly(np.diag(added)))
        factor = inverse_factor(midpoint(whole)[..., None])
        if np.isfinite(factor).all() and positive_definite(_lanes(whole), factor)[0]:
            return added
        added = POLICY.diagonal_growth * added
    return None


def least_in_corners(slope: np.ndarray, low: np.ndarray, high: np.ndarray, bent: np.ndarray) -> np.ndarray:
    """The least value of slope·d - Σ t_i d_i² / 2 between the corners. An estimate."""
    return total(np.minimum(*(slope * d - 0.5 * bent * d * d for d in (low, high))))


def _lanes(a: Interval) -> Interval:
    return a[0][..., None], a[1][..., None]


def _column(a: Interval) -> Interval:
    return a[0][:, 0, 0], a[1][:, 0, 0]


def _each(a: Interval) -> list[Interval]:
    return list(zip(*a, strict=True))


def curvature_of(read: Coefficients, w: np.ndarray) -> Interval:
    """Second derivatives of f + w·g: differences of gradients, which are linear."""
    slopes = read.slopes[0][0], read.slopes[1][0]
    for k in np.flatnonzero(np.where(read.linear, 0.0, w)):
        slopes = plus(slopes, times(exactly(w[k]), (read.slopes[0][1 + k], read.slopes[1][1 + k])))
    return times(minus((slopes[0][:, 1:], slopes[1][:, 1:]), (slopes[0][:, :1], slopes[1][:, :1])), exactly(1.0 / read.far))


def _form(v: Interval, beside: Interval, n: int) -> Interval:
    """The second derivatives of Σ v_ij s_i s_j / 2: those of bounds have unit vectors as gradients, up to a sign."""
    low, high, rest = (slice(0, n), slice(n, 2 * n), slice(2 * n, None))

    def block(i: slice, j: slice) -> Interval:
        return v[0][i, j], v[1][i, j]
    found = plus(minus(block(low, low), block(low, high)), minus(block(high, high), block(high, low)))
    if beside[0].size:
        turned = transposed(_lanes(beside))
        mixed = _matrix(matrix_product(turned, _lanes(minus(block(rest, low), block(rest, high)))))
        both = _matrix(matrix_product(matrix_product(turned, _lanes(block(rest, rest))), _lanes(beside)))
        found = plus(plus(found, plus(mixed, transposed(mixed))), both)
    return found


def _matrix(a: Interval) -> Interval:
    return a[0][..., 0], a[1][..., 0]


def _transformed(numbers: Interval, beside: Interval, n: int) -> Interval:
    """Σ of the slacks' gradients, each times its number."""
    found = minus((numbers[0][:n], numbers[1][:n]), (numbers[0][n:2 * n], numbers[1][n:2 * n]))
    for k, number in enumerate(_each((numbers[0][2 * n:], numbers[1][2 * n:]))):
        found = plus(found, times(number, (beside[0][k], beside[1][k])))
    return found
