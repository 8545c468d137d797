"""Kernels of a sweep: all variables of a box are cut into slices at once, each slice with the other variables at their full
range.

`context` computes the numbers that the local form of f needs, one box a lane. `sweep` has a lane for each variable of each box
and loops over the slices: a slice is dropped if f is certainly above the upper bound on it, or if f certainly rises or falls
there and the slice does not reach the *user's* bound. What is left of the variable is the hull of the other slices. Every
variable is cut by a test that sees the whole box before the sweep, so that all cuts hold together.

`sample` is the same for points: where along its window is f lowest if this variable alone moves? An estimate.
"""

from collections.abc import Callable

import numpy as np

from infimum.expr.diff import gradient
from infimum.expr.hoist import LocalForm, Y, all_sources, local_form
from infimum.expr.node import Expr, var
from infimum.interval.arithmetic import mul, sub
from infimum.interval.pair import INF, LIPSCHITZ, UNDEFINED, Pair, b_level
from infimum.lower.bound import sound
from infimum.lower.data import Data
from infimum.lower.kernel import Builder, Value
from infimum.lower.lowering import Lowering
from infimum.lower.meaning import Enclosures, Estimates

# the inputs of a sweep: rows lo and hi; the user's bounds, and 1 if the whole box is bounded (on an unbounded one the infimum may
# be approached at infinity, and no derivative discards); the numbers
BOX, USER, NUMBERS = range(3)
NEW_LO, NEW_HI, ALIVE, LEAST = range(4)  # rows of its output
LANES = {"constant": 1, "inside": 1}     # rows of a number; of the others three: lower end, upper end, level
SLICES = 64


def context(name: str, f: Expr, x: Expr, estimates: bool = False, block: int = 1) -> tuple:
    """The sources of the numbers: for each, arrays of lower ends, upper ends and levels; of values for estimates."""
    form, b, data = local_form(f, x, block), Builder(), Data()
    nodes = all_sources(form)
    each = 1 if estimates else 3

    def writer(k: int) -> Callable:
        def write(at: tuple, v: Pair) -> None:
            row = at[0] if at else 0
            if estimates:
                b.output(k, row, v)
                return
            broken = b.mor(b.uno(v.nlo, v.hi), b.mor(b.oeq(v.nlo, -INF), b.oeq(v.hi, -INF)))
            nlo, hi = sound(b, v.nlo, v.hi)
            b.output(each * k, row, b.neg(nlo))
            b.output(each * k + 1, row, hi)
            b.output(each * k + 2, row, b.select(broken, float(UNDEFINED), b_level(b, v.level)))
        return write

    def box(i: "int | Value") -> Pair:
        return b.input(0, i) if estimates else Pair(b.neg(b.input(0, i)), b.input(1, i))
    outputs = [(node, writer(k)) for k, node in enumerate(nodes)]
    if outputs:
        Lowering(b, Estimates() if estimates else Enclosures(), {"x": box}, data).run(outputs)
    rows = tuple(node.size for node in nodes for _ in range(each))
    return b.kernel(name, 1 if estimates else 2, len(rows)), data, rows, 0


def _row_of(form: LocalForm, estimates: bool) -> dict[str, int]:
    """Where the rows of each number begin."""
    rows, at = {}, 0
    for number in form.numbers:
        rows[number.name] = at
        at += 1 if estimates else LANES.get(number.kind, 3)
    return rows


def _leaves(b: Builder, form: LocalForm) -> dict[str, Callable]:
    rows, leaves = _row_of(form, False), {}
    for number in form.numbers:
        at = rows[number.name]
        if number.kind in LANES:
            def leaf(_: int, at: int = at) -> Pair:
                return Pair(b.neg(b.input(NUMBERS, at)), b.input(NUMBERS, at))
        else:
            def leaf(_: int, at: int = at, least: int = 0 if number.kind == "others" else -1) -> Pair:
                return Pair(b.neg(b.input(NUMBERS, at)), b.input(NUMBERS, at + 1), b.input(NUMBERS, at + 2), least=least)
        leaves[number.name] = leaf
    return leaves


def sweep(name: str, f: Expr, x: Expr) -> tuple:
    """The kernel. Parameters: the upper bound, then the ends of the slices as parts of the width, 0 … 1."""
    form, b, data = local_form(f, x), Builder(), Data()
    y, slope = var(Y, ()), None
    at = data.offset(np.zeros(SLICES + 2))
    leaves, upper, bounded = _leaves(b, form), b.data(at), b.ogt(b.input(USER, 2), 0.0)
    slope = gradient(form.value, y)
    lo, hi, low, high = b.input(BOX, 0), b.input(BOX, 1), b.input(USER, 0), b.input(USER, 1)
    width = b.sub(hi, lo)

    def value_at(pair: Pair, *nodes: Expr) -> list[Pair]:
        out: dict[int, Pair] = {}
        Lowering(b, Enclosures(), {**leaves, Y: lambda _: pair}, data).run(
            [(node, lambda at, v, k=k: out.setdefault(k, v)) for k, node in enumerate(nodes)], straight=True)
        return [out[k] for k in range(len(nodes))]

    def end(k: "int | Value") -> Value:
        """One double for both neighbours; the first and the last are the ends of the box."""
        part = b.data(b.place("uadd", at + 1, k))
        inside = b.min(b.max(b.fma(width, part, lo), lo), hi)
        return b.select(b.ole(part, 0.0), lo, b.select(b.oge(part, 1.0), hi, inside))
    with b.loop(SLICES) as turn:
        left, right = end(turn.index), end(b.place("uadd", turn.index, 1))
        piece = Pair(b.neg(left), right)
        natural, derivative = value_at(piece, form.value, slope)
        nlo, _ = sound(b, natural.nlo, natural.hi)
        empty = b.mand(b.oeq(natural.nlo, -INF), b.oeq(natural.hi, -INF))
        level = b.select(b.uno(natural.nlo, natural.hi), float(UNDEFINED), b_level(b, natural.level))
        lipschitz = b.oge(level, float(LIPSCHITZ))
        g = Pair(*sound(b, derivative.nlo, derivative.hi))
        middle = b.min(b.max(b.add(b.mul(left, 0.5), b.mul(right, 0.5)), left), right)
        centre = Pair(b.neg(middle), middle)
        value, = value_at(centre, form.value)
        mean = b.add(value.nlo, mul(b, g, sub(b, piece, centre)).nlo)
        usable = b.mand(lipschitz, b.mand(b.ogt(mean, -INF), b.ogt(value.nlo, -INF)))
        nlo = b.select(b.mand(usable, b.olt(mean, nlo)), mean, nlo)
        first_order = lipschitz if form.exact else b.mand(lipschitz, b.olt(1.0, 0.0))
        rises, falls = (b.mand(first_order, b.olt(e, 0.0)) for e in (g.nlo, g.hi))
        dead = b.mand(bounded, b.mor(b.mand(rises, b.ogt(left, low)), b.mand(falls, b.olt(right, high))))
        dead = b.mor(b.mor(dead, empty), b.ogt(b.neg(nlo), upper))
        kept_left = b.select(b.mand(falls, b.mand(b.oeq(right, high), b.olt(high, INF))), right, left)
        kept_right = b.select(b.mand(rises, b.mand(b.oeq(left, low), b.ogt(low, -INF))), left, right)
        inputs = (b.select(dead, -INF, b.neg(kept_left)), b.select(dead, -INF, kept_right), b.select(dead, 0.0, 1.0),
                  b.select(dead, -INF, nlo))
        step = b.step((-INF, -INF, 0.0, -INF), inputs, lambda b, p, q: (
            b.max(p[0], q[0]), b.max(p[1], q[1]), b.add(p[2], q[2]), b.max(p[3], q[3])))
    new_nlo, new_hi, alive, least = step.results
    for row, v in ((NEW_LO, b.neg(new_nlo)), (NEW_HI, new_hi), (ALIVE, alive), (LEAST, b.neg(least))):
        b.output(0, row, v)
    return b.kernel(name, 3, 1), data, (4,), at


def sample(name: str, f: Expr, x: Expr) -> tuple:
    """Inputs: the window (lo, hi) of each variable, unused, the numbers. Output: the lowest place, its value, the highest place,
    its value. Parameters as
    above."""
    form, b, data = local_form(f, x), Builder(), Data()
    at = data.offset(np.zeros(SLICES + 2))
    rows = _row_of(form, True)
    leaves = {number.name: (lambda _, at=rows[number.name]: b.input(NUMBERS, at)) for number in form.numbers}
    lo, hi = b.input(BOX, 0), b.input(BOX, 1)
    with b.loop(SLICES + 1) as turn:
        part = b.data(b.place("uadd", at + 1, turn.index))
        place = b.min(b.max(b.fma(b.sub(hi, lo), part, lo), lo), hi)
        out: dict[str, Value] = {}
        Lowering(b, Estimates(), {**leaves, Y: lambda _: place}, data).run(
            [(form.value, lambda at, v: out.setdefault("f", v))], straight=True)
        finite = b.ole(b.abs(out["f"]), 2.0**1023)
        low, high = (b.step((INF, 0.0), (b.select(finite, v, INF), place), _lower) for v in (out["f"], b.neg(out["f"])))
    for row, v in enumerate((low.results[1], low.results[0], high.results[1], b.neg(high.results[0]))):
        b.output(0, row, v)
    return b.kernel(name, 3, 1), data, (4,), at


def _lower(b: Builder, p: tuple, q: tuple) -> tuple:
    """The pair (value, place) with the lower value, the first of equals."""
    second = b.olt(q[0], p[0])
    return b.select(second, q[0], p[0]), b.select(second, q[1], p[1])
