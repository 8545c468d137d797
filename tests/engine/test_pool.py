"""Pool and splitter: nothing is lost or doubled, the lowest come first, cuts leave no gap and move no end."""

import math
import warnings

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from infimum.engine import pool as pool_module
from infimum.engine.pool import Pool, Regions, choose_axis, cut, first_lowest, split

INF, MAX, TINY = np.inf, float(np.finfo(float).max), 5e-324


def regions(lower, first: int = 0, n: int = 2) -> Regions:
    """Regions with these lower bounds; each carries its number, from `first` on, in every field."""
    lower = np.array(lower, dtype=float)
    number = np.arange(first, first + len(lower))
    lo = np.stack([number + 0.25 * i for i in range(n)]) if len(lower) else np.empty((n, 0))
    return Regions(lo, lo + 0.125, lower, (number % n).astype(np.int32), (number % 4).astype(np.int8))


def one_region(lo: list[float], hi: list[float]) -> Regions:
    """One box, to be cut along its first variable."""
    return Regions(np.array(lo)[:, None], np.array(hi)[:, None], np.zeros(1), np.zeros(1, np.int32), np.zeros(1, np.int8))


def numbers(found: Regions) -> list[int]:
    """The numbers that the regions carry; every field must still belong to its region."""
    number = found.lo[0].astype(int)
    assert (found.lo[0] == number).all() and (found.lo[1] == number + 0.25).all() and (found.hi == found.lo + 0.125).all()
    assert (found.axis == number % 2).all() and (found.level == number % 4).all()
    assert found.axis.dtype == np.int32 and found.level.dtype == np.int8
    return number.tolist()


class Model:
    """What a pool means: a list in order of arrival."""

    def __init__(self):
        self.rows: list[tuple[float, int]] = []

    def take(self, count: int, below: float) -> list[int]:
        order = sorted(range(len(self.rows)), key=lambda k: (self.rows[k][0], k))[:count]
        taken = sorted(k for k in order if self.rows[k][0] < below)
        found = [self.rows[k][1] for k in taken]
        self.rows = [row for k, row in enumerate(self.rows) if k not in set(taken)]
        return found

    def prune(self, upper: float) -> None:
        self.rows = [row for row in self.rows if not row[0] > upper]

    def least(self) -> float:
        return min((low for low, _ in self.rows), default=INF)


LOWER = st.one_of(st.integers(-3, 3).map(float), st.floats(-4, 4), st.sampled_from([-INF, -0.0, 0.0, MAX, -MAX, TINY]))
STEPS = st.lists(st.one_of(
    st.tuples(st.just("add"), st.lists(LOWER, max_size=25)),
    st.tuples(st.just("take"), st.tuples(st.integers(1, 5), st.one_of(st.just(INF), LOWER))),
    st.tuples(st.just("prune"), st.one_of(LOWER, st.just(INF), st.just(float("nan")))),
    st.tuples(st.just("everything"), st.none()), st.tuples(st.just("rebuild"), st.none())), max_size=25)


@pytest.mark.parametrize("front", (1, 2, 5))
@settings(max_examples=100)
@given(steps=STEPS)
def test_a_pool_is_a_list_from_which_the_lowest_are_taken(front, steps):
    """Against the model, with a front so small that heaps are built all the time."""
    before, pool_module._FRONT = pool_module._FRONT, front
    try:
        pool, model, count = Pool(2), Model(), 0
        for what, given_ in steps:
            if what == "add":
                pool.add(regions(given_, count))
                model.rows += [(low, count + k) for k, low in enumerate(given_)]
                count += len(given_)
            elif what == "take":  # at most a front at a time
                wanted = min(given_[0], front), given_[1]
                assert sorted(numbers(pool.take(*wanted))) == sorted(model.take(*wanted))
            elif what == "prune":
                pool.prune(given_)
                model.prune(given_)
            elif what == "everything":
                assert sorted(numbers(pool.everything())) == sorted(number for _, number in model.rows)
            else:
                pool._rebuild()
            assert len(pool) == len(model.rows) and pool.least() == model.least()
        assert sorted(numbers(pool.everything())) == sorted(number for _, number in model.rows)
    finally:
        pool_module._FRONT = before


def test_heaps_are_built_and_emptied(monkeypatch):
    monkeypatch.setattr(pool_module, "_FRONT", 8)
    pool = Pool(2)
    lower = np.random.default_rng(0).permutation(100).astype(float)
    for k in range(0, 100, 10):
        pool.add(regions(lower[k:k + 10], k))
    assert pool.heaps and len(pool.front) <= 32 and len(pool) == 100
    found = [pool.take(7, INF) for _ in range(15)]
    assert [len(f) for f in found] == [7] * 14 + [2]
    for k, f in enumerate(found):
        assert sorted(f.lower.tolist()) == list(range(7 * k, min(7 * k + 7, 100)))
        assert (lower[numbers(f)] == f.lower).all()
    assert len(pool) == 0 and pool.least() == INF and not len(pool.take(3, INF))


def test_the_least_is_found_when_the_front_is_empty(monkeypatch):
    monkeypatch.setattr(pool_module, "_FRONT", 1)
    pool = Pool(2)
    pool.add(regions([5.0, 4.0, 3.0, 2.0, 1.0]))
    assert len(pool.front) == 2 and len(pool.heaps) == 1
    assert numbers(pool.take(2, INF)) == [3, 4] and not len(pool.front)
    assert pool.least() == 3.0 and len(pool) == 3 and numbers(pool.take(1, INF)) == [2]


def test_of_equal_ones_the_first_are_taken(monkeypatch):
    monkeypatch.setattr(pool_module, "_FRONT", 5)
    pool = Pool(2)
    for k in range(0, 60, 6):
        pool.add(regions([1.0, 2.0, 1.0, 1.0, 3.0, 1.0], k))
    ones = [k for k in range(60) if k % 6 not in (1, 4)]
    assert [number for _ in range(8) for number in numbers(pool.take(5, INF))] == ones
    assert [number for _ in range(2) for number in numbers(pool.take(5, INF))] == [k for k in range(60) if k % 6 == 1]
    assert [number for _ in range(2) for number in numbers(pool.take(5, INF))] == [k for k in range(60) if k % 6 == 4]


def test_taking_stops_below():
    pool = Pool(2)
    pool.add(regions([1.0, 2.0, 3.0, -INF]))
    assert numbers(pool.take(9, 2.0)) == [0, 3] and numbers(pool.take(9, 2.0)) == [] and len(pool) == 2
    assert numbers(pool.take(9, np.nextafter(2.0, 3))) == [1]


@pytest.mark.parametrize(("upper", "left"), [
    (1.0, [0, 1, 2, 3]), (np.nextafter(1.0, 0), [0, 1, 2]), (INF, [0, 1, 2, 3, 4]), (-INF, [0]), (float("nan"), [0, 1, 2, 3, 4]),
    (0.0, [0, 1, 2]), (-0.0, [0, 1, 2]), (MAX, [0, 1, 2, 3, 4]), (-TINY, [0])])
def test_only_what_is_certainly_above_is_dropped(upper, left):
    in_front, in_heap = Pool(2), Pool(2)
    in_front.add(regions([-INF, 0.0, -0.0, 1.0, MAX]))
    in_heap.heaps = [regions([-INF, 0.0, -0.0, 1.0, MAX])]
    for pool in (in_front, in_heap):
        pool.prune(upper)
        assert numbers(pool.everything()) == left


def test_an_unknown_bound_is_never_dropped():
    pool = Pool(2)
    pool.add(regions([float("nan"), 1.0]))
    pool.prune(0.0)
    assert numbers(pool.everything()) == [0]


@given(st.lists(LOWER, min_size=1, max_size=40), st.integers(1, 45))
def test_first_lowest(lower, count):
    wanted = sorted(sorted(range(len(lower)), key=lambda k: (lower[k], k))[:count])
    assert first_lowest(np.array(lower), count).tolist() == wanted


def test_bytes_grow_and_shrink():
    pool = Pool(3)
    assert pool.bytes == 0
    pool.add(Regions(np.zeros((3, 10)), np.ones((3, 10)), np.zeros(10), np.zeros(10, np.int32), np.zeros(10, np.int8)))
    assert pool.bytes == 10 * (2 * 3 * 8 + 8 + 4 + 1)
    pool.take(4, INF)
    assert pool.bytes == 6 * (2 * 3 * 8 + 8 + 4 + 1)


# ---- cuts
ENDS = st.one_of(st.floats(allow_nan=False, allow_infinity=False), st.floats(-10, 10), st.floats(-1e-310, 1e-310),
                 st.sampled_from([0.0, -0.0, 1.0, -1.0, 0.5, -0.5, TINY, -TINY, MAX, -MAX, 2.0**-1022, 1e308, -1e308]))


@st.composite
def intervals(draw, unbounded: bool = True) -> tuple[float, float]:
    """Ordinary, huge, tiny, subnormal, a few ulps wide, a point, unbounded."""
    a = draw(ENDS)
    kind = draw(st.integers(0, 9))
    if kind < 4:
        b = draw(ENDS)
    else:
        b = a
        for _ in range(kind - 4):
            b = min(math.nextafter(b, INF), MAX)
    lo, hi = min(a, b), max(a, b)
    if unbounded and draw(st.integers(0, 5)) == 0:
        lo, hi = draw(st.sampled_from([(-INF, hi), (lo, INF), (-INF, INF)]))
    return lo, hi


def bits(x: float) -> int:
    return int(np.array(x, dtype=float).view(np.int64))


@settings(max_examples=400)
@given(interval=intervals(), pieces=st.integers(2, 16))
@example(interval=(-MAX, MAX), pieces=16)
@example(interval=(0.0, TINY), pieces=3)
@example(interval=(-INF, -MAX), pieces=2)
@example(interval=(MAX, INF), pieces=2)
@example(interval=(-0.0, 0.0), pieces=7)
def test_cuts_are_monotone_and_keep_the_ends(interval, pieces):
    lo, hi = (np.array([end]) for end in interval)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ends = [float(cut(lo, hi, k, pieces)[0]) for k in range(pieces + 1)]
    assert bits(ends[0]) == bits(lo[0]) and bits(ends[-1]) == bits(hi[0])
    assert all(a <= b for a, b in zip(ends, ends[1:], strict=False)) and not any(map(math.isnan, ends))
    assert all(math.isfinite(end) for end in ends[1:-1])


@settings(max_examples=100)
@given(st.lists(intervals(), min_size=1, max_size=20), st.integers(2, 16), st.data())
def test_a_cut_does_not_depend_on_its_company(sides, pieces, data):
    lo, hi = np.array(sides).T.copy()
    k = data.draw(st.integers(0, pieces))
    together = cut(lo, hi, k, pieces)
    assert [bits(cut(lo[j:j + 1], hi[j:j + 1], k, pieces)[0]) for j in range(len(lo))] == [bits(end) for end in together]


@st.composite
def some_regions(draw) -> Regions:
    n, count = draw(st.integers(1, 3)), draw(st.integers(1, 6))
    sides = [[draw(intervals()) for _ in range(count)] for _ in range(n)]
    lo, hi = (np.array([[side[end] for side in row] for row in sides]) for end in (0, 1))
    axis = np.array([draw(st.integers(0, n - 1)) for _ in range(count)], np.int32)
    return Regions(lo, hi, np.zeros(count), axis, np.zeros(count, np.int8))


@settings(max_examples=300)
@given(some_regions(), st.integers(2, 16))
def test_pieces_cover_their_parent_without_a_gap(parents, pieces):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        lo, hi, parent = split(parents, pieces)
    assert (lo <= hi).all() and lo.shape == hi.shape == (len(parents.lo), len(parent))
    for k in range(len(parents)):
        mine, axis = np.flatnonzero(parent == k), parents.axis[k]
        unbounded = not np.isfinite([parents.lo[axis, k], parents.hi[axis, k]]).all()
        assert 1 <= len(mine) <= (2 if unbounded else pieces)
        assert len(mine) == 1 or (hi[axis, mine] > lo[axis, mine]).all(), "no piece is a point of its neighbour"
        for i in range(len(parents.lo)):
            starts, stops = lo[i, mine], hi[i, mine]
            if i != axis:
                assert set(map(bits, starts)) == {bits(parents.lo[i, k])} and set(map(bits, stops)) == {bits(parents.hi[i, k])}
            else:
                assert bits(starts[0]) == bits(parents.lo[i, k]) and bits(stops[-1]) == bits(parents.hi[i, k])
                assert list(map(bits, starts[1:])) == list(map(bits, stops[:-1])), "neighbours share one double"
        assert (starts < INF).all() and (stops > -INF).all()


@pytest.mark.parametrize("pieces", range(2, 17))
def test_ordinary_intervals_are_cut_evenly(pieces):
    lo, hi, parent = split(one_region([-3.0, 1.0], [5.0, 2.0]), pieces)
    assert np.allclose(hi[0] - lo[0], 8 / pieces, rtol=1e-12, atol=0) and (parent == 0).all()
    assert (lo[1] == 1).all() and (hi[1] == 2).all()


@pytest.mark.parametrize("pieces", range(2, 17))
def test_intervals_wider_than_the_largest_double_are_cut_evenly(pieces):
    for end in (MAX, 1e308):
        lo, hi, _ = split(one_region([-end], [end]), pieces)
        assert np.allclose(hi[0] / end - lo[0] / end, 2 / pieces, rtol=1e-12, atol=0)


@pytest.mark.parametrize(("interval", "at"), [
    ((-INF, INF), 0), ((-1, INF), 0), ((0, INF), 1), ((-0.0, INF), 1), ((0.5, INF), 1), ((3, INF), 6), ((-INF, 1), 0),
    ((-INF, 0), -1), ((-INF, -3), -6), ((MAX, INF), MAX), ((1e308, INF), MAX), ((-INF, -1e308), -MAX), ((TINY, INF), 1),
    ((-TINY, INF), 0)])
def test_unbounded_intervals_are_cut_in_two(interval, at):
    lo, hi = (np.array([float(end)]) for end in interval)
    assert cut(lo, hi, 1, 2)[0] == at


def test_halving_a_half_line_ends():
    """After at most some 1100 cuts no double is left beyond."""
    lo, hi, cuts = np.array([3.0]), np.array([INF]), 0
    while (middle := cut(lo, hi, 1, 2))[0] > lo[0]:
        lo, cuts = middle, cuts + 1
    assert lo[0] == MAX and cuts < 1100


# ---- the variable to cut
def has_inside(lo: float, hi: float) -> bool:
    return math.nextafter(lo, INF) < hi if lo > -INF else hi > -MAX


@settings(max_examples=200)
@given(some_regions(), st.data())
def test_an_axis_is_chosen_wherever_a_double_lies_inside(parents, data):
    n, count = parents.lo.shape
    wanted = np.array([data.draw(st.integers(-1, n - 1)) for _ in range(count)], np.int32)
    with np.errstate(over="ignore"):
        axis = choose_axis(parents, wanted)
    for k in range(count):
        inside = [has_inside(float(parents.lo[i, k]), float(parents.hi[i, k])) for i in range(n)]
        assert (axis[k] >= 0) == any(inside)
        if axis[k] >= 0:
            assert inside[axis[k]]
        if wanted[k] >= 0 and inside[wanted[k]]:
            assert axis[k] == wanted[k]


def test_no_warning_for_an_interval_wider_than_the_largest_double():
    assert choose_axis(one_region([0.0, -1.5e308], [TINY, 1.5e308]), np.zeros(1, int)).tolist() == [1]


def test_the_widest_takes_the_place_of_a_variable_that_cannot_be_cut():
    one = one_region([1.0, 0.0, 0.0], [np.nextafter(1.0, 2), 2.0, 3.0])
    assert choose_axis(one, np.array([0])).tolist() == [2] and choose_axis(one, np.array([1])).tolist() == [1]
    assert choose_axis(one, np.array([-1])).tolist() == [2]


@settings(max_examples=100)
@given(intervals(unbounded=False), st.integers(2, 16))
def test_cutting_again_and_again_ends(interval, pieces):
    """A region that has an axis has smaller pieces only: no piece is its parent."""
    one = one_region([interval[0]], [interval[1]])
    if choose_axis(one, np.zeros(1, int))[0] >= 0:
        lo, hi, _ = split(one, pieces)
        assert ((lo > one.lo) | (hi < one.hi)).all()
