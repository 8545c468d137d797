"""A second run, for fits whose value is proved before their place is: data that a model meets exactly, or nearly so.

The least loss is then known to be near 0 as soon as a good point is found, and nothing has been excluded yet. Every best fit
lies in the regions that are left; they are narrowed, with a limited number of boxes, since where data do not determine a
parameter there is nothing to narrow.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from infimum.result import Result
from infimum.solve import minimize

_EVALUATIONS, _LEAST, _MOST = 1 << 26, 1 << 12, 1 << 16  # of the model, and boxes: not fewer, not more
_BOXES = 1 << 10       # more of them are replaced by the one around all
_NARROW, _SMALL = 1e-7, 1e-3  # a part of a parameter, and of the bounds, for those near 0


def narrowed(objective: Callable, bounds: list[tuple[float, float]], found: Result, settings: dict[str, Any],
             points: int) -> Result:
    """The result, its regions narrowed if it does not tell yet how many best fits there are."""
    known = found.minimisers if found.success and found.boxes and settings.get("engine", "auto") == "auto" else None
    left = _time_left(found, settings.get("time_limit"))
    limited = settings.get("xtol") is not None or settings.get("max_boxes") is not None
    if known is None or known.rest == 0 or limited or left == 0:
        return found
    lo, hi = (np.array([box[k] for box in found.boxes]) for k in (0, 1))
    if len(lo) > _BOXES:
        lo, hi = lo.min(axis=0, keepdims=True), hi.max(axis=0, keepdims=True)
    inside = ((lo <= found.x) & (found.x <= hi)).all(axis=1).any()
    boxes = [list(zip(low.tolist(), high.tolist(), strict=True)) for low, high in zip(lo, hi, strict=True)]
    budget = int(np.clip(_EVALUATIONS // max(1, points), _LEAST, _MOST))
    again = minimize(objective, bounds, **settings | {
        "x0": found.x if inside else None, "start_boxes": boxes, "time_limit": left, "max_boxes": budget,
        "xtol": _width(bounds, found.x), "checkpoint": None})
    return found if again.regions is None else _both(found, again)


def _both(found: Result, again: Result) -> Result:
    """What both runs have shown: the regions of the second one hold every best fit that was in those of the first."""
    best = again if again.upper < found.upper else found
    return replace(found, x=best.x, fun=best.fun, upper=best.upper, boxes=again.boxes, regions=again.regions,
                   nfev=found.nfev + again.nfev, nit=found.nit + again.nit, seconds=found.seconds + again.seconds)


def _time_left(found: Result, time_limit: float | None) -> float | None:
    return None if time_limit is None else max(0.0, time_limit - found.seconds)


def _width(bounds: list[tuple[float, float]], x: np.ndarray) -> float:
    """The width to which regions are cut, small for every parameter."""
    lo, hi = np.array(bounds).T
    scale = np.maximum(np.abs(x), _SMALL * (hi - lo))
    return float(_NARROW * scale[scale > 0].min(initial=1.0))
