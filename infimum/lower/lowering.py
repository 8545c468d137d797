"""The only lowering: elements of expressions become instructions of a kernel."""

import itertools
import math
import sys
from collections.abc import Callable
from contextlib import contextmanager
from typing import Any

import numpy as np

from infimum.expr.node import Expr
from infimum.expr.ops import Kind
from infimum.lower.data import Data
from infimum.lower.kernel import RUN, Builder, Value
from infimum.lower.meaning import SCANS, Estimates, Meaning
from infimum.lower.schedule import UNROLL, Plan, plan

At = tuple["int | Value", ...]
Leaf = Callable[["int | Value"], Any]
Writer = Callable[[At, Any], None]
PLAIN_SUM = "plain sum"  # of doubles, whatever the meaning of the elements
_PLAIN = Estimates()


class Lowering:
    """Computes elements of expressions with one meaning for given leaves (name of a variable -> its element at a position)."""

    def __init__(self, b: Builder, meaning: Meaning, leaves: dict[str, Leaf], data: Data):
        self.b, self.meaning, self.leaves, self.data = b, meaning, leaves, data
        self.memo: list[dict] = [{}]
        self.buffers: dict[Expr, tuple[list[int], Any]] = {}
        self.plan: Plan | None = None
        self.depth = b.depth

    def within(self, leaves: dict[str, Leaf]) -> "Lowering":
        """A Lowering for the inside of a loop, with further leaves: what this one has computed and stored is there already."""
        inner = Lowering(self.b, self.meaning, {**self.leaves, **leaves}, self.data)
        inner.memo, inner.buffers = [dict(self.memo[0])], dict(self.buffers)
        return inner

    # ---- whole programs
    def run(self, outputs: list[tuple[Expr, Writer]], beside: "Beside | None" = None, straight: bool | None = None,
            stored: "set[Expr] | None" = None) -> None:
        """Writes the program: `writer(at, value)` is called for every element of each output.

        `beside` is a sum over all variables that the caller wants computed in the same loop; `straight` decides whether the
        program is written without loops (None: if it is short); arrays in `stored` are stored in any case.
        """
        self.depth = self.b.depth
        deep = sys.getrecursionlimit()
        sys.setrecursionlimit(max(deep, 200_000))  # expressions may be deep; these frames are Python's own
        try:
            self.plan = plan([node for node, _ in outputs], straight, stored or set())
            writers: dict[Expr, list[Writer]] = {}
            for node, writer in outputs:
                writers.setdefault(node, []).append(writer)
            (self._straight if self.plan.straight else self._staged)(writers, beside)
        finally:
            sys.setrecursionlimit(deep)

    def _straight(self, writers: dict[Expr, list[Writer]], beside: "Beside | None") -> None:
        if beside is not None:
            beside.value = self._tree(PLAIN_SUM, [beside.term(i) for i in range(beside.count)])
        for node, calls in writers.items():
            for at in itertools.product(*map(range, node.shape)):
                for writer in calls:
                    writer(at, self.element(node, at))

    def _staged(self, writers: dict[Expr, list[Writer]], beside: "Beside | None") -> None:
        scalars = [n for n in self.plan.nodes if n.size == 1 and n.kind in (Kind.MAP, Kind.TEST)]
        for level in range(max([s.level for s in self.plan.stages], default=0) + 1):
            for stage in self.plan.stages:
                if stage.level == level:
                    roots = [r for r in stage.roots if r in writers or not self._is_known(r)]
                    if roots:
                        self._stage(roots, stage.shared, writers, beside)
            for node in scalars:  # computed as soon as they can be, outside every loop
                if self.plan.level[node] == level:
                    self.element(node, (0,) * len(node.shape))
        if beside is not None and beside.value is None:
            beside.value, = self.sweep(beside.count, 3, lambda i: [beside.term(i)], [PLAIN_SUM])
        for node, calls in writers.items():
            if node.size <= 1:
                for at in itertools.product(*map(range, node.shape)):
                    for writer in calls:
                        writer(at, self.element(node, at))

    def _is_known(self, root: Expr) -> bool:
        return root in self.buffers or (root, (0,) * len(root.shape)) in self.memo[0]

    def _stage(self, roots: list[Expr], shared: bool, writers: dict[Expr, list[Writer]], beside: "Beside | None") -> None:
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
                    values.append(self.meaning.before(self.b, root.op, self.element(root.args[0], (i,))))
                else:
                    self._settle_element(root, (i,), i, homes, writers)
            return [*values, *([beside.term(i)] if with_beside else [])]
        cost = sum(self.plan.cost[r] / (count if r in reduced else 1) for r in roots)
        results = self.sweep(count, cost, body, [r.op for r in reduced] + ([PLAIN_SUM] if with_beside else []))
        if with_beside:
            beside.value = results.pop()
        self.buffers.update(homes)
        for root, value in zip(reduced, results, strict=True):
            self.memo[-1][root, ()] = self.meaning.after(self.b, root.op, value)

    def _alone(self, root: Expr, writers: dict[Expr, list[Writer]]) -> None:
        homes: dict[Expr, Any] = {}
        if root.kind is Kind.REDUCE and root.size == 1:
            self.element(root, (0,) * len(root.shape))
        elif root.kind is Kind.SCAN:
            self._scan(root, homes)
        elif root.op == "concat":
            self._concat(root, homes)
        else:
            self._nest(root.shape, self.plan.cost[root],
                       lambda at: self._settle_element(root, at, self._flat(root.shape, at), homes, writers))
        self.buffers.update(homes)
        if root in homes and root in writers and (root.kind is Kind.SCAN or root.op == "concat"):
            def write(at: At) -> None:
                for writer in writers[root]:
                    writer(at, self.element(root, at))
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
        self.sweep(shape[len(at)], inner, turn, [])

    def _settle_element(self, root: Expr, at: At, position: "int | Value", homes: dict, writers: dict) -> None:
        """Computes one element of a stored or output array and puts it where it belongs."""
        value = self.element(root, at)
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

    # ---- loops
    @contextmanager
    def _scope(self):
        self.memo.append({})
        yield
        self.memo.pop()

    def sweep(self, count: int, cost: float, body: Callable[["int | Value"], list], ops: list[str]) -> list:
        """body(i) for all i; its values, one for each of `ops`, are reduced in the fixed tree. Short sweeps are written out."""
        if self.plan.straight or count == 1 or (count <= 8 and count * cost <= UNROLL):
            rows = [body(i) for i in range(count)]
            return [self._tree(op, list(column)) for op, column in zip(ops, zip(*rows, strict=True), strict=True)] if ops else []
        with self.b.loop(count) as turn, self._scope():
            steps = [self._step(op, value) for op, value in zip(ops, body(turn.index), strict=True)]
        return [self._meaning(op)[0].unpack(step.results, form) for op, (step, form) in zip(ops, steps, strict=True)]

    def _meaning(self, op: str) -> tuple[Meaning, str]:
        """The meaning in which a reduction combines its values, and its operation."""
        return (_PLAIN, "sum") if op == PLAIN_SUM else (self.meaning, op)

    def _step(self, op: str, value: Any, scan: str | None = None) -> tuple:
        meaning, op = self._meaning(op)
        form = meaning.form(value, op)
        combine = meaning.combine(op)

        def merge(b: Builder, left: tuple[Value, ...], right: tuple[Value, ...]) -> tuple[Value, ...]:
            return meaning.pack(b, combine(b, meaning.unpack(left, form), meaning.unpack(right, form)), form)
        return self.b.step(meaning.neutral(op, form), meaning.pack(self.b, value, form), merge, scan), form

    def _tree(self, op: str, values: list) -> Any:
        """The fixed tree, written out."""
        meaning, op = self._meaning(op)
        combine, stack = meaning.combine(op), []
        if not values:
            return self._neutral(op)
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

    def _neutral(self, op: str) -> Any:
        form = self.meaning.form(self.meaning.zero(self.b))
        return self.meaning.unpack(tuple(self.b.const(v) for v in self.meaning.neutral(op, form)), form)

    # ---- elements
    def element(self, node: Expr, at: At) -> Any:
        """The element of `node` at the position, computed in the innermost loop that is open or further out."""
        for known in reversed(self.memo):
            if (node, at) in known:
                return known[node, at]
        value = self._compute(node, at)
        self.memo[-1][node, at] = value
        return value

    def _compute(self, node: Expr, at: At) -> Any:
        if node in self.buffers:
            buffers, form = self.buffers[node]
            position = self._flat(node.shape, at)
            return self.meaning.unpack(tuple(self.b.load(buffer, position) for buffer in buffers), form)
        kind = node.kind
        if kind is Kind.MAP or kind is Kind.TEST:
            values = []
            for arg in node.args:
                values.append(self.element(arg, at))
            return self.meaning.rules[self.plan.rule.get(node, node.op)](self.b, *values, **dict(node.params))
        if kind is Kind.LEAF:
            if node.op == "var":
                return self.leaves[node["name"]](at[0])
            return self.meaning.constant(self.b, self.data, node, self._flat(node.shape, at))
        if kind is Kind.REDUCE:
            return self.meaning.after(self.b, node.op, self._reduce(node, at, 0, ()))
        if kind is Kind.SCAN:
            return self._scan_written_out(node, at)
        return _VIEWS[node.op](self, node, at)

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

    # ---- scans
    def _scan(self, node: Expr, homes: dict) -> None:
        *lead, count = node.shape

        def rows(at: At) -> None:
            with self.b.loop(count) as turn, self._scope():
                i = self.b.place("usub", count - 1, turn.index) if node["reverse"] else turn.index
                values = [self.element(a, (*at, i)) for a in node.args]
                value = self._recurrence(*values) if node.op == "recur" else self._running(node, values[0])
                self._keep(node, self._flat(node.shape, (*at, i)), value, homes)
        self._nest(tuple(lead), count * self.plan.cost[node], rows)

    def _running(self, node: Expr, value: Any) -> Any:
        step, form = self._step(SCANS[node.op], value, "exclusive" if node["exclusive"] else "inclusive")
        return self.meaning.unpack(step.prefix, form)

    def _recurrence(self, a: Any, m: Any) -> Any:
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
                return self._neutral(SCANS[node.op])
            value = self.element(node.args[0], before)
            return value if i - step == last else combine(self.b, self.element(node, before), value)
        value = self.element(node.args[0], at)
        return value if i == last else combine(self.b, self.element(node, before), value)

    def _concat(self, node: Expr, homes: dict) -> None:
        """Each part has a loop of its own; all store into one array."""
        offset = 0
        for part in node.args:
            def turn(i: "int | Value", part: Expr = part, offset: int = offset) -> list:
                self._keep(node, self.b.place("uadd", offset, i), self.element(part, (i,)), homes)
                return []
            self.sweep(part.size, self.plan.cost[part], turn, [])
            offset += part.size

    # ---- positions
    def _flat(self, shape: tuple[int, ...], at: At) -> "int | Value":
        position: int | Value = 0
        for size, i in zip(shape, at, strict=True):
            position = self.b.place("uadd", self.b.place("umul", position, size), i)
        return position

    def _unflat(self, shape: tuple[int, ...], position: "int | Value") -> At:
        at: list[int | Value] = []
        for size in reversed(shape):
            at.append(self.b.place("umod", position, size) if size > 1 else 0)
            position = self.b.place("udiv", position, size)
        return tuple(reversed(at))

    # ---- views
    def _reshape(self, node: Expr, at: At) -> Any:
        x = node.args[0]
        long = [(d, i) for d, i in zip(node.shape, at, strict=True) if d > 1]
        if [d for d, _ in long] == [d for d in x.shape if d > 1]:  # only axes of length 1 come or go
            rest = iter(i for _, i in long)
            return self.element(x, tuple(next(rest) if d > 1 else 0 for d in x.shape))
        return self.element(x, self._unflat(x.shape, self._flat(node.shape, at)))

    def _transpose(self, node: Expr, at: At) -> Any:
        perm = node["perm"]
        return self.element(node.args[0], tuple(at[perm.index(axis)] for axis in range(len(perm))))

    def _broadcast(self, node: Expr, at: At) -> Any:
        x = node.args[0]
        tail = at[len(at) - len(x.shape):]
        return self.element(x, tuple(i if d > 1 else 0 for d, i in zip(x.shape, tail, strict=True)))

    def _slice(self, node: Expr, at: At) -> Any:
        place, rows = self.b.place, zip(node["starts"], node["steps"], at, strict=True)
        return self.element(node.args[0], tuple(place("uadd", place("umul", i, step), start) for start, step, i in rows))

    def _gather(self, node: Expr, at: At) -> Any:
        positions = node["index"].array
        if isinstance(at[0], int):
            return self.element(node.args[0], (int(positions[at[0]]),))
        return self.element(node.args[0], (self.b.udata(self.b.place("uadd", self.data.position_offset(positions), at[0])),))

    def _concat_element(self, node: Expr, at: At) -> Any:
        i = at[0]
        for part in node.args:
            if i < part.size:
                return self.element(part, (i,))
            i -= part.size
        raise AssertionError("position beyond the end of concat")

    def _embed(self, node: Expr, at: At) -> Any:
        b, x, masks, inner = self.b, node.args[0], [], []
        for start, step, count, i in zip(node["starts"], node["steps"], x.shape, at, strict=True):
            first = start if step > 0 else start + step * (count - 1)
            stride = abs(step)
            if isinstance(i, int):
                place, rest = divmod(i - first, stride)
                if rest or not 0 <= place < count:
                    return self.meaning.zero(b)
                inner.append(place if step > 0 else count - 1 - place)
                continue
            offset = b.place("umax", b.place("usub", i, first), 0)
            place = b.place("umin", b.place("udiv", offset, stride), count - 1)
            masks.append(b.ueq(b.place("uadd", b.place("umul", place, stride), first), i))
            inner.append(place if step > 0 else b.place("usub", count - 1, place))
        value = self.element(x, tuple(inner))
        for mask in masks:
            value = self.meaning.pick(b, mask, value)
        return value

    def _scatter(self, node: Expr, at: At) -> Any:
        """The sum of the elements that land here, from a table of who lands where."""
        b, x, target = self.b, node.args[0], node["index"].array
        order = np.argsort(target, kind="stable")
        starts = np.searchsorted(target[order], np.arange(node.size + 1))
        if isinstance(at[0], int):
            return self._tree("sum", [self.element(x, (int(i),)) for i in order[starts[at[0]]:starts[at[0] + 1]]])
        sources, begins = (self.data.position_offset(t) for t in self._scatter_table(node, order, starts))
        begin = b.udata(b.place("uadd", begins, at[0]))
        end = b.udata(b.place("uadd", begins + 1, at[0]))
        most = int(np.diff(starts).max(initial=0))
        with b.loop(b.place("usub", end, begin), most) as turn, self._scope():
            source = b.udata(b.place("uadd", sources, b.place("uadd", begin, turn.index)))
            step, form = self._step("sum", self.element(x, (source,)))
        return self.meaning.unpack(step.results, form)

    def _scatter_table(self, node: Expr, order: np.ndarray, starts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        key = ("scatter", node["index"].key, node.size)
        if key not in self.data.tables:
            self.data.tables[key] = order.astype(np.int64), starts.astype(np.int64)
        return self.data.tables[key]


class Beside:
    """A sum of doubles over all variables, computed beside the program: `term(i)` is the i-th, `value` the result."""

    def __init__(self, count: int, term: Callable[["int | Value"], Any]):
        self.count, self.term, self.value = count, term, None


_VIEWS = {
    "reshape": Lowering._reshape, "transpose": Lowering._transpose, "broadcast": Lowering._broadcast, "slice": Lowering._slice,
    "gather": Lowering._gather, "concat": Lowering._concat_element, "embed": Lowering._embed, "scatter": Lowering._scatter,
}
