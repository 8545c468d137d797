"""Bounded errors: parameters for which every residual lies in [-1, 1] (`sets/error_band_kernel.py`).

Proof: docs/proofs/sublevel_sets.md.
"""

from typing import Any

import numpy as np

from infimum.bounds.interface import Outcome, RegionTest, StepContext
from infimum.bounds.least_squares.gauss_newton_kernel import residuals_of
from infimum.bounds.sweeps.sweep_kernel import ALIVE
from infimum.evaluation.evaluator import Evaluator
from infimum.evaluation.programs import BANDS, SHAVING
from infimum.expr.node import var
from infimum.search.policy.sets import SUBLEVEL_SETS as POLICY
from infimum.sets.error_band_kernel import FACTS, INSIDE, LEFT
from infimum.sets.frame import Frame
from infimum.sets.paving import BoxJudgement


class ErrorBandTest(RegionTest):
    """Discards regions on which some residual is nowhere in [-1, 1], and shrinks others to where all may be. It is no test for
    minimisers."""

    name, discards = "bands", "bands"

    @classmethod
    def applies(cls, evaluator: Evaluator) -> bool:
        return residuals_of(evaluator.f, var("x", (evaluator.n,)), any_size=True) is not None

    def test(self, regions: Any, context: StepContext) -> Outcome:
        n, run, plain = self.n, self.evaluator.run, _parameters(Frame.plain(self.n))
        left = regions
        for _ in range(POLICY.bands_rounds):
            out = run(BANDS, [left[:n], left[n:2 * n]], parameters=plain)
            left, paid = run(SHAVING, [left, out[LEFT]], parameters=np.array([context.upper, POLICY.bands_worth_volume]))
        return Outcome(left, POLICY.bands_rounds * regions.shape[1], paid)


class ErrorBandJudge:
    """The judge of that set."""

    def __init__(self, evaluator: Evaluator):
        self.evaluator = evaluator

    def judge(self, frame: Frame, lo: np.ndarray, hi: np.ndarray) -> BoxJudgement:
        n = len(lo)
        out = self.evaluator.run(BANDS, [lo, hi], parameters=_parameters(frame))
        return BoxJudgement(out[FACTS][INSIDE] == 1.0, out[LEFT][ALIVE * n] == 0.0, out[FACTS][1:])

    def holds(self, points: np.ndarray) -> np.ndarray:
        return self.judge(Frame.plain(len(points)), points, points).inside


def _parameters(frame: Frame) -> np.ndarray:
    return np.concatenate([frame.centre, frame.matrix.ravel()])
