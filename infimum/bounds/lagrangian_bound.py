"""Lagrangian bounds (`bounds/lagrangian_kernel.py`): multipliers of a local solution, for every region.

**Discards** a bounded region on whose feasible part f lies above the upper bound. **Reduces** a variable to where it may not.
**Raises** the lower bound to that of the Lagrangian function. **Costs** enclosures of it and its gradient on the region and at a
point, and of its second derivatives: counted as n + 2 boxes. **Judged** by the regions discarded, or brought close to the upper
bound. It has no say before `learn` was called.

Proof: docs/proofs/lagrangian.md.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from infimum.bounds.interface import LocalSolution, Outcome, RegionTest, StepContext
from infimum.evaluation.evaluator import Evaluator
from infimum.evaluation.programs import LAGRANGIAN, SHAVING, ProgramKind
from infimum.expr.node import var
from infimum.search.policy.bounds import LAGRANGIAN as POLICY
from infimum.support.lazy import LazyModule

if TYPE_CHECKING:
    from infimum.bounds import lagrangian_kernel as kernel
    from infimum.expr import variable_reads
    from infimum.structure import minus_product as products
else:
    variable_reads = LazyModule("expr.variable_reads")
    products = LazyModule("structure.minus_product")
    kernel = LazyModule("bounds.lagrangian_kernel")


class LagrangianBound(RegionTest):
    """Tests regions where they lie."""

    name, discards = "lagrangian", "value"
    knows_faces = True  # nothing that it says depends on them
    learns = uses_multipliers = True  # `given` are the parameters behind the upper bound

    def __init__(self, evaluator: Evaluator, lo: np.ndarray, hi: np.ndarray):
        super().__init__(evaluator, lo, hi)
        self.logarithmic = bool((lo >= 0).any()) and self._is_minus_product(lo >= 0)

    def _is_minus_product(self, not_negative: np.ndarray) -> bool:
        """Is f minus a product of variables none of which is negative?"""
        f = self.evaluator.system.f
        if products.minus_product(f) is None:
            return False
        return bool(not_negative[variable_reads.reads([f], var("x", (self.n,)))[0]].all())

    @classmethod
    def applies(cls, evaluator: Evaluator) -> bool:
        system = evaluator.system
        small = evaluator.n <= POLICY.most_variables and (1 + system.m) * evaluator.n <= POLICY.most_elements
        return system.m > 0 and small and not system.is_flat

    def is_tried(self, step: int) -> bool:
        return self.given is not None and super().is_tried(step)

    def is_used(self, step: int) -> bool:
        return self.given is not None and super().is_used(step)

    def learn(self, solution: LocalSolution) -> None:
        """Takes what `Convexity` has for a local solution. A multiplier with a sign for which its constraint has no end is 0."""
        system, x, (multipliers, penalty, *curved) = self.evaluator.system, solution.x, solution.convexity(self.logarithmic)
        w = np.where(np.isfinite(multipliers), multipliers, 0.0)
        end = np.where(w > 0, system.upper, system.lower)
        w = np.where(np.isfinite(end), w, 0.0)
        self.given = np.concatenate([x, w, np.where(w == 0.0, 0.0, end), [max(penalty, 0.0)],
                                     *(() if curved[1] is None else (part.ravel() for part in curved))])

    def test(self, regions: Any, context: StepContext) -> Outcome:
        run, plain = self.evaluator.run, len(self.given) < self.n**2 + self.n + 2 * self.evaluator.system.m + 1
        program = ProgramKind.of(LAGRANGIAN, curved=int(not plain), logarithmic=int(self.logarithmic))
        out = run(program, [regions], parameters=np.concatenate([[context.upper], self.given]))
        left, _ = run(SHAVING, [regions, out[kernel.LEFT]], parameters=np.array([context.upper, 0.0]))
        return Outcome(left, (self.cost if plain else self.cost + self.n) * regions.shape[1], out[kernel.PAID])
