"""The Evaluator and the functions on top of it, as a user meets them."""

import math

import flint
import numpy as np
import pytest

import infimum
from infimum.backend.cpu import CpuBackend, host
from infimum.backend.python import PythonBackend
from infimum.evaluation import programs
from tests.random_kernels import same_bits

INF = math.inf


def rosenbrock(x):
    return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def wavy(x, shift=0.0):
    return np.sum(np.sin(3 * x + shift) * np.exp(-(x**2))) + np.prod(np.cos(x)) + np.sqrt(np.sum(x**2))


def random_boxes(n, count, seed=0, spread=0.3):
    rng = np.random.default_rng(seed)
    middle, radius = rng.uniform(-2, 2, (n, count)), spread * rng.random((n, count))
    return middle - radius, middle + radius


@pytest.mark.parametrize("n", [1, 2, 3, 7, 16, 17, 40])
def test_values_and_derivatives_enclose_what_numpy_computes(n):
    f = infimum.compile(wavy, n)
    lo, hi = random_boxes(n, 50)
    value, gradient, both = f.value(lo, hi), f.gradient(lo, hi), f.mean_value(lo, hi)
    rng = np.random.default_rng(1)
    for _ in range(20):
        x = lo + (hi - lo) * rng.random(lo.shape)
        exact = np.array([wavy(column) for column in x.T])
        slack = 1e-12 * (1 + abs(exact))
        for r in (value, both.best, both.natural, gradient.value):
            assert (r.lo <= exact + slack).all() and (exact - slack <= r.hi).all()
        estimate, slope = f.estimate_gradient(x)
        np.testing.assert_allclose(estimate, exact, rtol=1e-11, atol=1e-12)
        slack = 1e-9 * (1 + abs(slope))
        assert (gradient.lo <= slope + slack).all() and (slope - slack <= gradient.hi).all()
    assert (both.best.lo >= both.natural.lo).all() and (both.best.hi <= both.natural.hi).all()
    small = f.mean_value(lo, lo + 1e-4)
    assert (small.best.hi - small.best.lo < 0.9 * (small.natural.hi - small.natural.lo)).any()


def test_hessian_encloses_differences_and_multiplies_vectors():
    n = 3
    f = infimum.compile(wavy, n)
    x = np.array([0.4, -0.7, 1.1])
    h = 1e-5
    columns = [(f.estimate_gradient(x + h * e)[1] - f.estimate_gradient(x - h * e)[1]) / (2 * h) for e in np.eye(n)]
    second = np.array(columns)
    enclosure = f.hessian(x - 1e-3, x + 1e-3)
    assert enclosure.lo.shape == (n, n)
    assert (enclosure.lo <= second + 1e-6).all() and (second - 1e-6 <= enclosure.hi).all()
    assert (enclosure.hi - enclosure.lo < 0.5).all()
    np.testing.assert_allclose(f.estimate_hessian_vector(x, np.array([1.0, -2.0, 0.5])), second @ [1.0, -2.0, 0.5], rtol=1e-5)


@pytest.mark.parametrize("n", [2, 9, 40])
def test_hessian_is_the_same_written_out_and_as_a_loop(n):
    f = infimum.compile(rosenbrock, n)
    x = np.linspace(-1, 1, n)
    enclosure = f.hessian(x, x)
    from scipy.optimize import rosen_hess

    exact = rosen_hess(x)
    assert (enclosure.lo <= exact + 1e-9).all() and (exact - 1e-9 <= enclosure.hi).all()
    assert (enclosure.hi - enclosure.lo <= 1e-9 * (1 + abs(exact))).all()


def test_single_boxes_lose_the_last_axis():
    f = infimum.compile(rosenbrock, 2)
    assert f.value([0.0, 0.0], [1.0, 1.0]).lo.shape == ()
    assert f.gradient([0.0, 0.0], [1.0, 1.0]).lo.shape == (2,)
    assert f.estimate([1.0, 1.0]) == 0.0
    assert f.value(np.zeros((2, 0)), np.zeros((2, 0))).lo.shape == (0,)


def test_empty_and_broken_boxes():
    f = infimum.compile(rosenbrock, 2)
    lo = np.array([[1.0, 0.0, math.nan, INF, 0.0], [0.0, 0.0, 0.0, 0.0, -INF]])
    hi = np.array([[0.0, 1.0, 1.0, INF, 1.0], [1.0, 1.0, 1.0, 1.0, INF]])
    r = f.value(lo, hi)
    assert r.empty.tolist() == [True, False, False, False, False]
    assert (r.lo[2:] == [-INF, -INF, 0.0]).all() and (r.hi[2:] == INF).all()
    assert r.level.tolist() == [0, 3, 0, 0, 3]
    assert not np.isnan(f.gradient(lo, hi).lo).any() and not np.isnan(f.hessian(lo, hi).hi).any()


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_lanes_threads_and_batches_change_no_bit(threads):
    n, count = 20, 3001
    lo, hi = random_boxes(n, count)
    reference = infimum.compile(wavy, n, backend=CpuBackend(lanes=2, threads=1))
    for lanes in host().widths():
        f = infimum.compile(wavy, n, backend=CpuBackend(lanes=lanes, threads=threads))
        for call in ("value", "gradient"):
            a, b = getattr(reference, call)(lo, hi), getattr(f, call)(lo, hi)
            assert (a.lo.view(np.int64) == b.lo.view(np.int64)).all() and (a.hi.view(np.int64) == b.hi.view(np.int64)).all()
        part = f.value(lo[:, 100:113], hi[:, 100:113])
        assert (part.lo == reference.value(lo, hi).lo[100:113]).all()


def test_few_boxes_of_very_many_variables_change_no_bit():
    """They run on fewer lanes."""
    n = 300_000
    f, (lo, hi) = infimum.compile(wavy, n), random_boxes(n, 9)
    for call in ("value", "gradient"):
        many = getattr(f, call)(lo, hi)
        for some in (slice(4, 5), slice(2, 4), slice(0, 7)):
            few = getattr(f, call)(lo[:, some], hi[:, some])
            assert same_bits(few.lo, many.lo[..., some]).all() and same_bits(few.hi, many.hi[..., some]).all()


def test_cpu_equals_the_python_target():
    n = 18
    lo, hi = random_boxes(n, 3)
    for kind in ("value", "gradient", "mean_value"):
        compiled, exact = (infimum.compile(wavy, n, backend=t) for t in (CpuBackend(), PythonBackend()))
        results = []
        for f in (compiled, exact):
            r = getattr(f, kind)(lo, hi)
            results.append(r.best if kind == "mean_value" else r)
        assert (results[0].lo.view(np.int64) == results[1].lo.view(np.int64)).all()
        assert (results[0].hi.view(np.int64) == results[1].hi.view(np.int64)).all()


def test_kernels_are_compiled_once_and_lazily():
    f = infimum.compile(wavy, 5, args=(0.25,))
    assert not f._ready
    f.value(np.zeros(5), np.ones(5))
    assert list(f._ready) == [programs.VALUE]
    again = infimum.compile(wavy, 5, args=(0.25,))
    assert again.prepare(programs.VALUE) is f.prepare(programs.VALUE)
    other = infimum.compile(wavy, 5, args=(0.75,))  # new data, the same machine code
    assert other.prepare(programs.VALUE)[0] is f.prepare(programs.VALUE)[0]
    assert other.value(np.zeros(5), np.zeros(5)).lo != f.value(np.zeros(5), np.zeros(5)).lo


@pytest.mark.parametrize(("lo", "hi", "words"), [
    (np.zeros((3, 4)), np.zeros((3, 4)), r"shape \(2, N\)"),
    (np.zeros((2, 4)), np.zeros((2, 5)), "different shapes"),
    ("ab", "cd", "real numbers"),
    ([1j, 0], [1, 1], "real numbers"),
    (np.zeros((2, 2, 2)), np.zeros((2, 2, 2)), r"shape \(2, N\)"),
    ([[1, 2], [3]], [[1, 2], [3]], "real numbers"),
])
def test_wrong_arrays_are_refused(lo, hi, words):
    with pytest.raises(infimum.ShapeError, match=words):
        infimum.compile(rosenbrock, 2).value(lo, hi)


def test_enclose():
    r = infimum.enclose(lambda x: x[0] ** 2 - x[0], [(0, 1)])
    assert r.lo <= -0.25 and r.hi >= 0 and r.width < 1.01
    assert infimum.enclose(lambda x, a: a * x[0], [(1, 2)], args=(3,)) == infimum.Interval(3.0, 6.0)
    assert infimum.enclose(lambda x: np.sum(np.exp(-x)), (0, INF), n=2) == infimum.Interval(0.0, 2.0)
    assert infimum.enclose(lambda x: np.log(x[0]), [(-2, -1)]).empty
    assert infimum.enclose(lambda x: 1 / x[0], [(-1, 1)]) == infimum.Interval(-INF, INF)
    assert infimum.enclose(lambda x: 5, [(0, 1)]) == infimum.Interval(5.0, 5.0)


def test_bad_input_to_enclose():
    with pytest.raises(infimum.BoundsError, match="reversed"):
        infimum.enclose(rosenbrock, [(0, 1), (1, 0)])
    with pytest.raises(infimum.TraceError, match="returned an array"):
        infimum.enclose(lambda x: x, [(0, 1), (0, 1)])
    with pytest.raises(infimum.TraceError, match="string"):
        infimum.enclose(lambda x: "no", [(0, 1)])
    with pytest.raises(infimum.TraceError, match="empty vector"):
        infimum.compile(rosenbrock, 0)
    with pytest.raises(infimum.UserFunctionError, match="ZeroDivisionError") as caught:
        infimum.enclose(lambda x: 1 // 0, [(0, 1)])
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


def test_true_constants():
    with flint.ctx.workprec(200):
        for constant, exact in ((infimum.pi, flint.arb.pi()), (infimum.e, flint.arb(1).exp())):
            assert flint.arb(constant.lo) < exact < flint.arb(constant.hi) and math.nextafter(constant.lo, 9) == constant.hi
    r = infimum.enclose(lambda x: np.sin(infimum.pi * x[0]), [(1, 1)])
    assert r.lo < 0 < r.hi  # the double nearest pi gives 1.2e-16
    assert infimum.enclose(lambda x: np.sin(np.pi * x[0]), [(1, 1)]).lo > 0


def test_estimates_outside_the_domain_and_after_overflow_are_nan():
    for f, x in ((np.log, -1.0), (np.arcsin, -2.0), (np.arccosh, -2.0), (np.log1p, -2.0), (np.arctanh, 2.0), (np.sqrt, -1.0)):
        assert np.isnan(infimum.compile(lambda x, f=f: f(x[0]), 1).estimate([x]))
    assert np.isnan(infimum.compile(lambda x: x[0] ** x[0], 1).estimate([-2.5]))
    for f in (lambda x: np.exp(x[0] * (x[1] ** 8) ** 90), lambda x: np.maximum(1.0, x[0] * (x[1] ** 8) ** 90)):
        assert np.isnan(infimum.compile(f, 2).estimate([0.0, 1e3]))


def test_inside_a_function():
    """The enclosure of every operation is the one it has as a function of its own."""
    def f(x):
        return np.sum(np.sin(x) * x**2) + np.where(x[0] > x[1], np.exp(x[0]), np.sqrt(x[1]))
    parts = {"sin": np.sin, "powi": lambda x: x**2, "exp": lambda x: np.exp(x[0])[None], "sqrt": lambda x: np.sqrt(x[1])[None]}
    lo, hi = np.array([[-1.0, 0.25], [0.5, -2.0], [3.0, 1.0]]), np.array([[0.5, 0.5], [0.75, 2.0], [4.0, 1.0]])
    whole = infimum.compile(f, 3)
    found = whole.inside(lo, hi)
    value = whole.value(lo, hi)
    assert (found[whole.f].lo == value.lo).all() and (found[whole.f].hi == value.hi).all()
    assert (found[whole.f].level == value.level).all()
    for node, enclosure in found.items():
        if node.op in parts:
            for k in range(node.size):
                alone = infimum.compile(lambda x, k=k, part=parts[node.op]: part(x)[k], 3).value(lo, hi)
                assert (enclosure.lo[k] == alone.lo).all() and (enclosure.hi[k] == alone.hi).all()
                assert (enclosure.level[k] == alone.level).all()
    assert set(parts) <= {node.op for node in found}
