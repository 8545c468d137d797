"""Sums of small terms that a scalar couples, such as a norm or a mean of all variables: proved slice by slice of the scalar.

With s = G(x) the function is F(x, s), a sum of small terms if s is taken for a variable. On a slice S of s, and for any number λ,
dynamic programming bounds F(x, s) + λ (G(x) - s) from below over all x of some cells and all s of S: at points with G(x) = s that
is f. The slices of all nodes cover what G can be; a cell is gone when it is gone in every node (docs/proofs/chains.md).

A node is bounded with a multiplier λ or two. Then it is divided by what its bound loses most: slices of its variables are halved,
or that of a scalar. Where all of these are narrow enough and the bound is still low, cells that are far apart balance one another
in the constraint G(x) = s, and it is divided between slices of one variable.
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import compress
from typing import NamedTuple

import numpy as np

from infimum.chains.bag_kinds import kinds_of
from infimum.chains.bags import Bag, bags_of
from infimum.chains.chain import Chain
from infimum.chains.coupling_multipliers import Ends, MultiplierModel, derivatives
from infimum.chains.grid import Grid, cells_at_first
from infimum.chains.slice_nodes import Node, NodeLevel, joined
from infimum.evaluation.evaluator import Evaluator
from infimum.expr.node import Expr, make
from infimum.problem.settings import Goal
from infimum.problem.unions import widths
from infimum.search.incumbent import Incumbent
from infimum.search.policy.bounds import COUPLED_CHAIN as POLICY
from infimum.structure.coupling_scalars import coupling_of
from infimum.structure.term_sums import TermFamily


def coupled_of(evaluator: Evaluator, box: tuple[np.ndarray, np.ndarray], goal: Goal, incumbent: Incumbent,
               memory_limit: float | None = None, max_boxes: float | None = None) -> "CoupledChain | None":
    """The search, if the function has the structure, the box is bounded, and the limits of bytes and cells let it begin."""
    n, (lo, hi) = evaluator.n, (end[:, 0] for end in box)
    if n < POLICY.least_variables or not np.isfinite(widths(lo, hi)).all():
        return None
    coupling = coupling_of(evaluator.f, n, lambda node: elements_on(node, lo, hi))
    if coupling is None or len(coupling.families) > POLICY.most_forms:
        return None
    count = len(coupling.scalars)
    bags = _bags(coupling.families, n, tuple(range(n, n + count)))
    if bags is None or max(len(bag.terms) for bag in bags) > POLICY.most_terms:
        return None
    kinds = kinds_of(bags, coupling.families, evaluator.backend)
    most = min(POLICY.most_cells, np.inf if memory_limit is None else memory_limit / POLICY.bytes_a_cell)
    if len(kinds) > POLICY.most_forms or cells_at_first(kinds, whole=count) > most:
        return None
    known = [Evaluator(s, n, evaluator.backend).value(lo, hi) for s in coupling.scalars]
    ends = np.array([[float(s.lo) for s in known], [float(s.hi) for s in known]])
    if not np.isfinite([*ends, widths(*ends)]).all() or (coupling.compares and not all(s.defined for s in known)):
        return None
    low, high = np.concatenate([lo, ends[0]]), np.concatenate([hi, ends[0]])  # scalars are not cut
    grid = Grid(kinds, low, high, evaluator.host_arrays)
    reach = np.where(coupling.logarithms, POLICY.logarithm_split, np.inf)
    node = Node(grid, np.zeros(count), reach).within(*ends)
    signed = None if coupling.signed is None else Evaluator(coupling.signed, n, evaluator.backend)
    work = np.inf if max_boxes is None else max_boxes if signed is None else max_boxes / POLICY.sign_cost
    return CoupledChain(CoupledRoot(node, np.array(coupling.above), signed), box, goal, incumbent, most, work)


def _bags(families: list[TermFamily], n: int, scalars: tuple[int, ...]) -> list[Bag] | None:
    """All bags share the scalars. Terms that read nothing else are a bag of their own, the root: they may be smooth where others
    are not."""
    bags = bags_of([family.variables[(family.variables < n).all(axis=1)] for family in families], n)
    if bags is None:
        return None
    root = Bag(scalars, (), [], [len(bags) - 1], bags[-1].height + 1)
    for bag in bags:
        alone = [bool(len(at) and (at >= n).all()) for at in (families[family].variables[:, term] for family, term in bag.terms)]
        root.terms += compress(bag.terms, alone)
        bag.terms = [term for term, its in zip(bag.terms, alone, strict=True) if not its]
        bag.variables, bag.shared = bag.variables + scalars, bag.shared + scalars
    return [*bags, root]


def elements_on(node: Expr, lo: np.ndarray, hi: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The ends of all elements of an expression on a box."""
    negative = make("neg", (node,), node.shape)  # which is an operation, whatever the node is
    total = make("sum", (negative,), (), {"axes": tuple(range(len(node.shape)))})
    found = Evaluator(total, len(lo)).inside(lo, hi)[negative]
    return -found.hi, -found.lo


class CoupledRoot(NamedTuple):
    """The node that a search begins with. above, signed: as in `Coupling`."""

    node: Node
    above: np.ndarray
    signed: Evaluator | None


class CoupledChain(Chain):
    """A search of the box (n, 1), as chains are; `max_boxes` limits what it costs."""

    def __init__(self, root: CoupledRoot, box: tuple[np.ndarray, np.ndarray], goal: Goal, incumbent: Incumbent,
                 most: int = POLICY.most_cells, max_boxes: float = np.inf):
        node, above, signed = root
        super().__init__(node.grid, box, goal, incumbent, most, max_boxes)
        self.n, self.above, self.signed = len(self.low), above, signed
        never = np.full(node.scalars, np.inf)  # scalars have no bounds, and no slice of one is dropped by a derivative
        self.ends = np.concatenate([self.low, never]), np.concatenate([self.high, -never])
        self.nodes, self.counts, self.work = [node] if signed is None else node.by_sign(), [], 0

    def steps(self) -> Iterator[None]:
        """The work, in rounds over all nodes, until the goal is met, nothing is left, or it no longer pays."""
        while True:
            waiting, left = sorted(self.nodes, key=lambda node: node.lower), []
            for k, node in enumerate(waiting):
                if node.done or self.work >= self.max_boxes:
                    left.append(node)
                elif node.lower <= self.incumbent.upper:
                    room = self.most - _cells(waiting[k:]) - _cells(left)
                    left += yield from self._divided(node, room, k < POLICY.searched_nodes)
            self.nodes = [node for node in left if node.lower <= self.incumbent.upper]
            if not self.nodes:
                self.empty = True
                return
            self.lower = max(self.lower, min(node.lower for node in self.nodes))
            self.unions = joined([node.unions for node in self.nodes])
            self.levels.append((self.incumbent.upper - self.lower, _cells(self.nodes)))
            self.counts.append(len(self.nodes))
            yield
            if self._is_done() or self.work >= self.max_boxes or all(node.done for node in self.nodes) or not self._pays():
                return

    def _pays(self) -> bool:
        """Has the gap shrunk in the last rounds, or are there not many more nodes?"""
        if len(self.counts) <= POLICY.patience_rounds:
            return True
        shrunk = self.levels[-1][0] < POLICY.worth_gap_left * self.levels[-1 - POLICY.patience_rounds][0]
        few = self.counts[-1] <= max(POLICY.few_nodes, self.counts[-1 - POLICY.patience_rounds])
        return self.counts[-1] <= POLICY.most_nodes and (shrunk or few)

    # ---- one node
    def _divided(self, node: Node, room: int, looks: bool) -> Iterator[None]:
        """The nodes that take its place: none if it holds no minimiser. `looks`: for points as well."""
        alive, best, gain, improved = np.ones(len(node.grid), np.int64), None, np.inf, None
        for _ in range(POLICY.multiplier_tries):
            level = yield from self._level(node, alive)
            self._descend(*(rows[:self.n] for rows in level.paths(POLICY.descents_a_node)))
            yield from level.discard(self.incumbent.upper)
            yield from level.discard_by_slopes(self.incumbent.upper)
            alive = level.alive
            if level.empty or level.lower > self.incumbent.upper:
                return []
            if best is not None and not level.lower > best[1].lower:  # too far
                best[1].alive = alive
                node, gain = node.moved((best[0].multipliers - node.multipliers) / 2), np.inf
                continue
            best = replace(node, lower=max(node.lower, level.lower)), level
            slopes = derivatives(node, level) if (node.slices[0] > self.above).all() else None
            if slopes is not None:
                along = yield from self._level(node, alive, slopes)
                along.discard_by_derivatives()
                level.alive = alive = along.alive
                if along.empty:
                    return []
            if gain < POLICY.worth_gain * (self.incumbent.upper - level.lower):
                break
            model = MultiplierModel(node, level, (yield from self._changes(node, level)), slopes)
            if looks and slopes is not None:
                yield from self._search_points(model, slopes)
            improved = node.moved(model.best(model.bound, self.incumbent.upper)[0])
            moves, gain = model.best(model.bound_on_slices, self.incumbent.upper)
            if not gain > 0:
                break
            node = node.moved(moves)
        return (yield from self._parts(*best, improved, room))

    def _level(self, node: Node, alive: np.ndarray, multipliers: Ends | None = None) -> Iterator[None]:
        """The cells of a node, enclosed with its multipliers, or all between two ends."""
        level = NodeLevel(node, *(multipliers or (node.multipliers, node.multipliers)), alive, *self.ends)
        yield from level.enclose()
        self.evaluations, self.work = self.evaluations + len(node.grid), self.work + len(node.grid) + POLICY.node_cost_in_cells
        return level

    def _changes(self, node: Node, level: NodeLevel) -> Iterator[None]:
        """For each multiplier, what is added to minus the values at centres where it grows by 1."""
        changes = []
        for k in range(node.scalars):
            by = max(1.0, abs(node.multipliers[k]))
            other = yield from self._level(node.moved(by * (np.arange(node.scalars) == k)), level.alive)
            changes.append((other.at_centres - level.at_centres) / by)
        return changes

    def _search_points(self, model: MultiplierModel, slopes: Ends) -> Iterator[None]:
        """Minimisers of f are stationary points of F + λ G where λ is the derivative by the scalar there."""
        for share in np.arange(POLICY.searched_multipliers + 1) / POLICY.searched_multipliers:
            moves = slopes[0] * (1 - share) + slopes[1] * share - model.node.multipliers
            self._descend(*(rows[:self.n] for rows in model.level.path_of(model.with_moves(model.values, moves))))
            yield

    # ---- dividing
    def _parts(self, node: Node, level: NodeLevel, improved: Node | None, room: int) -> Iterator[None]:
        """The nodes that take its place, by what its bound loses most."""
        left = node.only(level.alive)
        if self._has_another_sign(left):
            return []
        if self._is_decided(left):
            return [replace(left, done=True)]
        *by_scalars, by_slices = yield from self._losses(node, level, improved)
        gap = self.incumbent.upper - level.lower
        parts = left.by_variable() if max(*by_scalars, by_slices) < POLICY.worth_dual_gain * gap < np.inf else []
        if parts:
            return parts
        finer = left.finer(room) if by_slices >= POLICY.worth_gain_ratio * max(by_scalars) else []
        if max(by_scalars) >= POLICY.worth_gain_ratio * by_slices or not finer:
            parts = [part for whole in finer or [left] for part in whole.by_scalar(by_scalars)]
        return parts or finer or left.finer(room) or [replace(left, done=True)]

    def _losses(self, node: Node, level: NodeLevel, improved: Node | None) -> Iterator[None]:
        """How much lower the bound is because of the width of each scalar's slice, and because of the slices of variables: both
        also with the multipliers that an optimistic estimate gives."""
        (lo, hi, middle), bounds, centre = node.slices, [level.lower], -np.inf
        for k in range(node.scalars):
            narrow, bound = np.arange(node.scalars) <= k, bounds[-1]
            for chosen in (node, improved) if lo[k] < hi[k] else ():
                if chosen is not None:
                    there = yield from self._level(
                        chosen.within(np.where(narrow, middle, lo), np.where(narrow, middle, hi)), level.alive)
                    yield from there.discard_by_slopes(np.inf)
                    values = there.through[0, level.alive > 0]
                    bound, centre = max(bound, there.lower), max(centre, -float(values.max(initial=-np.inf)))
            bounds.append(bound)
        bounds.append(max(bounds[-1], centre))
        return [0.0 if b == a else b - a for a, b in zip(bounds, bounds[1:], strict=False)]

    def _has_another_sign(self, node: Node) -> bool:
        """Is the product of the sign that the node does not have, wherever it is defined?"""
        if self.signed is None:
            return False
        unions, sign = node.unions, node.slices[0][0]
        found = self.signed.value(unions.lo[unions.starts[:-1]], unions.hi[unions.starts[1:] - 1])
        return bool(found.hi < 0 if sign > 0 else found.lo > 0)

    def _is_decided(self, node: Node) -> bool:
        narrow = self.goal.xtol is None or node.unions.width <= self.goal.xtol
        return self.goal.met(node.lower, self.incumbent.upper) and narrow


def _cells(nodes: list[Node]) -> int:
    return sum(len(node.grid) for node in nodes)
