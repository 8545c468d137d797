"""Constraints over whole numbers in rational numbers: what is left holds at the same points, by enumeration."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

from infimum import Constraint, feasible, minimize
from infimum.expr.exact_forms import CONSTANT, ExactForms, value_at
from infimum.expr.rewriting_switches import without
from infimum.presolve.presolve_stack import Formulation
from infimum.presolve.whole_number_rows import WholeNumberRows
from infimum.problem.problem import Problem
from infimum.problem.system import System
from tests.engine.constrained.planted_systems import evaluator_of

INF = np.inf
FREE = -INF, INF


def applied(constraints, bounds, integers):
    evaluator = evaluator_of(lambda x: x[0], constraints, len(bounds), integers)
    given = Formulation(Problem.read(sum, bounds), evaluator)
    step = WholeNumberRows()
    return step, given, step.apply(given)


def holds(form: Formulation, rows: list, x: tuple[Fraction, ...]) -> bool:
    problem, system, known = form.problem, form.evaluator.system, dict(enumerate(x))
    if any(not lo <= v <= hi for v, lo, hi in zip(x, problem.lo, problem.hi, strict=True)) or \
            any(known[j].denominator != 1 for j in system.integers):
        return False
    values = [value_at(row, known) for row in rows]
    return all(lo <= v <= hi for v, lo, hi in zip(values, system.lower, system.upper, strict=True))


def drawn(rng):
    """Rows that are tight, parallel, implied, with large coefficients, with a real variable that is whole, or with products."""
    n = int(rng.integers(2, 5))
    real = bool(rng.integers(0, 2))
    whole = tuple(range(n - real))
    unit = float(rng.choice([1.0, 1.0, 0.5, 0.1, 3.0]))
    rows = []
    for _ in range(int(rng.integers(1, 4))):
        a = rng.integers(-3, 4, n) * int(rng.choice([1, 1, 2, 4])) * unit
        a[0] *= float(rng.choice([1, 1, 5]))
        a[-1] = a[-1] if not real or rng.integers(0, 2) else unit
        square = float(rng.integers(-1, 2)) * unit * (rng.random() < 0.3)
        b, width = float(rng.integers(-9, 12)) * unit, float(rng.choice([0.0, 0.0, 1.0, 5.0, 2.5]))
        ends = [(b, b), (-INF, b + width * unit), (b, b + width * unit), (b, INF)][int(rng.integers(0, 4))]
        constant = float(rng.integers(-1, 2))

        def row(x, a=a, square=square, constant=constant):
            return sum(c * x[i] for i, c in enumerate(a.tolist())) + square * x[0] * x[1] + constant
        rows.append((row, *ends))
        if rng.random() < 0.3:
            rows.append((lambda x, row=row: -2.0 * row(x), -2.0 * ends[1] - 4.0 * unit, -2.0 * ends[0]))
    bounds = [(float(low), float(low + width)) for low, width in zip(rng.integers(-2, 2, n), rng.integers(0, 4, n), strict=True)]
    return rows, bounds, whole


@pytest.mark.parametrize("seed", range(3))
def test_the_same_points(seed):
    rng, changed = np.random.default_rng(seed), 0
    for _ in range(16):
        rows, bounds, whole = drawn(rng)
        step, outer, inner = applied(rows, bounds, whole)
        if inner is None:
            continue
        changed += 1
        steps = [[Fraction(k, 1 if j in whole else 4) for k in range(int(lo) * (1 if j in whole else 4),
                                                                      int(hi) * (1 if j in whole else 4) + 1)]
                 for j, (lo, hi) in enumerate(bounds)]
        points = list(itertools.product(*steps))
        points = [points[k] for k in rng.permutation(len(points))[:60]]
        forms = [[ExactForms({}).of(row) for row in form.evaluator.system.rows[1:]] for form in (outer, inner)]
        found = [[holds(form, known, x) for x in points] for form, known in zip((outer, inner), forms, strict=True)]
        assert found[0] == found[1], step.said
    assert changed > 4


CASES = [
    ("divisibility", [(lambda x: 2 * x[0] + 4 * x[1], 3, 3)], [FREE] * 2, "cannot hold"),
    ("a tighter end", [(lambda x: 2 * x[0] + 4 * x[1], -INF, 3)], [FREE] * 2, "1 constraint tightened"),
    ("values that are not reached", [(lambda x: 5 * x[0] + 7 * x[1], 1, 4)], [(0, 3)] * 2, "cannot hold"),
    ("products", [(lambda x: 6 * x[0] * x[1] + 3 * x[0] ** 2, 4, 5)], [(0, 9)] * 2, "cannot hold"),
    ("parity", [(lambda x: x[0] + x[1], 4, 4), (lambda x: x[0] - x[1], 1, 1)], [FREE] * 2, "equations"),
    ("a class", [(lambda x: 3 * x[0] + 5 * x[1], 4, 4)], [(0, 4), (-4, 4)], "2 variables with bounds"),
    ("parallel rows", [(lambda x: x[0] + x[1], -INF, 3), (lambda x: -2 * (x[0] + x[1]), -INF, -4)], [(0, 3)] * 2, "1 constraint"),
    ("a large coefficient", [(lambda x: x[0] + 100 * x[1], -INF, 103)], [(0, 5), (0, 1)], "1 constraint tightened"),
    ("implied", [(lambda x: x[0] + x[1], -INF, 30)], [(0, 5)] * 2, "1 constraint left out"),
]


@pytest.mark.parametrize(("rows", "bounds", "said"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_what_is_found(rows, bounds, said):
    step, _, inner = applied(rows, bounds, (0, 1))
    assert inner is not None and said in step.said


def test_ends_that_lie_far_beyond():
    """0.1 and 0.3 are multiples of 2**-55, which ends may be very many of."""
    rows = [(lambda x: 0.1 * x[0] + 0.3 * x[1] - 1e9 * x[2], -1e15, 1e15), (lambda x: 0.1 * x[0] + 0.3 * x[1], -1e300, 0.35)]
    step, _, inner = applied(rows, [(0, 3)] * 3, (0, 1, 2))
    assert inner.evaluator.system.m == 1 and 0.3 <= inner.evaluator.system.upper[0] < 0.35


def test_equations_make_real_variables_whole():
    rows = [(lambda x: x[0] - 3 * x[1], 2, 2), (lambda x: 2 * x[2] - 4 * x[0] + 2 * x[1] * x[1], 6, 6)]
    step, _, inner = applied(rows, [(0.5, 20.5), (0, 5), (-100, 100)], (1,))
    assert inner.evaluator.system.integers == (0, 1, 2) and "2 variables whole" in step.said and inner.problem.lo[0] >= 1
    _, _, half = applied([(lambda x: 2 * x[0] - 3 * x[1], 2, 2)], [(0, 9), (0, 5)], (1,))
    assert half is None


def test_what_is_undefined_somewhere_stays():
    """0 log x and x / x say where the problem is defined."""
    rows = [(lambda x: 2 * x[0] + 0 * np.log(x[1]), -INF, 3), (lambda x: 4 * x[0] / x[1] * x[1], -INF, 3)]
    assert applied(rows, [(0, 4)] * 2, (0, 1))[2] is None


def test_coefficients_are_smaller():
    _, _, inner = applied([(lambda x: x[0] - 100 * x[1], -INF, 0)], [(0, 5), (0, 1)], (1,))
    system = inner.evaluator.system
    form = ExactForms({}).of(system.rows[1])
    assert form == {(((("", 0), 1)),): 1, (((("", 1), 1)),): -5} and system.upper[0] == 0 and CONSTANT not in form


@pytest.mark.parametrize("off", [(), ("whole rows",)])
def test_runs_with_and_without(off):
    with without(*off):
        r = minimize(lambda x: (x[0] - 2.4) ** 2 + x[1], [(0, 9), (0, 9)], integrality=[1, 1],
                     constraints=[lambda x: 2 * x[0] + 4 * x[1] >= 7, lambda x: x[0] + x[1] <= 30])
        assert r.lower <= 1.16 <= r.upper + 1e-9 and r.x.tolist() == [2.0, 1.0] and len(r.constraints) == 2
        assert any("whole" in said for said in r.presolve) == (off == ())
        if off == ():
            r = feasible([FREE] * 2, Constraint(lambda x: 2 * x[0] + 4 * x[1], 3, 3), integrality=[1, 1])
            assert r.verdict.name == "INFEASIBLE" and "cannot hold" in r.presolve[0]


def test_other_problems_stay():
    """Bounds that are no doubles, and problems without whole numbers."""
    assert applied([(lambda x: 2 * x[0], -INF, 3)], [(0, 4)], ())[2] is None
    rows = [(lambda x: 2 * x[0] + x[1], -INF, 3)]
    evaluator = evaluator_of(lambda x: x[0], rows, 2, (0,))
    assert isinstance(evaluator.system, System)
    given = Formulation(Problem.read(sum, [(0, 4), (Fraction(1, 3), 4)]), evaluator)
    assert WholeNumberRows().apply(given) is None
