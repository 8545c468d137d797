"""The lifted relaxation (`relax/lifted_kernel.py`): a linear program over the variables and all products and curves.

**Discards** a bounded region of which the linear program shows that no point is feasible: it is gone. One in which only points
above the upper bound are left has an infinite lower bound instead. **Reduces** each variable to where the inequalities and
f <= upper allow it. **Raises** the lower bound to that of the linear program. **Chooses** the variable to cut next: the one
whose products and curves the linear program has most wrong. **Costs** a linear program with several rows for each product:
counted as 16 boxes. **Judged** by regions discarded, or brought to a quarter of their distance to the
upper bound: it costs as much as hundreds of boxes.

Proof: docs/proofs/lifted_relaxation.md.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from infimum.bounds.interface import LocalSolution
from infimum.bounds.linear_rows import RelaxationTest
from infimum.evaluation.evaluator import Evaluator
from infimum.evaluation.programs import LIFTED
from infimum.expr.node import var
from infimum.relax.lifting import lift_of
from infimum.search.policy.bounds import LINEAR_RELAXATIONS as POLICY
from infimum.support.lazy import LazyModule

if TYPE_CHECKING:
    from infimum.relax import lifted_kernel as kernel
else:
    kernel = LazyModule("relax.lifted_kernel")


class LiftedRelaxation(RelaxationTest):
    """Tests regions where they lie."""

    name, discards, program = "lifted", "constraints", LIFTED
    learns = proposes_points = True

    def __init__(self, evaluator: Evaluator, lo: np.ndarray, hi: np.ndarray):
        super().__init__(evaluator, lo, hi)
        self.given = np.full(self.n, np.nan)  # the best point known; where there is none, lines touch in the middle
        self.compare_with(lo, hi)
        self.capacity = max(self.schedule.sample,
                            min(POLICY.lifted_most_regions,
                                POLICY.lifted_most_entries // lift_of(evaluator.system, var("x", (self.n,))).entries))

    def compare_with(self, lo: np.ndarray, hi: np.ndarray) -> None:
        """Sides of regions are measured as parts of those of this box."""
        with np.errstate(all="ignore"):
            self.units = np.where(np.isfinite(1.0 / (hi - lo)), 1.0 / (hi - lo), 1.0)

    @property
    def sample(self) -> int:
        return self.capacity if self.payoff.pays else self.schedule.sample

    @classmethod
    def applies(cls, evaluator: Evaluator) -> bool:
        return lift_of(evaluator.system, var("x", (evaluator.n,))) is not None

    def learn(self, solution: LocalSolution) -> None:
        self.given = solution.x.copy()

    def points(self, lo: np.ndarray, hi: np.ndarray, upper: float) -> np.ndarray:
        """The solutions (n, N) of the linear programs of boxes (n, N), the middles of boxes that have none."""
        count = lo.shape[1]
        found = self.run(np.concatenate([lo, hi, np.full((1, count), -np.inf), np.zeros((2, count))]), upper)[kernel.POINT]
        return np.where(np.isfinite(found), np.minimum(np.maximum(found, lo), hi), lo / 2 + hi / 2)

    def run(self, regions: Any, upper: float) -> Any:
        self.parameters = np.append(self.given, self.units)
        return super().run(regions, upper)
