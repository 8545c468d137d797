"""The kernel of branch and bound: everything that first derivatives tell about a box, in one run.

**Lower bound.** The larger of the natural enclosure's lower end and that of the mean value form f(c) + g(X)(X - c), which holds
for every point c of the box where f is Lipschitz. c is chosen as the point where the form is highest (Baumann): an end of the
interval where the derivative has one sign, and between them in proportion to its ends. f(c) is an upper bound of the infimum as
well. Where f is not Lipschitz, but f = rough + calm (`structure/lipschitz_split.py`) and calm is, the form of calm is added to
the natural enclosure of rough.

**First-order test.** Strict signs, f Lipschitz around the box: if f rises with x_i on the box, a minimiser lies on the *user's*
lower bound of x_i or nowhere; so the box is discarded if it does not reach that bound, and reduced to the face if it does.
Mirrored where f falls. An infinite bound is never reduced to.

Proof: docs/proofs/first_order.md.
"""

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from infimum.expr.differentiate import gradient
from infimum.expr.node import Expr
from infimum.interval.pair import INF, UNDEFINED, Pair
from infimum.kernel.box_conclusions import (
    add_up,
    first_order,
    larger,
    natural,
    raised,
    shown_level,
    tilt,
    upper_end,
    whole_if_unsound,
    with_larger,
)
from infimum.kernel.constant_data import Data
from infimum.kernel.forms.outcome_enclosures import by_outcome
from infimum.kernel.ir import Builder, Step, Value
from infimum.kernel.lowering import Lowering
from infimum.kernel.meaning import Enclosures
from infimum.search.policy.bounds import FIRST_ORDER as POLICY
from infimum.structure.arrange_reductions import arranged
from infimum.structure.gather_terms import gathered
from infimum.structure.lipschitz_split import lipschitz_parts
from infimum.structure.narrow_branches import narrowed
from infimum.support.lazy import LazyModule

if TYPE_CHECKING:
    from infimum.kernel.forms import sliced_pieces
else:
    sliced_pieces = LazyModule("kernel.forms.sliced_pieces")

LOWER, LO, HI, POINT, FACTS = range(5)               # the outputs
DISCARD, AXIS, UPPER, LEVEL = range(4)               # rows of FACTS


class FirstOrderKernel:
    """Writes the kernel. Parameters: the user's lower and upper bounds, and the numbers 0 … n-1.

    `kernel/region_cut.py` derives the box from a parent and writes other outputs; the tests are these.
    """

    more = 0  # parameters behind those

    def __init__(self, f: Expr, x: Expr, by_pieces: bool = False, unbounded: bool = False):
        self.b, self.data, self.n = Builder(), Data(), x.size
        self.at = self.data.offset(np.zeros(3 * self.n + self.more))
        self.prepare()
        f = narrowed(gathered(arranged(f, x)) if by_pieces else f)
        b, out, parts = self.b, {}, lipschitz_parts(f) or ()
        summed = [f, *parts[1:]]  # f, and calm if there is one: those that have a mean value form
        slopes = [(b.buffer(self.n), b.buffer(self.n)) for _ in summed]

        def keep(at: tuple, g: Pair, ends: tuple[int, int]) -> None:
            g = whole_if_unsound(b, g)
            for buffer, end in zip(ends, (g.nlo, g.hi), strict=True):
                b.store(buffer, at[0], end)
        sliced = sliced_pieces.by_slices(b, f, self.data, POLICY.slices_of_piece, unbounded) if by_pieces else {}
        tighter = by_outcome(b, f, self.data, sliced)
        Lowering(b, Enclosures(), {"x": self.box}, self.data, tighter).run(
            [*((node, lambda at, v, node=node: out.setdefault(node, v)) for node in (f, *parts)),
             *((gradient(node, x), partial(keep, ends=ends)) for node, ends in zip(summed, slopes, strict=True))],
            straight=False if tighter else None)
        self.natural, *apart = (natural(b, out[node]) for node in (f, *parts))
        self.gradient = lambda i: Pair(*(b.load(end, i) for end in slopes[0]))
        if parts:  # where f is not Lipschitz and calm is, the derivatives of calm stand in for those of f
            rough, calm = apart
            self.rough = rough._replace(level=b.select(self.natural.lipschitz(b), float(UNDEFINED), calm.level))
            self.gradient = lambda i: Pair(*(b.select(self.rough.lipschitz(b), b.load(other, i), b.load(end, i))
                                             for end, other in zip(*slopes, strict=True)))
        self._first_order()
        self._at_point(summed)
        self.write_level(shown_level(b, self.natural.level))

    # ---- what goes in and out
    def prepare(self) -> None:
        """Before anything else."""

    def ends(self, i: "int | Value") -> tuple[Value, Value]:
        """The ends of the box in variable i."""
        return self.b.input(0, i), self.b.input(1, i)

    def write_side(self, i: "int | Value", lo: Value, hi: Value, point: Value) -> None:
        """What is left of the box in variable i, and the point there."""
        for slot, value in ((LO, lo), (HI, hi), (POINT, point)):
            self.b.output(slot, i, value)

    def may_be_cut(self, lo: Value, hi: Value, width: Value) -> Value:
        """Whether what is left can be chosen as the next to be cut."""
        return self.b.ogt(width, 0.0)

    least_smear = 0.0  # of a variable that cannot

    def preferred(self, i: "int | Value", smear: Value) -> Value:
        """The smear by which a variable is chosen."""
        return smear

    def choose_first(self, smear: Value, width: Value, number: Value) -> Step | None:
        """The choice, in the loop over the variables, among those that are to be cut before the others."""
        return None

    def write_facts(self, gone: Value, axis: Value) -> None:
        """Whether the box is proved away, and the variable to cut next."""
        self.b.output(FACTS, DISCARD, self.b.select(gone, 1.0, 0.0))
        self.b.output(FACTS, AXIS, axis)

    def write_bounds(self, lower: Value, upper: Value) -> None:
        self.b.output(LOWER, 0, lower)
        self.b.output(FACTS, UPPER, upper)

    def write_level(self, level: Value) -> None:
        self.b.output(FACTS, LEVEL, level)

    # ---- the tests
    def box(self, i: "int | Value") -> Pair:
        lo, hi = self.ends(i)
        return Pair(self.b.neg(lo), hi)

    def given(self, which: int, i: "int | Value") -> Value:
        """The user's lower bound (0), upper bound (1), or the number (2) of variable i."""
        return self.b.data(self.b.place("uadd", self.at + which * self.n, i))

    def _first_order(self) -> None:
        b = self.b
        centre, lipschitz = b.buffer(self.n), self.natural.lipschitz(b)
        with b.loop(self.n) as turn:
            i = turn.index
            (lo, hi), g = self.ends(i), self.gradient(i)
            found = first_order(b, lipschitz, g, lo, hi, self.given(0, i), self.given(1, i))
            left, right = found.left, found.right
            c = best_centre(b, lo, hi, g)
            b.store(centre, i, c)
            self.write_side(i, left, right, c)
            width = b.select(b.mor(found.on_low, found.on_high), 0.0, b.sub(hi, lo))
            slope = b.select(lipschitz, b.max(g.nlo, g.hi), 1.0)
            near = b.min(b.abs(lo), b.abs(hi))  # of unbounded sides those first that come closest to 0
            unbounded = b.div(2.0**1000, b.max(1.0, b.select(b.olt(near, INF), near, 0.0)))
            smear = b.select(b.olt(width, INF), b.min(b.mul(b.max(slope, 2.0**-1000), width), 2.0**1000), unbounded)
            facts = b.step((0.0, 0.0), (b.select(found.excluded, 1.0, 0.0), b.max(b.abs(lo), b.abs(hi))), larger)
            smear = b.select(self.may_be_cut(left, right, width), self.preferred(i, smear), self.least_smear)
            chosen = b.step((-1.0, -1.0), (smear, self.given(2, i)), with_larger)
            first = self.choose_first(smear, width, self.given(2, i))
        self.centre = lambda i: b.load(centre, i)
        excluded, furthest = facts.results
        gone = b.mor(self.natural.empty, b.mand(b.ogt(excluded, 0.0), b.olt(furthest, INF)))
        axis = chosen.results[1]
        if first is not None:  # where any of those is there
            axis = b.select(b.ogt(first.results[0], self.least_smear), first.results[1], axis)
        self.write_facts(gone, axis)

    def _at_point(self, summed: list[Expr]) -> None:
        b = self.b

        def point(i: "int | Value") -> Pair:
            return Pair(b.neg(self.centre(i)), self.centre(i))
        value, *calm = Lowering(b, Enclosures(), {"x": point}, self.data).values(summed)
        with b.loop(self.n) as turn:
            i = turn.index
            total = b.step((0.0,), (tilt(b, self.gradient(i), self.box(i), point(i)),), add_up)
        nlo = raised(b, self.natural, value, total.results[0])
        for part in calm:
            with_rough = part.but(nlo=b.add(part.nlo, self.rough.nlo))
            nlo = raised(b, self.rough._replace(nlo=nlo), with_rough, total.results[0])
        self.write_bounds(b.neg(nlo), upper_end(b, value))


def best_centre(b: Builder, lo: Value, hi: Value, g: Pair) -> Value:
    """The point of [lo, hi] where the mean value form with the derivative g is highest; a finite one in any case."""
    part = b.div(g.nlo, b.add(g.nlo, g.hi))
    c = b.fma(b.sub(hi, lo), b.min(b.max(part, 0.0), 1.0), lo)
    middle = b.add(b.mul(lo, 0.5), b.mul(hi, 0.5))
    c = b.select(b.olt(b.abs(c), INF), c, middle)  # the width may be no double
    c = b.select(b.ole(g.nlo, 0.0), lo, b.select(b.ole(g.hi, 0.0), hi, c))
    c = b.min(b.max(c, lo), hi)
    finite = b.select(b.ogt(lo, -INF), lo, b.select(b.olt(hi, INF), hi, 0.0))
    return b.select(b.olt(b.abs(c), INF), c, finite)


def bound(name: str, f: Expr, x: Expr, by_pieces: bool = False) -> tuple:
    """(kernel, data, rows of the outputs, where the parameters begin in the doubles)."""
    writer = FirstOrderKernel(f, x, by_pieces)
    n = x.size
    return writer.b.kernel(name, 2, 5), writer.data, (1, n, n, n, 4), writer.at
