"""Where the minimisers are, after the minimum is proved: the regions that are left are cut further while that costs little.

A proof ends when its gap is closed, and that may be so before a single region is cut: a sum of squares that vanishes somewhere
has the minimum 0, wherever that is. The regions are then as wide as the bounds and say nothing of the minimisers. Of small
problems they are narrowed here, by branch and bound with a number of boxes that is a small part of the work of the proof. Nothing
of this changes what is proved: regions are discarded by proofs alone, and a run that is stopped here keeps those it had.
"""

from collections.abc import Callable, Iterator

import numpy as np

from infimum.cover import widths
from infimum.engine.branch import Branch
from infimum.engine.goal import Goal
from infimum.engine.regions.pool import Regions
from infimum.engine.second_order.question import QUICK_VARIABLES, is_short
from infimum.evaluate import Evaluator

_WIDE, _NARROW = 2.0**-7, 2.0**-10    # parts of the bounds: regions wider than the first are cut until they are as the second
_BOXES, _SHARE = 2048, 8              # boxes at least, and the part of the boxes of the proof
_BATCH, _REGIONS = 256, 64            # boxes a step; regions that are few enough to begin with


def localised(evaluator: Evaluator, goal: Goal, bounds: tuple[np.ndarray, np.ndarray], regions: Regions, lower: float, boxes: int,
              branch: Callable[[Goal, int], Branch]) -> Iterator[Branch | None]:
    """Cuts the regions of a proof that enclosed so many boxes, in steps; yields None after each, and at the end the branch and
    bound that holds what is left. Yields nothing where that is not worth it. `branch` makes one for a goal and a batch."""
    if not _worth(evaluator, goal, *bounds, regions):
        return
    lo, hi = bounds
    narrow, most = float(_NARROW * (hi - lo)[hi > lo].min()), max(_BOXES, boxes // _SHARE)
    search = branch(Goal(goal.atol, goal.rtol, narrow), _BATCH)
    search.begin(regions.lo, regions.hi, lower)
    search.floor = lower
    yield None
    while not search.done and search.boxes < most:
        search.step()
        if search.is_between_steps and search.steps & (search.steps - 1) == 0:
            search.settle()
        yield None
    search.end()
    yield search


def _worth(evaluator: Evaluator, goal: Goal, lo: np.ndarray, hi: np.ndarray, regions: Regions) -> bool:
    """Is the problem small, and are its regions wide though no width was asked for?"""
    if goal.xtol is not None or not 0 < len(regions) <= _REGIONS or not 0 < len(lo) <= QUICK_VARIABLES:
        return False
    system, wide = evaluator.system, hi > lo
    if not np.isfinite(hi - lo).all() or not wide.any() or (system is not None and system.is_flat):
        return False
    part = widths(regions.lo, regions.hi)[wide] / (hi - lo)[wide, None]
    return bool((part > _WIDE).any()) and is_short(evaluator)
