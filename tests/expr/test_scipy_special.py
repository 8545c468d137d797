"""The ufuncs of scipy.special on traced values: the same function as SciPy computes, and its domain."""

import itertools
import os
import sys

import numpy as np
import pytest
import scipy
import scipy.special as sp
from flint import arb, ctx
from scipy.special import logsumexp

import infimum
from infimum.errors import TraceError
from infimum.expr.derivative_rules import TWO_OVER_ROOT_PI
from infimum.trace.numpy_functions import scipy_special
from infimum.trace.tracer import SPECIAL
from tests import children
from tests.oracle.check import check

UNDEFINED, DEFINED, LIPSCHITZ, SMOOTH = range(4)
EVERYWHERE, INSIDE, POSITIVE = (-6.0, 6.0), (0.05, 0.95), (0.05, 6.0)
ONE = {**dict.fromkeys(("erf", "erfc", "ndtr", "expit", "log_expit", "cbrt", "exp2", "exp10", "expm1"), EVERYWHERE),
       **dict.fromkeys(("gammaln", "gamma", "psi"), (-4.5, 6.0)), "loggamma": POSITIVE, "log1p": POSITIVE,
       "logit": INSIDE, "entr": POSITIVE}
TWO = ("xlogy", "xlog1py", "rel_entr", "kl_div")


def test_no_rule_is_forgotten():
    assert set(ONE) | set(TWO) == set(SPECIAL)


@pytest.mark.parametrize("name", ONE)
def test_functions_of_one_number(name):
    function = getattr(sp, name)
    x = np.random.default_rng(1).uniform(*ONE[name], (1, 200))
    f = infimum.compile(lambda x: function(x[0]), 1)
    r, expected = f.value(x, x), function(x[0])
    slack = (1e-11 if ONE[name][0] == -4.5 else 1e-13) * (1 + np.abs(expected))  # beside a pole the angle pi x is not exact
    assert (r.level == SMOOTH).all() and (r.hi - r.lo <= slack).all()
    assert (r.lo - slack <= expected).all() and (expected <= r.hi + slack).all()
    assert np.abs(f.estimate(x) - expected).max() <= slack.max()
    check(f.f, 1, (x[:, :20], x[:, :20] + 0.01), share=1.0)


@pytest.mark.parametrize("name", TWO)
def test_functions_of_two_numbers(name):
    function = getattr(sp, name)
    x = np.random.default_rng(2).uniform(0.05, 5.0, (2, 200))
    f = infimum.compile(lambda x: function(x[0], x[1]), 2)
    r, expected = f.value(x, x), function(*x)
    assert (r.level == SMOOTH).all() and (np.abs(r.lo - expected) < 1e-13).all() and (np.abs(r.hi - expected) < 1e-13).all()
    check(f.f, 2, (x[:, :20], x[:, :20] + 0.01), share=1.0)


# ---- edges of the domain
def level(f, *sides) -> int:
    lo, hi = np.array(sides, dtype=float).T
    return int(infimum.compile(f, len(sides)).value(lo, hi).level)


def value(f, *point) -> tuple[float, float]:
    r = infimum.compile(f, len(point)).value(np.array(point, float), np.array(point, float))
    return float(r.lo), float(r.hi)


def test_xlogy_vanishes_with_its_first_argument():
    def f(x):
        return sp.xlogy(x[0], x[1])
    for y in (0.0, -3.0, 2.0):
        assert value(f, 0.0, y) == (0.0, 0.0) == (sp.xlogy(0.0, y),) * 2
    assert level(f, (0, 1), (1, 2)) == SMOOTH and level(f, (0, 0), (-2, -1)) == DEFINED
    assert level(f, (0, 1), (0, 1)) == UNDEFINED and infimum.compile(f, 2).value([1.0, -2.0], [2.0, -1.0]).empty
    assert value(lambda x: np.sum(sp.xlogy([0.0, 2.0], x)), -1.0, 1.0) == (0.0, 0.0)
    assert level(lambda x: np.sum(sp.xlogy([0.0, 2.0], x)), (-1, 1), (1, 2)) == SMOOTH, "a count of 0 leaves no trace"
    assert infimum.enclose(lambda x: sp.xlogy(0.0, np.sqrt(x[0])), [(-1, -1)]).empty, "NaN stays NaN"
    assert level(lambda x: sp.xlog1py(x[0], x[1]), (0, 0), (-2, -1)) == DEFINED


def test_entropy_is_bounded_down_to_zero():
    def f(x):
        return sp.xlogy(x[0], x[0])
    r = infimum.compile(f, 1).value([0.0], [0.25])
    assert (r.level, r.hi) == (DEFINED, 0.0) and -0.3466 < r.lo < -0.3465
    assert infimum.compile(lambda x: sp.entr(x[0]), 1).value([-2.0], [-1.0]).empty
    assert value(lambda x: sp.rel_entr(x[0], x[1]), 0.0, 0.0) == (0.0, 0.0)
    assert infimum.compile(lambda x: sp.rel_entr(x[0], x[1]), 2).value([0.0, -1.0], [0.0, -1.0]).empty, "SciPy says infinity"
    best = infimum.minimize(lambda x: -np.sum(sp.entr(x)), [(0, 1)] * 3)
    assert best.verdict.name == "PROVED" and abs(best.fun + 3 / np.e) < 1e-6


def test_logit_ends_at_zero_and_one():
    def f(x):
        return sp.logit(x[0])
    assert level(f, (0.1, 0.9)) == SMOOTH and level(f, (0, 0.5)) == UNDEFINED == level(f, (0.5, 1))
    assert infimum.compile(f, 1).value([1.0], [2.0]).empty


@pytest.mark.parametrize("name", ("gammaln", "gamma", "psi"))
def test_the_gamma_function_has_poles(name):
    def f(x):
        return getattr(sp, name)(x[0])
    assert level(f, (0.5, 3)) == SMOOTH == level(f, (-0.9, -0.1)) == level(f, (-2.5, -2.25))
    for pole in (0.0, -1.0, -2.0):
        assert level(f, (pole - 0.25, pole + 0.25)) == UNDEFINED == level(f, (pole, pole + 0.25)) == level(f, (pole, pole))
    boxes = np.array([(-0.5, -0.25), (-1.75, -1.25), (-0.75, 0.5), (0.5, 3), (-3.25, -3.125), (1e-5, 1e5), (0, 1), (-0.25, 0)])
    check(infimum.compile(f, 1).f, 1, boxes.T[:, None], per_box=6, share=1.0)


def test_constants_are_the_true_ones():
    ctx.prec = 200
    for constant, true in ((scipy_special.ROOT_HALF, arb(0.5).sqrt()), (scipy_special.PI, arb.pi()),
                           (scipy_special.LOG_PI, arb.pi().log()), (TWO_OVER_ROOT_PI, 2 / arb.const_sqrt_pi())):
        assert float(constant.lo) < true < float(constant.hi) == np.nextafter(constant.lo, np.inf)


# ---- the sum of exponentials
def test_logaddexp_reduce_is_logsumexp():
    rng = np.random.default_rng(3)
    for n in (1, 2, 3, 5, 8, 13):
        x = rng.normal(size=n) * 300
        r = infimum.compile(lambda x: np.logaddexp.reduce(x), n).value(x, x + 1)
        assert r.level == SMOOTH and abs(r.lo - sp.logsumexp(x)) < 1e-12 and abs(r.hi - sp.logsumexp(x) - 1) < 1e-12
    a = rng.normal(size=(2, 3, 2))
    for axis in (0, 1, -1, (0, 2), None):
        def f(x, axis=axis):
            return np.sum(np.logaddexp.reduce(x.reshape(2, 3, 2), axis=axis) ** 2)
        lo, hi = value(f, *a.ravel())
        assert lo - 1e-13 <= np.sum(sp.logsumexp(a, axis=axis) ** 2) <= hi + 1e-13
    f = infimum.compile(lambda x: np.logaddexp.reduce(x.reshape(2, 2), axis=0, keepdims=True, initial=0.5)[0, 1], 4)
    check(f.f, 4, (np.full((4, 2), -700.0), np.full((4, 2), [-699.0, 800.0])), share=1.0)
    with pytest.raises(TraceError, match="no exponentials"):
        infimum.compile(lambda x: np.logaddexp.reduce(x[3:]), 2)


@pytest.mark.parametrize("function", [
    lambda x: sp.logsumexp(x), lambda x: logsumexp(a=x), lambda x: scipy.special.logsumexp([x[0], 2.0, -x[1]]),
    lambda x: sp.logsumexp(np.array([x[0], 2.0])), lambda x: sp.logsumexp(x, b=np.array([0.5, 3.0])),
    lambda x: np.sum(sp.logsumexp(x.reshape(2, 1) + np.arange(3.0), axis=1)),
    lambda x: sp.logsumexp(x, keepdims=True)[0], lambda x: sp.logsumexp(np.arange(3.0)) + x[0],
    lambda x: sp.softmax(x)[0], lambda x: sp.log_softmax(x)[1], lambda x: sp.softmax(np.stack([x, x**2]), axis=0)[1, 0],
    lambda x: sp.expit(np.array([x[0], x[1]]))[0] + sp.erf(np.array([x[0], 1.0])).sum(),
])
def test_functions_that_scipy_has_in_python(function):
    f = infimum.compile(function, 2)
    for point in np.random.default_rng(4).normal(size=(20, 2)) * 3:
        told, r = function(point), f.value(point, point)
        assert r.level == SMOOTH and r.lo - 1e-13 * (1 + abs(told)) <= told <= r.hi + 1e-13 * (1 + abs(told))
        assert r.hi - r.lo < 1e-12 * (1 + abs(told))


# ---- what has no rule
class Out:
    """Methods that a method calls are out of reach of a second run."""

    def inner(self, x):
        return sp.logsumexp(x)

    def of_reach(self, x):
        return self.inner(x)


@pytest.mark.parametrize(("function", "message"), [
    (Out().of_reach, r"sp.logsumexp\(x\)`: SciPy's function logsumexp has no rule .* np.logaddexp.reduce"),
    (lambda x: sp.polygamma(1, x[0]), "polygamma has no rule"),
    (lambda x: sp.erfinv(x[0]), "scipy.special.erfinv has no rule"),
])
def test_errors_name_the_line_and_the_cure(function, message):
    with pytest.raises(TraceError, match=message) as caught:
        infimum.compile(function, 2)
    assert "test_scipy_special.py:" in str(caught.value)


def test_scipys_wrapped_functions_are_refused():
    code = "import infimum, scipy.special as sp; infimum.compile(lambda x: sp.erf(x[0]), 1)"
    run = children.run(sys.executable, "-c", code, env={**os.environ, "SCIPY_ARRAY_API": "1"})
    assert run.returncode == 0 or "Unset SCIPY_ARRAY_API." in run.stderr


def test_scipy_is_not_imported():
    code = "import sys, infimum, numpy; infimum.compile(lambda x: numpy.logaddexp(x[0], 1), 2); assert 'scipy' not in sys.modules"
    assert children.run(sys.executable, "-c", code).returncode == 0


@pytest.mark.parametrize("name", ["entr", "gamma", "gammaln", "loggamma", "logit", "psi"])
@pytest.mark.parametrize("compare", [np.less, np.greater, np.less_equal, np.not_equal])
def test_conditions_on_values_outside_the_domain_are_scipys(name, compare):
    """SciPy has NaN at some such points, with which a comparison is false, and infinities at others."""
    def f(x):
        return np.where(compare(getattr(sp, name)(x[0]), 0.3), 1.0, -1.0)
    e = infimum.compile(f, 1)
    for point in (-2.0, -1.5, -1.0, -0.25, 0.0, 0.25, 1.0, 1.5):
        with np.errstate(all="ignore"):
            told = float(f(np.array([point])))
        for width in (0.0, 0.125):
            box = e.value([point - width], [point + width])
            assert box.lo <= told <= box.hi, (point, width)


@pytest.mark.parametrize("name", ["rel_entr", "kl_div", "xlogy", "xlog1py"])
@pytest.mark.parametrize("compare", [np.less, np.greater])
def test_conditions_on_pairs_outside_the_domain_are_scipys(name, compare):
    def f(x):
        return np.where(compare(getattr(sp, name)(x[0], x[1]), 0.3), 1.0, -1.0)
    e, places = infimum.compile(f, 2), (-2.0, -1.0, -0.5, 0.0, 0.5, 2.0)
    for point in itertools.product(places, places):
        with np.errstate(all="ignore"):
            told = float(f(np.array(point)))
        for width in (0.0, 0.125):
            box = e.value(np.array(point) - width, np.array(point) + width)
            assert box.lo <= told <= box.hi, (point, width)
