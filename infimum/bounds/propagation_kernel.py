"""Forward-backward propagation (HC4) of a function and its constraints: a lane cuts its piece out of a region and shrinks it.

**Forward**: the natural enclosures of all operations on the piece, one graph for the function and all constraints. **Backward**:
the function is at most the upper bound, each constraint lies between its ends, and what that says of a result is handed on to the
arguments (`ops/inverse_rules.py`), to the variables at last. A point at which the function or a constraint is undefined is no
solution, so that the domains of operations shrink the piece as well; but not through a branch of `where` unless it is certainly
chosen, nor through elements that nobody reads.

One run is one round. A round reads and writes the same columns (`kernel/region_cut.py`), so that rounds are runs to and fro: the
first cuts, the others take the piece that is all of its parent.

**Gone** is a piece on which a constraint is certainly violated, or the function or a constraint undefined; and where there is no
upper bound yet, one of which nothing is left. Where nothing is left of a piece and there is an upper bound, that may be its
doing: the lower bound becomes infinite, since the function is above the upper bound wherever the constraints hold.

Proof: docs/proofs/propagation.md.
"""

from collections.abc import Callable

import numpy as np

from infimum.bounds.backward_intervals import BackwardArray, BackwardInterval, joined
from infimum.bounds.backward_propagation import BackwardPropagation
from infimum.expr.node import Expr
from infimum.interval.pair import INF, Pair, is_empty
from infimum.kernel.box_conclusions import best_lower, natural, shown_level, with_larger
from infimum.kernel.constant_data import Data
from infimum.kernel.ir import Builder, Kernel, Value
from infimum.kernel.region_cut import DISCARDED_AXIS, NO_AXIS, RegionPiece, can_be_cut, rows, rows_of
from infimum.problem.system import System
from infimum.search.policy.bounds import PROPAGATION

_FURTHER_PARAMETERS = 5  # fixed: parameters behind the user's bounds and the numbers of the variables


class PropagationKernel:
    """Writes the kernel. Parameters: those of `kernel/region_cut.py` `RegionPiece`, and the upper bound."""

    def __init__(self, system: System, x: Expr, written_out: int):
        self.b, self.data, self.n, self.system, self.x = Builder(), Data(), x.size, system, x
        b, n = self.b, x.size
        self.at = self.data.offset(np.zeros(3 * n + _FURTHER_PARAMETERS))
        self.narrow, self.upper = b.data(self.at + 3 * n + 3), b.data(self.at + 3 * n + 4)
        whole = np.isin(np.arange(n), system.integers).astype(float)
        self.whole_at = self.data.offset(whole) if whole.any() else None
        self.piece = RegionPiece(b, n, lambda i: self._given(2, i), self.at + 3 * n, self.whole_at)
        self.violated: list[Value] = []  # masks: by a constraint or a domain alone
        self.backward = BackwardPropagation(b, self.data, [system.f, *system.bodies], x, self._box, written_out)
        self._require()
        self.backward.run()
        self._write()

    def _given(self, which: int, i: "int | Value") -> Value:
        """The user's lower bound (0), upper bound (1), or the number (2) of variable i."""
        return self.b.data(self.b.place("uadd", self.at + which * self.n, i))

    def _box(self, i: "int | Value") -> Pair:
        lo, hi = self.piece.ends(i)
        return Pair(self.b.neg(lo), hi)

    def _require(self) -> None:
        b, system, begin = self.b, self.system, 0
        self.natural = natural(b, self.backward.element(system.f, 0))
        self.violated.append(self.natural.empty)
        self.backward.require(system.f, lambda i: [BackwardInterval(b.const(INF), self.upper, True)])
        low, high = self.data.offset(system.lower), self.data.offset(system.upper)
        for body in system.bodies:
            def ends(i: "int | Value", begin: int = begin) -> tuple[Value, Value]:
                return tuple(b.data(b.place("uadd", at + begin, i)) for at in (low, high))

            def require(i: "int | Value", ends: Callable = ends) -> list[BackwardInterval]:
                lo, hi = ends(i)
                return [BackwardInterval(b.neg(lo), hi, True)]

            def violations(i: "int | Value", body: Expr = body, ends: Callable = ends) -> list[Value]:
                value, (lo, hi) = self.backward.element(body, i), ends(i)
                outside = b.mor(b.olt(value.hi, lo), b.ogt(b.neg(value.nlo), hi))
                return [b.mor(outside, is_empty(b, value)) if value.may_be_empty else outside]
            self.backward.require(body, require)
            self.violated += self.backward.each(body.size, violations)
            begin += body.size

    def _write(self) -> None:
        b, n = self.b, self.n
        sources, left = self.backward.sources(self.x), BackwardArray(b, n, False, b.depth)

        def shrink(i: "int | Value") -> list[Value]:
            lo, hi = self.piece.ends(i)
            nlo = b.neg(lo)
            implied = joined(b, [implied for source in sources for implied in source(i)])
            if implied is not None:
                nlo, hi = b.min(implied.nlo, nlo), b.min(implied.hi, hi)
            if self.whole_at is not None:
                is_whole = b.ogt(b.data(b.place("uadd", self.whole_at, i)), 0.0)
                nlo, hi = (b.select(is_whole, b.floor(end), end) for end in (nlo, hi))
            left.put(i, BackwardInterval(nlo, hi, True))
            return [b.olt(hi, b.neg(nlo))]
        empty = [*self.backward.empty, *self.backward.each(n, shrink)]
        low_row, axis_row, level_row = rows(n)
        violated, nothing = (self._any(masks) for masks in (self.violated, empty))
        endless = b.oeq(self.upper, INF)
        already = b.mor(self.piece.void, b.oeq(b.input(0, axis_row), DISCARDED_AXIS))
        gone = b.mor(b.mor(already, violated), b.mand(nothing, endless))
        lost = b.mor(gone, nothing)
        above = b.mand(b.mand(nothing, b.mnot(endless)), b.mnot(b.olt(self.natural.nlo, b.neg(self.upper))))
        choices = self._sides(left, lost)
        axis = b.select(gone, DISCARDED_AXIS, b.select(b.ogt(choices[0], -1.0), choices[1], choices[3]))
        lower = best_lower(b, b.input(0, low_row), b.neg(self.natural.nlo), b.select(above, INF, -INF))
        for row, value in ((low_row, lower), (axis_row, axis), (level_row, shown_level(b, self.natural.level))):
            b.output(0, row, value)

    def _any(self, masks: list[Value]) -> Value:
        found = self.b.ogt(self.b.const(0.0), 0.0)
        for mask in masks:
            found = self.b.mor(found, mask)
        return found

    def _sides(self, left: BackwardArray, lost: Value) -> tuple[Value, ...]:
        """Writes what is left of each side, and chooses the one to cut next, the widest compared with the user's bounds: among
        those that are not narrow, and among all. Of infinite sides that is the one that comes closest to 0. Returns (its size,
        its number) of both."""
        b = self.b

        def better(b: Builder, one: tuple, other: tuple) -> tuple:
            return (*with_larger(b, one[:2], other[:2]), *with_larger(b, one[2:], other[2:]))
        with b.loop(self.n) as turn:
            i = turn.index
            (low, high), (implied,) = self.piece.ends(i), left.at(i)
            lo, hi = (b.select(lost, was, b.add(now, 0.0)) for was, now in ((low, b.neg(implied.nlo)), (high, implied.hi)))
            b.output(0, i, lo)
            b.output(0, b.place("uadd", i, self.n), hi)
            width, number = b.sub(hi, lo), self._given(2, i)
            whole = b.min(b.sub(self._given(1, i), self._given(0, i)), 2.0**1000)
            near = b.min(b.abs(lo), b.abs(hi))
            endless = b.div(2.0**1000, b.max(1.0, b.select(b.olt(near, INF), near, 0.0)))
            size = b.select(b.olt(width, INF), b.div(width, b.max(whole, 2.0**-1000)), endless)
            size = b.select(can_be_cut(b, lo, hi), size, -1.0)
            wide = b.select(b.ogt(width, self.narrow), size, -1.0)
            step = b.step((-1.0, NO_AXIS, -1.0, NO_AXIS), (wide, number, size, number), better)
        return step.results


def propagate(name: str, system: System, x: Expr, written_out: int = PROPAGATION.written_out
              ) -> tuple[Kernel, Data, tuple[int, ...], int]:
    """(kernel, data, rows of the output, where the parameters begin in the doubles)."""
    writer = PropagationKernel(system, x, written_out)
    return writer.b.kernel(name, 1, 1), writer.data, (rows_of(x.size),), writer.at
