"""Which traced values NumPy may hold in arrays of integers, which cut what is assigned to them."""

import numpy as np

from infimum.expr.node import Expr, topological
from infimum.ops.vocabulary import OPS


def may_be_integers(x: Expr) -> bool:
    """Could NumPy hold x in an array of integers? Only what is made of conditions and constants alone can be one."""
    stack, seen = [x], set()
    while stack:
        node = stack.pop()
        if node.op == "var" or OPS[node.op].float_result:
            return False  # one float among integers makes all of them floats
        if node.op == "const" and (node.lo is not node.hi or (node.lo != np.floor(node.lo)).any()):
            return False
        if id(node) not in seen:
            seen.add(id(node))
            stack.extend(node.args[1:] if node.op == "where" else node.args)
    return True


def may_be_counts(x: Expr) -> bool:
    """Could x be an array of integers made of conditions (np.where(x > 0, 1, 0))? Constants alone were arrays of doubles."""
    return may_be_integers(x) and any(node.op == "var" for node in topological([x]))
