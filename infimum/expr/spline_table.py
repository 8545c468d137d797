"""Table: the pieces of a piecewise polynomial, known exactly; the parameter of the operation `spline`."""

from collections.abc import Iterable
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from math import comb, inf

import numpy as np

from infimum.support.digests import blake2b
from infimum.support.given_numbers import round_down, round_up

Polynomial = tuple[Fraction, ...]  # coefficients of 1, u, u**2, …
_MOST_SMOOTHNESS = 2  # continuous derivatives: what first and second order read
_HALVINGS = 2         # of a piece, where its range is enclosed


class SplineTable:
    """Polynomials in x - points[i] for x between points[i] and points[i + 1]; hashable by content.

    Beyond the outermost points the outermost polynomials go on, or nothing is defined (`bounded`). `smooth` says for every point
    between two pieces how many derivatives are continuous there, -1 where the function itself may jump. Where the table
    is a derivative, jumps are those of a generalised derivative: both limits count.
    """

    def __init__(self, points: Iterable[float], pieces: Iterable[Iterable[Fraction]], smooth: Iterable[int],
                 bounded: bool = False, derived: int = 0):
        self.points, self.pieces = tuple(points), tuple(tuple(p) for p in pieces)
        self.smooth, self.bounded, self.derived = tuple(smooth), bounded, derived
        exact = [[(c.numerator, c.denominator) for c in p] for p in self.pieces]
        said = repr((self.points, exact, self.smooth, bounded, derived))
        self.key = blake2b(said.encode(), digest_size=16).hexdigest()

    def __hash__(self) -> int:
        return hash(self.key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SplineTable) and self.key == other.key

    def __repr__(self) -> str:
        return f"Table({self.count} pieces of degree {self.degree})"

    @property
    def count(self) -> int:
        return len(self.pieces)

    @property
    def degree(self) -> int:
        return len(self.pieces[0]) - 1

    @cached_property
    def derivative(self) -> "SplineTable | None":
        """None where it is 0 everywhere."""
        if not any(any(p[1:]) for p in self.pieces):
            return None
        pieces = [tuple(j * c for j, c in enumerate(p))[1:] for p in self.pieces]
        return SplineTable(self.points, pieces, (r - 1 for r in self.smooth), self.bounded, self.derived + 1)

    # ---- what kernels read: arrays with an element for each piece
    @cached_property
    def starts(self) -> np.ndarray:
        """Where pieces begin; the first has no beginning, whatever lies outside the table's domain."""
        return _frozen([-inf, *self.points[1:-1]])

    @cached_property
    def ends(self) -> np.ndarray:
        return _frozen([*self.points[1:-1], inf])

    @cached_property
    def anchors(self) -> np.ndarray:
        return _frozen(self.points[:-1])

    @cached_property
    def coefficients(self) -> tuple[tuple[np.ndarray, np.ndarray], ...]:
        """For each power the ends of its coefficients, one array where all of them are doubles."""
        found = []
        for column in zip(*self.pieces, strict=True):
            lower, upper = _frozen(map(round_down, column)), _frozen(map(round_up, column))
            found.append((lower, lower if np.array_equal(lower, upper) else upper))
        return tuple(found)

    @cached_property
    def ranges(self) -> tuple[np.ndarray, np.ndarray]:
        """Minus the lower end of what each piece takes on between its points, and the upper end."""
        lows, highs = [], []
        for (a, c), piece in zip(pairwise(self.points), self.pieces, strict=True):
            values = [v for part in _halved(bernstein(piece, Fraction(c) - Fraction(a))) for v in part]
            lows.append(round_up(-min(values)))
            highs.append(round_up(max(values)))
        return _frozen(lows), _frozen(highs)

    @cached_property
    def levels(self) -> np.ndarray | None:
        """The status at the end of each piece: 1 where the function may jump, 2 where it is continuous, 3 where it is smooth;
        None if it is smooth at all of them. A derivative has the status of what it is the derivative of."""
        if self.derived or all(r >= _MOST_SMOOTHNESS for r in self.smooth):
            return None
        return _frozen([*(3.0 if r >= _MOST_SMOOTHNESS else 2.0 if r >= 0 else 1.0 for r in self.smooth), 3.0])

    @property
    def domain(self) -> tuple[float, float] | None:
        return (self.points[0], self.points[-1]) if self.bounded else None

    def at(self, x: np.ndarray) -> np.ndarray:
        """The values at doubles, rounded as they come."""
        x = np.asarray(x, dtype=float)
        which = np.clip(np.searchsorted(self.points, x, side="right") - 1, 0, self.count - 1)
        u, value = x - self.anchors[which], np.zeros(x.shape)
        for lower, upper in reversed(self.coefficients):
            value = value * u + (0.5 * lower + 0.5 * upper)[which]
        outside = (x < self.points[0]) | (x > self.points[-1]) if self.bounded else np.zeros(x.shape, bool)
        return np.where(outside | np.isnan(x), np.nan, value)


def _frozen(values: Iterable[float]) -> np.ndarray:
    array = np.array(list(values), dtype=np.float64)
    array.flags.writeable = False
    return array


def bernstein(piece: Polynomial, width: Fraction) -> list[Fraction]:
    """The coefficients of a polynomial over [0, width] in Bernstein's form: it lies between the least and the largest."""
    k = len(piece) - 1
    scaled = [c * width**i / comb(k, i) for i, c in enumerate(piece)]
    return [sum((comb(j, i) * scaled[i] for i in range(j + 1)), Fraction(0)) for j in range(k + 1)]


def _halved(whole: list[Fraction]) -> list[list[Fraction]]:
    """The same polynomial over each of the parts of its interval, halved several times (de Casteljau)."""
    parts = [whole]
    for _ in range(_HALVINGS):
        parts = [half for part in parts for half in _two_halves(part)]
    return parts


def _two_halves(row: list[Fraction]) -> tuple[list[Fraction], list[Fraction]]:
    left, right = [], []
    while row:
        left.append(row[0])
        right.insert(0, row[-1])
        row = [(p + q) / 2 for p, q in pairwise(row)]
    return left, right
