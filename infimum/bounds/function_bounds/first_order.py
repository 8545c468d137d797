"""Value and first order: everything that a step of branch and bound needs, in one kernel (`kernel/region_cut.py`,
`bounds/function_bounds/first_order_kernel.py`).

**Discards** a region on which f is defined nowhere; and a bounded one on which f, Lipschitz around it, certainly rises or falls
in a variable and which does not reach the user's bound on that side. **Reduces** one that does reach it to the face there.
**Raises** the lower bound to that of the natural enclosure and of the mean value form. **Finds** an upper bound: f at the point
of the mean value form. **Costs** one enclosure of f and its gradient, and one of f at a point, for each region.

Proof: docs/proofs/first_order.md.
"""

from typing import Any

import numpy as np

from infimum.bounds.interface import CuttingTest, Outcome, StepContext
from infimum.evaluation.evaluator import Evaluator
from infimum.evaluation.programs import BRANCH, Kind, ProgramKind
from infimum.kernel.region_cut import POINT, REGIONS, UPPER


class FirstOrder(CuttingTest):
    """The test that cuts: it is used in every step, unless a sharper one pays that includes it."""

    name, discards = "first_order", "derivative"
    kernel: Kind = BRANCH
    knows_faces = True

    def __init__(self, evaluator: Evaluator, lo: np.ndarray, hi: np.ndarray):
        super().__init__(evaluator, lo, hi)
        self.parameters: dict[int, list[np.ndarray]] = {}  # by the number of pieces, for each of them

    def cut(self, parents: Any, pieces: int, context: StepContext) -> list[Outcome]:
        if pieces not in self.parameters:
            user = [self.lo, self.hi, np.arange(self.n, dtype=float)]
            self.parameters[pieces] = [np.concatenate([*user, [k, k / pieces, (k + 1) / pieces, 0.0]]) for k in range(pieces)]
        inputs = [parents] if self.faces is None else [parents, self.faces.of(parents)]
        kernel = ProgramKind.of(self.kernel, in_boxes=len(inputs) > 1, alike=context.alike)
        for given in self.parameters[pieces]:
            given[-1] = context.narrow
        runs = [self.evaluator.run(kernel, inputs, parameters=given) for given in self.parameters[pieces]]
        return [Outcome(out[REGIONS], parents.shape[1], upper=out[UPPER], point=out[POINT]) for out in runs]
