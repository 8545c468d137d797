"""The lane that cuts its piece out of its parent (`kernel/region_cut.py`) and bounds f on it."""

import numpy as np

from infimum.bounds.function_bounds.first_order_kernel import FirstOrderKernel
from infimum.expr.node import Expr
from infimum.interval.pair import INF
from infimum.kernel.box_conclusions import best_lower, with_larger
from infimum.kernel.ir import Step, Value
from infimum.kernel.region_cut import DISCARDED_AXIS, NO_AXIS, POINT, REGIONS, UPPER, RegionPiece, can_be_cut, rows, rows_of
from infimum.search.policy.bounds import FIRST_ORDER as POLICY
from infimum.structure.separable_residuals import linear_variables


class PieceKernel(FirstOrderKernel):
    """Writes the kernel. Behind the parameters of `FirstOrderKernel`: those of `RegionPiece`, and the width of sides that are
    narrow enough: of wider ones, where there are any, the one with the largest smear is cut next.
    """

    more = 4
    least_smear = -1.0

    def __init__(self, f: Expr, x: Expr, by_pieces: bool = False, unbounded: bool = False, in_boxes: bool = False,
                 alike: bool = False):
        self.in_boxes = in_boxes  # the user's bounds are those of each parent, input 1: see `kernel/start_face_kernel.py`
        self.linear = () if alike else linear_variables(f, x)  # `alike`: all variables are cut
        super().__init__(f, x, by_pieces, unbounded)

    def given(self, which: int, i: "int | Value") -> Value:
        if self.in_boxes and which < 2:
            return self.b.input(1, self.b.place("uadd", which * self.n, i))
        return super().given(which, i)

    def prepare(self) -> None:
        b = self.b
        self.known = b.input(0, rows(self.n)[0])
        self.piece = RegionPiece(b, self.n, lambda i: self.given(2, i), self.at + 3 * self.n)

    def ends(self, i: "int | Value") -> tuple[Value, Value]:
        return self.piece.ends(i)

    def write_side(self, i: "int | Value", lo: Value, hi: Value, point: Value) -> None:
        self.b.output(REGIONS, i, lo)
        self.b.output(REGIONS, self.b.place("uadd", i, self.n), hi)
        self.b.output(POINT, i, point)

    def may_be_cut(self, lo: Value, hi: Value, width: Value) -> Value:
        return can_be_cut(self.b, lo, hi)

    def preferred(self, i: "int | Value", smear: Value) -> Value:
        """Variables that are eliminated (`bounds/least_squares/projection_kernel.py`) are cut where no other can be."""
        if not self.linear:
            return smear
        weights = np.ones(self.n)
        weights[list(self.linear)] = POLICY.smear_of_linear
        at = self.data.offset(weights)
        return self.b.mul(smear, self.b.data(self.b.place("uadd", at, i)))

    def choose_first(self, smear: Value, width: Value, number: Value) -> Step:
        b = self.b
        too_wide = b.ogt(width, b.data(self.at + 3 * self.n + 3))
        return b.step((self.least_smear, NO_AXIS), (b.select(too_wide, smear, self.least_smear), number), with_larger)

    def write_facts(self, gone: Value, axis: Value) -> None:
        b = self.b
        b.output(REGIONS, rows(self.n)[1], b.select(b.mor(gone, self.piece.void), DISCARDED_AXIS, axis))

    def write_bounds(self, lower: Value, upper: Value) -> None:
        """What is known of the parent holds for its pieces."""
        self.b.output(REGIONS, rows(self.n)[0], best_lower(self.b, self.known, lower))
        self.b.output(UPPER, 0, self.b.select(self.piece.void, INF, upper))

    def write_level(self, level: Value) -> None:
        self.b.output(REGIONS, rows(self.n)[2], level)


def branch(name: str, f: Expr, x: Expr, by_pieces: bool = False, unbounded: bool = False, in_boxes: bool = False,
           alike: bool = False) -> tuple:
    """(kernel, data, rows of the outputs, where the parameters begin in the doubles)."""
    writer, n = PieceKernel(f, x, by_pieces, unbounded, in_boxes, alike), x.size
    return writer.b.kernel(name, 1 + in_boxes, 3), writer.data, (rows_of(n), 1, n), writer.at
