"""Expressions near a zero of a part of theirs: sums of terms C t**p log(t)**m.

r**-12 - r**-6 on [0, h] is inf - inf for an interval; as r**-12 (1 - r**6) it is not. x log x is 0 times -inf; as the operation
`xlogx` it is bounded. So an expression of one variable is written as a sum of terms, by exponents of a `base` t (the variable, or
what is divided by), from the leaves up; joined again, with the lowest power outside, the sum has another natural extension.

What holds for every node and its terms, by induction over the table `Walk.of`: wherever the node is defined, either t is not 0
(and positive if some p is no integer or some m > 0), every C is defined and the sum of the terms is the node's value; or t is 0,
every p >= 0, p > 0 where m > 0, every C is defined, and the sum of those C with p = 0 is the value. So the joined expression has
the value of the node wherever the node is defined. It may be defined at more points: what it says of them is of no use.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import reduce

import numpy as np

from infimum.expr.build import broadcast, build, is_zero, rebuilt, zeros
from infimum.expr.diff_rules import LN2, LN10
from infimum.expr.node import Expr, const, topological, var
from infimum.expr.ops import Kind
from infimum.expr.signs import is_constant, sign_of
from infimum.expr.simplify import is_exponent, scalar_of
from infimum.expr.taylor import expansion
from infimum.expr.two_powers import least_of_two_powers, rational

Terms = dict[tuple[Fraction, int], Expr]  # C under (p, m)
_MOST_TERMS, _LARGEST_POWER_OF_LOG = 8, 4


@dataclass
class Walk:
    """Writes expressions as sums of terms in one base, which may be known not to be negative; functions of what vanishes with it
    are expanded to an order, unless that is 0.

    `singular`: some term has a pole; `calm`: no sum that is joined has one; `mixed`: one that has one has other terms too."""

    base: Expr
    order: int
    nonnegative: bool = False
    singular: bool = False
    calm: bool = True
    mixed: bool = False
    means: list[Expr] = field(default_factory=list)

    def of(self, top: Expr) -> Terms:
        known: dict[Expr, Terms] = {self.base: {(Fraction(1), 0): self.number(1.0)}}
        for node in topological([top], leaf=self.base):
            if node not in known:
                terms = self._terms(node, [known[a] for a in node.args]) if node.kind is Kind.MAP else self._whole(node)
                known[node] = {key: c for key, c in terms.items() if not is_zero(c)}
                self.singular |= any(p < 0 or m > 0 for p, m in terms)
        return known[top]

    def _terms(self, node: Expr, args: list[Terms]) -> Terms:
        rule: Callable[..., Terms | None] | None = _RULES.get(node.op)
        terms = rule(self, node, *args) if rule is not None else None
        if terms is None and self.order:
            terms = self._expanded(node, args)
        if terms is None or len(terms) > _MOST_TERMS:
            terms = self._whole(self._again(node, args))
        return terms

    def _again(self, node: Expr, args: list[Terms]) -> Expr:
        """The node as it is, of arguments that are joined where that is of use."""
        parts = [self.joined(t) if any(p < 0 or m > 0 for p, m in t) or any(key[0] == 0 and c is not a for key, c in t.items())
                 else a for a, t in zip(node.args, args, strict=True)]
        return rebuilt(node, dict(zip(node.args, parts, strict=True)))

    def _expanded(self, node: Expr, args: list[Terms]) -> Terms | None:
        """g(c + v) for a v that vanishes with the base: powers of v, the last times a derivative between c and c + v."""
        if len(args) != 1:
            return None
        vanishing = {(p, m): c for (p, m), c in args[0].items() if p > 0}
        rest = [(m, scalar_of(c)) for (p, m), c in args[0].items() if p <= 0]
        if not vanishing or len(rest) > 1 or any(m or c is None for m, c in rest) or any(p < 0 for p, _ in args[0]):
            return None
        mean = var(f"mean {len(self.means)}", node.shape)
        found = expansion(node.op, rest[0][1] if rest else 0.0, self.order, self.joined(vanishing), mean)
        if found is None:
            return None
        self.means.append(mean)
        terms: Terms = {(Fraction(0), 0): found[0]}
        power: Terms = {(Fraction(0), 0): self.number(1.0)}
        for coefficient in found[1:]:
            power = self._product(power, vanishing)
            terms = self.plus(terms, {key: build("mul", coefficient, c) for key, c in power.items()})
        return terms

    # ---- sums of terms
    def number(self, value: float) -> Expr:
        return broadcast(const(value), self.base.shape)

    def _whole(self, node: Expr) -> Terms:
        return {(Fraction(0), 0): node}

    def plus(self, x: Terms, y: Terms, op: str = "add") -> Terms:
        total = dict(x)
        for key, c in y.items():
            total[key] = build(op, x[key], c) if key in x else build("neg", c) if op == "sub" else c
        return {key: c for key, c in total.items() if not is_zero(c)}

    def _product(self, x: Terms, y: Terms) -> Terms:
        total: Terms = {}
        for (p, m), c in x.items():
            total = self.plus(total, {(p + q, m + k): build("mul", c, d) for (q, k), d in y.items()})
        return total

    def product(self, node: Expr, x: Terms, y: Terms) -> Terms | None:
        if not x or not y:
            return {}
        logs = any(m for terms in (x, y) for _, m in terms)
        if len(x) > 1 and len(y) > 1 and not logs:
            (p, u), (q, v) = self.parts(x), self.parts(y)
            return {(p + q, 0): build("mul", u, v)}
        return self._product(x, y) if len(x) * len(y) <= _MOST_TERMS else None

    def parts(self, terms: Terms) -> tuple[Fraction, Expr]:
        """(p, U): the sum is t**p U, for the lowest power p."""
        p = min(p for p, _ in terms)
        return p, self._sum({(q - p, m): c for (q, m), c in terms.items()})

    def joined(self, terms: Terms) -> Expr:
        if not terms:
            return zeros(self.base.shape)
        if any(p < 0 or (p == 0 and m) for p, m in terms):
            self.calm, self.mixed = False, self.mixed or len(terms) > 1
        if all(p >= 0 for p, _ in terms):
            return self._sum(terms)
        p, rest = self.parts(terms)
        form, least = build("mul", self.power(p), rest), self._least(terms)
        return form if least is None else build("max", form, least)

    def _least(self, terms: Terms) -> Expr | None:
        """A lower bound of two powers and a constant."""
        powers = sorted(key for key in terms if key != (0, 0))
        constant = terms.get((Fraction(0), 0))
        if len(powers) != 2 or any(m for _, m in powers) or (constant is not None and not is_constant(constant)):
            return None
        one, other = powers
        least = least_of_two_powers(one[0], terms[one], other[0], terms[other], self.nonnegative)
        return least if least is None or constant is None else build("add", least, constant)

    def _sum(self, terms: Terms) -> Expr:
        """Terms with p >= 0. Of powers of the logarithm alone Horner's scheme; t**p log(t)**m is bounded at 0 by way of xlogx."""
        alone = {m: c for (p, m), c in terms.items() if p == 0}
        parts = [self._horner(alone)] if alone else []
        return reduce(lambda a, b: build("add", a, b),
                      [*parts, *(build("mul", c, self._mixed(p, m)) for (p, m), c in sorted(terms.items(), key=_key) if p > 0)])

    def _horner(self, by_power: dict[int, Expr]) -> Expr:
        total = by_power[max(by_power)]
        for m in reversed(range(max(by_power))):
            total = build("mul", self._log(), total)
            total = build("add", total, by_power[m]) if m in by_power else total
        return total

    def _log(self) -> Expr:
        return build("log", self.base)

    def _mixed(self, p: Fraction, m: int) -> Expr:
        """t**p log(t)**m for p > 0: t**(p - m s) (xlogx(t**s) / s)**m, for the largest power of two s with m s <= p."""
        if not m:
            return self.power(p)
        s = Fraction(1)
        while m * s > p:
            s /= 2
        small = build("powi", build("mul", float(1 / s), build("xlogx", self.power(s))), k=m)
        return small if m * s == p else build("mul", self.power(p - m * s), small)

    def power(self, p: Fraction) -> Expr:
        if p.denominator == 1:
            return build("powi", self.base, k=int(p))
        return build("pow", self.base, rational(p, self.base.shape))


def _key(item: tuple[tuple[Fraction, int], Expr]) -> tuple[Fraction, int]:
    return item[0]


def _is_power(p: Fraction) -> bool:
    """May t be raised to p? The exponents that come of it are then far from the ends of the doubles."""
    return is_exponent(float(p)) if p.denominator == 1 else 2.0**-64 < abs(p) < 2.0**20


def _root(terms: Terms) -> tuple[Fraction, Expr] | None:
    """(p, C) of what is the single term C t**p with a constant C > 0, and of one sign with t: where it is >= 0, so is t."""
    if len(terms) != 1:
        return None
    ((p, m), c), = terms.items()
    return (p, c) if not m and p and (p.denominator > 1 or p.numerator % 2) and sign_of(c) > 0 else None


# ---- what each operation makes of the terms of its arguments; None: nothing
def _neg(walk: Walk, node: Expr, x: Terms) -> Terms:
    return {key: build("neg", c) for key, c in x.items()}


def _div(walk: Walk, node: Expr, x: Terms, y: Terms) -> Terms | None:
    """Where the quotient is defined y is not 0; so neither is U of y = t**q U, nor t if q is not 0."""
    if not y:
        return None
    q, u = walk.parts(y)
    walk.singular |= q != 0
    return {(p - q, m): build("div", c, u) for (p, m), c in x.items()}


def _powi(walk: Walk, node: Expr, x: Terms) -> Terms | None:
    k = node["k"]
    if k == 0 or not x:
        return None
    if len(x) == 1:
        ((p, m), c), = x.items()
        if m * k <= _LARGEST_POWER_OF_LOG and _is_power(p * k):
            c = c if scalar_of(c) == 1.0 else build("powi", c, k=k)
            walk.singular |= k < 0 and p != 0
            if k < 0 and m:
                return {(p * k, 0): build("mul", c, build("powi", walk._log(), k=m * k))}
            return {(p * k, m * k): c}
        return None
    if k > 0 and any(m for _, m in x):
        return reduce(walk._product, [x] * k) if len(x) ** k <= _MOST_TERMS else None
    p, u = walk.parts(x)
    walk.singular |= k < 0 and p != 0
    return {(p * k, 0): build("powi", u, k=k)} if _is_power(p * k) else None


def _fixed_power(exponent: Fraction) -> Callable:
    def rule(walk: Walk, node: Expr, x: Terms) -> Terms | None:
        found = _root(x)
        if found is None or not _is_power(found[0] * exponent):
            return None
        p, c = found
        return {(p * exponent, 0): c if scalar_of(c) == 1.0 else build("pow", c, broadcast(const(float(exponent)), c.shape))}
    return rule


def _pow(walk: Walk, node: Expr, x: Terms, y: Terms) -> Terms | None:
    """A constant exponent; or exp(y log x) where y vanishes with the base, as does x or 1 / x: x**y is undefined there."""
    exponent = scalar_of(node.args[1])
    if exponent is not None:
        return _fixed_power(Fraction(exponent))(walk, node, x) if np.isfinite(exponent) else None
    logarithm = _log(walk, node, x)
    if logarithm is None or not y or any(p <= 0 for p, _ in y):
        return None
    walk.singular = True
    product = walk.product(node, y, logarithm)
    return None if product is None else walk._whole(build("exp", walk.joined(product)))


def _log(walk: Walk, node: Expr, x: Terms) -> Terms | None:
    found = _root(x)
    if found is None or not _is_power(found[0]):
        return None
    p, c = found
    logarithm: Terms = {(Fraction(0), 1): rational(p, walk.base.shape)}
    return logarithm if scalar_of(c) == 1.0 else logarithm | walk._whole(build("log", c))


def _log_to(natural: Expr) -> Callable:
    def rule(walk: Walk, node: Expr, x: Terms) -> Terms | None:
        found = _log(walk, node, x)
        return None if found is None else {key: build("div", c, natural) for key, c in found.items()}
    return rule


def _xlogx(walk: Walk, node: Expr, x: Terms) -> Terms | None:
    """0 at 0, where p > 0."""
    found = _log(walk, node, x) if all(p > 0 for p, _ in x) else None
    return None if found is None else walk.product(node, x, found)


_RULES: dict[str, Callable] = {
    "neg": _neg, "add": lambda walk, node, x, y: walk.plus(x, y), "sub": lambda walk, node, x, y: walk.plus(x, y, "sub"),
    "mul": lambda walk, node, x, y: walk.product(node, x, y), "div": _div, "powi": _powi, "pow": _pow,
    "sqrt": _fixed_power(Fraction(1, 2)), "log": _log, "log2": _log_to(LN2), "log10": _log_to(LN10), "xlogx": _xlogx,
}
