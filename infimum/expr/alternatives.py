"""Other forms of a piece for slices on which it has a pole, an edge of its domain, or 0 / 0.

Each has the value of the piece wherever the piece is defined, so that its natural enclosure holds beside that of the piece; the
status is the piece's in any case.
"""

from dataclasses import dataclass
from functools import lru_cache

from infimum.expr.asymptotic import Walk
from infimum.expr.node import Expr, topological
from infimum.expr.signs import is_nonnegative

_MOST_NODES, _MOST_BASES, _MOST_ORDERS = 100, 3, 3


@dataclass(frozen=True)
class Alternative:
    """An expression that has the value of another wherever that is defined; `means` stand for unknown numbers between 0 and 1,
    which depend on the point, so that it must not be differentiated."""

    value: Expr
    means: tuple[Expr, ...] = ()


@lru_cache(maxsize=64)  # the pairs of a sum over pairs are one expression
def alternatives(value: Expr, variable: Expr, nonnegative: bool = False) -> tuple[Alternative, ...]:
    """Other forms of an expression of one variable, which may be known not to be negative, element by element."""
    nodes = list(topological([value]))
    if len(nodes) > _MOST_NODES:
        return ()
    found = []
    for base in _bases(nodes, variable)[:_MOST_BASES]:
        for order in range(_MOST_ORDERS + 1):
            walk = Walk(base, order, is_nonnegative(base) or (nonnegative and base is variable))
            other = walk.joined(walk.of(value))
            if not walk.singular or (order and not walk.means):
                break
            if walk.calm or (walk.mixed and not order):
                found.append(Alternative(other, tuple(walk.means)))
            if walk.calm:
                break
    return tuple(other for other in found if other.value is not value)


def _bases(nodes: list[Expr], variable: Expr) -> list[Expr]:
    """What may vanish where the expression has a pole: divisors, what is raised to a power, arguments of logarithms."""
    reads = {variable}
    found: dict[Expr, None] = {}
    for node in nodes:
        if reads.intersection(node.args):
            reads.add(node)
    for node in nodes:
        waiting = [arg for arg in _vanishing(node) if arg in reads]
        while waiting:
            arg = waiting.pop(0)
            if arg.op == "powi" and arg["k"] % 2 == 0 and node.op.startswith("log"):
                found[arg] = None  # log(x**2) has terms in x**2, but none in x
            if arg.op in ("powi", "sqrt", "neg", "mul"):
                waiting += [a for a in arg.args if a in reads]
            else:
                found[arg] = None
    return [variable, *(base for base in found if base is not variable)] if found else []


def _vanishing(node: Expr) -> tuple[Expr, ...]:
    match node.op:
        case "div":
            return node.args[1:]
        case "powi":
            return node.args if node["k"] < 0 else ()
        case "log" | "log2" | "log10" | "xlogx" | "pow":
            return node.args[:1]
    return ()
