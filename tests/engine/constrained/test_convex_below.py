"""Variables without bounds, by convex functions below f (`bounds/infinite_ends/convex_below.py`)."""

import time
from fractions import Fraction
from itertools import combinations_with_replacement

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import infimum
from infimum import Verdict, minimize
from infimum.bounds.infinite_ends.closing import by_growth
from infimum.bounds.infinite_ends.convex_below import convex_below
from infimum.evaluation.evaluator import Evaluator
from infimum.expr.exact_forms import Elimination, variable
from infimum.expr.node import var
from tests.engine.constrained_systems import Case


class Planted:
    """f is made of products of some of the rows A x >= b, of squares, and of the rows themselves, so that it has a minimum."""

    def __init__(self, seed, n, exact):
        rng = np.random.default_rng(seed)
        count, self.exact = n + int(rng.integers(1, 4)), exact
        self.a = rng.integers(-3, 4, (count, n)) / (1 if exact else 7)
        self.b = self.a @ rng.integers(-2, 3, n) - rng.integers(0, 3, count)  # so that a point obeys them
        pairs = list(combinations_with_replacement(range(count), 2))
        self.pairs = [pairs[k] for k in rng.choice(len(pairs), 3, replace=False)]
        self.weights, self.rest = rng.integers(1, 5, 3) / 2, rng.integers(1, 3, count) * 1.0
        self.s = rng.integers(-1, 2, n) * 1.0

    def slack(self, x):
        return self.a @ x - (self.b if x.ndim == 1 else self.b[:, None])

    def f(self, x):
        slack = self.slack(x)
        products = sum(w * slack[i] * slack[j] for w, (i, j) in zip(self.weights, self.pairs, strict=True))
        return products + (self.s @ x)**2 + self.rest @ slack

    def evaluator(self):
        n = self.a.shape[1]
        return Case(self.f, [(lambda x, k=k: self.a[k] @ x, self.b[k], np.inf) for k in range(len(self.b))],
                    [(-np.inf, np.inf)] * n).evaluator()


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(2, 4))
def test_what_is_left_is_below_f_and_bounds_hold(seed, n):
    case, rng = Planted(seed, n, True), np.random.default_rng(seed)
    evaluator, ends = case.evaluator(), (np.full(n, -np.inf), np.full(n, np.inf))
    found = convex_below(evaluator.system, var("x", (n,)), *ends)
    x = rng.normal(size=(n, 4000)) * 2.0 ** rng.integers(-2, 8, 4000)
    x = x[:, (case.slack(x) >= 0).all(axis=0)]
    assume(found is not None)
    below = Evaluator(found.f, n).value(x, x)
    assert (below.lo <= case.f(x) + 1e-9 * (1 + np.abs(case.f(x)))).all()
    for upper in (1.0, 30.0, 1000.0):
        low, high = by_growth(evaluator, *ends, np.zeros(n), upper)
        kept = x[:, case.f(x) <= upper * (1 - 1e-9)]
        assert ((low[:, None] <= kept) & (kept <= high[:, None])).all()


def test_most_of_such_functions_are_closed():
    """Wherever constraints and f leave a bounded set; coefficients that are no doubles are none that are known exactly."""
    closed = []
    for seed in range(30):
        case = Planted(seed, 3, True)
        box = by_growth(case.evaluator(), np.full(3, -np.inf), np.full(3, np.inf), np.zeros(3), 100.0)
        closed.append(np.isfinite(box).all())
    assert sum(closed) >= 20


@pytest.mark.parametrize("f, n, minimum", [
    (lambda x: (x[0] - x[1])**4 + (x[0] + x[1])**2 - x[0] * x[1], 2, 0.0),
    (lambda x: (x[0] - x[1])**2 + (x[1] - x[2])**2 + 0.1 * x[0]**2 + 3 * np.sin(x[0] * x[2]), 3, -2.551743915),
    (lambda x: np.exp(x[0] - x[1]) + (x[0] + x[1] - 1)**2 + (x[0] - 2 * x[1])**2 - np.tanh(x[0])**2, 2, None),
    (lambda x: abs(x[0] - 3) + np.sqrt(1 + (x[0] + x[1])**2) + np.sin(3 * x[1]), 2, None),
    (lambda x: (2 * x[0] - x[1])**4 + (x[0] + x[1] - 1)**4 + np.log(1 + np.exp(x[0])) - 2 * np.cos(5 * x[0] * x[1]), 2, None),
])
@pytest.mark.parametrize("constraints", [(), lambda x: x[0] + x[1] >= -9])
def test_squares_of_sums_beside_other_functions(f, n, minimum, constraints):
    r = minimize(f, [(None, None)] * n, constraints=constraints, atol=1e-5, time_limit=20)
    assert r.verdict is Verdict.PROVED
    if minimum is not None:
        assert r.lower <= minimum + 1e-6 and r.upper >= minimum - 1e-6


@pytest.mark.parametrize("f, bounds, constraints, minimum", [
    (lambda x: x[0] * x[1] - x[2], [(None, None)] * 3, [lambda x: x[0] >= 1, lambda x: x[1] >= x[0], lambda x: x[2] <= x[0]], 0),
    (lambda x: (x[0] + 2 * x[1] - 1) * (3 * x[0] - x[1] + 2) + x[0] + x[1], [(None, None)] * 2,
     [lambda x: x[0] + 2 * x[1] >= 1, lambda x: 3 * x[0] - x[1] >= -2, lambda x: x[0] >= -5], 2 / 7),
])
def test_products_of_variables_without_bounds(f, bounds, constraints, minimum):
    r = minimize(f, bounds, constraints=constraints, atol=1e-6, time_limit=20)
    assert r.verdict is Verdict.PROVED and r.lower <= minimum + 1e-9 and r.upper >= minimum - 1e-9


@pytest.mark.parametrize("f, row", [
    (lambda x: x[0] * x[1], lambda x: x[0] + x[1] - 1),  # along x0 = -x1
    (lambda x: -x[0] * x[1], lambda x: x[0]),
    (lambda x: x[0] * x[1] - x[0]**2, lambda x: x[0]),
])
def test_what_falls_without_end_is_not_closed(f, row):
    system = Case(f, [(row, 0.0, np.inf)], [(-np.inf, np.inf)] * 2).evaluator()
    assert np.isinf(by_growth(system, np.full(2, -np.inf), np.full(2, np.inf), np.ones(2), 5.0)).any()


@pytest.mark.parametrize("a, q", [
    ([[-2., -2, -3], [0, -3, 0], [3, 2, 1], [1, 0, -2], [2, 1, -3]], [[9., 22, 10], [39, 20, -9], [-37, -31, -6]]),
    ([[-5., 9, -8], [7, -1, 8], [-9, 7, 7]], [[-33e3, -35e3, -3e3], [-47e3, 36e3, 5e3], [-10e3, -25e3, 21e3]]),
])
def test_products_that_do_not_fit_are_soon_given_up(a, q):
    """An exchange of products by least squares was repeated without end."""
    a, q, begun = np.array(a), np.array(q), time.monotonic()
    minimize(lambda x: x @ q @ x, [(None, None)] * 3, constraints=[lambda x: a @ x >= -1], x0=np.zeros(3), time_limit=1)
    assert time.monotonic() - begun < 10


def test_many_rows_take_little_time():
    """16 variables and the ends of 16 rows; the numbers of many products are found among those of all of them."""
    rng = np.random.default_rng(0)
    a, q = rng.integers(-3, 4, (16, 16)) / 1.0, rng.normal(size=(16, 16)).round(6)
    system = Case(lambda x: x @ q @ x, [(lambda x, k=k: a[k] @ x, 1.0, np.inf) for k in range(16)], [(-np.inf, np.inf)] * 16)
    begun = time.process_time()
    convex_below(system.evaluator().system, var("x", (16,)), np.full(16, -np.inf), np.full(16, np.inf))
    assert time.process_time() - begun < 5


@pytest.mark.parametrize("f, constraints", [
    (lambda x: (1e160 * x[0]) * (1e160 * x[1]), [lambda x: x[0] >= 1e-160, lambda x: x[1] >= 1e-160]),
    (lambda x: x[0] * x[1] + x[0], [lambda x: 1e200 * x[0] >= 1, lambda x: 1e200 * x[1] >= 1]),
    (lambda x: (1e160 * x[0] - 1) * (x[1] - 1), [lambda x: 1e160 * x[0] >= 1, lambda x: x[1] >= 1]),
])
def test_products_beyond_doubles_are_left_alone(f, constraints):
    r = minimize(f, [(None, None)] * 2, constraints=constraints, time_limit=1)
    assert r.lower <= r.upper


def test_bounds_are_looked_at_again_with_a_better_point(tmp_path):
    """The first whole point that is feasible lies a million away, so that bounds that follow from it say little."""
    a = np.array([[-0.7, 0.4, 0.4, -1.1, -0.3, 1.0], [-1.2, 0.1, 0.9, 0.8, -0.5, 0.3], [-0.3, -1.9, 0.5, -0.2, -0.8, 0.1],
                  [-1.1, 0.7, 0.3, 1.1, -0.4, -0.1], [0.6, -0.9, 0.2, -0.6, 1.4, 0.9], [0.8, 0.2, -0.6, 0.4, 0.7, -0.2]])
    a = np.concatenate([a, [[-0.2, -0.4, 0.6, 0.2, 0.1, 1.2]]])
    b, c = np.array([-1.1, 1.5, -0.1, -0.1, 0.5, -0.4, 0.3]), a.sum(axis=0)

    def f(x):
        return (a[0] @ x - b[0]) * (a[1] @ x - b[1]) + c @ x
    given = {"constraints": lambda x: a @ x >= b, "integrality": [1] * 6, "atol": 1e-3}
    found = minimize(f, [(None, None)] * 6, time_limit=60, **given)
    assert found.verdict is Verdict.PROVED and np.abs(found.x).max() < 1000
    path = tmp_path / "run.inf"
    stopped = minimize(f, [(None, None)] * 6, checkpoint=path, max_boxes=found.nfev // 2, **given)
    again = infimum.resume(path, f, constraints=given["constraints"])
    assert stopped.lower <= found.lower and (again.lower, again.upper, again.nfev) == (found.lower, found.upper, found.nfev)


TERMS = [lambda x, a, i, j: a * np.sin(2 * x[i]), lambda x, a, i, j: a * np.cos(x[i] * x[j]),
         lambda x, a, i, j: abs(a) * np.exp(-x[i]), lambda x, a, i, j: a * np.tanh(x[i] - x[j]),
         lambda x, a, i, j: a / (1 + x[i]**2), lambda x, a, i, j: a * x[i],
         lambda x, a, i, j: abs(a) * abs(x[i] - x[j] + 1), lambda x, a, i, j: abs(a) * np.sqrt(1 + x[i]**2),
         lambda x, a, i, j: a * x[i] * np.cos(x[j]) * np.arctan(x[i]), lambda x, a, i, j: abs(a) * np.maximum(x[i], x[j])]


@settings(max_examples=100, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(1, 4), kinds=st.lists(st.sampled_from(range(len(TERMS))), max_size=3))
def test_it_is_below_sums_of_powers_and_other_functions(seed, n, kinds):
    rng = np.random.default_rng(seed)
    lines, shifts = rng.integers(-2, 3, (n + 1, n)) * 1.0, rng.integers(-3, 4, n + 1) * 1.0
    powers, weights = rng.choice([2, 2, 4], n + 1).tolist(), rng.choice([0.1, 1.0, 3.0], n + 1)
    terms = [(TERMS[k], float(rng.integers(1, 4)) * rng.choice([-1, 1]), *rng.integers(0, n, 2)) for k in kinds]

    def f(x):
        squares = sum(w * (line @ x - t)**k for w, line, t, k in zip(weights, lines, shifts, powers, strict=True))
        return squares + sum(term(x, a, i, j) for term, a, i, j in terms)
    evaluator = Case(f, [(lambda x: x[0], -np.inf, 1e9)], [(-np.inf, np.inf)] * n).evaluator()
    ends = np.full(n, -np.inf), np.full(n, np.inf)
    found = convex_below(evaluator.system, var("x", (n,)), *ends)
    assume(found is not None)
    x = rng.normal(size=(n, 3000)) * 2.0 ** rng.integers(-3, 7, 3000)
    with np.errstate(over="ignore"):
        values = f(x)
    below = Evaluator(found.f, n).value(x, x)
    assert (below.lo <= values + 1e-9 * (1 + np.abs(values))).all()
    low, high = by_growth(evaluator, *ends, np.zeros(n), 50.0)
    kept = x[:, values <= 50.0 * (1 - 1e-9)]
    assert ((low[:, None] <= kept) & (kept <= high[:, None])).all()


def test_quotients_beyond_doubles_are_eliminated():
    big, x, y = Fraction(10) ** 400, variable(0), variable(1)
    known = Elimination(lambda term: 1.0)
    assert known.add({x: big, y: Fraction(1)}) is None
    assert known.reduced({x: big}) == {y: Fraction(-1)}
