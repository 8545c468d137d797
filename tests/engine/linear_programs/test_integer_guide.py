"""Points with whole numbers from the solver's integer programs: they are points of the problem, and lies do no harm."""

import itertools

import numpy as np
import pytest

import infimum
from infimum.backend import highs
from infimum.bounds.linear_programs.integer_guide import IntegerGuide
from infimum.bounds.linear_programs.linear_program_bound import LinearProgramBound
from tests.engine.constrained.planted_systems import evaluator_of
from tests.solvers_of_linear_programs import ANSWERS, liar

WIDTH, ORDER = [470.0, 310.0], [5, 7]
BOX = [(0, 6)] * 2 + [(0, 4)] * 4  # how often two patterns are used, and what they hold


def rows(x):
    used, cut = x[:2], [x[2:4], x[4:6]]
    return [*(1000 - sum(w * c for w, c in zip(WIDTH, own, strict=True)) for own in cut),
            *(sum(used[p] * cut[p][k] for p in range(2)) - ORDER[k] for k in range(2))]


def rolls(x):
    return x[0] + x[1] + 0.1 * x[2] * x[4]


@pytest.fixture(scope="module")
def least() -> float:
    points = np.array(list(itertools.product(*(range(a, b + 1) for a, b in BOX))), float).T
    return float(np.where((np.array(rows(points)) >= 0).all(axis=0), rolls(points), np.inf).min())


def guide() -> IntegerGuide:
    pytest.importorskip("highspy")
    system = [(lambda x, k=k: rows(x)[k], 0.0, np.inf) for k in range(4)]
    bound = LinearProgramBound(evaluator_of(rolls, system, 6, tuple(range(6))), *np.array(BOX, float).T)
    bound.bounding.session()
    return IntegerGuide(bound.bounding)


def test_with_some_variables_fixed_points_are_those_of_the_problem(least: float):
    found = guide()
    points = found.points(*np.array(BOX, float).T, np.inf)
    feasible = [x for x in points if min(rows(x)) >= 0]
    assert found.applies and feasible and all(np.array_equal(x, np.rint(x)) for x in points)
    assert min(map(rolls, feasible)) <= least + 1


def test_fixed_variables_are_a_factor_of_each_product():
    found = guide()
    for held in found.holds:
        assert all(held[found.relaxation.lift.reads[j]].all() or held[found.relaxation.lift.reads[k]].all()
                   for j, k in found.relaxation.factors)
    assert not np.array_equal(*found.holds)


@pytest.mark.parametrize("name", ANSWERS)
def test_lies_do_no_harm(name: str, least: float, monkeypatch):
    monkeypatch.setattr(highs, "Highs", liar(name))
    r = infimum.minimize(rolls, BOX, integrality=1, constraints=lambda x: [row >= 0 for row in rows(x)], options={"lp": True},
                         progress=False, max_boxes=50_000)
    assert r.verdict.name in ("PROVED", "STOPPED") and r.lower <= least <= r.upper
    assert r.x is None or min(rows(np.array(r.x))) >= 0


HUGE = [
    (lambda x: 1e-9 * x[0]**2 + 0.5 * x[0] * x[1] + x[1]**6, [(-1e8, 1e8), (-100, 100)]),
    (lambda x: x[0]**2 + 10 * (x[0] - 3) * (x[1] - x[0]) + x[1]**4, [(-1e8, 1e8), (-1e3, 1e3)]),
]


@pytest.mark.parametrize(("f", "bounds"), HUGE)
def test_programs_with_huge_numbers_are_not_asked(f, bounds, monkeypatch):
    """The solver's integer programs hang where columns are as long as 1e14, and hear no time limit."""
    pytest.importorskip("highspy")
    asked = []

    def heard(self, program, whole, nodes, seconds):
        asked.append(max(np.abs([program.low[whole], program.high[whole]]).max(), np.abs(program.rows.low).max()))
    monkeypatch.setattr(highs.Highs, "whole_solution", heard)
    infimum.minimize(f, bounds, integrality=1, max_boxes=20_000, progress=False, options={"lp": True})
    assert all(number <= 1e10 for number in asked)
