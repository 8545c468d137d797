"""The parts of a proof in the order in which they are asked: the cheapest first, each about what those before it leave."""

import numpy as np

from infimum.bounds.gradient_rows import Lines
from infimum.bounds.interface import Part
from infimum.bounds.lagrangian_bound import Lagrangian
from infimum.bounds.lifted_relaxation import Lifted
from infimum.bounds.linear_rows import LinearRows
from infimum.bounds.newton_equations import Square
from infimum.bounds.propagation import Propagation
from infimum.bounds.start_faces import Faces
from infimum.evaluation.evaluator import Evaluator
from infimum.problem.start_boxes import StartBoxes

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
    from infimum.bounds.function_bounds.affine_bound import Affine
    from infimum.bounds.function_bounds.backward_linear_bound import Linear
    from infimum.bounds.function_bounds.bound_by_pieces import ByPieces
    from infimum.bounds.function_bounds.first_order import FirstOrder
    from infimum.bounds.function_bounds.interval_newton import Newton
    from infimum.bounds.function_bounds.tangent_bound import Tangents
    from infimum.bounds.least_squares.gauss_newton import LeastSquares
    from infimum.bounds.least_squares.variable_projection import Projection
    from infimum.bounds.sweeps.shaving import Shaving

    return FirstOrder, ByPieces, Affine, Linear, Projection, LeastSquares, Tangents, Newton, Shaving
