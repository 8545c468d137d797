"""The complete search as an engine; with constraints it searches for points too, since samples hardly ever obey equations."""

from collections.abc import Iterator

import numpy as np

from infimum.bounds.propagation import propagate
from infimum.engines.complete_search import CompleteSearch
from infimum.engines.iteration_rounds import IterationRounds, OneIteration
from infimum.engines.region_list import RegionList
from infimum.evaluation.evaluator import Evaluator
from infimum.points.constrained_search import ConstrainedSearch
from infimum.problem.problem import Problem
from infimum.problem.settings import UNLIMITED, Limits, Method
from infimum.search.checkpoint import State
from infimum.search.incumbent import Incumbent
from infimum.search.limit_messages import iterations_done
from infimum.search.progress import Figures
from infimum.search.rounds import StepRounds
from infimum.search.search_run import SearchRun

_PARTS = ("iteration", "subregion", "lower", "wide")  # of a list of regions, in a checkpoint


class CompleteRun(SearchRun):
    """Iterations of the complete search; points are searched for where there are constraints."""

    name = "complete"

    def __init__(self, problem: Problem, evaluator: Evaluator, method: Method, limits: Limits = UNLIMITED,
                 batch: int | None = None, rounds: StepRounds | None = None):
        self.search = CompleteSearch(problem, evaluator, method.options, method.goal, method.seed)
        super().__init__(problem, evaluator, method, limits, batch,
                         None if rounds is None else IterationRounds(rounds.runner, rounds.portions))
        self.branch, self.batch = self.search, None  # an iteration has the lanes of its partition, whatever the batch
        boxes = problem.several and problem.several.with_doubles()
        self.points = None if evaluator.system is None else \
            ConstrainedSearch(evaluator, problem.lo, problem.hi, method.seed, problem.x0, boxes)
        self.begun = False    # is nothing left to do before the first iteration?
        self.searched_at = 0  # iterations when points were last looked for

    def first_incumbent(self) -> Incumbent:
        return self.search.incumbent

    @property
    def x(self) -> np.ndarray:
        return (self.lo if self.incumbent.x is None else self.incumbent.x).copy()

    @property
    def searched(self) -> int:
        return self.before + (0 if self.points is None else self.points.evaluations)

    def counts(self) -> Figures:
        return {"iterations": f"{self.search.steps:,}", "regions": f"{len(self.search.list) + len(self.search.final):,}"}

    def state(self) -> State | None:
        if self.points is not None and not self.begun:
            return None
        search, taken = self.search, self.search.taken
        lo, hi = (np.array([t[side] for t in taken]).reshape(len(taken), search.n) for side in (0, 1))
        start = np.array([t[2] for t in taken], np.int64)
        arrays = {"taken.lo": lo, "taken.hi": hi, "taken.start": start, "taken.home": np.array(search.homes, np.int64),
                  **search.best_arrays(), **({} if self.points is None else self.points.arrays())}
        for name, regions in (("list", search.list), ("final", search.final)):
            found = regions.everything(search.incumbent.upper)
            arrays |= {f"{name}.{part}": array for part, array in zip(_PARTS, found, strict=True)}
        return State({"boxes": search.boxes, "before": self.searched, "step_to_end": self.step_to_end}, arrays)

    def restore(self, state: State) -> None:
        """Continues from there. Which regions are too wide is found anew: another width may be asked for than before."""
        search, arrays = self.search, self.search.evaluator.arrays
        rows = zip(state.arrays["taken.lo"], state.arrays["taken.hi"], state.arrays["taken.start"].tolist(), strict=True)
        search.taken, search.boxes = list(rows), state.values["boxes"]
        search.homes = state.arrays.get("taken.home", np.zeros(len(search.taken), np.int64)).tolist()
        search.restore_best(state.arrays)
        if self.points is not None:
            self.points.restore(state.arrays)
        self.begun, self.searched_at, self.before = True, len(search.taken), state.values.get("before", 0)
        self.step_to_end = state.values.get("step_to_end")
        if self.step_to_end is not None:
            self.searched_at -= 1  # points are still to be looked for, if they are after this iteration
        (*regions, _), final = ([state.arrays[f"{name}.{part}"] for part in _PARTS] for name in ("list", "final"))
        search.list = RegionList.of(arrays, *regions, search.wide_ones(*regions[:2]))
        search.final = RegionList.of(arrays, *final)

    @property
    def is_prepared(self) -> bool:
        return self.begun

    def prepare(self) -> Iterator[None]:
        """Offers the user's point; with constraints, looks for points until one is proved to be feasible, unless none can be."""
        if self.problem.x0 is not None:
            self.incumbent.offer(self.problem.x0)
        if self.points is not None and propagate(self.evaluator, *self.incumbent.region) is not None:
            for steps in self.points.rounds():
                yield from steps
                self._offer()
                if self.value < np.inf:
                    break
        self.begun = True
        if self.points is not None:
            yield

    def after_step(self, was_round: bool) -> Iterator[None]:
        self._look()
        yield from ()

    def _look(self) -> None:
        """From the middle of the region that was cut last, after 1, 2, 4, … iterations, or in the first round after that."""
        count = len(self.search.taken)
        if self.points is not None and count.bit_length() > self.searched_at.bit_length():
            for _ in self.points.in_boxes(*(end[:, None] for end in self.search.taken[-1][:2])):
                pass  # without stopping: a checkpoint holds no half of a point search
            self._offer()
            self.searched_at = count

    def _offer(self) -> None:
        found = self.points.candidates()
        if found and self.search.incumbent.offer(np.stack(found, axis=1)):
            self.search.prune()

    def reached_limit(self) -> str | None:
        most = self.options.iterations
        return super().reached_limit() or (iterations_done(most) if most is not None and self.search.steps >= most else None)

    def branch_of(self, state: State) -> OneIteration:
        """A region of another search, to be cut here."""
        return OneIteration(self.search, state)
