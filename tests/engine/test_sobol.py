"""The points are Sobol's up to scrambling, which keeps what makes them even."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import qmc

from infimum.points import sobol
from infimum.points.random_numbers import uniform
from infimum.points.sobol import LIMIT, points, primitive_polynomials

DEGREES = [1, 1, *(p.bit_length() - 1 for degree in range(2, 9) for p in primitive_polynomials(degree))]


def _boxes(x: np.ndarray, y: np.ndarray, a: int, b: int) -> np.ndarray:
    """How many points each box of 2**a times 2**b holds."""
    return np.bincount((x * 2**a).astype(int) << b | (y * 2**b).astype(int), minlength=1 << a + b)


@pytest.mark.parametrize("degree, count", list(enumerate([1, 1, 2, 2, 6, 6, 18, 16], 1)))
def test_number_of_primitive_polynomials(degree, count):
    assert len(primitive_polynomials(degree)) == count


def test_limit_is_the_number_of_directions():
    assert LIMIT == len(DEGREES) == len(sobol._directions())
    assert not sobol._directions().flags.writeable


def test_unscrambled_points_are_those_of_joe_and_kuo():
    known = len(sobol._JOE_KUO) + 1
    index = np.arange(1024, dtype=np.uint64)
    found = sobol._sums(sobol._directions()[:known], index ^ index >> np.uint64(1)) * 2.0**-52  # SciPy's are in Gray's order
    assert (found.T == qmc.Sobol(known, scramble=False, bits=52).random(1024)).all()


@pytest.mark.parametrize("k", [0, 1, 3, 7, 8, 9, 11])
@pytest.mark.parametrize("block", [0, 1, 5, 2**20 - 1])
def test_each_interval_holds_one_of_each_block(k, block):
    x = points(17, 4, block << k, 1 << k, LIMIT)
    assert (np.sort((x * 2**k).astype(int)) == np.arange(1 << k)).all()


def test_the_last_block():
    x = points(17, 4, 2**52 - 256, 256, LIMIT)
    assert (np.sort((x * 256).astype(int)) == np.arange(256)).all()


def test_range_and_grid():
    x = points(2**64 - 1, 2**32 - 1, 0, 4096, LIMIT)
    assert x.dtype == np.float64 and x.shape == (LIMIT, 4096) and (x >= 0).all() and (x < 1).all()
    assert (x * 2**52 == np.floor(x * 2**52)).all()


def test_points_of_a_block_are_not_equally_spaced():
    """The matrix moves the points within their intervals; a shift alone would leave them on a lattice."""
    x = points(1, 0, 0, 64, LIMIT) * 64 % 1
    assert all(len(np.unique(row)) == 64 for row in x)
    assert abs(x.mean() - 1 / 2) < 0.05 and abs(x.var() - 1 / 12) < 0.02


def test_pairs_are_as_even_as_theory_says():
    """Coordinates of degrees d and e: each box of area 2**(t - m) holds 2**t of 2**m points, t = d - 1 + e - 1."""
    m = 10
    x = points(3, 0, 7 << m, 1 << m, LIMIT)
    for i, j in itertools.combinations(range(LIMIT), 2):
        t = DEGREES[i] - 1 + DEGREES[j] - 1
        for a in range(m - t + 1):
            assert (_boxes(x[i], x[j], a, m - t - a) == 2**t).all(), (i, j, a)


def _hit(x: np.ndarray, pairs: list[tuple[int, int]]) -> list[float]:
    """For each pair of coordinates the mean share of boxes of area 2**-8 hit by 256 points, over the shapes of boxes."""
    return [float(np.mean([np.count_nonzero(_boxes(x[i], x[j], a, 8 - a)) for a in range(9)])) / 256 for i, j in pairs]


@pytest.mark.parametrize("seed", [0, 1])
def test_pairs_are_more_even_than_random(seed):
    pairs = list(itertools.combinations(range(LIMIT), 2))
    x, random = points(seed, 0, 0, 256, LIMIT), uniform(seed, 0, 0, range(256), LIMIT)
    found, usual = _hit(x, pairs), _hit(random, pairs)
    assert 0.6 < np.mean(usual) < 0.66  # 1 - 1/e = 0.632
    for few, least, mean in ((2, 1, 1), (4, 0.8, 0.9), (7, 0.69, 0.86)):  # every pair of the first coordinates
        first = [share for share, pair in zip(found, pairs, strict=True) if max(pair) < few]
        assert min(first) >= least > max(usual) and np.mean(first) >= mean
    assert np.mean(found) > 0.75 > max(usual)  # of the later ones most
    assert np.mean(np.array(found) > max(usual)) > 0.8


@pytest.mark.parametrize("n", [2, 5, 10])
def test_discrepancy_is_less_than_random(n):
    x, random = points(0, 0, 0, 512, n), uniform(0, 0, 0, range(512), n)
    assert qmc.discrepancy(x.T) < qmc.discrepancy(random.T) / 2


@given(st.integers(0, 2**64 - 1), st.integers(0, 2**32 - 1), st.integers(0, 1200), st.integers(0, 700), st.integers(0, LIMIT))
def test_each_number_belongs_to_its_place_alone(seed, stream, first, count, n):
    assert (points(seed, stream, first, count, n) == points(seed, stream, 0, 1900, LIMIT)[:n, first:first + count]).all()


def test_far_parts_of_the_sequence_agree():
    far = 2**51 + 12345
    assert (points(1, 2, far, 1000, 9)[:, 300:400] == points(1, 2, far + 300, 100, 9)).all()


def test_other_keys_other_points():
    keys = [(0, 0), (1, 0), (0, 1), (1, 1), (2**64 - 1, 2**32 - 1)]
    found = [points(seed, stream, 0, 64, 20) for seed, stream in keys]
    for x, y in itertools.combinations(found, 2):
        assert not (x == y).any()
        shifts = (x * 2**52).astype(np.uint64) ^ (y * 2**52).astype(np.uint64)
        assert all(len(np.unique(row)) > 32 for row in shifts)  # no mere shifts of each other


def test_every_place_is_uniform_over_seeds():
    x = np.array([points(seed, 0, 3, 1, 8)[:, 0] for seed in range(400)])
    assert np.abs(x.mean(0) - 1 / 2).max() < 4 * (1 / 12 / 400)**0.5


@pytest.mark.parametrize("question, said", [
    ((0, 0, 0, 1, LIMIT + 1), "at most 53 coordinates, not 54: use infimum.points.random_numbers.uniform"),
    ((-1, 0, 0, 1, 1), "seed"), ((0, 2**32, 0, 1, 1), "stream"), ((0, 0, -1, 1, 1), "first point"),
    ((0, 0, 0, -1, 1), "number of points"), ((0, 0, 0, 1, -1), "number of coordinates"),
    ((0, 0, 2**52, 1, 1), r"ends after 2\*\*52 points"),
])
def test_bad_questions(question, said):
    with pytest.raises(ValueError, match=said):
        points(*question)
