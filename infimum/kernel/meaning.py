"""Meanings: what the elements of an expression become in a kernel, enclosures or estimates."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

from infimum.expr.node import Expr
from infimum.interval.arithmetic import square
from infimum.interval.pair import INF, SMOOTH, Pair, b_level, both_whole, exact
from infimum.kernel.constant_data import Data
from infimum.kernel.ir import Builder, Value
from infimum.ops.powers import norm_root
from infimum.ops.rules import ESTIMATES, RULES
from infimum.ops.vocabulary import OPS

SCANS = {"cumsum": "sum", "cumprod": "prod", "cummin": "amin", "cummax": "amax"}
_PLAIN = (0.0, 1.0, -1.0, 2.0, -2.0, 0.5)  # so common that they are part of the program, not of its data


def pairwise(op: str) -> str:
    """The operation that combines two values in a reduction; a norm adds squares."""
    return "add" if op == "norm" else OPS[op].of_two


class Meaning(ABC):
    """How values are computed, combined, and carried through loops and buffers as tuples of lane values."""

    rules: dict[str, Callable]

    @abstractmethod
    def constant(self, b: Builder, data: Data, node: Expr, position: "int | Value") -> Any:
        """The element at `position` of a constant."""

    @abstractmethod
    def zero(self, b: Builder) -> Any: ...

    @abstractmethod
    def pick(self, b: Builder, mask: Value, value: Any) -> Any:
        """The value where the uniform mask holds, else 0."""

    @abstractmethod
    def combine(self, op: str) -> Callable:
        """How a reduction combines two values."""

    @abstractmethod
    def pack(self, b: Builder, value: Any, form: Any) -> tuple[Value, ...]: ...

    @abstractmethod
    def unpack(self, lanes: tuple[Value, ...], form: Any) -> Any: ...

    @abstractmethod
    def form(self, value: Any, op: str | None = None) -> Any:
        """What pack and unpack need to know; `op` names the reduction the value is carried through."""

    @abstractmethod
    def recurrence_form(self, a: Any, m: Any) -> Any:
        """The form of r = a + m * r': what holds of `a` alone need not hold of r."""

    @abstractmethod
    def lanes(self, b: Builder, value: Any) -> tuple[Value, ...]:
        """Everything a buffer must hold of the value."""

    @abstractmethod
    def common(self, one: Any, other: Any) -> Any:
        """The form that fits two values."""

    @abstractmethod
    def neutral(self, op: str, form: Any) -> tuple[float, ...]: ...

    @abstractmethod
    def nothing(self, b: Builder, op: str) -> Any:
        """The combination of no values at all: the neutral element."""

    def before(self, b: Builder, op: str, value: Any) -> Any:
        """A norm adds squares …"""
        return value

    def after(self, b: Builder, op: str, value: Any) -> Any:
        """… and ends with a square root."""
        return value


class Enclosures(Meaning):
    """Elements are Pairs: proved enclosures with their status."""

    rules = RULES

    def constant(self, b: Builder, data: Data, node: Expr, position: "int | Value") -> Pair:
        whole = data.whole(node.lo, node.hi, position)
        if node.lo is node.hi:
            if isinstance(position, int) and node.lo.flat[position] in _PLAIN:
                return exact(b, float(node.lo.flat[position]))
            value = b.data(b.place("uadd", data.offset(node.lo), position))
            low, high, nonzero = data.signs(node.lo, position)
            return Pair(b.neg(value), value, least=low, most=high, point=value, nonzero=nonzero, whole=whole)
        lo, hi = (b.data(b.place("uadd", data.offset(a), position)) for a in (node.lo, node.hi))
        return Pair(b.neg(lo), hi, least=data.signs(node.lo, position)[0], most=data.signs(node.hi, position)[1],
                    whole=whole)

    def zero(self, b: Builder) -> Pair:
        return exact(b, 0.0)

    def pick(self, b: Builder, mask: Value, value: Pair) -> Pair:
        chosen = Pair(b.select(mask, value.nlo, 0.0), b.select(mask, value.hi, 0.0), may_be_empty=value.may_be_empty,
                      least=min(value.least, 0), most=max(value.most, 0), whole=max(value.whole, 0))
        return chosen if value.level == SMOOTH else chosen.but(level=b.select(mask, b_level(b, value.level), float(SMOOTH)))

    def combine(self, op: str) -> Callable:
        return RULES[pairwise(op)]

    def form(self, value: Pair, op: str | None = None) -> Pair:
        level = value.level
        if op in ("amin", "amax") or not isinstance(level, int):
            level = None  # carried
        facts = {"least": min(value.least, 0), "most": max(value.most, 0)} if op else {}
        if op == "prod" and value.least < 0:
            facts = {"least": -1, "most": 1}  # the product of two numbers <= 0 is >= 0
        unit, extreme = value.unit and op in (None, "prod", "amin", "amax"), op in (None, "amin", "amax")
        whole = value.whole if extreme or op in ("sum", "prod") and value.whole > 0 else 0
        return value.but(nlo=None, hi=None, point=None, zero=False, unit=unit, whole=whole, level=level, **facts)

    def recurrence_form(self, a: Pair, m: Pair) -> Pair:
        form, other = self.form(a, "sum"), self.form(m, "prod")
        signs = {} if m.least >= 0 else {"least": -1, "most": 1}
        level = None if form.level is None or other.level is None else min(form.level, other.level)
        return form.but(level=level, may_be_empty=a.may_be_empty or m.may_be_empty, whole=both_whole(form, other), **signs)

    def pack(self, b: Builder, value: Pair, form: Pair) -> tuple[Value, ...]:
        ends = (value.nlo, value.hi)
        return ends if form.level is not None else (*ends, b_level(b, value.level))

    def unpack(self, lanes: tuple[Value, ...], form: Pair) -> Pair:
        return form.but(nlo=lanes[0], hi=lanes[1], level=form.level if form.level is not None else lanes[2])

    def lanes(self, b: Builder, value: Pair) -> tuple[Value, ...]:
        return value.nlo, value.hi, b_level(b, value.level)

    def common(self, one: Pair, other: Pair) -> Pair:
        return one.but(level=one.level if one.level == other.level else None, least=min(one.least, other.least),
                       most=max(one.most, other.most), may_be_empty=one.may_be_empty or other.may_be_empty,
                       nonzero=False, unit=one.unit and other.unit, whole=one.whole if one.whole == other.whole else 0)

    def neutral(self, op: str, form: Pair) -> tuple[float, ...]:
        ends = OPS[op].neutral
        return ends if form.level is not None else (*ends, float(SMOOTH))

    def nothing(self, b: Builder, op: str) -> Pair:
        nlo, hi = OPS[op].neutral
        return Pair(b.const(nlo), b.const(hi)) if hi in (INF, -INF) else exact(b, hi)

    def before(self, b: Builder, op: str, value: Pair) -> Pair:
        return square(b, value) if op == "norm" else value

    def after(self, b: Builder, op: str, value: Pair) -> Pair:
        return norm_root(b, value) if op == "norm" else value


class Estimates(Meaning):
    """Elements are doubles: the function at a point, rounded somehow. Never a proof."""

    rules = ESTIMATES

    def constant(self, b: Builder, data: Data, node: Expr, position: "int | Value") -> Value:
        if isinstance(position, int) and node.lo.flat[position] in _PLAIN:
            return b.const(float(node.lo.flat[position]))
        return b.data(b.place("uadd", data.offset(node.lo), position))

    def zero(self, b: Builder) -> Value:
        return b.const(0.0)

    def pick(self, b: Builder, mask: Value, value: Value) -> Value:
        return b.select(mask, value, 0.0)

    def combine(self, op: str) -> Callable:
        return ESTIMATES[pairwise(op)]

    def form(self, value: Value, op: str | None = None) -> None:
        return None

    def recurrence_form(self, a: Value, m: Value) -> None:
        return None

    def pack(self, b: Builder, value: Value, form: None) -> tuple[Value, ...]:
        return (value,)

    def unpack(self, lanes: tuple[Value, ...], form: None) -> Value:
        return lanes[0]

    def lanes(self, b: Builder, value: Value) -> tuple[Value, ...]:
        return (value,)

    def common(self, one: None, other: None) -> None:
        return None

    def neutral(self, op: str, form: None) -> tuple[float, ...]:
        return OPS[op].neutral[1:]

    def nothing(self, b: Builder, op: str) -> Value:
        return b.const(OPS[op].neutral[1])

    def before(self, b: Builder, op: str, value: Value) -> Value:
        return b.mul(value, value) if op == "norm" else value

    def after(self, b: Builder, op: str, value: Value) -> Value:
        return b.sqrt(value) if op == "norm" else value
