"""Bounds as far apart as doubles are, and regions as narrow as they are."""

from fractions import Fraction

import numpy as np
import pytest

import infimum
from infimum.problem.cover import widths
from infimum.result import Verdict

FAR = 1.7e308
TINY = 5e-324


@pytest.mark.parametrize(("f", "n", "minimum", "place"), [
    (lambda x: 1e-300 * x[0], 1, -1.7e8, -FAR),
    (lambda x: -1e-300 * x[0], 1, -1.7e8, FAR),
    (lambda x: np.sum(1e-300 * x), 8, -8 * 1.7e8, -FAR),
    (lambda x: np.abs(1e-300 * x[0] - 3), 1, 0.0, 3e300),
    (lambda x: np.sum((1e-300 * x - 3) ** 2), 8, 0.0, 3e300)])
@pytest.mark.parametrize("xtol", (None, 1e295))
def test_where_the_width_is_no_double(f, n, minimum, place, xtol):
    """A function that rises is proved at its corner at once, others are cut and swept to their minimiser."""
    r = infimum.minimize(f, [(-FAR, FAR)] * n, xtol=xtol)
    assert r.verdict is Verdict.PROVED and r.lower <= minimum + 1e-5 and r.upper >= minimum - 1e-5
    assert np.allclose(r.x, place, rtol=1e-3, atol=0)
    assert any((lo <= place).all() and (place <= hi).all() for lo, hi in r.boxes)


def test_a_sweep_cuts_where_the_width_is_no_double():
    """The lower half of the slices of [-1.7e308, 1.7e308] is ruled out by a point above."""
    r = infimum.minimize(lambda x: np.sum(np.abs(1e-308 * x - 1.2)), [(-FAR, FAR)] * 40, max_boxes=1)
    lo, hi = r.boxes[0]
    assert (lo > 0).all() and (lo <= 1.2e308).all() and (1.2e308 <= hi).all()


@pytest.mark.parametrize("engine", ("auto", "newton", "complete"))
@pytest.mark.parametrize(("bounds", "xtol"), [((1.0, 1 + 2.0**-50), 2.0**-52), ((0.0, 8 * TINY), TINY), ((0.0, 1.0), 2.0**-4)])
def test_a_width_of_exactly_xtol_is_not_wider(engine, bounds, xtol):
    r = infimum.minimize(lambda x: 0 * x[0], [bounds], xtol=xtol, engine=engine)
    assert r.verdict is Verdict.PROVED and len(r.regions) == (bounds[1] - bounds[0]) / xtol


def test_xtol_below_the_distance_of_doubles_is_said():
    """The minimiser, the root of 2, is no double."""
    r = infimum.minimize(lambda x: np.abs(x[0] ** 2 - 2), [(0, 1.5)], xtol=1e-20)
    assert r.verdict is Verdict.UNDECIDED and 0 <= r.upper < 1e-15
    assert r.message == "no double is left to cut at, and regions are still wider than xtol"


@pytest.mark.parametrize("seed", range(4))
def test_widths_are_differences_rounded_up(seed):
    rng = np.random.default_rng(seed)
    lo = np.concatenate([rng.normal(size=200) * 10.0 ** rng.integers(-320, 300, 200), [-FAR, 0.0, TINY, 1.0, -1e308]])
    hi = np.concatenate([lo[:100] + np.abs(rng.normal(size=100)), np.maximum(lo[100:200], rng.normal(size=100) * 1e10),
                         [FAR, TINY, 2 * TINY, 1.0, 7e307]])
    for a, b, width in zip(lo.tolist(), hi.tolist(), widths(lo, hi).tolist(), strict=True):
        exact = Fraction(b) - Fraction(a)
        if width == np.inf:
            assert exact > Fraction(np.finfo(float).max)
        else:
            assert Fraction(width) >= exact and (width == 0 or Fraction(float(np.nextafter(width, 0))) < exact)
