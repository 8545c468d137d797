"""The curve of Peano type that fills a cube, after Strongin and Sergeyev, in exact integers.

A curve of order m in n variables goes through the 2**(m n) cells of the unit cube, from each to one that shares a face with it.
A position on it is an integer of m n bits, a cell n integers of m bits, and both are Python's: nothing is rounded, however many
there are. Each of the m digits of a position, of n bits, chooses one of the 2**n parts of a cube, in the order of the Gray
code; how the order is turned in the part follows from the digit. Bits of an axis: axis 0 is the most significant.
"""

from collections.abc import Iterator, Sequence
from itertools import product

from infimum.errors import OptionError
from infimum.search.policy.index import CURVE as POLICY

MOST_VARIABLES = 64  # fixed: the limit that users are told


class Evolvent:
    """The curve of a given order: cells of positions, positions of cells.

    >>> curve = Evolvent(2, 1)
    >>> [curve.cell(position) for position in range(4)]
    [(0, 0), (0, 1), (1, 1), (1, 0)]
    >>> curve.position((1, 1))
    2
    """

    def __init__(self, n: int, order: int):
        if not 1 <= n <= MOST_VARIABLES:
            raise OptionError(f"a space-filling curve has 1 to {MOST_VARIABLES} variables, not {n}")
        if not 1 <= order <= 62:
            raise OptionError(f"the order of a space-filling curve is 1 to 62, not {order}")
        self.n, self.order, self.bits = n, order, n * order
        self.cells = 1 << self.bits
        self._all = (1 << n) - 1
        self._parts: dict[tuple[int, int], tuple[int, int]] = {}     # of a turn and a digit
        self._digits: dict[tuple[int, int], tuple[int, int]] = {}    # of a turn and a part: the digit, and the next turn

    def cell(self, position: int) -> tuple[int, ...]:
        """The cell at a position, by its least corner in units of its side."""
        if not 0 <= position < self.cells:
            raise OptionError(f"position {position} is not on a curve of {self.cells} cells")
        n, every, turn, corner, parts = self.n, self._all, self._all, 0, self._parts
        for shift in range(self.bits - n, -1, -n):
            digit = position >> shift & every
            part, turn = parts.get((turn, digit)) or self._found(turn, digit)
            corner = corner << n | part
        bits = f"{corner:0{self.bits}b}"    # those of an axis are every n-th
        return tuple([int(bits[axis::n], 2) for axis in range(n)])

    def position(self, cell: Sequence[int]) -> int:
        """Where on the curve a cell is."""
        n, every, turn, position, digits = self.n, self._all, self._all, 0, self._digits
        if len(cell) != n or not 0 <= min(cell) <= max(cell) < 1 << self.order:
            raise OptionError(f"{tuple(cell)} is no cell of a curve of order {self.order} in {n} variables")
        bits = [""] * self.bits
        for axis, coordinate in enumerate(cell):
            bits[axis::n] = f"{coordinate:0{self.order}b}"
        corner = int("".join(bits), 2)
        for shift in range(self.bits - n, -1, -n):
            part = corner >> shift & every
            digit, turn = digits.get((turn, part)) or self._digit(turn, part)
            position = position << n | digit
        return position

    def cell_of(self, point: Sequence[float]) -> tuple[int, ...]:
        """The cell that holds a point of the unit cube; outside, the nearest, and the first where it is NaN."""
        side = 1 << self.order
        return tuple(min(max(int(x * side), 0), side - 1) if x == x else 0 for x in point)

    def centre(self, cell: Sequence[int]) -> tuple[float, ...]:
        """The middle of a cell, in the unit cube: exact up to order 52."""
        return tuple((2 * c + 1) / (2 << self.order) for c in cell)

    # the version that reaches nodes, from several positions each

    def node(self, position: int) -> tuple[int, ...]:
        """The vertex of the cells of the order before that belongs to a position, in units of their side: 0 to 2**(order - 1)."""
        return tuple(c + 1 >> 1 for c in self.cell(position))

    def positions_of_node(self, node: Sequence[int]) -> list[int]:
        """All positions that reach a node, up to 2**n of them, rising."""
        side = 1 << self.order
        if any(not 0 <= k <= side >> 1 for k in node):
            raise OptionError(f"{tuple(node)} is no node of a curve of order {self.order}")
        around = [[c for c in (2 * k - 1, 2 * k) if 0 <= c < side] for k in node]
        return sorted(self.position(cell) for cell in product(*around))

    def nodes(self) -> Iterator[tuple[int, ...]]:
        """All nodes of the grid."""
        return product(range((1 << self.order - 1) + 1), repeat=self.n)

    def _found(self, turn: int, digit: int) -> tuple[int, int]:
        """The part of a cube, as below, out of memory."""
        found = self._parts.get((turn, digit))
        if found is None:
            found = self._part(turn, digit)
            if self.n <= POLICY.remembered_variables:
                self._parts[turn, digit] = found
        return found

    def _digit(self, turn: int, part: int) -> tuple[int, int]:
        """The digit that chooses a part of a cube, and how the order is turned in it."""
        digit = _from_gray(_swapped(~(part ^ turn) & self._all, turn >> self.n, self.n))
        found = digit, self._found(turn, digit)[1]
        if self.n <= POLICY.remembered_variables:
            self._digits[turn, part] = found
        return found

    def _part(self, turn: int, digit: int) -> tuple[int, int]:
        """The part of a cube that a digit chooses, one bit an axis, and how the order is turned in it.

        `turn` holds a sign for each axis, 1 where the order is as in the whole cube, and above them the axis that takes the
        place of axis 0.
        """
        n, every = self.n, self._all
        signs, axis = turn & every, turn >> n
        corner = digit ^ digit >> 1
        if digit & 1:   # the run of ones at the end
            run = n - 1 - ((digit ^ digit + 1).bit_length() - 1)
            way = corner ^ 1
        else:           # the run of zeros
            run = n - 1 - ((digit & -digit).bit_length() - 1) if digit else n - 1
            way = corner ^ 1 << n - 1 - run ^ 1
        run = n - 1 if run < 0 else run
        corner, way = _swapped(corner, axis, n), _swapped(way, axis, n)
        following = axis if run == 0 else 0 if run == axis else run
        return ~(corner ^ signs) & every, (way ^ signs) | following << n


def _swapped(bits: int, axis: int, n: int) -> int:
    """The bits of axis 0 and another one exchanged."""
    if (bits >> n - 1 ^ bits >> n - 1 - axis) & 1:
        return bits ^ (1 << n - 1 | 1 << n - 1 - axis)
    return bits


def _from_gray(bits: int) -> int:
    shift = 1
    while bits >> shift:
        bits ^= bits >> shift
        shift <<= 1
    return bits
