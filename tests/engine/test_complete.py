"""The complete search: gapless covers, nothing lost, the paper's counts."""

import numpy as np
import pytest

import infimum
from infimum import problems
from infimum.backend.arrays import HostArrays
from infimum.engines.complete_options import ENDS, CompleteOptions
from infimum.engines.complete_search import CompleteSearch
from infimum.engines.region_list import BYTES, Chunk, RegionList
from infimum.problem.problem import Problem
from infimum.problem.settings import Goal


def search(p, xtol=1e-4, **options) -> CompleteSearch:
    evaluator = infimum.compile(p.fun, p.n)
    return CompleteSearch(Problem(p.fun, p.lo, p.hi), evaluator, CompleteOptions(**options), Goal(1e-6, 1e-6, xtol), 0)


@pytest.mark.parametrize("cuts", ENDS)
@pytest.mark.parametrize("lo, hi", [(-1.0, 2.0), (1.0, 1e8), (-1e-300, 1e300), (0.1, 0.1), (1.0, 1.0 + 2.0**-52),
                                    (-5e-324, 5e-324), (-1e8, -1.0)])
def test_pieces_cover_without_a_gap(cuts, lo, hi):
    for p in (2, 4, 8, 16):
        ends = ENDS[cuts](lo, hi, p)
        assert len(ends) == p + 1 and ends[0] == lo and ends[-1] == hi and ends == sorted(ends)


def test_logarithmic_cuts_are_those_of_the_paper():
    assert np.allclose(ENDS["log"](1.0, 1e8, 4), [1, 1e2, 1e4, 1e6, 1e8], rtol=1e-15)


@pytest.mark.parametrize("cuts", ENDS)
def test_descendants_are_rebuilt_without_a_gap(cuts):
    """A million random descendants: neighbours share their ends bit for bit, the outermost have the ends of their parent."""
    n, block, pieces = 7, 3, 4
    s = search(problems.get("rastrigin", n), partition=(block, pieces), cuts=cuts)
    rng = np.random.default_rng(0)
    lo, hi, count = s.lo, s.hi, 0
    for iteration in range(100):
        start = min(iteration * block % n, n - block)
        s.taken.append((lo, hi, start))
        numbers = rng.integers(0, pieces**block, 10_000)
        low, high = s.boxes_of(np.full(len(numbers), iteration), numbers)
        others = np.delete(np.arange(n), range(start, start + block))
        assert (low[others] == lo[others, None]).all() and (high[others] == hi[others, None]).all()
        for k in range(block):
            digit, row = (numbers // pieces**k) % pieces, start + k
            assert (low[row, digit == 0] == lo[row]).all() and (high[row, digit == pieces - 1] == hi[row]).all()
            next_low, next_high = s.boxes_of(np.full(len(numbers), iteration), numbers + pieces**k)
            inner = digit < pieces - 1
            assert (next_low[row, inner] == high[row, inner]).all() and (low[row] <= high[row]).all()
            rest = np.delete(np.arange(n), row)
            assert (next_low[rest][:, inner] == low[rest][:, inner]).all()
            assert (next_high[rest][:, inner] == high[rest][:, inner]).all()
        count += len(numbers)
        lo, hi = (low[:, 0], high[:, 0]) if (high[:, 0] > low[:, 0]).any() else (s.lo, s.hi)
    assert count == 1_000_000


def test_lanes_derive_the_boxes_that_are_rebuilt():
    """With whole numbers and halves nothing is rounded: an entry's lower end is that of the natural enclosure on its box."""
    weights = np.array([1.0, -3.0, 9.0, -27.0, 81.0, 0.0, 2.0])
    evaluator = infimum.compile(lambda x: np.sum(x**4 - 32 * x**2 + weights * x), 7)
    bounds = np.full(7, -8.0), np.full(7, 8.0)
    s = CompleteSearch(Problem(None, *bounds), evaluator, CompleteOptions(partition=(3, 4)), Goal(1e-6, 1e-6, 1e-4), 0)
    for _ in range(4):
        s.step()
        iterations, subregions, lower, _ = s.list.everything(s.incumbent.upper)
        assert len(s.list) > 50 and (lower == evaluator.value(*s.boxes_of(iterations, subregions)).lo).all()


@pytest.mark.parametrize("name, cycles", [("rastrigin", 9), ("levy", 9), ("ackley", 10), ("griewank", 11), ("salomon", 11),
                                          ("styblinski", 9), ("zabinsky", 8), ("breiman", 8), ("fu", 9), ("belegundu", 9)])
def test_the_papers_iteration_counts(name, cycles):
    """One region survives each iteration: as many iterations as blocks times cycles, here with two blocks of four variables."""
    p = problems.get(f"complete_search_{name}", 8)
    s = search(p, partition=(4, 4))
    for _ in s.run():
        known = s.boxes_of(*(part[:3] for part in s.list.everything(s.incumbent.upper)[:2]))
        assert len(known) and s.lower() <= p.minimum.hi and s.incumbent.upper >= p.minimum.lo
    assert len(s.list) == 1 and len(s.taken) == 2 * cycles
    lo, hi = (side[:, 0] for side in s.boxes_of(*s.list.everything(s.incumbent.upper)[:2]))
    assert any(((lo <= b[1]) & (hi >= b[0])).all() for b in p.minimisers) and (hi - lo).max() <= 1e-4


@pytest.mark.parametrize("options", [{"cuts": "golden"}, {"cuts": "log"}, {"samples": "centre"},
                                     {"samples": "latin", "points": 7}])
def test_other_plans_prove_as_well(options):
    p = problems.get("complete_search_rastrigin", 4)
    r = infimum.minimize(p.fun, p.bounds, engine="complete", xtol=1e-3, options={"partition": (4, 4), **options})
    assert r.verdict is infimum.Verdict.PROVED and r.lower <= 0 <= r.upper
    assert any(((lo <= 0) & (hi >= 0)).all() for lo, hi in r.boxes)


def test_an_entry_is_small():
    assert BYTES <= 32


@pytest.mark.parametrize("options", [{"partition": (0, 4)}, {"partition": (3, 3)}, {"partition": 4}, {"cuts": "x"},
                                     {"samples": 3}, {"points": 0}, {"iterations": -1}, {"nothing": 1}, {"partition": (40, 4)}])
def test_bad_options(options):
    with pytest.raises(infimum.OptionError):
        infimum.minimize(lambda x: x[0], [(0, 1)], engine="complete", options=options)


def test_what_it_cannot_do():
    with pytest.raises(infimum.BoundsError, match="finite"):
        infimum.minimize(lambda x: x[0]**2, [(0, np.inf)], engine="complete")
    with pytest.raises(infimum.NotLocalError, match="auto"):
        infimum.minimize(lambda x: np.sum(np.cumsum(x)**2), [(0, 1)] * 3, engine="complete")


def test_iterations_stop_it():
    p = problems.get("rastrigin", 5)
    r = infimum.minimize(p.fun, p.bounds, engine="complete", options={"partition": (2, 4), "iterations": 3})
    assert r.verdict is infimum.Verdict.STOPPED and r.nit == 3 and r.lower <= 0 <= r.upper


def test_a_search_that_is_stopped_with_very_many_regions_tells_what_they_were_cut_from(monkeypatch):
    """Their boxes alone would not fit into memory; what comes instead holds all of them, and the bounds are the same."""
    p = problems.get("complete_search_ackley", 12)
    settings = {"engine": "complete", "options": {"partition": (4, 4), "iterations": 3}}
    every = infimum.minimize(p.fun, p.bounds, **settings)
    monkeypatch.setattr("infimum.engines.complete_search.POLICY.most_ends", 100)
    few = infimum.minimize(p.fun, p.bounds, **settings)
    assert 0 < len(few.regions) <= 4 < len(every.regions) and (few.lower, few.upper) == (every.lower, every.upper)
    assert few.verdict is every.verdict is infimum.Verdict.STOPPED
    for lo, hi in every.boxes:
        assert any((a <= lo).all() and (hi <= b).all() for a, b in few.boxes)


@pytest.mark.parametrize("when", [1, 2, 3])
def test_where_memory_runs_out_no_region_is_lost(when, monkeypatch):
    p = problems.get("complete_search_ackley", 12)
    settings = {"engine": "complete", "options": {"partition": (4, 4)}}
    usual, calls = CompleteSearch._left, []

    def full(self, *given):
        calls.append(given)
        if len(calls) > when:
            raise MemoryError
        return usual(self, *given)
    monkeypatch.setattr(CompleteSearch, "_left", full)
    r = infimum.minimize(p.fun, p.bounds, **settings)
    assert r.verdict is infimum.Verdict.STOPPED and "no memory is left" in r.message and r.nit == when
    assert r.lower <= 0 <= r.upper and any((lo <= 0).all() and (hi >= 0).all() for lo, hi in r.boxes)


def test_a_list_that_comes_here_forgets_nothing_and_takes_nothing_twice():
    class Far(HostArrays):
        here = HostArrays()
    far = Far()
    mine, rows = RegionList(far), (HostArrays().numbers(4), np.array([[1.0, 2.0, 3.0, 4.0]]))
    mine.chunks.append(Chunk(far, 0, *rows, False, np.inf))
    assert [mine.take()[1] for _ in range(2)] == [0, 1] and len(mine) == 2 and mine.move_to_host() and not mine.move_to_host()
    assert len(mine) == 2 and [mine.take()[1:] for _ in range(2)] == [(2, 3.0), (3, 4.0)] and not mine.chunks


def test_chunks_of_one_iteration_are_filtered_alike(monkeypatch, tmp_path):
    """The first of them was kept when the best point was not as good: a run that is resumed counts the same regions."""
    monkeypatch.setattr("infimum.engines.complete_search.POLICY.lanes_at_once", 16)
    p = problems.get("rastrigin", 4)
    settings = {"engine": "complete", "options": {"partition": (3, 4)}, "memory_limit": 700, "xtol": 1e-6}
    whole = infimum.minimize(p.fun, p.bounds, **settings)
    for steps in range(1, whole.nit + 1):
        path, seen = str(tmp_path / f"run{steps}"), []
        stop = {"callback": lambda snapshot, seen=seen, steps=steps: seen.append(snapshot) or len(seen) >= steps}
        infimum.minimize(p.fun, p.bounds, checkpoint=path, **stop, **settings)
        again = infimum.resume(path, p.fun)
        assert (again.nit, again.nfev, again.regions, again.message) == (whole.nit, whole.nfev, whole.regions, whole.message)


def test_the_list_is_a_plain_list():
    """Against an ordinary list of tuples: the first of the lowest is taken, what is above is dropped, the order stays."""
    rng = np.random.default_rng(5)
    mine, plain, upper = RegionList(HostArrays()), [], 50.0
    mine.enough = 100
    for iteration in range(60):
        count = int(rng.integers(0, 40))
        lower, wide = rng.integers(0, int(upper), count).astype(float), rng.random(count) < 0.5
        wide = bool(wide[0]) if count and iteration % 3 == 0 else wide
        mine.add(iteration, np.arange(count)[None], lower[None].copy(), wide, upper if iteration % 2 else np.inf)
        plain += [(iteration, k, lower[k], bool(np.broadcast_to(wide, count)[k])) for k in range(count)]
        for only_wide in (False, True, False):
            if any(region[3] for region in plain):
                taken = min((region for region in plain if region[3] or not only_wide), key=lambda region: region[2])
                plain.remove(taken)
                assert mine.take(only_wide) == taken[:3]
        if iteration % 7 == 6:
            upper = 40 - iteration / 3
            mine.prune(upper)
            plain = [region for region in plain if region[2] <= upper]
        assert len(mine) >= len(plain) and mine.least() == min((region[2] for region in plain), default=np.inf)
        assert list(zip(*(part.tolist() for part in mine.everything(upper)), strict=True)) == plain
        assert mine.all_narrow(upper) == (not any(region[3] for region in plain))
    assert len(plain) > 20 and mine.takes_more(BYTES * len(plain) - 1, upper) and not mine.takes_more(BYTES * len(plain), upper)


def quartic(x):
    return np.sum(x**4 - 16 * x**2 + 5 * x) / 2


@pytest.mark.parametrize("partition", [(2, 4), (1, 2), (10, 4)])
@pytest.mark.parametrize("bounds", [[(1, 1), (-5, 5)], [(-5, 5), (1, 1)], [(1, 1), (2, 2)]])
def test_a_variable_without_width_is_not_cut_into_copies(bounds, partition):
    r = infimum.minimize(quartic, bounds, engine="complete", xtol=1e-3, options={"partition": partition, "iterations": 200})
    assert r.verdict is infimum.Verdict.PROVED and len(r.regions) <= 2
    assert r.lower <= infimum.minimize(quartic, bounds).upper and any(((lo <= r.x) & (r.x <= hi)).all() for lo, hi in r.boxes)


@pytest.mark.parametrize("xtol", [0, 1e-16])
def test_where_no_double_is_left_it_ends(xtol):
    r = infimum.minimize(quartic, [(-5, 5)] * 2, engine="complete", xtol=xtol, options={"partition": (2, 4), "iterations": 1000})
    assert r.verdict is infimum.Verdict.UNDECIDED and r.upper - r.lower < 1e-12 and len(r.regions) < 100


@pytest.mark.parametrize("number", [np.float64, np.float32])
def test_numbers_of_numpy_are_numbers(number, tmp_path):
    path = str(tmp_path / "run.inf")
    r = infimum.minimize(quartic, [(-5, 5)] * 2, engine="complete", xtol=number(1e-3), atol=number(1e-3), checkpoint=path,
                         memory_limit=np.int64(10**9), options={"partition": (np.int64(1), 2)})
    assert r.verdict is infimum.Verdict.PROVED and infimum.resume(path, quartic).verdict is infimum.Verdict.PROVED


def test_a_partition_of_very_many_pieces_is_refused():
    with pytest.raises(infimum.OptionError, match="256 pieces"):
        infimum.minimize(quartic, [(-5, 5)], engine="complete", options={"partition": (1, 2**12)})


def test_the_memory_limit_does_not_depend_on_the_past(tmp_path):
    """A run that is resumed stops where an undisturbed one does."""
    settings = {"engine": "complete", "options": {"partition": (2, 4)}, "memory_limit": 2000, "xtol": 1e-6}
    p = problems.get("rastrigin", 4)
    whole = infimum.minimize(p.fun, p.bounds, **settings)
    assert whole.verdict is infimum.Verdict.STOPPED and f"{len(whole.regions):,} regions" in whole.message
    path, seen = str(tmp_path / "run.inf"), []
    stop = {"callback": lambda snapshot: seen.append(snapshot) or len(seen) >= whole.nit - 3}
    infimum.minimize(p.fun, p.bounds, checkpoint=path, **stop, **settings)
    again = infimum.resume(path, p.fun)
    assert (again.nit, again.nfev, again.lower, again.upper, again.regions) == (
        whole.nit, whole.nfev, whole.lower, whole.upper, whole.regions)
