"""Grid: every variable is cut into slices, and every bag holds cells: combinations of slices of its variables that may hold a
minimiser."""

from dataclasses import dataclass, field

import numpy as np

from infimum.engine.parts.chain.kinds import Kind
from infimum.unions import Unions, widths

_FIRST = 8          # slices of a variable at the beginning
_DIRECT = 1 << 20   # entries of a table that are addressed directly however few are used
NONE, TOP = 0, 1    # entries of the table: read by cells without a child, written by cells without a parent


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


@dataclass(slots=True)
class Cells:
    """The cells of the bags of one kind: `ids` (k, N) slices, `bag` (N,) positions in kind.bags, ascending; `at` says where they
    stand among the cells of all kinds, which are in the order of their bags."""

    kind: Kind
    ids: np.ndarray
    bag: np.ndarray
    at: np.ndarray = field(init=False)

    def __len__(self) -> int:
        return len(self.bag)

    def among(self, numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Which of these cells are of this kind, and which of its cells they are."""
        if not len(self):
            return np.empty(0, np.int64), np.empty(0, np.int64)
        local = np.minimum(np.searchsorted(self.at, numbers), len(self) - 1)
        which = np.flatnonzero(self.at[local] == numbers)
        return which, local[which]


def cells_at_first(kinds: list[Kind], count: int = _FIRST) -> int:
    """How many cells a grid has at the beginning, at most, with so many slices of each variable."""
    return sum(len(kind.bags) * count**kind.k for kind in kinds)


class Grid:
    """Slices, cells, and the links of cells to the entries of a table: an entry is a combination of slices that a bag shares with
    its parent. Cells of the bag write it (`parent`), cells of the parent read it (`first`, `second`)."""

    def __init__(self, kinds: list[Kind], lo: np.ndarray, hi: np.ndarray, count: int = _FIRST):
        self.kinds, self.bags = kinds, sum(len(kind.bags) for kind in kinds)
        self.root = next(i for i, kind in enumerate(kinds) if kind.bags[-1] == self.bags - 1)  # the kind of the last bag
        counts = np.where(lo < hi, count, 1)
        first = np.concatenate([[0], np.cumsum(counts)])
        variable = np.repeat(np.arange(len(lo)), counts)
        part = (np.arange(first[-1]) - first[variable]) / counts[variable]
        low, high = lo[variable], hi[variable]
        begin = np.minimum(np.maximum(low + (high - low) * part, low), high)
        end = np.append(begin[1:], 0.0)
        end[first[1:] - 1] = hi
        self.slices = Slices(begin, end, first)
        self.cells = [self._all_of(kind) for kind in kinds]
        self._link()

    def _all_of(self, kind: Kind) -> Cells:
        """Every combination of slices."""
        counts = np.diff(self.slices.first)[kind.variables]
        each = counts.prod(axis=0)
        bag = np.repeat(np.arange(len(each)), each)
        number = np.arange(len(bag)) - np.repeat(np.cumsum(each) - each, each)
        ids = np.empty((kind.k, len(bag)), np.int64)  # indices of NumPy's own type, of which it makes no copies
        for place in reversed(range(kind.k)):
            number, digit = np.divmod(number, counts[place][bag])
            ids[place] = self.slices.first[kind.variables[place]][bag] + digit
        return Cells(kind, ids, bag)

    def __len__(self) -> int:
        return sum(map(len, self.cells))

    # ---- links
    def _link(self) -> None:
        counts, cells_of, size = np.diff(self.slices.first), np.zeros(self.bags, np.int64), np.empty(self.bags, np.int64)
        per_bag = [np.bincount(cells.bag, minlength=len(cells.kind.bags)) for cells in self.cells]
        for cells, per in zip(self.cells, per_bag, strict=True):
            cells_of[cells.kind.bags] = per
            size[cells.kind.bags] = counts[cells.kind.variables[list(cells.kind.shared)]].prod(axis=0)
        begin, offset = np.cumsum(cells_of) - cells_of, TOP + 1 + np.cumsum(size) - size
        links = np.full((3, len(self)), NONE, np.int64)
        for cells, per in zip(self.cells, per_bag, strict=True):
            kind = cells.kind
            cells.at = np.arange(len(cells)) + (begin[kind.bags] - (np.cumsum(per) - per))[cells.bag]
            links[2, cells.at] = self._entries(cells, offset[kind.bags], kind.shared)
            for which, (child, shared) in enumerate(kind.links):
                links[which, cells.at] = self._entries(cells, offset[child], shared)
        links[2, begin[-1]:] = TOP
        self.entries = int(size.sum()) + TOP + 1
        if self.entries > max(_DIRECT, 4 * links.shape[1]):
            links = self._numbered(links)
        self.first, self.second, self.parent = links.astype(np.int32)

    def _entries(self, cells: Cells, base: np.ndarray, shared: tuple[int, ...]) -> np.ndarray:
        """The number of each cell's entry, in a table of all combinations of the slices of the shared variables."""
        first, counts, number = self.slices.first, np.diff(self.slices.first), 0
        for place in shared[:-1]:
            variable = cells.kind.variables[place]
            after = counts[cells.kind.variables[shared[shared.index(place) + 1]]]
            number = (number + cells.ids[place] - first[variable][cells.bag]) * after[cells.bag]
        if shared:
            base = base - first[cells.kind.variables[shared[-1]]]
            number = number + cells.ids[shared[-1]]
        return number + base[cells.bag]

    def _numbered(self, links: np.ndarray) -> np.ndarray:
        """Entries that are written, in a row; what reads another one reads the last, which nothing writes."""
        written = np.union1d(links[2], [NONE, TOP])
        places = np.minimum(np.searchsorted(written, links), len(written) - 1)
        self.entries = len(written) + 1
        return np.where(written[places] == links, places, len(written))

    # ---- halving
    def _used(self, alive: np.ndarray) -> np.ndarray:
        """Which slices belong to a cell that is alive."""
        used = np.zeros(len(self.slices), bool)
        for cells in self.cells:
            for row in cells.ids:
                used[row[alive[cells.at]]] = True
        return used

    def unions(self, alive: np.ndarray) -> Unions:
        """The slices that are used, variable by variable."""
        return Unions(self.slices.lo, self.slices.hi, self.slices.first).keep(self._used(alive))

    def halved(self, alive: np.ndarray, width: float, most: int) -> bool:
        """Keeps the cells that are alive and halves every slice that they use, if it is wider than `width`. False, and nothing is
        done, if that would give more than `most` cells, or nothing can be halved."""
        used, kept = self._used(alive), [np.flatnonzero(alive[cells.at]) for cells in self.cells]
        slices = self.slices
        middle = slices.centre
        cut = used & (middle > slices.lo) & (middle < slices.hi) & (widths(slices.lo, slices.hi) > width)
        new = sum(len(index) << cells.kind.k for cells, index in zip(self.cells, kept, strict=True))
        if new > most or not cut.any():
            return False
        pieces = used.astype(np.int64) + cut
        begin = np.cumsum(pieces) - pieces
        lo, hi = np.repeat(slices.lo, pieces), np.repeat(slices.hi, pieces)
        hi[begin[cut]] = lo[begin[cut] + 1] = middle[cut]
        first = np.concatenate([[0], np.cumsum(pieces)])[slices.first]
        self.slices = Slices(lo, hi, first)
        self.cells = [_halves(cells, index, begin, cut) for cells, index in zip(self.cells, kept, strict=True)]
        self._link()
        return True


def _halves(cells: Cells, index: np.ndarray, begin: np.ndarray, cut: np.ndarray) -> Cells:
    """The combinations of the halves of the slices of these cells."""
    k, ids, bag = len(cells.ids), cells.ids[:, index], cells.bag[index]
    which = np.indices((2,) * k, dtype=np.int32).reshape(k, 1, 1 << k)  # of the two halves in each variable
    new = begin[ids][:, :, None] + which
    bag = np.repeat(bag, 1 << k)
    whole = ~cut[ids]
    if whole.any():  # a slice that cannot be halved has no second half
        there = ~(whole[:, :, None] & (which > 0)).any(axis=0).reshape(-1)
        return Cells(cells.kind, np.ascontiguousarray(new.reshape(k, len(bag))[:, there]), bag[there])
    return Cells(cells.kind, new.reshape(k, len(bag)), bag)
