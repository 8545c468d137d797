"""The parts of a proof in the order in which they are asked: the cheapest first, each about what those before it leave."""

import numpy as np

from infimum.bounds.gradient_rows import GradientRows
from infimum.bounds.interface import RegionTest
from infimum.bounds.lagrangian_bound import LagrangianBound
from infimum.bounds.lifted_relaxation import LiftedRelaxation
from infimum.bounds.linear_rows import LinearRowsBound
from infimum.bounds.newton_equations import NewtonEquations
from infimum.bounds.propagation import Propagation
from infimum.bounds.start_faces import StartFaces
from infimum.evaluation.evaluator import Evaluator
from infimum.problem.start_boxes import StartBoxes

# The step before which costly tests wait where a test `delays_others`: affine bounds of recurrences, whose kernels take long to
# compile, and Newton's method where equations are all there is.
_DELAYED_STEP = 64
CONSTRAINED: tuple[type[RegionTest], ...] = (Propagation, NewtonEquations, LinearRowsBound, GradientRows, LagrangianBound,
                                             LiftedRelaxation)


def region_tests_of(evaluator: Evaluator, lo: np.ndarray, hi: np.ndarray, start: StartBoxes | None = None) -> list[RegionTest]:
    """Those that can say something about this function, within the bounds or the start boxes."""
    known = function_tests() if evaluator.system is None else CONSTRAINED
    parts = [part(evaluator, lo, hi) for part in known if part.applies(evaluator) and (start is None or part.knows_faces)]
    first = [part for part in parts if part.delays_others]
    for part in parts:
        if first and part not in first and part.payoff is not None:
            part.payoff.due = max(part.payoff.due, _DELAYED_STEP)
    faces = None if start is None else StartFaces(evaluator, start)
    for part in parts:
        part.faces = faces
    return parts


def function_tests() -> tuple[type[RegionTest], ...]:
    """Those without constraints, imported where they are needed."""
    from infimum.bounds.function_bounds.affine_bound import AffineBound
    from infimum.bounds.function_bounds.backward_linear_bound import BackwardLinearBound
    from infimum.bounds.function_bounds.bound_by_pieces import BoundByPieces
    from infimum.bounds.function_bounds.first_order import FirstOrder
    from infimum.bounds.function_bounds.interval_newton import IntervalNewton
    from infimum.bounds.function_bounds.tangent_bound import TangentBound
    from infimum.bounds.least_squares.gauss_newton import GaussNewton
    from infimum.bounds.least_squares.variable_projection import VariableProjection
    from infimum.bounds.sweeps.shaving import Shaving

    return (FirstOrder, BoundByPieces, AffineBound, BackwardLinearBound, VariableProjection, GaussNewton, TangentBound,
            IntervalNewton, Shaving)
