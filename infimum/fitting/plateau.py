"""Plateaus: where the best fit lies at a bound only because the loss still falls a little towards it, as for a rate that is
larger than data can tell. That fit is unique, and the parameter is not determined all the same."""

import numpy as np

from infimum.evaluation.compile import compile
from infimum.fitting.problem import FitProblem
from infimum.fitting.zero_residuals import loss_that_counts_as_zero
from infimum.problem.problem import Interval

NOTABLE_CHANGE = 1e-4  # a part of the loss
_SLICES = 64           # of the bounds


def noticed(problem: FitProblem, least: float) -> float:
    """A loss above this is worse than the least one, so that a user would notice."""
    return least * (1 + NOTABLE_CHANGE) + loss_that_counts_as_zero(problem)


def plateau(problem: FitProblem, x: np.ndarray, k: int, least: float) -> Interval | None:
    """Values of free parameter k from its bound at x inwards, the others held: for all of them the loss is proved to be as good
    as the least one. None if that is no interval."""
    lo, hi, f = problem.parameters.lo[k], problem.parameters.hi[k], compile(problem.objective(), len(x), check=False)
    ends = np.linspace(lo, hi, _SLICES + 1)
    low, high = (np.repeat(x[:, None], _SLICES, axis=1) for _ in range(2))
    low[k], high[k] = ends[:-1], ends[1:]
    value = f.mean_value(low, high).best
    good = value.defined & (value.hi <= noticed(problem, least))
    if x[k] == hi:
        return None if not good[-1] else Interval(float(ends[_SLICES - _run(good[::-1])]), float(hi))
    return None if not good[0] else Interval(float(lo), float(ends[_run(good)]))


def _run(good: np.ndarray) -> int:
    """How many come before the first that is not."""
    return len(good) if good.all() else int(np.argmin(good))
