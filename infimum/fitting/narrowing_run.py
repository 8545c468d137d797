"""A second run, for fits whose value is proved before their place is: data that a model meets exactly, or nearly so.

The least loss is then known to be near 0 as soon as a good point is found, and nothing has been excluded yet. Every best fit
lies in the regions that are left; they are narrowed, with a limited number of boxes, since where data do not determine a
parameter there is nothing to narrow.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from infimum.api.solve import minimize
from infimum.certify.isolation import IsolationFailure
from infimum.fitting.budget import Budget
from infimum.fitting.problem import FitProblem, ResidualRows
from infimum.problem.variable_bounds import read_bounds
from infimum.result import Result

_EVALUATIONS = 1 << 28  # of the model
# boxes: not fewer, not more, and not more where the loss seems to be flat
_LEAST_BOXES, _MOST_BOXES, _MOST_BOXES_IF_FLAT = 1 << 12, 1 << 18, 1 << 13
_BOXES = 1 << 10                        # more of them are replaced by the one around all
_SMALL_SHARE = 1e-3                     # a part of the bounds, for parameters near 0
_NARROW_SHARE, _CUT_SHARE = 1e-2, 1e-7  # parts of a parameter: regions that are left as they are, and to which others are cut


def narrowed(problem: FitProblem, rows: ResidualRows, found: Result, settings: dict[str, Any], budget: Budget) -> Result:
    """The result, its regions narrowed where they are wide and do not tell how many best fits there are."""
    bounds, points = problem.parameters.bounds, problem.data.size
    limited = settings.get("xtol") is not None or settings.get("max_boxes") is not None or budget.is_late
    if limited or not found.success or not found.boxes or settings.get("engine", "auto") != "auto":
        return found
    lo, hi = (np.array([box[k] for box in found.boxes]) for k in (0, 1))
    scale = _scale(*bounds.region, found.x)
    known = None if (hi - lo <= _NARROW_SHARE * scale).all() else found.find_minimisers(budget.seconds)
    if known is None or known.rest == 0:
        return found
    if len(lo) > _BOXES:
        lo, hi = lo.min(axis=0, keepdims=True), hi.max(axis=0, keepdims=True)
    lo, hi = _shared(lo, hi, settings.get("start_boxes"))
    low, high = np.maximum(lo, bounds.lo), np.minimum(hi, bounds.hi)  # of doubles within the bounds, if there are any
    inside = ((low <= found.x) & (found.x <= high)).all(axis=1).any()
    boxes = [bounds.pairs_within(low, high) for low, high in zip(lo, hi, strict=True)]
    most = _MOST_BOXES_IF_FLAT if known.why == IsolationFailure.SINGULAR.value else _MOST_BOXES
    most = int(np.clip(_EVALUATIONS // max(1, points), _LEAST_BOXES, most))
    again = minimize(problem.objective(rows), bounds.pairs(), **settings | {
        "x0": found.x if inside else None, "start_boxes": boxes, "time_limit": budget.seconds, "max_boxes": most,
        "xtol": float(_CUT_SHARE * scale.min()), "checkpoint": None})
    return found if again.regions is None else _both(found, again)


def _shared(lo: np.ndarray, hi: np.ndarray, start: list | None) -> tuple[np.ndarray, np.ndarray]:
    """What the boxes, rows of lo and hi, share with those that the first run started from: merged ones may reach beyond."""
    if start is None:
        return lo, hi
    low, high = (np.array(ends) for ends in zip(*(read_bounds(box).region for box in start), strict=True))
    low, high = np.maximum(lo[:, None], low).reshape(-1, lo.shape[1]), np.minimum(hi[:, None], high).reshape(-1, lo.shape[1])
    some = (low <= high).all(axis=1)
    return low[some], high[some]


def _both(found: Result, again: Result) -> Result:
    """What both runs have shown: the regions of the second one hold every best fit that was in those of the first."""
    best = again if again.upper < found.upper else found
    return replace(found, x=best.x, fun=best.fun, upper=best.upper, boxes=again.boxes, regions=again.regions,
                   nfev=found.nfev + again.nfev, nit=found.nit + again.nit, seconds=found.seconds + again.seconds)


def _scale(lo: np.ndarray, hi: np.ndarray, x: np.ndarray) -> np.ndarray:
    """About the size of each parameter: its value, or a part of its bounds if that is near 0; infinite if they are equal."""
    return np.where(hi > lo, np.maximum(np.abs(x), _SMALL_SHARE * (hi - lo)), np.inf)
