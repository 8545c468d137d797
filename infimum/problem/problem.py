"""The question: intervals and problems, and what drawings need of them. Immutable."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import field
from fractions import Fraction
from typing import Any

import numpy as np

from infimum.errors import BoundsError, OptionError, TraceError
from infimum.problem.start_boxes import StartBoxes
from infimum.problem.text import counted
from infimum.problem.variable_bounds import Bounds, End, OuterBox, read_bounds
from infimum.support import environment
from infimum.support.given_numbers import shown
from infimum.support.lazy import dataclass


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
    """Minimise `fun` over the user's bounds; the columns of `x0` are points inside them to start from.

    `lo` and `hi` are the bounds rounded inward: the points of a search are doubles between them. `region` is where a proof looks,
    the bounds rounded outward; it is another box, `outer`, only where some end is no double. In a *narrow* variable there is no
    double between the bounds, or a single one, and lo >= hi. `ends` are those, by variable and side, of which not only the
    doubles around them count.

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
    outer: OuterBox | None = None
    ends: Mapping[tuple[int, int], End] = field(default_factory=dict)

    @classmethod
    @environment.ours
    def read(cls, fun: Any, bounds: Any, n: int | None = None, x0: Any = None, start_boxes: Any = None) -> "Problem":
        """A problem from the user's arguments, checked."""
        if not callable(fun) and not hasattr(fun, "estimate"):
            line = isinstance(fun, (str, list, tuple))
            raise OptionError(f"fun must be a function of an array, not {fun!r}" + (
                "; a command line is tried with engine='index'" if line else ""))
        box = read_bounds(bounds, n)
        for i in np.flatnonzero((box.lo == np.inf) | (box.hi == -np.inf))[:1]:
            raise BoundsError(f"the bounds {box.named(i)} of variable {i} lie beyond all doubles: rescale the variable")
        points = None if x0 is None else _points(x0, box)
        if start_boxes is None:
            return cls(fun, box.lo, box.hi, points, None, box.outer, {at: box.end(*at) for at in box.needed()})
        start, ends = _start_boxes(start_boxes, box)
        if points is not None:
            points = start.moved_inside(points)
            for k in np.flatnonzero(~start.holds(points))[:1]:
                raise OptionError(f"point {k} of x0 lies in none of the start_boxes: {points[:, k].tolist()!r}")
        return cls(fun, *start.hull, points, start, start.outer_of_all, ends)

    @property
    @environment.ours
    def region(self) -> tuple[np.ndarray, np.ndarray]:
        """The smallest box of doubles that holds all numbers within the bounds."""
        return (self.lo, self.hi) if self.outer is None else (self.outer.lo, self.outer.hi)

    @property
    @environment.ours
    def narrow(self) -> np.ndarray:
        """Which variables have at most one double between bounds that are no doubles."""
        lo, hi = self.region
        return (self.lo >= self.hi) & (lo < hi)

    @property
    @environment.ours
    def several(self) -> StartBoxes | None:
        """The start boxes if the feasible set may be no box: if there are more than one."""
        return self.start if self.start is not None and len(self.start) > 1 else None


def _points(x0: Any, box: Bounds) -> np.ndarray:
    """One point or a sequence of points, as columns, each inside the bounds. One that lies outside by less than doubles tell,
    because an end is no double, is moved inside."""
    lo, hi = box.region
    wanted = f"x0 must be a point of {counted(len(lo), 'number')} or a sequence of such points"
    try:
        points = np.array(x0, dtype=np.float64)
    except (TypeError, ValueError):
        raise OptionError(f"{wanted}, not {shown(x0)}") from None
    except OverflowError:
        raise OptionError(f"{wanted}, and one of the numbers is larger than any double") from None
    except TraceError:
        raise OptionError(f"{wanted}, all doubles: write np.pi or np.e for infimum.pi or infimum.e in {x0!r}") from None
    points = points[None] if points.ndim == 1 else points
    if points.ndim != 2 or points.shape[1] != len(lo) or not len(points):
        raise OptionError(f"{wanted}; its shape is {np.shape(x0)}")
    for k, point in enumerate(points):
        for i in np.flatnonzero(~((point >= lo) & (point <= hi) & np.isfinite(point)))[:1]:
            what = f"its bounds are {box.named(i)}" if not np.isinf(point[i]) else "which is no number"
            raise OptionError(f"point {k} of x0 lies outside the bounds: variable {i} is {float(point[i])!r}, {what}")
    return np.ascontiguousarray(np.where(box.lo <= box.hi, np.minimum(np.maximum(points, box.lo), box.hi), points).T)


def _start_boxes(boxes: Any, bounds: Bounds) -> tuple[StartBoxes, dict[tuple[int, int], End]]:
    """Boxes inside the bounds, each given as these are, a pair for each variable; and the ends that are no doubles, of a single
    box, or the same in all of them."""
    wanted = "start_boxes must be a list of boxes, each of them a list with a (low, high) pair for each variable"
    if isinstance(boxes, (str, bytes, Mapping, Set)) or not isinstance(boxes, Iterable):
        raise OptionError(f"{wanted}, not {shown(boxes)}")
    found = []
    for k, box in enumerate(boxes):
        if not isinstance(box, (Sequence, np.ndarray)) or any(np.ndim(row) == 0 for row in box):
            raise OptionError(f"{wanted}; box {k} is {shown(box)}")  # one pair, for all variables, is a whole box, or a slip
        try:
            one = read_bounds(box, len(bounds.lo))
        except BoundsError as error:
            raise OptionError(f"box {k} of start_boxes is wrong: {error}") from None
        i = one.reaches_beyond(bounds)
        if i is not None:
            raise OptionError(f"box {k} of start_boxes reaches beyond the bounds: variable {i} has {one.named(i)} there, its "
                              f"bounds are {bounds.named(i)}")
        found.append(one)
    if not found:
        raise OptionError(f"start_boxes is empty: leave it out to search the whole box of the bounds; otherwise {wanted}")
    start = StartBoxes.of(found)
    ends = {at: found[0].end(*at) for at in found[0].needed() if all(found[0].end(*at).is_the_same_as(one.end(*at))
                                                                     for one in found)}
    lo, hi = start.hull
    for i in np.flatnonzero(lo >= hi):  # a problem may have one such variable, but no union of boxes that differ in it
        if any(not one.end(i, side).is_the_same_as(found[0].end(i, side)) for one in found for side in (0, 1)):
            raise OptionError(f"the start_boxes differ in variable {i} by less than doubles tell: give them the same ends there")
    return start, ends


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """The function, as estimates of points (n, N), and the bounds of the problem. Copies share the function; a pickle holds the
    bounds alone, since compiled kernels stay in their process."""

    estimate: Callable[[np.ndarray], np.ndarray] | None
    lo: np.ndarray
    hi: np.ndarray

    def __reduce__(self) -> tuple:
        return View, (None, self.lo, self.hi)

    def __deepcopy__(self, memo: dict) -> "View":
        return self
