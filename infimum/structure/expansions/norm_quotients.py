"""Products divided by norms, with factors that vanish where the norm does: bounded near a = 0, where intervals have 0 / 0.

If u reads nothing but a, is Lipschitz on every bounded set and u(0) = 0, then by the mean value theorem (Lebourg's, for
generalised gradients) u(a) = g(m a) . a for some m in [0, 1], so that u(a) / N(a) is the sum of g_i(m a) a_i / N(a), where
|a_i| <= N(a): so it is for the Euclidean norm, for sums and for the largest of absolute values. Each power of a norm in the
divisor takes one such factor of the dividend.

Proof: docs/proofs/poles_and_edges.md.
"""

from collections import Counter
from fractions import Fraction
from functools import reduce

import numpy as np

from infimum.expr.build import broadcast, build, substituted
from infimum.expr.differentiate import gradient
from infimum.expr.node import Expr, const, topological, var
from infimum.expr.rewriting_switches import step
from infimum.expr.simplify import scalar_of
from infimum.interval.pair import LIPSCHITZ
from infimum.ops.vocabulary import OPS, Kind
from infimum.search.policy.search import EXPANSIONS as POLICY
from infimum.structure.expansions.pole_alternatives import Alternative

_EXACT = {"neg": lambda x: -x, "abs": abs, "add": lambda x, y: x + y, "sub": lambda x, y: x - y, "mul": lambda x, y: x * y,
          "min": min, "max": max}
_SUMS = ("sum", "norm", "hypot")


@step("quotients by norms", lambda f: {})
def norm_quotients(f: Expr) -> dict[Expr, Alternative]:
    """For every such quotient of f the other form."""
    found = {node: _other_form(node) for node in topological([f]) if node.op == "div" and not node.shape}
    return {node: other for node, other in found.items() if other is not None}


def _other_form(node: Expr) -> Alternative | None:
    norms, others = _norms(node.args[1])
    above = _factors(node.args[0]) if norms else Counter()
    bounded: list[Expr] = []
    means: list[Expr] = []
    for norm in norms:
        mean = var(f"mean {len(means)}", ())
        forms = ((u, _divided(u, norm, mean)) for u, count in above.items() if count)
        u, form = next(((u, form) for u, form in forms if form is not None), (None, None))
        if form is None:
            others[norm] += 1
        else:
            above[u] -= 1
            bounded.append(form)
            means.append(mean)
    if not means:
        return None
    value = _product([*_powers(above), *bounded])
    divisor = _powers(others)
    return Alternative(build("div", value, _product(divisor)) if divisor else value, tuple(means))


def _divided(u: Expr, norm: Expr, mean: Expr) -> Expr | None:
    """u / norm, if u reads nothing but what this is a norm of and vanishes with it."""
    parts = _parts(norm)
    stand_in = {part: var(f"part {k}", part.shape) for k, part in enumerate(parts)}
    alone = substituted(u, stand_in)
    if {node for node in topological([alone]) if node.op == "var"} - set(stand_in.values()):
        return None  # it reads something else
    if not all(_is_lipschitz(node) for node in topological([alone])) or _at_zero(alone) != 0:
        return None
    terms = []
    between = {stand_in[part]: build("mul", broadcast(mean, part.shape), part) for part in parts}
    for part in parts:
        slope = substituted(gradient(alone, stand_in[part]), between)
        terms.append(build("mul", build("ratio", part, broadcast(norm, part.shape)), slope))
    return reduce(lambda a, b: build("add", a, b), [_summed(term) for term in terms])


def _factors(node: Expr) -> "Counter[Expr]":
    """The factors of a product, with their multiplicities."""
    found: Counter[Expr] = Counter()
    waiting = [(node, 1)]
    while waiting:
        node, power = waiting.pop()
        room = POLICY.most_factors - found.total() - sum(more for _, more in waiting)
        if node.op == "mul" and 2 * power <= room:
            waiting += [(arg, power) for arg in reversed(node.args)]
        elif node.op == "neg" and 2 * power <= room:
            waiting += [(node.args[0], power), (const(-1.0), power)]
        elif node.op == "powi" and 0 < node["k"] * power <= room:
            waiting.append((node.args[0], node["k"] * power))
        else:
            found[node] += power
    return found


def _norms(divisor: Expr) -> "tuple[list[Expr], Counter[Expr]]":
    """The norms of which a divisor is a product, and its other factors. The square of a norm may be written as a sum."""
    norms: list[Expr] = []
    others: Counter[Expr] = Counter()
    for factor, count in _factors(divisor).items():
        root = build("sqrt", factor) if factor.op in ("add", "sum") else factor
        norm, power = (factor, 1) if _parts(factor) or not _parts(root) else (root, 2)
        parts = _parts(norm)
        if parts and sum(part.size for part in parts) <= POLICY.most_elements:
            norms += [norm] * (power * count)
        else:
            others[factor] += count
    return norms, others


def _powers(factors: "Counter[Expr]") -> list[Expr]:
    return [u if count == 1 else build("powi", u, k=count) for u, count in factors.items() if count]


def _product(factors: list[Expr]) -> Expr:
    return reduce(lambda a, b: build("mul", a, b), factors)


def _summed(term: Expr) -> Expr:
    return build("sum", term, axes=tuple(range(len(term.shape)))) if term.shape else term


def _parts(norm: Expr) -> list[Expr]:
    """What this is a norm of, one that is at least as large as every element; nothing if it is none."""
    found: dict[Expr, None] = {}
    waiting = [(norm, False)]
    while waiting:
        node, squared = waiting.pop()  # is it squared and summed up?
        if node.op == "norm" or (node.op == "abs" and not squared):
            found[node.args[0]] = None
        elif node.op == "hypot":
            waiting += [(arg, True) for arg in reversed(node.args)]
        elif squared:
            found[node] = None
        elif node.op in ("add", "max"):
            waiting += [(arg, False) for arg in reversed(node.args)]
        elif node.op in ("sum", "amax") and node.args[0].op == "abs":
            found[node.args[0].args[0]] = None
        else:
            return []
    return list(found)


def _is_lipschitz(node: Expr) -> bool:
    """Is the operation defined everywhere, and Lipschitz on every bounded set?"""
    if node.op == "powi":
        return node["k"] > 0
    if node.op == "const":
        return bool(np.isfinite(node.lo).all() and np.isfinite(node.hi).all())
    return OPS[node.op].status >= LIPSCHITZ and node.kind is not Kind.SCAN


def _at_zero(u: Expr) -> Fraction | None:
    """The number that each element of u is where its variables are 0, if that is known without rounding."""
    known: dict[Expr, Fraction | None] = {}
    for node in topological([u]):
        args, constant = [known[a] for a in node.args], scalar_of(node)
        value: Fraction | None = None
        if node.op == "var" or (node.op == "mul" and 0 in args) or (node.op in _SUMS and set(args) == {0}):
            value = Fraction(0)
        elif constant is not None:
            value = Fraction(constant)
        elif node.kind is Kind.VIEW and node.op not in ("embed", "scatter"):
            value = args[0] if len(set(args)) == 1 else None
        elif None not in args and node.op in _EXACT:
            value = Fraction(_EXACT[node.op](*args))
        elif node.op == "powi" and args[0] in (0, 1):
            value = args[0]
        elif (expansion := OPS[node.op].taylor) and args[0] == expansion[0] == 0:
            value = Fraction(expansion[1][0])
        known[node] = value
    return known[u]
