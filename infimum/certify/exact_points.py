"""Regions that are single points, as whole numbers leave them: constraints are compared with their ends there, in rationals.

Proof: docs/proofs/constraints.md.
"""

from fractions import Fraction

import numpy as np

from infimum.evaluation.evaluator import Evaluator
from infimum.expr.exact_forms import ExactForms, value_at
from infimum.search.policy.bounds import EXACT_FORMS as POLICY
from infimum.support.clock import stop_if_over


def violated_points(evaluator: Evaluator, lo: np.ndarray, hi: np.ndarray) -> np.ndarray:
    """Which of the boxes (n, N) are points at which a constraint is certainly violated, though no enclosure shows that. Of very
    many only the first are looked at."""
    system, found = evaluator.system, np.zeros(lo.shape[1], bool)
    points = np.flatnonzero((lo == hi).all(axis=0) & np.isfinite(lo).all(axis=0))[:POLICY.most_points]
    if not len(points) or not system.m:
        return found
    x = np.take(lo, points, axis=1)
    rows = evaluator.rows(x, x)
    undecided = ~((rows.lo[1:] >= system.lower[:, None]) & (rows.hi[1:] <= system.upper[:, None]))
    for k, point in enumerate(points):
        stop_if_over()
        forms = ExactForms({j: Fraction(value) for j, value in enumerate(x[:, k].tolist())})
        found[point] = any(_is_violated(evaluator, forms, i) for i in np.flatnonzero(undecided[:, k]).tolist())
    return found


def _is_violated(evaluator: Evaluator, forms: ExactForms, i: int) -> bool:
    """Does constraint i lie beyond an end of its where all variables have the values of the forms?"""
    system, form = evaluator.system, forms.of(evaluator.system.rows[1 + i])
    value, lower, upper = None if form is None else value_at(form, {}), float(system.lower[i]), float(system.upper[i])
    if value is None:
        return False
    return (lower > -np.inf and value < Fraction(lower)) or (upper < np.inf and value > Fraction(upper))
