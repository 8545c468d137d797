"""Second-order Taylor bounds (`bounds/function_bounds/taylor_kernel.py`).

**Discards** a bounded region, around which f is twice continuously differentiable, where Taylor's formula at its middle puts f
above the upper bound. **Reduces** a variable to where it does not. **Raises** the lower bound to that of the formula. **Costs**
an enclosure of f with gradient and Hessian, and one of the gradient at a point: counted as n + 2 boxes. **Judged** by the regions
discarded, or brought close to the upper bound. Beside Newton steps it seldom pays: it waits until a run is long.

Proof: docs/proofs/taylor_bound.md.
"""

from typing import Any

import numpy as np

from infimum.bounds.interface import Outcome, RegionTest, StepContext
from infimum.evaluation.evaluator import Evaluator
from infimum.evaluation.programs import CENTRE, GRADIENT, HESSIAN, SHAVING, TAYLOR
from infimum.search.policy.bounds import TAYLOR_BOUND as POLICY


class TaylorBound(RegionTest):
    """Tests regions where they lie."""

    name, discards, knows_faces = "taylor", "taylor", True

    def __init__(self, evaluator: Evaluator, lo: np.ndarray, hi: np.ndarray):
        super().__init__(evaluator, lo, hi)
        self.most = max(1, POLICY.elements_at_once // (self.n * self.n))

    @classmethod
    def applies(cls, evaluator: Evaluator) -> bool:
        return evaluator.n <= POLICY.most_variables

    def test(self, regions: Any, context: StepContext) -> Outcome:
        n, run = self.n, self.evaluator.run
        middle, = run(CENTRE, [regions])
        value, _, _, *slope = run(GRADIENT, [middle, middle])
        _, _, level, _, _, *curvature = run(HESSIAN, [regions[:n], regions[n:2 * n]])
        ends, paid = run(TAYLOR, [regions, middle, value, level, *slope, *curvature], parameters=np.array([context.upper]))
        left, _ = run(SHAVING, [regions, ends], parameters=np.array([context.upper, 0.0]))
        return Outcome(left, self.cost * regions.shape[1], paid)
