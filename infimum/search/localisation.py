"""Where the minimisers are, after the minimum is proved: the regions that are left are cut further while that costs little.

A proof ends when its gap is closed, and that may be so before a single region is cut: a sum of squares that vanishes somewhere
has the minimum 0, wherever that is. The regions are then as wide as the bounds and say nothing of the minimisers. Of small
problems they are narrowed here, by branch and bound with a number of boxes that is a small part of the work of the proof. Nothing
of this changes what is proved: regions are discarded by proofs alone, and a run that is stopped here keeps those it had. Better
points that are found on the way are used here and forgotten, so that a run that is resumed later finds the same.
"""

from collections.abc import Callable, Iterator
from copy import copy

import numpy as np

from infimum.bounds.interface import RegionTest
from infimum.certify.uniqueness_question import is_short
from infimum.evaluation.evaluator import Evaluator
from infimum.problem.cover import widths
from infimum.problem.settings import Goal
from infimum.search.branch_and_bound import BranchAndBound
from infimum.search.incumbent import Incumbent
from infimum.search.policy.search import LOCALISATION as POLICY
from infimum.search.region_pool import Regions


def can_localise(boxes: int, max_boxes: int | None) -> float:
    """The number of boxes that may be spent after a proof that enclosed `boxes`, where `max_boxes` is the limit of both."""
    return min(max(POLICY.least_boxes, boxes // POLICY.boxes_of_proof), np.inf if max_boxes is None else max_boxes - boxes)


def localise(evaluator: Evaluator, goal: Goal, incumbent: Incumbent, regions: Regions, lower: float, most: float,
             tests: Callable[[], list[RegionTest] | None]) -> Iterator[BranchAndBound | None]:
    """Cuts the regions of a proof, in steps; yields None after each, and at the end the branch and bound that holds what is left.
    Yields no branch and bound where the minimisers are not isolated, where it is not worth the work, or where it would take more
    than `most` boxes.
    `tests` makes the tests of the branch and bound, or None for those that apply to the function."""
    lo, hi = incumbent.lo, incumbent.hi
    if most <= 0 or not _is_worthwhile(evaluator, goal, lo, hi, regions):
        return
    narrow = float(POLICY.narrow_share * (hi - lo)[hi > lo].min())
    search = BranchAndBound(evaluator, Goal(goal.atol, goal.rtol, narrow), copy(incumbent), POLICY.batch, None, tests())
    search.begin(regions.lo, regions.hi, lower)
    search.floor = lower
    yield None
    while not search.done and search.boxes < most:
        search.step()
        if search.is_between_steps and search.steps & (search.steps - 1) == 0:
            search.isolate_minimisers()
        yield None
    if search.done:
        search.end()
    if len(search.regions()) <= POLICY.most_left:
        yield search


def _is_worthwhile(evaluator: Evaluator, goal: Goal, lo: np.ndarray, hi: np.ndarray, regions: Regions) -> bool:
    """Is the problem small, and are its regions wide though no width was asked for?"""
    if goal.xtol is not None or not 0 < len(regions) <= POLICY.most_regions or not 0 < len(lo) <= POLICY.most_variables:
        return False
    system, wide = evaluator.system, hi > lo
    if not np.isfinite(hi - lo).all() or not wide.any() or (system is not None and system.is_flat):
        return False
    part = widths(regions.lo, regions.hi)[wide] / (hi - lo)[wide, None]
    return bool((part > POLICY.wide_share).any()) and is_short(evaluator)
