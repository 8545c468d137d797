"""What each operation of `ops.vocabulary` means on intervals: one function a row, in upward-rounded primitives on (-lo, hi)."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from infimum.interval.arithmetic import absolute, add, call, div, mul, neg, powi, sub
from infimum.interval.pair import (
    DEFINED,
    INF,
    LIPSCHITZ,
    POLE,
    SMOOTH,
    UNDEFINED,
    Pair,
    absorb,
    b_level,
    cut,
    is_empty,
    lowest,
    where_level,
)
from infimum.support.lazy import LazyModule

if TYPE_CHECKING:
    from infimum.interval import real_power, spline
    from infimum.interval.elementary import trigonometric
else:
    real_power, spline = LazyModule("interval.real_power"), LazyModule("interval.spline")
    trigonometric = LazyModule("interval.elementary.trigonometric")

# ---- functions defined everywhere

def _total(name: str, **facts: int) -> Callable:
    def rule(b, x: Pair) -> Pair:
        nlo, hi = call(b, name, x)
        return absorb(b, Pair(nlo, hi, x.level, **facts), x)
    return rule


def _of_both(at: int) -> Callable:
    """sin and cos of the same argument, where a kernel needs both: one function computes them together."""
    def rule(b, x: Pair) -> Pair:
        ends = b.outline("enclose_sincos", trigonometric.enclose_sincos, x.nlo, x.hi)
        return absorb(b, Pair(ends[at], ends[at + 1], x.level, unit=True), x)
    return rule


def _cbrt(b, x: Pair) -> Pair:
    nlo, hi = call(b, "cbrt", x)
    away = b.mor(b.olt(x.nlo, 0.0), b.olt(x.hi, 0.0))
    return absorb(b, Pair(nlo, hi, lowest(b, x.level, where_level(b, away, SMOOTH, DEFINED)), least=x.least, most=x.most), x)


def _tan(b, x: Pair) -> Pair:
    nlo, hi = call(b, "tan", x)
    pole = b.mor(b.oeq(nlo, INF), b.oeq(hi, INF))
    return absorb(b, Pair(nlo, hi, lowest(b, x.level, where_level(b, pole, POLE, SMOOTH))), x)


# ---- functions with an edge

@dataclass(frozen=True, slots=True)
class Edge:
    """One end of a domain: its place, and whether the function is defined there."""

    at: float
    closed: bool


def _partial(name: str, low: Edge | None, high: Edge | None, **facts: int) -> Callable:
    """A function on [low, high]: the argument is cut to the domain, what lies outside clears the status."""
    def rule(b, x: Pair, **params: int) -> Pair:
        nlo, hi, level, outside, point = x.nlo, x.hi, x.level, [], x.point
        if low is not None:
            level = lowest(b, level, _edge_level(b, b.neg(nlo), low, b.olt, b.oge(hi, low.at)))
            outside.append((b.olt if low.closed else b.ole)(hi, low.at))
            nlo = b.min(nlo, -low.at)
        if high is not None:
            level = lowest(b, level, _edge_level(b, hi, high, b.ogt, b.ole(b.neg(x.nlo), high.at)))
            outside.append((b.ogt if high.closed else b.oge)(b.neg(x.nlo), high.at))
            hi = b.min(hi, high.at)
        # lanes outside the domain are emptied below; meanwhile they compute on an end of it
        nlo, hi = (nlo if high is None else b.max(nlo, -high.at)), (hi if low is None else b.max(hi, low.at))
        if point is not None:  # is cut as well; between two edges, what is no number is cut to all between them
            point = None if low is None or high is not None else b.max(point, low.at)
        inside = x.but(nlo=nlo, hi=hi, point=point)
        nlo, hi = _ENDS[name](b, inside, **params) if name in _ENDS else call(b, name, inside)
        empty = [*outside, *([is_empty(b, x)] if x.may_be_empty else [])]
        return cut(b, Pair(nlo, hi, level, **facts), *empty)
    return rule


def _edge_level(b, end: Any, edge: Edge, beyond: Callable, reached: Any) -> Any:
    """Inside: smooth. On the edge: defined if it belongs to the domain, else a pole, also where the box reaches it from beyond.
    Beyond: undefined."""
    level = where_level(b, b.oeq(end, edge.at), DEFINED if edge.closed else POLE, SMOOTH)
    return where_level(b, beyond(end, edge.at), UNDEFINED if edge.closed else where_level(b, reached, POLE, UNDEFINED), level)


def sqrt_ends(b, x: Pair) -> tuple[Any, Any]:
    """The tightest doubles: the upward root steps down by one where its square exceeds the argument."""
    lo = b.abs(b.max(x.lo(b), 0.0))
    root = b.sqrt(lo)
    below = b.float(b.isub(b.bits(root), 1))
    too_large = b.ogt(b.fma(root, root, b.neg(lo)), 0.0)
    return b.neg(b.select(too_large, below, root)), b.sqrt(b.abs(b.max(x.hi, 0.0)))


def _polygamma_ends(b, x: Pair, m: int) -> tuple[Any, Any]:
    from infimum.interval.elementary.gamma import enclose_polygamma

    return enclose_polygamma(b, x.nlo, x.hi, m)


# those that are no plain elementary function
_ENDS: dict[str, Callable] = {"sqrt": sqrt_ends, "polygamma": _polygamma_ends,
                              "spline": lambda b, x, **params: spline.enclose_spline(b, x, **params)}


def _sqrt(b, x: Pair) -> Pair:
    if x.least == 1:
        nlo, hi = sqrt_ends(b, x)
        return absorb(b, Pair(nlo, hi, x.level, least=1), x)
    return _SQRT(b, x)


_SQRT = _partial("sqrt", Edge(0.0, True), None, least=0)


def norm_root(b, squares: Pair) -> Pair:
    """The square root at the end of a norm: Lipschitz even at 0, where `squares` (of the same level as its terms) is >= 0."""
    nlo, hi = sqrt_ends(b, squares)
    away = b.olt(squares.nlo, 0.0)
    return absorb(b, Pair(nlo, hi, lowest(b, squares.level, where_level(b, away, SMOOTH, LIPSCHITZ)), least=0), squares)


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


def _logaddexp(b, x: Pair, y: Pair) -> Pair:
    nlo, hi = call(b, "logaddexp", x, y)
    return absorb(b, Pair(nlo, hi, lowest(b, x.level, y.level)), x, y)


def _spline(b, x: Pair, table: Any) -> Pair:
    """Of the status of the argument, and that of the table at the points between its pieces."""
    edges = (None, None) if table.domain is None else (Edge(end, True) for end in table.domain)
    value = _partial("spline", *edges)(b, x, table=table)
    return value if table.levels is None else value.but(level=lowest(b, value.level, spline.level_at_points(b, x, table)))


# ---- steps and choices

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


def _ceil(b, x: Pair) -> Pair:
    return neg(b, _floor(b, neg(b, x)))


def _rint(b, x: Pair) -> Pair:
    """Constant where both ends are less than 1/2 away from the integer they share; these distances are exact."""
    lo = x.lo(b)
    down, up = b.roundeven(lo), b.roundeven(x.hi)
    within = b.mand(b.olt(b.sub(down, lo), 0.5), b.olt(b.sub(x.hi, up), 0.5))
    return absorb(b, Pair(b.neg(down), up, _step_level(b, x, b.mand(b.oeq(down, up), within)), whole=1), x)


def _max(b, x: Pair, y: Pair) -> Pair:
    apart = b.mor(b.olt(x.hi, y.lo(b)), b.olt(y.hi, x.lo(b)))
    level = lowest(b, x.level, y.level, where_level(b, apart, SMOOTH, LIPSCHITZ))
    facts = {"least": max(x.least, y.least), "most": max(x.most, y.most), "unit": x.unit and y.unit,
             "whole": x.whole if x.whole == y.whole else 0}
    return absorb(b, Pair(b.min(x.nlo, y.nlo), b.max(x.hi, y.hi), level, **facts), x, y)


def _min(b, x: Pair, y: Pair) -> Pair:
    return neg(b, _max(b, neg(b, x), neg(b, y)))


def _step(b, x: Pair, y: Pair) -> Pair:
    nlo = b.select(b.ogt(x.lo(b), y.hi), -1.0, 0.0)
    return Pair(nlo, b.select(b.olt(x.hi, y.lo(b)), 0.0, 1.0), least=0)


def _slope(b, x: Pair) -> Pair:
    return Pair(b.select(b.olt(x.nlo, 0.0), -1.0, 1.0), b.select(b.olt(x.hi, 0.0), -1.0, 1.0))


def _ratio(b, x: Pair, y: Pair) -> Pair:
    """x / y in [-1, 1]; all of [-1, 1] where y may be 0: the generalised gradient of a norm at 0 has every direction."""
    lo = y.lo(b)
    away = b.ogt(lo, 0.0)
    nlo, hi = (b.min(b.div(end, b.select(b.ogt(end, 0.0), lo, y.hi)), 1.0) for end in (x.nlo, x.hi))
    return Pair(b.select(away, nlo, 1.0), b.select(away, hi, 1.0))


# ---- truth

@dataclass(frozen=True, slots=True)
class Truth:
    """A test over a box: `yes` certainly true at every point, `no` certainly false; firmly so where a neighbourhood agrees."""

    yes: Any
    no: Any
    firm_yes: Any
    firm_no: Any


def decided(b, test: Truth) -> tuple[Any, Any]:
    """Where the first branch of a `where` is the one at every point of the box, and where the second is."""
    return b.mand(test.yes, b.mnot(test.no)), b.mand(test.no, b.mnot(test.yes))


def _test(b, x: Pair, y: Pair, yes: Any, no: Any, firm_yes: Any, firm_no: Any) -> Truth:
    """A comparison, of which these masks hold where x and y are defined and continuous.

    As in NumPy it is false where x or y is NaN. At a pole, where NumPy compares with an infinity or with what became of one, it
    may be either. A decision is firm only where both are continuous.
    """
    level = lowest(b, x.level, y.level)
    if isinstance(level, int) and level >= LIPSCHITZ:
        return Truth(yes, no, firm_yes, firm_no)
    level = b_level(b, level)
    defined, calm = b.oge(level, float(DEFINED)), b.oge(level, float(LIPSCHITZ))
    for operand in (x, y):
        no = b.mor(no, is_empty(b, operand)) if operand.may_be_empty else no
    return Truth(b.mand(yes, defined), b.mand(no, b.oge(level, float(UNDEFINED))), b.mand(firm_yes, calm), b.mand(firm_no, calm))


def _lt(b, x: Pair, y: Pair) -> Truth:
    below, above = b.olt(x.hi, y.lo(b)), b.ogt(x.lo(b), y.hi)
    return _test(b, x, y, below, b.oge(x.lo(b), y.hi), below, above)


def _le(b, x: Pair, y: Pair) -> Truth:
    below, above = b.olt(x.hi, y.lo(b)), b.ogt(x.lo(b), y.hi)
    return _test(b, x, y, b.ole(x.hi, y.lo(b)), above, below, above)


def _eq(b, x: Pair, y: Pair) -> Truth:
    apart = b.mor(b.olt(x.hi, y.lo(b)), b.ogt(x.lo(b), y.hi))
    same = b.mand(b.mand(b.oeq(x.lo(b), x.hi), b.oeq(y.lo(b), y.hi)), b.oeq(x.hi, y.hi))
    return _test(b, x, y, same, apart, b.olt(x.hi, -INF), apart)


def _not(b, p: Truth) -> Truth:
    return Truth(p.no, p.yes, p.firm_no, p.firm_yes)


def _and(b, p: Truth, q: Truth) -> Truth:
    return Truth(b.mand(p.yes, q.yes), b.mor(p.no, q.no), b.mand(p.firm_yes, q.firm_yes), b.mor(p.firm_no, q.firm_no))


def _or(b, p: Truth, q: Truth) -> Truth:
    return _not(b, _and(b, _not(b, p), _not(b, q)))


def _where(b, test: Truth, x: Pair, y: Pair) -> Pair:
    """The chosen branch where the test is decided, the hull of both where it is not; Empty is neutral in the hull.

    Defined where the branches that may be chosen are, whether or not the test's operands are. A chosen branch keeps its level
    where the decision is firm; else it is only defined.
    """
    hull = {}
    for end in ("nlo", "hi"):
        hull[end] = b.max(b.select(test.no, -INF, getattr(x, end)), b.select(test.yes, -INF, getattr(y, end)))
    one = where_level(b, test.yes, x.level, where_level(b, test.no, y.level, lowest(b, x.level, y.level)))
    limit = where_level(b, b.mor(test.firm_yes, test.firm_no), SMOOTH, DEFINED)
    return Pair(hull["nlo"], hull["hi"], lowest(b, one, limit), may_be_empty=x.may_be_empty or y.may_be_empty,
                least=min(x.least, y.least), most=max(x.most, y.most), whole=x.whole if x.whole == y.whole else 0)


RULES: dict[str, Callable] = {
    "add": add, "sub": sub, "mul": mul, "div": div, "neg": neg, "abs": absolute, "powi": powi,
    "sqrt": _sqrt, "cbrt": _cbrt, "pow": lambda b, x, y: real_power.real_power(b, x, y), "hypot": _hypot, "arctan2": _arctan2,
    "exp": _total("exp", least=0), "exp2": _total("exp2", least=0), "expm1": _total("expm1"),
    "sin": _total("sin", unit=True), "cos": _total("cos", unit=True), "sin with cos": _of_both(0), "cos with sin": _of_both(2),
    "tan": _tan, "arctan": _total("arctan"),
    "sinh": _total("sinh"), "cosh": _total("cosh", least=1), "tanh": _total("tanh", unit=True), "arcsinh": _total("arcsinh"),
    "log": _partial("log", Edge(0.0, False), None), "log2": _partial("log2", Edge(0.0, False), None),
    "log10": _partial("log10", Edge(0.0, False), None), "log1p": _partial("log1p", Edge(-1.0, False), None),
    "arcsin": _partial("arcsin", Edge(-1.0, True), Edge(1.0, True)),
    "arccos": _partial("arccos", Edge(-1.0, True), Edge(1.0, True), least=0),
    "arccosh": _partial("arccosh", Edge(1.0, True), None, least=0),
    "arctanh": _partial("arctanh", Edge(-1.0, False), Edge(1.0, False)),
    "erf": _total("erf", unit=True), "erfc": _total("erfc", least=0),
    "lgamma": _partial("lgamma", Edge(0.0, False), None), "polygamma": _partial("polygamma", Edge(0.0, False), None),
    "spline": _spline,
    "expit": _total("expit", least=0, unit=True), "logaddexp": _logaddexp, "xlogx": _partial("xlogx", Edge(0.0, True), None),
    "sign": _sign, "floor": _floor, "ceil": _ceil, "rint": _rint, "min": _min, "max": _max,
    "step": _step, "slope": _slope, "ratio": _ratio, "where": _where,
    "lt": _lt, "le": _le, "eq": _eq, "not": _not, "and": _and, "or": _or,
}

# reductions: the neutral element as a pair (-lo, hi), and how two are combined
NEUTRAL: dict[str, tuple[float, float]] = {
    "sum": (0.0, 0.0), "prod": (-1.0, 1.0), "amin": (-INF, INF), "amax": (INF, -INF),
}
COMBINE: dict[str, Callable] = {"sum": add, "prod": mul, "amin": _min, "amax": _max}
