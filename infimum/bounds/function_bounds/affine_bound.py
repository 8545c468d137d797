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

from infimum.bounds.interface import Outcome, RegionTest
from infimum.bounds.payoff import Payoff
from infimum.evaluation.evaluator import Evaluator
from infimum.evaluation.programs import AFFINE
from infimum.problem.unions import shares

_FIRST_STEP = 1                                           # the step from which on it is used, small proofs having ended before;
_FIRST_JUDGED_STEP, _PERIOD, _WORTH_SHARE = 12, 8, 0.125  # and that in which it is judged: see Payoff
_COST_IN_BOXES = 5                                        # in boxes


class AffineBound(RegionTest):
    """Tests regions where they lie."""

    name, discards, knows_faces, delays_others = "affine", "affine", True, True
    sample = 64

    def __init__(self, evaluator: Evaluator, lo: np.ndarray, hi: np.ndarray):
        super().__init__(evaluator, lo, hi)
        self.weights = shares(lo, hi)
        self.payoff = Payoff(_FIRST_JUDGED_STEP, _PERIOD, _WORTH_SHARE, soon=True)
        self.payoff.pays = True  # the first regions are too wide to be judged by

    @classmethod
    def applies(cls, evaluator: Evaluator) -> bool:
        return evaluator.is_recurrence

    def is_used(self, step: int) -> bool:
        return step >= _FIRST_STEP and super().is_used(step)

    def test(self, regions: Any, upper: float) -> Outcome:
        left, worth = self.evaluator.run(AFFINE, [regions], parameters=np.append(self.weights, upper))
        return Outcome(left, _COST_IN_BOXES * regions.shape[1], worth)
