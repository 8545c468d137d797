"""Messages along a tree of cells, held against exact sums, whatever the caller's control word is."""

from fractions import Fraction

import numpy as np
import pytest

from infimum.backend import min_sum
from infimum.backend.min_sum import NONE, TOP
from tests.control_word import ARM, WORDS, control_word, read_word

INF, MAX, TINY = np.inf, float(np.finfo(float).max), 5e-324
FLAGS = 0 if ARM else 0x3F  # exceptions that have been raised share the word
Exact = Fraction | float  # infinities are floats


class Tree:
    """Bags at random, children before parents: each has cells that read an entry of each child and write one of its own."""

    def __init__(self, rng: np.random.Generator, numbers: np.ndarray, bags: int = 6):
        self.first, self.second, self.parent, self.number = [], [], [], []
        self.children, owner = np.full((2, bags), bags, np.int32), {}
        waiting: list[list[int]] = []
        entries = TOP + 1
        for k in range(bags):
            last = k == bags - 1
            size = len(waiting) if last else int(rng.integers(0, min(2, len(waiting)) + 1))
            children, waiting = waiting[:min(size, 2)], waiting[min(size, 2):]
            mine = [TOP] if last else list(range(entries, entries + int(rng.integers(1, 4))))
            entries += 0 if last else len(mine)
            owner.update(dict.fromkeys(mine, k))
            self.children[:len(children), k] = [owner[child[0]] for child in children]
            for _ in range(int(rng.integers(1, 7))):
                reads = [int(rng.choice(child)) for child in children] + [NONE] * 2
                for row, value in zip((self.first, self.second, self.parent, self.number),
                                      (*reads[:2], int(rng.choice(mine)), float(rng.choice(numbers))), strict=True):
                    row.append(value)
            if not last:
                waiting.append(mine)
        self.entries, self.left = entries, waiting
        self.first, self.second, self.parent = (np.array(row, np.int32) for row in (self.first, self.second, self.parent))
        self.number = np.array(self.number)

    @property
    def links(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return self.first, self.second, self.parent


def exact(x: float) -> Exact:
    return Fraction(x) if np.isfinite(x) else x


def plus(*numbers: Exact) -> Exact:
    """The sum; what nothing reaches stays unreached."""
    if -INF in numbers:
        return -INF
    return INF if INF in numbers else sum(numbers, Fraction(0))


def reference(tree: Tree) -> tuple[list[Exact], list[Exact]]:
    """(the table, the sum of the best whole through each cell)."""
    cells = range(len(tree.number))
    table: list[Exact] = [Fraction(0)] + [-INF] * (tree.entries - 1)
    below = []
    for i in cells:
        below.append(plus(table[tree.first[i]], table[tree.second[i]]))
        table[tree.parent[i]] = max(table[tree.parent[i]], plus(exact(tree.number[i]), below[i]))
    above: list[Exact] = [-INF, Fraction(0)] + [-INF] * (tree.entries - 2)
    whole: list[Exact] = [-INF] * len(below)
    for i in reversed(cells):
        outside = plus(exact(tree.number[i]), above[tree.parent[i]])
        whole[i] = plus(outside, below[i])
        for entry, beside in ((tree.first[i], tree.second[i]), (tree.second[i], tree.first[i])):
            above[entry] = max(above[entry], plus(outside, table[beside]))
    return table, whole


def is_bound(found: float, wanted: Exact, scale: float) -> None:
    """`found` is not below, and not far above."""
    if wanted == -INF:
        assert found == -INF or np.isnan(found)
    elif wanted == INF:
        assert found == INF
    else:
        assert found >= wanted
        assert found == INF if wanted > MAX else scale == INF or found - wanted <= Fraction(scale)


EVERYDAY = np.array([0.0, -0.0, 1.0, -2.5, 0.1, 1 / 3, 1e16, -1e16, 1e-20, -7.7])
NUMBERS = {"everyday": EVERYDAY, "with infinities": np.append(EVERYDAY, [INF, -INF, -INF]),
           "tiny": np.array([TINY, -TINY, 1e-310, -1e-310, 2.0**-1022, 0.0, -INF]),
           "huge": np.array([MAX, -MAX, MAX / 2, 1e308, -1e308, 1.0, -INF, INF])}


@pytest.mark.parametrize("word", WORDS.values(), ids=WORDS)
@pytest.mark.parametrize("kind", NUMBERS)
def test_sums_are_bounds_of_the_exact_ones(kind, word):
    for seed in range(60):
        tree = Tree(np.random.default_rng(seed), NUMBERS[kind])
        with control_word(word):
            before = read_word()
            table = min_sum.up(tree.number, *tree.links, tree.entries)
            whole, from_child = min_sum.down(tree.number, *tree.links, table)
            after = read_word()
        assert before & ~FLAGS == after & ~FLAGS == word
        wanted_table, wanted_whole = reference(tree)
        largest = float(np.abs(tree.number[np.isfinite(tree.number)]).max(initial=0.0))
        scale = max(TINY * 50, largest * len(tree.number) * 2.0**-52) if largest < 1e300 else INF
        for found, wanted in zip(table, wanted_table, strict=True):
            assert not np.isnan(found)
            is_bound(float(found), wanted, scale)
        for found, wanted in zip(whole, wanted_whole, strict=True):
            is_bound(float(found), wanted, scale)
        check_best(tree, whole, from_child)


def check_best(tree: Tree, whole: np.ndarray, from_child: np.ndarray) -> None:
    """The cell of each entry has the largest sum among those that write it, and is the last of equals."""
    for entry in range(tree.entries):
        writers = [i for i in np.flatnonzero(tree.parent == entry) if whole[i] > -INF]
        wanted = max(writers, key=lambda i: (whole[i], i)) if writers else -1
        assert from_child[entry] == wanted


def test_sums_are_exact_where_they_can_be():
    for seed in range(40):
        tree = Tree(np.random.default_rng(seed), np.arange(-20.0, 20) / 8)
        table = min_sum.up(tree.number, *tree.links, tree.entries)
        whole, _ = min_sum.down(tree.number, *tree.links, table)
        wanted_table, wanted_whole = reference(tree)
        assert [exact(float(v)) for v in table] == wanted_table
        assert [exact(float(v)) for v in whole] == wanted_whole


def test_an_entry_that_nobody_writes_is_not_reached():
    number, links = np.array([1.0, 2.0]), [np.array(row, np.int32) for row in ([0, 3], [0, 0], [2, 1])]
    table = min_sum.up(number, *links, 4)
    assert table.tolist() == [0.0, -INF, 1.0, -INF]
    whole, from_child = min_sum.down(number, *links, table)
    assert whole.tolist() == [-INF, -INF] and from_child.tolist() == [-1, -1, -1, -1]


def test_no_cell_at_all():
    none = np.empty(0, np.int32)
    assert min_sum.up(np.empty(0), none, none, none, 3).tolist() == [0.0, -INF, -INF]


def test_the_bits_are_those_of_a_plain_loop():
    """One loop, no lanes, no reordering: sums in the order of the docstring."""
    up = np.nextafter
    for seed in range(20):
        tree = Tree(np.random.default_rng(seed), EVERYDAY)

        def add(x: float, y: float) -> float:
            if not (np.isfinite(x) and np.isfinite(y)):
                return x + y
            near = x + y
            return float(up(near, INF)) if Fraction(near) < Fraction(x) + Fraction(y) else near
        table = [0.0] + [-INF] * (tree.entries - 1)
        for i, number in enumerate(tree.number.tolist()):
            total = add(number, add(table[tree.first[i]], table[tree.second[i]]))
            table[tree.parent[i]] = max(table[tree.parent[i]], total)
        assert min_sum.up(tree.number, *tree.links, tree.entries).tolist() == table


def test_the_best_whole_is_followed():
    """Its cells, one for each bag, read what their children write, and their numbers add up to the best sum."""
    followed = 0
    for seed in range(60):
        tree = Tree(np.random.default_rng(seed), np.arange(-20.0, 20) / 8)
        if tree.left:  # bags that are nobody's children
            continue
        table = min_sum.up(tree.number, *tree.links, tree.entries)
        whole, from_child = min_sum.down(tree.number, *tree.links, table)
        if from_child[TOP] < 0:
            continue
        cells = min_sum.follow(from_child[TOP], tree.children, tree.first, tree.second, from_child)
        followed += 1
        assert tree.number[cells].sum() == table[TOP] and (whole[cells] == table[TOP]).all()
        written = set(tree.parent[cells].tolist()) | {NONE}
        assert {*tree.first[cells].tolist(), *tree.second[cells].tolist()} <= written
    assert followed > 5
