"""Points of a long chain: starts from the messages of a level, and descents that take each part of the chain on its own.

**Starts.** The path of cells with the lowest sum of values at centres is the best point of the grid. But a value at a centre is
above the least one in its cell by the more, the steeper the terms are, and in a long chain such differences add up to more than
what tells one minimum from another: it leads to where f is flat. The path with the lowest sum of lower bounds errs in the other
direction, and by less where terms are squares. Both are followed.

**Descents.** One length of a step for ten thousand variables is that of the worst place. So a step offers candidates to every
variable, the ends of Newton steps with different damping and places on both sides, and dynamic programming finds the best
combination. Points are crossed in the same way.
"""

from collections.abc import Generator, Iterator
from functools import cached_property

import numpy as np

from infimum.chains.bag_forms import BagForm, forms_of
from infimum.chains.bag_kinds import BagKind
from infimum.chains.candidate_choice import CandidateChoice
from infimum.chains.grid import cells_at_first
from infimum.chains.level import Level
from infimum.chains.tree_newton import TreeNewton
from infimum.search.incumbent import Incumbent
from infimum.search.policy.bounds import CHAIN_POINTS as POLICY

_CANDIDATES = len(POLICY.damping) + 3  # for each variable in a step


def cells_kept(kinds: list[BagKind]) -> int:
    """How many cells the search keeps, beside those of the chain."""
    return cells_at_first(kinds, _CANDIDATES) + cells_at_first(kinds, 2)


class ChainPointSearch:
    """The search for points of one chain."""

    def __init__(self, kinds: list[BagKind], incumbent: Incumbent):
        self.kinds, self.incumbent = kinds, incumbent
        self.unfinished = False  # does the descent to the best point lead farther?

    @cached_property
    def forms(self) -> list[BagForm]:
        return forms_of(self.kinds)

    @cached_property
    def newton(self) -> TreeNewton:
        return TreeNewton(self.kinds, self.forms, self.incumbent.lo, self.incumbent.hi)

    @cached_property
    def choice(self) -> CandidateChoice:
        return self._choice(_CANDIDATES)

    @cached_property
    def pairs(self) -> CandidateChoice:
        return self._choice(2)

    def _choice(self, count: int) -> CandidateChoice:
        return CandidateChoice(self.kinds, self.forms, len(self.incumbent.lo), count)

    def improve(self, level: Level, anew: bool = False) -> Iterator[None]:
        """Descends from the paths of a level, unless that would lead to the best point known, and offers the ends. `anew`: in any
        case."""
        plain = level.path(level.from_child)
        if plain is None:
            return
        lower, optimistic = level.optimistic_path()
        for slices in [plain, optimistic] if (optimistic != plain).any() else [plain]:
            x, rad = level.grid.slices.centre[slices], level.grid.slices.rad[slices]
            best, upper = self.incumbent.x, self.incumbent.upper
            if best is None or anew or (np.abs(x - best) > POLICY.near_half_widths * rad).any():
                value, end = yield from self._descend(x, rad, lower)
                if best is not None:
                    yield from self._cross(end, best, (value, upper), rad, lower)
            elif self.unfinished:
                yield from self._descend(best, rad, lower)

    def _cross(self, one: np.ndarray, other: np.ndarray, values: tuple[float, float], reach: np.ndarray,
               lower: float) -> Iterator[None]:
        """Combines two points with these values, and descends from there if that is better than both."""
        value, x = self.pairs.best(np.stack([one, other], axis=1))
        if value < min(values) - POLICY.least_gain * max(map(abs, values)):
            yield from self._descend(x, reach, lower)

    def _descend(self, x: np.ndarray, reach: np.ndarray, lower: float) -> Generator[None, None, tuple[float, np.ndarray]]:
        """From x, at first with places so far on both sides, to (value, point) where it ends, which is offered. The infimum is
        not far below `lower`."""
        value, gains, slow, still = np.inf, [], False, False
        while len(gains) < POLICY.descent_steps and not slow and not still:
            sides = [np.maximum(x - reach, self.incumbent.lo), np.minimum(x + reach, self.incumbent.hi), x]
            before = value
            value, new = self.choice.best(np.concatenate([self.newton.steps(x), np.stack(sides, axis=1)], axis=1))
            yield
            moved, x = np.abs(new - x), new
            reach = np.where(moved > 0, np.minimum(reach, moved), reach * POLICY.distance_reduction)
            gains.append(before - value)
            if len(gains) > 2:
                slow = POLICY.slow_gains[0] * (value - lower) > gains[-2] >= gains[-1] > POLICY.slow_gains[1] * gains[-2]
                still = not max(gains[-2:]) > max(POLICY.least_gain * abs(value), POLICY.noise * gains[1])
        if self.incumbent.offer(x[:, None]):
            self.unfinished = not still
        return value, x
