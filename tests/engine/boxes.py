"""Regions to try splitters and pools on: ordinary, huge, tiny, subnormal, a few ulps wide, points, unbounded."""

import math

import numpy as np
from hypothesis import strategies as st

from infimum.search.region_pool import Regions

INF, MAX, TINY = np.inf, float(np.finfo(float).max), 5e-324
ENDS = st.one_of(st.floats(allow_nan=False, allow_infinity=False), st.floats(-10, 10), st.floats(-1e-310, 1e-310),
                 st.sampled_from([0.0, -0.0, 1.0, -1.0, 0.5, -0.5, TINY, -TINY, MAX, -MAX, 2.0**-1022, 1e308, -1e308]))


@st.composite
def intervals(draw, unbounded: bool = True) -> tuple[float, float]:
    """Ordinary, huge, tiny, subnormal, a few ulps wide, a point, unbounded."""
    a = draw(ENDS)
    kind = draw(st.integers(0, 9))
    if kind < 4:
        b = draw(ENDS)
    else:
        b = a
        for _ in range(kind - 4):
            b = min(math.nextafter(b, INF), MAX)
    lo, hi = min(a, b), max(a, b)
    if unbounded and draw(st.integers(0, 5)) == 0:
        lo, hi = draw(st.sampled_from([(-INF, hi), (lo, INF), (-INF, INF)]))
    return lo, hi


@st.composite
def some_regions(draw) -> Regions:
    n, count = draw(st.integers(1, 3)), draw(st.integers(1, 6))
    sides = [[draw(intervals()) for _ in range(count)] for _ in range(n)]
    lo, hi = (np.array([[side[end] for side in row] for row in sides]) for end in (0, 1))
    axis = np.array([draw(st.integers(0, n - 1)) for _ in range(count)], np.int32)
    return Regions(lo, hi, np.zeros(count), axis, np.zeros(count, np.int8))


def one_region(lo: list[float], hi: list[float]) -> Regions:
    """One box, to be cut along its first variable."""
    return Regions(np.array(lo)[:, None], np.array(hi)[:, None], np.zeros(1), np.zeros(1, np.int32), np.zeros(1, np.int8))
