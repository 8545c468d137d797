"""One curve or several through the same cube: which place of the cube belongs to a position on a line, and the other way round.

A place is what a trial is made at, n integers; a line is the interval of a curve's positions. `single` has one place a
position; `nodes` one curve that reaches a node of the grid from up to 2**n positions; `rotated` and `shifted` several curves,
so that points that are near in the cube are near on one of the lines more often. A trial is entered at every position of its
place.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from itertools import permutations

from infimum.engines.index.evolvent import Evolvent
from infimum.errors import OptionError

Place = tuple[int, ...]


class Curves(ABC):
    """The contract: `place` and `positions` are inverse to each other, and `point` is in the unit cube."""

    def __init__(self, n: int, order: int, lines: int):
        self.n, self.order, self.lines = n, order, lines
        self.evolvent = Evolvent(n, order)
        self.cells = self.evolvent.cells

    @abstractmethod
    def place(self, line: int, position: int) -> Place | None:
        """The place at a position; None outside the cube."""

    @abstractmethod
    def positions(self, place: Place) -> list[tuple[int, int]]:
        """All lines and positions of a place."""

    @abstractmethod
    def nearest(self, point: Sequence[float]) -> Place:
        """The place that is nearest to a point of the unit cube."""

    @abstractmethod
    def point(self, place: Place) -> tuple[float, ...]:
        """The coordinates of a place in the unit cube."""


class SingleCurve(Curves):
    """One curve through the middles of its cells."""

    def __init__(self, n: int, order: int):
        super().__init__(n, order, 1)

    def place(self, line: int, position: int) -> Place:
        return self.evolvent.cell(position)

    def positions(self, place: Place) -> list[tuple[int, int]]:
        return [(0, self.evolvent.position(place))]

    def nearest(self, point: Sequence[float]) -> Place:
        return self.evolvent.cell_of(point)

    def point(self, place: Place) -> tuple[float, ...]:
        return self.evolvent.centre(place)


class NodeCurve(Curves):
    """One curve that reaches the nodes of a grid, edges of the cube included, each from up to 2**n positions."""

    def __init__(self, n: int, order: int):
        super().__init__(n, order + 1, 1)
        self.side = 1 << order

    def place(self, line: int, position: int) -> Place:
        return self.evolvent.node(position)

    def positions(self, place: Place) -> list[tuple[int, int]]:
        return [(0, position) for position in self.evolvent.positions_of_node(place)]

    def nearest(self, point: Sequence[float]) -> Place:
        return tuple(min(max(round(x * self.side), 0), self.side) for x in point)

    def point(self, place: Place) -> tuple[float, ...]:
        return tuple(k / self.side for k in place)


class RotatedCurves(SingleCurve):
    """The curve and its rotations by a right angle in planes of two axes: up to n (n - 1) of them."""

    def __init__(self, n: int, order: int, lines: int):
        if not 1 <= lines <= n * (n - 1) + 1:
            raise OptionError(f"a curve in {n} variables has {n * (n - 1)} rotations: 1 to {n * (n - 1) + 1} lines, not {lines}")
        super().__init__(n, order)
        self.lines, self._planes = lines, [None, *permutations(range(n), 2)]

    def _turned(self, cell: Place, line: int, back: bool) -> Place:
        """By a right angle from the first axis of the line's plane to the second, or back."""
        plane = self._planes[line]
        if plane is None:
            return cell
        (i, j), turned, last = plane, list(cell), (1 << self.order) - 1
        turned[i], turned[j] = (cell[j], last - cell[i]) if back else (last - cell[j], cell[i])
        return tuple(turned)

    def place(self, line: int, position: int) -> Place:
        return self._turned(self.evolvent.cell(position), line, back=False)

    def positions(self, place: Place) -> list[tuple[int, int]]:
        return [(line, self.evolvent.position(self._turned(place, line, back=True))) for line in range(self.lines)]


class ShiftedCurves(Curves):
    """Curves through cubes of twice the side, shifted along the diagonal by 0, 1/2, 3/4, ...: parts of them are outside."""

    def __init__(self, n: int, order: int, lines: int):
        if not 1 <= lines <= order:
            raise OptionError(f"a curve of order {order} has 1 to {order} shifts, not {lines}")
        super().__init__(n, order + 1, lines)
        self.side = 1 << order
        self._shifts = [self.side - (self.side >> line) for line in range(lines)]

    def place(self, line: int, position: int) -> Place | None:
        shift = self._shifts[line]
        place = tuple(c - shift for c in self.evolvent.cell(position))
        return place if all(0 <= c < self.side for c in place) else None

    def positions(self, place: Place) -> list[tuple[int, int]]:
        return [(line, self.evolvent.position(tuple(c + shift for c in place))) for line, shift in enumerate(self._shifts)]

    def nearest(self, point: Sequence[float]) -> Place:
        return tuple(min(max(int(x * self.side), 0), self.side - 1) for x in point)

    def point(self, place: Place) -> tuple[float, ...]:
        return tuple((2 * c + 1) / (2 * self.side) for c in place)


KINDS = "single", "nodes", "rotated", "shifted"


def curves(kind: str, n: int, order: int, lines: int = 2) -> Curves:
    """The curves of a kind; only rotated and shifted ones have several lines."""
    if kind == "single":
        return SingleCurve(n, order)
    if kind == "nodes":
        return NodeCurve(n, order)
    if kind == "rotated":
        return RotatedCurves(n, order, lines)
    if kind == "shifted":
        return ShiftedCurves(n, order, lines)
    raise OptionError(f"no curves {kind!r}: one of {', '.join(KINDS)}")
