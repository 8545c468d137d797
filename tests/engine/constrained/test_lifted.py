"""The lifted relaxation: forms that are what they stand for, bounds that hold, and no feasible point lost."""

from fractions import Fraction
from functools import reduce

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from infimum.bounds.interface import LocalSolution, StepContext
from infimum.bounds.lifted_relaxation import LiftedRelaxation
from infimum.expr.node import var
from infimum.kernel.region_cut import DISCARDED_AXIS
from infimum.relax import lifted_kernel
from infimum.relax.lifting import CannotBeLifted, Lift, LinearForm
from tests.engine.constrained.planted_systems import INF, check_nothing_lost, evaluator_of, planted, regions_around


def part_of(evaluator):
    return LiftedRelaxation(evaluator, np.full(evaluator.n, -2.0), np.full(evaluator.n, 2.0))


def lift_of(evaluator):
    return Lift(evaluator.system, var("x", (evaluator.n,)))


def region(*sides):
    lo, hi = zip(*sides, strict=True)
    return np.array([*lo, *hi, -INF, 0.0, 3.0])[:, None]


# ---- forms
def columns_at(lift: Lift, p: np.ndarray) -> list[Fraction]:
    """What the columns of polynomials are at a point."""
    z = [Fraction(float(v)) for v in p]
    for column in lift.columns[lift.n:]:
        if column.factors:
            z.append(z[column.factors[0]] * z[column.factors[1]])
        else:
            z.append(value(column.form, z) if column.form else z[column.argument] ** dict(column.curve[1])["k"])
    return z


def value(form: LinearForm, z: list[Fraction]) -> Fraction:
    assert form.constant[0] == form.constant[1] and all(c[0] == c[1] for _, c in form.terms)
    return form.constant[0] + sum(c[0] * z[k] for k, c in form.terms)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(1, 4))
def test_rows_are_what_they_stand_for(seed, n):
    at = planted(seed, n)
    try:
        lift = lift_of(at.evaluator)
    except CannotBeLifted:  # all rows are linear
        return
    for k, exact in enumerate(at.values):
        z = columns_at(lift, at.points[:, k])
        assert value(lift.rows[0], z) == exact
        assert all(value(form, z) <= 0 for form in lift.fixed)


def test_equal_products_are_one_column():
    """Also those that come from products of sums."""
    evaluator = evaluator_of(lambda x: (x[0] + x[1]) * x[2] - x[1] * x[2], [(lambda x: x[2] * x[0] - x[1], 0.0, INF)], 3)
    lift = lift_of(evaluator)
    assert len(lift.columns) == 5 and lift.columns[lift.rows[0].column].factors == (0, 2)  # x[0] x[2] alone is left of f


def delays(x):
    """With a pole in most boxes, and none where 2 x0 + 4 x1 <= 3.5."""
    return x[0] / (2 - x[0] - 2 * x[1]) + 1 / (x[0] + 2 * x[1] - 3) - x[1] ** 2


DELAYS = [(lambda x: 2 * x[0] + 4 * x[1], -INF, 3.5), (lambda x: -x[0] - 2 * x[1], -INF, -0.25)]


def test_sums_are_where_constraints_say():
    """Whatever factor and constant they have: 0.25 <= x0 + 2 x1 <= 1.75."""
    lift = lift_of(evaluator_of(delays, DELAYS, 2))
    assert sorted(lift.within.values()) == [(-2.75, -1.25), (0.25, 1.75)]


def test_denominators_that_constraints_keep_from_0():
    evaluator = evaluator_of(delays, DELAYS, 2)
    part, rng = part_of(evaluator), np.random.default_rng(0)
    assert -9 <= part.test(region((0, 1.75), (0, 0.875)), StepContext(INF)).regions[4, 0] <= -0.7
    for _ in range(50):
        p = rng.uniform(0, [1.75, 0.875])
        if not 0.25 <= p[0] + 2 * p[1] <= 1.75:
            continue
        lo, hi = p - rng.uniform(0, 0.5, 2), p + rng.uniform(0, 0.5, 2)
        left = part.test(region(*zip(lo, hi, strict=True)), StepContext(INF)).regions[:, 0]
        assert (left[:2] <= p).all() and (p <= left[2:4]).all() and left[5] != DISCARDED_AXIS and left[4] <= delays(p) + 1e-9


def test_entropies_cancel():
    """a log a + b log b - (a + b) log(a + b) needs no product of a variable and a logarithm to be loose."""
    def f(x):
        total = x[0] + x[1]
        return x[0] * (np.log(x[0]) - np.log(total)) + x[1] * np.log(x[1] / total)
    evaluator = evaluator_of(f, [(lambda x: x[0] + x[1], 1.0, 1.0)], 2)
    assert len(lift_of(evaluator).logarithmic) == 1
    lower = part_of(evaluator).test(region((0.25, 0.75), (0.25, 0.75)), StepContext(INF)).regions[4, 0]
    assert -0.9 <= lower <= -np.log(2)


def test_branches_and_linear_systems_are_not_lifted():
    for f in (lambda x: np.where(x[0] > 0, x[0], x[1]), lambda x: x[0] - x[1]):
        with pytest.raises(CannotBeLifted):
            lift_of(evaluator_of(f, [(lambda x: x[0] + x[1], 0.0, 0.0)], 2))


# ---- bounds
def test_equations_times_variables_are_rows():
    """x[0] y + x[1] y is y where x[0] + x[1] is 1; McCormick's planes alone allow -1/2 for f."""
    sides = (0, 1), (0, 1), (0, 1)
    evaluator = evaluator_of(lambda x: x[0] * x[2] + x[1] * x[2] - x[2], [(lambda x: x[0] + x[1], 1.0, 1.0)], 3)
    assert -1e-12 <= part_of(evaluator).test(region(*sides), StepContext(INF)).regions[6, 0] <= 0
    evaluator = evaluator_of(lambda x: x[0] * x[2] + x[1] * x[2] - x[2], [(lambda x: x[0] + x[1], 1.0, 1.0 + 2.0**-40)], 3)
    assert -0.5 - 1e-9 <= part_of(evaluator).test(region(*sides), StepContext(INF)).regions[6, 0] <= -0.4


def test_an_infeasible_region_is_gone():
    evaluator = evaluator_of(lambda x: x[0], [(lambda x: x[0] * x[1], 1.0, INF), (lambda x: x[0] + x[1], -INF, 1.5)], 2)
    part = part_of(evaluator)
    assert part.test(region((0.5, 1), (0.5, 1)), StepContext(INF)).regions[5, 0] == DISCARDED_AXIS
    assert part.test(region((0.25, 2), (0.25, 2)), StepContext(INF)).regions[5, 0] in (0.0, 1.0)


def test_the_point_of_the_linear_program():
    evaluator = evaluator_of(lambda x: x[0] * x[1] - x[0], [(lambda x: x[0] - x[1], -INF, 0.5)], 2)
    found = part_of(evaluator).points(np.zeros((2, 1)), np.ones((2, 1)), INF)
    assert found[:, 0] == pytest.approx([0.75, 0.25])  # x y >= x + y - 1: least of y - 1 where x - y <= 1/2 and x + y <= 1


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(1, 3), known=st.booleans())
def test_no_feasible_point_is_lost(seed, n, known):
    at, rng = planted(seed, n), np.random.default_rng(seed)
    part = part_of(at.evaluator)
    if not LiftedRelaxation.applies(at.evaluator):
        return
    if known:
        part.learn(LocalSolution(rng.uniform(-2, 2, n), None))
    before = regions_around(rng, at, 64)
    for upper in (INF, float(max(at.values)), float(min(at.values))):
        check_nothing_lost(at, before, part.test(before.copy(), StepContext(upper)).regions, upper, DISCARDED_AXIS)


def test_the_check_would_notice(nothing_lowered, monkeypatch):
    """Coefficients that are not those of the forms do lose points."""
    at = planted(5, 2)
    monkeypatch.setattr(lifted_kernel, "doubles", lambda number: (float(number[0]) + 0.25, float(number[1]) + 0.25))
    before = regions_around(np.random.default_rng(0), at, 256)
    with pytest.raises(AssertionError):
        check_nothing_lost(at, before, part_of(at.evaluator).test(before.copy(), StepContext(INF)).regions, INF, DISCARDED_AXIS)


@pytest.mark.parametrize("f", [
    lambda x: (1e200 * x[0]) * (1e200 * x[1]), lambda x: (1e200 * x[0]) ** 2 + x[1],
    lambda x: (x[0] + 1e200) * (x[1] - 1e200), lambda x: reduce(lambda y, _: (1.1 * y) ** 2, range(60), x[0] * x[1]),
])
def test_coefficients_beyond_doubles_or_of_too_many_bits_are_not_lifted(f):
    assert not LiftedRelaxation.applies(evaluator_of(f, [(lambda x: x[0] * x[1], 0.1, INF)], 2))


def test_a_power_of_very_many_bits_is_a_column_of_its_own():
    evaluator = evaluator_of(lambda x: (1.1 * x[0]) ** 10**7 + x[0] * x[1], [(lambda x: x[0] * x[1], 0.1, INF)], 2)
    assert LiftedRelaxation.applies(evaluator)
