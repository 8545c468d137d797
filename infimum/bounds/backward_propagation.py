"""From results back to arguments: what is required of some expressions is passed on to all that they are computed
from, at last to the variables. `bounds/propagation_kernel.py` says why that is sound.

Each operation is asked once, when all its users have been: what they say of an element is intersected, with the enclosure that
is known of it, and the inverse rules (`ops/inverse_rules.py`) give enclosures of its arguments. Elements are values in
programs without loops; otherwise an array is a loop, and what it says of its arguments is kept in buffers.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import numpy as np

from infimum.bounds.backward_intervals import BackwardArray, BackwardInterval, Source, ViewReader, joined, smaller_or_second
from infimum.expr.node import Expr, topological
from infimum.interval.pair import Pair
from infimum.kernel.box_conclusions import larger
from infimum.kernel.constant_data import Data
from infimum.kernel.element_lowering import Leaf
from infimum.kernel.ir import Builder, Value
from infimum.kernel.lowering import Lowering
from infimum.kernel.meaning import SCANS, Enclosures
from infimum.kernel.schedule import own_cost
from infimum.kernel.view_positions import At, flat, unflat
from infimum.ops.inverse_rules import inverse, inverse_of_reduction
from infimum.ops.vocabulary import OPS, Kind
from infimum.search.policy.bounds import PROPAGATION as POLICY

_COMPUTING = (Kind.MAP, Kind.REDUCE, Kind.SCAN)
_LIGHT = ("add", "sub", "mul", "div", "neg")


class BackwardPropagation:
    """Encloses the roots, expressions in the variable x; `run` then goes back to it.

    `empty` are masks: something that is needed has no value left.
    """

    def __init__(self, b: Builder, data: Data, roots: list[Expr], x: Expr, box: Leaf, written_out: int = POLICY.written_out):
        self.b, self.nodes, self.empty = b, list(topological(roots)), []
        self.varying: set[Expr] = set()
        for node in self.nodes:
            if node is x or any(a in self.varying for a in node.args):
                self.varying.add(node)
        self.straight = sum(node.size for node in self.varying if node.kind in _COMPUTING) <= written_out
        lowering = Lowering(b, Enclosures(), {"x": box}, data)
        stored = _worth_storing(self.nodes)
        lowering.run([(root, lambda at, value: None) for root in roots], straight=self.straight, stored=stored)
        self.elements = lowering.elements
        self.required: dict[Expr, list[Source]] = {}
        self.users: dict[Expr, list[tuple[Expr, int]]] = {}
        for node in self.nodes:
            for which, arg in enumerate(node.args):
                self.users.setdefault(arg, []).append((node, which))
        self.pulls = ViewReader(b, data, self._written_out, self._loop)
        self.implied: dict[tuple[Expr, int], Source] = {}  # what an operation says of an argument; a view, of its own elements
        self.deferred: dict[Expr, int] = {}             # operations that are asked where they are read, and how deep they are

    def element(self, node: Expr, i: "int | Value") -> Pair:
        """The enclosure of an element, counted row-major."""
        return self.elements.element(node, unflat(self.b, node.shape, i))

    def each(self, size: int, body: Callable[["int | Value"], list[Value]]) -> list[Value]:
        """body(i) for all positions of an array; masks that hold where one of its masks does."""
        b = self.b
        if self._written_out(size):
            return [mask for i in range(size) for mask in body(i)]
        with self._loop(size) as i:
            steps = [b.step((0.0,), (b.select(mask, 1.0, 0.0),), larger) for mask in body(i)]
        return [b.ogt(step.results[0], 0.0) for step in steps]

    @contextmanager
    def _loop(self, count: "int | Value", limit: int | None = None) -> Iterator[Value]:
        with self.b.loop(count, limit) as turn, self.elements.scope():
            yield turn.index

    def require(self, root: Expr, source: Source) -> None:
        """What shall hold for each element of a root."""
        self.required.setdefault(root, []).append(source)

    def run(self) -> None:
        write = {Kind.MAP: self._map, Kind.VIEW: self._view, Kind.REDUCE: self._reduce, Kind.SCAN: self._scan}
        for node in reversed(self.nodes):
            if node in self.varying and node.kind in write and node.size:
                write[node.kind](node)

    def _written_out(self, size: int) -> bool:
        return self.straight or size == 1

    def _new(self, key: tuple[Expr, int], size: int) -> BackwardArray:
        cells = BackwardArray(self.b, size, self._written_out(size), self.b.depth)
        self.implied[key] = cells.at
        return cells

    def sources(self, node: Expr) -> list[Source]:
        """Where to read the backward enclosures of the node's elements."""
        found, views = list(self.required.get(node, ())), []
        for user, which in self.users.get(node, ()):
            if user.kind is Kind.VIEW and (user, 0) in self.implied:
                views.append((user, which, self.implied[user, 0]))
            elif user.kind is not Kind.VIEW and (user, which) in self.implied:
                found.append(self.implied[user, which])
        return found + self.pulls.of(node, views)

    def _view(self, node: Expr) -> None:
        """A view computes nothing: its backward enclosures are collected where it is read."""
        sources = self.sources(node)

        def at(i: "int | Value") -> list[BackwardInterval]:
            implied = joined(self.b, [implied for source in sources for implied in source(i)])
            return [] if implied is None else [implied]
        if self._is_shallow(node):
            self.implied[node, 0] = at
            return
        cells = self._new((node, 0), node.size)

        def body(i: "int | Value") -> list[Value]:
            for implied in at(i):
                cells.put(i, implied)
            return []
        self.each(node.size, body)

    def _is_shallow(self, node: Expr) -> bool:
        """Can its backward enclosure be computed where it is read, without too deep a stack?"""
        depth = 1 + max([self.deferred.get(user, 0) for user, _ in self.users.get(node, ())], default=0)
        if depth <= POLICY.deepest_delay:
            self.deferred[node] = depth
        return depth <= POLICY.deepest_delay

    def _map(self, node: Expr) -> None:
        b, sources = self.b, self.sources(node)
        wanted = [k for k, a in enumerate(node.args) if a in self.varying and a.kind is not Kind.TEST]

        def implied_of(i: "int | Value") -> tuple[BackwardInterval | None, list[BackwardInterval]]:
            """The backward enclosure of the element, and those that follow for the wanted arguments."""
            found = [implied for source in sources for implied in source(i)]
            if not found:
                return None, []
            at = unflat(b, node.shape, i)
            value = self.elements.element(node, at)
            implied, args = joined(b, found, value), [self.elements.element(a, at) for a in node.args]
            if node.op == "where":
                return implied, [implied.where(b, args[0].yes if k == 1 else args[0].no) for k in wanted]
            ends, params = implied.ends, dict(node.params)
            return implied, [BackwardInterval(*inverse(b, node.op, k, ends, args, value, **params), implied.sure) for k in wanted]
        if not self._written_out(node.size) and len(wanted) == 1 and node.op in _LIGHT and self._is_shallow(node):
            self.implied[node, wanted[0]] = lambda i: implied_of(i)[1]
            return
        cells = [self._new((node, k), node.size) for k in wanted]

        def body(i: "int | Value") -> list[Value]:
            implied, of_arguments = implied_of(i)
            if implied is None:
                return []
            for one, to in zip(of_arguments, cells, strict=True):
                to.put(i, one)
            return [_is_empty(b, implied)]
        self.empty += self.each(node.size, body)

    def _reduce(self, node: Expr) -> None:
        """Each element of the argument, from the result and the reduction of the others: those before it, and those behind."""
        b, x, sources = self.b, node.args[0], self.sources(node)
        if not x.size:
            return
        cells = self._new((node, 0), x.size)
        axes = node["axes"]
        inner = tuple(d for axis, d in enumerate(x.shape) if axis in axes)
        count = int(np.prod(inner, dtype=np.int64))

        def place(outer: At, k: "int | Value") -> At:
            rest, within = iter(outer), iter(unflat(b, inner, k))
            return tuple(next(within if axis in axes else rest) for axis in range(len(x.shape)))

        def body(o: "int | Value") -> list[Value]:
            found = [implied for source in sources for implied in source(o)]
            if not found:
                return []
            outer = unflat(b, node.shape, o)
            implied = joined(b, found, self.elements.element(node, outer))

            def term(k: "int | Value") -> tuple["int | Value", Pair]:
                at = place(outer, k)
                return flat(b, x.shape, at), self.elements.element(x, at)

            def put_argument(position: "int | Value", own: Pair, rest: Pair) -> None:
                cells.put(position, BackwardInterval(*inverse_of_reduction(b, node.op, implied.ends, own, rest), implied.sure))
            (self._others_written_out if self._written_out(x.size) else self._others)(node.op, count, term, put_argument)
            return [_is_empty(b, implied)]
        self.empty += self.each(node.size, body)

    def _others_written_out(self, op: str, count: int, term: Callable, put_argument: Callable) -> None:
        b, meaning = self.b, self.elements.meaning
        combine, terms = meaning.combine(op), [term(k) for k in range(count)]
        values = [meaning.before(b, op, own) for _, own in terms]

        def running(values: Sequence[Pair]) -> list[Pair]:
            """What comes before each of them; at first nothing."""
            found = [meaning.nothing(b, op)]
            for value in values[:-1]:
                found.append(value if len(found) == 1 else combine(b, found[-1], value))
            return found
        before, behind = running(values), running(values[::-1])[::-1]
        for k, (position, own) in enumerate(terms):
            one, other = before[k], behind[k]
            rest = other if k == 0 else one if k == count - 1 else combine(b, one, other)
            put_argument(position, own, rest)

    def _others(self, op: str, count: int, term: Callable, put_argument: Callable) -> None:
        b, elements = self.b, self.elements
        meaning = elements.meaning

        def scan(k: Value) -> tuple:
            position, own = term(k)
            step, form = elements.step(op, meaning.before(b, op, own), "exclusive")
            return position, own, meaning.unpack(step.prefix, form)
        depth = b.depth
        buffers = b.buffer(count, depth), b.buffer(count, depth)
        with self._loop(count) as k:
            _, _, before = scan(k)
            for buffer, end in zip(buffers, (before.nlo, before.hi), strict=True):
                b.store(buffer, k, end)
        with self._loop(count) as turn:
            k = b.place("usub", count - 1, turn)
            position, own, behind = scan(k)
            before = Pair(*(b.load(buffer, k) for buffer in buffers))
            put_argument(position, own, meaning.combine(op)(b, before, behind))

    def _scan(self, node: Expr) -> None:
        """Each element of the argument, from the result that is the first to hold it, and the one before. Where nothing is known
        of a result, its neighbour's is not asked: the argument may be needed for it all the same."""
        if node.op == "recur":
            return
        b, x, sources, size = self.b, node.args[0], self.sources(node), node.size
        results, cells = BackwardArray(b, size, self._written_out(size), b.depth), self._new((node, 0), size)
        count, step, neutral = node.shape[-1], -1 if node["reverse"] else 1, OPS[SCANS[node.op]].neutral

        def read(i: "int | Value") -> list[Value]:
            implied = joined(b, [implied for source in sources for implied in source(i)], self.element(node, i))
            if implied is None:
                return []
            results.put(i, implied)
            return [_is_empty(b, implied)]
        self.empty += self.each(size, read)

        def beside(at: At, by: int) -> tuple[At, "bool | Value"]:
            """The place `by` elements further on, or at the end if there is none, and whether there is one."""
            *lead, k = at
            if isinstance(k, int):
                return (*lead, min(max(k + by, 0), count - 1)), 0 <= k + by < count
            further = b.place("umin", b.place("umax", b.place("uadd" if by > 0 else "usub", k, abs(by)), 0), count - 1)
            back = b.place("usub" if by > 0 else "uadd", further, abs(by))
            return (*lead, further), b.ueq(back, k)

        def put_argument(i: "int | Value") -> list[Value]:
            at = unflat(b, node.shape, i)
            here = at, True
            (first, there), (last, some) = (beside(at, step), here) if node["exclusive"] else (here, beside(at, -step))
            found = results.at(flat(b, node.shape, first)) if there is not False else []
            for implied in found:
                rest = self.elements.element(node, last)
                ends = (rest.nlo, rest.hi)
                for known in results.at(flat(b, node.shape, last)):
                    ends = smaller_or_second(b, known.ends, ends)
                if some is False:
                    ends = tuple(map(b.const, neutral))
                elif some is not True:
                    ends = tuple(b.select(some, end, none) for end, none in zip(ends, neutral, strict=True))
                implied, own = implied if there is True else implied.where(b, there), self.elements.element(x, at)
                found_ends = inverse_of_reduction(b, SCANS[node.op], implied.ends, own, Pair(*ends))
                cells.put(i, BackwardInterval(*found_ends, implied.sure))
            return []
        self.each(size, put_argument)


def _worth_storing(nodes: list[Expr]) -> set[Expr]:
    """Arrays that are enclosed once and stored, since the way back reads them again; others are cheap enough to be repeated."""
    stored: set[Expr] = set()
    cost: dict[Expr, int] = {}
    for node in nodes:
        cost[node] = own_cost(node) + sum(1 if a in stored else cost[a] for a in node.args)
        heavy = node.kind is Kind.MAP and cost[node] >= POLICY.worth_storing
        if node.size > 1 and (heavy or node.kind in (Kind.REDUCE, Kind.SCAN) or node.op == "concat"):
            stored.add(node)
    return stored


def _is_empty(b: Builder, implied: BackwardInterval) -> Value:
    """Is the interval empty? Not where it is NaN."""
    return b.olt(implied.hi, b.neg(implied.nlo))
