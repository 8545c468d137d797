"""Totals: scalars that are added up, or multiplied, and from what."""

from infimum.expr.build import build
from infimum.expr.node import Expr, is_const, topological
from infimum.search.policy.search import REARRANGEMENT as POLICY

Depends = dict[Expr, None]  # the nodes that read x
Scaling = tuple[tuple[str, tuple[Expr, ...]], ...]  # operations of one argument, the outermost first, with their constants
Part = tuple[Expr, Scaling]


def dependent(f: Expr, x: Expr) -> Depends:
    """The nodes of f that read x."""
    found: Depends = {}
    for node in topological([f]):
        if node is x or any(a in found for a in node.args):
            found[node] = None
    return found


def is_element(node: Expr, x: Expr) -> bool:
    """Is it x[i] with a number i?"""
    return node.op == "reshape" and node.shape == () and node.args[0].op == "slice" and node.args[0].args[0] is x


def is_costly(f: Expr) -> bool:
    """Does the function hold so large a table of data that the evaluation itself takes nearly all of the time?"""
    return sum(node.size for node in topological([f])) > POLICY.costly_numbers


def parts(node: Expr, op: str) -> list[Part] | None:
    """From what a scalar is put together by an operation, one step down; None if it is not. Sums may have scaled parts."""
    if node.shape != ():
        return None
    if node.op == op:
        return [(a, ()) for a in node.args]
    if op != "add" or node.op not in ("sub", "neg", "mul", "div"):
        return None
    left, right = (*node.args, None)[:2]
    if node.op == "sub":
        return [(left, ()), (right, (("neg", ()),))]
    if node.op == "neg":
        return [(left, (("neg", ()),))]
    if node.op == "mul" and is_const(left):
        left, right = right, left
    return [(left, ((node.op, (right,)),))] if is_const(right) else None


def totals(f: Expr, depends: Depends, op: str = "add") -> list[Expr]:
    """The largest scalars that are put together by the operation: not themselves parts of others."""
    inner, used = set(), {f}
    for node in depends:
        found = parts(node, op)
        (used if found is None else inner).update(node.args)
    return [node for node in depends if parts(node, op) is not None and (node in used or node not in inner)]


def all_parts(total: Expr, depends: Depends, op: str, most: int) -> list[Part] | None:
    """From what a total is put together in the end; None if it is too much."""
    found: list[Part] = []
    stack: list[Part] = [(total, ())]
    while stack:
        node, scaling = stack.pop()
        below = parts(node, op) if node in depends else None
        if below is None:
            found.append((node, scaling))
        else:
            stack += [(part, scaling + step) for part, step in reversed(below)]
        if len(found) + len(stack) > most:
            return None
    return found


def scaled(node: Expr, scaling: Scaling) -> Expr:
    """What the scaling makes of it."""
    for op, constants in reversed(scaling):
        node = build(op, node, *constants, line=node.line)
    return node
