"""The best combination of candidates for each variable, by dynamic programming over the tree of bags. Estimates only."""

import numpy as np

from infimum.engine.parts.chain.forms import Form
from infimum.engine.parts.chain.grid import TOP, Grid
from infimum.engine.parts.chain.kinds import Kind

FAR = 2.0**900  # instead of a value where there is none


class Tree:
    """The bags below each bag: what leads from its best cell to theirs."""

    def __init__(self, kinds: list[Kind]):
        bags = sum(len(kind.bags) for kind in kinds)
        self.arrays, self.children = kinds[0].evaluator.arrays.here, np.full((2, bags), bags, np.int32)
        for kind in kinds:
            for row, (numbers, _) in zip(self.children, kind.links, strict=False):
                row[kind.bags] = numbers

    def best(self, grid: Grid, number: np.ndarray, *tables: np.ndarray) -> tuple[float, list[np.ndarray]]:
        """(the least sum of minus these numbers of cells, one for each bag; for each table its entries for their slices, one for
        each variable)."""
        links = grid.first, grid.second, grid.parent
        sums = self.arrays.sums_up(number, *links, grid.entries)
        _, from_child = self.arrays.sums_down(number, *links, sums)
        return -float(sums[TOP]), self.path(grid, from_child, *tables)

    def path(self, grid: Grid, from_child: np.ndarray, *tables: np.ndarray) -> list[np.ndarray]:
        """The entries of the tables for the best cells."""
        numbers = self.arrays.best_whole(from_child[TOP], self.children, grid.first, grid.second, from_child)
        found = [np.empty(len(grid.slices.first) - 1) for _ in tables]
        for cells in grid.cells:
            _, local = cells.among(numbers[cells.kind.bags])
            for place in cells.kind.own:
                for row, table in zip(found, tables, strict=True):
                    row[cells.kind.variables[place]] = table[cells.ids[place, local]]
        return found


class Choice:
    """One of so many candidates for each variable."""

    def __init__(self, kinds: list[Kind], forms: list[Form], tree: Tree, n: int, count: int):
        self.tree, self.grid = tree, Grid(kinds, np.zeros(n), np.ones(n), count)
        self.parts = []
        for form in forms:
            mine = [self.grid.cells[number] for number in form.kinds]
            ids, at = np.concatenate([cells.ids for cells in mine], axis=1), np.concatenate([cells.at for cells in mine])
            bag = np.concatenate([cells.bag + offset for cells, offset in zip(mine, form.offsets, strict=False)])
            self.parts.append((form, ids, at, form.constants_of(bag)))

    def best(self, candidates: np.ndarray) -> tuple[float, np.ndarray]:
        """(the least value of a combination of the candidates (n, count), the combination); of equals the later ones."""
        table, number = candidates.reshape(-1), np.zeros(len(self.grid))
        for form, ids, at, constants in self.parts:
            value = form.values(table[ids], constants)
            number[at] = np.where(np.isfinite(value), -value, -FAR)
        value, (x,) = self.tree.best(self.grid, number, table)
        return value, x
