"""What is asked: intervals and bounds. Immutable."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from infimum.errors import BoundsError


@dataclass(frozen=True, slots=True)
class Interval:
    """The real numbers between `lo` and `hi`, ends included where they are finite.

    >>> Interval(1.0, 2.0)
    [1.0, 2.0]
    >>> 1.5 in Interval(1.0, 2.0), Interval(1.0, 2.0).width
    (True, 1.0)
    """

    lo: float
    hi: float

    @property
    def empty(self) -> bool:
        """Holds no number: the function is defined nowhere on the box."""
        return not self.lo <= self.hi

    @property
    def width(self) -> float:
        """hi - lo, rounded up; 0 for an empty interval."""
        if self.empty:
            return 0.0
        if np.isinf(self.lo) or np.isinf(self.hi):
            return np.inf
        exact = Fraction(self.hi) - Fraction(self.lo)
        width = self.hi - self.lo
        return width if np.isinf(width) or Fraction(width) >= exact else math.nextafter(width, math.inf)

    def __contains__(self, number: float) -> bool:
        return self.lo <= number <= self.hi

    def __repr__(self) -> str:
        return "[empty]" if self.empty else f"[{self.lo!r}, {self.hi!r}]"


def read_bounds(bounds: Any, n: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    """The lower and upper ends, as float64 vectors.

    `bounds` is a sequence of pairs, an object with `lb` and `ub` (scipy.optimize.Bounds), or one pair together with `n`.
    Integers that are no doubles are rounded outward, so the box read always contains the box written.
    """
    if hasattr(bounds, "lb") and hasattr(bounds, "ub"):
        lows, highs = np.atleast_1d(bounds.lb), np.atleast_1d(bounds.ub)
        if lows.shape != highs.shape:
            lows, highs = np.broadcast_arrays(lows, highs)
        pairs: list = list(zip(lows.tolist(), highs.tolist(), strict=True))
        pairs = pairs * n if n is not None and len(pairs) == 1 else pairs
    else:
        pairs = _pairs(bounds, n)
    if not pairs:
        raise BoundsError("the bounds are empty: give one (low, high) pair for each variable")
    if n is not None and len(pairs) != n:
        raise BoundsError(f"{len(pairs)} pairs of bounds were given for n = {n} variables")
    lo, hi = (np.array([_end(pair[side], i, side) for i, pair in enumerate(pairs)]) for side in (0, 1))
    for i, (low, high) in enumerate(zip(lo, hi, strict=True)):
        if low > high:
            raise BoundsError(f"the bounds of variable {i} are reversed: {low!r} > {high!r}")
        if low == np.inf or high == -np.inf:
            raise BoundsError(f"the bounds of variable {i} are a point at infinity: ({low!r}, {high!r}) holds no number")
    return lo, hi


def _pairs(bounds: Any, n: int | None) -> list:
    try:
        rows = list(bounds)
    except TypeError:
        raise BoundsError(f"bounds must be a sequence of (low, high) pairs, not {bounds!r}") from None
    if len(rows) == 2 and all(np.ndim(r) == 0 for r in rows):
        if n is None:
            raise BoundsError(f"one pair of bounds {tuple(rows)!r} needs the number of variables: pass n=..., or a list of pairs")
        return [rows] * n
    for i, row in enumerate(rows):
        if isinstance(row, str) or not isinstance(row, (Sequence, np.ndarray)) or len(row) != 2:
            raise BoundsError(f"the bounds of variable {i} must be a pair (low, high), not {row!r}")
    return rows


def _end(value: Any, i: int, side: int) -> float:
    name = ("lower", "upper")[side]
    if value is None:
        return (-np.inf, np.inf)[side]
    if isinstance(value, (bool, np.bool_, str, bytes)) or np.iscomplexobj(value):
        raise BoundsError(f"the {name} bound of variable {i} is {value!r}, which is not a real number")
    try:
        number = float(value)
    except OverflowError:
        return np.inf if value > 0 else -np.inf
    except (TypeError, ValueError):
        raise BoundsError(f"the {name} bound of variable {i} is {value!r}, which is not a real number") from None
    if np.isnan(number):
        raise BoundsError(f"the {name} bound of variable {i} is NaN")
    if isinstance(value, int) and int(number) != value:  # not a double: outward
        beyond = number > value if side == 0 else number < value
        return math.nextafter(number, (-math.inf, math.inf)[side]) if beyond else number
    return number
