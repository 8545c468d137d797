"""The question: intervals, bounds, problems. Immutable."""

import math
import operator
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import chain
from typing import Any

import numpy as np

from infimum import environment
from infimum.errors import BoundsError, OptionError, TraceError
from infimum.start_boxes import StartBoxes
from infimum.text import counted

MOST_VARIABLES = 10**8  # a box of so many takes gigabytes


@dataclass(frozen=True, slots=True)
class Interval:
    """The real numbers between `lo` and `hi`, including the ends where they are finite.

    As an enclosure of a function: `defined` tells whether the function is known to be defined on the whole box; an enclosure
    says nothing about points where it is not.

    >>> Interval(1.0, 2.0)
    [1.0, 2.0]
    >>> 1.5 in Interval(1.0, 2.0), Interval(1.0, 2.0).width
    (True, 1.0)
    """

    lo: float
    hi: float
    defined: bool = field(default=True, compare=False)

    @property
    @environment.ours
    def empty(self) -> bool:
        """True if it contains no number: the function is defined nowhere on the box."""
        return not self.lo <= self.hi

    @property
    @environment.ours
    def width(self) -> float:
        """hi - lo, rounded up; 0 for an empty interval."""
        if self.empty:
            return 0.0
        if np.isinf(self.lo) or np.isinf(self.hi):
            return np.inf
        exact = Fraction(self.hi) - Fraction(self.lo)
        width = self.hi - self.lo
        return width if np.isinf(width) or Fraction(width) >= exact else math.nextafter(width, math.inf)

    @environment.ours
    def __contains__(self, number: float) -> bool:
        return self.lo <= number <= self.hi

    def __repr__(self) -> str:
        if self.empty:
            return "[empty]"
        return f"[{self.lo!r}, {self.hi!r}]" + ("" if self.defined else " (not defined on the whole box)")


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """Minimise `fun` over the box from `lo` to `hi`; the columns of `x0` are points inside it to start from.

    If the search starts from boxes of the user's, their union `start` is what it is about, and `lo` and `hi` are the box around
    them.

    >>> p = Problem.read(sum, [(0, 1), (-1, None)])
    >>> p.lo, p.hi
    (array([ 0., -1.]), array([ 1., inf]))
    """

    fun: Any
    lo: np.ndarray
    hi: np.ndarray
    x0: np.ndarray | None = None
    start: StartBoxes | None = None
    system: Any = None  # the function with its constraints, if there are any

    @classmethod
    @environment.ours
    def read(cls, fun: Any, bounds: Any, n: int | None = None, x0: Any = None, start_boxes: Any = None) -> "Problem":
        """A problem from the user's arguments, checked."""
        if not callable(fun) and not hasattr(fun, "estimate"):
            line = isinstance(fun, (str, list, tuple))
            raise OptionError(f"fun must be a function of an array, not {fun!r}" + (
                "; a command line is tried with engine='index'" if line else ""))
        lo, hi = read_bounds(bounds, n)
        points = None if x0 is None else _points(x0, lo, hi)
        if start_boxes is None:
            return cls(fun, lo, hi, points)
        start = _start_boxes(start_boxes, lo, hi)
        if points is not None and not start.holds(points).all():
            k = int(np.argmin(start.holds(points)))
            raise OptionError(f"point {k} of x0 lies in none of the start_boxes: {points[:, k].tolist()!r}")
        return cls(fun, *start.hull, points, start)

    @property
    @environment.ours
    def several(self) -> StartBoxes | None:
        """The start boxes if the feasible set may be no box: if there are more than one."""
        return self.start if self.start is not None and len(self.start) > 1 else None


def _points(x0: Any, lo: np.ndarray, hi: np.ndarray) -> np.ndarray:
    """One point or a sequence of points, as columns, each inside the bounds."""
    wanted = f"x0 must be a point of {counted(len(lo), 'number')} or a sequence of such points"
    try:
        points = np.array(x0, dtype=np.float64)
    except (TypeError, ValueError):
        raise OptionError(f"{wanted}, not {x0!r}") from None
    except TraceError:
        raise OptionError(f"{wanted}, all doubles: write np.pi or np.e for infimum.pi or infimum.e in {x0!r}") from None
    points = points[None] if points.ndim == 1 else points
    if points.ndim != 2 or points.shape[1] != len(lo) or not len(points):
        raise OptionError(f"{wanted}; its shape is {np.shape(x0)}")
    for k, point in enumerate(points):
        outside = np.flatnonzero(~((point >= lo) & (point <= hi)))
        if len(outside):
            i = int(outside[0])
            raise OptionError(f"point {k} of x0 lies outside the bounds: variable {i} is {float(point[i])!r}, "
                              f"its bounds are ({float(lo[i])!r}, {float(hi[i])!r})")
    return np.ascontiguousarray(points.T)


def _start_boxes(boxes: Any, lo: np.ndarray, hi: np.ndarray) -> StartBoxes:
    """Boxes inside the bounds, each given as these are, a pair for each variable."""
    wanted = "start_boxes must be a list of boxes, each of them a list with a (low, high) pair for each variable"
    if isinstance(boxes, (str, bytes, Mapping, Set)) or not isinstance(boxes, Iterable):
        raise OptionError(f"{wanted}, not {boxes!r}")
    found = []
    for k, box in enumerate(boxes):
        if not isinstance(box, (Sequence, np.ndarray)) or any(np.ndim(row) == 0 for row in box):
            raise OptionError(f"{wanted}; box {k} is {box!r}")  # one pair would stand for all variables: a whole box, or a slip
        try:
            low, high = read_bounds(box, len(lo))
        except BoundsError as error:
            raise OptionError(f"box {k} of start_boxes is wrong: {error}") from None
        outside = np.flatnonzero(~((low >= lo) & (high <= hi)))
        if len(outside):
            i = int(outside[0])
            raise OptionError(f"box {k} of start_boxes reaches beyond the bounds: variable {i} has ({float(low[i])!r}, "
                              f"{float(high[i])!r}) there, its bounds are ({float(lo[i])!r}, {float(hi[i])!r})")
        found.append((low, high))
    if not found:
        raise OptionError(f"start_boxes is empty: leave it out to search the whole box of the bounds; otherwise {wanted}")
    return StartBoxes(*(np.stack(ends, axis=1) for ends in zip(*found, strict=True)))


def read_bounds(bounds: Any, n: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    """The lower and upper ends, as float64 vectors.

    `bounds` is a sequence of pairs, an object with `lb` and `ub` (scipy.optimize.Bounds), or one pair together with `n`.
    Numbers that are not doubles (long integers, fractions, decimals, infimum.pi) are rounded outward, so that the resulting box
    always contains the one given.

    >>> from fractions import Fraction
    >>> read_bounds([(Fraction(1, 3), Fraction(1, 3))])
    (array([0.33333333]), array([0.33333333]))
    >>> low, high = read_bounds((0, 1), n=3)
    >>> low, high
    (array([0., 0., 0.]), array([1., 1., 1.]))
    """
    if n is not None and (isinstance(n, bool) or not isinstance(n, (int, np.integer)) or n < 1):
        raise BoundsError(f"the number of variables n must be a positive integer, not {n!r}")
    if n is not None and n > MOST_VARIABLES:
        raise BoundsError(f"n = {n:,} variables are too many: the most is {MOST_VARIABLES:,}")
    if hasattr(bounds, "lb") and hasattr(bounds, "ub"):
        pairs, times = _columns(_listed(bounds.lb), _listed(bounds.ub), n)
    else:
        pairs, times = _pairs(bounds, n)
    if not pairs:
        raise BoundsError("the bounds are empty: give one (low, high) pair for each variable")
    if n is not None and len(pairs) * times != n:
        raise BoundsError(f"{counted(len(pairs), 'pair')} of bounds {'was' if len(pairs) == 1 else 'were'} given for n = {n:,}")
    ends = _doubles(pairs)
    lo, hi = np.repeat((np.array(_read(pairs)) if ends is None else ends).T, times, axis=1)
    return np.ascontiguousarray(lo), np.ascontiguousarray(hi)


def _doubles(pairs: list) -> np.ndarray | None:
    """The ends (N, 2) if they are ordered doubles, the usual case: one by one, a million of them take as long as the proof."""
    flat = list(chain.from_iterable(pairs))
    types = set(map(type, flat))
    if not types <= {float, np.float64, int} or (int in types and max(abs(v) for v in flat if type(v) is int) > 2**53):
        return None
    ends = np.array(flat, dtype=float).reshape(-1, 2)
    low, high = ends.T
    return ends if ((low <= high) & (low < np.inf) & (high > -np.inf)).all() else None


def _read(pairs: list) -> list[tuple[float, float]]:
    """The ends one by one, or an error that says what is wrong with one."""
    ends = [(_end(low, i, 0), _end(high, i, 1)) for i, (low, high) in enumerate(pairs)]
    for i, (low, high) in enumerate(ends):
        if low > high:
            raise BoundsError(f"the bounds of variable {i} are reversed: {low!r} > {high!r}")
        if low == math.inf or high == -math.inf:
            raise BoundsError(f"the bounds of variable {i} are a point at infinity: ({low!r}, {high!r}) holds no number")
    return ends


def _listed(ends: Any) -> list:
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
    try:
        rows = list(bounds)
    except TypeError:
        raise BoundsError(f"bounds must be a sequence of (low, high) pairs, not {bounds!r}") from None
    if len(rows) == 2 and all(np.ndim(r) == 0 and not isinstance(r, str) for r in rows):
        if n is None:
            raise BoundsError(f"one pair of bounds {tuple(rows)!r} needs the number of variables: pass n=..., or a list of "
                              "pairs; a point to start from is x0=")
        return [rows], n
    if set(map(type, rows)) <= {tuple, list} and set(map(len, rows)) <= {2}:
        return rows, 1
    for i, row in enumerate(rows):
        if isinstance(row, str) or not isinstance(row, (Sequence, np.ndarray)) or len(row) != 2:
            start = "; a point to start from is x0=" if np.ndim(row) == 0 and not isinstance(row, str) else ""
            raise BoundsError(f"the bounds of variable {i} must be a pair (low, high), not {row!r}{start}")
    return rows, 1


def _end(value: Any, i: int, side: int) -> float:
    """One end as a double, rounded outward if it is not one."""
    name = ("lower", "upper")[side]
    if type(value) is float and value == value:  # the usual case, made fast for a million bounds
        return value
    if value is None:
        return (-math.inf, math.inf)[side]
    value = getattr(value, ("lo", "hi")[side], value)  # a Real is known between two doubles
    value = value[()] if isinstance(value, np.ndarray) else value
    if isinstance(value, (bool, np.bool_, str, bytes)) or np.iscomplexobj(value):
        raise BoundsError(f"the {name} bound of variable {i} is {value!r}, which is not a real number")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf if value > 0 else -math.inf
    except (TypeError, ValueError):
        raise BoundsError(f"the {name} bound of variable {i} is {value!r}, which is not a real number") from None
    if math.isnan(number):
        raise BoundsError(f"the {name} bound of variable {i} is NaN")
    ratio = getattr(value, "as_integer_ratio", None)
    try:
        exact = Fraction(*ratio()) if ratio is not None else Fraction(operator.index(value))
    except (TypeError, OverflowError):  # infinite, or only available as a float
        return number
    if math.isinf(number):  # a finite number beyond the doubles
        largest = math.nextafter(math.inf, 0.0)
        return number if (number > 0) == (side == 1) else math.copysign(largest, number)
    beyond = Fraction(number) > exact if side == 0 else Fraction(number) < exact
    return math.nextafter(number, (-math.inf, math.inf)[side]) if beyond else number
