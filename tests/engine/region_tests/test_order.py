"""A part joins branch and bound by a row of the list; the engine knows none by name."""

import numpy as np
import pytest

import infimum
from infimum.bounds import bound_order
from infimum.bounds.bound_table import Payoff, Schedule
from infimum.bounds.interface import Outcome, RegionTest
from infimum.kernel.region_cut import DISCARDED_AXIS, rows
from infimum.problem.settings import Goal
from infimum.search.branch_and_bound import BranchAndBound
from infimum.search.incumbent import Incumbent

LO, HI = np.full(2, -3.0), np.full(2, 2.0)


class Above(RegionTest):
    """Discards what the natural enclosure puts above the upper bound, in small portions, and counts how often it is asked."""

    name, discards, most = "above", "enclosure", 5

    def __init__(self, evaluator, lo, hi):
        super().__init__(evaluator, lo, hi)
        self.payoff, self.asked = Payoff(Schedule(3, 4, 0.0)), []

    def test(self, regions, context):
        self.asked.append(regions.shape[1])
        left = regions.copy()
        above = self.evaluator.value(regions[:self.n], regions[self.n:2 * self.n]).lo > context.upper - 1.0
        left[rows(self.n)[1], above] = DISCARDED_AXIS  # more than it may, but here nobody relies on it
        return Outcome(left, regions.shape[1], paid=above[None].astype(float))


def branch() -> BranchAndBound:
    f = infimum.compile(lambda x: x[0] ** 4 - 3 * x[0] * x[1] + x[1] ** 4 + np.sin(x[0]), 2)
    found = BranchAndBound(f, Goal(), Incumbent(f, LO, HI), 64)
    found.begin(LO[:, None], HI[:, None])
    return found


def take_a_step(b: BranchAndBound) -> None:
    """A whole one: where regions are few, they are cut several times."""
    b.step()
    while not b.is_between_steps:
        b.step()


@pytest.fixture
def with_above(monkeypatch):
    parts = bound_order.classes_of(False)
    monkeypatch.setattr(bound_order, "classes_of", lambda _: [*parts, Above])


def test_a_part_is_tried_judged_and_used_in_portions(with_above):
    b = branch()
    part, before = b.tests[-1], b.boxes
    for step in range(6):
        take_a_step(b)
        assert bool(part.asked) == (step >= 3)
    assert part.payoff.pays and part.payoff.due == 7 and part.payoff.tried > 0
    assert max(part.asked) <= Above.most and b.boxes > before + sum(part.asked)
    assert b.discarded["enclosure"] > 0


def test_a_checkpoint_keeps_its_judgement_and_may_be_older_than_the_part(monkeypatch):
    old = branch()
    take_a_step(old)
    state = old.state()
    parts = bound_order.classes_of(False)
    monkeypatch.setattr(bound_order, "classes_of", lambda _: [*parts, Above])
    b = branch()
    b.restore(state)
    assert b.tests[-1].payoff.due == 3 and b.discarded["enclosure"] == 0 and b.steps == 1
    for _ in range(4):
        take_a_step(b)
    again = branch()
    again.restore(b.state())
    assert again.tests[-1].payoff.state().tolist() == b.tests[-1].payoff.state().tolist() and again.discarded == b.discarded
