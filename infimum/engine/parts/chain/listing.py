"""The boxes that a chain leaves, one by one, where they are few.

What is left of each variable are intervals; of their combinations only those can hold a minimiser that hold a cell of every bag.
A pair of variables with two minimisers has two intervals for each, and two of the four combinations.
"""

import numpy as np

from infimum.engine.parts.chain.grid import Cells, Grid
from infimum.unions import Unions

_MOST = 4096  # combinations that are looked at


def boxes_of(grid: Grid, alive: np.ndarray, unions: Unions) -> tuple[np.ndarray, np.ndarray] | None:
    """(lo, hi), each (n, N): the combinations of the intervals of `unions`, each of which is made of slices, that hold a cell of
    every bag that is alive. None if there are too many. A minimiser lies in one slice of each variable such that all bags have
    a cell of these slices."""
    if not 1 < unions.count <= _MOST:
        return None
    counts, starts = unions.counts, unions.starts[:-1]
    chosen = np.stack(np.unravel_index(np.arange(unions.count), tuple(counts[counts > 1])))  # of variables with several
    several = np.flatnonzero(counts > 1)
    row = np.full(len(counts), -1)
    row[several] = np.arange(len(several))
    variable = grid.slices.variable
    place = np.zeros(len(grid.slices), np.int64)  # of the interval that holds each slice, among those of its variable
    for v in several:
        mine = np.flatnonzero(variable == v)
        ends = unions.lo[starts[v]:starts[v] + counts[v]]
        place[mine] = np.maximum(np.searchsorted(ends, grid.slices.lo[mine], side="right") - 1, 0)
    possible = np.ones(unions.count, bool)
    for cells in grid.cells:
        possible &= _possible(cells, alive, place, row, counts, chosen)
    if not possible.any():
        return None
    index = np.zeros((len(counts), int(possible.sum())), np.int64)
    index[several] = chosen[:, possible]
    at = index + starts[:, None]
    return unions.lo[at], unions.hi[at]


def _possible(cells: Cells, alive: np.ndarray, place: np.ndarray, row: np.ndarray, counts: np.ndarray,
              chosen: np.ndarray) -> np.ndarray:
    """Which combinations hold a cell of each of these bags."""
    kind, found = cells.kind, np.ones(chosen.shape[1], bool)
    living = alive[cells.at]
    for bag in np.flatnonzero((row[kind.variables] >= 0).any(axis=0)) if kind.k else ():
        variables = kind.variables[:, bag]
        held = np.zeros(tuple(counts[variables]), bool)
        held[tuple(place[cells.ids[:, living & (cells.bag == bag)]])] = True
        found &= held[tuple(chosen[row[v]] if row[v] >= 0 else 0 for v in variables)]
    return found
