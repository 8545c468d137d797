"""What a proof leaves: regions one by one in `Cover`, merged in `boxes`, whatever their number and that of the variables."""

import pickle

import numpy as np
import pytest

import infimum
from infimum.certify import verdict
from infimum.certify.verdict import merged
from infimum.problem import cover
from infimum.problem.cover import Cover
from infimum.search.region_pool import Regions


class Counted(np.ndarray):
    """Counts the calls of NumPy's functions, and the numbers they look at."""

    calls = numbers = 0

    def __array_ufunc__(self, ufunc, method, *inputs, out=None, **more):
        Counted.calls += 1
        Counted.numbers += max(np.size(i) for i in inputs)
        plain = [i.view(np.ndarray) if isinstance(i, Counted) else i for i in inputs]
        if out is not None:
            more["out"] = tuple(o.view(np.ndarray) if isinstance(o, Counted) else o for o in out)
        return getattr(ufunc, method)(*plain, **more)


def work_of(n: int, count: int) -> tuple[int, int]:
    """(calls, numbers looked at) of merging disjoint regions."""
    lo = np.zeros((n, count))
    lo[0] = 2.0 * np.arange(count)
    Counted.calls = Counted.numbers = 0
    sides = lo.view(Counted), (lo + 1).view(Counted)
    boxes = merged(Regions(*sides, np.zeros(count), np.zeros(count, np.int32), np.zeros(count, np.int8)))
    assert len(boxes) == count or len(boxes) == 1
    return Counted.calls, Counted.numbers


def test_merging_regions_of_very_many_variables_takes_few_calls():
    calls, numbers = work_of(1_000_000, 1)
    assert 0 < calls < 200 and 1_000_000 <= numbers < 20_000_000
    calls, numbers = work_of(100_000, 5)
    assert 0 < calls < 1000 and numbers < 5 * 100_000 * 5 * 8


def test_merging_very_many_regions_makes_no_array_of_all_their_ends(monkeypatch):
    """Each call looks at one variable of all of them."""
    monkeypatch.setattr(verdict.POLICY, "merge_work", 1 << 22)
    calls, numbers = work_of(4, 500_000)
    assert 0 < calls < 100 and numbers / calls <= 500_000


# ---- regions one by one
def test_the_regions_of_a_flat_minimum_stay_narrow():
    r = infimum.minimize(lambda x: np.maximum(np.abs(x[0]) - 1, 0.0), [(-3, 3)], xtol=0.01)
    (lo, hi), = r.boxes
    assert r.verdict.name == "PROVED" and lo <= -1 and hi >= 1
    assert len(r.regions) > 100 and r.regions.lo.shape == (len(r.regions), 1) and r.regions.width <= 0.01
    assert (r.regions.hi - r.regions.lo).max() <= 0.01 and (r.regions.lower <= 0).all()
    order = np.argsort(r.regions.lo[:, 0])
    low, high = r.regions.lo[order, 0], r.regions.hi[order, 0]
    assert low[0] == lo[0] and high.max() == hi[0] and (low[1:] <= np.maximum.accumulate(high)[:-1]).all(), "no gap"
    assert f"all in 1 box ({len(r.regions)} regions, the widest 0.00" in str(r)


@pytest.mark.parametrize("engine", ("auto", "newton", "complete"))
def test_every_region_lies_in_a_box(engine):
    p = infimum.problems.get("himmelblau")
    r = infimum.minimize(p.fun, p.bounds, xtol=1e-3, engine=engine)
    assert len(r.regions) >= len(r.boxes) == 4 and r.regions.width <= 1e-3
    for lo, hi in r.regions:
        assert any((low <= lo).all() and (hi <= high).all() for low, high in r.boxes)


def test_a_cover_cannot_be_written_to_and_can_be_pickled():
    made = Cover(np.zeros((2, 3)), np.ones((2, 3)), np.zeros(3))
    for array in (made.lo, made.hi, made.lower):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1.0
    again = pickle.loads(pickle.dumps(made))
    assert again == made and len(again) == 3 and again != Cover(np.zeros((2, 2)), np.ones((2, 2)), np.zeros(2)) and again != 3
    assert len(list(made)) == 3 and next(iter(made))[1].tolist() == [1.0, 1.0] and repr(made) == "Cover(3 regions)"


def test_of_too_many_regions_only_the_number_is_kept(monkeypatch):
    monkeypatch.setattr(cover, "MOST_KEPT_NUMBERS", 14)
    kept, lost = (Cover(np.zeros((2, count)), np.ones((2, count)), np.zeros(count)) for count in (2, 3))
    assert kept.kept and kept.lo.shape == (2, 2) and not lost.kept and len(lost) == 3
    with pytest.raises(infimum.NotKeptError, match="3 regions take more than"):
        lost.lo  # noqa: B018
    assert lost != kept and repr(lost) == "Cover(3 regions, not kept)"
    r = infimum.minimize(lambda x: np.maximum(np.abs(x[0]) - 1, 0.0), [(-3, 3)], xtol=0.1)
    assert not r.regions.kept and f"all in 1 box ({len(r.regions)} regions)" in str(r)


def test_no_region_is_left_where_nothing_is_defined():
    r = infimum.minimize(lambda x: np.log(-1 - x[0] ** 2), [(-1, 2)])
    assert len(r.regions) == 0 and r.boxes == [] and r.regions.width == 0.0 and "minimisers   none" in str(r)


def test_callbacks_see_what_is_verified():
    """The best value may be an estimate, the bounds are not: here the estimate is off by 16."""
    seen = []

    def cancelling(x):
        return 3 - ((x[0] - 0.7) ** 2 + 1e17) + 1e17 + np.sin(20 * x[0])
    for solve in (infimum.minimize, infimum.maximize):
        solve(cancelling, [(-5, 5)], callback=lambda s: seen.append((s.lower, s.upper)))
        assert all(low <= up for low, up in seen)
    assert all(up >= -30.5 for _, up in seen)
