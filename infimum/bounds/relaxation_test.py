"""Tests by a linear relaxation of a region (`relax/lane_relaxation.py`): what those by rows of several sources have in common.

**Discards** a bounded region in which the rows of the constraints have no common point: gone. One of which f <= upper is needed
to say so has an infinite lower bound instead, so that it never counts as infeasible. **Reduces** each variable to where the rows
allow it. **Raises** the lower bound by multipliers. **Judged** by the regions discarded, cut to a small part of their volume, or
brought closer to the upper bound.
"""

from typing import Any, ClassVar

import numpy as np

from infimum.bounds.interface import Outcome, RegionTest, StepContext
from infimum.evaluation.evaluator import Evaluator
from infimum.problem.unions import shares


class RelaxationTest(RegionTest):
    """Tests regions where they lie."""

    program: ClassVar[str]
    finds_points: ClassVar[bool] = False  # are the further outputs of the program verified upper bounds, and points with them?
    parameters: np.ndarray                # of the program, behind the upper bound

    def __init__(self, evaluator: Evaluator, lo: np.ndarray, hi: np.ndarray):
        super().__init__(evaluator, lo, hi)
        self.parameters = shares(lo, hi)

    def run(self, regions: Any, upper: float) -> Any:
        """The outputs of the program, whose parameters begin with the upper bound."""
        return self.evaluator.run(self.program, [regions], parameters=np.append(upper, self.parameters))

    def test(self, regions: Any, context: StepContext) -> Outcome:
        left, worth, *found = self.run(regions, context.upper)
        return Outcome(left, self.cost * regions.shape[1], worth, *(found if self.finds_points else ()))
