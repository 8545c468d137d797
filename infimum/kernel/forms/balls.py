"""Balls: a number near a double, |x - mid| <= rad. Cheap where enclosures are narrow, or where only sizes matter in the end.

All arithmetic rounds upward. A sum of fewer than 2⁶ products is off by at most 2⁶ units in the last place of the sum of their
sizes, less than `UNITS` times it, which is added to the radius. A number that underflows is rounded up, so that the radius is
never below what was lost.

Proof: docs/proofs/linear_parameters.md.
"""

from typing import NamedTuple

from infimum.interval.pair import INF, Pair
from infimum.kernel.ir import Builder, Value

UNITS = 2.0**-45   # more than the rounding errors of any sum here, as part of the sum of sizes
_MOST_TERMS = 64   # terms
_TINY = 2.0**-400  # radii are not smaller: nothing underflows, which is slow


class Ball(NamedTuple):
    """A radius of None is 0."""

    mid: Value
    rad: Value | None = None


def middle(b: Builder, pair: Pair) -> Value:
    """About it."""
    return b.mul(0.5, b.sub(pair.hi, pair.nlo))


def ball(b: Builder, pair: Pair | None) -> Ball | None:
    """Around a pair; everything where it is NaN. None stays None: that is 0."""
    if pair is None or pair.zero:
        return None
    if pair.point is not None:
        return Ball(pair.point)
    mid = middle(b, pair)
    sound = b.mand(b.ogt(mid, -INF), b.olt(mid, INF))
    rad = b.max(b.sub(pair.hi, mid), b.add(pair.nlo, mid))
    tiny = b.olt(b.add(b.abs(mid), rad), _TINY)
    return Ball(b.select(b.mand(sound, b.mnot(tiny)), mid, 0.0), b.select(sound, b.max(rad, _TINY), INF))


def size(b: Builder, x: Ball | None) -> Value:
    """The largest absolute value."""
    if x is None:
        return b.const(0.0)
    return b.abs(x.mid) if x.rad is None else b.add(b.abs(x.mid), x.rad)


def dot(b: Builder, *terms: "tuple[Ball | None, Ball | None]") -> Ball:
    """A sum of products."""
    terms = [(x, y) for x, y in terms if x is not None and y is not None]
    if len(terms) >= _MOST_TERMS:
        raise ValueError("too many terms")
    mid = rad = b.const(0.0)
    for x, y in terms:
        mid = b.fma(x.mid, y.mid, mid)
        inexact = b.abs(y.mid)
        off = b.mul(inexact, UNITS) if y.rad is None else b.fma(inexact, UNITS, y.rad)
        rad = b.fma(b.abs(x.mid), off, rad)
        if x.rad is not None:
            rad = b.fma(x.rad, inexact if y.rad is None else b.add(inexact, y.rad), rad)
    return Ball(mid, rad)


def total(b: Builder, values: list[Value]) -> Value:
    """A sum, rounded up."""
    found = b.const(0.0)
    for value in values:
        found = b.add(found, value)
    return found


def norm(b: Builder, values: list[Value]) -> Value:
    """The root of the sum of squares, rounded up."""
    found = b.const(0.0)
    for value in values:
        found = b.fma(value, value, found)
    return b.sqrt(found)
