"""Quadratic functions that are convex or concave whatever their formula looks like: their second derivatives, in exact
arithmetic, are semidefinite.

Proof: docs/proofs/convex_bounds.md.
"""

from fractions import Fraction
from math import lcm

import numpy as np

from infimum.expr.node import Expr
from infimum.problem.system import System
from infimum.relax.lifting import SPARSE, SQUARE, Lift, lift_of
from infimum.search.policy.search import RECOGNITION as POLICY
from infimum.structure.curvature import CONCAVE, CONVEX
from infimum.structure.degree import degrees


def quadratic_curvatures(rows: list[Expr], x: Expr) -> list[int]:
    """For each scalar row the bits CONVEX and CONCAVE, as far as it is a quadratic function of x with exact coefficients.

    >>> from infimum.expr.build import build, index
    >>> from infimum.expr.node import var
    >>> x = var("x", (2,))
    >>> product = build("mul", index(x, 0), index(x, 1))
    >>> squares = [build("powi", index(x, i), k=2) for i in range(2)]
    >>> quadratic_curvatures([build("add", build("add", *squares), product), product], x), CONVEX
    ([1, 0], 1)
    """
    found = [0] * len(rows)
    for i, (row, degree) in enumerate(zip(rows, degrees(rows), strict=True)):
        matrix = _second_derivatives(row, x) if degree.item() == 2 else None
        if matrix is not None:
            found[i] = CONVEX * is_semidefinite(matrix) | CONCAVE * is_semidefinite(-matrix)
    return found


def _second_derivatives(row: Expr, x: Expr) -> np.ndarray | None:
    """In the variables that products are taken of, as fractions; None where coefficients are not exact, or there are too many."""
    lift = lift_of(System(row, (), np.empty(0), np.empty(0)), x, SPARSE)
    if lift is None:
        return None
    entries: dict[tuple[int, int], Fraction] = {}
    for k, number in lift.rows[0].terms:
        pairs = [] if k < lift.n else _products(lift, k)
        if pairs is None or number[0] != number[1]:
            return None
        for i, j, factor in pairs:
            for at in {(i, j), (j, i)}:
                entries[at] = entries.get(at, Fraction(0)) + number[0] * factor * (2 if i == j else 1)
    place = {i: at for at, i in enumerate(sorted({i for i, _ in entries}))}
    if len(place) > POLICY.quadratic_variables:
        return None
    matrix = np.full((len(place), len(place)), Fraction(0), object)
    for (i, j), value in entries.items():
        matrix[place[i], place[j]] = value
    return matrix


def _products(lift: Lift, k: int) -> list[tuple[int, int, Fraction]] | None:
    """The column as a sum of products of two variables times a factor, terms that are linear left out; None if it is none."""
    column = lift.columns[k]
    if column.factors is not None:
        i, j = column.factors
        return [(i, j, Fraction(1))] if max(i, j) < lift.n else None
    if column.curve != SQUARE:
        return None
    if column.argument < lift.n:
        return [(column.argument, column.argument, Fraction(1))]
    form = lift.columns[column.argument].form
    if form is None or not form.is_exact or any(i >= lift.n for i, _ in form.terms):
        return None
    terms = [(i, number[0]) for i, number in form.terms]
    return [(i, j, a * b * (1 if i == j else 2)) for at, (i, a) in enumerate(terms) for j, b in terms[at:]]


def is_semidefinite(matrix: np.ndarray) -> bool:
    """Is this symmetric matrix of fractions positive semidefinite? By elimination without fractions (E. H. Bareiss 1968).

    >>> is_semidefinite(np.array([[Fraction(1), Fraction(1)], [Fraction(1), Fraction(1)]], object))
    True
    """
    common = lcm(*(number.denominator for number in matrix.flat), 1)
    rest, before = np.frompyfunc(lambda number: int(number * common), 1, 1)(matrix), 1
    while len(rest):
        pivot, row = rest[0, 0], rest[0, 1:]
        if pivot < 0 or (pivot == 0 and any(row)):
            return False
        rest = rest[1:, 1:]
        if pivot:
            rest, before = (rest * pivot - np.multiply.outer(row, row)) // before, pivot
    return True
