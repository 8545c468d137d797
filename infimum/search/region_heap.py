"""Heap: regions in the memory of a backend, of which the lowest are taken."""

import math
from contextlib import suppress
from typing import Any

import numpy as np

from infimum.kernel.region_cut import rows, rows_of
from infimum.search.policy.search import REGION_STORE as POLICY


class RegionHeap:
    """Regions in columns, in the order they came. What is taken leaves a gap, a lower bound that is NaN, until many gaps are.

    Nothing is lost where memory runs out: a method that needs some either ends or leaves everything as it was. `add` needs none
    after `reserve`.
    """

    def __init__(self, arrays: Any, n: int):
        self.arrays, self.n, self.rows, self.row = arrays, n, rows_of(n), rows(n)[0]
        self.data, self.room = arrays.empty(self.rows, 0), 0
        self.used = self.live = 0  # columns, gaps and all; regions
        self._least: float | None = np.inf  # None: not known

    def __len__(self) -> int:
        return self.live

    def lower_row(self) -> Any:
        """The lower bounds, NaN in gaps."""
        return self.data[self.row:self.row + 1, :self.used]

    def columns(self) -> Any:
        """An array that begins with the columns in use, for a kernel, which looks at all that it is given. With much room beyond
        them it is a copy, if there is memory for one."""
        if 2 * self.used <= self.room:
            with suppress(MemoryError):
                some = self.arrays.empty(self.rows, self.used)
                self.arrays.put(some, 0, self.data, 0, self.used)
                return some
        return self.data

    def reserve(self, count: int) -> None:
        """Makes room for the given number of further columns, and closes gaps if they are more than half of the columns."""
        gaps = self.used > max(POLICY.least_room, 2 * self.live)
        if gaps or (self.used + count > self.room and 2 * (self.live + count) <= self.room):
            self._keep(np.inf, self.live + count)
        elif self.used + count > self.room:
            needed = self.used + count
            self._move(max(2 * self.room, needed, POLICY.least_room), needed + needed // 8)

    def _move(self, room: int, least: int) -> None:
        data = self._columns(room, least)
        if self.used:
            self.arrays.put(data, 0, self.data, 0, self.used)
        self.data, self.room = data, data.shape[1]

    def _columns(self, room: int, least: int) -> Any:
        """So many new columns, or as many as there must be: the old ones are there at the same time."""
        try:
            return self.arrays.empty(self.rows, room)
        except MemoryError:
            if least >= room:
                raise
        return self.arrays.empty(self.rows, least)

    def _keep(self, below: float, needed: int = 0) -> None:
        """Keeps only the regions below that bound, without gaps, with room for the given number."""
        if self.live:
            index, _ = self.arrays.lowest(self.lower_row(), self.used + 1, below)
        count = len(index) if self.live else 0
        room = max(POLICY.least_room, needed, self.room // 2 if 4 * max(count, needed) <= self.room else self.room)
        data = self._columns(room, max(needed, count))
        if count:
            self.arrays.gather(self.data, index, data)
        self.data, self.room, self.used, self.live, self._least = data, data.shape[1], count, count, None

    def add(self, source: Any, index: Any = None) -> None:
        """Puts regions behind the others: the columns of an array, or those that the index names."""
        count = source.shape[1] if index is None else len(index)
        if not count:
            return
        if self.used + count > self.room:
            self.reserve(count)
        if index is None:
            self.arrays.put(self.data, self.used, source)
        else:
            self.arrays.gather(source, index, self.data, self.used)
        self.used, self.live, self._least = self.used + count, self.live + count, None

    def find(self, count: int, below: float = np.inf, ties: bool = False) -> tuple[Any, float]:
        """(index, border): the columns of the lowest of those below, and the highest lower bound among them."""
        return self.arrays.lowest(self.lower_row(), count, below, ties)

    def remove(self, index: Any) -> None:
        """Leaves gaps in these columns."""
        if len(index):
            self.arrays.fill(self.lower_row(), index, np.nan)
            self.live, self._least = self.live - len(index), None
        if not self.live:
            self.clear()

    def lowest(self, count: int, below: float = np.inf) -> tuple[Any, Any]:
        """(the columns of up to `count` of the lowest regions, of those below; a copy of these)."""
        if not self.live:
            return (), self.arrays.empty(self.rows, 0)
        index, _ = self.find(count, below)
        return index, self.arrays.gather(self.data, index)

    def divided(self, count: int) -> tuple[Any, Any, float]:
        """(index of the lowest, equal ones included, index of the others, the highest lower bound of the lowest)."""
        row = self.arrays.empty(1, self.used)
        self.arrays.put(row, 0, self.lower_row())
        near, border = self.arrays.lowest(row, count, ties=True)
        self.arrays.fill(row, near, np.nan)
        return near, self.arrays.lowest(row, self.used + 1)[0], border

    def prune(self, upper: float) -> None:
        """Drops the regions that lie certainly above; where there is no memory for that, a later one will."""
        if self.live and upper < np.inf:
            try:
                self._keep(math.nextafter(upper, math.inf), self.room)  # whoever made sure of room still has it
            except MemoryError:
                with suppress(MemoryError):
                    self._leave_gaps(upper)

    def _leave_gaps(self, upper: float) -> None:
        """The same, with room for one row alone."""
        lower = self.arrays.fetch(self.lower_row())
        lower = np.where(lower > upper, np.nan, lower)
        self.arrays.put(self.lower_row(), 0, self.arrays.send(lower))
        self.live, self._least = int(np.count_nonzero(~np.isnan(lower))), None
        if not self.live:
            self.clear()

    def least(self) -> float:
        """The smallest lower bound, infinite if there is no region."""
        if self._least is None:
            try:
                self._least = self.arrays.least(self.lower_row())[0][0] if self.live else np.inf
            except MemoryError:
                self._least = self.arrays.here.least(self.arrays.fetch(self.lower_row()))[0][0]
        return self._least

    def clear(self) -> None:
        """Forgets everything."""
        self.used = self.live = 0
        self._least = np.inf

    def everything(self) -> np.ndarray:
        """All regions, here. They also come when no memory is left where they lie."""
        if not self.live:
            return np.empty((self.rows, 0))
        with suppress(MemoryError):
            index, _ = self.arrays.lowest(self.lower_row(), self.used + 1)
            return self.arrays.fetch(self.arrays.gather(self.data, index))
        live = np.flatnonzero(~np.isnan(self.arrays.fetch(self.lower_row())[0]))
        found, step = np.empty((self.rows, len(live))), max(1, POLICY.numbers_fetched // self.room)
        for k in range(0, self.rows, step):
            np.take(self.arrays.fetch(self.data[k:k + step]), live, axis=1, out=found[k:k + step], mode="clip")
        return found

    def replace(self, regions: np.ndarray) -> None:
        """These regions, instead of what was there. An unknown lower bound is minus infinity: NaN would be a gap."""
        regions = np.ascontiguousarray(regions)
        unknown = np.isnan(regions[self.row])
        if unknown.any():
            regions = regions.copy()
            regions[self.row, unknown] = -np.inf
        data = self.arrays.send(regions)
        count = regions.shape[1]
        self.data, self.room, self.used, self.live, self._least = data, count, count, count, None
