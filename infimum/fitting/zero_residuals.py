"""What counts as 0: residuals, and losses made of them, that rounding errors cannot tell from it. Judged in units of sigma.

Data that a model meets exactly have no loss that a tolerance could be relative to. What counts as 0 there is made of how far the
data spread and of their size, each measurement in units of its own standard deviation. A few points may be pinned by tiny
standard deviations, in units of which all data are huge: these do not set the measure.
"""

import numpy as np

from infimum.errors import DataError
from infimum.fitting.data import Data
from infimum.fitting.problem import FitProblem

# parts of a residual that a search cannot be asked to find: of the spread, and of the data
_SPREAD_SHARE, _DATA_SHARE = 3e-12, 1e-14
_ZERO_SHARE = 1e-10   # a part of the typical spread: residuals below it are met
_LEAST_LOSS = 1e-305  # a loss next to the smallest doubles has no digits


def loss_that_counts_as_zero(problem: FitProblem) -> float:
    """The loss of residuals that are next to nothing for these data. Raises a DataError where it is no number with all digits."""
    weights, spread, size = measured(problem)
    with np.errstate(all="ignore"):
        zero, whole = (float(problem.loss.of(e, problem.scale)) for e in
                       (weights * (_SPREAD_SHARE * spread + _DATA_SHARE * size), weights * size))
    if not (zero >= _LEAST_LOSS and whole < np.inf):
        too = "large" if whole > 1 else "small"
        raise DataError(f"the data are too {too}: in units of sigma they are of the size {float(np.max(weights * size)):.3g}, "
                        f"and their {problem.loss.named} is no double with all digits; multiply y, sigma and what the model "
                        f"returns by {'1e-100' if too == 'large' else '1e100'}, or give sigma, the standard deviations of y")
    return zero


def is_zero_residual(problem: FitProblem, residuals: np.ndarray) -> bool:
    """Is every measurement met up to rounding errors? Residuals are in the units of y."""
    weights, spread, size = measured(problem)
    own = weights * np.maximum(spread, np.median(spread))
    typical = np.minimum(own, np.median(weights * spread))  # some may be pinned, or most of them
    with np.errstate(all="ignore"):
        rounding = np.maximum(size, np.median(size)) / np.broadcast_to(problem.data.unit, problem.data.y.shape).ravel()
        off = np.abs(residuals / problem.data.unit).ravel()
    return bool((off <= _ZERO_SHARE * typical + _DATA_SHARE * rounding).all())


def _typical_weights(data: Data, parameters: int) -> np.ndarray:
    """1 / sigma of each measurement, of heavy ones no more than is usual: than half of them have at most, and all but as many of
    them as there are parameters."""
    weights = np.broadcast_to(1.0 / np.asarray(data.unit), data.y.shape).ravel()
    ascending = np.sort(weights)
    return np.minimum(weights, ascending[min((len(weights) - 1) // 2, max(0, len(weights) - 1 - parameters))])


def measured(problem: FitProblem) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of each measurement the weight, the distance from the weighted mean, and the size; 1 both of them if all data are 0."""
    y, weights = problem.data.y.ravel(), _typical_weights(problem.data, len(problem.parameters.lo))
    if not y.any():
        return weights, np.ones_like(y), np.ones_like(y)
    squares, largest = (weights / weights.max()) ** 2, np.abs(y).max()
    return weights, np.abs(y - np.sum(squares * (y / largest)) / np.sum(squares) * largest), np.abs(y)
