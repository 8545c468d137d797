"""The whole box before it is cut: sweeps shrink it in all variables at once, while that pays."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from infimum.bounds.sweeps.slice_refinement import SliceRefinement
from infimum.bounds.sweeps.sweeps import Sweeper
from infimum.certify.uniqueness_question import isolate_all
from infimum.chains.chain import Chain
from infimum.evaluation.evaluator import Evaluator
from infimum.problem.cover import widths
from infimum.problem.settings import Goal
from infimum.problem.start_boxes import StartBoxes
from infimum.problem.unions import Unions
from infimum.search.checkpoint import State
from infimum.search.incumbent import Incumbent
from infimum.search.policy.bounds import REGION_ISOLATION, SWEEPS
from infimum.search.policy.search import ROOT_BOX as POLICY
from infimum.search.region_pool import Regions
from infimum.support.clock import briefly, stoppable
from infimum.support.lazy import LazyModule

if TYPE_CHECKING:
    from infimum.bounds.infinite_ends import closing
else:
    closing = LazyModule("bounds.infinite_ends.closing")


class RootBox:
    """One box that holds every minimiser. `lower()` and the incumbent's upper bound enclose the infimum. The box around several
    start boxes stays as it is: sweeps and what follows them are about a product of intervals."""

    def __init__(self, evaluator: Evaluator, goal: Goal, incumbent: Incumbent, start: StartBoxes | None = None):
        self.evaluator, self.goal, self.incumbent, self.n = evaluator, goal, incumbent, len(incumbent.lo)
        self.box, self.known, self.sweeps = tuple(end[:, None] for end in incumbent.region), -np.inf, 0  # f is not below that
        self.start = start
        self.refiner: SliceRefinement | Chain | None = None  # of the box as it is now
        self.refined = 0                     # slices that were enclosed in refinements before
        self.isolated: Regions | None = None  # what second order has left of them

    @cached_property
    def sweeper(self) -> Sweeper | None:
        """None where the function cannot be taken apart. A chain needs none."""
        sweeper = Sweeper(self.evaluator, self.incumbent.lo,
                          self.incumbent.hi) if self.n >= SWEEPS.least_variables and self.start is None else None
        return sweeper if sweeper is not None and sweeper.possible else None

    def lower(self) -> float:
        """Certainly not above the infimum."""
        return min(self.known, self.incumbent.upper)

    @property
    def boxes(self) -> int:
        """How many were enclosed."""
        return self.sweeps * SWEEPS.slices * self.n + self.refined + (0 if self.refiner is None else self.refiner.evaluations)

    @property
    def width(self) -> float:
        return float(widths(*self.box).max()) if self.refiner is None else self.refiner.unions.width

    @property
    def empty(self) -> bool:
        """Is all of it proved away?"""
        return not (self.box[0] <= self.box[1]).all()

    @property
    def done(self) -> bool:
        """Is nothing left to do: the goal met, or nothing left?"""
        narrow = self.goal.xtol is None or self.width <= self.goal.xtol
        return self.empty or (self.goal.met(self.known, self.incumbent.upper) and narrow)

    def sweep(self, refines: bool = True) -> Iterator[None]:
        """Sweeps until there is nothing to do, or it no longer pays; then refines, if that is wanted and possible."""
        refines, slow = refines and self.sweeper is not None and SliceRefinement.possible(self.sweeper), 0
        while self.sweeper is not None:
            self._forget_refinement()
            lo, hi, lower = self.sweeper.sweep(*self.box, self.incumbent.upper)
            self.sweeps += 1
            shrunk = int((widths(lo, hi) < POLICY.worth_shrinkage * widths(*self.box)).sum())
            slow = 0 if shrunk * POLICY.shrunk_share >= self.n else slow + 1
            pays = shrunk > 0 and slow <= POLICY.most_slow_sweeps
            self.box, self.known = (lo, hi), max(self.known, float(lower[0]))
            yield
            if self.done:
                return
            if pays or self.sweeper.refine():
                continue
            before = widths(*self.box)
            if refines:
                yield from self._refine()
            if self.done or not refines or not (widths(*self.box) < POLICY.worth_shrinkage * before).any():
                return
            refines = False

    def close(self) -> None:
        """Finite ends in the place of infinite ones, as far as f is above the incumbent's value beyond them by its growth."""
        if self.start is None and np.isinf(self.box).any() and not self.done:
            x = np.zeros(self.n) if self.incumbent.x is None else self.incumbent.x
            with stoppable():
                lo, hi = closing.without_constraints(self.evaluator, *(end[:, 0] for end in self.box), x, self.incumbent.upper)
            self.box = lo[:, None], hi[:, None]

    def _refine(self) -> Iterator[None]:
        """Takes the box apart into slices of each variable, halved while that pays."""
        yield from self._taken_apart(SliceRefinement(self.sweeper, self.box, self.goal, self.incumbent))

    def chain(self, memory_limit: float | None, max_boxes: int | None, of: Callable[..., Chain | None]) -> Iterator[None]:
        """Takes it apart by the structure of the function, where it has one: `of` makes the search."""
        if self.empty or self.start is not None:
            return
        chain = of(self.evaluator, self.box, self.goal, self.incumbent, memory_limit, max_boxes)
        if chain is not None:
            self._forget_refinement()
            with suppress(MemoryError):  # what is proved so far stays
                yield from self._taken_apart(chain)

    @property
    def boxes_spent(self) -> bool:
        """Has the chain used up the boxes it may enclose?"""
        return isinstance(self.refiner, Chain) and self.refiner.evaluations >= self.refiner.max_boxes

    def _taken_apart(self, refiner: SliceRefinement | Chain) -> Iterator[None]:
        self.refiner = refiner
        for _ in refiner.steps():
            self._take(refiner)
            yield
        self._take(refiner)

    def _take(self, refiner: SliceRefinement | Chain) -> None:
        if refiner.empty:
            self.box = np.full((self.n, 1), np.inf), np.full((self.n, 1), -np.inf)
        else:
            self.box, self.known = tuple(end[:, None] for end in refiner.unions.hull), max(self.known, refiner.lower)

    def isolate_minimisers(self) -> None:
        """Where regions are to be narrow and many slices of the last refinement touch, looks for proved minimisers in the boxes
        that they make up. If these hold nothing else, what is left is one region for each minimiser."""
        product = None if self.goal.xtol is None or not self.done else self._product()
        if product is None or (product.count < POLICY.least_regions and self.n <= REGION_ISOLATION.most_variables):
            return
        merged = self.refiner.unions.merged()
        boxes = self.refiner.boxes(merged) if isinstance(self.refiner, Chain) else None
        if boxes is None and merged.count <= REGION_ISOLATION.most_groups:
            boxes = merged.boxes()
        if boxes is not None and boxes[0].shape[1] <= REGION_ISOLATION.most_groups:
            found = isolate_all(self.incumbent, boxes, self.lower())
            if found is not None and (widths(found.lo, found.hi) <= self.goal.xtol).all():
                self.isolated = found

    def _forget_refinement(self) -> None:
        self.isolated = None
        if self.refiner is not None:
            self.refiner, self.refined = None, self.refined + self.refiner.evaluations

    def state(self) -> State:
        """What a later run needs."""
        slices = 0 if self.sweeper is None else self.sweeper.slices
        values = {"sweeps": self.sweeps, "slices": slices, "refined": self.boxes - self.sweeps * SWEEPS.slices * self.n}
        return State(values, {"root": np.concatenate([*self.box, [[self.known]]])[:, 0]})

    def restore(self, state: State) -> None:
        """Goes on from there."""
        n, root, self.sweeps, self.refined = self.n, state.arrays["root"], state.values["sweeps"], state.values["refined"]
        self.box, self.known = (root[:n, None].copy(), root[n:2 * n, None].copy()), float(root[2 * n])
        if self.sweeper is not None:
            self.sweeper.slices = state.values["slices"]

    def regions(self) -> Regions:
        """What may still hold a minimiser."""
        if self.empty:
            return Regions.none(self.n)
        if self.isolated is not None:
            return self.isolated
        lo, hi = (self._listed() or self.box) if self.start is None else self.start.regions
        level = briefly(lambda: self.evaluator.value(lo, hi).level, np.zeros(lo.shape[1]))
        if self.refiner is not None:
            level = np.maximum(level, self.refiner.level)
        count = lo.shape[1]
        return Regions(lo, hi, np.full(count, self.known), np.zeros(count, np.int32), level.astype(np.int8))

    def _listed(self) -> tuple[np.ndarray, np.ndarray] | None:
        """The boxes that a chain has left, where they are few."""
        product = self._product()
        return self.refiner.boxes(product) if product is not None and isinstance(self.refiner, Chain) else None

    def unions(self) -> Unions | None:
        """Where a refinement has left more than one box: the product that they are, no interval wider than the goal allows."""
        return None if self.isolated is not None or self._listed() is not None else self._product()

    def _product(self) -> Unions | None:
        if self.refiner is None or self.empty:
            return None
        merged = self.refiner.unions.merged()
        if self.goal.xtol is not None and merged.width > self.goal.xtol:
            merged = self.refiner.unions
        return merged if merged.count > 1 else None
