"""Bags: a tree of at most three variables each, if there is one, on which every term has its place."""

from itertools import combinations

import numpy as np
import pytest

from infimum.chains.bags import MOST_NEIGHBOURS, Bag, bags_of


def width_is_at_most_two(edges: set[frozenset[int]], n: int) -> bool:
    """By all orders of elimination: sets of variables that can be eliminated, one more at a time."""
    reached, level = {frozenset()}, {frozenset()}
    while level:
        level = {gone | {v} for gone in level for v in range(n) if v not in gone
                 and len(neighbours(edges, v, gone)) <= MOST_NEIGHBOURS}
        reached |= level
    return frozenset(range(n)) in reached


def neighbours(edges: set[frozenset[int]], v: int, gone: frozenset[int]) -> set[int]:
    """Those of v after the others are eliminated: what it reaches through them."""
    seen, stack, found = {v}, [v], set()
    while stack:
        at = stack.pop()
        for edge in edges:
            if at in edge:
                other, = edge - {at}
                if other not in seen:
                    seen.add(other)
                    (stack.append if other in gone else found.add)(other)
    return found


def edges_of(scopes: list[np.ndarray]) -> set[frozenset[int]]:
    return {frozenset(pair) for scope in scopes for term in scope.T.tolist() for pair in combinations(term, 2)}


def check(bags: list[Bag], scopes: list[np.ndarray], n: int) -> None:
    parent = dict.fromkeys(range(len(bags)), -1)
    for k, bag in enumerate(bags):
        assert len(set(bag.variables)) == len(bag.variables) <= MOST_NEIGHBOURS + 1 and len(bag.children) <= MOST_NEIGHBOURS
        for child in bag.children:
            assert child < k and parent[child] == -1, "children come before their one parent"
            parent[child] = k
    roots = [k for k, above in parent.items() if above == -1]
    assert roots == [len(bags) - 1], "the last bag is the only root"
    for k, bag in enumerate(bags):
        above = set() if parent[k] == -1 else set(bags[parent[k]].variables)
        assert set(bag.shared) == set(bag.variables) & above and len(set(bag.shared)) == len(bag.shared)
        assert bag.shared == tuple(sorted(bag.shared)), "an entry has one number, whoever computes it"
    for v in range(n):
        holding = {k for k, bag in enumerate(bags) if v in bag.variables}
        tops = [k for k in holding if parent[k] not in holding]
        assert len(tops) == 1, "the bags of a variable are connected"
    placed = sorted(place for bag in bags for place in bag.terms)
    assert placed == [(family, term) for family, scope in enumerate(scopes) for term in range(scope.shape[1])]
    for bag in bags:
        for family, term in bag.terms:
            assert set(scopes[family][:, term].tolist()) <= set(bag.variables)


def random_scopes(rng: np.random.Generator, n: int, share: float) -> list[np.ndarray]:
    """Terms of none to three variables, some of them twice."""
    scopes = []
    for k in range(4):
        terms = [t for t in combinations(range(n), k) if rng.random() < share / max(1, n) ** max(0, k - 1)]
        terms += terms[:rng.integers(0, 3)]
        order = rng.permutation(len(terms))
        scopes.append(np.array([rng.permutation(terms[i]) for i in order], dtype=np.int64).reshape(len(terms), k).T)
    return scopes


def test_bags_exist_if_the_width_is_at_most_two():
    found = 0
    for seed in range(500):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(1, 8))
        scopes = random_scopes(rng, n, rng.uniform(0.5, 5.0))
        bags = bags_of(scopes, n)
        assert (bags is not None) == width_is_at_most_two(edges_of(scopes), n), seed
        if bags is not None:
            check(bags, scopes, n)
            found += 1
    assert 100 < found < 450


STRUCTURES = {
    "a chain": lambda n: [(i, i + 1) for i in range(n - 1)],
    "a ring": lambda n: [(i, (i + 1) % n) for i in range(n)],
    "a star": lambda n: [(0, i) for i in range(1, n)],
    "a tree": lambda n: [((i - 1) // 3, i) for i in range(1, n)],
    "a band": lambda n: [(i, i + 1, i + 2) for i in range(n - 2)],
    "a ring of triangles": lambda n: [(0, i, i + 1) for i in range(1, n - 1)],
    "triangles at one edge": lambda n: [(0, 1, i) for i in range(2, n)],
    "pairs alone": lambda n: [(i, i + 1) for i in range(0, n - 1, 2)],
    "many stars": lambda n: [(i - i % 7, i) for i in range(n) if i % 7],
}


@pytest.mark.parametrize("name", STRUCTURES)
@pytest.mark.parametrize("n", (3, 4, 5, 13, 64, 301))
def test_structures(name, n):
    rng = np.random.default_rng(n)
    new = rng.permutation(n)
    terms = np.array(STRUCTURES[name](n), dtype=np.int64).T
    scopes = [new[terms[:, rng.permutation(terms.shape[1])]], new[None, :]]
    check(bags_of(scopes, n), scopes, n)


def test_what_is_no_narrow_band_has_none():
    rows, columns = ([(5 * i + j, 5 * i + j + 1) for i in range(5) for j in range(4)], [(i, i + 5) for i in range(20)])
    assert bags_of([np.array(rows + columns).T], 25) is None
    assert bags_of([np.array(list(combinations(range(4), 2))).T], 4) is None
    assert bags_of([np.array([(i, j) for i in range(100) for j in range(i)]).T], 100) is None


def test_variables_that_no_term_reads_have_bags_too():
    scopes = [np.array([[1], [3]])]
    bags = bags_of(scopes, 6)
    check(bags, scopes, 6)
