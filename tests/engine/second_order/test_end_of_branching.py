"""The end of branching: what is left is no wider than it was, and nothing is lost where time or memory runs out."""

import numpy as np
import pytest

import infimum
from infimum.problem.settings import Goal
from infimum.search.branch_and_bound import BranchAndBound
from infimum.search.checkpoint import State
from infimum.search.incumbent import Incumbent
from infimum.search.region_pool import RegionPool, Regions
from infimum.support.clock import OutOfTime

CORNER = np.array([[1.0], [0.0]])


def in_a_corner() -> BranchAndBound:
    """A search that is done but for its end: 25 regions that touch, around a minimiser in a corner. The Newton test was tried."""
    f = infimum.compile(lambda x: (x[0] - 3) ** 2 + (x[1] + 0.25) ** 2, 2)
    lo, hi = np.zeros(2), np.ones(2)
    incumbent = Incumbent(f, lo, hi)
    incumbent.offer(np.array([[0.95], [0.05]]))
    branch = BranchAndBound(f, Goal(1.0, 0.0, 1e-3), incumbent)
    low, high = (np.array([[0.875], [0.0]]) + (np.indices((5, 5)).reshape(2, -1) + k) * 0.025 for k in (0, 1))
    high[0, -5:] = 1.0
    branch.pool.replace(Regions(low, high, f.value(low, high).lo, np.zeros(25, np.int32), np.full(25, 3, np.int8)))
    next(part for part in branch.tests if part.name == "newton").payoff.judge(0, 1, 0)
    return branch


def holds_the_corner(branch: BranchAndBound) -> bool:
    regions = branch.regions()
    return bool(((regions.lo <= CORNER) & (CORNER <= regions.hi)).all(axis=0).any())


def same(a: State, b: State) -> bool:
    return a.values == b.values and all(np.array_equal(a.arrays[name], b.arrays[name], equal_nan=True) for name in b.arrays)


def fails(error: type[BaseException]):
    def fail(*_, **__):
        raise error
    return fail


@pytest.mark.parametrize("error", [MemoryError, OutOfTime, KeyboardInterrupt])
@pytest.mark.parametrize("broken", ["keep", "isolate_minimisers"])
def test_an_end_that_is_cut_short_has_not_been(monkeypatch, broken, error):
    """Regions that were taken from the pool and are nowhere else yet go back."""
    branch = in_a_corner()
    before = branch.state()
    with monkeypatch.context() as patch:
        patch.setattr(BranchAndBound, broken, fails(error))
        with pytest.raises(error):
            branch.end()
    assert same(branch.state(), before) and not branch.ended and holds_the_corner(branch)
    with monkeypatch.context() as patch:  # nor is there memory for anything else
        patch.setattr(RegionPool, "restore", fails(error))
        with pytest.raises(error):
            branch.end()
    assert same(branch.state(), before) and holds_the_corner(branch)
    branch.end()
    assert branch.ended and len(branch.regions()) == 1 and holds_the_corner(branch)


def test_nothing_is_lost_where_regions_cannot_be_put_aside(monkeypatch):
    """In the midst of a search as well."""
    branch = in_a_corner()
    monkeypatch.setattr(BranchAndBound, "_enclosed_alone", fails(OutOfTime))
    branch.boxes = 1 << 20
    with pytest.raises(OutOfTime):
        branch.isolate_minimisers()
    assert holds_the_corner(branch)


def test_boxes_around_minimisers_that_are_wider_than_xtol_replace_nothing():
    """Rounding errors of 1e-8 in the derivative: K is as wide as that, and the regions need not be."""
    r = infimum.minimize(lambda x: (1e8 + x[0]) ** 2 - 2e8 * (1e8 + x[0]) + 1e16, [(-1, 2)], xtol=1e-10, atol=10)
    assert r.success and (r.regions.hi - r.regions.lo).max() <= 1e-10 and [0] in r.regions
