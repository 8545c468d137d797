"""Exactly one minimiser of functions of many variables: examples that hold, and those that must not be called so."""

from fractions import Fraction

import numpy as np
import pytest

import infimum
from infimum.certify.isolation import IsolatedMinimiser, IsolationFailure
from infimum.certify.isolation import isolate as isolate_dense
from infimum.certify.term_sums.term_hessians import TermSum
from infimum.certify.term_sums.term_sum_isolation import isolate
from tests.engine.second_order.structured_functions import FUNCTIONS, ackley, griewank, rastrigin, rosenbrock

N = 40


def near(f, sides, x, reach=0.05, n=N):
    lo, hi = (np.broadcast_to(np.asarray(end, dtype=float), n).copy() for end in sides)
    x = np.minimum(np.maximum(np.broadcast_to(np.asarray(x, dtype=float), n), lo), hi)
    return isolate(TermSum.of(infimum.compile(f, n)), lo, hi, x, (np.maximum(x - reach, lo), np.minimum(x + reach, hi)))


def holds(one, x):
    return bool(((one.lo <= x) & (x <= one.hi)).all())


WEIGHTS = np.linspace(0.5, 2.0, N)
PLACES = {  # function, bounds, near the minimiser, the minimiser
    "a bowl": (lambda x: np.sum(np.cosh(x - WEIGHTS)), (-3, 4), WEIGHTS + 0.01, WEIGHTS),
    "a valley": (rosenbrock, (-5, 10), 1.0001, 1.0),
    "a ring": (lambda x: np.sum((x - np.roll(x, 1)) ** 2) + np.sum((x**2 - 1) ** 2), (-3, 3), 0.9, 1.0),
    "a star": (lambda x: np.sum((x[1:] - x[0]) ** 2) + x[0] ** 2, (-3, 3.5), 0.2, 0.0),
    "a mean": (lambda x: np.sum((x - 0.5) ** 2) + (np.mean(x) - 0.5) ** 4, (-1, 1), 0.4, 0.5),
    "less a mean": (lambda x: np.sum((x - 0.5) ** 2) - 0.5 * np.sum(x - 0.5) ** 2 / N, (-1, 1), 0.4, 0.5),
    "a norm": (lambda x: np.sqrt(1 + np.sum((x - 1) ** 2)), (-3, 3), 0.99, 1.0),
    "a product": (griewank, (-600, 600), 1e-3, 0.0),
    "on a face": (lambda x: np.sum((x[1:] - x[:-1]) ** 2) + np.sum((x + 1) ** 2), (0, 1), 0.1, 0.0),
    "on some faces": (lambda x: np.sum((x - 2 * WEIGHTS) ** 2), (0, 2.01), np.minimum(2 * WEIGHTS, 2.01),
                      np.minimum(2 * WEIGHTS, 2.01)),
    "where derivatives vanish at bounds": (lambda x: np.sum(x**2) + x[0], (0, 1), 0.01, 0.0),
    "closer to a bound than doubles tell": (lambda x: np.sum(np.cosh(x - 1e-17)) + np.sum((x[1:] - x[:-1]) ** 2), (0, 1), 0.01,
                                            1e-17),
    "with fixed variables": (lambda x: np.sum((x[1:] - x[:-1] / 2) ** 2), (np.where(np.arange(N) == 0, 2, -4), np.where(
        np.arange(N) == 0, 2, 3)), 2.0 ** -np.arange(-1.0, N - 1), 2.0 ** -np.arange(-1.0, N - 1)),
    "without bounds": (lambda x: np.sum(np.cosh(x - 1)), (-np.inf, np.inf), 1.1, 1.0),
    "beside an undefined part": (lambda x: np.sum(x - np.log(x)), (-1, 3), 0.9, 1.0),
    "beside a kink": (lambda x: np.sum((x - 1) ** 2 + abs(x + 1) - x), (-3, 3), 0.9, 1.0),
}


@pytest.mark.parametrize("name", PLACES)
def test_exactly_one_minimiser(name):
    f, sides, start, x = PLACES[name]
    one = near(f, sides, start)
    assert isinstance(one, IsolatedMinimiser) and holds(one, np.broadcast_to(x, N))
    assert ((one.neighbourhood[0] <= one.lo) & (one.hi <= one.neighbourhood[1])).all()
    assert (one.hi - one.lo <= 1e-9 * np.maximum(1, np.abs(one.lo))).all()


@pytest.mark.parametrize(("f", "sides", "x", "why"), [
    (lambda x: np.sum(x**4), (-1, 1.5), 0.0, IsolationFailure.SINGULAR),
    (lambda x: np.sum((x[1:] - x[:-1]) ** 2), (-1, 1.5), 0.0, IsolationFailure.SINGULAR),
    (lambda x: (np.sum(x**2) - 1) ** 2, (-1, 1.5), N**-0.5, IsolationFailure.SINGULAR),
    (lambda x: np.sum(x**2) - np.sum(x) ** 2 / N, (-1, 1), 0.0, IsolationFailure.SINGULAR),
    (lambda x: -np.sum(x**2), (-1, 1), 0.0, IsolationFailure.SINGULAR),
    (lambda x: np.sum(x[1:] * x[:-1]), (-1, 1), 0.0, IsolationFailure.SINGULAR),
    (lambda x: np.sum(abs(x - 0.125)), (-1, 1.5), 0.125, IsolationFailure.NOT_SMOOTH),
    (lambda x: np.sum(abs(x) ** 1.5), (-1, 1.5), 0.0, IsolationFailure.NOT_SMOOTH),
    (lambda x: np.sum(np.maximum(x, 0) ** 2 + 3 * np.minimum(x, 0) ** 2), (-1, 1.5), 0.0, IsolationFailure.NOT_SMOOTH),
    (lambda x: np.linalg.norm(x), (-1, 1.5), 0.0, IsolationFailure.NOT_SMOOTH),
    (ackley, (-30, 32), 0.0, IsolationFailure.NOT_SMOOTH),
    (lambda x: np.sum(x**4), (0, 1), 0.0, IsolationFailure.SINGULAR),
    (lambda x: np.sum(np.sqrt(x)), (-1, 2), 0.0, IsolationFailure.NOT_SMOOTH)])
def test_what_cannot_be_told_ends_with_a_word(f, sides, x, why):
    """Singular Hessians, saddles, curves and surfaces of minimisers, kinks, edges, vanishing derivatives at bounds."""
    assert near(f, sides, x) is why


@pytest.mark.parametrize("name", FUNCTIONS)
def test_nothing_around_is_below_the_minimiser(name):
    rng, lo, hi = np.random.default_rng(3), np.full(N, -1.0), np.full(N, 1.2)
    evaluator = infimum.compile(FUNCTIONS[name], N)
    terms, seen = TermSum.of(evaluator), 0
    for start in (0.0, 0.7, 1.0, rng.uniform(0.2, 0.9, N)):
        x = np.broadcast_to(start, N).copy()
        one = isolate(terms, lo, hi, x, (np.maximum(x - 0.1, lo), np.minimum(x + 0.1, hi)))
        if isinstance(one, IsolationFailure):
            continue
        seen += 1
        low, high = one.neighbourhood
        points = rng.uniform(low[:, None], high[:, None], (N, 4))
        points = np.concatenate([points, np.clip(0.5 * one.lo + 0.5 * one.hi, low, high)[:, None]], axis=1)
        value, inner = evaluator.estimate(points), evaluator.mean_value(one.lo, one.hi).best
        assert (value >= inner.lo - 1e-9).all()
    assert seen or name in ("ackley", "quotient", "two terms", "terms with a mean", "ring", "band", "norm")


@pytest.mark.parametrize("name", FUNCTIONS)
def test_with_few_variables_both_ways_find_the_same_minimiser(name):
    n, both = 9, 0
    evaluator, lo, hi = infimum.compile(FUNCTIONS[name], n), np.full(n, -1.0), np.full(n, 1.2)
    for start in (0.0, 0.5, 0.99):
        x = np.full(n, start)
        reach = np.maximum(x - 0.1, lo), np.minimum(x + 0.1, hi)
        with np.errstate(all="ignore"):  # as in our environment
            one, other = isolate(TermSum.of(evaluator), lo, hi, x, reach), isolate_dense(evaluator, lo, hi, x, reach)
        if isinstance(one, IsolatedMinimiser) and isinstance(other, IsolatedMinimiser):
            meet = ((one.lo <= other.hi) & (other.lo <= one.hi)).all()
            apart = ((one.lo > other.neighbourhood[1]) | (one.hi < other.neighbourhood[0])).any()
            assert meet or apart
            both += bool(meet)
    assert both or name in ("ackley", "quotient", "two terms", "ring", "band", "norm")


def test_minimisers_that_are_no_doubles():
    """All variables are √2, or -√2 for all of them."""
    def f(x):
        return np.sum((x**2 - 2) ** 2) + np.sum((x[1:] - x[:-1]) ** 2)
    for sign in (1, -1):
        one = near(f, (-3, 4), sign * 1.4)
        assert isinstance(one, IsolatedMinimiser)
        for lo, hi in zip(one.lo, one.hi, strict=True):
            near_0, far = sorted((abs(Fraction(float(lo))), abs(Fraction(float(hi)))))
            assert near_0**2 < 2 < far**2 and far - near_0 < Fraction(1, 10**13) and lo * sign > 0
        assert not (one.neighbourhood[0] < 0).any() or sign < 0


@pytest.mark.parametrize("distance", (1e-1, 1e-3, 1e-5, 1e-7))
def test_two_minimisers_that_are_close_are_never_called_one(distance):
    def f(x):
        return (x[0] ** 2 - distance**2) ** 2 + np.sum((x[1:] - x[:-1]) ** 2)
    one = near(f, (-1, 1.5), distance * 1.1)
    assert isinstance(one, IsolationFailure) or one.neighbourhood[0].min() > -distance


def test_a_function_without_variables_that_move():
    one = near(lambda x: np.sum(x), (0, 1), 0.0)
    assert isinstance(one,
                      IsolatedMinimiser) and (one.lo == 0).all() and (one.hi == 0).all() and (one.neighbourhood[1] >= 0.05).all()


@pytest.mark.parametrize(("f", "n", "x"), [(rosenbrock, 10_000, 1.0), (rastrigin, 1000, 0.0),
                                           (lambda x: np.sum(x**2), 100_000, 0.0)])
def test_thousands_of_variables(f, n, x):
    one = near(f, (-5, 10), x, reach=5e-4, n=n)
    assert isinstance(one, IsolatedMinimiser) and holds(one, np.full(n, x)) and (one.neighbourhood[1]
                                                                                 - one.neighbourhood[0] >= 9e-4).all()


# ---- the whole way
@pytest.mark.parametrize(("f", "n", "sides", "x"), [(rosenbrock, 40, (-5, 10), 1), (rastrigin, 100, (-5.12, 5.12), 0), (
    griewank, 50, (-600, 601), 0), (lambda x: np.sum((x + 1) ** 2 * np.arange(1, len(x) + 1)), 1000, (0, 5), 0)])
def test_results_say_that_there_is_exactly_one(f, n, sides, x):
    r = infimum.minimize(f, [sides] * n, xtol=1e-3)
    assert r.success and r.minimisers.exactly_one and holds(r.minimisers[0], np.full(n, x)) and "exactly one" in str(r)
    assert (r.minimisers[0].hi - r.minimisers[0].lo < 1e-9).all() and r.regions.count == 1


def test_several_minimisers_are_listed():
    """Dixon and Price's function has two global minimisers, which differ in the sign of the last variable."""
    def f(x):
        return (x[0] - 1) ** 2 + np.sum(np.arange(2, len(x) + 1) * (2 * x[1:] ** 2 - x[:-1]) ** 2)
    r = infimum.minimize(f, [(-10, 10)] * 40, xtol=1e-3)
    assert len(r.minimisers.may_be_global) == 2 and r.minimisers.rest == 0 and not r.minimisers.exactly_one
    assert r.success and r.regions.count == 2 and r.regions.width < 1e-9, "slices that touch have become one region each"


def test_slices_stay_where_second_order_says_nothing():
    """x**4 is singular at its minimiser: its slices touch, and none of them goes."""
    r = infimum.minimize(lambda x: np.sum((x - 0.3) ** 4) + np.sum((x[1:] - x[:-1]) ** 2), [(-1, 2)] * 40, xtol=1e-2)
    assert r.success and r.regions.width <= 1e-2 and np.full(40, 0.3) in r.regions and not r.minimisers.exactly_one


def test_ackley_says_why_not():
    r = infimum.minimize(ackley, [(-30, 32)] * 100, xtol=1e-3)
    assert r.success and not r.minimisers.exactly_one and r.minimisers.why == IsolationFailure.NOT_SMOOTH.value
