"""x**y held against Arb: the sign of the base, times how many whole numbers the exponents hold."""

from itertools import product

import numpy as np
import pytest

from infimum.evaluation.compile import compile
from infimum.expr.build import build, index
from infimum.expr.node import Expr, const, var
from infimum.interval.pair import DEFINED, LIPSCHITZ, SMOOTH, UNDEFINED
from infimum.trace.trace import trace
from tests.oracle.check import check

BASES = [(-3.0, -2.0), (-2.5, -0.0), (-1.5, 2.0), (0.0, 0.0), (0.0, 1.5), (0.5, 3.0), (-1e-160, 1e-170), (-np.inf, -2.0),
         (-1.0, -1.0), (-3.0, -3.0), (1.0, 1.0), (-np.inf, np.inf)]
EXPONENTS = [(3.0, 3.0), (2.0, 2.0), (1.0, 1.0), (0.0, 0.0), (-0.0, 0.0), (-1.0, -1.0), (-2.0, -2.0), (2.5, 2.5), (2.25, 2.75),
             (1.5, 2.5), (2.5, 3.0), (-1.5, 2.5), (-0.5, 0.0), (0.0, 0.5), (3.0, np.nextafter(3.0, 4.0)),
             (np.nextafter(2.0, 0.0), 2.0), (1e17, 1e17), (2.0**53, 2.0**53 + 2), (-np.inf, np.inf), (10.0, np.inf)]
BOXES = np.array([(*x, *y) for x, y in product(BASES, EXPONENTS)])
X = var("x", (2,))
BASE, EXPONENT = index(X, 0), index(X, 1)


def points(lo: np.ndarray, hi: np.ndarray) -> np.ndarray:
    """Of a box: ends and middles of the base, with ends, whole numbers and others of the exponent."""
    low, high = np.clip(lo, -40.0, 1e18), np.clip(hi, -1e18, 40.0 + (hi > 1e9) * 1e18)
    bases = {low[0], high[0], (low[0] + high[0]) / 2, min(max(-1.0, low[0]), high[0])}
    first, last = np.ceil(low[1]), np.floor(high[1])
    some = {first, last, first + 1, (low[1] + high[1]) / 2, low[1], high[1]}
    exponents = {y for y in some if low[1] <= y <= high[1]}
    return np.array([(x, y) for x in sorted(bases) for y in sorted(exponents)])


WRITTEN = {
    "of two variables": build("pow", BASE, EXPONENT),
    "of a size": build("pow", build("abs", BASE), EXPONENT),
    "with a jump": build("pow", BASE, build("floor", EXPONENT)),
    "with another jump": build("pow", BASE, build("add", build("rint", EXPONENT), 1.0)),
    "by a choice": build("pow", BASE, build("where", build("lt", EXPONENT, 2.0), 2.0, 3.0)),
    "that is no whole number": build("pow", BASE, build("add", build("rint", EXPONENT), 0.5)),
    "that does not change": build("pow", BASE, build("add", 3.0, build("mul", 0.0, EXPONENT))),
    "of a product that is rounded": build("pow", BASE, build("mul", 0.1, build("add", build("mul", 0.0, EXPONENT), 30.0))),
    "with several exponents": build("sum", build("pow", build("broadcast", BASE, shape=(3,)), const([2.0, 3.0, 2.0])), axes=(0,)),
    "some of them whole": build("sum", build("pow", build("broadcast", BASE, shape=(2,)), const([2.0, 2.5])), axes=(0,)),
    "that lies between doubles": build("pow", BASE, const(np.array(3.0), np.array(np.nextafter(3.0, 4.0)))),
    "of a negative number": build("pow", -3.0, EXPONENT),
}


@pytest.mark.parametrize("name", WRITTEN)
def test_powers(name):
    lo, hi = BOXES[:, ::2].T, BOXES[:, 1::2].T
    there = [points(lo[:, k], hi[:, k]) for k in range(len(BOXES))]
    undefined = 0
    for fraction in (0.5,) if "between" not in name else (0.0, 0.5):
        found = check(WRITTEN[name], 2, (lo, hi), there, share=0.2, fraction=fraction)
        assert found.values > 400, found.table()
        undefined += found.undefined
    assert undefined > 100 or name in EVERYWHERE


EVERYWHERE = ("of a size", "with a jump", "with another jump", "by a choice", "that does not change", "with several exponents")


def level(f, *sides) -> int:
    lo, hi = np.array(sides, float).T
    return int(compile(f, len(sides)).value(lo, hi).level)


def test_the_status_of_a_whole_exponent():
    power = "x0 ** x1"
    for f, known in ((lambda x: x[0] ** x[1], DEFINED), (lambda x: x[0] ** np.rint(x[1]), SMOOTH)):
        assert level(f, (-3, -2), (3, 3)) == known, power
        assert level(f, (-3, 2), (3, 3)) == known
        assert level(f, (-3, 2), (0, 0)) == DEFINED and level(f, (-3, 2), (-1, -1)) == UNDEFINED
        assert level(f, (-3, -2), (-1, -1)) == known
        assert level(f, (1, 2), (2, 2)) == SMOOTH
    assert level(lambda x: x[0] ** np.rint(x[1]), (-3, 2), (1, 1)) == LIPSCHITZ
    assert level(lambda x: x[0] ** np.rint(x[1]), (-3, -2), (2, 4)) == DEFINED, "a whole number everywhere, with jumps"
    assert level(lambda x: x[0] ** x[1], (-3, -2), (2, 4)) == UNDEFINED
    assert level(lambda x: x[0] ** (3 + 0 * x[1]), (-3, -2), (2, 4)) == DEFINED
    assert level(lambda x: x[0] ** (0.1 * (30 + 0 * x[1])), (-3, -2), (2, 4)) == UNDEFINED, "only rounding decides"
    assert level(lambda x: x[0] ** np.log(x[1]) ** 0, (-3, -2), (0, 4)) == UNDEFINED


def enclosed(f, *sides) -> tuple[float, float, int]:
    lo, hi = np.array(sides, float).T
    found = compile(f, len(sides)).value(lo, hi)
    return float(found.lo), float(found.hi), int(found.level)


@pytest.mark.parametrize("k", (-3, -2, -1, 0, 1, 2, 3, 4, 7, 64))
def test_a_whole_exponent_gives_the_integer_power(k):
    """To a few units of the last place, with the same infinite ends, on boxes of every sign."""
    boxes = np.array([side for side in BASES if side != (-np.inf, np.inf)]).T
    one = compile(lambda x: x[0] ** k, 1).value(boxes[:1], boxes[1:])
    two = compile(lambda x: x[0] ** x[1], 2).value(np.vstack([boxes[:1], np.full(len(boxes.T), k)]),
                                                   np.vstack([boxes[1:], np.full(len(boxes.T), k)]))
    assert np.array_equal(one.empty, two.empty) and np.array_equal(one.defined, two.defined)
    for end, other in ((one.lo, two.lo), (one.hi, two.hi)):
        finite = np.isfinite(end)
        assert np.array_equal(end[~finite], other[~finite])
        assert (np.abs(end[finite] - other[finite]) <= 2.0**-50 * np.abs(end[finite]) + 1e-322).all(), (k, boxes, end, other)


def test_few_whole_numbers_are_not_taken_for_many():
    assert enclosed(lambda x: x[0] ** x[1], (-3, -2), (1.5, 2.5))[:2] == (4.0, pytest.approx(9.0)), "2 alone"
    assert enclosed(lambda x: x[0] ** x[1], (-3, -2), (2.5, 3.5))[:2] == (pytest.approx(-27.0), -8.0), "3 alone"
    assert compile(lambda x: x[0] ** x[1], 2).value([-3.0, 2.25], [-2.0, 2.75]).empty


def test_simplified_or_not_a_power_is_the_same_function():
    """Written by NumPy's operator, as a constant becomes an integer power; and with the same number as the end of a variable."""
    f, g = (trace(lambda x, k=k: x[0] ** k, 1) for k in (3, 3.0))
    assert isinstance(f, Expr) and f is g
