"""The straight lines below and above an operation of one number (`ops/line_rules.py`), out of line in a kernel."""

from collections.abc import Callable
from functools import cache, partial

from infimum.expr.build import build
from infimum.expr.differentiate import Partials, gradient, partials
from infimum.expr.node import Expr, const, var
from infimum.interval.arithmetic import sub
from infimum.interval.elementary import NAMES, row
from infimum.interval.pair import Pair, b_level, exact
from infimum.kernel.box_conclusions import whole_if_unsound
from infimum.kernel.constant_data import Data
from infimum.kernel.ir import Builder, Value
from infimum.kernel.lowering import Lowering
from infimum.kernel.meaning import Enclosures
from infimum.ops.line_rules import HINGES, Curve, LinePair, at_ends, lines_of, middle_of
from infimum.ops.operation import Inflection
from infimum.ops.rules import RULES
from infimum.ops.vocabulary import OPS

_KINKS = ("abs", "relu")  # at 0, where a tangent says less than one beside it


def lines_at(b: Builder, op: str, params: tuple, a: Pair, y: Pair, t: Value | None = None) -> LinePair:
    """The lines of y, the operation on what lies in a; tangents are those at t, or in the middle. Where an enclosure is short,
    its ends are the curve at those of a, and computed already."""
    name = "_".join(["lines", op, *(f"{value}".replace("-", "m") for _, value in params)])
    ends = at_ends(b, curve_of(b, op, params), a) if op in NAMES and row(op).short else ()
    return LinePair(*b.outline(name, partial(_lines, op=op, params=params), a.nlo, a.hi, y.nlo, y.hi, b_level(b, y.level),
                               middle_of(b, a) if t is None else t, *(v for p in ends for v in (p.nlo, p.hi))))


def _lines(b: Builder, *given: Value, op: str, params: tuple) -> tuple[Value, ...]:
    a, y, t = Pair(*given[:2]), Pair(*given[2:4], given[4]), given[5]
    if op in _KINKS:
        t = b.select(b.oeq(t, 0.0), a.hi, t)
    known = (Pair(*given[6:8]), Pair(*given[8:])) if len(given) > 6 else None
    return tuple(lines_of(b, curve_of(b, op, params), a, y, t, known))


def hinge(b: Builder, op: str, u: Pair, v: Pair) -> tuple[Pair, Pair]:
    """u - v, and what the function of one number makes of it."""
    d = sub(b, u, v)
    return d, RULES[HINGES[op]](b, d, exact(b, 0.0))


def curve_of(b: Builder, op: str, params: tuple) -> Curve:
    """An operation of one number with its derivatives."""
    found = _hinge(op) if op in HINGES else partials(op, params, (True,))

    def enclosed(node: Expr) -> Callable[[Pair, Pair], Pair]:
        def at(p: Pair, y: Pair) -> Pair:
            lowering = Lowering(b, _Inside(), {"u0": lambda _: p}, Data())
            lowering.elements.memo[0][found.value, ()] = y
            return whole_if_unsound(b, lowering.values([node], True)[0])
        return at

    def value(p: Pair) -> Pair:
        return RULES[HINGES[op]](b, p, exact(b, 0.0)) if op in HINGES else RULES[op](b, p, **dict(params))
    second = found.second.get((0, 0))
    bend = (1 if op in HINGES else OPS[op].curvature) or (1 if second is None else enclosed(second))
    return Curve(value, enclosed(found.first.get(0, const(0.0))), bend, _inflection(op, params))


@cache
def _hinge(op: str) -> Partials:
    u = var("u0", ())
    value = build(HINGES[op], u, 0.0)
    return Partials(value, {0: gradient(value, u)}, {})


@cache
def _inflection(op: str, params: tuple) -> Inflection | None:
    found = None if op in HINGES else OPS[op].inflection
    return found(**dict(params)) if callable(found) else found


class _Inside(Enclosures):
    """Enclosures in a function out of line, which has no data: constants are written into it."""

    def constant(self, b: Builder, data: Data, node: Expr, position: int) -> Pair:
        lo, hi = (float(ends.flat[position]) for ends in (node.lo, node.hi))
        return exact(b, lo) if lo == hi else Pair(b.const(-lo), b.const(hi))
