"""Nodes: what is searched of a function that scalars couple. A node is one slice of each scalar, with the cells that may hold a
minimiser for it."""

from copy import copy
from dataclasses import replace

import numpy as np

from infimum.chains.cell_kernels import AT_CENTRE, FACTS
from infimum.chains.grid import Grid, Slices
from infimum.chains.level import Level
from infimum.problem.unions import Unions
from infimum.support.lazy import dataclass


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """grid: cells of the variables, in this machine's memory, and one slice of each scalar, the last variables. f is not below
    `lower` wherever a minimiser may be among the points of these cells whose scalars lie in these slices. done: it need not be
    divided. reach: how far below the upper end of its slice a scalar's is divided at most; what matters of a logarithm is its
    exponential."""

    grid: Grid
    multipliers: np.ndarray
    reach: np.ndarray
    lower: float = -np.inf
    done: bool = False

    @property
    def scalars(self) -> int:
        return len(self.multipliers)

    @property
    def slices(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The ends of the slice of each scalar, and where it is divided."""
        slices, first = self.grid.slices, len(self.grid.slices) - self.scalars
        lo, hi = slices.lo[first:], slices.hi[first:]
        return lo, hi, np.maximum(slices.centre[first:], hi - self.reach)

    @property
    def used(self) -> np.ndarray:
        """Which slices the cells use."""
        used = np.zeros(len(self.grid.slices), bool)
        for cells in self.grid.cells:
            used[cells.ids] = True
        return used

    @property
    def unions(self) -> Unions:
        """The slices of the variables."""
        unions = self.grid.unions(self.used)
        n = len(unions) - self.scalars
        end = unions.starts[n]
        return Unions(unions.lo[:end], unions.hi[:end], unions.starts[:n + 1])

    def only(self, alive: np.ndarray) -> "Node":
        """The cells that are alive, and nothing halved."""
        grid = self.grid.copy()
        for cells in grid.cells:
            index = np.flatnonzero(alive[cells.begin:cells.begin + len(cells)])
            cells.ids, cells.bag = np.take(cells.ids, index, axis=1), np.take(cells.bag, index, axis=1)
        grid.link()
        return replace(self, grid=grid)

    def within(self, lo: np.ndarray, hi: np.ndarray) -> "Node":
        """The same cells, with other slices of the scalars."""
        slices, first, grid = self.grid.slices, len(self.grid.slices) - self.scalars, copy(self.grid)
        grid.slices = Slices(np.concatenate([slices.lo[:first], lo]), np.concatenate([slices.hi[:first], hi]), slices.first)
        return replace(self, grid=grid)

    def moved(self, by: np.ndarray) -> "Node":
        """With other multipliers."""
        return replace(self, multipliers=self.multipliers + by)

    # ---- dividing: no point of the node is lost
    def finer(self, most: int) -> "list[Node]":
        """One, with every slice of a variable halved; none if that would give more cells, or nothing can be halved."""
        grid, width, used = self.grid.copy(), np.zeros(len(self.grid.slices)), self.used
        width[len(width) - self.scalars:] = np.inf
        return [replace(self, grid=grid)] if grid.halved(np.ones(len(grid), np.int64), used, used, width, most) else []

    def by_scalar(self, losses: list[float]) -> "list[Node]":
        """Two, with the halves of the slice of a scalar, that with the greatest loss; none if no slice can be halved."""
        lo, hi, middle = self.slices
        inside = (lo < middle) & (middle < hi)
        k = int(np.argmax(np.where(inside, losses, -1.0)))
        if not inside[k]:
            return []
        below, above = hi.copy(), lo.copy()
        below[k] = above[k] = middle[k]
        return [self.within(lo, below), self.within(above, hi)]

    def by_sign(self) -> "list[Node]":
        """Two, in which the first scalar is -1 and 1: it has no other values."""
        lo, hi, _ = self.slices
        return [self.within(np.append(sign, lo[1:]), np.append(sign, hi[1:])) for sign in (-1.0, 1.0)]

    def by_variable(self) -> "list[Node]":
        """Two, with the slices of one variable below and above the widest space between any; where there is no space, below and
        above the middle one of the variable that has most slices; none if each has one."""
        unions = self.unions
        space = np.where(unions.variables[1:] == unions.variables[:-1], unions.lo[1:] - unions.hi[:-1], -np.inf)
        k = int(np.argmax(space)) if (space > 0).any() else -1
        if k < 0:
            most = int(np.argmax(unions.counts))
            if unions.counts[most] < 2:
                return []
            k = int(unions.starts[most] + unions.counts[most] // 2 - 1)
        above = np.zeros((2, len(self.grid)), bool)
        for cells in self.grid.cells:
            mine = cells.kind.variables[:, cells.bag[0]] == unions.variables[k]
            upper = self.grid.slices.lo[cells.ids] > unions.lo[k]
            above[:, cells.begin:cells.begin + len(cells)] = (mine & upper).any(axis=0), (mine & ~upper).any(axis=0)
        return [self.only(~side) for side in above]


def joined(parts: list[Unions]) -> Unions:
    """All intervals of all parts. Where they overlap, one is cut off where another one ends."""
    lo, hi, variable = (np.concatenate([getattr(part, name) for part in parts]) for name in ("lo", "hi", "variables"))
    order = np.lexsort((-hi, lo, variable))
    lo, hi, variable = lo[order], hi[order], variable[order]
    ends, rank = np.unique(hi, return_inverse=True)
    base = variable * len(ends)
    highest = np.maximum.accumulate(rank + base) - base  # end so far, of this variable
    before = np.where(np.append(True, variable[1:] != variable[:-1]), -np.inf, ends[np.append(0, highest[:-1])])
    keep = hi > before
    counts = np.bincount(variable[keep], minlength=len(parts[0]))
    return Unions(np.maximum(lo, before)[keep], hi[keep], np.concatenate([[0], np.cumsum(counts)]))


class NodeLevel(Level):
    """The cells of a node, their terms enclosed for all multipliers between two ends."""

    def __init__(self, node: Node, lower: np.ndarray, upper: np.ndarray, alive: np.ndarray, low: np.ndarray, high: np.ndarray):
        super().__init__(_with_multipliers(node.grid, lower, upper), low, high)
        self.alive = alive.copy()

    def _first_order(self) -> None:
        """Is another step: with multipliers that were chosen at will derivatives say nothing."""

    def discard_by_derivatives(self) -> None:
        """The first-order test, if the multipliers are enclosures of the derivatives by the scalars."""
        super()._first_order()

    # ---- estimates
    @property
    def at_centres(self) -> np.ndarray:
        """Minus the values of the terms at the centres of cells."""
        return -np.concatenate([found[FACTS][AT_CENTRE] for found in self.found])

    def largest_sum(self, number: np.ndarray) -> float:
        """Of these numbers, over all choices of cells that agree."""
        table = self._table()
        self.arrays.along("up", self.grid.segments, number, *self.grid.links, table)
        return self._sum_of_all(table)

    def path_of(self, number: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The path with the largest sum of these numbers: see `paths`."""
        values = -number
        _, _, from_child = self.best_cells([(values, cells.begin) for cells in self.grid.cells], "centres")
        path = self.path(from_child)
        slices = np.empty((len(self.low), 0), np.int64) if path is None else path[:, None]
        return self.grid.slices.centre[slices], self.grid.slices.rad[slices]

    def hulls(self, rows: list[np.ndarray]) -> np.ndarray:
        """The largest number in each bag, of the cells that are alive: `rows` has one for each cell, kind by kind."""
        hulls = []
        for cells, row in zip(self.grid.cells, rows, strict=True):
            alive = np.flatnonzero(self.alive[cells.begin:cells.begin + len(cells)])
            hulls.append(np.full(len(cells.kind.bags), -np.inf))
            np.maximum.at(hulls[-1], cells.bag[0, alive], row[alive])
        return np.concatenate(hulls)

    def spread(self, number: np.ndarray) -> float:
        """How far apart numbers of cells of one bag are that are alive, the sum over all bags."""
        rows = [number[cells.begin:cells.begin + len(cells)] for cells in self.grid.cells]
        return float((self.hulls(rows) + self.hulls([-row for row in rows])).sum())


def _with_multipliers(grid: Grid, lower: np.ndarray, upper: np.ndarray) -> Grid:
    """The same cells, with all numbers between these ends for λ among the constants: see `structure/coupling_scalars.py` for the
    marks."""
    new = copy(grid)
    new.constants = []
    for kind in grid.kinds:
        m, constants = len(kind.constants) // 2, np.array(kind.constants, order="C")
        for row in np.flatnonzero(np.isnan(constants[:m]).all(axis=1)):
            scalar = int(constants[m + row, 0])
            constants[row], constants[m + row] = lower[scalar], upper[scalar]
        new.constants.append(constants)
    return new
