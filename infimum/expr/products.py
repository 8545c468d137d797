"""Products of many factors as exponentials of sums, where that is allowed: a sum of small terms is found in them then."""

from infimum.expr.build import build, substituted
from infimum.expr.node import Expr, topological


def with_logarithms(f: Expr) -> Expr:
    """f with each `prod` as e to the sum of the logarithms of its factors: the same function where all of these are positive, and
    undefined elsewhere."""
    new = {node: build("exp", build("sum", build("log", node.args[0]), axes=node["axes"]))
           for node in topological([f]) if node.op == "prod"}
    return substituted(f, new) if new else f
