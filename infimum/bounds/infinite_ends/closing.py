"""Finite ends in the place of infinite ones, by all that is known of that.

Proof: docs/proofs/convex_bounds.md.
"""

import numpy as np

from infimum.bounds.infinite_ends.convex_below import convex_below
from infimum.bounds.infinite_ends.convex_bounds import Box, with_convex_bounds
from infimum.bounds.infinite_ends.growth_bounds import with_growth_bounds
from infimum.evaluation.evaluator import Evaluator
from infimum.expr.node import var
from infimum.problem.system import System
from infimum.search.policy.infinite_ends import CONVEX_BOUNDS as POLICY


def closed(evaluator: Evaluator, bounding: Evaluator, lo: np.ndarray, hi: np.ndarray, x: np.ndarray, upper: float) -> Box:
    """The box [lo, hi] with ends in the place of infinite and of very far ones, as far as they follow for the points that obey
    all constraints and f <= upper. `bounding` has other forms of the same system; x may be any point."""
    return by_growth(evaluator, *with_convex_bounds(bounding, lo, hi, x, upper), x, upper)


def without_constraints(evaluator: Evaluator, lo: np.ndarray, hi: np.ndarray, x: np.ndarray, upper: float) -> Box:
    """The same of a function by itself that is not known to be convex."""
    if len(lo) > POLICY.most_variables:
        return lo, hi
    system = System(evaluator.f, (), np.zeros(0), np.zeros(0))
    return by_growth(evaluator.rewritten(evaluator.f, system), lo, hi, x, upper)


def by_growth(evaluator: Evaluator, lo: np.ndarray, hi: np.ndarray, x: np.ndarray, upper: float) -> Box:
    """The same by what far out outweighs the rest of f, or of a constraint."""
    lo, hi = with_growth_bounds(evaluator.system, lo, hi, upper)
    far = ~(np.maximum(x - lo, hi - x) <= POLICY.first_reach * np.maximum(1.0, np.abs(x)))
    below = convex_below(evaluator.system, var("x", lo.shape), lo, hi) if far.any() else None
    return (lo, hi) if below is None else with_convex_bounds(evaluator.rewritten(below.f, below), lo, hi, x, upper)
