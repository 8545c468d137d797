"""Bounds that say little: starts lie near 0 too, and the first point narrows what is searched."""

import numpy as np

import infimum
from infimum.points.constrained_search import ConstrainedSearch

FAR = 1e8


def curve(x):
    return x[0] * x[1] - 3 * x[1] - np.exp(x[0] - 3) + 1 >= 0


def f(x):
    return (x[0] - 8) ** 2 + x[1] ** 2 - 10 * x[1] + x[2]


def asked(x):
    return [curve(x), 11 - x[0] ** 2 + 6 * x[0] - 4 * x[1] >= 0, x[2] >= np.cos(x[0] * x[1])]


def test_starts():
    lo, hi = np.array([-FAR, 0.0, 5e7, -1.0]), np.array([FAR, FAR, np.inf, 1.0])
    search = ConstrainedSearch(infimum.compile(lambda x: x[0], 4, constraints=lambda x: x[0] + x[1] >= 1), lo, hi)
    assert search.is_wide
    starts = search._spread(np.random.default_rng(1).uniform(size=(4, 80)), 0)
    assert ((starts >= lo[:, None]) & (starts <= hi[:, None])).all()
    assert np.count_nonzero(np.abs(starts[0]) <= 1024) >= 60 and np.count_nonzero(starts[1] > 1e4) >= 10
    assert (search._middle(lo[:, None], hi[:, None])[:2, 0] == [0.0, 1.0]).all()
    search.better = np.array([-2.0, 1.0, 5e7, 0.0]), np.array([3.0, 4.0, 6e7, 1.0])
    assert (search._spread(np.full((4, 1), 0.5), 0)[:2, 0] == [0.5, 2.5]).all()


def test_the_same_bits_when_resumed(tmp_path):
    bounds = [(0, FAR), (0, FAR), (-FAR, FAR)]
    whole = infimum.minimize(f, bounds, constraints=asked)
    path = str(tmp_path / "run")
    infimum.minimize(f, bounds, constraints=asked, checkpoint=path, max_boxes=whole.nfev // 2)
    r = infimum.resume(path, f, constraints=asked)
    assert whole.verdict is r.verdict is infimum.Verdict.PROVED
    assert (r.lower, r.upper, r.nfev) == (whole.lower, whole.upper, whole.nfev) and np.array_equal(r.x, whole.x)
    tight = infimum.minimize(f, [(0, 8), (0, 8), (-2, 2)], constraints=asked)
    assert tight.lower <= whole.upper and whole.lower <= tight.upper
