"""Regions with constraints, the last axis a lane for each, and what the conditions of Fritz John distinguish on them.

A constraint is *tied* on a region unless it is Lipschitz and strictly satisfied on all of it; a variable is *free* if it is no
whole number, and the region does not reach its bounds.
"""

from typing import NamedTuple

import numpy as np

from infimum.evaluation.evaluator import Evaluator
from infimum.linear_algebra.interval_matrices import Interval


class ReducedRegions(NamedTuple):
    """What is left of regions (n, N), and which hold no minimiser."""

    lo: np.ndarray
    hi: np.ndarray
    none: np.ndarray


class BindingConstraints:
    """Regions (n, N) within the user's bounds (n), with `slopes` (1 + m, n, N) of all rows, that of f first. `lipschitz` are
    those on which f and all tied constraints are, with finite derivatives."""

    def __init__(self, evaluator: Evaluator, bounds: Interval, lo: np.ndarray, hi: np.ndarray):
        self.evaluator, self.bounds, self.lo, self.hi, system = evaluator, bounds, lo, hi, evaluator.system
        found = evaluator.jacobian(lo, hi)
        rows, self.slopes, lower, upper = found.value, (found.lo, found.hi), system.lower[:, None], system.upper[:, None]
        self.at_low = ~((rows.lo[1:] > lower) | (lower == -np.inf))  # may it lie at its lower end?
        self.at_high = ~((rows.hi[1:] < upper) | (upper == np.inf))
        self.may_bind = self.at_low | self.at_high | ~rows.lipschitz[1:]
        finite = np.isfinite(found.lo + found.hi).all(axis=1) & rows.lipschitz
        self.usable = np.isfinite(lo + hi).all(axis=0) & finite[0]
        self.lipschitz = self.usable & (finite[1:] | ~self.may_bind).all(axis=0)
        low, high, whole = lo <= bounds[0][:, None], hi >= bounds[1][:, None], np.isin(np.arange(len(lo)), system.integers)
        # what regions that reach their bounds are reduced to: a bound that is no double lies between the region's end and this
        self.faces = (np.where(lo < bounds[0][:, None], np.minimum(bounds[0][:, None], hi), lo),
                      np.where(hi > bounds[1][:, None], np.maximum(bounds[1][:, None], lo), hi))
        self.may_move = np.repeat(~whole[:, None], lo.shape[1], axis=1)
        self.free, self.on_low, self.on_high = ~(low | high) & self.may_move, low & self.may_move, high & self.may_move
