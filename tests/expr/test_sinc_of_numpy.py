"""np.sinc on traced values: the function of NumPy, its derivatives, and proofs with it."""

import mpmath
import numpy as np
import pytest

import infimum
from infimum.interval.pair import SMOOTH
from infimum.result import Verdict
from tests.oracle.check import check

MINIMUM = mpmath.mpf("-0.217233628211221657408279325562")


def shifted(x):
    return np.sinc(x[0]) + np.sinc(x[1] - 0.3)


def test_values_are_those_of_numpy():
    places = [*np.arange(-4.0, 5), 5e-324, -1e-300, 1e-9, 1e6 + 0.5]
    x = np.array([[*places, *np.random.default_rng(1).uniform(-20, 20, 200)]])
    f = infimum.compile(lambda x: np.sinc(x[0]), 1)
    r, expected = f.value(x, x), np.sinc(x[0])
    assert (r.level == SMOOTH).all() and (r.hi - r.lo < 2e-15).all()
    assert (np.abs(r.lo - expected) < 3e-15).all() and (np.abs(f.estimate(x) - expected) < 3e-15).all()
    at_zero = f.value([0.0], [0.0])
    assert at_zero.lo == at_zero.hi == 1
    check(f.f, 1, (x[:, :20], x[:, :20] + 0.01), share=1.0)


def test_arrays_integers_and_constants():
    f = infimum.compile(lambda x: np.sum(np.sinc(x.reshape(2, 2))[:, 0] * np.sinc(np.array([0, 1])))
                        + np.sum(np.sinc(np.where(x > 0, 2, 0))) + np.sinc(0.5), 4)
    point = np.array([0.25, -1.0, 0.0, 3.0])
    r = f.value(point, point)
    assert abs(r.lo - r.hi) < 1e-14 and abs(r.lo - (np.sinc(0.25) + 2 + np.sinc(0.5))) < 1e-14


def test_empty_and_unbounded_boxes():
    e = infimum.compile(lambda x: np.sinc(x[0]), 1)
    empty, all_numbers, far = e.value([1.0], [0.0]), e.value([-np.inf], [np.inf]), e.value([1e9], [np.inf])
    assert empty.empty and all_numbers.lo <= MINIMUM <= all_numbers.lo + 1e-16 and all_numbers.hi == 1
    assert -4e-10 < far.lo < far.hi < 4e-10 and far.smooth
    no_box = e.value([np.nan], [1.0])
    assert (no_box.lo, no_box.hi, no_box.level) == (-np.inf, np.inf, 0)


@pytest.mark.parametrize("point", [(0.0, 0.3), (1.4, -2.2), (-0.001, 3.9)])
def test_gradient_and_hessian(point):
    x = np.array(point)
    e = infimum.compile(shifted, 2)
    first, second = e.gradient(x, x), e.hessian(x, x)
    with mpmath.workdps(40):
        at = mpmath.mpf(point[0]), mpmath.mpf(point[1]) - mpmath.mpf(0.3)
        for i, t in enumerate(at):
            for order, lo, hi in ((1, first.lo[i], first.hi[i]), (2, second.lo[i, i], second.hi[i, i])):
                true = mpmath.diff(lambda v: mpmath.sinc(mpmath.pi * v), t, order)
                assert lo - 1e-18 <= true <= hi + 1e-18 and hi - lo < 1e-12


def test_a_proof_with_many_local_minima():
    r = infimum.minimize(shifted, [(-4, 4)] * 2)
    assert r.verdict is Verdict.PROVED and r.plain_calls
    assert r.lower <= 2 * MINIMUM <= r.upper and r.upper - r.lower < 1e-6


def test_unbounded_variables():
    r = infimum.minimize(lambda x: np.sinc(x[0]) + 0.01 * x[0] ** 2, [(-np.inf, np.inf)])
    assert r.verdict is Verdict.PROVED and abs(abs(r.x[0]) - 1.3) < 0.2
