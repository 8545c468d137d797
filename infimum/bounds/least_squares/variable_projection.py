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

from infimum.bounds.interface import Outcome, RegionTest
from infimum.bounds.payoff import Payoff
from infimum.evaluation.evaluator import Evaluator
from infimum.evaluation.programs import PROJECTION
from infimum.support.lazy import LazyModule

if TYPE_CHECKING:
    from infimum.bounds.least_squares import projection_kernel as kernel
else:
    kernel = LazyModule("bounds.least_squares.projection_kernel")

_FIRST_STEP, _PERIOD, _WORTH_SHARE = 0, 8, 0.05                       # see Payoff
_FIRST_STEP_IF_COSTLY, _WORTH_IF_COSTLY, _COSTLY_SAMPLE = 6, 0.6, 16  # where the function itself takes all of the time
_WORTH_IF_MANY = 0.3                                                  # where it does not choose what is cut
_COST_IN_BOXES = 4                                                    # in boxes


class _EagerPayoff(Payoff):
    """Tried in every step until it pays: regions are too wide for it at first, and it tells how to cut them."""

    def judge(self, step: int, regions: int, gone: float) -> None:
        super().judge(step, regions, gone)
        if not self.pays:
            self.due = step + 1


class VariableProjection(RegionTest):
    """Tests regions where they lie."""

    name, discards, knows_faces, eliminates = "projection", "linear parameters", True, True

    def __init__(self, evaluator: Evaluator, lo: np.ndarray, hi: np.ndarray):
        super().__init__(evaluator, lo, hi)
        self.parameters = np.concatenate([[np.inf], lo, hi])
        costly, many = evaluator.is_costly, evaluator.separable.many_nonlinear
        worth = _WORTH_IF_COSTLY if costly else _WORTH_IF_MANY if many else _WORTH_SHARE
        self.payoff = (Payoff if costly or many else _EagerPayoff)(_FIRST_STEP_IF_COSTLY if costly or many else _FIRST_STEP,
                                                                   _PERIOD, worth)
        self.sample = _COSTLY_SAMPLE if costly else self.sample

    @classmethod
    def applies(cls, evaluator: Evaluator) -> bool:
        return evaluator.separable is not None

    def test(self, regions: Any, upper: float) -> Outcome:
        self.parameters[0] = upper
        out = self.evaluator.run(PROJECTION, [regions], parameters=self.parameters)
        left, worth, upper, point = (out[row] for row in (kernel.LEFT, kernel.WORTH, kernel.UPPER, kernel.POINT))
        return Outcome(left, _COST_IN_BOXES * regions.shape[1], worth, upper, point)
