"""The complete search as an engine: limits, checkpoints, the answer; with constraints also points, since samples hardly ever obey
equations."""

from collections.abc import Iterator

import numpy as np

from infimum.bounds.propagation import propagate
from infimum.certify.verdict import proved_result
from infimum.engines.complete_search import CompleteSearch
from infimum.engines.iteration_rounds import IterationRounds, OneIteration
from infimum.engines.region_list import RegionList
from infimum.evaluation.evaluator import Evaluator
from infimum.points.constrained_search import ConstrainedSearch
from infimum.problem.problem import Problem
from infimum.problem.settings import UNLIMITED, Limits, Method
from infimum.result import Result
from infimum.search.checkpoint import State
from infimum.search.incumbent import Incumbent
from infimum.search.limit_messages import boxes_reached, iterations_done, memory_full, memory_reached
from infimum.search.progress import Figures, bounds
from infimum.search.rounds import RoundEnded, StepRounds

_PARTS = ("iteration", "subregion", "lower", "wide")  # of a list of regions, in a checkpoint


class CompleteRun:
    """The complete search as an engine: `steps()` works in pieces, `finish()` gives the enclosure so far, at any moment."""

    name = "complete"

    def __init__(self, problem: Problem, evaluator: Evaluator, method: Method, limits: Limits = UNLIMITED,
                 rounds: StepRounds | None = None):
        self.search = CompleteSearch(problem, evaluator, method.options, method.goal, method.seed)
        self.problem, self.goal, self.seed = problem, method.goal, method.seed
        self.max_boxes, self.memory_limit, self.limit = limits.max_boxes, limits.memory_limit, None
        boxes = problem.several and problem.several.with_doubles()
        self.points = None if evaluator.system is None else \
            ConstrainedSearch(evaluator, problem.lo, problem.hi, method.seed, problem.x0, boxes)
        self.rounds = None if rounds is None else IterationRounds(rounds.runner, rounds.portions)
        self.begun = self.points is None  # is nothing left to do before the first iteration?
        # iterations when points were last looked for; evaluations before those counted here
        self.searched_at = self.before = 0

    @property
    def incumbent(self) -> Incumbent:
        return self.search.incumbent

    @property
    def x(self) -> np.ndarray:
        return (self.search.lo if self.search.incumbent.x is None else self.search.incumbent.x).copy()

    @property
    def value(self) -> float:
        return self.search.incumbent.upper

    @property
    def lower(self) -> float:
        return self.search.lower()

    @property
    def evaluations(self) -> int:
        return self.search.boxes + self.before + (0 if self.points is None else self.points.evaluations)

    def figures(self) -> Figures:
        """What a reader of the progress sees."""
        search = self.search
        return bounds(search.lower(), search.incumbent.upper) | {"iterations": f"{len(search.taken):,}",
                                                                 "regions": f"{len(search.list) + len(search.final):,}",
                                                                 **({} if self.rounds is None else self.rounds.figures())}

    def state(self) -> State | None:
        """Everything that a later run needs to go on with the same bits; None before the first iteration, which is soon."""
        if not self.begun:
            return None
        search, taken = self.search, self.search.taken
        lo, hi = (np.array([t[side] for t in taken]).reshape(len(taken), search.n) for side in (0, 1))
        start = np.array([t[2] for t in taken], np.int64)
        arrays = {"taken.lo": lo, "taken.hi": hi, "taken.start": start, "taken.home": np.array(search.homes, np.int64),
                  **search.incumbent.arrays(), **({} if self.points is None else self.points.arrays())}
        for name, regions in (("list", search.list), ("final", search.final)):
            found = regions.everything(search.incumbent.upper)
            arrays |= {f"{name}.{part}": array for part, array in zip(_PARTS, found, strict=True)}
        return State({"boxes": search.boxes, "before": self.evaluations - search.boxes}, arrays)

    def restore(self, state: State) -> None:
        """Goes on from there. Which regions are too wide is found anew: another width may be asked for than before."""
        search, arrays = self.search, self.search.evaluator.arrays
        rows = zip(state.arrays["taken.lo"], state.arrays["taken.hi"], state.arrays["taken.start"].tolist(), strict=True)
        search.taken, search.boxes = list(rows), state.values["boxes"]
        search.homes = state.arrays.get("taken.home", np.zeros(len(search.taken), np.int64)).tolist()
        search.incumbent.restore(state.arrays)
        if self.points is not None:
            self.points.restore(state.arrays)
        self.begun, self.searched_at, self.before = True, len(search.taken), state.values.get("before", 0)
        (*regions, _), final = ([state.arrays[f"{name}.{part}"] for part in _PARTS] for name in ("list", "final"))
        search.list = RegionList.of(arrays, *regions, search.wide_ones(*regions[:2]))
        search.final = RegionList.of(arrays, *final)

    def steps(self) -> Iterator[None]:
        """Everything, in pieces; a caller may stop after any of them."""
        if self.problem.x0 is not None and not self.search.taken:
            self.search.incumbent.offer(self.problem.x0)
        if not self.begun:
            yield from self._first_points()
        yield from self._iterations()
        most = self.search.options.iterations
        if self.limit is None and most is not None and len(self.search.taken) >= most and not self.search.done:
            self.limit = iterations_done(most)

    def _first_points(self) -> Iterator[None]:
        """Until one is proved to be feasible, unless none can be."""
        if propagate(self.search.evaluator, *self.search.incumbent.region) is not None:
            for steps in self.points.rounds():
                for _ in steps:
                    yield
                self._offer()
                if self.value < np.inf:
                    break
        self.begun = True
        yield

    def _look(self) -> None:
        """From the middle of the region that was cut last, after 1, 2, 4, … iterations, or in the first round after that."""
        count = len(self.search.taken)
        if self.points is not None and count.bit_length() > self.searched_at.bit_length():
            self.searched_at = count
            for _ in self.points.in_boxes(*(end[:, None] for end in self.search.taken[-1][:2])):
                pass  # without a pause: a checkpoint holds no half of a look
            self._offer()

    def _offer(self) -> None:
        found = self.points.candidates()
        if found and self.search.incumbent.offer(np.stack(found, axis=1)):
            self.search.prune()

    def _is_limited(self) -> bool:
        """Asked before each iteration, so that a run that is resumed stops where another does."""
        search = self.search
        if self.max_boxes is not None and search.boxes >= self.max_boxes:
            self.limit = boxes_reached(search.boxes, self.max_boxes)
        elif self.memory_limit is not None and search.list.takes_more(self.memory_limit, search.incumbent.upper):
            self.limit = memory_reached(len(search.list), self.memory_limit)
        return self.limit is not None

    def _iterations(self) -> Iterator[None]:
        search = self.search
        try:
            while not self._is_limited() and not search.over:
                if self.rounds is None or not (yield from self.rounds.round(search, self.max_boxes)):
                    search.iterate()
                self._look()
                yield
        except MemoryError:  # of the machine or of its GPU; the iteration has not been
            self.limit = memory_full(len(search.list))
        except RoundEnded as ended:
            self.limit = str(ended)

    def branch_of(self, state: State) -> OneIteration:
        """A region of another search, to be cut here."""
        return OneIteration(self.search, state)

    def finish(self, stopped: str | None, seconds: float, history: list) -> Result:
        """What is proved so far."""
        search = self.search
        if self.rounds is not None:
            self.rounds.end(search)
        return proved_result(search.regions(), search.lower(), search.incumbent, self.goal, stopped or self.limit,
                             nit=len(search.taken), nfev=self.evaluations, history=history, engine=self.name, seconds=seconds,
                             seed=self.seed, rounds=None if self.rounds is None else self.rounds.report())
