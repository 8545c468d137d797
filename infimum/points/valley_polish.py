"""The last digits of a good point, by Newton's method: in long flat valleys quasi-Newton descents stop too early. Estimates."""

from collections.abc import Iterator

import numpy as np

from infimum.evaluation.evaluator import Evaluator
from infimum.points.point_search import PointSearch
from infimum.search.policy.points import POLISHING as POLICY


class ValleyPolish(PointSearch):
    """Moves a point downhill within the bounds while that pays."""

    def __init__(self, evaluator: Evaluator, lo: np.ndarray, hi: np.ndarray, x: np.ndarray):
        self.evaluator, self.lo, self.hi, self.x, self.n = evaluator, lo, hi, x, len(lo)
        self.value, self.evaluations = float(evaluator.estimate(x)), 1

    def rounds(self) -> list[Iterator[None]]:
        return [self._steps()]

    def _steps(self) -> Iterator[None]:
        """Newton steps until none helps."""
        for _ in range(POLICY.valley_steps):
            better = self._step()
            yield
            if not better:
                return

    def _step(self) -> bool:
        _, gradient = self.evaluator.estimate_gradient(self.x)
        hessian = self.evaluator.estimate_hessian_vector(np.repeat(self.x[:, None], self.n, axis=1), np.eye(self.n))
        self.evaluations += 1 + self.n
        held = ((self.x <= self.lo) & (gradient > 0)) | ((self.x >= self.hi) & (gradient < 0)) | (self.lo == self.hi)
        free = np.flatnonzero(~held)
        if not len(free) or not (np.isfinite(gradient).all() and np.isfinite(hessian).all()):
            return False
        matrix, wanted = hessian[np.ix_(free, free)], -gradient[free]
        scale = float(np.abs(np.diagonal(matrix)).max())
        places = np.repeat(self.x[:, None], len(POLICY.valley_damping), axis=1)
        for k, part in enumerate(POLICY.valley_damping):
            step = solve(matrix + part * scale * np.eye(len(free)), wanted)
            if step is not None:
                places[free, k] += step
        places = np.minimum(np.maximum(places, self.lo[:, None]), self.hi[:, None])
        values = self.evaluator.estimate(places)
        self.evaluations += len(POLICY.valley_damping)
        values = np.where(np.isfinite(values), values, np.inf)
        k = int(np.argmin(values))
        if not values[k] < self.value:
            return False
        self.x, self.value = places[:, k].copy(), float(values[k])
        return True


def solve(matrix: np.ndarray, right: np.ndarray) -> np.ndarray | None:
    """The solution by elimination with pivots, or None. No sum and no library's product: the order of their additions is a
    machine's own, and these bits are to be the same on all."""
    a, n = np.concatenate([matrix, right[:, None]], axis=1), len(right)
    with np.errstate(all="ignore"):
        for i in range(n):
            pivot = i + int(np.argmax(np.abs(a[i:, i])))
            a[[i, pivot]] = a[[pivot, i]]
            a[i + 1:] -= (a[i + 1:, i] / a[i, i])[:, None] * a[i]
        x = a[:, n].copy()
        for i in reversed(range(n)):
            x[i] /= a[i, i]
            x[:i] -= a[:i, i] * x[i]
    return x if np.isfinite(x).all() else None
