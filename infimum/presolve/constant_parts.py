"""Subexpressions that read no variable, as the numbers that they are."""

import numpy as np

from infimum.expr.build import substituted
from infimum.expr.node import Expr, between, topological
from infimum.expr.point_value import enclose_at_point
from infimum.expr.rewriting_switches import step
from infimum.ops.vocabulary import Kind


@step("constant parts", lambda roots: roots)
def with_constants(roots: list[Expr]) -> list[Expr]:
    """The expressions with numbers that read no variable evaluated, as tight enclosures. What is enclosed alike is taken for one
    number: so a number stays as it is written where another one has its enclosure."""
    constant, new, nodes, tops = {}, {}, list(topological(roots)), set(roots)
    taken = {_size(*ends): None for node in nodes if node.op == "const" and node.lo is not node.hi
             for ends in zip(node.lo.flat, node.hi.flat, strict=True)}
    for node in nodes:
        constant[node] = node.op != "var" and all(constant[a] for a in node.args)
        for part in node.args if not constant[node] else [node] if node in tops else ():
            if constant[part] and part.op != "const" and part.kind is not Kind.TEST and not part.shape and part not in new:
                ends = enclose_at_point(part, np.zeros(0))
                known = ends is not None and (ends[0] == ends[1] or taken.setdefault(_size(*ends), part) is part)
                new[part] = between(*ends) if known else part
    return [substituted(root, new) for root in roots]


def _size(lo: float, hi: float) -> tuple[float, float]:
    """The same for a number and its negative."""
    return (float(lo), float(hi)) if lo + hi >= 0 else (-float(hi), -float(lo))
