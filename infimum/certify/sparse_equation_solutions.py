"""Proof that very many equations have a solution in a tiny box, where each of them reads few variables.

Krawczyk's operator as in `equation_solutions.py`, with a preconditioner that inverts only blocks on the diagonal: equations are
solved in an order in which each block reads variables of its own and of blocks before it, so that what is left over lies below
the diagonal, and radii that grow from block to block as it demands satisfy the test. See docs/proofs/feasible_points.md.
"""

import numpy as np

from infimum.certify.equation_solutions import (
    LEAST_RADIUS,
    FailureReason,
    ProvedFeasible,
    free_variables,
    judge_candidate,
    weights,
)
from infimum.evaluation.evaluator import Evaluator
from infimum.linear_algebra.interval_matrices import Interval, down, exactly, minus, size, up
from infimum.linear_algebra.sparse_basis import SparseBasis, SparsityPattern, basis_of, radii
from infimum.search.policy.bounds import EQUATION_SOLUTIONS as POLICY
from infimum.structure.row_groups import RowGroups, row_groups


class SparseEquations:
    """The equations of an evaluator's system at about a point x between the bounds, solved for some of the variables. The others
    stay as they are."""

    def __init__(self, evaluator: Evaluator, bounds: Interval, x: np.ndarray):
        self.evaluator, self.bounds, self.x = evaluator, bounds, x
        self.groups: RowGroups | None = row_groups(evaluator.system, evaluator.n)
        self.free = free_variables(evaluator.system, bounds, x)
        self.basis = self._chosen()

    def _chosen(self) -> SparseBasis | FailureReason:
        if self.groups is None:
            return FailureReason.LARGE
        values = self._slopes(self.x)
        if not np.isfinite(values).all():
            return FailureReason.UNDEFINED
        weight = np.where(self.free, weights(self.bounds, self.x), 0.0)
        basis = basis_of(SparsityPattern(self.groups.rows, self.groups.columns), values * weight[self.groups.columns])
        if basis is None:
            return FailureReason.LARGE
        return basis if basis.invert(values) else FailureReason.DEPENDENT

    def _slopes(self, x: np.ndarray) -> np.ndarray:
        """About the derivatives, at the places of the groups."""
        weights = self.groups.weights
        slopes = self.evaluator.estimate_weighted(np.repeat(x[:, None], weights.shape[1], axis=1), weights)[1]
        return slopes[self.groups.columns, self.groups.group]

    def _enclosed_slopes(self, lo: np.ndarray, hi: np.ndarray) -> Interval | FailureReason:
        if not self.evaluator.rows(lo, hi).lipschitz.all():
            return FailureReason.ROUGH
        weights = self.groups.weights
        lo, hi = (np.repeat(end[:, None], weights.shape[1], axis=1) for end in (lo, hi))
        return tuple(end[self.groups.columns, self.groups.group] for end in self.evaluator.weighted_slopes(lo, hi, weights))

    def newton(self, steps: int) -> None:
        """Moves x between the bounds to where the equations hold, while that brings them closer."""
        basis, (lo, hi), x, closest = self.basis, self.bounds, self.x, np.inf
        for _ in range(steps):
            rows = self.evaluator.rows(x, x)
            left = (rows.lo + (rows.hi - rows.lo) / 2)[1 + basis.rows] - self.evaluator.system.lower[basis.rows]
            step = basis.solve(left)
            unit = np.maximum(np.abs(x[basis.variables]), 1.0)
            distance = float((np.abs(step) / unit).max(initial=0.0))
            if not distance < closest:
                break
            self.x, closest, x = x, distance, x.copy()
            moved = x[basis.variables] - step
            x[basis.variables] = np.minimum(np.maximum(moved, lo[basis.variables]), hi[basis.variables])
            if distance > 2.0**-20 and not basis.invert(self._slopes(x)):
                break

    def proved(self) -> Interval | FailureReason:
        """A box around x, with a width only in the variables of the basis, that holds exactly one solution."""
        x, basis, (lo, hi) = self.x, self.basis, self.bounds
        if not basis.invert(self._slopes(x)):
            return FailureReason.DEPENDENT
        at, rows, variables = self.evaluator.rows(x, x), 1 + basis.rows, basis.variables
        if not at.defined[rows].all():
            return FailureReason.UNDEFINED
        target, middle = exactly(self.evaluator.system.lower[basis.rows]), x[variables]
        newton = size(basis.preconditioned(minus((at.lo[rows], at.hi[rows]), target)))
        unit = 2 * np.spacing(np.abs(middle)) + LEAST_RADIUS
        radius, outside = 2 * newton + 2 * unit, False
        for spare in POLICY.sparse_inflations:
            low, high = x.copy(), x.copy()
            low[variables] = np.maximum(middle - radius, lo[variables])
            high[variables] = np.minimum(middle + radius, hi[variables])
            slopes = self._enclosed_slopes(low, high)
            if isinstance(slopes, FailureReason):
                return slopes
            places, rest = basis.remainder(slopes)
            reach = _reach(places, rest, newton, np.maximum(up(high[variables] - middle), up(middle - low[variables])))
            if (reach < np.minimum(down(high[variables] - middle), down(middle - low[variables]))).all():
                reach = np.fmin(reach, _reach(places, rest, newton, reach))
                low[variables], high[variables] = down(middle - reach), up(middle + reach)
                return low, high
            radius = radii(places, rest, newton, unit, spare, basis.sweeps)
            outside = not ((middle - radius > lo[variables]) & (middle + radius < hi[variables])).all()
            if not np.isfinite(radius).all():
                break
        return FailureReason.OUTSIDE if outside else FailureReason.WIDE


def _reach(places: SparsityPattern, rest: np.ndarray, least: np.ndarray, deviation: np.ndarray) -> np.ndarray:
    """least + rest times the deviation, rounded up: a sum of k numbers that are not negative is off by less than k roundings."""
    total = np.bincount(places.rows, up(rest * deviation[places.columns]), len(least))
    count = np.bincount(places.rows, minlength=len(least))
    return up(up(least + total) * (1 + 2.0**-50 * (count + 1)))


def prove_feasible_sparse(evaluator: Evaluator, bounds: Interval, x: np.ndarray) -> ProvedFeasible | FailureReason:
    """A box around about x, whose integers are whole, within the bounds that certainly holds a feasible point."""
    with np.errstate(all="ignore"):
        equations = SparseEquations(evaluator, bounds, x)
        if isinstance(equations.basis, FailureReason):
            return equations.basis
        equations.newton(POLICY.polishing_steps)
        x, box = equations.x, equations.proved()
        return box if isinstance(box, FailureReason) else judge_candidate(evaluator, bounds, equations.basis.rows,
                                                                          equations.free, x, box)


def multipliers(evaluator: Evaluator, bounds: Interval, x: np.ndarray) -> np.ndarray:
    """Those with which ∇f + Σ y ∇c vanishes at x in the variables in which the equations can be solved; 0 for inequalities, and
    where they cannot. Estimates."""
    found = np.zeros(evaluator.system.m)
    with np.errstate(all="ignore"):
        equations = SparseEquations(evaluator, bounds, x)
        if isinstance(equations.basis, SparseBasis):
            only_f = np.zeros((1 + evaluator.system.m, 1))
            only_f[0] = 1.0
            slopes = evaluator.estimate_weighted(x[:, None], only_f)[1][:, 0]
            found[equations.basis.rows] = equations.basis.solve_transposed(-slopes[equations.basis.variables])
    return np.where(np.isfinite(found), found, 0.0)


def nearby_solution(evaluator: Evaluator, bounds: Interval, x: np.ndarray) -> np.ndarray:
    """Where the equations about hold, from x by Newton's method in some of the variables. An estimate."""
    with np.errstate(all="ignore"):
        equations = SparseEquations(evaluator, bounds, x)
        if isinstance(equations.basis, SparseBasis):
            equations.newton(POLICY.sparse_newton_steps)
        return equations.x
