"""Sums of small terms that a scalar couples, such as a norm or a mean of all variables: proved slice by slice of the scalar.

With s = G(x) the function is F(x, s), a sum of small terms if s is taken for a variable. On a slice S of s, and for any number λ,
dynamic programming bounds F(x, s) + λ (G(x) - s) from below over all x and all s of S: at points with G(x) = s that is f. A
*node* is a slice of each scalar with the cells that may hold a minimiser for it. A cell is gone when it is gone in every node;
their slices cover all values of the scalars.

λ is the multiplier of the constraint G(x) = s, chosen to make the bound high. Where several separate configurations are left, the
best multiplier leaves a gap between a bound and f that no finer slices close; nodes are then divided between two intervals of a
variable.
"""

import math
from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import dataclass, replace
from itertools import compress

import numpy as np

from infimum.engine.goal import Goal
from infimum.engine.parts.chain.bags import Bag, bags_of
from infimum.engine.parts.chain.chain import Chain
from infimum.engine.parts.chain.grid import TOP, Grid, Slices, cells_at_first
from infimum.engine.parts.chain.kinds import Kind, kinds_of
from infimum.engine.parts.chain.level import Level
from infimum.engine.points.incumbent import Incumbent
from infimum.evaluate import Evaluator
from infimum.expr.scalar import coupling_of
from infimum.expr.terms import Family
from infimum.lower.cells import AT_CENTRE, FACTS, FROM, TO
from infimum.unions import Unions, widths

_LEAST = 4             # variables: fewer are one term
_MOST = 1 << 22        # cells of all nodes
_BYTES = 160           # that a cell takes
_FORMS, _TERMS = 12, 16  # as in chains
_TRIES = 3             # multipliers that a node is bounded with, each from the one before
_STEPS, _SMALLEST = 24, 2.0**-12  # of a search for a multiplier; of the size of its first step
_WORTH = 0.1           # of the gap, that a better multiplier must gain
_DUAL = 0.25           # of the gap, less than which finer slices would gain
_SHARE = 0.25          # of what finer slices of one kind would gain, that those of the other must gain to be wanted too
_NODES = 4096
_SHRUNK, _IN, _FEW = 0.9, 8, 64  # to this part the gap must shrink in so many rounds, if there are so many nodes and more
_HUGE = 2.0**900       # derivatives beyond that are not added
_FAR = 2.0**900        # instead of a value where there is none
_LOOKS, _LOOKED_AT = 8, 4  # multipliers of which points are looked for; in so many nodes of a round
_STARTS = 4


def coupled_of(evaluator: Evaluator, box: tuple[np.ndarray, np.ndarray], goal: Goal, incumbent: Incumbent,
               memory_limit: float | None = None, max_boxes: float | None = None) -> "Coupled | None":
    """The search, if the function has the structure, the box is bounded, and the limits of bytes and cells let it begin."""
    n, (lo, hi) = evaluator.n, (end[:, 0] for end in box)
    if n < _LEAST or not np.isfinite(widths(lo, hi)).all():
        return None
    coupling = coupling_of(evaluator.f, n)
    if coupling is None or len(coupling.families) > _FORMS:
        return None
    families, scalars = coupling.families, range(n, n + len(coupling.scalars))
    bags = bags_of([family.variables[(family.variables < n).all(axis=1)] for family in families], n)
    if bags is None:
        return None
    bags = _bags_with(bags, families, tuple(scalars))
    if max(len(bag.terms) for bag in bags) > _TERMS:
        return None
    kinds = kinds_of(bags, families, evaluator.backend)
    most = min(_MOST, np.inf if memory_limit is None else memory_limit / _BYTES)
    if len(kinds) > _FORMS or cells_at_first(kinds, len(scalars)) > most:
        return None
    known = [Evaluator(s, n, evaluator.backend).value(lo, hi) for s in coupling.scalars]
    ends = np.array([[float(end) for end in (s.lo, s.hi)] for s in known]).T
    if not np.isfinite([*ends, widths(*ends)]).all() or (coupling.compares and not all(s.defined for s in known)):
        return None
    grid = Grid(kinds, np.concatenate([lo, ends[0]]), np.concatenate([hi, ends[0]]))
    node = _Node(_with_scalars(grid, *ends), np.zeros(len(scalars)), -np.inf)
    return Coupled(node, box, goal, incumbent, most, np.inf if max_boxes is None else max_boxes)


def _bags_with(bags: list[Bag], families: list[Family], scalars: tuple[int, ...]) -> list[Bag]:
    """All bags share the scalars. Terms that read nothing else are a bag of their own, the root: they may be smooth where others
    are not."""
    alone = [all(v in scalars for v in families[family].variables[:, 0]) for family, _ in bags[-1].terms]
    for bag in bags:
        bag.variables, bag.shared = bag.variables + scalars, bag.shared + scalars
    root = Bag(scalars, (), list(compress(bags[-1].terms, alone)), [len(bags) - 1])
    bags[-1].terms = [term for term, its in zip(bags[-1].terms, alone, strict=True) if not its]
    return [*bags, root]


@dataclass(frozen=True, slots=True, eq=False)
class _Node:
    """grid: cells of the variables and of one slice of each scalar. f is not below `lower` at points of these cells with scalars
    in these slices."""

    grid: Grid
    multipliers: np.ndarray
    lower: float
    done: bool = False


class CoupledLevel(Level):
    """Cells of a node."""

    def _first_order(self) -> None:
        """Derivatives with λ say nothing: `by_derivatives` has those that do."""

    def by_derivatives(self) -> None:
        """Drops cells on which the derivative by a variable has a strict sign, where λ is an interval that holds the derivative
        by the scalar at every minimiser."""
        super()._first_order()

    def sums_up(self, number: np.ndarray) -> float:
        """The largest sum of these numbers over a choice of cells that agree."""
        grid = self.grid
        return float(self.arrays.sums_up(number, grid.first, grid.second, grid.parent, grid.entries)[TOP])

    def paths_of(self, number: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray]:
        """`paths`, with these numbers instead of the values at centres."""
        grid, other = self.grid, copy(self)
        number = np.where(self.alive, np.where(number > -np.inf, number, -_FAR), -np.inf)
        table = self.arrays.sums_up(number, grid.first, grid.second, grid.parent, grid.entries)
        other.through, other.from_child = self.arrays.sums_down(number, grid.first, grid.second, grid.parent, table)
        return other.paths(most)


class Coupled(Chain):
    """A search of the box (n, 1), as chains are."""

    def __init__(self, node: _Node, box: tuple[np.ndarray, np.ndarray], goal: Goal, incumbent: Incumbent,
                 most: int = _MOST, max_boxes: float = np.inf):
        super().__init__(node.grid, box, goal, incumbent, most, max_boxes)
        self.n, self.scalars = len(self.low), len(node.multipliers)
        never = np.full(self.scalars, np.inf)  # no slice of a scalar is dropped by a derivative
        self.ends = np.concatenate([self.low, never]), np.concatenate([self.high, -never])
        self.nodes, self.counts = [node], []

    def steps(self) -> Iterator[None]:
        """The work, in rounds over all nodes, until the goal is met, nothing is left, or it no longer pays."""
        while True:
            waiting, left = sorted(self.nodes, key=lambda node: node.lower), []
            for k, node in enumerate(waiting):
                if node.done or self.evaluations >= self.max_boxes:
                    left.append(node)
                elif node.lower <= self.incumbent.upper:
                    room = self.most - _cells(waiting[k:]) - _cells(left)
                    left += yield from self._divided(node, room, k < _LOOKED_AT)
            left = [node for node in left if node.lower <= self.incumbent.upper]
            self.nodes = left
            if not left:
                self.empty = True
                return
            self.lower = max(self.lower, min(node.lower for node in left))
            self.unions = _joined([_of_variables(node, self.n) for node in left])
            self.levels.append((self.incumbent.upper - self.lower, _cells(left)))
            yield
            if self._is_done() or self.evaluations >= self.max_boxes or all(node.done for node in left) or not self._pays():
                return

    def _pays(self) -> bool:
        """Has the gap shrunk in the last rounds, or are there not many more nodes?"""
        self.counts.append(len(self.nodes))
        if len(self.counts) <= _IN:
            return True
        shrunk = self.levels[-1][0] < _SHRUNK * self.levels[-1 - _IN][0]
        return len(self.nodes) <= _NODES and (shrunk or len(self.nodes) <= max(_FEW, self.counts[-1 - _IN]))

    # ---- one node
    def _divided(self, node: _Node, room: int, looks: bool) -> Iterator[None]:
        """The nodes that take its place: none if it holds no minimiser. `looks`: for points too."""
        alive, best, gain, hope = np.ones(len(node.grid), bool), None, np.inf, None
        for _ in range(_TRIES):
            level = yield from self._level(node, alive)
            self._improve(*(rows[:self.n] for rows in level.paths(_STARTS)))
            yield from level.discard(self.incumbent.upper)
            yield from level.discard_by_slopes(self.incumbent.upper)
            alive, bound = level.alive, level.lower
            if level.empty or bound > self.incumbent.upper:
                return []
            if best is not None and not bound > best[1].lower:
                best[1].alive = alive
                node, gain = replace(node, multipliers=(node.multipliers + best[0].multipliers) / 2), np.inf
                continue
            best = replace(node, lower=max(node.lower, bound)), level
            ends = self._by_scalars(node, level)
            if ends is not None:
                total = yield from self._level(node, alive, *ends)
                total.by_derivatives()
                level.alive = alive = total.alive
                if total.empty:
                    return []
            if gain < _WORTH * (self.incumbent.upper - bound):
                break
            values, changes = yield from self._at_centres(node, level)
            if looks:
                self._look_for_points(node, level, ends, values, changes)
            node, gain, hope = self._better_multipliers(node, level, ends, values, changes)
            if not gain > 0:
                break
        return (yield from self._parts(*best, hope, room))

    def _level(self, node: _Node, alive: np.ndarray, lower: np.ndarray | None = None, upper: np.ndarray | None = None
               ) -> Iterator[None]:
        """The terms of a node on its cells, with its multipliers, or all numbers between two ends for them."""
        ends = (node.multipliers, node.multipliers) if lower is None else (lower, upper)
        level = CoupledLevel(_with_multipliers(node.grid, *ends), *self.ends)
        level.alive = alive.copy()
        yield from level.enclose()
        self.evaluations += len(node.grid)
        return level

    def _by_scalars(self, node: _Node, level: Level) -> tuple[np.ndarray, np.ndarray] | None:
        """(lower, upper) ends of the derivatives of F by each scalar, wherever a minimiser may be; None if there is no bound."""
        ends = np.empty((2, self.scalars))
        for k in range(self.scalars):
            parts = []
            for cells, found in zip(level.grid.cells, level.found, strict=True):
                mine, place = np.flatnonzero(level.alive[cells.at]), cells.kind.k - self.scalars + k
                hulls = np.full((2, len(cells.kind.bags)), -np.inf)
                np.maximum.at(hulls[0], cells.bag[mine], -found[FROM][place, mine])
                np.maximum.at(hulls[1], cells.bag[mine], found[TO][place, mine])
                parts.append(hulls)
            rows = np.concatenate(parts, axis=1)
            if not (np.abs(rows) < _HUGE).all():
                return None
            nlo, hi = (math.fsum([*row.tolist(), sign * node.multipliers[k]]) for row, sign in zip(rows, (-1.0, 1.0), strict=True))
            ends[:, k] = -np.nextafter(nlo, np.inf), np.nextafter(hi, np.inf)
        return ends[0], ends[1]

    def _at_centres(self, node: _Node, level: Level) -> Iterator[None]:
        """(minus the values at the centres of cells; what is added to them when a multiplier grows by 1): estimates."""
        values, changes = _at_centres(level), []
        for k in range(self.scalars):
            by = max(1.0, abs(node.multipliers[k]))
            other = yield from self._level(replace(node, multipliers=_moved(node.multipliers, k, by)), level.alive)
            change = (_at_centres(other) - values) / by
            changes.append(np.where(np.isfinite(change), change, 0.0))
        return values, np.array(changes)

    def _look_for_points(self, node: _Node, level: Level, ends: tuple[np.ndarray, np.ndarray] | None, values: np.ndarray,
                         changes: np.ndarray) -> None:
        """A minimiser of f is a stationary point of F + λ G, where λ is the derivative by the scalar there."""
        if ends is None:
            return
        for share in np.arange(_LOOKS + 1) / _LOOKS:
            moves = ends[0] * (1 - share) + ends[1] * share - node.multipliers
            self._improve(*(rows[:self.n] for rows in level.paths_of(values + moves @ changes, 1)))

    def _better_multipliers(self, node: _Node, level: Level, ends: tuple[np.ndarray, np.ndarray] | None, values: np.ndarray,
                            changes: np.ndarray) -> tuple[_Node, float, np.ndarray]:
        """(the node with multipliers for which its bound should be higher, by how much, and which would be best if the slices of
        scalars were narrow): estimates."""
        steps = np.ones(self.scalars)
        for k in range(self.scalars):
            value, weight = (_spread(level, numbers) for numbers in (values, changes[k]))
            steps[k] = value / weight if 0 < value < np.inf and weight > 0 else 1.0
        base, rad = np.where(level.alive, level.number, -np.inf), node.grid.slices.rad[-self.scalars:]
        tilt = np.zeros(self.scalars) if ends is None else ends[0] * 0.5 + ends[1] * 0.5 - node.multipliers  # along the scalars

        def bound(moves: np.ndarray) -> float:
            return float((rad * (np.abs(tilt) - np.abs(tilt - moves))).sum()) - level.sums_up(base + moves @ changes)
        moves, gain = self._climbed(bound, steps)
        hope, _ = self._climbed(lambda moves: -level.sums_up(base + moves @ changes), steps)
        return replace(node, multipliers=node.multipliers + moves), gain, node.multipliers + hope

    def _climbed(self, bound: Callable[[np.ndarray], float], steps: np.ndarray) -> tuple[np.ndarray, float]:
        """(moves of multipliers, what they gain), by trial and error."""
        moves, start, steps, smallest = np.zeros(self.scalars), bound(np.zeros(self.scalars)), steps.copy(), steps * _SMALLEST
        best = start
        for turn in range(_STEPS):
            k = turn % self.scalars
            values = [bound(_moved(moves, k, sign * steps[k])) for sign in (-1, 1)]
            sign = int(np.argmax(values))
            if values[sign] > best:
                best, moves = values[sign], _moved(moves, k, (2 * sign - 1) * steps[k])
                steps[k] *= 2
            else:
                steps[k] /= 2
            if best > self.incumbent.upper or (steps < smallest).all():
                break
        return moves, best - start

    # ---- dividing
    def _parts(self, node: _Node, level: Level, hope: np.ndarray | None, room: int) -> Iterator[None]:
        """The nodes that take its place: with finer slices, or divided, by what the bound loses most."""
        alive, upper = level.alive, self.incumbent.upper
        node, before = replace(node, grid=node.grid.only(alive)), node
        if self._is_settled(node):
            return [replace(node, done=True)]
        losses = yield from self._losses(before, level, hope)
        if max(losses) < _DUAL * (upper - level.lower) < np.inf:
            parts = _by_variable(node, self.n)
            if parts:
                return parts
        *by_scalars, by_slices = losses
        parts = [node]
        if by_slices >= _SHARE * max(by_scalars):
            parts = self._finer(node, room) or parts
        if max(by_scalars) >= _SHARE * by_slices or parts == [node]:
            parts = [part for whole in parts for part in self._by_scalar(whole, by_scalars) or [whole]]
        return [replace(node, done=True)] if parts == [node] else parts

    def _losses(self, node: _Node, level: Level, hope: np.ndarray | None) -> Iterator[None]:
        """How much lower the bound is because of the width of each scalar's slice, and because of the slices of variables."""
        slices, bounds, centre = node.grid.slices, [level.lower], -np.inf
        lo, hi, middle = (side[-self.scalars:] for side in (slices.lo, slices.hi, slices.centre))
        for k in range(self.scalars):
            narrow, bound = np.arange(self.scalars) <= k, bounds[-1]
            grid = _with_scalars(node.grid, np.where(narrow, middle, lo), np.where(narrow, middle, hi))
            for multipliers in (node.multipliers, hope):
                if multipliers is not None:
                    there = yield from self._level(replace(node, grid=grid, multipliers=multipliers), level.alive)
                    yield from there.discard_by_slopes(np.inf)
                    bound, centre = max(bound, there.lower), max(centre, -float(there.through[level.alive].max(initial=-np.inf)))
            bounds.append(bound)
        bounds.append(max(bounds[-1], centre))
        return [0.0 if b == a else b - a for a, b in zip(bounds, bounds[1:], strict=False)]

    def _is_settled(self, node: _Node) -> bool:
        narrow = self.goal.xtol is None or _of_variables(node, self.n).width <= self.goal.xtol
        return self.goal.met(node.lower, self.incumbent.upper) and narrow

    def _finer(self, node: _Node, room: int) -> list[_Node]:
        """With every slice of a variable halved."""
        grid, width = copy(node.grid), np.zeros(len(node.grid.slices))
        width[len(width) - self.scalars:] = np.inf
        return [replace(node, grid=grid)] if grid.halved(np.ones(len(grid), bool), width, room) else []

    def _by_scalar(self, node: _Node, losses: list[float]) -> list[_Node]:
        """Two, with the halves of the slice of a scalar."""
        slices = node.grid.slices
        lo, hi, middle = (side[-self.scalars:] for side in (slices.lo, slices.hi, slices.centre))
        k = int(np.argmax(np.where((lo < middle) & (middle < hi), losses, -1.0)))
        if not lo[k] < middle[k] < hi[k]:
            return []
        first, second = hi.copy(), lo.copy()
        first[k] = second[k] = middle[k]
        return [replace(node, grid=_with_scalars(node.grid, *ends)) for ends in ((lo, first), (second, hi))]


def _at_centres(level: Level) -> np.ndarray:
    """Minus the bounds of the terms at the centres of cells."""
    values = np.empty(len(level.grid))
    for cells, found in zip(level.grid.cells, level.found, strict=True):
        values[cells.at] = -found[FACTS][AT_CENTRE]
    return values


def _spread(level: Level, numbers: np.ndarray) -> float:
    """How far apart numbers of cells of one bag are that are alive, the sum over all bags."""
    total = 0.0
    for cells in level.grid.cells:
        mine, count = np.flatnonzero(level.alive[cells.at]), len(cells.kind.bags)
        ends = np.full((2, count), -np.inf)
        for end, values in zip(ends, (numbers[cells.at[mine]], -numbers[cells.at[mine]]), strict=True):
            np.maximum.at(end, cells.bag[mine], values)
        total += float(ends.sum())
    return total


def _moved(values: np.ndarray, k: int, by: float) -> np.ndarray:
    moved = values.copy()
    moved[k] += by
    return moved


def _cells(nodes: list[_Node]) -> int:
    return sum(len(node.grid) for node in nodes)


def _of_variables(node: _Node, n: int) -> Unions:
    """The slices of the first n variables."""
    unions = node.grid.unions(np.ones(len(node.grid), bool))
    end = unions.starts[n]
    return Unions(unions.lo[:end], unions.hi[:end], unions.starts[:n + 1])


def _joined(parts: list[Unions]) -> Unions:
    """Every interval of every part; where they overlap, what lies in an earlier one is left out of a later one."""
    lo, hi, variable = (np.concatenate([getattr(part, name) for part in parts]) for name in ("lo", "hi", "variables"))
    order = np.lexsort((-hi, lo, variable))
    lo, hi, variable = lo[order], hi[order], variable[order]
    ends, rank = np.unique(hi, return_inverse=True)
    reached = np.maximum.accumulate(rank + variable * len(ends)) - variable * len(ends)  # the highest end so far, variable by variable
    first = np.append(True, variable[1:] != variable[:-1])
    before = np.where(first, -np.inf, ends[np.append(0, reached[:-1])])
    keep = hi > before
    counts = np.bincount(variable[keep], minlength=len(parts[0]))
    return Unions(np.maximum(lo, before)[keep], hi[keep], np.concatenate([[0], np.cumsum(counts)]))


def _by_variable(node: _Node, n: int) -> list[_Node]:
    """Two nodes, with the slices of one variable below and above the widest space between any; or, where there is none, below and
    above the middle of the variable that has most slices."""
    unions = _of_variables(node, n)
    space = np.where(unions.variables[1:] == unions.variables[:-1], unions.lo[1:] - unions.hi[:-1], -np.inf)
    k = int(np.argmax(space)) if len(space) else 0
    if not (space > 0).any():
        widest = int(np.argmax(unions.counts))
        k = int(unions.starts[widest] + unions.counts[widest] // 2 - 1)
        if unions.counts[widest] < 2:
            return []
    variable, end = unions.variables[k], unions.hi[k]
    gone = np.zeros((2, len(node.grid)), bool)
    for cells in node.grid.cells:
        for place, row in enumerate(cells.ids):
            mine = cells.kind.variables[place][cells.bag] == variable
            gone[0, cells.at] |= mine & (node.grid.slices.lo[row] >= end)
            gone[1, cells.at] |= mine & (node.grid.slices.lo[row] < end)
    return [replace(node, grid=node.grid.only(~side)) for side in gone]


def _with_scalars(grid: Grid, lo: np.ndarray, hi: np.ndarray) -> Grid:
    """The same cells, with other slices of the scalars."""
    slices, first = grid.slices, len(grid.slices) - len(lo)
    new = copy(grid)
    new.slices = Slices(np.concatenate([slices.lo[:first], lo]), np.concatenate([slices.hi[:first], hi]), slices.first)
    return new


def _with_multipliers(grid: Grid, lower: np.ndarray, upper: np.ndarray) -> Grid:
    """The same cells, with numbers between these ends in the tables of constants."""
    new, kinds = copy(grid), {id(kind): _kind_with(kind, lower, upper) for kind in grid.kinds}
    new.kinds, new.cells = [kinds[id(kind)] for kind in grid.kinds], [copy(cells) for cells in grid.cells]
    for cells in new.cells:
        cells.kind = kinds[id(cells.kind)]
    return new


def _kind_with(kind: Kind, lower: np.ndarray, upper: np.ndarray) -> Kind:
    m, constants = len(kind.constants) // 2, kind.constants.copy()
    for row in np.flatnonzero(np.isnan(constants[:m]).any(axis=1)):
        scalar = int(constants[m + row, 0])
        constants[row], constants[m + row] = lower[scalar], upper[scalar]
    return replace(kind, constants=constants)
