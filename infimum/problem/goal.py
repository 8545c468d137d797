"""The goal of a proof: how close the bounds must be, and how narrow the regions."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True)
class Goal:
    """What must be shown: upper - lower <= max(atol, rtol * |upper|), and, if given, no region wider than xtol."""

    atol: float = 1e-6
    rtol: float = 1e-6
    xtol: float | None = None

    def slack(self, upper: float) -> float:
        return max(self.atol, self.rtol * abs(upper)) if np.isfinite(upper) else 0.0

    def met(self, lower: float, upper: float) -> bool:
        """The difference is rounded up."""
        if not (np.isfinite(upper) and lower > -np.inf):
            return False
        with np.errstate(over="ignore"):
            return bool(np.nextafter(upper - lower, np.inf) <= self.slack(upper) or lower >= upper)
