"""The functions of the runs: small, each for one structure or one trap. Checkpoints under `files/` hold keys of their
expressions, and journals digests of their source: a changed function needs new files.

Numbers in them are dyadic or short decimals, so that no platform's libm or random generator has a part in them.
"""

import math
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

import infimum
from tests.evaluate.fingerprint import dyadic

INF = math.inf
TIMES = np.arange(1.0, 9.0) / 4
DATA = np.array([2.25, 1.75, 1.5, 1.125, 1.0, 0.875, 0.625, 0.75])


class Posed(NamedTuple):
    """A question: what is minimised, over which bounds, and further arguments of `minimize`."""

    fun: Any
    bounds: Any
    more: dict[str, Any] = {}


def bowl(x):
    return np.sum((x - 0.3) ** 2)


def rosenbrock(x):
    return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def camel(x):
    return (4 - 2.1 * x[0] ** 2 + x[0] ** 4 / 3) * x[0] ** 2 + x[0] * x[1] + (4 * x[1] ** 2 - 4) * x[1] ** 2


def rastrigin(x):
    return np.sum(x**2 - 10 * np.cos(6.25 * x) + 10)


def griewank(x):
    return np.sum(x**2) / 16 - np.prod(np.cos(x)) + 1


def decay(x):
    """A sum of squares over data."""
    return np.sum((x[0] * np.exp(-x[1] * TIMES) - DATA) ** 2)


def chain(x):
    """Terms of neighbouring variables."""
    return np.sum(np.sin(3 * x[1:] * x[:-1])) + np.sum((x - 0.25) ** 2)


def network(x):
    """A layer of six units."""
    return np.sum(np.tanh((dyadic(6, len(x), 5) * 4 - 2) @ x) * (dyadic(1, 6, 7)[0] - 0.5))


def kinks(x):
    return np.max(np.abs(x - 0.25)) + np.abs(x[0] * x[1] - 0.5) - np.minimum(x[0], 0.5 * x[1])


def branches(x):
    return np.where(x[0] > 0.25, x[0] ** 2 - x[1], x[1] ** 2 + x[0]) + np.where(x[1] < x[0], np.sin(3 * x[0]), 0.5)


def powers(x):
    """A variable to the power of another one."""
    return x[0] ** x[1] - 2 * x[0] + x[1] ** 1.5 / 4


def domains(x):
    """Undefined in a part of the bounds."""
    return np.sqrt(x[0] - x[1] ** 2) + np.log(x[1] + 1) / (2 - x[0])


def recurrence(x):
    """Five steps of logistic growth, compared with data."""
    u, found = x[1], 0.0
    for y in (0.25, 0.5, 0.75, 1.0, 1.0):
        u = u + 0.5 * x[0] * u * (1 - u)
        found = found + (u - y) ** 2
    return found


def form(x):
    """An indefinite quadratic form."""
    matrix = dyadic(len(x), len(x), 3) * 4 - 2
    return x @ (matrix + matrix.T) @ x + np.sum(x)


def polynomial(x):
    return np.sum(x**4 - 16 * x**2 + 5 * x) / 2


def nowhere(x):
    return np.log(-1 - x[0] ** 2) + x[1]


def wave(x):
    return np.sin(3 * x[0]) + x[0] ** 2 / 8 - np.cos(5 * x[1]) * x[1]


UNCONSTRAINED = {
    "bowl": Posed(bowl, [(-2, 3)] * 3),
    "rosenbrock": Posed(rosenbrock, [(-3, 4)] * 2),
    "camel": Posed(camel, [(-3, 3), (-2, 2)]),
    "rastrigin": Posed(rastrigin, [(-4, 5)] * 3),
    "griewank": Posed(griewank, [(-6, 7)] * 2),
    "decay": Posed(decay, [(0, 10), (0, 5)]),
    "chain": Posed(chain, [(-1, 2)] * 4),
    "network": Posed(network, [(-1, 1)] * 3),
    "kinks": Posed(kinks, [(-1, 2)] * 2),
    "branches": Posed(branches, [(-1, 2)] * 2),
    "powers": Posed(powers, [(0.25, 2), (0.5, 3)]),
    "domains": Posed(domains, [(0, 1.5), (-1.5, 1)]),
    "recurrence": Posed(recurrence, [(0.25, 2), (0.0625, 0.5)]),
    "form": Posed(form, [(-1, 1)] * 4),
    "polynomial": Posed(polynomial, [(-5, 5)] * 6),
    "nowhere": Posed(nowhere, [(-1, 1)] * 2),
    "wave": Posed(wave, [(-4, 4), (-2, 2)]),
}


def total(x):
    return x[0] + x[1]


def disc(x):
    return x[0] ** 2 + x[1] ** 2 <= 1


def circle(x):
    return x[0] ** 2 + x[1] ** 2 == 1


def hs71(x):
    return x[0] * x[3] * (x[0] + x[1] + x[2]) + x[2]


def hs71_rows(x):
    return [x[0] * x[1] * x[2] * x[3] >= 25, np.sum(x**2) == 40]


def apart(x):
    """Two parts that do not touch."""
    return (x[0] ** 2 - 4) ** 2 + x[1] ** 2 <= 1


def curved(x):
    return np.exp(x[0]) * np.sin(x[1]) + x[2] ** 2


def curved_rows(x):
    return [x[0] * x[1] + x[2] == 0.5, np.sqrt(x[0] + 1) - x[2] <= 0.75, np.abs(x[1]) + x[0] >= 0.25]


def strip(x):
    return x[0] - x[1] ** 2


def budget(x):
    return (x[0] - 3.6) ** 2 + (x[1] - 2.6) ** 2 + x[0] * x[2]


def squares(x):
    return np.sum(x**2)


CONSTRAINED = {
    "disc": Posed(total, [(-2, 2)] * 2, {"constraints": disc}),
    "circle": Posed(total, [(-2, 2)] * 2, {"constraints": circle}),
    "apart": Posed(total, [(-4, 4)] * 2, {"constraints": apart}),
    "hs71": Posed(hs71, [(1, 5)] * 4, {"constraints": hs71_rows}),
    "curved": Posed(curved, [(-1, 2)] * 3, {"constraints": curved_rows}),
    "whole": Posed(budget, [(0, 5)] * 3, {"constraints": lambda x: x[0] + x[1] + x[2] <= 6.5, "integrality": [1, 1, 0]}),
    "whole alone": Posed(camel, [(-3, 3)] * 2, {"integrality": [1, 0]}),
    "infeasible": Posed(total, [(-2, 2)] * 2, {"constraints": [circle, lambda x: x[0] * x[1] >= 0.75]}),
    "redundant": Posed(squares, [(-3, 3)] * 3, {"constraints": [lambda x: np.sum(x) == 1, lambda x: 2 * np.sum(x) == 2]}),
    "undefined row": Posed(squares, [(-1, 2)] * 2, {"constraints": lambda x: np.sqrt(x[0] * x[1]) + np.log(x[0] + 0.5) >= 0.5}),
    "wave in a strip": Posed(wave, [(-4, 4), (-2, 2)], {"constraints": infimum.Constraint(strip, -0.5, 0.25)}),
}


def rates(x):
    """Residuals in which no parameter is linear."""
    return np.sum((np.exp(-x[0] * TIMES) + 1 / (x[1] + TIMES) - x[0] * x[1] * DATA) ** 2)


def ripples(x):
    return np.sum(np.sin(5 * x) * x)


def two_equations(x):
    return [x[0] * np.sin(3 * x[1]) + x[1] * x[2] == 0.5, x[0] ** 2 * x[2] - np.cos(4 * x[0] * x[1]) == -0.25]


MANY_STEPS = {  # with few regions a step, so that costly tests of a proof have their turn
    "rates": Posed(rates, [(0.125, 4)] * 2),
    "two equations": Posed(ripples, [(-2, 2)] * 3, {"constraints": two_equations}),
    **{name: Posed(p.fun, p.bounds, {"constraints": p.constraints}) for name, p in (
        (name, infimum.problems.constrained.get(name)) for name in ("rational_valley", "ex6_1_2", "haverly_1"))},
}
THIRD = Fraction(1, 3)
