"""Values at single points, to the last bit, against Arb."""

import math

import numpy as np
import pytest
from flint import arb, ctx

import infimum
from infimum.expr.point_value import enclose_at_point
from infimum.interval import fixed_point as fixed
from infimum.interval.fixed_point import FixedPointInterval, Unknown
from tests.oracle.arb_values import value
from tests.oracle.campaign import generated

FUNCTIONS = {"exp": fixed.exp, "log": fixed.log, "sin": fixed.sin, "cos": fixed.cos, "sqrt": fixed.root}
RANDOM = np.random.default_rng(0)
POINTS = [*RANDOM.uniform(-40, 40, 150), *np.ldexp(RANDOM.uniform(-1, 1, 150), RANDOM.integers(-400, 300, 150)),
          0.0, 1.0, -1.0, 0.5, 2.0, 6381956970095103 * 2.0**797, 1e22, -1e22, math.pi, math.pi / 2, 1500.0, -1500.0]


def exact(x: FixedPointInterval) -> tuple[arb, arb]:
    ctx.prec = 5000
    return tuple(arb(end) / arb(2) ** fixed.PLACES for end in (x.lo, x.hi))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_elementary_functions(name):
    """They hold the value, and are no wider than what their last places are off by."""
    done = 0
    for x in map(float, POINTS):
        try:
            lo, hi = exact(FUNCTIONS[name](FixedPointInterval.between(x, x)))
        except Unknown:
            assert (name in ("log", "sqrt") and x <= 0) or (name == "exp" and abs(x) > 700), x
            continue
        true = getattr(arb, name)(arb(x))
        assert lo <= true <= hi, (name, x)
        assert hi - lo <= arb(2) ** (22 - fixed.PLACES) * max(1, abs(true)), (name, x)
        done += 1
    assert done > 150


def test_arithmetic_holds():
    rng = np.random.default_rng(1)
    for a, b, c, d in rng.uniform(-3, 3, (300, 4)).tolist():
        x, y = FixedPointInterval.between(min(a, b), max(a, b)), FixedPointInterval.between(min(c, d), max(c, d))
        by_number = [(f"__{name}__", y) for name in ("add", "sub", "mul", "truediv")]
        for name, k in (*by_number, ("__pow__", 2), ("__pow__", 5), ("__pow__", -3)):
            try:
                lo, hi = exact(getattr(x, name)(k))
            except Unknown:
                assert name in ("__truediv__", "__pow__")
                continue
            for p in (a, b, (a + b) / 2):
                for q in (c, d) if k is y else (k,):
                    assert lo <= getattr(arb(p), name)(arb(q) if k is y else q) <= hi


def test_ends_are_the_tightest_doubles():
    third = FixedPointInterval.between(1.0, 1.0) / FixedPointInterval.between(3.0, 3.0)
    assert third.ends() == (1 / 3, math.nextafter(1 / 3, 1)) and (-third).ends() == (-math.nextafter(1 / 3, 1), -1 / 3)
    for x in (0.0, 0.1, -1e300, 5e-324, 1.7976931348623157e308):
        lo, hi = FixedPointInterval.between(x, x).ends()
        assert lo <= x <= hi and (abs(x) < 1e-300 or lo == hi == x)


@pytest.mark.parametrize("first", range(0, 200, 50))
def test_random_expressions(first):
    """They hold Arb's value."""
    found = 0
    for seed in range(first, first + 50):
        checker, rng = generated(seed)
        x = rng.uniform(-2, 2, checker.evaluator.n)
        ends = enclose_at_point(checker.evaluator.f, x)
        if ends is not None:
            found += 1
            true = value(checker.evaluator.f, x, 3000)
            assert arb(ends[0]) <= true <= arb(ends[1]), (seed, ends, true)
    assert found > 5


def test_a_value_below_the_last_bit():
    """The difference is half an ulp, which enclosures by doubles take for one or two."""
    f = infimum.compile(lambda x: np.sqrt(np.abs(x[1] - x[0] ** 2 / 100)), 2)
    a = -10.099999999999959
    b = a * a / 100
    lo, hi = enclose_at_point(f.f, np.array([a, b]))
    ctx.prec = 400
    assert arb(lo) <= abs(arb(b) - arb(a) ** 2 / 100).sqrt() <= arb(hi) and hi == math.nextafter(lo, 1)
    assert f.value(x := np.array([a, b]), x).hi > 1.3 * hi


def test_powers_of_every_sign():
    f = infimum.compile(lambda x: x[0] ** x[1], 2).f
    for x, y, power in ((-3.0, 3.0, -27.0), (-3.0, 2.0, 9.0), (-2.0, -3.0, -0.125), (0.0, 0.0, 1.0), (0.0, 0.5, 0.0)):
        assert enclose_at_point(f, np.array([x, y])) == (power, power)
    lo, hi = enclose_at_point(f, np.array([2.0, 0.5]))
    assert lo < math.nextafter(lo, 9.0) == hi and lo * lo < 2 < hi * hi
    for x, y in ((-3.0, 2.5), (0.0, -1.0), (-3.0, 1e-300)):
        assert enclose_at_point(f, np.array([x, y])) is None
    rounded = infimum.compile(lambda x: x[0] ** (x[1] * 30), 2).f  # 0.1 * 30 is no whole number
    assert enclose_at_point(rounded, np.array([-3.0, 0.1])) is None


def test_what_it_cannot_say():
    for f in (lambda x: np.log(x[0]), lambda x: 1 / x[0], lambda x: np.arctan(x[0]), lambda x: np.exp(np.exp(x[0] + 9))):
        assert enclose_at_point(infimum.compile(f, 1).f, np.array([0.0])) is None
