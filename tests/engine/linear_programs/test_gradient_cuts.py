"""Gradients of convex rows hold at feasible points, with exact numbers, and make programs as good as the convex problem."""

from fractions import Fraction as Q

import numpy as np
import pytest

from infimum.bounds.linear_programs.linear_program_bound import LinearProgramBound
from tests.engine.constrained.planted_systems import evaluator_of
from tests.engine.linear_programs.test_relaxation import columns_at

pytest.importorskip("highspy")
LO, HI = np.zeros(3), np.full(3, 4.0)
INF = np.inf
ROWS = {
    "norm": (lambda x: np.sqrt(x[0] ** 2 + 2 * x[1] ** 2 + 1) + x[2], -INF, 4.0),
    "exponentials": (lambda x: np.log(np.exp(x[0]) + np.exp(2 * x[1]) + np.exp(x[2])), -INF, 4.5),
    "mean": (lambda x: np.sqrt(np.sqrt((x[0] + 1) * (x[1] + 1)) + x[2] + 1), 1.75, INF),
}


def f(x):
    return np.sqrt((x[0] - 3) ** 2 + (x[1] - 3) ** 2 + 1) - x[2] / 4


@pytest.fixture(scope="module", params=sorted(ROWS))
def bound(request):
    return LinearProgramBound(evaluator_of(f, [ROWS[request.param]], 3), LO, HI)


def test_cuts_hold_at_feasible_points(bound):
    relaxation, system, rng = bound.bounding.relaxation, bound.evaluator.system, np.random.default_rng(0)
    cuts, checked = relaxation.sides[system.m:], 0
    assert cuts
    for _ in range(40):
        x = np.round(rng.uniform(LO, HI) * 8) / 8
        ends = bound.evaluator.rows(x, x)
        if not ((ends.hi[1:] <= system.upper) & (ends.lo[1:] >= system.lower)).all():
            continue
        z, checked = columns_at(relaxation.lift, x), checked + 1
        for form, _, upper in cuts:
            least = form.constant[0] + sum(min(a * b for a in c for b in z[j]) for j, c in form.terms)
            assert least <= Q(upper)
    assert checked > 3


def test_programs_are_as_good_as_the_convex_problem(bound):
    """Compared with the best of many points."""
    bounding, system = bound.bounding, bound.evaluator.system
    bounding.session()
    lower = bounding.bound(*bounding.columns_of(LO, HI), INF, 1).lower
    x = np.random.default_rng(1).uniform(LO, HI, (20_000, 3)).T
    row = next(row for row, *ends in ROWS.values() if tuple(ends) == (system.lower[0], system.upper[0]))
    values = row(x)
    best = f(x)[(values >= system.lower[0]) & (values <= system.upper[0])].min()
    assert best - 0.25 < lower < best
