"""Which of the regions of a result hold exactly one minimiser? Asked when somebody wants to know."""

from typing import Any

import numpy as np

from infimum.engine.regions.pool import Regions
from infimum.engine.second_order.settle import OPERATIONS, REGIONS, VARIABLES, settle
from infimum.evaluate import Evaluator
from infimum.expr.node import topological
from infimum.minimisers import Minimisers
from infimum.start_boxes import StartBoxes


class Question:
    """The function and the bounds. Copies share them; a pickle holds nothing, since compiled kernels stay in their process."""

    def __init__(self, evaluator: Evaluator, lo: np.ndarray, hi: np.ndarray, start: StartBoxes | None = None):
        self.evaluator, self.lo, self.hi, self.start = evaluator, lo, hi, start

    def __call__(self, result: Any) -> Minimisers | None:
        """The answer for a Result; None where it has no regions."""
        cover = result.regions
        if cover is None:
            return None
        if not can_be_settled(self.evaluator) or cover.count > REGIONS or not cover.kept:
            return Minimisers((), cover.count, _TOO_MANY)
        regions = Regions(cover.lo.T, cover.hi.T, cover.lower, np.zeros(cover.count, np.int32), np.zeros(cover.count, np.int8))
        settled = settle(self.evaluator, self.lo, self.hi, regions, result.boxes, result.upper, result.x, self.start)
        return Minimisers(settled.minimisers, settled.rest, None if settled.why is None else settled.why.value)

    def __reduce__(self) -> tuple:
        return _forgotten, ()

    def __deepcopy__(self, memo: dict) -> "Question":
        return self


_TOO_MANY = f"only up to {VARIABLES} variables, {OPERATIONS:,} operations and {REGIONS:,} regions are looked at"


def can_be_settled(evaluator: Evaluator) -> bool:
    """Is the function small enough for second derivatives of all variables by one another?"""
    return evaluator.n <= VARIABLES and sum(1 for _ in topological([evaluator.f])) <= OPERATIONS


def _forgotten() -> None:
    return None
