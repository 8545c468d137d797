"""Piecewise polynomials on intervals: the hull of what the pieces that an interval meets take on there.

The interval meets the piece that holds its lower end, the one that holds its upper end, and those between, which it covers. A
loop over the pieces takes the first two out of the table, and the hull of the ranges of the others, which are known. Over
[l, l + w] a polynomial with Taylor's coefficients q_i at l lies between the least and the largest of its Bernstein coefficients

    b_j = sum of C(j, i) / C(k, i) q_i w**i over i = 0, …, j,

for a w that may be larger than the interval. Where an end of the interval is a point at which two pieces meet, the piece
outside is asked as well: of its value, which may be the function's there, and of its derivative, which is a limit of others.
"""

from collections.abc import Callable
from math import comb, nan
from typing import Any

from infimum.interval.arithmetic import add, div, mul
from infimum.interval.pair import INF, Pair, exact

_WRITTEN_OUT = 3  # pieces


def enclose_spline(b, x: Pair, table: Any) -> tuple[Any, Any]:
    """Minus the lower end, and the upper end; x is not empty, or the result is not used."""
    lo, hi, ranges = x.lo(b), x.hi, table.ranges

    def look(i: Any) -> list[Any]:
        start, end = _element(b, table.starts, i), _element(b, table.ends, i)
        first, last = b.mand(b.olt(start, lo), b.ole(lo, end)), b.mand(b.ole(start, hi), b.olt(hi, end))
        covered = b.mand(b.oge(start, lo), b.ole(end, hi))
        piece = [_element(b, table.anchors, i), *_pieces(b, table, i)]
        return [*_where(b, first, end, *piece), *_where(b, last, start, *piece),
                *_where(b, covered, *(_element(b, a, i) for a in ranges))]
    found = _largest(b, table.count, look)
    size = (len(found) - 2) // 2
    (end, *lower), (start, *upper), (nlo, top) = found[:size], found[size:2 * size], found[2 * size:]
    for begin, stop, piece in ((lo, b.min(hi, end), lower), (b.max(lo, start), hi, upper)):
        ends = b.outline(f"spline_piece_{table.degree}", _range, begin, stop, piece[0], *_both_ends(b, table, piece[1:]))
        nlo, top = b.max(ends[0], nlo), b.max(ends[1], top)
    finite = b.mand(b.olt(b.abs(lo), INF), b.olt(b.abs(hi), INF))
    return b.select(finite, nlo, INF), b.select(finite, top, INF)


def level_at_points(b, x: Pair, table: Any) -> Any:
    """The status of the table on x, by the points between pieces that x meets."""
    def look(i: Any) -> list[Any]:
        end = _element(b, table.ends, i)
        met = b.mand(b.ole(x.lo(b), end), b.ole(end, x.hi))
        return [b.select(met, b.neg(_element(b, table.levels, i)), -3.0)]
    return b.neg(_largest(b, table.count, look)[0])


def estimate_spline(b, x: Any, table: Any) -> Any:
    """The value at a point, rounded as it comes; NaN outside the domain."""
    def look(i: Any) -> list[Any]:
        here = b.mand(b.ole(_element(b, table.starts, i), x), b.olt(x, _element(b, table.ends, i)))
        return _where(b, here, *(_element(b, a, i) for a in (table.anchors, *(upper for _, upper in table.coefficients))))
    anchor, *coefficients = _largest(b, table.count, look)
    u, value = b.sub(x, anchor), coefficients[-1]
    for c in coefficients[-2::-1]:
        value = b.fma(value, u, c)
    inside = b.olt(b.abs(x), INF)
    if table.domain is not None:
        low, high = table.domain
        inside = b.mand(b.oge(x, low), b.ole(x, high))
    return b.select(inside, value, nan)


# ---- reading the table
def _element(b, array: Any, i: Any) -> Any:
    """The element of an array of the table: data of the kernel, not of its code."""
    return b.data(b.place("uadd", b.constants.offset(array), i))


def _pieces(b, table: Any, i: Any) -> list[Any]:
    """What there is to know of the coefficients of a piece: the double, or minus the lower end and the upper end."""
    found = []
    for lower, upper in table.coefficients:
        value = _element(b, upper, i)
        found += [value] if lower is upper else [b.neg(_element(b, lower, i)), value]
    return found


def _both_ends(b, table: Any, known: list[Any]) -> list[Any]:
    """Minus the lower ends and the upper ends of all coefficients, from what `_pieces` found."""
    found, known = [], list(known)
    for lower, upper in table.coefficients:
        value = known.pop(0)
        found += [b.neg(value), value] if lower is upper else [value, known.pop(0)]
    return found


def _where(b, mask: Any, *values: Any) -> list[Any]:
    return [b.select(mask, v, -INF) for v in values]


def _largest(b, count: int, look: Callable[[Any], list[Any]]) -> list[Any]:
    """The largest of each of the values that `look` finds in the pieces: exact, in whatever order."""
    if count <= _WRITTEN_OUT:
        rows = [look(i) for i in range(count)]
        found = rows[0]
        for row in rows[1:]:
            found = _larger(b, found, row)
        return found
    with b.loop(count) as turn:
        values = look(turn.index)
        step = b.step((-INF,) * len(values), tuple(values), _larger)
    return list(step.results)


def _larger(b, left: Any, right: Any) -> list[Any]:
    return [b.max(p, q) for p, q in zip(left, right, strict=True)]


# ---- one polynomial
def _range(b, lower: Any, upper: Any, anchor: Any, *ends: Any) -> tuple[Any, Any]:
    """What a polynomial in x - anchor takes on between the two points."""
    c = [Pair(*ends[k:k + 2]) for k in range(0, len(ends), 2)]
    k = len(c) - 1
    u = Pair(b.sub(anchor, lower), b.sub(lower, anchor))
    for j in range(k):
        for i in range(k - 1, j - 1, -1):
            c[i] = add(b, c[i], mul(b, u, c[i + 1]))
    w = b.max(b.sub(upper, lower), 0.0)
    power = width = Pair(b.neg(w), w, least=0)
    for i in range(1, k + 1):
        c[i] = div(b, mul(b, c[i], power), exact(b, float(comb(k, i))))
        power = mul(b, power, width)
    nlo, hi = c[0].nlo, c[0].hi
    for j in range(1, k + 1):  # c has differences: each round moves to the next coefficient
        for i in range(k - j + 1):
            c[i] = add(b, c[i], c[i + 1])
        nlo, hi = b.max(nlo, c[0].nlo), b.max(hi, c[0].hi)
    return nlo, hi
