"""Minimisers that fill a curve or a surface: regions along them would be hopelessly many."""

from typing import Any

import numpy as np

from infimum.certify.isolation import IsolationFailure, isolate
from infimum.certify.uniqueness_question import can_be_isolated
from infimum.problem.cover import widths
from infimum.search.policy.search import CLUSTERS as POLICY
from infimum.search.region_pool import Regions


def is_clustered(search: Any, always: bool = False) -> bool:
    """Will a search with many regions, by branching or by the Newton loop, need very many more to narrow them, while the best
    point is not shown to be an isolated minimiser? Decided by counts, not in each step unless `always`, and only where there are
    bounds alone: `isolate` knows nothing of constraints."""
    count, x, xtol, upper = len(search.pool), search.incumbent.x, search.goal.xtol, search.incumbent.upper
    system = search.evaluator.system
    due = xtol is not None and (always or search.steps % POLICY.check_period == 0)
    bounds_alone = system is None or not (system.m or system.integers)
    if not (due and bounds_alone and can_be_isolated(search.evaluator) and search.goal.met(search.lower(), upper)):
        return False
    front = search.pool.front
    some = Regions.from_columns(search.arrays.fetch(search.arrays.gather(front.data, front.find(POLICY.sampled_regions)[0])))
    to_come = count * widths(some.lo, some.hi).max(axis=0).mean() / max(xtol, np.finfo(float).tiny)  # if they are a curve
    near = np.maximum(x - xtol, search.lo), np.minimum(x + xtol, search.hi)
    return to_come >= POLICY.large_batches * search.batch and isinstance(isolate(search.evaluator, search.lo, search.hi, x,
                                                                                   near),
                                                                           IsolationFailure)
