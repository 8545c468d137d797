"""Newton's method for the equations of a system, by Gauss-Seidel steps (`bounds/newton_equations_kernel.py`).

**Discards** a bounded region in which the equations, and the constraints with two close ends, have no common solution: it is
gone. **Reduces** each variable to where they may have one. **Costs** slopes of these rows on the region, their values in its
middle, and some m² n operations: counted as 2 boxes. **Judged** by regions discarded, or cut to half their volume: that happens
where regions are so narrow that slopes hardly vary, and neither propagation nor lines see it, which look at one row at a time,
or at the bound of f. With more than 30 rows it has no say.

Proof: docs/proofs/equations.md.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from infimum.bounds.interface import Outcome, RegionTest, StepContext
from infimum.evaluation.evaluator import Evaluator
from infimum.evaluation.programs import NEWTON_EQUATIONS
from infimum.expr.node import var
from infimum.search.policy.bounds import NEWTON_EQUATIONS as POLICY
from infimum.support.lazy import LazyModule

if TYPE_CHECKING:
    from infimum.bounds import newton_equations_kernel as kernel
    from infimum.expr import variable_reads
else:
    variable_reads = LazyModule("expr.variable_reads")
    kernel = LazyModule("bounds.newton_equations_kernel")


def _is_alone(evaluator: Evaluator) -> bool:
    """Are as many equations as variables to be solved, which read all of them, and nothing to be minimised?"""
    system, numbers = evaluator.system, evaluator.system.two_sided
    if not system.is_flat or len(numbers) < evaluator.n:
        return False
    return bool(variable_reads.reads([system.rows[1 + k] for k in numbers], var("x", (evaluator.n,))).any(axis=0).all())


class NewtonEquations(RegionTest):
    """Tests regions where they lie."""

    name, discards = "square", "constraints"
    knows_faces = True  # nothing that it says depends on them

    def __init__(self, evaluator: Evaluator, lo: np.ndarray, hi: np.ndarray):
        super().__init__(evaluator, lo, hi)
        self.most = max(1, POLICY.elements_at_once // self.n)
        with np.errstate(all="ignore"):
            units = np.where(np.isfinite(1.0 / (hi - lo)), 1.0 / (hi - lo), 1.0)
        self.delays_others = _is_alone(evaluator)
        self.parameters = np.append(units, float(self.delays_others))

    @classmethod
    def circumstances(cls, evaluator: Evaluator) -> str:
        return "alone" if _is_alone(evaluator) else ""

    @classmethod
    def applies(cls, evaluator: Evaluator) -> bool:
        count = len(evaluator.system.two_sided)
        return POLICY.least_rows <= count <= POLICY.most_rows and count * evaluator.n <= POLICY.most_elements

    def test(self, regions: Any, context: StepContext) -> Outcome:
        out = self.evaluator.run(NEWTON_EQUATIONS, [regions], parameters=self.parameters)
        return Outcome(out[kernel.LEFT], self.cost * regions.shape[1], out[kernel.PAID])
