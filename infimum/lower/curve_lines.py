"""The straight lines below and above an operation of one number (`interval/lines.py`), out of line in a kernel."""

from collections.abc import Callable
from functools import partial

from infimum.expr.node import Expr
from infimum.expr.partials import partials
from infimum.interval.lines import BENDS, Curve, Lines, lines_of, middle_of
from infimum.interval.pair import Pair, b_level, exact
from infimum.interval.rules import RULES
from infimum.lower.data import Data
from infimum.lower.kernel import Builder, Value
from infimum.lower.lowering import Lowering
from infimum.lower.meaning import Enclosures
from infimum.lower.proof import whole_if_unsound


def lines_at(b: Builder, op: str, params: tuple, a: Pair, y: Pair, t: Value | None = None) -> Lines:
    """The lines of y, the operation on what lies in a; tangents are those at t, or in the middle."""
    name = "_".join(["lines", op, *(f"{value}".replace("-", "m") for _, value in params)])
    return Lines(*b.outline(name, partial(_lines, op=op, params=params), a.nlo, a.hi, y.nlo, y.hi, b_level(b, y.level),
                            middle_of(b, a) if t is None else t))


def _lines(b: Builder, *given: Value, op: str, params: tuple) -> tuple[Value, ...]:
    a, y = Pair(*given[:2]), Pair(*given[2:4], given[4])
    return tuple(lines_of(b, curve_of(b, op, params), a, y, given[5]))


def curve_of(b: Builder, op: str, params: tuple) -> Curve:
    """An operation of one number with its derivatives."""
    found = partials(op, params, (True,))

    def enclosed(node: Expr) -> Callable[[Pair], Pair]:
        return lambda p: whole_if_unsound(b, Lowering(b, _Inside(), {"u0": lambda _: p}, Data()).values([node], True)[0])

    def value(p: Pair) -> Pair:
        return RULES[op](b, p, **dict(params))
    second = found.second.get((0, 0))
    bend = BENDS.get(op, 1 if second is None else enclosed(second))
    return Curve(value, enclosed(found.first[0]), bend)


class _Inside(Enclosures):
    """Enclosures in a function out of line, which has no data: constants are written into it."""

    def constant(self, b: Builder, data: Data, node: Expr, position: int) -> Pair:
        lo, hi = (float(ends.flat[position]) for ends in (node.lo, node.hi))
        return exact(b, lo) if lo == hi else Pair(b.const(-lo), b.const(hi))
