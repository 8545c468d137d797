"""Other forms of a system of a function and its constraints, with the same points and the same values."""

from typing import TYPE_CHECKING

import numpy as np

from infimum.expr.node import var
from infimum.presolve.presolve_step import Formulation, PresolveStep
from infimum.problem.system import System
from infimum.support.lazy import LazyModule

if TYPE_CHECKING:
    from infimum.structure import complete_squares
else:
    complete_squares = LazyModule("structure.complete_squares")


class EmptySystem(PresolveStep):
    """A function without constraints as a system without constraints, for engines that bound systems; with `linear_programs`
    only where these have something to say of it."""

    def __init__(self, linear_programs: bool = False):
        self.linear_programs = linear_programs

    def apply(self, given: Formulation) -> Formulation | None:
        evaluator, no_ends = given.evaluator, np.zeros(0)
        if evaluator.system is not None:
            return None
        found = given.with_system(System(evaluator.f, (), no_ends, no_ends))
        if self.linear_programs:
            from infimum.bounds.linear_program_bound import LinearProgramBound  # seldom needed

            evaluator.linear_programs.version()  # an error where the solver is missing
            return found if LinearProgramBound.applies(found.evaluator) else None
        return found


class CompletedSquares(PresolveStep):
    """Squares of unbounded variables are completed, since that has better bounds."""

    def apply(self, given: Formulation) -> Formulation | None:
        (problem, evaluator), n = given, given.evaluator.n
        unbounded = np.flatnonzero(np.isinf(problem.lo) | np.isinf(problem.hi))
        if evaluator.system is None or not len(unbounded):
            return None
        return given.with_system(complete_squares.completed(evaluator.system, var("x", (n,)), set(unbounded.tolist())))
