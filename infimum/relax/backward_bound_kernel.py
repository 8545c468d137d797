"""The kernel of linear bounds: what a linear function below f says about a region, a region a lane.

From the variables up all numbers of f are enclosed, and the lines of its functions of one number stored; then the linear function
is composed from f down to the variables (`relax/backward_composition.py`). Where functions of numbers are applied to such
functions, as in a network of several layers, the enclosures are those of affine forms (`relax/affine_meaning.py`), if the
variables are few.

With d = x - lo the function is s·d - h, s rounded down. It gives a lower bound, and where f is not above the verified upper bound
u, s_i d_i is at most u + h less the least of the other terms, which leaves a part of each variable. Nothing is asked of
derivatives: f need not even be continuous.

Proof: docs/proofs/linear_bounds.md.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from infimum.expr.build import build
from infimum.expr.node import Expr, topological
from infimum.interval.arithmetic import mul
from infimum.interval.pair import INF, Pair
from infimum.kernel.box_conclusions import add_up, best_lower, whole_if_unsound, with_larger
from infimum.kernel.constant_data import Data
from infimum.kernel.element_lowering import Elements
from infimum.kernel.ir import Builder, Value
from infimum.kernel.lowering import LaneBox, Lowering
from infimum.kernel.meaning import Enclosures
from infimum.kernel.region_cut import DISCARDED_AXIS, NO_AXIS, can_be_cut, rows, rows_of
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

LEFT, WORTH = range(2)       # the outputs
_MOST_AFFINE_VARIABLES = 32  # for affine forms
# the test paid if at most this part of the volume, or of the distance to the upper bound, is left
_WORTH_VOLUME, _WORTH_GAP_LEFT = 0.25, 0.5
_ENDS = {REMAINDER: 2, VALUE: 2}  # of enclosures
_CURVES = frozenset(op for op in SMOOTH_CURVES if op in OPS)


class LinearLowerBound(NamedTuple):
    """A linear function below another one: Σ slope(i) (x_i - lo_i) - nlo; and the natural enclosure of that one."""

    slope: Callable[["int | Value"], Value]
    nlo: Value
    natural: Pair


class BackwardBoundKernel:
    """Writes linear functions below others in the box, one for each: `lines`."""

    def __init__(self, b: Builder, data: Data, box: Callable[["int | Value"], Pair], functions: list[Expr], x: Expr):
        self.b, self.n, self.depth, self.needs = b, x.size, b.depth, {}
        composed = [BackwardComposition(f, x, _CURVES, self.needs) for f in functions]
        forms = AffineForms(self.n) if self.n <= _MOST_AFFINE_VARIABLES and any(map(_is_deep, composed)) else None
        self.kept: dict[str, list[int | Value]] = {}  # of each variable of the composed functions the buffers, or the numbers
        enclosures = self._upward(composed, forms, box, data)
        self.lines = [self._downward(c, found, box, data) for c, found in zip(composed, enclosures, strict=True)]

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
    def _downward(self, composed: BackwardComposition, enclosure: Pair, box: Callable, data: Data) -> LinearLowerBound:
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
        return LinearLowerBound(lambda i: b.neg(b.load(ends[0], i)), b.add(out["rest"].nlo, total.results[0]),
                                whole_if_unsound(b, enclosure))

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


def least(b: Builder, n: int, line: LinearLowerBound, box: Callable[["int | Value"], Pair]
          ) -> tuple[Value, Value, Callable[["int | Value"], Value]]:
    """Minus the least value of the function, whether it is one, and what each variable takes from the constant at most."""
    def fall(i: "int | Value") -> Value:
        return b.max(b.mul(b.neg(line.slope(i)), width(i)), 0.0)

    def width(i: "int | Value") -> Value:
        return b.sub(box(i).hi, box(i).lo(b))
    with b.loop(n) as turn:
        i = turn.index
        broken = b.select(b.mand(b.olt(b.abs(line.slope(i)), INF), b.olt(width(i), INF)), 0.0, 1.0)
        fell = b.step((0.0, 0.0), (fall(i), broken), add_up)
    total = b.add(line.nlo, fell.results[0])
    return total, b.mand(b.olt(b.abs(total), INF), b.oeq(fell.results[1], 0.0)), fall


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
        total, usable, _ = least(b, n, found, box)
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


# ---- what the function says about a region
def linear(name: str, f: Expr, x: Expr) -> tuple:
    """(kernel, data, rows of the outputs, where the parameters begin). Input: the regions. Parameters: what sides are multiplied
    with before they are compared, the verified upper bound, the numbers of the variables."""
    b, data, n = Builder(), Data(), x.size
    at = data.offset(np.zeros(2 * n + 1))

    def box(i: "int | Value") -> Pair:
        return Pair(b.neg(b.input(0, i)), b.input(0, b.place("uadd", i, n)))
    _write(b, n, at, box, *BackwardBoundKernel(b, data, box, [f], x).lines)
    return b.kernel(name, 1, 2), data, (rows_of(n), 1), at


def _write(b: Builder, n: int, at: int, box: Callable, found: LinearLowerBound) -> None:
    low_row, axis_row, level_row = rows(n)
    upper, known = b.data(at + n), b.input(0, low_row)
    total, usable, fall = least(b, n, found, box)
    lower = best_lower(b, known, b.neg(found.natural.nlo), b.select(usable, b.neg(total), -INF))
    with b.loop(n) as turn:
        i = turn.index
        s, lo, hi = found.slope(i), box(i).lo(b), box(i).hi
        width = b.sub(hi, lo)
        room = b.sub(b.add(upper, total), fall(i))  # s_i d_i is at most this
        reach = b.div(room, s)                   # rounded up: the end of d_i where it rises,
        start = b.neg(b.div(b.neg(room), s))     # rounded down: its beginning where it falls
        cut = b.mand(usable, b.olt(b.abs(room), INF))
        rises, drops = b.mand(cut, b.ogt(s, 0.0)), b.mand(cut, b.olt(s, 0.0))
        right = b.select(b.mand(rises, b.olt(reach, width)), b.min(b.add(lo, reach), hi), hi)
        left = b.select(b.mand(drops, b.ogt(start, 0.0)), b.max(b.neg(b.sub(b.neg(lo), start)), lo), lo)
        alive = b.ole(left, right)
        left, right = b.select(alive, left, lo), b.select(alive, right, hi)
        b.output(LEFT, i, left)
        b.output(LEFT, b.place("uadd", i, n), right)
        side = b.sub(right, left)
        weight, number = b.data(b.place("uadd", at, i)), b.data(b.place("uadd", at + n + 1, i))
        size = b.select(can_be_cut(b, left, right), b.min(b.mul(side, weight), 2.0**1000), -1.0)
        chosen = b.step((-1.0, NO_AXIS), (size, number), with_larger)
        volume = b.step((1.0,), (b.select(b.ogt(width, 0.0), b.div(side, width), 1.0),),
                        lambda b, p, q: (b.mul(p[0], q[0]),))
    away = b.mor(b.ogt(lower, upper), b.oeq(b.input(0, axis_row), DISCARDED_AXIS))
    nearer = b.ole(b.sub(upper, lower), b.mul(_WORTH_GAP_LEFT, b.sub(upper, known)))
    worth = b.mor(away, b.mor(b.ole(volume.results[0], _WORTH_VOLUME), b.mand(b.olt(upper, INF), nearer)))
    axis = b.select(away, DISCARDED_AXIS, chosen.results[1])
    for row, value in ((low_row, lower), (axis_row, axis), (level_row, b.input(0, level_row))):
        b.output(LEFT, row, value)
    b.output(WORTH, 0, b.select(worth, 1.0, 0.0))

