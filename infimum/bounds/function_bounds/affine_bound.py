"""Affine bounds (`relax/affine_bound_kernel.py`): a linear function below f, for recurrences and other deep functions of few
variables.

**Discards** a bounded region on which the linear function lies above the upper bound. **Reduces** a variable to where it does
not. **Raises** the lower bound to its least value. **Chooses** the variable to cut: the one with the largest side, compared with
the bounds, since derivatives of a recurrence say little about wide regions. **Costs** as much as some five enclosures of f and
its gradient. **Judged** by the regions discarded, cut to a small part, or brought close to the upper bound.

Proof: docs/proofs/affine_bounds.md.
"""

from infimum.bounds.relaxation_test import RelaxationTest
from infimum.evaluation.evaluator import Evaluator
from infimum.evaluation.programs import AFFINE


class AffineBound(RelaxationTest):
    """Tests regions where they lie."""

    name, discards, knows_faces, delays_others, program = "affine", "affine", True, True, AFFINE

    @classmethod
    def applies(cls, evaluator: Evaluator) -> bool:
        return evaluator.facts.is_recurrence
