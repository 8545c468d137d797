"""Points of a chain: starts from the messages of a level, and descents that take each part of the chain on its own.

**Starts.** The path of cells with the lowest sum of values at centres is the best point of the grid; but where a term is steep, its
value at the centre of a cell tells little of its values in the cell, and in a long chain such differences add up to more than what
tells one minimum from another. The path with the lowest sum of lower bounds has the opposite error: it may lead through cells that
have no good point in common, and it is never wrong about a part of the chain where all is well. Both are followed.

**Descents.** One length of a step for ten thousand variables is that of the worst place. So a step offers every variable some
candidates, the ends of Newton steps with different damping, and dynamic programming finds their best combination. Two points are
crossed in the same way.
"""

import numpy as np

from infimum.engine.parts.chain.choice import FAR, Choice, Tree
from infimum.engine.parts.chain.kinds import Kind
from infimum.engine.parts.chain.level import Level
from infimum.engine.parts.chain.newton import DAMPING, Newton
from infimum.engine.points.incumbent import Incumbent
from infimum.lower.cells import AT_CENTRE, FACTS, UNSHIFTED

_STEPS, _STILL = 12, 2.0**-20  # of a descent; a gain that is worth another one, in values
_TIES = 2.0**-30               # of the values at centres is added to lower bounds, most of which are often equal


class Points:
    """The search for points of one chain."""

    def __init__(self, kinds: list[Kind], incumbent: Incumbent):
        self.incumbent, self.tree, n = incumbent, Tree(kinds), len(incumbent.lo)
        self.newton = Newton(kinds, incumbent.lo, incumbent.hi)
        self.choice, self.pairs = Choice(kinds, self.tree, n, len(DAMPING) + 1), Choice(kinds, self.tree, n, 2)

    def improve(self, level: Level) -> None:
        """Descends from the paths of a level, and offers the ends and what is best of both."""
        for from_child in (level.from_child, lowest_bounds(level)):
            x = self._descend(self.tree.path(level.grid, from_child[1], from_child, level.grid.slices.centre)[0])
            if self.incumbent.x is not None:
                x = self.pairs.best(np.stack([self.incumbent.x, x], axis=1))
            self.incumbent.offer(x[:, None])

    def _descend(self, x: np.ndarray) -> np.ndarray:
        value = float(self.incumbent.evaluator.estimate(x))
        for _ in range(_STEPS):
            ends = self.newton.steps(x)
            if ends is None:
                return x
            new = self.choice.best(np.concatenate([ends, x[:, None]], axis=1))
            before, value = value, float(self.incumbent.evaluator.estimate(new))
            if not value < before:
                return x
            x = new
            if before - value <= _STILL * abs(before):
                return x
        return x


def lowest_bounds(level: Level) -> np.ndarray:
    """For every entry the best cell below it, by lower bounds; see `Level.from_child`."""
    grid, number = level.grid, np.empty(len(level.grid))
    for cells, found in zip(grid.cells, level.found, strict=True):
        value, bound = found[FACTS][AT_CENTRE], -found[FACTS][UNSHIFTED]
        known = np.isfinite(value) & np.isfinite(bound)
        number[cells.at] = np.where(known, -bound - _TIES * (value - bound), -FAR)
    table = level.arrays.sums_up(number, grid.first, grid.second, grid.parent, grid.entries)
    return level.arrays.sums_down(number, grid.first, grid.second, grid.parent, table)[1]
