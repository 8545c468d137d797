"""Jets: a value with its first and second derivatives along one or two directions, carried through a program from the leaves up.

For y = p(u, v) the chain rule gives y'' = p_u u'' + p_v v'' + p_uu u'² + 2 p_uv u' v' + p_vv v'², in which squares are squares:
for a sum of squares of e it is 2 Σ (e'² + e e''), where reverse mode multiplies two enclosures of e'. What is 0 because a value
does not change along the direction is never computed. Derivatives count only where the status of the value is SMOOTH.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from infimum.expr.node import Expr, is_const
from infimum.expr.ops import OPS, Kind
from infimum.expr.partials import partials
from infimum.interval.arithmetic import add, div, mul, neg, square
from infimum.interval.pair import SMOOTH, Pair, exact
from infimum.interval.rules import RULES, norm_root
from infimum.lower.data import Data
from infimum.lower.kernel import Builder, Value
from infimum.lower.lowering import Lowering
from infimum.lower.meaning import Enclosures, Meaning


class Jet(NamedTuple):
    """A value, its first derivatives along the two directions, and the second one; None where that is 0 whatever the lane."""

    value: Pair
    first: Pair | None = None
    other: Pair | None = None
    second: Pair | None = None

    @property
    def moves(self) -> bool:
        return any(p is not None for p in self[1:])


class Jets(Meaning):
    """Elements are Jets. Their values are those of Enclosures. With one direction instead of two, `other` stays None."""

    def __init__(self, data: Data, directions: int = 1):
        self.data, self.plain, self.alone = data, Enclosures(), directions == 1
        self.rules = {op: self._rule(op) for op in RULES}

    # ---- the chain rule
    def _rule(self, op: str) -> Callable:
        rule = RULES[op]
        if op in OPS and OPS[op].kind is Kind.TEST:
            return lambda b, *args: rule(b, *(a.value if isinstance(a, Jet) else a for a in args))
        if op == "where":
            return self._where
        return lambda b, *jets, **params: self._chain(b, op, jets, params)

    def _chain(self, b: Builder, op: str, jets: tuple[Jet, ...], params: dict[str, Any], root: Callable | None = None) -> Jet:
        """An operation on jets; `root` encloses its value where that is not the operation's own rule."""
        values = [jet.value for jet in jets]
        if not any(jet.moves for jet in jets):
            return Jet((root or RULES[op])(b, *values, **params))
        if op == "div" and not jets[1].moves:  # one rounding instead of two
            return _map(lambda p: div(b, p, values[1]), jets[0])
        found = partials(op.split()[0], tuple(sorted(params.items())), tuple(jet.moves for jet in jets))
        nodes = [found.value, *found.first.values(), *found.second.values()]
        leaves = {f"u{k}": lambda _, v=v: v for k, v in enumerate(values)}
        value, *rest = Lowering(b, self.plain, leaves, self.data).elements_at(nodes, ())
        factors = [_Factor(node, _bare(pair)) for node, pair in zip(nodes[1:], rest, strict=True)]
        parts: tuple[list, ...] = ([], [], [])
        for k, factor in zip(found.first, factors, strict=False):
            for part, derivative in zip(parts, jets[k][1:], strict=True):
                part.append(factor.times(b, derivative))
        for (k, m), factor in zip(found.second, factors[len(found.first):], strict=True):
            parts[-1].append(factor.times(b, self._both(b, jets[k], jets[m], k == m)))
        return Jet(root(b, *values) if root else value, *(_total(b, part) for part in parts))

    def _both(self, b: Builder, u: Jet, v: Jet, same: bool) -> Pair | None:
        """What multiplies the second derivative by u and v: u' v' for both directions, a square where all is the same."""
        if self.alone:
            return _square(b, u.first) if same else _product(b, exact(b, 2.0), _product(b, u.first, v.first))
        once = _product(b, u.first, v.other)
        return once if same else _total(b, [once, _product(b, v.first, u.other)])

    def _where(self, b: Builder, test: Any, one: Jet, other: Jet) -> Jet:
        value, *rest = (None if p is None and q is None else RULES["where"](b, test, p or exact(b, 0.0), q or exact(b, 0.0))
                        for p, q in zip(one, other, strict=True))
        return Jet(value, *(None if p is None else _bare(p) for p in rest))

    # ---- constants, views, reductions
    def constant(self, b: Builder, data: Data, node: Expr, position: "int | Value") -> Jet:
        return Jet(self.plain.constant(b, data, node, position))

    def zero(self, b: Builder) -> Jet:
        return Jet(self.plain.zero(b))

    def nothing(self, b: Builder, op: str) -> Jet:
        return Jet(self.plain.nothing(b, op))

    def pick(self, b: Builder, mask: Value, value: Jet) -> Jet:
        return _map(lambda p: self.plain.pick(b, mask, p), value)

    def combine(self, op: str) -> Callable:
        return self.rules[{"sum": "add", "norm": "add", "prod": "mul", "amin": "min", "amax": "max"}[op]]

    def before(self, b: Builder, op: str, value: Jet) -> Jet:
        return self.rules["powi"](b, value, k=2) if op == "norm" else value

    def after(self, b: Builder, op: str, value: Jet) -> Jet:
        return self._chain(b, "sqrt", (value,), {}, root=norm_root) if op == "norm" else value

    # ---- through loops and buffers: the ends of both derivatives follow the value
    def form(self, value: Jet, op: str | None = None) -> Jet:
        shape = self.plain.form(value.value, op)
        if op in (None, "sum", "norm"):
            return Jet(shape, *(None if p is None else self.plain.form(p, op) for p in value[1:]))
        return self._any(shape) if value.moves else Jet(shape)

    def _any(self, shape: Pair) -> Jet:
        return Jet(shape, _ANY, None if self.alone else _ANY, _ANY)

    def recurrence_form(self, a: Jet, m: Jet) -> Jet:
        shape = self.plain.recurrence_form(a.value, m.value)
        return self._any(shape) if a.moves or m.moves else Jet(shape)

    def common(self, one: Jet, other: Jet) -> Jet:
        return Jet(self.plain.common(one.value, other.value),
                   *(None if p is None and q is None else _ANY for p, q in zip(one[1:], other[1:], strict=True)))

    def lanes(self, b: Builder, value: Jet) -> tuple[Value, ...]:
        return (*self._ends(b, value), *self.plain.lanes(b, value.value))

    def pack(self, b: Builder, value: Jet, form: Jet) -> tuple[Value, ...]:
        return (*self._ends(b, value), *self.plain.pack(b, value.value, form.value))

    def _ends(self, b: Builder, value: Jet) -> list[Value]:
        return [end for p in self._carried(value) for end in ((b.const(0.0),) * 2 if p is None else (p.nlo, p.hi))]

    def _carried(self, value: Jet) -> tuple[Pair | None, ...]:
        return (value.first, value.second) if self.alone else value[1:]

    def unpack(self, lanes: tuple[Value, ...], form: Jet) -> Jet:
        forms = self._carried(form)
        first, *rest = (None if p is None else p.but(nlo=lanes[2 * k], hi=lanes[2 * k + 1], level=SMOOTH)
                        for k, p in enumerate(forms))
        value = self.plain.unpack(lanes[2 * len(forms):], form.value)
        return Jet(value, first, None, *rest) if self.alone else Jet(value, first, *rest)

    def neutral(self, op: str, form: Jet) -> tuple[float, ...]:
        return (*[0.0] * (2 * len(self._carried(form))), *self.plain.neutral(op, form.value))


_ANY = Pair(None, None)  # the form of a derivative of which nothing is known


class _Factor:
    """A derivative of an operation, which multiplies those of its argument; 1 and -1 multiply nothing."""

    def __init__(self, node: Expr, pair: Pair):
        self.pair, self.one, self.minus_one = pair, is_const(node, 1.0), is_const(node, -1.0)

    def times(self, b: Builder, p: Pair | None) -> Pair | None:
        if p is None or self.one:
            return p
        return neg(b, p) if self.minus_one else _product(b, self.pair, p)


def _bare(p: Pair) -> Pair:
    """Without status: where a derivative counts, that of the value is SMOOTH, and nothing is empty."""
    return p.but(level=SMOOTH, may_be_empty=False)


def _map(function: Callable[[Pair], Pair], jet: Jet) -> Jet:
    """The same linear function of the value and its derivatives."""
    value, *rest = (None if p is None else function(p) for p in jet)
    return Jet(value, *(None if p is None else _bare(p) for p in rest))


def _total(b: Builder, terms: list[Pair | None]) -> Pair | None:
    total = None
    for p in terms:
        if p is not None and not p.zero:
            total = _bare(p if total is None else add(b, total, p))
    return total


def _is_one(b: Builder, p: Pair) -> bool:
    return p.point is not None and p.point is b.const(1.0)


def _product(b: Builder, p: Pair | None, q: Pair | None) -> Pair | None:
    if p is None or q is None:
        return None
    return q if _is_one(b, p) else p if _is_one(b, q) else mul(b, p, q)


def _square(b: Builder, p: Pair | None) -> Pair | None:
    return p if p is None or _is_one(b, p) else square(b, p)
