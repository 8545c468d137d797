"""Long quadratic sums as vectors: the same real function, with few operations."""

from fractions import Fraction as Q
from functools import reduce

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import infimum
from infimum.evaluation.evaluator import Evaluator
from infimum.expr.build import build, index
from infimum.expr.node import const, operations, var
from infimum.expr.rewriting_switches import without
from infimum.trace import quadratic_vectors
from infimum.trace.quadratic_vectors import with_quadratic_vectors
from infimum.trace.trace import trace

N = 9
numbers = st.integers(-2000, 2000).map(lambda k: k / 8) | st.sampled_from([0.1, 1e-300, -1e300, 0.0, 1.0, -1.0])
term = st.tuples(st.integers(0, 6), numbers, numbers, st.integers(0, N - 1), st.integers(0, N - 1))


def written(kind, a, b, x, y):
    """A term, as users write it: most can be an element of a vector, some cannot."""
    return (a * x * y, x * (a * y), -(x * y) * a, x * x, a * x, a * (b * x * y), a - x * y * b)[kind]


def total(terms, x):
    value = x[0]
    for k, (kind, a, b, i, j) in enumerate(terms):
        one = written(kind, a, b, x[i], x[j])
        value = value + one if k % 3 else value - one
    return value


@settings(max_examples=60, deadline=None)
@given(st.lists(term, min_size=60, max_size=160), st.lists(st.integers(-64, 64).map(lambda k: k / 16), min_size=N, max_size=N))
def test_the_value_is_kept(terms, x):
    exact = total([(kind, Q(a), Q(b), i, j) for kind, a, b, i, j in terms], [Q(t) for t in x])
    f = infimum.compile(lambda v: total(terms, v), N, check=False)
    value = f.value(np.array(x), np.array(x))
    assert float(value.lo) <= exact <= float(value.hi)


def test_negated_constants_are_factors():
    """Simplifications compute them; a step must be right without another."""
    x = var("x", (N,))
    with without("simplifications"):
        minus_three = build("neg", const(3.0))
        terms = [build("mul", build("mul", minus_three, index(x, i)), index(x, j)) for i in range(N) for j in range(i)]
        f = with_quadratic_vectors(reduce(lambda a, b: build("add", a, b), terms), x)
    assert operations(f) < 12
    value = Evaluator(f, N).value(np.ones(N), np.ones(N))
    assert float(value.lo) <= -3 * N * (N - 1) / 2 <= float(value.hi)


@pytest.mark.parametrize("signs", range(12, 20))
def test_signs_before_a_factor_lose_nothing(signs):
    """However many there are: those that are not looked at stay with what they stand before."""
    x = var("x", (10,))
    with without("simplifications"):
        def term(i, j):
            return build("mul", index(x, i), reduce(lambda a, _: build("neg", a), range(signs), index(x, j)))
        f = with_quadratic_vectors(reduce(lambda a, b: build("add", a, b), [term(i, j) for i in range(10) for j in range(10)]), x)
    value = Evaluator(f, 10).value(np.full(10, 1.5), np.full(10, 1.5))
    assert float(value.lo) <= 225 * (-1) ** signs <= float(value.hi)


def test_few_operations_are_left():
    weights = np.arange(N * N).reshape(N, N) + 0.5

    def form(v):
        return sum(float(weights[i][j]) * v[i] * v[j] for i in range(N) for j in range(N)) + np.exp(v[0])
    f = infimum.compile(form, N)
    with without("loops as vectors"):
        scalars = infimum.compile(form, N)
    assert operations(f.f) < 40 < 100 < operations(scalars.f)
    point = np.linspace(-1, 1, N)
    assert abs(float(f.estimate(point)) - form(point)) < 1e-9
    again = f.value(-np.ones(N), np.ones(N)), scalars.value(-np.ones(N), np.ones(N))
    assert abs(float(again[0].lo) - float(again[1].lo)) < 1e-9  # squares stay squares


def test_rows_of_a_constraint_too():
    found = infimum.compile(lambda v: v[0], 40, constraints=[
        lambda v: sum((i + 1.0) * v[i] for i in range(40)) <= 3,
        lambda v: sum(v[i] * v[j] for i in range(40) for j in range(i, 40)) <= 1])
    assert all(operations(body) < 12 for body in found.system.bodies)
    rows = found.rows(np.zeros(40), np.ones(40))
    assert np.allclose(rows.hi, [1, 820, 820]) and np.allclose(rows.lo, 0)


def test_sums_in_which_variables_meet_few_others_stay():
    chain = trace(lambda v: sum(v[i] ** 4 - 4 * v[i] * v[i + 1] + v[i] ** 2 for i in range(79)), 80)
    assert with_quadratic_vectors(chain, var("x", (80,))) is chain


def test_coefficients_that_are_multiplied_or_divided_stay_as_they_are():
    """0.1 * 0.1 is no double, and neither is 0.1 / 3."""
    for one in (lambda v, i: 0.1 * (v[i % N] * v[i // N]) * 0.1, lambda v, i: 0.1 * v[i % N] * v[i // N] / 3.0):
        f = trace(lambda v, one=one: sum(one(v, i) for i in range(N * N)), N)
        assert with_quadratic_vectors(f, var("x", (N,))) is f


def test_long_chains_of_sums_are_left_at_once(monkeypatch):
    """Each state of 200 steps of Euler is a sum of all states before it, and no product of variables is among them."""
    asked = []
    monkeypatch.setattr(quadratic_vectors, "all_parts", lambda *given: asked.append(given))

    def last(k):
        a, b = 0.0, 1.0
        for _ in range(200):
            a, b = a + 0.01 * (k[0] * b - k[1] * a**2), b - 0.01 * k[0] * b
        return a
    infimum.compile(last, 2)
    assert not asked
