"""The kernel of what a linear program of a region is made of: enclosures of all columns (`relax/lifting.py`), and lines of
curves.

Input 0 has the lower ends of all columns that are known, those of variables first, then the upper ends: of columns that are no
variables they may be infinite. Each column is enclosed by what it is made of, and cut to what is known. Input 1 has for each
curve the number at which its lines are to touch it. Several lanes with one region have its lines at several points.

Proof: docs/proofs/lifted_relaxation.md.
"""

from functools import partial

import numpy as np

from infimum.expr.node import Expr
from infimum.interval.pair import INF, Pair, b_level
from infimum.kernel.box_conclusions import larger, whole_if_unsound
from infimum.kernel.constant_data import Data
from infimum.kernel.ir import Builder, Kernel, Value
from infimum.ops.line_rules import lines_of, touching
from infimum.problem.system import System
from infimum.relax.column_enclosures import ColumnEnclosures
from infimum.relax.curve_lines import curve_of, name_of
from infimum.relax.lifting import SPARSE, Lift, lift_of

LOW, HIGH, BOUNDED, LINES = range(4)  # the outputs
OF_CURVE = 7                          # fixed: rows of a curve in the last


def columns(name: str, system: System, x: Expr) -> tuple[Kernel, Data, tuple[int, ...], int]:
    """The kernel. Outputs: the lower and the upper ends of all columns, an empty one has its upper end below; whether all that
    columns are made of is bounded, so that they have values wherever the system is defined; and for each curve y of a
    slope_below, nlo, slope_above, hi (y >= slope a - nlo, y <= slope a + hi) and, of one more line, its side, slope and rest:
    side (slope a - y) <= rest."""
    writer = ColumnKernel(system, x)
    count = len(writer.lift.curves)
    return writer.b.kernel(name, 2, 4), writer.data, (writer.n, writer.n, 1, max(1, OF_CURVE * count)), 0


class ColumnKernel(ColumnEnclosures):
    """Writes it."""

    def __init__(self, system: System, x: Expr):
        self.b, self.data, self.lift = Builder(), Data(), lift_of(system, x, SPARSE)
        b, lift = self.b, self.lift
        self.variables, self.n = x.size, len(lift.columns)
        self.enclosures, self.points = tuple(b.buffer(self.n) for _ in range(3)), b.buffer(self.n)
        self.raw = b.buffer(self.n)  # the larger ends, before anything is cut
        self._enclose()
        self._write_columns()
        curves, at = dict.fromkeys(lift.columns[k].curve for k in lift.curves), 0
        for curve in curves:
            which = [k for k in lift.curves if lift.columns[k].curve == curve]
            self._write_lines(at, curve, which)
            at += len(which)
        if not curves:
            b.output(LINES, 0, 0.0)

    def _near(self, i: Value, lo: Value, hi: Value) -> Value:
        return lo

    def _side(self, k: "int | Value") -> tuple[Value, Value]:
        return self.b.input(0, k), self.b.input(0, self._place(k, self.n))

    def _keep(self, k: "int | Value", v: Pair, point: Value) -> None:
        b, sound, (lo, hi) = self.b, whole_if_unsound(self.b, v), self._side(k)
        b.store(self.raw, k, b.max(b.abs(sound.nlo), b.abs(sound.hi)))
        for part, value in zip(self.enclosures, (b.min(sound.nlo, b.neg(lo)), b.min(sound.hi, hi), b_level(b, v.level)),
                               strict=True):
            b.store(part, k, value)
        b.store(self.points, k, 0.0)

    def _write_columns(self) -> None:
        b = self.b
        with b.loop(self.n) as turn:
            lo, hi = self.ends(turn.index)
            b.output(LOW, turn.index, lo)
            b.output(HIGH, turn.index, hi)
            largest = b.step((0.0,), (b.load(self.raw, turn.index),), larger)
        b.output(BOUNDED, 0, b.select(b.olt(largest.results[0], INF), 1.0, 0.0))

    def _write_lines(self, begin: int, curve: tuple[str, tuple], which: list[int]) -> None:
        b, (op, params) = self.b, curve
        places = self._places(which, [self.lift.columns[k].argument for k in which])
        name = name_of("cuts", op, params)
        with b.loop(len(which)) as turn:
            w, argument = places(turn.index)
            number = self._place(begin, turn.index)
            a, y, lo = self._pair(argument), self._pair(w), self.ends(argument)[0]
            t = b.min(b.max(b.input(1, number), lo), a.hi)
            found = b.outline(name, partial(_cuts, op=op, params=params), a.nlo, a.hi, y.nlo, y.hi, y.level, t)
            for row, value in enumerate(found):
                b.output(LINES, self._place(self._times(number, OF_CURVE), row), value)


def curve_order(lift: Lift) -> np.ndarray:
    """The numbers of the columns that are curves, in the order of the kernel: those of one kind together."""
    kinds = dict.fromkeys(lift.columns[k].curve for k in lift.curves)
    return np.array([k for kind in kinds for k in lift.curves if lift.columns[k].curve == kind], np.int64)


def _cuts(b: Builder, *given: Value, op: str, params: tuple) -> tuple[Value, ...]:
    made, a, t = curve_of(b, op, params), Pair(*given[:2]), given[5]
    # not the column itself: it may be narrower than the curve on all of a, and second derivatives are made of the curve's values
    own = whole_if_unsound(b, made.value(a))
    y = Pair(own.nlo, own.hi, given[4])
    lines = lines_of(b, made, a, y, t)
    slope, nlo, above = touching(b, made, a, y, t)
    below = b.olt(nlo, INF)
    return *lines, b.select(below, 1.0, -1.0), slope, b.select(below, nlo, above)
