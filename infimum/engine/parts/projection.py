"""Variable projection: sums of squares whose linear parameters are never cut (`lower/projection.py`).

**Discards** a region on which the squares certainly add up to more than the upper bound, whatever the linear parameters are.
**Reduces** these to where they may not. **Raises** the lower bound. **Finds** an upper bound: the sum at the linear fit for the
nonlinear parameters in the middle. **Chooses** the nonlinear parameter to cut next. **Costs** the residuals with second
derivatives on the region, and several times at a point: counted as 4 boxes.
"""

from typing import Any

import numpy as np

from infimum.engine.parts.part import Outcome, Part
from infimum.evaluate import Evaluator
from infimum.lower.programs import PROJECTION
from infimum.lower.projection import LEFT, POINT, UPPER, WORTH

_COST = 4  # in boxes


class Projection(Part):
    """Tests regions where they lie."""

    name, discards, knows_faces = "projection", "linear parameters", True

    def __init__(self, evaluator: Evaluator, lo: np.ndarray, hi: np.ndarray):
        super().__init__(evaluator, lo, hi)
        self.parameters = np.concatenate([[np.inf], lo, hi])

    @classmethod
    def applies(cls, evaluator: Evaluator) -> bool:
        return evaluator.separable is not None

    def test(self, regions: Any, upper: float) -> Outcome:
        self.parameters[0] = upper
        out = self.evaluator.run(PROJECTION, [regions], parameters=self.parameters)
        return Outcome(out[LEFT], _COST * regions.shape[1], out[WORTH], out[UPPER], out[POINT])
