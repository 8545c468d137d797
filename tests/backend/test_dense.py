"""Small symmetric systems in native loops: solutions, the signs of pivots, and what is added until these are right."""

import numpy as np
import pytest

from infimum.linear_algebra.dense import solve


def symmetric(k: int, lanes: int, seed: int = 4) -> np.ndarray:
    a = np.random.default_rng(seed).normal(size=(k, k, lanes))
    return a + a.swapaxes(0, 1)


def test_elimination_tells_the_signs_of_pivots():
    a = symmetric(5, 40)
    _, good, _ = solve(a, np.ones((5, 40)), 5)
    assert good.tolist() == [np.linalg.eigvalsh(a[..., k]).min() > 0 for k in range(40)]
    a[np.arange(5), np.arange(5)] += 20
    x, good, _ = solve(a, np.ones((5, 40)), 5)
    assert good.all() and np.einsum("ijk,jk->ik", a, x) == pytest.approx(np.ones((5, 40)))


@pytest.mark.parametrize("lanes", [1, 3, 8, 9, 33])
def test_each_lane_is_the_same_alone(lanes):
    a, right = symmetric(6, lanes), np.random.default_rng(1).normal(size=(6, lanes))
    first = np.linspace(0.5, 1.0, lanes)
    together = solve(a, right, 4, first, 4.0, 8)
    for k in range(lanes):
        alone = solve(a[..., k:k + 1], right[:, k:k + 1], 4, first[k:k + 1], 4.0, 8)
        for one, all_of_them in zip(alone, together, strict=True):
            assert np.array_equal(one[..., 0], all_of_them[..., k], equal_nan=True)


def test_what_is_added_is_what_the_signs_need():
    """1 and 2 do not make -3 positive, 4 does; and the last pivot is left alone."""
    a = np.zeros((3, 3, 2))
    a[0, 0], a[1, 1], a[2, 2] = 1.0, [-3.0, 5.0], -1.0
    x, good, added = solve(a, np.ones((3, 2)), 2, np.full(2, 1.0), 2.0, 4)
    assert good.all() and added.tolist() == [4.0, 0.0]
    assert x == pytest.approx(np.array([[0.2, 1.0], [1.0, 0.2], [-1.0, -1.0]]))
    assert solve(a, np.ones((3, 2)), 2, np.full(2, 1.0), 2.0, 3)[1].tolist() == [False, True]


def test_nothing_that_is_not_finite_is_good():
    a, right = np.ones((2, 2, 3)), np.ones((2, 3))
    a[0, 0], right[1, 1] = [np.nan, 4.0, 4.0], np.inf
    assert solve(a, right, 2)[1].tolist() == [False, False, True]
    assert solve(np.empty((0, 0, 2)), np.empty((0, 2)), 0)[1].all()
