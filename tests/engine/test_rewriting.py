"""Every rewriting step switched off against on: the same is proved, or less, and never another thing."""

import numpy as np
import pytest

import infimum
from infimum.expr.build import build
from infimum.expr.rewriting_switches import STEPS, recorded, step, without
from infimum.expr.simplify import RULES
from infimum.problems import constrained, get
from infimum.result import Result, Verdict
from infimum.structure import known_exponents
from tests.engine.random_problems import Problem, problem

ENDED = {Verdict.PROVED, Verdict.INFEASIBLE}
BOXES = 300
DATA = np.array([3.0, 2.0, 1.2, 0.8, 0.5, 0.3])


def recurrence(x):
    u = 1.0 + 0 * x[0]
    for _ in range(8):
        u = u + 0.1 * (x[0] - x[1] * u * u)
    return u


# what each is there for: (the steps that it must use, the function, the bounds, the settings). Each has a domain that counts
PROBLEMS = {
    "a fixed exponent": ({"fixed variables", "fixed exponents", "constant parts"},
                         lambda x: np.exp(x[1]) * x[0] ** x[2], [(-3, 3), (0.5, 0.5), (3, 3)], {}),
    "one beside arrays": ({"fixed exponents"}, lambda x: x[0] ** x[1] + np.sum(x[1:] * x[:-1]),
                          [(-3, 3), (3, 3)] + [(-2, 1)] * 4, {}),
    "an equation for the exponent": ((), lambda x: x[0] ** x[1], [(-3, 3), (3, 4)], {"constraints": lambda x: x[1] == 3}),
    "an exponent that does not change": ((), lambda x: x[0] ** (3 + 0 * x[1]), [(-3, 3), (3, 4)], {}),
    "a whole exponent": ({"whole exponents"}, lambda x: (-3) ** x[0], [(0, 5)], {"integrality": 1}),
    "a whole exponent of a variable": ({"whole exponents"}, lambda x: x[0] ** x[1] + x[0], [(-3, 3), (0, 5)],
                                       {"integrality": [0, 1]}),
    "a defined variable": ({"defined variable"}, lambda x: x[2], [(-2, 2), (-1, 2), (-100, 100)],
                           {"constraints": lambda x: x[2] == np.log(x[1]) * x[0] + x[0] ** 2}),
    "monomials": ({"monomials", "lifted columns", "curvature"}, lambda x: x[0] ** 0.5 * x[1] / x[2] + x[2],
                  [(0.1, 3), (0.2, 2), (0.3, 4)], {"constraints": lambda x: x[0] * x[1] * x[2] >= 1}),
    "a domain": ({"domain bounds"}, lambda x: np.log(x[0]) ** 2 + np.sqrt(x[1]) + 1 / x[0], [(-1, 2)] * 2, {}),
    "squares": ({"completed squares"}, lambda x: x[0] ** 2 - 16 * x[0] + np.sqrt(x[1]), [(-np.inf, np.inf), (-1, 4)],
                {"constraints": lambda x: x[0] + x[1] >= 1}),
    "products": ({"convex below"}, lambda x: (x[0] + 2 * x[1] - 1) * (3 * x[0] - x[1] + 2) + x[0] + x[1], [(-np.inf, np.inf)] * 2,
                 {"constraints": [lambda x: x[0] + 2 * x[1] >= 1, lambda x: 3 * x[0] - x[1] >= -2, lambda x: x[0] >= -5]}),
    "entropies": ({"entropies"}, lambda x: x[0] * np.log(x[0]) + 2 * x[1] * np.log(x[1] / x[0]) - x[1], [(0, 1), (0, 2)],
                  {"constraints": lambda x: x[0] + x[1] <= 1.5}),
    "semidefinite forms": ({"completed forms", "curvature"}, lambda x: x[0] ** 2 + x[0] * x[1] + x[1] ** 2 - 3 * x[0],
                           [(-4, 4)] * 2, {"constraints": lambda x: x[0] + x[1] >= 1}),
    "branches": ({"narrowed branches", "outcomes"},
                 lambda x: np.where(x[0] > 0.5, np.sqrt(x[0]) - x[0], np.log(1 - x[0])) + x[1] ** 2, [(-2, 3), (-1, 1)], {}),
    "poles": ({"pieces", "other forms"}, lambda x: np.sin(x[0]) / x[0] + x[0] ** -2, [(-9, 9)], {}),
    "0**0": ({"other forms"}, lambda x: x[0] * np.log(x[0]) + x[0] ** x[0], [(-1, 3)], {}),
    "a norm": ({"quotients by norms"}, lambda x: np.sin(np.linalg.norm(x)) / np.linalg.norm(x), [(-5, 5)] * 2, {}),
    "rough and calm": ({"rough and calm", "gathered sums"}, lambda x: x[1] ** 2 + x[0] ** -12 - x[0] ** -6,
                       [(-3, 3), (-1, 2)], {}),
    "least squares": ({"sums of squares"}, lambda x: np.sum((x[0] * np.exp(-x[1] * np.arange(6.0)) - DATA) ** 2),
                      [(-5, 5), (0, 3)], {}),
    "minus a product": ({"minus a product"}, lambda x: -x[0] * x[1] * x[2], [(0, 2)] * 3,
                        {"constraints": lambda x: x[0] + x[1] + x[2] <= 3}),
    "factors": ({"factors as logarithms", "terms", "tangents"},
                lambda x: np.prod(1.2 + np.sin(3 * x)) + (np.sum(x) - 1) ** 2 / 5 + np.sum(np.cos(5 * x)), [(-3, 3)] * 4,
                {"batch": 16, "max_boxes": 600}),
    "a loop": ({"loops as vectors", "arranged reductions", "local forms"},
               lambda x: sum(x[i] ** 4 - i * x[i] ** 2 + np.sqrt(x[i] + i / 4) for i in range(6)), [(-1, 2)] * 6, {}),
    "a recurrence": ({"collected sums"}, recurrence, [(0, 1), (0.1, 1)], {}),
    "whole points": ({"whole rows", "probed bounds", "exchanges"},
                     lambda x: np.log(x[0] - 1) * np.log(x[1] - 1) + x[2], [(-1, 9)] * 3,
                     {"integrality": 1, "constraints": lambda x: [6 * x[0] + 6 * x[1] + 3 * x[2] >= 11, x[0] * x[1] >= 7,
                                                                  x[0] ** 2 + x[1] ** 2 + 20 * x[2] <= 75]}),
    "nowhere defined": ((), lambda x: np.log(-np.abs(x[0]) - 1) + x[1] ** x[0], [(-1, 2), (2, 2)], {}),
}


def solved(fun, bounds, settings) -> Result:
    return infimum.minimize(fun, bounds, **{"max_boxes": BOXES} | settings)


def contradiction(one: Result, other: Result) -> str:
    """What two results about one problem cannot both say; empty if there is nothing."""
    if one.lower > other.upper or other.lower > one.upper:
        return "the enclosures are disjoint"
    both = {one.verdict, other.verdict}
    return "the verdicts differ" if len(both) == 2 and both <= ENDED else ""


def compare(fun, bounds, settings) -> set[str]:
    """With all steps, and without each that changes something; these are returned."""
    with recorded() as used:
        whole = solved(fun, bounds, settings)
    for name in sorted(used | {"simplifications"}):
        with without(name):
            part = solved(fun, bounds, settings)
        wrong = contradiction(whole, part)
        assert not wrong, f"without {name}, {wrong}: {part.verdict.name} [{part.lower}, {part.upper}], and with it " \
                          f"{whole.verdict.name} [{whole.lower}, {whole.upper}]"
    return used


@pytest.mark.parametrize("name", PROBLEMS)
def test_with_and_without(name):
    steps, *asked = PROBLEMS[name]
    assert compare(*asked) >= set(steps)


def test_every_step_has_a_problem():
    assert set().union(*(steps for steps, *_ in PROBLEMS.values())) == set(STEPS) - {"simplifications"}


@pytest.mark.parametrize("seed", range(5))
def test_random_problems(seed):
    drawn: Problem = problem(seed)
    compare(drawn.fun, drawn.bounds, drawn.settings())


@pytest.mark.parametrize("entry", [get("camel_six_hump"), constrained.get("g06")], ids=lambda entry: entry.name)
def test_of_the_gallery(entry):
    compare(entry.fun, entry.bounds, {"constraints": getattr(entry, "constraints", ())})


def test_a_simplification_that_changes_the_domain_is_found(monkeypatch):
    monkeypatch.setitem(RULES, "exp", lambda build, args, shape, params: args[0].args[0] if args[0].op == "log" else None)
    with pytest.raises(AssertionError, match="without simplifications, the enclosures are disjoint"):
        compare(lambda x: np.exp(np.log(x[0])), [(-2, 1)], {})


def test_a_step_that_loses_negative_bases_is_found(monkeypatch):
    """As a power that is the exponential of a logarithm does."""
    def careless(roots, *known):
        return [build("exp", build("mul", 3.0, build("log", roots[0].args[0])))]
    monkeypatch.setattr(known_exponents, "with_fixed_exponents", step("fixed exponents", lambda roots, *known: roots)(careless))
    with pytest.raises(AssertionError, match="without fixed exponents, the enclosures are disjoint"):
        compare(lambda x: x[0] ** x[1], [(-3, 3), (3, 3)], {})


def test_steps_have_names_and_come_back():
    with pytest.raises(KeyError, match="no rewriting step"), without("no such step"):
        pass
    with without("pieces"), without("terms"):
        assert step("pieces", lambda x: 0)(lambda x: x)(3) == step("terms", lambda x: 0)(lambda x: x)(3) == 0
    assert step("pieces", lambda x: 0)(lambda x: x)(3) == 3
