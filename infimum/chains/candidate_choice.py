"""The best combination of candidates for each variable, by dynamic programming over the tree of bags. Estimates only."""

import numpy as np

from infimum.chains.bag_forms import BagForm
from infimum.chains.bag_kinds import BagKind
from infimum.chains.grid import Grid
from infimum.chains.level import Level


class CandidateChoice:
    """One of several candidates for each of n variables: each is a slice of a grid."""

    def __init__(self, kinds: list[BagKind], forms: list[BagForm], n: int, count: int):
        self.grid = Grid(kinds, np.zeros(n), np.ones(n), kinds[0].evaluator.host_arrays, count)
        self.level, self.parts = Level(self.grid, np.zeros(n), np.ones(n)), []
        for form in forms:
            mine = [self.grid.cells[number] for number in form.kinds]
            ids = np.concatenate([cells.ids for cells in mine], axis=1)
            bag = np.concatenate([cells.bag[0] + offset for cells, offset in zip(mine, form.offsets, strict=False)])
            self.parts.append((form, ids, form.constants_of(bag)))

    def best(self, candidates: np.ndarray) -> tuple[float, np.ndarray]:
        """(the least value of a combination of the candidates (n, count), the combination); of equals the later ones."""
        table, rows = candidates.reshape(-1), [np.zeros((1, len(cells))) for cells in self.grid.cells]
        for form, ids, constants in self.parts:
            values, begin = form.values(table[ids], constants), 0
            values[~np.isfinite(values)] = np.nan
            for kind in form.kinds:
                rows[kind], begin = (values, begin), begin + len(self.grid.cells[kind])
        value, _, from_child = self.level.best_cells(rows, "centres")
        return value, table[self.level.path(from_child)]
