"""Rows composed backward, for a function and its constraints, a region a lane.

`relax/backward_bound_kernel.py` composes a linear function below f, one below each constraint g <= u, and one below -g for g >=
l. These are the rows of a relaxation (`relax/lane_relaxation.py`). Nothing is asked of derivatives. They say less than those of
`relax/gradient_rows_kernel.py`, which has two rows for each constraint and first order, at a small part of its cost where
expressions are long, and they know what np.where chooses.

Proofs: docs/proofs/linear_bounds.md, docs/proofs/constraint_lines.md.
"""

from infimum.expr.build import build
from infimum.expr.node import Expr
from infimum.interval.pair import INF
from infimum.problem.system import System
from infimum.relax.backward_bound_kernel import BackwardBoundKernel
from infimum.relax.lane_relaxation import WidestSide


def linear_rows(name: str, system: System, x: Expr) -> tuple:
    """The kernel. Parameters: the verified upper bound, and what sides are multiplied with before they are compared."""
    sides = [(row, float(end)) for k, body in enumerate(system.rows[1:])
             for row, end in ((body, system.upper[k]), (build("neg", body), -system.lower[k])) if end < INF]
    return BackwardRows([*sides, (system.f, 0.0)], x, system.integers).program(name)


def linear(name: str, f: Expr, x: Expr) -> tuple:
    """The same for a function without constraints."""
    return BackwardRows([(f, 0.0)], x, ()).program(name)


class BackwardRows(WidestSide):
    """Writes it, for inequalities g <= end; the last of them is f, whose end is 0."""

    def __init__(self, sides: list[tuple[Expr, float]], x: Expr, integers: tuple[int, ...]):
        super().__init__(x.size, integers)
        self.sides, self.x = sides, x

    def _write_rows(self) -> None:
        below = BackwardBoundKernel(self.b, self.data, self._box, [g for g, _ in self.sides], self.x)
        self.lowest = self.b.neg(below.natural[-1].nlo)
        self._store_lines(below.lines, [end for _, end in self.sides])
