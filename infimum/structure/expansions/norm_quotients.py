"""Quotients u / ||a|| of a function that vanishes with a: bounded near a = 0, where intervals have 0 / 0.

If u reads nothing but a, is Lipschitz on every bounded set and u(0) = 0, then by the mean value theorem (Lebourg's, for
generalised gradients) u(a) = g(m a) . a for some m in [0, 1], so that u(a) / ||a|| is the sum of g_i(m a) a_i / ||a||, where
|a_i| <= ||a||.

Proof: docs/proofs/poles_and_edges.md.
"""

from fractions import Fraction
from functools import reduce

import numpy as np

from infimum.expr.build import broadcast, build, substituted
from infimum.expr.differentiate import gradient
from infimum.expr.node import Expr, topological, var
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
    found = {node: _other_form(node) for node in topological([f]) if node.op == "div" and node.args[1].op in ("norm", "hypot")}
    return {node: other for node, other in found.items() if other is not None}


def _other_form(node: Expr) -> Alternative | None:
    u, norm = node.args
    parts = _parts(norm)
    if node.shape or sum(part.size for part in parts) > POLICY.most_elements:
        return None
    stand_in = {part: var(f"part {k}", part.shape) for k, part in enumerate(parts)}
    alone = substituted(u, stand_in)
    if {node for node in topological([alone]) if node.op == "var"} - set(stand_in.values()):
        return None  # it reads something else
    if not all(_is_lipschitz(node) for node in topological([alone])) or _at_zero(alone) != 0:
        return None
    mean, terms = var("mean", ()), []
    between = {stand_in[part]: build("mul", broadcast(mean, part.shape), part) for part in parts}
    for part in parts:
        slope = substituted(gradient(alone, stand_in[part]), between)
        terms.append(build("mul", build("ratio", part, broadcast(norm, part.shape)), slope))
    return Alternative(reduce(lambda a, b: build("add", a, b), [_summed(term) for term in terms]), (mean,))


def _summed(term: Expr) -> Expr:
    return build("sum", term, axes=tuple(range(len(term.shape)))) if term.shape else term


def _parts(norm: Expr) -> list[Expr]:
    """What the norm is of: its array, or the numbers of a chain of `hypot`."""
    if norm.op == "norm":
        return [norm.args[0]]
    found, waiting = {}, [norm]
    while waiting:
        node = waiting.pop()
        if node.op == "hypot":
            waiting += reversed(node.args)
        else:
            found[node] = None
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
