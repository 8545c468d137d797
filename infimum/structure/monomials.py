"""Products of powers of positive variables, as exponentials of sums of their logarithms.

Then such a term is a single curve over a linear function of the logarithms, where a chain of products and quotients has a new
error in each step: enclosures, lines and second derivatives all are narrower.

Proof: docs/proofs/monomials.md.
"""

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from infimum.expr.build import VIEWS, build, rebuilt
from infimum.expr.node import Expr, const, topological
from infimum.expr.rewriting_switches import step
from infimum.problem.system import System
from infimum.search.policy.search import RECOGNITION as POLICY
from infimum.support.lazy import LazyModule

if TYPE_CHECKING:
    from infimum.expr import rationals
else:
    rationals = LazyModule("expr.rationals")


Powers = dict[Expr, Fraction]


@step("monomials", lambda system, lo: system)
def with_monomials(system: System, lo: np.ndarray) -> System:
    """The same system, over variables that are not below lo: products of powers of positive ones are written so, if they have
    three factors, or two and a power that is not whole.

    >>> from infimum.trace.trace import trace
    >>> system = System(trace(lambda x: x[0] ** 0.5 * x[1] / x[2], 3), (), np.zeros(0), np.zeros(0))
    >>> with_monomials(system, np.ones(3)).f.op, with_monomials(system, np.zeros(3)) is system
    ('exp', True)
    """
    reader = _Reader(lo)
    new: dict[Expr, Expr] = {}
    roots = [system.f, *system.bodies]
    for node in topological(roots):
        new[node] = reader.written(node) or rebuilt(node, new)
    if all(new[root] is root for root in roots):
        return system
    f, *bodies = (new[root] for root in roots)
    return System(f, tuple(bodies), system.lower, system.upper, system.integers, system.labels)


class _Reader:
    """Knows of each node whether it is a positive variable, a product of powers of some, or a sum of multiples of logarithms."""

    def __init__(self, lo: np.ndarray):
        self.lo = lo
        self.least: dict[Expr, np.ndarray] = {}           # of views of the variables
        self.factors: dict[Expr, tuple[Expr | None, Powers]] = {}  # a constant, and powers of the other factors
        self.logarithms: dict[Expr, Powers] = {}

    def written(self, node: Expr) -> Expr | None:
        """As the exponential, if that is worth it. The nodes below must have been asked for before."""
        self._read(node)
        constant, powers = self.factors.get(node, (None, {}))
        if len(powers) < 2 or (len(powers) < POLICY.least_factors and all(p.denominator == 1 for p in powers.values())):
            return None
        total = None
        for base, p in powers.items():
            term = build("log", base)
            if abs(p) != 1:
                term = build("mul", rationals.between_doubles([abs(p)], ()), term)
            total = (build("neg", term) if p < 0 else term) if total is None else build("sub" if p < 0 else "add", total, term)
        made = build("exp", total)
        return made if constant is None else build("mul", constant, made)

    def _read(self, node: Expr) -> None:
        if node.op == "var":
            self.least[node] = self.lo
        elif node.op in VIEWS and all(arg in self.least for arg in node.args):
            self.least[node] = VIEWS[node.op](node, *(self.least[arg] for arg in node.args))
        if node in self.least:
            if (self.least[node] > 0).all():
                self.factors[node] = None, {node: Fraction(1)}
            return
        made = _LOGARITHMIC.get(node.op)
        logarithms = None if made is None else made(self, node)
        if logarithms is not None:
            self.logarithms[node] = logarithms
        made = _PRODUCTS.get(node.op)
        factors = None if made is None else made(self, node)
        if factors is not None and all(_is_short(p) for p in factors[1].values()):
            self.factors[node] = factors

    # ---- products of powers
    def _mul(self, node: Expr) -> tuple | None:
        one, other = node.args
        for constant, rest in ((one, other), (other, one)):
            if constant.op == "const" and rest in self.factors:
                had, powers = self.factors[rest]
                return (constant if had is None else build("mul", constant, had)), powers
        if one not in self.factors or other not in self.factors:
            return None
        (c, p), (d, q) = self.factors[one], self.factors[other]
        return (build("mul", c, d) if c is not None and d is not None else d if c is None else c), _sum(p, q)

    def _div(self, node: Expr) -> tuple | None:
        one, other = node.args
        if other not in self.factors or (one not in self.factors and one.op != "const"):
            return None
        (c, p), (d, q) = self.factors.get(one, (one, {})), self.factors[other]
        constant = c if d is None else build("div", const(1.0) if c is None else c, d)
        return constant, _sum(p, q, -1)

    def _powi(self, node: Expr) -> tuple | None:
        if node.args[0] not in self.factors:
            return None
        constant, powers = self.factors[node.args[0]]
        return (None if constant is None else build("powi", constant, k=node["k"])), _scaled(powers, Fraction(node["k"]))

    def _exp(self, node: Expr) -> tuple | None:
        return (None, self.logarithms[node.args[0]]) if node.args[0] in self.logarithms else None

    def _power(self, node: Expr, exponent: Fraction | None) -> tuple | None:
        constant, powers = self.factors.get(node.args[0], (node, {}))
        return None if constant is not None or exponent is None else (None, _scaled(powers, exponent))

    # ---- sums of multiples of logarithms
    def _log(self, node: Expr) -> Powers | None:
        constant, powers = self.factors.get(node.args[0], (node, {}))
        return powers if constant is None else None

    def _multiple(self, node: Expr) -> Powers | None:
        for number, rest in (node.args, node.args[::-1]):
            exact = _exact(number)
            if rest in self.logarithms and exact is not None:
                return _scaled(self.logarithms[rest], exact)
        return None

    def _added(self, node: Expr, sign: int) -> Powers | None:
        one, other = (self.logarithms.get(arg) for arg in node.args)
        return None if one is None or other is None else _sum(one, other, sign)


_PRODUCTS = {
    "mul": _Reader._mul, "div": _Reader._div, "powi": _Reader._powi, "exp": _Reader._exp,
    "sqrt": lambda self, node: self._power(node, Fraction(1, 2)),
    "pow": lambda self, node: self._power(node, _exact(node.args[1])),
}
_LOGARITHMIC = {
    "log": _Reader._log, "mul": _Reader._multiple,
    "neg": lambda self, node: _scaled(self.logarithms[node.args[0]], Fraction(-1)) if node.args[0] in self.logarithms else None,
    "add": lambda self, node: self._added(node, 1), "sub": lambda self, node: self._added(node, -1),
}


def _sum(one: Powers, other: Powers, sign: int = 1) -> Powers:
    found = dict(one)
    for base, p in other.items():
        found[base] = found.get(base, Fraction(0)) + sign * p
    return {base: p for base, p in found.items() if p}


def _scaled(powers: Powers, factor: Fraction) -> Powers:
    return {base: p * factor for base, p in powers.items()} if factor else {}


def _exact(node: Expr) -> Fraction | None:
    """The number that all its elements are, if they are one double."""
    if node.op != "const":
        return None
    first = node.lo.flat[0]
    return Fraction(float(first)) if (node.lo == first).all() and (node.hi == first).all() and np.isfinite(first) else None


def _is_short(p: Fraction) -> bool:
    return p.numerator.bit_length() < POLICY.exponent_bits and p.denominator.bit_length() < POLICY.exponent_bits
