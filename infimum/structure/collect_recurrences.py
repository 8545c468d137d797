"""Recurrences collected: the terms of a sum that hold one of its other terms as a factor become one product.

A step of a recurrence adds to a state what depends on it: u + h (p - q u) is traced as it is written, and its enclosure grows
by 1 + h |q| where u (1 - h q) + h p grows by 1 - h q. In a long recurrence that is all the difference. It is the same function
with the same domain: linear maps are applied to each term, and all that was read still is.

A term is only a candidate if it stands there by itself, up to constant factors, and another term holds it together with something
that is not constant. Pure powers of it stay as they are: squares are convex, and products are not.

Proof: docs/proofs/affine_bounds.md.
"""

from collections import Counter
from collections.abc import Iterator
from functools import reduce
from itertools import islice

from infimum.expr.build import build, rebuilt
from infimum.expr.node import Expr, const, is_number, topological
from infimum.expr.rewriting_switches import step
from infimum.search.policy.search import REARRANGEMENT as POLICY
from infimum.structure.totals import Part, scaled


@step("collected sums", lambda f: f)
def collected(f: Expr) -> Expr:
    """f with its sums collected, or f itself where there is nothing to collect."""
    states = {total: (terms, state) for total, terms, state in _states(f)}
    new: dict[Expr, Expr] = {}
    for node in topological([f]) if states else ():
        new[node] = _sum_of(*states[node], new, node.line) if node in states else rebuilt(node, new)
    return new.get(f, f)


@step("collected sums", lambda f, count: False)
def has_steps(f: Expr, count: int) -> bool:
    """Has f at least this number of sums that can be collected, as a recurrence with as many steps has?"""
    return next(islice(_states(f), count - 1, None), None) is not None


def _states(f: Expr) -> Iterator[tuple[Expr, list[Part], Expr]]:
    """The sums that can be collected, with their terms and the one that the others hold."""
    nodes = list(topological([f]))
    users = Counter(arg for node in nodes for arg in node.args)
    below = {node: _below(node) for node in nodes}
    inner = {arg for node in nodes if below[node] is not None for arg, _ in below[node]
             if below[arg] is not None and users[arg] == 1}
    for node in nodes:
        terms = _terms(node, below, inner) if below[node] is not None and node not in inner else None
        state = None if terms is None else _state(terms)
        if state is not None:
            yield node, terms, state


def _below(node: Expr) -> list[Part] | None:
    """The terms that a sum is made of, one step down; None if it is none, nor a multiple."""
    left, right = (*node.args, None, None)[:2]
    match node.op:
        case "add":
            return [(left, ()), (right, ())]
        case "sub":
            return [(left, ()), (right, (("neg", ()),))]
        case "neg":
            return [(left, (("neg", ()),))]
        case "mul" if is_number(left) or is_number(right):
            left, right = (right, left) if is_number(left) else (left, right)
            return [(left, (("mul", (right,)),))]
        case "div" if is_number(right):
            return [(left, (("div", (right,)),))]
    return None


def _terms(total: Expr, below: dict[Expr, list[Part] | None], inner: set[Expr]) -> list[Part] | None:
    """The terms of a sum in the end, each with its scaling; None if they are one, or too many."""
    found: list[Part] = []
    stack: list[Part] = [(total, ())]
    while stack and len(found) <= POLICY.most_terms:
        node, scaling = stack.pop()
        if node is total or node in inner:
            stack += [(part, scaling + step) for part, step in reversed(below[node])]
        else:
            found.append((node, scaling))
    return found if 1 < len(found) <= POLICY.most_terms else None


def _factors(node: Expr) -> list[Expr]:
    """The factors of a product; a number by itself is its own."""
    found, stack = [], [node]
    while stack and len(found) + len(stack) <= POLICY.most_factors:
        node = stack.pop()
        if node.op == "mul":
            stack += node.args
        else:
            found.append(node)
    return [*found, *stack]


def _state(terms: list[Part]) -> Expr | None:
    """The term that most others hold as a factor beside something else; None if there is none."""
    counts = {node: 0 for node, _ in terms if not is_number(node)}
    for node, _ in terms:
        factors = [a for a in _factors(node) if not is_number(a)]
        if len(factors) > 1:
            for state in dict.fromkeys(_base(a) for a in factors):
                if state in counts:
                    counts[state] += 1
    best = max(counts, key=counts.__getitem__, default=None)
    return best if best is not None and counts[best] else None


def _base(factor: Expr) -> Expr:
    """u of u**k."""
    return factor.args[0] if factor.op == "powi" and factor["k"] > 1 else factor


def _sum_of(terms: list[Part], state: Expr, new: dict[Expr, Expr], line: str | None) -> Expr:
    """The sum with all that holds the state as one product."""
    holding, others = [], []
    for node, scaling in terms:
        factors = _factors(node)
        alone = node is state
        where = next((k for k, a in enumerate(factors) if _base(a) is state), None)
        if alone or (where is not None and len([a for a in factors if not is_number(a)]) > 1):
            rest = [] if alone else [new[a] for k, a in enumerate(factors) if k != where]
            if not alone and factors[where] is not state:
                rest.append(build("powi", new[state], k=factors[where]["k"] - 1, line=line))
            product = reduce(lambda p, q: build("mul", p, q, line=line), rest) if rest else const(1.0)
            holding.append(scaled(product, scaling))
        else:
            others.append(scaled(new[node], scaling))
    factor = reduce(lambda p, q: build("add", p, q, line=line), holding)
    return reduce(lambda p, q: build("add", p, q, line=line), [build("mul", new[state], factor, line=line), *others])
