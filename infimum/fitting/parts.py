"""Parts of a FitResult: Parameter, Fit, Prediction."""


import numpy as np

from infimum.support.lazy import dataclass


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a fit. lo, hi: its value in every best fit certainly lies between them. value: at the best point found.
    stderr: its standard error, an estimate; None for other losses than squares, and where the parameter is `fixed`.
    bounds: those it was given, rounded inward to doubles, or outward where no double lies within them. at_bound: "lower" or
    "upper" where the value is the end of its bounds.
    """

    name: str
    value: float
    lo: float
    hi: float
    stderr: float | None
    fixed: bool
    bounds: tuple[float, float]

    @property
    def at_bound(self) -> str | None:
        if self.fixed:
            return None
        low, high = self.bounds
        return "lower" if self.lo <= low == self.value else "upper" if self.hi >= high == self.value else None


@dataclass(frozen=True, slots=True, eq=False)
class Fit:
    """A box [lo, hi] of all parameters in which a best fit may lie. alone: it holds exactly one of the fits that may be best,
    proved."""

    lo: np.ndarray
    hi: np.ndarray
    alone: bool


@dataclass(frozen=True, slots=True, eq=False)
class Prediction:
    """What the model predicts: `value` at the best point, an estimate; between `lo` and `hi` for every best fit, proved. They are
    infinite where the model may be undefined or have an infinite slope.

    Where a confidence `level` was asked for, `band_lo` and `band_hi` are the ends of the band that holds the mean curve with that
    probability at each x: value ± a quantile times `stderr`, the standard error of the prediction. An estimate, by the linearised
    covariance of the parameters; it tells nothing of the scatter of single measurements about the curve.
    """

    lo: np.ndarray
    hi: np.ndarray
    value: np.ndarray
    level: float | None = None
    stderr: np.ndarray | None = None
    band_lo: np.ndarray | None = None
    band_hi: np.ndarray | None = None
