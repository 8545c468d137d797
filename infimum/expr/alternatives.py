"""Other forms of a piece for slices on which it has a pole, an edge of its domain, or 0 / 0.

Each has the value of the piece wherever the piece is defined, so that its natural enclosure holds beside that of the piece; the
status is the piece's in any case.
"""

from dataclasses import dataclass, replace
from functools import lru_cache

from infimum.expr.asymptotic import Walk
from infimum.expr.build import build, substituted
from infimum.expr.node import Expr, topological
from infimum.expr.signs import is_nonnegative

_MOST_NODES, _MOST_BASES, _MOST_ORDERS = 100, 3, 3


@dataclass(frozen=True)
class Alternative:
    """An expression that has the value of another wherever that is defined and `base`, if there is one, is not negative; `means`
    stand for unknown numbers between 0 and 1, which depend on the point, so that it must not be differentiated."""

    value: Expr
    means: tuple[Expr, ...] = ()
    base: Expr | None = None


@lru_cache(maxsize=64)  # the pairs of a sum over pairs are one expression
def alternatives(value: Expr, variable: Expr, nonnegative: bool = False) -> tuple[Alternative, ...]:
    """Other forms of an expression of one variable, which may be known not to be negative, element by element."""
    nodes = list(topological([value]))
    if len(nodes) > _MOST_NODES:
        return ()
    found: list[Alternative] = []
    tangents = {node: build("div", build("sin", *node.args), build("cos", *node.args)) for node in nodes if node.op == "tan"}
    same = substituted(value, tangents) if tangents else value
    for base in bases(list(topological([same])), variable)[:_MOST_BASES]:
        known = is_nonnegative(base) or (nonnegative and base is variable)
        forms, calm = _forms(same, base, known)
        if not known and not calm:
            more, _ = _forms(same, base, True)
            forms += [replace(other, base=base) for other in more if other not in forms]
        found += forms
    return tuple(other for other in found if other.value is not value)


def _forms(value: Expr, base: Expr, nonnegative: bool) -> tuple[list[Alternative], bool]:
    """Forms in one base, and whether the last of them is bounded where the base vanishes."""
    found = []
    for order in range(_MOST_ORDERS + 1):
        walk = Walk(base, order, nonnegative)
        other = walk.joined(walk.of(value))
        if order and not walk.expanded:
            break
        if walk.singular and (walk.calm or (walk.mixed and not order)):
            found.append(Alternative(other, tuple(walk.means)))
        if walk.singular and walk.calm:
            return found, True
    return found, False


def bases(nodes: list[Expr], variable: Expr) -> list[Expr]:
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
            if arg.op in ("powi", "sqrt", "neg", "mul", "div"):
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
