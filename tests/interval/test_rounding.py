"""np.rint: exact at every double, and a step at half-integers."""

import numpy as np

from infimum.evaluation.compile import compile

UNDEFINED, DEFINED, LIPSCHITZ, SMOOTH = range(4)
HALVES = np.concatenate([np.arange(-9.5, 10.0), [2.0**51 + 0.5, -(2.0**51) - 0.5, 2.0**52 - 0.5]])
NEAR = np.concatenate([HALVES, np.nextafter(HALVES, np.inf), np.nextafter(HALVES, -np.inf)])
LARGE = np.array([2.0**52 + 1, 2.0**53 + 2, 1e300, -1e300])
POINTS = np.concatenate([NEAR, LARGE, np.arange(-3.0, 4.0), [0.0, -0.0, 5e-324, -5e-324, 0.3, -0.3]])
RINT = compile(lambda x: np.rint(x[0]), 1)


def enclosed(lo, hi):
    return RINT.value(np.atleast_2d(lo), np.atleast_2d(hi))


def test_points_are_exact():
    r = enclosed(POINTS, POINTS)
    assert (r.lo == np.rint(POINTS)).all() and (r.hi == np.rint(POINTS)).all()
    assert (RINT.estimate(POINTS[None]) == np.rint(POINTS)).all()


def test_the_range_of_a_box_is_that_of_its_ends():
    lo, hi = np.meshgrid(POINTS, POINTS)
    lo, hi = lo[lo <= hi], hi[lo <= hi]
    r = enclosed(lo, hi)
    assert (r.lo == np.rint(lo)).all() and (r.hi == np.rint(hi)).all()


def test_smooth_away_from_half_integers_alone():
    """Both halves next to an even integer belong to it: the value is constant on the closed box, and jumps just outside."""
    inside = np.abs(POINTS - np.rint(POINTS)) < 0.5
    assert inside.any() and not inside.all()
    assert (enclosed(POINTS, POINTS).level == np.where(inside, SMOOTH, DEFINED)).all()
    for lo, hi, level in ((-0.5, 0.5, DEFINED), (-0.5, 0.0, DEFINED), (0.0, 0.5, DEFINED), (-0.4, 0.4, SMOOTH),
                          (0.5, 1.0, DEFINED), (0.6, 1.4, SMOOTH), (0.6, 1.6, DEFINED), (1.5, 2.5, DEFINED)):
        assert enclosed(lo, hi).level == level
    for lo, hi in ((-np.inf, 0.0), (0.0, np.inf), (-np.inf, np.inf)):
        r = enclosed(lo, hi)
        assert r.level == DEFINED and r.lo <= lo and r.hi >= hi
