"""Where a backend keeps the arrays it works on, and what is asked of them beside kernels: whatever looks across the boxes.

A kernel sees one box. To take the lowest regions, to drop those that are ruled out, to find the best of all, one has to look
across. The order of every answer is part of its meaning, so that it has the same bits on every machine: `HostArrays` defines it.
"""

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from infimum.backend import elimination, min_sum


class Arrays(Protocol):
    """Arrays of doubles of shape (rows, N), a column a box, and indices (whole numbers of 64 bits) in the memory of a backend.

    A `row` is an array of one row; that of a larger array may be given as a slice `array[k:k + 1, :count]`. `here` are the arrays
    of this machine's own memory, to which one can go where that of the backend is full. `idle`, if it is set, is work for
    the time that this machine would wait for another: it is called again and again where there is time for it, until it gives
    False.
    """

    here: "Arrays"
    idle: Callable[[], bool] | None

    def send(self, array: np.ndarray) -> Any:
        """The array there."""

    def fetch(self, array: Any) -> np.ndarray:
        """The array here."""

    def empty(self, rows: int, count: int) -> Any:
        """Room for an array."""

    def zeros(self, rows: int, count: int) -> Any:
        """An array of zeros."""

    def numbers(self, count: int) -> Any:
        """A row whose bits are the whole numbers 0 … count-1."""

    def least(self, *rows: Any) -> list[tuple[float, int]]:
        """Of each row the least number, and where it stands; of equal ones the first. NaN counts as infinite."""

    def least_column(self, row: Any, array: Any) -> tuple[float, np.ndarray]:
        """The least number, and the column of the array that stands there, here."""

    def put_least(self, row: Any, array: Any, target: Any, at: int) -> None:
        """Writes that number to entry `at` of a row, and that column behind it, without looking."""

    def lowest(self, row: Any, count: int, below: float = np.inf, ties: bool = False) -> tuple[Any, float]:
        """(index, border) of the `count` lowest numbers of those below `below` (all, if that is infinite): where they stand, in
        ascending order, and the highest of them, infinite if there are fewer. NaN is never among them. Of equal ones the first
        count; with `ties` all do."""

    def order(self, kinds: int, *rows: Any) -> list[tuple[Any, list[int]]]:
        """(index, counts) of rows that hold whole numbers 0 … kinds-1: where the zeros stand, in ascending order, then the ones,
        …; and how many there are of each."""

    def gather(self, source: Any, index: Any, target: Any = None, at: int = 0) -> Any:
        """The columns with these numbers, in this order, as an array of their own or in the columns at … of `target`."""

    def scatter(self, source: Any, row: Any, target: Any) -> None:
        """Copies column k of `source` to the column of `target` whose number is the bits of entry k of the row. An entry may
        come twice if the columns are equal."""

    def column(self, array: Any, number: int) -> Any:
        """One column, as an array of its own."""

    def put(self, target: Any, at: int, source: Any, begin: int = 0, end: int | None = None) -> None:
        """Copies the columns begin … end-1 of `source` to the columns at … of `target`, another array."""

    def fill(self, row: Any, index: Any, value: float) -> None:
        """Writes the value wherever the index points."""

    def sums_up(self, number: Any, first: Any, second: Any, parent: Any, entries: int) -> Any:
        """Messages of cells to the entries of a table: see `min_sum`."""

    def sums_down(self, number: Any, first: Any, second: Any, parent: Any, table: Any) -> tuple[Any, Any]:
        """Messages back: for each cell the largest sum it is part of, and for each entry the best cell that writes it."""

    def best_whole(self, root: int, children: Any, first: Any, second: Any, from_child: Any) -> Any:
        """The cells of the best whole through a cell of the last bag: see `min_sum.follow`."""

    def solve_tree(self, diagonal: Any, off: Any, right: Any, least: Any, links: Any) -> Any:
        """The solution of linear equations whose graph is a tree of width 2: see `elimination`."""


class HostArrays:
    """Arrays of NumPy."""

    idle = None

    @property
    def here(self) -> "HostArrays":
        return self

    def send(self, array: np.ndarray) -> np.ndarray:
        return array

    def fetch(self, array: np.ndarray) -> np.ndarray:
        return array

    def empty(self, rows: int, count: int) -> np.ndarray:
        return np.empty((rows, count))

    def zeros(self, rows: int, count: int) -> np.ndarray:
        return np.zeros((rows, count))

    def numbers(self, count: int) -> np.ndarray:
        return np.arange(count, dtype=np.int64).view(np.float64)[None]

    def least(self, *rows: np.ndarray) -> list[tuple[float, int]]:
        numbers = [np.where(np.isnan(row[0]), np.inf, row[0]) for row in rows]
        places = [int(np.argmin(row)) for row in numbers]
        return [(float(row[at]), at) for row, at in zip(numbers, places, strict=True)]

    def least_column(self, row: np.ndarray, array: np.ndarray) -> tuple[float, np.ndarray]:
        (number, at), = self.least(row)
        return number, array[:, at].copy()

    def put_least(self, row: np.ndarray, array: np.ndarray, target: np.ndarray, at: int) -> None:
        target[0, at], target[0, at + 1:at + 1 + len(array)] = self.least_column(row, array)

    def lowest(self, row: np.ndarray, count: int, below: float = np.inf, ties: bool = False) -> tuple[np.ndarray, float]:
        index = np.flatnonzero(row[0] < below if below < np.inf else ~np.isnan(row[0]))
        numbers = row[0, index]
        if count < 1 or count > len(index):
            return index[:len(index) if count > 0 else 0], np.inf
        border = np.partition(numbers, count - 1)[count - 1]
        chosen = numbers <= border
        if not ties:  # the last of equal ones give way
            equal = np.flatnonzero(numbers == border)
            chosen[equal[len(equal) - (int(chosen.sum()) - count):]] = False
        return index[chosen], float(border) + 0.0

    def order(self, kinds: int, *rows: np.ndarray) -> list[tuple[np.ndarray, list[int]]]:
        numbers = [row[0].astype(np.int8) for row in rows]
        return [(np.argsort(row, kind="stable"), np.bincount(row, minlength=kinds).tolist()) for row in numbers]

    def gather(self, source: np.ndarray, index: np.ndarray, target: np.ndarray | None = None, at: int = 0) -> np.ndarray:
        if target is None:
            return np.take(source, index, axis=1)
        target[:, at:at + len(index)] = np.take(source, index, axis=1)
        return target

    def scatter(self, source: np.ndarray, row: np.ndarray, target: np.ndarray) -> None:
        target[:, row[0].view(np.int64)] = source

    def column(self, array: np.ndarray, number: int) -> np.ndarray:
        return array[:, number:number + 1].copy()

    def put(self, target: np.ndarray, at: int, source: np.ndarray, begin: int = 0, end: int | None = None) -> None:
        part = source[:, begin:end]
        target[:, at:at + part.shape[1]] = part

    def fill(self, row: np.ndarray, index: np.ndarray, value: float) -> None:
        row[0, index] = value

    def sums_up(self, number: np.ndarray, first: np.ndarray, second: np.ndarray, parent: np.ndarray, entries: int) -> np.ndarray:
        return min_sum.up(number, first, second, parent, entries)

    def sums_down(self, number: np.ndarray, first: np.ndarray, second: np.ndarray, parent: np.ndarray,
                  table: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return min_sum.down(number, first, second, parent, table)

    def best_whole(self, root: int, children: np.ndarray, first: np.ndarray, second: np.ndarray,
                   from_child: np.ndarray) -> np.ndarray:
        return min_sum.follow(root, children, first, second, from_child)

    def solve_tree(self, diagonal: np.ndarray, off: np.ndarray, right: np.ndarray, least: np.ndarray,
                   links: tuple[np.ndarray, ...]) -> np.ndarray:
        return elimination.solve(diagonal, off, right, least, links)
