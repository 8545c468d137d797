"""Dynamic programming over intervals, level by level: bound every cell, pass messages along the tree of bags, discard, halve.

For every cell the messages give a lower bound of f over all points whose slices form that cell: the least sum of a choice of
cells, one for each bag, that agree on shared slices. A cell goes if that is above the verified upper bound, or if the derivative
by a variable has a strict sign on it whatever the other cells are (docs/proofs/chains.md).

**Slopes.** The least sum takes a variable at different places of one slice in different terms, which costs the width of the slice
times the slopes of the terms, even at a minimiser, where these slopes cancel. So between a bag and its parent a linear function
of what they share is shifted: added to the terms of one, subtracted from those of the other. f stays the same. The slopes are
chosen for each entry such that nothing is left of them in the best cell below: they meet where they cancel, and bounds converge
like the square of the width.
"""

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np

from infimum.chains.cell_kernels import AT_CENTRE, FACTS, FROM, TO, UNSHIFTED
from infimum.chains.grid import Cells, Grid
from infimum.kernel.cell_keys import ALONE, NONE, SEVERAL, TOP, key_of, numbers_of
from infimum.search.policy.bounds import CHAIN as POLICY

_SLOPE_GRAIN = 2.0**-40  # fixed: slopes are whole multiples of this part of the largest one, so that sums of them are exact
_UNREACHED = key_of(-np.inf)


def _bits(number: float) -> int:
    return int(np.array(number).view(np.int64))


class Level:
    """One level: the bounds of all cells of a grid. `alive` are those that may hold a minimiser, `lower` bounds f from below,
    `bound` holds minus the lower bound of f on each cell, `number` minus those of its terms, as they were in the last pass: never
    an estimate."""

    def __init__(self, grid: Grid, low: np.ndarray, high: np.ndarray):
        self.grid, self.low, self.high, self.arrays = grid, low, high, grid.arrays
        count = len(grid)
        self.lower, self.alive, self.number = -np.inf, self.arrays.filled(count, 1), None
        self.bound = self.arrays.filled(count, _bits(np.inf))
        self.found: list[list[Any]] = []

    def _row(self, cells: Cells, output: int, row: int) -> tuple[Any, int]:
        """A row of what was found of these cells."""
        return self.found[self.grid.cells.index(cells)][output], row * len(cells)

    def enclose(self) -> Iterator[None]:
        """Encloses the terms on all cells, many at a time, and looks at the centres."""
        arrays = self.arrays
        for k, cells in enumerate(self.grid.cells):
            whole = None
            for begin in range(0, max(1, len(cells)), POLICY.cells_at_once):
                count = min(POLICY.cells_at_once, len(cells) - begin)
                boxes = self._boxes(k, cells.ids, cells.bag, begin, count)
                found = cells.kind.enclose(arrays, boxes, count)
                if count < len(cells):
                    whole = whole or [arrays.empty(part.shape[0], len(cells)) for part in found]
                    for target, part in zip(whole, found, strict=True):
                        arrays.put(target, begin, part)
                yield
            self.found.append(whole or found)
        self._look_at_centres()

    def discard(self, upper: float) -> Iterator[None]:
        """Drops what cannot hold a minimiser, if f has values up to `upper`."""
        self._pass([self._row(cells, FACTS, UNSHIFTED) for cells in self.grid.cells], upper)
        yield
        self._first_order()
        yield

    def discard_by_slopes(self, upper: float) -> Iterator[None]:
        """The same, after linear functions have been shifted between bags."""
        slopes, before = self._chosen(), self.lower
        yield from self._take(slopes)
        if self._pass(self.shifted, upper) > before:
            return
        self._keep_slopes_that_pay(slopes)
        yield from self._take(slopes)
        self._pass(self.shifted, upper)
        yield

    def _take(self, slopes: list[Any]) -> Iterator[None]:
        """Bounds of the terms less these slopes."""
        self.shifted, self.taken = [], []
        for cells, found in zip(self.grid.cells, self.found, strict=True):
            rows = self._rows(cells, slopes)
            self.taken.append(rows)
            self.shifted.append(cells.kind.bound(found, rows) if cells.kind.k else self._row(cells, FACTS, UNSHIFTED))
            yield

    def _keep_slopes_that_pay(self, slopes: list[Any]) -> None:
        """Slopes cost much in wide slices: those of an entry become 0 where the best cells on both sides of it lose by them."""
        arrays, grid, count = self.arrays, self.grid, len(self.grid)
        cost = arrays.empty(1, count)
        for cells, shifted in zip(grid.cells, self.shifted, strict=True):
            arrays.each("cost", len(cells), shifted, self._row(cells, FACTS, UNSHIFTED), (cost, cells.begin))
        best, reader = arrays.filled(grid.entries, _UNREACHED), arrays.filled(grid.entries, -1)
        for link in grid.links[:2]:
            arrays.each("best", count, self.through, link, best)
        for link in grid.links[:2]:
            arrays.each("from_child", count, self.through, link, best, reader)
        for slope in slopes:
            arrays.each("pays", grid.entries, self.from_child, reader, cost, slope)

    def discard_by_second_order(self, upper: float) -> Iterator[None]:
        """The same, after that, with second derivatives on the cells that are still alive."""
        arrays = self.arrays
        for k, cells in enumerate(self.grid.cells):
            size, count = cells.kind.k, len(cells)
            if not size:
                continue
            marks = arrays.empty(1, count)
            arrays.each("dead", count, (self.alive, cells.begin), marks)
            index, _ = arrays.lowest(marks, count + 1, below=0.5)
            for begin in range(0, len(index), POLICY.cells_at_once):
                some = index[begin:begin + POLICY.cells_at_once]
                boxes = self._boxes(k, arrays.gather(cells.ids, some), arrays.gather(cells.bag, some), 0, len(some))
                bound = cells.kind.second_order_bound(boxes, arrays.gather(self.taken[k][size:], some))
                arrays.each("lower", len(some), bound, some, self.shifted[k])
                yield
        self._pass(self.shifted, upper)
        yield

    @cached_property
    def _ends(self) -> Any:
        """The lower ends, upper ends and centres of all slices."""
        slices = self.grid.slices
        return self.arrays.send(np.stack([slices.lo, slices.hi, slices.centre]))

    @cached_property
    def _rad(self) -> Any:
        return self.arrays.send(self.grid.slices.rad)

    def _boxes(self, k: int, ids: Any, bag: Any, begin: int, count: int) -> list[Any]:
        """Lower ends, upper ends and centres of cells of a kind, from `begin` on, and constants if there are any."""
        kind, constants, length = self.grid.kinds[k], self.grid.constants[k], bag.shape[1]
        boxes = self.arrays.empty(3 * kind.k + len(kind.constants), count)
        self.arrays.each("take_slices", count, (ids if kind.k else bag, begin), length, (bag, begin), self._ends,
                         len(self.grid.slices), constants, len(kind.bags), len(kind.constants), boxes, count, kind.k)
        ends = [boxes[kind.k * i:kind.k * (i + 1)] for i in range(3)]
        return [*ends, boxes[3 * kind.k:]] if len(kind.constants) else ends

    def best_of_slices(self) -> np.ndarray:
        """For each slice minus the lowest bound of the cells that are alive and use it, -inf if there is none."""
        best = self.arrays.filled(len(self.grid.slices), _UNREACHED)
        for cells in self.grid.cells:
            self.arrays.each("best_slices", len(cells), cells.ids, len(cells), cells.kind.k, (self.alive, cells.begin),
                             (self.bound, cells.begin), best)
        return numbers_of(self.arrays.fetch(best))

    @property
    def left(self) -> int:
        """How many cells are alive."""
        return self.arrays.total(self.alive)

    def _table(self, at: int = NONE) -> Any:
        """Entries that nothing has reached yet, but for one that holds 0."""
        return self.arrays.filled(self.grid.entries, _UNREACHED, at)

    def _numbers(self, rows: list[Any], name: str) -> Any:
        """These numbers of the cells, kind by kind, as the loop of that name takes them, where they are alive."""
        numbers = self.arrays.empty(1, len(self.grid))
        for cells, row in zip(self.grid.cells, rows, strict=True):
            self.arrays.each(name, len(cells), row, (self.alive, cells.begin), (numbers, cells.begin))
        return numbers

    def sums(self, numbers: Any, links: list[Any]) -> tuple[Any, Any]:
        """(the table of sums from below, the sum of the best whole through each cell), with these numbers and links."""
        arrays, grid = self.arrays, self.grid
        table, above, whole = self._table(), self._table(TOP), arrays.empty(1, len(grid))
        arrays.along("up", grid.segments, numbers, *links, table)
        arrays.along("down", grid.segments, numbers, *links, table, above, whole, backwards=True)
        return table, whole

    def _sum_of_all(self, table: Any) -> float:
        return float(numbers_of(self.arrays.fetch(table[TOP:TOP + 1]))[0])

    def _pass(self, numbers: list[Any], upper: float) -> float:
        """Passes messages with these bounds of the cells, and drops what is above; gives the lower bound of f."""
        self.number = self._numbers(numbers, "mask")
        table, whole = self.sums(self.number, self.grid.links)
        lower = -self._sum_of_all(table)
        self.lower = max(self.lower, lower)
        # a NaN is what nothing reaches, less what has no bound
        self.arrays.each("keep", len(self.grid), whole, self.alive, self.bound, _bits(-upper))
        return lower

    def _look_at_centres(self) -> None:
        """Finds for every entry the cell below it with the lowest sum of values at centres: estimates, for points and slopes."""
        centres = [self._row(cells, FACTS, AT_CENTRE) for cells in self.grid.cells]
        _, self.through, self.from_child = self.best_cells(centres, "centres")

    def best_cells(self, numbers: list[Any], name: str) -> tuple[float, Any, Any]:
        """(minus the best sum of all, the sum of the best whole through each cell, for every entry the best cell below it)."""
        arrays, grid = self.arrays, self.grid
        table, through = self.sums(self._numbers(numbers, name), grid.links)
        best, from_child = arrays.filled(grid.entries, _UNREACHED), arrays.filled(grid.entries, -1)
        arrays.each("best", len(grid), through, grid.links[2], best)
        arrays.each("from_child", len(grid), through, grid.links[2], best, from_child)
        return -self._sum_of_all(table), through, from_child

    # ---- slopes
    def _rows(self, cells: Cells, slopes: list[Any]) -> Any:
        """For each variable of each cell the distance of its centre, then the slope that is taken from it."""
        kind, grid, arrays, count = cells.kind, self.grid, self.arrays, len(cells)
        rows, touched = arrays.zeros(2 * kind.k, count), set()
        arrays.each("take", kind.k * count, self._rad, cells.ids, rows)
        children = [(shared, link, 0) for (_, shared), link in zip(kind.links, grid.links, strict=False)]
        for shared, link, taken in [(kind.shared, grid.links[2], 1), *children]:
            for slope, place in zip(slopes, shared, strict=False):
                arrays.each("slope", count, (link, cells.begin), slope, (rows, (kind.k + place) * count), taken, place in touched)
                touched.add(place)
        return rows

    def _chosen(self) -> list[Any]:
        """For every entry the slopes by the shared variables: those of the best cell below, with all that its children hand on,
        so that what is left of them there is 0."""
        grid, arrays = self.grid, self.arrays
        slots = max(1, *(len(kind.shared) for kind in grid.kinds))
        total = grid.entries * slots
        number, sources, own = arrays.zeros(1, total), [arrays.filled(total, NONE) for _ in range(2)], arrays.filled(total, 0)
        for cells, found in zip(grid.cells, self.found, strict=True):
            count, end = len(cells), cells.begin + len(cells)
            for slot, place in enumerate(cells.kind.shared):
                arrays.each("slope_below", grid.entries, self.from_child, cells.begin, end, (found[FROM], place * count),
                            (found[TO], place * count), number, slots, slot)
                for (_, shared), link, source in zip(cells.kind.links, grid.links, sources, strict=False):
                    if place in shared:
                        arrays.each("source_below", grid.entries, self.from_child, cells.begin, end, link, source, slots, slot,
                                    shared.index(place))
        arrays.each("numbered", total, own)
        table = arrays.filled(TOP + 1 + total, _UNREACHED, NONE)
        arrays.along("up", grid.entry_segments * slots, number, *sources, own, table)
        found = numbers_of(arrays.fetch(table))[TOP + 1:]
        found = np.where(found > -np.inf, found, 0.0) * 0.5
        largest = np.abs(found).max(initial=0.0)
        unit = np.ldexp(_SLOPE_GRAIN, np.frexp(largest)[1]) if 0 < largest < 2.0**900 else 0.0
        found = np.rint(found / unit) * unit if unit else np.zeros_like(found)
        return [arrays.send(np.ascontiguousarray(row)) for row in found.reshape(-1, slots).T]

    # ---- derivatives
    def _first_order(self) -> None:
        """Drops cells on which the derivative by a variable has a strict sign, off the user's bound that it points to."""
        grid, arrays, slices = self.grid, self.arrays, self.grid.slices
        variables = [kind.variables.reshape(-1) for kind in grid.kinds]
        owner = np.concatenate(variables)  # the variable of each table, one for each place in each bag
        if not len(owner):
            return
        counts = np.diff(slices.first)[owner]
        begin = np.cumsum(counts) - counts - slices.first[owner]
        partner = np.where(np.bincount(owner)[owner] == 1, ALONE, SEVERAL)
        order = np.argsort(owner, kind="stable")
        pairs = order[np.bincount(owner)[owner[order]] == 2].reshape(-1, 2)
        partner[pairs] = begin[pairs[:, ::-1]]
        ends = np.cumsum([len(v) for v in variables])[:-1]
        tables = [[arrays.send(part) for part in np.split(table, ends)] for table in (begin, partner)]
        variable = slices.variable
        free = arrays.send((slices.lo > self.low[variable]) + 2 * (slices.hi < self.high[variable]).astype(np.int64))
        hulls = [arrays.filled(int(counts.sum()), _UNREACHED) for _ in range(2)]
        for name in ("hull", "exclude"):
            for cells, found, offset, its_partner in zip(grid.cells, self.found, *tables, strict=True):
                more = [its_partner, free] if name == "exclude" else []
                if cells.kind.k:
                    arrays.each(name, len(cells), cells.ids, len(cells), cells.kind.k, cells.bag, len(cells.kind.bags), offset,
                                found[FROM], found[TO], (self.alive, cells.begin), *hulls, *more)

    # ---- points
    def paths(self, most: int) -> tuple[np.ndarray, np.ndarray]:
        """(centres, half widths), each (n, N): of the slices of cells with low sums of values, one cell for each bag. The first
        path has the lowest sum; others are the best through a slice of one variable that is better than its neighbours."""
        grid, arrays, last = self.grid, self.arrays, self.grid.cells[self.grid.root]
        none, begin = np.empty((len(self.low), 0)), int(last.starts[-2])
        through = arrays.fetch(self.through[:, last.begin + begin:last.begin + len(last)])[0]
        order = np.argsort(-through, kind="stable")
        order = order[through[order] > -np.inf]
        if not len(order):
            return none, none
        ids = arrays.fetch(last.some_ids[:1, begin:])[0]
        _, first = np.unique(ids[order], return_index=True)  # the best cell of each slice, slice by slice
        value = np.concatenate([[-np.inf], through[order[first]], [-np.inf]])
        lowest = first[(value[1:-1] >= value[:-2]) & (value[1:-1] >= value[2:])]
        slices = self._followed(last.begin + begin + order[np.sort(lowest)[:most]], self.from_child)
        return grid.slices.centre[slices], grid.slices.rad[slices]

    def path(self, from_child: Any) -> np.ndarray | None:
        """The slices (n,) of the best cells, with the best cell below every entry; None if there is no path."""
        root = self.arrays.fetch(from_child[TOP:TOP + 1])
        return self._followed(root, from_child)[:, 0] if root[0] >= 0 else None

    def optimistic_path(self) -> tuple[float, np.ndarray]:
        """(about the lowest sum of bounds, the path of the cells that have it), if there is a path."""
        numbers = [cells.kind.optimistic_bound(found) if cells.kind.k else self._row(cells, FACTS, UNSHIFTED)
                   for cells, found in zip(self.grid.cells, self.found, strict=True)]
        value, _, from_child = self.best_cells(numbers, "mask")
        return value, self.path(from_child)

    def _followed(self, roots: np.ndarray, from_child: Any) -> np.ndarray:
        """The slices (n, N) of the best cells that fit to these cells of the last bag."""
        grid, arrays, paths = self.grid, self.arrays, len(roots)
        chosen, found = np.zeros((grid.bags, paths), np.int64), np.empty((len(self.low), paths), np.int64)
        chosen[-1] = roots
        there = arrays.send(chosen)
        arrays.each("paths", paths, there, grid.bags, paths, arrays.send(grid.parents), arrays.send(grid.which), *grid.links[:2],
                    from_child)
        chosen = arrays.fetch(there)
        for cells in grid.cells:
            index = arrays.send((chosen[cells.kind.bags] - cells.begin).reshape(-1))
            ids = arrays.fetch(arrays.gather(cells.ids, index)).view(np.int64)
            found[cells.kind.variables] = ids.reshape(cells.kind.k, len(cells.kind.bags), paths)
        return found

    @property
    def empty(self) -> bool:
        """Has some bag no cell left, so that no point is in cells of all?"""
        for cells in self.grid.cells:
            seen = self.arrays.filled(len(cells.kind.bags), 0)
            self.arrays.each("living", len(cells), cells.bag, (self.alive, cells.begin), seen)
            if not self.arrays.fetch(seen).all():
                return True
        return False
