"""The bounds of regions where a search starts from several boxes: see `kernel/start_face_kernel.py`."""

from typing import Any

import numpy as np

from infimum.evaluation.evaluator import Evaluator
from infimum.evaluation.programs import FACES, ProgramKind
from infimum.problem.start_boxes import StartBoxes


class StartFaces:
    """Tells of regions on which of their faces the feasible set ends, the union of the start boxes."""

    def __init__(self, evaluator: Evaluator, start: StartBoxes):
        outer = () if start.outer is None else start.regions
        self.evaluator, self.kind = evaluator, ProgramKind.of(FACES, boxes=len(start), between=bool(outer))
        self.parameters = np.concatenate([start.lo, start.hi, *outer]).T.ravel()

    def of(self, regions: Any) -> Any:
        """The lower bounds of each region (n, N), then the upper ones, infinite where there is room: in the memory of the
        regions."""
        return self.evaluator.run(self.kind, [regions], parameters=self.parameters)[0]
