"""Kernels of a sweep: all variables of a box are cut into slices at once, each slice with the other variables at their full
range.

`context` computes the numbers that the local form of f needs, one box a lane. `sweep` has a lane for each variable of each box
and loops over the slices: a slice is dropped if f is certainly above the upper bound on it, or if f certainly rises or falls
there and the slice does not reach the *user's* bound. What is left of the variable is the hull of the other slices. Every
variable is cut by a test that sees the whole box before the sweep, so that all cuts hold together.

`sample` is the same for points: where along its window is f lowest if this variable alone moves? `newton` steps to where the
derivative by this variable alone vanishes: in a sum of very many terms the last digits of one variable do not show in f, but in
its derivative they do. Both are estimates.

Proof: docs/proofs/first_order.md.
"""

from collections.abc import Callable

import numpy as np

from infimum.expr.differentiate import gradient
from infimum.expr.node import Expr, var
from infimum.interval.pair import INF, POLE, Pair
from infimum.kernel.box_conclusions import (
    add_up,
    first_order,
    larger,
    natural,
    raised,
    tilt,
    upper_end,
    whole_if_unsound,
    with_lower,
)
from infimum.kernel.constant_data import Data
from infimum.kernel.forms.outcome_enclosures import by_outcome
from infimum.kernel.forms.sliced_pieces import by_slices
from infimum.kernel.ir import Builder, Value
from infimum.kernel.lowering import Lowering
from infimum.kernel.meaning import Enclosures, Estimates
from infimum.kernel.region_cut import ALIVE, LEAST, NEW_HI, NEW_LO
from infimum.search.policy.bounds import SWEEPS as POLICY
from infimum.structure.arrange_reductions import arranged
from infimum.structure.local_form import EXACT, LocalForm, Y, all_sources, local_form

# the inputs of a sweep: rows lo and hi; the user's bounds, and 1 if the whole box is bounded (on an unbounded one the infimum may
# be approached at infinity, and no derivative discards); the numbers
BOX, USER, NUMBERS = range(3)


def context(name: str, f: Expr, x: Expr, estimates: bool = False, block: int = 1, slices: int = 0) -> tuple:
    """The sources of the numbers: for each, arrays of lower ends, upper ends and levels; of values for estimates."""
    form, b, data = local_form(f, x, block), Builder(), Data()
    nodes = all_sources(form)
    each = 1 if estimates else 3

    def box(i: "int | Value") -> Pair:
        return b.input(0, i) if estimates else Pair(b.neg(b.input(0, i)), b.input(1, i))
    writer = _values_to if estimates else enclosures_to
    outputs = [(node, writer(b, each * k)) for k, node in enumerate(nodes)]
    if outputs:
        whole = arranged(f, x)
        tighter = {} if estimates else by_outcome(b, whole, data, by_slices(b, whole, data, slices) if slices else {})
        meaning = Estimates() if estimates else Enclosures()
        Lowering(b, meaning, {"x": box}, data, tighter).run(outputs, straight=False if tighter else None)
    rows = tuple(node.size for node in nodes for _ in range(each))
    return b.kernel(name, 1 if estimates else 2, len(rows)), data, rows, 0


def _values_to(b: Builder, slot: int) -> Callable:
    return lambda at, v: b.output(slot, at[0] if at else 0, v)


def enclosures_to(b: Builder, slot: int) -> Callable:
    """A writer of lower ends, upper ends and levels into three outputs."""
    def write(at: tuple, v: Pair) -> None:
        known, whole = natural(b, v), whole_if_unsound(b, v)
        for k, end in enumerate((b.neg(whole.nlo), whole.hi, b.select(known.empty, float(POLE), known.level))):
            b.output(slot + k, at[0] if at else 0, end)
    return write


def _row_of(form: LocalForm, estimates: bool) -> dict[str, int]:
    """Where the rows of each number begin."""
    rows, at = {}, 0
    for number in form.numbers:
        rows[number.name] = at
        at += 1 if estimates or number.kind in EXACT else 3
    return rows


def number_leaves(b: Builder, form: LocalForm) -> dict[str, Callable]:
    rows, leaves = _row_of(form, False), {}
    for number in form.numbers:
        at = rows[number.name]
        if number.kind in EXACT:
            def leaf(_: int, at: int = at) -> Pair:
                return Pair(b.neg(b.input(NUMBERS, at)), b.input(NUMBERS, at))
        else:
            def leaf(_: int, at: int = at, least: int = 0 if number.kind == "others" else -1) -> Pair:
                return Pair(b.neg(b.input(NUMBERS, at)), b.input(NUMBERS, at + 1), b.input(NUMBERS, at + 2), least=least)
        leaves[number.name] = leaf
    return leaves


def slice_test(b: Builder, form: LocalForm, data: Data, upper: Value) -> Callable[[Value, Value], tuple[Value, ...]]:
    """The test of one slice [left, right] of the variable of a lane, with the other variables as the numbers say: whether it is
    dropped, what is left of it, minus a lower bound of f on it, the status of f there, and what f is at most at its middle."""
    leaves, bounded = number_leaves(b, form), b.ogt(b.input(USER, 2), 0.0)
    low, high, slope = b.input(USER, 0), b.input(USER, 1), gradient(form.value, var(Y, ()))

    def values(y: Pair, *nodes: Expr) -> list[Pair]:
        return Lowering(b, Enclosures(), {**leaves, Y: lambda _: y}, data).values(list(nodes), straight=True)

    def test(left: Value, right: Value) -> tuple[Value, ...]:
        piece = Pair(b.neg(left), right)
        value, derivative = values(piece, form.value, slope)
        known, g = natural(b, value), whole_if_unsound(b, derivative)
        middle = b.min(b.max(b.add(b.mul(left, 0.5), b.mul(right, 0.5)), left), right)
        centre = Pair(b.neg(middle), middle)
        at_centre, = values(centre, form.value)
        nlo = raised(b, known, at_centre, tilt(b, g, piece, centre))
        dead = b.mor(known.empty, b.ogt(b.neg(nlo), upper))
        if form.exact:
            found = first_order(b, known.lipschitz(b), g, left, right, low, high)
            dead = b.mor(dead, b.mand(bounded, found.excluded))
            left, right = found.left, found.right
        return dead, left, right, nlo, known.level, upper_end(b, at_centre)
    return test


def sweep(name: str, f: Expr, x: Expr) -> tuple:
    """The kernel. Parameters: the upper bound, then the ends of the slices as parts of the width, 0 … 1."""
    form, b, data = local_form(f, x), Builder(), Data()
    at = data.offset(np.zeros(POLICY.slices + 2))
    lo, hi, tested = b.input(BOX, 0), b.input(BOX, 1), slice_test(b, form, data, b.data(at))
    width = b.sub(hi, lo)

    def end(k: "int | Value") -> Value:
        """One double for both neighbours; the first and the last are the ends of the box."""
        part = b.data(b.place("uadd", at + 1, k))
        weighed = b.fma(lo, b.sub(1.0, part), b.mul(hi, part))  # where the width is no double, its ends are
        inside = b.min(b.max(b.select(b.olt(width, INF), b.fma(width, part, lo), weighed), lo), hi)
        return b.select(b.ole(part, 0.0), lo, b.select(b.oge(part, 1.0), hi, inside))
    with b.loop(POLICY.slices) as turn:
        left, right = end(turn.index), end(b.place("uadd", turn.index, 1))
        dead, left, right, nlo, *_ = tested(left, right)
        best = b.step((-INF, -INF, -INF), tuple(b.select(dead, -INF, v) for v in (b.neg(left), right, nlo)), larger)
        count = b.step((0.0,), (b.select(dead, 0.0, 1.0),), add_up)
    new_nlo, new_hi, least = best.results
    for row, v in ((NEW_LO, b.neg(new_nlo)), (NEW_HI, new_hi), (ALIVE, count.results[0]), (LEAST, b.neg(least))):
        b.output(0, row, v)
    return b.kernel(name, 3, 1), data, (4,), at


def _point_leaves(b: Builder, form: LocalForm) -> dict[str, Callable]:
    rows = _row_of(form, True)
    return {number.name: (lambda _, at=rows[number.name]: b.input(NUMBERS, at)) for number in form.numbers}


def sample(name: str, f: Expr, x: Expr) -> tuple:
    """Inputs: the window (lo, hi) of each variable, unused, the numbers. Output: the lowest place, its value, the highest place,
    its value. Parameters as above."""
    form, b, data = local_form(f, x), Builder(), Data()
    at = data.offset(np.zeros(POLICY.slices + 2))
    leaves = _point_leaves(b, form)
    lo, hi = b.input(BOX, 0), b.input(BOX, 1)
    with b.loop(POLICY.slices + 1) as turn:
        part = b.data(b.place("uadd", at + 1, turn.index))
        place = b.min(b.max(b.fma(b.sub(hi, lo), part, lo), lo), hi)
        value, = Lowering(b, Estimates(), {**leaves, Y: lambda _, place=place: place}, data).values([form.value], straight=True)
        finite = b.ole(b.abs(value), 2.0**1023)
        low, high = (b.step((INF, 0.0), (b.select(finite, v, INF), place), with_lower) for v in (value, b.neg(value)))
    for row, v in enumerate((low.results[1], low.results[0], high.results[1], b.neg(high.results[0]))):
        b.output(0, row, v)
    return b.kernel(name, 3, 1), data, (4,), at


def newton(name: str, f: Expr, x: Expr) -> tuple:
    """Inputs: the window (lo, hi) of each variable, where it is, the numbers. Output: where it goes, and 1 if f is convex along
    it there; where not, it stays."""
    form, b, data = local_form(f, x), Builder(), Data()
    y = var(Y, ())
    slope = gradient(form.value, y)
    lo, hi, place = b.input(BOX, 0), b.input(BOX, 1), b.input(USER, 0)
    first, second = Lowering(b, Estimates(), {**_point_leaves(b, form), Y: lambda _: place}, data).values(
        [slope, gradient(slope, y)], straight=True)
    goal = b.sub(place, b.div(first, second))
    convex = b.mand(b.ogt(second, 0.0), b.ole(b.abs(goal), 2.0**1023))
    b.output(0, 0, b.select(convex, b.min(b.max(goal, lo), hi), place))
    b.output(0, 1, b.select(convex, 1.0, 0.0))
    return b.kernel(name, 3, 1), data, (2,), 0
