"""What enclosures prove about a box: written once for all kernels that discard (branch and bound, sweeps, complete search)."""

from typing import Any, NamedTuple

from infimum.interval.arithmetic import mul, sub
from infimum.interval.pair import DEFINED, INF, LIPSCHITZ, POLE, UNDEFINED, Pair, b_level
from infimum.kernel.ir import Builder, Value


def whole_if_unsound(b: Builder, x: Pair) -> Pair:
    """The pair, or the whole line where it is NaN or empty: what a derivative's enclosure is worth then."""
    broken = b.mor(b.uno(x.nlo, x.hi), b.mor(b.oeq(x.nlo, -INF), b.oeq(x.hi, -INF)))
    return Pair(b.select(broken, INF, x.nlo), b.select(broken, INF, x.hi))


def common(b: Builder, one: Pair, other: Pair) -> Pair:
    """The tighter of both ends: two enclosures of the same values, none of them NaN."""
    return Pair(b.min(one.nlo, other.nlo), b.min(one.hi, other.hi))


class NaturalEnclosure(NamedTuple):
    """The value's enclosure on a box: minus its lower end, its status, and whether f is defined nowhere on the box."""

    nlo: Value
    level: Value
    empty: Value

    def lipschitz(self, b: Builder) -> Value:
        return b.oge(self.level, float(LIPSCHITZ))


def natural(b: Builder, value: Pair) -> NaturalEnclosure:
    """What the natural enclosure says; nothing where it is NaN."""
    empty = b.mand(b.oeq(value.nlo, -INF), b.oeq(value.hi, -INF))
    level = b.select(b.uno(value.nlo, value.hi), float(POLE), b_level(b, value.level))
    return NaturalEnclosure(whole_if_unsound(b, value).nlo, level, empty)


def shown_level(b: Builder, level: Any) -> Value:
    """The level as it leaves a kernel: poles are undefined points to everyone but comparisons."""
    return b.max(b_level(b, level), float(UNDEFINED))


def tilt(b: Builder, slope: Pair, box: Pair, point: Pair) -> Value:
    """Minus the lower end of g(X)(X - c) in one variable: its part of the mean value form."""
    return mul(b, slope, sub(b, box, point)).nlo


def raised(b: Builder, known: NaturalEnclosure, at_point: Pair, tilts: Value) -> Value:
    """Minus the larger of two lower ends: the natural one, and where f is Lipschitz that of f(c) + g(X)(X - c)."""
    form = b.add(at_point.nlo, tilts)
    usable = b.mand(known.lipschitz(b), b.mand(b.ogt(form, -INF), b.ogt(at_point.nlo, -INF)))
    return b.select(b.mand(usable, b.olt(form, known.nlo)), form, known.nlo)


def best_lower(b: Builder, first: Value, *others: Value) -> Value:
    """The largest of lower bounds, the first of equals. One that is NaN says nothing, and the answer never is NaN: where regions
    are kept, that marks a gap."""
    best = b.select(b.ogt(first, -INF), first, -INF)
    for lower in others:
        best = b.select(b.ogt(lower, best), lower, best)
    return best


def upper_end(b: Builder, at_point: Pair) -> Value:
    """An upper bound of the infimum: the upper end of f at a point where it is certainly defined, else infinite."""
    defined = b.mand(b.oge(b_level(b, at_point.level), float(DEFINED)), b.ogt(at_point.hi, -INF))
    return b.select(defined, at_point.hi, INF)


class DerivativeConclusion(NamedTuple):
    """What the derivative by one variable says: no minimiser is here; or all are on the user's lower, or upper, bound. What is
    left of the box in this variable lies between `left` and `right`."""

    excluded: Value
    on_low: Value
    on_high: Value
    left: Value
    right: Value


def first_order(b: Builder, allowed: Value, slope: Pair, lo: Value, hi: Value, low: Value, high: Value) -> DerivativeConclusion:
    """The box has [lo, hi] in this variable, the user's bounds are [low, high]; strict signs count, where it is allowed.

    If f rises, a minimiser is on the user's lower bound or nowhere. An infinite bound is never reduced to. `excluded` needs a
    bounded box: on an unbounded one the infimum may be approached at infinity. The bounds are rounded inward: one that is no
    double lies between the end of the box and the double next to it, and what is left of the box is that interval.
    """
    rises, falls = (b.mand(allowed, b.olt(end, 0.0)) for end in (slope.nlo, slope.hi))
    excluded = b.mor(b.mand(rises, b.ogt(lo, low)), b.mand(falls, b.olt(hi, high)))
    on_low = b.mand(rises, b.mand(b.ole(lo, low), b.olt(b.abs(low), INF)))
    on_high = b.mand(falls, b.mand(b.oge(hi, high), b.olt(b.abs(high), INF)))
    lowest, highest = b.select(b.olt(lo, low), b.min(low, hi), lo), b.select(b.ogt(hi, high), b.max(high, lo), hi)
    return DerivativeConclusion(excluded, on_low, on_high, b.select(on_high, highest, lo), b.select(on_low, lowest, hi))


# ---- steps of loops
def add_up(b: Builder, left: tuple, right: tuple) -> tuple:
    return tuple(b.add(p, q) for p, q in zip(left, right, strict=True))


def larger(b: Builder, left: tuple, right: tuple) -> tuple:
    """The larger of each."""
    return tuple(b.max(p, q) for p, q in zip(left, right, strict=True))


def with_larger(b: Builder, left: tuple, right: tuple) -> tuple:
    """The pair (value, companion) with the larger value, the first of equals."""
    return _chosen(b, b.ogt(right[0], left[0]), left, right)


def with_lower(b: Builder, left: tuple, right: tuple) -> tuple:
    """The pair (value, companion) with the lower value, the first of equals."""
    return _chosen(b, b.olt(right[0], left[0]), left, right)


def _chosen(b: Builder, second: Value, left: tuple, right: tuple) -> tuple:
    return tuple(b.select(second, q, p) for p, q in zip(left, right, strict=True))


def parts_left(b: Builder, v: Pair, m: Pair, d: Pair) -> tuple[Value, Value, Value, Value]:
    """What m t = v leaves of t in d: the lower end and the upper end, which is below it where nothing is left; and the end of the
    first part and the beginning of the second, if there are two, else infinite ones in the wrong order. A quotient that is NaN
    says nothing, so that no end is NaN."""
    low, high = b.neg(d.nlo), d.hi
    zero = b.mand(b.oge(m.nlo, 0.0), b.oge(m.hi, 0.0))  # a divisor of 0
    # a divisor of one sign, turned to the positive one: a positive end is divided by the least, any other by the largest
    turn = b.olt(m.hi, 0.0)
    least, most = b.neg(b.select(turn, m.hi, m.nlo)), b.select(turn, m.nlo, m.hi)
    ends = [b.div(end, b.select(b.ogt(end, 0.0), least, most)) for end in
            (b.select(turn, v.hi, v.nlo), b.select(turn, v.nlo, v.hi))]
    definite_low, definite_high = b.max(b.neg(ends[0]), low), b.min(ends[1], high)
    # a divisor with 0 and a dividend without: t is not between the ends of a gap around 0
    falls = b.olt(v.hi, 0.0)  # both turned, so that v is positive
    gap = b.mand(zero, b.mor(falls, b.olt(v.nlo, 0.0)))
    size = b.select(falls, b.neg(v.hi), b.neg(v.nlo))
    below, beyond = (b.abs(b.select(falls, *ends)) for ends in ((m.hi, m.nlo), (m.nlo, m.hi)))  # how far m reaches; no -0
    before = b.div(size, b.neg(below))            # rounded up, not above 0
    behind = b.neg(b.div(b.neg(size), beyond))    # rounded down, not below 0
    no_left, no_right = b.mand(gap, b.ogt(low, before)), b.mand(gap, b.olt(high, behind))
    new_low = b.select(zero, b.select(no_left, b.max(behind, low), low), definite_low)
    new_high = b.select(zero, b.select(no_right, b.min(before, high), high), definite_high)
    two = b.mand(gap, b.mnot(b.mor(no_left, no_right)))
    return new_low, new_high, b.select(two, before, INF), b.select(two, behind, -INF)
