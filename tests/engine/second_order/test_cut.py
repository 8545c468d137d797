"""Regions that lie partly around a minimiser: pieces that cover the rest, and what a closer look leaves of them."""

import numpy as np
import pytest

import infimum
from infimum.certify.box_difference import beyond, beyond_one_side
from infimum.certify.narrow_regions import discard_by_pieces
from infimum.certify.region_isolation import IsolationProblem, isolate_regions
from infimum.problem.start_boxes import StartBoxes
from infimum.search.region_pool import Regions


def random_boxes(rng, n, count):
    """With ends on a coarse grid, so that many touch and some are flat."""
    ends = np.sort(rng.integers(0, 7, (2, n, count)).astype(float), axis=0)
    return ends[0], ends[1]


def holds(lo, hi, points):
    """Which boxes (rows) hold which points (columns)."""
    return ((lo[:, :, None] <= points[:, None]) & (points[:, None] <= hi[:, :, None])).all(axis=0)


@pytest.mark.parametrize("n", (1, 2, 3))
def test_pieces_and_the_box_cover_each_region(n):
    rng = np.random.default_rng(n)
    for _ in range(50):
        (lo, hi), box = random_boxes(rng, n, 8), tuple(end[:, 0] for end in random_boxes(rng, n, 1))
        points = np.concatenate([rng.uniform(0, 6, (n, 200)), rng.integers(0, 7, (n, 200))], axis=1)
        which, low, high = beyond(lo.copy(), hi.copy(), box)
        assert (low >= lo[:, which]).all() and (high <= hi[:, which]).all() and (low <= high).all()
        inside, in_box = holds(lo, hi, points), holds(box[0][:, None], box[1][:, None], points)
        in_pieces = np.array([holds(low[:, which == k], high[:, which == k], points).any(axis=0) for k in range(8)])
        assert ((inside & ~in_box) <= in_pieces).all() and (in_pieces <= inside).all()
        shrunk, low, high = beyond_one_side(lo, hi, box)
        for k, a, b in zip(shrunk, low.T, high.T, strict=True):
            left = holds(a[:, None], b[:, None], points)[0]
            assert ((inside[k] & ~in_box[0]) <= left).all() and (left <= inside[k]).all()
            assert ((a > lo[:, k]) | (b < hi[:, k])).sum() == 1


def regions_of(f, lo, hi):
    count = lo.shape[1]
    return Regions(lo, hi, f.value(lo, hi).lo, np.zeros(count, np.int32), np.full(count, 3, np.int8))


def tiles(corner, side, count):
    """count by count boxes from a corner."""
    ends = np.linspace(corner, corner + side, count + 1).T
    at = np.indices((count, count)).reshape(2, -1)
    return [np.stack([ends[i][at[i] + k] for i in range(2)]) for k in (0, 1)]


def rosenbrock(x):
    return 100 * (x[1] - x[0] ** 2) ** 2 + (1 - x[0]) ** 2


def test_regions_that_reach_beyond_are_cut_and_none_is_added():
    """Tiles over a part that is not convex as a whole: only those around the minimiser lie in B, others partly."""
    f, lo, hi = infimum.compile(lambda x: (x[0] ** 2 - 1) ** 2 + (x[1] - 1) ** 2, 2), np.full(2, -5.0), np.full(2, 10.0)
    regions = regions_of(f, *tiles(np.zeros(2), 2.0, 15))
    group = [(np.zeros(2), np.full(2, 2.0))]
    settled = isolate_regions(IsolationProblem(f, lo, hi), regions, group, (0.0, 1e-9), None, last=False)
    assert 1 < len(settled.left) < len(regions) and len(settled.minimisers) == 1
    cut = ~np.array([any((a == regions.lo[:, k]).all() and (b == regions.hi[:, k]).all() for k in range(len(regions)))
                     for a, b in zip(settled.left.lo.T, settled.left.hi.T, strict=True)])
    assert cut.sum() > 1, "K, and parts of regions"
    assert ((settled.left.lo <= 1.0) & (settled.left.hi >= 1.0)).all(axis=0).any()
    settled = isolate_regions(IsolationProblem(f, lo, hi), regions, group, (0.0, 1e-9), None)
    assert len(settled.left) == 1 and settled.rest == 0 and settled.why is None


def test_a_closer_look_loses_no_minimiser():
    """Without any box known, regions around minimisers of many kinds stay: inside, at kinks, on faces, on curves."""
    cases = [(rosenbrock, [1.0, 1.0]), (lambda x: abs(x[0] - 0.3) + abs(x[1] - x[0]), [0.3, 0.3]),
             (lambda x: x[0] ** 4 + (x[1] - 1) ** 2, [0.0, 1.0]), (lambda x: x[0] + x[1] ** 2, [-1.0, 0.0]),
             (lambda x: np.floor(3 * x[0]) ** 2 + x[1] ** 2, [0.0, 0.0]), (lambda x: np.sqrt(x[0]) + x[1] ** 2, [0.0, 0.0])]
    for fun, x in cases:
        f = infimum.compile(fun, 2)
        lo, hi = np.full(2, -1.0), np.full(2, 2.0)
        regions = regions_of(f, *tiles(np.array(x) - 0.05 * (np.array(x) > lo), 0.11, 4))
        with np.errstate(all="ignore"):
            which, left = discard_by_pieces(f, lo, hi, None, regions, [], float(f.value(x, x).hi))
        assert holds(left.lo, left.hi, np.array(x)[:, None]).any()
        assert (left.lo >= regions.lo[:, which]).all() and (left.hi <= regions.hi[:, which]).all()
        assert (left.lower == regions.lower[which]).all()


def test_a_closer_look_respects_the_faces_of_start_boxes():
    """x[0] rises, and its lowest points lie where a start box begins: inside the bounds, and not continued by another box."""
    f, lo, hi = infimum.compile(lambda x: x[0] + x[1] ** 2, 2), np.full(2, -1.0), np.full(2, 2.0)
    start = StartBoxes(np.array([[0.5, 1.0], [-0.5, -0.5]]), np.array([[1.0, 1.5], [0.5, 0.5]]))
    regions = regions_of(f, *tiles(np.array([0.5, -0.125]), 0.25, 2))
    _, left = discard_by_pieces(f, lo, hi, start, regions, [], 0.5)
    assert holds(left.lo, left.hi, np.array([[0.5], [0.0]])).any() and (left.hi[0] == 0.5).all()
    regions = regions_of(f, *tiles(np.array([1.0, -0.125]), 0.25, 2))
    assert not len(discard_by_pieces(f, lo, hi, start, regions, [], 5.0)[1]), "here the other box goes on"
