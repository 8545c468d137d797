"""The interval Newton loop as an engine: limits, checkpoints, the answer."""

from collections.abc import Iterator

import numpy as np

from infimum.bounds.function_bounds.interval_newton import MOST_VARIABLES
from infimum.certify.minimiser_cluster import is_clustered
from infimum.certify.verdict import proved_result
from infimum.engines.newton_search import NewtonSearch
from infimum.errors import OptionError
from infimum.evaluation.evaluator import Evaluator
from infimum.problem.problem import Problem
from infimum.problem.settings import UNLIMITED, Limits, Method
from infimum.result import Progress, Result
from infimum.search.checkpoint import State
from infimum.search.incumbent import Incumbent
from infimum.search.limit_messages import boxes_reached, memory_full, memory_reached, not_isolated
from infimum.search.progress import Figures, bounds
from infimum.search.region_pool import Regions
from infimum.search.rounds import RoundEnded, StepRounds


class NewtonRun:
    """`steps()` works in pieces, `finish()` gives the enclosure so far, at any moment."""

    name = "newton"

    def __init__(self, problem: Problem, evaluator: Evaluator, method: Method, limits: Limits = UNLIMITED,
                 batch: int | None = None, rounds: StepRounds | None = None):
        if len(problem.lo) > MOST_VARIABLES:
            raise OptionError(f"engine 'newton' takes up to {MOST_VARIABLES} variables, and there are {len(problem.lo):,}; "
                              "engine 'auto' takes any number, and uses Newton steps where they pay")
        self.problem, self.evaluator, self.options = problem, evaluator, method.options
        self.goal, self.seed = method.goal, method.seed
        self.max_boxes, self.memory_limit = limits.max_boxes, limits.memory_limit
        self.batch, self.limit = batch or evaluator.batch, None
        self.incumbent = Incumbent(evaluator, problem.lo, problem.hi, problem.several, problem.outer)
        self.search: NewtonSearch | None = None  # which takes memory of the device
        self.rounds = rounds                     # in which boxes are dealt to others

    def _made(self) -> NewtonSearch:
        return NewtonSearch(self.evaluator, self.goal, self.incumbent, self.options, self.batch, self.problem.several)

    @property
    def x(self) -> np.ndarray:
        found = self.incumbent.x
        return np.clip(0.0, self.problem.lo, self.problem.hi) if found is None else found.copy()

    @property
    def value(self) -> float:
        return self.incumbent.upper

    @property
    def lower(self) -> float:
        return -np.inf if self.search is None else self.search.lower()

    @property
    def evaluations(self) -> int:
        return 0 if self.search is None else self.search.boxes

    def figures(self) -> Figures:
        """What a reader of the progress sees."""
        counts = {} if self.search is None else {"regions": self.search.pool, "solutions": self.search.solved}
        of_rounds = {} if self.rounds is None else self.rounds.figures()
        return bounds(self.lower, self.value) | {name: f"{len(regions):,}" for name, regions in counts.items()} | of_rounds

    def state(self) -> State | None:
        return None if self.search is None else self.search.state()

    def restore(self, state: State) -> None:
        self.search = self.branch_of(state)

    def branch_of(self, state: State) -> NewtonSearch:
        """The search of that state, which may be a portion of another one."""
        search = self._made()
        search.restore(state)
        return search

    def steps(self) -> Iterator[None]:
        """Everything, in pieces; a caller may stop after any of them."""
        if self.search is None:
            if self.problem.x0 is not None:
                self.incumbent.offer(self.problem.x0)
            search = self._made()
            search.begin()
            self.search = search
        try:
            while not self._is_limited() and not self.search.done:
                if self.rounds is None or not (yield from self.rounds.round(self.search, most=self.max_boxes)):
                    self.search.step()
                yield
        except MemoryError:  # of the machine or of its GPU; the step has not been
            self.limit = memory_full(len(self.search.pool))
        except RoundEnded as ended:
            self.limit = str(ended)

    def _is_limited(self) -> bool:
        """Asked before each step, so that a run that is resumed stops where another does."""
        search = self.search
        if self.max_boxes is not None and search.boxes >= self.max_boxes:
            self.limit = boxes_reached(search.boxes, self.max_boxes)
        elif self.memory_limit is not None and search.bytes > self.memory_limit:
            self.limit = memory_reached(len(search.pool) + len(search.solved), self.memory_limit)
        elif is_clustered(search, always=self.rounds is not None):
            self.limit = not_isolated(len(search.pool) + len(search.solved))
        return self.limit is not None

    def finish(self, stopped: str | None, seconds: float, history: list[Progress]) -> Result:
        """What is proved so far."""
        search = self.search
        if search is None:
            regions, lower, steps = Regions.unsearched(self.problem), -np.inf, 0
        else:
            if self.rounds is not None:
                self.rounds.end(search)
            search.close()
            regions, lower, steps = search.regions(), search.lower(), search.steps
        return proved_result(regions, lower, self.incumbent, self.goal, stopped or self.limit, nit=steps,
                             nfev=self.evaluations, history=history, engine=self.name, seconds=seconds, seed=self.seed,
                             rounds=None if self.rounds is None else self.rounds.report())
