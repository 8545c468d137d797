"""Elimination along trees and bands, held against exact solutions, whatever the caller's control word is."""

from fractions import Fraction

import numpy as np
import pytest

from infimum.linear_algebra.sparse_elimination import factored, inverse_diagonal, solve
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


def band(n: int, width: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """(matrix, diagonal, off, links) of a positive definite band."""
    rng, at = np.random.default_rng(seed), np.arange(n)
    later = np.minimum(at + 1 + np.arange(width)[:, None], n)
    off = np.where(later < n, rng.normal(size=(width, n)), 0.0)
    matrix = np.zeros((n, n))
    for k in range(width):
        matrix[at[:n - 1 - k], later[k, :n - 1 - k]] = off[k, :n - 1 - k]
    matrix += matrix.T
    diagonal = np.abs(matrix).sum(axis=0) + rng.uniform(0.1, 1.0, n)
    between = [np.where(later[k] < n, width * later[j] + k - j - 1, width * n) for j in range(width) for k in range(j + 1, width)]
    links = np.ascontiguousarray(np.stack([*later, *between])) if width else np.empty((0, n), np.int64)
    return matrix + np.diag(diagonal), diagonal, np.ascontiguousarray(off.T).reshape(-1), links


@pytest.mark.parametrize("width", (0, 1, 2, 3, 5, 8))
def test_bands_of_any_width(width):
    matrix, diagonal, off, links = band(30, width, width)
    right = np.random.default_rng(width).normal(size=30)
    np.testing.assert_allclose(matrix @ solve(diagonal, off, right, np.zeros(30), links), right, atol=1e-12)
    known = factored(diagonal, off, links)
    lower = np.eye(30)
    for k in range(width):
        for i in range(29 - k):
            lower[i + 1 + k, i] = known.parts[width * i + k]
    assert (known.raw > 0).all() and (known.raw == known.pivots).all()
    np.testing.assert_allclose(lower @ np.diag(known.pivots) @ lower.T, matrix, atol=1e-12)
    np.testing.assert_allclose(inverse_diagonal(known, links), np.diag(np.linalg.inv(matrix)), rtol=1e-10)


def test_the_pivots_of_a_matrix_that_is_not_definite_show_it():
    for width in (1, 4):
        _, diagonal, off, links = band(20, width, 3)
        diagonal[7] = -1.0
        known = factored(diagonal, off, links)
        assert (known.raw <= 0).any() and (known.pivots >= 0).all()
