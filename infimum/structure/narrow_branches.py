"""Narrowing: what a test says of a quantity holds in the branches of `np.where`.

In where(u < c, a, b) a branch counts only where the test says so. On a box where it is undecided, the branch a is nevertheless
enclosed for all of u: a cubic that is meant for a ball is enclosed far outside it. With u replaced by min(u, c) in a, and by
max(u, c) in b, it is the same function (docs/proofs/jumps.md), and its branches are enclosed where they count. What is replaced
is u at the same position only: element by element, or anywhere if u and the choice are single numbers.

Both branches may hold other choices that read u as well, and each branch has its own bound: what they share is written twice,
and where choices follow one another that would double again and again. A function that becomes much longer stays as it is.
"""

from collections.abc import Iterator
from typing import NamedTuple

from infimum.expr.build import build, rebuilt
from infimum.expr.node import Expr, is_number, operations, topological
from infimum.expr.rewriting_switches import step
from infimum.ops.vocabulary import Kind
from infimum.search.policy.search import RECOGNITION as POLICY


class BranchFact(NamedTuple):
    """Where a test has come out so, `quantity` equals `bound(quantity, constant)`, `bound` being min or max."""

    quantity: Expr
    bound: str
    constant: Expr


@step("narrowed branches", lambda f: f)
def narrowed(f: Expr) -> Expr:
    """The same function, its choices narrowed."""
    nodes = list(topological([f]))
    facts = {node: [(branch, fact) for branch in (1, 2) for fact in _facts(node.args[0], branch == 1)]
             for node in nodes if node.op == "where"}
    if not 0 < len(facts) <= POLICY.most_choices:
        return f
    quantities = dict.fromkeys(fact.quantity for found in facts.values() for _, fact in found)
    bits = {quantity: 1 << i for i, quantity in enumerate(quantities)}
    reads: dict[Expr, int] = {}  # which quantities
    new: dict[Expr, Expr] = {}
    work = 0
    for node in nodes:
        reads[node] = bits.get(node, 0)
        for arg in node.args:
            reads[node] |= reads[arg]
        new[node] = rebuilt(node, new)
        branches = [new[a] for a in node.args]
        for branch, (quantity, bound, constant) in facts.get(node, ()):
            if reads[node.args[branch]] & bits[quantity]:
                old, everywhere = new[quantity], node.size == quantity.size == 1
                replaced = _replaced(branches[branch], old, build(bound, old, constant), everywhere)
                branches[branch] = replaced[branches[branch]]
                work += len(replaced)
                if work > POLICY.branch_operations:
                    return f
        if node in facts:
            new[node] = build("where", *branches, line=node.line)
    return new[f] if operations(new[f]) <= POLICY.branch_growth * len(nodes) else f


def _facts(test: Expr, outcome: bool) -> Iterator[BranchFact]:
    """What is known where the test has this outcome."""
    stack = [(test, outcome)]
    while stack:
        node, true = stack.pop()
        if node.op == "not":
            stack.append((node.args[0], not true))
        elif node.op == ("and" if true else "or"):
            stack += [(part, true) for part in node.args]
        elif node.op in ("lt", "le"):
            left, right = node.args
            if is_number(right) and not is_number(left):
                yield BranchFact(left, "min" if true else "max", right)
            elif is_number(left) and not is_number(right):
                yield BranchFact(right, "max" if true else "min", left)


def _replaced(root: Expr, old: Expr, by: Expr, everywhere: bool) -> dict[Expr, Expr]:
    """The root and what it is made of with `by` for `old`: everywhere, or only where it is read at the same position."""
    new = {old: by}
    stack = [root]
    while stack:
        node = stack[-1]
        inside = node not in new and (everywhere or node.kind in (Kind.MAP, Kind.TEST))
        missing = [a for a in node.args if a not in new] if inside else []
        if missing:
            stack += missing
            continue
        if node not in new:
            new[node] = rebuilt(node, new) if inside else node
        stack.pop()
    return new
