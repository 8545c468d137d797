"""Scalars that couple all variables: functions that would be sums of small terms, were it not for a norm or a mean.

`coupling_of(f, n)` finds scalars s that are sums of small terms themselves, s = G(x), such that f is a sum of small terms of x
and s. So for any number λ

    f(x) = F(x, s) + λ (G(x) - s)        where s = G(x),

and the right-hand side is a sum of small terms of x and s, in which every term may read s. Numbers λ are chosen later: in the
tables of constants they are marked.

Proof: docs/proofs/chains.md.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from infimum.expr.build import broadcast, build, concat, index, reshape, substituted
from infimum.expr.node import Expr, between, const, is_const, topological, var
from infimum.expr.rewriting_switches import step
from infimum.ops.vocabulary import Kind
from infimum.search.policy.search import RECOGNITION as POLICY
from infimum.structure.products_as_sums import as_sums, products_of
from infimum.structure.term_sums import C, TermFamily, X, families_of
from infimum.support.lazy import dataclass

_TOTALS = ("sum", "norm", "add", "sub")


@dataclass(frozen=True, slots=True)
class Coupling:
    """scalars: as functions of the n variables alone. families: the terms of F(x, s) + Σ λ_k (G_k(x) - s_k), where s_k is
    variable number n + k. The constants λ_k have the ends NaN and k. signed: a product of many factors whose sign, 1 or -1, is
    the first scalar; that has no term with λ. above: where all scalars are above these, the derivatives of f are found from
    the terms. Not where a product is cut off (`products_as_sums.py`), and nowhere if a scalar depends on another one."""

    scalars: list[Expr]
    families: list[TermFamily]
    above: list[float]
    signed: Expr | None

    @property
    def logarithms(self) -> list[bool]:
        """Which scalars are logarithms of products."""
        return [s.op == "sum" and s.args[0].op == "log" for s in self.scalars]

    @property
    def compares(self) -> bool:
        """Is there a condition in it, so that it may be defined where a scalar is not?"""
        return any(node.kind is Kind.TEST for family in self.families for node in topological([family.value]))


@step("terms", lambda f, n, enclosures=None: None)
def coupling_of(f: Expr, n: int, enclosures: Callable[[Expr], Any] | None = None) -> Coupling | None:
    """The coupling of f, a function of `x` (n,), if it has one. `enclosures`: of the elements of a node, on the box that is
    searched; without them products are none."""
    both = var(X, (n + POLICY.most_coupling_scalars,))
    without = as_sums(f, products_of(f, n) if enclosures else [], enclosures, index(both, n))
    to_both = {var(X, (n,)): index(both, slice(0, n))}
    whole, cut = substituted(without.f, to_both), {substituted(total, to_both): above for total, above in without.cut.items()}
    signs = 0 if without.signed is None else 1
    scalars, sums = [between(-1.0, 1.0)] * signs, [const(0.0)] * signs
    families = families_of(whole, both, POLICY.term_variables + POLICY.most_coupling_scalars)
    while families is None or _widest(families, n) > POLICY.term_variables:
        found = _scalars(whole, both, n)
        if not found or len(found) + len(sums) > POLICY.most_coupling_scalars:
            return None
        inner = concat([var(X, (n,)), *(reshape(s, (1,)) for s in scalars),
                        const(np.zeros(POLICY.most_coupling_scalars - len(sums)))])
        new: dict[Expr, Expr] = {}
        for node, total in found:
            s = index(both, n + len(sums))
            new[node] = reshape(build("sqrt", s) if node.op == "norm" else s, node.shape)
            sums.append(reshape(total, ()))
            scalars.append(substituted(sums[-1], {both: inner}))
        whole = _spread(substituted(whole, new), n)
        families = families_of(whole, both, POLICY.term_variables + POLICY.most_coupling_scalars)
    weights = [families_of(total, both, POLICY.term_variables + POLICY.most_coupling_scalars) for total in sums[signs:]]
    if not weights or any(np.isnan(family.lower).any() for some in (families, *weights) for family in some):  # NaN is a mark
        return None
    nested = any((family.variables >= n).any() for some in weights for family in some)
    for k, some in enumerate(weights, signs):
        families += [_weighed(family, k) for family in some] + [_itself(n + k, k)]
    parts = [part for family in families for part in _apart(family, n)]
    known = not nested and all(total in sums for total in cut)
    return Coupling(scalars, parts, [cut.get(total, -np.inf) if known else np.inf for total in sums], without.signed)


def _widest(families: list[TermFamily], n: int) -> int:
    """How many variables a term reads at most, scalars aside."""
    return max((int((family.variables < n).sum(axis=0).max(initial=0)) for family in families), default=0)


# ---- finding them
def _scalars(f: Expr, x: Expr, n: int) -> list[tuple[Expr, Expr]]:
    """(node, the sum it is, or the square of it for a norm) of scalars below what is no sum, the largest ones."""
    found, seen, tried = [], set(), 0
    stack = [(f, True)]
    while stack:
        node, top = stack.pop()
        if (node, top) in seen or node.kind is Kind.LEAF:
            continue
        seen.add((node, top))
        if top and (parts := _summands(node)) is not None:
            stack += parts
            continue
        if node.size == 1 and node.op in _TOTALS:
            tried += 1
            total = build("sum", build("powi", node.args[0], k=2), axes=node["axes"]) if node.op == "norm" else node
            if tried > POLICY.most_tried_scalars:
                return []
            if _is_small_sum(total, x, n):
                found.append((node, total))
                continue
        stack += [(a, False) for a in node.args]
    return found


def _is_small_sum(total: Expr, x: Expr, n: int) -> bool:
    """A sum of small terms that reads more variables than a term may."""
    families = families_of(total, x, POLICY.term_variables + POLICY.most_coupling_scalars)
    if families is None or _widest(families, n) > POLICY.term_variables:
        return False
    read = np.unique(np.concatenate([family.variables.reshape(-1) for family in families]))
    return int((read < n).sum()) > POLICY.term_variables


def _summands(node: Expr) -> list[tuple[Expr, bool]] | None:
    """(argument, is it a summand, so that its terms are those of f) of a sum, a view, or a sum times a scalar."""
    if node.op in ("add", "sub", "neg", "sum") or node.kind is Kind.VIEW:
        return [(a, True) for a in node.args]
    if node.op in ("mul", "div"):
        sums = [k for k, a in enumerate(node.args[:1 if node.op == "div" else 2]) if _scaled(node) is a or _holds_sum(a)]
        if sums:
            return [(a, k == sums[0]) for k, a in enumerate(node.args)]
    return None


def _scaled(node: Expr) -> Expr | None:
    """What is multiplied by a constant, or divided by one."""
    if node.op == "neg" or (node.op in ("mul", "div") and is_const(node.args[1])):
        return node.args[0]
    return node.args[1] if node.op == "mul" and is_const(node.args[0]) else None


def _holds_sum(node: Expr) -> bool:
    """Is it a sum, times a constant maybe?"""
    while (inner := node.args[0] if node.kind is Kind.VIEW and len(node.args) == 1 else _scaled(node)) is not None:
        node = inner
    return node.op in ("sum", "add", "sub")


# ---- factors that are scalars go into sums
def _spread(f: Expr, n: int) -> Expr:
    """(Σ t_i) h(s) as Σ t_i h(s): defined at the same points, and the same there."""
    reads: dict[Expr, bool] = {}  # does a node read variables other than scalars?
    for node in topological([f]):
        if node.op == "slice" and node.args[0].op == "var":
            reads[node] = node["starts"][0] < n
        else:
            reads[node] = node.op == "var" or any(reads[a] for a in node.args)
    new: dict[Expr, Expr] = {}
    for node in topological([f]):
        if node.op in ("mul", "div") and node.size == 1:
            k = 0 if node.op == "div" or not reads[node.args[1]] else 1
            inside, factor = node.args[k], node.args[1 - k]
            if not reads[factor] and not is_const(factor) and _holds_sum(inside):
                new[node] = _times(inside, node.op, factor)
    return substituted(f, new) if new else f


def _times(total: Expr, op: str, factor: Expr) -> Expr:
    """A sum, with its summands multiplied or divided. Python's stack is too short for sums that were written as loops."""
    done: dict[Expr, Expr] = {}
    stack = [total]
    while stack:
        node = stack[-1]
        scaled = _scaled(node)
        parts = list(node.args) if node.op in ("add", "sub") else [] if scaled is None else [scaled]
        missing = [a for a in parts if a not in done]
        if missing:
            stack += missing
            continue
        stack.pop()
        if parts:
            done[node] = build(node.op, *(done[a] if a in parts else a for a in node.args))
        elif node.op == "sum":
            inside = node.args[0]
            done[node] = build("sum", build(op, inside, broadcast(reshape(factor, ()), inside.shape)), axes=node["axes"])
        else:
            done[node] = build(op, node, factor)
    return done[total]


# ---- terms with a multiplier
def _weighed(family: TermFamily, k: int) -> TermFamily:
    """The terms times λ_k."""
    m, count = len(family.lower), family.count
    constants = var(C, (m + 1,))
    value = substituted(family.value, {index(var(C, (m,)), i): index(constants, i) for i in range(m)})
    return TermFamily(build("mul", index(constants, m), value), family.variables,
                      np.concatenate([family.lower, np.full((1, count), np.nan)]),
                      np.concatenate([family.upper, np.full((1, count), float(k))]))


def _itself(variable: int, k: int) -> TermFamily:
    """-λ_k s_k."""
    value = build("neg", build("mul", index(var(C, (1,)), 0), index(var(X, (1,)), 0)))
    return TermFamily(value, np.array([[variable]]), np.full((1, 1), np.nan), np.full((1, 1), float(k)))


def _apart(family: TermFamily, n: int) -> list[TermFamily]:
    """Terms that read scalars in other places are other families."""
    which = (family.variables >= n).astype(np.int64)
    patterns = np.unique(which, axis=1)
    if patterns.shape[1] == 1:
        return [family]
    chosen = [(which == pattern[:, None]).all(axis=0) for pattern in patterns.T]
    return [replace(family, variables=family.variables[:, mine], lower=family.lower[:, mine], upper=family.upper[:, mine])
            for mine in chosen]
