"""Rough and calm: f = rough + calm, where calm is Lipschitz wherever its arguments are finite, and rough may not be.

No derivative tells anything of sqrt(|u|) + v where u meets 0. But its lower bound is that of sqrt(|u|) plus that of v, and v can
still be enclosed by its mean value form.

Proof: docs/proofs/jumps.md.
"""

from infimum.expr.build import build
from infimum.expr.node import Expr, is_const, topological
from infimum.expr.rewriting_switches import step
from infimum.interval.pair import LIPSCHITZ
from infimum.ops.vocabulary import OPS
from infimum.search.policy.search import RECOGNITION as POLICY

Parts = tuple[Expr | None, Expr | None]


@step("rough and calm", lambda f: None)
def lipschitz_parts(f: Expr) -> tuple[Expr, Expr] | None:
    """(rough, calm), or None where f is no sum of both."""
    nodes = list(topological([f]))
    calm: dict[Expr, bool] = {}
    for node in nodes:
        calm[node] = all(calm[a] for a in node.args) and _is_lipschitz(node)
    if calm[f] or len(nodes) > POLICY.lipschitz_operations:
        return None
    parts: dict[Expr, Parts] = {}
    for node in nodes:
        parts[node] = (None, node) if calm[node] else _split(node, parts)
    rough, rest = parts[f]
    if rough is None or rest is None or not any(node.op == "var" for node in topological([rest])):
        return None
    return rough, rest


def _is_lipschitz(node: Expr) -> bool:
    if node.op == "div":
        return is_const(node.args[1])
    if node.op == "powi":
        return node["k"] >= 0
    return OPS[node.op].status >= LIPSCHITZ


def _split(node: Expr, parts: dict[Expr, Parts]) -> Parts:
    """(rough, calm) of a node that is not calm: as its arguments are where it is linear, else rough."""
    if node.op in ("add", "sub"):
        (a, c), (b, d) = (parts[arg] for arg in node.args)
        return _joined(node, a, b), _joined(node, c, d)
    if node.op in ("neg", "sum") or (node.op == "div" and is_const(node.args[1])):
        return tuple(None if p is None else _with(node, 0, p) for p in parts[node.args[0]])
    if node.op == "mul" and any(map(is_const, node.args)):
        k = 1 if is_const(node.args[0]) else 0
        return tuple(None if p is None else _with(node, k, p) for p in parts[node.args[k]])
    return node, None


def _joined(node: Expr, a: Expr | None, b: Expr | None) -> Expr | None:
    if b is None:
        return a
    if a is None:
        return b if node.op == "add" else build("neg", b)
    return build(node.op, a, b)


def _with(node: Expr, k: int, arg: Expr) -> Expr:
    """The node with its k-th argument replaced."""
    args = [arg if i == k else old for i, old in enumerate(node.args)]
    return build(node.op, *args, line=node.line, **dict(node.params))
