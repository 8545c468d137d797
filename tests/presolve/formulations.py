"""Problems that each presolve step has something to do with, and whose domains a careless step would change."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import infimum
from infimum.presolve.defined_objective import DefinedObjective
from infimum.presolve.domain_bounds import DomainBounds
from infimum.presolve.fixed_variables import FixedVariables
from infimum.presolve.maximisation import Maximisation
from infimum.presolve.presolve_stack import Formulation, PresolveStep
from infimum.presolve.system_forms import CompletedSquares, ConstraintReport, EmptySystem, KnownExponents
from infimum.presolve.whole_number_rows import WholeNumberRows
from infimum.problem.settings import Goal
from tests.engine.constrained.planted_systems import evaluator_of

INF = np.inf


class Row(NamedTuple):
    """A step, and a problem that it changes: the function, its constraints, the bounds."""

    step: Callable[[], PresolveStep]
    fun: Callable[[Any], Any]
    constraints: list[tuple[Callable[[Any], Any], float, float]]
    bounds: list[tuple[float, float]]
    integers: tuple[int, ...] = ()

    def formulation(self) -> Formulation:
        n = len(self.bounds)
        constrained = self.constraints or self.integers
        evaluator = evaluator_of(self.fun, self.constraints, n, self.integers) if constrained else infimum.compile(self.fun, n)
        return Formulation(infimum.Problem.read(self.fun, self.bounds), evaluator)


ROWS = {
    "maximisation": Row(Maximisation, lambda x: x[0] * np.sqrt(x[1]), [(lambda x: x[0] - x[1], -1.0, INF)], [(-2, 2), (-1, 2)]),
    "a fixed exponent": Row(KnownExponents, lambda x: x[0] ** x[1] + np.log(x[2]), [], [(-3, 3), (3, 3), (-1, 2)]),
    "a whole exponent": Row(KnownExponents, lambda x: x[0] ** x[1] + np.sqrt(x[2]), [], [(-3, 3), (0, 4), (-1, 2)], (1,)),
    "fixed variables": Row(FixedVariables, lambda x: x[0] * x[1] + np.log(x[3]) + x[2], [(lambda x: x[1] - x[3], 0.0, INF)],
                           [(-2, 2), (0.5, 0.5), (-1, 1), (-1, 3), (-0.25, -0.25)]),
    "fixed whole numbers": Row(FixedVariables, lambda x: x[0] ** 2 - x[2] + np.sqrt(x[3]), [], [(1, 1), (2, 2), (-2, 2), (-2, 3)],
                               (0, 3)),
    "nothing is free": Row(lambda: FixedVariables(False), lambda x: x[0] + x[1],  [], [(infimum.pi, infimum.pi)] * 2),
    "the constraint report": Row(ConstraintReport, lambda x: x[0] * np.log(x[1]), [(lambda x: x[0] - x[1], -1.0, 0.0)],
                                 [(-2, 2), (-1, 2)]),
    "a defined objective": Row(lambda: DefinedObjective(Goal()), lambda x: 2 * x[2],
                               [(lambda x: x[2] - np.log(x[1]) * x[0] - x[0] ** 2, 0.0, 0.0), (lambda x: x[0] + x[1], -1.0, INF)],
                               [(-2, 2), (-1, 2), (-INF, INF)]),
    "an objective with bounds": Row(lambda: DefinedObjective(Goal()), lambda x: x[0],
                                    [(lambda x: x[0] - x[1] ** 2 - np.sqrt(x[2]), 0.0, 0.0)], [(-5, 3), (-2, 2), (-1, 2)]),
    "an objective from above": Row(lambda: DefinedObjective(Goal()), lambda x: x[0],
                                   [(lambda x: x[0] - x[1] ** 2 - np.sqrt(x[2]), 0.0, INF)], [(-INF, INF), (-2, 2), (-1, 2)]),
    "the domain": Row(DomainBounds, lambda x: np.log(x[0] + 1) ** 2 + np.sqrt(x[1]) * x[0] + 1 / (x[0] + 1), [],
                      [(-2, 2), (-2, 2)]),
    "a domain of half lines": Row(DomainBounds, lambda x: np.sqrt(x[0] - x[1]) + np.arcsin(x[1] / 2), [],
                                  [(-INF, INF), (-INF, 3)]),
    "whole rows": Row(WholeNumberRows, lambda x: x[0] * np.sqrt(x[2]), [(lambda x: 2 * x[0] + 4 * x[1], -INF, 3.0)],
                      [(-2, 2), (-1, 2), (-1, 2)], (0, 1)),
    "an empty system": Row(EmptySystem, lambda x: np.sqrt(x[0]) - x[1], [], [(-1, 2), (-2, 2)]),
    "completed squares": Row(CompletedSquares, lambda x: x[0] ** 2 - 16 * x[0] + np.sqrt(x[1]),
                             [(lambda x: x[0] + x[1], 1.0, INF)], [(-INF, INF), (-1, 4)]),
}
