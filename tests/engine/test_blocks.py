"""The order in which sparse equations can be solved: every block needs itself and what comes before, and is no larger than that
demands."""

import numpy as np
import pytest

from infimum.linear_algebra.equation_blocks import blocks, matched, pivots


def random_matrix(seed: int) -> np.ndarray:
    """Square, sparse, with independent rows: a hidden permutation has no zeros."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 13))
    a = np.where(rng.random((n, n)) < rng.uniform(0, 0.3), rng.uniform(-1, 1, (n, n)), 0.0)
    a[np.arange(n), rng.permutation(n)] += 3.0
    return a


def sparse(a: np.ndarray) -> dict[int, dict[int, float]]:
    return {i: {int(j): float(a[i, j]) for j in np.flatnonzero(a[i])} for i in range(len(a))}


@pytest.mark.parametrize("seed", range(40))
def test_blocks_are_those_of_the_matrix(seed):
    a = random_matrix(seed)
    rows = sparse(a)
    found = pivots(rows)
    assert sorted(found) == sorted(found.values()) == list(range(len(a)))
    owner = matched({i: list(row) for i, row in rows.items()}, found)
    assert sorted(owner) == sorted(owner.values()) == list(range(len(a))) and all(a[i, j] != 0 for j, i in owner.items())
    order = blocks({i: list(row) for i, row in rows.items()}, owner)
    assert sorted(i for block in order for i in block) == list(range(len(a)))
    column, done = {i: j for j, i in owner.items()}, set()
    reach = np.array([[a[i, column[k]] != 0 for k in range(len(a))] for i in range(len(a))])
    for _ in range(4):
        reach = reach | ((reach.astype(int) @ reach.astype(int)) > 0)
    for block in order:
        done |= {column[i] for i in block}
        assert all(set(rows[i]) <= done for i in block)
        assert all(reach[i, k] for i in block for k in block)  # none can be split


def test_dependent_rows_are_left_out():
    rng = np.random.default_rng(0)
    a = rng.uniform(-1, 1, (3, 6))
    found = pivots(sparse(np.concatenate([a, [a[0] + a[1]], np.zeros((1, 6))])))
    assert len(found) == 3 and len(set(found.values())) == 3 and 4 not in found


def test_large_elements_come_first():
    """Each x is a small part of the one before it: they are solved for what they say, not backward."""
    assert pivots({k: {k: -0.25, k + 1: 1.0} for k in range(5)}) == {k: k + 1 for k in range(5)}


def test_no_matching():
    assert matched({0: [0], 1: [0]}, {}) is None


def test_a_long_way_needs_no_deep_recursion():
    n = 3000
    own, path = {i: i for i in range(n)}, {i: [i, min(i + 1, n - 1)] for i in range(n)}
    assert blocks(path, own) == [[i] for i in reversed(range(n))]
    assert blocks(path | {n - 1: [n - 1, 0]}, own) == [list(range(n))]
