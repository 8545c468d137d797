"""The responses of a model at some x, each a function of the parameters: estimates, derivatives, and enclosures over boxes.

An Evaluator is of one number. So the responses m_k are combined with as many new variables u, Φ(p, u) = Σ u_k m_k(p): the
gradient by u is m, and the second derivatives by u and p are the Jacobian matrix of m, whatever u is.
"""

from functools import cached_property
from typing import Any

import numpy as np

from infimum.evaluation.compile import compile
from infimum.expr.node import operations
from infimum.fitting.problem import FitProblem
from infimum.trace.trace import trace

_NUMBERS = 1 << 22  # doubles that a launch may write
_OPERATIONS = 100   # of models for which kernels are compiled without being asked for


class Responses:
    """Of the problem's model at x. `shape` is that of what the model returns there."""

    def __init__(self, problem: FitProblem, x: Any, shape: tuple[int, ...] | None = None):
        self.n = len(problem.parameters.lo)
        self.shape = _shape(problem, x) if shape is None else shape
        self.size = int(np.prod(self.shape))
        self._evaluator = compile(problem.combination(x, self.shape), self.n + self.size, check=False)

    @cached_property
    def is_small(self) -> bool:
        """Are kernels of first and second derivatives compiled in moments? Not those of a simulation of many steps."""
        return operations(self._evaluator.f) <= _OPERATIONS

    def values(self, p: np.ndarray) -> np.ndarray:
        """Estimates at a point."""
        return self._evaluator.estimate_gradient(self._with_zeros(p[:, None])[:, 0])[1][self.n:].reshape(self.shape)

    def jacobian(self, p: np.ndarray) -> np.ndarray:
        """Estimates of the derivatives at a point, a row for each response."""
        columns, step = np.empty((self.size, self.n)), self._lanes
        for k in range(0, self.n, step):
            directions = self._with_zeros(np.eye(self.n)[:, k:k + step])
            points = self._with_zeros(np.repeat(p[:, None], directions.shape[1], axis=1))
            columns[:, k:k + step] = self._evaluator.estimate_hessian_vector(points, directions)[self.n:]
        return columns

    def enclose(self, lo: np.ndarray, hi: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Proved bounds of all responses over the union of the boxes (n, N); infinite where the model may be undefined."""
        low, high = np.full(self.size, np.inf), np.full(self.size, -np.inf)
        for k in range(0, lo.shape[1], self._lanes):
            part = slice(k, k + self._lanes)
            found = self._evaluator.gradient(self._with_zeros(lo[:, part]), self._with_zeros(hi[:, part]))
            known = found.value.lipschitz  # elsewhere a derivative says nothing
            low = np.minimum(low, np.where(known, found.lo[self.n:], -np.inf).min(axis=1))
            high = np.maximum(high, np.where(known, found.hi[self.n:], np.inf).max(axis=1))
        return low.reshape(self.shape), high.reshape(self.shape)

    @property
    def _lanes(self) -> int:
        return max(1, _NUMBERS // (self.n + self.size))

    def _with_zeros(self, p: np.ndarray) -> np.ndarray:
        return np.concatenate([p, np.zeros((self.size, p.shape[1]))])


def _shape(problem: FitProblem, x: Any) -> tuple[int, ...]:
    """The shape of what the model returns at x."""
    function, arguments, seen = problem.model.function, problem.arguments, []

    def first(p: Any) -> Any:
        positional, by_name = arguments(p)
        response = function(x, *positional, **by_name)
        response = np.stack(response) if isinstance(response, (list, tuple)) else response
        seen.append(np.shape(response))
        return p[0]
    trace(first, len(problem.parameters.lo))
    return seen[-1]
