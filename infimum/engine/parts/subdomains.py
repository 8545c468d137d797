"""Subdomains (`lower/subdomain.py`): every region is divided for one look, and f and all constraints are enclosed on the parts.

**Discards** a region on each of whose subdomains something is violated or undefined, or f lies above the upper bound. **Reduces**
the variables that were divided to the hull of the subdomains that are left. **Raises** the lower bound to the least one of these.
**Costs** an enclosure of f and all constraints for each subdomain, and by the mean value form of their derivatives.
"""

from typing import Any

import numpy as np

from infimum.cover import widths
from infimum.engine.parts.part import Outcome, Part
from infimum.evaluate import Evaluator
from infimum.lower.programs import SUBDOMAIN

_MOST_ROWS = 1 << 12  # rows times variables of which derivatives are taken


class Subdomains(Part):
    """Tests regions where they lie: `divide` says how."""

    name, discards = "subdomains", "constraints"

    def __init__(self, evaluator: Evaluator, lo: np.ndarray, hi: np.ndarray):
        super().__init__(evaluator, lo, hi)
        whole = widths(lo, hi)
        self.weights = np.where(np.isfinite(whole) & (whole > 0), 1.0 / np.where(whole > 0, whole, 1.0), 1.0)
        self.divide()

    def divide(self, pieces: int = 2, variables: int = 4, mean_value: bool = True, adaptive: bool = False) -> None:
        """Into so many pieces, the sides of so many variables."""
        self.variables, self.pieces = min(variables, self.n), pieces
        mean_value &= (1 + self.evaluator.system.m) * self.n <= _MOST_ROWS
        self.kernel = f"{SUBDOMAIN}:{pieces}:{self.variables}:{int(mean_value)}:{int(adaptive)}"

    def test(self, regions: Any, upper: float) -> Outcome:
        left, = self.evaluator.run(self.kernel, [regions], parameters=np.concatenate([[upper], self.weights]))
        return Outcome(left, self.pieces**self.variables * regions.shape[1])
