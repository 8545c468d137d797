"""Linear bounds of a function and its constraints together (`relax/linear_rows_kernel.py`), where expressions are long or choose
by np.where: `gradient_rows.py` says more of others.

**Discards** a bounded region in which the linear functions below the constraints are nowhere small enough together: gone. One of
which f <= upper is needed to say so has an infinite lower bound instead, so that it never counts as infeasible. **Reduces** each
variable to where they are. **Raises** the lower bound to that of a linear program. **Chooses** the variable to cut: the one with
the largest side, compared with the bounds. **Costs** affine forms of all rows, and a line composed for each: counted as 3 boxes.
**Judged** by the regions discarded, cut to half their volume, or brought half as near to the upper bound.

Proof: docs/proofs/constraint_lines.md.
"""

from typing import Any

import numpy as np

from infimum.bounds.interface import Outcome, RegionTest, StepContext
from infimum.evaluation.evaluator import Evaluator
from infimum.evaluation.programs import LINEAR_ROWS
from infimum.expr.node import topological
from infimum.kernel.schedule import is_short, written_out
from infimum.problem.unions import shares
from infimum.search.policy.bounds import LINEAR_RELAXATIONS as POLICY


class LinearRowsBound(RegionTest):
    """Tests regions where they lie."""

    name, discards = "linear rows", "constraints"
    knows_faces = True  # nothing that it says depends on them

    def __init__(self, evaluator: Evaluator, lo: np.ndarray, hi: np.ndarray):
        super().__init__(evaluator, lo, hi)
        self.given = np.append(shares(lo, hi), np.inf)

    @classmethod
    def applies(cls, evaluator: Evaluator) -> bool:
        system = evaluator.system
        if system is None or not 0 < system.m <= POLICY.most_rows:
            return False
        rows = list(system.rows)
        asked = any(node.op == "where" for node in topological(rows)) or not is_short(rows)
        return asked and sum(map(written_out, rows)) <= POLICY.rows_most_operations

    def test(self, regions: Any, context: StepContext) -> Outcome:
        self.given[-1] = context.upper
        left, worth = self.evaluator.run(LINEAR_ROWS, [regions], parameters=self.given)
        return Outcome(left, self.cost * regions.shape[1], worth)
