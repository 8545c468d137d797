"""Products of unions of intervals: far more boxes than can be listed, and still counted, found, printed and stored."""

import json
import math
import pickle
from itertools import islice, product

import numpy as np
import pytest

import infimum
from infimum.certify.verdict import listed_boxes, proved_result
from infimum.problem.cover import Cover
from infimum.problem.settings import Goal
from infimum.problem.unions import Unions, number_of
from infimum.result import Verdict
from infimum.search.incumbent import Incumbent
from infimum.search.region_pool import Regions

TWO = [(-2.0, -1.0), (1.0, 2.0)]
MIXED = [[(0.0, 1.0), (1.0, 2.0), (3.0, 4.0)], [(5.0, 5.0)], TWO]


def result_of(unions: Unions, goal: Goal | None = None, stopped: str | None = None) -> infimum.Result:
    """What a proof says that has left these unions."""
    n = len(unions)
    f = infimum.compile(lambda x: np.sum(x**4 - 4 * x**2), n=n)
    best = Incumbent(f, np.full(n, -3.0), np.full(n, 3.0))
    best.offer(np.full((n, 1), math.sqrt(2)))
    lo, hi = (end[:, None] for end in unions.hull)
    hull = Regions(lo, hi, np.array([-4.0 * n]), np.zeros(1, np.int32), np.full(1, 3, np.int8))
    return proved_result(hull, -4.0 * n, best, goal or Goal(), stopped, unions, nit=1, nfev=1)


def test_the_boxes_are_those_of_the_product():
    unions = Unions.of(MIXED)
    wanted = [([a for a, _ in ends], [b for _, b in ends]) for ends in product(*MIXED)]
    cover = Cover.product(unions, -1.0)
    assert unions.count == cover.count == len(cover) == len(wanted) == 6 and cover.kept and cover
    for k, (lo, hi) in enumerate(wanted):
        for found in (unions.box(k), cover[k], cover[k - 6], (cover.lo[k], cover.hi[k])):
            assert found[0].tolist() == lo and found[1].tolist() == hi
    assert [lo.tolist() for lo, _ in cover] == [lo for lo, _ in wanted]
    assert cover.lower.tolist() == [-1.0] * 6 and cover.width == 1.0
    with pytest.raises(IndexError, match="out of range: there are 6 regions"):
        cover[6]
    assert [low.tolist() for low in unions.hull] == [[0.0, 5.0, -2.0], [4.0, 5.0, 2.0]]


def test_intervals_that_touch_are_merged_within_a_variable_only():
    unions = Unions.of([[(0, 1), (1, 2), (3, 4)], [(4, 5), (6, 7)], [(7, 8)]])
    assert [u.tolist() for u in map(unions.merged().__getitem__, range(3))] == [[[0, 2], [3, 4]], [[4, 5], [6, 7]], [[7, 8]]]
    assert len(listed_boxes(unions)) == 4


def test_points_are_found_in_the_product():
    cover = Cover.product(Unions.of(MIXED), -1.0)
    for x, inside in (((1.0, 5.0, 1.5), True), ((2.5, 5.0, 1.5), False), ((4.0, 5.0, -2.0), True), ((1.0, 5.1, 1.5), False)):
        assert (x in cover) is inside
        assert (x in Cover(cover.lo.T, cover.hi.T, cover.lower)) is inside
    with pytest.raises(ValueError, match="a point of 3 variables"):
        assert (1.0, 5.0) in cover


def test_an_empty_union_leaves_no_box():
    unions = Unions.of([TWO, [], TWO])
    assert unions.count == 0 and not Cover.product(unions, 0.0) and (1.5, 1.5, 1.5) not in unions
    assert unions.merged().counts.tolist() == [2, 0, 2]


def test_intervals_are_kept_by_a_mask():
    kept = Unions.of(MIXED).keep(np.array([True, False, True, True, False, True]))
    assert [kept[i].tolist() for i in range(3)] == [[[0, 1], [3, 4]], [[5, 5]], [[1, 2]]]


@pytest.mark.parametrize("n", [20, 1000, 100_000])
def test_more_boxes_than_can_be_listed(n):
    cover = Cover.product(Unions.of([TWO] * n), -1.0)
    assert cover.count == 2**n and cover.width == 1.0 and np.full(n, 1.5) in cover and np.zeros(n) not in cover
    assert [lo[-2:].tolist() for lo, _ in islice(cover, 3)] == [[-2, -2], [-2, 1], [1, -2]]
    assert cover[-1][0].tolist() == [1.0] * n
    if n > 20:
        assert not cover.kept
        with pytest.raises(OverflowError, match="use `count`"):
            len(cover)
        with pytest.raises(infimum.NotKeptError, match=r"more than 10\*\*30\d+ regions take"):
            cover.lo  # noqa: B018
        with pytest.raises(IndexError):
            cover[2**n]


def test_numbers_of_boxes_are_written_as_long_as_they_can_be_read():
    assert [number_of(k) for k in (1, 2**30, 10**15 - 1)] == ["1", "1,073,741,824", "999,999,999,999,999"]
    for n in (100, 1000, 10**6):
        digits = int(number_of(2**n).removeprefix("more than 10**"))
        assert digits == math.floor(n * math.log10(2))


def test_covers_are_compared_and_pickled_as_products():
    cover = Cover.product(Unions.of(MIXED), -1.0)
    assert pickle.loads(pickle.dumps(cover)) == cover
    assert cover != Cover.product(Unions.of(MIXED), -2.0) and cover != Cover.product(Unions.of(MIXED[::-1]), -1.0)
    assert cover != Cover(cover.lo.T, cover.hi.T, cover.lower)
    assert repr(cover) == "Cover.product(Unions(3 variables, 6 intervals))"


# ---- in results
def test_a_result_lists_few_boxes_and_surrounds_many():
    few, many = (result_of(Unions.of([[(-1.5, -1.4), (1.4, 1.5)]] * n)) for n in (3, 20))
    assert few.verdict is many.verdict is Verdict.PROVED
    assert len(few.boxes) == 8 and len(few.regions) == 8 and few.attained
    assert len(many.boxes) == 1 and many.regions.count == 2**20
    assert many.boxes[0][0].tolist() == [-1.5] * 20 and many.boxes[0][1].tolist() == [1.5] * 20
    assert np.array([1.4142, -1.4142] * 10) in many.regions


def test_a_result_prints_the_unions():
    text = str(result_of(Unions.of([[(-1.5, -1.4), (1.4, 1.45), (1.45, 1.5)]] * 20)))
    assert "minimisers   all in a product of unions, 1,048,576 boxes" in text
    assert "each variable in [-1.5, -1.4] ∪ [1.4, 1.5]" in text
    text = str(result_of(Unions.of([[(-1.5 - k, -1.4), (1.4, 1.5)] for k in range(9)])))
    assert "x[0] in [-1.5, -1.4] ∪ [1.4, 1.5]" in text and "x[5] in [-6.5, -1.4] ∪ [1.4, 1.5]" in text
    assert "… 9 variables in all, the widest interval 8.1" in text and "x[6]" not in text


def test_a_result_of_a_product_becomes_json_and_a_pickle():
    r = result_of(Unions.of([[(-1.5, -1.4), (1.4, np.inf)]] * 2000))
    assert json.loads(r.to_json())["regions"]["unions"][7] == [[-1.5, -1.4], [1.4, "inf"]]
    assert pickle.loads(pickle.dumps(r)).regions == r.regions


def test_no_interval_may_be_wider_than_xtol():
    unions = Unions.of([[(-1.5, -1.4), (1.4, 1.5)]] * 6)
    assert result_of(unions, Goal(xtol=0.11)).verdict is Verdict.PROVED
    r = result_of(unions, Goal(xtol=0.09), "enough")
    assert r.verdict is Verdict.STOPPED
