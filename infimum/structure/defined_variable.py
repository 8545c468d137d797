"""A variable that is all there is to minimise, and that one constraint defines: `minimise t, where t == f(x)`.

Models that were written for other solvers often come like that. With f instead of t there is one variable and one equation less,
nothing is left of the equation in the geometry of the feasible set, and convex problems are convex again.

Proof: docs/proofs/constraints.md.
"""

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from infimum.expr.build import build, reshape, take
from infimum.expr.node import Expr, const, is_const
from infimum.ops.vocabulary import Kind
from infimum.problem.system import Label, System
from infimum.search.policy.search import REARRANGEMENT as POLICY
from infimum.support.lazy import LazyModule, dataclass

if TYPE_CHECKING:
    from infimum.expr import variable_reads
    from infimum.structure import term_sums
else:
    term_sums = LazyModule("structure.term_sums")
    variable_reads = LazyModule("expr.variable_reads")


class _Term(NamedTuple):
    """A summand: an element of a node, with its sign."""

    node: Expr
    at: int
    minus: bool


@dataclass(frozen=True, eq=False)
class Definition:
    """Variable `number` is `value` at all minimisers, which the others tell; `system` is the problem in these. `least` and `most`
    say if the lower and upper bound of the variable have to be kept as constraints of the value. The variable is never better
    than its value, and `worse` is 1 if it may be larger, -1 if it may be smaller, both without end; 0 where it may not. f is
    `factor` times the variable."""

    number: int
    factor: float
    value: Expr
    system: System
    least: bool
    most: bool
    worse: int

    def within(self, lo: float, hi: float) -> System | None:
        """The system in which the value lies between these ends; None if nothing is constrained there."""
        system, ends = self.system, (lo if self.least else -np.inf, hi if self.most else np.inf)
        if np.isfinite(ends).any():
            label = (Label(-1, None, f"x[{self.number}]"),) if system.labels else ()
            return replace(system, bodies=(*system.bodies, reshape(self.value, (1,))), labels=(*system.labels, *label),
                           lower=np.append(system.lower, ends[0]), upper=np.append(system.upper, ends[1]))
        return system if system.m or system.integers else None


def definition(system: System, x: Expr) -> Definition | None:
    """Of the variable that is minimised, if there is one, f being that variable times a number, and if only one constraint reads
    it, as a summand.

    >>> from infimum.expr.build import index
    >>> from infimum.expr.node import var
    >>> x = var("x", (2,))
    >>> row = reshape(build("sub", index(x, 1), build("exp", index(x, 0))), (1,))
    >>> definition(System(index(x, 1), (row,), np.zeros(1), np.zeros(1)), x).value
    exp(reshape(slice(x, counts=(1,), starts=(0,), steps=(1,))))
    """
    found = multiple(system.f, 0, x)
    if found is None or found[0] in system.integers:
        return None
    k, factor = found
    table = variable_reads.readers(list(system.bodies), x)
    rows = np.concatenate([np.zeros(0, bool), *(table[body][..., k].reshape(-1) for body in system.bodies)])
    if np.count_nonzero(rows) != 1:
        return None
    row = int(np.argmax(rows))
    begin = np.cumsum([0, *(body.size for body in system.bodies)])
    which = int(np.searchsorted(begin, row, side="right")) - 1
    split = _split(system.bodies[which], row - int(begin[which]), x, k, table)
    if split is None:
        return None
    terms, coefficient = split
    equal, rises = bool(system.equal[row]), (factor > 0) == (coefficient > 0)
    both = bool(np.isfinite([system.lower[row], system.upper[row]]).all())
    end = float(system.lower[row] if rises else system.upper[row])  # where the variable is at its best
    if not np.isfinite(end):
        return None
    value = _value(terms, coefficient, end)
    others = np.delete(np.arange(system.m), row)
    return Definition(k, factor, value, System(
        value if factor == 1.0 else build("mul", factor, value) if factor != -1.0 else build("neg", value),
        tuple(_without(body, row - int(begin[i]) if i == which else None) for i, body in enumerate(system.bodies)
              if i != which or body.size > 1),
        system.lower[others], system.upper[others], system.integers, tuple(system.labels[i] for i in others if system.labels)),
        least=equal or factor < 0, most=equal or factor > 0, worse=0 if both else 1 if factor > 0 else -1)


def multiple(f: Expr, at: int, x: Expr) -> tuple[int, float] | None:
    """(the number of a variable, the number that it is multiplied by), if f is no more than that."""
    factor = 1.0
    while f is not x:
        if f.kind is Kind.VIEW:
            found = _viewed(f, at)
            if found is None:
                return None
            f, at = found
        elif f.op == "neg":
            f, factor = f.args[0], -factor
        elif f.op == "mul" and abs(factor) == 1.0 and any(map(is_number, f.args)):
            by = f.args[0] if is_number(f.args[0]) else f.args[1]
            f, factor = f.args[1] if by is f.args[0] else f.args[0], factor * by.lo.item()
        elif f.op == "sum" and f.args[0].size == 1:
            f, at = f.args[0], 0
        else:
            return None
    return (at, factor) if factor != 0.0 else None


def _split(body: Expr, at: int, x: Expr, k: int, table: dict[Expr, np.ndarray]) -> tuple[list[_Term], float] | None:
    """The summands of an element of the body that do not read variable k, and what that is multiplied by in the one that does."""
    terms: list[_Term] = []
    coefficient = 0.0
    stack = [_Term(body, at, False)]
    while stack:
        node, at, minus = term = stack.pop()
        if not table[node].reshape(-1, x.size)[at, k]:
            terms.append(term)
        elif node.op in ("add", "sub", "neg"):
            signs = (not minus,) if node.op == "neg" else (minus, minus != (node.op == "sub"))
            stack += [_Term(arg, at, sign) for arg, sign in zip(node.args, signs, strict=True)][::-1]
        elif node.op == "sum":
            inside, *rest = _summed(node, at, table, k)
            if inside is None:
                return None
            stack += [_Term(part, 0, minus) for part in rest]
            stack.append(_Term(node.args[0], inside, minus))
        elif node.kind is Kind.VIEW and node is not x and (found := _viewed(node, at)) is not None:
            stack.append(_Term(*found, minus))
        else:
            found = multiple(element(node, np.array([at])), 0, x)
            if found is None or found[0] != k or coefficient:
                return None
            coefficient = -found[1] if minus else found[1]
    return (terms, coefficient) if coefficient else None


def _summed(node: Expr, at: int, table: dict[Expr, np.ndarray], k: int) -> tuple:
    """Of an element of a sum: where the one summand is that reads variable k, None if there are more; and the sum of the others,
    if there are any."""
    arg, axes = node.args[0], node["axes"]
    others = [i for i in range(len(arg.shape)) if i not in axes]
    places = np.arange(arg.size).reshape(arg.shape).transpose([*others, *axes]).reshape(node.size, -1)[at]
    mine = table[arg].reshape(arg.size, -1)[places, k]
    if np.count_nonzero(mine) != 1:
        return (None,)
    if len(places) == 1:
        return (int(places[0]),)
    rest = build("sum", element(arg, places[~mine]), axes=(0,))
    table[rest] = np.zeros(table[arg].shape[-1:], bool)
    return int(places[mine][0]), rest


def _value(terms: list[_Term], coefficient: float, end: float) -> Expr:
    """(end - the sum of the terms) / coefficient."""
    value = None if end == 0.0 and terms else const(end if coefficient > 0 else -end)
    for node, at, minus in terms:
        plus, part = minus == (coefficient > 0), reshape(element(node, np.array([at])), ())
        if value is None:
            value = part if plus else build("neg", part)
        else:
            value = build("add" if plus else "sub", value, part)
    return value if abs(coefficient) == 1.0 else build("div", value, abs(coefficient))


def _without(body: Expr, at: int | None) -> Expr:
    return body if at is None else element(body, np.delete(np.arange(body.size), at))


def element(node: Expr, at: np.ndarray, deep: int = 0) -> Expr:
    """The elements of a node at these positions, a vector; what is computed element by element is computed for them alone."""
    if len(at) == node.size and (at == np.arange(node.size)).all():
        return reshape(node, (node.size,))
    if node.op == "const":
        return const(node.lo.reshape(-1)[at], node.hi.reshape(-1)[at])
    if node.kind is Kind.MAP and deep < POLICY.deepest_element:
        return build(node.op, *(element(arg, at, deep + 1) for arg in node.args), line=node.line, **dict(node.params))
    if node.kind is Kind.VIEW and deep < POLICY.deepest_element and node.op in _REARRANGED:
        return element(node.args[0], term_sums.source_of(node)[at], deep + 1)
    return take(node, at)


def _viewed(node: Expr, at: int) -> tuple[Expr, int] | None:
    """(argument, position in it) of an element of a view."""
    if node.op == "concat":
        ends = np.cumsum([arg.size for arg in node.args])
        which = int(np.searchsorted(ends, at, side="right"))
        return node.args[which], at - int(ends[which]) + node.args[which].size
    return (node.args[0], int(term_sums.source_of(node)[at])) if node.op in _REARRANGED else None


_REARRANGED = ("reshape", "transpose", "broadcast", "slice", "gather")


def is_number(node: Expr) -> bool:
    return is_const(node) and node.size == 1 and node.lo is node.hi
