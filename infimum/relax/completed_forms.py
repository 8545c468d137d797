"""Convex and concave quadratic functions as sums of squares of linear functions: each square is bounded by itself, where products
of variables that may have either sign cancel. Lines that touch a square are as good as tangents of the whole function.

Proof: docs/proofs/convex_bounds.md.
"""

from dataclasses import replace
from fractions import Fraction

import numpy as np

from infimum.expr.build import build, concat, index, reshape
from infimum.expr.node import Expr, const
from infimum.expr.rationals import between_doubles
from infimum.expr.rewriting_switches import step
from infimum.problem.system import System
from infimum.relax.convex_quadratics import QuadraticForm, Square, quadratic_form, squares_of
from infimum.structure.curvature import curvatures
from infimum.structure.degree import degrees


@step("completed forms", lambda system, x, lo, hi: system)
def with_completed_forms(system: System, x: Expr, lo: np.ndarray, hi: np.ndarray) -> System:
    """The same system, with convex and concave quadratic rows in which variables are multiplied as sums of squares, unless their
    formula tells how they curve. Rows whose variables are all 0 or 1 stay as they are: their products have exact planes.

    >>> from infimum.trace.trace import trace
    >>> from infimum.expr.node import var
    >>> f = trace(lambda x: x[0]**2 + 2 * x[0] * x[1] + 2 * x[1]**2, 2)
    >>> box = np.full(2, -9.0), np.full(2, 9.0)
    >>> with_completed_forms(System(f, (), np.empty(0), np.empty(0)), var("x", (2,)), *box).f.op
    'sum'
    """
    binary = {i for i in system.integers if lo[i] >= 0 and hi[i] <= 1}
    rows = [reshape(row, ()) for row in system.rows]
    quadratic = [degree.item() == 2 for degree in degrees(rows)]
    curves = curvatures((system.f, *system.bodies), lo, hi) if any(quadratic) else None
    if curves is None:
        return system
    unknown = np.concatenate([part.ravel() for part in curves]) == 0
    new = [_completed(row, x, binary) if chosen else row for row, chosen in zip(rows, unknown & quadratic, strict=True)]
    if all(one is other for one, other in zip(new, rows, strict=True)):
        return system
    bodies, begin = [], 1
    for body in system.bodies:
        mine, begin = slice(begin, begin + body.size), begin + body.size
        same = all(one is other for one, other in zip(new[mine], rows[mine], strict=True))
        bodies.append(body if same else concat([reshape(row, (1,)) for row in new[mine]]))
    return replace(system, f=new[0], bodies=tuple(bodies))


def _completed(row: Expr, x: Expr, binary: set[int]) -> Expr:
    form = quadratic_form(row, x)
    if form is None or not form.has_products or binary.issuperset(form.variables):
        return row
    for sign in (1, -1):
        squares = squares_of(sign * form.matrix)
        if squares is not None:
            return sum_of_squares(form, squares, Fraction(sign), x)
    return row


def sum_of_squares(form: QuadraticForm, squares: list[Square], sign: Fraction, x: Expr) -> Expr:
    """sign Σ w (l·x + t)² / 2 + Σ g x + c: as much of the linear part of the form is in the squares as there is room for."""
    m, linear, constant = len(form.variables), dict(form.linear), form.constant
    lines, shifts = [], []
    for square in squares:
        first = form.variables[square.at]
        slope = linear.pop(first, Fraction(0)) * sign  # w (l·x + t)² / 2 has w t in the direction of the first variable
        for at, factor in enumerate(square.factors, square.at + 1):
            i = form.variables[at]
            linear[i] = linear.get(i, Fraction(0)) - sign * slope * factor
        shifts.append(slope / square.weight)
        constant -= sign * slope * slope / square.weight / 2
        lines.append([Fraction(0)] * square.at + [Fraction(1)] + square.factors)
    found = const(0.0)
    if squares:
        inside = concat([reshape(index(x, i), (1,)) for i in form.variables])
        products = build("mul", between_doubles([q for line in lines for q in line], (len(lines), m)), inside)
        argument = build("add", build("sum", products, axes=(1,)), between_doubles(shifts, (len(lines),)))
        weights = between_doubles([sign * square.weight / 2 for square in squares], (len(lines),))
        found = build("sum", build("mul", weights, build("powi", argument, k=2)), axes=(0,))
    for i, factor in sorted(linear.items()):
        if factor:
            found = build("add", found, build("mul", between_doubles([factor], ()), index(x, i)))
    return build("add", found, between_doubles([constant], ())) if constant else found
