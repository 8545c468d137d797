"""The only lowering: a plan for an expression becomes the program of a kernel. Its variables are those of a lane's box."""

import itertools
import math
from collections.abc import Callable
from typing import Any

from infimum.expr.node import Expr
from infimum.interval.pair import INF, UNDEFINED, Pair, is_empty
from infimum.kernel.box_conclusions import shown_level
from infimum.kernel.constant_data import Data
from infimum.kernel.element_lowering import PLAIN_SUM, Elements, Leaf, Tighter
from infimum.kernel.ir import Builder, Value
from infimum.kernel.meaning import Meaning
from infimum.kernel.schedule import Plan, Stage, plan
from infimum.kernel.view_positions import At, flat
from infimum.ops.vocabulary import Kind

Writer = Callable[[At, Any], None]


class Lowering:
    """Writes programs with one meaning for given leaves (name of a variable -> its element at a position)."""

    def __init__(self, b: Builder, meaning: Meaning, leaves: dict[str, Leaf], data: Data, tighter: Tighter | None = None):
        self.b, self.meaning = b, meaning
        self.elements = Elements(b, meaning, leaves, data, tighter)
        self.depth = b.depth

    @property
    def plan(self) -> Plan:
        return self.elements.plan

    def within(self, leaves: dict[str, Leaf]) -> "Lowering":
        """A Lowering for the inside of a loop, with further leaves: what this one has computed and stored is there already."""
        mine = self.elements
        inner = Lowering(self.b, self.meaning, {**mine.leaves, **leaves}, mine.data)
        inner.elements.memo, inner.elements.buffers = [dict(mine.memo[0])], dict(mine.buffers)
        return inner

    # ---- whole programs
    def run(self, outputs: list[tuple[Expr, Writer]], beside: "SideSum | None" = None, straight: bool | None = None,
            stored: "set[Expr] | None" = None) -> None:
        """Writes the program: `writer(at, value)` is called for every element of each output.

        `beside` is a sum over all variables that the caller wants computed in the same loop; `straight` decides whether the
        program is written without loops (None: if it is short); arrays in `stored` are stored in any case.
        """
        self.depth = self.b.depth
        self.elements.plan = plan([node for node, _ in outputs], straight, stored or set())
        writers: dict[Expr, list[Writer]] = {}
        for node, writer in outputs:
            writers.setdefault(node, []).append(writer)
        (self._straight if self.plan.straight else self._staged)(writers, beside)

    def values(self, nodes: list[Expr], straight: bool | None = None) -> list:
        """The values of scalar expressions."""
        found: dict[int, Any] = {}
        self.run([(node, lambda at, v, k=k: found.setdefault(k, v)) for k, node in enumerate(nodes)], straight=straight)
        return [found[k] for k in range(len(nodes))]

    def elements_at(self, nodes: list[Expr], at: At) -> list:
        """The elements of several expressions at one position, written without loops."""
        self.elements.plan = plan(nodes, straight=True)
        return [self.elements.element(node, at) for node in nodes]

    def _straight(self, writers: dict[Expr, list[Writer]], beside: "SideSum | None") -> None:
        if beside is not None:
            beside.value = self.elements.tree(PLAIN_SUM, [beside.term(i) for i in range(beside.count)])
        for node, calls in writers.items():
            for at in itertools.product(*map(range, node.shape)):
                for writer in calls:
                    writer(at, self.elements.element(node, at))

    def _staged(self, writers: dict[Expr, list[Writer]], beside: "SideSum | None") -> None:
        stages: dict[int, list[Stage]] = {}
        for stage in self.plan.stages:
            stages.setdefault(stage.level, []).append(stage)
        scalars: dict[int, list[Expr]] = {}
        for node in self.plan.nodes:
            if node.size == 1 and node.kind in (Kind.MAP, Kind.TEST):
                scalars.setdefault(self.plan.level[node], []).append(node)
        for level in range(max(stages, default=0) + 1):
            for stage in stages.get(level, ()):
                roots = [r for r in stage.roots if r in writers or not self._is_known(r)]
                if roots:
                    self._stage(roots, stage.shared, writers, beside)
            for node in scalars.get(level, ()):  # computed as soon as they can be, outside every loop
                self.elements.element(node, (0,) * len(node.shape))
        if beside is not None and beside.value is None:
            beside.value, = self.elements.sweep(beside.count, 3, lambda i: [beside.term(i)], [PLAIN_SUM])
        for node, calls in writers.items():
            if node.size <= 1:
                for at in itertools.product(*map(range, node.shape)):
                    for writer in calls:
                        writer(at, self.elements.element(node, at))

    def _is_known(self, root: Expr) -> bool:
        return root in self.elements.buffers or (root, (0,) * len(root.shape)) in self.elements.memo[0]

    def _stage(self, roots: list[Expr], shared: bool, writers: dict[Expr, list[Writer]], beside: "SideSum | None") -> None:
        if not shared:
            self._alone(roots[0], writers)
            return
        reduced = [r for r in roots if r.kind is Kind.REDUCE and r not in self.plan.stored]
        count = (roots[0].args[0] if roots[0] in reduced else roots[0]).shape[0]
        homes: dict[Expr, Any] = {}
        with_beside = beside is not None and beside.value is None and beside.count == count

        def body(i: "int | Value") -> list:
            values = []
            for root in roots:
                if root in reduced:
                    values.append(self.meaning.before(self.b, root.op, self.elements.element(root.args[0], (i,))))
                else:
                    self._place_element(root, (i,), i, homes, writers)
            return [*values, *([beside.term(i)] if with_beside else [])]
        cost = sum(self.plan.cost[r] / (count if r in reduced else 1) for r in roots)
        results = self.elements.sweep(count, cost, body, [r.op for r in reduced] + ([PLAIN_SUM] if with_beside else []))
        if with_beside:
            beside.value = results.pop()
        self.elements.buffers.update(homes)
        for root, value in zip(reduced, results, strict=True):
            self.elements.memo[-1][root, ()] = self.meaning.after(self.b, root.op, value)

    def _alone(self, root: Expr, writers: dict[Expr, list[Writer]]) -> None:
        homes: dict[Expr, Any] = {}
        if root.kind is Kind.REDUCE and root.size == 1:
            self.elements.element(root, (0,) * len(root.shape))
        elif root.kind is Kind.SCAN:
            self._scan(root, homes)
        elif root.op == "concat":
            self._concat(root, homes)
        else:
            self._nest(root.shape, self.plan.cost[root],
                       lambda at: self._place_element(root, at, flat(self.b, root.shape, at), homes, writers))
        self.elements.buffers.update(homes)
        if root in homes and root in writers and (root.kind is Kind.SCAN or root.op == "concat"):
            def write(at: At) -> None:
                for writer in writers[root]:
                    writer(at, self.elements.element(root, at))
            self._nest(root.shape, 2, write)

    def _nest(self, shape: tuple[int, ...], cost: float, body: Callable[[At], None], at: At = ()) -> None:
        """body for every position of the shape, axis by axis."""
        if len(at) == len(shape):
            body(at)
            return
        inner = math.prod(shape[len(at) + 1:]) * cost

        def turn(i: "int | Value") -> list:
            self._nest(shape, cost, body, (*at, i))
            return []
        self.elements.sweep(shape[len(at)], inner, turn, [])

    def _place_element(self, root: Expr, at: At, position: "int | Value", homes: dict, writers: dict) -> None:
        """Computes one element of a stored or output array and puts it where it belongs."""
        value = self.elements.element(root, at)
        if root in self.plan.stored:
            self._keep(root, position, value, homes)
        for writer in writers.get(root, ()):
            writer(at, value)

    def _keep(self, root: Expr, position: "int | Value", value: Any, homes: dict) -> None:
        """Stores an element. What is known statically of a stored array holds for all its elements."""
        lanes, form = self.meaning.lanes(self.b, value), self.meaning.form(value)
        if root not in homes:
            homes[root] = [self.b.buffer(root.size, self.depth) for _ in lanes], form
        buffers, known = homes[root]
        homes[root] = buffers, self.meaning.common(known, form)
        for buffer, lane in zip(buffers, lanes, strict=True):
            self.b.store(buffer, position, lane)

    def _scan(self, node: Expr, homes: dict) -> None:
        *lead, count = node.shape

        def rows(at: At) -> None:
            with self.b.loop(count) as turn, self.elements.scope():
                i = self.b.place("usub", count - 1, turn.index) if node["reverse"] else turn.index
                values = [self.elements.element(a, (*at, i)) for a in node.args]
                value = self.elements.recurrence(*values) if node.op == "recur" else self.elements.running(node, values[0])
                self._keep(node, flat(self.b, node.shape, (*at, i)), value, homes)
        self._nest(tuple(lead), count * self.plan.cost[node], rows)

    def _concat(self, node: Expr, homes: dict) -> None:
        """Each part has a loop of its own; all store into one array."""
        offset = 0
        for part in node.args:
            def turn(i: "int | Value", part: Expr = part, offset: int = offset) -> list:
                self._keep(node, self.b.place("uadd", offset, i), self.elements.element(part, (i,)), homes)
                return []
            self.elements.sweep(part.size, self.plan.cost[part], turn, [])
            offset += part.size


class SideSum:
    """A sum of doubles over all variables, computed beside the program: `term(i)` is the i-th, `value` the result."""

    def __init__(self, count: int, term: Callable[["int | Value"], Any]):
        self.count, self.term, self.value = count, term, None


class LaneBox:
    """The box of a lane as leaves of an expression, and the guard against boxes that are none."""

    def __init__(self, b: Builder, n: int):
        self.b = b
        self.guard = SideSum(n, self._gap)

    def __call__(self, i: "int | Value") -> Pair:
        return Pair(self.b.neg(self.b.input(0, i)), self.b.input(1, i))

    def _gap(self, i: "int | Value") -> Value:
        """max(0, lo - hi): 0 for an interval, positive for an empty one, NaN for NaN ends and for points at infinity."""
        b = self.b
        return b.max(0.0, b.sub(b.input(0, i), b.input(1, i)))

    def write(self, slot: int, value: Pair) -> None:
        """Outputs lo, hi and level of the value at slot …: Empty for an empty box, everything and undefined for no box or NaN."""
        b, gap = self.b, self.guard.value
        empty, broken = b.ogt(gap, 0.0), b.mor(b.uno(gap, gap), b.uno(value.nlo, value.hi))
        ends = [b.select(empty, -INF, b.select(broken, INF, end)) for end in (value.nlo, value.hi)]
        bad = b.mor(empty, broken)
        b.output(slot, 0, b.neg(ends[0]))
        b.output(slot + 1, 0, ends[1])
        b.output(slot + 2, 0, b.select(bad, float(UNDEFINED), shown_level(b, value.level)))


def constant_leaf(b: Builder, slot: int, count: int) -> Callable[["int | Value"], Pair]:
    """Constants that are a lane's own: their lower ends are the first rows of an input, their upper ends the others."""
    return lambda i: Pair(b.neg(b.input(slot, i)), b.input(slot, b.place("uadd", i, count)))


def write_pair(b: Builder, slot: int) -> Callable[["int | Value", Pair], None]:
    """A writer of derivative enclosures. NaN and Empty become the whole line: the value's status tells what they are worth."""
    def write(row: "int | Value", value: Pair) -> None:
        broken = b.uno(value.nlo, value.hi)
        if value.may_be_empty:
            broken = b.mor(broken, is_empty(b, value))
        b.output(slot, row, b.neg(b.select(broken, INF, value.nlo)))
        b.output(slot + 1, row, b.select(broken, INF, value.hi))
    return write
