"""Solvers that are not to be trusted, in the place of HiGHS."""

import numpy as np

from infimum.backend.highs import FAILED, LIMITED, NO_POINT, SOLVED, LinearProgramSolution


class Liar:
    """Answers by a rule: (random numbers, rows, columns) -> Solved."""

    answer = None

    def __init__(self):
        self.rng, self.rows, self.columns = np.random.default_rng(0), 0, 0

    def load(self, cost, matrix, lower, upper):
        self.rows, self.columns = len(lower), len(cost)
        return True

    def start_from(self, basis, columns):
        pass

    def basis(self):
        return np.zeros(self.rows + self.columns, np.int8)

    def change_cost(self, cost):
        pass

    def tableau_rows(self, columns):
        for j in columns.tolist():
            row = self.rng.normal(size=self.rows) * self.rng.choice([0.0, 1.0, 1e-300, 1e300], self.rows)
            yield j, np.where(self.rng.random(self.rows) < 0.01, self.rng.choice([np.nan, np.inf]), row)

    def whole_solution(self, program, whole, nodes, seconds):
        """Nothing, or numbers within, beyond or far from the ends, or none at all."""
        point = program.low + (program.high - program.low) * self.rng.normal(0.5, 0.5, len(program.low))
        return (None, point, point * 1e300, np.full(len(point), np.nan))[int(self.rng.integers(4))]

    def cost_within(self, column, low, high, iterations):
        return self.rng.choice([np.nan, np.inf, -1e300, 0.5]), 1

    def solve(self, iterations, primal=False, enough=np.inf):
        return type(self).answer(self.rng, self.rows, self.columns)


def _any(scale, status=SOLVED):
    return lambda rng, m, n: LinearProgramSolution(status, rng.normal(size=m) * scale, rng.random(n), 1)


ANSWERS = {
    "random": _any(1.0), "huge": _any(1e300), "tiny": _any(1e-300), "no point": _any(1.0, NO_POINT),
    "no point, huge": _any(1e250, NO_POINT), "limited": _any(1.0, LIMITED), "unknown status": _any(1.0, "whatever"),
    "nan": lambda rng, m, n: LinearProgramSolution(SOLVED, np.full(m, np.nan), np.full(n, np.nan), 1),
    "infinite": lambda rng, m, n: LinearProgramSolution(NO_POINT, np.full(m, np.inf), None, 1),
    "failed": lambda rng, m, n: LinearProgramSolution(FAILED, None, None, 0),
    "wrong shape": lambda rng, m, n: LinearProgramSolution(SOLVED, np.zeros(m + 1), np.zeros(3), 1),
    "nan point": lambda rng, m, n: LinearProgramSolution(SOLVED, rng.normal(size=m), np.full(n, np.nan), 1),
}


def liar(name):
    return type("Told", (Liar,), {"answer": staticmethod(ANSWERS[name])})
