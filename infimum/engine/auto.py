"""The engine people call: a good point first, then sweeps of the whole box, then branch and bound, until the infimum is enclosed.

The good point comes from the swarm, or, for very many variables, from sampling along each of them. Sweeps shrink the box in all
variables at once; where they no longer pay, it is cut.
"""

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace

import numpy as np

from infimum.cover import widths
from infimum.engine.answer.verdict import proved_result
from infimum.engine.branch import FEW, Branch
from infimum.engine.goal import Goal
from infimum.engine.parts.sweep import Sweeper
from infimum.engine.points.coordinate_search import CoordinateSearch
from infimum.engine.points.incumbent import Incumbent
from infimum.engine.points.polish import Polish
from infimum.engine.points.swarm import Swarm
from infimum.engine.points.swarm_options import SwarmOptions
from infimum.engine.regions.pool import Regions
from infimum.engine.running.checkpoint import State
from infimum.engine.running.limits import boxes_reached, memory_full, memory_reached
from infimum.engine.running.overlap import Overlap
from infimum.engine.running.progress import Figures, bounds
from infimum.errors import DeviceError, UndefinedError
from infimum.evaluate import Evaluator
from infimum.lower.sweep import SLICES
from infimum.problem import Problem
from infimum.result import Progress, Result

_REACH = 1e3         # unbounded variables: the swarm looks this far
_MANY = 32           # with more variables points come from the coordinate search, not from the swarm
_SWARMED = 2000      # with up to so many variables the swarm is asked where that was not enough
_LATE, _LATER, _WAVES = 24, 64, 3  # after so many steps of branching points are looked for again, the second time by a swarm,
_LARGE, _LATEST = 1 << 16, 256     # with such a batch after so many: beside a GPU the swarm has the time until then
_LONG, _LEFT = 1 << 20, 1 << 16  # after so many boxes, if so many regions are left, a search goes to a GPU that is there
_PAYS = 0.9          # a sweep pays if it shrinks some variable to this part


class Auto:
    """One run: `steps()` works in small pieces; `finish()` gives the enclosure reached so far, at any moment."""

    name = "auto"

    def __init__(self, problem: Problem, evaluator: Evaluator, options: SwarmOptions, goal: Goal, seed: int,
                 max_boxes: int | None = None, memory_limit: float | None = None, batch: int | None = None,
                 may_move_to_gpu: bool = False):
        self.problem, self.evaluator, self.goal, self.seed = problem, evaluator, goal, seed
        self.lo, self.hi = problem.lo, problem.hi
        self.max_boxes, self.memory_limit = max_boxes, memory_limit
        self.first_batch = self.batch = batch or evaluator.batch  # by the first one points are looked for again, now or later
        self.may_move_to_gpu = may_move_to_gpu  # with more boxes a step
        self.incumbent = Incumbent(evaluator, self.lo, self.hi)
        self.swarm = Swarm(self._finite(), evaluator, replace(options, restarts=0), seed)
        self.sweeper = Sweeper(evaluator, self.lo, self.hi) if len(self.lo) >= FEW else None
        self.coordinate_search: CoordinateSearch | None = None
        self.branch: Branch | None = None
        self.root = self.lo[:, None], self.hi[:, None]
        self.root_lower, self.sweeps = -np.inf, 0
        self.limit: str | None = None
        self.before = 0                  # evaluations of searches in the run that this one resumes
        self.kept: State | None = None   # while a late search goes on, what it may change, as a later run needs it
        self.looked = 0                  # evaluations of looking again
        self.overlap: tuple[Swarm, Overlap] | None = None  # the second look, while a GPU branches
        self.closed = False              # the late search has settled it: the answer is what the sweeps left

    def _finite(self) -> Problem:
        """The problem within finite bounds, for the swarm."""
        with np.errstate(over="ignore"):
            lo = np.where(np.isfinite(self.lo), self.lo, np.minimum(-_REACH, self.hi - _REACH))
            hi = np.where(np.isfinite(self.hi), self.hi, np.maximum(_REACH, self.lo + _REACH))
        lo, hi = np.where(np.isfinite(lo), lo, -_REACH), np.where(np.isfinite(hi), hi, _REACH)
        wide = ~np.isfinite(widths(lo, hi))
        return replace(self.problem, lo=np.where(wide, lo / 4, lo), hi=np.where(wide, hi / 4, hi), x0=None)

    # ---- checkpoints: what comes before branching is quick, and begins anew
    def state(self) -> State | None:
        if self.branch is None:
            return None
        state, other = self.branch.state(), self.kept or self._state_but_regions()
        settings = {"batch": self.batch, "may_move_to_gpu": self.may_move_to_gpu}
        return State(state.values | other.values | settings, state.arrays | other.arrays)

    def _state_but_regions(self) -> State:
        """All of the state but the regions."""
        values = {"before": self._before_sweeps(), "sweeps": self.sweeps, "slices": self._slices()}
        root = np.concatenate([*self.root, [[self.root_lower]]])[:, 0]
        return State(values, {"root": root, **self.incumbent.arrays()})

    def restore(self, state: State) -> None:
        self._continue(state, state.values.get("batch", self.batch))
        self.may_move_to_gpu = state.values.get("may_move_to_gpu", self.may_move_to_gpu)
        self.before, self.sweeps = state.values["before"], state.values["sweeps"]
        n, root = len(self.lo), state.arrays["root"]
        self.root, self.root_lower = (root[:n, None].copy(), root[n:2 * n, None].copy()), float(root[2 * n])
        if self.sweeper is not None:
            self.sweeper.slices = state.values["slices"]

    def _continue(self, state: State, batch: int) -> None:
        """Goes on with regions that were searched before, so many boxes a step."""
        branch = Branch(self.evaluator, self.lo, self.hi, self.goal, self.incumbent, batch)
        branch.restore(state)
        self.branch, self.batch = branch, batch

    def _slices(self) -> int:
        return 0 if self.sweeper is None else self.sweeper.slices

    # ---- what a reader of the progress sees
    @property
    def x(self) -> np.ndarray:
        return self.incumbent.x.copy() if self.incumbent.x is not None else self.swarm.x

    @property
    def value(self) -> float:
        return min(self.incumbent.upper, self.swarm.value)

    @property
    def lower(self) -> float:
        from_root = self.branch is None or self.closed
        return min(self.root_lower, self.incumbent.upper) if from_root else self.branch.lower()

    @property
    def evaluations(self) -> int:
        boxes = 0 if self.branch is None else self.branch.boxes
        return self._before_sweeps() + self.sweeps * SLICES * len(self.lo) + boxes

    def _before_sweeps(self) -> int:
        along = 0 if self.coordinate_search is None else self.coordinate_search.evaluations
        return self.before + self.looked + self.swarm.evaluations + along

    def figures(self) -> Figures:
        """What a reader of the progress sees."""
        if self.branch is None and not self.sweeps:
            return self.swarm.figures() if self.coordinate_search is None else {"best": f"{self.coordinate_search.value:.10g}"}
        known = bounds(self.lower, self.incumbent.upper)
        if self.branch is None:
            return known | {"sweeps": f"{self.sweeps}", "width": f"{self._width():.3g}"}
        return known | {"regions": f"{len(self.branch.pool):,}", "boxes": f"{self.branch.boxes:,}"}

    # ---- the work
    def steps(self) -> Iterator[None]:
        """Everything, in pieces; a caller may stop after any of them."""
        if self.problem.x0 is not None and self.branch is None:
            self.incumbent.offer(self.problem.x0)
        if self.branch is None:
            yield from self._before_branching()
        if self.branch is not None:
            try:
                yield from self._branch()
            finally:
                self._end_overlap()

    def _before_branching(self) -> Iterator[None]:
        if self._can_sweep() and len(self.lo) > _MANY:
            yield from self._coordinate_search()
            if not self._is_swept() and len(self.lo) <= _SWARMED:
                yield from self._swarm_and_sweep()
        else:
            yield from self._swarm_and_sweep()
        if self._is_swept():
            return
        branch = Branch(self.evaluator, self.lo, self.hi, self.goal, self.incumbent, self.batch)
        branch.begin(*self.root, self.root_lower)
        self.branch = branch
        yield

    def _branch(self) -> Iterator[None]:
        later = _LATER if self.first_batch < _LARGE else _LATEST
        if self.evaluator.uses_gpu(self.first_batch) and self.branch.steps <= later and self._can_swarm():
            swarm = self._wider_swarm()
            self.overlap = swarm, Overlap(self._tries(swarm), self.branch.arrays)
        while not self.branch.done and not self._is_limited():
            try:
                if self.branch.steps in (_LATE, later):
                    yield from self._look_again(self._closer if self.branch.steps == _LATE else self._wider)
                    if self.closed or self.branch.done:
                        return
                if not self._moved_to_gpu():
                    self.branch.step()
            except MemoryError:  # of the machine or of its GPU; the look or the step has not been
                if not self._moved_back():
                    self.limit = memory_full(len(self.branch.pool))
                    return
            yield

    def _moved_to_gpu(self) -> bool:
        """Takes a step on a GPU that is beside this machine, if the search turns out to be long, and stays there. Where that
        fails, all is as it was. By counts, not by a clock: a run that is resumed goes there after the same step."""
        if not self.may_move_to_gpu or self.branch.boxes < _LONG or len(self.branch.pool) < _LEFT:
            return False
        self.may_move_to_gpu, batch, before = False, self.evaluator.gpu_batch, (self.branch, self.batch)
        if batch is None or batch <= self.batch:
            return False
        state = self.branch.state()
        try:
            self._continue(state, batch)
            self.branch.step()
        except (MemoryError, DeviceError):
            self.branch, self.batch = before
            self.incumbent.restore(state.arrays)
            return False
        return True

    def _moved_back(self) -> bool:
        """Where a GPU has no memory left, a search that went there of its own accord goes on here."""
        if self.batch == self.first_batch:
            return False
        with suppress(MemoryError):
            self._continue(self.branch.state(), self.first_batch)
        return self.batch == self.first_batch

    def _is_limited(self) -> bool:
        branch = self.branch
        if self.max_boxes is not None and branch.boxes >= self.max_boxes:
            self.limit = boxes_reached(branch.boxes, self.max_boxes)
        elif self.memory_limit is not None and branch.pool.bytes > self.memory_limit:
            self.limit = memory_reached(len(branch.pool), self.memory_limit)
        return self.limit is not None

    def _look_again(self, looks: Callable[[], Iterator[None]]) -> Iterator[None]:
        """Looks for a better point in the midst of branching. A run that is resumed there does all of it again."""
        self.kept, before = self._state_but_regions(), self.incumbent.upper
        yield from looks()
        if self._can_sweep() and self.incumbent.upper < before:
            yield from self._sweep()
        self.closed = self._is_swept()
        if not self.closed:
            self.kept = None
            self.branch.pool.prune(self.incumbent.upper)

    def _closer(self) -> Iterator[None]:
        """The swarm's point may lack its last digits; and it may have missed what a search along each variable finds."""
        if len(self.lo) > _MANY:
            return
        if self.incumbent.x is not None:
            polish = Polish(self.evaluator, self.lo, self.hi, self.incumbent.x)
            for _ in polish.steps():
                yield
            self.looked += polish.evaluations
            self.incumbent.offer(polish.x[:, None])
        if self._can_sweep():
            yield from self._coordinate_search()

    def _wider(self) -> Iterator[None]:
        """The swarm again, with more waves."""
        if not self._can_swarm():
            return
        swarm, begun = self.overlap or (self._wider_swarm(), None)
        yield from self._tries(swarm) if begun is None else begun.rest()
        self._offer_of(swarm)
        self.looked += swarm.evaluations

    def _can_swarm(self) -> bool:
        return len(self.lo) <= _SWARMED

    def _wider_swarm(self) -> Swarm:
        return Swarm(self.swarm.problem, self.evaluator, replace(self.swarm.options, restarts=_WAVES), self.seed)

    def _end_overlap(self) -> None:
        if self.overlap is not None:
            self.overlap[1].stop()
            self.overlap = None

    def _can_sweep(self) -> bool:
        return self.sweeper is not None and self.sweeper.possible

    def _coordinate_search(self) -> Iterator[None]:
        """Looks for a better point while the sweeps it allows are not enough."""
        finite = self.swarm.problem
        self.coordinate_search = CoordinateSearch(self.evaluator, self.sweeper, finite.lo, finite.hi, self.seed)
        for way in self.coordinate_search.rounds():
            for _ in way:
                yield
            if self.incumbent.offer(self.coordinate_search.x[:, None]) or not self.sweeps:
                yield from self._sweep()
                if self._is_swept():
                    return

    def _is_swept(self) -> bool:
        return self._swept_away() or (self.goal.met(self.root_lower, self.incumbent.upper) and self._narrow())

    def _tries(self, swarm: Swarm) -> Iterator[None]:
        try:
            for _ in swarm.steps():
                yield
        except UndefinedError:
            yield  # the swarm met no value; the proof may still find where there are some, or that there are none

    def _offer_of(self, swarm: Swarm) -> None:
        if swarm.value < np.inf:
            self.incumbent.offer(np.stack(swarm.candidates(), axis=1))

    def _swarm_and_sweep(self) -> Iterator[None]:
        before = self.incumbent.upper
        yield from self._tries(self.swarm)
        self._offer_of(self.swarm)
        if self._can_sweep() and (self.incumbent.upper < before or not self.sweeps):
            yield from self._sweep()

    def _sweep(self) -> Iterator[None]:
        """Sweeps the whole box while that pays."""
        while True:
            lo, hi, lower = self.sweeper.sweep(*self.root, self.incumbent.upper)
            self.sweeps += 1
            pays = bool((widths(lo, hi) < _PAYS * widths(*self.root)).any())
            self.root, self.root_lower = (lo, hi), max(self.root_lower, float(lower[0]))
            yield
            if self._is_swept() or not (pays or self.sweeper.look_closer()):
                return

    def _swept_away(self) -> bool:
        return not (self.root[0] <= self.root[1]).all()

    def _width(self) -> float:
        return float(widths(*self.root).max())

    def _narrow(self) -> bool:
        return self.goal.xtol is None or self._width() <= self.goal.xtol

    # ---- the answer
    def finish(self, stopped: str | None, seconds: float, history: list[Progress]) -> Result:
        """What is proved so far. `stopped` says what ended the run early."""
        self._end_overlap()
        if self.branch is None:
            found = self.swarm.candidates() if self.coordinate_search is None else [self.coordinate_search.x]
            self.incumbent.offer(np.stack(found, axis=1))
        return proved_result(
            self._regions(), min(self.lower, self.incumbent.upper), self.incumbent, self.goal, stopped or self.limit,
            nit=self.sweeps + (0 if self.branch is None else self.branch.steps), nfev=self.evaluations, history=history,
            engine=self.name, seconds=seconds, seed=self.seed)

    def _regions(self) -> Regions:
        if self.branch is not None and not self.closed:
            return self.branch.regions()
        if self._swept_away():
            return Regions.none(len(self.lo))
        value = self.evaluator.value(*self.root)
        return Regions(*self.root, np.array([self.root_lower]), np.zeros(1, np.int32), value.level.astype(np.int8))
