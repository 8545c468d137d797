"""Branch and bound with constraints as an engine: a feasible point first, then regions that are shrunk, cut and discarded until
the infimum over the feasible points is enclosed, or no region is left that could hold a feasible point."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from infimum.engine.answer.verdict import proved_result
from infimum.engine.branch import Branch
from infimum.engine.constrained.multipliers import convexity
from infimum.engine.goal import Goal
from infimum.engine.parts.lagrangian import Lagrangian
from infimum.engine.parts.lifted import Lifted
from infimum.engine.parts.propagation import propagate
from infimum.engine.points.constrained_search import ConstrainedSearch
from infimum.engine.points.feasible import FeasibleIncumbent
from infimum.engine.running.checkpoint import State
from infimum.engine.running.limits import boxes_reached, memory_full, memory_reached
from infimum.engine.running.progress import Figures, bounds
from infimum.evaluate import Evaluator
from infimum.problem import Problem
from infimum.result import Progress, Result

_LOOKS = 4        # regions in which a point is looked for at a time
_SOON = 4         # steps before the first look, where lower bounds are good
_OFTEN = 64       # without a feasible point, points are looked for after 1, 2, 4, … steps, then after so many more each time


class ConstrainedRun:
    """`steps()` works in pieces, `finish()` gives the enclosure so far, at any moment."""

    name = "auto"

    def __init__(self, problem: Problem, evaluator: Evaluator, options: Any, goal: Goal, seed: int,
                 max_boxes: int | None = None, memory_limit: float | None = None, batch: int | None = None,
                 may_move_to_gpu: bool = False):
        self.problem, self.evaluator, self.goal, self.seed = problem, evaluator, goal, seed
        self.lo, self.hi = problem.lo, problem.hi
        self.batch, self.max_boxes, self.memory_limit, self.limit = batch or evaluator.batch, max_boxes, memory_limit, None
        self.incumbent = FeasibleIncumbent(evaluator, self.lo, self.hi)
        self.search = ConstrainedSearch(evaluator, self.lo, self.hi, seed, problem.x0)
        self.branch: Branch | None = None
        self.before = 0  # evaluations of searches in the run that this one resumes

    # ---- what a reader of the progress sees
    @property
    def x(self) -> np.ndarray:
        return self.search.x if self.incumbent.x is None else self.incumbent.x.copy()

    @property
    def value(self) -> float:
        return self.incumbent.upper

    @property
    def lower(self) -> float:
        return -np.inf if self.branch is None else self.branch.lower()

    @property
    def evaluations(self) -> int:
        return self.before + self.search.evaluations + (0 if self.branch is None else self.branch.boxes)

    def figures(self) -> Figures:
        if self.branch is None:
            return self.search.figures()
        return bounds(self.lower, self.value) | {"regions": f"{len(self.branch.pool):,}", "boxes": f"{self.branch.boxes:,}"}

    # ---- checkpoints: what comes before branching is quick, and begins anew
    def state(self) -> State | None:
        if self.branch is None:
            return None
        state = self.branch.state()
        taught = {f"taught.{part.name}": part.given for part in self._taught() if part.given is not None}
        return State(state.values | {"before": self.before + self.search.evaluations, "batch": self.batch},
                     state.arrays | taught | self.search.arrays())

    def restore(self, state: State) -> None:
        self.batch = state.values["batch"]
        self.branch = self._made()
        self.branch.restore(state)
        self.search.restore(state.arrays)
        self.before = state.values["before"]
        for part in self._taught():
            part.given = state.arrays.get(f"taught.{part.name}")

    def _made(self) -> Branch:
        return Branch(self.evaluator, self.lo, self.hi, self.goal, self.incumbent, self.batch)

    def _begun(self) -> Branch:
        """With what propagation leaves of the whole box; with nothing where that is nothing."""
        branch, left = self._made(), propagate(self.evaluator, self.lo, self.hi)
        if left is not None:
            branch.begin(*(end[:, None] for end in left))
        return branch

    def _taught(self) -> list[Lagrangian | Lifted]:
        return [part for part in self.branch.parts if isinstance(part, Lagrangian | Lifted)]

    # ---- the work
    def steps(self) -> Iterator[None]:
        """Everything, in pieces; a caller may stop after any of them."""
        if self.branch is None:
            branch = self._begun()
            if len(branch.pool) and not branch.done:
                for steps in self.search.rounds():
                    for _ in steps:
                        yield
                    self._offer()
                    if self.incumbent.upper < np.inf:
                        break
            self.branch = branch
            branch.prune()
            self._teach()
            self._ask_whole()
            yield
        try:
            while not self.branch.done and not self._is_limited():
                self.branch.step()
                if self._looks():
                    self._look()
                yield
        except MemoryError:  # of the machine or of its GPU; the step has not been
            self.limit = memory_full(len(self.branch.pool))

    def _ask_whole(self) -> None:
        """What multipliers say of the whole box, where most of it is known: often all."""
        asked = [part for part in self._taught() if isinstance(part, Lagrangian) and part.given is not None]
        if asked and not self.branch.done:
            self.branch.ask([*self.branch.cutting, *asked])

    def _looks(self) -> bool:
        """By counts: a run that is resumed looks after the same steps."""
        steps = self.branch.steps
        if steps & (steps - 1) == 0:
            if self._relaxed() is not None:
                return steps >= _SOON
            return self.incumbent.upper == np.inf or (steps >= 8 and steps.bit_length() % 2 == 0)
        return self.incumbent.upper == np.inf and steps % _OFTEN == 0

    def _relaxed(self) -> Lifted | None:
        """The relaxation that lower bounds come from: its solutions in the lowest regions are good places to start from. It was
        asked before, so that nothing need be compiled for it."""
        return next((part for part in self.branch.parts if isinstance(part, Lifted) and part.payoff.tried), None)

    def _look(self) -> None:
        """Looks for a better point in the lowest regions."""
        lo, hi = self.branch.lowest(_LOOKS)
        if lo.shape[1]:
            relaxed = self._relaxed()
            self.search.in_box(lo, hi, None if relaxed is None else relaxed.points(lo, hi, self.incumbent.upper))
            self._offer()
            self.branch.prune()

    def _offer(self) -> None:
        """Offers what was found; a better point brings better multipliers."""
        found = self.search.candidates()
        if found and self.incumbent.offer(np.stack(found, axis=1)) and self.branch is not None:
            self._teach()

    def _teach(self) -> None:
        x, multipliers = self.incumbent.x, self.search.multipliers
        if x is not None and multipliers is not None and self._taught():
            for part in self._taught():
                part.learn(self.search.x, *convexity(self.evaluator, self.search.x, multipliers, part.logarithmic))

    def _is_limited(self) -> bool:
        """Asked before each step, so that a run that is resumed stops where another does."""
        branch = self.branch
        if self.max_boxes is not None and branch.boxes >= self.max_boxes:
            self.limit = boxes_reached(branch.boxes, self.max_boxes)
        elif self.memory_limit is not None and branch.pool.bytes > self.memory_limit:
            self.limit = memory_reached(len(branch.pool), self.memory_limit)
        return self.limit is not None

    def finish(self, stopped: str | None, seconds: float, history: list[Progress]) -> Result:
        """What is proved so far."""
        if self.branch is None:
            self.branch = self._begun()
        branch = self.branch
        return proved_result(branch.regions(), branch.lower(), self.incumbent, self.goal, stopped or self.limit,
                             nit=branch.steps, nfev=self.evaluations, history=history, engine=self.name, seconds=seconds,
                             seed=self.seed)
