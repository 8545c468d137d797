"""Slopes: a number with its first derivatives along directions, carried from the leaves up. Estimates, no enclosures."""

from collections.abc import Callable
from typing import Any, NamedTuple

from infimum.bounds.least_squares.residual_basis import CoarseEstimates
from infimum.expr.differentiate import partials
from infimum.expr.node import Expr, is_const
from infimum.kernel.constant_data import Data
from infimum.kernel.ir import Builder, Value
from infimum.kernel.lowering import Lowering
from infimum.kernel.meaning import pairwise
from infimum.ops.vocabulary import OPS, Kind


class ValueWithSlopes(NamedTuple):
    """A value and its derivative along each direction; None where that is 0 whatever the lane."""

    value: Value
    first: tuple[Value | None, ...]


class SlopeMeaning(CoarseEstimates):
    """Elements are Sloped."""

    def __init__(self, data: Data, directions: int):
        self.data, self.plain, self.none = data, CoarseEstimates(), (None,) * directions
        self.rules = {op: self._rule(op) for op in CoarseEstimates.rules}

    def leaf(self, b: Builder, value: Value, direction: int) -> ValueWithSlopes:
        """The variable that changes along this direction alone."""
        first = list(self.none)
        first[direction] = b.const(1.0)
        return ValueWithSlopes(value, tuple(first))

    # ---- the chain rule
    def _rule(self, op: str) -> Callable:
        rule = CoarseEstimates.rules[op]
        if op in OPS and OPS[op].kind is Kind.TEST:
            return lambda b, *args: rule(b, *(a.value if isinstance(a, ValueWithSlopes) else a for a in args))
        if op == "where":
            return self._where
        return lambda b, *args, **params: self._chain(b, op, args, params)

    def _chain(self, b: Builder, op: str, args: tuple[ValueWithSlopes, ...], params: dict[str, Any]) -> ValueWithSlopes:
        values, moves = [a.value for a in args], tuple(any(d is not None for d in a.first) for a in args)
        if not any(moves):
            return ValueWithSlopes(CoarseEstimates.rules[op](b, *values, **params), self.none)
        found = partials(op.split()[0], tuple(sorted(params.items())), moves)
        leaves = {f"u{k}": lambda _, v=v: v for k, v in enumerate(values)}
        value, *factors = Lowering(b, self.plain, leaves, self.data).elements_at([found.value, *found.first.values()], ())
        first = [None] * len(self.none)
        for (k, node), factor in zip(found.first.items(), factors, strict=True):
            for i, slope in enumerate(args[k].first):
                if slope is not None:
                    first[i] = _added(b, first[i], node, factor, slope)
        return ValueWithSlopes(value, tuple(first))

    def _where(self, b: Builder, test: Value, one: ValueWithSlopes, other: ValueWithSlopes) -> ValueWithSlopes:
        first = (None if p is None and q is None else b.select(test, 0.0 if p is None else p, 0.0 if q is None else q)
                 for p, q in zip(one.first, other.first, strict=True))
        return ValueWithSlopes(b.select(test, one.value, other.value), tuple(first))

    # ---- constants and views
    def constant(self, b: Builder, data: Data, node: Expr, position: "int | Value") -> ValueWithSlopes:
        return ValueWithSlopes(self.plain.constant(b, data, node, position), self.none)

    def zero(self, b: Builder) -> ValueWithSlopes:
        return ValueWithSlopes(b.const(0.0), self.none)

    def pick(self, b: Builder, mask: Value, value: ValueWithSlopes) -> ValueWithSlopes:
        return ValueWithSlopes(b.select(mask, value.value, 0.0),
                               tuple(None if d is None else b.select(mask, d, 0.0) for d in value.first))

    # ---- through loops and buffers: all derivatives follow the value
    def combine(self, op: str) -> Callable:
        return self.rules[pairwise(op)]

    def pack(self, b: Builder, value: ValueWithSlopes, form: None) -> tuple[Value, ...]:
        return value.value, *(b.const(0.0) if d is None else d for d in value.first)

    def lanes(self, b: Builder, value: ValueWithSlopes) -> tuple[Value, ...]:
        return self.pack(b, value, None)

    def unpack(self, lanes: tuple[Value, ...], form: None) -> ValueWithSlopes:
        return ValueWithSlopes(lanes[0], tuple(lanes[1:]))

    def neutral(self, op: str, form: None) -> tuple[float, ...]:
        return OPS[op].neutral[1], *[0.0] * len(self.none)

    def nothing(self, b: Builder, op: str) -> ValueWithSlopes:
        return ValueWithSlopes(b.const(OPS[op].neutral[1]), self.none)

    def before(self, b: Builder, op: str, value: ValueWithSlopes) -> ValueWithSlopes:
        return self.rules["mul"](b, value, value) if op == "norm" else value

    def after(self, b: Builder, op: str, value: ValueWithSlopes) -> ValueWithSlopes:
        return self.rules["sqrt"](b, value) if op == "norm" else value


def _added(b: Builder, total: Value | None, node: Expr, factor: Value, slope: Value) -> Value:
    """The total so far plus factor times slope; `node` is the factor's expression, 1 and -1 multiply nothing."""
    if is_const(node, 1.0):
        return slope if total is None else b.add(total, slope)
    if is_const(node, -1.0):
        return b.neg(slope) if total is None else b.sub(total, slope)
    return b.mul(factor, slope) if total is None else b.fma(factor, slope, total)
