"""Elimination along a tree of width 2, held against exact solutions, whatever the caller's control word is."""

from fractions import Fraction

import numpy as np
import pytest

from infimum.backend.elimination import solve
from tests.control_word import WORDS, control_word


class System:
    """Each variable meets up to two later ones, which meet each other."""

    def __init__(self, seed: int, n: int = 12):
        rng = np.random.default_rng(seed)
        later: list[tuple[int, ...]] = [()] * n
        for i in reversed(range(n - 1)):
            j = int(rng.integers(i + 1, n))
            later[i] = ((), (j,), *((j, k) for k in later[j]))[-1 if rng.random() < 0.7 else int(rng.integers(2))]
        self.n, self.off, self.links = n, np.zeros(2 * n), np.full((3, n), n)
        self.links[2] = 2 * n
        for i, others in enumerate(later):
            for slot, j in enumerate(others):
                self.links[slot, i], self.off[2 * i + slot] = j, rng.normal()
            if len(others) == 2:
                self.links[2, i] = 2 * others[0] + later[others[0]].index(others[1])
        self.diagonal = np.zeros(n)
        self.diagonal += np.abs(self.matrix()).sum(axis=0) + rng.uniform(0.1, 1, n)
        self.right = rng.normal(size=n)

    def matrix(self) -> np.ndarray:
        a = np.diag(self.diagonal)
        for i in range(self.n):
            for slot in range(2):
                if self.links[slot, i] < self.n:
                    a[i, self.links[slot, i]] = a[self.links[slot, i], i] = self.off[2 * i + slot]
        return a

    def solution(self, least: float = 0.0) -> np.ndarray:
        return solve(self.diagonal, self.off, self.right, np.full(self.n, least), self.links)


@pytest.mark.parametrize("word", WORDS.values(), ids=WORDS)
def test_the_solution_solves(word):
    seen = 0
    for seed in range(30):
        s = System(seed)
        with control_word(word):
            x = s.solution()
        a = [[Fraction(v) for v in row] for row in s.matrix().tolist()]
        rest = [sum(u * Fraction(v) for u, v in zip(row, x.tolist(), strict=True)) - Fraction(r)
                for row, r in zip(a, s.right.tolist(), strict=True)]
        assert max(map(abs, rest)) < 1e-13
        seen += int((s.links[1] < s.n).sum())
    assert seen > 30


def test_where_it_is_not_definite_it_leads_downhill():
    for seed in range(30):
        s = System(seed)
        s.diagonal -= 2.0
        assert s.solution(0.1) @ s.right > 0


def test_pivots_are_not_less_than_asked_for():
    s = System(3)
    s.diagonal[:], s.off[:] = 0.0, 0.0
    assert (s.solution(0.5) == s.right / 0.5).all()


def test_the_numbers_given_stay():
    s = System(5)
    before = s.diagonal.copy(), s.off.copy(), s.right.copy()
    s.solution()
    assert all((one == other).all() for one, other in zip(before, (s.diagonal, s.off, s.right), strict=True))
