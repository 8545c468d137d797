"""Linear rows with rational coefficients as expressions."""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from infimum.expr.build import build, concat, reshape, take
from infimum.expr.node import Expr
from infimum.expr.rationals import between_doubles

Coefficients = dict[int, Fraction]  # by the numbers of variables


def linear_rows(rows: Sequence[Coefficients], x: Expr) -> Expr:
    """A vector with the sum of each row."""
    return concat([_sum(row, x) for row in rows])


def _sum(row: Coefficients, x: Expr) -> Expr:
    factors = between_doubles(row.values(), (len(row),))
    return reshape(build("sum", build("mul", factors, take(x, np.array(list(row)))), axes=(0,)), (1,))
