"""Mixed-integer rounding: what an inequality over whole and other columns becomes when its end is rounded down, in whole numbers.

For t >= 0 whole and s >= 0, Σ a_j t_j + Σ c_k s_k <= b implies Σ G(a_j) t_j + Σ min(c_k, 0) / (1 - f) s_k <= floor(b), where f
= b - floor(b) and G(a) = floor(a) + max(0, a - floor(a) - f) / (1 - f). Columns are distances from one of their ends;
inequalities that are added up with weights of any sign are equations with slacks, which are columns too.

All numbers are doubles, that is whole numbers times powers of two: the powers are kept apart. With a = A / D and b = B / D the
cut times D - (B mod D) has the whole factors floor(a) (D - (B mod D)) + max(0, (A mod D) - (B mod D)), and min(C, 0).

Proof: docs/proofs/rounding_cuts.md.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import gcd, inf, nextafter
from typing import NamedTuple

Terms = dict[int, int]
_DIGITS = 40  # fixed: of the largest factor of a cut, binary
_MOST_BITS = 256  # fixed: smaller units are left alone


def whole_and_exponent(number: float) -> tuple[int, int]:
    """(k, e) with number = k / 2**e."""
    k, denominator = float(number).as_integer_ratio()
    return k, denominator.bit_length() - 1


class ColumnEnds(NamedTuple):
    """Ends of columns in units of 2**-exponent, None where there is none; which are whole, with whole ends; and those measured
    from their upper ends."""

    low: Sequence[int | None]
    high: Sequence[int | None]
    exponent: int
    whole: Sequence[bool]
    from_upper: Sequence[bool]

    @classmethod
    def of(cls, low: Iterable[float], high: Iterable[float], whole: Sequence[bool], from_upper: Sequence[bool]) -> "ColumnEnds":
        ends = [[whole_and_exponent(a) if abs(a) < inf else (0, -1) for a in end] for end in (low, high)]
        exponent = max((e for end in ends for _, e in end if e <= _MOST_BITS), default=0)
        scaled = [[k << (exponent - e) if 0 <= e <= exponent else None for k, e in end] for end in ends]
        return cls(*scaled, max(exponent, 0), whole, from_upper)


class Inequality(NamedTuple):
    """Σ factor times column <= end, in units of 2**-exponent, of which a row is `multiple` times 2**exponent. `slack`: is the
    difference of both sides "whole", "real", or "none" at all?"""

    terms: Terms
    end: int
    exponent: int
    multiple: tuple[int, int] = (1, 0)  # k / 2**e
    slack: str = "real"

    @classmethod
    def of(cls, terms: Sequence[tuple[int, float]], end: float, whole: Sequence[bool], is_equation: bool) -> "Inequality | None":
        """None where units are too small. The end of an equation is not rounded: its weight may have either sign."""
        parts = [(j, *whole_and_exponent(c)) for j, c in terms]
        k, e = whole_and_exponent(end)
        if e > _MOST_BITS and not is_equation:  # upward
            k, e = -(-k >> (e - _MOST_BITS)), _MOST_BITS
        exponent = max([e, *(e for _, _, e in parts)])
        if exponent > _MOST_BITS:
            return None
        own, end_there = {j: c << (exponent - e) for j, c, e in parts}, k << (exponent - e)
        if own and not is_equation and all(whole[j] for j in own):  # the sum is a multiple of the step
            step = gcd(*own.values())
            return cls({j: c // step for j, c in own.items()}, end_there // step, 0, (step, exponent), "whole")
        return cls(own, end_there, exponent, slack="none" if is_equation else "real")


class Cut(NamedTuple):
    """Σ factor times column <= end / 2**exponent, of whole factors."""

    terms: Terms
    end: int
    exponent: int


def rounded(parts: Sequence[tuple[Inequality, float]], divisor: float, columns: ColumnEnds) -> Cut | None:
    """What inequalities with these weights imply, their sum being divided by a positive number; None where an end is missing, or
    the sum's end is whole."""
    weights = [_product(whole_and_exponent(w), row.multiple) for row, w in parts]
    below, least = whole_and_exponent(divisor)
    unit = max([least, *(e + row.exponent for (_, e), (row, _) in zip(weights, parts, strict=True))]) + columns.exponent
    if unit > 8 * _MOST_BITS:
        return None
    factors = [k << (unit - e - row.exponent) for (k, e), (row, _) in zip(weights, parts, strict=True)]
    total: Terms = defaultdict(int)
    end = 0
    for (row, _), factor in zip(parts, factors, strict=True):
        end += factor * row.end
        for j, c in row.terms.items():
            total[j] += factor * c
    for j, c in total.items():
        if c:
            begin = columns.high[j] if columns.from_upper[j] else columns.low[j]
            if begin is None:
                return None
            end -= (c * begin) >> columns.exponent  # without rest: the unit is small enough
    divided = below << (unit - least)
    floor_of_end, rest = divmod(end, divided)
    if not rest:
        return None

    def factor_of(c: int, whole: bool) -> int:
        if not whole:
            return min(c, 0)
        floor_of_c, own = divmod(c, divided)
        return floor_of_c * (divided - rest) + max(0, own - rest)
    found: Terms = defaultdict(int)
    most = (floor_of_end * (divided - rest)) << columns.exponent
    for j, c in total.items():
        factor = -factor_of(-c, columns.whole[j]) if columns.from_upper[j] else factor_of(c, columns.whole[j])
        if factor:
            most += factor * (columns.high[j] if columns.from_upper[j] else columns.low[j])
            found[j] += factor
    for (row, _), factor in zip(parts, factors, strict=True):
        if row.slack == "none":
            continue
        # the slack in units of 2**-row.exponent: its factor is that of one unit
        own = factor_of(factor, True) if row.slack == "whole" else factor_of(factor, False)
        if own:
            most -= (own * row.end) << columns.exponent
            for j, c in row.terms.items():
                found[j] -= own * c
    return Cut({j: c for j, c in found.items() if c}, most, columns.exponent)


def in_doubles(cut: Cut, columns: ColumnEnds, negligible: float) -> tuple[list[tuple[int, float]], float] | None:
    """An inequality between doubles that follows within the ends of columns: factors are rounded, those that are `negligible`
    parts of the largest to 0, and the end makes up for it. None where an end is missing, or beyond doubles."""
    largest = max(map(abs, cut.terms.values()), default=0)
    more = max(0, _DIGITS - largest.bit_length())
    shift, terms, end, least = largest.bit_length() + more - _DIGITS, [], cut.end << more, int(negligible * 2.0**_DIGITS)
    for j, c in sorted((j, c << more) for j, c in cut.terms.items()):
        new = (c + ((1 << shift) >> 1)) >> shift
        new = 0 if abs(new) <= least else new
        off = c - (new << shift)
        if off:
            begin = columns.low[j] if off > 0 else columns.high[j]
            if begin is None:
                return None
            end -= off * begin
        if new:
            terms.append((j, new * 2.0**-_DIGITS))
    exact = Fraction(end, 1 << (cut.exponent + shift + _DIGITS))
    try:
        found = float(exact)
    except OverflowError:
        return None
    return terms, nextafter(found, inf) if Fraction(found) < exact else found


def _product(one: tuple[int, int], other: tuple[int, int]) -> tuple[int, int]:
    return one[0] * other[0], one[1] + other[1]
