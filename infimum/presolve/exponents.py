"""Exponents that the bounds tell: those of fixed variables become constants, those of whole numbers become whole numbers.

Proof: docs/proofs/powers.md.
"""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from infimum.expr.build import build, reshape
from infimum.expr.node import Expr, var
from infimum.presolve.presolve_step import Formulation, PresolveStep
from infimum.problem.fixed_values import held_variables
from infimum.structure.known_exponents import with_fixed_exponents, with_whole_exponents
from infimum.support.lazy import LazyModule

if TYPE_CHECKING:
    from infimum.expr import point_value
else:
    point_value = LazyModule("expr.point_value")


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
        known = roots if not len(held) else with_fixed_exponents(
            roots, var("x", (n,)), problem.lo, free, lambda exponent: point_value.enclose_at_point(exponent, point))
        known = known if system is None else with_whole_exponents(known, system.integers, may_be_negative)
        if all(new is old for new, old in zip(known, roots, strict=True)):
            return None
        f, *bodies = known
        system = None if system is None else replace(system, f=f, bodies=tuple(bodies))
        return Formulation(problem, evaluator.rewritten(f, system, evaluator.fun))
