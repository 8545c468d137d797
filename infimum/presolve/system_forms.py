"""Other forms of a system of a function and its constraints, with the same points and the same values, and where in the stack
the constraints are the user's own.

Proof, of exponents that the bounds tell: docs/proofs/powers.md.
"""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from infimum.expr.build import build, reshape
from infimum.expr.node import Expr, var
from infimum.presolve.presolve_stack import Formulation, PresolveStep
from infimum.problem.fixed_values import held_variables
from infimum.problem.system import System
from infimum.result import Result
from infimum.support.lazy import LazyModule

if TYPE_CHECKING:
    from infimum.bounds.infinite_ends import convex_bounds
    from infimum.certify import constraint_values
    from infimum.expr import point_value
    from infimum.structure import complete_squares, known_exponents
else:
    convex_bounds = LazyModule("bounds.infinite_ends.convex_bounds")
    complete_squares = LazyModule("structure.complete_squares")
    point_value = LazyModule("expr.point_value")
    known_exponents = LazyModule("structure.known_exponents")
    constraint_values = LazyModule("certify.constraint_values")


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
            from infimum.bounds.linear_programs.linear_program_bound import LinearProgramBound  # seldom needed

            evaluator.linear_programs.version()  # an error where the solver is missing
            return found if LinearProgramBound.applies(found.evaluator) else None
        return found


class ConvexWithoutBounds(EmptySystem):
    """The same, where variables have no bounds and the function is convex, not linear: then an upper bound of it says where its
    minimum is."""

    def apply(self, given: Formulation) -> Formulation | None:
        problem = given.problem
        bounded = np.isfinite(problem.region).all() or problem.several is not None
        if bounded or given.evaluator.system is not None:
            return None
        found = super().apply(given)
        self.said = "a convex function of variables without bounds: an upper bound tells where its minimum is"
        return found if convex_bounds.is_convex(found.evaluator.system, *problem.region) else None


class CompletedSquares(PresolveStep):
    """Squares of unbounded variables are completed, since that has better bounds."""

    def apply(self, given: Formulation) -> Formulation | None:
        (problem, evaluator), n = given, given.evaluator.n
        unbounded = np.flatnonzero(np.isinf(problem.lo) | np.isinf(problem.hi))
        if evaluator.system is None or not len(unbounded):
            return None
        system = complete_squares.completed(evaluator.system, var("x", (n,)), set(unbounded.tolist()))
        if system.key == evaluator.system.key:
            return None
        self.said = "squares of variables without bounds completed"
        return given.with_system(system)


class KnownExponents(PresolveStep):
    """The inner form has the same variables, and the same values wherever the variables are within their bounds."""

    def apply(self, given: Formulation) -> Formulation | None:
        problem, evaluator = given
        system, held, n = evaluator.system, held_variables(problem), evaluator.n
        roots = [evaluator.f, *(() if system is None else system.bodies)]

        def may_be_negative(base: Expr) -> bool:
            least = build("amin", reshape(base, (base.size,)), axes=(0,))
            return not evaluator.rewritten(least).value(*problem.region).lo >= 0
        free, point = np.delete(np.arange(n), held), np.where(np.isfinite(problem.lo), problem.lo, 0.0)
        known = roots if not len(held) else known_exponents.with_fixed_exponents(
            roots, var("x", (n,)), problem.lo, free, lambda exponent: point_value.enclose_at_point(exponent, point))
        if system is not None and system.integers:
            known = known_exponents.with_whole_exponents(known, system.integers, may_be_negative)
        if all(new is old for new, old in zip(known, roots, strict=True)):
            return None
        f, *bodies = known
        self.said = "exponents that the bounds tell are numbers"
        system = None if system is None else replace(system, f=f, bodies=tuple(bodies))
        return Formulation(problem, evaluator.rewritten(f, system, evaluator.fun))


class ConstraintReport(PresolveStep):
    """Changes nothing: its place in the stack is behind the steps that keep every constraint, and before those that do not.

    `relaxed`: by how much equations are relaxed. `any_point`: a feasible point is all that is asked for."""

    def __init__(self, relaxed: float = 0.0, any_point: bool = False):
        self.relaxed, self.any_point = relaxed, any_point

    def apply(self, given: Formulation) -> Formulation:
        self.given = given
        return given

    def postsolve(self, result: Result) -> Result:
        """With what is proved of the constraints, and where their values are found."""
        if self.any_point:
            result = replace(result, purpose="feasible")
        if self.given.evaluator.system is not None:
            result = constraint_values.about_constraints(result, *self.given, self.relaxed)
        if self.any_point and result.feasible is not None:
            what = "a point in the box `feasible` meets" if isinstance(result.feasible, tuple) else "x meets"
            result = replace(result, message=f"{what} all constraints")
        return result
