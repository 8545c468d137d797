"""Proof that equations have a solution in a tiny box: Krawczyk's operator in as many variables as there are equations.

The other variables are fixed at their doubles. What is proved: in the box there is exactly one point at which all the equations
that were solved hold, and on all of it every other constraint holds and f is defined. See docs/proofs/feasible_points.md.
"""

from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from infimum.evaluation.evaluator import Derivative, Enclosure, Evaluator
from infimum.linear_algebra.interval_matrices import Interval, exactly, matrix_product, minus, plus
from infimum.linear_algebra.lane_algebra import inverted
from infimum.problem.system import System
from infimum.search.policy.bounds import EQUATION_SOLUTIONS as POLICY
from infimum.support.clock import stop_if_over
from infimum.support.lazy import LazyModule

if TYPE_CHECKING:
    from infimum.certify import dependent_equations
else:
    dependent_equations = LazyModule("certify.dependent_equations")

LEAST_RADIUS = 1e-300  # fixed: half a width, where subnormal numbers would round to nothing


class FailureReason(Enum):
    """Why nothing was proved about a point."""

    FAR = "it is too far from where the constraints hold"
    OVERDETERMINED = "more equations are to be solved than there are variables that may move"
    DEPENDENT = "the gradients of the equations are linearly dependent, so that rounding errors decide whether they hold"
    ROUGH = "an equation has a jump or an edge of its domain there"
    WIDE = "the gradients of the equations vary too much to prove a solution, as they do around a double root"
    OUTSIDE = "the solution of the equations is not certainly within the bounds"
    TIGHT = "an inequality does not hold on all of the box around the solution of the equations"
    LARGE = "too many equations would have to be solved at once, since they read too many variables in common"
    UNDEFINED = "the function is not certainly defined there"


class ProvedFeasible(NamedTuple):
    """A box that holds a feasible point, and an upper bound of f there."""

    lo: np.ndarray
    hi: np.ndarray
    upper: float


class EquationBasis(NamedTuple):
    """Equations, by their numbers among the constraints, the variables in which they are solved, about the inverse of their
    derivatives, and their right sides: ends of the constraints, which may be inequalities."""

    rows: np.ndarray
    variables: np.ndarray
    inverse: np.ndarray
    free: np.ndarray  # which variables may move
    target: np.ndarray


def prove_feasible(evaluator: Evaluator, bounds: Interval, x: np.ndarray) -> ProvedFeasible | FailureReason:
    """A box around about x, whose integers are whole, within the bounds that certainly holds a feasible point."""
    with np.errstate(all="ignore"):
        basis = _chosen(evaluator, bounds, x)
        if isinstance(basis, FailureReason):
            return basis
        x = refined(evaluator, basis, x)
        if not ((x >= bounds[0]) & (x <= bounds[1])).all():
            return FailureReason.OUTSIDE
        box = solved(evaluator, bounds, basis, x)
        return box if isinstance(box, FailureReason) else judge_candidate(evaluator, bounds, basis.rows, basis.free, x, *box)


def _chosen(evaluator: Evaluator, bounds: Interval, x: np.ndarray) -> EquationBasis | FailureReason:
    """By elimination with the largest pivots of all; variables at their bounds, integers and fixed ones are held."""
    system = evaluator.system
    equations, free = np.flatnonzero(system.equal), free_variables(system, bounds, x)
    variables = np.flatnonzero(free)
    jacobian = evaluator.estimate_jacobian(x)[1][1:][equations][:, variables]
    if not np.isfinite(jacobian).all():
        return FailureReason.UNDEFINED
    a = jacobian * weights(bounds, x)[variables]
    largest = np.abs(a).max(axis=1, initial=0.0)
    a = a / np.where(largest > 0, largest, 1.0)[:, None]
    rows, columns, rank = np.arange(len(equations)), np.arange(len(variables)), 0
    for k in range(min(a.shape)):
        i, j = divmod(int(np.argmax(np.abs(a[k:, k:]))), a.shape[1] - k)
        if not abs(a[k + i, k + j]) > POLICY.least_pivot:
            break
        for order, b, at in ((rows, a, k + i), (columns, a.T, k + j)):
            order[[k, at]], b[[k, at]] = order[[at, k]], b[[at, k]]
        a[k + 1:] -= (a[k + 1:, k] / a[k, k])[:, None] * a[k]
        rank = k + 1
    rows, columns = np.sort(rows[:rank]), np.sort(columns[:rank])
    inverse = inverted(jacobian[np.ix_(rows, columns)])
    if inverse is None:
        return FailureReason.DEPENDENT
    return EquationBasis(equations[rows], variables[columns], inverse, free, system.lower[equations[rows]])


def is_large(system: System, n: int) -> bool:
    """Are there too many variables and equations for dense matrices, as in `sparse_equation_solutions.py`?"""
    return n + np.count_nonzero(system.equal) > POLICY.most_variables_and_equations


def free_variables(system: System, bounds: Interval, x: np.ndarray) -> np.ndarray:
    """Those that are between their bounds, and no integers."""
    free = (x > bounds[0]) & (x < bounds[1])
    free[list(system.integers)] = False
    return free


def weights(bounds: Interval, x: np.ndarray) -> np.ndarray:
    """Of variables in which equations may be solved: rather those that are far from their bounds."""
    room, unit = np.minimum(x - bounds[0], bounds[1] - x), np.maximum(np.abs(x), 1.0)
    return np.where(room < unit, np.sqrt(room) * np.sqrt(unit), unit)


def refined(evaluator: Evaluator, basis: EquationBasis, x: np.ndarray) -> np.ndarray:
    """x after steps of Newton's method with a fixed matrix, while it brings the equations closer."""
    best, closest = x, np.inf
    for _ in range(POLICY.newton_steps):
        rows = evaluator.rows(x, x)
        left = (rows.lo + (rows.hi - rows.lo) / 2)[1 + basis.rows] - basis.target
        step = _product(basis.inverse, left)
        distance = float(np.abs(step).max(initial=0.0))
        if not distance < closest:
            break
        best, closest, x = x, distance, x.copy()
        x[basis.variables] -= step
    return best


def _product(matrix: np.ndarray, vector: np.ndarray) -> np.ndarray:
    """By columns, in their order."""
    found = np.zeros(len(matrix))
    for column, value in zip(matrix.T, vector, strict=True):
        found += column * value
    return found


def solved(evaluator: Evaluator, bounds: Interval, basis: EquationBasis, x: np.ndarray,
           others: Interval | None = None) -> tuple[Interval, Derivative] | FailureReason:
    """A box around x that holds exactly one solution; and the derivatives on a box around it. In the variables that are not of
    the basis it is as wide as `others`, a box around x, where there is one; for all values in it the statement holds."""
    others = (x, x) if others is None else others
    if not len(basis.rows):
        return others, evaluator.jacobian(*others)
    variables, (lo, hi) = basis.variables, bounds
    low, high = (end.copy() for end in others)
    low[variables] = high[variables] = x[variables]
    at = evaluator.rows(low, high)
    rows = 1 + basis.rows
    if not at.defined[rows].all():
        return FailureReason.UNDEFINED
    centre = exactly(x[variables, None])
    offset = minus((at.lo[rows, None], at.hi[rows, None]), exactly(basis.target[:, None]))
    newton = matrix_product(exactly(basis.inverse[..., None]), tuple(end[:, None] for end in offset))
    newton = tuple(end[:, 0] for end in newton)
    radius = 2 * np.maximum(np.abs(newton[0]), np.abs(newton[1]))[:, 0] + 2 * np.spacing(np.abs(x[variables])) + LEAST_RADIUS
    for _ in range(POLICY.inflations):
        stop_if_over()
        low[variables] = np.maximum(x[variables] - radius, lo[variables])
        high[variables] = np.minimum(x[variables] + radius, hi[variables])
        image = _image(evaluator, basis, centre, newton, low, high)
        if isinstance(image, FailureReason):
            return image
        (new_lo, new_hi), slopes = image
        if ((new_lo > low[variables]) & (new_hi < high[variables])).all():
            return _narrowed(evaluator, basis, centre, newton, (x, (low, high)), (new_lo, new_hi), slopes)
        outside = ~((new_lo > lo[variables]) & (new_hi < hi[variables])).all()
        reached = np.maximum(np.abs(new_lo - x[variables]), np.abs(new_hi - x[variables]))
        radius = np.maximum(2 * radius, np.where(np.isfinite(reached), 2 * reached, np.inf))
        if not np.isfinite(radius).all():
            break
    return FailureReason.OUTSIDE if outside else FailureReason.WIDE


def _image(evaluator: Evaluator, basis: EquationBasis, centre: Interval, newton: Interval, low: np.ndarray,
           high: np.ndarray) -> tuple[Interval, Derivative] | FailureReason:
    """c - Y h(c) + (I - Y H(X)) (X - c), and the derivatives on X."""
    slopes = evaluator.jacobian(low, high)
    rows, variables = 1 + basis.rows, basis.variables
    if not slopes.value.lipschitz[rows].all():
        return FailureReason.ROUGH
    matrix = tuple(end[np.ix_(rows, variables)][..., None] for end in (slopes.lo, slopes.hi))
    rest = minus(exactly(np.eye(len(rows))[..., None]), matrix_product(exactly(basis.inverse[..., None]), matrix))
    deviation = minus((low[variables, None], high[variables, None]), centre)
    moved = tuple(end[:, 0] for end in matrix_product(rest, tuple(end[:, None] for end in deviation)))
    return tuple(end[:, 0] for end in plus(minus(centre, newton), moved)), slopes


def _narrowed(evaluator: Evaluator, basis: EquationBasis, centre: Interval, newton: Interval, around: tuple[np.ndarray, Interval],
              image: Interval, slopes: Derivative) -> tuple[Interval, Derivative] | FailureReason:
    """The solution lies in the image, and in the image of that."""
    (x, (low, high)), variables = around, basis.variables
    low[variables], high[variables] = np.minimum(image[0], x[variables]), np.maximum(image[1], x[variables])  # it must hold x
    again = _image(evaluator, basis, centre, newton, low, high)
    low[variables], high[variables] = image
    if not isinstance(again, FailureReason):
        (new_lo, new_hi), slopes = again
        low[variables], high[variables] = np.fmax(image[0], new_lo), np.fmin(image[1], new_hi)
    return (low, high), slopes


def judge_candidate(evaluator: Evaluator, bounds: Interval, solved: np.ndarray, free: np.ndarray, x: np.ndarray, box: Interval,
                    slopes: Derivative | None = None) -> ProvedFeasible | FailureReason:
    """Does everything hold on all of the box but the equations that were solved? Slopes are those on a box that holds x and this
    one, where they are known; the variables that are not free have been held."""
    (lo, hi), system = box, evaluator.system
    whole = lo[list(system.integers)]
    if not (((lo >= bounds[0]) & (hi <= bounds[1]) & (lo <= hi)).all() and (whole == np.rint(whole)).all()):
        return FailureReason.OUTSIDE
    rows = evaluator.rows(lo, hi)
    if slopes is not None:
        rows = tightened(rows, evaluator.rows(x, x), slopes, box, x)
    if not (rows.defined[0] and rows.hi[0] < np.inf):
        return FailureReason.UNDEFINED
    holds = rows.defined[1:] & (rows.lo[1:] >= system.lower) & (rows.hi[1:] <= system.upper)
    holds[solved] = rows.defined[1 + solved]
    failed = np.flatnonzero(~holds)
    if not system.equal[failed].all():
        return FailureReason.TIGHT
    face = (np.where(free, end, x) for end in bounds)
    linear = dependent_equations.LinearEquations(evaluator, *face) if len(failed) and slopes is not None else None
    if not all(linear is not None and rows.defined[1 + k] and linear.follows(k, solved) for k in failed):
        return FailureReason.OVERDETERMINED if system.equal.sum() > free.sum() else FailureReason.DEPENDENT
    return ProvedFeasible(lo, hi, float(rows.hi[0]))


def tightened(natural: Enclosure, at: Enclosure, slopes: Derivative, box: Interval, x: np.ndarray) -> Enclosure:
    """By mean value forms around x, where the rows are Lipschitz on a box that holds x and this one."""
    deviation = tuple(end[:, None, None] for end in minus(box, exactly(x)))
    tilt = matrix_product((slopes.lo[..., None], slopes.hi[..., None]), deviation)
    lo, hi = (end[:, 0, 0] for end in plus((at.lo[:, None, None], at.hi[:, None, None]), tilt))
    usable = slopes.value.lipschitz & at.defined
    return Enclosure(np.where(usable, np.fmax(natural.lo, lo), natural.lo),
                     np.where(usable, np.fmin(natural.hi, hi), natural.hi), natural.level)
