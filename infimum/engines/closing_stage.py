"""Nearer bounds in the place of infinite or very wide ones, before a search and in the midst of it."""

from typing import TYPE_CHECKING, Any

import numpy as np

from infimum.bounds.propagation import Box, propagate
from infimum.evaluation.evaluator import Evaluator
from infimum.search.policy.infinite_ends import CONVEX_BOUNDS as POLICY
from infimum.support.clock import stoppable
from infimum.support.lazy import LazyModule

if TYPE_CHECKING:
    from infimum.bounds.infinite_ends import closing
else:
    closing = LazyModule("bounds.infinite_ends.closing")


class ClosingStage:
    """Of one run. `bounding` has other forms of the evaluator's functions."""

    def __init__(self, evaluator: Evaluator):
        self.evaluator, self.upper, self.times = evaluator, np.inf, 0

    def is_due(self, box: Box, upper: float) -> bool:
        """Are bounds very wide, and a point much better than that with which they were looked at last?"""
        with np.errstate(all="ignore"):
            wide = bool((box[1] - box[0] > POLICY.wide_bounds).any())
        better = upper < np.inf and (self.upper == np.inf or self.upper - upper >= POLICY.much_better * max(1.0, abs(self.upper)))
        return wide and (not self.times or (better and self.times < POLICY.most_closings))

    def left(self, bounding: Evaluator, box: Box, x: np.ndarray, upper: float) -> Box | None:
        """What is left of the box for better points: by all functions at once, and by each of them."""
        self.upper, self.times = upper, self.times + 1
        with stoppable():
            left = closing.closed(self.evaluator, bounding, *box, x, upper)
            return propagate(bounding, *left, upper) if (left[0] <= left[1]).all() else None

    def values(self) -> dict[str, Any]:
        """For a checkpoint."""
        return {"closed_with": float(self.upper), "closings": self.times}

    def restore(self, values: dict[str, Any]) -> None:
        """As a checkpoint has it."""
        self.upper, self.times = values.get("closed_with", np.inf), values.get("closings", 0)
