"""Value and first order, with parts of the function that use one quantity more than once enclosed slice by slice.

**Discards**, **reduces**, **raises** and **finds** as `FirstOrder` does, whose test it includes; tighter enclosures of such parts
(`kernel/forms/sliced_pieces.py`) make it succeed more often. **Costs** a few times as much. **Judged** by what it discards of
what the plain test leaves.
"""

import numpy as np

from infimum.bounds.function_bounds.first_order import FirstOrder
from infimum.evaluation.evaluator import Evaluator
from infimum.evaluation.programs import BRANCH_BY_PIECES, ProgramKind


class BoundByPieces(FirstOrder):
    """Takes the place of the plain test while it pays."""

    name, kernel = "pieces", BRANCH_BY_PIECES

    def __init__(self, evaluator: Evaluator, lo: np.ndarray, hi: np.ndarray):
        super().__init__(evaluator, lo, hi)
        unbounded = not (np.isfinite(lo).all() and np.isfinite(hi).all())
        self.kernel = ProgramKind.of(BRANCH_BY_PIECES, unbounded=unbounded)

    @classmethod
    def circumstances(cls, evaluator: Evaluator) -> str:
        return "costly" if evaluator.facts.is_costly else ""  # the time of slices counts fully where the function takes all of it

    @classmethod
    def applies(cls, evaluator: Evaluator) -> bool:
        return evaluator.facts.has_pieces
