"""Forms of rules that several operations share: most functions of one number are made by `elementary`."""

import math
from collections.abc import Callable
from typing import Any

from infimum.interval.arithmetic import call
from infimum.interval.elementary import row
from infimum.interval.pair import (
    DEFINED,
    INF,
    POLE,
    SMOOTH,
    UNDEFINED,
    Pair,
    absorb,
    cut,
    is_empty,
    lowest,
    where_level,
)
from infimum.ops.operation import Edge, Operation

Ends = tuple[Any, Any]
Domain = tuple[Edge | None, Edge | None]
EVERYWHERE: Domain = (None, None)


def elementary(name: str, meaning: str, domain: Domain = EVERYWHERE, **fields: Any) -> Operation:
    """The record of a function of one number in `interval/elementary`, smooth inside its domain, an interval. Its rules follow
    from the function, the domain and the facts `least` and `unit`, unless they are given. `inverse` is a single rule; f' may be
    given as `slope(e, x, y)`, or 1/f' as `reciprocal_slope(e, x, y)`, of the argument x and the value y."""
    status = SMOOTH if domain == EVERYWHERE else UNDEFINED
    defaults = {"numpy": name, "float_result": True, "status": status, "curvature": 0, "tangents": True, "costly_inverse": True}
    for slope, form in (("slope", factor), ("reciprocal_slope", divisor)):
        if slope in fields:
            fields["derivative"] = form(fields.pop(slope))
    made = Operation(name, meaning, inverse=(fields.pop("inverse", None),), **{**defaults, **fields})
    facts = {"least": made.least, "unit": made.unit}
    within = total(name, **facts) if domain == EVERYWHERE else partial_rule(name, domain, **facts)
    return made._replace(enclose=made.enclose or within, estimate=made.estimate or estimated(name, domain))


# ---- enclosures
def total(name: str, **facts: int) -> Callable:
    """The interval rule of an elementary function that is smooth everywhere."""
    def rule(b, x: Pair) -> Pair:
        nlo, hi = call(b, name, x)
        return absorb(b, Pair(nlo, hi, x.level, **facts), x)
    return rule


def partial_rule(name: str, domain: Domain, ends_of: Callable | None = None, **facts: int) -> Callable:
    """That of a function on a domain: the argument is cut to it, what lies outside clears the status. `ends_of(b, x, …)` encloses
    the function on what is left, if it is no elementary function of this name."""
    low, high = domain

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
        nlo, hi = call(b, name, inside) if ends_of is None else ends_of(b, inside, **params)
        empty = [*outside, *([is_empty(b, x)] if x.may_be_empty else [])]
        return cut(b, Pair(nlo, hi, level, **facts), *empty)
    return rule


def _edge_level(b, end: Any, edge: Edge, beyond: Callable, reached: Any) -> Any:
    """Inside: smooth. On the edge: defined if it belongs to the domain, else a pole, also where the box reaches it from beyond.
    Beyond: undefined."""
    level = where_level(b, b.oeq(end, edge.at), DEFINED if edge.closed else POLE, SMOOTH)
    return where_level(b, beyond(end, edge.at), UNDEFINED if edge.closed else where_level(b, reached, POLE, UNDEFINED), level)


# ---- estimates
def primitive(name: str) -> Callable:
    """That of an operation which is a primitive of kernels."""
    return lambda b, *xs: getattr(b, name)(*xs)


def unless_nan(b, value: Any, x: Any, y: Any) -> Any:
    """A comparison loses NaN (0 * inf after an overflow): it must not come out as a number."""
    return b.select(b.uno(x, y), math.nan, value)


def estimated(name: str, domain: Domain = EVERYWHERE) -> Callable:
    """The out-of-line estimate; NaN outside the domain and for NaN, so that no search takes such a point for a good one."""
    low, high = domain

    def rule(b, *xs: Any) -> Any:
        value = unless_nan(b, b.outline(f"estimate_{name}", row(name).estimate, *xs)[0], xs[0], xs[-1])
        if low is not None:
            value = b.select((b.oge if low.closed else b.ogt)(xs[0], low.at), value, math.nan)
        if high is not None:
            value = b.select((b.ole if high.closed else b.olt)(xs[0], high.at), value, math.nan)
        return value
    return rule


def three_ways(b, less: float, equal: float, greater: float, x: Any, y: Any) -> Any:
    """One of three numbers, by how x compares with y."""
    return b.select(b.olt(x, y), less, b.select(b.ogt(x, y), greater, equal))


# ---- inverses
def ends(x: Pair) -> Ends:
    return x.nlo, x.hi


def by(name: str, low: float = -INF, high: float = INF) -> Callable:
    """The inverse function, on what of Y is in its domain."""
    def rule(b, y: Pair, own: Pair) -> Ends:
        nlo, hi = y.nlo, y.hi
        if low > -INF:
            nlo, hi = b.min(nlo, -low), b.max(hi, low)
        if high < INF:
            nlo, hi = b.max(nlo, -high), b.min(hi, high)
        return call(b, name, y.but(nlo=nlo, hi=hi))
    return rule


def at_least(low: float) -> Callable:
    """Nothing but that x is at least `low`."""
    return lambda b, y, own, **params: (b.const(-low), b.const(INF))


def not_negative(b, y: Pair) -> Pair:
    return y.but(nlo=b.min(y.nlo, 0.0), hi=b.max(y.hi, 0.0))


def either_sign(b, size: Ends, own: Pair) -> Ends:
    """Where |x| is in [-nlo, hi]: the hull of both sides, or one of them where X excludes the other."""
    nlo, hi = size
    least = b.neg(nlo)
    return b.select(b.olt(own.nlo, least), nlo, hi), b.select(b.olt(own.hi, least), nlo, hi)


def whole_within(b, y: Pair) -> Pair:
    """The whole numbers in Y."""
    return Pair(b.floor(y.nlo), b.floor(y.hi))


# ---- derivatives: rules (e, node, adjoint, i), see `Operation`
def factor(slope: Callable) -> Callable:
    """y = f(x) sends back a * f'(x), for f' given as a function of e, x and y."""
    return lambda e, node, a, i: e.times(a, slope(e, node.args[0], node))


def minus_factor(slope: Callable) -> Callable:
    """The same for f' with the opposite sign."""
    return lambda e, node, a, i: e.negative(e.times(a, slope(e, node.args[0], node)))


def divisor(reciprocal: Callable) -> Callable:
    """y = f(x) sends back a / (1/f'(x)), for 1/f' given as a function of e, x and y: one division instead of two operations."""
    return lambda e, node, a, i: e.over(a, reciprocal(e, node.args[0], node))


def constant(e, node: Any, a: Any, i: int) -> None:
    """The rule of operations that are constant wherever they have a derivative."""
    return None
