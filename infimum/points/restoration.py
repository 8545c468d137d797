"""From anywhere towards points that obey the constraints: Levenberg and Marquardt's method on what is violated, many lanes at
once. Estimates."""

from collections.abc import Iterator

import numpy as np

from infimum.evaluation.evaluator import Evaluator
from infimum.linear_algebra.lane_algebra import gram, total
from infimum.search.policy.points import RESTORATION as POLICY


class Restoration:
    """Lanes at points x (n, N) between their own bounds; `left` is the sum of squared violations, each as part of the
    constraint's largest derivative at the start."""

    def __init__(self, evaluator: Evaluator, lo: np.ndarray, hi: np.ndarray, x: np.ndarray):
        self.evaluator, self.lo, self.hi = evaluator, lo, hi
        system = evaluator.system
        self.lower, self.upper = (end[:, None] for end in (system.lower, system.upper))
        self.x = np.minimum(np.maximum(x, lo), hi)
        with np.errstate(all="ignore"):
            self.unit = np.minimum(hi - lo, np.maximum(1.0, np.abs(self.x)))
            steep = np.abs(evaluator.estimate_jacobian(self.x)[1][1:] * self.unit).max(axis=1, initial=0.0)
        self.scale = np.where((steep > 0) & (steep < np.inf), steep, 1.0)
        self.evaluations = 2 * x.shape[1]
        self.violations, self.jacobian, self.left = self._look(self.x, self.scale)
        self.damping = np.full(x.shape[1], POLICY.first_damping)

    def steps(self, most: int) -> Iterator[None]:
        """Up to the given number of trials in all lanes that are not done."""
        done = POLICY.small_violation * np.where(np.isfinite(self.left), self.left, 0.0)
        for _ in range(most):
            going = np.flatnonzero((self.left > done) & (self.damping < POLICY.most_damping) & np.isfinite(self.left))
            if not len(going):
                return
            self._try(going)
            yield

    def _try(self, going: np.ndarray) -> None:
        x, lo, hi, unit = (np.take(a, going, axis=1) for a in (self.x, self.lo, self.hi, self.unit))
        violations, jacobian = self.violations[:, going], self.jacobian[:, :, going] * unit
        slope = total(jacobian * violations[:, None])
        held = ((x <= lo) & (slope > 0)) | ((x >= hi) & (slope < 0)) | (lo == hi)
        jacobian, slope = np.where(held, 0.0, jacobian), np.where(held, 0.0, slope)
        matrix = gram(jacobian, np.ones_like(violations) * (violations != 0))
        each = np.arange(len(x))
        largest = matrix[each, each].max(axis=0)
        matrix[each, each] += np.where(held, 1.0, np.where(largest > 0, largest, 1.0) * self.damping[going])
        step, good, _ = self.evaluator.host_arrays.solve_symmetric(matrix, -slope, len(x))
        trial = np.minimum(np.maximum(np.where(good, x + unit * step, x), lo), hi)
        found = self._look(trial, self.scale[:, going])
        self.evaluations += len(going)
        better = found[2] < self.left[going]
        into = going[better]
        for mine, new in zip((self.x, self.violations, self.jacobian, self.left), (trial, *found), strict=True):
            mine[..., into] = new[..., better]
        self.damping[going] *= np.where(better, POLICY.damping_reduction, POLICY.damping_growth)

    def _look(self, x: np.ndarray, scale: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Violations in their units, their derivatives, and the sum of squares; infinite where something has no value."""
        values, jacobian = self.evaluator.estimate_jacobian(x)
        with np.errstate(all="ignore"):
            c = values[1:]
            violations = (np.maximum(c - self.upper, 0.0) - np.maximum(self.lower - c, 0.0)) / scale
            jacobian = jacobian[1:] / scale[:, None]
            left = total(violations * violations)
            known = np.isfinite(left) & np.isfinite(jacobian).all(axis=(0, 1))
        return np.where(known, violations, 0.0), np.where(known, jacobian, 0.0), np.where(known, left, np.inf)
