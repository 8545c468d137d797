"""The kernel of branch and bound: everything that first derivatives tell about a box, in one run.

**Lower bound.** The larger of the natural enclosure's lower end and that of the mean value form f(c) + g(X)(X - c), which holds
for every point c of the box where f is Lipschitz. c is chosen as the point where the form is highest (Baumann): an end of the
interval where the derivative has one sign, and between them in proportion to its ends. f(c) is an upper bound of the infimum as
well.

**First-order test.** Strict signs, f Lipschitz around the box: if f rises with x_i on the box, a minimiser lies on the *user's*
lower bound of x_i or nowhere; so the box is discarded if it does not reach that bound, and reduced to the face if it does.
Mirrored where f falls. An infinite bound is never reduced to.
"""

import numpy as np

from infimum.expr.diff import gradient
from infimum.expr.node import Expr
from infimum.interval.arithmetic import mul, sub
from infimum.interval.pair import INF, LIPSCHITZ, UNDEFINED, Pair, b_level
from infimum.lower.data import Data
from infimum.lower.kernel import Builder, Value
from infimum.lower.lowering import Lowering
from infimum.lower.meaning import Enclosures

LOWER, LO, HI, POINT, FACTS = range(5)               # the outputs
DISCARD, AXIS, UPPER, LEVEL = range(4)               # rows of FACTS


def sound(b: Builder, nlo: Value, hi: Value) -> tuple[Value, Value]:
    """The pair, or the whole line where it is NaN or empty: what a derivative's enclosure is worth then."""
    broken = b.mor(b.uno(nlo, hi), b.mor(b.oeq(nlo, -INF), b.oeq(hi, -INF)))
    return b.select(broken, INF, nlo), b.select(broken, INF, hi)


class Bound:
    """Writes the kernel. Parameters: the user's lower and upper bounds, and the numbers 0 … n-1."""

    def __init__(self, f: Expr, x: Expr):
        self.b, self.data, self.n = Builder(), Data(), x.size
        self.at = self.data.offset(np.zeros(3 * self.n))
        b, out = self.b, {}
        ends = b.buffer(self.n), b.buffer(self.n)

        def keep(at: tuple, g: Pair) -> None:
            for buffer, end in zip(ends, sound(b, g.nlo, g.hi), strict=True):
                b.store(buffer, at[0], end)
        Lowering(b, Enclosures(), {"x": self.box}, self.data).run(
            [(f, lambda at, v: out.setdefault("f", v)), (gradient(f, x), keep)])
        self.gradient = lambda i: Pair(b.load(ends[0], i), b.load(ends[1], i))
        natural = out["f"]
        self.empty = b.mand(b.oeq(natural.nlo, -INF), b.oeq(natural.hi, -INF))
        self.nlo, _ = sound(b, natural.nlo, natural.hi)
        level = b.select(b.uno(natural.nlo, natural.hi), float(UNDEFINED), b_level(b, natural.level))
        self.lipschitz = b.oge(level, float(LIPSCHITZ))
        self._first_order()
        self._at_point(f)
        b.output(FACTS, LEVEL, level)

    def box(self, i: "int | Value") -> Pair:
        return Pair(self.b.neg(self.b.input(0, i)), self.b.input(1, i))

    def given(self, which: int, i: "int | Value") -> Value:
        """The user's lower bound (0), upper bound (1), or the number (2) of variable i."""
        return self.b.data(self.b.place("uadd", self.at + which * self.n, i))

    def _first_order(self) -> None:
        b = self.b
        centre = b.buffer(self.n)
        with b.loop(self.n) as turn:
            i = turn.index
            lo, hi, g = b.input(0, i), b.input(1, i), self.gradient(i)
            low, high = self.given(0, i), self.given(1, i)
            rises, falls = (b.mand(self.lipschitz, b.olt(end, 0.0)) for end in (g.nlo, g.hi))
            dead = b.mor(b.mand(rises, b.ogt(lo, low)), b.mand(falls, b.olt(hi, high)))
            to_low, to_high = b.mand(rises, b.mand(b.oeq(lo, low), b.ogt(low, -INF))), \
                b.mand(falls, b.mand(b.oeq(hi, high), b.olt(high, INF)))
            b.output(LO, i, b.select(to_high, hi, lo))
            b.output(HI, i, b.select(to_low, lo, hi))
            c = self._centre(lo, hi, g)
            b.store(centre, i, c)
            b.output(POINT, i, c)
            width = b.select(b.mor(to_low, to_high), 0.0, b.sub(hi, lo))
            slope = b.select(self.lipschitz, b.max(g.nlo, g.hi), 1.0)
            smear = b.min(b.mul(b.max(slope, 2.0**-1000), width), 2.0**1000)
            killed = b.step((0.0,), (b.select(dead, 1.0, 0.0),), lambda b, p, q: (b.max(p[0], q[0]),))
            far = b.step((0.0,), (b.max(b.abs(lo), b.abs(hi)),), lambda b, p, q: (b.max(p[0], q[0]),))
            chosen = b.step((-1.0, -1.0), (b.select(b.ogt(width, 0.0), smear, 0.0), self.given(2, i)), _larger)
        self.centre = lambda i: b.load(centre, i)
        # on an unbounded box the infimum may be approached at infinity: the argument needs a compact one
        gone = b.mor(self.empty, b.mand(b.ogt(killed.results[0], 0.0), b.olt(far.results[0], INF)))
        b.output(FACTS, DISCARD, b.select(gone, 1.0, 0.0))
        b.output(FACTS, AXIS, chosen.results[1])

    def _centre(self, lo: Value, hi: Value, g: Pair) -> Value:
        """The point where the mean value form is highest; a finite one in any case."""
        b = self.b
        part = b.div(g.nlo, b.add(g.nlo, g.hi))
        c = b.fma(b.sub(hi, lo), b.min(b.max(part, 0.0), 1.0), lo)
        c = b.select(b.ole(g.nlo, 0.0), lo, b.select(b.ole(g.hi, 0.0), hi, c))
        middle = b.add(b.mul(lo, 0.5), b.mul(hi, 0.5))
        c = b.select(b.ole(b.abs(c), 2.0**1000), c, middle)
        c = b.min(b.max(c, lo), hi)
        finite = b.select(b.ogt(lo, -INF), lo, b.select(b.olt(hi, INF), hi, 0.0))
        return b.select(b.olt(b.abs(c), INF), c, finite)

    def _at_point(self, f: Expr) -> None:
        b, out = self.b, {}

        def point(i: "int | Value") -> Pair:
            return Pair(b.neg(self.centre(i)), self.centre(i))
        Lowering(b, Enclosures(), {"x": point}, self.data).run([(f, lambda at, v: out.setdefault("f", v))])
        value = out["f"]
        with b.loop(self.n) as turn:
            i = turn.index
            tilt = mul(b, self.gradient(i), sub(b, self.box(i), point(i)))
            total = b.step((0.0,), (tilt.nlo,), lambda b, p, q: (b.add(p[0], q[0]),))
        form = b.add(value.nlo, total.results[0])
        usable = b.mand(self.lipschitz, b.mand(b.ogt(form, -INF), b.ogt(value.nlo, -INF)))
        b.output(LOWER, 0, b.neg(b.select(b.mand(usable, b.olt(form, self.nlo)), form, self.nlo)))
        known = b.mand(b.oge(b_level(b, value.level), 1.0), b.ogt(value.hi, -INF))
        b.output(FACTS, UPPER, b.select(known, value.hi, INF))


def _larger(b: Builder, p: tuple, q: tuple) -> tuple:
    """The pair (value, index) with the larger value, the first of equals."""
    second = b.ogt(q[0], p[0])
    return b.select(second, q[0], p[0]), b.select(second, q[1], p[1])


def bound(name: str, f: Expr, x: Expr) -> tuple:
    """(kernel, data, rows of the outputs, where the parameters begin in the doubles)."""
    writer = Bound(f, x)
    n = x.size
    return writer.b.kernel(name, 2, 5), writer.data, (1, n, n, n, 4), writer.at
