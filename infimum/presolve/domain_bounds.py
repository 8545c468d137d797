"""Bounds that follow from where a function is defined: log(x) says that x is not negative, whatever bounds the user gives.

Proof: docs/proofs/propagation.md.
"""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from infimum.evaluation.enclosures import DEFINED
from infimum.expr.node import Expr, topological
from infimum.expr.rewriting_switches import step
from infimum.ops.vocabulary import OPS
from infimum.presolve.presolve_stack import Formulation, PresolveStep
from infimum.problem.system import System
from infimum.problem.text import counted
from infimum.search.policy.search import DOMAINS as POLICY
from infimum.support.lazy import LazyModule

if TYPE_CHECKING:
    from infimum.bounds import propagation
else:
    propagation = LazyModule("bounds.propagation")


class DomainBounds(PresolveStep):
    """The bounds become what propagation leaves of them for points at which the function is defined. With constraints the search
    does that itself."""

    @step("domain bounds", lambda self, given: None)
    def apply(self, given: Formulation) -> Formulation | None:
        problem, evaluator = given
        lo, hi, n = problem.lo, problem.hi, evaluator.n
        as_given = problem.start is None and problem.outer is None and evaluator.system is None
        if not as_given or n > POLICY.most_variables or not _may_be_undefined(evaluator.f) or evaluator.value(lo, hi).defined:
            return None
        no_ends = np.zeros(0)
        left = propagation.propagate(given.with_system(System(evaluator.f, (), no_ends, no_ends)).evaluator, lo, hi)
        if left is None or (np.array_equal(left[0], lo) and np.array_equal(left[1], hi)):
            return None  # where it is defined nowhere, the search finds that
        count = int(((left[0] != lo) | (left[1] != hi)).sum())
        self.said = f"bounds of {counted(count, 'variable')} follow from where the function is defined"
        x0 = None if problem.x0 is None else np.minimum(np.maximum(problem.x0, left[0][:, None]), left[1][:, None])
        return Formulation(replace(problem, lo=left[0], hi=left[1], x0=x0), evaluator)


def _may_be_undefined(f: Expr) -> bool:
    """Does it use an operation that is undefined for some arguments?"""
    return any(node.op in OPS and OPS[node.op].status < DEFINED for node in topological([f]))
