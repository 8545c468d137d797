"""The ends of constraints: doubles, or numbers that are known between two doubles."""

import math
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np

from infimum.errors import BoundsError, ShapeError
from infimum.expr.node import Shape
from infimum.expr.real import Real, doubles_around
from infimum.support.given_numbers import fraction, shown

_SIDES = ("lower", "upper")


class ConstraintEnds(NamedTuple):
    """Numbers between the doubles lo and hi, element by element; the same array where they are doubles. `given` are the numbers
    themselves."""

    lo: np.ndarray
    hi: np.ndarray
    given: np.ndarray

    @property
    def exact(self) -> bool:
        return self.lo is self.hi

    def flat(self) -> "ConstraintEnds":
        lo = self.lo.reshape(-1)
        return ConstraintEnds(lo, lo if self.exact else self.hi.reshape(-1), self.given.reshape(-1))

    def at(self, which: np.ndarray) -> "ConstraintEnds":
        lo = self.lo[which]
        return ConstraintEnds(lo, lo if self.exact else self.hi[which], self.given[which])


def same(lower: ConstraintEnds, upper: ConstraintEnds) -> np.ndarray:
    """Which elements of flat ends are certainly one number."""
    return np.array([a is b or (fraction(a) is not None and fraction(a) == fraction(b))
                     for a, b in zip(lower.given, upper.given, strict=True)], bool)


def read_ends(lb: Any, ub: Any, shape: Shape) -> tuple[ConstraintEnds, ConstraintEnds]:
    """Lower and upper ends of the elements of an array, each broadcast to its shape as SciPy does."""
    lower, upper = _side(lb, 0, shape), _side(ub, 1, shape)
    wrong = (lower.lo > upper.hi) | (lower.lo == np.inf) | (upper.hi == -np.inf)
    if not (lower.exact and upper.exact):  # reversed by less than doubles tell
        wrong |= np.array([None not in (p := (fraction(a), fraction(b))) and p[0] > p[1] for a, b in
                           zip(lower.given.reshape(-1), upper.given.reshape(-1), strict=True)], bool).reshape(shape)
    for k in np.flatnonzero(wrong)[:1]:
        low, high = float(lower.lo.flat[k]), float(upper.hi.flat[k])
        endless = math.isinf(low) and low == high
        what = f"a point at infinity: ({low!r}, {high!r}) holds no number" if endless else \
            f"reversed: {shown(lower.given.flat[k])} > {shown(upper.given.flat[k])}"
        raise BoundsError(f"the ends of {_element(k, shape)} are {what}")
    return lower, upper


def _side(given: Any, side: int, shape: Shape) -> ConstraintEnds:
    whole = isinstance(given, np.ndarray) and given.dtype == np.float64
    try:
        values = given if whole else np.array(given, dtype=object)  # an array of mixed numbers would round them
    except ValueError:
        raise ShapeError(f"the {_SIDES[side]} ends are no array: {shown(given)}") from None
    pairs = None if whole else [_number(v, side) for v in values.flat]
    lo = values if pairs is None else np.array([low for low, _ in pairs]).reshape(values.shape)
    hi = lo if pairs is None or all(low == high for low, high in pairs) else \
        np.array([high for _, high in pairs]).reshape(values.shape)
    for k in np.flatnonzero(np.isnan(lo))[:1]:
        raise BoundsError(f"the {_SIDES[side]} end of {_element(k, values.shape)} is NaN")
    if not shape and values.size == 1:  # SciPy takes a number for an array of one
        lo, hi = (lo.reshape(()),) * 2 if hi is lo else (lo.reshape(()), hi.reshape(()))
        values = values.reshape(())
    try:
        first = np.broadcast_to(lo, shape)
        return ConstraintEnds(first, first if hi is lo else np.broadcast_to(hi, shape), np.broadcast_to(values, shape))
    except ValueError:
        raise ShapeError(f"the constraint has the shape {shape}, and its {_SIDES[side]} ends have the shape {values.shape}: give "
                         "one number, or one for each element") from None


def _element(k: int, shape: Shape) -> str:
    return f"element {int(k)}" if shape else "the constraint"


def _number(value: Any, side: int) -> tuple[float, float]:
    """Two doubles around one end, equal if it is a double."""
    if isinstance(value, Real):
        return value.ends
    value = value.item() if isinstance(value, np.generic) and not isinstance(value, np.longdouble) else value
    if isinstance(value, float):
        return value, value
    try:
        exact = None if isinstance(value, bool) else fraction(value)
        if exact is None and isinstance(value, (Decimal, np.longdouble)):  # infinite, NaN
            return float(value), float(value)
    except (OverflowError, ValueError) as error:  # an absurd exponent, or a NaN that signals
        raise BoundsError(f"the {_SIDES[side]} end is no number that can be compared: {error}") from None
    if exact is None:
        raise BoundsError(f"the {_SIDES[side]} end is {shown(value)}, which is not a real number")
    lo, hi = doubles_around(exact)
    if math.isinf(lo) or math.isinf(hi):
        raise BoundsError(f"the {_SIDES[side]} end is too large for a double: write inf, or rescale the constraint")
    return lo, hi
