"""The kernel of linear rows: what linear functions below a function and its constraints say together, a region a lane.

`relax/backward_bound_kernel.py` composes a linear function below f, one below each constraint g <= u, and one below -g for g >=
l. A feasible x with f(x) <= U solves the linear inequalities that these give, which leave a part of the region and, by
multipliers, a lower bound of f (`relax/lane_inequalities.py`). Nothing is asked of derivatives. It says less than
`relax/gradient_rows_kernel.py`, which has two lines for each row and first order, at a small part of its cost where expressions
are long, and it knows what np.where chooses.

Proof: docs/proofs/constraint_lines.md.
"""

import numpy as np

from infimum.expr.build import build
from infimum.expr.node import Expr
from infimum.interval.pair import INF, Pair
from infimum.kernel.box_conclusions import add_up, best_lower, with_larger
from infimum.kernel.constant_data import Data
from infimum.kernel.ir import Builder, Value
from infimum.kernel.region_cut import DISCARDED_AXIS, NO_AXIS, can_be_cut, rows, rows_of
from infimum.problem.system import System
from infimum.relax.backward_bound_kernel import BackwardBoundKernel
from infimum.relax.lane_inequalities import LaneInequalities

LEFT, WORTH = range(2)  # the outputs
# the test paid if at most this part of the volume, or of the distance to the upper bound, is left
_WORTH_REDUCTION = 0.5


def linear_rows(name: str, system: System, x: Expr) -> tuple:
    """(kernel, data, rows of the outputs, where the parameters begin). Parameters: what sides are multiplied with before they are
    compared, and the verified upper bound."""
    writer = LinearRowsKernel(system, x)
    return writer.b.kernel(name, 1, 2), writer.data, (rows_of(x.size), 1), writer.at


class LinearRowsKernel(LaneInequalities):
    """Writes it."""

    def __init__(self, system: System, x: Expr):
        self.b, self.data, self.n = Builder(), Data(), x.size
        b, n = self.b, self.n
        self.at = self.data.offset(np.zeros(n + 1))
        self.numbers = self.data.offset(np.arange(max(n, 1), dtype=float))
        self.whole = self.data.offset(np.isin(np.arange(n), system.integers).astype(float))
        self.upper = b.data(self.at + n)
        self.bounded_above = b.olt(self.upper, INF)
        with b.loop(n) as turn:
            lo, hi = self.ends(turn.index)
            endless = b.step((0.0,), (b.select(b.mand(b.ogt(lo, -INF), b.olt(hi, INF)), 0.0, 1.0),), add_up)
        self.bounded = b.oeq(endless.results[0], 0.0)
        sides = [(row, float(end)) for k, body in enumerate(system.rows[1:])
                 for row, end in ((body, system.upper[k]), (build("neg", body), -system.lower[k])) if end < INF]
        self.constraints, self.count = len(sides), len(sides) + 1
        self._write_lines(BackwardBoundKernel(b, self.data, self._box, [*(row for row, _ in sides), system.f], x),
                          [end for _, end in sides])
        self._contract()
        self._bound()
        self._write()

    def ends(self, i: "int | Value") -> tuple[Value, Value]:
        return self.b.input(0, i), self.b.input(0, self.b.place("uadd", i, self.n))

    def _box(self, i: "int | Value") -> Pair:
        lo, hi = self.ends(i)
        return Pair(self.b.neg(lo), hi)

    def _write_lines(self, below: BackwardBoundKernel, ends: list[float]) -> None:
        """a and h of each; 0 and infinite where there is none."""
        b, n = self.b, self.n
        self.a, self.h = b.buffer((self.count + 1) * n), b.buffer(self.count + 1)
        self.lowest = b.neg(below.lines[-1].natural.nlo)
        for r, (line, end) in enumerate(zip(below.lines, [*ends, 0.0], strict=True)):
            h = b.add(end, line.nlo)
            with b.loop(n) as turn:
                size = b.step((0.0,), (b.abs(line.slope(turn.index)),), add_up)
            usable = b.mand(self.bounded, b.mand(b.olt(size.results[0], INF), b.olt(b.abs(h), INF)))
            with b.loop(n) as turn:
                b.store(self.a, self._place(r * n, turn.index), b.select(usable, line.slope(turn.index), 0.0))
            b.store(self.h, r, b.select(usable, h, INF))

    def _write(self) -> None:
        """Where nothing is left by constraints alone a region is gone; where f <= U had a part in that, its bound is infinite."""
        b, n = self.b, self.n
        low_row, axis_row, level_row = rows(n)
        known = b.input(0, low_row)
        with b.loop(n) as turn:
            i = turn.index
            (lo, hi), whole = self.ends(i), b.ogt(self._table(self.whole, i), 0.0)
            left = b.max(b.neg(b.sub(b.neg(lo), b.load(self.low, i))), lo)
            right = b.min(b.add(lo, b.load(self.high, i)), hi)
            left, right = self._rounded(whole, b.select(self.bounded, left, lo), b.select(self.bounded, right, hi))
            nothing = b.ogt(left, right)
            left, right = b.select(nothing, lo, left), b.select(nothing, hi, right)
            b.output(LEFT, i, left)
            b.output(LEFT, self._place(i, n), right)
            side, width = b.sub(right, left), b.sub(hi, lo)
            size = b.select(can_be_cut(b, left, right), b.min(b.mul(side, self._table(self.at, i)), 2.0**1000), -1.0)
            chosen = b.step((-0.5, NO_AXIS), (size, self._table(self.numbers, i)), with_larger)
            part = b.select(b.mand(b.ogt(width, 0.0), self.bounded), b.div(side, width), 1.0)
            volume = b.step((1.0,), (part,), lambda b, p, q: (b.mul(p[0], q[0]),))
            lost = b.step((0.0,), (b.select(nothing, 1.0, 0.0),), add_up)
        none = b.ogt(lost.results[0], 0.0)
        gone = b.mor(b.ogt(b.load(self.empty, 0), 0.0), b.mand(none, b.mnot(self.bounded_above)))
        above = b.mor(b.ogt(b.load(self.empty, 1), 0.0), b.mand(none, self.bounded_above))
        lower = b.select(above, INF, best_lower(b, known, self.lowest, self.by_lines))
        axis = b.select(b.mor(gone, b.oeq(b.input(0, axis_row), DISCARDED_AXIS)), DISCARDED_AXIS, chosen.results[1])
        for row, value in ((low_row, lower), (axis_row, axis), (level_row, b.input(0, level_row))):
            b.output(LEFT, row, value)
        nearer = b.mand(self.bounded_above, b.ole(b.sub(self.upper, lower), b.mul(_WORTH_REDUCTION, b.sub(self.upper, known))))
        worth = b.mor(b.mor(gone, b.ogt(lower, self.upper)), b.mor(b.ole(volume.results[0], _WORTH_REDUCTION), nearer))
        b.output(WORTH, 0, b.select(worth, 1.0, 0.0))
