"""Divided differences in place of functions that become equal: g[a, b] = (g(b) - g(a)) / (b - a) in place of g(b) beside g(a).

They span the same columns where a and b differ, and more where they do not: a lower bound over all coefficients stays one. In a
box where two nodes are closer than they are wide, the columns g(a), g(b) may be equal, or nearly; g(a), g[a, b] are not.

A divided difference of r + 1 nodes is g⁽ʳ⁾ / r! at a point between them, if g is r times differentiable there; its derivative by
a node is the one with that node once more, the second one by the same node twice that with it three times. Of nodes that are
points the quotients of differences are enclosed too. Nodes are the variables, or 1 / them.

Proof: docs/proofs/linear_parameters.md.
"""

from itertools import combinations
from math import factorial
from typing import NamedTuple

from infimum.interval.arithmetic import add, div, mul, neg, square, sub
from infimum.interval.pair import SMOOTH, Pair, b_level, exact
from infimum.kernel.box_conclusions import common, whole_if_unsound
from infimum.kernel.constant_data import Data
from infimum.kernel.ir import Builder, Value
from infimum.kernel.lowering import Lowering
from infimum.kernel.meaning import Enclosures
from infimum.kernel.schedule import plan
from infimum.structure.function_families import ORDER, VARIABLE, FunctionFamily

_NEAR_RATIO = 4.0  # nodes are near if the gap between them is not wider than that many times half of both boxes together


class DividedNode(NamedTuple):
    """A node at t and on T, with its derivatives by its variable, which is direction `along`."""

    along: int
    point: Pair
    first: Pair
    box: Pair
    slope: Pair
    curvature: Pair | None


class DividedDifferences:
    """One family: which of its functions are replaced in which lanes, and by what."""

    def __init__(self, b: Builder, data: Data, family: FunctionFamily, nodes: list[DividedNode], meaning: Enclosures):
        self.b, self.data, self.family, self.nodes, self.meaning = b, data, family, nodes, meaning
        every = range(len(nodes))
        near = {pair: self._near(*pair) for pair in combinations(every, 2)}
        self.sets: dict[tuple[int, ...], Value] = dict(near)  # sets of nodes, and in which lanes they are close
        if len(nodes) == 3:
            one, other, third = near.values()
            whole = b.mor(b.mand(one, other), b.mor(b.mand(one, third), b.mand(other, third)))
            self.sets = {(0, 1): b.mor(one, whole), (0, 2): b.mand(other, b.mnot(whole)), (1, 2): b.mand(third, b.mnot(whole)),
                         (0, 1, 2): whole}
        self.any = None
        for mask in self.sets.values():
            self.any = mask if self.any is None else b.mor(self.any, mask)
        self.at_points = [self._lowering(node.point) for node in nodes]
        self.hulls = {nodes: [self._lowering(self._hull(nodes, box)) for box in (False, True)] for nodes in self.sets}

    def _near(self, i: int, j: int) -> Value:
        b, one, other = self.b, self.nodes[i].box, self.nodes[j].box
        gap = b.max(b.neg(b.add(one.nlo, other.hi)), b.neg(b.add(other.nlo, one.hi)))  # the second minus the first's end, …
        wide = b.add(b.add(one.nlo, one.hi), b.add(other.nlo, other.hi))
        return b.ole(gap, b.mul(0.5 * _NEAR_RATIO, wide))

    def _hull(self, nodes: tuple[int, ...], box: bool) -> Pair:
        pairs = [self.nodes[k].box if box else self.nodes[k].point for k in nodes]
        found = pairs[0]
        for pair in pairs[1:]:
            found = Pair(self.b.max(found.nlo, pair.nlo), self.b.max(found.hi, pair.hi))
        return Pair(found.nlo, found.hi)

    def _lowering(self, u: Pair) -> Lowering:
        lowering = Lowering(self.b, self.meaning, {VARIABLE: lambda _: u}, self.data)
        lowering.elements.plan = plan(list(self.family.derivatives), straight=False)
        return lowering

    def lowerings(self) -> list[Lowering]:
        """All that a loop over rows uses."""
        return [*self.at_points, *(lowering for both in self.hulls.values() for lowering in both)]

    def sizes(self, sizes: list[Value]) -> list[Value]:
        """The largest coefficients, from those of the functions: Newton's form of a sum of them."""
        b, found = self.b, list(sizes)
        for nodes, mask in self.sets.items():
            if len(nodes) == 2 and (0, 1, 2) in self.sets:
                mask = b.mand(mask, b.mnot(self.sets[0, 1, 2]))
            for place, k in enumerate(nodes):  # the coefficient of the difference of the nodes up to this one
                total = b.const(0.0)
                for m in nodes[place:]:
                    size = sizes[m]
                    for before in nodes[:place]:
                        gap = sub(b, self.nodes[m].box, self.nodes[before].box)
                        size = b.mul(size, b.max(b.abs(gap.nlo), b.abs(gap.hi)))
                    total = b.add(total, size)
                found[k] = b.select(mask, total, found[k])
        return found

    # ---- in a row
    def replaced(self, at: tuple, directions: int, pairs: tuple, taylor: bool) -> "dict[int, list[tuple]]":
        """For the place of each function: in which lanes it is replaced, by what value, slopes, slopes and second derivatives on
        T, and whether that is sound."""
        found: dict[int, list[tuple]] = {}
        for nodes, mask in self.sets.items():
            place, _ = self.family.members[nodes[-1]]
            found.setdefault(place, []).append((mask, *self._difference(nodes, at, directions, pairs, taylor)))
        return found

    def _derivative(self, lowering: Lowering, order: int, at: tuple) -> Pair:
        """g⁽ʳ⁾ / r!"""
        pair = lowering.elements.element(self.family.derivatives[order], at)
        return pair if order < 2 else div(self.b, pair, exact(self.b, float(factorial(order))))

    def _at_points(self, nodes: tuple[int, ...], within: tuple[int, ...], at: tuple) -> Pair:
        """The divided difference of nodes, some of them more than once, at t; they are all among those `within`."""
        b, order, first, last = self.b, len(nodes) - 1, nodes[0], nodes[-1]
        if first == last:
            return self._derivative(self.at_points[first], order, at)
        top = sub(b, self._at_points(nodes[1:], within, at), self._at_points(nodes[:-1], within, at))
        quotient = div(b, top, sub(b, self.nodes[last].point, self.nodes[first].point))
        return common(b, whole_if_unsound(b, quotient), whole_if_unsound(b, self._derivative(self.hulls[within][0], order, at)))

    def _difference(self, nodes: tuple[int, ...], at: tuple, directions: int, pairs: tuple, taylor: bool) -> tuple:
        b, hull, order = self.b, self.hulls[nodes][1], len(nodes) - 1
        value = self._at_points(nodes, nodes, at)
        first: list[Pair | None] = [None] * directions
        for k in nodes:
            node = self.nodes[k]
            first[node.along] = mul(b, self._at_points(tuple(sorted((*nodes, k))), nodes, at), node.first)
        if not taylor:
            return value, first, [], [], b.olt(-1.0, 0.0)
        slope, bend = (self._derivative(hull, order + more, at) for more in (1, 2))
        slopes: list[Pair | None] = [None] * directions
        bends: list[Pair | None] = [None] * len(pairs)
        for k in nodes:
            node = self.nodes[k]
            slopes[node.along] = mul(b, slope, node.slope)
            twice = mul(b, mul(b, exact(b, 2.0), bend), square(b, node.slope))
            bends[pairs.index((node.along, node.along))] = twice if node.curvature is None else add(b, twice,
                                                                                                    mul(b, slope, node.curvature))
        for k, m in combinations(nodes, 2):
            one, other = sorted((self.nodes[k].along, self.nodes[m].along))
            bends[pairs.index((one, other))] = mul(b, bend, mul(b, self.nodes[k].slope, self.nodes[m].slope))
        return value, first, slopes, bends, self._sound(hull, at)

    def _sound(self, hull: Lowering, at: tuple) -> Value:
        """Is g four times continuously differentiable between the nodes?"""
        b, sound = self.b, self.b.olt(-1.0, 0.0)
        for order in (0, ORDER - 2):
            level = hull.elements.element(self.family.derivatives[order], at).level
            sound = b.mand(sound, b.oge(b_level(b, level), float(SMOOTH)))
        return sound


def node_of(b: Builder, along: int, lo: Value, hi: Value, t: Value, inverse: bool) -> DividedNode:
    """The node of a variable in [lo, hi] with the point t."""
    point, box = Pair(b.neg(t), t, point=t), Pair(b.neg(lo), hi)
    if not inverse:
        return DividedNode(along, point, exact(b, 1.0), box, exact(b, 1.0), None)
    one = exact(b, 1.0)
    at, on = (whole_if_unsound(b, div(b, one, u)) for u in (point, box))
    return DividedNode(along, at, neg(b, square(b, at)), on, neg(b, square(b, on)),
                       mul(b, exact(b, 2.0), mul(b, on, square(b, on))))
