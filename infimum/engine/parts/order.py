"""The parts of a proof in the order in which they are asked: the cheapest first, each about what those before it leave."""

import numpy as np

from infimum.engine.parts.faces import Faces
from infimum.engine.parts.lagrangian import Lagrangian
from infimum.engine.parts.lifted import Lifted
from infimum.engine.parts.linear_rows import LinearRows
from infimum.engine.parts.lines import Lines
from infimum.engine.parts.part import Part
from infimum.engine.parts.propagation import Propagation
from infimum.engine.parts.square import Square
from infimum.evaluate import Evaluator
from infimum.start_boxes import StartBoxes

_WAIT = 64  # where affine bounds are asked from the first steps on, other costly parts wait: kernels of recurrences compile long;
# so do they where equations are all there is, and Newton's method is asked
_AFFINE = "affine"  # the name of that part
CONSTRAINED: tuple[type[Part], ...] = (Propagation, Square, LinearRows, Lines, Lagrangian, Lifted)


def parts_of(evaluator: Evaluator, lo: np.ndarray, hi: np.ndarray, start: StartBoxes | None = None) -> list[Part]:
    """Those that can say something about this function, within the bounds or the start boxes."""
    known = of_functions() if evaluator.system is None else CONSTRAINED
    parts = [part(evaluator, lo, hi) for part in known if part.applies(evaluator) and (start is None or part.knows_faces)]
    first = [part for part in parts if part.name == _AFFINE or (isinstance(part, Square) and part.is_alone)]
    for part in parts:
        if first and part not in first and part.payoff is not None:
            part.payoff.due = max(part.payoff.due, _WAIT)
    faces = None if start is None else Faces(evaluator, start)
    for part in parts:
        part.faces = faces
    return parts


def of_functions() -> tuple[type[Part], ...]:
    """Those without constraints, imported where they are needed."""
    from infimum.engine.parts.affine import Affine
    from infimum.engine.parts.by_pieces import ByPieces
    from infimum.engine.parts.first_order import FirstOrder
    from infimum.engine.parts.least_squares import LeastSquares
    from infimum.engine.parts.linear import Linear
    from infimum.engine.parts.newton import Newton
    from infimum.engine.parts.projection import Projection
    from infimum.engine.parts.shaving import Shaving
    from infimum.engine.parts.tangents import Tangents

    return FirstOrder, ByPieces, Affine, Linear, Projection, LeastSquares, Tangents, Newton, Shaving
