"""Linear bounds of a function and its constraints together (`relax/linear_rows_kernel.py`), where expressions are long or choose
by np.where: `gradient_rows.py` says more of others.

**Discards** a bounded region in which the linear functions below the constraints are nowhere small enough together: gone. One of
which f <= upper is needed to say so has an infinite lower bound instead, so that it never counts as infeasible. **Reduces** each
variable to where they are. **Raises** the lower bound to that of a linear program. **Chooses** the variable to cut: the one with
the largest side, compared with the bounds. **Costs** affine forms of all rows, and a line composed for each: counted as 3 boxes.
**Judged** by the regions discarded, cut to a quarter of their volume, or brought half as near to the upper bound.

Proof: docs/proofs/constraint_lines.md.
"""

from infimum.bounds.relaxation_test import RelaxationTest
from infimum.evaluation.evaluator import Evaluator
from infimum.evaluation.programs import LINEAR_ROWS
from infimum.expr.node import topological
from infimum.kernel.schedule import is_short, written_out

_MOST_OPERATIONS, _MOST_ROWS = 800, 16            # operations on single numbers in all rows, and rows: more take long to compile


class LinearRowsBound(RelaxationTest):
    """Tests regions where they lie."""

    name, discards, program = "linear rows", "constraints", LINEAR_ROWS
    knows_faces = True  # nothing that it says depends on them

    @classmethod
    def applies(cls, evaluator: Evaluator) -> bool:
        system = evaluator.system
        if system is None or not 0 < system.m <= _MOST_ROWS:
            return False
        rows = list(system.rows)
        asked = any(node.op == "where" for node in topological(rows)) or not is_short(rows)
        return asked and sum(map(written_out, rows)) <= _MOST_OPERATIONS
