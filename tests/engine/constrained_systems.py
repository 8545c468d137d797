"""Functions with constraints for tests: how a system is written down, and small problems with known solutions."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from infimum.evaluation.evaluator import Evaluator
from infimum.expr.build import reshape
from infimum.problem.system import System
from infimum.trace.trace import trace

INF = np.inf


class Case(NamedTuple):
    """Minimise f with lower <= c(x) <= upper for each (c, lower, upper) of `rows`, within the bounds; `best` is the minimum."""

    f: Callable
    rows: Sequence[tuple[Callable, float, float]]
    bounds: Sequence[tuple[float, float]]
    best: float = np.nan
    integers: tuple[int, ...] = ()

    @property
    def lo(self) -> np.ndarray:
        return np.array(self.bounds, float)[:, 0]

    @property
    def hi(self) -> np.ndarray:
        return np.array(self.bounds, float)[:, 1]

    def evaluator(self) -> Evaluator:
        n = len(self.bounds)
        f, bodies = trace(self.f, n), tuple(reshape(trace(c, n), (1,)) for c, _, _ in self.rows)
        lower, upper = (np.array([row[k] for row in self.rows], float) for k in (1, 2))
        return Evaluator(f, n, system=System(f, bodies, lower, upper, self.integers))


def _sum_of_squares(x):
    return np.sum(x**2)


def _sines(x, k):
    return np.sum(_MATRIX[k] * x) + 0.25 * np.sin(x[k] * x[k + 1])


_MATRIX = np.round(np.cos(np.arange(300.0).reshape(15, 20) ** 2), 2)
_PLANTED = np.linspace(-0.75, 0.75, 20)

# Hock and Schittkowski's problems by their numbers, those of CEC 2006 as g03 and so forth, and what each of the others is about
CASES = {
    "circle": Case(lambda x: x[0] + x[1], [(_sum_of_squares, 1, 1)], [(-2, 2)] * 2, -np.sqrt(2)),
    "disc": Case(lambda x: x[0] + x[1], [(_sum_of_squares, -INF, 1)], [(-2, 2)] * 2, -np.sqrt(2)),
    "hs14": Case(lambda x: (x[0] - 2) ** 2 + (x[1] - 1) ** 2,
                 [(lambda x: x[0] ** 2 / 4 + x[1] ** 2, -INF, 1), (lambda x: x[0] - 2 * x[1], -1, -1)], [(-10, 10)] * 2,
                 9 - 2.875 * np.sqrt(7)),
    "hs40": Case(lambda x: -x[0] * x[1] * x[2] * x[3], [(lambda x: x[0] ** 3 + x[1] ** 2, 1, 1),
                 (lambda x: x[0] ** 2 * x[3] - x[2], 0, 0), (lambda x: x[3] ** 2 - x[1], 0, 0)], [(-2, 2)] * 4, -0.25),
    "hs71": Case(lambda x: x[0] * x[3] * (x[0] + x[1] + x[2]) + x[2],
                 [(lambda x: x[0] * x[1] * x[2] * x[3], 25, INF), (_sum_of_squares, 40, 40)], [(1, 5)] * 4, 17.0140172891520),
    "haverly": Case(lambda x: 6 * x[0] + 16 * x[1] + x[2] - 9 * x[4] - 5 * x[3] - 15 * x[5],
                    [(lambda x: x[0] + x[1] - x[4] - x[5], 0, 0), (lambda x: x[6] * (x[4] + x[5]) - 3 * x[0] - x[1], 0, 0),
                     (lambda x: x[6] * x[4] + 2 * x[2] - 2.5 * (x[4] + x[2]), -INF, 0),
                     (lambda x: x[6] * x[5] + 2 * x[3] - 1.5 * (x[5] + x[3]), -INF, 0),
                     (lambda x: x[4] + x[2], -INF, 100), (lambda x: x[5] + x[3], -INF, 200)], [(0, 300)] * 6 + [(1, 3)], -400.0),
    "g03": Case(lambda x: -(10.0**5) * np.prod(x), [(_sum_of_squares, 1, 1)], [(0, 1)] * 10, -1.0),
    "g05": Case(lambda x: 3 * x[0] + 1e-6 * x[0] ** 3 + 2 * x[1] + 2e-6 / 3 * x[1] ** 3,
                [(lambda x: x[3] - x[2], -0.55, 0.55),
                 (lambda x: 1000 * np.sin(-x[2] - 0.25) + 1000 * np.sin(-x[3] - 0.25) + 894.8 - x[0], 0, 0),
                 (lambda x: 1000 * np.sin(x[2] - 0.25) + 1000 * np.sin(x[2] - x[3] - 0.25) + 894.8 - x[1], 0, 0),
                 (lambda x: 1000 * np.sin(x[3] - 0.25) + 1000 * np.sin(x[3] - x[2] - 0.25) + 1294.8, 0, 0)],
                [(0, 1200)] * 2 + [(-0.55, 0.55)] * 2, 5126.4981096),
    "g06": Case(lambda x: (x[0] - 10) ** 3 + (x[1] - 20) ** 3, [(lambda x: (x[0] - 5) ** 2 + (x[1] - 5) ** 2, 100, INF),
                (lambda x: (x[0] - 6) ** 2 + (x[1] - 5) ** 2, -INF, 82.81)], [(13, 100), (0, 100)], -6961.81387558),
    "g11": Case(lambda x: x[0] ** 2 + (x[1] - 1) ** 2, [(lambda x: x[1] - x[0] ** 2, 0, 0)], [(-1, 1)] * 2, 0.75),
    "g13": Case(lambda x: np.exp(x[0] * x[1] * x[2] * x[3] * x[4]), [(_sum_of_squares, 10, 10),
                (lambda x: x[1] * x[2] - 5 * x[3] * x[4], 0, 0), (lambda x: x[0] ** 3 + x[1] ** 3, -1, -1)],
                [(-2.3, 2.3)] * 2 + [(-3.2, 3.2)] * 3, 0.0539498477703),
    "15 equations": Case(lambda x: np.sum((x - _PLANTED) ** 2), [(lambda x, k=k: _sines(x, k), *[_sines(_PLANTED, k)] * 2)
                         for k in range(15)], [(-3, 3)] * 20, 0.0),
    "disconnected": Case(lambda x: x[0] + x[1], [(lambda x: (x[0] ** 2 - 4) ** 2 + x[1] ** 2, -INF, 1)], [(-4, 4)] * 2,
                         -3.0299075707848),
    "narrow": Case(lambda x: x[0] ** 2 + x[1], [(lambda x: x[1] - x[0], 0, 2.0**-20)], [(-2, 2)] * 2, -0.25),
    "square system": Case(lambda x: x[0], [(_sum_of_squares, 2, 2), (lambda x: x[0] - x[1], 0, 0)], [(-3, 3)] * 2, -1.0),
    "double root": Case(lambda x: x[0] + x[1], [(lambda x: x[0] ** 2, 0, 0)], [(-1, 1)] * 2, -1.0),
    "redundant": Case(_sum_of_squares, [(lambda x: x[0] + x[1] + x[2], 1, 1), (lambda x: 2 * x[0] + 2 * x[1] + 2 * x[2], 2, 2)],
                      [(-3, 3)] * 3, 1 / 3),
    "no interior": Case(lambda x: x[0] + x[1], [(_sum_of_squares, -INF, 1), (lambda x: (x[0] - 2) ** 2 + x[1] ** 2, -INF, 1)],
                        [(-3, 3)] * 2, 1.0),
    "integers": Case(lambda x: (x[0] - 3.6) ** 2 + (x[1] - 2.6) ** 2, [(lambda x: x[0] + x[1], -INF, 6)], [(0, 5)] * 2, 0.36,
                     integers=(0,)),
    "infinite bounds": Case(lambda x: x[0] + 4 * x[1], [(lambda x: x[0] * x[1], 1, INF)], [(0, INF)] * 2, 4.0),
}
