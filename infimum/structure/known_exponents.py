"""Exponents of which the bounds tell more than the formula: those of variables that are fixed, or that are whole numbers.

x**y has derivatives at a negative base only where the exponent is known to be one whole number on a neighbourhood. So exponents
that read fixed variables alone become constants, and those that are whole numbers wherever some variables are become that whole
number: y is rint(y) at every point that counts.

Proof: docs/proofs/powers.md.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from infimum.expr.build import build, rebuilt
from infimum.expr.node import Expr, const, topological
from infimum.expr.rewriting_switches import step
from infimum.support.lazy import LazyModule

if TYPE_CHECKING:
    from infimum.expr import fixing as variable_fixing
    from infimum.expr import whole_numbers
else:
    whole_numbers = LazyModule("expr.whole_numbers")
    variable_fixing = LazyModule("expr.fixing")


def _variable_exponents(roots: list[Expr]) -> list[Expr]:
    """The powers among them whose exponents read variables."""
    varying: dict[Expr, None] = {}
    for node in topological(roots):
        if node.op == "var" or any(arg in varying for arg in node.args):
            varying[node] = None
    return [node for node in varying if node.op == "pow" and node.args[1] in varying]


@step("fixed exponents", lambda roots, *known: roots)
def with_fixed_exponents(roots: list[Expr], x: Expr, values: np.ndarray, free: np.ndarray,
                         ends_of: Callable[[Expr], tuple[float, float] | None]) -> list[Expr]:
    """The same, where the variables not numbered in `free` have these values (n), as far as exponents are concerned. `ends_of`
    encloses an exponent that reads no other variable, at a point; it is needed where an array holds elements of both kinds.

    >>> from infimum.expr.node import var
    >>> from infimum.trace.trace import trace
    >>> x, values, free = var("x", (2,)), np.array([0.0, 3.0]), np.array([0])
    >>> with_fixed_exponents([trace(lambda x: x[0] ** x[1], 2)], x, values, free, lambda exponent: None)
    [powi(reshape(slice(x, counts=(1,), starts=(0,), steps=(1,))), k=3)]
    >>> with_fixed_exponents([trace(lambda x: x[0] ** (x + 1)[1], 2)], x, values, free, lambda exponent: (4.0, 4.0))
    [powi(reshape(slice(x, counts=(1,), starts=(0,), steps=(1,))), k=4)]
    """
    powers = _variable_exponents(roots)
    if not powers:
        return roots
    fixing, exponents = variable_fixing.VariableFixing(x, values, values, free), [node.args[1] for node in powers]
    new: dict[Expr, Expr] = {}
    for node, exponent, value in zip(powers, exponents, fixing(exponents), strict=True):
        if not fixing.constant[exponent].all():
            continue
        if any(part.op == "var" for part in topological([value])):  # variables stand beside it in an array
            ends = None if exponent.shape else ends_of(exponent)
            if ends is None or ends[0] != ends[1]:
                continue
            value = const(ends[0])
        new[node] = value
    return _rewritten(roots, new)


@step("whole exponents", lambda roots, *known: roots)
def with_whole_exponents(roots: list[Expr], integers: tuple[int, ...], may_be_negative: Callable[[Expr], bool]) -> list[Expr]:
    """The same, where the variables numbered in `integers` are whole numbers: with exponents that follow them by jumps, wherever
    the base may be negative. Powers of other bases are smooth, and stay so.

    >>> from infimum.trace.trace import trace
    >>> with_whole_exponents([trace(lambda x: (-3) ** (x[0] + 1), 1)], (0,), lambda base: True)
    [pow(-3.0, rint((reshape(x) + 1.0)))]
    """
    new: dict[Expr, Expr] = {}
    for node in _variable_exponents(roots) if integers else ():
        base, exponent = node.args
        nodes = list(topological([exponent]))
        by_form, by_variables = (whole_numbers.whole_elements(nodes, known)[exponent] for known in ((), integers))
        if by_variables.all() and not by_form.all() and may_be_negative(base):
            new[node] = build("rint", exponent, line=node.line)
    return _rewritten(roots, new)


def _rewritten(roots: list[Expr], exponents: dict[Expr, Expr]) -> list[Expr]:
    """With other exponents in these powers."""
    new: dict[Expr, Expr] = {}
    for node in topological(roots) if exponents else ():
        new[node] = build("pow", new[node.args[0]], exponents[node], line=node.line) if node in exponents else rebuilt(node, new)
    return [new.get(root, root) for root in roots]
