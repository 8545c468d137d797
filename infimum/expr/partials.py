"""The first and second derivatives of a single operation by its arguments, from the table of `diff_rules`."""

from functools import cache
from typing import Any, NamedTuple

from infimum.expr.build import build, is_zero
from infimum.expr.differentiate import gradient
from infimum.expr.node import Expr, var


class Partials(NamedTuple):
    """An operation on variables `u0`, `u1`, … and its derivatives by them; those that are 0 everywhere are left out."""

    value: Expr
    first: dict[int, Expr]
    second: dict[tuple[int, int], Expr]  # under (i, j) with i <= j


@cache
def partials(op: str, params: tuple[tuple[str, Any], ...], active: tuple[bool, ...]) -> Partials:
    """The derivatives by the arguments that are `active`.

    >>> partials("powi", (("k", 3),), (True,)).second
    {(0, 0): (6.0 * u0)}
    """
    arguments = [var(f"u{i}", ()) for i in range(len(active))]
    value = build(op, *arguments, **dict(params))
    wanted = [i for i, on in enumerate(active) if on]
    first = {i: gradient(value, arguments[i]) for i in wanted}
    second = {(i, j): gradient(first[i], arguments[j]) for i in wanted for j in wanted if i <= j}
    return Partials(value, *({at: d for at, d in found.items() if not is_zero(d)} for found in (first, second)))
