"""Trigonometric functions, their inverses, and polar coordinates."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from infimum.interval.arithmetic import call, mul, square
from infimum.interval.pair import DEFINED, INF, LIPSCHITZ, POLE, SMOOTH, UNDEFINED, Pair, absorb, cut, lowest, where_level
from infimum.ops.operation import Edge, Inflection, Obstacle, Operation
from infimum.ops.powers import leg
from infimum.ops.rule_forms import Ends, by, elementary, estimated, minus_factor, unless_nan
from infimum.support.lazy import LazyModule

if TYPE_CHECKING:
    from infimum.interval.elementary import sinc, trigonometric
else:
    sinc = LazyModule("interval.elementary.sinc")
    trigonometric = LazyModule("interval.elementary.trigonometric")

_PI = 3.141592653589793, 3.1415926535897936   # the doubles around pi
_HALF_PI = 1.5707963267948966                 # below pi / 2
_FAR = 2.0**30                                # angles up to here, and multiples of pi up to that number, are told apart
_UNIT, _OUTSIDE = (Edge(-1.0, True), Edge(1.0, True)), Obstacle("leaves [-1, 1]", "is -1 or 1")


# ---- enclosures
def _of_both(at: int) -> Callable:
    """sin and cos of the same argument, where a kernel needs both: one function computes them together."""
    def rule(b, x: Pair) -> Pair:
        ends = b.outline("enclose_sincos", trigonometric.enclose_sincos, x.nlo, x.hi)
        return absorb(b, Pair(ends[at], ends[at + 1], x.level, unit=True), x)
    return rule


def _sinc(b, x: Pair, m: int) -> Pair:
    nlo, hi = b.outline(f"enclose_sinc_{m}", sinc.enclose_sinc(m), x.nlo, x.hi)
    return absorb(b, Pair(nlo, hi, x.level, unit=True), x)


def _tan(b, x: Pair) -> Pair:
    nlo, hi = call(b, "tan", x)
    pole = b.mor(b.oeq(nlo, INF), b.oeq(hi, INF))
    return absorb(b, Pair(nlo, hi, lowest(b, x.level, where_level(b, pole, POLE, SMOOTH))), x)


def _arctan2(b, y: Pair, x: Pair) -> Pair:
    """The angle jumps at y = 0, x < 0 and is undefined at the origin, where NumPy has 0."""
    nlo, hi = call(b, "arctan2", y, x)
    meets_axis = b.mand(b.oge(y.nlo, 0.0), b.oge(y.hi, 0.0))
    origin = b.mand(meets_axis, b.mand(b.oge(x.nlo, 0.0), b.oge(x.hi, 0.0)))
    jump = b.mand(meets_axis, b.ogt(x.nlo, 0.0))
    level = where_level(b, origin, POLE, where_level(b, jump, DEFINED, SMOOTH))
    only_origin = b.mand(b.mand(b.oeq(y.nlo, 0.0), b.oeq(y.hi, 0.0)), b.mand(b.oeq(x.nlo, 0.0), b.oeq(x.hi, 0.0)))
    return absorb(b, cut(b, Pair(nlo, hi, lowest(b, x.level, y.level, level)), only_origin), x, y)


def _hypot(b, x: Pair, y: Pair) -> Pair:
    nlo, hi = call(b, "hypot", x, y)
    away = b.olt(nlo, 0.0)
    return absorb(b, Pair(nlo, hi, lowest(b, x.level, y.level, where_level(b, away, SMOOTH, LIPSCHITZ)), least=0), x, y)


# ---- inverses
def _turning(name: str, shift: float, alternates: bool) -> Callable:
    """Sine, cosine and tangent: branch j is (j - shift) pi + s, or - s for odd j where it `alternates`, for s in the inverse of
    Y.

    The first branch that ends at or behind the lower end of X holds the least x that is possible; which one that can be is known
    up to its neighbours. Upper ends are lower ends of -x.
    """
    odd = shift == 0.0

    def rule(b, y: Pair, own: Pair) -> Ends:
        nlo, hi = by(name, *((-1.0, 1.0) if alternates else ()))(b, y, own)
        mirrored = (hi, nlo) if odd else (nlo, hi)
        return first(b, b.neg(own.nlo), nlo, hi), first(b, b.neg(own.hi), *mirrored)

    def first(b, low: Any, nlo: Any, hi: Any) -> Any:
        near = b.ole(b.abs(low), _FAR)
        middle = b.floor(b.add(b.mul(b.select(near, low, 0.0), 1 / _PI[0]), 0.5 + shift))
        found: Any = b.const(INF)
        for step in (1.0, 0.0, -1.0):
            j = b.add(middle, step)
            start, swap = b.sub(j, shift), b.mnot(b.oeq(b.floor(b.mul(j, 0.5)), b.mul(j, 0.5)))
            turn = mul(b, Pair(b.neg(start), start), Pair(b.const(-_PI[0]), b.const(_PI[1]), least=1))
            one = b.select(swap, hi, nlo) if alternates else nlo
            two = b.select(swap, nlo, hi) if alternates else hi
            found = b.select(b.oge(b.add(turn.hi, two), low), b.add(turn.nlo, one), found)
        return b.select(near, found, INF)
    return rule


def _inverse_arctan(b, y: Pair, own: Pair) -> Ends:
    """Each end by itself: the tangent of an interval that holds pi / 2 is everything."""
    def end(v: Any) -> Any:
        inside = b.ole(b.abs(v), _HALF_PI)
        point = b.select(inside, v, 0.0)
        return b.select(inside, call(b, "tan", Pair(b.neg(point), point))[1], INF)
    return end(y.nlo), end(y.hi)


# ---- derivatives
def _arcsine_root(e, x, y):
    """sqrt(1 - x^2), as a product that does not cancel near 1."""
    return e.sqrt(e.mul(e.sub(1.0, x), e.add(1.0, x)))


def _arctan2_derivative(e, node, a, i):
    y, x = node.args
    distance = e.powi(e.hypot(x, y), k=2)
    return e.times(a, e.div(x, distance)) if i == 0 else e.negative(e.times(a, e.div(y, distance)))


# ---- inflections
def _wave(b, a: Pair, shift: float) -> tuple[Any, Any, Any, Any]:
    """The inflection of the sine at k pi that is closest to the middle, or of the cosine half way behind it; whether the curve is
    convex before it; and whether no other one lies inside the interval."""
    middle = b.add(b.mul(a.lo(b), 0.5), b.mul(a.hi, 0.5))
    k = b.roundeven(b.sub(b.mul(middle, 1.0 / _PI[0]), shift))
    pi = Pair(b.const(-_PI[0]), b.const(_PI[1]))

    def multiple(more: float) -> Pair:
        factor = b.add(k, shift + more)  # exact, since k is an integer, and not large where it counts
        return mul(b, Pair(b.neg(factor), factor), pi)
    z, before, behind = multiple(0.0), multiple(-1.0), multiple(1.0)
    alone = b.mand(b.oge(a.lo(b), before.hi), b.ole(a.hi, behind.lo(b)))
    odd = b.sub(k, b.mul(2.0, b.floor(b.mul(0.5, k))))
    turn = b.sub(1.0, b.mul(2.0, odd))
    return z.nlo, z.hi, turn if shift == 0.0 else b.neg(turn), b.mand(alone, b.olt(b.abs(k), _FAR))


RECORDS = (
    elementary("sin", "sine", inverse=_turning("arcsin", 0.0, True), slope=lambda e, x, y: e.cos(x),
               unit=True, inflection=Inflection(1, 0.5, 0.03, partial(_wave, shift=0.0)), taylor=(0.0, (0, 1, 0))),
    elementary("cos", "cosine", inverse=_turning("arcsin", 0.5, True),
               derivative=minus_factor(lambda e, x, y: e.sin(x)),
               unit=True, inflection=Inflection(1, 0.5, 0.03, partial(_wave, shift=0.5)), taylor=(0.0, (1, 0, -1))),
    Operation("sinc", "derivative number m of sin(x)/x, which is 1 at 0 (params: m >= 0)", enclose=_sinc,
              estimate=lambda b, x, m: unless_nan(b, sinc.estimate_sinc(b, x, m), x, x), inverse=(None,),
              derivative=lambda e, node, a, i: e.times(a, e.sinc(node.args[0], m=node["m"] + 1)),
              float_result=True, status=SMOOTH, unit=True),
    elementary("tan", "tangent, x not an odd multiple of pi/2", enclose=_tan, inverse=_turning("arctan", 0.0, False),
               slope=lambda e, x, y: e.add(1.0, e.powi(y, k=2)),
               status=UNDEFINED, obstacle=Obstacle("meets a pole", "meets a pole", pole=True)),
    elementary("arcsin", "-1 <= x <= 1", _UNIT, inverse=by("sin"), reciprocal_slope=_arcsine_root,
               inflection=Inflection(-1, 0.55), taylor=(0.0, (0, 1, 0)), obstacle=_OUTSIDE, tangents=False),
    elementary("arccos", "-1 <= x <= 1", _UNIT, inverse=by("cos"),
               derivative=lambda e, node, a, i: e.negative(e.over(a, _arcsine_root(e, node.args[0], node))),
               least=0, inflection=Inflection(1, 0.55), obstacle=_OUTSIDE, tangents=False),
    elementary("arctan", "all x", inverse=_inverse_arctan, reciprocal_slope=lambda e, x, y: e.add(1.0, e.powi(x, k=2)),
               inflection=Inflection(1, 0.5, 0.19), taylor=(0.0, (0, 1, 0))),
    Operation("arctan2", "angle of the point (y, x); not both 0", 2, enclose=_arctan2, estimate=estimated("arctan2"),
              derivative=_arctan2_derivative, numpy="arctan2", float_result=True,
              obstacle=Obstacle("and the other operand are 0", "is 0 and the other operand negative", jump=True)),
    Operation("hypot", "sqrt(x*x + y*y)", 2, enclose=_hypot, estimate=estimated("hypot"),
              inverse=(lambda b, y, own, other: leg(b, y, own, square(b, other)),) * 2,
              derivative=lambda e, node, a, i: e.times(a, e.ratio(node.args[i], node)),
              numpy="hypot", float_result=True, status=LIPSCHITZ, least=0,
              obstacle=Obstacle("", "and the other operand are 0")),
)
# by the name of the operation and of the one beside it
TOGETHER: dict[str, Operation] = {"sin with cos": RECORDS[0]._replace(enclose=_of_both(0)),
                                  "cos with sin": RECORDS[1]._replace(enclose=_of_both(2))}
