"""Second order: an interval Newton step and a test for concavity (`bounds/newton_kernel.py`).

**Discards** a bounded region around which f is twice continuously differentiable, and in which no point has a gradient that
vanishes in the variables that lie strictly inside the user's bounds, or where f is concave along one of these. **Reduces** such a
variable to where the gradient may vanish. **Costs** an enclosure of f with gradient and Hessian, one of the gradient at a point,
and some n³ operations: counted as n + 2 boxes, as 2 where f is a sum over data, with all derivatives in one loop. **Judged** by
regions discarded, or cut to a small part of their volume.

Proof: docs/proofs/second_order.md.
"""

from typing import Any, NamedTuple

import numpy as np

from infimum.bounds.interface import Outcome, RegionTest, StepContext
from infimum.bounds.newton_kernel import SweepPlan
from infimum.evaluation.evaluator import Evaluator
from infimum.evaluation.programs import CENTRE, CONTRACT, GRADIENT, HESSIAN, SEQUENTIAL, SHAVING, VALUE, ProgramKind
from infimum.search.policy.bounds import FIRST_ORDER as POLICY

_LEVEL, _SLOPE, _CURVATURE = 2, slice(3, 5), slice(5, 7)  # fixed: places among the outputs of GRADIENT and HESSIAN


class NewtonOutcome(NamedTuple):
    """What `bounds/newton_kernel.py` says of regions, and f in the middle of each: a point, its value's upper end, the level
    there."""

    ends: Any
    middle: Any
    upper: Any
    level: Any


class IntervalNewton(RegionTest):
    """Tests regions where they lie."""

    name, discards, knows_faces = "newton", "newton", True
    recipe = SweepPlan()

    def __init__(self, evaluator: Evaluator, lo: np.ndarray, hi: np.ndarray):
        super().__init__(evaluator, lo, hi)
        self.most = max(1, POLICY.newton_elements_at_once // (self.n * self.n))

    @classmethod
    def circumstances(cls, evaluator: Evaluator) -> str:
        if not evaluator.facts.is_sum_over_data:
            return ""
        return "costly sum" if evaluator.facts.is_costly else "sum"  # compiling takes little, compared with the function itself

    @classmethod
    def applies(cls, evaluator: Evaluator) -> bool:
        return evaluator.n <= POLICY.newton_most_variables

    def step(self, regions: Any) -> NewtonOutcome:
        """The step, by the recipe."""
        n, run, recipe = self.n, self.evaluator.run, self.recipe
        box, (middle,) = [regions[:n], regions[n:2 * n]], run(CENTRE, [regions])
        on_region, solves = run(HESSIAN, box), recipe.pivots or recipe.inverse
        at_middle = run(GRADIENT if solves else VALUE, [middle, middle])
        slope = at_middle[_SLOPE] if solves else [middle, middle]  # which nobody reads then
        more = run(SEQUENTIAL, [*box, middle]) if recipe.sequential else []
        own = [] if self.faces is None else [self.faces.of(regions)]
        kind = ProgramKind.of(CONTRACT, in_boxes=bool(own), recipe=recipe)
        inputs = [regions, on_region[_LEVEL], middle, *slope, *on_region[_CURVATURE], *more, *own]
        ends, = run(kind, inputs, parameters=np.concatenate([self.lo, self.hi]))
        return NewtonOutcome(ends, middle, at_middle[1], at_middle[_LEVEL])

    def test(self, regions: Any, context: StepContext) -> Outcome:
        ends, run = self.step(regions).ends, self.evaluator.run
        volume = 2.0**-self.cost  # that number of cuts would cost more
        left, paid = run(SHAVING, [regions, ends], parameters=np.array([context.upper, volume]))
        return Outcome(left, self.cost * regions.shape[1], paid)
