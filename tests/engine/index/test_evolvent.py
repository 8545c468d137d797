"""The curve goes through every cell, from neighbour to neighbour, and what is near on it is near in the cube."""

import math
from itertools import pairwise, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infimum.engines.index.curves import KINDS, curves
from infimum.engines.index.evolvent import Evolvent
from infimum.errors import OptionError

SMALL = [(1, 6), (2, 1), (2, 5), (3, 3), (4, 2), (5, 2), (7, 1)]
a_curve = st.tuples(st.integers(1, 12), st.integers(1, 30)).map(lambda shape: Evolvent(*shape))


@pytest.mark.parametrize(("n", "order"), SMALL)
def test_every_cell_once_and_neighbours_share_a_face(n, order):
    curve = Evolvent(n, order)
    cells = [curve.cell(position) for position in range(curve.cells)]
    assert set(cells) == set(product(range(1 << order), repeat=n))
    assert all(sum(abs(a - b) for a, b in zip(one, other, strict=True)) == 1 for one, other in pairwise(cells))


@given(a_curve, st.data())
def test_position_is_the_inverse_of_cell(curve, data):
    position = data.draw(st.integers(0, curve.cells - 1))
    assert curve.position(curve.cell(position)) == position


@given(a_curve, st.data())
def test_a_finer_curve_stays_in_the_cells_of_a_coarser_one(curve, data):
    position = data.draw(st.integers(0, curve.cells - 1))
    finer = Evolvent(curve.n, curve.order + 1).cell(position << curve.n | data.draw(st.integers(0, (1 << curve.n) - 1)))
    assert tuple(c >> 1 for c in finer) == curve.cell(position)


@given(a_curve, st.data())
def test_hoelder(curve, data):
    """Points of the curve are at most 2 sqrt(n + 3) |x1 - x2|**(1/n) apart."""
    first = data.draw(st.integers(0, curve.cells - 1))
    steps = data.draw(st.integers(0, curve.bits).map(lambda bits: 1 << bits)) + data.draw(st.integers(0, 1000))
    second = min(first + steps, curve.cells - 1)
    if second > first:
        apart = math.dist(curve.centre(curve.cell(first)), curve.centre(curve.cell(second)))
        assert apart <= 2 * math.sqrt(curve.n + 3) * 2.0 ** ((math.log2(second - first) - curve.bits) / curve.n)


def test_the_cells_of_the_first_positions():
    """The orientation is part of published figures."""
    assert [Evolvent(3, 1).cell(k) for k in range(8)] == [(0, 0, 0), (0, 0, 1), (0, 1, 1), (0, 1, 0), (1, 1, 0), (1, 1, 1),
                                                          (1, 0, 1), (1, 0, 0)]
    assert [Evolvent(2, 2).cell(k) for k in range(6)] == [(0, 0), (1, 0), (1, 1), (0, 1), (0, 2), (0, 3)]


@pytest.mark.parametrize(("n", "order"), [(1, 4), (2, 3), (3, 2)])
def test_nodes_are_reached_from_all_their_positions(n, order):
    curve = Evolvent(n, order)
    reached = {node: [] for node in curve.nodes()}
    for position in range(curve.cells):
        reached[curve.node(position)].append(position)
    assert all(curve.positions_of_node(node) == positions for node, positions in reached.items())
    assert max(map(len, reached.values())) == 2**n


def some_curves():
    shapes = st.tuples(st.integers(2, 5), st.integers(3, 12), st.integers(1, 3))
    return st.tuples(st.sampled_from(KINDS), shapes).map(lambda drawn: curves(drawn[0], *drawn[1]))


@given(some_curves(), st.data())
def test_places_and_positions_belong_together(these, data):
    line, position = data.draw(st.integers(0, these.lines - 1)), data.draw(st.integers(0, these.cells - 1))
    place = these.place(line, position)
    if place is not None:
        assert (line, position) in these.positions(place)
        assert all(these.place(*where) == place for where in these.positions(place))
        assert these.nearest(these.point(place)) == place
        assert all(0 <= x <= 1 for x in these.point(place))


@given(some_curves(), st.data())
def test_the_nearest_place_is_near(these, data):
    point = data.draw(st.lists(st.floats(0, 1), min_size=these.n, max_size=these.n))
    near = these.point(these.nearest(point))
    assert all(abs(x - y) <= 2.0 ** -(these.order - 2) for x, y in zip(point, near, strict=True))
    assert these.positions(these.nearest(point))


def test_shifted_lines_begin_outside():
    assert curves("shifted", 2, 4, 3).place(2, 0) is None


@pytest.mark.parametrize("call", [lambda: Evolvent(0, 3), lambda: Evolvent(2, 0), lambda: Evolvent(2, 63),
                                  lambda: Evolvent(65, 1),
                                  lambda: Evolvent(2, 2).cell(16), lambda: Evolvent(2, 2).cell(-1),
                                  lambda: Evolvent(2, 2).position((4, 0)), lambda: Evolvent(2, 2).position((0,)),
                                  lambda: Evolvent(2, 2).positions_of_node((3, 0)), lambda: curves("hilbert", 2, 3),
                                  lambda: curves("rotated", 2, 3, 4), lambda: curves("shifted", 2, 3, 4)])
def test_what_is_no_curve(call):
    with pytest.raises(OptionError):
        call()
