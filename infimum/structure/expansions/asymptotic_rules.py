"""What each operation makes of the terms of its arguments (see `structure/expansions/asymptotic.py`); None: nothing.

The first argument is the walk, the second the node; the others are the terms of the node's arguments.

Proof: docs/proofs/poles_and_edges.md.
"""

from collections.abc import Callable
from fractions import Fraction
from functools import reduce
from typing import Any

import numpy as np

from infimum.expr.build import broadcast, build
from infimum.expr.derivative_rules import LN2, LN10
from infimum.expr.node import Expr, const
from infimum.expr.signs import is_constant, is_nonnegative, sign_of
from infimum.expr.simplify import is_exponent, scalar_of
from infimum.search.policy.search import EXPANSIONS as POLICY
from infimum.structure.expansions.power_terms import Power, Terms, exponent, scaled
from infimum.structure.expansions.two_powers import rational

_LOGARITHM = (Fraction(0), 1)  # fixed: x**0 log(x)**1


def _is_power(p: Fraction) -> bool:
    """May t be raised to p? The exponents that come of it are then far from the ends of the doubles."""
    return is_exponent(float(p)) if p.denominator == 1 else 2.0**-64 < abs(p) < 2.0**20


def _root(walk: Any, terms: Terms) -> tuple[Fraction, Expr] | None:
    """(p, C) of what is the single term C t**p with a constant C > 0: where it is >= 0, so is t, unless p is even."""
    if len(terms) != 1:
        return None
    ((p, m, g), c), = terms.items()
    odd = p.denominator > 1 or p.numerator % 2 or walk.nonnegative
    return (p, c) if not m and not g and p and odd and sign_of(c) > 0 else None


def _neg(walk: Any, node: Expr, x: Terms) -> Terms:
    return {power: build("neg", c) for power, c in x.items()}


def _div(walk: Any, node: Expr, x: Terms, y: Terms) -> Terms | None:
    """Where the quotient is defined y is not 0; so neither is U of y = t**q e**g U, nor t if q is not 0."""
    if not y:
        return None
    inverse = walk.reciprocal(y)
    if inverse is not None and len(x) * len(inverse) <= POLICY.most_terms:
        return walk.times(x, inverse)
    q, g, u = walk.parts(y)
    walk.singular |= q != 0
    walk.divides |= not is_constant(u)
    return {power.over(q, g): build("div", c, u) for power, c in x.items()}


def _powi(walk: Any, node: Expr, x: Terms) -> Terms | None:
    k = node["k"]
    if k == 0 or not x:
        return None
    if len(x) == 1:
        ((p, m, g), c), = x.items()
        if m * k <= POLICY.largest_power_of_log and _is_power(p * k):
            c = c if scalar_of(c) == 1.0 else build("powi", c, k=k)
            walk.singular |= k < 0 and p != 0
            if k < 0 and m:
                return {Power(p * k, 0, scaled(g, k)): build("mul", c, build("powi", walk.log(), k=m * k))}
            return {Power(p * k, m * k, scaled(g, k)): c}
        return None
    if k > 0 and any(power.m for power in x):
        return reduce(walk.times, [x] * k) if len(x) ** k <= POLICY.most_terms else None
    if k > 0 and walk.variable and len(x) ** k <= POLICY.most_terms \
            and all(power.p >= 0 and is_constant(c) for power, c in x.items()):
        return reduce(walk.times, [x] * k)
    inverse = walk.reciprocal(x) if k < 0 else None
    if inverse is not None and len(inverse) ** -k <= POLICY.most_terms:
        return reduce(walk.times, [inverse] * -k)
    p, g, u = walk.parts(x)
    walk.singular |= k < 0 and p != 0
    return {Power(p * k, 0, scaled(g, k)): build("powi", u, k=k)} if _is_power(p * k) else None


def _fixed_power(exponent: Fraction) -> Callable:
    """Of C t**p with a constant C > 0; and for t > 0 of t**p U with a pole, where U > 0 if it is defined, or U = 0."""
    def rule(walk: Any, node: Expr, x: Terms) -> Terms | None:
        found = _root(walk, x)
        if found is None and walk.nonnegative and x:
            p, g, u = walk.parts(x)
            found = (p, u) if p < 0 and not g else None
        if found is None or not _is_power(found[0] * exponent):
            return None
        p, c = found
        return {Power(p * exponent): c if scalar_of(c) == 1.0 else build("pow", c, broadcast(const(float(exponent)), c.shape))}
    return rule


def _pow(walk: Any, node: Expr, x: Terms, y: Terms) -> Terms | None:
    """A constant exponent; or exp(y log x) where y vanishes with the base t >= 0, as does x or 1 / x, and x is not negative. At
    t = 0 either x is undefined, or 0**0 = 1, which is e**0 as well."""
    exponent = scalar_of(node.args[1])
    if exponent is not None:
        return _fixed_power(Fraction(exponent))(walk, node, x) if np.isfinite(exponent) else None
    if not y or any(power.p <= 0 or power.g for power in y):
        return None
    walk.signed |= not walk.nonnegative
    known = walk.nonnegative and (_root(walk, x) is not None or is_nonnegative(node.args[0]))
    logarithm = _log(walk, node, x) if known else None
    if logarithm is None:
        return None
    walk.singular = True
    product = walk.product(y, logarithm)
    return None if product is None else walk.whole(build("exp", walk.joined(product)))


def _log(walk: Any, node: Expr, x: Terms) -> Terms | None:
    """log(C t**p) for a constant C > 0; for t > 0 also that of t**p e**g U, which is p log t + g + log U. At t = 0 such an x is 0
    or undefined, and so the logarithm is undefined."""
    found = _root(walk, x)
    if found is None and walk.nonnegative and x:
        p, g, u = walk.parts(x)
        if (p == 0 and not g) or not _is_power(p):
            return None
        return walk.plus({Power(*_LOGARITHM): rational(p, walk.base.shape)} if p else {},
                         {Power(): build("log", u), **{Power(*key): c for key, c in g}})
    if found is None or not _is_power(found[0]):
        return None
    p, c = found
    logarithm: Terms = {Power(*_LOGARITHM): rational(p, walk.base.shape)}
    return logarithm if scalar_of(c) == 1.0 else logarithm | walk.whole(build("log", c))


def _log_to(natural: Expr) -> Callable:
    def rule(walk: Any, node: Expr, x: Terms) -> Terms | None:
        found = _log(walk, node, x)
        return None if found is None else {power: build("div", c, natural) for power, c in found.items()}
    return rule


def _xlogx(walk: Any, node: Expr, x: Terms) -> Terms | None:
    """0 at 0, where p > 0."""
    found = _log(walk, node, x) if _root(walk, x) is not None and all(power.p > 0 for power in x) else None
    return None if found is None else walk.product(x, found)


def _exp(walk: Any, node: Expr, x: Terms) -> Terms | None:
    """For t > 0: of constants times what is unbounded at 0 the exponent g, of the logarithm a power of t."""
    unbounded = {power: c for power, c in x.items() if power.p < 0 or (power.p == 0 and power.m)}
    if not walk.nonnegative or not unbounded or any(power.g or not sign_of(c) for power, c in unbounded.items()) or \
            any(power.g for power in x):
        return None
    rest = {power: c for power, c in x.items() if power not in unbounded}
    coefficient = build("exp", walk.joined(rest)) if rest else walk.number(1.0)
    logarithm = scalar_of(unbounded.get(Power(*_LOGARITHM), walk.number(0.0)))
    p = Fraction(0)
    if logarithm and _is_power(Fraction(logarithm)):
        p = Fraction(logarithm)
        del unbounded[Power(*_LOGARITHM)]
    return {Power(p, 0, exponent(((power.p, power.m), c) for power, c in unbounded.items())): coefficient}


def _hyperbolic(sign: float) -> Callable:
    """(exp(x) + sign exp(-x)) / 2."""
    def rule(walk: Any, node: Expr, x: Terms) -> Terms | None:
        rises, falls = _exp(walk, node, x), _exp(walk, node, _neg(walk, node, x))
        if rises is None or falls is None:
            return None
        return walk.plus(*({power: build("mul", factor, c) for power, c in terms.items()}
                           for terms, factor in ((rises, 0.5), (falls, 0.5 * sign))))
    return rule


def _log1p(walk: Any, node: Expr, x: Terms) -> Terms | None:
    return _log(walk, node, walk.plus(walk.whole(walk.number(1.0)), x))


def _expm1(walk: Any, node: Expr, x: Terms) -> Terms | None:
    found = _exp(walk, node, x)
    return None if found is None else walk.plus(found, walk.whole(walk.number(-1.0)))


RULES: dict[str, Callable[..., Terms | None]] = {
    "neg": _neg, "add": lambda walk, node, x, y: walk.plus(x, y), "sub": lambda walk, node, x, y: walk.plus(x, y, "sub"),
    "mul": lambda walk, node, x, y: walk.product(x, y), "div": _div, "powi": _powi, "pow": _pow,
    "sqrt": _fixed_power(Fraction(1, 2)), "log": _log, "log2": _log_to(LN2), "log10": _log_to(LN10), "xlogx": _xlogx,
    "log1p": _log1p, "exp": _exp, "expm1": _expm1, "sinh": _hyperbolic(-1.0), "cosh": _hyperbolic(1.0),
}
