"""Shaving: a sweep of every region, which cuts slices off all its variables at once (`bounds/sweeps/sweep_kernel.py`,
`bounds/shaving_kernel.py`).

**Discards** a slice of a variable, the others at their full range in the region, where f is defined nowhere, certainly above the
upper bound, or, in a bounded region, certainly rising or falling without the slice reaching the user's bound; and a region none
of whose slices is left in some variable. **Reduces** what is left of a variable to the hull of its slices, the outermost to the
face at the user's bound where f certainly falls or rises towards it. **Raises** the lower bound to the least of the slices left.
**Costs** an enclosure of f and a derivative for each of the slices of each variable, at O(1) each, since all that the other
variables contribute is read from running sums: as much as 64 boxes. **Judged** by the regions that it discards or cuts to a
small part of their volume.

Proof: docs/proofs/first_order.md.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from infimum.bounds.interface import Outcome, RegionTest, StepContext
from infimum.evaluation.evaluator import Evaluator
from infimum.search.policy.bounds import SWEEPS as POLICY
from infimum.support.lazy import LazyModule

if TYPE_CHECKING:
    from infimum.bounds.sweeps import sweeps
else:
    sweeps = LazyModule("bounds.sweeps.sweeps")


class Shaving(RegionTest):
    """Sweeps regions where they lie."""

    name, discards, knows_faces = "shaving", "sweep", True

    def __init__(self, evaluator: Evaluator, lo: np.ndarray, hi: np.ndarray):
        super().__init__(evaluator, lo, hi)
        self.sweeper = sweeps.Sweeper(evaluator, lo, hi, POLICY.shaving_slices_of_piece)
        self.most = max(1, POLICY.elements_at_once // self.n)

    @classmethod
    def applies(cls, evaluator: Evaluator) -> bool:
        return evaluator.n >= POLICY.least_variables and evaluator.facts.local is not None

    def test(self, regions: Any, context: StepContext) -> Outcome:
        left, paid = self.sweeper.shave(regions, context.upper, None if self.faces is None else self.faces.of(regions))
        return Outcome(left, self.cost * regions.shape[1], paid)
