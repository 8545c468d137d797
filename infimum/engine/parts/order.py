"""The parts of a proof in the order in which they are asked: the cheapest first, each about what those before it leave."""

from typing import TYPE_CHECKING

import numpy as np

from infimum.engine.parts.faces import Faces
from infimum.engine.parts.lagrangian import Lagrangian
from infimum.engine.parts.lifted import Lifted
from infimum.engine.parts.lines import Lines
from infimum.engine.parts.part import Part
from infimum.engine.parts.propagation import Propagation
from infimum.engine.parts.square import Square
from infimum.evaluate import Evaluator
from infimum.late import Late
from infimum.start_boxes import StartBoxes

if TYPE_CHECKING:
    from infimum.engine.parts import of_functions
else:  # with constraints, none of them is asked
    of_functions = Late("engine.parts.of_functions")

_WAIT = 64  # where affine bounds are asked from the first steps on, other costly parts wait: kernels of recurrences compile long;
# so do they where equations are all there is, and Newton's method is asked
_AFFINE = "affine"  # the name of that part
CONSTRAINED: tuple[type[Part], ...] = (Propagation, Square, Lines, Lagrangian, Lifted)


def parts_of(evaluator: Evaluator, lo: np.ndarray, hi: np.ndarray, start: StartBoxes | None = None) -> list[Part]:
    """Those that can say something about this function, within the bounds or the start boxes."""
    known = of_functions.PARTS if evaluator.system is None else CONSTRAINED
    parts = [part(evaluator, lo, hi) for part in known if part.applies(evaluator) and (start is None or part.knows_faces)]
    first = [part for part in parts if part.name == _AFFINE or (isinstance(part, Square) and part.is_alone)]
    for part in parts:
        if first and part not in first and part.payoff is not None:
            part.payoff.due = max(part.payoff.due, _WAIT)
    faces = None if start is None else Faces(evaluator, start)
    for part in parts:
        part.faces = faces
    return parts
