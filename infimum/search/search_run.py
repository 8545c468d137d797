"""The run of an engine that proves, and its loop: stages that prepare a search of regions, then its steps, until the infimum is
enclosed, nothing is left to cut, or a limit is reached.

Engines differ in the stages before the first step, in what is done between steps, and in the search itself. Constraints, whole
numbers, start boxes and workers are properties of the problem and of the search; the loop does not know them.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from infimum.bounds.interface import RegionTest
from infimum.certify.verdict import proved_result
from infimum.evaluation.evaluator import Evaluator
from infimum.problem.problem import Problem
from infimum.problem.settings import UNLIMITED, Limits, Method
from infimum.result import Progress, Result
from infimum.search.checkpoint import State
from infimum.search.incumbent import Incumbent
from infimum.search.localisation import can_localise, localise
from infimum.search.policy.search import CLUSTERS
from infimum.search.progress import Figures, bounds
from infimum.search.region_pool import Regions
from infimum.search.region_search import RegionSearch
from infimum.support.lazy import LazyModule

if TYPE_CHECKING:
    from infimum.certify import minimiser_cluster
    from infimum.search import limit_messages
    from infimum.search.rounds import PortionRounds
else:
    limit_messages, minimiser_cluster = LazyModule("search.limit_messages"), LazyModule("certify.minimiser_cluster")


class SearchRun(ABC):
    """`steps()` works in small pieces, and a caller may stop after any of them; `finish()` gives the enclosure reached so far, at
    any moment. Where regions are dealt to others, `rounds` does that."""

    name: ClassVar[str]
    stops_at_clusters: ClassVar[bool] = False  # where minimisers seem to fill a curve or a surface
    localises: ClassVar[bool] = False          # does it look for boxes around the minimisers of a small problem that is proved?

    def __init__(self, problem: Problem, evaluator: Evaluator, method: Method, limits: Limits = UNLIMITED,
                 batch: int | None = None, rounds: "PortionRounds | None" = None):
        self.problem, self.evaluator, self.limits, self.rounds = problem, evaluator, limits, rounds
        self.goal, self.seed, self.options, self.batch = method.goal, method.seed, method.options, batch or evaluator.batch
        self.lo, self.hi, self.start = problem.lo, problem.hi, problem.several
        self.incumbent = self.first_incumbent()
        self.branch: RegionSearch | None = None     # the search of regions; it takes memory of the device
        self.localised: RegionSearch | None = None  # the regions that are left of a proof, cut further
        self.limit: str | None = None               # which limit has ended the run
        self.closed = False  # has something else than branching closed the gap?
        self.step_to_end: bool | None = None  # during `after_step`: was the step a round?
        self.before = 0      # evaluations before those that are counted here, in the run that this one continues

    # ---- what an engine is made of
    def first_incumbent(self) -> Incumbent:
        """An incumbent that knows no point yet."""
        return Incumbent(self.evaluator, self.lo, self.hi, self.start, self.problem.outer)

    @abstractmethod
    def prepare(self) -> Iterator[None]:
        """What comes before the first step, in pieces. It makes the search of regions, unless none is needed."""

    def unfinished(self) -> Iterator[None]:
        """The rest of what the run that this one continues had begun between two steps."""
        if self.step_to_end is not None:
            yield from self.after_step(self.step_to_end)
            self.step_to_end = None

    def before_step(self) -> Iterator[None]:
        """What is done before a step, in pieces. Gives back whether no step is needed then."""
        yield from ()
        return False

    def step(self) -> None:
        """A step of the search."""
        self.branch.step()

    def after_step(self, was_round: bool) -> Iterator[None]:
        """What is done after a whole step, or after a round in its place; by counts, for runs that are continued."""
        yield from ()
        if was_round or is_power_of_two(self.branch.steps):
            self.branch.isolate_minimisers()

    def frees_memory(self) -> bool:
        """Can the run go on after memory was short?"""
        return False

    def learned_arrays(self) -> dict[str, np.ndarray]:
        """What tests have learned that is not part of the state of the search."""
        return {}

    def tests_for_localising(self) -> list[RegionTest] | None:
        """The tests with which regions are cut further; None: those that apply to the function."""
        return None

    def conclude(self) -> None:  # noqa: B027 (few engines need it)
        """Called before the answer is made."""

    def details(self) -> dict[str, Any]:
        """What a result holds beside what all engines report."""
        return {}

    # ---- what a reader of the progress sees
    @property
    def x(self) -> np.ndarray:
        found = self.incumbent.x
        return np.clip(0.0, self.lo, self.hi) if found is None else found.copy()

    @property
    def value(self) -> float:
        return self.incumbent.upper

    @property
    def proof(self) -> Any:
        """Where what is proved is read; None before anything is."""
        return self.branch

    @property
    def lower(self) -> float:
        return -np.inf if self.proof is None else self.proof.lower()

    @property
    def searched(self) -> int:
        """Evaluations of point searches."""
        return self.before

    @property
    def evaluations(self) -> int:
        return self.searched + sum(search.boxes for search in (self.branch, self.localised) if search is not None)

    @property
    def iterations(self) -> int:
        return 0 if self.branch is None else self.branch.steps

    def counts(self) -> Figures:
        """What is shown beside the bounds."""
        return {} if self.branch is None else {"regions": f"{self.branch.size:,}", "boxes": f"{self.branch.boxes:,}"}

    def figures(self) -> Figures:
        """What a reader of the progress sees."""
        of_rounds = {} if self.rounds is None else self.rounds.figures()
        return bounds(self.lower, self.incumbent.upper) | self.counts() | of_rounds

    # ---- checkpoints
    @abstractmethod
    def state(self) -> State | None:
        """Everything that a later run needs to continue with the same bits; None while that is soon done anew."""

    @abstractmethod
    def restore(self, state: State) -> None:
        """Continues from there."""

    @abstractmethod
    def branch_of(self, state: State) -> Any:
        """The search of that state, which may be a portion of another one."""

    # ---- the work
    def steps(self) -> Iterator[None]:
        """Everything, in pieces."""
        if not self.is_prepared:
            yield from self.prepare()
        if self.branch is not None:
            yield from self.branching()
        yield from self.localising()

    @property
    def is_prepared(self) -> bool:
        """Is everything done that comes before the first step?"""
        return self.branch is not None

    def branching(self) -> Iterator[None]:
        """Steps of the search until it is done or a limit is reached."""
        work = self.unfinished()
        while True:
            try:
                yield from work
            except MemoryError:  # of the machine or of its GPU; what was begun has not been done
                if not self.frees_memory():
                    self.limit = limit_messages.memory_full(self.branch.size)
            except limit_messages.RoundEnded as ended:
                self.limit = str(ended)
            if self.limit is not None or self.closed or self.branch.done:
                break
            self.limit = self.reached_limit()
            if self.limit is not None:
                break
            work = self._one_step()
        if self.limit is None and not self.closed:  # a run that is stopped stays as it is, so that one that is resumed ends alike
            with suppress(MemoryError):  # what is proved so far stays
                self.branch.end()

    def _one_step(self) -> Iterator[None]:
        if (yield from self.before_step()):
            return
        was_round = self.rounds is not None and (yield from self.rounds.round(self.branch, self.limits.max_boxes,
                                                                              self.learned_arrays))
        if not was_round:
            self.step()
        if self.branch.is_between_steps:
            self.step_to_end = was_round
            yield from self.after_step(was_round)
            self.step_to_end = None
        yield

    def reached_limit(self) -> str | None:
        """The limit that is reached. Asked before each step, so that a run that is resumed stops where another does."""
        branch, limits = self.branch, self.limits
        if limits.max_boxes is not None and branch.boxes >= limits.max_boxes:
            return limit_messages.boxes_reached(branch.boxes, limits.max_boxes)
        if limits.memory_limit is not None and branch.takes_more_than(limits.memory_limit):
            return limit_messages.memory_reached(branch.size, limits.memory_limit)
        if branch.is_unbounded:
            return limit_messages.unbounded_below(self.incumbent.upper)
        many = self.stops_at_clusters and len(branch.pool) >= CLUSTERS.batches * branch.batch
        if many and minimiser_cluster.is_clustered(branch, always=self.rounds is not None):
            return limit_messages.not_isolated(branch.size)
        return None

    def localising(self) -> Iterator[None]:
        """Finds boxes around the minimisers of a small problem that is proved."""
        lower, upper = min(self.lower, self.incumbent.upper), self.incumbent.upper
        if not self.localises or self.start is not None or self.limit is not None or not self.goal.met(lower, upper):
            return
        regions, most = self.proof.regions(), can_localise(self.evaluations, self.limits.max_boxes)
        with suppress(MemoryError):
            for found in localise(self.bounding, self.goal, self.incumbent, regions, lower, most, self.tests_for_localising):
                self.localised = found
                yield

    @property
    def bounding(self) -> Evaluator:
        """The evaluator by which regions are bounded."""
        return self.evaluator

    # ---- the answer
    def finish(self, stopped: str | None, seconds: float, history: list[Progress]) -> Result:
        """What is proved so far. `stopped` says what ended the run early."""
        if self.rounds is not None and self.branch is not None:
            self.rounds.end(self.branch)
        self.conclude()
        if self.branch is not None:
            self.incumbent.take_found(self.branch.found)
        proof = self.localised or self.proof
        regions = Regions.unsearched(self.problem) if proof is None else proof.regions()
        return proved_result(
            regions, min(self.lower, self.incumbent.upper), self.incumbent, self.goal, stopped or self.limit,
            nit=self.iterations, nfev=self.evaluations, history=history, engine=self.name, seconds=seconds, seed=self.seed,
            rounds=None if self.rounds is None else self.rounds.report(), **self.details())


def is_power_of_two(count: int) -> bool:
    return count & (count - 1) == 0
