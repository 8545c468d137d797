"""The conditions of Fritz John (`bounds/fritz_john/stationary_points.py`): what first and second derivatives of f and all
constraints say of minimisers.

**Discards** a bounded region on which f and all constraints that are not certainly slack are Lipschitz, the gradients of these
independent, and no multipliers of the right signs make the Lagrangian function stationary; where all are smooth, also by a Newton
step in variables and multipliers. Where gradients may be dependent it asks of each multiplier whether it can be the largest
(`bounds/fritz_john/dependent_gradients.py`), and of variables alone that only slack constraints read.
**Reduces** a variable to the face at the user's bound from which the Lagrangian function rises, and others to what the Newton
step leaves. It needs a verified upper bound: what it discards may hold feasible points. **Costs** derivatives of all rows on the
region and at its middle, second derivatives of the Lagrangian function, and some (n + m)³ operations: counted as n + 2 boxes.
**Judged** by regions discarded, or cut to a small part of their volume, and asked only where regions are few.

Proof: docs/proofs/stationary_points.md.
"""

from typing import Any

import numpy as np

from infimum.bounds.fritz_john.stationary_points import StationarityTest
from infimum.bounds.interface import Outcome, RegionTest, StepContext
from infimum.evaluation.evaluator import Evaluator
from infimum.evaluation.programs import SHAVING
from infimum.search.policy.bounds import FRITZ_JOHN as POLICY


class FritzJohn(RegionTest):
    """Tests regions where they lie."""

    name, discards = "fritz_john", "newton"
    few: float = POLICY.most_regions

    def __init__(self, evaluator: Evaluator, lo: np.ndarray, hi: np.ndarray, sweeps: int = POLICY.sweeps):
        super().__init__(evaluator, lo, hi)
        self.most = max(1, POLICY.elements_at_once // (self.n + evaluator.system.m) ** 2)
        self.conditions = StationarityTest(evaluator, (lo, hi), sweeps)

    @classmethod
    def applies(cls, evaluator: Evaluator) -> bool:
        system = evaluator.system  # where f is a constant, all feasible points are minimisers
        return system is not None and evaluator.n + system.m <= POLICY.most_variables_and_constraints and not system.is_flat

    def test(self, regions: Any, context: StepContext) -> Outcome:
        n, arrays, upper, count = self.n, self.evaluator.arrays_of(regions), context.upper, regions.shape[1]
        if not upper < np.inf or count > self.few:
            return Outcome(regions, 0, arrays.send(np.zeros((1, count))))
        lo, hi = (np.ascontiguousarray(end) for end in np.split(arrays.fetch(regions)[:2 * n], 2))
        left = self.conditions(lo, hi)
        lower = np.where(left.none, np.inf, -np.inf)
        said = np.concatenate([left.lo, left.hi, np.ones((n, count)), np.repeat(lower[None], n, axis=0)])
        out, paid = self.evaluator.run(SHAVING, [regions, arrays.send(said)], parameters=np.array([upper, POLICY.worth_volume]))
        return Outcome(out, self.cost * count, paid)
