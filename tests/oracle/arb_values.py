"""The value of an expression at a point of exact doubles, as an Arb ball: at the precision asked for, no more is known.

`value` returns a finite ball, UNDEFINED (a point outside the natural domain of an operation), or UNDECIDED (this precision
cannot settle a test, a step or a domain, or the number left Arb's range); the caller then asks for more, see `PRECISIONS`.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from flint import arb, ctx

from infimum.expr.node import Expr
from tests.operations import ROWS
from tests.oracle import ball_functions as ball
from tests.oracle.walk import POLE, UNDECIDED, UNDEFINED, Algebra, Special, evaluate

# cos of the smallest double is 1 - 2**-2149: a ball must be able to tell it from 1
PRECISIONS = (128, 700, 2600)
_BALLS = {**{op: row.ball for op, row in ROWS.items()}, "norm": ball.norm}


@contextmanager
def precision(bits: int) -> Iterator[None]:
    """Arb's working precision is a global: it is put back."""
    before = ctx.prec
    ctx.prec = bits
    try:
        yield
    finally:
        ctx.prec = before


class Balls(Algebra):
    """Elements are finite balls. A constant known to lie between two doubles is one number there, `fraction` of the way."""

    def __init__(self, point: Any, fraction: float = 0.5):
        self.point, self.fraction = point, fraction
        self.rows = _BALLS

    def constant(self, lo: float, hi: float) -> arb:
        if lo == hi:
            return arb(lo)
        return arb(lo) + (arb(hi) - arb(lo)) * arb(self.fraction)

    def variable(self, position: int) -> arb:
        return arb(float(self.point[position]))

    def power(self, x: arb, k: int) -> Any:
        return ball.integer_power(x, k)

    def apply(self, op: str, *elements: Any) -> Any:
        result = super().apply(op, *elements)
        return UNDECIDED if isinstance(result, arb) and not result.is_finite() else result


def value(root: Expr, point: Any, bits: int, fraction: float = 0.5) -> Any:
    """The scalar expression at the point: a ball, UNDEFINED or UNDECIDED.

    >>> from infimum.expr.build import build, index
    >>> from infimum.expr.node import var
    >>> value(build("log", index(var("x", (1,)), 0)), [0.0], 64), value(build("sqrt", index(var("x", (1,)), 0)), [4.0], 64)
    (undefined, 2.00000000000000)
    """
    with precision(bits):
        result = evaluate(root, Balls(point, fraction))
        if result is POLE:
            return UNDEFINED
        return UNDECIDED if not isinstance(result, Special) and not result.is_finite() else result


def settled_value(root: Expr, point: Any, fraction: float = 0.5) -> Any:
    """The value at the first precision that leaves nothing undecided; UNDECIDED if none does."""
    result: Any = UNDECIDED
    for bits in PRECISIONS:
        result = value(root, point, bits, fraction)
        if result is not UNDECIDED:
            return result
    return result
