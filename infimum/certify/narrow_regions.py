"""Narrow regions that are left beside proved minimisers are cut further, while that may leave nothing of them."""

import numpy as np

from infimum.bounds.function_bounds.first_order import FirstOrder
from infimum.bounds.function_bounds.interval_newton import IntervalNewton
from infimum.bounds.interface import StepContext
from infimum.bounds.start_faces import StartFaces
from infimum.certify.box_difference import beyond
from infimum.evaluation.evaluator import Evaluator
from infimum.expr.node import topological
from infimum.kernel.region_cut import DISCARDED_AXIS
from infimum.linear_algebra.interval_matrices import Interval
from infimum.problem.start_boxes import StartBoxes
from infimum.search.policy.bounds import REGION_ISOLATION as POLICY
from infimum.search.region_pool import Regions


def discard_by_pieces(evaluator: Evaluator, lo: np.ndarray, hi: np.ndarray, start: StartBoxes | None, regions: Regions,
                      boxes: list[Interval], upper: float) -> tuple[np.ndarray, Regions]:
    """(which, left): the numbers of regions of which something is left, and that, a region instead of each: what was taken from
    them holds no global minimiser, but for what is known of `boxes`.

    A region is the hull of its pieces, so that there are never more of them. `upper` is a verified upper bound of the infimum.
    """
    first_order, newton = FirstOrder(evaluator, lo, hi), IntervalNewton(evaluator, lo,
                                                                        hi) if IntervalNewton.applies(evaluator) else None
    for test in (first_order, newton):
        if test is not None and start is not None:
            test.faces = StartFaces(evaluator, start)
    which, pieces, halves = np.arange(len(regions)), regions, 1
    lanes = min(POLICY.most_pieces, POLICY.least_pieces + POLICY.pieces_a_region * len(regions),
                POLICY.most_numbers // sum(node.size for node in topological([evaluator.f])))
    for turn in range(POLICY.rounds):
        which, pieces = _beyond(which, pieces, boxes)
        lanes -= halves * len(pieces)
        if not 0 < len(pieces) <= max(POLICY.pieces_always_allowed, POLICY.largest_growth * len(regions)) or lanes < 0:
            break
        found = [Regions.from_columns(outcome.regions) for outcome in first_order.cut(pieces.columns(), halves, StepContext())]
        which, pieces = _alive(np.tile(which, halves), found[0] if halves == 1 else found[0].with_(found[1]), upper)
        if turn >= POLICY.first_order_rounds and newton is not None and len(pieces):
            which, pieces = _alive(which, Regions.from_columns(newton.test(pieces.columns(), StepContext(upper)).regions), upper)
        halves = 2
    return _hulls(which, pieces, regions)


def _beyond(which: np.ndarray, pieces: Regions, boxes: list[Interval]) -> tuple[np.ndarray, Regions]:
    """What of the pieces lies in none of the boxes."""
    for box in boxes:
        of, lo, hi = beyond(pieces.lo, pieces.hi, box)
        which, pieces = which[of], pieces.at(of)
        pieces.lo, pieces.hi = lo, hi
    return which, pieces


def _alive(which: np.ndarray, pieces: Regions, upper: float) -> tuple[np.ndarray, Regions]:
    """Those that are neither proved away nor above the upper bound."""
    kept = np.flatnonzero((pieces.axis != DISCARDED_AXIS) & ~(pieces.lower > upper))
    return which[kept], pieces.at(kept)


def _hulls(which: np.ndarray, pieces: Regions, regions: Regions) -> tuple[np.ndarray, Regions]:
    """The smallest boxes around the pieces of each region. Its own lower bound holds there, its widest side is cut next."""
    lo, hi = np.full(regions.lo.shape, np.inf), np.full(regions.hi.shape, -np.inf)
    np.minimum.at(lo.T, which, pieces.lo.T)
    np.maximum.at(hi.T, which, pieces.hi.T)
    left = np.unique(which)
    lo, hi = np.take(lo, left, axis=1), np.take(hi, left, axis=1)
    axis = np.argmax(hi - lo, axis=0).astype(np.int32)
    return left, Regions(lo, hi, regions.lower[left], axis, regions.level[left])
