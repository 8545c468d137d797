"""Constrained problems as users write them, from the call to the words of the result. All optima are known."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import LinearConstraint, NonlinearConstraint

import infimum

PROVED, INFEASIBLE = infimum.Verdict.PROVED, infimum.Verdict.INFEASIBLE
BOX = [(-3, 3)] * 2


def total(x):
    return x[0] + x[1]


def radius(x):
    return x[0] ** 2 + x[1] ** 2


@pytest.mark.parametrize(("fun", "bounds", "asked", "optimum"), [
    (total, BOX, {"constraints": lambda x: radius(x) <= 2}, -2.0),
    (total, BOX, {"constraints": lambda x: radius(x) == 2}, -2.0),
    (total, BOX, {"constraints": [NonlinearConstraint(radius, -np.inf, 2), LinearConstraint([[1, -1]], 1, 1)]},
     -np.sqrt(3.0)),
    (total, BOX, {"constraints": {"type": "ineq", "fun": lambda x, r: r - radius(x), "args": (2.0,)}}, -2.0),
    (total, BOX, {"constraints": lambda x: radius(x) == 2, "feasibility": 0.25}, -np.sqrt(4.5)),
    (total, [(0, 10)] * 2, {"constraints": infimum.Constraint(lambda x: x[0], Fraction(1, 3), Fraction(1, 3))}, 1 / 3),
    (total, BOX, {"constraints": lambda x: np.log(x[0]) >= -1}, np.exp(-1) - 3),
    (total, BOX, {"constraints": lambda x: np.floor(x[0]) == 1}, -2.0),
    (radius, BOX, {"constraints": lambda x: total(x) == 3, "integrality": [1, 0]}, 5.0),
    (lambda x: (x[0] - 1.4) ** 2 + (x[1] + 0.6) ** 2, BOX, {"integrality": 1}, 0.32),
    (radius, [(-np.inf, np.inf)] * 2, {"constraints": lambda x: total(x) >= 1}, 0.5),
    (total, [(1, 1), (0, 5)], {"constraints": lambda x: x[0] * x[1] >= 2}, 3.0),
])
def test_known_optima(fun, bounds, asked, optimum):
    r = infimum.minimize(fun, bounds, **asked)
    assert r.verdict is PROVED and r.lower - 1e-12 <= optimum <= r.upper + 1e-12 and r.upper - r.lower < 1e-5
    assert r.feasible is not None and r.maxcv < 1e-15 and r.minimisers is not None
    largest = infimum.maximize(lambda x: -fun(x), bounds, **asked)
    assert (largest.lower, largest.upper) == (0.0 - r.upper, 0.0 - r.lower)


NOWHERE = "no point within the bounds meets all constraints"


@pytest.mark.parametrize(("bounds", "asked"), [
    (BOX, {"constraints": lambda x: radius(x) >= 20}),
    ([(0, 5)] * 2, {"constraints": lambda x: 2 * x[0] + 4 * x[1] == 7, "integrality": 1}),
    (BOX, {"constraints": [lambda x: x[0] >= 1, lambda x: x[0] <= 0.5]}),
    (BOX, {"constraints": lambda x: np.sqrt(-1 - x[0] ** 2) >= 0}),
])
def test_nothing_is_feasible(bounds, asked):
    r = infimum.minimize(total, bounds, **asked)
    assert r.verdict is INFEASIBLE and r.message == NOWHERE and r.x is None


@pytest.mark.parametrize(("bounds", "asked", "said"), [
    (BOX, {"constraints": lambda x: False}, f"{NOWHERE}: constraint 0 does not depend on x, and does not hold"),
    (BOX, {"constraints": [lambda x: x[0] >= 0, lambda x: [x[1] >= 0, 3 < 2]]},
     f"{NOWHERE}: constraint 1 does not depend on x, and does not hold"),
    (BOX, {"constraints": infimum.Constraint(lambda x: 5.0, 0, 1)},
     f"{NOWHERE}: constraint 0 does not depend on x, and does not hold"),
    ([(0, 2), (0.1, 0.9)], {"integrality": 1}, "variable 1 has no whole number within its bounds"),
    ([(0.2, 0.8)], {"integrality": 1, "constraints": lambda x: x[0] >= 0}, "variable 0 has no whole number within its bounds"),
])
def test_what_is_never_feasible_is_named(bounds, asked, said):
    for call in (infimum.minimize, infimum.maximize):
        r = call(lambda x: x[0], bounds, **asked)
        assert r.verdict is INFEASIBLE and r.message == said
    assert infimum.feasible(bounds, asked.get("constraints", ()), integrality=asked.get("integrality")).message == said


def test_exact_ends():
    r = infimum.minimize(lambda x: x[0], [(0, 10)], constraints=lambda x: x[0] >= infimum.pi)
    assert r.lower <= np.pi < r.x[0] and r.constraints[0].lower == 0.0 and r.constraints[0].multiplier == pytest.approx(1.0)


def test_a_box_around_a_feasible_point():
    r = infimum.minimize(total, BOX, constraints=[lambda x: x[0] ** 3 == 2, lambda x: np.exp(x[1]) == 2])
    (lo, hi), root = r.feasible, np.array([2 ** (1 / 3), np.log(2)])
    assert r.verdict is PROVED and ((lo - 1e-15 <= root) & (root <= hi + 1e-15)).all() and 0 < r.maxcv < 1e-14
    assert "verified in the box that is proved to hold a feasible point" in str(r)


def test_feasible_points():
    r = infimum.feasible(BOX, [lambda x: x[0] * x[1] >= 4, lambda x: x[0] - x[1] == 0.5])
    assert r.verdict is PROVED and "meet" in r.message and r.x[0] - r.x[1] == 0.5 and r.x[0] * r.x[1] >= 4


def test_a_run_that_is_resumed(tmp_path):
    inside = infimum.Constraint(lambda x: np.sin(3 * x[0]) * np.cos(2 * x[1]) + 0.1 * x[0], 0.3)
    asked = {"constraints": inside, "batch": 64}
    whole = infimum.minimize(radius, BOX, **asked)
    infimum.minimize(radius, BOX, checkpoint=tmp_path / "run.inf", max_boxes=1, **asked)
    again = infimum.resume(tmp_path / "run.inf", radius, constraints=inside)
    assert whole.verdict is again.verdict is PROVED and again.x.tolist() == whole.x.tolist()
    assert (again.lower, again.upper) == (whole.lower, whole.upper)
