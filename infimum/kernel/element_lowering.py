"""Elements: one number of an expression at a time becomes instructions of a kernel, or an entry of a table of numbers."""

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import product
from typing import Any

from infimum.expr.node import Expr
from infimum.kernel.constant_data import Data
from infimum.kernel.ir import RUN, Builder, Step, Value
from infimum.kernel.meaning import SCANS, Estimates, Meaning
from infimum.kernel.schedule import UNROLL_COST, Plan
from infimum.kernel.view_positions import VIEWS, At, ElementWriter, Needs, flat
from infimum.ops.vocabulary import Kind
from infimum.support.clock import check_time

Leaf = Callable[["int | Value"], Any]
Tighter = dict[Expr, Callable[["Elements", Any, At], Any]]
PLAIN_SUM = "plain sum"  # of doubles, whatever the meaning of the elements
_PLAIN = Estimates()


class Elements:
    """Computes elements with one meaning for given leaves (name of a variable -> its element at a position).

    `memo` has a table for each loop that is open, `buffers` the arrays that are stored: their buffers and form. `tighter` has
    for some nodes a better way than their rule, which is given the rule's value.
    """

    def __init__(self, b: Builder, meaning: Meaning, leaves: dict[str, Leaf], data: Data, tighter: "Tighter | None" = None):
        self.b, self.meaning, self.leaves, self.data, self.tighter = b, meaning, leaves, data, tighter or {}
        b.constants = data
        self.memo: list[dict] = [{}]
        self.buffers: dict[Expr, tuple[list[int], Any]] = {}
        self.plan: Plan | None = None

    # ---- elements
    def element(self, node: Expr, at: At) -> Any:
        """The element of `node` at the position, computed in the innermost loop that is open or further out.

        Expressions may be deep: what waits for its arguments waits on a list, not on Python's stack.
        """
        value = self._known(node, at)
        waiting = [] if value is not None else [(node, at, *self._needs(node, at), [])]
        while waiting:
            node, at, needs, finish, values = waiting[-1]
            for k in range(len(values), len(needs)):
                value = self._known(*needs[k])
                if value is None:
                    waiting.append((*needs[k], *self._needs(*needs[k]), []))
                    break
                values.append(value)
            else:
                if not len(self.memo[-1]) & 7:
                    check_time()
                value = self.memo[-1][node, at] = finish(*values)
                waiting.pop()
        return value

    def _known(self, node: Expr, at: At) -> Any:
        for known in reversed(self.memo):
            value = known.get((node, at))
            if value is not None:
                return value
        return None

    def _needs(self, node: Expr, at: At) -> Needs:
        """The elements that this one is computed from, and the way to do it."""
        if node in self.buffers:
            return (), lambda: self._load(node, at)
        kind = node.kind
        if kind is Kind.MAP or kind is Kind.TEST:
            return [(arg, at) for arg in node.args], lambda *values: self._map(node, at, values)
        if kind is Kind.LEAF:
            return (), lambda: self._leaf(node, at)
        if kind is Kind.REDUCE:
            return (), lambda: self.meaning.after(self.b, node.op, self._reduce(node, at, 0, ()))
        if kind is Kind.SCAN:
            return (), lambda: self._scan_written_out(node, at)
        return VIEWS[node.op](self, node, at)

    def _load(self, node: Expr, at: At) -> Any:
        buffers, form = self.buffers[node]
        position = flat(self.b, node.shape, at)
        return self.meaning.unpack(tuple(self.b.load(buffer, position) for buffer in buffers), form)

    def _map(self, node: Expr, at: At, values: tuple) -> Any:
        value = self.meaning.rules[self.plan.rule.get(node, node.op)](self.b, *values, **dict(node.params))
        return self.tighter[node](self, value, at) if node in self.tighter else value

    def _leaf(self, node: Expr, at: At) -> Any:
        if node.op == "var":
            return self.leaves[node["name"]](at[0] if at else 0)
        return self.meaning.constant(self.b, self.data, node, flat(self.b, node.shape, at))

    def _reduce(self, node: Expr, at: At, axis: int, inner: At) -> Any:
        """Reduces over the axes in order, the later ones inside the earlier."""
        x = node.args[0]
        if axis == len(x.shape):
            return self.meaning.before(self.b, node.op, self.element(x, inner))
        if axis not in node["axes"]:
            return self._reduce(node, at[1:], axis + 1, (*inner, at[0]))
        rest = math.prod(x.shape[a] for a in node["axes"] if a > axis)
        cost = self.plan.cost[x] * rest
        return self.sweep(x.shape[axis], cost, lambda i: [self._reduce(node, at, axis + 1, (*inner, i))], [node.op])[0]

    # ---- loops
    @contextmanager
    def scope(self) -> Iterator[None]:
        """A loop is open: what is computed in it is forgotten at its end."""
        self.memo.append({})
        yield
        self.memo.pop()

    def sweep(self, count: int, cost: float, body: Callable[["int | Value"], list], ops: list[str]) -> list:
        """body(i) for all i; its values, one for each of `ops`, are reduced in the fixed tree. Short sweeps are written out."""
        if self.plan.straight or count == 1 or (count <= 8 and count * cost <= UNROLL_COST):
            rows = [body(i) for i in range(count)]
            return [self.tree(op, list(column)) for op, column in zip(ops, zip(*rows, strict=True), strict=True)] if ops else []
        with self.b.loop(count) as turn, self.scope():
            steps = [self.step(op, value) for op, value in zip(ops, body(turn.index), strict=True)]
        return [self._meaning(op)[0].unpack(step.results, form) for op, (step, form) in zip(ops, steps, strict=True)]

    def _meaning(self, op: str) -> tuple[Meaning, str]:
        """The meaning in which a reduction combines its values, and its operation."""
        return (_PLAIN, "sum") if op == PLAIN_SUM else (self.meaning, op)

    def step(self, op: str, value: Any, scan: str | None = None) -> tuple[Step, Any]:
        """Combines the value over the turns of the innermost loop; returns the Step and the form of its lanes."""
        meaning, op = self._meaning(op)
        form = meaning.form(value, op)
        combine = meaning.combine(op)

        def merge(b: Builder, left: tuple[Value, ...], right: tuple[Value, ...]) -> tuple[Value, ...]:
            return meaning.pack(b, combine(b, meaning.unpack(left, form), meaning.unpack(right, form)), form)
        return self.b.step(meaning.neutral(op, form), meaning.pack(self.b, value, form), merge, scan), form

    def tree(self, op: str, values: Sequence) -> Any:
        """The fixed tree, written out."""
        meaning, op = self._meaning(op)
        combine, stack = meaning.combine(op), []
        if not values:
            return meaning.nothing(self.b, op)
        for run in range(0, len(values), RUN):
            value = values[run]
            for v in values[run + 1:run + RUN]:
                value = combine(self.b, value, v)
            number = run // RUN
            while number & 1:
                value = combine(self.b, stack.pop(), value)
                number >>= 1
            stack.append(value)
        value = stack.pop()
        while stack:
            value = combine(self.b, stack.pop(), value)
        return value

    # ---- scans
    def running(self, node: Expr, value: Any) -> Any:
        step, form = self.step(SCANS[node.op], value, "exclusive" if node["exclusive"] else "inclusive")
        return self.meaning.unpack(step.prefix, form)

    def recurrence(self, a: Any, m: Any) -> Any:
        """r = a + m * r': the pairs (m, a) compose associatively, so that a scan is a tree as well."""
        meaning = self.meaning
        forms = meaning.form(m, "prod"), meaning.recurrence_form(a, m)
        split = len(meaning.neutral("prod", forms[0]))

        def read(lanes: tuple) -> tuple:
            return meaning.unpack(lanes[:split], forms[0]), meaning.unpack(lanes[split:], forms[1])

        def write(b: Builder, m: Any, a: Any) -> tuple:
            return (*meaning.pack(b, m, forms[0]), *meaning.pack(b, a, forms[1]))

        def merge(b: Builder, left: tuple, right: tuple) -> tuple:
            (m1, a1), (m2, a2) = read(left), read(right)
            return write(b, self._compose("mul", m1, m2), self._compose("add", a2, self._compose("mul", m2, a1)))
        neutral = (*meaning.neutral("prod", forms[0]), *meaning.neutral("sum", forms[1]))
        step = self.b.step(neutral, write(self.b, m, a), merge, "inclusive")
        return read(step.prefix)[1]

    def _compose(self, op: str, x: Any, y: Any) -> Any:
        return self.meaning.rules[op](self.b, x, y)

    def _scan_written_out(self, node: Expr, at: At) -> Any:
        """An element of a scan in a program without loops: from its neighbour."""
        at = at if node.size > 1 else (0,) * len(at)  # a single element is not stored even inside a loop
        *lead, i = at
        last, step = (node.shape[-1] - 1, -1) if node["reverse"] else (0, 1)
        before = (*lead, i - step)
        if node.op == "recur":
            a, m = (self.element(x, at) for x in node.args)
            return a if i == last else self._compose("add", a, self._compose("mul", m, self.element(node, before)))
        combine = self.meaning.combine(SCANS[node.op])
        if node["exclusive"]:
            if i == last:
                return self.meaning.nothing(self.b, SCANS[node.op])
            value = self.element(node.args[0], before)
            return value if i - step == last else combine(self.b, self.element(node, before), value)
        value = self.element(node.args[0], at)
        return value if i == last else combine(self.b, self.element(node, before), value)


Place = tuple[Expr, At]


def summands_or_factors(e: ElementWriter, node: Expr, at: At) -> list[Place] | None:
    """The elements that one of a view or of a sum is the sum of, or one of a product the product; None for anything else."""
    if node.kind is Kind.VIEW:
        return list(VIEWS[node.op](e, node, at)[0])
    if node.kind is Kind.REDUCE and node.op in ("sum", "prod"):
        x, rest = node.args[0], iter(at)
        spans = [range(d) if axis in node["axes"] else (next(rest),) for axis, d in enumerate(x.shape)]
        return [(x, place) for place in product(*spans)]
    return None


def made_in_order(here: Place, known: dict[Place, Any], needs: Callable[..., list[Place]], make: Callable[..., Any]) -> Any:
    """What is made of an element, and first of all that it needs: these wait on a list, not on Python's stack."""
    waiting = [here]
    while waiting:
        place = waiting[-1]
        if place not in known:
            needed = needs(*place)
            missing = [need for need in needed if need not in known]
            if missing:
                waiting += missing
                continue
            known[place] = make(*place, [known[need] for need in needed])
        waiting.pop()
    return known[here]
