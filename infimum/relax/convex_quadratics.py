"""Quadratic functions that are convex or concave whatever their formula looks like: their second derivatives, in exact
arithmetic, are semidefinite. They are sums of squares of linear functions.

Proof: docs/proofs/convex_bounds.md.
"""

from fractions import Fraction
from math import lcm
from typing import NamedTuple

import numpy as np

from infimum.expr.exact_forms import ExactForms, Form, is_polynomial
from infimum.expr.node import Expr
from infimum.search.policy.search import RECOGNITION as POLICY
from infimum.structure.curvature import CONCAVE, CONVEX
from infimum.structure.degree import degrees
from infimum.support.clock import stop_if_over


class QuadraticForm(NamedTuple):
    """x·Hx / 2 + Σ g_i x_i + c, exactly: the `matrix` H of fractions is about these `variables` alone, in their order."""

    variables: list[int]
    matrix: np.ndarray
    linear: dict[int, Fraction]
    constant: Fraction

    @property
    def has_products(self) -> bool:
        """Of two variables?"""
        return bool((self.matrix != np.diag(np.diag(self.matrix))).any())


class Square(NamedTuple):
    """weight (x_i + Σ factor x_j)² / 2: positions of variables in a form, the first with the factor 1."""

    weight: Fraction
    at: int
    factors: list[Fraction]  # of the variables behind it


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
        form = quadratic_form(row, x) if degree.item() == 2 else None
        if form is not None:
            convex, concave = (squares_of(sign * form.matrix) is not None for sign in (1, -1))
            found[i] = CONVEX * convex | CONCAVE * concave
    return found


def quadratic_form(row: Expr, x: Expr) -> QuadraticForm | None:
    """What a row is; None if it is no such form, its coefficients are not exact, or there are too many of them."""
    form = ExactForms({}).of(row)
    return None if form is None or not is_polynomial(form) else quadratic_form_of(form)


def quadratic_form_of(form: Form) -> QuadraticForm | None:
    """The same of a polynomial of the second degree."""
    found = {tuple(i for (_, i), power in term for _ in range(power)): number for term, number in form.items()}
    variables = sorted({i for factors in found if len(factors) == 2 for i in factors})
    if len(variables) > POLICY.quadratic_variables:
        return None
    place, matrix = {i: at for at, i in enumerate(variables)}, np.full((len(variables),) * 2, Fraction(0), object)
    for factors, coefficient in found.items():
        if len(factors) == 2:
            i, j = (place[v] for v in factors)
            matrix[i, j] = matrix[j, i] = coefficient * (2 if i == j else 1)
    linear = {factors[0]: coefficient for factors, coefficient in found.items() if len(factors) == 1 and coefficient}
    return QuadraticForm(variables, matrix, linear, found.get((), Fraction(0)))


def squares_of(matrix: np.ndarray) -> list[Square] | None:
    """Squares whose sum is x·Ax / 2 for a symmetric matrix A of fractions, of those that are not 0; None where A is not positive
    semidefinite, or its entries are of so different sizes that this would take long. By elimination without fractions (E. H.
    Bareiss 1968).

    >>> squares_of(np.array([[Fraction(2), Fraction(2)], [Fraction(2), Fraction(2)]], object))
    [Square(weight=Fraction(2, 1), at=0, factors=[Fraction(1, 1)])]
    """
    common = lcm(*(number.denominator for number in matrix.flat), 1)
    rest, before, found = np.frompyfunc(lambda number: int(number * common), 1, 1)(matrix), 1, []
    if len(rest) * max((number.bit_length() for number in rest.flat), default=0) > POLICY.quadratic_bits:
        return None
    for at in range(len(matrix)):
        stop_if_over()
        pivot, row = rest[0, 0], rest[0, 1:]
        if pivot < 0 or (pivot == 0 and any(row)):
            return None
        rest = rest[1:, 1:]
        if pivot:
            found.append(Square(Fraction(pivot, before * common), at, [Fraction(entry, pivot) for entry in row]))
            rest, before = (rest * pivot - np.multiply.outer(row, row)) // before, pivot
    return found
