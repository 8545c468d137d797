"""Dynamic programming over intervals, level by level: bound every cell, pass messages along the tree of bags, discard, halve.

For every cell the messages give a lower bound of f over all points whose slices form that cell: the least sum of a choice of
cells, one for each bag, that agree on shared slices. A cell goes if that is above the verified upper bound, or if the derivative
by a variable has a strict sign on it whatever the other cells are (docs/proof.md).

**Slopes.** The least sum takes a variable at different places of one slice in different terms, which costs the width of the slice
times the slopes of the terms, even at a minimiser, where these slopes cancel. So between a bag and its parent a linear function
of what they share is shifted: added to the terms of one, subtracted from those of the other. f stays the same. The slopes are
chosen for each entry such that nothing is left of them in the best cell below: they meet where they cancel, and bounds converge
like the square of the width.
"""

from collections.abc import Iterator

import numpy as np

from infimum.engine.parts.chain.grid import NONE, TOP, Cells, Grid
from infimum.lower.cells import AT_CENTRE, FACTS, FROM, TO, UNSHIFTED

_FAR = 2.0**900    # instead of a value where there is none
_AT_A_TIME = 1 << 20  # cells
_EXACT = 2.0**-40  # slopes are whole multiples of this part of the largest one, so that sums of them are exact


class Level:
    """One level: the bounds of all cells of a grid. `alive` are those that may hold a minimiser, `lower` bounds f from below."""

    def __init__(self, grid: Grid, low: np.ndarray, high: np.ndarray):
        self.grid, self.low, self.high, self.arrays = grid, low, high, grid.kinds[0].evaluator.arrays.here
        self.lower, self.alive, self.number = -np.inf, np.ones(len(grid), bool), np.empty(len(grid))
        self.found: list[list[np.ndarray]] = []

    def enclose(self) -> Iterator[None]:
        """Encloses the terms on all cells, many at a time, and looks at the centres."""
        slices = self.grid.slices
        for cells in self.grid.cells:
            parts = []
            for begin in range(0, max(1, len(cells)), _AT_A_TIME):
                ids, bag = cells.ids[:, begin:begin + _AT_A_TIME], cells.bag[begin:begin + _AT_A_TIME]
                parts.append(cells.kind.enclose(*(side[ids] for side in (slices.lo, slices.hi, slices.centre)), bag))
                yield
            self.found.append([np.concatenate(rows, axis=1) for rows in zip(*parts, strict=True)] if len(parts) > 1 else parts[0])
        self._look_at_centres()

    def discard(self, upper: float) -> Iterator[None]:
        """Drops what cannot hold a minimiser, if f has values up to `upper`."""
        self._pass([found[FACTS][UNSHIFTED] for found in self.found], upper)
        yield
        self._first_order()
        yield

    def discard_by_slopes(self, upper: float) -> Iterator[None]:
        """The same, after linear functions have been shifted between bags."""
        slopes, numbers = self._chosen(), []
        for cells, found in zip(self.grid.cells, self.found, strict=True):
            numbers.append(cells.kind.bound(found, self._rows(cells, slopes)))
            yield
        self._pass(numbers, upper)
        yield

    @property
    def empty(self) -> bool:
        """Has some bag no cell left, so that no point is in cells of all?"""
        return not all(np.bincount(cells.bag[self.alive[cells.at]], minlength=len(cells.kind.bags)).all()
                       for cells in self.grid.cells)

    def _pass(self, numbers: list[np.ndarray], upper: float) -> None:
        """Passes messages with these bounds of the cells, and drops what is above."""
        grid = self.grid
        for cells, number in zip(grid.cells, numbers, strict=True):
            self.number[cells.at] = number
        self.number[~self.alive] = -np.inf
        table = self.arrays.sums_up(self.number, grid.first, grid.second, grid.parent, grid.entries)
        self.lower = max(self.lower, -float(table[TOP]))
        whole, _ = self.arrays.sums_down(self.number, grid.first, grid.second, grid.parent, table)
        self.alive &= (whole > -np.inf) & (whole >= -upper)  # a NaN is what nothing reaches, less what has no bound

    def _look_at_centres(self) -> None:
        """Finds for every entry the cell below it with the lowest sum of values at centres: estimates, for points and slopes."""
        grid = self.grid
        for cells, found in zip(grid.cells, self.found, strict=True):
            value = found[FACTS][AT_CENTRE]
            self.number[cells.at] = np.where(value > -np.inf, -value, -_FAR)
        self.number[~self.alive] = -np.inf
        table = self.arrays.sums_up(self.number, grid.first, grid.second, grid.parent, grid.entries)
        self.through, self.from_child = self.arrays.sums_down(self.number, grid.first, grid.second, grid.parent, table)

    # ---- slopes
    def _rows(self, cells: Cells, slopes: np.ndarray) -> np.ndarray:
        """For each variable of each cell the distance of its centre, then the slope that is taken from it."""
        kind, grid, rows = cells.kind, self.grid, np.empty((2 * cells.kind.k, len(cells)))
        rows[:kind.k] = grid.slices.rad[cells.ids]
        untouched = set(range(kind.k))
        children = [(shared, link, -1.0) for (_, shared), link in zip(kind.links, (grid.first, grid.second), strict=False)]
        for shared, link, sign in [(kind.shared, grid.parent, 1.0), *children]:
            at = link[cells.at]
            for slot, place in enumerate(shared):
                slope = (sign * slopes[slot])[at]
                rows[kind.k + place] = slope if place in untouched else rows[kind.k + place] + slope
                untouched.discard(place)
        rows[[kind.k + place for place in untouched]] = 0.0
        return rows

    def _chosen(self) -> np.ndarray:
        """For every entry the slopes by the shared variables: those of the best cell below, with all that its children hand on,
        so that what is left of them there is 0."""
        grid = self.grid
        slots = max(1, *(len(kind.shared) for kind in grid.kinds))
        known = np.flatnonzero(self.from_child >= 0)
        known = known[known > TOP]
        handed = np.zeros((3, grid.entries, slots))  # the slope of the best cell, and the places of what its children hand on
        for cells, found in zip(grid.cells, self.found, strict=True):
            which, local = cells.among(self.from_child[known])
            for slot, place in enumerate(cells.kind.shared):
                slope = found[FROM][place, local] * 0.5 + found[TO][place, local] * 0.5
                handed[0, known[which], slot] = np.where(np.isfinite(slope), slope, 0.0)
                for (_, shared), link, rows in zip(cells.kind.links, (grid.first, grid.second), handed[1:], strict=False):
                    if place in shared:
                        rows[known[which], slot] = link[cells.at[local]] * slots + shared.index(place)
        number, *sources = handed.reshape(3, -1)
        first, second = (np.where(row > 0, row + TOP + 1, NONE).astype(np.int32) for row in sources)
        own = np.arange(TOP + 1, TOP + 1 + len(number), dtype=np.int32)
        table = self.arrays.sums_up(np.ascontiguousarray(number), first, second, own, TOP + 1 + len(number))[TOP + 1:]
        largest = np.abs(table).max(initial=0.0)
        unit = np.ldexp(_EXACT, np.frexp(largest)[1]) if 0 < largest < 2.0**900 else 0.0
        table = np.rint(table / unit) * unit if unit else np.zeros_like(table)
        return np.ascontiguousarray(table.reshape(-1, slots).T)

    # ---- derivatives
    def _first_order(self) -> None:
        """Drops cells on which the derivative by a variable has a strict sign, off the user's bound that it points to."""
        grid, slices = self.grid, self.grid.slices
        tables = [_Hulls(cells, found, place, self.alive, grid) for cells, found in zip(grid.cells, self.found, strict=True)
                  for place in range(cells.kind.k)]
        if not tables:
            return
        ids, nlo, hi = (np.concatenate([getattr(t, name) for t in tables]) for name in ("slices", "nlo", "hi"))
        order = np.argsort(ids, kind="stable")
        counts = np.bincount(ids, minlength=len(slices))[ids]
        other_nlo, other_hi = np.where(counts == 1, 0.0, np.inf), np.where(counts == 1, 0.0, np.inf)
        pairs = order[counts[order] == 2].reshape(-1, 2)
        for other, ends in ((other_nlo, nlo), (other_hi, hi)):
            other[pairs[:, 0]], other[pairs[:, 1]] = ends[pairs[:, 1]], ends[pairs[:, 0]]
        variable, begin = slices.variable, 0
        other_nlo[~(slices.lo > self.low[variable])[ids]] = np.inf  # at the user's bound a sign excludes nothing
        other_hi[~(slices.hi < self.high[variable])[ids]] = np.inf
        for table in tables:
            mine = slice(begin, begin + len(table.slices))
            begin += len(table.slices)
            self.alive[table.cells.at] &= ~table.excluded(other_nlo[mine], other_hi[mine])

    # ---- points
    def paths(self, most: int) -> tuple[np.ndarray, np.ndarray]:
        """(centres, half widths), each (n, N): of the slices of cells with low sums of values, one cell for each bag. The first
        path has the lowest sum; others are the best through a slice of one variable that is better than its neighbours."""
        grid, last = self.grid, self.grid.cells[self.grid.root]
        at = np.flatnonzero(last.bag == last.bag[-1])
        order = at[np.argsort(-self.through[last.at[at]], kind="stable")]
        order = order[self.through[last.at[order]] > -np.inf]
        _, first = np.unique(last.ids[0, order], return_index=True)  # the best cell of each slice, slice by slice
        value = np.concatenate([[-np.inf], self.through[last.at[order[first]]], [-np.inf]])
        lowest = first[(value[1:-1] >= value[:-2]) & (value[1:-1] >= value[2:])]
        if not len(lowest):
            return np.empty((len(self.low), 0)), np.empty((len(self.low), 0))
        chosen, stack = [], [last.at[order[np.sort(lowest)[:most]]]]
        while stack:
            cell = stack.pop()
            chosen.append(cell)
            for entry in (grid.first[cell], grid.second[cell]):
                if entry[0] != NONE:
                    stack.append(self.from_child[entry])
        x, rad = np.empty((2, len(self.low), len(chosen[0])))
        for k, numbers in enumerate(np.array(chosen).T):
            for cells in grid.cells:
                _, local = cells.among(numbers)
                places, ids = cells.kind.variables[:, cells.bag[local]], cells.ids[:, local]
                x[places, k], rad[places, k] = grid.slices.centre[ids], grid.slices.rad[ids]
        return x, rad


class _Hulls:
    """For each slice of one variable in each bag of a kind the hull of the derivatives over the cells that are alive."""

    def __init__(self, cells: Cells, found: list[np.ndarray], place: int, alive: np.ndarray, grid: Grid):
        self.cells, self.place, self.lo, self.up = cells, place, found[FROM][place], found[TO][place]
        first, variable = grid.slices.first, cells.kind.variables[place]
        counts = np.diff(first)[variable]
        begin = np.cumsum(counts) - counts
        total = int(counts.sum())
        self.slices = np.arange(total) + np.repeat(first[variable] - begin, counts)
        self.entry = cells.ids[place] + (begin - first[variable])[cells.bag]
        living = alive[cells.at]
        self.nlo, self.hi = np.full(total, -np.inf), np.full(total, -np.inf)
        np.maximum.at(self.nlo, self.entry[living], -self.lo[living])
        np.maximum.at(self.hi, self.entry[living], self.up[living])

    def excluded(self, other_nlo: np.ndarray, other_hi: np.ndarray) -> np.ndarray:
        """Whether each cell is: the sign of a sum of two doubles is that of the exact sum."""
        return (self.lo > other_nlo[self.entry]) | (self.up < -other_hi[self.entry])
