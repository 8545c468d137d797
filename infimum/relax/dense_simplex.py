"""Multipliers of one small linear program in plain NumPy, by the dual simplex method of `relax/lane_simplex.py`: the same table
and the same turns, without a kernel to compile. An estimate, with the same bits on every machine: no sum is taken in an order
that depends on it.

Proof: docs/proofs/convex_bounds.md.
"""

from typing import NamedTuple

import numpy as np

from infimum.search.policy.bounds import LINEAR_RELAXATIONS as POLICY

_GOLDEN = 0.6180339887498949  # fixed: multiples of it spread evenly


class ProgramEnd(NamedTuple):
    """Multipliers of the rows, not negative, or where there is `no_point` a ray of them; the last point; and how many turns were
    taken."""

    multipliers: np.ndarray
    point: np.ndarray
    no_point: bool
    turns: int


def solved(cost: np.ndarray, matrix: np.ndarray, right: np.ndarray, turns: int) -> ProgramEnd:
    """Min cost·t subject to matrix t <= right and 0 <= t <= 1, in at most this number of turns. Costs are made a little larger,
    each by another number: where many are 0, turns would be repeated without end.

    >>> end = solved(np.array([-1.0, -1.0]), np.array([[1.0, 2.0]]), np.array([2.0]), 9)
    >>> end.multipliers, end.point
    (array([0.5]), array([1. , 0.5]))
    """
    rows, columns = matrix.shape
    flipped = cost < 0
    table, value = np.where(flipped, matrix, -matrix), right.copy()
    for j in np.flatnonzero(flipped):
        value -= matrix[:, j]
    price = np.abs(cost) + POLICY.simplex_perturbation * (1.0 + np.arange(columns) * _GOLDEN % 1.0)
    inside, outside = columns + np.arange(rows), np.arange(columns)     # numbers of variables, slacks behind columns
    high, high_outside = np.full(rows, np.inf), np.ones(columns)
    at_top = np.append(flipped, np.zeros(rows, bool))
    ray: np.ndarray | None = None
    taken = 0
    while taken < turns:
        taken += 1
        beyond = np.maximum(-value, value - high)
        r = int(np.argmax(beyond)) if rows else 0
        if not rows or not beyond[r] > POLICY.simplex_tolerance:
            break
        if value[r] > 0:  # it leaves at its upper bound, and is counted from there
            value[r], table[r] = high[r] - value[r], -table[r]
            at_top[inside[r]] = not at_top[inside[r]]
        usable = table[r] > POLICY.simplex_least_pivot
        if not usable.any():
            ray = np.zeros(rows + columns)
            ray[outside], ray[inside[r]] = np.maximum(-table[r], 0.0), 1.0
            break
        with np.errstate(all="ignore"):
            quotient = np.where(usable, (np.maximum(price, 0.0) + POLICY.simplex_tie_break) / table[r], np.inf)
        j = int(np.argmin(quotient))
        pivot = table[r, j]
        new, moved = -table[r] / pivot, -value[r] / pivot
        new[j] = 1.0 / pivot
        column, own = table[:, j].copy(), price[j]
        column[r] = 0.0
        table[:, j] = 0.0
        price[j] = 0.0
        table += np.multiply.outer(column, new)
        value += column * moved
        price += own * new
        table[r], value[r] = new, moved
        inside[r], outside[j] = outside[j], inside[r]
        high[r], high_outside[j] = high_outside[j], high[r]
    found, point = np.zeros(rows + columns), np.zeros(rows + columns)
    found[outside], point[inside] = np.maximum(price, 0.0), value
    found = found if ray is None else ray
    point = np.where(at_top, 1.0 - point, point)[:columns]
    return ProgramEnd(np.where(np.isfinite(found), found, 0.0)[columns:], np.clip(point, 0.0, 1.0), ray is not None, taken)
