"""x**y means the same however the exponent is given: what is proved of it, from the user's side."""

from fractions import Fraction

import numpy as np
import pytest

import infimum
from infimum.result import Verdict


def solved(fun, bounds, **settings):
    return infimum.minimize(fun, bounds, max_boxes=20_000, **settings)


def proved(result, value):
    return result.verdict is Verdict.PROVED and result.lower <= value <= result.upper + 1e-5


THREE = {
    "a fixed variable": lambda: solved(lambda x: x[0] ** x[1], [(-3, 3), (3, 3)]),
    "an equation": lambda: solved(lambda x: x[0] ** x[1], [(-3, 3), (3, 4)], constraints=lambda x: x[1] == 3),
    "a sum with 0": lambda: solved(lambda x: x[0] ** (3 + 0 * x[1]), [(-3, 3), (3, 4)]),
    "a whole number": lambda: solved(lambda x: x[0] ** x[1], [(-3, 3), (2, 3)], integrality=[0, 1]),
    "a sum of whole numbers": lambda: solved(lambda x: x[0] ** (x[1] + x[2]), [(-3, 3), (1, 2), (0, 1)], integrality=[0, 1, 1]),
    "an integer": lambda: solved(lambda x: x[0] ** 3, [(-3, 3)]),
    "a float": lambda: solved(lambda x: x[0] ** 3.0, [(-3, 3)]),
    "a fraction": lambda: solved(lambda x: x[0] ** Fraction(3), [(-3, 3)]),
    "np.power": lambda: solved(lambda x: np.power(x[0], x[1]), [(-3, 3), (3, 3)]),
    "np.float_power of arrays": lambda: solved(lambda x: np.sum(np.float_power(x[:2], x[2:])), [(-3, 3), (0, 0), (3, 3), (1, 1)]),
    "an array of constants": lambda: solved(lambda x: np.sum(x ** np.array([3.0, 2.0])), [(-3, 3), (-1, 1)]),
    "a step": lambda: solved(lambda x: x[0] ** np.floor(x[1]), [(-3, 3), (2, 3.5)]),
    "a choice": lambda: solved(lambda x: x[0] ** np.where(x[1] > 0, 3, 2), [(-3, 3), (-1, 1)]),
    "start boxes": lambda: solved(lambda x: x[0] ** x[1], [(-3, 3), (2, 3)], start_boxes=[[(-3, 1), (3, 3)], [(0, 3), (2, 3)]]),
}


@pytest.mark.parametrize("name", THREE)
def test_the_least_cube(name):
    assert proved(THREE[name](), -27.0)


@pytest.mark.parametrize("engine", ["auto", "newton", "complete", "subdomain"])
def test_every_engine(engine):
    assert infimum.minimize(lambda x: x[0] ** x[1], [(-3, 3), (3, 3)], engine=engine).upper == pytest.approx(-27.0)


UNRELATED = {
    "nothing": lambda x: 0.0, "squares": lambda x: np.sum(x[2:] ** 2),
    "all squares": lambda x: np.sum(x**2) - x[0] ** 2 - x[1] ** 2,
    "neighbours": lambda x: np.sum(x[1:] * x[:-1]) - x[0] * x[1] - x[1] * x[2] + np.sum(x[2:] ** 2),
    "a root": lambda x: np.sqrt(np.abs(x[2])), "a sine": lambda x: np.sum(np.sin(x[2:]) ** 2)}


@pytest.mark.parametrize("name", UNRELATED)
@pytest.mark.parametrize("fixed", [1, 3])
def test_unrelated_terms_change_nothing(name, fixed):
    """Few fixed variables among arrays stay in the function, many are removed from it."""
    bounds = [(-3, 3), (3, 3)] + [(0, 0)] * (fixed - 1) + [(-1, 1)] * (4 - fixed)
    assert proved(solved(lambda x: x[0] ** x[1] + UNRELATED[name](x), bounds), -27.0)


def test_negative_numbers_to_a_whole_power():
    r = solved(lambda x: (-3) ** x[0], [(0, 5)], integrality=1)
    assert proved(r, -243.0) and r.x.tolist() == [5.0]
    r = infimum.maximize(lambda x: np.sum(np.array([-2.0, -3.0, 2.0]) ** x), [(0, 3)] * 3, integrality=1)
    assert r.verdict is Verdict.PROVED and r.upper == pytest.approx(21.0) and r.x.tolist() == [2.0, 2.0, 3.0]
    r = solved(lambda x: (x[0] - 2) ** x[1] * x[2], [(0, 1), (2, 5), (0, 1)], integrality=[0, 1, 0])
    assert proved(r, -32.0)


def test_zero_to_the_power_zero_is_one():
    assert proved(solved(lambda x: x[0] ** x[1], [(0, 0), (0, 0)]), 1.0)
    assert proved(infimum.maximize(lambda x: x[0] ** x[1], [(0, 0), (0, 2)]), 1.0)
    assert proved(solved(lambda x: np.sum(x ** np.arange(2.0)), [(0, 1)] * 2), 1.0)


@pytest.mark.parametrize(("fun", "bounds"), [
    (lambda x: x[0] ** x[1], [(-3, -1), (0.25, 0.75)]), (lambda x: x[0] ** x[1], [(-3, -1), (2.5, 2.5)]),
    (lambda x: x[0] ** 2.5, [(-3, -1)]), (lambda x: (-2.0) ** (x[0] + 0.5), [(0.25, 0.375)]),
    (lambda x: x[0] ** x[1], [(0, 0), (-2, -1)]), (lambda x: x[0] ** (np.rint(x[1]) + 0.5), [(-3, -1), (-4, 4)])])
def test_nowhere_defined(fun, bounds):
    assert solved(fun, bounds).verdict is Verdict.INFEASIBLE


def test_one_whole_number_among_the_exponents():
    """Only x**1 has a value there."""
    assert proved(solved(lambda x: x[0] ** x[1], [(-3, -1), (0.25, 1.75)]), -3.0)


ROUNDED = {
    "a product of doubles": (lambda x: x[0] ** (0.1 * x[1]), [(-3, 3), (30, 30)]),
    "a constant between doubles": (lambda x: x[0] ** (infimum.pi / infimum.pi * 3), [(-3, 3)]),
    "a recorded product": (lambda x: x[0] ** (0.1 * (30 + 0 * x[1])), [(-3, 3), (0, 1)]),
    "a quotient": (lambda x: x[0] ** (x[1] / x[2]), [(-3, 3), (0.3, 0.3), (0.1, 0.1)]),
}


@pytest.mark.parametrize("name", ROUNDED)
def test_where_only_rounding_decides_nothing_is_claimed(name):
    """Neither that the cube of -3 is a value, nor that it is none."""
    fun, bounds = ROUNDED[name]
    r = infimum.minimize(fun, bounds, max_boxes=500)
    assert r.verdict not in (Verdict.PROVED, Verdict.INFEASIBLE) and r.lower <= -27 and r.upper == 0.0
    at = infimum.enclose(fun, [(-3, -3), *bounds[1:]], form="natural")
    assert at.lo <= -27.0 <= at.hi and not at.defined


def test_a_fraction_that_is_no_double_is_none_of_these():
    assert proved(solved(lambda x: x[0] ** Fraction(1, 3), [(-3, 3)]), 0.0)
    assert solved(lambda x: x[0] ** Fraction(1, 3), [(-3, -1)]).verdict is Verdict.INFEASIBLE


def test_the_message_says_where_a_power_is_undefined():
    r = infimum.minimize(lambda x: x[0] ** (0.1 * x[1]) + x[0], [(-3, 3), (30, 30.5)], max_boxes=300)
    assert "is negative and the exponent no whole number" in (r.obstacle or "")


def test_constraints_with_powers():
    r = infimum.feasible([(-3, 3), (0, 5)], lambda x: x[0] ** x[1] <= -200, integrality=[0, 1])
    assert r.verdict is Verdict.PROVED and r.feasible[1] == 5.0 and r.feasible[0] <= -(200.0 ** 0.2)
    assert infimum.feasible([(-3, 3), (0, 4)], lambda x: x[0] ** x[1] <= -28, integrality=[0, 1]).verdict is Verdict.INFEASIBLE
    r = solved(lambda x: x[1], [(-3, -2), (-4, 4)], constraints=lambda x: x[0] ** x[1] >= 7)
    assert proved(r, 2.0), "the exponent of a negative base is a whole number"


def test_a_fixed_exponent_beside_variables_in_an_array():
    """The exponent reads a fixed variable alone, out of an array that holds the others too."""
    def f(x):
        y = x + np.array([3.0, -2.0, 1.5])
        return y[2] ** (1.0 * y[1]) * y[2] + y[0] ** 2
    for constraints in ((), [infimum.Constraint(lambda x: (x + 3.0)[0], 2.0, 2.5)]):
        r = infimum.minimize(f, [(-2.5, 0.5), (5.0, 5.0), (-3.0, -0.8)], constraints=constraints)  # a fourth power and a square
        assert r.verdict.name == "PROVED" and 0 <= r.lower <= (0.25 if not constraints else 4) + 1e-6
        assert all(lo[1] == hi[1] == 5 for lo, hi in r.boxes)
