"""Convex functions below f: a quadratic one, and terms of f that are convex. Other terms are not below a number, if they are
enclosed, and products of linear constraints are not negative where these hold. Such a function tells how far points lie at which
f is small, where variables have no bounds.

Proof: docs/proofs/convex_bounds.md.
"""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, combinations_with_replacement
from math import inf
from typing import NamedTuple

import numpy as np

from infimum.bounds.infinite_ends.enclosed_forms import EnclosedForms
from infimum.expr.build import build
from infimum.expr.exact_forms import CONSTANT, Elimination, Factor, Form, degree, is_linear, is_polynomial, plus, times, variable
from infimum.expr.node import Expr
from infimum.expr.rationals import between_doubles
from infimum.expr.rewriting_switches import step
from infimum.problem.system import System
from infimum.relax.completed_forms import sum_of_squares
from infimum.relax.convex_quadratics import Square, quadratic_form_of, squares_of
from infimum.relax.dense_simplex import solved
from infimum.search.policy.infinite_ends import CONVEX_BOUNDS as POLICY


@step("convex below", lambda system, x, lo, hi: None)
def convex_below(system: System, x: Expr, lo: np.ndarray, hi: np.ndarray) -> System | None:
    """The same system with a convex function in the place of f that is not above f on the box where the constraints hold; None
    if none is found.

    >>> from infimum.evaluation.evaluator import Evaluator
    >>> from infimum.expr.node import var
    >>> from infimum.trace.trace import trace
    >>> system = System(trace(lambda x: x[0] * x[1] + x[1] + np.cos(x[0]), 2), (), np.zeros(0), np.zeros(0))
    >>> below = convex_below(system, var("x", (2,)), np.array([1.0, 2.0]), np.full(2, np.inf))  # less (x0 - 1) (x1 - 2)
    >>> Evaluator(below.f, 2).value([3.0, 4.0], [3.0, 4.0]).lo.item()
    11.0
    """
    forms = EnclosedForms(len(lo))
    candidates = forms.of(system.f) if len(lo) <= POLICY.most_factors else []
    forms.enclose(lo, hi)
    products: list[Form] | None = None  # made when they are needed
    for form in candidates:
        below = _below(form, forms, lo, hi) if _is_moderate(form) else None
        for f in () if below is None else _without_swings(below.quadratic, below.swings):
            squares = _squares(f)
            if squares is None:
                if products is None:
                    products = _products(system, forms, lo, hi)
                    parts = [_quadratic(part) for part in (*products, *_lines(len(lo)))]
                weights = (_weights(parts, _quadratic(f)) if products else None) or {}
                for k, product in enumerate(products):
                    f = plus(f, product, -weights.get(k, Fraction(0)))
                squares = _squares(f)
            if squares is not None:
                found = sum_of_squares(quadratic_form_of(f), squares, Fraction(1), x)
                for factor, number in sorted(below.convex.items()):
                    found = build("add", found, build("mul", between_doubles([number], ()), forms.element(factor)))
                return replace(system, f=found)
    return None


class _Below(NamedTuple):
    """Together not above f: a quadratic polynomial, other factors that are convex once multiplied by their numbers, and -a |x_j|
    for each number a of a variable j."""

    quadratic: Form
    convex: dict[Factor, Fraction]
    swings: dict[int, Fraction]


def _squares(f: Form) -> list[Square] | None:
    form = quadratic_form_of(f)
    return None if form is None else squares_of(form.matrix)


def _is_moderate(form: Form) -> bool:
    """Are its numbers, and their products by each other, neither too large for doubles nor too small?"""
    exponents = (number.numerator.bit_length() - number.denominator.bit_length() for number in form.values())
    return all(2 * abs(exponent) <= POLICY.largest_exponent for exponent in exponents)


def _quadratic(form: Form) -> Form:
    return {term: number for term, number in form.items() if degree(term) == 2}


def _below(form: Form, forms: EnclosedForms, lo: np.ndarray, hi: np.ndarray) -> _Below | None:
    """Of a form. Its other terms are replaced by the least numbers that they are; None if they have none."""
    found = _Below({}, {}, {})
    quadratic = found.quadratic
    for term, number in form.items():
        rest = {tuple(factor for factor in term if factor[0][0]): number}
        variables = [factor for factor in term if not factor[0][0]]
        if is_polynomial({term: number}) and degree(term) <= 2:
            quadratic = plus(quadratic, {term: number})
        elif len(term) == 1 and term[0][1] == 1 and forms.is_convex(term[0][0], number > 0):
            found.convex[term[0][0]] = number
        elif (least := forms.ends({term: number}, lo, hi)[0]) > -inf:
            quadratic = plus(quadratic, {CONSTANT: least})
        elif degree(tuple(variables)) == 1 and (most := max(map(abs, forms.ends(rest, lo, hi)))) < inf:
            (_, j), _ = variables[0]
            found.swings[j] = found.swings.get(j, Fraction(0)) + most
        else:
            return None
    return found._replace(quadratic=quadratic)


def _without_swings(f: Form, swings: dict[int, Fraction]) -> Iterator[Form]:
    """Forms not above f and -a |x_j|: parts of the squares are taken for them, a |x_j| <= e x_j**2 + a**2 / (4 e)."""
    squares = {j: f.get(((("", j), 2),), Fraction(0)) for j in swings}
    if not swings:
        yield f
    elif min(squares.values()) > 0:
        for share in POLICY.swing_shares:
            found = f
            for j, a in swings.items():
                e = squares[j] * Fraction(share)
                found = plus(found, {((("", j), 2),): e, CONSTANT: a * a / (4 * e)}, Fraction(-1))
            yield found


def _products(system: System, forms: EnclosedForms, lo: np.ndarray, hi: np.ndarray) -> list[Form]:
    """Of two linear forms that are not negative on the box where the constraints hold: ends of constraints, and the nearest ends
    of variables."""
    ends, linear = [], []
    for row, *sides in zip(system.rows[1:], system.lower, system.upper, strict=True):
        form = next(iter(forms.of(row)), None)
        if form is not None and is_linear(form):
            ends += [(form, sign, end) for sign, end in zip((1, -1), sides, strict=True)]
    variables = [({variable(j): Fraction(1)}, sign, end) for j in range(len(lo)) for sign, end in ((1, lo[j]), (-1, hi[j]))]
    for form, sign, end in [*ends, *sorted(variables, key=lambda known: abs(known[2]))]:
        if np.isfinite(end) and len(linear) < POLICY.most_factors:
            linear.append(plus({}, plus(form, {CONSTANT: Fraction(float(end))}, Fraction(-1)), Fraction(sign)))
    linear = [form for form in linear if _is_moderate(form)]
    return [times(a, b) for a, b in combinations_with_replacement(linear, 2)]


def _lines(n: int) -> list[Form]:
    """Squares of variables, and of sums and differences of two: what may be left."""
    single = [{variable(j): Fraction(1)} for j in range(n)]
    lines = single + [plus(a, b, Fraction(sign)) for a, b in combinations(single, 2) for sign in (1, -1)]
    return [times(line, line) for line in lines]


def _weights(parts: list[Form], wanted: Form) -> dict[int, Fraction] | None:
    """Numbers >= 0 with which these forms add up to the wanted one exactly, those that are not 0; None if none are found. A
    linear program says which they are, with the same bits on every machine."""
    terms = sorted({term for form in (*parts, wanted) for term in form})
    matrix = np.array([[float(form.get(term, 0)) for form in parts] for term in terms]).reshape(len(terms), len(parts))
    right = np.array([float(wanted.get(term, 0)) for term in terms])
    size = np.abs(matrix).max(axis=0, initial=0.0)
    matrix = POLICY.largest_weight * matrix / np.where(size > 0, size, 1.0)
    right = right / np.abs(right).max(initial=0.0)
    rows = np.concatenate([matrix, -matrix])
    turns = max(1, POLICY.product_operations // max(1, rows.size))
    ended = solved(np.ones(len(parts)), rows, np.concatenate([right, -right]), turns)
    used, known = np.flatnonzero(ended.point > POLICY.least_weight).tolist(), Elimination(lambda term: 1.0)
    for term in terms:
        form = {variable(k): number for k in used if (number := parts[k].get(term, Fraction(0)))}
        if known.add(plus(form, {CONSTANT: wanted.get(term, Fraction(0))}, Fraction(-1))):
            return None
    found = {k: -known.by.get(variable(k), {}).get(CONSTANT, Fraction(0)) for k in used}
    return found if all(number >= 0 for number in found.values()) else None
