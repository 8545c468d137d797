"""Rounds: whoever works on portions, in whatever order answers come and wherever it fails, no region is lost."""

import numpy as np
import pytest

import infimum
from infimum.engines.newton_options import NewtonOptions
from infimum.engines.newton_search import NewtonSearch
from infimum.errors import InternalError
from infimum.problem.settings import Goal
from infimum.search.branch_and_bound import BranchAndBound
from infimum.search.incumbent import Incumbent
from infimum.search.limit_messages import RoundEnded
from infimum.search.region_heap import RegionHeap
from infimum.search.region_pool import RegionPool, Regions
from infimum.search.rounds import StepRounds, WorkersLost, process_portion

LO, HI, GOAL, BATCH, PORTIONS = np.full(3, -5.0), np.full(3, 6.0), Goal(1e-6, 0.0), 32, 4


def waves(x):
    return np.sum(x**2) / 20 - np.prod(np.cos(2 * x)) + np.sin(x[0] * x[1]) + np.cos(x[1] * x[2] + x[0])


@pytest.fixture(scope="module")
def evaluator():
    return infimum.compile(waves, 3)


def made(evaluator, goal=GOAL, newton=False):
    incumbent = Incumbent(evaluator, LO, HI)
    return NewtonSearch(evaluator, goal, incumbent, NewtonOptions(), BATCH) if newton else \
        BranchAndBound(evaluator, goal, incumbent, BATCH)


class Here:
    """Works portions off here, in any order, with pauses; after so many of them it fails."""

    count, redone = 3, 0

    def __init__(self, evaluator, order=range(PORTIONS), fails=None, **how):
        self.evaluator, self.order, self.fails, self.how, self.dealt = evaluator, list(order), fails, how, []

    def run_portions(self, count, portion):
        self.dealt.append([portion(k) for k in range(count)])
        for number, k in enumerate(k for k in self.order if k < count):
            if number == self.fails:
                raise WorkersLost("gone")
            branch, (state, budget) = made(self.evaluator, **self.how), portion(k)
            branch.restore(state)
            yield None
            yield k, process_portion(branch, budget)


def begun(evaluator, goal=GOAL, point=(0.1, 0.2, 0.3)):
    """A search in which the next step can be a round."""
    branch = made(evaluator, goal)
    if point is not None:
        branch.incumbent.offer(np.array(point)[:, None])
    branch.begin(LO[:, None], HI[:, None])
    while len(branch.pool) < 20 * PORTIONS or branch.boxes < 2000 or not branch.is_between_steps:
        branch.step()
    branch.judge_tests()
    branch.step()
    while not branch.is_between_steps:
        branch.step()
    return branch


def begun_newton(evaluator):
    """The same, by the Newton loop."""
    search = made(evaluator, newton=True)
    search.begin()
    while len(search.pool) < 20 * PORTIONS or search.boxes < 2000:
        search.step()
    return search


def finished(branch, rounds):
    """To the end, in rounds where that can be."""
    while not branch.done:
        if not one_round(rounds, branch):
            branch.step()
    return branch


def one_round(rounds, branch, most=None):
    """Runs one, and says whether it was one."""
    steps = rounds.round(branch, most=most)
    while True:
        try:
            next(steps)
        except StopIteration as over:
            return over.value


def bits(branch):
    """All of a state that a later run could see, as bytes."""
    state = branch.state()
    return repr(sorted((k, v) for k, v in state.values.items())), {k: a.tobytes() for k, a in state.arrays.items()}


def columns(regions):
    return {column.tobytes() for column in regions.columns().T}


def holds_minimisers(branch):
    """Of the two minimisers, each in a box around one: does a region meet that box?"""
    exact = infimum.minimize(waves, list(zip(LO, HI, strict=True)), xtol=1e-9)
    regions, boxes = branch.regions(), exact.minimisers
    assert len(boxes) == 2 and exact.lower <= branch.incumbent.upper and branch.lower() <= exact.upper
    return all(((regions.lo <= box.hi[:, None]) & (box.lo[:, None] <= regions.hi)).all(axis=0).any() for box in boxes)


@pytest.mark.parametrize("order", [(3, 2, 1, 0), (2, 0, 3, 1)])
@pytest.mark.parametrize("point", [(0.1, 0.2, 0.3), None])
def test_the_order_of_answers_does_not_matter(evaluator, order, point):
    """Nor whether none, one or several portions have found a better point."""
    found = []
    for these in (range(PORTIONS), order):
        branch, rounds = begun(evaluator, point=point), StepRounds(Here(evaluator, these), PORTIONS)
        upper = branch.incumbent.upper
        assert one_round(rounds, branch) is True and rounds.done == 1
        assert point is not None or branch.incumbent.upper < upper
        finished(branch, rounds)
        found.append(bits(branch))
    assert found[0] == found[1] and rounds.done > 1
    assert holds_minimisers(branch)


def test_portions_are_alike_and_hold_every_region_once(evaluator):
    branch = begun(evaluator)
    before, dealer = branch.pool.everything(), Here(evaluator)
    steps = StepRounds(dealer, PORTIONS).round(branch)
    next(steps)
    dealt = [portion.state.arrays["pool.front"] for portion in dealer.dealt[0]]
    sizes, means = [d.shape[1] for d in dealt], [d[2 * branch.n].mean() for d in dealt]
    assert max(sizes) - min(sizes) <= 1 and np.ptp(means) < 0.1 * np.ptp(before.lower)
    together = [c.tobytes() for d in dealt for c in d.T]
    assert len(set(together)) == len(together) and set(together) <= columns(before)
    assert columns(branch.pool.everything()) == columns(before)  # they stay until the answers are there


@pytest.mark.parametrize(("owner", "name"),
                         [(Incumbent, "restore"), (RegionPool, "reserve"), (BranchAndBound, "classify"), (BranchAndBound, "keep"),
                          (RegionPool, "add"), (RegionHeap, "remove"), (BranchAndBound, "prune")])
def test_wherever_it_fails_nothing_is_lost(evaluator, monkeypatch, owner, name):
    """After a failure in the middle of putting answers together, every region of before or all that is left of it is there."""
    branch, good = (begun(evaluator, point=None) for _ in range(2))
    one_round(StepRounds(Here(evaluator), PORTIONS), good)
    before, steps = columns(branch.pool.everything()), StepRounds(Here(evaluator), PORTIONS).round(branch)
    for _ in range(2 * PORTIONS):
        next(steps)  # all answers are there, and nothing is done with them yet

    def failing(*_):
        raise MemoryError
    with monkeypatch.context() as broken, pytest.raises(MemoryError):
        broken.setattr(owner, name, failing)
        next(steps)
    after = columns(branch.pool.everything())
    assert before <= after if name != "prune" else columns(good.pool.everything()) <= after
    finished(branch, StepRounds(Here(evaluator), PORTIONS))
    assert GOAL.met(branch.lower(), branch.incumbent.upper) and holds_minimisers(branch)


def test_the_newton_loop_does_not_depend_on_the_order_either(evaluator):
    """Its solutions come back beside its boxes."""
    found = []
    for order in (range(PORTIONS), (3, 1, 2, 0)):
        search, rounds = begun_newton(evaluator), StepRounds(Here(evaluator, order, newton=True), PORTIONS)
        finished(search, rounds)
        found.append(bits(search))
    assert found[0] == found[1] and rounds.done > 2 and len(search.solved) and holds_minimisers(search)


@pytest.mark.parametrize(("owner", "name"), [(Incumbent, "restore"), (NewtonSearch, "put_aside_too"), (RegionPool, "reserve"),
                                             (NewtonSearch, "keep"), (RegionHeap, "remove"), (NewtonSearch, "prune")])
def test_wherever_the_newton_loop_fails_nothing_is_lost(evaluator, monkeypatch, owner, name):
    search = begun_newton(evaluator)
    upper, rounds = search.incumbent.upper, StepRounds(Here(evaluator, newton=True), PORTIONS)
    before, steps = columns(search.regions()), rounds.round(search)
    for _ in range(2 * PORTIONS):
        next(steps)

    def failing(*_):
        raise MemoryError
    with monkeypatch.context() as broken, pytest.raises(MemoryError):
        broken.setattr(owner, name, failing)
        next(steps)
    assert name == "prune" or before <= columns(search.regions())
    finished(search, StepRounds(Here(evaluator, newton=True), PORTIONS))
    assert search.incumbent.upper < upper and GOAL.met(search.lower(), search.incumbent.upper) and holds_minimisers(search)


def test_what_has_come_back_counts_at_the_end(evaluator):
    """A run that is stopped in the midst of a round: two of four portions are there, the regions of the others as they were."""
    branch, rounds = begun(evaluator), StepRounds(dealer := Here(evaluator, (1, 3, 0, 2)), PORTIONS)
    state, steps = bits(branch), rounds.round(branch)
    for _ in range(4):
        next(steps)
    assert bits(branch) == state and rounds.figures() == {"portions": "2/4", "workers": "3"}  # what a checkpoint would hold
    waiting = {c.tobytes() for k in (0, 2) for c in dealer.dealt[0][k].state.arrays["pool.front"].T}
    gone = {c.tobytes() for k in (1, 3) for c in dealer.dealt[0][k].state.arrays["pool.front"].T}
    rounds.end(branch)
    after = columns(branch.pool.everything())
    assert waiting <= after and not gone & after and branch.boxes > dealer.dealt[0][0].budget
    finished(branch, StepRounds(Here(evaluator), PORTIONS))
    assert GOAL.met(branch.lower(), branch.incumbent.upper) and holds_minimisers(branch)


@pytest.mark.parametrize("more", [1, 100, 400])
def test_the_limit_on_boxes_ends_a_round_where_it_is_reached(evaluator, more):
    """But for a step of a portion or so; whatever the order of answers; and the state is the one before the round."""
    found = []
    for order in (range(PORTIONS), (3, 1, 2, 0)):
        branch, rounds = begun(evaluator), StepRounds(Here(evaluator, order), PORTIONS)
        state, most = bits(branch), branch.boxes + more
        with pytest.raises(RoundEnded, match=f"boxes were enclosed, the limit is {most:,}"):
            for _ in rounds.round(branch, most=most):
                assert bits(branch) == state
        assert bits(branch) == state
        rounds.end(branch)
        assert most <= branch.boxes < most + 8 * BATCH and holds_minimisers(branch)
        found.append(bits(branch))
    assert found[0] == found[1]


def test_a_limit_that_just_suffices_changes_nothing(evaluator):
    """Though the last boxes are given in several passes."""
    free, bound = begun(evaluator), begun(evaluator)
    one_round(StepRounds(Here(evaluator), PORTIONS), free)
    assert one_round(StepRounds(dealer := Here(evaluator), PORTIONS), bound, free.boxes + 1)
    assert bits(bound) == bits(free) and len(dealer.dealt) > 1


def test_lost_workers_change_nothing(evaluator):
    branch = begun(evaluator)
    state, steps = bits(branch), StepRounds(Here(evaluator, fails=2), PORTIONS).round(branch)
    with pytest.raises(WorkersLost):
        for _ in steps:
            pass
    assert bits(branch) == state


def test_a_dealer_that_forgets_a_portion_is_an_error(evaluator):
    branch = begun(evaluator)
    state = bits(branch)
    with pytest.raises(InternalError, match="3 came back"):
        one_round(StepRounds(Here(evaluator, (0, 1, 2)), PORTIONS), branch)
    assert bits(branch) == state


def test_regions_without_bounds_and_those_that_cannot_be_cut(evaluator):
    """Lower bounds of minus infinity stay what they are; a region of one double's width comes back as final."""
    branch = begun(evaluator, point=None)
    count = 20 * PORTIONS
    box = infimum.minimize(waves, list(zip(LO, HI, strict=True)), xtol=1e-9).minimisers[0]
    x = np.random.default_rng(3).uniform(box.lo[:, None], box.hi[:, None], (3, count))  # about a double wide
    thin = Regions(x, np.nextafter(x, np.inf), np.full(count, -np.inf), np.zeros(count, np.int32), np.zeros(count, np.int8))
    branch.pool.replace(thin.with_(branch.pool.everything()))
    assert branch.lower() == -np.inf and one_round(StepRounds(Here(evaluator), PORTIONS), branch)
    regions = branch.regions()
    inside = ((regions.lo[:, :, None] <= x[:, None]) & (x[:, None] <= regions.hi[:, :, None])).all(axis=0).any(axis=0)
    low = evaluator.value(x, np.nextafter(x, np.inf)).lo <= branch.incumbent.upper
    assert inside[low].all() and low.any() and np.isinf(regions.lower).sum() < count and len(branch.final)


def test_narrow_regions_are_asked_for(evaluator):
    """With xtol, rounds also deal the regions that are only too wide."""
    goal = Goal(0.5, 0.0, 0.01)
    branch, rounds = begun(evaluator, goal), StepRounds(Here(evaluator, goal=goal), PORTIONS)
    finished(branch, rounds)
    regions = branch.regions()
    assert rounds.done > 1 and (regions.hi - regions.lo).max() <= 0.01 and len(regions) > 1
