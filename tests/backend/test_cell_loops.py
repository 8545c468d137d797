"""Loops over cells: messages along a tree of them, held against exact sums, whatever the caller's control word is, and the same
bits on a GPU, pretended and real."""

from fractions import Fraction

import numpy as np
import pytest

from infimum.backend.arrays import Arrays, HostArrays
from infimum.backend.cell_loops import LOOPS
from infimum.backend.cuda.cuda_backend import CudaBackend
from infimum.backend.cuda.gpu_arrays import GpuArrays
from infimum.errors import DeviceError
from infimum.kernel.cell_keys import ALONE, NONE, SEVERAL, TOP, key_of, numbers_of
from tests.control_word import ARM, WORDS, control_word, read_word
from tests.fake_cupy import installed

INF, MAX, TINY = np.inf, float(np.finfo(float).max), 5e-324
FLAGS = 0 if ARM else 0x3F  # exceptions that have been raised share the word
Exact = Fraction | float  # infinities are floats


class Tree:
    """Bags at random, children before parents: each has cells that read an entry of each child and write one of its own."""

    def __init__(self, rng: np.random.Generator, numbers: np.ndarray, bags: int = 6):
        self.first, self.second, self.parent, self.number, ends = [], [], [], [], [0]
        waiting: list[list[int]] = []
        entries = TOP + 1
        for k in range(bags):
            last = k == bags - 1
            size = len(waiting) if last else int(rng.integers(0, min(2, len(waiting)) + 1))
            children, waiting = waiting[:min(size, 2)], waiting[min(size, 2):]
            mine = [TOP] if last else list(range(entries, entries + int(rng.integers(1, 4))))
            entries += 0 if last else len(mine)
            for _ in range(int(rng.integers(1, 7))):
                reads = [int(rng.choice(child)) for child in children] + [NONE] * 2
                for row, value in zip((self.first, self.second, self.parent, self.number),
                                      (*reads[:2], int(rng.choice(mine)), float(rng.choice(numbers))), strict=True):
                    row.append(value)
            ends.append(len(self.number))
            if not last:
                waiting.append(mine)
        self.entries, self.left = entries, waiting
        self.first, self.second, self.parent = (np.array(row, np.int64) for row in (self.first, self.second, self.parent))
        self.number, self.segments = np.array(self.number), np.stack([ends[:-1], ends[1:]], axis=1)

    @property
    def links(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return self.first, self.second, self.parent


HOST = HostArrays()


def up(number: np.ndarray, links: tuple, entries: int, segments: np.ndarray, arrays: Arrays = HOST) -> np.ndarray:
    """The table, here."""
    table = arrays.filled(entries, key_of(-INF), NONE)
    arrays.along("up", segments, arrays.send(number), *map(arrays.send, links), table)
    return numbers_of(arrays.fetch(table))


def down(number: np.ndarray, links: tuple, table: np.ndarray, segments: np.ndarray,
         arrays: Arrays = HOST) -> tuple[np.ndarray, np.ndarray]:
    """(the sum of the best whole through each cell, for each entry the best cell that writes it)."""
    keys, links = table.view(np.int64) ^ (table.view(np.int64) >> 63 & 2**63 - 1), [arrays.send(row) for row in links]
    above, best, child = (arrays.filled(len(table), *words) for words in ((key_of(-INF), TOP), (key_of(-INF),), (-1,)))
    whole = arrays.empty(1, len(number))
    arrays.along("down", segments, arrays.send(number), *links, arrays.send(keys), above, whole, backwards=True)
    arrays.each("best", len(number), whole, links[2], best)
    arrays.each("from_child", len(number), whole, links[2], best, child)
    return arrays.fetch(whole)[0], arrays.fetch(child)


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
            table = up(tree.number, tree.links, tree.entries, tree.segments)
            whole, from_child = down(tree.number, tree.links, table, tree.segments)
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
        table = up(tree.number, tree.links, tree.entries, tree.segments)
        whole, _ = down(tree.number, tree.links, table, tree.segments)
        wanted_table, wanted_whole = reference(tree)
        assert [exact(float(v)) for v in table] == wanted_table
        assert [exact(float(v)) for v in whole] == wanted_whole


def test_an_entry_that_nobody_writes_is_not_reached():
    number, links = np.array([1.0, 2.0]), [np.array(row, np.int64) for row in ([0, 3], [0, 0], [2, 1])]
    each = np.array([[0, 1], [1, 2]])
    table = up(number, links, 4, each)
    assert table.tolist() == [0.0, -INF, 1.0, -INF]
    whole, from_child = down(number, links, table, each)
    assert whole.tolist() == [-INF, -INF] and from_child.tolist() == [-1, -1, -1, -1]


def test_no_cell_at_all():
    none = np.empty(0, np.int64)
    assert up(np.empty(0), (none, none, none), 3, np.empty((0, 2), np.int64)).tolist() == [0.0, -INF, -INF]


def test_the_bits_are_those_of_a_plain_loop():
    """One loop, no lanes, no reordering: sums in the order of the docstring."""
    for seed in range(20):
        tree = Tree(np.random.default_rng(seed), EVERYDAY)

        def add(x: float, y: float) -> float:
            if not (np.isfinite(x) and np.isfinite(y)):
                return x + y
            near = x + y
            return float(np.nextafter(near, INF)) if Fraction(near) < Fraction(x) + Fraction(y) else near
        table = [0.0] + [-INF] * (tree.entries - 1)
        for i, number in enumerate(tree.number.tolist()):
            total = add(number, add(table[tree.first[i]], table[tree.second[i]]))
            table[tree.parent[i]] = max(table[tree.parent[i]], total)
        assert up(tree.number, tree.links, tree.entries, tree.segments).tolist() == table


# ---- on a GPU
def pretended(monkeypatch: pytest.MonkeyPatch, block: int | None, grid: int | None) -> GpuArrays:
    installed(monkeypatch, memory=1 << 24)
    return GpuArrays(CudaBackend(block=block, grid=grid))


def real() -> GpuArrays:
    try:
        return GpuArrays(CudaBackend())
    except DeviceError as error:
        pytest.skip(str(error))


def messages_agree(arrays: GpuArrays, seeds: range) -> None:
    for kind, numbers in NUMBERS.items():
        for seed in seeds:
            tree = Tree(np.random.default_rng(seed), numbers)
            table = up(tree.number, tree.links, tree.entries, tree.segments)
            assert up(tree.number, tree.links, tree.entries, tree.segments, arrays).tobytes() == table.tobytes(), kind
            mine, theirs = (down(tree.number, tree.links, table, tree.segments, a) for a in (arrays, HOST))
            assert np.array_equal(mine[0], theirs[0], equal_nan=True) and mine[1].tolist() == theirs[1].tolist()


def arguments_of(name: str, rng: np.random.Generator, count: int) -> list:
    """Arrays in which every index lies within, at random: words from 0 to below 4, which are indices too, or doubles."""
    doubles = {"number", "whole", "from", "to", "natural", "found", "unshifted", "table", "constants", "source", "slopes",
               "value", "nlo", "hi", "bound", "best", "rad", "above", "row"}
    words = {"size": 2, "count": count, "room": count, "newcount": 4 * count, "bags": 4, "slices": 4, "rows": 2, "slots": 2,
             "paths": count, "end": 3, "begin": 1, "limit": int(np.array(-1.0).view(np.int64)), "sign": 1, "adds": 1}
    given = []
    for mark, parameter in LOOPS[name].names:
        if not mark:
            given.append(words.get(parameter, int(rng.integers(0, 2))))
        elif parameter in doubles and (name, parameter) != ("entries", "table"):
            numbers = np.array([-INF, INF, np.nan, 0.5, -2.0, 3.0, 1e-300])
            keys = parameter in ("nlo", "hi", "best", "above") or (name, parameter) in {("up", "table"), ("down", "table")}
            row = rng.choice(numbers[~np.isnan(numbers)] if keys else numbers, 16 * count)
            given.append(np.array([key_of(x) for x in row]) if keys else row)
        elif parameter in ("alive", "cut"):
            given.append(rng.integers(0, 2, 16 * count))
        elif parameter == "pieces" and name == "halves":
            given.append(np.arange(16 * count) * 4)
        elif parameter == "partner":
            given.append(rng.choice(np.array([ALONE, SEVERAL, 0, 1, 2]), 16 * count))
        elif parameter in ("bag", "starts", "parent"):  # ascending, and what threads write is apart
            given.append(np.minimum(np.arange(16 * count) // 2, 3) if parameter == "bag" else np.arange(16 * count))
        elif (name, parameter) in {("improve", "index"), ("lower", "index"), ("paths", "parents")}:
            given.append(np.arange(16 * count) if parameter == "index" else np.full(16 * count, 3))
        else:
            given.append(rng.integers(0, 4, 16 * count))
    return given


def loops_agree(arrays: GpuArrays, name: str, count: int) -> None:
    """Every array afterwards, bit by bit."""
    for seed in range(3):
        here = arguments_of(name, np.random.default_rng(seed), count)
        there = [arrays.send(a) if isinstance(a, np.ndarray) else a for a in here]
        total = 4 if name == "starts" else count
        arrays.each(name, total, *there)
        HOST.each(name, total, *here)
        for (_, parameter), mine, theirs in zip(LOOPS[name].names, there, here, strict=True):
            if isinstance(theirs, np.ndarray):
                found, nan = arrays.fetch(mine), np.isnan(theirs) if theirs.dtype == np.float64 else np.zeros(len(theirs), bool)
                assert np.array_equal(found.view(np.int64)[~nan], theirs.view(np.int64)[~nan]), parameter
                assert np.isnan(found[nan]).all(), parameter


@pytest.mark.parametrize("name", [name for name in LOOPS if name not in ("up", "down")])
@pytest.mark.parametrize(("block", "grid"), [(None, None), (3, 2)])
def test_loops_have_the_same_bits_on_a_gpu(monkeypatch, name, block, grid):
    loops_agree(pretended(monkeypatch, block, grid), name, 7)


@pytest.mark.parametrize(("block", "grid"), [(None, None), (3, 2)])
def test_messages_have_the_same_bits_on_a_gpu(monkeypatch, block, grid):
    messages_agree(pretended(monkeypatch, block, grid), range(4))


@pytest.mark.parametrize("threads", [2, 3])
def test_threads_change_no_bit(monkeypatch, threads):
    monkeypatch.setattr("infimum.backend.host_loops._ITEMS_A_THREAD", 4)
    for name in (name for name in LOOPS if not LOOPS[name].shared):
        one, other = (arguments_of(name, np.random.default_rng(1), 32) for _ in range(2))
        HOST.each(name, 32, *one)
        HostArrays(threads).each(name, 32, *other)
        arrays = [(a, b) for a, b in zip(one, other, strict=True) if isinstance(a, np.ndarray)]
        assert all(np.array_equal(a, b, equal_nan=True) for a, b in arrays), name


@pytest.mark.gpu
def test_a_real_gpu_has_the_same_bits():
    arrays = real()
    messages_agree(arrays, range(60))
    for name in LOOPS:
        if name not in ("up", "down"):
            loops_agree(arrays, name, 1000)
