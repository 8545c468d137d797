"""Subdomains (`bounds/function_bounds/subdomain_kernel.py`): every region is divided for one look, and f and all constraints are
enclosed on the parts.

**Discards** a region on each of whose subdomains something is violated or undefined, or f lies above the upper bound. **Reduces**
the variables that were divided to the hull of the subdomains that are left. **Raises** the lower bound to the least one of these.
**Costs** an enclosure of f and all constraints for each subdomain, and by the mean value form of their derivatives; affine
bounds of them as much as some five of these.
"""

from typing import Any

import numpy as np

from infimum.bounds.function_bounds.subdomain_kernel import AFFINE, LARGEST, MEAN_VALUE, NATURAL
from infimum.bounds.interface import CuttingTest, Outcome, StepContext
from infimum.evaluation.evaluator import Evaluator
from infimum.evaluation.programs import SUBDOMAIN, ProgramKind
from infimum.problem.unions import shares
from infimum.relax.affine_bound_kernel import fits
from infimum.search.policy.bounds import FIRST_ORDER as POLICY


class SubdomainBound(CuttingTest):
    """The test that cuts in the engine of subdomains: the sides of `variables` variables into `pieces` pieces each."""

    name, discards = "subdomains", "constraints"

    def __init__(self, evaluator: Evaluator, lo: np.ndarray, hi: np.ndarray, pieces: int = 2, variables: int = 4,
                 form: int = MEAN_VALUE, choice: int = LARGEST):
        super().__init__(evaluator, lo, hi)
        self.weights, variables = shares(lo, hi), min(variables, self.n)
        if (1 + evaluator.system.m) * self.n > POLICY.subdomains_most_rows:
            form, choice = NATURAL, LARGEST
        if form == AFFINE and not fits(list(evaluator.system.rows), self.n):
            form = MEAN_VALUE
        self.subdomains = pieces**variables
        self.kernel = ProgramKind.of(SUBDOMAIN, pieces=pieces, divided=variables, form=form, choice=choice)

    @classmethod
    def applies(cls, evaluator: Evaluator) -> bool:
        return evaluator.system is not None

    def cut(self, parents: Any, pieces: int, context: StepContext) -> list[Outcome]:
        found = []
        for k in range(pieces):
            piece = (float(k), k / pieces, (k + 1) / pieces, context.narrow, context.upper)
            left, = self.evaluator.run(self.kernel, [parents], parameters=np.concatenate([self.weights, piece]))
            found.append(Outcome(left, self.subdomains * parents.shape[1]))
        return found
