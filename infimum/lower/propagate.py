"""Forward-backward propagation (HC4) of a function and its constraints: a lane cuts its piece out of a region and shrinks it.

**Forward**: the natural enclosures of all operations on the piece, one graph for the function and all constraints. **Backward**:
the function is at most the upper bound, each constraint lies between its ends, and what that says of a result is handed on to the
arguments (`interval/inverse.py`), to the variables at last. A point at which the function or a constraint is undefined is no
solution, so that the domains of operations shrink the piece as well; but not through a branch of `where` unless it is certainly
chosen, nor through elements that nobody reads.

One run is one round. A round reads and writes the same columns (`lower/branch.py`), so that rounds are runs to and fro: the first
cuts, the others take the piece that is all of its parent.

**Gone** is a piece on which a constraint is certainly violated, or the function or a constraint undefined; and where there is no
upper bound yet, one of which nothing is left. Where nothing is left of a piece and there is an upper bound, that may be its
doing: the lower bound becomes infinite, since the function is above the upper bound wherever the constraints hold.
"""

from collections.abc import Callable, Sequence

import numpy as np

from infimum.expr.node import Expr, topological
from infimum.expr.ops import Kind
from infimum.expr.system import System
from infimum.interval.inverse import inverse, inverse_of_reduction
from infimum.interval.pair import INF, Pair, is_empty
from infimum.lower.branch import GONE, STUCK, CutOut, can_be_cut, rows, rows_of
from infimum.lower.data import Data
from infimum.lower.kernel import Builder, Kernel, Value
from infimum.lower.lowering import Lowering
from infimum.lower.meaning import Enclosures
from infimum.lower.proof import best_lower, larger, natural, shown_level, with_larger
from infimum.lower.said import Cells, Pulls, Said, Source, joined
from infimum.lower.views import At, flat, unflat

WRITTEN_OUT = 600  # elements of operations up to which a program has no loops
_COMPUTING = (Kind.MAP, Kind.REDUCE, Kind.SCAN)
MORE = 5            # parameters behind the user's bounds and the numbers of the variables


class Propagate:
    """Writes the kernel. Parameters: those of `lower/branch.py` `Piece`, and the upper bound."""

    def __init__(self, system: System, x: Expr, written_out: int):
        self.b, self.data, self.n, self.system, self.x = Builder(), Data(), x.size, system, x
        b, n = self.b, x.size
        self.at = self.data.offset(np.zeros(3 * n + MORE))
        self.narrow, self.upper = b.data(self.at + 3 * n + 3), b.data(self.at + 3 * n + 4)
        self.piece = CutOut(b, n, lambda i: self._given(2, i), self.at + 3 * n)
        self.empty: list[Value] = []     # masks: nothing is left
        self.violated: list[Value] = []  # masks: by a constraint or a domain alone
        self._forward(written_out)
        self._roots()
        self._backward()
        self._write()

    def _given(self, which: int, i: "int | Value") -> Value:
        """The user's lower bound (0), upper bound (1), or the number (2) of variable i."""
        return self.b.data(self.b.place("uadd", self.at + which * self.n, i))

    # ---- forward
    def _forward(self, written_out: int) -> None:
        roots = [self.system.f, *self.system.bodies]
        self.nodes = list(topological(roots))
        self.needed: set[Expr] = set()  # what depends on the variables
        for node in self.nodes:
            if node is self.x or any(a in self.needed for a in node.args):
                self.needed.add(node)
        self.straight = sum(node.size for node in self.needed if node.kind in _COMPUTING) <= written_out
        stored = {node for node in self.nodes if node.size > 1 and (node.kind in _COMPUTING or node.op == "concat")}
        lowering = Lowering(self.b, Enclosures(), {"x": self._box}, self.data)
        lowering.run([(root, lambda at, value: None) for root in roots], straight=self.straight, stored=stored)
        self.elements = lowering.elements

    def _box(self, i: "int | Value") -> Pair:
        lo, hi = self.piece.ends(i)
        return Pair(self.b.neg(lo), hi)

    def _written_out(self, size: int) -> bool:
        return self.straight or size == 1

    def _each(self, size: int, body: Callable[["int | Value"], list[Value]]) -> list[Value]:
        """body(i) for all positions of an array; masks that hold where one of its masks does."""
        b = self.b
        if self._written_out(size):
            return [mask for i in range(size) for mask in body(i)]
        with b.loop(size) as turn, self.elements.scope():
            steps = [b.step((0.0,), (b.select(mask, 1.0, 0.0),), larger) for mask in body(turn.index)]
        return [b.ogt(step.results[0], 0.0) for step in steps]

    def _element(self, node: Expr, i: "int | Value") -> Pair:
        return self.elements.element(node, unflat(self.b, node.shape, i))

    # ---- what is required
    def _roots(self) -> None:
        b, system, begin = self.b, self.system, 0
        self.f = self._element(system.f, 0)
        self.natural = natural(b, self.f)
        self.violated.append(self.natural.empty)
        self.required: dict[Expr, list[Source]] = {}
        self._require(system.f, lambda i: [Said(b.const(INF), self.upper, True)])
        low, high = self.data.offset(system.lower), self.data.offset(system.upper)
        for body in system.bodies:
            def ends(i: "int | Value", begin: int = begin) -> tuple[Value, Value]:
                return tuple(b.data(b.place("uadd", at + begin, i)) for at in (low, high))

            def require(i: "int | Value", ends: Callable = ends) -> list[Said]:
                lo, hi = ends(i)
                return [Said(b.neg(lo), hi, True)]

            def violations(i: "int | Value", body: Expr = body, ends: Callable = ends) -> list[Value]:
                value, (lo, hi) = self._element(body, i), ends(i)
                outside = b.mor(b.olt(value.hi, lo), b.ogt(b.neg(value.nlo), hi))
                return [b.mor(outside, is_empty(b, value)) if value.may_be_empty else outside]
            self._require(body, require)
            self.violated += self._each(body.size, violations)
            begin += body.size

    def _require(self, node: Expr, source: Source) -> None:
        self.required.setdefault(node, []).append(source)

    # ---- backward
    def _backward(self) -> None:
        self.users: dict[Expr, list[tuple[Expr, int]]] = {}
        for node in self.nodes:
            for which, arg in enumerate(node.args):
                self.users.setdefault(arg, []).append((node, which))
        self.pulls = Pulls(self.b, self.data, self._written_out)
        self.cells: dict[tuple[Expr, int], Cells] = {}  # what an operation says of an argument; a view, of its own elements
        write = {Kind.MAP: self._map, Kind.VIEW: self._view, Kind.REDUCE: self._reduce}
        for node in reversed(self.nodes):
            if node in self.needed and node.kind in write and node.size:
                write[node.kind](node)

    def _new(self, key: tuple[Expr, int], size: int) -> Cells:
        cells = self.cells[key] = Cells(self.b, size, self._written_out(size), self.b.depth)
        return cells

    def _sources(self, node: Expr) -> list[Source]:
        """Where to read what is said of the node's elements."""
        found, views = list(self.required.get(node, ())), []
        for user, which in self.users.get(node, ()):
            if user.kind is Kind.VIEW and (user, 0) in self.cells:
                views.append((user, which, self.cells[user, 0]))
            elif user.kind is not Kind.VIEW and (user, which) in self.cells:
                found.append(self.cells[user, which].at)
        return found + self.pulls.of(node, views)

    def _map(self, node: Expr) -> None:
        b, sources = self.b, self._sources(node)
        wanted = {k: self._new((node, k), node.size) for k, a in enumerate(node.args)
                  if a in self.needed and a.kind is not Kind.TEST}

        def body(i: "int | Value") -> list[Value]:
            found = [said for source in sources for said in source(i)]
            if not found:
                return []
            at = unflat(b, node.shape, i)
            value = self.elements.element(node, at)
            said, args = joined(b, found, value), [self.elements.element(a, at) for a in node.args]
            for k, cells in wanted.items():
                if node.op == "where":
                    cells.put(i, said.where(b, args[0].yes if k == 1 else args[0].no))
                else:
                    cells.put(i, Said(*inverse(b, node.op, k, said.ends, args, value, **dict(node.params)), said.sure))
            return [_nothing(b, said)]
        self.empty += self._each(node.size, body)

    def _view(self, node: Expr) -> None:
        sources, cells = self._sources(node), self._new((node, 0), node.size)

        def body(i: "int | Value") -> list[Value]:
            said = joined(self.b, [said for source in sources for said in source(i)])
            if said is not None:
                cells.put(i, said)
            return []
        self._each(node.size, body)

    def _reduce(self, node: Expr) -> None:
        """Each element of the argument, from the result and the reduction of the others: those before it, and those behind."""
        b, x, sources = self.b, node.args[0], self._sources(node)
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
            found = [said for source in sources for said in source(o)]
            if not found:
                return []
            outer = unflat(b, node.shape, o)
            said = joined(b, found, self.elements.element(node, outer))

            def term(k: "int | Value") -> tuple["int | Value", Pair]:
                at = place(outer, k)
                return flat(b, x.shape, at), self.elements.element(x, at)

            def tell(position: "int | Value", own: Pair, rest: Pair) -> None:
                cells.put(position, Said(*inverse_of_reduction(b, node.op, said.ends, own, rest), said.sure))
            (self._others_written_out if self._written_out(x.size) else self._others)(node.op, count, term, tell)
            return [_nothing(b, said)]
        self.empty += self._each(node.size, body)

    def _others_written_out(self, op: str, count: int, term: Callable, tell: Callable) -> None:
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
            tell(position, own, rest)

    def _others(self, op: str, count: int, term: Callable, tell: Callable) -> None:
        b, elements = self.b, self.elements
        meaning = elements.meaning

        def scan(k: Value) -> tuple:
            position, own = term(k)
            step, form = elements.step(op, meaning.before(b, op, own), "exclusive")
            return position, own, meaning.unpack(step.prefix, form)
        depth = b.depth
        buffers = b.buffer(count, depth), b.buffer(count, depth)
        with b.loop(count) as turn, elements.scope():
            _, _, before = scan(turn.index)
            for buffer, end in zip(buffers, (before.nlo, before.hi), strict=True):
                b.store(buffer, turn.index, end)
        with b.loop(count) as turn, elements.scope():
            k = b.place("usub", count - 1, turn.index)
            position, own, behind = scan(k)
            before = Pair(*(b.load(buffer, k) for buffer in buffers))
            tell(position, own, meaning.combine(op)(b, before, behind))

    # ---- what is left
    def _write(self) -> None:
        b, n = self.b, self.n
        sources, left = self._sources(self.x), Cells(b, n, False, b.depth)
        whole = np.zeros(n)
        whole[list(self.system.integers)] = 1.0
        whole_at = self.data.offset(whole) if whole.any() else None

        def shrink(i: "int | Value") -> list[Value]:
            lo, hi = self.piece.ends(i)
            nlo = b.neg(lo)
            said = joined(b, [said for source in sources for said in source(i)])
            if said is not None:
                nlo, hi = b.min(said.nlo, nlo), b.min(said.hi, hi)
            if whole_at is not None:
                is_whole = b.ogt(b.data(b.place("uadd", whole_at, i)), 0.0)
                nlo, hi = (b.select(is_whole, b.floor(end), end) for end in (nlo, hi))
            left.put(i, Said(nlo, hi, True))
            return [b.olt(hi, b.neg(nlo))]
        self.empty += self._each(n, shrink)
        low_row, axis_row, level_row = rows(n)
        violated, nothing = (self._any(masks) for masks in (self.violated, self.empty))
        endless = b.oeq(self.upper, INF)
        already = b.mor(self.piece.void, b.oeq(b.input(0, axis_row), GONE))
        gone = b.mor(b.mor(already, violated), b.mand(nothing, endless))
        lost = b.mor(gone, nothing)
        above = b.mand(b.mand(nothing, b.mnot(endless)), b.mnot(b.olt(self.natural.nlo, b.neg(self.upper))))
        choices = self._sides(left, lost)
        axis = b.select(gone, GONE, b.select(b.ogt(choices[0], -1.0), choices[1], choices[3]))
        lower = best_lower(b, b.input(0, low_row), b.neg(self.natural.nlo), b.select(above, INF, -INF))
        for row, value in ((low_row, lower), (axis_row, axis), (level_row, shown_level(b, self.natural.level))):
            b.output(0, row, value)

    def _any(self, masks: list[Value]) -> Value:
        found = self.b.ogt(self.b.const(0.0), 0.0)
        for mask in masks:
            found = self.b.mor(found, mask)
        return found

    def _sides(self, left: Cells, lost: Value) -> tuple[Value, ...]:
        """Writes what is left of each side, and chooses the one to cut next, the widest compared with the user's bounds: among
        those that are not narrow, and among all. Returns (its size, its number) of both."""
        b = self.b

        def better(b: Builder, one: tuple, other: tuple) -> tuple:
            return (*with_larger(b, one[:2], other[:2]), *with_larger(b, one[2:], other[2:]))
        with b.loop(self.n) as turn:
            i = turn.index
            (low, high), (said,) = self.piece.ends(i), left.at(i)
            lo, hi = (b.select(lost, was, b.add(now, 0.0)) for was, now in ((low, b.neg(said.nlo)), (high, said.hi)))
            b.output(0, i, lo)
            b.output(0, b.place("uadd", i, self.n), hi)
            width, number = b.sub(hi, lo), self._given(2, i)
            whole = b.min(b.sub(self._given(1, i), self._given(0, i)), 2.0**1000)
            size = b.select(b.olt(width, INF), b.div(width, b.max(whole, 2.0**-1000)), 2.0**1000)
            size = b.select(can_be_cut(b, lo, hi), size, -1.0)
            wide = b.select(b.ogt(width, self.narrow), size, -1.0)
            step = b.step((-1.0, STUCK, -1.0, STUCK), (wide, number, size, number), better)
        return step.results


def _nothing(b: Builder, said: Said) -> Value:
    """Is the interval empty? Not where it is NaN."""
    return b.olt(said.hi, b.neg(said.nlo))


def propagate(name: str, system: System, x: Expr, written_out: int = WRITTEN_OUT) -> tuple[Kernel, Data, tuple[int, ...], int]:
    """(kernel, data, rows of the output, where the parameters begin in the doubles)."""
    writer = Propagate(system, x, written_out)
    return writer.b.kernel(name, 1, 1), writer.data, (rows_of(x.size),), writer.at
