"""The conditions of Karush, Kuhn and Tucker as equations in the free variables and the multipliers of the active constraints.

    ∂f/∂x_i + Σ w_k ∂g_k/∂x_i = 0 for free variables i,    g_k = e_k for active constraints k.

Their derivatives are the symmetric matrix [[H, Jᵀ], [J, 0]], H the second derivatives of f + Σ w_k g_k, J those of the active
constraints. Enclosures on boxes of variables and multipliers, the last axis a lane for each box; docs/proofs/stationary_points.md
has the theorem.
"""

from typing import NamedTuple

import numpy as np

from infimum.certify.equation_solutions import inverted
from infimum.evaluation.enclosures import SMOOTH
from infimum.evaluation.evaluator import Evaluator
from infimum.evaluation.programs import WEIGHTED_HESSIAN
from infimum.linear_algebra.interval_matrices import Interval, exactly, minus

_OF_GRADIENT, _OF_HESSIAN = slice(3, 5), slice(5, 7)  # fixed: the outputs of the program


class LagrangianEnclosure(NamedTuple):
    """Where all rows are smooth (N), and enclosures of the gradient (n, N) and of the second derivatives (n, n, N) of the sum of
    all rows times their weights."""

    smooth: np.ndarray
    gradient: Interval
    hessian: Interval


def lagrangian(evaluator: Evaluator, box: Interval, weights: Interval) -> LagrangianEnclosure:
    """For boxes (n, N) and weights (1 + m, N), that of f first."""
    given = [np.ascontiguousarray(end) for end in (*box, np.concatenate(weights))]
    out = evaluator.run(WEIGHTED_HESSIAN, given)
    square, (rows, columns) = np.empty((evaluator.n,) * 2, np.intp), np.triu_indices(evaluator.n)
    square[rows, columns] = square[columns, rows] = np.arange(len(rows))
    return LagrangianEnclosure(out[2][0] >= SMOOTH, tuple(out[_OF_GRADIENT]),
                               tuple(triangle[square] for triangle in out[_OF_HESSIAN]))


class KktEquations:
    """The equations for one choice: `active` are the numbers of the active constraints, `ends` where they lie, `free` the
    variables that are not held. What depends on the box alone is enclosed once."""

    def __init__(self, evaluator: Evaluator, active: np.ndarray, ends: np.ndarray, free: np.ndarray):
        self.evaluator, self.active, self.ends, self.free = evaluator, active, ends, free

    def weights(self, w: Interval) -> Interval:
        """Of all rows: 1 for f, 0 for constraints that are not active."""
        whole = tuple(np.zeros((1 + self.evaluator.system.m, end.shape[1])) for end in w)
        for row, end in zip(whole, w, strict=True):
            row[0], row[1 + self.active] = 1.0, end
        return whole

    def lagrangian(self, box: Interval, w: Interval) -> LagrangianEnclosure:
        return lagrangian(self.evaluator, box, self.weights(w))

    def residual(self, x: np.ndarray, w: np.ndarray) -> tuple[Interval, LagrangianEnclosure]:
        """What the left sides less the right ones are at a point (n) with multipliers (a), of shape (f + a, 1)."""
        point, rows = exactly(x[:, None]), self.evaluator.rows(x[:, None], x[:, None])
        found = self.lagrangian(point, exactly(w[:, None]))
        values = minus((rows.lo[1 + self.active], rows.hi[1 + self.active]), exactly(self.ends[:, None]))
        return tuple(np.concatenate([g[self.free], v]) for g, v in zip(found.gradient, values, strict=True)), found

    def matrix(self, hessian: Interval, jacobian: Interval) -> Interval:
        """[[H, Jᵀ], [J, 0]] (f + a, f + a, N) of second derivatives (n, n, N) and those of all rows (1 + m, n, N)."""
        f, a, lanes = len(self.free), len(self.active), hessian[0].shape[-1]
        found = tuple(np.zeros((f + a, f + a, lanes)) for _ in range(2))
        for whole, h, j in zip(found, hessian, self.slopes(jacobian), strict=True):
            whole[:f, :f] = h[np.ix_(self.free, self.free)]
            whole[f:, :f], whole[:f, f:] = j, j.swapaxes(0, 1)
        return found

    def slopes(self, jacobian: Interval) -> Interval:
        """The derivatives (a, f, N) of the active constraints by the free variables."""
        return tuple(j[np.ix_(1 + self.active, self.free)] for j in jacobian)

    def step(self, x: np.ndarray, w: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
        """About the step of Newton's method in free variables and multipliers; None where there is none."""
        (low, high), found = self.residual(x, w)
        y = self.inverse(x, found)
        if y is None:
            return None
        step = -(y * (0.5 * low + 0.5 * high)[None, :, 0]).cumsum(axis=1)[:, -1] if len(y) else np.zeros(0)
        return (step[:len(self.free)], step[len(self.free):]) if np.isfinite(step).all() else None

    def inverse(self, x: np.ndarray, found: LagrangianEnclosure) -> np.ndarray | None:
        """About the inverse of the matrix at a point; None where there is none."""
        slopes = self.evaluator.jacobian(x[:, None], x[:, None])
        low, high = self.matrix(found.hessian, (slopes.lo, slopes.hi))
        middle = (0.5 * low + 0.5 * high)[..., 0]
        return inverted(middle) if np.isfinite(middle).all() else None
