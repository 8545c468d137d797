"""Grid: every variable is cut into slices, and every bag holds cells: combinations of slices of its variables that may hold a
minimiser."""

from copy import copy
from dataclasses import field
from typing import Any

import numpy as np

from infimum.chains.bag_kinds import BagKind
from infimum.evaluation.device_choice import Arrays
from infimum.kernel.cell_keys import NONE, TOP
from infimum.problem.unions import Unions, widths
from infimum.search.policy.bounds import CHAIN as POLICY
from infimum.support.lazy import dataclass


@dataclass(slots=True)
class Slices:
    """Those of variable v are first[v] … first[v + 1] - 1, ascending; `centre` lies in each, at most `rad` from its ends."""

    lo: np.ndarray
    hi: np.ndarray
    first: np.ndarray
    centre: np.ndarray = field(init=False)
    rad: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        self.centre = np.minimum(np.maximum(self.lo * 0.5 + self.hi * 0.5, self.lo), self.hi)
        far = np.maximum(self.hi - self.centre, self.centre - self.lo)
        self.rad = np.where(far > 0, np.nextafter(far, np.inf), 0.0)

    def __len__(self) -> int:
        return len(self.lo)

    @property
    def variable(self) -> np.ndarray:
        return np.repeat(np.arange(len(self.first) - 1), np.diff(self.first))


@dataclass(slots=True, eq=False)
class Cells:
    """The cells of the bags of one kind, in the memory of a backend: `ids` (k, N) slices, `bag` (1, N) positions in kind.bags,
    ascending. Among the cells of all kinds they are those from `begin` on; those of a bag from begin + starts[bag] on."""

    kind: BagKind
    ids: Any
    bag: Any
    begin: int = 0
    starts: np.ndarray = field(init=False)

    def __len__(self) -> int:
        return self.bag.shape[1]

    @property
    def some_ids(self) -> Any:
        """`ids`, or something that can be read in its place if there are none."""
        return self.ids if self.kind.k else self.bag

    def find_starts(self, arrays: Arrays) -> None:
        """Where the cells of each bag begin, and behind them their number."""
        found = arrays.filled(len(self.kind.bags), -1)
        arrays.each("starts", len(self), self.bag, found)
        starts = np.append(arrays.fetch(found), len(self))
        last = np.where(starts < 0, len(self), starts)
        self.starts = np.minimum.accumulate(last[::-1])[::-1]


def cells_at_first(kinds: list[BagKind], count: int = 0, whole: int = 0) -> int:
    """How many cells a grid has at the beginning, at most, also with the given number of slices of each variable, or where
    `whole` variables of every bag are not cut."""
    return sum(len(kind.bags) * (count or POLICY.first_slices)**(kind.k - whole) for kind in kinds)


class Grid:
    """Slices, cells, and the links of cells to the entries of a table: an entry is a combination of slices that a bag shares with
    its parent. Cells of the bag write it (the last of `links`), cells of the parent read it (the first two).

    Slices are here; cells and links in the memory of `arrays`. `segments` are cells, `entry_segments` entries of bags of one
    height after the other: what one reads, those before have written.
    """

    def __init__(self, kinds: list[BagKind], lo: np.ndarray, hi: np.ndarray, arrays: Arrays, count: int = 0):
        self.kinds, self.bags, self.arrays = kinds, sum(len(kind.bags) for kind in kinds), arrays
        self.root = next(i for i, kind in enumerate(kinds) if kind.bags[-1] == self.bags - 1)  # the kind of the last bag
        counts = np.where(lo < hi, count or POLICY.first_slices, 1)
        first = np.concatenate([[0], np.cumsum(counts)])
        variable = np.repeat(np.arange(len(lo)), counts)
        part = (np.arange(first[-1]) - first[variable]) / counts[variable]
        low, high = lo[variable], hi[variable]
        begin = np.minimum(np.maximum(low + (high - low) * part, low), high)
        end = np.append(begin[1:], 0.0)
        end[first[1:] - 1] = hi
        self.slices = Slices(begin, end, first)
        self.cells = [self._all_of(kind) for kind in kinds]
        self.heights = np.empty(self.bags, np.int64)
        self.parents, self.which = np.zeros((2, self.bags), np.int64)  # of each bag its parent, and which child of it it is
        for kind in kinds:
            self.heights[kind.bags] = kind.heights
            for which, (child, _) in enumerate(kind.links):
                self.parents[child], self.which[child] = kind.bags, which
        self.use(self.arrays)

    def _all_of(self, kind: BagKind) -> Cells:
        """Every combination of slices."""
        counts = np.diff(self.slices.first)[kind.variables]
        each = counts.prod(axis=0)
        bag = np.repeat(np.arange(len(each)), each)
        number = np.arange(len(bag)) - np.repeat(np.cumsum(each) - each, each)
        ids = np.empty((kind.k, len(bag)), np.int64)
        for place in reversed(range(kind.k)):
            number, digit = np.divmod(number, counts[place][bag])
            ids[place] = self.slices.first[kind.variables[place]][bag] + digit
        return Cells(kind, ids, bag[None])

    def __len__(self) -> int:
        return sum(map(len, self.cells))

    def use(self, arrays: Arrays) -> None:
        """Moves the cells from where they are, here at first, to the memory of `arrays`."""
        self.arrays = arrays
        self.constants = [arrays.send(np.ascontiguousarray(kind.constants)) for kind in self.kinds]
        for cells in self.cells:
            cells.ids, cells.bag = arrays.send(cells.ids), arrays.send(cells.bag)
        self.link()

    # ---- links
    def link(self) -> None:
        """Numbers the cells and the entries."""
        counts, size, begin = np.diff(self.slices.first), np.empty(self.bags, np.int64), 0
        for cells in self.cells:
            cells.find_starts(self.arrays)
            cells.begin, begin = begin, begin + len(cells)
            size[cells.kind.bags] = counts[cells.kind.variables[list(cells.kind.shared)]].prod(axis=0)
        ends = TOP + 1 + np.cumsum(size)
        base = ends - size
        base[-1] = TOP
        self.entries, self.links = int(ends[-1]), [self.arrays.filled(begin, NONE) for _ in range(3)]
        for cells in self.cells:
            self._enter(cells, base[cells.kind.bags], cells.kind.shared, self.links[2])
            for (child, shared), row in zip(cells.kind.links, self.links, strict=False):
                self._enter(cells, base[child], shared, row)
        tops = np.searchsorted(self.heights, np.arange(self.heights[-1] + 2))  # where the bags of each height begin
        bounds = np.append(TOP + 1, ends)[tops]
        if self.entries > max(POLICY.direct_entries, 4 * begin):
            bounds = self._number(bounds)
        self.entry_segments = np.stack([bounds[:-1], bounds[1:]], axis=1)
        self.segments = self._segments()

    def _enter(self, cells: Cells, base: np.ndarray, shared: tuple[int, ...], row: Any) -> None:
        """Writes the number of each cell's entry, in a table of all combinations of the slices of the shared variables: of those
        that are cut, which are at most two."""
        first, variables, steps = self.slices.first, cells.kind.variables, np.zeros((3, len(cells.kind.bags)), np.int64)
        shared = tuple(place for place in shared if (np.diff(first)[variables[place]] > 1).any())
        steps[0], places = base, ((shared or (0,))[0], (shared or (0,))[-1])
        if shared:
            steps[2] = 1
            steps[0] -= first[variables[shared[-1]]]
        if len(shared) > 1:
            steps[1] = np.diff(first)[variables[shared[-1]]]
            steps[0] -= first[variables[shared[0]]] * steps[1]
        self.arrays.each("entries", len(cells), cells.some_ids, len(cells) if cells.kind.k else 0, cells.bag,
                         self.arrays.send(steps), steps.shape[1], *places, (row, cells.begin))

    def _number(self, bounds: np.ndarray) -> np.ndarray:
        """Entries that are written, in a row; what reads another one reads the last, which nothing writes. Gives the new numbers
        of these entries."""
        links = np.stack([self.arrays.fetch(row) for row in self.links])
        written = np.union1d(links[2], [NONE, TOP])
        places = np.minimum(np.searchsorted(written, links), len(written) - 1)
        self.entries = len(written) + 1
        self.links = [self.arrays.send(row) for row in np.where(written[places] == links, places, len(written))]
        return np.searchsorted(written, bounds)

    def _segments(self) -> np.ndarray:
        rows = []
        for cells in self.cells:
            first = np.flatnonzero(np.diff(cells.kind.heights, prepend=-1))
            ends = cells.starts[np.append(first, len(cells.kind.bags))] + cells.begin
            rows.append(np.stack([cells.kind.heights[first], ends[:-1], ends[1:]], axis=1))
        found = np.concatenate(rows)
        return found[np.argsort(found[:, 0], kind="stable"), 1:]

    # ---- halving
    def unions(self, used: np.ndarray) -> Unions:
        """The slices that are used, variable by variable."""
        return Unions(self.slices.lo, self.slices.hi, self.slices.first).keep(used)

    def copy(self) -> "Grid":
        """Of which cells may be dropped or halved without a change of this one."""
        new = copy(self)
        new.cells = [copy(cells) for cells in self.cells]
        return new

    def halved(self, alive: Any, used: np.ndarray, wanted: np.ndarray, width: float | np.ndarray, most: int) -> bool:
        """Keeps the cells that are alive and halves the slices `wanted` of those that they use, if they are wider than `width`
        (one for all slices, or one for each). False, and nothing is done, if that would give more than `most` cells, or nothing
        can be halved."""
        slices, arrays = self.slices, self.arrays
        middle = slices.centre
        possible = used & (middle > slices.lo) & (middle < slices.hi) & (widths(slices.lo, slices.hi) > width)
        cut = possible & wanted if (possible & wanted).any() else possible
        if not cut.any():
            return False
        pieces = used.astype(np.int64) + cut
        begin = np.cumsum(pieces) - pieces
        there, plans = arrays.send(cut.astype(np.int64)), []
        for cells in self.cells:
            room = arrays.filled(len(cells) + 1, 0)
            arrays.each("pieces", len(cells), cells.ids, len(cells), cells.kind.k, there, (alive, cells.begin), room)
            plans.append((room, arrays.scan(room)))
        if sum(count for _, count in plans) > most:
            return False
        new = arrays.send(begin)
        for cells, (room, count) in zip(self.cells, plans, strict=True):
            ids, bag = arrays.whole_numbers(cells.kind.k, count), arrays.whole_numbers(1, count)
            arrays.each("halves", len(cells), cells.ids, len(cells), cells.kind.k, cells.bag, there, new, (alive, cells.begin),
                        room, ids, count, bag)
            cells.ids, cells.bag = ids, bag
        lo, hi = np.repeat(slices.lo, pieces), np.repeat(slices.hi, pieces)
        hi[begin[cut]] = lo[begin[cut] + 1] = middle[cut]
        self.slices = Slices(lo, hi, np.concatenate([[0], np.cumsum(pieces)])[slices.first])
        self.link()
        return True
