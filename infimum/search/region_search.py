"""What a run asks of a search: regions that may hold a minimiser, and a step that discards, shrinks or cuts some of them.

`RegionSearch` is what the loop in `search_run` drives. `PooledSearch` adds what searches share that keep their regions in a pool,
from which rounds deal them to others.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from infimum.evaluation.evaluator import Evaluator
from infimum.kernel.region_cut import OUTCOME_COUNT
from infimum.problem.settings import LEAST, Goal
from infimum.problem.start_boxes import StartBoxes
from infimum.search.checkpoint import State
from infimum.search.incumbent import Incumbent
from infimum.search.policy.search import REGION_STORE as POLICY
from infimum.search.region_heap import RegionHeap
from infimum.search.region_outcomes import RegionOutcomes, outcome_row
from infimum.search.region_pool import RegionPool, Regions

_COUNTS = ("boxes", "steps", "cuts", "largest_step", "unbounded", "narrow", "ended", "overtaken")


def lanes_of(batch: int, n: int) -> int:
    """The boxes of n variables that a step of this batch encloses."""
    return max(LEAST, min(batch, POLICY.variables_a_lane * batch // n))


class RegionSearch(ABC):
    """Every minimiser lies in one of the regions. `lower()` and the incumbent's upper bound enclose the infimum."""

    evaluator: Evaluator
    goal: Goal
    incumbent: Incumbent
    boxes: int  # that were enclosed
    known: dict[str, np.ndarray] | None = None  # the best point as a step began that was cut off: it is repeated with it
    found: dict[str, np.ndarray] = {}  # noqa: RUF012 (never changed) of a checkpoint: a better one that was found since
    is_between_steps: bool = True  # is no step half done? The next call of `step` continues one that is
    is_unbounded: bool = False     # has f no lower bound, as far as one can tell?

    @property
    @abstractmethod
    def size(self) -> int:
        """The number of regions that are left."""

    @property
    @abstractmethod
    def done(self) -> bool:
        """Is nothing left to do: the goal met, or nothing to cut?"""

    @abstractmethod
    def takes_more_than(self, memory: float) -> bool:
        """Do the regions take more bytes than these?"""

    @abstractmethod
    def lower(self) -> float:
        """Certainly not above the infimum."""

    @abstractmethod
    def step(self) -> None:
        """Takes some regions and keeps what is left of them. If that fails, time or memory being short, all is as it was, but for
        a better point."""

    @abstractmethod
    def prune(self) -> None:
        """Drops what the best point rules out."""

    @abstractmethod
    def regions(self) -> Regions:
        """What may still hold a minimiser."""

    def run(self) -> Iterator[None]:
        """Steps until there is nothing to do."""
        while not self.done:
            self.step()
            yield

    def isolate_minimisers(self) -> None:  # noqa: B027 (few searches do)
        """Discards what lies around proved minimisers, where that is worth its cost."""

    def end(self) -> None:  # noqa: B027
        """What is done once, when nothing is left to cut. If time or memory does not suffice for it, nothing has been done."""

    # ---- the best point in checkpoints
    def best_arrays(self, known: dict[str, np.ndarray] | None = None) -> dict[str, np.ndarray]:
        """The best point with which the search continues from a checkpoint, which these arrays may say, and a better one beside
        it that was found since, or before."""
        known = self.known if known is None else known
        known = self.incumbent.arrays() if known is None else known
        beside = self.incumbent.found_beside(known)
        best = min((beside, self.found), key=lambda found: found["found"][0] if found else np.inf)
        return known | (best if best and best["found"][0] < known["incumbent"][0] else {})

    def restore_best(self, arrays: dict[str, np.ndarray]) -> None:
        """The best point of a checkpoint, with which the search continues; a better one is there for the answer."""
        self.incumbent.restore(arrays)
        self.known, self.found = None, {name: array for name, array in arrays.items() if name in ("found", "found.box")}


class PooledSearch(RegionSearch):
    """A search whose regions lie in a pool, in the memory where the kernels run; what comes here in a step are counts, bounds and
    a point. `batch` is the number of lanes a step, part of the settings: the same batch gives the same bits everywhere. Where the
    search begins in `start` boxes, their union is the feasible set, and the bounds of the incumbent are the box around it.
    """

    def __init__(self, evaluator: Evaluator, goal: Goal, incumbent: Incumbent, batch: int | None, start: StartBoxes | None):
        self.evaluator, self.goal, self.incumbent, self.start = evaluator, goal, incumbent, start
        self.lo, self.hi, self.n, self.batch = incumbent.lo, incumbent.hi, len(incumbent.lo), batch or evaluator.batch
        self.arrays, self.lanes = evaluator.arrays_for(self.batch), lanes_of(self.batch, self.n)
        self.pool = RegionPool(self.n, self.arrays, int(POLICY.batches_at_hand * self.batch))
        self.boxes = self.steps = self.largest_step = 0  # the last in boxes
        self.boxes_each = 16.0  # for a region, where these are dealt to others
        self.overtaken = False  # are there regions which a better point of this step rules out?
        self.discarded: dict[str, int] = {}  # regions, by what discarded them

    @abstractmethod
    def take_step(self) -> None:
        """The work of a step."""

    def step(self) -> None:
        """Takes a step. If it is cut off, time or memory being short, all is put back but for a better point."""
        start, self.known = StepStart(self), None
        try:
            self.take_step()
        except BaseException:
            start.put_back(self)
            raise

    @property
    def size(self) -> int:
        return len(self.pool)

    def takes_more_than(self, memory: float) -> bool:
        return self.pool.bytes > memory

    def classify(self, arrays: list[Any], *rows: Any) -> tuple[list[RegionOutcomes], list[list[int]]]:
        """What becomes of each region of these arrays, as things stand; and how many zeros, ones, … further rows hold."""
        classified = [outcome_row(self, regions) for regions in arrays if regions.shape[1]]
        orders = self.arrays.order(OUTCOME_COUNT, *classified, *rows) if classified or rows else []
        counts, orders = [count for _, count in orders[len(classified):]], iter(orders)
        return [RegionOutcomes(regions, *next(orders)) if regions.shape[1] else RegionOutcomes.of_none(regions)
                for regions in arrays], counts

    @abstractmethod
    def keep(self, found: list[RegionOutcomes]) -> None:
        """Puts what is left where it belongs. Whoever calls has made sure of room."""

    # ---- what is dealt to others in rounds
    @property
    @abstractmethod
    def judged(self) -> int:
        """Steps after which it is known again of all tests whether they pay."""

    @abstractmethod
    def judge_tests(self) -> None:
        """In the next step all tests are tried that are used where they pay."""

    @abstractmethod
    def to_distribute(self, count: int) -> Callable[[], tuple[RegionHeap, Any]]:
        """What finds up to the given number of regions, those that a step would take; as long as the pool stays as it is the same
        ones, also when it makes room for more."""

    @abstractmethod
    def put_aside_too(self, answers: list[dict[str, np.ndarray]]) -> Callable[[], None]:
        """Makes ready what others have put aside, and returns what then puts it here, which needs no memory."""

    @abstractmethod
    def none_put_aside(self) -> dict[str, np.ndarray]:
        """The part of a state that holds what is put aside, empty."""

    # ---- checkpoints
    @abstractmethod
    def put_aside_arrays(self) -> dict[str, np.ndarray]:
        """The part of a state that holds what is put aside."""

    def state(self) -> State:
        """Everything that a later run needs to continue with the same bits."""
        other = self.state_but_regions()
        return State(other.values, {**self.pool.state(), **self.put_aside_arrays(), **other.arrays})

    def state_but_regions(self) -> State:
        """Counts and the best point."""
        counts = {"boxes": self.boxes, "steps": self.steps, "discarded": dict(self.discarded), "boxes_each": self.boxes_each,
                  "largest_step": self.largest_step}
        return State(counts, self.best_arrays())

    def restore(self, state: State) -> None:
        """Continues from there."""
        self._restore_counts(state)
        self.pool.restore(state.arrays)
        self.restore_best(state.arrays)

    def _restore_counts(self, state: State) -> None:
        self.boxes, self.steps = state.values["boxes"], state.values["steps"]
        self.boxes_each, self.largest_step = state.values.get("boxes_each", self.boxes_each), state.values.get("largest_step", 0)
        self.discarded |= state.values["discarded"]


class StepStart:
    """What a step changes beside its regions, as it begins: counts, whether tests pay, what tests remember of regions, and the
    best point. Where the step is cut off, all of that is put back.

    The best point that such a step has found stays: it is an answer. A checkpoint holds the one with which the step began, since
    the step is repeated from there, and the better one beside it (`Incumbent.found_beside`).
    """

    def __init__(self, branch: Any):
        self.counts = [(name, value) for name, value in vars(branch).items() if name in _COUNTS]
        self.discarded = dict(branch.discarded)
        tests = getattr(branch, "tests", ())
        self.payoffs = [(test.payoff, dict(vars(test.payoff))) for test in tests if test.payoff is not None]
        self.memories = [put_back for test in tests if (put_back := test.remembered()) is not None]
        self.best = branch.incumbent.arrays()

    def put_back(self, branch: Any) -> None:
        """All but the best point, which checkpoints are told of."""
        for name, value in self.counts:
            setattr(branch, name, value)
        branch.discarded = self.discarded
        for payoff, values in self.payoffs:
            vars(payoff).clear()
            vars(payoff).update(values)
        for put_back in self.memories:
            put_back()
        branch.known = self.best
