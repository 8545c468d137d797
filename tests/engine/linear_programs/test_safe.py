"""Bounds from any multipliers, judged with fractions."""

from fractions import Fraction as Q

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from infimum.relax.safe_conclusions import (
    IntervalRows,
    LinearCost,
    LinearUnderestimator,
    contracted,
    least_terms,
    lowest,
    usable,
    weighted,
)

N, M = 4, 5
SPECIAL = [0.0, 1.0, -1.0, 1e-310, 1e200, -1e200, 0.1]
WILD = [float("nan"), float("inf"), -float("inf"), 1e308, -1e308]
SEEDS = st.integers(0, 2**32)


def number(rng, *more):
    kind = rng.integers(0, 4)
    special = [*SPECIAL, *more]
    return special[rng.integers(0, len(special))] if kind == 0 else float(rng.normal()) * (1e6, 1e-3, 1.0)[kind - 1]


def program(seed):
    """Rows, a cost, multipliers of any kind, a box, and the part of the way between the ends of coefficients."""
    rng = np.random.default_rng(seed)
    count = rng.integers(0, 17)
    row, column = rng.integers(0, M, count), rng.integers(0, N, count)
    low = np.array([number(rng) for _ in range(count)])
    high = low + np.abs(low) * rng.choice([0.0, 0.0, 1e-16, 0.5], count)
    ends, box = (np.array([sorted((number(rng), number(rng))) for _ in range(k)]) for k in (M, N))
    kinds = rng.integers(0, 3, M)
    lower, upper = np.where(kinds == 0, -np.inf, ends[:, 0]), np.where(kinds == 1, np.inf, ends[:, 1])
    c, y = np.array([number(rng) for _ in range(N)]), np.array([number(rng, *WILD) for _ in range(M)])
    rows = IntervalRows(row, column, low, high, lower, upper)
    return rows, LinearCost(c, c, number(rng)), y, box[:, 0], box[:, 1], Q(int(rng.integers(0, 100)), 99)


def exact_line(rows, y, cost, where):
    """r and the constant, with coefficients the part `where` of the way from their lower ends."""
    r = [Q(c) for c in cost.low.tolist()]
    for k, j, lo, hi in zip(rows.row, rows.column, rows.low, rows.high, strict=True):
        r[j] += Q(float(y[k])) * (Q(float(lo)) + where * (Q(float(hi)) - Q(float(lo))))
    constant = Q(cost.constant)
    for k, v in enumerate(y):
        if v:
            constant -= Q(float(v)) * Q(float(rows.upper[k] if v > 0 else rows.lower[k]))
    return r, constant


@settings(max_examples=300, deadline=None)
@given(SEEDS)
def test_the_line_encloses_the_exact_one(seed):
    rows, cost, y, low, high, part = program(seed)
    y = usable(rows, y)
    line = weighted(rows, y, cost)
    r, constant = exact_line(rows, y, cost, part)
    for j in range(N):
        if np.isfinite(line.low[j]):
            assert Q(float(line.low[j])) <= r[j]
        if np.isfinite(line.high[j]):
            assert r[j] <= Q(float(line.high[j]))
    if np.isfinite(line.constant):
        assert Q(line.constant) <= constant
    found = lowest(line, low, high)
    exact = constant + sum(min(r[j] * Q(float(low[j])), r[j] * Q(float(high[j]))) for j in range(N))
    assert found == -np.inf or Q(found) <= exact


@settings(max_examples=300, deadline=None)
@given(SEEDS, st.floats(-1e6, 1e6))
def test_what_is_cut_off_lies_above_the_upper_bound(seed, upper):
    rows, cost, y, low, high, part = program(seed)
    y = usable(rows, y)
    new_low, new_high = contracted(weighted(rows, y, cost), upper, low, high)
    assert (new_low >= low).all() and (new_high <= high).all()
    r, constant = exact_line(rows, y, cost, part)
    least = [min(r[j] * Q(float(low[j])), r[j] * Q(float(high[j]))) for j in range(N)]
    for j in range(N):
        room = Q(upper) - constant - sum(least) + least[j]  # r_j z_j is at most that
        if new_high[j] < high[j]:
            assert r[j] * Q(float(np.nextafter(new_high[j], np.inf))) > room
        if new_low[j] > low[j]:
            assert r[j] * Q(float(np.nextafter(new_low[j], -np.inf))) > room


def test_good_multipliers_lose_next_to_nothing():
    # x + y >= 1
    rows = IntervalRows(np.array([0, 0]), np.array([0, 1]), np.ones(2), np.ones(2), np.array([1.0]), np.array([np.inf]))
    cost = LinearCost(np.array([1.0, 2.0]), np.array([1.0, 2.0]), 0.0)
    line = weighted(rows, usable(rows, np.array([-1.0])), cost)
    assert 1.0 - 1e-13 < lowest(line, np.zeros(2), np.full(2, 10.0)) <= 1.0
    low, high = contracted(line, 1.5, np.zeros(2), np.full(2, 10.0))
    assert high[0] == 10.0 and 0.5 <= high[1] < 0.5 + 1e-13  # y has the reduced cost 1


def test_columns_without_bounds_say_nothing_unless_their_multiple_has_the_right_sign():
    line = LinearUnderestimator(np.array([1.0]), np.array([1.0]), 0.0)
    assert lowest(line, np.array([-np.inf]), np.array([1.0])) == -np.inf
    assert 1.9 < lowest(line, np.array([2.0]), np.array([np.inf])) <= 2.0
    assert lowest(LinearUnderestimator(np.array([np.nan]), np.array([1.0]), 0.0), np.zeros(1), np.ones(1)) == -np.inf
    assert np.isnan(least_terms(LinearUnderestimator(np.array([np.nan]), np.array([1.0]), 0.0), np.ones(1), np.ones(1)))[0]


def test_overflow_is_not_taken_for_a_bound():
    rows = IntervalRows(np.array([0, 1]), np.array([0, 0]), np.full(2, 1e200), np.full(2, 1e200), np.full(2, -np.inf),
                        np.full(2, -1e200))
    y = usable(rows, np.array([1e200, 1e200]))
    assert lowest(weighted(rows, y, LinearCost(np.zeros(1), np.zeros(1), 0.0)), np.zeros(1), np.ones(1)) == -np.inf
