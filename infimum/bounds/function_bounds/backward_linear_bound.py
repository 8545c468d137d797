"""Linear bounds (`relax/backward_bound_kernel.py`): a linear function below f, composed backward through it.

**Discards** a bounded region on which the linear function lies above the upper bound. **Reduces** a variable to where it does
not. **Raises** the lower bound to its least value. **Costs** about two enclosures of f and its gradient. **Judged** by the
regions discarded, cut to a small part, or brought close to the upper bound.

Proof: docs/proofs/linear_bounds.md.
"""

from typing import Any

import numpy as np

from infimum.bounds.interface import Outcome, RegionTest
from infimum.bounds.payoff import Payoff
from infimum.evaluation.evaluator import Evaluator
from infimum.evaluation.programs import LINEAR
from infimum.kernel.schedule import has_many_curves, written_out
from infimum.problem.unions import shares

_FIRST_STEP, _PERIOD, _WORTH_SHARE = 12, 8, 0.125      # see Payoff; but
_FIRST_STEP_IF_DEPENDENT, _FIRST_STEP_IF_LONG = 1, 32  # where variables appear in many places; where it takes long to compile,
# operations on single numbers: from the first number on it is asked late, beyond the second it is not used
_LONG_OPERATIONS, _MOST_OPERATIONS = 100, 800
_COST_IN_BOXES = 2  # in boxes


class BackwardLinearBound(RegionTest):
    """Tests regions where they lie."""

    name, discards, knows_faces = "linear", "linear", True
    sample = 64

    def __init__(self, evaluator: Evaluator, lo: np.ndarray, hi: np.ndarray):
        super().__init__(evaluator, lo, hi)
        self.given = np.concatenate([shares(lo, hi), [np.inf], np.arange(self.n)])
        first = _FIRST_STEP_IF_DEPENDENT if has_many_curves(evaluator.f, self.n) else _FIRST_STEP
        first = _FIRST_STEP_IF_LONG if written_out(evaluator.f) > _LONG_OPERATIONS else first
        self.payoff = Payoff(first, _PERIOD, _WORTH_SHARE, soon=True)

    @classmethod
    def applies(cls, evaluator: Evaluator) -> bool:
        return written_out(evaluator.f) <= _MOST_OPERATIONS

    def test(self, regions: Any, upper: float) -> Outcome:
        self.given[self.n] = upper
        left, worth = self.evaluator.run(LINEAR, [regions], parameters=self.given)
        return Outcome(left, _COST_IN_BOXES * regions.shape[1], worth)
