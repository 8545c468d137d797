"""Minimisers over a union F of start boxes. A face of one of them may lie inside F, where it is no bound, or be the end of F."""

from collections.abc import Callable, Iterator

import numpy as np

from infimum.certify.box_difference import beyond
from infimum.certify.isolation import IsolatedMinimiser, IsolationFailure
from infimum.linear_algebra.interval_matrices import Interval
from infimum.problem.start_boxes import StartBoxes
from infimum.search.policy.bounds import ISOLATION as POLICY


def isolate_in(isolate: Callable[..., IsolatedMinimiser | IsolationFailure], start: StartBoxes, x: np.ndarray,
               reach: Interval) -> IsolatedMinimiser | IsolationFailure:
    """A minimiser over F near x, and a box in F around it without any other: docs/proofs/isolation.md. `isolate` finds one over a
    box."""
    found = IsolationFailure.AT_A_BOUND
    for box, ends in _boxes_in(start, x, reach):
        place = np.minimum(np.maximum(x, box[0]), box[1])
        one = isolate(*box, place, _meeting(reach, box))
        if isinstance(one, IsolatedMinimiser) and _is_over_all(one, box, ends, start):
            return one
        found = one if isinstance(one, IsolationFailure) else found
    return found


def _boxes_in(start: StartBoxes, x: np.ndarray, reach: Interval) -> Iterator[tuple[Interval, Interval | None]]:
    """Boxes in F around x, each with the ends of F, at which the box may end too; None for a start box, where the others tell."""
    hull = start.hull
    with np.errstate(all="ignore"):
        width = reach[1] - reach[0]
    for part in POLICY.start_box_growths if np.isfinite(width).all() else ():
        box = np.maximum(reach[0] - part * width, hull[0]), np.minimum(reach[1] + part * width, hull[1])
        if ((box[0] <= x) & (x <= box[1])).all() and _covers(start, box):
            yield box, hull
            break
    for k in start.containing(x)[:1]:
        yield start.box(int(k)), None


def _meeting(reach: Interval, box: Interval) -> Interval:
    """What of the wanted box lies in this one."""
    return tuple(np.minimum(np.maximum(end, box[0]), box[1]) for end in reach)


def _covers(start: StartBoxes, box: Interval) -> bool:
    """Does the union hold the box?"""
    near = np.flatnonzero(((start.lo <= box[1][:, None]) & (start.hi >= box[0][:, None])).all(axis=0))
    if len(near) > POLICY.most_start_boxes:
        return False
    lo, hi = (end[:, None].copy() for end in box)
    for k in near:
        _, lo, hi = beyond(lo, hi, start.box(int(k)))
    return not lo.shape[1]


def _is_over_all(one: IsolatedMinimiser, box: Interval, ends: Interval | None, start: StartBoxes) -> bool:
    """Is the minimiser over the box one over F? If K meets only those faces of the box at which F ends. Those of a start box are
    such if no other start box meets K. Where ends of start boxes are no doubles, F may go on beyond any face of the box."""
    low, high = one.lo == box[0], one.hi == box[1]
    if start.outer is not None:
        return not (low | high).any()
    if ends is not None:
        return bool((~low | (box[0] == ends[0])).all() and (~high | (box[1] == ends[1])).all())
    touched = ((start.lo <= one.hi[:, None]) & (start.hi >= one.lo[:, None])).all(axis=0)
    return bool(not (low | high).any() or touched.sum() == 1)
