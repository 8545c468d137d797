"""Which elements of an expression are whole numbers.

Proof: docs/proofs/powers.md.
"""

import numpy as np

from infimum.expr.build import VIEWS
from infimum.expr.node import Expr
from infimum.ops.vocabulary import Kind

STEP_FUNCTIONS = ("floor", "ceil", "rint", "sign")
_KEEP_WHOLE = ("add", "sub", "mul", "neg", "abs", "min", "max", "sum", "prod", "amin", "amax", "cumsum", "cumprod", "cummin",
               "cummax")


def whole_elements(nodes: list[Expr], integers: tuple[int, ...] = ()) -> dict[Expr, np.ndarray]:
    """Of each node, arguments before what is made of them: which elements are whole numbers wherever they are defined and the
    variables of these numbers are whole.

    >>> from infimum.expr.node import topological
    >>> from infimum.trace.trace import trace
    >>> f = trace(lambda x: np.floor(x[0]) * 2 + x[1], 2)
    >>> [bool(whole_elements(list(topological([f])), which)[f]) for which in ((), (1,))]
    [False, True]
    """
    found: dict[Expr, np.ndarray] = {}
    for node in nodes:
        found[node] = np.broadcast_to(_whole(node, [found[a] for a in node.args], integers), node.shape)
    return found


def _whole(node: Expr, args: list[np.ndarray], integers: tuple[int, ...]) -> np.ndarray | bool:
    if node.op == "var":
        return np.isin(np.arange(node.size), integers).reshape(node.shape)
    if node.op == "const":
        return (node.lo == node.hi) & (node.lo == np.floor(node.lo))
    if node.op in VIEWS:
        return VIEWS[node.op](node, *args)
    if node.op == "where":
        return args[1] & args[2]
    if node.kind is Kind.REDUCE and node.op in _KEEP_WHOLE:
        return args[0].all(axis=node["axes"])
    if node.kind is Kind.MAP and (node.op in _KEEP_WHOLE or (node.op == "powi" and node["k"] >= 0)):
        return np.logical_and.reduce(args)
    if node.kind is Kind.VIEW or node.op in _KEEP_WHOLE:
        return bool(args[0].all())
    return node.op in STEP_FUNCTIONS
