"""Tests by linear relaxations of a region (`relax/lane_relaxation.py`), and those whose rows are linear functions below f and the
constraints.

**Discards** a bounded region in which the rows of the constraints have no common point: gone. One of which f <= upper is needed
to say so has an infinite lower bound instead, so that it never counts as infeasible; without constraints it is discarded.
**Reduces** each variable to where the rows allow it. **Raises** the lower bound by multipliers. **Chooses** the variable to cut:
the one with the largest side, compared with the bounds. **Judged** by the regions discarded, cut to a small part of their volume,
or brought closer to the upper bound.

Proofs: docs/proofs/affine_bounds.md, docs/proofs/linear_bounds.md, docs/proofs/constraint_lines.md.
"""

from typing import Any, ClassVar

import numpy as np

from infimum.bounds.interface import Outcome, RegionTest, StepContext
from infimum.evaluation.evaluator import Evaluator
from infimum.evaluation.programs import AFFINE, LINEAR, LINEAR_ROWS
from infimum.expr.node import topological
from infimum.kernel.schedule import has_many_curves, is_short, written_out
from infimum.problem.unions import shares
from infimum.search.policy.bounds import LINEAR_RELAXATIONS as POLICY


class RelaxationTest(RegionTest):
    """Tests regions where they lie."""

    program: ClassVar[str]
    finds_points: ClassVar[bool] = False  # are the further outputs of the program verified upper bounds, and points with them?
    parameters: np.ndarray                # of the program, behind the upper bound

    def __init__(self, evaluator: Evaluator, lo: np.ndarray, hi: np.ndarray):
        super().__init__(evaluator, lo, hi)
        self.parameters = shares(lo, hi)

    def run(self, regions: Any, upper: float) -> Any:
        """The outputs of the program, whose parameters begin with the upper bound."""
        return self.evaluator.run(self.program, [regions], parameters=np.append(upper, self.parameters))

    def test(self, regions: Any, context: StepContext) -> Outcome:
        left, paid, *found = self.run(regions, context.upper)
        return Outcome(left, self.cost * regions.shape[1], paid, *(found if self.finds_points else ()))


class AffineBound(RelaxationTest):
    """For recurrences and other deep functions of few variables (`relax/affine_bound_kernel.py`), of which derivatives say little
    on wide regions. Costs as much as some five enclosures of f and its gradient."""

    name, discards, knows_faces, delays_others, program = "affine", "affine", True, True, AFFINE

    @classmethod
    def applies(cls, evaluator: Evaluator) -> bool:
        return evaluator.facts.is_recurrence


class BackwardLinearBound(RelaxationTest):
    """A linear function below f, composed backward through it (`relax/linear_rows_kernel.py`). Costs about two enclosures of f
    and its gradient."""

    name, discards, knows_faces, program = "linear", "linear", True, LINEAR

    @classmethod
    def circumstances(cls, evaluator: Evaluator) -> str:
        if written_out(evaluator.f) > POLICY.long_operations:
            return "long"
        return "dependent" if has_many_curves(evaluator.f, evaluator.n) else ""

    @classmethod
    def applies(cls, evaluator: Evaluator) -> bool:
        return written_out(evaluator.f) <= POLICY.most_operations


class LinearRowsBound(RelaxationTest):
    """The same of a function and its constraints together, where expressions are long or choose by np.where: `gradient_rows.py`
    says more of others. Costs affine forms of all rows, and a line composed for each."""

    name, discards, program = "linear rows", "constraints", LINEAR_ROWS
    knows_faces = True  # nothing that it says depends on them

    @classmethod
    def applies(cls, evaluator: Evaluator) -> bool:
        system = evaluator.system
        if system is None or not 0 < system.m <= POLICY.most_rows:
            return False
        rows = list(system.rows)
        asked = any(node.op == "where" for node in topological(rows)) or not is_short(rows)
        return asked and sum(map(written_out, rows)) <= POLICY.most_operations
