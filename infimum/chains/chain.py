"""Chains, trees, rings and narrow bands: functions that are sums of terms of few variables, proved by dynamic programming.

Branch and bound takes a time that grows exponentially with the number of variables; here it grows with their number times what
one term takes. Every minimiser lies in the product of the slices that are left.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from infimum.bounds.bound_table import Payoff, Schedule
from infimum.evaluation.evaluator import Evaluator
from infimum.problem.settings import Goal
from infimum.problem.unions import Unions, widths
from infimum.search.incumbent import Incumbent
from infimum.search.policy.bounds import CHAIN as POLICY
from infimum.search.policy.bounds import CHAIN_POINTS
from infimum.search.policy.points import DESCENTS
from infimum.support.lazy import LazyModule

if TYPE_CHECKING:
    from infimum.chains import bag_kinds, box_listing, chain_points
    from infimum.chains import bags as chain_bags
    from infimum.chains import components as chain_components
    from infimum.chains import grid as chain_grid
    from infimum.chains import level as chain_level
else:
    bag_kinds = LazyModule("chains.bag_kinds")
    box_listing = LazyModule("chains.box_listing")
    chain_points = LazyModule("chains.chain_points")
    chain_bags = LazyModule("chains.bags")
    chain_components = LazyModule("chains.components")
    chain_grid = LazyModule("chains.grid")
    chain_level = LazyModule("chains.level")

_SLOPES = Schedule(*POLICY.derivative_schedule)


class Chain:
    """A search of the box (n, 1). `unions` hold every minimiser that the box holds, and f is nowhere there below `lower`."""

    def __init__(self, grid: "chain_grid.Grid", box: tuple[np.ndarray, np.ndarray], goal: Goal, incumbent: Incumbent,
                 most: int = POLICY.most_cells, max_boxes: float = np.inf,
                 components: "chain_components.Components | None" = None):
        self.components = components
        self.grid, self.goal, self.incumbent, self.evaluator = grid, goal, incumbent, incumbent.evaluator
        self.low, self.high = incumbent.lo, incumbent.hi  # the user's bounds: a minimiser may lie on them
        self.unions = Unions.of_box(*(end[:, 0] for end in box))
        many = len(self.low) > DESCENTS.most_dense_variables
        self.points = chain_points.ChainPointSearch(grid.kinds, incumbent) if many else None
        self.most, self.max_boxes = most, max_boxes
        self.lower, self.level, self.evaluations, self.empty = -np.inf, 0, 0, False
        self.alive: Any = None  # the cells that are left of the grid, if it has been looked at
        self.slopes, self.second_order, self.share = Payoff(_SLOPES), Payoff(_SLOPES), 1.0
        self.levels: list[tuple[float, int]] = []  # the gap after each, and the cells that were left

    @classmethod
    def of(cls, evaluator: Evaluator, box: tuple[np.ndarray, np.ndarray], goal: Goal, incumbent: Incumbent,
           memory_limit: float | None = None, max_boxes: float | None = None) -> "Chain | None":
        """The search, if the function has the structure, the box is bounded, and the limits of bytes and cells let it begin."""
        lo, hi = (end[:, 0] for end in box)
        if evaluator.n < POLICY.least_variables or not np.isfinite(widths(lo, hi)).all():
            return None
        families = evaluator.facts.families
        bags = None if families is None or len(families) > POLICY.most_forms else \
            chain_bags.bags_of([family.variables for family in families], evaluator.n)
        if bags is None or len(bags) == 1 or all(len(bag.variables) < 2 for bag in bags):  # one term, or refined
            return None
        if max(len(bag.terms) for bag in bags) > POLICY.most_terms:
            return None
        kinds = bag_kinds.kinds_of(bags, families, evaluator.backend)
        kept = chain_points.cells_kept(kinds) if evaluator.n > DESCENTS.most_dense_variables else 0
        most = min(POLICY.most_cells, np.inf if memory_limit is None else memory_limit / POLICY.bytes_a_cell - kept)
        if len(kinds) > POLICY.most_forms or chain_grid.cells_at_first(kinds) > most:
            return None
        grid, most_boxes = chain_grid.Grid(kinds, lo, hi, evaluator.host_arrays), np.inf if max_boxes is None else max_boxes
        return cls(grid, box, goal, incumbent, most, most_boxes, chain_components.Components(bags))

    def steps(self) -> Iterator[None]:
        """The work, in levels, until the goal is met, nothing is left, or it no longer pays."""
        while True:
            self._go_where_it_pays()
            level = chain_level.Level(self.grid, self.low, self.high)
            yield from level.enclose()
            self.evaluations += len(self.grid)
            yield from self._improve(level)
            yield from level.discard(self.incumbent.upper)
            self._discard_in_components(level)
            yield from self._shift(level)
            self._discard_in_components(level)
            if level.empty:
                self.empty = True
                return
            self.lower = max(self.lower, level.lower)
            best = level.best_of_slices()
            self.unions, self.alive = self.grid.unions(best > -np.inf), level.alive
            if self.incumbent.x is not None and self.incumbent.x not in self.unions:  # a minimiser is somewhere else
                yield from self._improve(level, anew=True)
            self.levels.append((self.incumbent.upper - self.lower, level.left))
            yield
            if self._is_done() or self.evaluations >= self.max_boxes or not self._pays():
                return
            self._find_share()
            if not self._halved(level, best):
                return
            self.alive = None

    def boxes(self, unions: Unions) -> tuple[np.ndarray, np.ndarray] | None:
        """(lo, hi) of all boxes of these unions that may hold a minimiser, if they are known and not too many."""
        return None if self.alive is None else box_listing.boxes_of(self.grid, self.alive, unions)

    def _discard_in_components(self, level: "chain_level.Level") -> None:
        if self.components is not None:
            self.components.discard(level, self.incumbent)

    def _halved(self, level: "chain_level.Level", best: np.ndarray) -> bool:
        """Halves slices, in so small a share of the gap that there is room for the new cells. Was it possible?"""
        gap = self.incumbent.upper - level.lower
        for share in (self.share, *(self.share / POLICY.share_growth**k for k in (1, 2, 3))):
            if self.grid.halved(level.alive, best > -np.inf, best >= -level.lower - share * gap, self._too_wide(), self.most):
                return True
        return False

    def _go_where_it_pays(self) -> None:
        """To a GPU, once there are enough cells for it."""
        if self.grid.arrays is self.grid.arrays.here and self.evaluator.uses_gpu(len(self.grid)):
            self.grid.use(self.evaluator.arrays)
            self.most *= POLICY.gpu_factor

    def _improve(self, level: "chain_level.Level", anew: bool = False) -> Iterator[None]:
        """Descends from the best points of the grid, unless that would lead to the best point known; `anew`: in any case."""
        if self.points is not None:
            yield from self.points.improve(level, anew)
            return
        self._descend(*level.paths(POLICY.descent_starts), anew)

    def _descend(self, x: np.ndarray, rad: np.ndarray, anew: bool = False) -> None:
        """From these points (n, N), with the half widths of their slices."""
        best = self.incumbent.x
        all_far = best is None or anew
        near = CHAIN_POINTS.near_half_widths
        far = np.ones(x.shape[1], bool) if all_far else (np.abs(x - best[:, None]) > near * rad).any(axis=0)
        if far.any():
            self.incumbent.improve(x[:, far])

    def _shift(self, level: "chain_level.Level") -> Iterator[None]:
        """Slopes, and with them second derivatives, matter near minimisers: of many cells, only if they paid when they were
        tried last."""
        number, upper = len(self.levels), self.incumbent.upper
        starts = []
        for payoff, discard in ((self.slopes, level.discard_by_slopes), (self.second_order, level.discard_by_second_order)):
            before = level.left
            is_asked = payoff.pays or payoff.is_due(number) if before >= POLICY.few_cells else payoff is self.slopes
            if not is_asked:
                break
            starts.append((payoff, before, upper - level.lower))
            yield from discard(upper)
        for payoff, before, gap in starts:
            closed = min(1.0, 1 - (upper - level.lower) / gap) if 0 < gap < np.inf else 0.0
            payoff.judge(number, before, max(before - level.left, int(closed * before)))

    def _find_share(self) -> None:
        """Of the gap: slices whose bounds are higher above the lowest one are not halved yet. Where few cells were discarded,
        what bounds leave open adds up over the bags: it must shrink where bounds are lowest, before a slice can be told apart
        by its own share of it. If that was not enough the share grows."""
        (gap, left), (before, _) = self.levels[-1], self.levels[-2:][0]
        if left <= POLICY.mostly_left * len(self.grid):
            self.share = 1.0
        elif self.share >= 1.0:
            self.share = POLICY.gap_shares / self.grid.bags
        elif len(self.levels) >= POLICY.first_growing_level and gap > POLICY.enough_shrinkage * before:
            self.share *= POLICY.share_growth

    def _too_wide(self) -> float:
        """Slices that are not wider need not be halved."""
        met = self.goal.met(self.lower, self.incumbent.upper)
        return self.goal.xtol if met and self.goal.xtol is not None else 0.0

    def _is_done(self) -> bool:
        narrow = self.goal.xtol is None or self.unions.width <= self.goal.xtol
        return self.goal.met(self.lower, self.incumbent.upper) and narrow

    def _pays(self) -> bool:
        """Has the gap shrunk in the last levels, or is there less to look at?"""
        if len(self.levels) <= POLICY.patience_levels or self.goal.met(self.lower, self.incumbent.upper):
            return True
        (gap, cells), (before, fewer) = self.levels[-1], self.levels[-1 - POLICY.patience_levels]
        return gap < POLICY.worth_gap_left * before or cells <= max(fewer, POLICY.quick_cells)
