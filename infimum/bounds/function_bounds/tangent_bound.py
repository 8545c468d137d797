"""Lower bounds by tangents (`structure/outer_tangents.py`, `bounds/function_bounds/tangent_kernel.py`): for sums of squares, and
of other functions of one quantity each, such as pair potentials.

**Discards** a bounded region, around which the quantities are Lipschitz, where the tangents at a point of it lie above the upper
bound. **Reduces** a variable to where they do not. **Raises** the lower bound to that of the tangents. **Finds** an upper bound:
f at that point, which is about the lowest one of a quadratic model. **Costs** an estimate of the Hessian, an enclosure of the
tangents with their derivatives, and enclosures of them and of f at a point: counted as n + 4 boxes. **Judged** by the regions
discarded, or brought close to the upper bound.

Proof: docs/proofs/tangents.md.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from infimum.bounds.interface import Outcome, RegionTest, StepContext
from infimum.evaluation.evaluator import Evaluator
from infimum.evaluation.programs import LOWEST, SHAVING, TANGENT
from infimum.search.policy.bounds import TANGENTS as POLICY
from infimum.support.lazy import LazyModule

if TYPE_CHECKING:
    from infimum.bounds.function_bounds import tangent_kernel as kernel
else:
    kernel = LazyModule("bounds.function_bounds.tangent_kernel")


class TangentBound(RegionTest):
    """Tests regions where they lie."""

    name, discards, knows_faces = "tangents", "tangents", True

    def __init__(self, evaluator: Evaluator, lo: np.ndarray, hi: np.ndarray):
        super().__init__(evaluator, lo, hi)
        self.most = max(1, POLICY.elements_at_once // self.n)

    @classmethod
    def applies(cls, evaluator: Evaluator) -> bool:
        return evaluator.n <= POLICY.most_variables

    def is_tried(self, step: int) -> bool:
        """Whether there are tangents is asked when they may be needed: small proofs end before that."""
        return super().is_tried(step) and self.evaluator.facts.tangents is not None

    def is_used(self, step: int) -> bool:
        return super().is_used(step) and self.evaluator.facts.tangents is not None

    def test(self, regions: Any, context: StepContext) -> Outcome:
        run = self.evaluator.run
        point, = run(LOWEST, [regions])
        out = run(TANGENT, [regions, point], parameters=np.array([context.upper]))
        left, _ = run(SHAVING, [regions, out[kernel.LEFT]], parameters=np.array([context.upper, 0.0]))
        return Outcome(left, self.cost * regions.shape[1], out[kernel.PAID], out[kernel.UPPER], point)
