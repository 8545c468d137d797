"""Step functions, splines, extrema, and the generalised derivatives of kinks."""

from functools import partial
from typing import TYPE_CHECKING, Any

from infimum.interval.arithmetic import neg
from infimum.interval.pair import DEFINED, INF, LIPSCHITZ, SMOOTH, Pair, absorb, lowest, where_level
from infimum.ops.arithmetic import quotient_derivative
from infimum.ops.operation import Edge, Obstacle, Operation
from infimum.ops.rule_forms import Ends, constant, partial_rule, primitive, three_ways, unless_nan, whole_within
from infimum.support.lazy import LazyModule

if TYPE_CHECKING:
    from infimum.interval import spline
else:
    spline = LazyModule("interval.spline")


# ---- enclosures
def _sign(b, x: Pair) -> Pair:
    lo = x.lo(b)
    down, up = (b.select(b.ogt(end, 0.0), 1.0, b.select(b.olt(end, 0.0), -1.0, 0.0)) for end in (lo, x.hi))
    away = b.mor(b.ogt(lo, 0.0), b.olt(x.hi, 0.0))
    return absorb(b, Pair(b.neg(down), up, _step_level(b, x, away), whole=1), x)


def _step_level(b, x: Pair, constant: Any) -> Any:
    """A step function: smooth where it is constant on a neighbourhood (which needs a continuous argument), else defined."""
    level = x.level
    if not isinstance(level, int):
        level = where_level(b, b.oge(level, float(LIPSCHITZ)), SMOOTH, b.min(level, float(DEFINED)))
    elif level < LIPSCHITZ:
        return level
    return lowest(b, level, where_level(b, constant, SMOOTH, DEFINED))


def _floor(b, x: Pair) -> Pair:
    lo = x.lo(b)
    down, up = b.floor(lo), b.floor(x.hi)
    constant = b.mand(b.oeq(down, up), b.olt(down, lo))
    return absorb(b, Pair(b.neg(down), up, _step_level(b, x, constant), whole=1), x)


def _rint(b, x: Pair) -> Pair:
    """Constant where both ends are less than 1/2 away from the integer they share; these distances are exact."""
    lo = x.lo(b)
    down, up = b.roundeven(lo), b.roundeven(x.hi)
    within = b.mand(b.olt(b.sub(down, lo), 0.5), b.olt(b.sub(x.hi, up), 0.5))
    return absorb(b, Pair(b.neg(down), up, _step_level(b, x, b.mand(b.oeq(down, up), within)), whole=1), x)


def _spline(b, x: Pair, table: Any) -> Pair:
    """Of the status of the argument, and that of the table at the points between its pieces."""
    domain = (None, None) if table.domain is None else tuple(Edge(end, True) for end in table.domain)
    value = partial_rule("spline", domain, spline.enclose_spline)(b, x, table=table)
    return value if table.levels is None else value.but(level=lowest(b, value.level, spline.level_at_points(b, x, table)))


def _max(b, x: Pair, y: Pair) -> Pair:
    apart = b.mor(b.olt(x.hi, y.lo(b)), b.olt(y.hi, x.lo(b)))
    level = lowest(b, x.level, y.level, where_level(b, apart, SMOOTH, LIPSCHITZ))
    facts = {"least": max(x.least, y.least), "most": max(x.most, y.most), "unit": x.unit and y.unit,
             "whole": x.whole if x.whole == y.whole else 0}
    return absorb(b, Pair(b.min(x.nlo, y.nlo), b.max(x.hi, y.hi), level, **facts), x, y)


def _slope(b, x: Pair) -> Pair:
    return Pair(b.select(b.olt(x.nlo, 0.0), -1.0, 1.0), b.select(b.olt(x.hi, 0.0), -1.0, 1.0))


def _step(b, x: Pair, y: Pair) -> Pair:
    nlo = b.select(b.ogt(x.lo(b), y.hi), -1.0, 0.0)
    return Pair(nlo, b.select(b.olt(x.hi, y.lo(b)), 0.0, 1.0), least=0)


def _ratio(b, x: Pair, y: Pair) -> Pair:
    """x / y in [-1, 1]; all of [-1, 1] where y may be 0: the generalised gradient of a norm at 0 has every direction."""
    lo = y.lo(b)
    away = b.ogt(lo, 0.0)
    nlo, hi = (b.min(b.div(end, b.select(b.ogt(end, 0.0), lo, y.hi)), 1.0) for end in (x.nlo, x.hi))
    return Pair(b.select(away, nlo, 1.0), b.select(away, hi, 1.0))


# ---- inverses
def _inverse_floor(b, y: Pair, own: Pair) -> Ends:
    whole = whole_within(b, y)
    return whole.nlo, b.add(whole.hi, 1.0)


def _inverse_rint(b, y: Pair, own: Pair) -> Ends:
    whole = whole_within(b, y)
    return b.add(whole.nlo, 0.5), b.add(whole.hi, 0.5)


def smaller(b, y: Pair, own: Pair, other: Pair) -> Ends:
    """Of min(x, z) = y."""
    return y.nlo, b.select(b.ogt(b.neg(other.nlo), y.hi), y.hi, INF)


def larger(b, y: Pair, own: Pair, other: Pair) -> Ends:
    return smaller(b, neg(b, y), neg(b, own), neg(b, other))[::-1]


# ---- estimates and derivatives
def _sign_of(b, x: Any) -> Any:
    return three_ways(b, -1.0, 0.0, 1.0, x, 0.0)


def _spline_derivative(e, node, a, i):
    table = node["table"].derivative
    return None if table is None else e.times(a, e.spline(node.args[0], table=table))


_WHOLE = Obstacle("", "is an integer", jump=True)
_EQUAL = Obstacle("", "equals the other operand")
_step_record = partial(Operation, derivative=constant, status=DEFINED, whole="always")
RECORDS = (
    _step_record("sign", "-1, 0 or 1", enclose=_sign, estimate=_sign_of, numpy="sign", cost=6,
                 inverse=(lambda b, y, own: tuple(b.select(b.olt(end, 1.0), 0.0, INF) for end in (y.nlo, y.hi)),),
                 obstacle=Obstacle("", "is 0", jump=True)),
    _step_record("floor", "greatest integer <= x", enclose=_floor, estimate=primitive("floor"), inverse=(_inverse_floor,),
                 numpy="floor", cost=3, obstacle=_WHOLE),
    _step_record("ceil", "least integer >= x", enclose=lambda b, x: neg(b, _floor(b, neg(b, x))),
                 estimate=lambda b, x: b.neg(b.floor(b.neg(x))),
                 inverse=(lambda b, y, own: _inverse_floor(b, neg(b, y), own)[::-1],), numpy="ceil", cost=3, obstacle=_WHOLE),
    _step_record("rint", "nearest integer, of two equally near the even one", enclose=_rint, estimate=primitive("roundeven"),
                 inverse=(_inverse_rint,), numpy="rint", cost=3),
    Operation("spline", "the polynomial of the piece that x is in (params: table, a `SplineTable`)", enclose=_spline,
              estimate=lambda b, x, table: spline.estimate_spline(b, x, table),
              derivative=_spline_derivative, float_result=True),
    Operation("min", "the smaller", 2, enclose=lambda b, x, y: neg(b, _max(b, neg(b, x), neg(b, y))),
              estimate=lambda b, x, y: unless_nan(b, b.min(x, y), x, y),
              inverse=(smaller, smaller),
              derivative=lambda e, node, a, i: e.times(a, e.step(node.args[1 - i], node.args[i])),
              status=LIPSCHITZ, whole="kept", cost=3, obstacle=_EQUAL),
    Operation("max", "the larger", 2, enclose=_max, estimate=lambda b, x, y: unless_nan(b, b.max(x, y), x, y),
              inverse=(larger, larger),
              derivative=lambda e, node, a, i: e.times(a, e.step(node.args[i], node.args[1 - i])),
              status=LIPSCHITZ, whole="kept", cost=3, obstacle=_EQUAL),
    Operation("slope", "generalised derivative of |x|: the sign, [-1, 1] where 0 is met", enclose=_slope,
              estimate=_sign_of, derivative=constant, cost=4),
    Operation("step",
              "generalised derivative of max(x, y) by x: 1 where x > y, 0 where x < y, [0, 1] where they meet", 2,
              enclose=_step, estimate=lambda b, x, y: three_ways(b, 0.0, 0.5, 1.0, x, y),
              derivative=constant, cost=4),
    Operation("ratio", "x / y for |x| <= y, in [-1, 1] even where y = 0: derivative of a norm", 2, enclose=_ratio,
              estimate=lambda b, x, y: b.select(b.ogt(y, 0.0), b.div(x, y), 0.0),
              derivative=quotient_derivative, cost=8),
)
