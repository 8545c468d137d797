"""Points at which constraints hold with equality, proved exactly: degenerate systems, and systems without such a point."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import infimum
from infimum.certify.active_constraints import prove_feasible_active
from infimum.certify.equation_solutions import FailureReason
from infimum.evaluation.evaluator import Evaluator
from infimum.expr.exact_forms import Elimination, ExactForms, enclosed, is_linear, value_at, variable
from infimum.trace.constraint_reading import read_constraints
from infimum.trace.trace import trace

small = st.integers(-4, 4)


def evaluator_of(constraints, n, integers=(), f=lambda x: x[0]):
    system = read_constraints(constraints, n).system(trace(f, n), integers)
    return Evaluator(system.f, n, system=system)


def box(n, lo=-10.0, hi=10.0):
    return np.full(n, lo), np.full(n, hi)


@given(st.lists(small, min_size=3, max_size=3), st.lists(small, min_size=3, max_size=3), st.lists(small, min_size=3, max_size=3))
def test_forms_have_the_value_of_the_expression(a, x, y):
    def row(v):
        return (a[0] * v[0] + a[1] * v[1]) ** 2 * v[2] - v[0] * v[1] / 4 + a[2]
    form = ExactForms({}).of(trace(row, 3))
    exact = {j: Fraction(value) for j, value in enumerate(x)}
    assert value_at(form, exact) == row([Fraction(v) for v in x])
    lo, hi = np.minimum(x, y).astype(float), np.maximum(x, y).astype(float)
    low, high = enclosed(form, lo, hi)
    assert low <= row([Fraction(v) for v in x]) <= high and low <= row([Fraction(v) for v in y]) <= high


def test_fixed_variables_make_products_linear_and_fractions_are_exact():
    f = trace(lambda x: x[0] * x[1] + Fraction(1, 10) * x[1], 2)
    assert not is_linear(ExactForms({}).of(f))
    assert ExactForms({0: Fraction(2)}).of(f) == {variable(1): Fraction(21, 10)}


@given(st.lists(st.lists(small, min_size=4, max_size=4), min_size=1, max_size=4), st.lists(small, min_size=4, max_size=4))
def test_what_elimination_leaves_vanishes_exactly_if_it_follows(rows, weights):
    known = Elimination(lambda term: 1.0)
    forms = [{variable(j): Fraction(v) for j, v in enumerate(row) if v} for row in rows]
    for form in forms:
        known.add(form)
    together = {variable(j): Fraction(sum(w * row[j] for w, row in zip(weights, rows, strict=False))) for j in range(4)}
    assert known.reduced({term: v for term, v in together.items() if v}) == {}
    independent = len(known.by) == 4
    assert (known.reduced({variable(0): Fraction(1)}) == {}) or not independent


def test_inequalities_without_interior_are_feasible_at_their_common_points():
    made = evaluator_of([lambda x: 0.1 * x[0] + 0.2 * x[1] <= 0.7, lambda x: 0.1 * x[0] + 0.2 * x[1] >= 0.7,
                         lambda x: 0.3 * x[0] + 0.6 * x[1] <= 2.5], 2)
    found = prove_feasible_active(made, box(2), np.array([1.0, 3.0]))
    assert not isinstance(found, FailureReason) and found.lo[0] <= 1.0 <= found.hi[0]
    other = evaluator_of([lambda x: x[0] + 2 * x[1] <= 7, lambda x: x[0] + 2 * x[1] >= 7 + 2.0**-49], 2)
    assert isinstance(prove_feasible_active(other, box(2), np.array([1.0, 3.0])), FailureReason)


def test_variables_near_zero_are_held_there_at_last():
    """Two equations in one variable, one of them with a double root, hold together at 0 alone."""
    made = evaluator_of([lambda x: x[0] ** 2 == 0, lambda x: 5 * x[0] ** 2 + 0.3 * x[0] == 0,
                         lambda x: x[1] + x[0] ** 3 >= 0.5], 2)
    found = prove_feasible_active(made, box(2), np.array([1e-18, 0.5]))
    assert not isinstance(found, FailureReason) and found.lo.tolist() == found.hi.tolist() == [0.0, 0.5]
    other = evaluator_of([lambda x: x[0] ** 2 == 0, lambda x: 5 * x[0] ** 2 + 0.3 * x[0] == 2.0**-60], 2)
    assert isinstance(prove_feasible_active(other, box(2), np.array([1e-18, 0.5])), FailureReason)


def test_the_same_inequality_with_the_other_sign_in_another_order():
    pair = [lambda x: x[0] ** 2 + x[1] ** 3 <= 3, lambda x: -(x[1] ** 3) - x[0] ** 2 <= -3, lambda x: x[0] + x[1] <= 2.5]
    found = prove_feasible_active(evaluator_of(pair, 2), box(2), np.array([1.0, 1.259921049894873]))
    assert not isinstance(found, FailureReason)
    apart = [pair[0], lambda x: -(x[1] ** 3) - x[0] ** 2 <= -3 - 2.0**-50]
    assert isinstance(prove_feasible_active(evaluator_of(apart, 2), box(2), np.array([1.0, 1.259921049894873])), FailureReason)


def test_a_double_root_is_not_proved():
    made = evaluator_of([lambda x: x[0] ** 2 <= -2.0**-60], 1)
    assert isinstance(prove_feasible_active(made, box(1), np.array([2.0**-31])), FailureReason)
    exact = evaluator_of([lambda x: (x[0] - Fraction(1, 4)) ** 2 == 0], 1)
    assert not isinstance(prove_feasible_active(exact, box(1), np.array([0.25])), FailureReason)


@settings(max_examples=20, deadline=None)
@given(st.lists(st.lists(small, min_size=4, max_size=4), min_size=2, max_size=5), st.lists(small, min_size=4, max_size=4),
       st.integers(0, 1))
def test_linear_systems_against_exact_arithmetic(rows, at, wrong):
    """Equations and redundant ones through a known point; or one of them off by so little that no enclosure tells."""
    rows = [row for row in rows if any(row)] or [[1, 0, 0, 0]]
    rows = [*rows, [sum(column) for column in zip(*rows, strict=True)]]
    right = [sum(a * b for a, b in zip(row, at, strict=True)) for row in rows]
    right[-1] += wrong * 2.0**-49

    def equation(row, b):
        return lambda x: sum(a * v for a, v in zip(row, x, strict=True)) - b == 0
    used = [equation(row, b) for row, b in zip(rows, right, strict=True) if any(row)]
    found = prove_feasible_active(evaluator_of(used, 4), box(4), np.array(at) + np.array([0.0, 1e-9, -1e-9, 0.0]))
    contradicts = any(rows[-1]) and float(right[-1]) != sum(a * b for a, b in zip(rows[-1], at, strict=True))
    assert isinstance(found, FailureReason) == contradicts


@pytest.mark.parametrize("n", [2, 3])
def test_whole_numbers_with_rational_coefficients_are_decided(n):
    rows = [lambda x: sum(Fraction(k + 1, 10) * x[k] for k in range(n)) == Fraction(n * (n + 1) // 2, 10)]
    assert infimum.feasible([(0, 5)] * n, rows, integrality=[1] * n).verdict.name == "PROVED"
    never = [lambda x: Fraction(1, 10) * x[0] + Fraction(2, 10) * x[1] == Fraction(3, 10) + Fraction(1, 10**20)]
    assert infimum.feasible([(0, 5)] * 2, never, integrality=[1, 1]).verdict.name != "PROVED"


def test_variables_whose_value_lies_between_the_last_double_and_their_bound():
    """1 / 0.0025, where 0.0025 is the double, is just below 400."""
    made = evaluator_of([lambda x: 0.0025 * x[0] == 1, lambda x: x[0] * x[1] + x[2] ** 2 == 801, lambda x: x[2] ** 2 >= 1], 3)
    lo, hi = np.zeros(3), np.array([400.0, 9.0, 9.0])
    found = prove_feasible_active(made, (lo, hi), np.array([400.0, 2.0 + 1e-9, 1.0]))
    assert not isinstance(found, FailureReason) and found.lo[0] < found.hi[0] == 400.0
    beyond = evaluator_of([lambda x: 0.1 * x[0] == 1, lambda x: x[0] * x[1] + x[2] ** 2 == 21], 3)
    assert Fraction(1) / Fraction(0.1) < 10
    hi = np.array([np.nextafter(10.0, 0.0), 9.0, 9.0])
    assert isinstance(prove_feasible_active(beyond, (lo, hi), np.array([hi[0], 2.0, 1.0])), FailureReason)


def test_sizes_that_overflow():
    """An infinite end is none at which a constraint could be active."""
    evaluator = evaluator_of(lambda x: x[0] - x[1] <= 2, 2)
    far, free = np.full(2, 1.7e308), (np.full(2, -np.inf), np.full(2, np.inf))
    assert isinstance(prove_feasible_active(evaluator, free, far), FailureReason)
