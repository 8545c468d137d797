"""np.interp: straight lines through the points of a table.

With known values it is a spline of degree 1 (`expr/spline_table.py`), constant beyond its ends. With traced ones it is

fp[0] + the sum over the segments of (their rise) * (how far x has come through them, between 0 and 1): a few array operations
however long the table is. It is continuous and recorded so: a segment that x has not reached adds exactly 0, one that x has
left behind exactly its rise, and inside a segment the slope is that of its line.
"""

import math
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

from infimum.expr import build as b
from infimum.expr.node import Expr
from infimum.expr.rationals import between_doubles
from infimum.expr.spline_table import SplineTable
from infimum.trace.tracer import FUNCTIONS, Tracer, has_tracer, lift
from infimum.trace.user_source import fail, user_line


def _interp(x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None) -> Tracer:
    if has_tracer(xp) or has_tracer(period):
        fail("The points `xp` and the `period` of np.interp must be known numbers.", "Only x and the values `fp` may be traced.")
    x, values = Tracer(lift(x)), Tracer(lift(fp))
    points = _doubles(xp)
    if np.ndim(xp) != 1 or not points or values.shape != (len(points),):
        raise ValueError("np.interp: fp and xp must be vectors of the same length, with elements")
    if period is not None:
        x, points, values = _in_one_period(x, points, values, *_doubles(period))
        left = right = None  # as NumPy does
    if any(p >= q for p, q in pairwise(points)):
        fail("The points `xp` of np.interp are not increasing, and what NumPy computes then is no interpolation.",
             "Sort them first.")
    result = _lines(x, points, values)
    if left is not None:
        result = np.where(x < _constant(points[0]), left, result)
    return result if right is None else np.where(x > _constant(points[-1]), right, result)


def _doubles(numbers: Any) -> list[Fraction]:
    known = lift(numbers)
    if known.lo is not known.hi:
        fail("The points `xp` or the `period` of np.interp are known between doubles only.", "Give them as floats.")
    return [Fraction(float(v)) for v in known.lo.flat]


def _lines(x: Tracer, points: list[Fraction], values: Tracer) -> Tracer:
    table = _table(points, values.expr)
    if table is not None:
        return Tracer(b.build("spline", x.expr, table=table, line=user_line()))
    start = Tracer(b.broadcast(values[0].expr, x.shape, user_line()))
    count = len(points) - 1
    if not count:
        return start + 0.0 * x  # where x is undefined, so is the result
    starts = Tracer(between_doubles(points[:-1], (count,)))
    lengths = Tracer(between_doubles([q - p for p, q in pairwise(points)], (count,)))
    through = np.clip((np.expand_dims(x, -1) - starts) / lengths, 0.0, 1.0)
    result = start + np.sum(_rises(values) * through, axis=-1)
    if values.expr.op != "const":
        return result
    low, high = float(values.expr.lo.min()), float(values.expr.hi.max())
    return np.clip(result, low, high)  # there it lies anyway; to say so keeps enclosures narrow


def _table(points: list[Fraction], values: Expr) -> SplineTable | None:
    """The pieces, where points and values are doubles; the first and the last are constant."""
    ends = [float(p) for p in points]
    if values.op != "const" or values.lo is not values.hi or any(Fraction(e) != p for e, p in zip(ends, points, strict=True)):
        return None
    exact = [Fraction(float(v)) for v in values.lo]
    slopes = [(q - p) / (c - a) for (p, q), (a, c) in zip(pairwise(exact), pairwise(points), strict=True)]
    pieces = [(exact[0], Fraction(0)), *zip(exact, slopes, strict=False), (exact[-1], Fraction(0))]
    before, behind = math.nextafter(ends[0], -math.inf), math.nextafter(ends[-1], math.inf)
    if not math.isfinite(before) or not math.isfinite(behind):
        return None
    return SplineTable([before, *ends, behind], pieces, [0] * len(ends))


def _rises(values: Tracer) -> Tracer:
    """Differences of neighbours; of known doubles the true ones."""
    known = values.expr
    if known.op != "const" or known.lo is not known.hi:
        return values[1:] - values[:-1]
    exact = [Fraction(float(v)) for v in known.lo]
    return Tracer(between_doubles([q - p for p, q in pairwise(exact)], (len(exact) - 1,)))


def _in_one_period(x: Tracer, points: list[Fraction], values: Tracer, period: Fraction) -> tuple[Tracer, list[Fraction], Tracer]:
    """The argument and the table moved into one period, with the last point before it and the first behind it."""
    if period == 0:
        raise ValueError("period must be a non-zero value")
    period = abs(period)
    moved = [p % period for p in points]
    order = sorted(range(len(moved)), key=moved.__getitem__)
    first, last = moved[order[0]], moved[order[-1]]
    table = [last - period, *(moved[i] for i in order), first + period]
    return x % float(period), table, values[np.array([order[-1], *order, order[0]])]


def _constant(number: Fraction) -> Tracer:
    return Tracer(between_doubles([number], ()))


FUNCTIONS[np.interp] = _interp
