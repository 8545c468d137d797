"""Sweeps with infinite ends and huge numbers, their bits, samples and Newton steps, and whole runs that they prove."""



import numpy as np
import pytest
from flint import arb

import infimum
from infimum import problems
from infimum.backend.cpu import CpuBackend
from infimum.backend.processor import host
from infimum.backend.python import PythonBackend
from infimum.bounds.sweeps.sweeps import Sweeper
from infimum.evaluation.programs import NEWTON, POINT_CONTEXT, SAMPLE
from infimum.problem.settings import Goal
from infimum.result import Verdict
from infimum.search.incumbent import Incumbent
from infimum.search.root_box import RootBox
from tests.all_threads import all_threads_work  # noqa: F401
from tests.engine.test_sweep import INF, Judge, Recorded, Swept, best_value, boxes, compiled, settled, swept
from tests.expr.test_hoist import LOCAL
from tests.oracle.boxes import TINY
from tests.oracle.walk import Special
from tests.random_kernels import same_bits


# ---- infinite ends, huge numbers, many factors
@pytest.mark.parametrize(("f", "bounds"), [
    (lambda x: np.sum(x), (-INF, 5)), (lambda x: -np.sum(x), (0, INF)), (lambda x: np.sum(x) * 2, (-INF, INF)),
    (lambda x: np.sum(np.arctan(x)), (-INF, INF)), (lambda x: np.sum(np.exp(x)), (-INF, 0)),
    (lambda x: np.sum(np.exp(-x)), (0, INF)), (lambda x: np.sum(x**2), (-INF, INF)),
    (lambda x: np.linalg.norm(x), (-INF, 3)), (lambda x: np.prod(x), (1, INF)), (lambda x: np.max(x) - np.min(x), (-INF, INF)),
    (lambda x: np.sum(np.sin(x)), (0, INF)), (lambda x: np.sum(1 / x), (1, INF))])
def test_an_infinite_end_is_never_reduced_to(f, bounds):
    """What is left has points, and LEAST is below f at them."""
    n = 3
    e = infimum.compile(f, n)
    low, high = np.full(n, float(bounds[0])), np.full(n, float(bounds[1]))
    lo, hi = boxes(np.random.default_rng(3), low, high, 6)
    for upper in (INF, best_value(e, np.clip([[-5.0] * n, [0.5] * n, [2.0] * n], low, high))):
        s = Swept(e, lo, hi, low, high, upper)
        assert not (np.isposinf(s.new_lo) | np.isneginf(s.new_hi))[:, ~s.gone].any()
        Judge(np.random.default_rng(4)).judge(s)
    assert not s.gone[0]


def test_what_becomes_of_a_box_does_not_depend_on_those_beside_it():
    """Bounded beside unbounded, empty beside full: each as if it were alone."""
    e = infimum.compile(lambda x: np.sum(np.exp(x)) + np.sum(np.log(x[1:] + 2)), 3)
    low, high = np.full(3, -INF), np.full(3, 3.0)
    lo, hi = boxes(np.random.default_rng(3), low, high, 8)
    lo[:, 1], hi[:, 1], lo[:, 2], hi[:, 2] = 0.0, 1.0, -9.0, -3.0
    s = Swept(e, lo, hi, low, high, 30.0)
    for k in range(8):
        alone = Swept(e, lo[:, k], hi[:, k], low, high, 30.0)
        assert same_bits(alone.out[:, :, 0], np.ascontiguousarray(s.out[:, :, k])).all(), (lo[:, k], hi[:, k])


@pytest.mark.parametrize(("f", "box"), [
    (lambda x: np.prod(x), (0.1, 0.5)), (lambda x: np.prod(x), (-3.0, 2.0)), (lambda x: np.prod(x), (2.0, 3.0)),
    (lambda x: np.prod(np.cos(x)) + np.sum(x**2), (-9.0, 8.0)), (lambda x: np.sum(x * 1e300), (1e5, 1e10)),
    (lambda x: np.linalg.norm(x), (1e-200, 1e-180)), (lambda x: np.linalg.norm(x * 1e-300), (0.0, 1e-20)),
    (lambda x: np.linalg.norm(x), (1e150, 1e200)), (lambda x: np.sum(np.exp(x)), (-800.0, 800.0)),
    (lambda x: np.sum(x**2), (-TINY, 2 * TINY)), (lambda x: np.max(x) * 1e308, (1.0, 2.0))])
def test_a_thousand_variables_that_overflow_or_vanish(f, box):
    n = 1000
    e = infimum.compile(f, n)
    low, high = np.full(n, box[0]), np.full(n, box[1])
    with np.errstate(over="ignore"):  # reported apart, below
        s = Swept(e, low, high, low, high)
    assert not np.isnan(s.out).any() and not s.gone[0] and (s.new_lo >= low[:, None]).all() and (s.new_hi <= high[:, None]).all()
    for x in (low, high, np.where(np.arange(n) % 2, low, high), s.new_lo[:, 0], s.new_hi[:, 0]):
        v = settled(e, x)
        assert isinstance(v, Special) or s.lower[0] == -INF or not v < arb(float(s.lower[0]))


def test_a_norm_of_huge_numbers_does_not_warn():
    """The squares of the others overflow in NumPy's own arithmetic."""
    s = swept(lambda x: np.linalg.norm(x), [(1e307, 1.7e308)] * 4)
    assert s.lower[0] <= 2e307 and not s.gone[0]


# ---- bits
def kinked(x):
    smooth = np.sum(np.sin(3 * x)) * np.prod(x) + np.sum(x[1:] * x[:-1])
    return np.linalg.norm(x) + np.max(x - 0.25) * smooth - np.min(np.abs(x[:1]))


def partial(x):
    step = np.where(x[0] > 0.25, np.sum(np.floor(x * 2)), np.sign(x[-1]))
    return np.sum(np.sqrt(x)) + np.sum(np.log(x[1:]) * x[:-1]) + np.var(x) + step


@pytest.mark.parametrize("f", (kinked, partial))
def test_the_bits_are_the_definitions(f, all_threads_work):  # noqa: F811
    """The contexts and the sweep, for every number of lanes and threads, and for boxes one by one."""
    n = 3
    low, high = np.full(n, -2.0), np.full(n, 3.0)
    lo, hi = boxes(np.random.default_rng(n), low, high, 3)
    wanted = Swept(infimum.compile(f, n, backend=PythonBackend()), lo, hi, low, high, 2.0)
    for lanes in host().widths():
        for threads in (1, 2, 3):
            e = infimum.compile(f, n, backend=CpuBackend(lanes=lanes, threads=threads))
            found = Swept(e, lo, hi, low, high, 2.0)
            assert same_bits(found.out, wanted.out).all()
            assert all(same_bits(a, b).all() for a, b in zip(found.context, wanted.context, strict=True))
            many = Swept(e, np.tile(lo, 25), np.tile(hi, 25), low, high, 2.0)
            assert same_bits(many.out, np.tile(wanted.out, 25)).all(), (lanes, threads)
        for k in range(lo.shape[1]):
            one = Swept(e, lo[:, k], hi[:, k], low, high, 2.0)
            assert same_bits(one.out[:, :, 0], np.ascontiguousarray(wanted.out[:, :, k])).all()
            assert same_bits(one.lower, wanted.lower[k:k + 1]).all()


@pytest.mark.parametrize("f", (kinked, partial))
def test_samples_have_the_definitions_bits(f, all_threads_work):  # noqa: F811
    n = 3
    x, lo, hi = np.array([0.3, 1.5, 0.75]), np.array([-1.0, 0.0, 0.5]), np.array([0.5, 2.0, 0.5])
    results = []
    for backend in (PythonBackend(), *(CpuBackend(lanes=lanes, threads=2) for lanes in host().widths())):
        recorded = Recorded(infimum.compile(f, n, backend=backend))
        sweeper = Sweeper(recorded, lo, hi)
        sweeper.sample(x, lo, hi)
        sweeper.newton(x, lo, hi)
        results.append([*recorded.out[POINT_CONTEXT], *recorded.out[SAMPLE], *recorded.out[NEWTON]])
    for other in results[1:]:
        assert all(same_bits(a, b).all() for a, b in zip(results[0], other, strict=True))


@pytest.mark.parametrize("name", ("squares of differences", "norm of differences", "np.var", "extremes of slices", "one element"))
def test_samples_are_the_lowest_and_highest_places(name):
    """Along each variable alone, the others at x."""
    n = 5
    f, rng = compiled(name, n), np.random.default_rng(2)
    x, lo, hi = rng.uniform(0.2, 0.8, n), np.zeros(n), np.ones(n)
    places, values, worst, highest = Sweeper(f, lo, hi).sample(x, lo, hi)
    for j in range(n):
        if LOCAL[name][1]:
            row = np.repeat(x[:, None], 65, axis=1)
            row[j] = np.arange(65) / 64
            along_j = f.estimate(row)
            assert np.isclose(values[j], along_j.min(), rtol=1e-12) and np.isclose(highest[j], along_j.max(), rtol=1e-12)
        for place, v in ((places[j], values[j]), (worst[j], highest[j])):
            assert 0 <= place <= 1 and place * 64 == np.floor(place * 64)
            there = x.copy()
            there[j] = place
            assert not LOCAL[name][1] or np.isclose(f.estimate(there), v, rtol=1e-12)


# ---- minimize, where sweeps prove
SHIFTED = [("rastrigin", 6), ("ackley", 33), ("griewank", 65), ("salomon", 12), ("rosenbrock", 7), ("styblinski_tang", 100),
           ("alpine_1", 9), ("schwefel_2_22", 150), ("trid", 6), ("sphere", 200), ("schwefel_2_4", 10), ("qing", 70)]


@pytest.mark.parametrize(("name", "n"), SHIFTED)
def test_what_minimize_proves_is_true(name, n):
    """Shifted by multiples of 1/8, within a part of the bounds that still holds the minimiser: the minimum is the gallery's."""
    p = problems.get(name, n)
    rng = np.random.default_rng(n)
    shift = rng.integers(-8, 9, n) / 8
    a, b = (side + shift for side in p.minimisers[0])
    lo, hi = p.lo + shift, p.hi + shift
    t = rng.random((2, n)) * rng.choice((0, 0, 1), (2, n))
    lo = np.where(t[0] > 0, np.minimum(a, lo + (a - lo) * t[0]), lo)
    hi = np.where(t[1] > 0, np.maximum(b, hi - (hi - b) * t[1]), hi)
    r = infimum.minimize(lambda x: p.fun(x - shift), np.stack([lo, hi], axis=1), max_boxes=2000)
    assert r.lower <= p.minimum.hi and r.upper >= p.minimum.lo and ((r.x >= lo) & (r.x <= hi)).all()
    assert any(((low <= b) & (high >= a)).all() for low, high in r.boxes)
    assert r.verdict in (Verdict.PROVED, Verdict.STOPPED)


@pytest.mark.parametrize("n", (1, 6, 65))
def test_bounds_of_no_width_are_a_point(n):
    r = infimum.minimize(lambda x: np.sum((x - 0.25) ** 2), [(0.5, 0.5)] * n)
    assert r.verdict is Verdict.PROVED and r.lower <= n / 16 <= r.upper and (r.x == 0.5).all()


def test_a_hidden_dependence_is_not_proved_away():
    """From the middle of the bounds no variable leads downhill by the terms that read it as such; the minimum is -280."""
    def f(x):
        return np.sum(x**2) - 2 * (np.sum(x) * np.array([2.0]))[0]
    r = infimum.minimize(f, [(-20, 20)] * 70, max_boxes=2000)
    assert r.lower <= -280 <= r.upper and (r.verdict is not Verdict.PROVED or r.upper < -279.999)


@pytest.mark.parametrize("n", (6, 70))
def test_a_function_that_falls_for_ever_is_not_left_at_infinity(n):
    r = infimum.minimize(lambda x: np.sum(x), [(-INF, INF)] * n, max_boxes=500)
    assert r.lower == -INF and r.verdict in (Verdict.STOPPED, Verdict.UNDECIDED)
    assert all((low < INF).all() and (high > -INF).all() for low, high in r.boxes)


def test_a_point_that_is_given_does_not_stop_the_sweeps():
    """With the minimiser as x0 nothing better is found; the box is swept all the same."""
    def f(x):
        return np.sum((x - 0.25) ** 2)
    for n in (20, 70):
        r = infimum.minimize(f, [(-1, 2)] * n, x0=np.full(n, 0.25), xtol=1e-3, max_boxes=500)
        assert r.verdict is Verdict.PROVED and all((high - low).max() <= 1e-3 for low, high in r.boxes)


def test_newton_steps_go_where_the_derivative_of_one_variable_vanishes():
    """Of a quadratic function in one step, the others where they are; not where f is concave, nor beyond the bounds."""
    n = 6
    weights, x = np.arange(1.0, n + 1), np.linspace(-1, 1, n)
    f = infimum.compile(lambda x: np.sum(weights * x**2) + np.sum(x[1:] * x[:-1]) - 3 * np.sum(x), n)
    lo, hi = np.full(n, -2.0), np.array([2.0, 2.0, 0.25, 2.0, 2.0, 2.0])
    places, convex = Sweeper(f, lo, hi).newton(x, lo, hi)
    beside = np.concatenate([[0], x[:-1]]) + np.concatenate([x[1:], [0]])
    assert convex and np.allclose(places, np.clip((3 - beside) / (2 * weights), lo, hi), rtol=1e-14, atol=0)
    bent = infimum.compile(lambda x: np.sum(np.cos(x)), 2)
    ends = np.full(2, -9.0), np.full(2, 9.0)
    places, convex = Sweeper(bent, *ends).newton(np.array([0.1, 3.0]), *ends)
    assert not convex and places[0] == 0.1 and abs(places[1] - np.pi) < 1e-3


def test_sweeps_that_shrink_one_variable_of_a_chain_after_the_other_come_to_an_end():
    """Each variable of Rosenbrock's function waits for its neighbour: a sweep for each would take a time that is quadratic."""
    def f(x):
        return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)
    n = 600
    evaluator, lo, hi = infimum.compile(f, n), np.full(n, -2.0), np.full(n, 2.0)
    incumbent = Incumbent(evaluator, lo, hi)
    incumbent.offer(np.full((n, 1), 1.002))
    root = RootBox(evaluator, Goal(1e-6, 1e-6, None), incumbent)
    for _ in root.sweep(refines=False):
        pass
    assert 0 < root.sweeps < n / 2
