"""Sparse equations in the order in which they can be solved, block by block, and the inverses of these blocks."""

from functools import cached_property
from typing import NamedTuple

import numpy as np

from infimum.linear_algebra import equation_blocks
from infimum.linear_algebra.interval_matrices import Interval, exactly, matrix_product, minus, size, times
from infimum.linear_algebra.lane_algebra import inverted, total

LARGEST_BLOCK = 256  # equations of a block
_SWEEPS = 4          # of equations for radii, where blocks are larger than one


class SparsityPattern(NamedTuple):
    """Where the matrix of derivatives may differ from 0, by numbers of equations and of variables, row after row."""

    rows: np.ndarray
    columns: np.ndarray

    def at(self, these: np.ndarray) -> "SparsityPattern":
        return SparsityPattern(self.rows[these], self.columns[these])


class _Block(NamedTuple):
    """Consecutive rows of a basis. `within` are its places among those of the basis, which lie at (row, column) of a small matrix
    of its rows and of all `columns` that they have, its own ones first."""

    rows: np.ndarray
    within: np.ndarray
    row: np.ndarray
    column: np.ndarray
    columns: np.ndarray

    def matrix(self, values: np.ndarray) -> np.ndarray:
        found = np.zeros((len(self.rows), len(self.columns)))
        found[self.row, self.column] = values[self.within]
        return found


class SparseBasis:
    """`rows` are equations and `variables` those that belong to them, block by block: a block reads variables of its own and of
    blocks before it, beside others that are held. `places` are numbered in this order, and `used` says which of all places they
    are."""

    def __init__(self, every: SparsityPattern, order: list[list[int]], column: dict[int, int]):
        self.rows = np.array([k for block in order for k in block], np.intp)
        self.variables = np.array([column[k] for k in self.rows.tolist()], np.intp)
        by_row, by_column = (np.full(1 + numbers.max(initial=-1), -1) for numbers in every)
        by_row[self.rows], by_column[self.variables] = np.arange(len(self.rows)), np.arange(len(self.rows))
        used = np.flatnonzero((by_row[every.rows] >= 0) & (by_column[every.columns] >= 0))
        places = SparsityPattern(by_row[every.rows[used]], by_column[every.columns[used]])
        self.used = used[np.argsort(places.rows, kind="stable")]
        self.places = SparsityPattern(by_row[every.rows[self.used]], by_column[every.columns[self.used]])
        self.begins = np.searchsorted(self.places.rows, np.arange(len(self.rows) + 1)).tolist()
        sizes = [len(block) for block in order]
        ends = np.cumsum([0, *sizes]).tolist()
        self.alone = np.repeat(np.array(sizes, np.intp) == 1, sizes)
        self.larger = [self._block(begin, end) for begin, end in zip(ends[:-1], ends[1:], strict=True) if end - begin > 1]
        self.sweeps = _SWEEPS if self.larger else 1  # of what radii satisfy
        self.values = self.diagonal = np.zeros(0)
        self.inverses: list[np.ndarray] = []

    def _block(self, begin: int, end: int) -> _Block:
        within = np.arange(self.begins[begin], self.begins[end])
        columns = self.places.columns[within]
        every = np.concatenate([np.arange(begin, end), np.unique(columns[columns < begin])])
        at = {q: k for k, q in enumerate(every.tolist())}
        return _Block(np.arange(begin, end), within, self.places.rows[within] - begin,
                      np.array([at[q] for q in columns.tolist()], np.intp), every)

    @cached_property
    def on_diagonal(self) -> np.ndarray:
        return self.places.rows == self.places.columns

    def invert(self, values: np.ndarray) -> bool:
        """Takes the derivatives at all places; is every block regular?"""
        self.values, diagonal = values[self.used], np.zeros(len(self.rows))
        diagonal[self.places.rows[self.on_diagonal]] = self.values[self.on_diagonal]
        self.diagonal = 1 / np.where(self.alone, diagonal, 1.0)
        found = [inverted(block.matrix(self.values)[:, :len(block.rows)]) for block in self.larger]
        self.inverses = [inverse for inverse in found if inverse is not None]
        return len(found) == len(self.inverses) and bool(np.isfinite(self.diagonal).all())

    def solve(self, right: np.ndarray) -> np.ndarray:
        """About the solution, by forward substitution."""
        found, inverse, values = [0.0] * len(right), self.diagonal.tolist(), self.values.tolist()
        right, columns, at = right.tolist(), self.places.columns.tolist(), 0
        larger = iter(zip(self.larger, self.inverses, strict=True))
        while at < len(right):
            block, matrix = (None, None) if self.alone[at] else next(larger)
            end = at + 1 if block is None else at + len(block.rows)
            rest = [right[p] - sum([values[k] * found[columns[k]] for k in range(self.begins[p], self.begins[p + 1])])
                    for p in range(at, end)]
            found[at:end] = [rest[0] * inverse[at]] if block is None else total((matrix * np.array(rest)).T).tolist()
            at = end
        return np.array(found)

    def solve_transposed(self, right: np.ndarray) -> np.ndarray:
        """About the solution with the transposed matrix, backward."""
        found, inverse, values = [0.0] * len(right), self.diagonal.tolist(), self.values.tolist()
        right, columns, end = right.tolist(), self.places.columns.tolist(), len(right)
        larger = iter(zip(self.larger[::-1], self.inverses[::-1], strict=True))
        while end:
            block, matrix = (None, None) if self.alone[end - 1] else next(larger)
            at = end - 1 if block is None else end - len(block.rows)
            rest = np.array(right[at:end])
            found[at:end] = [right[at] * inverse[at]] if block is None else total(matrix * rest[:, None]).tolist()
            for p in range(at, end):
                for k in range(self.begins[p], self.begins[p + 1]):
                    right[columns[k]] -= values[k] * found[p]
            end = at
        return np.array(found)

    # ---- outward
    def preconditioned(self, vector: Interval) -> Interval:
        """Y times a vector, Y the inverses of the blocks on the diagonal."""
        lo, hi = times(exactly(self.diagonal), vector)
        for block, inverse in zip(self.larger, self.inverses, strict=True):
            part = matrix_product(exactly(inverse[..., None]), tuple(end[block.rows, None, None] for end in vector))
            lo[block.rows], hi[block.rows] = (end[:, 0, 0] for end in part)
        return lo, hi

    def remainder(self, derivatives: Interval) -> tuple[SparsityPattern, np.ndarray]:
        """Upper bounds of |I - Y H| for all H between these derivatives at all places."""
        mine = tuple(end[self.used] for end in derivatives)
        product = times(exactly(self.diagonal[self.places.rows]), mine)
        rest = minus(exactly(np.where(self.on_diagonal, 1.0, 0.0)), product)
        alone = self.alone[self.places.rows]
        found = [(self.places.at(np.flatnonzero(alone)), size(rest)[alone])]
        for block, inverse in zip(self.larger, self.inverses, strict=True):
            matrix = tuple(block.matrix(end)[..., None] for end in mine)
            product = matrix_product(exactly(inverse[..., None]), matrix)
            unit = np.eye(len(block.rows), len(block.columns))[..., None]
            rest = size(minus(exactly(unit), product))[..., 0]
            row, column = np.indices(rest.shape)
            found.append((SparsityPattern(block.rows[row.ravel()], block.columns[column.ravel()]), rest.ravel()))
        return (SparsityPattern(*(np.concatenate([getattr(places, name) for places, _ in found])
                                  for name in SparsityPattern._fields)),
                np.concatenate([numbers for _, numbers in found]))


def basis_of(places: SparsityPattern, scaled: np.ndarray) -> SparseBasis | None:
    """Independent rows, in variables with large elements; None where a block is too large. The scaled derivatives are 0 where a
    variable is held."""
    rows: dict[int, equation_blocks.SparseRow] = {}
    for k, j, value in zip(places.rows.tolist(), places.columns.tolist(), scaled.tolist(), strict=True):
        rows.setdefault(k, {})[j] = value
    found = equation_blocks.pivots(rows)
    columns = set(found.values())
    reads = {k: [j for j in rows[k] if j in columns] for k in found}
    owner = equation_blocks.matched({k: [j for j in reads[k] if rows[k][j] != 0] for k in reads}, found)
    order = equation_blocks.blocks(reads, owner)
    if max(map(len, order), default=0) > LARGEST_BLOCK:
        return None
    return SparseBasis(places, order, {k: j for j, k in owner.items()})


def radii(places: SparsityPattern, rest: np.ndarray, least: np.ndarray, unit: np.ndarray, spare: float,
          sweeps: int) -> np.ndarray:
    """About the least r with r >= least + 2 unit + rest (r + unit), and a little more, row by row; infinite where there is
    none."""
    order, found = np.argsort(places.rows, kind="stable"), least.tolist()
    ends = np.searchsorted(places.rows[order], np.arange(len(least) + 1)).tolist()
    columns, rest, least, unit = (a.tolist() for a in (places.columns[order], rest[order], least, unit))
    for _ in range(sweeps):
        for p, (begin, end) in enumerate(zip(ends[:-1], ends[1:], strict=True)):
            own, others = 0.0, least[p] + 2 * unit[p]
            for k in range(begin, end):
                q = columns[k]
                if q == p:
                    own, others = rest[k], others + rest[k] * unit[q]
                else:
                    others += rest[k] * (found[q] + unit[q])
            found[p] = (1 + spare) * others / (1 - own) if own < 1 else np.inf
    return np.array(found)
