"""Bounds of variables from the growth of polynomials (`bounds/infinite_ends/growth_bounds.py`), and entropies near 0."""

from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import infimum
from infimum import Constraint, Verdict, minimize
from infimum.bounds.infinite_ends import growth_bounds
from infimum.bounds.infinite_ends.growth_bounds import with_growth_bounds
from infimum.problem.settings import Goal
from infimum.search.incumbent import Incumbent
from infimum.search.root_box import RootBox
from infimum.support.clock import RunTimeOver
from tests.engine.constrained_systems import Case


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6), degree=st.integers(1, 5), sign=st.sampled_from([1, -1]))
def test_roots_lie_within(seed, degree, sign):
    """Of a polynomial equation in x0 whose coefficients depend on x1: its real roots, for several x1."""
    rng = np.random.default_rng(seed)
    c, d = rng.integers(-5, 6, degree + 1).astype(float), rng.integers(-2, 3, degree + 1).astype(float)

    def row(x):
        return sum((c[k] + d[k] * x[1]) * x[0]**k for k in range(degree + 1))
    lo, hi = np.array([-np.inf, -1.0]), np.array([np.inf, 2.0])
    system = Case(lambda x: x[0], [(row, 0.0, 0.0)], list(zip(lo, hi, strict=True))).evaluator().system
    low, high = with_growth_bounds(system, lo, hi, np.inf)
    for y in np.linspace(-1, 2, 13):
        roots = np.roots((c + d * y)[::-1]) if np.abs(c + d * y).max() > 0 else np.array([1e9])
        real = roots[np.abs(roots.imag) < 1e-9].real
        assert (real >= low[0] - 1e-6 * np.abs(real)).all() and (real <= high[0] + 1e-6 * np.abs(real)).all()


def test_what_has_no_bound_gets_none():
    cases = [(lambda x: x[0] * x[1], 1.0, 1.0), (lambda x: x[0]**3 + x[0]**2 * x[1]**3, -np.inf, 4.0),
             (lambda x: x[0] * np.sin(x[1]) + x[1]**2, 0.0, 4.0), (lambda x: x[0]**2 + x[1] * np.log(x[1]**2), 0.0, 4.0)]
    for case in cases:
        system = Case(lambda x: x[0], [case], [(-np.inf, np.inf), (-np.inf, np.inf)]).evaluator().system
        low, high = with_growth_bounds(system, np.full(2, -np.inf), np.full(2, np.inf), np.inf)
        assert np.isinf([low, high]).all()


class Polynomial(NamedTuple):
    """Of variables without bounds, the first ones, whose largest powers alone have these degrees, and of one more between -1 and
    2. Each term is a number, the powers of the first ones, and the power of the last one."""

    degrees: list[int]
    terms: list[tuple[float, tuple[int, ...], int]]

    def __call__(self, x):
        return sum(c * np.prod([x[j] ** k for j, k in enumerate(powers) if k], initial=1.0) * x[len(powers)] ** last
                   for c, powers, last in self.terms)

    def values(self, x: np.ndarray) -> np.ndarray:
        return sum(c * np.prod(x[:-1] ** np.array(powers)[:, None], axis=0) * x[-1] ** last for c, powers, last in self.terms)

    def points(self, rng: np.random.Generator, signs: np.ndarray) -> np.ndarray:
        """On rays of the scale in which all largest powers grow alike, of either sign where `signs` is 0."""
        n, third, steps = len(self.degrees), 40, 2.0 ** np.arange(-4, 14, 0.25)
        part = np.concatenate([np.ones((n, third)), rng.choice([0.0, 1.0], (n, third)), rng.random((n, third))], axis=1)
        sizes = (part[:, :, None] * steps) ** (1 / np.array(self.degrees)[:, None, None])
        chosen = np.where(signs[:, None] == 0, rng.choice([-1.0, 1.0], part.shape), signs[:, None])
        last = np.broadcast_to(rng.choice([-1.0, 0.0, 1.0, 2.0], (1, 3 * third, 1)), (1, 3 * third, len(steps)))
        return np.concatenate([sizes * chosen[:, :, None], last]).reshape(n + 1, -1)


def _polynomial(rng: np.random.Generator, n: int, signs: np.ndarray) -> Polynomial:
    """Largest powers outweigh all others, as a rule."""
    degrees = [int(rng.choice([2, 4] if sign == 0 else [1, 2, 3])) for sign in signs]
    terms = []
    for i, degree in enumerate(degrees):
        alone = tuple(degree if j == i else 0 for j in range(n))
        terms.append((float(rng.choice([1.0, 2.0, 3.0])) * signs[i] ** (degree % 2), alone, 0))
        if rng.random() < 0.3:
            terms.append((float(rng.choice([-0.25, 0.25])), alone, 1))
    for _ in range(rng.integers(1, 4)):
        powers = tuple(int(rng.integers(0, degree + 1)) for degree in degrees)
        share = sum(power / degree for power, degree in zip(powers, degrees, strict=True))
        if 0 < share <= rng.choice([1.0, 1.0, 2.0]) and max(p / d for p, d in zip(powers, degrees, strict=True)) < 1:
            terms.append((float(rng.choice([-1.5, -1.0, 1.5])) * (1 if share >= 1 else 4), powers, int(rng.integers(0, 2))))
    return Polynomial(degrees, terms)


@settings(max_examples=80, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(2, 3), end=st.sampled_from([0.0, 1.0, 100.0]), flipped=st.booleans())
def test_joint_bounds_hold_all_points(seed, n, end, flipped):
    rng = np.random.default_rng(seed)
    signs = rng.choice([0.0, 0.0, 1.0, -1.0], n)
    p = _polynomial(rng, n, signs)
    lo, hi = (np.append(np.where(signs == sign, 0.0, -sign * np.inf), y) for sign, y in ((1, -1.0), (-1, 2.0)))
    row = (lambda x: -p(x), -end, np.inf) if flipped else (p, -np.inf, end)
    low, high = with_growth_bounds(Case(lambda x: x[0], [row], list(zip(lo, hi, strict=True))).evaluator().system, lo, hi, np.inf)
    x = p.points(rng, signs)
    x = x[:, p.values(x) <= end - 1e-9 * (1 + end)]
    assert ((low[:, None] <= x) & (x <= high[:, None])).all()


@pytest.mark.parametrize("f, upper, reach", [
    (lambda x: x[0]**2 + x[1]**2 - 1.5 * x[0] * x[1], 1.0, [2.0, 2.0]),              # 1 - 0.75 is left of either coefficient
    (lambda x: x[0]**2 + x[1]**2 - 10 * x[0] - 10 * x[1], 0.0, [20.0, 20.0]),
    (lambda x: x[0]**4 + 16 * x[1]**2 - x[0], 0.0, [1.0, 0.25]),
    (lambda x: x[0]**4 + x[1]**2 - 2 * x[0]**3 - 2 * x[1], 0.0, [3.0, 9.0]),         # k**4 - 2 k**3 - 2 k**2 > 0 beyond 2.74
])
def test_joint_bounds_are_near(f, upper, reach):
    system = Case(lambda x: x[0], [(f, -np.inf, upper)], [(-np.inf, np.inf)] * 2).evaluator().system
    low, high = with_growth_bounds(system, np.full(2, -np.inf), np.full(2, np.inf), np.inf)
    assert (-low == high).all() and (high >= np.array(reach) * 0.8).all() and (high <= np.array(reach) * 1.02).all()


def test_an_order_in_which_each_row_waits_for_the_next_one(monkeypatch):
    """Rows are looked at where all other variables have bounds, so that many of them take little time; and no longer than the
    run may take."""
    n, calls, reach = 40, [], growth_bounds._reach
    rows = [(lambda x: x[n - 1]**2, -np.inf, 1.0), *((lambda x, i=i: x[i]**2 - x[i + 1], -np.inf, 1.0) for i in range(n - 1))]
    system = Case(lambda x: x[0], rows, [(-np.inf, np.inf)] * n).evaluator().system
    monkeypatch.setattr(growth_bounds, "_reach", lambda *given: calls.append(given) or reach(*given))
    low, high = with_growth_bounds(system, np.full(n, -np.inf), np.full(n, np.inf), np.inf)
    assert (-2 < low).all() and (high < 2).all() and len(calls) <= 4 * n

    def over():
        raise RunTimeOver
    monkeypatch.setattr(growth_bounds, "stop_if_over", over)
    with pytest.raises(RunTimeOver):
        with_growth_bounds(system, np.full(n, -np.inf), np.full(n, np.inf), np.inf)


def test_degrees_without_a_small_common_multiple_are_left_alone():
    """In one number the polynomial would have a degree of thousands, whose coefficients are too long to compute with."""
    def power(x, k):
        return x**8 * (x**(k - 8) + 1)

    def row(x):
        return power(x[0], 16) + power(x[1], 15) + power(x[2], 14) + power(x[3], 11) - x[0] * x[1]
    system = Case(lambda x: x[0], [(row, -np.inf, 1.0)], [(-np.inf, np.inf)] + [(0, np.inf)] * 3).evaluator().system
    lo, hi = np.array([-np.inf, 0, 0, 0]), np.full(4, np.inf)
    assert np.isinf(with_growth_bounds(system, lo, hi, np.inf)[1]).all()


ENCLOSED = [lambda x: 3 * np.sin(x[0] * x[1]), lambda x: np.exp(x[0] - x[1]), lambda x: (x[0] * np.exp(x[1]) - 2)**2,
            lambda x: np.cos(x[1]) * x[0] / 8, lambda x: -np.tanh(x[0]) * x[-1], lambda x: abs(x[0] - x[1]),
            lambda x: -2 / (1 + x[0]**2), lambda x: np.sqrt(x[0]**2 + np.cos(x[1])**2)]


@settings(max_examples=80, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(2, 3), flipped=st.booleans(),
       kinds=st.sets(st.sampled_from(range(len(ENCLOSED))), min_size=1, max_size=3))
def test_bounds_hold_beside_other_functions(seed, n, flipped, kinds):
    rng, end = np.random.default_rng(seed), 5.0
    signs = rng.choice([0.0, 0.0, 1.0, -1.0], n)
    p = _polynomial(rng, n, signs)
    lo, hi = (np.append(np.where(signs == sign, 0.0, -sign * np.inf), y) for sign, y in ((1, -1.0), (-1, 2.0)))

    def row(x):
        return p(x) + sum(ENCLOSED[k](x) for k in kinds)
    ends = (lambda x: -row(x), -end, np.inf) if flipped else (row, -np.inf, end)
    system = Case(lambda x: x[0], [ends], list(zip(lo, hi, strict=True))).evaluator().system
    low, high = with_growth_bounds(system, lo, hi, np.inf)
    x = p.points(rng, signs)
    with np.errstate(over="ignore", invalid="ignore"):  # 0 times an exponential that overflows: no point
        x = x[:, p.values(x) + sum(ENCLOSED[k](x) for k in kinds) <= end - 1e-6]
    assert ((low[:, None] <= x) & (x <= high[:, None])).all()


@pytest.mark.parametrize("f, upper, reach", [
    (lambda x: 10 * np.sin(x[0]) + x[0]**2 + np.cos(x[0] * x[1]) + x[1]**2, 0.0, [11**.5, 11**.5]),
    (lambda x: (x[0] * np.exp(-x[1]) - 2)**2 + 0.25 * x[0]**2 + x[1]**2, 1.0, [2.0, 1.0]),  # multiplied out it has no bound
    (lambda x: x[0]**2 + x[0] * np.cos(x[1]) + x[1]**2 + abs(x[1]), 2.0, [2.0, 2.0]),
])
def test_what_is_enclosed_is_no_obstacle(f, upper, reach):
    system = infimum.problem.system.System(infimum.compile(f, 2).f, (), np.zeros(0), np.zeros(0))
    low, high = with_growth_bounds(system, np.full(2, -np.inf), np.full(2, np.inf), upper)
    assert (np.array(reach) * 0.99 <= high).all() and (high <= np.array(reach) * 1.1).all() and (-low == high).all()


@pytest.mark.parametrize("f, minimum", [
    (lambda x: 10 * np.sin(x[0]) + x[0]**2 + np.cos(x[0] * x[1]) + x[1]**2, -6.94582338),
    (lambda x: sum((x[0] * np.exp(-x[1] * t) - y)**2 for t, y in enumerate([2.0, 1.2, 0.8, 0.5]))
     + 0.01 * (x[0]**2 + x[1]**2), 0.04388931),
    (lambda x: x[0] * np.log(x[0]) + x[1] * np.log(x[1]) - x[0], -1 - np.exp(-1)),
])
@pytest.mark.parametrize("constraints", [(), lambda x: x[0] + x[1] >= -9])
def test_users_who_give_no_bounds(f, minimum, constraints):
    r = infimum.minimize(f, [(-np.inf, np.inf)] * 2, constraints=constraints, atol=1e-6, time_limit=20)
    assert r.verdict is Verdict.PROVED and r.lower <= minimum + 1e-7 and r.upper >= minimum - 1e-7


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(2, 3), scale=st.sampled_from([1.0, 1e-20, 1e20]))
def test_the_box_is_closed_around_all_lower_points(seed, n, scale):
    rng = np.random.default_rng(seed)
    signs = rng.choice([0.0, 0.0, 1.0, -1.0], n)
    p = _polynomial(rng, n, signs)
    lo, hi = (np.append(np.where(signs == sign, 0.0, -sign * np.inf), y) for sign, y in ((1, -1.0), (-1, 2.0)))
    evaluator = infimum.compile(lambda x: scale * p(x), n + 1)
    incumbent = Incumbent(evaluator, lo, hi)
    root = RootBox(evaluator, Goal(), incumbent)
    root.close()
    assert np.isinf(root.box).any() and not root.empty  # nothing is known of f yet
    x = p.points(rng, signs)
    incumbent.offer(x[:, rng.integers(0, x.shape[1], 3)])
    root.close()
    lower = x[:, scale * p.values(x) <= incumbent.upper - 1e-9 * abs(incumbent.upper)]
    assert ((root.box[0] <= lower) & (lower <= root.box[1])).all()
    assert (root.box[0] <= incumbent.x[:, None]).all() and (incumbent.x[:, None] <= root.box[1]).all()
    later = RootBox(evaluator, Goal(), incumbent)
    later.restore(root.state())
    later.close()
    assert np.array_equal(later.box, root.box)


@pytest.mark.parametrize("row, bounds", [
    (lambda x: x[0]**3 - x[0]**2 * x[1], [(5, np.inf), (0, 1)]),
    (lambda x: x[0]**4 + x[1]**2 - x[0]**2 * x[1], [(5, np.inf), (-np.inf, np.inf)]),
])
def test_bounds_that_leave_nothing_prove_that_no_point_is_feasible(row, bounds):
    r = minimize(lambda x: x[0] + x[1], bounds, constraints=[Constraint(row, ub=10)], max_boxes=10_000, time_limit=20)
    assert r.verdict is Verdict.INFEASIBLE


def test_an_equation_of_state():
    """A cubic equation whose coefficients depend on bounded variables: its unknown has no bounds."""
    r = minimize(lambda x: x[0] - np.log(x[0] - x[1]), [(0, np.inf), (0.1, 0.4)], time_limit=20,
                 constraints=[Constraint(lambda x: x[0]**3 - x[0]**2 + (0.5 - x[1]) * x[0] - 0.2 * x[1], 0, 0)])
    grid = np.linspace(0.1, 0.4, 4001)
    values = [x.real - np.log(x.real - y) for y in grid for x in np.roots([1, -1, 0.5 - y, -0.2 * y])
              if abs(x.imag) < 1e-12 and x.real > y]
    assert r.verdict is Verdict.PROVED and r.lower <= min(values) + 1e-9 and r.upper >= min(values) - 1e-3


@pytest.mark.parametrize("f", [
    lambda x: np.sum(x * np.log(x)),
    lambda x: x[0] * np.log(x[0] / (x[0] + x[1])) + x[1] * np.log(x[1] / (x[0] + x[1])),
    lambda x: 2 * x[0] * np.log(x[0]) + np.log(x[1]) * x[1],
])
def test_entropies_are_bounded_near_0(f):
    r = minimize(f, [(0, 1)] * 2, constraints=[Constraint(lambda x: x[0] + x[1], 1, 1)], time_limit=20)
    x = np.linspace(1e-9, 1 - 1e-9, 100001)
    best = min(f(np.array([a, 1 - a])) for a in x[::50])
    assert r.verdict is Verdict.PROVED and r.lower <= best and r.upper >= best - 1e-4


def test_a_minimum_that_is_not_attained_at_the_edge():
    """x log x is not defined at 0: values approach the infimum, and no point at 0 is claimed."""
    r = minimize(lambda x: x[0] - x[0] * np.log(x[0]) + x[1]**2, [(0, 0.3), (-1, 1)],
                 constraints=[Constraint(lambda x: x[0] + x[1], lb=-2)], time_limit=10)
    assert r.lower <= 0 and r.x is not None and r.x[0] > 0 and r.upper > 0


@pytest.mark.parametrize("constraints", [(), lambda x: x[0] + x[1] <= 50])
def test_what_was_closed_is_said(constraints, tmp_path):
    """With constraints and without, also by a run that continues."""
    def f(x):
        return x[0] ** 4 - 3 * x[0] ** 3 + x[1] ** 2 - x[0] * x[1]
    given, path = {"constraints": constraints, "seed": 1}, tmp_path / "run.inf"
    found = infimum.minimize(f, [(-np.inf, np.inf)] * 2, **given)
    assert found.presolve == ("4 of 4 infinite bounds replaced by finite ones that follow",)
    infimum.minimize(f, [(-np.inf, np.inf)] * 2, checkpoint=path, max_boxes=600, **given)
    assert infimum.resume(path, f, constraints=constraints).presolve == found.presolve
    assert infimum.minimize(f, [(-np.inf, 5), (-5, 5)], **given).presolve == (
        "1 of 1 infinite bound replaced by finite ones that follow",)
    assert infimum.minimize(f, [(-5, 5)] * 2, **given).presolve == ()
