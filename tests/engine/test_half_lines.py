"""Whole numbers without bounds: half lines in the search, at every entrance, and none of them lost or claimed."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import infimum
from infimum import Verdict
from infimum.backend.cpu import CpuBackend
from infimum.evaluation.programs import PROPAGATE
from infimum.kernel.region_cut import DISCARDED_AXIS, rows
from infimum.problem.system import System
from infimum.search.region_pool import Regions

INF, MOST, FAR = np.inf, np.finfo(float).max, 2.0**53
FREE, UP, DOWN = (None, None), (-3, None), (None, 3)
HERE = {"threads": 1, "device": "cpu", "time_limit": 20.0}


# ---- cuts
def whole_system() -> infimum.Evaluator:
    """A whole number and a real one, of which nothing is known: what comes out are the pieces."""
    f = infimum.compile(lambda x: np.sum(np.floor(x)) * 0.0, 2, backend=CpuBackend(threads=1))
    return f.rewritten(f.f, System(f.f, (), np.empty(0), np.empty(0), (0,)), f.fun)


EVALUATOR = whole_system()


def pieces_of(lo: float, hi: float, count: int) -> list[tuple[float, float]]:
    """Of a region, which is cut in its whole number."""
    columns = Regions(np.array([[lo], [0.0]]), np.array([[hi], [1.0]]), np.array([-INF]), np.zeros(1, np.int32),
                      np.zeros(1, np.int8)).columns()
    found = []
    for k in range(count):
        given = np.concatenate([[-INF, 0.0, INF, 1.0], np.arange(2.0), [k, k / count, (k + 1) / count], [0.0, INF]])
        left, = EVALUATOR.run(PROPAGATE, [columns], parameters=given)
        if left[rows(2)[1], 0] != DISCARDED_AXIS:
            found.append((left[0, 0], left[2, 0]))
    return found


whole_ends = st.one_of(st.integers(-20, 20), st.integers(-2**54, 2**54), st.floats(-MOST, MOST),
                       st.sampled_from([MOST, -MOST, 2.0**1000, FAR, -FAR, FAR + 2])).map(lambda v: float(np.rint(float(v))))


@settings(max_examples=400)
@given(whole_ends, whole_ends, st.booleans(), st.booleans(), st.integers(1, 5), st.integers(0, 2**60))
def test_each_whole_number_is_in_one_piece(one, other, no_low, no_high, count, offset):
    """As long as it is below 2**53, and beyond in one or two."""
    lo, hi = (-INF if no_low else min(one, other)), (INF if no_high else max(one, other))
    assume(lo < hi)
    found = pieces_of(lo, hi, count)
    assert found[0][0] == lo and found[-1][1] == hi and all(a <= b for a, b in found)
    for (_, before), (after, _) in itertools.pairwise(found):
        assert (after == before + 1 and abs(after) <= FAR) or (after == before and abs(after) >= FAR)
    least, most = (math.ceil(max(lo, -MOST)), math.floor(min(hi, MOST)))
    for number in {least, most, min(least + offset, most), max(most - offset, least), max(least, min(most, 0))}:
        holding = sum(a <= number <= b for a, b in found)
        assert holding == 1 or (holding == 2 and abs(number) >= FAR)


def test_a_half_line_is_cut_doubling_outward():
    lo, cuts = 0.0, 0
    while True:
        found = pieces_of(lo, INF, 2)
        if len(found) == 1 or found[1][0] <= lo:
            break
        assert found[0][0] == lo and found[1][1] == INF and (lo < 2 or found[0][1] == min(2 * Fraction(lo), Fraction(MOST)))
        lo, cuts = found[1][0], cuts + 1
    assert lo == MOST and cuts < 1100
    assert pieces_of(-INF, INF, 2) == [(-INF, 0.0), (1.0, INF)] and pieces_of(-INF, -1.0, 2) == [(-INF, -2.0), (-1.0, -1.0)]
    assert pieces_of(0.0, 2.0, 2) == [(0.0, 1.0), (2.0, 2.0)]


# ---- known minima
def quadratic(seed: int):
    """A convex quadratic with cross terms; its values at whole points, exactly; a point near the least, and how far from it
    lower values may be."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 4))
    root = rng.integers(-2, 3, (n, n)) + 2 * np.eye(n, dtype=int)
    matrix, middle = root.T @ root + np.eye(n, dtype=int), rng.integers(-40, 41, n) / 8

    def f(x):
        return (x - middle) @ matrix @ (x - middle)

    def exact(x):
        d = [Fraction(int(v)) - Fraction(m) for v, m in zip(x, middle, strict=True)]
        return sum(int(matrix[i, j]) * d[i] * d[j] for i in range(n) for j in range(n))
    near = np.rint(middle).astype(int)
    reach = int(np.ceil(np.sqrt(float(exact(near))))) + 1  # matrix - I is positive semidefinite
    return f, exact, near, reach


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("kind", [FREE, UP, DOWN], ids=["free", "up", "down"])
def test_convex_quadratics(seed, kind):
    """Where the search cannot close a half line, nothing is claimed."""
    f, exact, near, reach = quadratic(seed)
    low, high = (-10**9 if kind[0] is None else kind[0]), (10**9 if kind[1] is None else kind[1])
    start = [max(low, min(high, int(v))) for v in near]
    reach = max(reach, int(np.ceil(np.sqrt(float(exact(start))))) + 1)
    grid = np.array(list(itertools.product(*(range(max(low, v - reach), min(high, v + reach) + 1) for v in near))), float).T
    values = np.array([float(f(x)) for x in grid.T])  # exact but for the last digits
    best = min(exact(x) for x in grid.T[values <= values.min() + 1e-6])
    r = infimum.minimize(f, [kind] * len(near), integrality=1, max_boxes=20_000)
    assert r.verdict is Verdict.PROVED or (len(near) > 1 and r.verdict is not Verdict.INFEASIBLE)
    assert r.lower <= best <= Fraction(r.upper) and exact(r.x) <= Fraction(r.upper) and (r.x == np.rint(r.x)).all()
    for x in grid.T[values <= values.min() + 1e-9]:
        assert exact(x) > best or any(((lo <= x) & (x <= hi)).all() for lo, hi in r.boxes)


def test_maximise():
    r = infimum.maximize(lambda x: 7 - (x[0] - 2.6) ** 2 - abs(x[1]), [(None, None)] * 2, integrality=[1, 1], **HERE)
    assert r.verdict is Verdict.PROVED and r.x.tolist() == [3, 0]


@pytest.mark.parametrize("engine", ["auto", "newton", "subdomain"])
def test_engines(engine):
    r = infimum.minimize(lambda x: (x[0] - 3.3) ** 2 + (x[0] - x[1]) ** 2, [(0, None), (None, None)], integrality=[1, 0],
                         engine=engine, **HERE)
    assert r.verdict is Verdict.PROVED and r.x[0] == 3 and r.lower <= (3 - Fraction(3.3)) ** 2 <= r.upper


@pytest.mark.parametrize("engine", ["complete", "swarm"])
def test_engines_that_need_bounds_name_the_variable(engine):
    with pytest.raises(infimum.BoundsError, match=r"(?s)finite bounds.*variable 1"):
        infimum.minimize(lambda x: x[0] + x[1], [(0, 1), (0, None)], integrality=[0, 1], engine=engine)


def test_black_boxes_name_the_variable():
    for call in (lambda: infimum.minimize(lambda x: x[0], [(0, None)], integrality=[1], engine="index"),
                 lambda: infimum.study([(0, None)], integrality=[1])):
        with pytest.raises(infimum.BoundsError, match=r"variable 0 are .*must be finite"):
            call()


# ---- constraints
def test_linear_rows_that_imply_bounds():
    rows = [lambda x: 3 * x[0] + 5 * x[1] >= 37, lambda x: x[0] <= 8, lambda x: x[1] <= 9]
    r = infimum.minimize(lambda x: 2 * x[0] + 3 * x[1], [FREE] * 2, constraints=rows, integrality=1, **HERE)
    best = min(2 * a + 3 * b for a in range(-30, 9) for b in range(-30, 10) if 3 * a + 5 * b >= 37)
    assert r.verdict is Verdict.PROVED and r.lower <= best <= r.upper and r.upper - best < 1e-6


def test_mixed():
    rows = [lambda x: x[0] * x[1] >= 7, lambda x: x[0] >= 0]
    r = infimum.minimize(lambda x: x[0] + x[1], [FREE] * 2, constraints=rows, integrality=[1, 0], **HERE)
    best = min(a + 7 / a for a in range(1, 20))
    assert r.verdict is Verdict.PROVED and abs(r.lower - best) < 1e-5 and r.x[0] in (2, 3)


def test_no_point_is_claimed_where_parity_forbids_it():
    r = infimum.minimize(lambda x: x[0] ** 2 + x[1] ** 2, [FREE] * 2, constraints=lambda x: 2 * x[0] + 4 * x[1] == 3,
                         integrality=1, max_boxes=20_000)
    assert r.x is None and r.upper == INF and r.verdict in (Verdict.INFEASIBLE, Verdict.STOPPED)
    r = infimum.feasible([(1, None)] * 2, lambda x: x[0] ** 2 == 2 * x[1] ** 2, integrality=1, max_boxes=20_000)
    assert r.x is None and r.verdict in (Verdict.INFEASIBLE, Verdict.STOPPED)


def test_infeasible():
    r = infimum.minimize(lambda x: x[0], [FREE] * 2, constraints=lambda x: x[0] ** 2 + x[1] ** 2 == 3, integrality=1, **HERE)
    assert r.verdict is Verdict.INFEASIBLE


def test_feasible():
    r = infimum.feasible([(0, None)] * 2, lambda x: 3 * x[0] - 2 * x[1] == 1, integrality=1, **HERE)
    assert r.feasible is not None and 3 * r.x[0] - 2 * r.x[1] == 1


# ---- without a bound
@pytest.mark.parametrize(("f", "rows"), [
    (lambda x: -x[0], ()), (lambda x: x[0] * x[1], ()), (lambda x: x[0] - x[1], lambda x: x[0] + x[1] >= 0),
    (lambda x: -np.sqrt(x[0]), lambda x: x[0] == 2 * x[1]), (lambda x: x[1] ** 2 - x[0], lambda x: x[0] >= x[1])])
def test_nothing_is_proved_of_what_falls_without_end(f, rows):
    r = infimum.minimize(f, [(0, None), FREE], constraints=rows, integrality=1, max_boxes=20_000)
    assert r.verdict in (Verdict.STOPPED, Verdict.UNDECIDED) and r.lower == -INF
    assert "x[0]" in r.obstacle or "x[1]" in r.obstacle


def test_advice_names_the_sides():
    r = infimum.minimize(lambda x: x[0] + x[1], [(0, None), (None, 4)], integrality=1, max_boxes=10,
                         constraints=lambda x: x[0] ** 2 + x[1] >= -1e6)
    if r.lower == -INF:
        assert r.advice is None or "x[1] a finite lower bound" in r.advice
    r = infimum.minimize(lambda x: x[0] - x[1] * 1e-300, [(0, None), (0, None)], integrality=1, max_boxes=10)
    assert r.lower == -INF


def test_an_infimum_at_infinity():
    r = infimum.minimize(lambda x: 3.25 / x[0], [(1, None)], integrality=1, **HERE)
    assert r.lower == 0.0 and r.upper > 0 and r.attained is not True


# ---- beyond 2**53
def test_a_minimiser_that_is_no_double():
    at = 2**60 + 3
    r = infimum.minimize(lambda x: (x[0] - 2.0**60 - 3) ** 2, [(0, None)], integrality=1, **HERE)
    assert r.lower == 0.0 and any(lo[0] <= at <= hi[0] for lo, hi in r.boxes)
    assert Fraction(r.upper) >= (Fraction(r.x[0]) - at) ** 2


def test_an_end_that_is_no_double():
    r = infimum.minimize(lambda x: x[0], [(2**53 + 1, None)], integrality=1, atol=0, rtol=1e-17, **HERE)
    assert r.lower <= 2**53 + 1 <= r.upper and r.x[0] >= 2**53 + 1


# ---- other entrances
def test_start_boxes_and_solutions():
    def f(x):
        return (x[0] - 3.3) ** 2 + (x[0] - x[1]) ** 2
    boxes = [[(Fraction(13, 3), None), FREE], [(None, 1), (None, 0)]]
    r = infimum.minimize(f, [FREE] * 2, integrality=1, start_boxes=boxes, **HERE)
    assert r.verdict is Verdict.PROVED and r.x.tolist() == [5, 5]
    r = infimum.minimize(f, [(0, None), FREE], integrality=1, solutions=4, **HERE)
    values = sorted(float(f(np.array([a, b]))) for a in range(10) for b in range(-10, 10))[:4]
    assert [s.verdict for s in r.solutions] == [Verdict.PROVED] * 4
    assert np.allclose([s.fun for s in r.solutions], values)


def test_resume(tmp_path):
    def f(x):
        return (x[0] - 3.3) ** 2 * (1 + np.sin(x[1])) + (x[0] * 0.1 - x[1]) ** 2
    path, given = tmp_path / "run.inf", {"integrality": [1, 0], "threads": 1, "device": "cpu", "batch": 64}
    whole = infimum.minimize(f, [(0, None), FREE], max_boxes=3000, **given)
    infimum.minimize(f, [(0, None), FREE], max_boxes=500, checkpoint=path, **given)
    again = infimum.resume(path, f, max_boxes=3000, threads=1, device="cpu")
    assert (again.lower, again.upper, again.verdict) == (whole.lower, whole.upper, whole.verdict)
    assert again.x.tolist() == whole.x.tolist()


def test_workers():
    def f(x):
        return (x[0] - 3.3) ** 2 + (x[0] - x[1]) ** 2
    r = infimum.minimize(f, [(0, None), FREE], integrality=1, workers=1, portions=2, device="cpu")
    assert r.verdict is Verdict.PROVED and r.x.tolist() == [3, 3]


def test_nested():
    r = infimum.nested(lambda y, z: (z[0] - 3 * y[0]) ** 2 + y[0], outer=[(0, 1)], inner=[(None, None)], inner_integrality=[1],
                       max_trials=3)
    assert r.x is not None and abs(r.fun) < 2


def test_printed_half_lines():
    r = infimum.minimize(lambda x: x[1] - x[0], [(0, None), (0, None)], integrality=1, max_boxes=100)
    assert "inf]" not in str(r).replace("inf] ", "") and "inf)" in str(r)
