"""Chains, trees, rings and narrow bands: functions that are sums of terms of few variables, proved by dynamic programming.

Branch and bound takes a time that grows exponentially with the number of variables; here it grows with their number times what
one term takes. Every minimiser lies in the product of the slices that are left.
"""

from collections.abc import Iterator

import numpy as np

from infimum.engine.goal import Goal
from infimum.engine.parts.chain.bags import bags_of
from infimum.engine.parts.chain.components import Components
from infimum.engine.parts.chain.grid import Grid, cells_at_first
from infimum.engine.parts.chain.kinds import kinds_of
from infimum.engine.parts.chain.level import Level
from infimum.engine.parts.chain.listing import boxes_of
from infimum.engine.parts.payoff import Payoff
from infimum.engine.points.descent import Rules
from infimum.engine.points.incumbent import Incumbent
from infimum.evaluate import Evaluator
from infimum.expr.node import var
from infimum.expr.terms import families_of
from infimum.unions import Unions, widths

_LEAST = 3            # variables
_MOST = 1 << 24       # cells of a level
_BYTES = 160          # that a cell takes
_FEW = 1 << 15        # cells that take no time
_TRY_SLOPES = 0, 3, 0.1  # see Payoff
_TRIALS, _WORK = 50, 40_000  # of a descent, at least; times variables, at most
_STARTS, _NEAR = 8, 3  # points from which to descend at a level; half widths between different points
_FORMS, _TERMS = 12, 16  # more forms of terms, and more terms of one bag, take too long to compile
_SHRUNK, _IN, _QUICK = 0.9, 5, 1 << 20  # to this part the gap must shrink in so many levels, if there are so many cells and more


class Chain:
    """A search of the box (n, 1). `unions` hold every minimiser that the box holds, and f is nowhere there below `lower`."""

    def __init__(self, grid: Grid, box: tuple[np.ndarray, np.ndarray], goal: Goal, incumbent: Incumbent,
                 most: int = _MOST, max_boxes: float = np.inf, components: Components | None = None):
        self.components = components
        self.grid, self.goal, self.incumbent = grid, goal, incumbent
        self.low, self.high = incumbent.lo, incumbent.hi  # the user's bounds: a minimiser may lie on them
        self.unions = Unions.of_box(*(end[:, 0] for end in box))
        self.most, self.max_boxes = most, max_boxes
        self.lower, self.level, self.evaluations, self.empty = -np.inf, 0, 0, False
        self.alive: np.ndarray | None = None  # the cells that are left of the grid, if it has been looked at
        self.slopes = Payoff(*_TRY_SLOPES)
        self.levels: list[tuple[float, int]] = []  # the gap after each, and the cells that were left

    @classmethod
    def of(cls, evaluator: Evaluator, box: tuple[np.ndarray, np.ndarray], goal: Goal, incumbent: Incumbent,
           memory_limit: float | None = None, max_boxes: float | None = None) -> "Chain | None":
        """The search, if the function has the structure, the box is bounded, and the limits of bytes and cells let it begin."""
        lo, hi = (end[:, 0] for end in box)
        if evaluator.n < _LEAST or not np.isfinite(widths(lo, hi)).all():
            return None
        families = families_of(evaluator.f, var("x", (evaluator.n,)))
        bags = None if families is None or len(families) > _FORMS else \
            bags_of([family.variables for family in families], evaluator.n)
        if bags is None or len(bags) == 1 or all(len(bag.variables) < 2 for bag in bags):  # one term, or refined
            return None
        if max(len(bag.terms) for bag in bags) > _TERMS:
            return None
        most = min(_MOST, np.inf if memory_limit is None else memory_limit / _BYTES)
        kinds = kinds_of(bags, families, evaluator.backend)
        if len(kinds) > _FORMS or cells_at_first(kinds) > most:
            return None
        return cls(Grid(kinds, lo, hi), box, goal, incumbent, most, np.inf if max_boxes is None else max_boxes,
                   Components(bags))

    def steps(self) -> Iterator[None]:
        """The work, in levels, until the goal is met, nothing is left, or it no longer pays."""
        while True:
            level = Level(self.grid, self.low, self.high)
            yield from level.enclose()
            self.evaluations += len(self.grid)
            self._improve(*level.paths(_STARTS))
            yield from level.discard(self.incumbent.upper)
            self._discard_in_components(level)
            yield from self._shift(level)
            self._discard_in_components(level)
            if level.empty:
                self.empty = True
                return
            self.lower = max(self.lower, level.lower)
            self.unions, self.alive = self.grid.unions(level.alive), level.alive
            self.levels.append((self.incumbent.upper - self.lower, int(level.alive.sum())))
            yield
            if self._is_done() or self.evaluations >= self.max_boxes or not self._pays():
                return
            if not self.grid.halved(level.alive, self._too_wide(), self.most):
                return
            self.alive = None

    def boxes(self, unions: Unions) -> tuple[np.ndarray, np.ndarray] | None:
        """(lo, hi) of all boxes of these unions that may hold a minimiser, if they are known and not too many."""
        return None if self.alive is None else boxes_of(self.grid, self.alive, unions)

    def _discard_in_components(self, level: Level) -> None:
        if self.components is not None:
            self.components.discard(level, self.incumbent)

    def _improve(self, x: np.ndarray, rad: np.ndarray) -> None:
        """Descends from there, unless that would lead to the best point known."""
        best = self.incumbent.x
        far = np.ones(x.shape[1], bool) if best is None else (np.abs(x - best[:, None]) > _NEAR * rad).any(axis=0)
        if far.any():
            trials = max(_TRIALS, min(Rules().trials, _WORK // len(x)))
            self.incumbent.improve(x[:, far], rules=Rules(trials=trials))

    def _shift(self, level: Level) -> Iterator[None]:
        """Slopes matter near minimisers: of many cells, only if they paid when they were tried last."""
        number, before = len(self.levels), int(level.alive.sum())
        if before < _FEW or self.slopes.pays or self.slopes.is_due(number):
            yield from level.discard_by_slopes(self.incumbent.upper)
            self.slopes.judge(number, before, before - int(level.alive.sum()))

    def _too_wide(self) -> float:
        """Slices that are not wider need not be halved."""
        met = self.goal.met(self.lower, self.incumbent.upper)
        return self.goal.xtol if met and self.goal.xtol is not None else 0.0

    def _is_done(self) -> bool:
        narrow = self.goal.xtol is None or self.unions.width <= self.goal.xtol
        return self.goal.met(self.lower, self.incumbent.upper) and narrow

    def _pays(self) -> bool:
        """Has the gap shrunk in the last levels, or is there less to look at?"""
        if len(self.levels) <= _IN or self.goal.met(self.lower, self.incumbent.upper):
            return True
        (gap, cells), (before, fewer) = self.levels[-1], self.levels[-1 - _IN]
        return gap < _SHRUNK * before or cells <= max(fewer, _QUICK)
