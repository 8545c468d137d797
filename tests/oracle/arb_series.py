"""Derivatives by another route than the library's: the expression on power series of balls along x + t * direction, t -> 0+.

From one side a kink is no obstacle: |u| is u or -u by the sign of the first coefficient that is not 0. So a one-sided
derivative exists at the kinks of abs, min, max and norms, and a jump shows as a first coefficient that is not f(x).
"""

from typing import Any

from flint import arb, ctx

from infimum.expr.node import Expr
from tests.operations import ROWS
from tests.oracle.arb_values import precision
from tests.oracle.jet_functions import ORDER, Jet, norm, series, whole_power
from tests.oracle.walk import POLE, UNDECIDED, UNDEFINED, Algebra, evaluate

_JETS = {**{op: row.series for op, row in ROWS.items()}, "norm": norm}

class Jets(Algebra):
    """Elements are series along one direction."""

    def __init__(self, point: Any, direction: Any, fraction: float = 0.5):
        self.point, self.direction, self.fraction = point, direction, fraction
        self.rows = _JETS

    def constant(self, lo: float, hi: float) -> Jet:
        return Jet(series(arb(lo) if lo == hi else arb(lo) + (arb(hi) - arb(lo)) * arb(self.fraction)))

    def variable(self, position: int) -> Jet:
        return Jet(series(arb(float(self.point[position])), arb(float(self.direction[position]))))

    def power(self, x: Jet, k: int) -> Any:
        return whole_power(x, k)

    def apply(self, op: str, *elements: Any) -> Any:
        try:
            result = super().apply(op, *elements)
        except ValueError:  # a quotient whose divisor this precision cannot tell from 0
            return UNDECIDED
        if isinstance(result, Jet) and not all(c.is_finite() for c in result.s.coeffs()):
            return UNDECIDED
        return result


def along(root: Expr, point: Any, direction: Any, bits: int, fraction: float = 0.5) -> Any:
    """The scalar expression along x + t * direction for small t > 0: a Jet, UNDEFINED or UNDECIDED.

    >>> from infimum.expr.build import build, index
    >>> from infimum.expr.node import var
    >>> along(build("abs", index(var("x", (1,)), 0)), [0.0], [-1.0], 64)
    Jet(1.00000000000000*x + O(x^5), kinked)
    """
    cap = ctx.cap
    ctx.cap = ORDER
    try:
        with precision(bits):
            result = evaluate(root, Jets(point, direction, fraction))
            return UNDEFINED if result is POLE else result
    finally:
        ctx.cap = cap
