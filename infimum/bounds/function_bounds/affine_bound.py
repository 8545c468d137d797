"""Affine bounds (`relax/affine_bound_kernel.py`): a linear function below f, for recurrences and other deep functions of few
variables.

**Discards** a bounded region on which the linear function lies above the upper bound. **Reduces** a variable to where it does
not. **Raises** the lower bound to its least value. **Chooses** the variable to cut: the one with the largest side, compared with
the bounds, since derivatives of a recurrence say little about wide regions. **Costs** as much as some five enclosures of f and
its gradient. **Judged** by the regions discarded, cut to a small part, or brought close to the upper bound.

Proof: docs/proofs/affine_bounds.md.
"""

from typing import Any

import numpy as np

from infimum.bounds.interface import Outcome, RegionTest, StepContext
from infimum.evaluation.evaluator import Evaluator
from infimum.evaluation.programs import AFFINE
from infimum.problem.unions import shares


class AffineBound(RegionTest):
    """Tests regions where they lie."""

    name, discards, knows_faces, delays_others = "affine", "affine", True, True

    def __init__(self, evaluator: Evaluator, lo: np.ndarray, hi: np.ndarray):
        super().__init__(evaluator, lo, hi)
        self.weights = shares(lo, hi)

    @classmethod
    def applies(cls, evaluator: Evaluator) -> bool:
        return evaluator.facts.is_recurrence

    def test(self, regions: Any, context: StepContext) -> Outcome:
        left, worth = self.evaluator.run(AFFINE, [regions], parameters=np.append(self.weights, context.upper))
        return Outcome(left, self.cost * regions.shape[1], worth)
