"""The numbers are Threefry's, each belongs to its place alone, and they look like independent uniform ones."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from infimum.points import random_numbers
from infimum.points.random_numbers import key_of, threefry, uniform

MANY = 1 << 16
ONES = 2**64 - 1
# (counter, key, words) of threefry2x64 with 20 rounds in the file kat_vectors of Random123
KNOWN = [
    ((0, 0), (0, 0), (0xC2B6E3A8C2C69865, 0x6F81ED42F350084D)),
    ((ONES, ONES), (ONES, ONES), (0xE02CB7C4D95D277A, 0xD06633D0893B8B68)),
    ((0x243F6A8885A308D3, 0x13198A2E03707344), (0xA4093822299F31D0, 0x082EFA98EC4E6C89),
     (0x263C7D30BB0F0AF1, 0x56BE8361D3311526)),
]


@pytest.mark.parametrize("shape", [(), (1,), (2, 3)])
@pytest.mark.parametrize("counter, key, words", KNOWN)
def test_known_answers(counter, key, words, shape):
    low, high = (np.full(shape, word, np.uint64) for word in counter)
    before = low.copy(), high.copy()
    found = threefry(key, low, high)
    for word, array in zip(words, found, strict=True):
        assert array.dtype == np.uint64 and array.shape == shape and (array == np.uint64(word)).all()
    assert (low == before[0]).all() and (high == before[1]).all()


def test_counters_are_broadcast():
    low, high = np.arange(5, dtype=np.uint64), np.arange(3, dtype=np.uint64)[:, None]
    x, y = threefry((3, 4), low, high)
    assert x.shape == y.shape == (3, 5)
    one = threefry((3, 4), low[4], high[2, 0])
    assert (x[2, 4], y[2, 4]) == one


def test_a_number_is_the_top_53_bits_of_its_word():
    found = uniform(11, 12, 13, range(100, 104), 5)
    for row in range(5):
        words = threefry((11, 12 << 32 | 13), np.arange(100, 104, dtype=np.uint64), np.uint64(row // 2))[row % 2]
        assert (found[row] == [(int(word) >> 11) / 2**53 for word in words]).all()


@given(st.integers(0, ONES), st.integers(0, 2**32 - 1), st.integers(0, 2**32 - 1), st.integers(0, 9), st.integers(0, 9),
       st.lists(st.integers(0, 59), max_size=20))
def test_each_number_belongs_to_its_place_alone(seed, stream, step, n, fewer, chosen):
    base = ONES - 59  # the last particles there are
    whole = uniform(seed, stream, step, range(base, base + 60), max(n, fewer))
    part = uniform(seed, stream, step, np.array(chosen, np.uint64) + np.uint64(base), min(n, fewer))
    assert part.shape == (min(n, fewer), len(chosen))
    assert (part == whole[:min(n, fewer), chosen]).all()


@given(st.integers(0, 40), st.integers(0, 40), st.sampled_from([-7, -1, 1, 2, 13]), st.integers(0, 4))
def test_ranges_and_arrays_agree(start, stop, step, n):
    particles = range(start, stop, step)
    for kind in (np.int64, np.uint64, np.uint8):
        assert (uniform(1, 2, 3, particles, n) == uniform(1, 2, 3, np.array(particles, kind), n)).all()


def test_pieces_do_not_show(monkeypatch):
    whole = uniform(1, 2, 3, range(1000), 7)
    for size in (1, 100, 4003):
        monkeypatch.setattr(random_numbers.POLICY, "random_blocks_at_once", size)
        assert (uniform(1, 2, 3, range(1000), 7) == whole).all()


def test_same_question_same_answer():
    assert (uniform(5, 6, 7, range(99), 3) == uniform(5, 6, 7, range(99), 3)).all()


def test_keys_are_different():
    sides = [0, 1, 2, 2**16, 2**31, 2**32 - 1]
    keys = {key_of(seed, stream, step) for seed in (0, 1, 2**32, ONES) for stream in sides for step in sides}
    assert len(keys) == 4 * len(sides)**2
    assert len({float(uniform(seed, stream, step, range(1), 1)[0, 0])
                for seed in (0, 1) for stream in sides for step in sides}) == 2 * len(sides)**2


@pytest.mark.parametrize("question", [(0, 0, 0), (ONES, 2**32 - 1, 2**32 - 1)])
def test_range_and_grid(question):
    x = uniform(*question, range(MANY), 2)
    assert x.dtype == np.float64 and (x >= 0).all() and (x < 1).all()
    assert (x * 2**53 == np.floor(x * 2**53)).all()
    bits = (x * 2**53).astype(np.uint64)[..., None] >> np.arange(53, dtype=np.uint64) & np.uint64(1)
    assert np.abs(bits.mean((0, 1)) - 0.5).max() < 5 * 0.5 / x.size**0.5  # each of the 53 bits is used


def _surprise(counts: np.ndarray) -> float:
    """By how many standard deviations chi-square of equally likely counts is off its mean."""
    expected, freedom = counts.mean(), counts.size - 1
    return abs(((counts - expected)**2).sum() / expected - freedom) / (2 * freedom)**0.5


def _pairs(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """How often each pair of 16 x 16 occurs."""
    return np.bincount((x * 16).astype(int).ravel() * 16 + (y * 16).astype(int).ravel(), minlength=256)


@pytest.mark.parametrize("seed", [0, 1, 2**63])
def test_uniform(seed):
    x = uniform(seed, 0, 0, range(MANY), 2)
    assert abs(x.mean() - 1 / 2) < 4 * (1 / 12 / x.size)**0.5
    assert abs(x.var() - 1 / 12) < 4 * (1 / 180 / x.size)**0.5
    assert _surprise(np.bincount((x * 1024).astype(int).ravel(), minlength=1024)) < 4


def test_the_test_of_uniformity_would_notice():
    x = uniform(0, 0, 0, range(MANY), 1)[0]
    assert _surprise(np.bincount((x**1.1 * 1024).astype(int), minlength=1024)) > 4
    assert _surprise(_pairs(x, (x + 0.9 * np.roll(x, 1)) % 1)) > 4


@pytest.mark.parametrize("name, other", [
    ("seed", lambda: uniform(4, 5, 6, range(MANY), 4)),
    ("stream", lambda: uniform(3, 6, 6, range(MANY), 4)),
    ("step", lambda: uniform(3, 5, 7, range(MANY), 4)),
    ("particle", lambda: uniform(3, 5, 6, range(1, MANY + 1), 4)),
    ("row", lambda: uniform(3, 5, 6, range(MANY), 5)[1:]),
    ("block", lambda: uniform(3, 5, 6, range(MANY), 6)[2:]),
])
def test_neighbours_are_independent(name, other):
    x, y = uniform(3, 5, 6, range(MANY), 4), other()
    assert abs(np.corrcoef(x.ravel(), y.ravel())[0, 1]) < 4 / x.size**0.5, name
    assert _surprise(_pairs(x, y)) < 4, name


@pytest.mark.parametrize("seed", [-1, 2**64, 1.0, "1", None, True])
def test_bad_seeds(seed):
    with pytest.raises(ValueError, match=r"the seed must be an integer from 0 to 2\*\*64 - 1, not"):
        uniform(seed, 0, 0, range(3), 1)


@pytest.mark.parametrize("stream, step, particles, n, said", [
    (2**32, 0, range(3), 1, "stream"), (-1, 0, range(3), 1, "stream"), (0, 2**32, range(3), 1, "step"),
    (0, 0, range(3), -1, "rows"), (0, 0, range(-1, 3), 1, "first particle"),
    (0, 0, range(2**64 - 1, 2**64 + 1), 1, "last particle"),
    (0, 0, np.array([1, -1]), 1, "negative"), (0, 0, np.array([0.5]), 1, "integers"), (0, 0, np.zeros((2, 2), int), 1, "vector"),
])
def test_bad_questions(stream, step, particles, n, said):
    with pytest.raises(ValueError, match=said):
        uniform(0, stream, step, particles, n)


def test_integers_of_numpy_are_integers():
    assert (uniform(np.uint64(ONES), np.int32(1), np.uint8(2), range(3), np.int64(2)) == uniform(ONES, 1, 2, range(3), 2)).all()
