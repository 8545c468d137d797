"""The user's bounds: exact numbers, of which some lie between two doubles, and the boxes of doubles within and around them.

Proof: docs/proofs/exact_bounds.md.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from fractions import Fraction
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from infimum.errors import BoundsError
from infimum.problem.text import counted
from infimum.support.given_numbers import fraction, round_down, shown

MOST_VARIABLES = 10**8  # a box with more of them takes gigabytes
FAR = 2.0**53           # beyond, whole numbers need not be doubles
_NAMES = ("lower", "upper")


class OuterBox(NamedTuple):
    """The box around bounds of which some ends are no doubles: from `lo` to `hi`, these ends rounded outward. In a variable where
    a region's upper end is below `least`, or its lower end above `most`, it lies wholly beyond the bounds."""

    lo: np.ndarray
    hi: np.ndarray
    least: np.ndarray
    most: np.ndarray

    def at(self, which: Any) -> "OuterBox":
        """Some of the variables."""
        return OuterBox(*(end[which] for end in self))

    def unless(self, lo: np.ndarray, hi: np.ndarray) -> "OuterBox | None":
        """None where these ends, rounded inward, are the same."""
        return None if np.array_equal(self.lo, lo) and np.array_equal(self.hi, hi) else self

    def but(self, which: Any, *ends: Any) -> "OuterBox":
        """With these ends in some of the variables."""
        found = OuterBox(*(end.copy() for end in self))
        for mine, new in zip(found, ends, strict=True):
            mine[which] = new
        return found


class End(NamedTuple):
    """An end between the doubles `down` and `up`, equal if it is a double. `number` is what it is: a Fraction, or a Real, which
    may be one of the two doubles unless it is `strict`ly between them."""

    down: float
    up: float
    number: Any = None
    strict: bool = False

    @property
    def is_double(self) -> bool:
        return self.down == self.up

    def is_at_most(self, other: "End") -> bool | None:
        """Is it certainly not greater than the other end? None if that is not known."""
        mine, its = (_rational(end) for end in (self, other))
        if mine is not None and its is not None:
            return mine <= its
        if self.up <= other.down or self.is_the_same_as(other):
            return True
        apart = self.down > other.up or (self.down == other.up and (self.strict or other.strict))
        return False if apart else None

    def is_the_same_as(self, other: "End") -> bool:
        """Are both certainly one number?"""
        mine, its = (_rational(end) for end in (self, other))
        if mine is not None:
            return mine == its
        names = [getattr(end.number, "name", None) for end in (self, other)]
        return self.number is other.number or (names[0] is not None and names[0] == names[1])


def _rational(end: End) -> Any:
    """What can be compared exactly; None for a Real."""
    if end.is_double:
        return Fraction(end.down) if math.isfinite(end.down) else end.down
    return end.number if isinstance(end.number, Fraction) else None


class Bounds(NamedTuple):
    """The bounds of n variables. Between `lo` and `hi`, the ends rounded inward, lie all doubles that they hold: none where lo >
    hi. Where some ends are no doubles, `outer` is the box of ends rounded outward, and `given` are the two ends of each variable,
    or of all if they are the same."""

    lo: np.ndarray
    hi: np.ndarray
    outer: OuterBox | None = None
    given: Sequence[tuple[End, End]] = ()

    @property
    def region(self) -> tuple[np.ndarray, np.ndarray]:
        """The smallest box of doubles that holds all numbers within the bounds."""
        return (self.lo, self.hi) if self.outer is None else (self.outer.lo, self.outer.hi)

    def end(self, i: int, side: int) -> End:
        """The lower (0) or upper end (1) of a variable."""
        if not self.given:
            double = float((self.lo, self.hi)[side][i])
            return End(double, double)
        return self.given[i % len(self.given)][side]

    def needed(self) -> Iterator[tuple[int, int]]:
        """The variables and sides of the ends of which not only the doubles around them count: those of variables with at most
        one double between their ends, and of whole numbers that may be no doubles."""
        if self.outer is not None:
            far = np.maximum(np.abs(self.outer.lo), np.abs(self.outer.hi)) > FAR
            for i in np.flatnonzero((self.lo >= self.hi) & (self.outer.lo < self.outer.hi) | far).tolist():
                yield from ((i, side) for side in (0, 1) if not self.end(i, side).is_double)

    def number(self, i: int, side: int) -> Any:
        """What an end is: a double, a Fraction or a Real."""
        end = self.end(i, side)
        return end.down if end.is_double else end.number

    def pairs(self) -> list[tuple[Any, Any]]:
        """The ends of all variables, such that `read_bounds` reads them again."""
        if self.outer is None:
            return list(zip(self.lo.tolist(), self.hi.tolist(), strict=True))
        return [(self.number(i, 0), self.number(i, 1)) for i in range(len(self.lo))]

    def pairs_within(self, lo: np.ndarray, hi: np.ndarray) -> list[tuple[Any, Any]]:
        """The ends of a region as such pairs: one that lies beyond an end of the bounds, since that is no double, is that end."""
        pairs = list(zip(lo.tolist(), hi.tolist(), strict=True))
        for i in np.flatnonzero(lo < self.lo):
            pairs[i] = self.number(i, 0), pairs[i][1]
        for i in np.flatnonzero(hi > self.hi):
            pairs[i] = pairs[i][0], self.number(i, 1)
        return pairs

    def named(self, i: int) -> str:
        """Both ends of a variable, as a message names them."""
        return f"({', '.join(_shown(self.end(i, side)) for side in (0, 1))})"

    def reaches_beyond(self, other: "Bounds") -> int | None:
        """The first variable in which they hold numbers that the others do not, or may; None if there is none."""
        lo, hi = self.region
        for i in np.flatnonzero((lo < other.lo) | (hi > other.hi)):
            (low, high), (its_low, its_high) = ([box.end(int(i), side) for side in (0, 1)] for box in (self, other))
            if not (its_low.is_at_most(low) and high.is_at_most(its_high)):
                return int(i)
        return None


def _shown(end: End) -> str:
    return repr(end.down) if end.is_double else shown(end.number)


def read_bounds(bounds: Any, n: int | None = None) -> Bounds:
    """The bounds, which are a sequence of pairs, an object with `lb` and `ub` (scipy.optimize.Bounds), or one pair together with
    `n`.

    Ends are the numbers that are given, also where these are no doubles: long integers, fractions, decimals, infimum.pi.

    >>> from fractions import Fraction
    >>> b = read_bounds([(Fraction(1, 3), Fraction(1, 2))])
    >>> b.region[0][0] < Fraction(1, 3) < b.lo[0], b.region[1] == b.hi
    (True, array([ True]))
    >>> read_bounds((0, 1), n=3).hi
    array([1., 1., 1.])
    """
    if n is not None and (isinstance(n, bool) or not isinstance(n, (int, np.integer)) or n < 1):
        raise BoundsError(f"the number of variables n must be a positive integer, not {shown(n)}")
    if n is not None and n > MOST_VARIABLES:
        raise BoundsError(f"n = {n:,} variables are too many: the most is {MOST_VARIABLES:,}")
    if hasattr(bounds, "lb") and hasattr(bounds, "ub"):
        pairs, times = _columns(listed(bounds.lb), listed(bounds.ub), n)
    else:
        pairs, times = _pairs(bounds, n)
    if not pairs:
        raise BoundsError("the bounds are empty: give one (low, high) pair for each variable")
    if n is not None and len(pairs) * times != n:
        raise BoundsError(f"{counted(len(pairs), 'pair')} of bounds {'was' if len(pairs) == 1 else 'were'} given for n = {n:,}")
    doubles = _doubles(pairs)
    if doubles is not None:
        lo, hi = np.repeat(doubles.T, times, axis=1)
        return Bounds(np.ascontiguousarray(lo), np.ascontiguousarray(hi))
    return of_ends(_read(pairs), times)


def _doubles(pairs: list) -> np.ndarray | None:
    """The ends (N, 2) if they are ordered doubles, the usual case: one by one, a million of them take as long as the proof."""
    flat = list(chain.from_iterable(pairs))
    types = set(map(type, flat))
    if not types <= {float, np.float64, int} or (int in types and max(abs(v) for v in flat if type(v) is int) > 2**53):
        return None
    ends = np.array(flat, dtype=float).reshape(-1, 2)
    low, high = ends.T
    return ends if ((low <= high) & (low < np.inf) & (high > -np.inf)).all() else None


def of_ends(pairs: Sequence[tuple[End, End]], times: int = 1) -> Bounds:
    """The bounds with these ends; one pair may stand for several variables, `times` of them."""
    def column(numbers: Iterable[float]) -> np.ndarray:
        return np.repeat(np.array(list(numbers)), times)
    lo, hi = column(low.up for low, _ in pairs), column(high.down for _, high in pairs)
    if all(end.is_double for pair in pairs for end in pair):
        return Bounds(lo, hi)
    least = column(math.nextafter(low.down, math.inf) if low.strict else low.down for low, _ in pairs)
    most = column(math.nextafter(high.up, -math.inf) if high.strict else high.up for _, high in pairs)
    outer = OuterBox(column(low.down for low, _ in pairs), column(high.up for _, high in pairs), least, most)
    return Bounds(lo, hi, outer, pairs)


def end_of(number: Fraction) -> End:
    """That number as an end."""
    down = round_down(number)
    if math.isfinite(down) and Fraction(down) == number:
        return End(down, down)
    return End(down, math.nextafter(down, math.inf) + 0.0, number, True)  # one of the two zeros


def _read(pairs: list) -> list[tuple[End, End]]:
    """The ends one by one, or an error that says what is wrong with one."""
    known: dict[int, tuple[End, End]] = {}  # of pairs that are one object, as in [(low, high)] * n
    for i, pair in enumerate(pairs):
        if id(pair) in known:
            continue
        low, high = known[id(pair)] = _end(pair[0], i, 0), _end(pair[1], i, 1)
        ordered = low.is_at_most(high)
        if ordered is False:
            raise BoundsError(f"the bounds of variable {i} are reversed: {_shown(low)} > {_shown(high)}")
        if low.down == math.inf or high.up == -math.inf:
            raise BoundsError(f"the bounds of variable {i} are a point at infinity: ({low.down!r}, {high.up!r}) holds no number")
        if ordered is None:
            raise BoundsError(f"which of the bounds of variable {i} is the larger one, {_shown(low)} or {_shown(high)}, is not "
                              "known: give numbers that are further apart")
    return [known[id(pair)] for pair in pairs]


def listed(ends: Any) -> list:
    """The ends as given: an array of mixed numbers would round them."""
    return list(ends) if isinstance(ends, (list, tuple)) or np.ndim(ends) else [ends]


def _columns(lows: list, highs: list, n: int | None) -> tuple[list, int]:
    """Pairs from separate lower and upper ends, a single end serving all variables; and the number of variables of each pair."""
    count = max(len(lows), len(highs))
    if len(lows) != len(highs) and 1 not in (len(lows), len(highs)):
        raise BoundsError(f"{len(lows)} lower and {len(highs)} upper bounds were given")
    lows, highs = (ends * count if len(ends) == 1 else ends for ends in (lows, highs))
    return list(zip(lows, highs, strict=True)), n if count == 1 and n is not None else 1


def _pairs(bounds: Any, n: int | None) -> tuple[list, int]:
    """The pairs, and the number of variables that each of them stands for."""
    if isinstance(bounds, (str, bytes, Mapping, Set)):
        raise BoundsError("bounds must be a sequence of (low, high) pairs in the order of the variables, "
                          f"not a {type(bounds).__name__}")
    bounds = bounds.to_numpy() if hasattr(bounds, "to_numpy") else bounds  # a data frame would give its column names
    try:
        rows = list(bounds)
    except TypeError:
        raise BoundsError(f"bounds must be a sequence of (low, high) pairs, not {shown(bounds)}") from None
    check_meant_as_pairs(bounds, rows)
    if len(rows) == 2 and all(np.ndim(r) == 0 and not isinstance(r, str) for r in rows):
        if n is None:
            raise BoundsError(f"one pair of bounds ({', '.join(map(shown, rows))}) needs the number of variables: pass n=..., or "
                              "a list of pairs; a point to start from is x0=")
        return [rows], n
    if set(map(type, rows)) <= {tuple, list} and set(map(len, rows)) <= {2}:
        return rows, 1
    for i, row in enumerate(rows):
        if isinstance(row, str) or not isinstance(row, (Sequence, np.ndarray)) or len(row) != 2:
            start = "; a point to start from is x0=" if np.ndim(row) == 0 and not isinstance(row, str) else ""
            raise BoundsError(f"the bounds of variable {i} must be a pair (low, high), not {shown(row)}{start}")
    return rows, 1


def check_meant_as_pairs(bounds: Any, rows: list) -> None:
    """Raises for ([-5, -4], [4, 5]): SciPy's curve_fit reads a tuple of two arrays as the lower and the upper ends, and here they
    would be the pairs of two variables."""
    if isinstance(bounds, tuple) and len(rows) == 2 and all(type(row) in (list, np.ndarray) and len(row) == 2 for row in rows):
        raise BoundsError(f"the bounds {shown(bounds)} may be the lower and the upper ends, or the pairs of two variables: write "
                          "list(zip(lows, highs)) for the first, and a list of tuples (low, high) for the second")


def _end(value: Any, i: int, side: int) -> End:
    """One end."""
    if isinstance(value, float) and value == value:  # the usual case, made fast for a million bounds
        return End(float(value), float(value))
    name = f"the {_NAMES[side]} bound of variable {i}"
    if value is None:
        value = (-math.inf, math.inf)[side]
    value = value[()] if isinstance(value, np.ndarray) else value
    if isinstance(value, (bool, np.bool_, str, bytes)) or np.iscomplexobj(value):
        raise BoundsError(f"{name} is {shown(value)}, which is not a real number")
    if hasattr(value, "lo") and hasattr(value, "hi"):  # a Real is known between two doubles
        return End(value.lo, value.hi, None if value.lo == value.hi else value, getattr(value, "is_irrational", False))
    try:
        exact = fraction(value)
    except OverflowError as error:
        raise BoundsError(f"{name} is absurd: {error}; write 0 or an infinite end instead") from None
    if exact is not None:
        return end_of(exact)
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        raise BoundsError(f"{name} is {shown(value)}, which is not a real number") from None
    if math.isnan(number):
        raise BoundsError(f"{name} is NaN")
    return End(number, number)
