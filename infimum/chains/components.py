"""Components: parts of a sum that share no variable, such as pairs or triples of variables that stand alone.

Each of them is minimised by itself: in a minimiser of the sum every component has a minimiser of its own. So a cell may go as
soon as it is above what its component has at the best point known, whatever is known of the others; for the sum as a whole it
would have to be above by all that is not known of a thousand others.

Proof: docs/proofs/chains.md.
"""

from math import fsum
from typing import Any

import numpy as np

from infimum.chains.bags import Bag
from infimum.chains.cell_kernels import FACTS, NATURAL
from infimum.chains.grid import Grid
from infimum.chains.level import Level
from infimum.kernel.cell_keys import NONE, TOP
from infimum.search.incumbent import Incumbent

_ULP = 2.0**-52  # fixed: the rounding of doubles


class Components:
    """`of_bag`: the number of each bag's component."""

    def __init__(self, bags: list[Bag]):
        number = np.arange(len(bags))
        for k in reversed(range(len(bags))):
            for child in bags[k].children:
                if bags[child].shared:
                    number[child] = number[k]
        _, self.of_bag = np.unique(number, return_inverse=True)
        self.count = int(self.of_bag.max()) + 1
        self.linked: list[Any] | None = None  # the links of a grid, of which those inside components are known
        self.known, self.upper = np.inf, np.full(self.count, np.inf)  # of the sum, and of each component at that point

    def discard(self, level: Level, incumbent: Incumbent) -> None:
        """Drops cells that are above the value of their component at the best point."""
        if self.count == 1 or incumbent.x is None or not incumbent.upper < np.inf:
            return
        grid = level.grid
        if incumbent.upper < self.known:
            self.known, self.upper = incumbent.upper, self._at(incumbent.x, incumbent.upper, grid)
        if self.linked is not grid.links:
            self.linked, self.links = grid.links, self._links(grid)
        alive = level.arrays.empty(1, len(grid))
        level.arrays.each("mask", len(grid), level.number, level.alive, alive)
        _, whole = level.sums(alive, self.links)
        for cells in grid.cells:
            limits = level.arrays.send(-self.upper[self.of_bag[cells.kind.bags]])
            level.arrays.each("keep_each", len(cells), cells.bag, limits, (whole, cells.begin), (level.alive, cells.begin))

    def _links(self, grid: Grid) -> list[Any]:
        """As the grid's, but for those between components: each of these is a whole of its own."""
        arrays, links = grid.arrays, [grid.arrays.filled(len(grid), word) for word in (NONE, NONE, TOP)]
        for cells in grid.cells:
            linked = [shared for _, shared in cells.kind.links] + [()] * (2 - len(cells.kind.links)) + [cells.kind.shared]
            for new, old, shared in zip(links, grid.links, linked, strict=True):
                if shared:
                    arrays.each("copy_words", len(cells), (old, cells.begin), (new, cells.begin))
        return links

    def _at(self, x: np.ndarray, upper: float, grid: Grid) -> np.ndarray:
        """Upper bounds of the components at x: `upper`, which is one of the sum, less lower bounds of the others."""
        lower = np.empty(len(self.of_bag))
        for kind in grid.kinds:
            boxes = [np.ascontiguousarray(x[kind.variables])] * 3 + ([kind.constants] if len(kind.constants) else [])
            lower[kind.bags] = kind.enclose(kind.evaluator.host_arrays, boxes, len(kind.bags))[FACTS][NATURAL]
        if not np.isfinite(lower).all():
            return np.full(self.count, np.inf)
        terms, sums, sizes = (np.bincount(self.of_bag, w, self.count) for w in (np.ones(len(lower)), lower, np.abs(lower)))
        sums -= 2 * _ULP * terms * sizes  # not above the exact sums
        total = fsum(sums.tolist())
        others = total - sums
        others -= 2 * _ULP * (abs(total) + np.abs(sums) + np.abs(others))
        return upper - others + 2 * _ULP * (abs(upper) + np.abs(others))
