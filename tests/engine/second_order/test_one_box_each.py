"""Where the Hessian is positive definite at the minimisers, with or without strict complementarity at bounds, one box is left for
each local minimiser whose value is not excluded: many functions with known minimisers, moved and rotated."""

from functools import partial
from itertools import product

import numpy as np
import pytest

import infimum


def rotation(rng, n):
    """By Householder's reflections: no library's factors."""
    turn = np.eye(n)
    for _ in range(n):
        v = rng.normal(size=n)
        turn = turn - 2 * np.outer(turn @ v, v) / (v @ v)
    return turn


def settled(f, sides, minimisers, **options):
    """Every one of them in a box of its own, and nothing else left."""
    r = infimum.minimize(f, sides, **{"xtol": 1e-2, **options})
    found = r.minimisers.may_be_global
    assert r.success and r.minimisers.rest == 0 and r.minimisers.why is None, r.minimisers
    assert len(found) == len(minimisers), r.minimisers
    for x in minimisers:
        near = [m for m in found if (m.lo <= np.array(x) + 1e-9).all() and (m.hi >= np.array(x) - 1e-9).all()]
        assert len(near) == 1 and (near[0].hi - near[0].lo < 1e-7).all() and r.regions.count <= 16


def bowl(turn, stretch, at, x):
    y = turn @ (x - at)
    return np.sum(stretch * y**2) + (0.1 * np.sum(y**4) if len(x) <= 5 else 0.0)


@pytest.mark.parametrize("n", (2, 3, 5, 8, 10))
def test_inside(n):
    rng = np.random.default_rng(n)
    at = rng.uniform(-1, 1, n)
    settled(partial(bowl, rotation(rng, n), np.exp(rng.uniform(-1, 1, n)), at), [(-2, 2.5)] * n, [at])


@pytest.mark.parametrize("n", (2, 3, 5))
@pytest.mark.parametrize("held", (1, 2))
def test_on_faces(n, held):
    """Some variables are pushed against bounds; the others are found by Newton's method with these fixed."""
    rng = np.random.default_rng(10 * n + held)
    at, turn, stretch = rng.uniform(-0.5, 0.5, n), rotation(rng, n), np.exp(rng.uniform(-1, 1, n))
    matrix = turn.T @ (stretch[:, None] * turn)
    x, free = at.copy(), np.arange(held, n)
    x[:held] += 0.75
    if len(free):  # of x·Mx the lowest point with the first variables fixed
        x[held:] = at[held:] - np.linalg.solve(matrix[held:, held:], matrix[held:, :held] @ (x - at)[:held])
    if not (matrix[:held] @ (x - at) > 0).all():
        pytest.skip("another face holds the minimiser")
    sides = [(float(x[i]), 3.0) if i < held else (-4.0, 4.0) for i in range(n)]
    settled(lambda y: np.sum(stretch * (turn @ (y - at)) ** 2), sides, [x])


@pytest.mark.parametrize("n", (2, 4, 7))
def test_in_corners(n):
    rng = np.random.default_rng(n)
    slopes = rng.uniform(0.5, 2, n) * rng.choice([-1, 1], n)
    settled(lambda x: slopes @ x + np.sin(np.sum(x)) * 0.1, [(-1, 1)] * n, [-np.sign(slopes)])


@pytest.mark.parametrize("n", (2, 3, 6))
def test_where_derivatives_vanish_at_bounds(n):
    rng = np.random.default_rng(n)
    stretch, at = np.exp(rng.uniform(-1, 1, n)), rng.uniform(-1, 1, n)
    sides = [(float(at[i]), 2.0) if i % 2 else (-2.0, 2.0) for i in range(n)]
    settled(lambda x: np.sum(stretch * (x - at) ** 2) + np.sum(x - at) ** 2, sides, [at])


@pytest.mark.parametrize("n", (1, 2, 3))
def test_several(n):
    """2**n minimisers of equal value, moved and mixed; wells of different depths leave the lowest."""
    at = np.linspace(0.1, 0.4, n)
    signs = [np.array(s) for s in product((-1, 1), repeat=n)]
    settled(lambda x: np.sum(((x - at) ** 2 - 1) ** 2), [(-3, 3.1)] * n, [at + s for s in signs], xtol=1e-3)
    settled(lambda x: np.sum(((x - at) ** 2 - 1) ** 2 + 0 * x) + 1e-3 * np.sum((x - at - 1) ** 2), [(-3, 3.1)] * n, [at + 1])


def test_several_on_faces():
    """Two minimisers inside a face, two in corners, of one value each."""
    settled(lambda x: (x[0] ** 2 - 0.25) ** 2 + x[1], [(-1, 1), (0, 1)], [(-0.5, 0), (0.5, 0)], xtol=1e-3)
    settled(lambda x: -(x[0] ** 2) + (x[1] - 0.5) ** 2, [(-1, 1), (0, 1)], [(-1, 0.5), (1, 0.5)], xtol=1e-3)


@pytest.mark.parametrize("xtol", (0.5, 1e-1, 1e-2, 1e-4))
def test_whatever_the_width(xtol):
    """A narrow valley, a wide bowl, and a fit whose residuals cancel."""
    t = np.linspace(0, 2, 9)
    settled(lambda x: 100 * (x[1] - x[0] ** 2) ** 2 + (1 - x[0]) ** 2, [(-5, 10)] * 2, [(1, 1)], xtol=xtol)
    settled(lambda x: (1.613 - 4 * (x[0] - 0.3125) ** 2 - 4 * (x[1] - 1.625) ** 2) ** 2 + (x[1] - 1) ** 2, [(-5, 5)] * 2,
            [(0.3125 - np.sqrt(0.0126250), 1), (0.3125 + np.sqrt(0.0126250), 1)], xtol=min(xtol, 0.1))
    settled(lambda x: np.sum((x[0] * np.exp(-x[1] * t) - 2 * np.exp(-0.5 * t)) ** 2), [(0.5, 5), (0, 3)], [(2, 0.5)], xtol=xtol)


def test_with_start_boxes():
    rng = np.random.default_rng(3)
    at, turn = np.array([0.5, 0.25]), rotation(rng, 2)
    f = partial(bowl, turn, np.array([0.5, 3.0]), at)
    grid = [[(i / 2, (i + 1) / 2), (j / 2, (j + 1) / 2)] for i in range(-3, 4) for j in range(-3, 4)]
    settled(f, [(-2, 2.5)] * 2, [at], start_boxes=grid)           # inside a face that two of them share
    settled(f, [(-2, 2.5)] * 2, [at], start_boxes=[[(-1, 2), (-1, 2)], [(0, 0.75), (0, 2.5)]])
    ends = [[(-1, 0), (-1, 1)], [(0, 2), (0, 1)]]
    settled(lambda x: x[0] + (x[1] - 0.25) ** 2, [(-2, 2.5)] * 2, [(-1, 0.25)], start_boxes=ends)
