"""Bounds of variables that have none, from polynomials: far out the term with the largest power of a variable outweighs the
others, where the other variables are bounded.

Proof: docs/proofs/convex_bounds.md.
"""

from fractions import Fraction
from math import inf

import numpy as np

from infimum.expr.exact_forms import ExactForms, Form, enclosed, is_polynomial
from infimum.expr.real import round_up
from infimum.problem.system import System
from infimum.search.policy.bounds import CONVEX_BOUNDS as POLICY

Box = tuple[np.ndarray, np.ndarray]


def with_growth_bounds(system: System, lo: np.ndarray, hi: np.ndarray, upper: float) -> Box:
    """The box [lo, hi] with finite ends in the place of infinite ones, as far as they follow from single constraints that are
    polynomials, or from f <= upper.

    >>> from infimum.trace.trace import trace
    >>> system = System(trace(lambda x: x[0]**3 - x[0]**2 * x[1], 2), (), np.zeros(0), np.zeros(0))
    >>> with_growth_bounds(system, np.array([0.0, 1.0]), np.array([np.inf, 2.0]), 0.0)[1].round(1)
    array([2., 2.])
    """
    box, forms = (lo.copy(), hi.copy()), ExactForms({})
    ends = zip(system.rows, [-inf, *system.lower], [upper, *system.upper], strict=True)
    known = [(form, *sides) for row, *sides in ends if (form := forms.of(row)) is not None and is_polynomial(form)]
    for i in np.flatnonzero(np.isinf(lo) | np.isinf(hi)):
        for side in (0, 1):
            if np.isinf(box[side][i]):
                far = [_reach(form, least, most, int(i), -1 if side == 0 else 1, box) for form, least, most in known]
                nearest = min((number for number in far if number is not None), default=None)
                if nearest is not None:
                    box[side][i] = round_up(nearest) if side else -round_up(nearest)
    return box


def _reach(form: Form, least: float, most: float, i: int, sign: int, box: Box) -> Fraction | None:
    """A number K such that least <= form <= most holds nowhere in the box where sign x_i > K; None if none is found."""
    others: dict[int, Form] = {}  # coefficients of the powers of sign x_i: forms of the other variables
    for term, number in form.items():
        if not all(np.isfinite(box[0][j]) and np.isfinite(box[1][j]) for (_, j), _ in term if j != i):
            return None
        degree = dict(term).get(("", i), 0)
        rest = tuple(factor for factor in term if factor[0][1] != i)
        others.setdefault(degree, {})[rest] = number * sign**degree
    if not any(others):
        return None
    ends = {degree: enclosed(form, *box) for degree, form in others.items()}
    for flip, end in ((1, most), (-1, least)):
        if np.isfinite(end):
            below = {degree: low if flip > 0 else -high for degree, (low, high) in ends.items()}
            below[0] = below.get(0, 0) - flip * Fraction(float(end))
            found = _root_bound(below)
            if found is not None:
                return found
    return None


def _root_bound(below: dict[int, Fraction]) -> Fraction | None:
    """A number beyond which the polynomial with these coefficients is positive; None if the last one is not."""
    degree = max(below)
    if not below[degree] > 0:
        return None

    def positive(k: Fraction) -> bool:
        """For all x > k: divided by the largest power, no other term is below what it is at k, or below 0."""
        return below[degree] + sum(min(number, 0) / k**(degree - power) for power, number in below.items() if power < degree) > 0
    k = Fraction(1, 1 << POLICY.growth_halvings)
    while not positive(k):
        k *= 2
        if k > 1 << POLICY.growth_doublings:
            return None
    near, far = k / 2, k
    for _ in range(POLICY.growth_bisections):
        middle = (near + far) / 2
        near, far = (near, middle) if positive(middle) else (middle, far)
    return far
