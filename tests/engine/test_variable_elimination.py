"""Whole variables, eliminated one after the other: the least value of polynomials, against all points in rational numbers."""

import itertools
import time
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import infimum
from infimum.bounds.variable_elimination import VariableElimination
from infimum.expr.build import build, concat, index
from infimum.expr.node import Expr, const, var
from infimum.problem.system import System
from infimum.search.policy.bounds import VARIABLE_ELIMINATION as POLICY

Form = list[tuple[float, dict[int, int]]]  # coefficients, and the powers of variables

EXACT = [*map(float, range(-9, 10)), 0.5, -0.75]
NUMBERS = st.one_of(st.sampled_from(EXACT), st.sampled_from([0.1, -0.3, 1e-9, 3e12, -2.0**-40, 1 / 3, 1e-30, -7e20]))


@st.composite
def forms(draw, n: int, most: int) -> Form:
    powers = st.dictionaries(st.integers(0, n - 1), st.integers(1, 3), min_size=0, max_size=3)
    return draw(st.lists(st.tuples(NUMBERS, powers), min_size=1, max_size=most))


@st.composite
def problems(draw):
    n = draw(st.integers(1, 5))
    lo = draw(st.lists(st.integers(-4, 3), min_size=n, max_size=n))
    box = [(a, a + draw(st.integers(0, 3))) for a in lo]
    rows = []
    for _ in range(draw(st.integers(0, 3))):
        form, end = draw(forms(n, 3)), draw(st.integers(-20, 20)) / draw(st.sampled_from([1, 2, 10]))
        rows.append((form, *draw(st.sampled_from([(end, np.inf), (-np.inf, end), (end, end), (end, end + 7)]))))
    return box, draw(forms(n, 8)), rows


def expression(form: Form, x: Expr) -> Expr:
    total = const(0.0)
    for c, powers in form:
        term = const(c)
        for v, p in powers.items():
            for _ in range(p):
                term = build("mul", term, index(x, v))
        total = build("add", total, term)
    return total


def value(form: Form, point: tuple[int, ...]) -> Fraction:
    total = Fraction(0)
    for c, powers in form:
        term = Fraction(c)
        for v, p in powers.items():
            term *= point[v] ** p
        total += term
    return total


def system(box, f: Form, rows) -> tuple[System, np.ndarray, np.ndarray]:
    x = var("x", (len(box),))
    bodies = (concat([build("reshape", expression(form, x), shape=(1,)) for form, _, _ in rows]),) if rows else ()
    lower, upper = (np.array([row[k] for row in rows]) for k in (1, 2))
    lo, hi = np.array(box, float).T
    return System(expression(f, x), bodies, lower, upper, tuple(range(len(box)))), lo, hi


def feasible(box, rows):
    for point in itertools.product(*(range(a, b + 1) for a, b in box)):
        if all(lower <= value(form, point) <= upper for form, lower, upper in rows):
            yield point


@given(problems())
def test_against_all_points(drawn):
    box, f, rows = drawn
    elimination = VariableElimination.of(*system(*drawn))
    exact = all(c in EXACT for form in (f, *(row[0] for row in rows)) for c, _ in form)
    if elimination is None:  # numbers that are too large for tables
        assert not exact
        return
    found, values = elimination.minimum(), {point: value(f, point) for point in feasible(box, rows)}
    if found is None:
        assert not values
        return
    least = min(values.values(), default=None)
    if least is not None:
        assert found.lower <= least
    if exact and all(any(powers for _, powers in form) for form, _, _ in rows):
        assert (tuple(map(int, found.x)), least) in values.items() and found.lower == least


@pytest.mark.parametrize("c", [-0.3, 0.3])
@pytest.mark.parametrize("y", [-4, 4])
@pytest.mark.parametrize("side", [-1, 1])
def test_rounded_constraints_keep_the_points_on_their_ends(c: float, y: int, side: int):
    """Terms so different in size that the small one is rounded to multiples of the unit: 0 is feasible, both ends are tight."""
    ends = (-np.inf, c * y) if side < 0 else (c * y, np.inf)
    found = VariableElimination.of(*system([(-4, 4), (y, y)], [(1.0, {0: 2})], [([(3e12, {0: 1}), (c, {1: 1})], *ends)]))
    assert found is not None and found.minimum().lower == 0


def random_problem(r: np.random.Generator, n: int):
    """A polynomial of neighbours in a band, in a function that NumPy calls."""
    first = np.repeat(np.arange(n - 1), 3)
    terms = [(int(r.integers(-9, 10)), *(int(v) for v in r.integers(0, min(4, n - k), 2) + k)) for k in first]
    return lambda x: sum(c * x[i] * x[j] ** 2 for c, i, j in terms), terms


@pytest.mark.parametrize("seed", range(6))
def test_solves_what_can_be_eliminated(seed: int):
    r = np.random.default_rng(seed)
    n = int(r.integers(4, 8))
    fun, terms = random_problem(r, n)
    box = [(int(a), int(a) + 2) for a in r.integers(-2, 1, n)]
    total = int(r.integers(-2, 3))
    found = infimum.minimize(fun, box, integrality=1, constraints=lambda x: x[0] + x[1] >= total, progress=False)
    points = [p for p in itertools.product(*(range(a, b + 1) for a, b in box)) if p[0] + p[1] >= total]
    least = min((fun(p) for p in points), default=None)
    if least is None:
        assert found.verdict.name == "INFEASIBLE"
        return
    assert found.verdict.name == "PROVED" and found.lower <= least <= found.upper and found.nit == 0
    assert any("eliminated" in sentence for sentence in found.presolve)


def test_a_contradiction_of_constraints_is_seen():
    found = infimum.minimize(lambda x: x[0] * x[1], [(0, 5)] * 3, integrality=1, progress=False, constraints=lambda x: [
        x[0] * x[1] + x[2] >= 25, x[1] * x[2] + x[0] <= 20, x[0] * x[2] >= 12, x[0] ** 2 + x[2] ** 2 <= 18, x[1] == 4])
    assert found.verdict.name == "INFEASIBLE"


@pytest.mark.parametrize("purpose", ["several solutions", "narrow regions", "maximum", "start boxes"])
def test_other_questions(purpose: str):
    """All points are wanted, not one."""
    terms = [(0, 1, 3), (1, 2, -4), (2, 3, 2), (3, 4, -1), (4, 5, 5), (5, 6, -2), (1, 3, 1)]

    def fun(x):
        return sum(c * x[i] * x[j] for i, j, c in terms)
    box, settings = [(-1, 2)] * 7, {"integrality": 1, "progress": False}
    points = sorted((fun(p), p) for p in itertools.product(range(-1, 3), repeat=7))
    if purpose == "maximum":
        found = infimum.maximize(fun, box, **settings)
        assert found.lower <= points[-1][0] <= found.upper and found.success
    elif purpose == "several solutions":
        found = infimum.minimize(fun, box, solutions=5, **settings)
        assert [s.fun for s in found.solutions] == [v for v, _ in points[:5]]
    elif purpose == "narrow regions":
        found = infimum.minimize(fun, box, xtol=1e-3, **settings)
        least = [p for v, p in points if v == points[0][0]]
        assert all(any((lo <= p).all() and (p <= hi).all() for lo, hi in found.boxes) for p in np.array(least))
    else:
        found = infimum.minimize(fun, box, start_boxes=[[(1, 2)] * 7, [(-1, 0)] * 7], **settings)
        inside = [v for v, p in points if min(p) >= 1 or max(p) <= 0]
        assert found.lower <= min(inside) <= found.upper


def test_nothing_where_tables_would_be_large():
    """All variables are neighbours of all others."""
    n = 30
    x = var("x", (n,))
    square = build("powi", build("sum", x, axes=(0,)), k=2)
    dense = System(square, (), np.zeros(0), np.zeros(0), tuple(range(n)))
    assert 2**n > POLICY.most_cells and VariableElimination.of(dense, np.zeros(n), np.ones(n)) is None
    assert VariableElimination.of(dense, np.zeros(n), np.ones(n) * (np.arange(n) < 8)) is not None


def test_a_row_of_all_variables_is_given_up_at_once():
    """Neighbours of a row of many variables would be a table of all pairs."""
    n = 20_000
    x = var("x", (n,))
    total = build("sum", x, axes=(0,))
    large = System(total, (build("reshape", total, shape=(1,)),), np.zeros(1), np.ones(1), tuple(range(n)))
    begin = time.perf_counter()
    assert VariableElimination.of(large, np.zeros(n), np.ones(n)) is None
    assert time.perf_counter() - begin < 5


def test_tables_obey_the_memory_limit():
    settings = {"integrality": 1, "progress": False}
    terms = [(i, j, (i * j) % 7 - 3) for i in range(14) for j in range(i + 1, min(14, i + 9))]

    def fun(x):
        return sum(c * x[i] * x[j] for i, j, c in terms)
    enough, small = (infimum.minimize(fun, [(0, 2)] * 14, memory_limit=limit, **settings) for limit in (8e9, 2e5))
    assert enough.nit == 0 and any("eliminated" in sentence for sentence in enough.presolve)
    assert not any("eliminated" in sentence for sentence in small.presolve)
    assert small.lower <= enough.fun <= small.upper


def test_long_elimination_is_stopped_in_time():
    """A band so wide that tables have a million elements."""
    n, width = 40, 20
    r = np.random.default_rng(0)
    terms = [(i, i + d, int(r.integers(-9, 10))) for i in range(n) for d in range(1, width) if i + d < n]
    found = infimum.minimize(lambda x: sum(c * x[i] * x[j] for i, j, c in terms), [(0, 1)] * n, integrality=1, time_limit=0.3,
                             progress=False)
    assert found.seconds < 3 and found.lower <= found.upper
