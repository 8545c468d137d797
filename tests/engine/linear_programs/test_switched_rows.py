"""Rows and lines that binary variables switch hold at feasible points, with exact numbers, and are strong."""

from fractions import Fraction as Q

import numpy as np
import pytest

import infimum
from infimum.bounds.linear_programs.linear_program_bound import LinearProgramBound
from infimum.relax.switches import Switches
from tests.engine.constrained.planted_systems import evaluator_of
from tests.engine.linear_programs.test_relaxation import columns_at

UNITS = [(lambda x: x[0] - np.log(1 + x[1]) + 50 * x[4], -np.inf, 50.0), (lambda x: x[0] - 4 * x[4], -np.inf, 0.0),
         (lambda x: -np.exp(x[2]) + x[3] + 1 + 70 * x[5], -5.0, np.inf), (lambda x: x[2] - 2 * x[5], -np.inf, 0.0),
         (lambda x: x[3] - 3 * x[5], -np.inf, 0.0), (lambda x: x[4] + x[5], -np.inf, 1.0)]
LO, HI = np.zeros(6), np.array([4.0, 4, 2, 3, 1, 1])


@pytest.fixture(scope="module")
def bound():
    pytest.importorskip("highspy")
    evaluator = evaluator_of(lambda x: x[1] + x[2] ** 2 - 3 * x[0] - x[3] + x[4] + x[5], UNITS, 6, (4, 5))
    return LinearProgramBound(evaluator, LO, HI)


def test_a_large_m_becomes_what_the_other_rows_imply(bound):
    form, _, end = bound.bounding.relaxation.sides[0]
    factor = dict(form.terms).get(4, (Q(0),) * 2)[0]
    assert abs(float(factor)) < 1e-6 and abs(end) < 1e-6  # x0 <= log(1 + x1) holds where the unit is off as well
    form, least, _ = bound.bounding.relaxation.sides[2]
    at_zero, at_one = least, least - float(dict(form.terms)[5][0])
    assert at_zero >= -1.0 - 1e-6  # -exp(0) + 0: where it is off, x2 and x3 are 0
    assert at_one >= 1 - np.exp(2) + 70 - 76.1


def test_rows_and_lines_hold_at_feasible_points(bound):
    relaxation, rng = bound.bounding.relaxation, np.random.default_rng(1)
    assert relaxation.switches is not None
    low, high = (end[None] for end in bound.bounding.columns_of(LO, HI))
    region = relaxation.at(low, high, np.inf, np.broadcast_to([0.3, 1.1], (len(relaxation.curves), 1, 2))).at(0)
    rows, checked = region.rows, 0
    for _ in range(80):
        x = np.round(rng.uniform(LO, HI) * 16) / 16
        x[4:] = rng.permutation([0, rng.integers(2)])
        x[[0, 2, 3]] *= x[[4, 5, 5]]
        ends = bound.evaluator.rows(x, x)
        if not ((ends.hi[1:] <= bound.evaluator.system.upper) & (ends.lo[1:] >= bound.evaluator.system.lower)).all():
            continue
        z, least, most = columns_at(relaxation.lift, x), [Q(0)] * len(rows.lower), [Q(0)] * len(rows.lower)
        for k, j, a, b in zip(rows.row, rows.column, rows.low, rows.high, strict=True):
            products = [Q(float(c)) * end for c in (a, b) for end in z[j]]
            least[k], most[k] = least[k] + min(products), most[k] + max(products)
        checked += 1
        for k in range(len(least)):
            assert rows.upper[k] == np.inf or least[k] <= Q(float(rows.upper[k])), (k, x)
            assert rows.lower[k] == -np.inf or most[k] >= Q(float(rows.lower[k])), (k, x)
    assert checked > 10


def test_lifted_lines_hold_where_the_variable_is_zero_and_one():
    """y = a**2 on [0, 2], a = 0 where z = 0 (or 1): for tangents at 1, exactly."""
    for off in (0.0, 1.0):
        zero = np.zeros(1)
        switches = Switches(np.array([2]), np.array([off]), (zero, zero), (zero, zero))
        factor, rest = switches.lifted(np.array([[2.0]]), np.array([[-1.0]]), np.array([[1.0]]))
        for a, d in ((Q(0), 0), (Q(0), 1), (Q(1, 2), 1), (Q(2), 1)):
            z = d if off == 0.0 else 1 - d
            assert 2 * a - a * a + Q(float(factor[0, 0])) * z <= Q(float(rest[0, 0]))
        a, z = Q(1, 2), Q(1, 2)  # between: y >= a**2 / d is what the perspective says, at its tangent
        assert 2 * a + Q(float(factor[0, 0])) * z - Q(float(rest[0, 0])) == pytest.approx(a * a / (1 - z if off else z))


def test_rows_of_whole_variables_alone_are_left(bound):
    system = bound.evaluator.system
    assert bound.bounding.relaxation.sides[5][1:] == (system.lower[5], system.upper[5])


def test_what_is_convex_but_for_whole_numbers_is_bounded_by_programs_from_the_beginning():
    """Ten units of which four may be on, each with a concave gain: programs find the point and prove it in a few regions."""
    rng = np.random.default_rng(0)
    gain, cost = np.round(rng.uniform(1, 3, 10), 2), np.round(rng.uniform(0.2, 1.5, 10), 2)
    rows = [lambda x: x[:10] <= 4 * x[10:], lambda x: np.sum(x[10:]) <= 4, lambda x: np.sum(x[:10]) <= 9]
    r = infimum.minimize(lambda x: np.sum(cost * x[10:]) + np.sum(x[:10]) / 2 - np.sum(gain * np.log(1 + x[:10])), rtol=1e-4,
                         bounds=[(0, 4)] * 10 + [(0, 1)] * 10, integrality=[0] * 10 + [1] * 10, constraints=rows)
    assert r.verdict.name == "PROVED" and r.lp is not None and r.lp["solved"] > 0 and r.nit < 32
