"""Lines: first derivatives of the function and of all constraints together, and a small linear program
(`relax/gradient_rows_kernel.py`).

**Discards** a region on which a constraint is certainly violated, or f or a constraint is defined nowhere, or on which the lines
of the constraints have no common point: these are gone. One on which only points above the upper bound are left, or no minimiser
as derivatives tell, has an infinite lower bound instead, so that it never counts as infeasible. **Reduces** each variable to
where the lines and f <= upper allow it, and to a face where f rises or falls in it and no constraint is in the way. **Raises**
the lower bound to that of the linear program. **Finds** an upper bound where there are no equations: f at a corner or in the
middle, if all constraints certainly hold there. **Chooses** the variable to cut next: the one with the largest share in what the
rows vary by.
**Costs** the derivatives of all rows on the region, their values at three points, and the linear program: counted as 4 boxes.
**Judged** by regions discarded, or cut to half their volume, or brought half as near to the upper bound.

Proof: docs/proofs/constraint_lines.md.
"""

from typing import Any

import numpy as np

from infimum.bounds.lifted_relaxation import LiftedRelaxation
from infimum.bounds.linear_rows import LinearRowsBound, RelaxationTest
from infimum.evaluation.evaluator import Evaluator
from infimum.evaluation.programs import GRADIENT_ROWS
from infimum.search.policy.bounds import LINEAR_RELAXATIONS as POLICY


class GradientRows(RelaxationTest):
    """Tests regions where they lie."""

    name, discards, program, finds_points = "lines", "constraints", GRADIENT_ROWS, True
    knows_faces = True  # only its test of first order depends on them

    def __init__(self, evaluator: Evaluator, lo: np.ndarray, hi: np.ndarray):
        super().__init__(evaluator, lo, hi)
        self.most = max(1, POLICY.elements_at_once // self.n)
        self.parameters = np.concatenate([lo, hi])

    @classmethod
    def circumstances(cls, evaluator: Evaluator) -> str:
        if LinearRowsBound.applies(evaluator):
            return "after linear rows"
        return "after lifted" if LiftedRelaxation.applies(evaluator) else ""

    @classmethod
    def applies(cls, evaluator: Evaluator) -> bool:
        system = evaluator.system
        return system is not None and system.m > 0 and (1 + system.m) * evaluator.n <= POLICY.most_derivatives

    def run(self, regions: Any, upper: float) -> Any:
        if self.faces is not None:  # no region reaches these bounds or lies within them: nothing is concluded from first order
            self.parameters[:self.n], self.parameters[self.n:] = np.inf, -np.inf
        return super().run(regions, upper)
