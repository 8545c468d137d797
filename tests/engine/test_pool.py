"""Pool: nothing is lost or doubled, the lowest come first."""


import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from infimum.backend.arrays import HostArrays
from infimum.search import region_heap as heap_module
from infimum.search import region_pool as pool_module
from infimum.search.region_pool import RegionPool, Regions
from tests.engine.boxes import INF, MAX, TINY


def regions(lower, first: int = 0, n: int = 2) -> Regions:
    """Regions with these lower bounds; each carries its number, from `first` on, in every field."""
    lower = np.array(lower, dtype=float)
    number = np.arange(first, first + len(lower))
    lo = np.stack([number + 0.25 * i for i in range(n)]) if len(lower) else np.empty((n, 0))
    return Regions(lo, lo + 0.125, lower, (number % n).astype(np.int32), (number % 4).astype(np.int8))


def numbers(found: Regions) -> list[int]:
    """The numbers that the regions carry; every field must still belong to its region."""
    number = found.lo[0].astype(int)
    assert (found.lo[0] == number).all() and (found.lo[1] == number + 0.25).all() and (found.hi == found.lo + 0.125).all()
    assert (found.axis == number % 2).all() and (found.level == number % 4).all()
    assert found.axis.dtype == np.int32 and found.level.dtype == np.int8
    return number.tolist()


def pool_of(front: int = 1 << 15, n: int = 2) -> RegionPool:
    return RegionPool(n, HostArrays(), front)


def add(pool: RegionPool, found: Regions) -> None:
    """As a step does it."""
    pool.balance()
    columns = found.columns()
    near = columns[2 * pool.n] <= pool.border
    pool.add(columns, np.flatnonzero(near), np.flatnonzero(~near))


def taken(pool: RegionPool, count: int, below: float) -> Regions:
    return Regions.from_columns(pool.take(count, below))


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
    st.tuples(st.sampled_from(["everything", "balance", "resume"]), st.none())), max_size=25)


@pytest.mark.parametrize("front", (1, 2, 5))
@settings(max_examples=100)
@given(steps=STEPS)
def test_a_pool_is_a_list_from_which_the_lowest_are_taken(front, steps):
    """Against the model, with a front so small that regions wait all the time."""
    pool, model, count = pool_of(front), Model(), 0
    for what, given_ in steps:
        if what == "add":
            add(pool, regions(given_, count))
            model.rows += [(low, count + k) for k, low in enumerate(given_)]
            count += len(given_)
        elif what == "take":
            assert sorted(numbers(taken(pool, *given_))) == sorted(model.take(*given_))
        elif what == "prune":
            pool.prune(given_)
            model.prune(given_)
        elif what == "everything":
            assert sorted(numbers(pool.everything())) == sorted(number for _, number in model.rows)
        elif what == "balance":
            pool.full = 0
            pool.balance()
        else:
            stored = pool.state()
            pool = pool_of(front)
            pool.restore(stored)
        assert len(pool) == len(model.rows) and pool.least() == model.least()
        assert not len(pool.waiting) or pool.waiting.least() > pool.border
    assert sorted(numbers(pool.everything())) == sorted(number for _, number in model.rows)


def test_those_that_wait_come_in_their_turn():
    pool = pool_of(8)
    lower = np.random.default_rng(0).permutation(100).astype(float)
    for k in range(0, 100, 10):
        add(pool, regions(lower[k:k + 10], k))
    pool.balance()
    assert len(pool.waiting) and len(pool.front) <= 32 and len(pool) == 100
    found = [taken(pool, 7, INF) for _ in range(15)]
    assert [len(f) for f in found] == [7] * 14 + [2]
    for k, f in enumerate(found):
        assert sorted(f.lower.tolist()) == list(range(7 * k, min(7 * k + 7, 100)))
        assert (lower[numbers(f)] == f.lower).all()
    assert len(pool) == 0 and pool.least() == INF and not len(taken(pool, 3, INF))


def test_the_least_is_found_when_the_front_is_empty():
    pool = pool_of(1)
    add(pool, regions([5.0, 4.0, 3.0, 2.0, 1.0]))
    pool.balance()
    assert len(pool.front) == 1 and len(pool.waiting) == 4 and pool.border == 1.0
    assert numbers(taken(pool, 1, INF)) == [4] and not len(pool.front) and pool.least() == 2.0
    assert numbers(taken(pool, 2, INF)) == [2, 3] and len(pool) == 2 and numbers(taken(pool, 1, INF)) == [1]


def test_of_equal_ones_the_first_are_taken():
    pool = pool_of(5)
    for k in range(0, 60, 6):
        add(pool, regions([1.0, 2.0, 1.0, 1.0, 3.0, 1.0], k))
    ones = [k for k in range(60) if k % 6 not in (1, 4)]
    assert [number for _ in range(8) for number in numbers(taken(pool, 5, INF))] == ones
    assert [number for _ in range(2) for number in numbers(taken(pool, 5, INF))] == [k for k in range(60) if k % 6 == 1]
    assert [number for _ in range(2) for number in numbers(taken(pool, 5, INF))] == [k for k in range(60) if k % 6 == 4]


def test_taking_stops_below():
    pool = pool_of()
    add(pool, regions([1.0, 2.0, 3.0, -INF]))
    assert numbers(taken(pool, 9, 2.0)) == [0, 3] and numbers(taken(pool, 9, 2.0)) == [] and len(pool) == 2
    assert numbers(taken(pool, 9, np.nextafter(2.0, 3))) == [1]


@pytest.mark.parametrize(("upper", "left"), [
    (1.0, [0, 1, 2, 3]), (np.nextafter(1.0, 0), [0, 1, 2]), (INF, [0, 1, 2, 3, 4]), (-INF, [0]), (float("nan"), [0, 1, 2, 3, 4]),
    (0.0, [0, 1, 2]), (-0.0, [0, 1, 2]), (MAX, [0, 1, 2, 3, 4]), (-TINY, [0])])
def test_only_what_is_certainly_above_is_dropped(upper, left):
    in_front, waiting, with_gaps = (pool_of() for _ in range(3))
    five = regions([-INF, 0.0, -0.0, 1.0, MAX])
    add(in_front, five)
    waiting.waiting.add(five.columns())
    with_gaps.front.add(np.concatenate([five.columns(), regions([-INF], 9).columns()], axis=1))
    with_gaps.front.remove(np.array([5]))
    for pool in (in_front, waiting, with_gaps):
        pool.prune(upper)
        assert numbers(pool.everything()) == left


def test_an_unknown_bound_is_never_dropped():
    pool = pool_of()
    add(pool, regions([float("nan"), 1.0]))
    pool.prune(0.0)
    assert numbers(pool.everything()) == [0]


def test_an_unknown_bound_in_a_checkpoint_is_no_gap():
    pool, again = pool_of(), pool_of()
    add(pool, regions([2.0, 1.0, 3.0]))
    state = pool.state()
    state["pool.front"][4, 1] = np.nan
    again.restore(state)
    again.prune(0.0)
    assert numbers(again.everything()) == [1] and again.least() == -INF and len(again) == 1
    assert np.isnan(state["pool.front"][4, 1]), "the state belongs to the caller"


def test_bytes_grow_and_shrink():
    pool, each = pool_of(n=3), 8 * (2 * 3 + 3)
    assert pool.bytes == 0
    add(pool, Regions(np.zeros((3, 10)), np.ones((3, 10)), np.zeros(10), np.zeros(10, np.int32), np.zeros(10, np.int8)))
    assert pool.bytes == 10 * each
    pool.take(4, INF)
    assert pool.bytes == 6 * each


def test_gaps_are_closed_and_room_is_given_back():
    """A million come and go: what is held is a small multiple of what is there."""
    pool = pool_of(64)
    for k in range(50):
        add(pool, regions(np.full(2000, float(k)), 2000 * k))
    assert numbers(taken(pool, 99_990, INF)) == list(range(99_990)) and len(pool) == 10
    pool.reserve(1)
    for _ in range(20):
        for heap in (pool.front, pool.waiting):
            heap.reserve(1)
    assert numbers(pool.everything()) == list(range(99_990, 100_000)) and pool.front.room + pool.waiting.room < 300_000


class NoMemory:
    """Arrays of NumPy that run out: `left` more may be made."""

    def __init__(self, left: int):
        self._arrays, self.left = HostArrays(), left

    def __getattr__(self, name: str):
        return getattr(self._arrays, name)

    def empty(self, rows: int, count: int) -> np.ndarray:
        self.left -= 1
        if self.left < 0:
            raise MemoryError
        return self._arrays.empty(rows, count)

    def gather(self, source, index, target=None, at=0):
        return self._arrays.gather(source, index, self.empty(len(source), len(index)) if target is None else target,
                                   at)


@pytest.mark.parametrize("left", range(40))
def test_nothing_is_lost_where_memory_runs_out(left):
    arrays = NoMemory(10**9)
    pool = RegionPool(2, arrays, 20)
    rng, count = np.random.default_rng(left), 0
    arrays.left = left
    for _ in range(30):
        more = regions(rng.integers(0, 9, 30), count)
        try:
            pool.balance()
            pool.reserve(30)
        except MemoryError:
            break
        near = more.lower <= pool.border
        pool.add(more.columns(), np.flatnonzero(near), np.flatnonzero(~near))
        count += 30
        try:
            back = pool.take(10, INF, 30)
        except MemoryError:
            break
        pool.add(back)
    arrays.left = 10**9
    assert sorted(numbers(pool.everything())) == list(range(count)) and (count < 900 or left > 20)


class Narrow(HostArrays):
    """Another memory, in which no array of regions has more than 64 columns."""

    here = HostArrays()

    def empty(self, rows: int, count: int) -> np.ndarray:
        if rows > 1 and count > 64:
            raise MemoryError
        return super().empty(rows, count)

    def send(self, array: np.ndarray) -> np.ndarray:
        room = self.empty(*array.shape)
        room[:] = array
        return room


def test_where_memory_is_full_those_that_wait_go_to_the_host(monkeypatch):
    """Nothing that is taken depends on it; a pool that is resumed goes the same way."""
    monkeypatch.setattr(heap_module.POLICY, "least_room", 8)
    monkeypatch.setattr(pool_module.POLICY, "work_factor", 1)
    rng, arrays = np.random.default_rng(3), Narrow()
    wide, narrow = RegionPool(2, HostArrays(), 4), RegionPool(2, arrays, 4)
    for k in range(80):
        found = regions(rng.normal(size=10), 10 * k)
        add(wide, found)
        add(narrow, found)
        if k == 40:
            state, narrow = narrow.state(), RegionPool(2, arrays, 4)
            narrow.restore(state)
        if k % 16 == 15:
            wide.prune(2.0)
            narrow.prune(2.0)
        assert (wide.take(5, INF, 8) == narrow.take(5, INF, 8)).all() and wide.least() == narrow.least()
        assert (wide.everything().columns() == narrow.everything().columns()).all()
        assert (narrow.waiting.arrays is arrays.here) == (k > 10)
    assert len(narrow.waiting) > 300
