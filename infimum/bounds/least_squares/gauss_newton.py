"""Least squares: a Gauss-Newton step for sums of squares of many residuals (`bounds/least_squares/gauss_newton_kernel.py`).

**Discards** a bounded region, the residuals Lipschitz around it, on which their squares certainly add up to more than the upper
bound. **Reduces** each variable to where they may not. **Costs** the residuals with their derivatives on the region, and twice at
a point: counted as 2 boxes. **Judged** by regions discarded, or cut to a small part of their volume.

Proof: docs/proofs/sums_of_squares.md.
"""

from typing import Any

import numpy as np

from infimum.bounds.interface import Outcome, RegionTest, StepContext
from infimum.evaluation.evaluator import Evaluator
from infimum.evaluation.programs import CENTRE, RESIDUALS, SHAVING
from infimum.search.policy.bounds import LEAST_SQUARES as POLICY


class GaussNewton(RegionTest):
    """Tests regions where they lie."""

    name, discards, knows_faces, is_tested_at_end = "least_squares", "least squares", True, True

    def __init__(self, evaluator: Evaluator, lo: np.ndarray, hi: np.ndarray):
        super().__init__(evaluator, lo, hi)
        self.most = max(1, POLICY.elements_at_once // (self.n * self.n))

    @classmethod
    def circumstances(cls, evaluator: Evaluator) -> str:
        return "costly" if evaluator.facts.is_costly else ""

    @classmethod
    def applies(cls, evaluator: Evaluator) -> bool:
        return evaluator.facts.has_residuals

    def test(self, regions: Any, context: StepContext) -> Outcome:
        run, root = self.evaluator.run, np.nextafter(np.sqrt(context.upper), np.inf)
        middle, = run(CENTRE, [regions])
        ends, = run(RESIDUALS, [regions, middle], parameters=np.array([root]))
        left, paid = run(SHAVING, [regions, ends], parameters=np.array([context.upper, 2.0**-self.cost]))
        return Outcome(left, self.cost * regions.shape[1], paid)
