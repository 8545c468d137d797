"""Linear bounds (`relax/backward_bound_kernel.py`): a linear function below f, composed backward through it.

**Discards** a bounded region on which the linear function lies above the upper bound. **Reduces** a variable to where it does
not. **Raises** the lower bound to its least value. **Costs** about two enclosures of f and its gradient. **Judged** by the
regions discarded, cut to a small part, or brought close to the upper bound.

Proof: docs/proofs/linear_bounds.md.
"""

from typing import Any

import numpy as np

from infimum.bounds.interface import Outcome, RegionTest, StepContext
from infimum.evaluation.evaluator import Evaluator
from infimum.evaluation.programs import LINEAR
from infimum.kernel.schedule import has_many_curves, written_out
from infimum.problem.unions import shares
from infimum.search.policy.bounds import TANGENTS as POLICY


class BackwardLinearBound(RegionTest):
    """Tests regions where they lie."""

    name, discards, knows_faces = "linear", "linear", True

    def __init__(self, evaluator: Evaluator, lo: np.ndarray, hi: np.ndarray):
        super().__init__(evaluator, lo, hi)
        self.given = np.concatenate([shares(lo, hi), [np.inf], np.arange(self.n)])

    @classmethod
    def circumstances(cls, evaluator: Evaluator) -> str:
        if written_out(evaluator.f) > POLICY.long_operations:
            return "long"
        return "dependent" if has_many_curves(evaluator.f, evaluator.n) else ""

    @classmethod
    def applies(cls, evaluator: Evaluator) -> bool:
        return written_out(evaluator.f) <= POLICY.most_operations

    def test(self, regions: Any, context: StepContext) -> Outcome:
        self.given[self.n] = context.upper
        left, worth = self.evaluator.run(LINEAR, [regions], parameters=self.given)
        return Outcome(left, self.cost * regions.shape[1], worth)
