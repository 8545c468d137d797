"""Jets: a value with its first derivatives along directions and some of the second ones, carried from the leaves up.

For y = p(u, v) the chain rule gives y'' = p_u u'' + p_v v'' + p_uu u'² + 2 p_uv u' v' + p_vv v'², in which squares are squares:
for a sum of squares of e it is 2 Σ (e'² + e e''), where reverse mode multiplies two enclosures of e'. What is 0 because a value
does not change along a direction is never computed. Derivatives count only where the status of the value is SMOOTH; without
norms, at whose kink all directions are possible, first ones are generalised derivatives where it is LIPSCHITZ.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from infimum.expr.differentiate import partials
from infimum.expr.node import Expr, is_const
from infimum.interval.arithmetic import add, div, mul, neg, square
from infimum.interval.pair import SMOOTH, Pair, exact
from infimum.kernel.constant_data import Data
from infimum.kernel.ir import Builder, Value
from infimum.kernel.lowering import Lowering, SideSum
from infimum.kernel.meaning import Enclosures, Meaning
from infimum.ops.powers import norm_root
from infimum.ops.rules import RULES
from infimum.ops.vocabulary import OPS, Kind

ONE = (1, ((0, 0),))  # numbers of directions, and pairs of them: twice the only one,
TWO = (2, ((0, 1),))  # one and the other


class Jet(NamedTuple):
    """A value, its first derivative along each direction, and the second one along each pair of them; None where that is 0
    whatever the lane."""

    value: Pair
    first: tuple[Pair | None, ...]
    second: tuple[Pair | None, ...]

    @property
    def derivatives(self) -> tuple[Pair | None, ...]:
        return self.first + self.second

    @property
    def moves(self) -> bool:
        return any(p is not None for p in self.derivatives)


class Jets(Meaning):
    """Elements are Jets. Their values are those of Enclosures. `pairs` are the directions of the second derivatives."""

    def __init__(self, data: Data, directions: int, pairs: tuple[tuple[int, int], ...] = (), plain: Enclosures | None = None):
        self.data, self.plain, self.directions, self.pairs = data, plain or Enclosures(), directions, pairs
        self.rules = {op: self._rule(op) for op in RULES}

    def still(self, value: Pair) -> Jet:
        """What does not change along any direction."""
        return self._jet(value, (None,) * (self.directions + len(self.pairs)))

    def leaf(self, value: Pair, first: "list[Pair | None]") -> Jet:
        """A variable, with its element of each direction; one that is 0 whatever the lane does not count."""
        return Jet(value, tuple(None if p is None or p.zero else p for p in first), (None,) * len(self.pairs))

    def _jet(self, value: Pair, derivatives: "tuple[Pair | None, ...]") -> Jet:
        return Jet(value, derivatives[:self.directions], derivatives[self.directions:])

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
            return self.still((root or self.plain.rules[op])(b, *values, **params))
        if op == "div" and not jets[1].moves:  # one rounding instead of two
            return self._map(lambda p: div(b, p, values[1]), jets[0])
        found = partials(op.split()[0], tuple(sorted(params.items())), tuple(jet.moves for jet in jets))
        bends = found.second if self.pairs else {}
        nodes = [found.value, *found.first.values(), *bends.values()]
        leaves = {f"u{k}": lambda _, v=v: v for k, v in enumerate(values)}
        value, *rest = Lowering(b, self.plain, leaves, self.data).elements_at(nodes, ())
        factors = [_Factor(node, _bare(pair)) for node, pair in zip(nodes[1:], rest, strict=True)]
        first, second = list(zip(found.first, factors, strict=False)), factors[len(found.first):]

        def along(i: int) -> Pair | None:
            return _total(b, [factor.times(b, jets[k].first[i]) for k, factor in first])

        def along_both(at: int, pair: tuple[int, int]) -> Pair | None:
            return _total(b, [*(factor.times(b, jets[k].second[at]) for k, factor in first),
                              *(factor.times(b, _both(b, jets[k], jets[m], pair, k == m))
                                for (k, m), factor in zip(bends, second, strict=True))])
        return Jet(root(b, *values) if root else value, tuple(along(i) for i in range(self.directions)),
                   tuple(along_both(at, pair) for at, pair in enumerate(self.pairs)))

    def _where(self, b: Builder, test: Any, one: Jet, other: Jet) -> Jet:
        def chosen(p: Pair | None, q: Pair | None) -> Pair | None:
            return None if p is None and q is None else RULES["where"](b, test, p or exact(b, 0.0), q or exact(b, 0.0))
        rest = (chosen(p, q) for p, q in zip(one.derivatives, other.derivatives, strict=True))
        return self._jet(chosen(one.value, other.value), tuple(None if p is None else _bare(p) for p in rest))

    def _map(self, function: Callable[[Pair], Pair], jet: Jet) -> Jet:
        """The same linear function of the value and its derivatives."""
        return self._jet(function(jet.value), tuple(None if p is None else _bare(function(p)) for p in jet.derivatives))

    # ---- constants, views, reductions
    def constant(self, b: Builder, data: Data, node: Expr, position: "int | Value") -> Jet:
        return self.still(self.plain.constant(b, data, node, position))

    def zero(self, b: Builder) -> Jet:
        return self.still(self.plain.zero(b))

    def nothing(self, b: Builder, op: str) -> Jet:
        return self.still(self.plain.nothing(b, op))

    def pick(self, b: Builder, mask: Value, value: Jet) -> Jet:
        return self._map(lambda p: self.plain.pick(b, mask, p), value)

    def combine(self, op: str) -> Callable:
        return self.rules[{"sum": "add", "norm": "add", "prod": "mul", "amin": "min", "amax": "max"}[op]]

    def before(self, b: Builder, op: str, value: Jet) -> Jet:
        return self.rules["powi"](b, value, k=2) if op == "norm" else value

    def after(self, b: Builder, op: str, value: Jet) -> Jet:
        return self._chain(b, "sqrt", (value,), {}, root=norm_root) if op == "norm" else value

    # ---- through loops and buffers: the ends of all derivatives follow the value
    def form(self, value: Jet, op: str | None = None) -> Jet:
        shape = self.plain.form(value.value, op)
        if op in (None, "sum", "norm"):
            return self._jet(shape, tuple(None if p is None else self.plain.form(p, op) for p in value.derivatives))
        return self._any(shape) if value.moves else self.still(shape)

    def _any(self, shape: Pair) -> Jet:
        return self._jet(shape, (_ANY,) * (self.directions + len(self.pairs)))

    def recurrence_form(self, a: Jet, m: Jet) -> Jet:
        shape = self.plain.recurrence_form(a.value, m.value)
        return self._any(shape) if a.moves or m.moves else self.still(shape)

    def common(self, one: Jet, other: Jet) -> Jet:
        both = zip(one.derivatives, other.derivatives, strict=True)
        forms = tuple(None if p is None and q is None else _ANY for p, q in both)
        return self._jet(self.plain.common(one.value, other.value), forms)

    def lanes(self, b: Builder, value: Jet) -> tuple[Value, ...]:
        return (*self._ends(b, value), *self.plain.lanes(b, value.value))

    def pack(self, b: Builder, value: Jet, form: Jet) -> tuple[Value, ...]:
        return (*self._ends(b, value), *self.plain.pack(b, value.value, form.value))

    def _ends(self, b: Builder, value: Jet) -> list[Value]:
        return [end for p in value.derivatives for end in ((b.const(0.0),) * 2 if p is None else (p.nlo, p.hi))]

    def unpack(self, lanes: tuple[Value, ...], form: Jet) -> Jet:
        forms = form.derivatives
        found = tuple(None if p is None else p.but(nlo=lanes[2 * k], hi=lanes[2 * k + 1], level=SMOOTH)
                      for k, p in enumerate(forms))
        return self._jet(self.plain.unpack(lanes[2 * len(forms):], form.value), found)

    def neutral(self, op: str, form: Jet) -> tuple[float, ...]:
        return (*[0.0] * (2 * len(form.derivatives)), *self.plain.neutral(op, form.value))


def along_variables(b: Builder, f: Expr, box: Callable[["int | Value"], Pair], n: int, data: Data,
                    pairs: tuple[tuple[int, int], ...] = (), beside: SideSum | None = None) -> Jet:
    """The jet of f along the n unit vectors."""
    jets, found = Jets(data, n, pairs), {}

    def leaf(j: "int | Value") -> Jet:
        return jets.leaf(box(j), [unit(b, i, j) for i in range(n)])
    Lowering(b, jets, {"x": leaf}, data).run([(f, lambda at, v: found.setdefault("f", v))], beside)
    return found["f"]


def unit(b: Builder, i: "int | Value", j: "int | Value") -> Pair:
    """Element j of the i-th unit vector."""
    if isinstance(i, int) and isinstance(j, int):
        return exact(b, float(i == j))
    one = b.select(b.ueq(i, j), 1.0, 0.0)
    return Pair(b.neg(one), one, least=0)


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


def _both(b: Builder, u: Jet, v: Jet, pair: tuple[int, int], same: bool) -> Pair | None:
    """What multiplies the second derivative by u and v: u' v' for both directions, a square where all is the same."""
    i, j = pair
    if i == j:
        return _square(b, u.first[i]) if same else _product(b, exact(b, 2.0), _product(b, u.first[i], v.first[i]))
    once = _product(b, u.first[i], v.first[j])
    return once if same else _total(b, [once, _product(b, v.first[i], u.first[j])])
