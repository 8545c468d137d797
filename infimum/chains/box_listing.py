"""The boxes that a chain leaves, one by one, where they are few.

What is left of each variable are intervals; of their combinations only those can hold a minimiser that hold a cell of every bag.
A pair of variables with two minimisers has two intervals for each, and two of the four combinations.
"""

from typing import Any

import numpy as np

from infimum.chains.bag_kinds import BagKind
from infimum.chains.grid import Grid
from infimum.problem.unions import Unions
from infimum.search.policy.bounds import CHAIN as POLICY


def boxes_of(grid: Grid, alive: Any, unions: Unions) -> tuple[np.ndarray, np.ndarray] | None:
    """(lo, hi), each (n, N): the combinations of the intervals of `unions`, each of which is made of slices, that hold a cell of
    every bag that is alive. None if there are too many. A minimiser lies in one slice of each variable such that all bags have
    a cell of these slices."""
    if not 1 < unions.count <= POLICY.most_combinations or len(grid) > POLICY.listed_most_cells:
        return None
    living = grid.arrays.fetch(alive) != 0
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
        ids, bag = (grid.arrays.fetch(rows) for rows in (cells.ids, cells.bag))
        mine = living[cells.begin:cells.begin + len(cells)]
        possible &= _possible(cells.kind, ids[:, mine], bag[0, mine], place, row, counts, chosen)
    if not possible.any():
        return None
    index = np.zeros((len(counts), int(possible.sum())), np.int64)
    index[several] = chosen[:, possible]
    at = index + starts[:, None]
    return unions.lo[at], unions.hi[at]


def _possible(kind: BagKind, ids: np.ndarray, bags: np.ndarray, place: np.ndarray, row: np.ndarray, counts: np.ndarray,
              chosen: np.ndarray) -> np.ndarray:
    """Which combinations hold one of these cells for each bag."""
    found = np.ones(chosen.shape[1], bool)
    for bag in np.flatnonzero((row[kind.variables] >= 0).any(axis=0)) if kind.k else ():
        variables = kind.variables[:, bag]
        held = np.zeros(tuple(counts[variables]), bool)
        held[tuple(place[ids[:, bags == bag]])] = True
        found &= held[tuple(chosen[row[v]] if row[v] >= 0 else 0 for v in variables)]
    return found
