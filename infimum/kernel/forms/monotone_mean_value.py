"""The mean value form of one quantity with a centre for each end: exact, but for roundings, where the function rises or falls.

Proof: docs/proofs/poles_and_edges.md.
"""

from collections.abc import Callable

from infimum.interval.arithmetic import mul, sub
from infimum.interval.pair import INF, Pair
from infimum.kernel.ir import Builder, Value


def two_centred(b: Builder, slope: Pair, lo: Value, hi: Value, value: Callable[[Pair], Pair]) -> Pair:
    """[the lower end of f(c) + g(X)(X - c), the upper end of f(d) + g(X)(X - d)] for X = [lo, hi], where f is Lipschitz.

    The form holds for any points c and d of X; it is best at those of Baumann: where the derivative g has one sign, the end at
    which f is least, and the one at which it is greatest. An end is infinite where its form is none.
    """
    width, box = b.sub(hi, lo), Pair(b.neg(lo), hi)
    part = b.min(b.max(b.div(slope.nlo, b.add(slope.nlo, slope.hi)), 0.0), 1.0)
    rises, falls = b.ole(slope.nlo, 0.0), b.ole(slope.hi, 0.0)
    middle = b.add(b.mul(lo, 0.5), b.mul(hi, 0.5))
    from_low, from_high = b.fma(width, part, lo), b.fma(b.neg(width), part, hi)
    centres = (b.select(rises, lo, b.select(falls, hi, from_low)), b.select(rises, hi, b.select(falls, lo, from_high)))
    ends = []
    for centre, end in zip(centres, ("nlo", "hi"), strict=True):
        centre = b.select(b.olt(b.abs(centre), INF), centre, middle)  # the width may be no double
        centre = b.min(b.max(centre, lo), hi)
        point = Pair(b.neg(centre), centre)
        at_point, tilt = getattr(value(point), end), getattr(mul(b, slope, sub(b, box, point)), end)
        form = b.add(at_point, tilt)
        usable = b.mand(b.olt(b.abs(centre), INF), b.mand(b.ogt(at_point, -INF), b.ogt(form, -INF)))
        ends.append(b.select(usable, form, INF))
    return Pair(*ends)
