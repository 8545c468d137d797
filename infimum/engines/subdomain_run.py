"""Subdomain lower bounding (Zhang, Kerkenhoff, Kichler, Dahmen, Mitsos, Naumann, Bongartz) as an engine: branch and bound in
which one test does everything, an enclosure of f and all constraints together on a temporary partition of each region."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from infimum.bounds.function_bounds.subdomain_kernel import ADAPTIVE, AFFINE, LARGEST, MEAN_VALUE, NATURAL
from infimum.bounds.function_bounds.subdomains import SubdomainBound
from infimum.engines.constrained_run import ConstrainedRun
from infimum.engines.subdomain_options import FORMS
from infimum.evaluation.evaluator import Evaluator
from infimum.problem.problem import Problem
from infimum.problem.settings import Method
from infimum.search.branch_and_bound import BranchAndBound
from infimum.search.policy.search import PUBLISHED_ENGINES as POLICY

_FORMS = dict(zip(FORMS, (MEAN_VALUE, NATURAL, AFFINE), strict=True))


class SubdomainRun(ConstrainedRun):
    """The same, with one test."""

    name = "subdomain"
    bounded_at_once = rewrites = False

    def __init__(self, problem: Problem, evaluator: Evaluator, method: Method, *limits: Any, **settings: Any):
        self.division = method.options.division(evaluator.n)
        super().__init__(problem, evaluator, method, *limits, **settings)

    def _looks(self) -> bool:
        return super()._looks() or self.branch.steps % POLICY.search_period == 0

    def _look(self) -> Iterator[None]:
        lo, hi = self.branch.lowest(POLICY.regions_sampled)
        middle = 0.5 * lo + 0.5 * hi
        middle[list(self.evaluator.system.integers)] = np.rint(middle[list(self.evaluator.system.integers)])
        middle = middle[:, np.isfinite(middle).all(axis=0)]
        if middle.shape[1] and self.incumbent.offer(np.ascontiguousarray(middle)):
            self.branch.prune()
        yield from super()._look()

    def _made(self) -> BranchAndBound:
        form = _FORMS[self.options.form]
        choice = ADAPTIVE if self.options.partition == "adaptive" else LARGEST
        test = SubdomainBound(self.evaluator, self.lo, self.hi, *self.division, form, choice)
        return BranchAndBound(self.evaluator, self.goal, self.incumbent, self.batch, self.start, [test])
