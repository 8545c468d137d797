"""The best combination of candidates for each variable, by dynamic programming over the tree of bags. Estimates only."""

import numpy as np

from infimum.engine.parts.chain.grid import TOP, Grid
from infimum.engine.parts.chain.kinds import Kind

FAR = 2.0**900  # instead of a value where there is none


class Tree:
    """The bags as messages go: where a path of cells comes from."""

    def __init__(self, kinds: list[Kind]):
        self.bags = sum(len(kind.bags) for kind in kinds)
        self.children = np.full((2, self.bags), self.bags, np.int32)
        for kind in kinds:
            for row, (numbers, _) in zip(self.children, kind.links, strict=False):
                row[kind.bags] = numbers

    def path(self, grid: Grid, root: int, from_child: np.ndarray, *tables: np.ndarray) -> list[np.ndarray]:
        """The numbers that these tables have of the slices of the best cells below a cell of the last bag, variable by variable."""
        arrays = grid.kinds[0].evaluator.arrays.here
        numbers = arrays.best_whole(root, self.children, grid.first, grid.second, from_child)
        found = [np.empty(len(grid.slices.first) - 1) for _ in tables]
        for cells in grid.cells:
            _, local = cells.among(numbers[cells.kind.bags])
            for place, variables in enumerate(cells.kind.variables):
                for row, table in zip(found, tables, strict=True):
                    row[variables] = table[cells.ids[place, local]]
        return found


class Choice:
    """One of so many candidates for each variable."""

    def __init__(self, kinds: list[Kind], tree: Tree, n: int, count: int):
        self.tree, self.arrays = tree, kinds[0].evaluator.arrays.here
        self.grid = Grid(kinds, np.zeros(n), np.ones(n), count)

    def best(self, candidates: np.ndarray) -> np.ndarray:
        """The combination (n,) with the least value, of candidates (n, count); of equals the later ones."""
        grid, table = self.grid, candidates.reshape(-1)
        number = np.empty(len(grid))
        for cells in grid.cells:
            value = cells.kind.at_points(table[cells.ids], cells.bag)
            number[cells.at] = np.where(np.isfinite(value), -value, -FAR)
        sums = self.arrays.sums_up(number, grid.first, grid.second, grid.parent, grid.entries)
        _, from_child = self.arrays.sums_down(number, grid.first, grid.second, grid.parent, sums)
        return self.tree.path(grid, from_child[TOP], from_child, table)[0]
