"""Exact arithmetic on constants: doubles are rationals, and what comes out lies between two neighbouring doubles."""

from collections.abc import Iterable
from fractions import Fraction

import numpy as np

from infimum.expr.node import Expr, const
from infimum.expr.real import doubles_around


def between_doubles(numbers: Iterable[Fraction], shape: tuple[int, ...]) -> Expr:
    """The constant array of these rationals."""
    ends = np.array([doubles_around(q) for q in numbers]).reshape(-1, 2)
    return const(ends[:, 0].reshape(shape), ends[:, 1].reshape(shape))


def rational_inverse(matrix: np.ndarray) -> list[Fraction] | None:
    """The entries of the inverse of a matrix of doubles, row by row; None if it has none. Gauss and Jordan, in rationals."""
    n = len(matrix)
    rows = [[Fraction(float(v)) for v in row] + [Fraction(int(i == j)) for j in range(n)] for i, row in enumerate(matrix)]
    for k in range(n):
        at = next((i for i in range(k, n) if rows[i][k]), None)
        if at is None:
            return None
        rows[k], rows[at] = rows[at], rows[k]
        pivot = rows[k][k]
        rows[k] = [v / pivot for v in rows[k]]
        for i in range(n):
            factor = rows[i][k]
            if i != k and factor:
                rows[i] = [v - factor * w for v, w in zip(rows[i], rows[k], strict=True)]
    return [v for row in rows for v in row[n:]]
