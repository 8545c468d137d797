"""Variable projection: sums of squares whose linear parameters need not be cut (`bounds/least_squares/projection_kernel.py`).

**Discards** a region on which the squares certainly add up to more than the upper bound, whatever the linear parameters are.
**Reduces** these to where they may not. **Raises** the lower bound. **Finds** an upper bound: the sum at the linear fit for the
nonlinear parameters in the middle. **Chooses** the nonlinear parameter to cut next. **Costs** the residuals with second
derivatives on the region, and several times at a point: counted as 4 boxes. **Judged** by regions discarded, or cut to a small
part of their volume.

Proof: docs/proofs/linear_parameters.md.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from infimum.bounds.interface import Outcome, RegionTest, StepContext
from infimum.evaluation.evaluator import Evaluator
from infimum.evaluation.programs import PROJECTION
from infimum.support.lazy import LazyModule

if TYPE_CHECKING:
    from infimum.bounds.least_squares import projection_kernel as kernel
else:
    kernel = LazyModule("bounds.least_squares.projection_kernel")


class VariableProjection(RegionTest):
    """Tests regions where they lie."""

    name, discards, knows_faces, eliminates = "projection", "linear parameters", True, True

    def __init__(self, evaluator: Evaluator, lo: np.ndarray, hi: np.ndarray):
        super().__init__(evaluator, lo, hi)
        self.parameters = np.concatenate([[np.inf], lo, hi])

    @classmethod
    def circumstances(cls, evaluator: Evaluator) -> str:
        if evaluator.facts.is_costly:
            return "costly"
        return "many" if evaluator.facts.separable.many_nonlinear else ""  # where it does not choose what is cut

    @classmethod
    def applies(cls, evaluator: Evaluator) -> bool:
        return evaluator.facts.separable is not None

    def test(self, regions: Any, context: StepContext) -> Outcome:
        self.parameters[0] = context.upper
        out = self.evaluator.run(PROJECTION, [regions], parameters=self.parameters)
        left, paid, upper, point = (out[row] for row in (kernel.LEFT, kernel.PAID, kernel.UPPER, kernel.POINT))
        return Outcome(left, self.cost * regions.shape[1], paid, upper, point)
