"""Minima: ends are one minimum by value and place, and the estimate of trust is that of Boender and Rinnooy Kan."""

from fractions import Fraction
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import infimum
from infimum.points import local_minima
from infimum.points.descent_kernel import LaneState
from infimum.points.descents import DescentEnds
from infimum.points.local_minima import LocalMinima, probability_all_seen
from infimum.result import End
from infimum.search.policy.points import LOCAL_MINIMA


def ends(points, values, state: "int | list[int]" = LaneState.CONVERGED) -> DescentEnds:
    """Ends at points of one variable, or at columns."""
    x = np.atleast_2d(np.array(points, float))
    count = x.shape[1]
    return DescentEnds(x, np.array(values, float), np.broadcast_to(np.array(state, int), count).copy(), np.arange(count),
                       3 * count, 3)


def gathered(points, values, state: "int | list[int]" = LaneState.CONVERGED, independent: bool = True,
             width: float = 1.0) -> LocalMinima:
    n = len(np.atleast_2d(np.array(points, float)))
    m = LocalMinima(np.zeros(n), np.full(n, width))
    m.add(ends(points, values, state), independent)
    return m


def sizes(m: LocalMinima) -> list[int]:
    return [len(g) for g in m.groups()]


# ---- the estimate
def posterior(descents: int, seen: int) -> Fraction:
    """The same from Bayes' rule: uniform sizes of the basins, every number k of minima equally likely beforehand.

    Given k, the numbers of descents in each minimum are uniform over the comb(L+k-1, k-1) ways to share them out; in
    comb(k, seen) * comb(L-1, seen-1) of these exactly `seen` minima have some. The sum is cut where its terms no longer count.
    """
    def weight(k: int) -> Fraction:
        return Fraction(comb(k, seen) * comb(descents - 1, seen - 1), comb(descents + k - 1, k - 1))
    return weight(seen) / sum(weight(k) for k in range(seen, 4000))


@pytest.mark.parametrize("descents, seen", [(10, 1), (12, 2), (20, 3), (30, 5), (15, 4), (40, 8)])
def test_the_estimate_follows_from_bayes(descents, seen):
    assert abs(probability_all_seen(descents, seen) - float(posterior(descents, seen))) < 1e-9


@given(st.integers(0, 400), st.integers(0, 60))
def test_the_estimate_is_the_product(descents, seen):
    exact = Fraction(1)
    for i in range(1, seen + 1):
        exact *= Fraction(descents - 1 - i, descents - 1 + i) if descents > seen + 1 else 0
    if descents <= seen + 1:
        exact = Fraction(0)
    found = probability_all_seen(descents, seen)
    assert abs(Fraction(found) - exact) <= exact * Fraction(3 * seen + 1, 2**53)
    assert 0.0 <= found <= 1.0


def test_the_estimate_grows_with_the_descents_and_falls_with_the_minima():
    table = np.array([[probability_all_seen(descents, seen) for seen in range(1, 8)] for descents in range(20, 200, 20)])
    assert (np.diff(table, axis=0) > 0).all() and (np.diff(table, axis=1) < 0).all()


@pytest.mark.parametrize("descents, seen", [(0, 0), (1, 0), (1, 1), (2, 1), (5, 4), (5, 9)])
def test_too_few_descents_tell_nothing(descents, seen):
    assert probability_all_seen(descents, seen) == 0.0


# ---- which ends are one
def test_equal_ends_are_one():
    m = gathered([0.5] * 5, [1.0] * 5)
    assert sizes(m) == [5] and m.lowest() == 5


def test_ends_at_different_places_are_two():
    assert sizes(gathered([0.5, 0.5 + 0.9 * LOCAL_MINIMA.same_place, 0.5 + 1.1 * LOCAL_MINIMA.same_place], [1.0] * 3)) == [2, 1]


def test_places_are_measured_in_widths():
    assert sizes(gathered([50.0, 50.0 + 90 * LOCAL_MINIMA.same_place, 50.0 + 110 * LOCAL_MINIMA.same_place], [1.0] * 3,
                          width=100.0)) == [2, 1]


def test_the_farthest_variable_counts():
    x = np.zeros((3, 3))
    x[:, 1], x[2, 2] = 0.9 * LOCAL_MINIMA.same_place, 1.1 * LOCAL_MINIMA.same_place
    assert sizes(gathered(x, [1.0] * 3)) == [2, 1]


def test_ends_of_different_value_are_two():
    m = gathered([0.5] * 3, [0.0, 0.9 * LOCAL_MINIMA.same_value, 1.1 * LOCAL_MINIMA.same_value])
    assert sizes(m) == [2, 1] and m.lowest() == 2


@pytest.mark.parametrize("spread, level", [(1.0, 0.0), (100.0, 0.0), (1.0, 99.0), (50.0, -50.0)])
def test_values_are_measured_in_the_spread_and_in_themselves(spread, level):
    reach = LOCAL_MINIMA.same_value * (spread + abs(level))
    m = gathered([0.5] * 3, [level, level + 0.9 * reach, level + 1.1 * reach])
    m.spread = spread
    assert sizes(m) == [2, 1]


def test_fixed_variables_have_no_width():
    m = LocalMinima(np.array([0.0, 0.7]), np.array([1.0, 0.7]))
    m.add(ends([[0.5, 0.5], [0.7, 0.7]], [1.0, 1.0]), True)
    assert sizes(m) == [2]


@pytest.mark.parametrize("state, together",
                         [((LaneState.CONVERGED, LaneState.CONVERGED), False), ((LaneState.KINK, LaneState.CONVERGED), True),
                          ((LaneState.CONVERGED, LaneState.KINK), True),
                                             ((LaneState.KINK, LaneState.KINK), True)])
def test_kinks_are_one_more_generously(state, together):
    near, far = 0.9 * LOCAL_MINIMA.same_value_at_kink, 1.1 * LOCAL_MINIMA.same_value_at_kink
    assert sizes(gathered([0.5, 0.5], [0.0, near], state)) == ([2] if together else [1, 1])
    assert sizes(gathered([0.5, 0.5], [0.0, far], state)) == [1, 1]
    assert sizes(gathered([0.5, 0.5 + 1.1 * LOCAL_MINIMA.same_place], [0.0, near], state)) == [1, 1]


def test_the_lowest_minimum_comes_first():
    m = gathered([0.1, 0.5, 0.9, 0.5, 0.1], [3.0, 1.0, 2.0, 1.0, 3.0])
    groups = m.groups()
    assert [m.value[g[0]] for g in groups] == [1.0, 2.0, 3.0] and [g.tolist() for g in groups] == [[1, 3], [2], [0, 4]]


def test_the_best_end_of_a_minimum_speaks_for_it():
    m = gathered([0.5, 0.50001, 0.50002], [2e-7, 0.0, 1e-7])
    found = m.found(m.groups(), infimum.compile(lambda x: x[0], 1))
    assert len(found) == 1 and found[0].value == 0.0 and found[0].x.tolist() == [0.50001] and found[0].descents == 3


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 3)), min_size=1, max_size=40), st.randoms())
def test_every_end_is_in_one_group(pairs, random):
    """Whatever the order in which they came."""
    points, values = np.array(pairs, float).T
    m = gathered(points / 8, values)
    groups = m.groups()
    assert sorted(np.concatenate(groups)) == list(range(len(pairs)))
    assert len(groups) == len(set(pairs)) and m.lowest() == len(groups[0])
    assert all(len({pairs[k] for k in g}) == 1 for g in groups)
    order = list(range(len(pairs)))
    random.shuffle(order)
    other = gathered(points[order] / 8, values[order])
    assert sorted(sizes(m)) == sorted(sizes(other))


# ---- what is kept
def test_no_ends():
    m = LocalMinima(np.zeros(2), np.ones(2))
    assert m.groups() == [] and m.lowest() == 0 and m.trust([]) == (0.0, 0, 0, 0)
    assert m.found([], infimum.compile(lambda x: x[0], 2)) == []


def test_dead_and_infinite_ends_are_left_out():
    m = gathered([0.1, 0.2, 0.3, 0.4], [1.0, 0.0, np.inf, np.nan],
                 [LaneState.CONVERGED, LaneState.DEAD, LaneState.KINK, LaneState.LEARNED])
    assert m.value.tolist() == [1.0] and m.x.tolist() == [[0.1]] and sizes(m) == [1]


def test_only_independent_ends_are_trusted():
    m = gathered([0.1] * 6 + [0.2] * 1 + [0.3] * 3, [1.0] * 6 + [2.0] + [3.0] * 3)
    m.add(ends([0.1] * 50 + [0.9] * 50 + [0.2], [1.0] * 50 + [0.5] * 50 + [2.0]), False)
    groups = m.groups()
    assert [len(g) for g in groups] == [50, 56, 2, 3]
    assert m.trust(groups) == (probability_all_seen(10, 3), 10, 3, 1)
    assert m.lowest() == 50


def test_forgetting_keeps_the_lowest_and_all_independent_ends(monkeypatch):
    monkeypatch.setattr(local_minima.POLICY, "most_ends", 10)
    rng = np.random.default_rng(0)
    m = LocalMinima(np.zeros(1), np.ones(1))
    mine = ends(rng.random(8), 100 + rng.random(8), LaneState.KINK)
    m.add(mine, True)
    others = ends(rng.random(12), rng.permutation(12.0 * np.arange(12)),
                  [LaneState.CONVERGED, LaneState.LEARNED, LaneState.PLAIN] * 4)
    m.add(others, False)
    assert len(m.value) == 20  # up to twice as many are kept
    last = ends([0.25], [5.0])
    m.add(last, False)
    assert m.independent.sum() == 8 and set(m.value[m.independent]) == set(mine.value)
    lowest = sorted([*mine.value, *others.value, *last.value])[:10]
    assert sorted(set(m.value) | set(mine.value)) == sorted(set(lowest) | set(mine.value))
    assert len(m.value) == len(m.state) == len(m.independent) == m.x.shape[1]
    for value, x, state in zip(m.value, m.x[0], m.state, strict=True):
        source = next(e for e in (mine, others, last) if value in e.value)
        assert source.x[0][source.value == value] == x and source.state[source.value == value] == state


def test_no_more_groups_than_that(monkeypatch):
    monkeypatch.setattr(local_minima.POLICY, "most_ends", 4)
    m = gathered(np.arange(7) / 10, np.arange(7.0))
    assert [m.value[g[0]] for g in m.groups()] == [0.0, 1.0, 2.0, 3.0]


# ---- what is said of them
def test_shares_and_lanes():
    m = gathered([0.1, 0.5, 0.9, 0.5, 0.1, 0.1], [3.0, 1.0, 2.0, 1.0, 3.0, 3.0])
    found = m.found(m.groups(), infimum.compile(lambda x: x[0], 1))
    assert [f.descents for f in found] == [2, 1, 3] and [f.share for f in found] == [2 / 6, 1 / 6, 3 / 6]
    assert [f.value for f in found] == [1.0, 2.0, 3.0] and [f.x.tolist() for f in found] == [[0.5], [0.9], [0.1]]


@given(st.lists(st.integers(0, 30), min_size=1, max_size=60))
def test_shares_sum_to_one(kinds):
    m = gathered(np.array(kinds) / 31, kinds)
    found = m.found(m.groups(), _LINE)
    assert abs(sum(f.share for f in found) - 1) < 1e-12 and sum(f.descents for f in found) == len(kinds)


_LINE = infimum.compile(lambda x: x[0], 1)
_BENT = infimum.compile(lambda x: np.abs(x[0] - 0.5), 1)


@pytest.mark.parametrize("states, end", [
    ([LaneState.CONVERGED] * 3, End.CONVERGED), ([LaneState.CONVERGED, LaneState.KINK, LaneState.CONVERGED], End.CONVERGED),
    ([LaneState.KINK] * 3, End.KINK), ([LaneState.KINK, LaneState.KINK, LaneState.CONVERGED], End.KINK),
    ([LaneState.LEARNED, LaneState.PLAIN, LaneState.LEARNED], End.UNFINISHED),
    ([LaneState.LEARNED, LaneState.LEARNED, LaneState.CONVERGED], End.CONVERGED),
    ([LaneState.PLAIN, LaneState.LEARNED, LaneState.KINK], End.KINK),
])
def test_how_a_minimum_ended(states, end):
    m = gathered([0.25] * 3, [1.0] * 3, states)
    assert [f.status for f in m.found(m.groups(), _LINE)] == [end]


def test_a_minimum_where_f_is_not_smooth_is_a_kink():
    """A descent that hits the kink exactly sees the gradient 0."""
    m = gathered([0.5, 0.25], [0.0, 0.25])
    assert [f.status for f in m.found(m.groups(), _BENT)] == [End.KINK, End.CONVERGED]


def test_a_minimum_where_f_is_not_certainly_defined_keeps_the_word_of_its_lanes():
    e = infimum.compile(lambda x: np.sqrt(np.sin(x[0]) ** 2 + np.cos(x[0]) ** 2 - 1), 1)
    assert not e.value([0.5], [0.5]).defined
    for state, end in ((LaneState.CONVERGED, End.CONVERGED), (LaneState.LEARNED, End.UNFINISHED)):
        m = gathered([0.5], [0.0], state)
        assert [f.status for f in m.found(m.groups(), e)] == [end]
