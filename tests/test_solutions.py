"""solutions=k: the k best points of a problem with whole numbers."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

import infimum
from bench.integer_programs import KINDS, Program, program
from infimum import Verdict
from infimum.api import solve

WHOLE = [kind for kind in KINDS if kind in ("linear", "quadratic", "binary", "knapsack")]


def ranking(asked: Program) -> list[Fraction]:
    """The values of all feasible points, the least first."""
    points = [[Fraction(v) for v in point] for point in itertools.product(*asked.grid)]
    return sorted(asked.objective.at(x)[0] for x in points if all(a <= row.at(x)[0] <= b for row, a, b in asked.rows))


@pytest.mark.parametrize("number", range(40))
def test_the_best_points(number: int) -> None:
    """Each interval contains the value that enumeration finds at this place; no point comes twice."""
    asked = program(number, seed=5, kinds=WHOLE)
    values, result = ranking(asked), asked.solve(solutions=4, atol=1e-9, rtol=1e-9)
    if result.verdict is Verdict.INFEASIBLE or result.solutions[-1].verdict is Verdict.PROVED:
        assert len(result.solutions) == min(4, len(values))
    assert len({tuple(entry.x) for entry in result.solutions}) == len(result.solutions)
    for entry, value in zip(result.solutions, values, strict=False):
        assert entry.lower <= value <= entry.upper
        assert asked.objective.at([Fraction(v) for v in entry.x])[0] <= entry.upper


def test_real_variables_and_maxima() -> None:
    """The best of each whole number, with the real variable at its best."""
    result = infimum.maximize(lambda x: 3 * x[0] - (x[1] - x[0]) ** 2, [(0, 3), (0, 2)], integrality=[1, 0], solutions=5)
    assert [entry.x[0] for entry in result.solutions] == [3.0, 2.0, 1.0, 0.0]  # 8, 6, 3, 0: there are no more
    assert all(entry.lower <= best <= entry.upper for entry, best in zip(result.solutions, (8, 6, 3, 0), strict=True))
    assert result["solutions"] is result.solutions and "solutions" in result.to_dict()
    assert "4. " in str(result) and "5. " not in str(result)


def test_start_boxes_and_exact_ends() -> None:
    boxes = [[(0, 1), (0, Fraction(1, 3))], [(3, 4), (0, Fraction(1, 3))]]
    result = infimum.minimize(lambda x: (x[0] - 2) ** 2 - x[1], [(0, 4), (0, Fraction(1, 3))], integrality=[1, 0],
                              start_boxes=boxes, solutions=9)
    assert sorted(entry.x[0] for entry in result.solutions) == [0.0, 1.0, 3.0, 4.0]
    assert all(entry.lower <= Fraction(best) - Fraction(1, 3) <= entry.upper
               for entry, best in zip(result.solutions, (1, 1, 4, 4), strict=True))


def test_feasible_points() -> None:
    result = infimum.feasible([(0, 3)] * 2, lambda x: x[0] * x[1] == 6, integrality=1, solutions=5)
    assert sorted(tuple(entry.x) for entry in result.solutions) == [(2.0, 3.0), (3.0, 2.0)]


def test_the_work_is_that_of_all_runs() -> None:
    """Each of them is counted: boxes, steps, linear programs, seconds, plain calls."""
    rng = np.random.default_rng(3)
    weight, value = rng.integers(1, 9, 12), rng.integers(1, 9, 12)
    given = {"constraints": lambda x: weight @ x <= 20, "integrality": 1, "seed": 1, "options": {"lp": True}}
    one, three = (infimum.maximize(lambda x: value @ x - 0.1 * x[0] * x[1], [(0, 1)] * 12, solutions=k, **given) for k in (1, 3))
    assert three.nfev > one.nfev and three.nit >= one.nit and three.plain_calls > one.plain_calls and len(three.solutions) == 3
    assert three.lp["solved"] > one.lp["solved"] and three.lp["solver"] == one.lp["solver"] and (three.lower, three.upper) == (
        one.lower, one.upper)
    seconds: list[float] = []
    with pytest.MonkeyPatch.context() as patch:
        own = solve.run
        patch.setattr(solve, "run", lambda *args: seconds.append((found := own(*args)).seconds) or found)
        whole = infimum.maximize(lambda x: value @ x - 0.1 * x[0] * x[1], [(0, 1)] * 12, solutions=3, **given)
    assert len(seconds) == 3 and whole.seconds == pytest.approx(sum(seconds)) and whole.nfev == three.nfev


def test_no_point() -> None:
    result = infimum.minimize(lambda x: x[0], [(0, 3)], constraints=lambda x: x[0] >= 4, integrality=1, solutions=3)
    assert result.verdict is Verdict.INFEASIBLE and result.solutions == ()


def test_a_run_that_was_stopped_is_the_last() -> None:
    seen = []

    def callback(snapshot: object) -> bool:
        seen.append(snapshot)
        return True
    result = infimum.minimize(lambda x: np.sum(np.cos(3 * x) * x), [(-9, 9)] * 6, integrality=1, solutions=3, callback=callback)
    assert seen and len(result.solutions) <= 1


def test_without_solutions_nothing_changes() -> None:
    result = infimum.minimize(lambda x: (x[0] - 2) ** 2, [(0, 4)], integrality=1)
    assert result.solutions is None and "solutions" not in result.to_dict() and len(result) == len(list(result))


@pytest.mark.parametrize(("settings", "words"), [
    ({"solutions": 0, "integrality": 1}, "solutions must be a positive whole number, not 0"),
    ({"solutions": 2.5, "integrality": 1}, "solutions must be a positive whole number"),
    ({"solutions": 2}, "there are none here: give integrality="),
    ({"solutions": 2, "integrality": 1, "engine": "index"}, "solutions= is for engine 'auto'"),
    ({"solutions": 2, "integrality": 1, "engine": "newton"}, "solutions= is for engine 'auto'"),
    ({"solutions": 2, "integrality": 1, "checkpoint": "run.inf"}, "leave out checkpoint="),
])
def test_errors(settings: dict, words: str) -> None:
    with pytest.raises(infimum.OptionError) as error:
        infimum.minimize(lambda x: x[0], [(0, 4)], **settings)
    assert words in str(error.value)
