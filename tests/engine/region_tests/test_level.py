"""One level of a chain, held against plain loops over all choices of slices: messages, derivatives, and pieces of the work."""

import itertools
from collections import defaultdict
from fractions import Fraction

import numpy as np
import pytest

from infimum.backend.arrays import HostArrays
from infimum.chains import grid
from infimum.chains import level as level_module
from infimum.chains.bag_forms import BagForm
from infimum.chains.cell_kernels import FACTS, FROM, TO, UNSHIFTED
from infimum.chains.chain import Chain
from infimum.chains.grid import Cells, Slices
from infimum.chains.level import Level
from infimum.kernel.cell_keys import TOP
from tests.engine.region_tests.test_chain import SUMS, after, chain_of, level_of

INF, N, LONGER = np.inf, 6, {"by turns": 10}
SOME = {**SUMS, "a tree": lambda x: np.sum(np.sin(x[[0, 0, 1, 1, 2]] * x[[1, 2, 3, 4, 5]]) + x[[0, 0, 1, 1, 2]] / 3),
        "two pieces": lambda x: x[0] * x[1] + np.exp(x[1] * x[2]) + np.sin(3 * x[3] * x[4]) + x[4] * x[5] ** 2,
        "by turns": lambda x: np.sum(x[:-1:2] * x[1::2]) + np.sum(np.sin(x[1:-1:2] * x[2::2] + x[2::2])),
        "constants": lambda x: np.sum(np.array([0.1, 0.7, -2.0, 1.3, 0.2]) * x[1:] * np.cos(x[:-1]) + x[1:] ** 3)}


@pytest.fixture(autouse=True)
def _as_the_library_computes():
    with np.errstate(all="ignore"):
        yield


def size(name: str) -> int:
    return LONGER.get(name, N)


def small(name: str, monkeypatch: pytest.MonkeyPatch, numbered: bool = False, low: float = -1.0, high: float = 1.25) -> Chain:
    """Two slices of each variable, three of some, and without some cells; with entries in a row if `numbered`."""
    monkeypatch.setattr(grid.POLICY, "first_slices", 2)
    if numbered:
        monkeypatch.setattr(grid, "max", lambda *_: 0, raising=False)
    chain = chain_of(SOME[name], [low] * size(name), [high] * size(name), memory_limit=INF)
    slices, alive = len(chain.grid.slices), (np.random.default_rng(2).random(len(chain.grid)) > 0.1).astype(np.int64)
    assert chain.grid.halved(alive, np.ones(slices, bool), np.arange(slices) % (slices // 3) == 1, 0.0, 10**6)
    return chain


def choices(level: Level) -> list[list[int]]:
    """For every choice of one slice of each variable the numbers of its cells among all, if there is one in each bag."""
    of_bag, variables = [{} for _ in range(level.grid.bags)], [()] * level.grid.bags
    for cells in level.grid.cells:
        for u in range(len(cells)):
            bag = cells.kind.bags[cells.bag[0, u]]
            variables[bag] = cells.kind.variables[:, cells.bag[0, u]].tolist()
            of_bag[bag][tuple(cells.ids[:, u].tolist())] = cells.begin + u
    found = []
    for chosen in itertools.product(*(range(a, b) for a, b in itertools.pairwise(level.grid.slices.first.tolist()))):
        cells = [of.get(tuple(chosen[v] for v in its)) for of, its in zip(of_bag, variables, strict=True)]
        if None not in cells:
            found.append(cells)
    return found


@pytest.mark.parametrize("numbered", [False, True])
@pytest.mark.parametrize("name", SOME)
def test_bounds_are_the_least_sums_of_all_choices(name, numbered, monkeypatch):
    level = level_of(small(name, monkeypatch, numbered))
    dead = np.random.default_rng(1).random(len(level.grid)) < 0.1
    level.alive[dead] = 0
    numbers = [level.found[k][FACTS][UNSHIFTED] for k in range(len(level.found))]
    each = np.concatenate(numbers)
    level._pass([row[None] for row in numbers], INF)
    least: dict[int, Fraction | float] = defaultdict(lambda: INF)
    for cells in choices(level):
        if not dead[cells].any():
            total = sum((-Fraction(float(each[u])) for u in cells), Fraction(0))
            for u in (-1, *cells):
                least[u] = min(least[u], total)
    assert 0 <= least[-1] - Fraction(level.lower) <= 1e-13 * max(1, np.abs(each).max()) * len(each)
    for u, alive in enumerate(level.alive):
        assert bool(alive) == (least[u] < INF)
        assert not alive or 0 <= least[u] + Fraction(float(level.bound.view(float)[u])) <= 1e-13 * max(1, np.abs(each).max())


@pytest.mark.parametrize("name", SOME)
def test_derivatives_exclude_what_they_exclude(name, monkeypatch):
    """With one bag or two for a variable; off the user's bounds, which the box reaches at two variables."""
    chain = small(name, monkeypatch)
    chain.low[2:], chain.high[2:] = -2, 2
    level = level_of(chain)
    level.alive[np.random.default_rng(1).random(len(level.grid)) < 0.2] = 0
    before, slices, hulls = level.alive.copy(), chain.grid.slices, defaultdict(lambda: [INF, -INF])
    rows = [(cells, u, place, int(cells.kind.bags[cells.bag[0, u]]), int(cells.kind.variables[place, cells.bag[0, u]]),
             float(level.found[k][FROM][place, u]), float(level.found[k][TO][place, u]))
            for k, cells in enumerate(chain.grid.cells) for place in range(cells.kind.k) for u in range(len(cells))]
    holding = defaultdict(set)
    for cells, u, place, bag, v, low, high in rows:
        holding[v].add(bag)
        if before[cells.begin + u]:
            hull = hulls[bag, int(cells.ids[place, u])]
            hull[:] = min(hull[0], low), max(hull[1], high)
    wanted = before.copy()
    for cells, u, place, bag, v, low, high in rows:
        at, others = int(cells.ids[place, u]), holding[v] - {bag}
        if len(others) < 2:
            one = [hulls[other, at] for other in others] or [(0.0, 0.0)]
            rises, falls = low > -one[0][0], high < -one[0][1]
            if (rises and slices.lo[at] > chain.low[v]) or (falls and slices.hi[at] < chain.high[v]):
                wanted[cells.begin + u] = 0
    level._first_order()
    assert level.alive.tolist() == wanted.tolist()


@pytest.mark.parametrize("name", SOME)
def test_pieces_of_the_work_change_no_bit(name, monkeypatch):
    def levels() -> tuple:
        chain = after(chain_of(SOME[name], [-1.0] * size(name), [1.25] * size(name)), 3)
        return chain.lower, chain.levels, chain.unions.lo.tobytes(), chain.unions.hi.tobytes()
    monkeypatch.setattr(grid.POLICY, "first_slices", 3)
    whole = levels()
    monkeypatch.setattr(level_module.POLICY, "cells_at_once", 5)
    assert levels() == whole


@pytest.mark.parametrize("name", SOME)
def test_bounds_hold_with_the_slopes_that_are_taken(name, monkeypatch):
    """Those of first and of second order: at points of the cells, of the terms less the linear functions."""
    level, rng = level_of(small(name, monkeypatch, low=0.25, high=0.5)), np.random.default_rng(1)
    for _ in level.discard_by_slopes(INF):
        pass
    first = [np.array(row) for row in level.shifted]
    for _ in level.discard_by_second_order(INF):
        pass
    assert any(rows[len(rows) // 2:].any() for rows in level.taken)
    assert any((row < old).any() for row, old in zip(level.shifted, first, strict=True))
    slices = level.grid.slices
    for k, cells in enumerate(level.grid.cells):
        form, rows = BagForm(level.grid.kinds, [k]), level.taken[k]
        for _ in range(20):
            ends = slices.lo[cells.ids], slices.hi[cells.ids]
            share = rng.random((2, *cells.ids.shape)) < 0.5
            x = np.where(share[0], rng.uniform(*ends), np.where(share[1], *ends))
            values = form.values(x, form.constants_of(cells.bag[0]))
            linear = (rows[cells.kind.k:] * (x - slices.centre[cells.ids])).sum(axis=0)
            for bound in (first[k], level.shifted[k]):
                assert (values - linear >= -bound[0] - 1e-12 * (1 + np.abs(values).max())).all()


@pytest.mark.parametrize("numbered", [False, True])
@pytest.mark.parametrize("name", SOME)
def test_entries_are_in_the_segment_of_the_bags_that_write_them(name, numbered, monkeypatch):
    its = small(name, monkeypatch, numbered).grid
    for cells in its.cells:
        for u, entry in enumerate(its.links[2][cells.begin:cells.begin + len(cells)].tolist()):
            begin, end = its.entry_segments[cells.kind.heights[cells.bag[0, u]]]
            assert begin <= entry < end or entry == TOP


def test_halves_meet_where_slices_are_cut(monkeypatch):
    monkeypatch.setattr(grid.POLICY, "first_slices", 4)
    chain = chain_of(SOME["a chain"], [-1 / 3] * N, [0.7] * N)
    old, rng = chain.grid.slices, np.random.default_rng(1)
    used, wanted = rng.random(len(old)) < 0.7, rng.random(len(old)) < 0.5
    alive = np.concatenate([used[cells.ids].all(axis=0) for cells in chain.grid.cells]).astype(np.int64)
    assert chain.grid.halved(alive, used, wanted, 0.0, 10**6)
    rows = zip(old.lo, old.hi, old.centre, old.variable, wanted, used, strict=True)
    pieces = [(*ends, v) for lo, hi, c, v, cut, is_used in rows if is_used
              for ends in ([(lo, c), (c, hi)] if cut else [(lo, hi)])]
    new = chain.grid.slices
    assert list(zip(new.lo, new.hi, new.variable, strict=True)) == pieces


def test_a_bag_without_cells_begins_where_the_next_one_does():
    kind = max(chain_of(SOME["a star"], [-1.0] * N, [1.25] * N).grid.kinds, key=lambda kind: len(kind.bags))
    count = len(kind.bags)
    assert count > 2
    for bags in ([0, 0, count - 1], [count - 1], [0]):
        cells = Cells(kind, np.zeros((kind.k, len(bags)), np.int64), np.array([bags]))
        cells.find_starts(HostArrays())
        assert cells.starts.tolist() == [sum(bag < b for bag in bags) for b in range(count + 1)]


def test_no_point_of_a_slice_is_farther_from_its_centre_than_it_says():
    rng = np.random.default_rng(1)
    lo = np.concatenate([rng.normal(size=300) * 10.0 ** rng.integers(-300, 300, 300), [0.0, 5e-324, -5e-324, -8e307, 1.0]])
    wide = np.concatenate([np.abs(lo[:300]) * 10.0 ** rng.integers(-17, 3, 300), [5e-324, 0.0, 1e-323, 1.6e308, 0.0]])
    slices = Slices(lo, lo + wide, np.array([0, len(lo)]))
    for a, b, c, rad in zip(slices.lo, slices.hi, slices.centre, slices.rad, strict=True):
        assert a <= c <= b and Fraction(rad) >= max(Fraction(b) - Fraction(c), Fraction(c) - Fraction(a))
        assert rad > 0 or a == b
