"""The complete search as an engine: limits, checkpoints, the answer."""

from collections.abc import Iterator

import numpy as np

from infimum.engine.answer.verdict import proved_result
from infimum.engine.complete.partition import CompleteOptions
from infimum.engine.complete.region_list import RegionList
from infimum.engine.complete.search import CompleteSearch
from infimum.engine.goal import Goal
from infimum.engine.running.checkpoint import State
from infimum.engine.running.limits import boxes_reached, iterations_done, memory_full, memory_reached
from infimum.engine.running.progress import Figures, bounds
from infimum.evaluate import Evaluator
from infimum.problem import Problem
from infimum.result import Result

_PARTS = ("iteration", "subregion", "lower", "wide")  # of a list of regions, in a checkpoint


class CompleteRun:
    """The complete search as an engine: `steps()` works in pieces, `finish()` gives the enclosure so far, at any moment."""

    name = "complete"

    def __init__(self, problem: Problem, evaluator: Evaluator, options: CompleteOptions, goal: Goal, seed: int,
                 max_boxes: int | None = None, memory_limit: float | None = None):
        self.search = CompleteSearch(problem, evaluator, options, goal, seed)
        self.problem, self.goal, self.seed = problem, goal, seed
        self.max_boxes, self.memory_limit, self.limit = max_boxes, memory_limit, None

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
        return self.search.boxes

    def figures(self) -> Figures:
        """What a reader of the progress sees."""
        search = self.search
        return bounds(search.lower(), search.incumbent.upper) | {"iterations": f"{len(search.taken):,}",
                                                                 "regions": f"{len(search.list) + len(search.final):,}"}

    def state(self) -> State:
        """Everything that a later run needs to go on with the same bits."""
        search, taken = self.search, self.search.taken
        lo, hi = (np.array([t[side] for t in taken]).reshape(len(taken), search.n) for side in (0, 1))
        start = np.array([t[2] for t in taken], np.int64)
        arrays = {"taken.lo": lo, "taken.hi": hi, "taken.start": start, **search.incumbent.arrays()}
        for name, regions in (("list", search.list), ("final", search.final)):
            found = regions.everything(search.incumbent.upper)
            arrays |= {f"{name}.{part}": array for part, array in zip(_PARTS, found, strict=True)}
        return State({"boxes": search.boxes}, arrays)

    def restore(self, state: State) -> None:
        """Goes on from there. Which regions are too wide is found anew: another width may be asked for than before."""
        search, arrays = self.search, self.search.evaluator.arrays
        rows = zip(state.arrays["taken.lo"], state.arrays["taken.hi"], state.arrays["taken.start"].tolist(), strict=True)
        search.taken, search.boxes = list(rows), state.values["boxes"]
        search.incumbent.restore(state.arrays)
        (*regions, _), final = ([state.arrays[f"{name}.{part}"] for part in _PARTS] for name in ("list", "final"))
        search.list = RegionList.of(arrays, *regions, search.wide_ones(*regions[:2]))
        search.final = RegionList.of(arrays, *final)

    def steps(self) -> Iterator[None]:
        """Everything, in pieces; a caller may stop after any of them."""
        if self.problem.x0 is not None and not self.search.taken:
            self.search.incumbent.offer(self.problem.x0)
        iterations = self._iterations()
        while not self._is_limited() and next(iterations, "over") != "over":
            yield
        most = self.search.options.iterations
        if self.limit is None and most is not None and len(self.search.taken) >= most and not self.search.done:
            self.limit = iterations_done(most)

    def _is_limited(self) -> bool:
        """Asked before each iteration, so that a run that is resumed stops where another does."""
        search = self.search
        if self.max_boxes is not None and search.boxes >= self.max_boxes:
            self.limit = boxes_reached(search.boxes, self.max_boxes)
        elif self.memory_limit is not None and search.list.takes_more(self.memory_limit, search.incumbent.upper):
            self.limit = memory_reached(len(search.list), self.memory_limit)
        return self.limit is not None

    def _iterations(self) -> Iterator[None]:
        try:
            yield from self.search.steps()
        except MemoryError:  # of the machine or of its GPU; the iteration has not been
            self.limit = memory_full(len(self.search.list))

    def finish(self, stopped: str | None, seconds: float, history: list) -> Result:
        """What is proved so far."""
        search = self.search
        return proved_result(search.regions(), search.lower(), search.incumbent, self.goal, stopped or self.limit,
                             nit=len(search.taken), nfev=search.boxes, history=history, engine=self.name, seconds=seconds,
                             seed=self.seed)
