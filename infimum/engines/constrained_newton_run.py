"""The interval Newton loop with constraints: regions are propagated, and contracted by Newton steps in variables and multipliers;
what neither discards nor shrinks enough is cut. No linear program, no Lagrangian bounds with given multipliers.

Proof: docs/proofs/stationary_points.md.
"""

from dataclasses import fields
from typing import Any

from infimum.bounds.fritz_john.fritz_john import FritzJohn
from infimum.bounds.propagation import Propagation
from infimum.engines.constrained_run import ConstrainedRun
from infimum.engines.newton_options import NewtonOptions
from infimum.errors import OptionError
from infimum.evaluation.evaluator import Evaluator
from infimum.problem.problem import Problem
from infimum.problem.settings import Method
from infimum.search.branch_and_bound import BranchAndBound
from infimum.search.policy.search import PUBLISHED_ENGINES as POLICY

_ALLOWED = "sweeps"


class ConstrainedNewtonRun(ConstrainedRun):
    """The same, with these two tests."""

    name = "newton"
    bounded_at_once = rewrites = False  # regions have to become narrow

    def __init__(self, problem: Problem, evaluator: Evaluator, method: Method, *limits: Any, **settings: Any):
        options: NewtonOptions = method.options
        for field in fields(options):
            if field.name != _ALLOWED and getattr(options, field.name) != field.default:
                raise OptionError(f"option {field.name!r} of engine 'newton' is for functions without constraints; with them "
                                  f"there is only {_ALLOWED!r}")
        together = evaluator.n + evaluator.system.m
        if together > POLICY.most_variables_and_constraints:
            raise OptionError(f"engine 'newton' takes up to {POLICY.most_variables_and_constraints} variables and constraints "
                              f"together, and there are {together:,}; engine 'auto' takes any number")
        super().__init__(problem, evaluator, method, *limits, **settings)

    def _made(self) -> BranchAndBound:
        second = FritzJohn(self.evaluator, self.lo, self.hi, 1 + self.options.sweeps)
        second.payoff, second.few = None, float("inf")  # always
        tests = [Propagation(self.evaluator, self.lo, self.hi), second]
        return BranchAndBound(self.evaluator, self.goal, self.incumbent, self.batch, tests=tests)
