"""Functions that scalars couple: which have the structure, and that what is found is f, whatever the multipliers are."""

import numpy as np
import pytest
from flint import arb

from infimum.chains.coupled import elements_on
from infimum.expr.build import index, substituted
from infimum.expr.node import const, var
from infimum.structure.coupling_scalars import coupling_of
from infimum.structure.term_sums import C, X
from infimum.trace.trace import trace
from tests.oracle.arb_values import PRECISIONS, precision, settled_value
from tests.oracle.walk import Special

N, INF = 6, np.inf
LOW, HIGH = np.full(N, -3.0), np.full(N, 3.0)


def coupling_on(f, low=LOW, high=HIGH):
    """On a box that holds the points of these tests."""
    return coupling_of(f, len(low), lambda node: elements_on(node, low, high))


def waves(x):
    return np.sum(np.sin(3 * x[1:]) * x[:-1])


def by_hand(x):
    total = 0.0
    for i in range(N):
        total = total + x[i] * x[(i + 1) % N]
    return np.exp(-total) + x[0] * x[1]


# function, number of scalars
COUPLED = {
    "a mean": (lambda x: waves(x) + 0.1 * (np.mean(x) - 1) ** 2, 1),
    "a norm": (lambda x: waves(x) + np.exp(-np.linalg.norm(x)), 1),
    "a root of a sum": (lambda x: waves(x) + np.sqrt(1 + np.sum(x**2)), 1),
    "a quotient": (lambda x: waves(x) / (1 + np.linalg.norm(x)), 1),
    "a product": (lambda x: -3 * (2 + waves(x) - np.sum(x**2)) * np.cos(np.sum(x)) / 7, 1),
    "terms that read it": (lambda x: np.sum((x - np.mean(x)) ** 2 * np.cos(x)), 1),
    "the variance": (lambda x: np.var(x) + waves(x), 1),
    "one scalar in another": (lambda x: np.std(x) + waves(x), 2),
    "two scalars": (lambda x: -np.exp(-np.sqrt(np.mean(x**2))) - np.exp(np.mean(np.cos(3 * x))), 2),
    "a sum of products": (lambda x: np.sin(np.sum(x[1:] * x[:-1])) + np.sum(x**2), 1),
    "a sum below a constant": (lambda x: 3 / (1 + np.sum(x**2)) * np.exp(np.mean(x)) + waves(x), 2),
    "a constant summand": (lambda x: (7 - (waves(x) - 2) / 3) / (1 + np.sum(x**2)), 1),
    "equal parts": (lambda x: (waves(x) + waves(x) * 5 - -waves(x)) * np.cos(np.sum(x)), 1),
    "a loop": (by_hand, 1),
    "inside and outside": (lambda x: np.sum(x**2) + np.exp(-np.sum(x**2)), 1),
    "an array of one element": (lambda x: (waves(x) + np.sum(x, keepdims=True) ** 2)[0], 1),
    "a condition": (lambda x: waves(x) + np.where(np.sum(x) < 1, 2.0, np.mean(x) ** 2), 1),
    "a band": (lambda x: np.sum(x[2:] * x[1:-1] * x[:-2]) + np.sum(x) ** 2, 1),
    "a positive product": (lambda x: waves(x) - np.prod(2 + np.cos(x)) ** 0.5, 1),
    "a negative factor": (lambda x: waves(x) * (1 + np.prod(np.arange(-0.5, N - 1) * np.exp(x / 7)) ** 2), 1),
    "factors that may be 0": (lambda x: waves(x) + np.prod(np.abs(x)), 1),
    "factors that change their signs": (lambda x: waves(x) + np.prod(x), 2),
    "a product in a function": (lambda x: np.sum(np.cos(x)) * np.cos(np.prod(np.cos(2 * x))), 2),
    "a product of chains": (lambda x: waves(x) + np.prod(x[1:] - x[:-1]), 2),
    "weights": (lambda x: waves(x) + np.abs(np.dot(np.arange(1.0, N + 1), x) - 1 / 3), 1),
}
CUT = ("factors that may be 0", "factors that change their signs", "a product in a function", "a product of chains")
NOT = {
    "a chain": waves,
    "two signs": lambda x: np.prod(np.cos(x)) + np.sin(np.prod(x)),
    "a sign and two sums": lambda x: np.prod(np.cos(x)) + np.exp(np.sum(x**2)),
    "factors of all": lambda x: np.prod(np.cumsum(x)) + np.sum(x**2),
    "factors without bounds": lambda x: np.prod(1 / x) + np.sum(x**2),
    "three scalars": lambda x: np.exp(np.sum(x)) + np.sin(np.sum(x**2)) + np.cos(np.sum(x**3)),
    "as many scalars as variables": lambda x: np.sum(np.sum((x[:, None] - x) ** 2, axis=1) ** 2),
    "few variables": lambda x: np.exp(x[0] + x[1] + x[2]) + waves(x),
    "a matrix": lambda x: np.sum(np.sin(np.arange(36.0).reshape(6, 6) @ x)),
}


@pytest.mark.parametrize("name", COUPLED)
def test_it_is_the_function_whatever_the_multipliers_are(name):
    """The sum of all terms at (x, s) with s = G(x), as real numbers, held against Arb."""
    fun, scalars = COUPLED[name]
    f, rng, checked = trace(fun, N), np.random.default_rng(1), 0
    coupling = coupling_on(f)
    assert len(coupling.scalars) == scalars and np.isinf(coupling.above).all() == (name not in CUT)
    assert all(above == (INF if name == "one scalar in another" else -INF) for above in coupling.above) or name in CUT
    for _ in range(12):
        x, multipliers = rng.integers(-24, 25, N) / 8, rng.normal(size=2) * rng.choice((0, 1, 1e6))
        value = settled_value(f, x)
        with precision(PRECISIONS[1]):
            s = [settled_value(scalar, x) for scalar in coupling.scalars]
            if isinstance(value, Special) or any(isinstance(v, Special) for v in s):
                continue
            if coupling.signed is not None:
                s[0] = arb(-1 if settled_value(coupling.signed, x) < 0 else 1)
            middle = np.concatenate([x, [float(v.mid()) for v in s]])  # the sum as a function of s has slope 0 but for F
            terms = ((family, k) for family in coupling.families for k in range(family.count))
            total = sum((term_at(*term, middle, multipliers) for term in terms), arb(0))
            error = arb(0, 1e-9 * (1 + abs(float(value.mid())) + np.abs(multipliers).max() * (1 + np.abs(middle).max())))
            assert (total + error).overlaps(value), (x, multipliers)
        checked += 1
    assert checked > 6


def term_at(family, k, point, multipliers):
    lower, upper = family.lower[:, k], family.upper[:, k]
    ends = [(multipliers[int(b)],) * 2 if np.isnan(a) else (a, b) for a, b in zip(lower, upper, strict=True)]
    m = len(ends)
    value = substituted(family.value, {index(var(C, (m,)), i): const(float(a), float(b)) for i, (a, b) in enumerate(ends)})
    return settled_value(value, point[family.variables[:, k]])


@pytest.mark.parametrize("name", NOT)
def test_not_without_the_structure(name):
    assert coupling_on(trace(NOT[name], N)) is None


def test_multipliers_are_marked_and_nothing_else():
    for fun, scalars in COUPLED.values():
        coupling = coupling_on(trace(fun, N))
        families = coupling.families
        marks = [family.upper[np.isnan(family.lower)] for family in families]
        assert sorted({k for mark in marks for k in mark.tolist()}) == list(range(coupling.signed is not None, scalars))
        assert all(var(X, (0,)) is not family.value for family in families)
        for family in families:  # a scalar is one in all terms of a family, or in none
            reads = family.variables >= N
            assert (reads.all(axis=1) | ~reads.any(axis=1)).all()


def test_long_loops():
    """Sums that were written one summand after the other are as deep as they are long."""
    def f(x):
        total = 0.0
        for i in range(500):
            total = total + x[i] * x[(i + 1) % 500]
        return total / (1 + np.sum(x**2))
    coupling = coupling_on(trace(f, 500), np.full(500, -3.0), np.full(500, 3.0))
    assert len(coupling.scalars) == 1 and sum(family.count for family in coupling.families) == 1002
