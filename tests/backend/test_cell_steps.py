"""Loops over cells, each held against plain Python: what is kept, what derivatives exclude, how cells are halved."""

import itertools

import numpy as np
import pytest

from infimum.backend.arrays import HostArrays
from infimum.kernel.cell_keys import ALONE, SEVERAL, key_of, numbers_of

INF, NAN = np.inf, np.nan
HOST = HostArrays()
ENDS = np.array([-INF, INF, 0.0, -0.0, 0.5, -0.5, 3.0, -3.0, 5e-324, -5e-324])


def bits(number: float) -> int:
    return int(np.array(number).view(np.int64))


@pytest.mark.parametrize("limit", [-INF, -1.0, 0.0, INF])
def test_kept_is_what_was_alive_and_is_not_above(limit):
    sums = np.array([-INF, -1.5, -1.0, np.nextafter(-1.0, 0), 0.0, 2.0, INF, NAN])
    whole, before = (np.array(row) for row in zip(*itertools.product(sums, [-2.0, 0.5, INF]), strict=True))
    for lives in (0, 1):
        alive, bound = np.full(len(whole), lives), before.copy()
        HOST.each("keep", len(whole), whole, alive, bound, bits(limit))
        assert alive.tolist() == [int(bool(lives and s > -INF and s >= limit)) for s in whole]
        assert bound.tolist() == [s if s < old else old for s, old in zip(whole, before, strict=True)]


class Places:
    """Cells of one bag with three slices of each of two variables, hulls of it (entries 0 … 5) and of another one (6 … 11)."""

    def __init__(self, seed: int, *partners: int):
        rng = np.random.default_rng(seed)
        self.ids, self.bag, self.partners = rng.integers(0, 3, (2, 40)) + [[0], [3]], np.zeros(40, np.int64), partners
        self.low, self.high = (rng.choice(ENDS, (2, 40)) for _ in range(2))
        self.free, self.alive = rng.integers(0, 4, 6), rng.integers(0, 2, 40)
        self.nlo, self.hi = (rng.choice(ENDS, 12) for _ in range(2))

    def excluded(self) -> np.ndarray:
        alive, keys = self.alive.copy(), [np.array([key_of(x) for x in row + 0.0]) for row in (self.nlo, self.hi)]
        HOST.each("exclude", 40, self.ids, 40, 2, self.bag, 1, np.zeros(2, np.int64), self.low, self.high, alive, *keys,
                  np.array(self.partners), self.free)
        return alive

    def goes(self, u: int, place: int) -> bool:
        """Has the sum of both derivatives a strict sign, and the slice room on the side to which f falls?"""
        partner, at = self.partners[place], self.ids[place, u]
        if partner == SEVERAL:
            return False
        low, high = (0.0, 0.0) if partner == ALONE else (-self.nlo[partner + at], self.hi[partner + at])
        return bool((self.low[place, u] > -low and self.free[at] & 1) or (self.high[place, u] < -high and self.free[at] & 2))


@pytest.mark.parametrize("partners", list(itertools.product([ALONE, SEVERAL, 6], repeat=2)))
def test_excluded_is_what_has_a_strict_sign_off_the_bound(partners):
    gone = 0
    for seed in range(20):
        places = Places(seed, *partners)
        wanted = [int(a and not (places.goes(u, 0) or places.goes(u, 1))) for u, a in enumerate(places.alive)]
        assert places.excluded().tolist() == wanted
        gone += int(places.alive.sum()) - sum(wanted)
    assert (gone > 0) == (set(partners) != {SEVERAL})


def test_hulls_are_of_what_is_alive_and_what_is_unknown_is_infinite():
    for seed in range(20):
        p = Places(seed, ALONE, ALONE)
        p.low[:, ::7], p.high[:, ::5] = NAN, NAN
        nlo, hi = (np.full(12, key_of(-INF)) for _ in range(2))
        HOST.each("hull", 40, p.ids, 40, 2, p.bag, 1, np.array([6, 6]), p.low, p.high, p.alive, nlo, hi)
        for at, (found, row) in itertools.product(range(6), ((nlo, -p.low), (hi, p.high))):
            some = row[(p.ids == at) & (p.alive == 1)]
            wanted = max(np.where(np.isnan(some), INF, some), default=-INF)
            assert numbers_of(found)[6 + at] == wanted and (numbers_of(found)[:6] == -INF).all()


@pytest.mark.parametrize("size", [0, 1, 2, 3])
def test_halves_are_all_combinations_of_the_pieces(size):
    """In the order of cells, then of the pieces of the first variable, and so on."""
    for seed in range(10):
        rng = np.random.default_rng(seed)
        ids, bag, alive = rng.integers(0, 5, (size, 12)), np.sort(rng.integers(0, 3, 12))[None], rng.integers(0, 2, 12)
        cut, begin, room = rng.integers(0, 2, 5), rng.permutation(5) * 2, HOST.filled(13, 0)
        HOST.each("pieces", 12, ids, 12, size, cut, alive, room)
        wanted = [(*new, bag[0, u]) for u in np.flatnonzero(alive)
                  for new in itertools.product(*([begin[v] + k for k in range(1 + cut[v])] for v in ids[:, u]))]
        count = HOST.scan(room)
        assert count == len(wanted)
        newids, newbag = HOST.whole_numbers(size, count), HOST.whole_numbers(1, count)
        HOST.each("halves", 12, ids, 12, size, bag, cut, begin, alive, room, newids, count, newbag)
        assert [tuple(row) for row in np.concatenate([newids, newbag]).T.tolist()] == wanted


def test_the_best_of_a_slice_is_that_of_cells_that_are_alive():
    for seed in range(10):
        rng = np.random.default_rng(seed)
        ids, alive, bound = rng.integers(0, 5, (2, 12)), rng.integers(0, 2, 12), rng.choice(ENDS[1:] + 0.0, 12)
        best = np.full(5, key_of(-INF))
        HOST.each("best_slices", 12, ids, 12, 2, alive, bound, best)
        wanted = [max(bound[(alive == 1) & (ids == at).any(axis=0)], default=-INF) for at in range(5)]
        assert numbers_of(best).tolist() == wanted


def test_a_bound_that_is_found_later_counts_where_it_is_better():
    found, index, number = np.array([1.0, INF, NAN, -INF]), np.array([3, 0, 1, 2]), np.array([2.0, 2.0, 2.0, 2.0, 2.0])
    HOST.each("lower", 4, found, index, number)
    assert number.tolist() == [2.0, 2.0, -INF, 1.0, 2.0]
    natural, minus = -number, number.copy()
    HOST.each("improve", 4, np.array([1.5, 3.0, NAN, 0.0]), np.array([0, 1, 2, 3]), natural, minus)
    assert natural.tolist() == [-1.5, -2.0, INF, 0.0, -2.0] and minus.tolist() == [1.5, 2.0, -INF, 0.0, 2.0]


@pytest.mark.parametrize(("sign", "adds"), [(1, 0), (0, 0), (1, 1), (0, 1)])
def test_slopes_are_taken_or_given(sign, adds):
    slopes, link, held = np.array([1.0, -2.0, 4.0]), np.array([2, 0, 1]), np.array([0.5, 0.25, 8.0])
    target = held.copy()
    HOST.each("slope", 3, link, slopes, target, sign, adds)
    assert target.tolist() == (adds * held + (1 if sign else -1) * slopes[link]).tolist()
