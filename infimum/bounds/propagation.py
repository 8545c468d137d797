"""Forward-backward propagation of the function and its constraints (`bounds/propagation_kernel.py`).

**Discards** a region on which a constraint is certainly violated, or the function or a constraint is defined nowhere; and one in
which no point obeys the constraints, the variables' integrality and f <= upper together: with an upper bound that counts as f
above it, without one as proved away. **Reduces** a region to a box around these points. **Raises** the lower bound to that of the
natural enclosure. **Costs** an enclosure of the function and all constraints, forward and backward, in each of its rounds.

Proof: docs/proofs/propagation.md.
"""

from typing import Any

import numpy as np

from infimum.bounds.interface import CuttingTest, Outcome, StepContext
from infimum.evaluation.evaluator import Evaluator
from infimum.evaluation.programs import PROPAGATE
from infimum.kernel.region_cut import DISCARDED_AXIS, rows
from infimum.problem.start_boxes import StartBoxes
from infimum.search.policy.bounds import PROPAGATION as POLICY
from infimum.support.clock import stop_if_over

_WHOLE = 0.0, 0.0, 1.0  # fixed: parameters of the kernel for a region that is not cut


def _parameters(lo: np.ndarray, hi: np.ndarray, piece: tuple[float, float, float], narrow: float, upper: float) -> np.ndarray:
    return np.concatenate([lo, hi, np.arange(len(lo), dtype=float), piece, [narrow, upper]])


class Propagation(CuttingTest):
    """The test that cuts where there are constraints."""

    name, discards = "propagation", "constraints"
    knows_faces = True  # nothing that it says depends on them

    @classmethod
    def applies(cls, evaluator: Evaluator) -> bool:
        return evaluator.system is not None

    def compare_with(self, lo: np.ndarray, hi: np.ndarray) -> None:
        """The side to cut next is the widest as part of this box."""
        self.lo, self.hi = lo, hi

    def cut(self, parents: Any, pieces: int, context: StepContext) -> list[Outcome]:
        """The first round cuts the pieces out; where they are few, the others are about all of them at once."""
        found = [self._round(parents, (float(k), k / pieces, (k + 1) / pieces), context) for k in range(pieces)]
        if isinstance(parents, np.ndarray) and 1 < pieces * parents.shape[1] <= POLICY.pieces_at_once:
            found = [np.concatenate(found, axis=1)]
        if POLICY.rounds > 1:
            found = [self._round(regions, _WHOLE, context, POLICY.rounds - 1) for regions in found]
        return [Outcome(regions, POLICY.rounds * regions.shape[1]) for regions in found]

    def _round(self, regions: Any, piece: tuple[float, float, float], context: StepContext, times: int = 1) -> Any:
        given = _parameters(self.lo, self.hi, piece, context.narrow, context.upper)
        return self.evaluator.run(PROPAGATE, [regions], parameters=given, times=times)[0]


Box = tuple[np.ndarray, np.ndarray]


def propagate(evaluator: Evaluator, lo: np.ndarray, hi: np.ndarray, upper: float = np.inf,
              rounds: int | None = None) -> Box | None:
    """What is left of the box [lo, hi] for points that obey the constraints and f <= upper; None if there are none.

    Rounds go on while they still cut a side to a smaller part of it, up to `rounds` of them (by default four for each variable,
    and some more: in a chain of equations each round tells one more variable).
    """
    los, his, lost = propagate_lanes(evaluator, lo[:, None], hi[:, None], upper, rounds)
    return None if lost[0] else (los[:, 0].copy(), his[:, 0].copy())


def propagate_lanes(evaluator: Evaluator, los: np.ndarray, his: np.ndarray, upper: float = np.inf,
                    rounds: int | None = None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The same of several boxes (n, N): their ends, and of which nothing is left."""
    most, done, at_once = 4 * len(los) + 64 if rounds is None else rounds, 0, POLICY.rounds_at_once
    gone = np.zeros(los.shape[1], bool)
    while done < most:
        stop_if_over()
        times = min(at_once, most - done)
        low, high, lost, _ = propagated_lanes(evaluator, los, his, (los[:, 0], his[:, 0]), upper, times)
        gone |= lost
        news = _is_news((his - los)[:, ~gone], (high - low)[:, ~gone])
        los, his, done, at_once = low, high, done + times, 2 * at_once
        if not news:
            break
    return los, his, gone


def propagate_each(evaluator: Evaluator, boxes: StartBoxes) -> Box:
    """What some rounds leave of each of the boxes, for points that obey the constraints: those of which something is left."""
    los, his, lost, _ = propagated_lanes(evaluator, *boxes.regions, boxes.hull, np.inf, POLICY.rounds_at_once)
    left = np.flatnonzero(~lost)
    return np.take(los, left, axis=1), np.take(his, left, axis=1)


def propagated_lanes(evaluator: Evaluator, los: np.ndarray, his: np.ndarray, bounds: Box, upper: float,
                     rounds: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The ends of boxes, the columns of `los` and `his`, after these rounds of propagation; which boxes are discarded; and lower
    bounds of f on them."""
    n, count = los.shape
    low_row, axis_row, _ = rows(n)
    regions = np.concatenate([los, his, np.full((1, count), -np.inf), np.zeros((2, count))])
    regions, = evaluator.run(PROPAGATE, [regions], parameters=_parameters(*bounds, _WHOLE, 0.0, upper), times=rounds)
    return (regions[:n], regions[n:2 * n], (regions[axis_row] == DISCARDED_AXIS) | (regions[low_row] > upper),
            regions[low_row])


def _is_news(before: np.ndarray, after: np.ndarray) -> bool:
    """Was a side cut to a smaller part of it?"""
    return bool(((after < POLICY.notable_shrinkage * before) | (np.isinf(before) & np.isfinite(after))).any())
