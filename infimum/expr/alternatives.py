"""Other forms of a piece for slices on which it has a pole, an edge of its domain, or 0 / 0.

Each has the value of the piece wherever the piece is defined, so that its natural enclosure holds beside that of the piece; the
status is the piece's in any case.
"""

from dataclasses import dataclass
from fractions import Fraction

from infimum.expr.asymptotic import Terms, Walk, sign_of
from infimum.expr.build import build
from infimum.expr.node import Expr, topological
from infimum.expr.ops import Kind

_MOST_NODES, _MOST_BASES, _MOST_ORDERS = 300, 3, 3


@dataclass(frozen=True)
class Alternative:
    """An expression that has the value of another wherever that is defined; `means` stand for unknown numbers between 0 and 1,
    which depend on the point, so that it must not be differentiated."""

    value: Expr
    means: tuple[Expr, ...] = ()


def alternatives(value: Expr, variable: Expr, nonnegative: bool = False) -> list[Alternative]:
    """Other forms of an expression of one variable, which may be known not to be negative, element by element."""
    nodes = list(topological([value]))
    if len(nodes) > _MOST_NODES or any(node.kind is Kind.TEST for node in nodes):
        return []
    found = []
    for base in _bases(nodes, variable)[:_MOST_BASES]:
        for order in range(_MOST_ORDERS + 1):
            walk = Walk(base, order)
            terms = walk.of(value)
            other = walk.joined(terms)
            if not walk.singular or (order and not walk.means):
                break
            floor = None if order else _floor(terms, walk, is_nonnegative(base) or (nonnegative and base is variable))
            if floor is not None:
                found.append(Alternative(build("max", value, floor)))
            if walk.calm or (walk.mixed and not order):
                found.append(Alternative(other, tuple(walk.means)))
            if walk.calm:
                break
    return [other for other in found if other.value is not value]


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


def is_nonnegative(x: Expr) -> bool:
    """Is x visibly not negative, wherever it is defined?"""
    waiting = [x]
    while waiting:
        node = waiting.pop()
        if node.op in ("add", "sum", "mul", "div", "reshape", "broadcast", "slice", "gather", "transpose", "concat", "powi"):
            if node.op != "powi" or node["k"] % 2:
                waiting += node.args
        elif node.op not in ("norm", "hypot", "abs", "sqrt", "exp", "cosh") and not (node.op == "const" and (node.lo >= 0).all()):
            return False
    return True


def _floor(terms: Terms, walk: Walk, nonnegative: bool) -> Expr | None:
    """A lower bound of a t**p + b t**q + c for p < q and constants with a p < 0 < b q, the least value over t > 0.

    Its derivative is t**(p - 1) times a p + b q t**(q - p), which rises with t from a negative number to infinity: so the sum
    falls up to a point s with s**(q - p) = -a p / (b q) and rises from there, and its value at s is c + a s**p (1 - p / q). At
    t = 0 it is defined only if p > 0, and is the limit there. For t < 0 see `_holds_below_0`.
    """
    powers = sorted((p, m) for p, m in terms if (p, m) != (0, 0))
    if len(powers) != 2 or any(m for _, m in powers):
        return None
    (p, _), (q, _) = powers
    a, b, c = terms[powers[0]], terms[powers[1]], terms.get((Fraction(0), 0))
    if not (sign_of(a) * p < 0 < sign_of(b) * q) or (c is not None and any(n.op == "var" for n in topological([c]))):
        return None
    if not (nonnegative or p.denominator * q.denominator > 1 or _holds_below_0(p, q, sign_of(a))):
        return None
    base = build("div", build("mul", walk.rational(-p / q), a), b)
    least = build("mul", build("mul", walk.rational(1 - p / q), a), build("pow", base, walk.rational(p / (q - p))))
    return least if c is None else build("add", least, c)


def _holds_below_0(p: Fraction, q: Fraction, sign: int) -> bool:
    """Is the least value over t > 0 a lower bound for t < 0 too? For even powers, and if both terms are positive there while the
    least value is c plus a negative number."""
    return p % 2 == 0 and (q % 2 == 0 or (sign > 0 and q < 0))
