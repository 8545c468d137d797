"""Quadratic functions less products of linear constraints: what is left is not above f where these constraints hold, and it may
be convex where f is not. It tells how far points lie at which f is small, where variables have no bounds.

Proof: docs/proofs/convex_bounds.md.
"""

from dataclasses import replace
from fractions import Fraction
from itertools import combinations, combinations_with_replacement
from math import inf

import numpy as np

from infimum.expr.build import build, index
from infimum.expr.exact_forms import CONSTANT, Elimination, ExactForms, Form, is_linear, is_polynomial, plus, times, variable
from infimum.expr.node import Expr
from infimum.expr.rationals import between_doubles
from infimum.expr.rewriting_switches import step
from infimum.problem.system import System
from infimum.search.policy.infinite_ends import CONVEX_BOUNDS as POLICY


@step("less products", lambda system, x, lo, hi: system)
def less_products(system: System, x: Expr, lo: np.ndarray, hi: np.ndarray) -> System:
    """The same system with a convex function that is not above f in the place of f, if one is found: f is that function, plus
    products of linear constraints and of distances from bounds.

    >>> from infimum.evaluation.evaluator import Evaluator
    >>> from infimum.expr.node import var
    >>> from infimum.trace.trace import trace
    >>> system = System(trace(lambda x: x[0] * x[1] + x[1], 2), (), np.zeros(0), np.zeros(0))
    >>> found = less_products(system, var("x", (2,)), np.array([1.0, 2.0]), np.full(2, np.inf))  # less (x0 - 1) (x1 - 2)
    >>> Evaluator(found.f, 2).value([3.0, 4.0], [3.0, 4.0]).lo.item()
    12.0
    """
    forms, linear = ExactForms({}), []
    f = forms.of(system.f)
    if f is None or not is_polynomial(f) or max(map(_degree, f), default=0) != 2 or len(lo) > POLICY.most_factors:
        return system
    ends = [({variable(j): Fraction(1)}, lo[j], hi[j]) for j in range(len(lo))]
    for row, *sides in zip(system.rows[1:], system.lower, system.upper, strict=True):
        form = forms.of(row)
        ends += [(form, *sides)] if form is not None and is_linear(form) else []
    for form, least, most in ends:
        linear += [plus({}, plus(form, {CONSTANT: Fraction(float(end))}, Fraction(-1)), Fraction(sign))
                   for sign, end in ((1, least), (-1, most)) if np.isfinite(end)]
    if len(linear) > POLICY.most_factors:
        return system
    products = [times(a, b) for a, b in combinations_with_replacement(linear, 2)]
    single = [{variable(j): Fraction(1)} for j in range(len(lo))]
    lines = single + [plus(a, b, Fraction(sign)) for a, b in combinations(single, 2) for sign in (1, -1)]
    parts = products + [times(line, line) for line in lines]
    weights = _weights([form for form in map(_quadratic, parts)], _quadratic(f))
    if weights is None:
        return system
    for k, product in enumerate(products):
        f = plus(f, product, -weights.get(k, Fraction(0)))
    squares = [(lines[k - len(products)], weight) for k, weight in sorted(weights.items()) if k >= len(products)]
    for line, weight in squares:
        f = plus(f, times(line, line), -weight)
    found = _linear(f, x)
    for line, weight in squares:
        found = build("add", found, build("mul", between_doubles([weight], ()), build("powi", _linear(line, x), k=2)))
    return replace(system, f=found)


def _degree(term: tuple) -> int:
    return sum(power for _, power in term)


def _quadratic(form: Form) -> Form:
    return {term: number for term, number in form.items() if _degree(term) == 2}


def _linear(form: Form, x: Expr) -> Expr:
    found = between_doubles([form.get(CONSTANT, Fraction(0))], ())
    for term, number in sorted(form.items()):
        if term:
            (_, j), _ = term[0]
            found = build("add", found, build("mul", between_doubles([number], ()), index(x, j)))
    return found


def _weights(parts: list[Form], wanted: Form) -> dict[int, Fraction] | None:
    """Numbers >= 0 with which these forms add up to the wanted one exactly, those that are not 0; None if none are found."""
    terms = sorted({term for form in (*parts, wanted) for term in form})
    matrix = np.array([[float(form.get(term, 0)) for form in parts] for term in terms]).reshape(len(terms), len(parts))
    right = np.array([float(wanted.get(term, 0)) for term in terms])
    with np.errstate(all="ignore"):
        size = np.sqrt((matrix**2).sum(axis=0))
        estimate = _not_negative(matrix / np.where(size > 0, size, 1.0), right)
    used, known = np.flatnonzero(estimate).tolist(), Elimination(lambda term: 1.0)
    for term in terms:
        form = {variable(k): number for k in used if (number := parts[k].get(term, Fraction(0)))}
        if known.add(plus(form, {CONSTANT: wanted.get(term, Fraction(0))}, Fraction(-1))):
            return None
    found = {k: -known.by.get(variable(k), {}).get(CONSTANT, Fraction(0)) for k in used}
    return found if all(number >= 0 for number in found.values()) else None


def _not_negative(matrix: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Least squares with numbers >= 0, by Lawson and Hanson: those that are not 0 belong to columns that are independent."""
    found, free = np.zeros(matrix.shape[1]), np.zeros(matrix.shape[1], bool)
    for _ in range(POLICY.most_exchanges):
        slope = np.where(free, -inf, matrix.T @ (right - matrix @ found))
        enters = int(np.argmax(slope))
        if not slope[enters] > POLICY.least_slope * np.abs(right).max(initial=0.0):
            break
        free[enters] = True
        while free.any():
            best = np.zeros(len(found))
            best[free] = np.linalg.lstsq(matrix[:, free], right, rcond=None)[0]
            out = free & (best <= 0)
            if not out.any():
                break
            share = np.min(found[out] / (found[out] - best[out]))
            found = found + share * (best - found)
            free &= found > 0
            found[~free] = 0.0
        found = np.where(free, best, 0.0)
    return found
