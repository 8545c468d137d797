"""The engine people call: a good point first, then sweeps of the whole box, then branch and bound, until the infimum is enclosed.

The good point comes from the swarm, of sums of squares from Levenberg and Marquardt's method, and for very many variables from
sampling along each of them. Sweeps shrink the box in all variables at once; where they no longer pay, it is cut. Where several
boxes were given to start from, these are cut at once.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from infimum.chains.chain import Chain
from infimum.chains.coupled import coupled_of
from infimum.errors import DeviceError
from infimum.evaluation.evaluator import Evaluator
from infimum.points.coordinate_search import CoordinateSearch
from infimum.points.levenberg_marquardt import LevenbergMarquardt
from infimum.points.point_search import PointSearch
from infimum.points.start_box_search import SearchInBoxes
from infimum.points.swarm import Swarm
from infimum.points.valley_polish import ValleyPolish
from infimum.problem.cover import widths
from infimum.problem.problem import Problem
from infimum.problem.settings import UNLIMITED, Limits, Method
from infimum.problem.start_boxes import StartBoxes
from infimum.problem.text import replaced_ends
from infimum.search.branch_and_bound import BranchAndBound
from infimum.search.checkpoint import State
from infimum.search.limit_messages import boxes_reached
from infimum.search.overlapped_work import OverlappedWork
from infimum.search.policy.search import AUTO as POLICY
from infimum.search.progress import Figures
from infimum.search.root_box import RootBox
from infimum.search.search_run import SearchRun
from infimum.support.clock import briefly

if TYPE_CHECKING:
    from infimum.search.rounds import StepRounds



class Auto(SearchRun):
    """Point searches and sweeps of the whole box, then branch and bound, with further searches between its steps."""

    name = "auto"
    stops_at_clusters = localises = True

    def __init__(self, problem: Problem, evaluator: Evaluator, method: Method, limits: Limits = UNLIMITED,
                 batch: int | None = None, rounds: "StepRounds | None" = None, may_move_to_gpu: bool = False):
        super().__init__(problem, evaluator, method, limits, batch, rounds)
        self.first_batch = self.batch  # by the first one points are looked for again, now or later
        self.may_move_to_gpu = may_move_to_gpu  # with more boxes a step
        self.first = self._first_search()
        self.searches: list[PointSearch] = [self.first]  # the one at work is the last
        self.root = RootBox(evaluator, method.goal, self.incumbent, self.start)
        self.kept: State | None = None   # during a late search, what it may change, as a later run needs it
        self.overlap: tuple[Swarm, OverlappedWork] | None = None  # the second look, while a GPU branches
        self.searched_step = -1                 # the step before which late searches are over; a resumed run continues with it

    def _first_search(self) -> PointSearch:
        """The search before branching."""
        if len(self.lo) <= POLICY.most_swarm_variables and LevenbergMarquardt.fits(self.evaluator, self.start):
            bounds = self.lo, self.hi
            return LevenbergMarquardt(self.evaluator, *bounds, _finite(*bounds), self.seed, self.problem.x0, self.start)
        return self._swarm_of(0)

    def _swarm_of(self, restarts: int) -> "Swarm | SearchInBoxes":
        """A swarm, or what is quicker: the first search, or, with further waves, a later one."""
        quick = not restarts and self._is_costly()
        if self.start is not None or quick:
            boxes = self.start and self.start.with_doubles() or StartBoxes(self.lo[:, None], self.hi[:, None])
            most = POLICY.late_swarm_start_boxes if restarts else POLICY.swarm_start_boxes
            return SearchInBoxes(self.evaluator, StartBoxes(*_finite(boxes.lo, boxes.hi)), self.options, self.seed, most, quick)
        lo, hi = _finite(self.lo, self.hi)
        options = replace(self.options, restarts=restarts)
        return Swarm(replace(self.problem, lo=lo, hi=hi, x0=None), self.evaluator, options, self.seed)

    # ---- checkpoints: what comes before branching is quick, and begins anew
    def state(self) -> State | None:
        if self.branch is None:
            return None
        state, other = self.branch.state(), self.kept or self._state_but_regions()
        settings = {"batch": self.batch, "may_move_to_gpu": self.may_move_to_gpu, "looked": self.searched_step,
                    "step_to_end": self.step_to_end}
        return State(state.values | other.values | settings, state.arrays | other.arrays)

    def _state_but_regions(self) -> State:
        """All of the state but the regions."""
        root = self.root.state()
        return State({"before": self.searched, **root.values}, {**root.arrays, **self.branch.best_arrays()})

    def restore(self, state: State) -> None:
        self._continue(state, state.values.get("batch", self.batch))
        self.may_move_to_gpu = state.values.get("may_move_to_gpu", self.may_move_to_gpu)
        self.before, self.searched_step = state.values["before"], state.values.get("looked", -1)
        self.step_to_end = state.values.get("step_to_end")
        self.root.restore(state)

    def _continue(self, state: State, batch: int) -> None:
        """Continues with regions that were searched before, with this batch."""
        self.branch, self.batch = self.branch_of(state, batch), batch

    def branch_of(self, state: State, batch: int | None = None) -> BranchAndBound:
        branch = BranchAndBound(self.evaluator, self.goal, self.incumbent, batch or self.batch, self.start)
        branch.restore(state)
        return branch

    # ---- what a reader of the progress sees
    @property
    def x(self) -> np.ndarray:
        return self.incumbent.x.copy() if self.incumbent.x is not None else self.first.x

    @property
    def value(self) -> float:
        return min(self.incumbent.upper, self.first.value)

    @property
    def upper(self) -> float:
        """The infimum is not above this, verified; `value` may be an estimate."""
        return self.incumbent.upper

    @property
    def proof(self) -> RootBox | BranchAndBound:
        """Where what is proved is read."""
        return self.root if self.branch is None or self.closed else self.branch

    @property
    def lower(self) -> float:
        return max(self.proof.lower(), self.root.lower())

    @property
    def searched(self) -> int:
        return self.before + sum(search.evaluations for search in self.searches)

    @property
    def evaluations(self) -> int:
        return super().evaluations + self.root.boxes

    @property
    def iterations(self) -> int:
        return self.root.sweeps + super().iterations

    def counts(self) -> Figures:
        return super().counts() or {"sweeps": f"{self.root.sweeps}", "width": f"{self.root.width:.3g}"}

    def figures(self) -> Figures:
        is_proving = self.branch is not None or self.root.sweeps or self.root.known > -np.inf
        return super().figures() if is_proving else self.searches[-1].figures()

    # ---- the work
    def prepare(self) -> Iterator[None]:
        if self.problem.x0 is not None:
            self.incumbent.offer(self.problem.x0)
        for stage in self._stages():
            yield from stage()
            if self.root.done or self.limit is not None:
                break

    def branching(self) -> Iterator[None]:
        try:
            yield from super().branching()
        finally:
            self._end_overlap()

    def localising(self) -> Iterator[None]:
        if self.proof is self.root:
            self.root.isolate_minimisers()
            if self.root.unions() is not None:  # these hold the minimisers already
                return
        yield from super().localising()

    def _stages(self) -> list[Callable[[], Iterator[None]]]:
        """What is done before branching, in order; it ends where the search of the whole box is conclusive."""
        along = len(self.lo) > POLICY.most_swarm_variables and self.root.sweeper is not None
        search = self._coordinate_search() if along else self.first
        stages = [(lambda: self._look(search, last=POLICY.rounds_before_chain), along), (self._chain, True),
                  (lambda: self._look(search, first=POLICY.rounds_before_chain), along),
                  (self._search_first, not along or self._can_swarm()),
                  (self._start_branching, True)]
        return [stage for stage, wanted in stages if wanted]

    def _coordinate_search(self) -> CoordinateSearch:
        return CoordinateSearch(self.evaluator, self.root.sweeper, *_finite(self.lo, self.hi), self.seed)

    def _chain(self) -> Iterator[None]:
        yield from self.root.chain(self.limits.memory_limit, self.limits.max_boxes, Chain.of)
        if self.root.boxes_spent and not self.root.done:
            self.limit = boxes_reached(self.root.boxes, self.limits.max_boxes)

    def _search_first(self) -> Iterator[None]:
        if isinstance(self.first, LevenbergMarquardt):
            self.first.enough = self.low_enough
        yield from self._look(self.first)
        if self.start is not None and isinstance(self.first, LevenbergMarquardt) and not self.root.done:
            value = self.first.value
            if not (value < np.inf and self.first.lowest >= value - self.goal.slack(value)):  # what is low lies beside the boxes
                yield from self._look(self._swarm_of(0))

    def _look(self, search: PointSearch, rounds: Iterable[Iterator[None]] | None = None, sweeps: bool = True,
              first: int = 0, last: int | None = None) -> Iterator[None]:
        """Looks for a better point, and sweeps the whole box where there is one. `rounds` may have begun already; of all of them
        those from `first` to before `last`."""
        self.searches = [*(known for known in self.searches if known is not search), search]
        rounds = list(rounds or search.rounds())
        for k, steps in list(enumerate(rounds))[first:last]:
            over = False
            for _ in steps:
                yield
                over = self._is_lowest(search)
                if over:
                    break
            better = search.value < np.inf and self.incumbent.offer(np.stack(search.candidates(), axis=1))
            # at 0 the whole box may be refined for the first time
            late = 0 if over else k + 1 - min(POLICY.rounds_before_refinement, len(rounds))
            if better:
                self.root.close()
            if sweeps and (better or late == 0 or not self.root.sweeps):
                yield from self.root.sweep(refines=late >= 0)
            if over or self.root.done:
                return

    def _is_lowest(self, search: PointSearch) -> bool:
        """Is its point as low as the function can be, as its enclosure on the whole box tells? So it is for sums of squares."""
        if len(self.lo) > POLICY.most_swarm_variables or not search.value <= self.low_enough:
            return False
        self.incumbent.offer(search.x[:, None])
        return self.incumbent.upper <= self.low_enough

    @cached_property
    def low_enough(self) -> float:
        """Next to nothing above the lower end of the natural enclosure on all that is searched."""
        least = float(self.evaluator.value(*self.incumbent.regions).lo.min())
        return least + POLICY.negligible_gap * self.goal.slack(least) + POLICY.negligible_ulps * abs(least)

    def _start_branching(self) -> Iterator[None]:
        branch = BranchAndBound(self.evaluator, self.goal, self.incumbent, self.batch, self.start)
        branch.begin(*(self.root.box if self.start is None else self.start.regions), self.root.known)
        self.branch = branch
        yield

    @property
    def _late_swarm_step(self) -> int:
        return POLICY.late_swarm_step if self.first_batch < POLICY.large_batch else POLICY.late_swarm_step_if_large

    def unfinished(self) -> Iterator[None]:
        """Begins the late swarm beside a GPU that branches, too."""
        yield from super().unfinished()
        one_round, early = self.start is None, self.branch.steps <= self._late_swarm_step
        if one_round and early and self.evaluator.uses_gpu(self.first_batch) and self._can_swarm():
            swarm = self._swarm_of(POLICY.late_swarm_waves)
            steps, = swarm.rounds()
            self.overlap = swarm, OverlappedWork(steps, self.branch.arrays)

    def before_step(self) -> Iterator[None]:
        branch = self.branch
        if branch.is_between_steps and self.searched_step != branch.steps and (late := self._late_searches()):
            self.kept = self._state_but_regions()  # of all of them: a run that is resumed meanwhile begins with the first
            for search in late:
                yield from self._search_again(search)
                if self.closed:
                    return True
                if over := branch.done and not branch.is_unbounded:
                    break
            self.kept = None
            branch.pool.prune(self.incumbent.upper)
            if over:
                return True
        self.searched_step = branch.steps  # a step that is stopped, or a round, begins anew without them
        return False

    def _late_searches(self) -> list[Callable[[], Iterator[None]]]:
        """The searches that are due before this step."""
        branch = self.branch
        many_left = len(branch.pool) * POLICY.boxes_for_each_left >= branch.boxes
        due = [(self._coupled, branch.steps in POLICY.coupled_chain_steps and many_left),
               (self._closer, branch.steps == POLICY.second_search_step), (self._wider, branch.steps == self._late_swarm_step)]
        return [search for search, is_due in due if is_due]

    def step(self) -> None:
        if not self._moved_to_gpu():
            self.branch.step()

    def _moved_to_gpu(self) -> bool:
        """Takes a step on a GPU that is beside this machine, if the search turns out to be long, and stays there. Where that
        fails, all is as it was. By counts, not by a clock: a run that is resumed goes there after the same step."""
        is_long = self.branch.boxes >= POLICY.boxes_before_gpu and self.branch.size >= POLICY.regions_for_gpu
        if not self.may_move_to_gpu or not is_long:
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

    def frees_memory(self) -> bool:
        """Where a GPU has no memory left, a search that moved there automatically continues on the CPU."""
        if self.batch == self.first_batch:
            return False
        with suppress(MemoryError):
            self._continue(self.branch.state(), self.first_batch)
            self.incumbent.take_found(self.branch.found)
        return self.batch == self.first_batch

    def _search_again(self, looks: Callable[[], Iterator[None]]) -> Iterator[None]:
        """Looks for a better point in the midst of branching. A run that is resumed there does all of it again."""
        before = self.incumbent.upper
        yield from looks()
        if self.incumbent.upper < before and not self.root.done:
            yield from self.root.sweep()
        self.closed = self.root.done

    def _closer(self) -> Iterator[None]:
        """The swarm's point may lack its last digits; and it may have missed what a search along each variable finds."""
        if len(self.lo) > POLICY.most_swarm_variables:
            return
        if self.incumbent.x is not None:
            box = (self.lo, self.hi) if self.start is None else self.start.box(int(self.start.containing(self.incumbent.x)[0]))
            yield from self._look(ValleyPolish(self.evaluator, *box, self.incumbent.x), sweeps=False)
        if self.root.sweeper is not None:
            yield from self._look(self._coordinate_search())

    def _coupled(self) -> Iterator[None]:
        """The whole box by the structure of the function, if only a scalar is in the way: more cells after more steps."""
        cells = self.branch.steps * POLICY.coupled_cells_a_step
        yield from self.root.chain(self.limits.memory_limit, min(cells, self.limits.max_boxes or cells), coupled_of)

    def _wider(self) -> Iterator[None]:
        """The swarm again, with more waves."""
        if self._can_swarm():
            swarm, begun = self.overlap or (self._swarm_of(POLICY.late_swarm_waves), None)
            yield from self._look(swarm, None if begun is None else [begun.rest()], sweeps=False)

    def _is_costly(self) -> bool:
        """Does an evaluation take so long that a swarm would take longer than many a proof? Where the proof takes long, the swarm
        still comes."""
        return len(self.lo) <= POLICY.most_swarm_variables and self.evaluator.facts.is_costly

    def _can_swarm(self) -> bool:
        return len(self.lo) <= POLICY.most_late_swarm_variables

    def _end_overlap(self) -> None:
        if self.overlap is not None:
            self.overlap[1].stop()
            self.overlap = None

    # ---- the answer
    def conclude(self) -> None:
        self._end_overlap()
        if self.branch is None:
            found = np.stack(self.searches[-1].candidates(), axis=1)
            briefly(lambda: self.incumbent.offer(found))

    def details(self) -> dict[str, Any]:
        said = None if self.root.empty else replaced_ends(self.problem.region, self.root.box)
        return {"unions": self.root.unions() if self.proof is self.root else None, "presolve": () if said is None else (said,)}


def _finite(lo: np.ndarray, hi: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Finite bounds within these, for the searches."""
    with np.errstate(over="ignore"):
        low = np.where(np.isfinite(lo), lo, np.minimum(-POLICY.search_radius, hi - POLICY.search_radius))
        high = np.where(np.isfinite(hi), hi, np.maximum(POLICY.search_radius, lo + POLICY.search_radius))
    low, high = np.where(np.isfinite(low), low, -POLICY.search_radius), np.where(np.isfinite(high), high, POLICY.search_radius)
    wide = ~np.isfinite(widths(low, high))
    return np.where(wide, low / 4, low), np.where(wide, high / 4, high)
