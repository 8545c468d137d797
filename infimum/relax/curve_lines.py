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

POWER = "pow"  # of another exponent than a whole number: convex, or concave for exponents between 0 and 1, where it is defined
_KINKS = ("abs", "relu")  # at 0, where a tangent says less than one beside it


def lines_at(b: Builder, op: str, params: tuple, a: Pair, y: Pair, t: Value | None = None) -> LinePair:
    """The lines of y, the operation on what lies in a; tangents are those at t, or in the middle. Where an enclosure is short,
    its ends are the curve at those of a, and computed already."""
    name = name_of("lines", op, params)
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
    found = _hinge(op, 0.0) if op in HINGES else _hinge(op, _exponent(params)) if op == POWER else partials(op, params, (True,))

    def enclosed(node: Expr) -> Callable[[Pair, Pair], Pair]:
        def at(p: Pair, y: Pair) -> Pair:
            lowering = Lowering(b, _Inside(), {"u0": lambda _: p}, Data())
            lowering.elements.memo[0][found.value, ()] = y
            return whole_if_unsound(b, lowering.values([node], True)[0])
        return at

    def value(p: Pair) -> Pair:
        return RULES[HINGES[op]](b, p, exact(b, 0.0)) if op in HINGES else enclosed_curve(b, op, params, p)
    if op == POWER:
        return Curve(value, enclosed(found.first[0]), -1 if 0.0 < _exponent(params) < 1.0 else 1)
    second = found.second.get((0, 0))
    bend = (1 if op in HINGES else OPS[op].curvature) or (1 if second is None else enclosed(second))
    return Curve(value, enclosed(found.first.get(0, const(0.0))), bend, _inflection(op, params))


def name_of(what: str, op: str, params: tuple) -> str:
    """Of what a kernel has out of line for a curve."""
    return "_".join([what, op, *(f"{value}".replace("-", "m").replace(".", "p") for _, value in params)])


def enclosed_curve(b: Builder, op: str, params: tuple, a: Pair) -> Pair:
    """The curve of what lies in a."""
    return RULES[op](b, a, exact(b, _exponent(params))) if op == POWER else RULES[op](b, a, **dict(params))


def curve_at(op: str, params: tuple, at: Expr) -> Expr:
    """The curve as an expression."""
    return build(op, at, _exponent(params)) if op == POWER else build(op, at, **dict(params))


def _exponent(params: tuple) -> float:
    return dict(params)["exponent"]


@cache
def _hinge(op: str, second: float) -> Partials:
    """An operation of two numbers as a function of the first."""
    u = var("u0", ())
    value = build(HINGES.get(op, op), u, second)
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
