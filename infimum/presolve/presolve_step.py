"""What a step of presolve is: another form of a problem, and the way back from that form."""

from typing import NamedTuple

import numpy as np

from infimum.evaluation.evaluator import Evaluator
from infimum.problem.problem import Problem
from infimum.problem.system import System
from infimum.result import Result


class Formulation(NamedTuple):
    """A problem in one form: the bounds, and the compiled function with its constraints."""

    problem: Problem
    evaluator: Evaluator

    def with_system(self, system: System) -> "Formulation":
        """The same function in another form, with its constraints."""
        return self._replace(evaluator=self.evaluator.rewritten(system.f, system, self.evaluator.fun))


class RunBounds(NamedTuple):
    """What a run knows so far: the best value that was found, which is an estimate, and the proved bounds of the optimum."""

    value: float
    lower: float
    upper: float


class PresolveStep:
    """Writes a problem in another form. Everything but `apply` leads back: it takes what belongs to the inner form, which `apply`
    returned, and gives what belongs to the outer form. The defaults are right where both forms have the same points and values.

    A step belongs to one run: `apply` is called once, and keeps what the way back needs. It keeps values and domain on the points
    that count, and nothing else may rely on the step being done: tests compare runs with and without each step.
    """

    def apply(self, given: Formulation) -> Formulation | None:
        """The inner form; None where the step has nothing to do, and then it is not kept."""
        raise NotImplementedError

    def postsolve(self, result: Result) -> Result:
        """The answer."""
        return result

    def point(self, x: np.ndarray) -> np.ndarray:
        """A point of a run that is at work."""
        return x

    def bounds(self, known: RunBounds) -> RunBounds:
        """The bounds of a run that is at work."""
        return known
