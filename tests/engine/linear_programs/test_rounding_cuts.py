"""Cuts of whole numbers: they hold at all points with whole numbers, in exact numbers, and are strong."""

import itertools
from fractions import Fraction as Q

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import infimum
from infimum.backend import highs
from infimum.bounds.linear_programs.linear_program_bound import LinearProgramBound
from infimum.bounds.linear_programs.mixed_integer_rounding import ColumnEnds, Cut, Inequality, in_doubles, rounded
from infimum.bounds.linear_programs.root_linear_programs import RootLinearPrograms
from infimum.bounds.linear_programs.rounding_cuts import whole_columns, with_sums
from infimum.problem.problem import Problem
from infimum.search.policy.cuts import ROUNDING_CUTS as POLICY
from tests.engine.constrained.planted_systems import evaluator_of
from tests.engine.linear_programs.test_relaxation import columns_at
from tests.solvers_of_linear_programs import liar

NUMBERS = st.one_of(st.integers(-9, 9).map(float), st.sampled_from([0.1, -0.3, 2.5, 1e-9, -1e6, 5e-324, 1 / 3, 2.0**-60]))
WEIGHTS = st.one_of(st.sampled_from([1.0, -1.0, 0.5, 1 / 3, -0.7, 1e-7, 2.0**-40]), st.floats(-4, 4))


@st.composite
def sums(draw):
    """Inequalities over two whole columns and a real one, weights, a divisor, and from which ends columns are measured."""
    low = [float(draw(st.integers(-3, 1))), float(draw(st.integers(-3, 1))), draw(st.sampled_from([-1.5, 0.0, -0.1, 5e-324]))]
    high = [a + draw(st.integers(0, 3)) for a in low[:2]] + [low[2] + draw(st.sampled_from([0.0, 1.0, 0.3, 2.75]))]
    rows = []
    for _ in range(draw(st.integers(1, 3))):
        terms = [(j, c) for j in range(3) if (c := draw(NUMBERS))]
        rows.append((terms, draw(NUMBERS), draw(st.booleans()) and len(rows) == 0, draw(WEIGHTS)))
    divisor, from_upper = draw(st.sampled_from([1.0, 0.1, 2.0, 3.0, 7.5, 1e-3])), [draw(st.booleans()) for _ in range(3)]
    return low, high, rows, divisor, from_upper


@given(sums())
def test_cuts_hold_wherever_the_inequalities_do(drawn):
    low, high, rows, divisor, from_upper = drawn
    whole = [True, True, False]
    columns = ColumnEnds.of(low, high, whole, from_upper)
    parts = [(Inequality.of(terms, end, whole, equation), w) for terms, end, equation, w in rows]
    for (row, _), (terms, end, *_) in zip(parts, rows, strict=True):
        assert row is not None or any(0 < abs(c) < 1e-70 for _, c in [*terms, (None, end)])
    cut = None if any(row is None for row, _ in parts) else rounded(parts, divisor, columns)
    short = None if cut is None else in_doubles(cut, columns, POLICY.negligible)
    if short is None:
        return
    terms, end = short
    for x in itertools.product(*(range(int(a), int(b) + 1) for a, b in zip(low[:2], high[:2], strict=True))):
        for z in real_values(x, rows, Q(low[2]), Q(high[2])):
            point = [*map(Q, x), z]
            if all((v == Q(e)) if equation else v <= Q(e) for own, e, equation, _ in rows
                   for v in [sum((Q(c) * point[j] for j, c in own), Q(0))]):
                assert sum(Q(c) * point[j] for j, c in terms) <= Q(end), (point, terms, end)


def real_values(x, rows, low: Q, high: Q) -> list[Q]:
    """Both ends, and where a row has no slack."""
    found = [low, high]
    for terms, end, _, _ in rows:
        factor = {j: Q(c) for j, c in terms}
        if 2 in factor:
            z = (Q(end) - sum(c * x[j] for j, c in factor.items() if j != 2)) / factor[2]
            found += [z] if low <= z <= high else []
    return found


def test_a_small_unit_is_rounded_outward():
    """An end that is a hair above 0, as ends of planes are."""
    row = Inequality.of([(0, 1.0), (1, -1.0)], 5e-324, [True, True], False)
    assert row.end == 0 and row.slack == "whole"
    assert Inequality.of([(0, 0.5)], 5e-324, [False], False).end == 1


def test_the_end_of_an_equation_is_not_rounded():
    """Its weight may be negative, and then upward is the wrong direction."""
    assert Inequality.of([(0, 1.0), (1, -1.0)], 5e-324, [True, True], True) is None


def test_rows_whose_factors_would_be_added_up_are_not_used():
    row, column, value = np.array([0, 0, 1, 1, 2, 2]), np.array([3, 4, 3, 3, 1, 1]), np.array([0.1, 0.2, 0.1, 0.2, 0.0, 0.3])
    assert with_sums(row, column, value, 4, 5).tolist() == [False, True, False, False]


@pytest.mark.parametrize("sign", [1, -1])
def test_bounds_that_are_no_doubles_are_looked_at_from_outside(sign: int):
    """A cut that is tight where a variable is at a bound between two doubles: x <= 40 (1/10 - z)."""
    pytest.importorskip("highspy")
    point = [Q(0), sign * Q(1, 10)]
    problem = Problem.read(lambda x: -x[0] - 17 * sign * x[1], [(0, 5), (0, point[1]) if sign > 0 else (point[1], 0)])
    evaluator = evaluator_of(problem.fun, [(lambda x: x[0] + 16 * sign * x[1], -np.inf, 2.2)], 2, (0,))
    sides = RootLinearPrograms(evaluator, problem).test.bounding.relaxation.sides
    for form, lower, upper in sides:
        value = form.constant[0] + sum(c[0] * point[j] for j, c in form.terms)
        assert lower <= value <= upper
    assert len(sides) > 1


def bound_of(f, rows, lo, hi, integers) -> LinearProgramBound:
    pytest.importorskip("highspy")
    evaluator = evaluator_of(f, rows, len(lo), integers)
    return LinearProgramBound(evaluator, np.array(lo, float), np.array(hi, float))


def rows_that_fail(bound: LinearProgramBound, x) -> list:
    """Constraints of the relaxation, cuts among them, that a point violates, in exact numbers; of columns the nearest values."""
    z, failed = columns_at(bound.bounding.relaxation.lift, np.array(x, float)), []
    for form, lower, upper in bound.bounding.relaxation.sides:
        least = sum((min(Q(c) * v for c in number for v in z[j]) for j, number in form.terms), form.constant[0])
        most = sum((max(Q(c) * v for c in number for v in z[j]) for j, number in form.terms), form.constant[1])
        if (upper < np.inf and least > Q(upper)) or (lower > -np.inf and most < Q(lower)):
            failed.append((form, lower, upper))
    return failed


def is_feasible(rows, x) -> bool:
    return all(lower <= row(np.array(x, float)) <= upper for row, lower, upper in rows)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("solver", ["", "random", "huge", "limited"])
def test_cuts_hold_at_all_points(seed: int, solver: str, monkeypatch):
    """Random systems with products of whole columns and a real one; solvers that lie choose other cuts, no false ones."""
    r = np.random.default_rng(seed)
    a, b = r.integers(-3, 6, (3, 4)).tolist(), r.integers(1, 5, (2, 2)).tolist()
    lo, hi = [0, 0, -1, 0], [3, 4, 2, 2]
    ends = [float(np.dot(a[k], [1, 2, 0, 1])) + 0.5 * k for k in range(3)]
    rows = [*((lambda x, k=k: sum(a[k][j] * x[j] for j in range(4)), -np.inf, ends[k]) for k in range(3)),
            (lambda x: b[0][0] * x[0] * x[1] + b[0][1] * x[2], 2.0, np.inf),
            (lambda x: b[1][0] * x[1] * x[3] - x[0] ** 2, -4.0, 5.0)]
    evaluator = evaluator_of(lambda x: -x[0] - 1.5 * x[1] + 0.7 * x[2] - 0.3 * x[3], rows, 4, (0, 1, 2))
    if solver:
        monkeypatch.setattr(highs, "Highs", liar(solver))
    bound = LinearProgramBound(evaluator, np.array(lo, float), np.array(hi, float))
    for x in itertools.product(range(4), range(5), range(-1, 3), [0, 0.25, 0.5, 1.0, 1.75, 2.0]):
        if is_feasible(rows, x):
            assert not rows_that_fail(bound, x), x


def test_products_of_whole_columns_are_whole():
    bound = bound_of(lambda x: x[0] * x[1] + x[2], [(lambda x: x[0] ** 2 + x[1] * x[2] + (x[0] + 2 * x[1]) ** 3, -np.inf, 30.0),
                                                   (lambda x: np.abs(x[0]) * x[2], -3.0, 3.0)], [-2, 0, 0], [2, 3, 1], (0, 1))
    lift = bound.bounding.relaxation.lift
    found = whole_columns(lift.columns, [0, 1])
    for x in itertools.product(range(-2, 3), range(4), [0.25, 0.5]):
        values = columns_at(lift, np.array(x, float))
        for low, high in (ends for ends, whole in zip(values, found, strict=True) if whole):
            assert low <= round((low + high) / 2) <= high and high - low < Q(1, 1000)
    assert found.sum() >= 5 and not found[2]


def test_the_bound_of_the_whole_box_rises():
    """x + y <= 1.5 over whole numbers, hidden in two rows."""
    rows = [(lambda x: 2 * x[0] + 2 * x[1] + x[2], -np.inf, 3.6), (lambda x: x[2], 0.5, np.inf)]
    bound = bound_of(lambda x: -x[0] - x[1], rows, [0, 0, 0], [1, 1, 1], (0, 1))
    z = bound.bounding.solution(np.zeros(3), np.ones(3))
    assert z[0] + z[1] <= 1 + 1e-6


@pytest.mark.parametrize("seed", range(4))
def test_solutions_are_those_of_all_points(seed: int):
    """A knapsack with several budgets and a real variable."""
    r = np.random.default_rng(seed)
    gain, weight = r.integers(1, 20, 6).tolist(), r.integers(2, 30, (2, 6)).tolist()
    rest = [sum(w) / 2.1 for w in weight]
    found = infimum.maximize(lambda x: sum(g * v for g, v in zip(gain, x, strict=False)) + 0.5 * x[6], [(0, 2)] * 6 + [(0, 3)],
                             constraints=lambda x: [sum(w * v for w, v in zip(row, x, strict=False)) + x[6] <= end
                                                    for row, end in zip(weight, rest, strict=True)],
                             integrality=[1] * 6 + [0], options={"lp": True}, progress=False)
    points = np.array(list(itertools.product(range(3), repeat=6)))
    room = np.minimum(3.0, (np.array(rest) - points @ np.array(weight).T).min(axis=1))
    best = (points @ np.array(gain) + 0.5 * room)[room >= 0].max()
    assert found.verdict.name == "PROVED" and found.lower - 1e-9 <= best <= found.upper + 1e-9


def test_a_cut_whose_end_is_beyond_doubles_is_none():
    """A row that says nothing, as no column comes near its end."""
    columns = ColumnEnds.of([0.0, -0.5], [3.0, 0.5], [True, False], [False, False])
    cut = Cut({0: 1, 1: -1}, 10**320, 0)
    assert in_doubles(cut, columns, POLICY.negligible) is None
