"""Functions to minimise that are minus a product of variables: their logarithms."""

from fractions import Fraction
from typing import NamedTuple

from infimum.expr.build import build
from infimum.expr.node import Expr, const
from infimum.expr.rewriting_switches import step
from infimum.ops.vocabulary import Kind
from infimum.search.policy.search import RECOGNITION as POLICY
from infimum.support.given_numbers import round_down, round_up


class MinusProduct(NamedTuple):
    """f = factor · exp(-p), factor < 0, wherever p is defined: what lowers p lowers f."""

    factor: float
    p: Expr


@step("minus a product", lambda f: None)
def minus_product(f: Expr) -> MinusProduct | None:
    """f as that, if it is a negative multiple of a product of at least two variables. p is defined where all are positive.

    >>> import numpy as np
    >>> from infimum.trace.trace import trace
    >>> minus_product(trace(lambda x: -2 * np.prod(x), 3)).factor, minus_product(trace(lambda x: x[0] * x[1], 2))
    (-2.0, None)
    """
    factor, logarithms, factors, waiting = Fraction(1), [], 0, [(f, 1)]
    while waiting:
        node, power = waiting.pop()
        if node.op == "neg":
            factor *= (-1) ** power
            waiting.append((node.args[0], power))
        elif node.op == "mul":
            waiting += [(arg, power) for arg in node.args]
        elif node.op == "const":
            value = float(node.lo.reshape(-1)[0])
            exact = node.size == 1 and node.lo.reshape(-1)[0] == node.hi.reshape(-1)[0]
            if not exact or value == 0.0 or power > POLICY.largest_number_power:
                return None
            factor *= Fraction(value) ** power
        elif node.op == "powi" and node["k"] > 0:
            waiting.append((node.args[0], power * node["k"]))
        else:
            many = node.op == "prod" and node.size == 1
            if not _reads_variables_as_they_are(node.args[0] if many else node):
                return None
            found = build("log", node.args[0] if many else node)
            found = build("sum", found, axes=tuple(range(len(found.shape)))) if many else found
            logarithms.append(found if power == 1 else build("mul", const(float(power)), found))
            factors += node.args[0].size if many else 1
    if factors < 2 or factor >= 0 or round_down(factor) != round_up(factor):
        return None
    total = logarithms[0]
    for term in logarithms[1:]:
        total = build("add", total, term)
    return MinusProduct(float(factor), build("neg", total))


def _reads_variables_as_they_are(node: Expr) -> bool:
    while node.kind is Kind.VIEW and node.op in ("slice", "reshape", "gather", "transpose"):
        node = node.args[0]
    return node.op == "var"
