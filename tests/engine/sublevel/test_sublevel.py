"""Where f is at most t: every sampled point of the set is covered, nothing else is inside, and extents hold from both sides."""

from itertools import product

import numpy as np
import pytest

import infimum
from infimum.sets.set_run import run
from infimum.sets.sublevel_search import Accuracy, SublevelSearch

T = np.linspace(0.0, 3.0, 40)
DATA = np.round(64 * (2.0 * np.exp(-1.1 * T) + 0.1 * np.cos(7 * T))) / 64


def decay(x):
    return np.sum((x[0] * np.exp(-x[1] * T) - DATA) ** 2)


def two_wells(x):
    return (x[0] ** 2 - 1) ** 2 + x[1] ** 2


def ring(x):
    return (x[0] ** 2 + x[1] ** 2 - 1) ** 2


CASES = {  # function, bounds, threshold
    "ellipse": (lambda x: x[0] ** 2 + 1.9 * x[0] * x[1] + x[1] ** 2, [(-3, 3), (-4, 4)], 0.5),
    "two components": (two_wells, [(-2, 2), (-2, 2)], 0.5),
    "one of both, at bounds": (two_wells, [(0.9, 2), (-0.25, 1)], 0.25),
    "ring": (ring, [(-2, 2), (-2, 2)], 0.1),
    "narrow valley": (lambda x: 50 * (x[1] - x[0] ** 2) ** 2 + (1 - x[0]) ** 2, [(-2, 2), (-1, 3)], 0.75),
    "undefined in part": (lambda x: np.sqrt(x[0]) + x[1] ** 2 - np.log(x[1] + 0.5), [(-1, 1), (-1, 1)], 0.6),
    "kinks": (lambda x: np.abs(x[0] - x[1]) + np.maximum(x[0], -2 * x[1]), [(-2, 2), (-2, 2)], 0.5),
    "fit": (decay, [(0, 10), (0, 10)], 0.3),
    "three variables": (lambda x: np.sum(x**2) + x[0] * x[1] * x[2], [(-2, 2)] * 3, 0.5),
    "one variable": (lambda x: np.cos(3 * x[0]) + x[0] ** 2 / 4, [(-4, 4)], 0.2),
}


def searched(name, **settings):
    f, bounds, t = CASES[name]
    lo, hi = np.array(bounds, dtype=float).T
    search = SublevelSearch(infimum.compile(f, len(lo)), (lo, hi), (t, t), np.empty((len(lo), 0)), Accuracy(**settings))
    assert run(search, max_boxes=300_000) is None
    return search, f, lo, hi, t


def samples(lo, hi, count=800):
    """Points of the box, corners among them."""
    points = np.random.default_rng(1).uniform(lo, hi, (count, len(lo)))
    return np.concatenate([points, list(product(*zip(lo, hi, strict=True)))])


@pytest.mark.parametrize("principal", (True, False), ids=("principal axes", "plain"))
@pytest.mark.parametrize("name", CASES)
def test_all_of_the_set_is_covered_and_nothing_else_is_inside(name, principal):
    search, f, lo, hi, t = searched(name, principal=principal, ratio=1.2, width_ratio=None)
    hull = np.min([c.lo for c in search.components], axis=0), np.max([c.hi for c in search.components], axis=0)
    evaluator, points = search.evaluator, np.concatenate([samples(lo, hi), samples(*hull)])
    value = evaluator.value(points.T, points.T)
    belongs, beyond = value.defined & (value.hi <= t), ~(value.lo <= t)
    covered, inside = np.zeros(len(points), bool), np.zeros(len(points), bool)
    for component in search.components:
        paving = component.paving
        low, high = paving.frame.coordinates(points.T, points.T)
        cover = [np.concatenate(pair, axis=1) for pair in zip(paving.inner, paving.left, strict=True)]
        for i in range(len(points)):
            a, b = low[:, i, None], high[:, i, None]
            inside[i] |= ((a >= paving.inner[0]) & (b <= paving.inner[1])).all(axis=0).any()
            covered[i] |= ((b >= cover[0]) & (a <= cover[1])).all(axis=0).any()
    assert belongs.any() and inside.any()
    assert not (belongs & ~covered).any(), "a point of the set is in no box"
    assert not (inside & beyond).any(), "a point of an inner box does not belong to the set"
    (least, _), (_, most) = (tuple(np.sum(v, axis=0)) for v in zip(*(c.paving.volume() for c in search.components), strict=True))
    assert most <= 1.2 * least * (1 + 1e-12)


@pytest.mark.parametrize("name", CASES)
def test_extents_hold_from_both_sides(name):
    search, f, lo, hi, t = searched(name, ratio=None)
    points = samples(np.min([c.lo for c in search.components], axis=0), np.max([c.hi for c in search.components], axis=0))
    value = search.evaluator.value(points.T, points.T)
    belongs = points[value.defined & (value.hi <= t)]
    for i in range(len(lo)):
        inner = [c.inner(i) for c in search.components]
        low, high = min(a for a, _ in inner), max(b for _, b in inner)
        outer = min(c.lo[i] for c in search.components), max(c.hi[i] for c in search.components)
        assert outer[0] <= belongs[:, i].min() and belongs[:, i].max() <= outer[1]
        assert lo[i] <= outer[0] <= low <= high <= outer[1] <= hi[i]
    for c in search.components:
        for i in range(len(lo)):
            low, high = c.inner(i)
            assert c.hi[i] - c.lo[i] <= 1.01 * (high - low) * (1 + 1e-9)
            for sign in (-1, 1):
                point = c.extents[i, sign].point
                assert search.evaluator.value(point, point).hi <= t and ((lo <= point) & (point <= hi)).all()


def test_components_are_told_apart():
    assert len(searched("two components", ratio=None)[0].components) == 2
    assert len(searched("one of both, at bounds", ratio=None)[0].components) == 1


def test_exact_extents():
    """The furthest points of an ellipse, of a set cut off by bounds, and of both wells, by formulas."""
    search = searched("ellipse", ratio=None)[0]
    reach = np.sqrt(0.5 / (1 - 0.95**2))
    assert search.components[0].lo[0] <= -reach <= search.components[0].inner(0)[0] <= -reach * 0.995
    search = searched("one of both, at bounds", ratio=None)[0]
    c, = search.components
    assert c.lo[0] == c.inner(0)[0] == 0.9 and c.lo[1] == c.inner(1)[0] == -0.25
    assert c.inner(0)[1] <= np.sqrt(1.5) <= c.hi[0] and c.hi[1] >= 0.5 >= c.inner(1)[1]


@pytest.mark.parametrize(("f", "bounds", "t", "furthest"), [
    (lambda x: x[0] + x[1], [(-3, -1), (-3, 3)], 0.0, -1.0),           # at the bound, where most points are no minimisers
    (lambda x: x[0] + x[1], [(-3, 4), (-3, 3)], 0.0, 3.0),             # in a corner of the other bounds
    (two_wells, [(-2, 2), (-2, 2)], 1.0, np.sqrt(2.0)),                # parts that touch, with a gradient of 0 between them
    (lambda x: (x[0] - x[1]) ** 2, [(-1, 2), (-3, 1)], 0.0, 1.0),      # a line: no inner points at all
    (lambda x: np.where(x[0] < 0.5, 0.0, 2.0) + x[1] ** 2, [(-1, 2), (-1, 1)], 1.0, 0.5),  # at a jump, not attained
    (lambda x: x[0] ** 3 + x[1] ** 2, [(-2, 2), (-1, 1)], 0.0, 0.0),   # a cusp
])
def test_furthest_points_of_unusual_sets(f, bounds, t, furthest):
    lo, hi = np.array(bounds, dtype=float).T
    search = SublevelSearch(infimum.compile(f, 2), (lo, hi), (t, t), np.empty((2, 0)), Accuracy(ratio=None))
    run(search, max_boxes=100_000)
    assert (max(c.hi[0] for c in search.components) if search.components else search.covering.hi[0].max()) >= furthest
    inner = [c.inner(0)[1] for c in search.components if c.inner(0) is not None]
    assert max(inner, default=-np.inf) <= furthest


@pytest.mark.parametrize("t", (-1e-9, -1.0))
def test_below_the_minimum_the_set_is_empty(t):
    f, bounds, _ = CASES["two components"]
    lo, hi = np.array(bounds, dtype=float).T
    search = SublevelSearch(infimum.compile(f, 2), (lo, hi), (t, t), np.empty((2, 0)))
    assert run(search) is None and not search.components and not len(search.covering)


def test_a_part_that_turns_out_to_be_empty():
    """A second well that lies hardly above t: nothing is left of it in the end, nor of a set that is hardly empty."""
    lo, hi = np.full(2, -2.0), np.full(2, 2.0)
    evaluator = infimum.compile(lambda x: (x[0] ** 2 - 1) ** 2 + x[1] ** 2 + 0.125 * x[0], 2)
    least = float(evaluator.value([-1.0151, 0.0], [-1.0151, 0.0]).hi)
    for t, parts in ((0.1238, 1), (least - 1e-4, 0)):
        search = SublevelSearch(evaluator, (lo, hi), (t, t), np.empty((2, 0)), Accuracy(ratio=None))
        assert run(search) is None and len(search.components) == parts and (parts or not len(search.covering))


def test_a_flat_set():
    """x0 alone matters: the set is a strip from bound to bound."""
    lo, hi = np.array([-2.0, -3.0]), np.array([2.0, 5.0])
    search = SublevelSearch(infimum.compile(lambda x: x[0] ** 2 + 0 * x[1], 2), (lo, hi), (0.25, 0.25), np.empty((2, 0)))
    assert run(search) is None
    c, = search.components
    assert (c.lo[1], c.hi[1]) == (-3.0, 5.0) == c.inner(1)
    assert c.lo[0] <= -0.5 <= c.inner(0)[0] and c.inner(0)[1] <= 0.5 <= c.hi[0] <= 0.505
    (least, _), (_, most) = c.paving.volume()
    assert least <= 8.0 <= most <= 1.05 * least


def test_a_variable_that_is_held():
    """Its bounds are equal: the set has no volume, but extents."""
    lo, hi = np.array([-2.0, 0.5]), np.array([2.0, 0.5])
    search = SublevelSearch(infimum.compile(lambda x: x[0] ** 2 + x[1] ** 2, 2), (lo, hi), (1.0, 1.0), np.empty((2, 0)))
    assert run(search) is None
    c, = search.components
    assert (c.lo[1], c.hi[1]) == (0.5, 0.5) and c.inner(0)[1] <= np.sqrt(0.75) <= c.hi[0] <= 0.875 and c.paving is None


def test_between_two_thresholds():
    """What lies between is neither inside nor left out."""
    lo, hi = np.full(2, -2.0), np.full(2, 2.0)
    search = SublevelSearch(infimum.compile(lambda x: x[0] ** 2 + x[1] ** 2, 2), (lo, hi), (0.81, 1.0), np.empty((2, 0)),
                            Accuracy(ratio=1.3))
    run(search, max_boxes=100_000)
    c, = search.components
    (least, _), (_, most) = c.paving.volume()
    assert least <= np.pi * 0.81 and most >= np.pi and c.inner(0)[1] <= 0.9 and c.hi[0] >= 1.0


def test_stopped_early_all_holds():
    f, bounds, t = CASES["ring"]
    lo, hi = np.array(bounds, dtype=float).T
    for boxes in (1, 500, 20_000):
        search = SublevelSearch(infimum.compile(f, 2), (lo, hi), (t, t), np.empty((2, 0)), Accuracy(ratio=1.0 + 1e-9))
        assert "the limit is" in run(search, max_boxes=boxes)
        where = search.components or [search.covering]
        points = samples(lo, hi, 2000)
        inside = points[search.evaluator.value(points.T, points.T).hi <= t]
        covered = np.zeros(len(inside), bool)
        for part in where:
            region, at = getattr(part, "covering", part), inside.T[:, :, None]
            covered |= ((at >= region.lo[:, None]) & (at <= region.hi[:, None])).all(axis=0).any(axis=1)
        assert covered.all()
