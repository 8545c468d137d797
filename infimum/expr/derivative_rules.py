"""What a node sends back to its arguments: the derivatives of the records of `ops`, and what they are written with.

Every rule is written in operations that have derivatives themselves, so reverse mode can be applied to its own result. Parts of
the value are reused (exp' is the node itself), which saves work and keeps enclosures tight.
"""

from collections.abc import Callable
from functools import partial

import numpy as np

from infimum.expr.array_derivative_rules import ARRAY_RULES, chosen, negative, over, times
from infimum.expr.build import build
from infimum.expr.node import Expr, const
from infimum.ops.vocabulary import OPS

# the natural logarithms of 2 and 10, and 2/sqrt(pi), lie between these neighbouring doubles
LN2 = const(0.6931471805599453, 0.6931471805599454)
LN10 = const(2.3025850929940455, 2.302585092994046)
TWO_OVER_ROOT_PI = const(1.1283791670955126, 1.1283791670955128)


def sent_back(node: Expr, adjoint: Expr, i: int) -> Expr | None:
    """What a node with this adjoint adds to the adjoint of its argument number i; None: nothing."""
    rule = OPS[node.op].derivative
    return ARRAY_RULES[node.op](node, adjoint, i) if rule is None else rule(_EXPRESSIONS, node, adjoint, i)


def less_one(y: Expr) -> Expr:
    """y - 1; for constants the double itself where it is one, else the neighbours around it."""
    views = []
    while y.op in ("broadcast", "reshape"):
        views.append(y)
        y = y.args[0]
    less = build("sub", y, 1.0) if y.lo is None or y.hi is None else _constant_less_one(y)
    for view in reversed(views):
        less = build(view.op, less, shape=view.shape)
    return less


def _constant_less_one(y: Expr) -> Expr:
    low, low_error = _less_one(y.lo)
    high, high_error = _less_one(y.hi)
    return const(np.where(low_error < 0, np.nextafter(low, -np.inf), low),
                 np.where(high_error > 0, np.nextafter(high, np.inf), high))


def _less_one(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """y - 1 rounded to nearest, and what the rounding left over (Knuth's error-free sum)."""
    difference = y - 1.0
    kept = difference - y
    return difference, (y - (difference - kept)) + (-1.0 - kept)


class _Expressions:
    """The `e` of the rules, since operations know no Expr: e.sin(x) builds a sine, and so for every operation."""

    times, over, negative, chosen, less_one = map(staticmethod, (times, over, negative, chosen, less_one))
    LN2, LN10, TWO_OVER_ROOT_PI = LN2, LN10, TWO_OVER_ROOT_PI

    def __getattr__(self, op: str) -> Callable[..., Expr]:
        return partial(build, op)


_EXPRESSIONS = _Expressions()
