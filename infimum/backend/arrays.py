"""Where a backend keeps the arrays it works on, and what is asked of them beside kernels: whatever looks across the boxes.

A kernel sees one box. To take the lowest regions, to drop those that are ruled out, to find the best of all, one has to look
across. The order of every answer is part of its meaning, so that it has the same bits on every machine: `HostArrays` defines it.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from infimum.linear_algebra import dense
from infimum.support.lazy import LazyModule

if TYPE_CHECKING:
    from infimum.backend import host_loops
    from infimum.linear_algebra import sparse_elimination
else:  # for recurrences and for sparse systems alone
    host_loops, sparse_elimination = LazyModule("backend.host_loops"), LazyModule("linear_algebra.sparse_elimination")


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

    def whole_numbers(self, rows: int, count: int) -> Any:
        """Room for an array of whole numbers."""

    def filled(self, count: int, word: int, zero: int | None = None) -> Any:
        """So many whole numbers, all equal, but for a 0 at that place."""

    def scan(self, numbers: Any) -> int:
        """Each of the whole numbers becomes the sum of those before it; the last one must be 0 and becomes the sum of all, which
        is given back."""

    def total(self, numbers: Any) -> int:
        """The sum of whole numbers."""

    def each(self, name: str, total: int, *arguments: Any) -> None:
        """The loop of that name in `cell_loops` for the items 0 … total-1. Arguments: arrays, an array with the place where it is
        to begin, as a pair, or whole numbers."""

    def along(self, name: str, segments: np.ndarray, *arguments: Any, backwards: bool = False) -> None:
        """The same for the items of these segments, (m, 2) here, one segment after another."""

    def solve_tree(self, diagonal: Any, off: Any, right: Any, least: Any, links: Any) -> Any:
        """The solution of linear equations whose graph is narrow: see `elimination`."""

    def factored(self, diagonal: Any, off: Any, links: Any) -> Any:
        """The factors of such a matrix."""

    def inverse_diagonal(self, known: Any, links: Any) -> Any:
        """The diagonal of its inverse, from its factors."""

    def solve_symmetric(self, matrix: Any, right: Any, positive: int, first: Any = None, factor: float = 1.0,
                        tries: int = 1) -> tuple[Any, Any, Any]:
        """The solutions of many small symmetric systems: see `dense`."""


class HostArrays:
    """Arrays of NumPy, and the number of threads that go through long ones."""

    idle = None

    def __init__(self, threads: int = 1):
        self.threads = threads

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

    def whole_numbers(self, rows: int, count: int) -> np.ndarray:
        return np.empty((rows, count), np.int64)

    def filled(self, count: int, word: int, zero: int | None = None) -> np.ndarray:
        numbers = np.full(count, word, np.int64)
        if zero is not None:
            numbers[zero] = 0
        return numbers

    def scan(self, numbers: np.ndarray) -> int:
        numbers[1:] = np.cumsum(numbers[:-1])
        numbers[0] = 0
        return int(numbers[-1])

    def total(self, numbers: np.ndarray) -> int:
        return int(numbers.sum())

    def each(self, name: str, total: int, *arguments: Any) -> None:
        if total:
            host_loops.each(name, total, arguments, self.threads)

    def along(self, name: str, segments: np.ndarray, *arguments: Any, backwards: bool = False) -> None:
        host_loops.along(name, segments, arguments, backwards)

    def solve_tree(self, diagonal: np.ndarray, off: np.ndarray, right: np.ndarray, least: np.ndarray,
                   links: np.ndarray) -> np.ndarray:
        return sparse_elimination.solve(diagonal, off, right, least, links)

    def factored(self, diagonal: np.ndarray, off: np.ndarray, links: np.ndarray) -> "sparse_elimination.SparseFactors":
        return sparse_elimination.factored(diagonal, off, links)

    def inverse_diagonal(self, known: "sparse_elimination.SparseFactors", links: np.ndarray) -> np.ndarray:
        return sparse_elimination.inverse_diagonal(known, links)

    def solve_symmetric(self, matrix: np.ndarray, right: np.ndarray, positive: int, first: np.ndarray | None = None,
                        factor: float = 1.0, tries: int = 1) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return dense.solve(matrix, right, positive, first, factor, tries)
