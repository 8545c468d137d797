"""What is asked across boxes, against the plainest way to say it."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from infimum.backend.arrays import HostArrays

INF, MAX, TINY = np.inf, float(np.finfo(float).max), 5e-324
NUMBERS = st.one_of(st.integers(-3, 3).map(float), st.floats(-4, 4),
                    st.sampled_from([-INF, INF, -0.0, 0.0, MAX, -MAX, TINY, float("nan")]))
ROWS = st.lists(NUMBERS, min_size=1, max_size=60)


def lowest(row: list[float], count: int, below: float, ties: bool) -> tuple[list[int], float]:
    """The definition, by sorting."""
    allowed = [k for k, x in enumerate(row) if x < below or (below == INF and x == INF)]
    found = sorted(allowed, key=lambda k: (row[k], k))[:count]
    border = row[found[-1]] if len(found) == count else INF
    if ties and found:
        found = [k for k in allowed if row[k] <= border]
    return sorted(found), border


@given(ROWS, st.integers(1, 65), st.one_of(st.just(INF), NUMBERS.filter(lambda x: x == x)), st.booleans())
def test_lowest(row, count, below, ties):
    index, border = HostArrays().lowest(np.array([row]), count, below, ties)
    assert (index.tolist(), border) == lowest(row, count, below, ties) and index.dtype == np.int64


@given(ROWS)
def test_least(row):
    numbers = [INF if x != x else x for x in row]
    assert HostArrays().least(np.array([row])) == [(min(numbers), numbers.index(min(numbers)))]


@given(st.lists(st.integers(0, 4), min_size=1, max_size=60))
def test_order(row):
    (index, counts), = HostArrays().order(5, np.array([row], dtype=float))
    assert index.tolist() == sorted(range(len(row)), key=lambda k: (row[k], k))
    assert counts == [row.count(kind) for kind in range(5)]


def test_columns_are_gathered_copied_and_marked():
    arrays, source = HostArrays(), np.arange(30.0).reshape(3, 10)
    assert (arrays.gather(source, np.array([7, 1, 1])) == source[:, [7, 1, 1]]).all()
    backend = np.zeros((3, 6))
    arrays.gather(source, np.array([9, 0]), backend, 3)
    arrays.put(backend, 1, source, 4, 6)
    assert backend[0].tolist() == [0, 4, 5, 9, 0, 0] and backend[2].tolist() == [0, 24, 25, 29, 20, 0]
    arrays.fill(backend[1:2, :5], np.array([0, 4]), 2.5)
    assert backend[1].tolist() == [2.5, 14, 15, 19, 2.5, 0] and arrays.column(source, 3).tolist() == [[3], [13], [23]]
