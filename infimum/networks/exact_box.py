"""Boxes whose ends are rational numbers, such as decimals: the doubles around them, and the doubles within.

Proof: docs/proofs/networks.md.
"""

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from infimum.errors import OptionError
from infimum.expr.real import Real
from infimum.support.given_numbers import round_down, round_up
from infimum.support.lazy import dataclass

Box = tuple[np.ndarray, np.ndarray]


class ExactEnd(NamedTuple):
    """An end of an interval; does it belong to the interval, or is it `open`?"""

    value: Fraction | float  # a float where it is infinite
    open: bool = False


@dataclass(frozen=True, slots=True)
class ExactBox:
    """The points between `lo` and `hi`, one end of each for every variable."""

    lo: tuple[ExactEnd, ...]
    hi: tuple[ExactEnd, ...]

    @classmethod
    def of(cls, lo: Sequence[Any], hi: Sequence[Any]) -> "ExactBox":
        """Between these numbers."""
        return cls(*(tuple(_end(v, side) for v in ends) for side, ends in enumerate((lo, hi))))

    def met(self, other: "ExactBox") -> "ExactBox":
        return ExactBox(tuple(map(higher_of, self.lo, other.lo)), tuple(map(lower_of, self.hi, other.hi)))

    @property
    def is_empty(self) -> bool:
        return any(a.value > b.value or (a.value == b.value and (a.open or b.open))
                   for a, b in zip(self.lo, self.hi, strict=True))

    def outer(self) -> Box:
        """The smallest box of doubles around it."""
        return np.array([_down(end) for end in self.lo]), np.array([_up(end) for end in self.hi])

    def near(self, x: np.ndarray) -> Box:
        """The point of doubles that is nearest to x; a variable of which no double lies within has the two doubles around it, so
        that some point between the ends belongs to the box. The box must not be empty."""
        lo, hi = self.inner()
        moved = np.clip(x, lo, hi)
        return tuple(np.where(lo <= hi, moved, end) for end in self.outer())

    def inner(self) -> Box:
        """The first and the last double within; the last is less than the first where there is none."""
        return np.array([_first(end) for end in self.lo]), -np.array([_first(ExactEnd(-end.value, end.open)) for end in self.hi])

    def shown(self, lo: np.ndarray, hi: np.ndarray) -> np.ndarray:
        """For what `near` gives: the point, where variables without a double are rounded."""
        x = lo + 0.0
        for i in np.flatnonzero(lo < hi):
            x[i] = float((self.lo[i].value + self.hi[i].value) / 2)
        return x


def _end(value: Any, side: int) -> ExactEnd:
    """A number as an end. One such as infimum.pi lies between two doubles next to each other, and is none of them: as far as
    doubles tell, its interval is the one that ends at the double beyond it and does not hold that."""
    if not isinstance(value, Real):
        return ExactEnd(Fraction(value) if not isinstance(value, float) or math.isfinite(value) else float(value))
    if not value.is_irrational or math.nextafter(value.lo, math.inf) != value.hi:
        raise OptionError(f"the bound {value!r} of an input is not known well enough: give a rational number")
    return ExactEnd(Fraction((value.lo, value.hi)[side]), open=True)


def higher_of(a: ExactEnd, b: ExactEnd) -> ExactEnd:
    """Of two lower ends."""
    return max(a, b, key=lambda end: (end.value, end.open))


def lower_of(a: ExactEnd, b: ExactEnd) -> ExactEnd:
    """Of two upper ends."""
    return min(a, b, key=lambda end: (end.value, not end.open))


def _down(end: ExactEnd) -> float:
    return round_down(end.value) if isinstance(end.value, Fraction) else end.value


def _up(end: ExactEnd) -> float:
    return round_up(end.value) if isinstance(end.value, Fraction) else end.value


def _first(end: ExactEnd) -> float:
    """The least double not below a lower end, and above it where it is open."""
    value = _up(end)
    return math.nextafter(value, math.inf) if end.open and value == end.value else value
