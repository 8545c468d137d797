"""Rounds: the regions of a search are dealt to others in portions, and what is left of all of them comes back.

A round is a step of a search, `BranchAndBound` or `NewtonSearch`, that others take. It deals the lowest regions, by turns in the
order of their lower bounds, so that portions are alike; a portion is a search of its own with some of the regions, as a
checkpoint would hold it, and a number of boxes that it may enclose. What comes back is a function of that alone. Answers are put
together in the order of the portions and not in that of their arrival, so the bits of a proof depend on `batch` and on the number
of portions, and neither on how many worked on them nor on when. A portion that is lost is dealt again.

**The limit on boxes.** Where fewer boxes are left to the run than a round takes, portions get what is left in passes, and go on
from what the last pass left of them. If all of them come as far as they would have come in one pass, the round is that round.
Otherwise the run ends there as one that is stopped within a round does: what is left counts in its result, and its checkpoint
holds the state before the round, so that a run that continues with a higher limit has the bits of one that was never stopped.

**Nothing can get lost**, whatever strikes when. Regions that were dealt stay in the pool until the answers are there. These are
put in first, then what was dealt is taken out: in between, regions are there twice, which costs work and loses none.
"""

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, NamedTuple, Protocol

import numpy as np

from infimum.errors import InternalError
from infimum.evaluation.evaluator import Evaluator
from infimum.expr.node import topological
from infimum.kernel.region_cut import ABOVE, FINAL, rows_of
from infimum.problem.settings import LEAST
from infimum.search.checkpoint import State
from infimum.search.limit_messages import RoundEnded, boxes_reached
from infimum.search.policy.search import ROUNDS as POLICY
from infimum.search.region_heap import RegionHeap
from infimum.search.region_search import PooledSearch
from infimum.support.clock import OutOfTime

Arrays = dict[str, np.ndarray]
LearnedArrays = Callable[[], Arrays]  # what parts know beside what a search keeps of them, as arrays of its state


class Portion(NamedTuple):
    """Regions as a search keeps them, with the best point and what is known of the parts, and the boxes it may enclose."""

    state: State
    budget: int


class PortionRunner(Protocol):
    """Has portions worked off, by whomever."""

    count: int   # how many work on them at once
    redone: int  # portions that had to be dealt again, since whoever worked on them was lost

    def run_portions(self, count: int, portion: Callable[[int], Portion]) -> Iterator[tuple[int, State] | None]:
        """Of each of `count` portions, in any order: its number, and what `process_portion` leaves of it. None now and then,
        while nothing comes. A portion is made when it is sent, and again if it is lost."""


class WorkersLost(RoundEnded):
    """Those who work on portions are lost again and again."""


def process_portion(branch: PooledSearch, budget: int) -> State:
    """Steps until nothing is left to do or the given number of boxes is enclosed; returns what is left."""
    while not branch.done and (branch.boxes < budget or not branch.is_between_steps):
        branch.step()
    return branch.state()


def operations(evaluator: Evaluator) -> int:
    """The scalar operations of the function and its constraints."""
    roots = [evaluator.f] if evaluator.system is None else [evaluator.system.f, *evaluator.system.bodies]
    return sum(node.size for node in topological(roots))


class _RoundState(NamedTuple):
    """What a round has dealt: how to find the regions in the pool, their columns, which portion has which of these, what has
    come back, and the boxes that a portion was given for that."""

    find: Callable[[], tuple[RegionHeap, Any]]
    columns: np.ndarray
    shares: list[np.ndarray]
    answers: dict[int, State]
    given: dict[int, int]

    def columns_of(self, portion: int) -> np.ndarray:
        return np.take(self.columns, self.shares[portion], axis=1)

    def used(self, portion: int) -> int:
        """The boxes that it has enclosed."""
        return self.answers[portion].values["boxes"] if portion in self.answers else 0

    def continues(self, portion: int, budget: int) -> bool:
        """Would it use more boxes of its budget, if it had them?"""
        return portion not in self.answers or self.given[portion] <= self.used(portion) < budget


class PortionRounds:
    """Rounds of `portions` portions each, of any kind, which a runner processes."""

    def __init__(self, runner: PortionRunner, portions: int = POLICY.portions):
        self.runner, self.portions = runner, portions
        self.done = 0
        self._round_state: Any = None  # in the midst of a round; its `answers` are those that have come

    def figures(self) -> dict[str, str]:
        """What a reader of the progress sees."""
        if self._round_state is None:
            return {}
        return {"portions": f"{len(self._round_state.answers)}/{self.portions}", "workers": f"{self.runner.count}"}

    def report(self) -> dict[str, int]:
        """What a result tells."""
        return {"workers": self.runner.count, "portions": self.portions, "rounds": self.done, "redone": self.runner.redone}


class StepRounds(PortionRounds):
    """Rounds of a search that is cut and tested in steps."""

    def __init__(self, runner: PortionRunner, portions: int = POLICY.portions):
        super().__init__(runner, portions)
        self._worth: int | None = None  # the boxes of a portion that is worth its way

    def round(self, branch: PooledSearch, most: int | None = None, learnt: LearnedArrays = dict) -> Iterator[None]:
        """A round in place of a step, in pieces: between them all is as it was before. Gives back whether there was one: there is
        none before a part of its boxes have been enclosed (most proofs are over by then), where regions are few, and where the
        last step was a round: the step between tries all costly parts anew, since a round is as long as very many steps, and
        with what did not pay long before it would go astray. By counts, so that every run decides alike. `most`: the boxes
        that may be enclosed in all; raises RoundEnded where they do not suffice for the round."""
        few = len(branch.pool) < POLICY.regions_a_portion * self.portions
        if few or not branch.is_between_steps or branch.boxes < self.portions * self._enough(branch) // POLICY.before:
            return False
        budget = self._budget(branch)
        find = branch.to_distribute(self.portions * max(POLICY.regions_a_portion, int(budget / branch.boxes_each)))
        if len(find()[1]) < POLICY.regions_a_portion * self.portions:
            return False
        if branch.judged != branch.steps:
            branch.judge_tests()
            return False
        round_state, left = self._chosen(find), np.inf if most is None else most - branch.boxes
        known = _known(branch, learnt())
        self._round_state = round_state
        while given := self._given(round_state, budget, left, max(branch.lanes, branch.largest_step)):
            yield from self._run_portions(round_state, given, known)
        if any(round_state.continues(k, budget) for k in range(self.portions)):
            raise RoundEnded(boxes_reached(branch.boxes + sum(map(round_state.used, range(self.portions))), most))
        self._round_state = None
        if not any(map(round_state.used, range(self.portions))):
            return False  # to none of them was anything left to do: what there is to do is seen here alone
        self._merge(branch, round_state)
        self._learn(branch, round_state, budget)
        return True

    def _given(self, round_state: _RoundState, budget: int, left: float, step: int) -> dict[int, int]:
        """The portions of the next pass, and up to how many boxes each may go on. Where not all can go on to the end, they get
        half of what is left, since a portion takes whole steps and so some more; and only as many as allow two steps for each. A
        step is as large as one has turned out to be."""
        continuing = [k for k in range(self.portions) if round_state.continues(k, budget)]
        left -= sum(map(round_state.used, range(self.portions)))
        if left >= sum(budget + step - round_state.used(k) for k in continuing):
            return dict.fromkeys(continuing, budget)
        if left <= 0:
            return {}
        step = max([step, *(round_state.used(k) - given for k, given in round_state.given.items())])
        some = continuing[:max(1, int(left) // (4 * step))]
        each = max(1, int(left) // (2 * len(some)))
        return {k: min(budget, round_state.used(k) + each) for k in some}

    def _run_portions(self, round_state: _RoundState, given: dict[int, int], known: State) -> Iterator[None]:
        """A pass: this number of boxes for each of these portions."""
        numbers, come = list(given), 0

        def portion(which: int) -> Portion:
            number = numbers[which]
            before = round_state.answers.get(number) or State(known.values, {"pool.front": round_state.columns_of(number)})
            return Portion(State(before.values, known.arrays | before.arrays), given[number])
        for answer in self.runner.run_portions(len(numbers), portion):
            if answer is not None:
                which, left = answer
                round_state.answers[numbers[which]], round_state.given[numbers[which]] = left, given[numbers[which]]
                come += 1
            yield
        if come < len(numbers):
            raise InternalError(f"of {len(numbers)} portions {come} came back")

    def end(self, branch: PooledSearch) -> None:
        """Where a run ends in the midst of a round, what has come back counts; the other regions stay as they are."""
        round_state, self._round_state = self._round_state, None
        if round_state is not None and round_state.answers:
            with suppress(MemoryError, OutOfTime):  # what is proved so far stays
                self._merge(branch, round_state)

    def _learn(self, branch: PooledSearch, round_state: _RoundState, budget: int) -> None:
        """How many regions make a portion that uses up its boxes, and not more than that: they travel to and fro."""
        boxes = sum(answer.values["boxes"] for answer in round_state.answers.values())
        enough = boxes < POLICY.used_share * budget * self.portions
        each = boxes / round_state.columns.shape[1] if enough else 2.0 * branch.boxes_each
        branch.boxes_each = min(max(each, POLICY.least_boxes_each), POLICY.most_boxes_each)

    # ---- what is dealt
    def _budget(self, branch: PooledSearch) -> int:
        """Boxes of a portion: as many as have been enclosed so far, for all portions together, until they are enough."""
        return max(LEAST, min(self._enough(branch), branch.boxes // self.portions))

    def _enough(self, branch: PooledSearch) -> int:
        if self._worth is None:
            factor = 1 if branch.evaluator.system is None else POLICY.constrained_factor
            steps, work = POLICY.most_steps * branch.lanes, POLICY.operations * branch.batch // operations(branch.evaluator)
            self._worth = max(branch.lanes // POLICY.least_share, min(steps, work) // factor)
        return self._worth

    def _chosen(self, find: Callable[[], tuple[RegionHeap, Any]]) -> _RoundState:
        heap, index = find()
        columns = _columns(heap, index)
        order = np.argsort(columns[heap.row], kind="stable")
        return _RoundState(find, columns, [order[k::self.portions] for k in range(self.portions)], {}, {})

    # ---- what comes back
    def _merge(self, branch: PooledSearch, round_state: _RoundState) -> None:
        """Puts the answers into the pool and takes out what was dealt, in an order that loses nothing wherever it fails: a better
        point is one in any case; room may be short, and then nothing else has changed."""
        answers = [round_state.answers[k] for k in sorted(round_state.answers)]
        best = min(answers, key=lambda answer: answer.arrays["incumbent"][0])  # of equal ones the first
        better = best.arrays["incumbent"][0] < branch.incumbent.upper
        if better:
            branch.incumbent.restore(best.arrays)
        pool = branch.pool
        as_they_were = [round_state.columns_of(k) for k in range(self.portions) if k not in round_state.answers]
        left = np.concatenate([answer.arrays[f"pool.{where}"] for answer in answers for where in ("front", "waiting")]
                              + as_they_were, axis=1)
        put_aside = branch.put_aside_too([answer.arrays for answer in answers])
        pool.reserve(left.shape[1])
        heap, index = round_state.find()  # again: they may have moved to make room
        if not np.array_equal(_columns(heap, index), round_state.columns):
            raise InternalError("the pool of regions has changed while a round was dealt")
        found, _ = branch.classify([branch.arrays.send(left)])
        if any(f.counts[FINAL] for f in found):  # to put these aside could move those that are taken out below
            raise InternalError("a portion has left a region among others that cannot be cut")
        put_aside()
        branch.keep(found)
        heap.remove(index)
        self._count(branch, answers, sum(f.counts[ABOVE] for f in found))
        if better:
            branch.prune()  # all that was not dealt

    def _count(self, branch: PooledSearch, answers: list[State], above: int) -> None:
        """Adds up what was counted."""
        for answer in answers:
            branch.boxes += answer.values["boxes"]
            branch.largest_step = max(branch.largest_step, answer.values["largest_step"])
            for name, count in answer.values["discarded"].items():
                branch.discarded[name] += count
        branch.discarded["value"] += above
        branch.steps, self.done = branch.steps + 1, self.done + 1


def _columns(heap: RegionHeap, index: Any) -> np.ndarray:
    return heap.arrays.fetch(heap.arrays.gather(heap.data, index))


def _known(branch: PooledSearch, learnt: dict[str, np.ndarray]) -> State:
    """The state of a search that has counted nothing yet, but for the regions at hand."""
    known, pool = branch.state_but_regions(), branch.pool
    others = {"pool": np.array([np.inf, 4.0 * pool.size]), "pool.waiting": np.empty((rows_of(branch.n), 0)),
              **branch.none_put_aside()}
    return State(known.values | {"boxes": 0, "discarded": {}}, known.arrays | learnt | others)
