"""Linear functions below others, composed backward through them, a region a lane.

From the variables up all numbers of f are enclosed, and the lines of its functions of one number stored; then the linear function
is composed from f down to the variables (`relax/backward_composition.py`). Where functions of numbers are applied to such
functions, as in a network of several layers, the enclosures are those of affine forms (`relax/affine_meaning.py`), if the
variables are few.

With d = x - lo the function is s·d - h, s rounded down. Nothing is asked of derivatives: f need not even be continuous.

Proof: docs/proofs/linear_bounds.md.
"""

from collections.abc import Callable
from typing import Any

from infimum.expr.build import build
from infimum.expr.node import Expr, topological
from infimum.interval.arithmetic import mul
from infimum.interval.pair import INF, Pair
from infimum.kernel.box_conclusions import add_up, whole_if_unsound
from infimum.kernel.constant_data import Data
from infimum.kernel.element_lowering import Elements
from infimum.kernel.ir import Builder, Value
from infimum.kernel.lowering import LaneBox, Lowering
from infimum.kernel.meaning import Enclosures
from infimum.kernel.view_positions import At, flat
from infimum.ops.choices import decided
from infimum.ops.line_rules import SMOOTH_CURVES, middle_planes
from infimum.ops.vocabulary import OPS
from infimum.relax.affine_meaning import AffineElement, AffineForms
from infimum.relax.backward_composition import (
    CHOICE,
    CURVE,
    OPAQUE,
    PRODUCT,
    REMAINDER,
    REST_ABOVE,
    REST_BELOW,
    VALUE,
    BackwardComposition,
    Requirement,
)
from infimum.relax.curve_lines import HINGES, hinge, lines_at
from infimum.relax.lane_relaxation import LinearLowerBound
from infimum.search.policy.bounds import LINEAR_RELAXATIONS as POLICY

_ENDS = {REMAINDER: 2, VALUE: 2}  # of enclosures
_CURVES = frozenset(op for op in SMOOTH_CURVES if op in OPS)


class BackwardBoundKernel:
    """Writes linear functions below others in the box, one for each: `lines`."""

    def __init__(self, b: Builder, data: Data, box: Callable[["int | Value"], Pair], functions: list[Expr], x: Expr):
        self.b, self.n, self.depth, self.needs = b, x.size, b.depth, {}
        composed = [BackwardComposition(f, x, _CURVES, self.needs) for f in functions]
        forms = AffineForms(self.n) if self.n <= POLICY.most_affine_variables and any(map(_is_deep, composed)) else None
        self.kept: dict[str, list[int | Value]] = {}  # of each variable of the composed functions the buffers, or the numbers
        self.natural = [whole_if_unsound(b, pair) for pair in self._upward(composed, forms, box, data)]
        self.lines = [self._downward(c, box, data) for c in composed]

    # ---- from the variables up
    def _upward(self, composed: list[BackwardComposition], forms: AffineForms | None, box: Callable, data: Data) -> list[Pair]:
        b, out, needs = self.b, {}, self.needs.values()
        hooks = {need.node: self._hook(need) for need in needs if need.kind != OPAQUE}
        leaf = box if forms is None else lambda i: forms.leaf(b, i, box(i).lo(b), box(i).hi)
        lowering = Lowering(b, forms or Enclosures(), {"x": leaf}, data, hooks)
        lowering.run([*((c.f, lambda at, v, k=k: out.setdefault(k, v)) for k, c in enumerate(composed)),
                      *((need.node, self._writer(need) if need.kind == OPAQUE else _nowhere) for need in needs)],
                     stored={node for node in hooks if node.size > 1})  # every element that may be read on the way down
        return [_pair(out[k]) for k in range(len(composed))]

    def _hook(self, need: Requirement) -> Callable[[Elements, Pair | AffineElement, At], Pair | AffineElement]:
        """Stores what must be known of an element where it is computed."""
        def store(elements: Elements, value: Pair | AffineElement, at: At) -> Pair | AffineElement:
            args = [_pair(elements.element(arg, at)) for arg in need.node.args]
            self._store(need, at, _KNOWN[need.kind](self.b, need, args, value))
            return value
        return store

    def _writer(self, need: Requirement) -> Callable[[At, Pair | AffineElement], None]:
        return lambda at, value: self._store(need, at, _ends(whole_if_unsound(self.b, _pair(value))))

    def _store(self, need: Requirement, at: At, values: tuple[Value, ...]) -> None:
        """A single number that is computed outside all loops needs no memory."""
        b, rest = self.b, iter(values)
        for name in need.names:
            own = [next(rest) for _ in range(_ENDS.get(name.split()[0], 1))]
            if need.node.size == 1 and b.depth == self.depth:
                self.kept[name] = own
                continue
            if name not in self.kept:
                self.kept[name] = [b.buffer(need.node.size, self.depth) for _ in own]
            for buffer, value in zip(self.kept[name], own, strict=True):
                b.store(buffer, flat(b, need.node.shape, at), value)

    # ---- from a function down
    def _downward(self, composed: BackwardComposition, box: Callable, data: Data) -> LinearLowerBound:
        b = self.b
        leaves = {name: self._leaf(name) for need in self.needs.values() for name in need.names}
        ends, out = [b.buffer(self.n) for _ in range(2)], {}

        def keep(at: At, slope: Pair) -> None:
            for buffer, end in zip(ends, _ends(whole_if_unsound(b, slope)), strict=True):
                b.store(buffer, at[0], end)
        Lowering(b, Enclosures(), leaves, data).run(
            [(composed.slopes, keep), (composed.rest, lambda at, v: out.setdefault("rest", v))])
        with b.loop(self.n) as turn:
            i = turn.index
            lo = box(i).lo(b)
            at_lo = mul(b, Pair(*(b.load(buffer, i) for buffer in ends)), Pair(b.neg(lo), lo, point=lo)).nlo
            total = b.step((0.0,), (at_lo,), add_up)
        return LinearLowerBound(lambda i: b.neg(b.load(ends[0], i)), b.add(out["rest"].nlo, total.results[0]))

    def _leaf(self, name: str) -> Callable[["int | Value"], Pair]:
        b, part = self.b, name.rsplit(maxsplit=1)[0]

        def at(i: "int | Value") -> Pair:
            ends = [v if isinstance(v, Value) else b.load(v, i) for v in self.kept[name]]
            if part == REST_BELOW:
                return Pair(ends[0], b.const(INF))  # what a line below adds, at least
            if part == REST_ABOVE:
                return Pair(b.const(INF), ends[0])
            return Pair(*ends) if len(ends) == 2 else Pair(b.neg(ends[0]), ends[0])
        return at


def _least(b: Builder, n: int, line: LinearLowerBound, box: Callable[["int | Value"], Pair]) -> tuple[Value, Value]:
    """Minus the least value of the function, and whether it is one."""
    with b.loop(n) as turn:
        slope, width = line.slope(turn.index), b.sub(box(turn.index).hi, box(turn.index).lo(b))
        broken = b.select(b.mand(b.olt(b.abs(slope), INF), b.olt(width, INF)), 0.0, 1.0)
        fell = b.step((0.0, 0.0), (b.max(b.mul(b.neg(slope), width), 0.0), broken), add_up)
    total = b.add(line.nlo, fell.results[0])
    return total, b.mand(b.olt(b.abs(total), INF), b.oeq(fell.results[1], 0.0))


def _nowhere(at: At, value: Pair | AffineElement) -> None:
    """What is computed is stored already."""


def _pair(value: Pair | AffineElement) -> Pair:
    return value.pair if isinstance(value, AffineElement) else value


def _ends(p: Pair) -> tuple[Value, Value]:
    return p.nlo, p.hi


def _is_deep(composed: BackwardComposition) -> bool:
    """Are functions of numbers, or products, applied to such?"""
    depth: dict[Expr, int] = {}
    for node in topological([composed.f]):
        depth[node] = max((depth[arg] for arg in node.args), default=0) + (node in composed.needs)
    return depth[composed.f] > 1


def _lines(b: Builder, need: Requirement, args: list[Pair], value: Pair | AffineElement) -> tuple[Value, ...]:
    """Slope and minus the rest of the line below, slope and rest of that above."""
    lines = value.lines if isinstance(value, AffineElement) else None
    if lines is None:
        op, params = need.curve
        argument, y = hinge(b, op, *args) if op in HINGES else (args[0], _pair(value))
        lines = lines_at(b, op, params, argument, y)
    nlo, hi = (b.select(b.olt(b.abs(v), INF), v, INF) for v in (lines.nlo, lines.hi))
    return lines.slope_below, nlo, lines.slope_above, hi


def _planes(b: Builder, need: Requirement, args: list[Pair], value: Pair | AffineElement) -> tuple[Value, ...]:
    """α, β, and the enclosure of the remainder: of u v itself, without planes, where that is no wider."""
    return b.outline("middle_planes", middle_planes, *(end for p in (*args, _pair(value)) for end in _ends(p)))


def _choice(b: Builder, need: Requirement, args: list[Any], value: Pair | AffineElement) -> tuple[Value, ...]:
    """1 for the one that is chosen in the whole box, 0 for the other; what is chosen, where that is not decided."""
    first, second = decided(b, args[0])
    either = b.mor(first, second)
    return (b.select(first, 1.0, 0.0), b.select(second, 1.0, 0.0),
            *(b.select(either, 0.0, end) for end in _ends(whole_if_unsound(b, _pair(value)))))


_KNOWN: dict[str, Callable[..., tuple[Value, ...]]] = {CURVE: _lines, PRODUCT: _planes, CHOICE: _choice}


# ---- what the functions below f and -f enclose
def enclosure(name: str, f: Expr, x: Expr) -> tuple:
    """(kernel, data, rows of the outputs): the natural enclosure of f met with that by linear functions; the slopes of the one
    below and its value at the lower ends; those of the one above."""
    b, data, n = Builder(), Data(), x.size
    box, out = LaneBox(b, n), {}
    Lowering(b, Enclosures(), {"x": box}, data).run([(f, lambda at, v: out.setdefault("f", v))], box.guard)
    natural, ends = out["f"], []
    for k, function in enumerate((f, build("neg", f))):
        found, = BackwardBoundKernel(b, data, box, [function], x).lines
        total, usable = _least(b, n, found, box)
        ends.append(b.select(usable, total, INF))
        with b.loop(n) as turn:
            slope = b.select(usable, found.slope(turn.index), 0.0)
            b.output(3 + 2 * k, turn.index, b.sub(0.0, slope) if k else slope)
        rest = b.select(usable, found.nlo, INF)
        b.output(4 + 2 * k, 0, rest if k else b.neg(rest))
    sound = b.mnot(b.mor(b.uno(natural.nlo, natural.hi), b.oeq(natural.nlo, -INF)))
    box.write(0, natural.but(**{end: b.select(b.mand(sound, b.olt(v, w)), v, w)
                                for end, v, w in (("nlo", ends[0], natural.nlo), ("hi", ends[1], natural.hi))},
                             point=None, zero=False))
    return b.kernel(name, 2, 7), data, (1, 1, 1, n, 1, n, 1)
