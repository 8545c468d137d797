"""Straight lines below and above an operation on an interval, in upward arithmetic.

Let y = p(a) for a in [l, u]. Where p is convex there, it lies above its tangent at t, whose slope is any double s near p'(t):
p(a) >= p(t) + s (a - t) - |p'(t) - s| |a - t|; and below every line of slope s that is not below it at both ends, since
p(a) - s a is convex as well. Mirrored where p is concave.

Where p is convex up to an inflection z and concave behind it, p(a) - s a is at least what a tangent at some t <= z says about
the part before z, and what it is at u for the part behind: a concave function is least at an end, and z belongs to both parts.
The line is best where it touches p at t and meets it at u. Such a t is only estimated: it makes the line better, not truer.
Mirrored for the line above, and where p is concave first.

Elsewhere, where p is Lipschitz with derivatives in D, for s in D

    |p(a) - p(t) - s (a - t)| <= max |D - s| |a - t|.

The natural enclosure of y is a line of slope 0 and is taken where it is better in the middle, or the others are not finite.

Proof: docs/proofs/linear_bounds.md.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from infimum.interval.arithmetic import mul
from infimum.interval.pair import DEFINED, INF, LIPSCHITZ, SMOOTH, Pair, b_level
from infimum.ops.operation import Inflection
from infimum.ops.vocabulary import OPS

# functions of one number that are no operations: an operation of two numbers, convex in the first, the second of them 0
HINGES: dict[str, str] = {"relu": "max", "softplus": "logaddexp"}
# what has straight lines below and above it: curves whose record tells how they bend
SMOOTH_CURVES = frozenset(name for name, row in OPS.items() if row.arity == 1 and row.curvature is not None) | HINGES.keys()


class LinePair(NamedTuple):
    """y >= slope a - nlo below, y <= slope a + hi above."""

    slope_below: Any
    nlo: Any
    slope_above: Any
    hi: Any


class Curve(NamedTuple):
    """A function of one number: its enclosure; that of its derivative, from the argument and the value; 1, -1 if it is convex or
    concave everywhere, else the enclosure of its second derivative; and its inflection, if it has one."""

    value: Callable[[Pair], Pair]
    slope: Callable[[Pair, Pair], Pair]
    curvature: "int | Callable[[Pair, Pair], Pair]"
    inflection: Inflection | None = None


def _point(b, v: Any) -> Pair:
    return Pair(b.neg(v), v, point=v)


def _middle(b, p: Pair) -> Any:
    return b.sub(b.mul(0.5, p.hi), b.mul(0.5, p.nlo))


def middle_of(b, a: Pair) -> Any:
    """About the middle of an interval."""
    return b.add(b.mul(a.lo(b), 0.5), b.mul(a.hi, 0.5))


def at_ends(b, curve: Curve, a: Pair) -> tuple[Pair, Pair]:
    """The curve at both ends of an interval."""
    return curve.value(_point(b, a.lo(b))), curve.value(_point(b, a.hi))


def lines_of(b, curve: Curve, a: Pair, y: Pair, t: Any, known: tuple[Pair, Pair] | None = None) -> LinePair:
    """Lines for y = curve(a), those that are tangents at t, or at the end of a that is closest to it. What the curve is at the
    ends of a may be known."""
    lo, hi = a.lo(b), a.hi
    t = b.min(b.max(t, lo), hi)
    at_lo, at_hi = known or at_ends(b, curve, a)
    level = b_level(b, y.level)
    defined = b.mand(b.oge(level, float(DEFINED)), b.olt(b.sub(hi, lo), INF))  # 0 times infinity is nothing to compare with
    for p in (at_lo, at_hi):
        defined = b.mand(defined, b.ogt(p.hi, -INF))
    q = _finite(b, b.div(b.sub(_middle(b, at_hi), _middle(b, at_lo)), b.sub(hi, lo)))
    ends = _CurveEnds(lo, hi, at_lo, at_hi, q, t)
    found = (_lines_by_inflection if curve.inflection is not None else _lines_by_curvature)(b, curve, a, y, ends, defined)
    below = _or_constant(b, found[0], found[1], t, y.nlo, -1.0)
    above = _or_constant(b, found[0], found[2], t, y.hi, 1.0)
    return LinePair(*below, *above)


class _CurveEnds(NamedTuple):
    """The ends of the argument, the curve there, about the slope between them, and the point for tangents."""

    lo: Any
    hi: Any
    at_lo: Pair
    at_hi: Pair
    secant: Any
    t: Any


def _lines_by_curvature(b, curve: Curve, a: Pair, y: Pair, ends: _CurveEnds, defined: Any) -> tuple[Any, tuple[Any, Any],
                                                                                                    tuple[Any, Any]]:
    """Whether there are lines, and slope and rest of that below and that above: a tangent and a secant where the curve is convex
    or concave, else two that are parallel."""
    lo, hi, at_lo, at_hi, q, t = ends
    at_t = curve.value(_point(b, t))
    defined = b.mand(defined, b.ogt(at_t.hi, -INF))
    level = b_level(b, y.level)
    convex, concave = _curves_both_ways(b, curve, a, y, defined)
    far = b.max(b.sub(hi, t), b.sub(t, lo))
    s, tangent_nlo, tangent_hi = _tangent(b, curve, at_t, t, far)
    secant_nlo = b.max(b.fma(q, lo, at_lo.nlo), b.fma(q, hi, at_hi.nlo))
    secant_hi = b.max(b.fma(b.neg(q), lo, at_lo.hi), b.fma(b.neg(q), hi, at_hi.hi))
    if isinstance(curve.curvature, int):
        tangent, secant = (s, tangent_nlo if curve.curvature > 0 else tangent_hi), (q, secant_hi if curve.curvature > 0
                                                                                    else secant_nlo)
        return defined, *((tangent, secant) if curve.curvature > 0 else (secant, tangent))
    whole = curve.slope(a, y)
    r = _finite(b, _middle(b, whole))
    spread = b.mul(b.max(b.sub(whole.hi, r), b.add(whole.nlo, r)), far)
    usable = b.mor(b.mor(convex, concave), b.mand(defined, b.oge(level, float(LIPSCHITZ))))
    below = (b.select(convex, s, b.select(concave, q, r)),
             b.select(convex, tangent_nlo, b.select(concave, secant_nlo, b.add(b.fma(r, t, at_t.nlo), spread))))
    above = (b.select(convex, q, b.select(concave, s, r)),
             b.select(convex, secant_hi, b.select(concave, tangent_hi, b.add(b.fma(b.neg(r), t, at_t.hi), spread))))
    return usable, below, above


def _lines_by_inflection(b, curve: Curve, a: Pair, y: Pair, ends: _CurveEnds, defined: Any) -> tuple[Any, tuple[Any, Any],
                                                                                                     tuple[Any, Any]]:
    """The same by the inflection of the curve."""
    zero = b.const(0.0)
    turn: Any = float(curve.inflection.turn)
    z, known = (zero, zero), defined
    if curve.inflection.place is not None:
        *z, turn, known = curve.inflection.place(b, a)
        known = b.mand(defined, known)
    below, above = (_under(b, curve, ends, z, side, mirrored) for side, mirrored in
                    ((turn, False), (b.neg(turn) if not isinstance(turn, float) else -turn, True)))
    usable = b.mand(known, b.mand(below[2], above[2]))
    return usable, below[:2], above[:2]


def _under(b, curve: Curve, ends: _CurveEnds, z: tuple[Any, Any], side: Any, mirrored: bool) -> tuple[Any, Any, Any]:
    """A line below P(v) = p(side v), or -p(side v) if it is `mirrored`, which is convex before side z and concave behind it:
    its slope by `side v`, what it adds, and where it is one. z: minus its lower end, and its upper end."""
    def turned(v: Any) -> Any:
        return v if side == 1.0 else b.neg(v) if side == -1.0 else b.mul(side, v)

    def either(plain: Any, other: Any) -> Any:
        return plain if side == 1.0 else other if side == -1.0 else b.select(b.ogt(side, 0.0), plain, other)

    def below(p: Pair) -> Any:
        return p.hi if mirrored else p.nlo
    lo, hi = either(ends.lo, b.neg(ends.hi)), either(ends.hi, b.neg(ends.lo))
    nlo_at_lo = either(below(ends.at_lo), below(ends.at_hi))
    nlo_at_hi = either(below(ends.at_hi), below(ends.at_lo))
    z_lo, z_hi = either(b.neg(z[0]), b.neg(z[1])), either(z[1], z[0])
    q = turned(b.neg(ends.secant) if mirrored else ends.secant)  # the slope by v
    behind, across = b.oge(lo, z_hi), b.mand(b.olt(lo, z_lo), b.ogt(hi, z_lo))
    far = b.sub(hi, z_lo)
    inflection = curve.inflection
    reach = b.mul(inflection.ratio, far)
    if inflection.falls:
        reach = b.div(reach, b.sqrt(b.fma(b.mul(inflection.falls, far), far, 1.0)))
    touch = b.sub(z_lo, reach)
    t = b.select(across, b.min(b.max(touch, lo), z_lo), turned(ends.t))
    at_t = curve.value(_point(b, turned(t)))
    slope = curve.slope(_point(b, turned(t)), at_t)
    slope = Pair(*(either(v, w) for v, w in ((slope.nlo, slope.hi), (slope.hi, slope.nlo))))
    slope = Pair(slope.hi, slope.nlo) if mirrored else slope
    s = _finite(b, b.select(b.mor(behind, b.mand(across, b.ole(touch, lo))), q, _middle(b, slope)))
    last = b.min(hi, z_hi)
    # the tangent at t, seen from the ends of the convex part
    blur = b.max(b.mul(b.max(b.sub(slope.hi, s), 0.0), b.sub(t, lo)), b.mul(b.max(b.add(slope.nlo, s), 0.0), b.sub(last, t)))
    touching = b.add(b.fma(s, t, below(at_t)), blur)
    at_end = b.fma(s, hi, nlo_at_hi)
    nlo = b.select(behind, b.max(b.fma(s, lo, nlo_at_lo), at_end), b.select(across, b.max(touching, at_end), touching))
    usable = b.mor(behind, b.mor(across, b.ole(hi, z_lo)))
    usable = b.mand(usable, b.mor(behind, b.ogt(at_t.hi, -INF)))
    return turned(b.neg(s) if mirrored else s), nlo, usable


def touching(b, curve: Curve, a: Pair, y: Pair, t: Any) -> tuple[Any, Any, Any]:
    """The tangent at a point t of a, where y = curve(a) is convex or concave: its slope, and what it adds below, or above; the
    other one is infinite."""
    level, at_t = b_level(b, y.level), curve.value(_point(b, t))
    convex, concave = _curves_both_ways(b, curve, a, y, b.mand(b.oge(level, float(DEFINED)), b.ogt(at_t.hi, -INF)))
    slope, nlo, hi = _tangent(b, curve, at_t, t, b.max(b.sub(a.hi, t), b.sub(t, a.lo(b))))
    return slope, b.select(convex, nlo, INF), b.select(b.mand(concave, b.mnot(convex)), hi, INF)


def _curves_both_ways(b, curve: Curve, a: Pair, y: Pair, defined: Any) -> tuple[Any, Any]:
    """Where the curve is known to be convex, and concave."""
    if isinstance(curve.curvature, int):
        return tuple(b.mand(defined, b.ogt(float(side * curve.curvature), 0.0)) for side in (1, -1))
    second, smooth = curve.curvature(a, y), b.mand(defined, b.oge(b_level(b, y.level), float(SMOOTH)))
    return b.mand(smooth, b.ole(second.nlo, 0.0)), b.mand(smooth, b.ole(second.hi, 0.0))


def _tangent(b, curve: Curve, at_t: Pair, t: Any, far: Any) -> tuple[Any, Any, Any]:
    """About the tangent at t: its slope, and what it adds below and above, for arguments that are so far at most."""
    d = curve.slope(_point(b, t), at_t)
    s = _finite(b, _middle(b, d))
    blur = b.mul(b.max(b.sub(d.hi, s), b.add(d.nlo, s)), far)
    return s, b.add(b.fma(s, t, at_t.nlo), blur), b.add(b.fma(b.neg(s), t, at_t.hi), blur)


def _finite(b, v: Any) -> Any:
    return b.select(b.olt(b.abs(v), INF), v, 0.0)


def _or_constant(b, usable: Any, line: tuple[Any, Any], t: Any, end: Any, side: float) -> tuple[Any, Any]:
    """The line, or the end of the enclosure where that is better in the middle, or the line is none."""
    slope, rest = line
    there = b.add(rest, b.mul(b.mul(slope, side), t))  # minus the lower line, or the upper one, in the middle
    use = b.mand(b.mand(usable, b.mand(b.olt(b.abs(slope), INF), b.olt(b.abs(rest), INF))), b.ole(there, end))
    return b.select(use, slope, 0.0), b.select(use, rest, end)


# ---- multiples of lines: at least factor · y, for every factor in an interval

def through_product(b, *given: Any) -> tuple[Any, ...]:
    """What factor · a b is at least: (multiple of a, multiple of b) as pairs, and minus the constant. The planes are those that
    meet the product along two sides of the box: (a - l)(b - m) >= 0 and its like."""
    factor, a, c, y = (Pair(*given[k:k + 2]) for k in range(0, 8, 2))
    first = b.ogt(given[8], 0.0)
    positive, negative = b.ole(factor.nlo, 0.0), b.ole(factor.hi, 0.0)
    beta = b.select(first, a.lo(b), a.hi)
    alpha = b.select(b.mor(b.mand(positive, first), b.mand(b.mnot(positive), b.mnot(first))), c.lo(b), c.hi)
    finite = b.mand(b.olt(b.abs(alpha), INF), b.olt(b.abs(beta), INF))
    use = b.mand(b.mor(positive, negative), finite)
    one, other = mul(b, factor, _point(b, alpha)), mul(b, factor, _point(b, beta))
    corner = mul(b, _point(b, alpha), _point(b, beta))
    rest = mul(b, factor, Pair(corner.hi, corner.nlo)).nlo
    opaque = mul(b, factor, y).nlo
    return (*(b.select(use, end, 0.0) for p in (one, other) for end in (p.nlo, p.hi)), b.select(use, rest, opaque))


def _middles(b, a: Pair, c: Pair, y: Pair) -> tuple[Any, Any, Any, Any]:
    """The middles of c and of a, how far (a - β)(c - α) is from 0 at most, and whether that says more than y = a c."""
    beta, alpha = _middle(b, a), _middle(b, c)
    far, away = (b.max(b.sub(p.hi, m), b.add(p.nlo, m)) for p, m in ((a, beta), (c, alpha)))
    spread = b.mul(far, away)
    centre = _middle(b, y)
    narrow = b.max(b.sub(y.hi, centre), b.add(y.nlo, centre))
    use = b.mand(b.mand(b.olt(b.abs(alpha), INF), b.olt(b.abs(beta), INF)), b.olt(spread, INF))
    return alpha, beta, spread, b.mand(use, b.mnot(b.ole(narrow, spread)))


def through_middle(b, *given: Any) -> tuple[Any, ...]:
    """The same by the plane half way between these two: with α and β in the middle of both factors,
    a b = α a + β b - α β + (a - β)(b - α), whatever the sign of the multiple; or, where the enclosure of a b is no wider than
    the last product, by that."""
    factor, a, c, y = (Pair(*given[k:k + 2]) for k in range(0, 8, 2))
    alpha, beta, spread, use = _middles(b, a, c, y)
    one, other = mul(b, factor, _point(b, alpha)), mul(b, factor, _point(b, beta))
    corner = mul(b, _point(b, alpha), _point(b, beta))
    rest = b.add(mul(b, factor, Pair(corner.hi, corner.nlo)).nlo, b.mul(b.max(b.abs(factor.nlo), b.abs(factor.hi)), spread))
    opaque = mul(b, factor, y).nlo
    return (*(b.select(use, end, 0.0) for p in (one, other) for end in (p.nlo, p.hi)), b.select(use, rest, opaque))


def middle_planes(b, *given: Any) -> tuple[Any, ...]:
    """α, β, and the ends of r in a c = α a + β c - α β + r, for numbers in two intervals and the enclosure of their product: α
    and β are about the middles of c and of a, or 0 where r is no narrower than the product."""
    a, c, y = (Pair(*given[k:k + 2]) for k in range(0, 6, 2))
    alpha, beta, spread, use = _middles(b, a, c, y)
    unsound = b.mor(b.uno(y.nlo, y.hi), b.mor(b.oeq(y.nlo, -INF), b.oeq(y.hi, -INF)))
    ends = (b.select(use, spread, b.select(unsound, INF, end)) for end in (y.nlo, y.hi))
    return b.select(use, alpha, 0.0), b.select(use, beta, 0.0), *ends


def through_curve(b, *given: Any) -> tuple[Any, ...]:
    """What factor · y is at least, by the lines of y: the multiple of its argument as a pair, and minus the constant."""
    factor, y = Pair(*given[:2]), Pair(*given[6:8])
    lines = LinePair(*given[2:6])
    positive, negative = b.ole(factor.nlo, 0.0), b.ole(factor.hi, 0.0)
    below, above = (mul(b, factor, _point(b, slope)) for slope in (lines.slope_below, lines.slope_above))
    low, high = mul(b, factor, Pair(lines.nlo, b.neg(lines.nlo))).nlo, mul(b, factor, _point(b, lines.hi)).nlo
    known = b.select(positive, b.abs(lines.nlo), b.abs(lines.hi))
    use = b.mand(b.mor(positive, negative), b.olt(known, INF))
    ends = (b.select(positive, *pair) for pair in ((below.nlo, above.nlo), (below.hi, above.hi)))
    return (*(b.select(use, end, 0.0) for end in ends), b.select(use, b.select(positive, low, high), mul(b, factor, y).nlo))
