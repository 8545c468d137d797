"""Random test functions of the benchmarks: what their minimisers are said to be holds."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.black_boxes import GKLS, drawn, gkls, parameters, radii
from bench.constrained_boxes import CONSTRAINED, constrained, slope

SEEDS = st.integers(0, 10_000)


@given(st.sampled_from(sorted(GKLS)), SEEDS)
@settings(deadline=None, max_examples=40)
def test_gkls_minima_are_as_claimed(name, seed):
    """The least value is -1, at its distance from the vertex and nowhere else; each centre is the lowest point of its ball; balls
    do not overlap."""
    n, (distance, radius) = int(name[0]), GKLS[name]
    random = np.random.default_rng(seed)
    p = parameters(random, n, distance, radius)
    box, places, rho = gkls(p), np.array(p["local_min"]), np.array(p["rho"])
    assert np.all(np.abs(places) <= 1) and rho[1] == radius and min(p["f"][2:]) > -1
    assert np.linalg.norm(places[0] - places[1]) == pytest.approx(distance) and box.fun(places[1]) == pytest.approx(-1)
    apart = np.linalg.norm(places[:, None] - places, axis=2) - rho - rho[:, None]
    assert np.min(apart + np.diag([math.inf] * len(places))) >= -1e-12
    for centre, value, reach in zip(places[1:], p["f"][1:], rho[1:], strict=True):
        ways = random.normal(size=(20, n))
        ways *= reach * random.uniform(0.05, 1, (20, 1)) / np.linalg.norm(ways, axis=1, keepdims=True)
        assert box.fun(centre) == pytest.approx(value) and all(box.fun(centre + way) > value for way in ways)
    assert min(box.fun(x) for x in random.uniform(-1, 1, (100, n))) > -1


@given(st.sampled_from(sorted(GKLS)), SEEDS)
@settings(deadline=None, max_examples=40)
def test_gkls_functions_are_smooth_across_the_edges_of_balls(name, seed):
    """Values and slopes meet: steps of 1e-6 to both sides differ by what a curvature explains."""
    n = int(name[0])
    random = np.random.default_rng(seed)
    p = parameters(random, n, *GKLS[name])
    f, step = gkls(p).fun, 1e-6
    for centre, reach in zip(p["local_min"][1:], p["rho"][1:], strict=True):
        way = random.normal(size=n)
        way /= np.linalg.norm(way)
        edge = np.array(centre) + reach * way
        inside, at, outside = (f(edge + t * way) for t in (-step, 0.0, step))
        assert abs(outside - 2 * at + inside) <= 100 * (1 + 1 / reach**2) * step**2 + 1e-14 * (1 + abs(at))


def test_gkls_functions_are_the_same_for_the_same_seed():
    first, again, other = (drawn("3-hard", 3, seed) for seed in (4, 4, 5))
    x = np.full(3, 0.1)
    assert [b.fun(x) for b in first] == [b.fun(x) for b in again] != [b.fun(x) for b in other]


def test_radii_by_hand():
    """Half the way to the nearest, then up to the balls of others; the second as given."""
    places = np.array([[0.0, 0.0], [0.8, 0.0], [0.0, 0.4]])
    assert radii(places, 0.1) == pytest.approx([0.2 * 0.99, 0.1, 0.2 * 0.99])


@pytest.mark.parametrize("kind", CONSTRAINED)
@pytest.mark.parametrize("n", [2, 3, 5])
def test_constrained_minimisers_are_as_claimed(kind, n):
    """The minimiser is feasible with as many constraints at 0 as said, no sampled feasible point is lower, near it or elsewhere,
    and lower values are behind the boundary."""
    _, count, active, part = CONSTRAINED[kind]
    for number in range(3):
        box, random = constrained(kind, n, number, 7), np.random.default_rng(number)
        found = box.values(box.minimiser)
        assert len(found) == count + 1 and sum(v == 0 for v in found[:-1]) == active
        assert found[-1] == pytest.approx(-1) and abs(box.feasible_part / part - 1) < 0.1
        around = [box.minimiser + random.normal(size=(200, n)) * size for size in (0.2, 0.02, 0.002)]
        points = np.clip(np.concatenate([random.uniform(-1, 1, (1500, n)), *around]), -1, 1)
        values = [box.values(x) for x in points]
        feasible = [v[-1] for v in values if len(v) == count + 1]
        assert len(feasible) > 30 and min(feasible) > -1
        assert min(box.fun(x) for x in points) < -1 - 1e-4
        assert slope(box.fun, box.minimiser) > 0.5


def test_constrained_problems_are_the_same_for_the_same_arguments():
    x = np.array([0.2, -0.4])
    first, again, other = (constrained("hard", 2, number, 1) for number in (5, 5, 6))
    assert first.values(x) == again.values(x) and first.fun(x) == again.fun(x) != other.fun(x)
    assert len(first.values(x)) <= 4 and all(v <= 0 for v in first.values(x)[:-1])
