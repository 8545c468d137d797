"""Squares completed, for variables without bounds: x**2 - 16 * x is (x - 8)**2 - 64, which has a lower bound on the whole line,
where x**2 and 16 * x are both infinite."""

from collections import defaultdict
from dataclasses import replace
from fractions import Fraction

from infimum.expr.build import build, index, reshape
from infimum.expr.node import Expr
from infimum.expr.rationals import between_doubles
from infimum.expr.rewriting_switches import step
from infimum.problem.system import System
from infimum.structure.defined_variable import is_number, multiple


@step("completed squares", lambda system, x, chosen: system)
def completed(system: System, x: Expr, chosen: set[int]) -> System:
    """The same system, with squares of these variables completed in f and in constraints that are no arrays.

    >>> from infimum.expr.build import index
    >>> from infimum.expr.node import var
    >>> import numpy as np
    >>> x = var("x", (2,))
    >>> f = build("sub", build("powi", index(x, 0), k=2), build("mul", 16.0, index(x, 0)))
    >>> completed(System(f, (), np.zeros(0), np.zeros(0)), x, {0}).f
    (powi((reshape(slice(x, counts=(1,), starts=(0,), steps=(1,))) + -8.0), k=2) + -64.0)
    """
    bodies = tuple(reshape(_completed(reshape(body, ()), x, chosen), (1,)) if body.size == 1 else body for body in system.bodies)
    return replace(system, f=_completed(system.f, x, chosen), bodies=bodies)


def _completed(f: Expr, x: Expr, chosen: set[int]) -> Expr:
    """f, if it is a sum, with the square and the multiple of a variable as one term wherever each of them is there once."""
    terms: list[Expr] = []
    squares, multiples = defaultdict(list), defaultdict(list)
    stack = [(f, False)]
    while stack:
        node, minus = stack.pop()
        if node.op in ("add", "sub", "neg"):
            signs = (not minus,) if node.op == "neg" else (minus, minus != (node.op == "sub"))
            stack += list(zip(node.args, signs, strict=True))[::-1]
            continue
        if (known := _square(node, x)) is not None and known[0] in chosen:
            squares[known[0]].append((len(terms), -known[1] if minus else known[1], known[2]))
        elif (known := multiple(node, 0, x)) is not None and known[0] in chosen:
            multiples[known[0]].append((len(terms), Fraction(-known[1] if minus else known[1])))
        terms.append(build("neg", node) if minus else node)
    both = [i for i in squares if len(squares[i]) == len(multiples[i]) == 1]
    for i in both:
        (at, a, s), (other, b) = squares[i][0], multiples[i][0]  # a (x + s)**2 + b x
        shift, factor, rest = (between_doubles([q], ()) for q in (s + b / (2 * a), a, -b * s - b * b / (4 * a)))
        terms[at] = build("mul", factor, build("powi", build("add", index(x, i), shift), k=2))
        terms[other] = rest
    value = terms[0]
    for term in terms[1:]:
        value = build("add", value, term)
    return value if both else f


def _square(node: Expr, x: Expr) -> tuple[int, Fraction, Fraction] | None:
    """(i, a, s), if the node is a (x[i] + s)**2 and no more."""
    factor, shift = Fraction(1), Fraction(0)
    if node.op == "mul" and any(map(is_number, node.args)):
        by, node = node.args if is_number(node.args[0]) else node.args[::-1]
        factor = Fraction(by.lo.item())
    if node.op != "powi" or node["k"] != 2:
        return None
    base = node.args[0]
    if base.op in ("add", "sub") and any(map(is_number, base.args)):
        by, other = base.args if is_number(base.args[0]) else base.args[::-1]
        shift, base = Fraction(by.lo.item()) * (1 if base.op == "add" else -1), other  # (c - x)**2 is (x - c)**2
    found = multiple(base, 0, x)
    return (found[0], factor, shift) if found is not None and found[1] == 1.0 and factor else None
