"""Which of the regions of a result hold exactly one minimiser? Asked when somebody wants to know."""

from typing import TYPE_CHECKING, Any

import numpy as np

from infimum.evaluation.evaluator import Evaluator
from infimum.expr.node import operations, topological
from infimum.problem.start_boxes import StartBoxes
from infimum.problem.variable_bounds import OuterBox
from infimum.result import Answering
from infimum.search.incumbent import Incumbent
from infimum.search.policy.bounds import REGION_ISOLATION as POLICY
from infimum.search.region_pool import Regions
from infimum.support.lazy import LazyModule

if TYPE_CHECKING:
    from infimum.certify import region_isolation
    from infimum.certify.term_sums import term_hessians as structure
    from infimum.problem import minimisers
else:  # most results are not asked
    region_isolation, structure = LazyModule("certify.region_isolation"), LazyModule("certify.term_sums.term_hessians")
    minimisers = LazyModule("problem.minimisers")


class UniquenessQuestion(Answering):
    """The function and the bounds, as an `Incumbent` knows them."""

    def __init__(self, evaluator: Evaluator, lo: np.ndarray, hi: np.ndarray, start: StartBoxes | None = None,
                 outer: OuterBox | None = None):
        self.evaluator, self.lo, self.hi, self.start, self.outer = evaluator, lo, hi, start, outer

    @property
    def is_quick(self) -> bool:
        return self.evaluator.system is None and self.evaluator.n <= POLICY.quick_variables and is_short(self.evaluator)

    def __call__(self, result: Any) -> "minimisers.Minimisers | None":
        """The answer for a Result; None where it has no regions."""
        cover = result.regions
        if cover is None:
            return None
        if self._one_point(result):
            return minimisers.Minimisers([self._at(result.boxes[0][0])], 0)
        small = can_be_isolated(self.evaluator)
        terms = None if small or self.evaluator.system is not None else structure.TermSum.of(self.evaluator)
        if terms is None and not small:
            return minimisers.Minimisers((), cover.count, _too_many())
        problem = region_isolation.IsolationProblem(self.evaluator, self.lo, self.hi, self.start, terms, self.outer)
        found = region_isolation.isolate_regions(problem, _regions(result), result.boxes, (result.lower, result.upper), result.x)
        return minimisers.Minimisers(found.minimisers, found.rest, None if found.why is None else found.why.value)

    def _one_point(self, result: Any) -> bool:
        """Is x all that is left of bounded bounds? Then it is the global minimiser: the infimum is approached nowhere else."""
        known = result.x is not None and result.upper < np.inf and np.isfinite(self.lo).all() and np.isfinite(self.hi).all()
        return bool(known and len(result.boxes) == 1 and all((end == result.x).all() for end in result.boxes[0]))

    def _at(self, x: np.ndarray) -> "minimisers.Minimiser":
        value = self.evaluator.value(x, x)
        return minimisers.Minimiser(x, x, float(value.lo), float(value.hi), may_be_global=True)


def _too_many() -> str:
    return (f"only up to {POLICY.most_variables} variables and {POLICY.most_operations:,} operations are "
            "looked at, or sums of terms of few variables")


def _regions(result: Any) -> Regions:
    """The regions of a Result; where they are very many, the boxes that they were merged to."""
    cover = result.regions
    if cover.count <= POLICY.most_regions and cover.kept:
        lo, hi, lower = cover.lo.T, cover.hi.T, cover.lower
    else:
        lo, hi = (np.stack(ends, axis=1) for ends in zip(*result.boxes, strict=True))
        lower = np.full(len(result.boxes), result.lower)
    return _as_regions(lo, hi, lower)


def _as_regions(lo: np.ndarray, hi: np.ndarray, lower: np.ndarray) -> Regions:
    return Regions(lo, hi, lower, np.zeros(len(lower), np.int32), np.zeros(len(lower), np.int8))


def isolate_all(incumbent: Incumbent, boxes: tuple[np.ndarray, np.ndarray], lower: float) -> Regions | None:
    """What is left of a few boxes (n, N) that do not touch, where f is not below `lower`, if proved minimisers are all that they
    hold; else None."""
    evaluator, small = incumbent.evaluator, can_be_isolated(incumbent.evaluator)
    terms = None if small else structure.TermSum.of(evaluator)
    if terms is None and not small:
        return None
    groups = list(zip(*(end.T.copy() for end in boxes), strict=True))
    problem = region_isolation.IsolationProblem(evaluator, incumbent.lo, incumbent.hi, terms=terms, outer=incumbent.outer)
    regions = _as_regions(*boxes, np.full(len(groups), lower))
    found = region_isolation.isolate_regions(problem, regions, groups, (lower, incumbent.upper), incumbent.x)
    return found.left if found.rest == 0 and len(found.left) else None


def is_short(evaluator: Evaluator) -> bool:
    """Is the function, with its constraints, so short that its second derivatives take a moment?"""
    system = evaluator.system
    nodes = list(topological([evaluator.f] if system is None else [system.f, *system.bodies]))
    short = len(nodes) <= POLICY.quick_operations and sum(node.size for node in nodes) <= POLICY.quick_elements
    return can_be_isolated(evaluator) and short


def can_be_isolated(evaluator: Evaluator) -> bool:
    """Is the function, with its constraints, small enough for second derivatives of all variables by one another?"""
    system = evaluator.system
    formulas, m = ([evaluator.f], 0) if system is None else ([system.f, *system.bodies], system.m)
    few = evaluator.n <= POLICY.most_variables and m <= POLICY.most_constraints
    return few and operations(*formulas) <= POLICY.most_operations
