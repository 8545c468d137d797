"""Other forms of a piece for slices on which it has a pole, an edge of its domain, or 0 / 0.

Each has the value of the piece wherever the piece is defined, so that its natural enclosure holds beside that of the piece; the
status is the piece's in any case.

Proof: docs/proofs/poles_and_edges.md.
"""

from dataclasses import replace
from fractions import Fraction
from functools import lru_cache

from infimum.expr.build import broadcast, build, substituted
from infimum.expr.node import Expr, const, topological
from infimum.expr.rewriting_switches import step
from infimum.expr.signs import is_constant, is_nonnegative
from infimum.search.policy.search import EXPANSIONS as POLICY
from infimum.structure.expansions.asymptotic import AsymptoticExpander
from infimum.structure.expansions.power_terms import Power, Terms
from infimum.support.lazy import dataclass


@dataclass(frozen=True)
class Alternative:
    """An expression that has the value of another wherever that is defined and `domain`, if there is one, is not negative;
    `means` stand for unknown numbers between 0 and 1, which depend on the point, so that it must not be differentiated."""

    value: Expr
    means: tuple[Expr, ...] = ()
    domain: Expr | None = None


@step("other forms", lambda *piece: ())
@lru_cache(maxsize=64)  # the pairs of a sum over pairs are one expression
def alternatives(value: Expr, variable: Expr, nonnegative: bool = False, unbounded: bool = False) -> tuple[Alternative, ...]:
    """Other forms of an expression of one variable, which may be known not to be negative, or may be unbounded, element by
    element."""
    nodes = list(topological([value]))
    if len(nodes) > POLICY.most_nodes:
        return ()
    same = _by_poles(value, nodes)
    found: list[Alternative] = []
    for base in bases(list(topological([same])), variable)[:POLICY.most_bases]:
        known = is_nonnegative(base) or (nonnegative and base is variable)
        leaf = _affine(base, variable)
        forms, calm = _forms(same, base, known, leaf)
        if not known and not calm:
            more, _ = _forms(same, base, True, leaf)
            forms += [replace(other, domain=base) for other in more if other not in forms]
        found += forms
    for sign in (1.0, -1.0)[:(1 if nonnegative else 2) if unbounded else 0]:
        distance = variable if sign > 0 else build("neg", variable)
        forms, _ = _forms(same, build("powi", distance, k=-1), True, (variable, {Power(Fraction(-1)): number(sign, variable)}))
        found += [replace(other, domain=build("sub", distance, 1.0)) for other in forms]
    return tuple(other for other in found if other.value is not value)


def _by_poles(value: Expr, nodes: list[Expr]) -> Expr:
    """Tangents as quotients, log1p as a logarithm: the same function, with its poles in sight."""
    new = {node: build("div", build("sin", *node.args), build("cos", *node.args)) for node in nodes if node.op == "tan"}
    new |= {node: build("log", build("add", 1.0, *node.args)) for node in nodes if node.op == "log1p"}
    return substituted(value, new) if new else value


def _affine(base: Expr, variable: Expr) -> tuple[Expr, Terms] | None:
    """The variable, if the base is a constant more or less than it or minus it, and its terms."""
    if base.op not in ("add", "sub") or variable not in base.args:
        return None
    constant = base.args[1 - base.args.index(variable)]
    if not is_constant(constant):
        return None
    one = number(-1.0 if base.op == "sub" and base.args[1] is variable else 1.0, variable)
    offset = build("neg", constant) if base.op == "add" else constant
    return variable, {Power(): broadcast(offset, variable.shape), Power(Fraction(1)): one}


def number(value: float, like: Expr) -> Expr:
    return broadcast(const(value), like.shape)


def _forms(value: Expr, base: Expr, nonnegative: bool, variable: tuple[Expr, Terms] | None) -> tuple[list[Alternative], bool]:
    """Forms in one base, and whether the last of them is bounded where the base vanishes."""
    found, calm = [], False
    for order in range(POLICY.most_orders + 1):
        walk = AsymptoticExpander(base, order, nonnegative, variable)
        other = walk.joined(walk.of(value))
        if order and not walk.expanded:
            break
        if walk.singular and (walk.calm or (walk.mixed and not order)):
            found.append(Alternative(other, tuple(walk.means)))
        calm = walk.singular and walk.calm and not walk.signed
        if calm and (order or not walk.divides):
            break
    return found, calm


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
    others = sorted((base for base in found if base is not variable), key=lambda base: _affine(base, variable) is None)
    return [variable, *others] if found else []


def _vanishing(node: Expr) -> tuple[Expr, ...]:
    match node.op:
        case "div":
            return node.args[1:]
        case "powi":
            return node.args if node["k"] < 0 else ()
        case "log" | "log2" | "log10" | "xlogx" | "pow":
            return node.args[:1]
    return ()
