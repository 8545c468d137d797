"""Multipliers: the numbers λ of F(x, s) + λ (G(x) - s) on a node. Any are right; these make its lower bound high.

As a function of λ the bound is nearly concave: the least of many sums that are nearly linear in λ; how steep they are, values at
the centres of cells tell. Near a minimiser the best λ is near the derivative of F by s, which `derivatives` encloses.
"""

import math
from collections.abc import Callable

import numpy as np

from infimum.chains.cell_kernels import FROM, TO
from infimum.chains.slice_nodes import Node, NodeLevel
from infimum.search.policy.bounds import COUPLED_CHAIN as POLICY

_LARGEST = 2.0**200  # fixed: products of larger multipliers may overflow
_HUGE = 2.0**900  # fixed: derivatives beyond that are not added

Ends = tuple[np.ndarray, np.ndarray]


def derivatives(node: Node, level: NodeLevel) -> Ends | None:
    """Enclosures of ∂F/∂s at every minimiser that the node holds, for each scalar; None if some term has no derivative.

    The level has the derivatives of F - λ s: those of the cells that are alive, hulls for each bag, are added up, and λ.
    """
    ends = np.empty((2, node.scalars))
    for k in range(node.scalars):
        nlo = np.append(level.hulls([-found[FROM][k - node.scalars] for found in level.found]), -node.multipliers[k])
        hi = np.append(level.hulls([found[TO][k - node.scalars] for found in level.found]), node.multipliers[k])
        if not (np.abs(nlo) < _HUGE).all() or not (np.abs(hi) < _HUGE).all():
            return None
        ends[0, k] = -np.nextafter(math.fsum(nlo.tolist()), np.inf)  # such a sum is the exact one, rounded to the nearest
        ends[1, k] = np.nextafter(math.fsum(hi.tolist()), np.inf)
    return ends[0], ends[1]


class MultiplierModel:
    """What the bound of a node would be with other multipliers: an estimate. `values` are minus the values at the centres of
    cells, `changes` what is added to them where a multiplier grows by 1."""

    def __init__(self, node: Node, level: NodeLevel, changes: list[np.ndarray], slopes: Ends | None):
        self.node, self.level, self.values = node, level, level.at_centres
        self.changes = [np.where(np.isfinite(change), change, 0.0) for change in changes]
        self.base = np.where(level.alive > 0, level.number[0], -np.inf)
        self.tilt = np.zeros(node.scalars) if slopes is None else slopes[0] * 0.5 + slopes[1] * 0.5 - node.multipliers
        self.rad = node.grid.slices.rad[len(node.grid.slices) - node.scalars:]

    def with_moves(self, number: np.ndarray, moves: np.ndarray) -> np.ndarray:
        return number + sum(move * change for move, change in zip(moves.tolist(), self.changes, strict=True))

    def bound(self, moves: np.ndarray) -> float:
        """If the slices of scalars were points."""
        return -self.level.largest_sum(self.with_moves(self.base, moves))

    def bound_on_slices(self, moves: np.ndarray) -> float:
        """What F - λ s loses on them depends on its slope there."""
        return self.bound(moves) + float((self.rad * (np.abs(self.tilt) - np.abs(self.tilt - moves))).sum())

    def best(self, bound: Callable[[np.ndarray], float], enough: float) -> tuple[np.ndarray, float]:
        """(moves of the multipliers, what they gain), by trial and error."""
        count = self.node.scalars
        steps, moves, start = self._first_steps(), np.zeros(count), bound(np.zeros(count))
        best, smallest = start, steps * POLICY.smallest_multiplier_step
        useful = [k for k, change in enumerate(self.changes) if change.any()] or [0]  # a sign has no multiplier
        for turn in range(POLICY.multiplier_steps):
            k = useful[turn % len(useful)]
            tried = [moves + sign * steps * (np.arange(count) == k) for sign in (-1.0, 1.0)]
            found = [bound(trial) for trial in tried]
            better = int(found[1] > found[0])
            if found[better] > best and (np.abs(tried[better] + self.node.multipliers) < _LARGEST).all():
                best, moves = found[better], tried[better]
                steps[k] *= 2
            else:
                steps[k] /= 2
            if best > enough or (steps < smallest)[useful].all():
                break
        return moves, best - start

    def _first_steps(self) -> np.ndarray:
        """Such that a term times a step is as far from others of its bag as these are from one another."""
        steps, spread = np.ones(self.node.scalars), self.level.spread(self.values)
        for k, change in enumerate(self.changes):
            weight = self.level.spread(change)
            if 0 < spread < np.inf and 0 < weight < np.inf and spread / weight < _LARGEST:
                steps[k] = spread / weight
        return steps
