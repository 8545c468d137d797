"""Quadratic models of several functions at once, each from the trials near a point that have its values.

A model is the quadratic through the values whose Hessian is least, in the Frobenius norm, but the farther away a trial is, the
more its value may be missed: near ones tell slopes, far ones bends. All models are one call of the solver. Models also say
what they do not know: how far a function with such bends may lie from its model at a point.
"""


import numpy as np

from infimum.search.policy.index import MODEL_DESCENT as POLICY
from infimum.support.lazy import dataclass


@dataclass(frozen=True, slots=True)
class FittedQuadratics:
    """Models around a point, a row each: of which functions, their gradients there and their Hessians."""

    functions: list[int]
    gradients: np.ndarray
    hessians: np.ndarray
    system: np.ndarray         # of the last: the equations that were solved, with its trials as steps away in units of `scale`
    away: np.ndarray           # rows of zeros: no trial, and no part in the equations
    scale: float

    def rises(self, steps: np.ndarray) -> np.ndarray:
        """What each function, a row, rises by at steps away, a column each."""
        return self.gradients @ steps.T + 0.5 * ((steps @ self.hessians) * steps).sum(axis=2)

    def rise(self, step: np.ndarray) -> np.ndarray:
        """The same at one step."""
        return (self.gradients + 0.5 * (self.hessians @ step)) @ step

    def unknown(self, steps: np.ndarray) -> np.ndarray:
        """How far the last function may lie from its model at steps away, if its bends are like those of the model."""
        away, u = self.away, steps / self.scale
        products = np.concatenate([0.5 * (away @ u.T) ** 2, np.ones((1, len(u))), u.T])
        known = np.sum(products * np.linalg.solve(self.system, products), axis=0)
        bends = np.sqrt(2 * np.sum(self.hessians[-1] ** 2)) * self.scale**2
        return bends * np.sqrt(np.maximum(0.5 * np.sum(u * u, axis=1) ** 2 - known, 0.0))


def quadratics(points: np.ndarray, values: np.ndarray, at: np.ndarray, last: int) -> FittedQuadratics | None:
    """Models of the functions up to `last`, constraints of which too little is known left out; None if `last` is one of them."""
    n = points.shape[1]
    away = points - at
    apart = np.maximum.reduce(np.abs(away), axis=1)
    order = np.argsort(apart, kind="stable")
    most = int(POLICY.trials_a_coefficient * ((n + 1) * (n + 2) // 2))
    computed = ~np.isnan(values[order, :last + 1])
    rows = [order[computed[:, k]][:most] for k in range(last + 1)]
    if len(rows[last]) <= n:
        return None
    functions = [k for k in range(last + 1) if len(rows[k]) > n]
    models, count = len(functions), max(len(rows[k]) for k in functions)
    near, valid, distance = np.zeros((models, count, n)), np.zeros((models, count)), np.zeros((models, count))
    right, scale = np.zeros((models, count + n + 1, 1)), np.ones(models)
    for row, k in enumerate(functions):
        chosen, known = rows[k], values[rows[k], k]
        part = slice(len(chosen))
        near[row, part], valid[row, part], distance[row, part] = away[chosen], 1.0, apart[chosen]
        right[row, part, 0], scale[row] = known - np.minimum.reduce(known), distance[row, len(chosen) - 1] or 1.0
    near /= scale[:, None, None]
    system = _system(near, valid, (distance / scale[:, None]) ** POLICY.falloff)
    solution = np.linalg.solve(system, right)[:, :, 0]
    turned = near.transpose(0, 2, 1)
    hessians = (turned * solution[:, None, :count]) @ near / (scale * scale)[:, None, None]
    return FittedQuadratics(functions, solution[:, count + 1:] / scale[:, None], hessians, system[-1], near[-1], float(scale[-1]))


def _system(near: np.ndarray, valid: np.ndarray, missed: np.ndarray) -> np.ndarray:
    """The equations of the multipliers of values, of the constant and of the gradient; rows that are not valid have none."""
    models, count, n = near.shape
    system = np.zeros((models, count + n + 1, count + n + 1))
    diagonal = system.reshape(models, -1)[:, ::count + n + 2]
    system[:, :count, :count] = 0.5 * (near @ near.transpose(0, 2, 1)) ** 2
    diagonal[:, :count] += np.where(valid > 0, POLICY.least_misfit + POLICY.farthest_misfit * missed, 1.0)
    diagonal[:, count:] = -POLICY.open_slope      # trials in a plane leave slopes across it open: they are 0
    system[:, :count, count] = system[:, count, :count] = valid
    system[:, :count, count + 1:] = near
    system[:, count + 1:, :count] = near.transpose(0, 2, 1)
    return system
