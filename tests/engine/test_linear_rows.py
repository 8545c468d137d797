"""Equations that follow from others are recognised exactly, and only those."""

from fractions import Fraction

import numpy as np

from infimum.certify.dependent_equations import LinearEquations, eliminate_rationally
from infimum.certify.equation_solutions import ProvedFeasible, prove_feasible
from tests.engine.constrained_systems import CASES, Case


def rows_of(case: Case) -> LinearEquations:
    return LinearEquations(case.evaluator(), case.lo, case.hi)


def test_rows_are_exact():
    case = Case(lambda x: x[0], [(lambda x: 0.1 * x[0] - 3 * x[1] + 0.5, 1, 1), (lambda x: x[0] * x[1], 1, 1),
                                 (lambda x: x[0] + x[1], -np.inf, 1)], [(-1, 2), (-1, 1)])
    assert rows_of(case).exact == {0: {0: Fraction(0.1), 1: Fraction(-3), -1: Fraction(1, 2)}}


def test_combinations_follow_and_neighbours_do_not():
    lines = [(lambda x: x[0] + x[1] + x[2], 1.0), (lambda x: x[0] - 2 * x[1], 0.25), (lambda x: 3 * x[0] + 2 * x[2], 2.25),
             (lambda x: 3 * x[0] + 2 * x[2], np.nextafter(2.25, 3)), (lambda x: 3 * x[0] + 2.0000000000000004 * x[2], 2.25),
             (lambda x: 3 * x[0] + 2 * x[2] + x[1] ** 2 * 1e-300, 2.25), (lambda x: x[0] - 2 * x[1], 0.25)]
    rows = rows_of(Case(lambda x: x[0], [(c, b, b) for c, b in lines], [(-1, 1)] * 3))
    others = np.array([0, 1])
    assert [rows.follows(k, others) for k in range(2, 7)] == [True, False, False, False, True]
    assert not rows.follows(2, np.array([0]))


def test_a_repeated_equation_follows_however_it_is_written():
    case = Case(lambda x: x[0], [(lambda x: np.sin(x[0]), 0.5, 0.5), (lambda x: np.sin(x[0]), 0.5, 0.5),
                                 (lambda x: np.sin(x[0]), 0.25, 0.25)], [(0, 1)])
    rows = rows_of(case)
    assert rows.follows(1, np.array([0])) and not rows.follows(2, np.array([0]))
    assert isinstance(prove_feasible(Case(case.f, case.rows[:2], case.bounds).evaluator(), (case.lo, case.hi),
                                     np.array([0.5236])),
                      ProvedFeasible)


def test_on_a_face_products_are_linear():
    """Of Haverly's problem, with nothing from the first source: the pool has the quality of the other one."""
    case = CASES["haverly"]
    at = np.array([0, 100.1, 0, 99.8, 0, 100.1, 1])
    free = (at > case.lo) & (at < case.hi)
    rows = LinearEquations(case.evaluator(), np.where(free, case.lo, at), np.where(free, case.hi, at))
    assert rows.follows(1, np.array([0])) and not rows_of(case).follows(1, np.array([0]))
    assert isinstance(prove_feasible(case.evaluator(), (case.lo, case.hi), at), ProvedFeasible)


def test_contradictions():
    def contradict(*rows) -> bool:
        return rows_of(Case(lambda x: x[0], rows, [(-1, 1)] * 2)).contradict
    one = (lambda x: x[0] + x[1], 0.5, 0.5)
    assert contradict(one, (lambda x: -x[0] - x[1], 0.5, 0.5))
    assert not contradict(one, (lambda x: -x[0] - x[1], -0.5, -0.5))
    assert not contradict(one, (lambda x: x[0] - x[1], 0.5, 0.5))


def test_elimination():
    a = [{0: Fraction(1), 1: Fraction(2)}, {0: Fraction(2), 1: Fraction(4), -1: Fraction(1)}, {1: Fraction(3)}]
    assert {lead: set(row) for lead, row in eliminate_rationally(a).items()} == {1: {0, 1}, -1: {-1}, 0: {0}}
