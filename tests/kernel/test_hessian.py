"""The kernel of second derivatives: squares are squares, the triangle is symmetric, and Arb agrees on points and boxes."""

from collections import OrderedDict

import numpy as np
import pytest
from scipy import special

from infimum.backend.cpu import CpuBackend
from infimum.backend.python import PythonBackend
from infimum.evaluation.compile import compile
from infimum.expr.node import var
from infimum.kernel.hessian import HessianKernel
from infimum.kernel.schedule import is_sum_over_data
from tests.oracle.check import check

T = np.linspace(0.0, 2.0, 40)


def decay(x):
    return np.sum((x[0] * np.exp(-x[1] * T) + x[2] - np.exp(-T)) ** 2)


def waves(x):
    return np.sum((np.sin(np.outer(T[:9], x)) @ np.ones(len(x)) - T[:9]) ** 2)


def absorbance(x):
    return np.sum((x[0] * np.exp(-((T - x[1]) ** 2) / (2 * x[2] ** 2)) * (2 - 2 * np.exp(-x[3] * T)) - T / 3) ** 2)


def guarded_sum(x):
    """Kinks, edges of the domain and what does not depend on any variable, in a sum over data."""
    m = np.where(x[0] > T / 4, np.sqrt(x[0]) * T, x[1] * T) + np.maximum(x[1] - T / 8, 0) ** 3 + abs(x[2] + T)
    return np.sum((m - np.sin(T)) ** 2) + np.sum(np.cos(T)) + x[1] ** 2


FUNCTIONS = {
    "decay": (decay, 3), "absorbance": (absorbance, 4), "guarded sum": (guarded_sum, 4), "waves": (waves, 4),
    "normed sum": (lambda x: decay(x) + np.linalg.norm(x), 3),
    "rosenbrock": (lambda x: np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2), 6),
    "product": (lambda x: np.prod(np.cos(x)) + np.sum(np.cumprod(x)), 5),
    "norm": (lambda x: np.linalg.norm(x) * np.hypot(x[0], 2), 4),
    "largest": (lambda x: np.max(x * [1, 2, 3]) ** 2, 3),
    "guarded": (lambda x: np.sum(np.where(x > 0.25, np.sqrt(abs(x)), x**3)), 3),
    "powers": (lambda x: x[0] ** 2.5 * x[1] ** x[2] + np.log(x[0]) / x[1], 3),
    "special": (lambda x: special.gammaln(x[0]) + special.xlogy(x[1], x[1]) + special.expit(x[0] * x[1]), 2),
    "angle": (lambda x: np.arctan2(x[0], x[1]) * np.logaddexp(x[0], x[1]), 2),
    "quotients": (lambda x: np.sum(1 / (1 + x**2)) / 3 + x[0] / (2 + x[1]), 3),
    "many": (lambda x: np.sum(np.sin(x)) ** 2 + np.sum((x - np.mean(x)) ** 2), 33),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_second_derivatives_against_arb(name):
    """At points and on boxes of all sizes, narrow ones around points where derivatives vanish among them."""
    f, n = FUNCTIONS[name]
    rng = np.random.default_rng(n)
    centre = rng.uniform(0.3, 1.7, (n, 12))
    centre[:, 8:] = np.array([0.5, 1.0, 1.5, np.pi / 2])
    radius = np.array([0, 0, 1e-9, 1e-3, 0.1, 0.25, 0, 0.2] + [0, 1e-8, 0.05, 0.25])
    check(compile(f, n).f, n, (centre - radius, centre + radius), per_box=4, share=1.0, seed=n)


def test_the_square_of_a_slope_that_changes_sign_is_not_negative():
    """e = cosh(x) - 1 - y: e' = sinh(x) changes sign on the box, e'² does not, and e e'' is small near the minimiser."""
    f = compile(lambda x: np.sum((np.cosh(x[0]) - 1 - x[1] * T) ** 2), 2)
    h = f.hessian([-0.5, 0.0], [0.5, 0.0])
    assert h.lo[0, 0] >= 0.0


@pytest.mark.parametrize("n", (2, 3, 7, 40))
def test_the_matrix_is_symmetric(n):
    f = compile(lambda x: np.sum(np.sin(x)) ** 2 * np.exp(x[0]), n)
    h = f.hessian(np.full((n, 5), 0.1), np.full((n, 5), 0.3))
    assert np.array_equal(h.lo, h.lo.swapaxes(0, 1)) and np.array_equal(h.hi, h.hi.swapaxes(0, 1))
    g = f.gradient(np.full((n, 5), 0.1), np.full((n, 5), 0.3))
    assert np.array_equal(h.gradient.lo, g.lo) and np.array_equal(h.gradient.hi, g.hi)


@pytest.mark.parametrize("name", ("decay", "absorbance", "guarded sum", "norm", "guarded", "largest"))
def test_the_same_bits_as_the_definition(name):
    f, n = FUNCTIONS[name]
    lo = np.random.default_rng(0).uniform(0.1, 1.0, (n, 3))
    results = [compile(f, n, backend=backend).hessian(lo, lo + [0.0, 0.01, 0.5]) for backend in (CpuBackend(), PythonBackend())]
    for one, other in zip(*((r.lo, r.hi, r.gradient.lo, r.value.hi, r.value.level) for r in results), strict=True):
        assert np.array_equal(one, other)


def test_empty_boxes_and_none():
    f = compile(lambda x: x[0] ** 3 * x[1], 2)
    h = f.hessian([[1.0, np.nan], [0.0, 0.0]], [[0.0, 1.0], [1.0, 1.0]])
    assert h.value.level.tolist() == [0, 0] and not np.isnan(h.lo).any() and not np.isnan(h.hi).any()


@pytest.mark.parametrize(("name", "at_once"), [("decay", True), ("absorbance", True), ("guarded sum", True),
                                               ("normed sum", False), ("waves", False), ("rosenbrock", False),
                                               ("quotients", False), ("many", False)])
def test_sums_over_data_have_one_loop_and_nothing_stored(name, at_once):
    f, n = FUNCTIONS[name]
    compiled = compile(f, n)
    writer = HessianKernel(compiled.f, var("x", (n,)))
    assert is_sum_over_data(compiled.f, var("x", (n,))) == at_once
    assert not at_once or not writer.b.kernel("hessian", 2, 7).buffers


def test_all_at_once_meets_row_by_row(monkeypatch):
    """Two enclosures of the same numbers; forward mode has (a + b) c where reverse mode has a c + b c."""
    t = np.linspace(-8, 8, 40)

    def both(x):
        return np.sum((20 - 12 * t + x[0] ** 2 * t + x[1] ** 2 * t - 0.01 * x[0] ** 4 * t - 10 * x[1]) ** 2)
    lo = np.random.default_rng(1).uniform(1.8, 2.8, (2, 6))
    one = compile(both, 2).hessian(lo, lo + 0.1)
    monkeypatch.setattr("infimum.kernel.hessian.is_sum_over_data", lambda f, x: False)
    monkeypatch.setattr("infimum.evaluation.compiled_programs._lowered", OrderedDict())
    other = compile(both, 2).hessian(lo, lo + 0.1)
    for a, c in ((one, other), (one.gradient, other.gradient)):
        assert ((a.lo <= c.hi) & (c.lo <= a.hi)).all()
        assert (a.hi - a.lo <= (c.hi - c.lo) * (1 + 1e-9)).all()
    assert (one.gradient.hi - one.gradient.lo < 0.9 * (other.gradient.hi - other.gradient.lo)).any()


def test_a_gradient_at_kinks_holds_all_generalised_ones():
    f = compile(guarded_sum, 4)
    lo, hi = np.array([0.9, 0.1, -1.0, 0.0]), np.array([1.1, 0.2, -0.5, 1.0])
    one, other = f.hessian(lo, hi).gradient, f.gradient(lo, hi)
    assert one.value.lipschitz and not one.value.smooth
    x = np.array([1.0, 0.15, -0.75, 0.5])
    for step in (-1e-3, 1e-3):
        for i in range(3):
            y = x + step * (np.arange(4) == i)
            slope = (guarded_sum(y) - guarded_sum(x)) / step
            assert one.lo[i] <= slope <= one.hi[i] and other.lo[i] <= slope <= other.hi[i]


def test_functions_without_second_derivatives_are_written_in_loops():
    """The second derivatives of a network of relus are 0, and cost nothing; the network itself is long."""
    def relus(x):
        for k in range(3):
            x = np.maximum(np.sin(np.arange(30.0 * len(x)) + k).reshape(30, len(x)) @ x - 0.1, 0.0)
        return np.sum(x)

    evaluator = compile(relus, n=4)
    kernel = HessianKernel(evaluator.f, var("x", (4,))).b.kernel("hessian", 2, 7)
    assert len(kernel.prologue) + len(kernel.body) < 1000  # written out, it has some 100,000 instructions
    at = evaluator.hessian([0.5, -0.25, 1.0, 0.125], [0.5, -0.25, 1.0, 0.125])
    assert at.value.smooth and (at.lo == 0).all() and (at.hi == 0).all()
