"""Linear bounds (`relax/linear_rows_kernel.py`): a linear function below f, composed backward through it.

**Discards** a bounded region on which the linear function lies above the upper bound. **Reduces** a variable to where it does
not. **Raises** the lower bound to its least value. **Costs** about two enclosures of f and its gradient. **Judged** by the
regions discarded, cut to a small part, or brought close to the upper bound.

Proof: docs/proofs/linear_bounds.md.
"""

from infimum.bounds.relaxation_test import RelaxationTest
from infimum.evaluation.evaluator import Evaluator
from infimum.evaluation.programs import LINEAR
from infimum.kernel.schedule import has_many_curves, written_out

# operations on single numbers: from the first number on it is asked late, beyond the second it is not used
_LONG_OPERATIONS, _MOST_OPERATIONS = 100, 800


class BackwardLinearBound(RelaxationTest):
    """Tests regions where they lie."""

    name, discards, knows_faces, program = "linear", "linear", True, LINEAR

    @classmethod
    def circumstances(cls, evaluator: Evaluator) -> str:
        if written_out(evaluator.f) > _LONG_OPERATIONS:
            return "long"
        return "dependent" if has_many_curves(evaluator.f, evaluator.n) else ""

    @classmethod
    def applies(cls, evaluator: Evaluator) -> bool:
        return written_out(evaluator.f) <= _MOST_OPERATIONS
