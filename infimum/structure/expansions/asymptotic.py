"""Expressions near a zero of a part of theirs: sums of terms C t**p log(t)**m exp(g).

r**-12 - r**-6 on [0, h] is inf - inf for an interval; as r**-12 (1 - r**6) it is not. x log x is 0 times -inf; as the operation
`xlogx` it is bounded. exp(-1/x) / x is 0 times inf; as exp(-1/x - log x) it is not. So an expression of one variable is written
as a sum of terms, by powers of a `base` t (the variable, or what is divided by), from the leaves up; joined again, with the
largest power outside, the sum has another natural extension.

What holds for every node and its terms, by induction over the table of `structure/expansions/asymptotic_rules.py`: wherever the
node is defined (and t >= 0, if the walk takes it to be `nonnegative`), either t is not 0 (and positive if some p is no integer,
some m > 0 or some g is not empty), every C is defined and the sum of the terms is the node's value; or t is 0, every p >= 0, p >
0 where m > 0, every g is empty, every C is defined, and the sum of those C with p = 0 is the value. So the joined expression has
the value of the node wherever the node is defined. It may be defined at more points: what it says of them is of no use.

Proof: docs/proofs/poles_and_edges.md.
"""

from dataclasses import field
from fractions import Fraction
from functools import reduce

from infimum.expr.build import broadcast, build, is_zero, rebuilt, zeros
from infimum.expr.node import Expr, const, topological, var
from infimum.expr.signs import is_constant, sign_of
from infimum.expr.simplify import scalar_of
from infimum.expr.taylor import expansion
from infimum.ops.vocabulary import Kind
from infimum.search.policy.search import EXPANSIONS
from infimum.structure.expansions.asymptotic_rules import RULES
from infimum.structure.expansions.power_terms import Exponent, Power, Terms, exponent, largest
from infimum.structure.expansions.power_terms import plus as exponents_plus
from infimum.structure.expansions.two_powers import least_of_two_powers, rational
from infimum.support.lazy import dataclass


@dataclass
class AsymptoticExpander:
    """Writes expressions as sums of terms in one base, which may be taken not to be negative; functions of what vanishes with it
    are expanded to an order, unless that is 0. `variable`: a leaf that is itself such a sum, and its terms.

    `singular`: some term has a pole; `calm`: no sum that is joined has one; `mixed`: one that has one has other terms too;
    `expanded`: some function was; `divides`: by what is no power of the base, and may vanish with it; `signed`: some power stays
    as it is because its base may be negative."""

    base: Expr
    order: int
    nonnegative: bool = False
    variable: tuple[Expr, Terms] | None = None
    singular: bool = False
    calm: bool = True
    mixed: bool = False
    expanded: bool = False
    divides: bool = False
    signed: bool = False
    means: list[Expr] = field(default_factory=list)

    def of(self, top: Expr) -> Terms:
        known: dict[Expr, Terms] = {self.base: {Power(Fraction(1)): self.number(1.0)}}
        leaf, terms = self.variable or (self.base, known[self.base])
        known[leaf] = terms
        for node in topological([top], leaf=leaf):
            if node not in known:
                terms = self._terms(node, [known[a] for a in node.args]) if node.kind is Kind.MAP else self.whole(node)
                known[node] = {power: c for power, c in terms.items() if not is_zero(c)}
                self.singular |= any(power.singular for power in terms)
        return known[top]

    def _terms(self, node: Expr, args: list[Terms]) -> Terms:
        rule = RULES.get(node.op)
        terms = rule(self, node, *args) if rule is not None else None
        if terms is None and self.order:
            terms = self._expanded(node, args)
        if terms is None or len(terms) > EXPANSIONS.most_terms:
            terms = self.whole(self._again(node, args))
        return terms

    def _again(self, node: Expr, args: list[Terms]) -> Expr:
        """The node as it is, of arguments that are joined where that is of use."""
        parts = [self.joined(t) if any(power.singular or (power.p == 0 and c is not a) for power, c in t.items()) else a
                 for a, t in zip(node.args, args, strict=True)]
        return rebuilt(node, dict(zip(node.args, parts, strict=True)))

    def _expanded(self, node: Expr, args: list[Terms]) -> Terms | None:
        """g(c + v) for a v that vanishes with the base: powers of v, the last times a derivative between c and c + v."""
        if len(args) != 1:
            return None
        vanishing = {power: c for power, c in args[0].items() if power.p > 0}
        rest = [(power, scalar_of(c)) for power, c in args[0].items() if power.p <= 0]
        if not vanishing or len(rest) > 1 or any(power != Power() or c is None for power, c in rest) or \
                any(power.g for power in vanishing):
            return None
        mean = var(f"mean {len(self.means)}", node.shape)
        found = expansion(node.op, rest[0][1] if rest else 0.0, self.order, self.joined(vanishing), mean)
        if found is None:
            return None
        self.means.append(mean)
        self.expanded = True
        return self._series(found, vanishing)

    def reciprocal(self, y: Terms) -> Terms | None:
        """1 / y for y = t**q e**g (c + v) with a constant c, and v that vanishes with t: 1 / (c + v) is the sum
        of (-v)**k / c**(k + 1) for k < n and (-v)**n / (c**n (c + v)), wherever c + v is not 0."""
        q, g = self._largest(y)
        if self.order < (1 if q or g else 2):
            return None
        rest = {power.over(q, g): c for power, c in y.items()}
        first = rest.pop(Power(), None)
        if first is None or not sign_of(first) or not rest or any(power.p <= 0 or power.g for power in rest):
            return None
        self.expanded = True
        ratio = {power: build("neg", build("div", c, first)) for power, c in rest.items()}
        whole = self._sum({Power(): first, **rest})
        one = build("div", 1.0, first)
        series = self._series([*[one] * self.order, build("div", self.number(1.0), whole)], ratio)
        return {power.over(q, g): c for power, c in series.items()}

    def _series(self, coefficients: list[Expr], v: Terms) -> Terms:
        """The sum of c_k v**k."""
        terms: Terms = {Power(): coefficients[0]}
        power: Terms = {Power(): self.number(1.0)}
        for coefficient in coefficients[1:]:
            power = self.times(power, v)
            terms = self.plus(terms, {key: build("mul", coefficient, c) for key, c in power.items()})
        return terms

    # ---- sums of terms
    def number(self, value: float) -> Expr:
        return broadcast(const(value), self.base.shape)

    def whole(self, node: Expr) -> Terms:
        return {Power(): node}

    def plus(self, x: Terms, y: Terms, op: str = "add") -> Terms:
        total = dict(x)
        for power, c in y.items():
            self.mixed |= power in x and power.singular
            total[power] = build(op, x[power], c) if power in x else build("neg", c) if op == "sub" else c
        return {power: c for power, c in total.items() if not is_zero(c)}

    def times(self, x: Terms, y: Terms) -> Terms:
        total: Terms = {}
        for one, c in x.items():
            total = self.plus(total, {one.times(other): build("mul", c, d) for other, d in y.items()})
        return total

    def product(self, x: Terms, y: Terms) -> Terms | None:
        if not x or not y:
            return {}
        few = len(x) * len(y) <= EXPANSIONS.most_terms
        logs = any(power.m for terms in (x, y) for power in terms)
        if len(x) > 1 and len(y) > 1 and not logs and not (few and self.order):
            (p, g, u), (q, h, v) = self.parts(x), self.parts(y)
            return {Power(p, 0, g).times(Power(q, 0, h)): build("mul", u, v)}
        return self.times(x, y) if few else None

    def _largest(self, terms: Terms) -> tuple[Fraction, Exponent]:
        g = largest([power.g for power in terms])
        return min(power.p for power in terms if power.g == g), g

    def parts(self, terms: Terms) -> tuple[Fraction, Exponent, Expr]:
        """(p, g, U): the sum is t**p e**g U, for the largest exponential g, and of its powers the lowest, p."""
        p, g = self._largest(terms)
        return p, g, self._sum({power.over(p, g): c for power, c in terms.items()})

    def joined(self, terms: Terms) -> Expr:
        if not terms:
            return zeros(self.base.shape)
        if not all(power.calm for power in terms):
            self.calm, self.mixed = False, self.mixed or len(terms) > 1
        return self._joined(terms)

    def _joined(self, terms: Terms) -> Expr:
        if all(power.p >= 0 if not power.g else power.calm for power in terms):
            return self._sum(terms)
        p, g, rest = self.parts(terms)
        form, least = build("mul", self.power(p, g), rest), self._least(terms)
        return form if least is None else build("max", form, least)

    def _least(self, terms: Terms) -> Expr | None:
        """A lower bound of two powers and a constant."""
        powers = sorted((power for power in terms if power != Power()), key=lambda power: power.p)
        constant = terms.get(Power())
        if len(powers) != 2 or any(power.m or power.g for power in powers) or \
                (constant is not None and not is_constant(constant)):
            return None
        one, other = powers
        least = least_of_two_powers(one.p, terms[one], other.p, terms[other], self.nonnegative)
        return least if least is None or constant is None else build("add", least, constant)

    def _sum(self, terms: Terms) -> Expr:
        """Terms with p >= 0 or a g. Of powers of the logarithm alone Horner's scheme."""
        alone = {power.m: c for power, c in terms.items() if power.p == 0 and not power.g}
        parts = [self._horner(alone)] if alone else []
        others = sorted((item for item in terms.items() if item[0].p != 0 or item[0].g), key=lambda item: item[0][:2])
        return reduce(lambda a, b: build("add", a, b), [*parts, *(build("mul", c, self._bounded(power)) for power, c in others)])

    def _horner(self, by_power: dict[int, Expr]) -> Expr:
        total = by_power[max(by_power)]
        for m in reversed(range(max(by_power))):
            total = build("mul", self.log(), total)
            total = build("add", total, by_power[m]) if m in by_power else total
        return total

    def log(self) -> Expr:
        return build("log", self.base)

    def _bounded(self, power: Power) -> Expr:
        """t**p log(t)**m e**g, by way of xlogx: t**(p - m s) (xlogx(t**s) / s)**m e**g, for the largest power of two s with
        m s <= p, for 1 if there is a g."""
        p, m, g = power
        if not m:
            return self.power(p, g)
        s = Fraction(1)
        while m * s > p and not g:
            s /= 2
        small = build("powi", build("mul", float(1 / s), build("xlogx", self.power(s))), k=m)
        return small if m * s == p and not g else build("mul", self.power(p - m * s, g), small)

    def power(self, p: Fraction, g: Exponent = ()) -> Expr:
        """t**p e**g, as e**(g + p log t) if there is a g."""
        if g:
            logarithm = exponent([((Fraction(0), 1), rational(p, self.base.shape))])
            return build("exp", self._joined({Power(*key): c for key, c in exponents_plus(g, logarithm)}))
        if p.denominator == 1:
            return build("powi", self.base, k=int(p))
        return build("pow", self.base, rational(p, self.base.shape))
